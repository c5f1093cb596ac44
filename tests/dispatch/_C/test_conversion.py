"""Casters of arguments: operators follow one set of rules, functions and methods another."""

import contextlib
import sys

import numpy as np
import pytest

import dispatch
from dispatch import ops
from dispatch.fake import DataDependentOutputException, FakeTensorMode

X = dispatch.ones(2, 3)


@pytest.mark.parametrize("dim", [True, dispatch.tensor([1]), np.array(1), "1", None])
def test_functions_take_no_bool_or_array_for_an_int(dim):
    with pytest.raises(TypeError):
        dispatch.unsqueeze(X, dim)


@pytest.mark.parametrize("dim", [1, np.int64(1), dispatch.tensor(1)])
def test_functions_take_integers_of_numpy_and_of_tensors(dim):
    assert dispatch.unsqueeze(X, dim).shape == (2, 1, 3)


def test_operators_take_a_bool_for_an_int():
    assert ops.aten.unsqueeze.default(X, True).shape == (2, 1, 3)


@pytest.mark.parametrize("keepdim", [1, np.bool_(True), None])
def test_functions_take_only_bools_for_a_bool(keepdim):
    with pytest.raises(TypeError, match="keepdim"):
        X.all(0, keepdim=keepdim)


def test_operators_take_codes_of_dtypes_and_functions_python_types():
    assert ops.aten.empty.memory_format([2], dtype=6).dtype is dispatch.float32
    assert dispatch.zeros(2, dtype=float).dtype is dispatch.float64
    with pytest.raises(RuntimeError):
        ops.aten.zeros.default([2], dtype=float)
    with pytest.raises(RuntimeError):
        ops.aten.zeros.default([2], dtype=100)


def test_functions_know_numpy_names():
    assert dispatch.sum(input=X, axis=1, keepdims=True).shape == (2, 1)
    with pytest.raises(TypeError):
        dispatch.sum(self=X)


def test_an_int_that_is_too_big_is_a_value_error_of_functions():
    with pytest.raises(ValueError, match="dim0"):
        dispatch.transpose(X, 2**63, 0)
    with pytest.raises(RuntimeError):
        ops.aten.transpose.int(X, 2**63, 0)


def test_unknown_device_is_a_runtime_error_of_functions():
    with pytest.raises(RuntimeError, match="nowhere"):
        dispatch.zeros(2, device="nowhere")


class Seen(dispatch.TorchDispatchMode):
    """Keeps the keyword arguments of the last operator."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.kwargs = kwargs
        return func(*args, **(kwargs or {}))


def test_factories_as_functions_name_the_device_and_no_pinned_memory():
    with Seen() as seen:
        dispatch.zeros(2)
        assert seen.kwargs == {"device": dispatch.device("cpu"), "pin_memory": False}
        dispatch.zeros_like(X)
        assert seen.kwargs == {"pin_memory": False}
        ops.aten.zeros.default([2])
        assert not seen.kwargs


def test_only_numbers_are_a_tensor_on_the_cpu():
    assert dispatch.add(1, 2).item() == 3


def _raising(base, error):
    """An object of a class below `base` whose code raises whatever it is asked."""

    def ask(*_):
        raise error("asked")

    asked = "__index__ __int__ __float__ __complex__ __bool__ __len__ __iter__ __getitem__ __str__"
    names = dict.fromkeys([*asked.split(), "item"], ask)
    made = type("Raising", (base,), {**names, "real": property(ask)})
    return made("1") if base is str else made([1]) if base is list else made()


class _RaisingClass(type):
    def __getattr__(cls, name):
        raise KeyError(name)


class _OfRaisingClass(metaclass=_RaisingClass):
    pass


_ASKING = {
    "a scalar": lambda v: ops.aten.add(X, v),
    "a list of ints": lambda v: ops.aten.sum(X, v),
    "an int": lambda v: ops.aten.sum(X, [v]),
    "a dtype": lambda v: ops.aten.sum(X, dtype=v),
    "a device": lambda v: ops.aten.zeros([2], device=v),
    "a device of a function": lambda v: dispatch.zeros(2, device=v),
    "a complex number": lambda v: ops.aten.add(v, v),
    "several results": lambda v: dispatch.max(X, 1, out=v),
}


@pytest.mark.parametrize("asking", _ASKING)
@pytest.mark.parametrize("base", [object, str, list, complex, np.float64, np.complex64, np.int64])
@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, GeneratorExit])
def test_no_error_of_an_argument_gets_lost(asking, base, error, monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: lost.append(found.object))
    value = _raising(base, error)
    with contextlib.suppress(TypeError, ValueError, RuntimeError, error):
        _ASKING[asking](value)
    assert not lost


@pytest.mark.parametrize("asking", _ASKING)
def test_no_error_of_an_arguments_class_gets_lost(asking, monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: lost.append(found.object))
    with pytest.raises((TypeError, RuntimeError)):
        _ASKING[asking](_OfRaisingClass())
    assert not lost


class _Name(str):
    """A keyword that cannot be compared."""

    __slots__ = ()

    def __hash__(self):
        raise KeyError("hash")

    def __eq__(self, other):
        raise KeyError("eq")


def test_keywords_are_read_as_text_whatever_their_class(monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: lost.append(found.object))
    name = _Name("axis")
    _Name.__hash__ = str.__hash__
    keywords = {name: 0}
    _Name.__hash__ = None
    assert X.sum(**keywords).shape == (3,)
    assert not lost


def test_what_a_tensor_raises_while_a_call_is_refused_is_raised():
    class Wrapper(dispatch.Tensor):
        @staticmethod
        def __new__(cls):
            return dispatch.Tensor._make_wrapper_subclass(
                cls, (2,), dispatch_sizes_strides_policy="sizes"
            )

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise GeneratorExit

    with pytest.raises(GeneratorExit):
        ops.aten.add(X, X, alpha=Wrapper())


def test_an_unknown_value_among_sizes_is_the_answer_of_an_operator():
    mode = FakeTensorMode()
    x, places = mode.from_tensor(dispatch.ones(5, 5)), mode.from_tensor(dispatch.tensor([1, 2]))
    for call in (
        lambda: ops.aten.tensor_split.indices(x, places, 1),
        lambda: ops.aten.view.default(x, [places[0], 5]),
        lambda: ops.aten.view(x, [places[0], 5]),
    ):
        with pytest.raises(DataDependentOutputException):
            call()
    with pytest.raises(RuntimeError, match=r"'dim' .* must be"):
        ops.aten.sum.dim_IntList(x, places)
    with pytest.raises(RuntimeError, match=r"'size' .* must be"):
        ops.aten.view.default(x, [dispatch.ones(2, device="meta", dtype=dispatch.int64)[0], 5])


def _interrupts(method):
    """An object whose `method` is interrupted."""

    def interrupted(self, *args):
        raise KeyboardInterrupt

    return type("Interrupts", (), {method: interrupted})()


class _Sequence:
    """What operators take for a list: its items are asked for by number."""

    def __getitem__(self, i):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    "call",
    [
        lambda: ops.aten.unsqueeze.default(X, _interrupts("__index__")),
        lambda: ops.aten.dropout.default(X, _interrupts("__float__"), True),
        lambda: ops.aten.dropout.default(X, 0.5, _interrupts("__bool__")),
        lambda: ops.aten.view.default(X, [_interrupts("__index__"), 1]),
        lambda: ops.aten.view.default(X, _Sequence()),
        lambda: ops.aten.empty.memory_format([2], dtype=_interrupts("__index__")),
        lambda: dispatch.norm(X, dtype=_interrupts("__index__")),
    ],
)
def test_an_interrupt_while_arguments_are_converted_is_no_mismatch(call):
    """Errors of user code mean that a value does not fit, and other overloads are tried."""
    with pytest.raises(KeyboardInterrupt):
        call()
