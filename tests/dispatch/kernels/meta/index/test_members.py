"""Which elements may be looked for: those that have an order."""

import pytest

from tests.dispatch.refused import A, b8, c64, check_refused, f32, o


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(("left", "right"), [(c64, f32), (f32, c64), (b8, f32), (f32, b8)])
def test_elements_without_an_order_are_refused(device, left, right):
    given = o(2, dtype=left, device=device), o(2, dtype=right, device=device)
    check_refused(lambda: A.isin(*given), RuntimeError, "Unsupported input type")
