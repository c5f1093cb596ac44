"""The build of the package, as a user writes it."""

from setuptools import setup

import dispatch.build

setup(
    name="crossing",
    packages=["crossing"],
    ext_modules=dispatch.build.extensions("schemas", "crossing"),
    cmdclass={"build_ext": dispatch.build.BuildExt},
)
