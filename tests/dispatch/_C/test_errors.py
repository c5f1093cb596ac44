"""Refusals: kernels say what is wrong, the dispatcher says with which operator."""

import pytest

import dispatch
from dispatch import ops
from dispatch._C.errors import refused, unserved
from dispatch.fake import FakeTensorMode
from dispatch.library import Library


@pytest.fixture
def lib():
    made = Library("refusals", "DEF")
    made.define("inner(Tensor self, int n) -> Tensor")
    made.define("outer(Tensor self, int n) -> Tensor")
    yield made
    made._destroy()


def _named(caught, name, text):
    schema = getattr(ops.refusals, name).default._schema
    return str(caught.value) == f"refusals::{name}: {text}\n  {schema}"


def _refuse(self, n):
    raise refused(f"expected n to be 0, got {n}", IndexError)


@pytest.mark.parametrize("key", ["CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd"])
def test_refusal_of_a_kernel_names_its_operator(lib, key):
    lib.impl("inner", _refuse, key)
    with pytest.raises(IndexError) as caught:
        ops.refusals.inner(dispatch.ones(2), 3)
    assert _named(caught, "inner", "expected n to be 0, got 3")


def test_refusal_through_meta_and_fake_tensors_names_its_operator(lib):
    lib.impl("inner", _refuse, "Meta")
    with pytest.raises(IndexError) as caught:
        ops.refusals.inner(dispatch.ones(2, device="meta"), 3)
    assert _named(caught, "inner", "expected n to be 0, got 3")
    with FakeTensorMode(), pytest.raises(IndexError) as caught:
        ops.refusals.inner(dispatch.ones(2), 4)
    assert _named(caught, "inner", "expected n to be 0, got 4")


def test_the_innermost_operator_is_named_once(lib):
    lib.impl("inner", _refuse, "CPU")
    lib.impl("outer", lambda self, n: ops.refusals.inner(self, n + 1), "CompositeImplicitAutograd")
    with pytest.raises(IndexError) as caught:
        ops.refusals.outer(dispatch.ones(2), 3)
    assert _named(caught, "inner", "expected n to be 0, got 4")


def test_a_kernel_may_catch_a_refusal_and_raise_its_own(lib):
    def outer(self, n):
        try:
            return ops.refusals.inner(self, n)
        except IndexError as error:
            raise refused("expected what inner takes") from error

    lib.impl("inner", _refuse, "CPU")
    lib.impl("outer", outer, "CPU")
    with pytest.raises(RuntimeError) as caught:
        ops.refusals.outer(dispatch.ones(2), 3)
    assert _named(caught, "outer", "expected what inner takes")
    assert str(caught.value.__cause__).startswith("refusals::inner: ")


def test_refusal_keeps_its_traceback(lib):
    lib.impl("inner", _refuse, "CPU")
    with pytest.raises(IndexError) as caught:
        ops.refusals.inner(dispatch.ones(2), 3)
    assert caught.traceback[-1].name == "_refuse"


def test_other_errors_stay_as_they_are(lib):
    error = KeyError("as it was")

    def raises(self, n):
        raise error

    lib.impl("inner", raises, "CPU")
    with pytest.raises(KeyError) as caught:
        ops.refusals.inner(dispatch.ones(2), 3)
    assert caught.value is error and error.args == ("as it was",)


def test_refusal_outside_of_a_call_is_its_text():
    error = refused("expected more", ValueError)
    assert type(error) is ValueError and str(error) == "expected more"
    assert type(refused("expected more")) is RuntimeError


@pytest.mark.parametrize(
    ("dtype", "name"),
    [(dispatch.int32, "Int"), (dispatch.complex32, "ComplexHalf"), (dispatch.bits8, "bits8")],
)
def test_a_dtype_without_a_kernel_is_called_by_its_scalar_type(dtype, name):
    error = unserved(dtype)
    assert type(error) is NotImplementedError
    assert str(error) == f"not implemented for '{name}': no CPU kernel for {dtype}"
