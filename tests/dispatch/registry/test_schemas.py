"""Questions about schemas refuse what has none, with PyTorch's type of error."""

import pytest

from dispatch.registry.schemas import is_builtin, is_functional_schema, zip_schema
from tests.dispatch.refused import A, check_refused


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: is_builtin(3), "op must be an OpOverload, got <class 'int'>"),
        (lambda: is_functional_schema(3), "schema must be a FunctionSchema, got <class 'int'>"),
        (
            lambda: list(zip_schema(A.add.Tensor._schema, (1, 2, 3, 4), {"alpha": 1})),
            "has 3 arguments, got 4 positional ones and 1 by keyword",
        ),
    ],
)
def test_what_has_no_such_schema_is_refused(call, text):
    check_refused(call, AssertionError, text)
