"""What the equation of an einsum says: the subscripts of each operand, and the order of all.

`pairwise` computes it.
"""

import functools
from collections.abc import Iterator, Sequence

from dispatch._C.errors import refused

__all__ = ["planned", "unfolded"]

_ELLIPSIS = "..."

# What is said of a dot that is no ellipsis, and of a second ellipsis.
_OPERAND = (
    "operand {} that is not part of any ellipsis",
    "operand {} for which an ellipsis was already found",
)
_OUTPUT = (
    "output that is not part of any ellipsis (...)",
    "output but an ellipsis (...) was already found",
)

Labels = list[str]
Dimensions = list[tuple[str, int]]


def _error(text: str) -> RuntimeError:
    return refused(f"{text}")


def _subscripts(equation: str, start: int, stop: int, stray: str, second: str) -> Labels:
    """Letters and at most one ellipsis of `equation[start:stop]`; blanks stand between them."""
    labels: Labels = []
    while start < stop:
        label = _ELLIPSIS if equation.startswith(_ELLIPSIS, start, stop) else equation[start]
        if label.startswith("."):
            if _ELLIPSIS in labels:
                raise _error(f"einsum(): found '.' for {second}")
            if label == ".":
                raise _error(f"einsum(): found '.' for {stray}")
        elif label != " " and not (label.isascii() and label.isalpha()):
            raise _error(
                f"einsum(): invalid subscript given at index {start} of the equation {equation!r}, "
                "subscripts must be in [a-zA-Z]"
            )
        if label != " ":
            labels.append(label)
        start += len(label)
    return labels


def _read(equation: str, ndims: Sequence[int]) -> tuple[list[Labels], Labels | None]:
    """Labels of the operands and, if it is written, of the output."""
    left, arrow, _ = equation.partition("->")
    parts = left.split(",")
    if len(parts) != len(ndims):
        which = "fewer" if len(ndims) < len(parts) else "more"
        raise _error(
            f"einsum(): {which} operands were provided than specified in the equation {equation!r}"
        )
    inputs, start = [], 0
    for i, part in enumerate(parts):
        said = (text.format(i) for text in _OPERAND)
        inputs.append(_subscripts(equation, start, start + len(part), *said))
        start += len(part) + 1
    for i, (labels, ndim) in enumerate(zip(inputs, ndims, strict=True)):
        n = len(labels) - (_ELLIPSIS in labels)
        if n > ndim or (n < ndim and _ELLIPSIS not in labels):
            told = "" if _ELLIPSIS in labels else " and no ellipsis was given"
            against = "does not match" if told else "is more than"
            raise _error(
                f"einsum(): the number of subscripts in the equation ({n}) {against} the "
                f"number of dimensions ({ndim}) for operand {i}{told}"
            )
    output = (len(left) + len(arrow), len(equation)) if arrow else None
    return inputs, output and _subscripts(equation, *output, *_OUTPUT)


def _implied_output(inputs: Sequence[Labels]) -> Labels:
    """The ellipsis, then what occurs once, in the order of the alphabet."""
    given = [label for labels in inputs for label in labels if label != _ELLIPSIS]
    once = sorted(label for label in set(given) if given.count(label) == 1)
    return [_ELLIPSIS, *once]


def _check_output(output: Labels, inputs: Sequence[Labels]) -> None:
    known = {label for labels in inputs for label in labels}
    for label in output:
        if output.count(label) > 1:
            raise _error(f"einsum(): output subscript {label} appears more than once in the output")
        if label != _ELLIPSIS and label not in known:
            raise _error(
                f"einsum(): output subscript {label} does not appear in the equation for any input "
                "operand"
            )


def _unfold(labels: Labels, n: int) -> Iterator[tuple[str, int]]:
    for label in labels:
        if label != _ELLIPSIS:
            yield label, 0
        else:
            yield from ((_ELLIPSIS, i) for i in range(n, 0, -1))


def unfolded(labels: Labels, n: int) -> Dimensions:
    """Labels with the ellipsis, if there is one, as `n` dimensions, counted from the last."""
    return list(_unfold(labels, n))


@functools.lru_cache(maxsize=256)
def planned(equation: str, ndims: tuple[int, ...]) -> tuple[list[Labels], Dimensions, int]:
    """Labels of the operands, all dimensions in order, and how many, the first, are the output's.

    Equations come again. RuntimeError for one that is none, or is for other operands.
    """
    inputs, output = _read(equation, ndims)
    if output is None:
        output = _implied_output(inputs)
    _check_output(output, inputs)
    widths = [
        ndim - len(labels) + 1
        for ndim, labels in zip(ndims, inputs, strict=True)
        if _ELLIPSIS in labels
    ]
    n = max(widths, default=0)
    out = unfolded(output, n)
    every = [_ELLIPSIS, *sorted({label for labels in inputs for label in labels} - {_ELLIPSIS})]
    return inputs, out + [label for label in _unfold(every, n) if label not in out], len(out)
