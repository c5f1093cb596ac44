"""Adapters: arguments cross between boxed and C calls whole, in both directions.

The package in `crossing/` is built as a user's would be, with its own `setup.py`, once for all
tests of this file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import dispatch
from dispatch import ops
from dispatch._C.arrays import _numpy_view
from tests.codegen.helpers import ROOT

SOURCE = Path(__file__).parent / "crossing"

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")


@pytest.fixture(scope="module")
def misc(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The module of composite kernels of the built package, whose operators are known then."""
    folder = tmp_path_factory.mktemp("crossing")
    shutil.copytree(SOURCE, folder, dirs_exist_ok=True)
    (folder / "crossing" / "generated").mkdir()
    for name in ("__init__.py", "__init__.pxd"):
        (folder / "crossing" / "generated" / name).touch()
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, str(folder))
    try:
        import_module("crossing.generated.operators")
        return import_module("crossing.kernels.composite.misc")
    finally:
        sys.path.remove(str(folder))


@pytest.fixture
def x() -> dispatch.Tensor:
    return dispatch.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))


def test_a_shared_library_registers_as_it_is_loaded(misc) -> None:
    """By its path alone; its kernels are found where the package is importable."""
    folder = Path(misc.__file__).parents[3]
    library = next((folder / "crossing" / "generated").glob("operators.*.so"))
    code = (
        "import sys, dispatch; from dispatch import ops\n"
        f"ops.load_library({str(library)!r}); ops.load_library({str(library)!r})\n"
        "x = dispatch.ones(2)\n"
        "print(ops.crossing.echo(x, None, [])[0] is x, len(ops.loaded_libraries))"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(folder)))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["True", "1"], done.stderr


def test_a_library_that_is_imported_is_not_registered_twice(misc) -> None:
    operators = sys.modules["crossing.generated.operators"].__file__
    ops.load_library(operators)
    assert os.path.realpath(operators) in ops.loaded_libraries
    ops.loaded_libraries.clear()


def test_defaults_reach_a_c_kernel_as_c_values(misc, x) -> None:
    got = ops.crossing.echo(x, None, [])
    assert got[0] is x
    assert got[1:] == (None, [], 1, 2.0, True, [3, 3], [], 1, "x", -1, -1, -1, None)


def test_every_type_reaches_a_c_kernel(misc, x) -> None:
    cuda = dispatch.device("cuda:1")
    got = ops.crossing.echo(
        x, x, [x], -7, 3, False, [1, 2], (8,), 2.5, "abc",
        dtype=dispatch.float64, layout=dispatch.strided,
        memory_format=dispatch.channels_last, device=cuda,
    )  # fmt: skip
    assert got[1] is x
    assert [t is x for t in got[2]] == [True]
    assert got[3:] == (-7, 3.0, False, [1, 2], [8], 2.5, "abc", 7, 0, 2, cuda)


def test_a_list_longer_than_the_buffer_is_refused(misc, x) -> None:
    assert ops.crossing.echo(x, None, [], s=[1] * 64)[7] == [1] * 64
    with pytest.raises(RuntimeError, match="at most 64 integers in a list, got 65"):
        ops.crossing.echo(x, None, [], s=[1] * 65)


@pytest.mark.parametrize("name", ["crossing::echo", "crossing::echo_in_python"])
def test_c_arguments_reach_either_kind_of_kernel(misc, x, name) -> None:
    got = misc.send(name, x, [x])
    if name == "crossing::echo":
        assert got[0] is x
        assert got[3:] == (7, 0.5, True, [4, 5, 6], [], 2.5, "y", 6, 0, -1, None)
        return
    args, kwargs = got
    assert args[0] is x
    assert args[3:] == (7, 0.5, True, [4, 5, 6], [], 2.5, "y")
    assert [type(a) for a in args[3:6]] == [int, float, bool]
    assert kwargs["dtype"] is dispatch.float32
    assert kwargs["layout"] is dispatch.strided
    assert kwargs["memory_format"] is None


def test_an_exception_crosses_both_ways(misc) -> None:
    with pytest.raises(LookupError, match="no 3"):
        ops.crossing.fail(3)
    with pytest.raises(LookupError, match="no 4"):
        misc.send_fail(4)


def test_no_reference_is_lost_or_kept(misc, x) -> None:
    calls = (
        lambda: ops.crossing.echo(x, x, [x], s=[1000001]),
        lambda: misc.send("crossing::echo", x, [x]),
        lambda: misc.send("crossing::echo_in_python", x, [x]),
        lambda: ops.crossing.blend(x, x),
        lambda: ops.crossing.blend_(x, x, alpha=0),
        lambda: ops.crossing.split(x),
    )
    for call in calls:
        call()
        before = sys.getrefcount(x)
        for _ in range(20):
            call()
        assert sys.getrefcount(x) == before


# ---- structured kernels


def test_one_body_serves_all_variants(misc, x) -> None:
    y = dispatch.from_numpy(np.ones((2, 3), np.float32))
    wanted = np.arange(6, dtype=np.float32).reshape(2, 3) + 2
    assert np.array_equal(_numpy_view(ops.crossing.blend(x, y, alpha=2)), wanted)
    out = dispatch.from_numpy(np.zeros((2, 3), np.float32))
    assert ops.crossing.blend.out(x, y, alpha=2, out=out) is out
    assert np.array_equal(_numpy_view(out), wanted)
    assert ops.crossing.blend_(x, y, alpha=2) is x
    assert np.array_equal(_numpy_view(x), wanted)


def test_a_body_in_python_fills_outputs_of_a_c_shape_function(misc, x) -> None:
    first, second = ops.crossing.split(x)
    assert np.array_equal(_numpy_view(first), _numpy_view(x))
    assert np.array_equal(_numpy_view(second), -_numpy_view(x))


def test_the_shape_function_alone_serves_meta(misc) -> None:
    meta = ops.aten.empty.memory_format([2, 3], device="meta")
    result = ops.crossing.blend(meta, meta)
    assert (tuple(result.shape), result.device.type) == ((2, 3), "meta")


def test_a_body_gets_what_its_shape_function_handed_over(misc) -> None:
    """After the schema's arguments, for each variant; where no body runs it is dropped."""
    from crossing.kernels.cpu.framing import got

    x = dispatch.arange(7)
    assert ops.crossing.frames(x, 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    out = dispatch.empty(3, 2, dtype=dispatch.int64)
    assert ops.crossing.frames.out(x, 2, out=out) is out
    low, high = ops.crossing.bounds(x)
    assert (out.tolist(), low.item(), high.item()) == ([[0, 1], [2, 3], [4, 5]], 0, 6)
    assert got == [(3, 2, "more"), (2, 3, "more"), "both"]
    assert ops.crossing.frames(x.to("meta"), 3).shape == (2, 3)
    assert len(got) == 3


# ---- refusals


@pytest.mark.parametrize("op", ["default", "out"])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_refusal_in_python_names_operator_and_schema(misc, op, device) -> None:
    packet = getattr(ops.crossing.frames, op)
    out = {"out": dispatch.empty(0, device=device)} if op == "out" else {}
    name = "crossing::frames" + (".out" if out else "")
    with pytest.raises(ValueError) as caught:
        packet(dispatch.ones(4, device=device), 0, **out)
    text = f"{name}: expected size to be positive, got 0\n  {packet._schema}"
    assert str(caught.value) == text


def test_a_refusal_in_cython_names_operator_and_schema(misc, x) -> None:
    before = _numpy_view(x).copy()
    y = dispatch.from_numpy(np.ones((2, 2), np.float32))
    with pytest.raises(RuntimeError) as caught:
        ops.crossing.blend_(x, y)
    assert str(caught.value) == (
        "crossing::blend_: expected 'other' to have as many elements as 'self'\n"
        f"  {ops.crossing.blend_.default._schema}"
    )
    assert np.array_equal(_numpy_view(x), before)
