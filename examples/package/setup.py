"""The build: `extensions` generates from `schemas/` and finds what to compile."""

from setuptools import setup

import dispatch.build

setup(
    ext_modules=dispatch.build.extensions("schemas", "smoothing"),
    cmdclass={"build_ext": dispatch.build.BuildExt},
)
