"""Functional tensors and their mode refuse what is not theirs, with PyTorch's type of error."""

import pytest

import dispatch
from dispatch import functional as FT
from tests.dispatch.refused import (
    A,
    c64,
    check_refused,
    i64,
    o,
)  # fmt: skip

functional = dispatch._to_functional_tensor


def frozen(value):
    t = functional(value)
    dispatch._freeze_functional_tensor(t)
    return t


CALLS = [
    (
        lambda: FT.functionalize(lambda x: x, remove="odd"),
        RuntimeError,
        "functionalize: remove must be 'mutations' or",
    ),
    (lambda: FT.FunctionalTensor(o(2), None), AssertionError, "elem must be a functional tensor"),
    (
        lambda: FT.FunctionalTensor.to_functional(o(2)),
        AssertionError,
        "a FunctionalTensorMode must be active",
    ),
    (
        lambda: dispatch._to_functional_tensor(3),
        TypeError,
        "_to_functional_tensor: expected a Tensor, got int",
    ),
    (
        lambda: dispatch._to_functional_tensor(dispatch._to_functional_tensor(o(2))),
        RuntimeError,
        "_to_functional_tensor: the tensor is functional already",
    ),
    (
        lambda: dispatch._from_functional_tensor(o(2)),
        RuntimeError,
        "_from_functional_tensor: the tensor is not functional",
    ),
    (
        lambda: dispatch._from_functional_tensor(3),
        TypeError,
        "_from_functional_tensor: expected a Tensor, got int",
    ),
    (
        lambda: dispatch._sync(o(2)),
        RuntimeError,
        "_functionalize_sync: the tensor is not functional",
    ),
    (
        lambda: A.add_(o(2), dispatch._to_functional_tensor(o(2))),
        RuntimeError,
        "mutating a non-functional tensor with a functional tensor is",
    ),
    (
        lambda: FT.PythonFunctionalizeAPI().replace(o(2), o(2)),
        AssertionError,
        "input_tensor must be a FunctionalTensor, got <class",
    ),
    (
        lambda: FT.PythonFunctionalizeAPI().commit_update(o(2)),
        AssertionError,
        "tensor must be a FunctionalTensor, got <class",
    ),
    (
        lambda: FT.PythonFunctionalizeAPI().sync(o(2)),
        AssertionError,
        "tensor must be a FunctionalTensor, got <class",
    ),
    (
        lambda: frozen(o(2)).add_(1),
        RuntimeError,
        "aten::add_.Tensor: cannot mutate tensors with frozen storage",
    ),
    (
        lambda: functional(o(2, dtype=i64)).add_(1.5),
        RuntimeError,
        "a result of dispatch.float32 cannot be stored in a tensor of",
    ),
    (
        lambda: functional(o(2)).add_(o(2, dtype=c64)),
        RuntimeError,
        "a result of dispatch.complex64 cannot be stored in a",
    ),
    (
        lambda: functional(o(2)).add_(o(3, 2)),
        RuntimeError,
        "output with shape (2,) doesn't match the broadcast shape (3, 2)",
    ),
    (
        lambda: A.set_.source_Tensor(functional(o(2)), o(2)),
        RuntimeError,
        "either both tensors are functional or none",
    ),
    (
        lambda: A.set_.source_Tensor(o(2), functional(o(2))),
        RuntimeError,
        "either both tensors are functional or none",
    ),
    (
        lambda: A.resize_(functional(o(4)).view(2, 2), [9]),
        RuntimeError,
        "resize a view tensor to a larger size",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)


def test_layers_of_functionalization_do_not_nest():
    dispatch._enable_functionalization(reapply_views=True)
    try:
        check_refused(
            lambda: dispatch._enable_functionalization(reapply_views=True),
            RuntimeError,
            "functionalization is enabled already: its layers do not nest",
        )
    finally:
        dispatch._disable_functionalization()
