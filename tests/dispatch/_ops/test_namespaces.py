"""`dispatch.ops`: namespaces, packets that come and go, key resolution, higher-order operators."""

import pytest

import dispatch
from dispatch import HigherOrderOperator, _ops, ops

pytestmark = pytest.mark.usefixtures("same_state_after")


def test_namespaces_are_made_on_demand():
    assert ops.anything is ops.anything
    assert "f" not in dir(ops.anything) and "anything" in list(ops)
    assert ops.aten.add is ops.aten.add
    assert "add" in dir(ops.aten) and "add" in list(ops.aten)


def test_packets_come_and_go_with_their_definitions(library):
    lib = library("opns", "DEF")
    assert not hasattr(ops.opns, "f")
    lib.define("f(Tensor x) -> Tensor")
    assert "f" in dir(ops.opns) and ops.opns.f is ops.opns.f and list(ops.opns) == ["f"]
    lib._destroy()
    assert not hasattr(ops.opns, "f") and "f" not in dir(ops.opns) and list(ops.opns) == []


def test_find_overload():
    assert _ops.find_overload("aten::add.Tensor") is ops.aten.add.Tensor
    assert _ops.find_overload("aten::relu") is ops.aten.relu.default
    assert _ops.find_overload("aten::nothing") is None


def test_higher_order_operators_are_found_by_name():
    class Mine(HigherOrderOperator):
        def __call__(self, f, x):
            return f(x)

    with pytest.raises(TypeError, match="abstract"):
        HigherOrderOperator("direct")
    op = Mine("mine_for_a_test")
    assert ops.higher_order.mine_for_a_test is op
    assert op(lambda x: x + 1, 1) == 2
    assert str(op) == op.name() == "mine_for_a_test" and op.namespace == "higher_order"
    with pytest.raises(AttributeError):
        _ = ops.higher_order.no_such_operator


def test_operators_are_not_made_by_import():
    import subprocess
    import sys

    code = (
        "import sys, dispatch; "
        "heavy = {'click', 'rich', 'jinja2', 'yaml'} & set(sys.modules); "
        "assert not heavy, heavy; print(len(vars(dispatch.ops)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert dispatch.__version__
