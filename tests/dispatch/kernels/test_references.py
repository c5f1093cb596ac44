"""What the YAML names exists: a kernel in Python is imported when it is first called."""

import importlib

from dispatch.codegen.keys import read_keys
from dispatch.codegen.model import read_functions
from dispatch.codegen.rooms import Rooms
from tests.codegen.helpers import SCHEMAS, TAGS


def test_every_function_that_the_yaml_names_exists() -> None:
    keys = read_keys(SCHEMAS / "dispatch_keys.yaml")
    rooms = Rooms(SCHEMAS.parent / "dispatch", "dispatch")
    package = read_functions(SCHEMAS / "native_functions.yaml", keys, TAGS, rooms)
    named = {
        (ref.module, ref.function): name
        for name, kernels in package.kernels.items()
        for kernel in kernels
        for ref in (kernel.shape, kernel.body, kernel.elsewhere)
        if ref is not None and not ref.is_cython
    }
    assert len(named) > 300
    missing = [
        f"{operator}: {module}.{function}"
        for (module, function), operator in named.items()
        if not callable(getattr(importlib.import_module(module), function, None))
    ]
    assert missing == []
