"""TorchScript's operators on numbers, strings and lists (values measured on PyTorch)."""

import math

import pytest

from dispatch import ops

aten, prim = ops.aten, ops.prim


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: aten.add.int(2**63 - 1, 1), -(2**63)),
        (lambda: aten.add.str("a", "b"), "ab"),
        (lambda: aten.div.int(1, 0), math.inf),
        (lambda: aten.floordiv.int(-7, 2), -4),
        (lambda: aten.__round_to_zero_floordiv.int(-7, 2), -3),
        (lambda: aten.remainder.float(-7.0, 2.0), 1.0),
        (lambda: aten.fmod.int(-7, 2), -1.0),
        (lambda: aten.pow.int(2, 3), 8.0),
        (lambda: aten.ceil.float(1.5), 2),
        (lambda: aten.round.int(3), 3.0),
        (lambda: aten.log.float_float(8.0, 2.0), 3.0),
        (lambda: aten.Complex.int_float(1, 2.0), 1 + 2j),
        (lambda: aten.eq.int_list([1, 2], [1, 2]), True),
        (lambda: aten.__contains__.str_list(["a"], "b"), False),
        (lambda: aten.count.int([1, 2, 1], 1), 2),
        (lambda: aten.find("hello", "l", -2), 3),
        (lambda: aten.strip("\va\n"), "a"),
        (lambda: aten.rsplit("a b c", " ", 1), ["a b", "c"]),
        (lambda: aten.partition("a=b", "="), ("a", "=", "b")),
        (lambda: aten.slice.str("hello", None, None, 2), "hlo"),
        (lambda: aten.len.str("abc"), 3),
        (lambda: aten.__range_length(0, 10, 3), 4),
        (lambda: prim.max.int_float(1, 0.5), 1.0),
        (lambda: prim.min.self_int([3, 1]), 1),
    ],
)
def test_values(call, expected):
    found = call()
    assert found == expected
    assert type(found) is type(expected)


def test_what_64_bits_do_not_hold_costs_nothing():
    assert aten.factorial.int(10**15) == 0 == aten.factorial.int(66) != aten.factorial.int(65)
    assert aten.__lshift__.int(1, 2**62) == 1
    assert aten.__lshift__.int(3, 63) == -(2**63)


def test_out_of_the_domain_is_nan():
    assert math.isnan(aten.sqrt.int(-1))
    assert math.isnan(aten.fmod.float(1.0, 0.0))
    assert aten.log.float(0.0) == -math.inf


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: aten.floordiv.int(1, 0), RuntimeError, "the divisor is 0"),
        (lambda: aten.rindex("ab", "c"), RuntimeError, "not found"),
        (lambda: aten.__getitem__.str("ab", 5), IndexError, "outside of a text of length 2"),
        (lambda: aten.factorial.int(-1), RuntimeError, "negative"),
        (lambda: aten.chr(-5), RuntimeError, "aten::chr: no value for -5"),
        (lambda: aten.ljust("x", 2**40, "-"), RuntimeError, "1099511627776 characters is too long"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
