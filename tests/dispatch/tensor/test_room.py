"""`dispatch.tensor` is a room and a function: the attribute is always the function."""

import pkgutil
import subprocess
import sys

import pytest

import dispatch
from dispatch.tensor import __path__ as folder

MODULES = [module.name for module in pkgutil.iter_modules(folder)]


def test_the_room_has_modules() -> None:
    assert {"data", "arrays", "methods", "random", "text"} <= set(MODULES)


def test_attribute_is_the_function_that_makes_tensors() -> None:
    assert dispatch.tensor([1, 2]).tolist() == [1, 2]
    assert sys.modules["dispatch.tensor"] is not dispatch.tensor


@pytest.mark.parametrize("first", ["import dispatch", "import dispatch.tensor"])
def test_importing_a_module_of_the_room_leaves_the_function(first: str) -> None:
    """In a fresh process, whichever import comes first."""
    program = f"""
import sys
{first}
import importlib
for name in {MODULES}:
    module = importlib.import_module("dispatch.tensor." + name)
    assert module is sys.modules["dispatch.tensor." + name]
    assert dispatch.tensor is importlib.import_module("dispatch.tensor.data").tensor, name
import dispatch.tensor.text
from dispatch import tensor
from dispatch.tensor import copy
assert tensor is dispatch.tensor and copy.deepcopy
print(dispatch.tensor([True]).tolist())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[True]"
