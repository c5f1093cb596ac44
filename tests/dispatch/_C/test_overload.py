"""Overloads and packets: which overload a packet calls, what changes when one is defined, what they
say of themselves."""

import copy
import pickle
import re

import pytest

import dispatch
from dispatch import OpOverload, OpOverloadPacket, ops

pytestmark = pytest.mark.usefixtures("same_state_after")

T = dispatch.ones(2)


@pytest.fixture
def packet(library):
    """`ov::f` with an int, a float and a Tensor overload, each returning its own name."""
    lib = library("ov", "DEF")
    for overload, argument in (("", "int x"), ("f", "float x"), ("t", "Tensor x")):
        name = "f." + overload if overload else "f"
        lib.define(f"{name}({argument}) -> str")
        lib.impl(name, lambda x, o=overload: o or "default", "CompositeImplicitAutograd")
    return ops.ov.f


def test_packet_calls_the_first_overload_that_fits(packet):
    assert packet(1) == "default"
    assert packet(1.5) == "f"
    assert packet(T) == "t"


def test_packet_without_a_fitting_overload_lists_every_reason(packet):
    with pytest.raises(RuntimeError) as caught:
        packet("a")
    for overload in ("ov::f(int x)", "ov::f.f(float x)", "ov::f.t(Tensor x)"):
        assert overload in str(caught.value)


def test_overload_raises_for_its_own_schema_only(packet):
    with pytest.raises(RuntimeError, match=r"ov::f\.t: argument 'x'"):
        packet.t(1)


def test_overload_is_one_object(packet):
    assert packet.default is packet.default
    assert packet.t is ops.ov.f.t
    assert copy.deepcopy(packet.t) is packet.t
    assert pickle.loads(pickle.dumps(packet.t)) is packet.t
    assert pickle.loads(pickle.dumps(packet)) is packet


def test_names(packet):
    assert packet.overloads() == ["default", "f", "t"]
    assert str(packet) == "ov.f"
    assert str(packet.t) == "ov.f.t"
    assert str(packet.default) == "ov.f.default"
    assert packet.t.name() == "ov::f.t"
    assert packet.default.name() == "ov::f"
    assert packet.t.namespace == "ov"
    assert packet.t.__name__ == "f.t"
    assert packet.t._overloadname == "t"
    assert packet.t.overloadpacket is packet
    assert repr(packet.t) == "<OpOverload(op='ov.f', overload='t')>"


def test_missing_names_are_attribute_errors(packet):
    with pytest.raises(AttributeError, match="no overload name 'x'"):
        _ = packet.x
    with pytest.raises(AttributeError):
        _ = packet.__wrapped__
    with pytest.raises(AttributeError, match="missing"):
        _ = ops.ov.missing
    assert not hasattr(ops.nowhere, "f")


def test_overload_defined_later_is_found(packet, library):
    with pytest.raises(RuntimeError):
        packet("a")
    more = library("ov", "FRAGMENT")
    more.define("f.s(str x) -> str")
    more.impl("f.s", lambda x: "s", "CompositeImplicitAutograd")
    assert packet("a") == "s"
    assert packet.s("a") == "s"
    more._destroy()
    with pytest.raises(RuntimeError):
        packet("a")
    assert not hasattr(packet, "s")


def test_overload_held_over_its_library_says_so(library):
    lib = library("gone", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    held, packet = ops.gone.f.default, ops.gone.f
    lib._destroy()
    with pytest.raises(RuntimeError, match="gone::f"):
        held(T)
    with pytest.raises(RuntimeError, match="gone::f"):
        packet(T)
    assert str(held._schema) == "gone::f(Tensor x) -> Tensor"
    assert not hasattr(ops.gone, "f")


def test_operator_defined_again_is_reached_by_old_and_new_objects(library):
    first = library("again", "DEF")
    first.define("f(Tensor x) -> str")
    first.impl("f", lambda x: "first", "CPU")
    assert ops.again.f(T) == "first"
    first._destroy()
    second = library("again", "DEF")
    second.define("f(Tensor x, int n=3) -> str")
    second.impl("f", lambda x, n=3: f"second {n}", "CPU")
    assert ops.again.f(T) == "second 3"
    assert ops.again.f.default(T, 4) == "second 4"


def test_attributes_may_be_set_on_an_overload(packet):
    packet.t.note = 3
    assert ops.ov.f.t.note == 3


def test_overloads_cannot_be_constructed():
    with pytest.raises(TypeError):
        type(ops.aten.add.Tensor)()
    with pytest.raises(TypeError):
        type(ops.aten.add)()


def test_python_subclass_of_operator_base_is_callable():
    class Mine(dispatch._ops.OperatorBase):
        def __call__(self, x, *, k=0):
            return x + k

    assert Mine()(1, k=2) == 3


def test_is_view_and_schema_and_tags():
    assert ops.aten.view.default.is_view
    assert not ops.aten.add.Tensor.is_view
    assert not ops.aten.add_.Tensor.is_view
    assert str(ops.aten.relu.default._schema) == "aten::relu(Tensor self) -> Tensor"
    assert dispatch.Tag.core in ops.aten.relu.default.tags


def test_redispatch_goes_by_its_key_set_alone():
    keys = dispatch.DispatchKeySet(dispatch.DispatchKey.CPU)
    assert ops.aten.add.Tensor.redispatch(keys, T, 1, alpha=2).tolist() == [3.0, 3.0]
    meta = dispatch.DispatchKeySet(dispatch.DispatchKey.Meta)
    with pytest.raises(RuntimeError, match="'other'"):
        ops.aten.add.Tensor.redispatch(keys, T)
    with pytest.raises(NotImplementedError):
        ops.aten.relu.default.redispatch(dispatch.DispatchKeySet("CUDA"), T)
    assert meta != keys
    with pytest.raises(TypeError):
        ops.aten.relu.default.redispatch(None, T)


def test_functions_and_methods_pack_their_ints():
    assert dispatch.zeros(2, 3).shape == (2, 3)
    assert dispatch.zeros([2, 3]).shape == (2, 3)
    assert dispatch.zeros(2).shape == (2,)
    assert dispatch.zeros(6).view(2, 3).shape == (2, 3)
    assert dispatch.zeros(2, 3, dtype=dispatch.int64).dtype is dispatch.int64
    with pytest.raises(TypeError):
        dispatch.zeros(6).view(2, "a")
    with pytest.raises(RuntimeError):
        ops.aten.view(dispatch.zeros(6), 2, 3)


def test_method_bound_to_a_tensor_keeps_it():
    bound = dispatch.ones(2).add
    assert bound(1).tolist() == [2.0, 2.0]
    assert bound.__self__.shape == (2,)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.aten.add.Tensor(T, T),
        lambda: ops.aten.add.Tensor(T, T, alpha=2),
        lambda: ops.aten.add(T, 2),
        lambda: dispatch.add(T, T),
        lambda: T.add(T),
        lambda: T + 1,
        lambda: T.view(1, 2),
        lambda: dispatch.zeros(2, 3),
        lambda: ops.aten.add.Tensor.redispatch(dispatch.DispatchKeySet("CPU"), T, T),
    ],
)
def test_calls_leave_no_references(grown_blocks, call):
    assert grown_blocks(call) < 200


@pytest.mark.parametrize(
    ("call", "argument", "got"),
    [
        (lambda: dispatch.zeros(2, 3.5), "size", "tuple of 2 (float, int)"),
        (lambda: dispatch.rand("a", 3, dtype=dispatch.float64), "size", "tuple of 2 (int, str)"),
        (lambda: T.view(1, "a"), "size", "tuple of 2 (int, str)"),
        (lambda: T.permute(0, "a"), "dims", "tuple of 2 (int, str)"),
    ],
)
def test_of_ints_in_a_row_the_one_that_is_none_is_blamed(call, argument, got):
    with pytest.raises(TypeError, match=f"'{argument}'.* must be List.int., got {re.escape(got)}"):
        call()


def test_what_takes_no_ints_in_a_row_says_how_many_arguments_it_takes():
    for call in (lambda: dispatch.roll(T, 1, 0, "a"), lambda: T.sum(0, False, 1)):
        with pytest.raises(TypeError, match="expected at most"):
            call()


@pytest.mark.parametrize("cls", [OpOverload, OpOverloadPacket, type(ops.aten.add._op)])
def test_operators_are_not_made_by_hand(cls):
    """Not by __new__ either: there would be nothing to call."""
    with pytest.raises(TypeError, match="ops"):
        cls.__new__(cls)
    with pytest.raises(TypeError, match="ops"):
        cls()
