"""Methods that are Python functions in PyTorch: whom they ask, and what handlers are shown."""

import numpy as np
import pytest

import dispatch
from dispatch.modes import TorchFunctionMode
from dispatch.tensor.layouts import LAYOUTS

STFT = {
    "hop_length": 2, "win_length": 3, "window": 4, "center": 5, "pad_mode": 6, "normalized": 7,
    "onesided": 8, "return_complex": 9, "align_to_window": 10,
}  # fmt: skip
ISTFT = {
    "hop_length": 2, "win_length": 3, "window": 4, "center": 5, "normalized": 6, "onesided": 7,
    "length": 8, "return_complex": 9,
}  # fmt: skip
DLPACK = {"stream": -1, "max_version": None, "dl_device": None, "copy": None}
UNIQUE = {"sorted": True, "return_inverse": False, "return_counts": False, "dim": None}
NORM = {"p": "fro", "dim": None, "keepdim": False, "dtype": None}


class Shown:
    """No tensor; answers with what it is shown."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, args[1:], kwargs


class Kept(dispatch.Tensor, Shown):
    """A tensor that answers likewise."""

    __torch_function__ = Shown.__torch_function__


@pytest.mark.parametrize("of", [Shown(), dispatch.ones(3).as_subclass(Kept)])
@pytest.mark.parametrize(
    ("name", "args", "given", "keywords"),
    [
        ("norm", (), (), NORM),
        ("norm", (2, 0), (), NORM | {"p": 2, "dim": 0}),
        ("lu", (), (), {"pivot": True, "get_infos": False}),
        ("__array_wrap__", (3,), (), {"array": 3}),
        ("module_load", (7,), (7,), {"assign": False}),
        ("register_hook", (print,), (print,), {}),
        ("is_shared", (), (), {}),
        ("__array__", (), (), {"dtype": None}),
        ("__dlpack__", (), (), DLPACK),
        ("istft", tuple(range(1, 10)), (1,), ISTFT),
        ("stft", tuple(range(1, 11)), (1,), STFT),
        ("unique", (), (), UNIQUE),
        ("unique", (1, 2, 3, 4), (), dict(zip(UNIQUE, (1, 2, 3, 4), strict=True))),
        ("unique_consecutive", (1, 2, 3), (),
         {"return_inverse": 1, "return_counts": 2, "dim": 3}),
        ("backward", (1, 2, 3, 4), (),
         {"gradient": 1, "retain_graph": 2, "create_graph": 3, "inputs": 4}),
    ],
)  # fmt: skip
def test_handlers_are_shown_defaults_by_keyword(of, name, args, given, keywords):
    method = getattr(dispatch.Tensor, name)
    assert method(of, *args) == (method, given, keywords)


def test_named_arguments_stand_where_pytorch_has_them():
    func, given, keywords = dispatch.Tensor.stft(Shown(), n_fft=4, center=False)
    assert (func, given, keywords["center"]) == (dispatch.Tensor.stft, (4,), False)
    assert len(keywords) == 9


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_a_call_that_does_not_fit_asks_nobody(name):
    with pytest.raises(TypeError):
        getattr(dispatch.Tensor, name)(Shown(), nothing_is_called_so=1)


def test_a_method_of_the_class_refuses_what_has_no_handler():
    with pytest.raises(TypeError, match="norm"):
        dispatch.Tensor.norm(3)
    with pytest.raises(TypeError, match="abs"):
        dispatch.Tensor.abs(Shown())


def test_a_handler_may_run_what_it_is_shown():
    class Runs(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    x = dispatch.tensor([3.0, 4.0, 3.0])
    with Runs():
        assert x.norm().item() == x.norm(2, 0).item() == pytest.approx(34**0.5)
        assert x.unique().tolist() == [3.0, 4.0]
        w = dispatch.ones(2)
        assert x.stft(2, 1, window=w, return_complex=True).istft(2, 1, window=w).shape == (3,)


def test_numpy_may_forbid_a_copy_and_say_what_it_does_while_handlers_look_on():
    class Seen(dispatch.Tensor):
        pass

    x = dispatch.ones(2).as_subclass(Seen)
    assert x.__array__(copy=False).tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="cannot be shared as int64"):
        x.__array__("int64", copy=False)
    assert type(np.sqrt(x)) is Seen  # `__array_wrap__(array, context, scalar)`
    assert Kept.__array__(dispatch.ones(1).as_subclass(Kept), copy=True)[2] == {
        "dtype": None, "copy": True
    }  # fmt: skip
