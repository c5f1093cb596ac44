"""What `record_calls.described` tells, compared: sums within rounding."""

from typing import Any

from tests.conformance.record_calls import DTYPES

__all__ = ["differs"]

# How far a sum may be off, for each unit that was added up: rounding is by the last dtype written.
NEAR = {"float32": 3e-5, "complex64": 3e-5, "bfloat16": 1e-2, "float16": 2e-3}


def _is_tensor(value: Any) -> bool:
    return isinstance(value, list) and len(value) in (3, 4) and value[0] in DTYPES.values()


def differs(want: Any, got: Any, all_strides: bool = False) -> bool:
    """Whether an answer is another than the recorded one; strides count where steps are made."""
    if not _is_tensor(want) or not _is_tensor(got):
        if not isinstance(want, list) or not isinstance(got, list) or len(want) != len(got):
            return bool(want != got)
        return any(differs(a, b, all_strides) for a, b in zip(want, got, strict=True))
    (dtype, sizes, strides, *sums), (*mine, my_strides) = want, got[:3]
    if mine != [dtype, sizes]:
        return True
    counts = [all_strides or (n > 1 and 0 not in sizes) for n in sizes]
    if any(c and a != b for c, a, b in zip(counts, strides, my_strides, strict=True)):
        return True
    return _sums_differ(dtype, sums, got[3:])


def _sums_differ(dtype: str, want: list[Any], got: list[Any]) -> bool:
    """Of tensors on meta there are none."""
    if not want or not got:
        return len(want) != len(got)
    (total, size, odd), (my_total, _, my_odd) = *want, *got
    return odd != my_odd or abs(total - my_total) > NEAR.get(dtype, 2e-5) * (1 + size)
