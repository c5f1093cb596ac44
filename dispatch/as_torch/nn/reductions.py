"""How losses are reduced: names, the numbers of operators, the old flags (torch.nn._reduction)."""

from dispatch._C.advice import advise

__all__ = ["get_enum", "legacy_get_enum", "legacy_get_string"]

_NUMBERS = {"none": 0, "mean": 1, "sum": 2, "elementwise_mean": 1}


def get_enum(reduction: str) -> int:
    """The number that operators know a reduction by.

    Raises: ValueError for a name that is none of none, mean and sum.
    """
    number = _NUMBERS.get(reduction) if isinstance(reduction, str) else None
    if number is None:
        raise ValueError(
            f"{reduction} is not a valid value for reduction: expected none, mean or sum"
        )
    if reduction == "elementwise_mean":
        advise("reduction='elementwise_mean' is deprecated: use 'mean'")
    return number


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """The name that the two flags of old programs stand for; None of both is the mean."""
    averages = size_average is None or size_average
    name = "none" if reduce is not None and not reduce else "mean" if averages else "sum"
    if emit_warning:
        advise(f"size_average and reduce are deprecated, please use reduction='{name}'")
    return name


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """The number for the two flags."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
