"""Registration refuses names that are none, with PyTorch's type of error."""

import pytest

from dispatch import _custom_ops as CO, library as L
from tests.dispatch.refused import (
    check_refused,
)  # fmt: skip

CALLS = [
    (lambda: L.Library("refusals_x", "ODD"), ValueError, "Unsupported kind: ODD"),
    (
        lambda: L.define("noname", "(Tensor x) -> Tensor"),
        ValueError,
        'expected a name of the form "namespace::name", got ',
    ),
    (
        lambda: CO.impl("refusals_y::nonesuch")(lambda x: x),
        ValueError,
        "Could not find the operator refusals_y::nonesuch: it has to",
    ),
    (
        lambda: CO.impl_abstract("refusals_y::nonesuch")(lambda x: x),
        RuntimeError,
        "operator refusals_y::nonesuch does not exist",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
