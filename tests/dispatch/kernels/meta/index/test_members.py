"""Which elements may be looked for: those that have an order."""

import pytest

import dispatch
from tests.dispatch.refused import A, b8, c64, check_refused, f32, o


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize(("left", "right"), [(c64, f32), (f32, c64), (b8, f32), (f32, b8)])
def test_elements_without_an_order_are_refused(device, left, right):
    given = o(2, dtype=left, device=device), o(2, dtype=right, device=device)
    check_refused(lambda: A.isin(*given), RuntimeError, "Unsupported input type")


@pytest.mark.parametrize("of", [2.0, [1.0, 2.0]], ids=["number", "tensor"])
def test_answers_lie_as_elements_do_where_there_is_no_data(of):
    def strides(device):
        x = dispatch.ones(2, 3, 4, device=device).permute(2, 0, 1)
        y = dispatch.ones(1, 2, 3, 4, device=device).to(memory_format=dispatch.channels_last)
        given = of if isinstance(of, float) else dispatch.tensor(of, device=device)
        return [dispatch.isin(t, given).stride() for t in (x, y)]

    with dispatch.FakeTensorMode():
        assert strides("cpu") == [(1, 12, 4), (24, 1, 8, 2)]
    assert strides("meta") == [(1, 12, 4), (24, 1, 8, 2)]
    assert strides("cpu") == [(6, 3, 1), (24, 12, 4, 1)]
