"""Python's operators on tensors: what runs, what the other operand is asked, what handlers see."""

import operator
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch import Tensor, tensor
from dispatch.modes import TorchFunctionMode


def meta(*sizes: int, dtype: Any = None) -> Tensor:
    return dispatch.empty(list(sizes), device="meta", dtype=dtype)


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        (lambda t: t + 1, "float32"), (lambda t: 1 + t, "float32"), (lambda t: t - t, "float32"),
        (lambda t: 2 * t, "float32"), (lambda t: t / 2, "float32"), (lambda t: -t, "float32"),
        (lambda t: t == 1, "bool"), (lambda t: t < t, "bool"), (lambda t: abs(t), "float32"),
        (lambda t: 2**t, "float32"), (lambda t: t % 2, "float32"), (lambda t: 1 / t, "float32"),
        (lambda t: t // 2, "float32"), (lambda t: ~(t > 0) & True, "bool"),
    ],
)  # fmt: skip
def test_operators_dispatch(call: Any, dtype: str) -> None:
    made = call(meta(2, 3))
    assert (tuple(made.shape), made.dtype) == ((2, 3), getattr(dispatch, dtype))


def test_operators_leave_foreign_operands_to_the_other_side() -> None:
    class Other:
        def __radd__(self, other: Any) -> str:
            return "radd"

    base = meta(2)
    assert base + Other() == "radd"
    assert (base == "a") is False and (base != None) is True  # noqa: E711
    for bad in ("a", None):
        with pytest.raises(TypeError):
            base + bad


def test_in_place_operators_return_self() -> None:
    base = same = meta(2)
    base += 1
    base *= 2
    assert base is same


BINARY = [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor",
    "lshift", "rshift",
]  # fmt: skip
COMPARISONS = ["lt", "le", "eq", "ne", "gt", "ge"]
UNARY = ["neg", "pos", "abs", "invert", "int", "float", "index"]
SHARED = {"__neg__": "neg", "__pos__": "positive", "__abs__": "abs", "__itruediv__": "__idiv__"}


def test_every_special_method_stands_in_the_type() -> None:
    names = [f"__{way}{name}__" for name in BINARY for way in ("", "r", "i")]
    names += ["__matmul__", "__rmatmul__", *(f"__{name}__" for name in COMPARISONS + UNARY)]
    wrapper = type(object.__lt__)
    others = [name for name in names if type(vars(Tensor).get(name)) is not wrapper]
    assert sorted(others) == ["__abs__", "__neg__", "__pos__"]
    assert "__imatmul__" not in vars(Tensor) and "__divmod__" not in vars(Tensor)


def test_methods_of_two_names_are_one_function_and_handlers_see_it() -> None:
    class Told(Tensor):
        seen: list[Any] = []

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None):
            cls.seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    assert [a for a, b in SHARED.items() if getattr(Tensor, a) is not getattr(Tensor, b)] == []
    x = tensor([1.0, 2.0]).as_subclass(Told)
    assert ((-x).tolist(), abs(x).tolist()) == ([-1, -2], [1, 2])
    known = (Tensor.__neg__, Tensor.__abs__)
    assert [f for f in Told.seen if f in known] == list(known)


@pytest.mark.parametrize("name", BINARY)
def test_methods_give_what_their_operators_give(name: str) -> None:
    left, right = tensor([6, 9]), tensor([2, 3])
    forward = getattr(Tensor, f"__{name}__")(left, right)
    assert forward.tolist() == getattr(Tensor, f"__r{name}__")(right, left).tolist()
    same = left if name != "truediv" else left.double()
    assert getattr(Tensor, f"__i{name}__")(same, right) is same
    assert same.tolist() == forward.tolist()
    for call in (f"__{name}__", f"__r{name}__", f"__i{name}__"):
        assert getattr(Tensor, call)(left, "a") is NotImplemented


def test_numbers_on_the_left() -> None:
    t = tensor([2, 3])
    results = [7 + t, 7 - t, 7 * t, 6 / t, 7 // t, 7 % t, 2**t, 6 & t, 6 | t, 6 ^ t]
    assert [r.tolist() for r in [*results, 1 << t, 99 >> t]] == [
        [9, 10], [5, 4], [14, 21], [3.0, 2.0], [3, 2], [1, 1], [4, 8], [2, 2], [6, 7], [4, 5],
        [4, 8], [24, 12],
    ]  # fmt: skip
    with pytest.raises(TypeError):
        2 @ t


@pytest.mark.parametrize(
    "call",
    [lambda x: x + x, lambda x: x - 1, lambda x: 2 * x, lambda x: x == x, lambda x: x.__iadd__(1),
     lambda x: x * x, lambda x: -x, lambda x: x < x],
)  # fmt: skip
def test_no_python_frame_is_made(call: Any) -> None:
    """From the second call on: the first one looks the operator up."""
    frames: list[str] = []
    x = tensor([1.0, 2.0])
    call(x)
    sys.setprofile(lambda frame, event, _: event == "call" and frames.append(frame.f_code.co_name))
    try:
        call(x)
    finally:
        sys.setprofile(None)
    assert frames == ["<lambda>"]


def test_positive_is_the_tensor_and_bool_has_no_sign() -> None:
    t = tensor([1])
    assert +t is t and t.positive() is t
    with pytest.raises(RuntimeError, match="sign"):
        +tensor([True])
    with pytest.raises(TypeError, match="bits"):
        ~tensor([1.0])


def test_a_subclass_on_the_right_is_asked_first() -> None:
    class Right(Tensor):
        def __radd__(self, other: Any) -> str:
            return "right"

    right = tensor([1]).as_subclass(Right)
    assert tensor([1]) + right == "right"
    assert type(right + tensor([1])) is Right
    assert type(tensor([1]) - right) is Right


def test_handlers_see_the_method_or_the_slot() -> None:
    seen: list[Any] = []

    class Watching(Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any, kwargs: Any = None) -> Any:
            seen.append((func, kwargs))
            return 0

    x = tensor([1]).as_subclass(Watching)
    for call, expected in (
        (lambda: x + 1, (Tensor.add, None)),
        (lambda: 1 - x, (Tensor.__rsub__, {})),
        (lambda: x & 1, (Tensor.__and__, None)),
        (lambda: x**2, (Tensor.__pow__, {})),
        (lambda: operator.ipow(x, 2), (Tensor.__ipow__, {})),
        (lambda: 2 / x, (Tensor.__rdiv__, {})),
        (lambda: ~x, (Tensor.__invert__, None)),
        (lambda: -x, (Tensor.neg, None)),
        (lambda: x == 1, (Tensor.__eq__, None)),
        (lambda: x < 1, (Tensor.lt, None)),
        (lambda: +x, (Tensor.positive, None)),
    ):
        seen.clear()
        call()
        assert seen == [expected]


def test_of_equality_and_membership_the_slot_asks_self_only() -> None:
    """The other operand's handler is asked by the method, and by `in` not at all."""
    seen: list[Any] = []

    class Foreign:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any, kwargs: Any = None) -> Any:
            seen.append((func, types))
            return "foreign"

    x, other = tensor([1]), Foreign()
    assert (x == other) == (other == x) == "foreign"
    assert seen == [(Tensor.eq, (Foreign,))] * 2
    with pytest.raises(RuntimeError, match="__contains__: expected a tensor or a number"):
        other in x  # noqa: B015
    assert len(seen) == 2
    assert dispatch.can_cast(other, dispatch.int64) == "foreign"
    assert dispatch.promote_types(other, other) == "foreign"


def test_a_function_under_two_names_is_equal_to_both_in_tables_too() -> None:
    """Of `__rtruediv__`, `__pow__` and `__ipow__` handlers see what PyTorch has in their place."""
    table = {Tensor.__rtruediv__: "divide", Tensor.__pow__: "power", Tensor.__ipow__: "power_"}

    class Looking(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            assert pickle.loads(pickle.dumps(func)) == func
            return func.__name__, table[func], func(*args, **kwargs).tolist()

    x = tensor([4.0])
    with Looking():
        assert 2 / x == ("__rdiv__", "divide", [0.5])
        assert x**2 == ("pow", "power", [16.0])
        assert operator.ipow(x, 2) == ("pow_", "power_", [16.0])
    assert Tensor.__rdiv__ == Tensor.__rtruediv__ and Tensor.__pow__ != Tensor.pow


def test_only_equality_takes_arrays():
    x, array = dispatch.arange(2.0), np.ones(2)
    assert (x == array).tolist() == (array == x).tolist() == [False, True]
    assert (x == np.array(["a", "b"])) is False
    assert x.__eq__([0, 1]) is NotImplemented
    with pytest.raises(RuntimeError):
        x.__eq__(np.ones(3))
    assert x.__lt__(array) is NotImplemented


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (lambda: dispatch.ones(1) + 2**63, [2.0**63]),
        (lambda: dispatch.ones(1, dtype=dispatch.int64) + 2**63, [1 - 2**63]),
        (lambda: dispatch.tensor([3]) & (2**64 - 1), [3]),
        (lambda: dispatch.tensor(5) ^ 2**63, 5 - 2**63),
        (lambda: dispatch.ops.aten.add.Scalar(dispatch.ones(1), 2**63), [2.0**63]),
    ],
)
def test_a_number_that_only_uint64_holds_is_one_of_uint64(call: Any, values: Any) -> None:
    assert call().tolist() == values


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**60])
def test_a_number_beyond_64_bits_is_an_overflow(number: int) -> None:
    with pytest.raises(OverflowError, match=r"aten::mul.Tensor: a number does not fit in 64 bits"):
        dispatch.ones(2) * number
    with pytest.raises(OverflowError, match="does not fit in 64 bits"):
        dispatch.full((2,), number)


def test_numbers_of_uint64_have_no_common_dtype_with_bool() -> None:
    with pytest.raises(RuntimeError, match="uint64"):
        dispatch.ones(2, dtype=dispatch.bool) + 2**63
    with pytest.raises(RuntimeError, match="cannot be converted"):
        dispatch.full((2,), 2**63)
