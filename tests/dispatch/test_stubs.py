"""The stubs say what there is: names against the modules as they run, types by mypy."""

import ast
import importlib
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

import dispatch

PACKAGE = Path(dispatch.__file__).parent
STUBS = sorted(
    path
    for path in PACKAGE.rglob("*.pyi")
    if "generated" not in path.parts and path.name != "__init__.pyi"
)
# `__buffer__` is how type checkers know the buffer protocol; Python has the name from 3.12 on.
NOT_NEEDED = frozenset(("__buffer__", "__init__", "__new__"))


def module_of(stub):
    return importlib.import_module(".".join(stub.relative_to(PACKAGE.parent).with_suffix("").parts))


def names_in(body):
    """(name, its node) of each definition, imports and private types left out."""
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) != "TypeAlias":
            yield ast.unparse(node.target), node


def imported_in(stub):
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    yield from star_names(node.module)
                elif alias.asname == alias.name:
                    yield alias.name


def star_names(module):
    """What `import *` gives of a stub: its `__all__`, else its public names and their stars."""
    stub = PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".pyi")
    body = ast.parse(stub.read_text()).body
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            yield from ast.literal_eval(node.value)
            return
    yield from (name for name, _ in names_in(body) if not name.startswith("_"))
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            yield from star_names(node.module)


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: str(stub.relative_to(PACKAGE)))
def test_what_a_stub_lists_is_there(stub):
    module = module_of(stub)
    for name, node in names_in(ast.parse(stub.read_text()).body):
        found = getattr(module, name)
        if isinstance(node, ast.ClassDef):
            missing = [n for n, node in names_in(node.body) if not has_member(found, n, node)]
            assert not missing, name


def has_member(cls, name, node):
    is_set_in_init = isinstance(node, ast.AnnAssign) and "__dict__" in vars(cls)
    return name in NOT_NEEDED or hasattr(cls, name) or is_set_in_init


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: str(stub.relative_to(PACKAGE)))
def test_what_a_module_exports_is_in_its_stub(stub):
    module = module_of(stub)
    tree = ast.parse(stub.read_text())
    listed = {name for name, _ in names_in(tree.body)} | set(imported_in(stub))
    assert set(getattr(module, "__all__", ())) <= listed


def test_the_package_has_what_its_stub_lists():
    """And no other values: the package keeps a name once it is looked up, so all are."""
    listed = set(imported_in(PACKAGE / "__init__.pyi"))
    assert [name for name in sorted(listed) if not hasattr(dispatch, name)] == []
    values = {
        name
        for name in dir(dispatch)
        if not name.startswith("_") and not isinstance(getattr(dispatch, name), ModuleType)
    }
    assert values - listed == {"Any"}


def test_the_core_has_what_its_stub_lists():
    listed = set(imported_in(PACKAGE / "_C" / "__init__.pyi"))
    assert [name for name in sorted(listed) if not hasattr(dispatch._C, name)] == []


def test_what_a_tensor_has_is_in_its_stubs():
    listed = set()
    for name in ("tensor.pyi", "generated/tensor_methods.pyi"):
        for node in ast.parse((PACKAGE / "_C" / name).read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name in ("Tensor", "TensorMethods"):
                listed.update(name for name, _ in names_in(node.body))
    public = {name for name in vars(dispatch.Tensor) if not name.startswith("_")}
    assert public - listed == set()


def test_members_of_enums_are_listed():
    import dispatch._C.generated

    stub = Path(dispatch._C.generated.__file__).with_name("enums.pyi")
    listed = {
        node.name: {name for name, _ in names_in(node.body)}
        for node in ast.parse(stub.read_text()).body
        if isinstance(node, ast.ClassDef)
    }
    assert listed["KeyMembers"] == set(dispatch.DispatchKey.__members__)
    assert listed["TagMembers"] == set(dispatch.Tag.__members__)


PROGRAM = """
    from typing import assert_type

    import dispatch
    from dispatch import DispatchKey, FakeTensorMode, OpOverload, Tensor, ops
    from dispatch.library import CustomOpDef, Library, custom_op, define, impl

    x = dispatch.ones([2, 3], dtype=dispatch.float32)
    assert_type(dispatch.add(x, 1, alpha=2), Tensor)
    assert_type(dispatch.relu(x).view([6]), Tensor)
    assert_type(x + 1, Tensor)
    assert_type(dispatch.zeros(2, 3, device="cuda", requires_grad=True).view(3, 2), Tensor)
    assert_type(dispatch.add(x, x, out=x), Tensor)
    assert_type(x.size(0), int)
    assert_type(dispatch.float, dispatch.dtype)
    assert_type(ops.aten.add(x, x), Tensor)
    assert_type(ops.aten.add.Tensor, OpOverload[Tensor])
    assert_type(ops.aten.add.Tensor(x, x, alpha=2), Tensor)
    assert_type(ops.aten.max.dim(x, 0), tuple[Tensor, Tensor])
    assert_type(DispatchKey.CPU, DispatchKey)
    assert_type(x.max(dim=1).indices, Tensor)
    values, places = dispatch.sort(x)
    assert_type(places, Tensor)
    assert_type(x.split(1), tuple[Tensor, ...])
    assert_type(ops.aten.split.Tensor(x, 1), list[Tensor])
    assert_type(float(x.item()), float)
    assert_type(dispatch.einsum("ij,kj->ik", x, x), Tensor)
    assert_type(dispatch.broadcast_tensors(x, x), tuple[Tensor, ...])
    assert_type(dispatch.linalg.inv(x), Tensor)
    assert_type(dispatch.linalg.slogdet(x).sign, Tensor)
    assert_type(dispatch.fft.rfft(x, dim=0), Tensor)
    assert_type(dispatch.special.i0(input=x, out=x), Tensor)

    lib = Library("shop", "FRAGMENT")

    @define(lib, "shrink(Tensor x) -> Tensor")
    def shrink(x: Tensor) -> Tensor:
        return x - 1

    @impl(lib, "shrink", "Meta")
    def shape(x: Tensor) -> Tensor:
        return dispatch.empty_like(x)

    @impl("shop::shrink", "xpu")
    def other(x: Tensor) -> Tensor:
        return x

    assert_type(shrink(x), Tensor)
    assert_type(shape(x), Tensor)
    impl("shop::shrink", "cuda", shrink)

    @custom_op("shop::grow", mutates_args=())
    def grow(x: Tensor, by: int = 2) -> Tensor:
        return x + by

    @grow.register_fake
    def fake(x: Tensor, by: int = 2) -> Tensor:
        return dispatch.empty_like(x)

    @grow.register_kernel("cpu")
    def kernel(x: Tensor, by: int = 2) -> Tensor:
        return x + by

    def name(op: OpOverload, made: CustomOpDef) -> str:
        return str(op) + str(made)

    assert_type(grow(x, by=3), Tensor)
    assert_type(fake(x), Tensor)
    assert_type(kernel(x), Tensor)
    grow(x, by="3")  # type: ignore[arg-type]
    with FakeTensorMode() as mode:
        assert_type(mode.cache_info().hits, int)

    ops.aten.no_such_operator  # type: ignore[attr-defined]
    dispatch.relu(x, "text")  # type: ignore[call-arg, arg-type]
    x.no_such_method()  # type: ignore[attr-defined]
"""


def test_a_type_checker_knows_operators_methods_and_functions(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(program)],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
