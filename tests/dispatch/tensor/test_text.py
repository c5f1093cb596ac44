"""The text of tensors."""

from typing import Any, ClassVar

import pytest

import dispatch
from dispatch import tensor
from dispatch.modes import TorchDispatchMode
from dispatch.tensor.text import PRINT_OPTS, get_printoptions


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: tensor(1.0), "tensor(1.)"),
        (lambda: tensor([1, 2, -3]), "tensor([ 1,  2, -3])"),
        (lambda: tensor([1.5, 2]), "tensor([1.5000, 2.0000])"),
        (lambda: tensor([-1.0, 2.0]), "tensor([-1.,  2.])"),
        (lambda: tensor([1e10, 1]), "tensor([1.0000e+10, 1.0000e+00])"),
        (lambda: tensor([float("nan"), float("inf"), 1.0]), "tensor([nan, inf, 1.])"),
        (lambda: tensor([True, False]), "tensor([ True, False])"),
        (lambda: tensor([1 + 2j, 3.5 - 1j]), "tensor([1.0000+2.j, 3.5000-1.j])"),
        (lambda: tensor([[1, 2], [3, 4]]), "tensor([[1, 2],\n        [3, 4]])"),
        (lambda: dispatch.zeros(0), "tensor([])"),
        (lambda: dispatch.zeros(2, 0), "tensor([], size=(2, 0))"),
        (lambda: dispatch.zeros(2, dtype=dispatch.int8), "tensor([0, 0], dtype=dispatch.int8)"),
        (lambda: dispatch.zeros(2, requires_grad=True), "tensor([0., 0.], requires_grad=True)"),
        (lambda: dispatch.zeros(2, device="meta"), "tensor(..., device='meta', size=(2,))"),
        (lambda: dispatch.arange(2000), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
        (
            lambda: tensor([1.5, 2], dtype=dispatch.bfloat16),
            "tensor([1.5000, 2.0000], dtype=dispatch.bfloat16)",
        ),
    ],
)
def test_text_shows_values_and_what_is_not_the_default(made: Any, text: str) -> None:
    assert repr(made()) == text


def test_long_rows_are_wrapped() -> None:
    lines = repr(dispatch.arange(30.0)).splitlines()
    assert len(lines) == 3
    assert all(line.startswith("        ") for line in lines[1:])


def test_large_tensors_are_shown_by_their_edges() -> None:
    text = repr(dispatch.zeros(100, 100))
    assert text.count("...") == 7 and len(text.splitlines()) == 7


def test_format_of_a_0d_tensor_is_its_numbers() -> None:
    assert f"{tensor(1.25):.1f}" == "1.2"


def test_printing_calls_no_operator() -> None:
    class Refuse(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise AssertionError(func)

    value = tensor([1.0])
    with Refuse():
        assert repr(value) == "tensor([1.])"


def test_print_options_hold_until_they_are_set_back():
    value = dispatch.tensor([1.23456, 1000.0])
    dispatch.set_printoptions(precision=2)
    try:
        assert repr(value) == "tensor([   1.23, 1000.00])"
        assert PRINT_OPTS.precision == get_printoptions()["precision"] == 2
        PRINT_OPTS.sci_mode = True
        assert repr(value) == "tensor([1.23e+00, 1.00e+03])"
    finally:
        dispatch.set_printoptions(profile="default")
    assert "1.2346" in repr(value)


def test_values_on_other_devices_are_read_by_their_kernels():
    """Without kernels there is nothing to show; an example registers some."""
    from dispatch._C.arrays import _new_strided
    from dispatch._C.storage import _new_storage

    there = _new_strided(_new_storage(8, "xpu:0"), dispatch.float32, [2], [1], 0)
    assert repr(there) == "tensor(..., device='xpu:0', size=(2,))"


def test_contents_that_are_given_stand_for_the_values():
    x = dispatch.ones(2, dtype=dispatch.float64)
    assert x.__repr__(tensor_contents="...") == "tensor(..., dtype=dispatch.float64)"
    meta = dispatch.ones(2, device="meta")
    assert meta.__repr__(tensor_contents="a") == "tensor(a, device='meta', size=(2,))"

    class Wrapper(dispatch.Tensor):
        def __repr__(self):
            return super().__repr__(tensor_contents="mine")

    assert repr(dispatch.ones(2).as_subclass(Wrapper)) == "Wrapper(mine)"


class Seen(dispatch.Tensor):
    """A subclass that notes what its values are asked by, and holds twice what it shows."""

    calls: ClassVar[list[str]] = []

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(str(func))
        held = [a.held if isinstance(a, Seen) else a for a in args]
        return func(*held, **(kwargs or {})) / 2

    def tolist(self):
        return (self.held / 2).tolist()


def seen(held):
    made = dispatch.Tensor._make_wrapper_subclass(Seen, held.shape, dtype=held.dtype)
    made.held = held
    Seen.calls.clear()
    return made


def test_values_of_a_class_with_a_handler_are_what_it_answers() -> None:
    assert repr(seen(tensor([[2.0, 4.0], [6.0, 8.0]]))) == "Seen([[1., 2.],\n      [3., 4.]])"
    assert Seen.calls == ["aten.select.int", "aten.select.int"]
    assert repr(seen(tensor([2.0, 3.0]))) == "Seen([1.0000, 1.5000])"
    large = repr(seen(dispatch.arange(4000.0).reshape(2000, 2)))
    assert large.count("\n") == 6 and Seen.calls == ["aten.select.int"] * 6
    assert Seen.calls and "..., " not in repr(seen(dispatch.zeros(2, 0)))


def test_values_are_read_without_active_modes() -> None:
    class Refuse(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise AssertionError(func)

    shown = seen(tensor([[2.0]]))
    with Refuse():
        assert repr(shown) == "Seen([[1.]])"


def test_values_of_a_class_are_its_memory_where_handlers_are_off() -> None:
    class Negated(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            with dispatch._C._DisableTorchDispatch():
                return -func(*args, **(kwargs or {})).as_subclass(dispatch.Tensor)

    held = tensor([[1.0, 2.0]]).as_subclass(Negated)
    assert repr(held) == "Negated([[-1., -2.]])"
    with dispatch._C._DisableTorchDispatch():
        assert repr(held) == "Negated([[1., 2.]])"


def test_more_dimensions_than_an_array_has_are_shown_without_values():
    many = dispatch.ones(1).as_strided([1] * 65, [0] * 65)
    text = " ".join(repr(many).split())
    assert text == f"tensor(..., size={(1,) * 65})"
