"""Building compiled operator packages: this one, and those that others make with it.

A `setup.py` calls `extensions(schemas, package)`: it runs the generator into
`<package>/generated` and gives one extension for each `.pyx` of the package. `BuildExt` then
cythonizes and compiles on all cores, and does again only what changed. `dispatch` builds itself
by these two names, therefore nothing in this room may import a compiled module.

    from setuptools import setup
    import dispatch.build

    setup(
        packages=["mylib"],
        ext_modules=dispatch.build.extensions("schemas", "mylib"),
        cmdclass={"build_ext": dispatch.build.BuildExt},
    )

Both need the extra `[build]` (Jinja2, PyYAML, Cython, setuptools) and say so without it.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .compiling import BuildExt as BuildExt
    from .finding import extensions as extensions

__all__ = ["BuildExt", "extensions"]

_MODULES = {"BuildExt": "compiling", "extensions": "finding"}


def __getattr__(name: str) -> Any:
    """The two names, imported on first use: `hasattr(dispatch, "build")` needs no extra."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"building operator packages needs {error.name}: pip install 'tensor-dispatch[build]'"
        ) from error
    return getattr(module, name)
