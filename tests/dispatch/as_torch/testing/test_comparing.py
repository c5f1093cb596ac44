"""What `torch.testing.assert_close` refuses to compare."""

import pytest

import dispatch
from dispatch.as_torch.testing.comparing import assert_close
from tests.dispatch.refused import check_refused, o


class Kind(dispatch.Tensor):
    """Another class of tensors."""


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: assert_close(o(2), o(2), rtol=0.1), ValueError, "give both rtol and atol"),
        (lambda: assert_close(o(2), o(2), atol=0.1), ValueError, "give both rtol and atol"),
        (lambda: assert_close(o(2), [1.0, 1.0]), TypeError, "no pair to compare"),
        (lambda: assert_close(o(2), None), AssertionError, "None is not close to tensor"),
        (lambda: assert_close(None, 1), AssertionError, "None is not close to 1"),
        (
            lambda: assert_close(o(2).as_subclass(Kind), o(2), allow_subclasses=False),
            TypeError,
            "are not of one class",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(call, error, text):
    check_refused(call, error, text)


def test_subclasses_are_compared_unless_it_is_forbidden():
    assert_close(o(2).as_subclass(Kind), o(2))
    assert_close(o(2), o(2), rtol=0, atol=0)
