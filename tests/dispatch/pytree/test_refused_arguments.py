"""Trees refuse what is no tree's, with PyTorch's type of error."""

import pytest

from dispatch import pytree as PT
from tests.dispatch.refused import (
    check_refused,
)  # fmt: skip

CALLS = [
    (
        lambda: PT.tree_unflatten([1], 3),
        TypeError,
        "Expected `treespec` to be an instance of PyTreeSpec but got",
    ),
    (lambda: PT.treespec_tuple([1]), ValueError, "Expected a tuple of TreeSpec values, got: [1]."),
    (
        lambda: PT.treespec_dict({"a": 1}),
        ValueError,
        "Expected a dictionary of TreeSpec values, got: {'a': 1}.",
    ),
    (
        lambda: PT.TreeSpec(None, None, [PT.TreeSpec(None, None, [])]),
        AssertionError,
        "a leaf has neither context nor children",
    ),
    (lambda: PT.TreeSpec(None, 3, []), AssertionError, "a leaf has neither context nor children"),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
