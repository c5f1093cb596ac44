"""ValueRanges: what is in one, intersections, infinities."""

import pickle

import pytest

from dispatch.symbolic import ValueRanges, int_oo
from dispatch.symbolic.errors import ValueRangeError


def test_infinite_bounds_of_whole_numbers_are_int_oo() -> None:
    r = ValueRanges(2, int_oo)
    assert (r.is_int, r.upper is int_oo, str(r)) == (True, True, "VR[2, int_oo]")
    assert 10**30 in r
    assert 1 not in r
    assert ValueRanges.unknown().is_float


def test_intersection_keeps_the_narrower_bounds() -> None:
    assert ValueRanges(2, 9) & ValueRanges(5, int_oo) == ValueRanges(5, 9)
    with pytest.raises(ValueRangeError):
        ValueRanges(2, 3) & ValueRanges(5, 9)
    with pytest.raises(ValueRangeError):
        ValueRanges(3, 2)


def test_a_range_survives_pickling() -> None:
    r = ValueRanges(-int_oo, 3)
    assert pickle.loads(pickle.dumps(r)) == r
