"""Attributes of Tensor: views of the whole, parts of complex numbers."""

import copy
import pickle

import pytest

import dispatch
from dispatch import FakeTensorMode, tensor
from dispatch._C import advice


@pytest.mark.filterwarnings("ignore:Tensor.T of other")
def test_transposing_attributes() -> None:
    base = dispatch.zeros(2, 3, 4)
    assert tuple(base.T.shape) == (4, 3, 2) and tuple(base.mT.shape) == (2, 4, 3)
    assert dispatch.zeros(2, 3, dtype=dispatch.complex64).H.is_conj()
    for bad in (lambda: base.H, lambda: base[0, 0].mT):
        with pytest.raises(RuntimeError):
            bad()


def test_real_and_imag_can_be_assigned() -> None:
    base = tensor([1 + 2j])
    base.real = tensor([5.0])
    base.imag = tensor([7.0])
    assert base.tolist() == [5 + 7j]


def test_a_gradient_is_kept_as_it_was_given() -> None:
    x, given = dispatch.ones(3, requires_grad=True), dispatch.zeros(3)
    assert x.grad is None
    x.grad = given
    assert x.grad is given and x._grad is given
    assert copy.deepcopy(x).grad.equal(given) and copy.deepcopy(x).grad is not given
    assert pickle.loads(pickle.dumps(x)).grad is None
    for wrong in (3, x, dispatch.zeros(2), given.double(), given.to("meta")):
        with pytest.raises((TypeError, RuntimeError), match="grad"):
            x.grad = wrong
    assert x.grad is given
    del x.grad
    assert x.grad is None


def test_there_is_no_memory_of_cuda() -> None:
    assert not hasattr(dispatch.ones(2), "__cuda_array_interface__")
    with FakeTensorMode(), pytest.raises(RuntimeError, match="no memory here"):
        _ = dispatch.ones(2, device="cuda").__cuda_array_interface__


def test_the_address_for_reading_is_never_forbidden() -> None:
    x = dispatch.ones(2)
    dispatch._C._set_throw_on_mutable_data_ptr(x)
    with pytest.raises(RuntimeError):
        x.data_ptr()
    assert x.const_data_ptr() == x[:1].clone().set_(x).const_data_ptr() != 0
    assert dispatch.ones(0).const_data_ptr() == 0


def test_the_gradient_of_what_is_no_leaf_is_asked_for_with_a_warning() -> None:
    x = dispatch.ones(3, requires_grad=True) * 2
    with pytest.warns(UserWarning, match="no leaf") as told:
        assert x.grad is None
    assert [w.filename for w in told] == [__file__]
    x.grad = dispatch.zeros(3)
    assert x.grad.tolist() == [0, 0, 0]
    y = dispatch.ones(3, requires_grad=True) * 2
    y.retain_grad()
    assert y.retains_grad and y.grad is None  # without a warning
    leaf = dispatch.ones(3, requires_grad=True)
    leaf.retain_grad()
    assert not leaf.retains_grad and not y.view(3).retains_grad


def test_new_of_a_tensor_is_that_tensor_in_its_dtype_only() -> None:
    given = dispatch.ones(2)
    assert given.new(given).data_ptr() == given.data_ptr()
    with pytest.raises(TypeError, match=r"^new: expected"):
        dispatch.zeros(2, dtype=dispatch.float64).new(given)


@pytest.mark.parametrize("name", ["T", "mT", "H", "mH"])
def test_transposing_a_number_is_told_once(name, monkeypatch) -> None:
    monkeypatch.setattr(advice, "_told", set())
    x = tensor(1 + 2j)
    with pytest.warns(UserWarning, match=f"Tensor.{name} of a number: deprecated") as told:
        found = [getattr(x, name).item() for _ in range(2)]
    assert found == [1 - 2j if "H" in name else 1 + 2j] * 2
    assert [w.filename for w in told] == [__file__]


def test_reversing_other_than_two_dimensions_is_told_once(monkeypatch) -> None:
    monkeypatch.setattr(advice, "_told", set())
    with pytest.warns(UserWarning, match="other than matrices") as told:
        assert [dispatch.ones(2, 3, 4).T.shape, dispatch.ones(2).T.shape] == [(4, 3, 2), (2,)]
    assert [w.filename for w in told] == [__file__]


@pytest.mark.parametrize("make", [dispatch.Tensor, dispatch.ones(2).new])
def test_older_constructors_move_nothing(make):
    for given in ((), (2,), ([1.0],), (dispatch.ones(2),)):
        with pytest.raises(RuntimeError, match=r"cuda|without a device"):
            make(*given, device="cuda")
    with pytest.raises(RuntimeError, match="without a device, call as_tensor"):
        make(dispatch.ones(2), device="cpu")
    assert make(2, device="cpu").shape == (2,)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.nelement(0), lambda x: x.ndimension(0), lambda x: x.size(True),
        lambda x: x.stride(1.0), lambda x: x.unique(1), lambda x: x.unique(return_counts=None),
        lambda x: x.unique_consecutive(0), lambda x: x.lu(1), lambda x: x.lu(get_infos=0),
        lambda x: x.new_tensor(1, requires_grad=1),
        lambda x: dispatch.tensor(1.0, requires_grad=None),
    ],
)  # fmt: skip
def test_what_is_of_another_kind_than_an_argument_is_refused(call) -> None:
    with pytest.raises(TypeError):
        call(dispatch.ones(2, 2))


def test_new_takes_sizes_by_name_and_hooks_are_kept() -> None:
    x = dispatch.ones(2)
    assert x.new(size=(3, 4)).shape == (3, 4)
    assert x._backward_hooks is None and x._fix_weakref() is None
    x._backward_hooks = hooks = {1: print}
    assert x._backward_hooks is hooks
