"""What handlers return is checked: PyTorch's type of error."""

import pytest

import dispatch
from dispatch import library, modes as PD
from dispatch.modes import aliasing
from tests.dispatch.refused import (
    A,
    check_refused,
    o,
)  # fmt: skip


class Wrapper(dispatch.Tensor):
    """A traceable wrapper that wraps none of its results."""

    @staticmethod
    def __new__(cls, inner):
        return dispatch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __tensor_flatten__(self):
        return [], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        raise NotImplementedError

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


CALLS = [
    (
        lambda: PD.return_and_correct_aliasing(A.detach.default, [o(2)], {}, o(2)),
        AssertionError,
        "args must be a tuple, got <class 'list'>",
    ),
    (
        lambda: PD.return_and_correct_aliasing(A.view.default, [o(2), [2]], {}, o(2)),
        AssertionError,
        "args must be a tuple, got <class 'list'>",
    ),
    (
        lambda: PD.return_and_correct_aliasing(A.split.Tensor, (o(2), 1), {}, 3),
        AssertionError,
        "aten.split.Tensor: expected a tensor, got <class 'int'>",
    ),
    (
        lambda: aliasing.return_and_correct_aliasing(
            A.view.default, (Wrapper(o(2)), [2]), {}, o(2)
        ),
        AssertionError,
        "Wrapper'>, the result must be one too, got <class",
    ),
    (
        lambda: aliasing.return_and_correct_aliasing(
            A.split.Tensor, (Wrapper(o(2)), 1), {}, [o(1), o(1)]
        ),
        AssertionError,
        "Wrapper'>, the result must be one too, got <class",
    ),
    (
        lambda: aliasing._correct_storage_aliasing(
            3, aliasing.get_alias_info(A.add.Tensor), (), ()
        ),
        AssertionError,
        "func must be an OpOverload, got <class 'int'>",
    ),
    (
        lambda: aliasing._correct_storage_aliasing(
            A.add.Tensor, aliasing.get_alias_info(A.add.Tensor), (), 3
        ),
        AssertionError,
        "outs must be a list or tuple, got <class 'int'>",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)


@pytest.mark.parametrize(
    ("schema", "error", "text"),
    [
        ("(Tensor(a!) a, Tensor b) -> (Tensor(a!), Tensor)", RuntimeError, "only some results are"),
        ("(Tensor(a|b!) a) -> Tensor(a|b!)", AssertionError, "an output with one alias set was"),
    ],
)
def test_a_schema_of_which_aliases_cannot_be_read_is_refused(schema, error, text):
    with library._scoped_library("refused_aliases", "DEF") as lib:
        lib.define(f"op{schema}")
        op = dispatch.ops.refused_aliases.op.default
        check_refused(lambda: aliasing.get_alias_info(op), error, text)
