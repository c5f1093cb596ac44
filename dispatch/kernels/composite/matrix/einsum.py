"""einsum, written with permute, bmm, mul and sum as PyTorch lowers it.

Called for tensors of all kinds. Every operand becomes one with the same dimensions: those of the
output, then those that are summed away, of size 1 where it has none. Then pairs are contracted.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["einsum", "multiply_sum"]

_ELLIPSIS = "..."

Labels = list[str]


class Plan(NamedTuple):
    """`labels`: of all dimensions in order; the first `n_out` are those of the output."""

    labels: list[tuple[str, int]]
    n_out: int


# ---- the equation ------------------------------------------------------------------------------


def _error(text: str) -> RuntimeError:
    return refused(f"{text}")


def _subscripts(text: str, where: str) -> Labels:
    """Letters and at most one ellipsis."""
    labels: Labels = []
    rest = text.replace(" ", "")
    while rest:
        label = _ELLIPSIS if rest.startswith(_ELLIPSIS) else rest[0]
        if label != _ELLIPSIS and not (label.isascii() and label.isalpha()):
            raise _error(f"expected letters and '...' in the subscripts of {where}, got {text!r}")
        if label == _ELLIPSIS and label in labels:
            raise _error(f"more than one ellipsis in the subscripts of {where}: {text!r}")
        labels.append(label)
        rest = rest[len(label) :]
    return labels


def _read(equation: str, ndims: Sequence[int]) -> tuple[list[Labels], Labels | None]:
    """Labels of the operands and, if it is written, of the output."""
    left, arrow, right = equation.partition("->")
    parts = left.split(",")
    if len(parts) != len(ndims):
        raise _error(f"{equation!r} is for {len(parts)} operands, got {len(ndims)}")
    inputs = [_subscripts(part, f"operand {i}") for i, part in enumerate(parts)]
    for i, (labels, ndim) in enumerate(zip(inputs, ndims, strict=True)):
        n = len(labels) - (_ELLIPSIS in labels)
        if n > ndim or (n < ndim and _ELLIPSIS not in labels):
            raise _error(f"operand {i} has {ndim} dimensions, but {n} subscripts")
    return inputs, _subscripts(right, "the output") if arrow else None


def _implied_output(inputs: Sequence[Labels]) -> Labels:
    """The ellipsis, then what occurs once, in the order of the alphabet."""
    given = [label for labels in inputs for label in labels if label != _ELLIPSIS]
    once = sorted(label for label in set(given) if given.count(label) == 1)
    return [_ELLIPSIS, *once]


def _check_output(output: Labels, inputs: Sequence[Labels]) -> None:
    known = {label for labels in inputs for label in labels}
    for label in output:
        if output.count(label) > 1:
            raise _error(f"the output has the subscript {label!r} more than once")
        if label != _ELLIPSIS and label not in known:
            raise _error(f"no operand has the output's subscript {label!r}")


def _unfold(labels: Labels, n: int) -> Iterator[tuple[str, int]]:
    """Labels with the ellipsis as `n` dimensions, counted from the last."""
    for label in labels:
        if label != _ELLIPSIS:
            yield label, 0
        else:
            yield from ((_ELLIPSIS, i) for i in range(n, 0, -1))


@functools.lru_cache(maxsize=256)
def _planned(equation: str, ndims: tuple[int, ...]) -> tuple[list[Labels], Plan]:
    """Labels of the operands, and the plan; equations come again."""
    inputs, output = _read(equation, ndims)
    if output is None:
        output = _implied_output(inputs)
    _check_output(output, inputs)
    widths = [
        ndim - len(labels) + 1
        for ndim, labels in zip(ndims, inputs, strict=True)
        if _ELLIPSIS in labels
    ]
    return inputs, _make_plan(inputs, output, max(widths, default=0))


def _make_plan(inputs: Sequence[Labels], output: Labels, n_ellipsis: int) -> Plan:
    out = list(_unfold(output, n_ellipsis))
    every = [_ELLIPSIS, *sorted({label for labels in inputs for label in labels} - {_ELLIPSIS})]
    summed = [label for label in _unfold(every, n_ellipsis) if label not in out]
    return Plan(out + summed, len(out))


# ---- operands ----------------------------------------------------------------------------------


def _with_diagonals(
    i: int, t: Tensor, labels: list[tuple[str, int]]
) -> tuple[Tensor, list[tuple[str, int]]]:
    """Dimensions of one label become their diagonal, at the place of the first."""
    seen: list[tuple[str, int]] = []
    for label in labels:
        if label not in seen:
            seen.append(label)
            continue
        first, second = seen.index(label), len(seen)
        if t.shape[first] != t.shape[second]:
            raise _error(
                f"operand {i} has the subscript {label[0]!r} for sizes {t.shape[first]} and "
                f"{t.shape[second]}"
            )
        t = ops.aten.diagonal(t, 0, first, second)
        last = t.ndim - 1
        t = ops.aten.permute(t, [*range(first), last, *range(first, last)])
    return t, seen


def _aligned(i: int, t: Tensor, labels: Labels, plan: Plan) -> Tensor:
    """An operand with all the plan's dimensions in their order."""
    n = t.ndim - (len(labels) - 1) if _ELLIPSIS in labels else 0
    t, found = _with_diagonals(i, t, list(_unfold(labels, n)))
    for label in plan.labels:
        if label not in found:
            t = ops.aten.unsqueeze(t, len(found))
            found.append(label)
    return ops.aten.permute(t, [found.index(label) for label in plan.labels])


def _check_sizes(operands: Sequence[Tensor], plan: Plan) -> None:
    for d, label in enumerate(plan.labels):
        sizes = [t.shape[d] for t in operands if rules.may_hold(t.shape[d] != 1)]
        if not all(rules.holds(n == sizes[0]) for n in sizes[1:]):
            raise _error(f"the subscript {label[0]!r} has sizes {sizes} that differ")


# ---- contraction -------------------------------------------------------------------------------


def _flat(t: Tensor, groups: Sequence[Sequence[int]]) -> Tensor:
    """The dimensions of each group as one."""
    sizes = []
    for group in groups:
        size = 1
        for d in group:
            size *= t.shape[d]
        sizes.append(size)
    order = [d for group in groups for d in group]
    rest = [d for d in range(t.ndim) if d not in order]
    return ops.aten.reshape(ops.aten.permute(t, order + rest), sizes)


def multiply_sum(a: Tensor, b: Tensor, dims: Sequence[int]) -> Tensor:
    """(a * b).sum(dims, keepdim=True) as a batched matrix product (at::native sumproduct_pair)."""
    both: list[int] = []
    left: list[int] = []
    right: list[int] = []
    inner: list[int] = []
    for d in range(a.ndim):
        in_a, in_b = (rules.may_hold(t.shape[d] != 1) for t in (a, b))
        if d not in dims:
            (both if in_a and in_b else left if in_a else right).append(d)
        elif in_a and in_b:
            inner.append(d)
        elif in_a:
            a = ops.aten.sum(a, [d], True)
        elif in_b:
            b = ops.aten.sum(b, [d], True)
    if left and right and right[-1] < left[0]:  # the product's dimensions come in their order
        a, b, left, right = b, a, right, left
    product = ops.aten.bmm(_flat(a, (both, left, inner)), _flat(b, (both, inner, right)))
    order = [*both, *left, *dims, *right]
    of_a = {*both, *left}
    sizes = [1 if d in dims else (a if d in of_a else b).shape[d] for d in order]
    product = ops.aten.reshape(product, sizes)
    return ops.aten.permute(product, [order.index(d) for d in range(a.ndim)])


def _pairs(n: int, path: Sequence[int] | None) -> Iterator[tuple[int, int]]:
    """Which two of the operands left are contracted next."""
    if path is None:
        yield from [(0, 1)] * (n - 1)
        return
    if len(path) != 2 * (n - 1):
        raise _error(f"expected path to have {2 * (n - 1)} numbers, got {list(path)}")
    for step in range(n - 1):
        i, j = sorted(path[2 * step : 2 * step + 2])
        if not 0 <= i < j < n - step:
            raise _error(f"path has the pair ({i}, {j}), but {n - step} operands are left")
        yield i, j


def _contract(operands: list[Tensor], n_out: int, path: Sequence[int] | None) -> Tensor:
    """The product of all; a dimension is summed with the last two operands that have it.

    Where only one of a pair has it, that one is summed first: integers get wider by it. A pair's
    product goes to the end for the next one of a `path`; without one it is the next's first.
    """
    ndim = operands[0].ndim
    counts = [sum(rules.may_hold(t.shape[d] != 1) for t in operands) for d in range(ndim)]
    for i, j in _pairs(len(operands), path):
        b, a = operands.pop(j), operands.pop(i)
        shared: list[int] = []
        of_a: list[int] = []
        of_b: list[int] = []
        for d in range(n_out, ndim):
            in_a, in_b = (rules.may_hold(t.shape[d] != 1) for t in (a, b))
            counts[d] -= in_a and in_b
            if counts[d] == 1 and (in_a or in_b):
                (shared if in_a and in_b else of_a if in_a else of_b).append(d)
        a = ops.aten.sum(a, of_a, True) if of_a else a
        b = ops.aten.sum(b, of_b, True) if of_b else b
        product = multiply_sum(a, b, shared) if shared else ops.aten.mul(a, b)
        operands.insert(0 if path is None else len(operands), product)
    return operands[0]


def einsum(
    equation: str, tensors: Sequence[Tensor], *, path: Sequence[int] | None = None
) -> Tensor:
    """Products of elements summed over the subscripts that the output has not.

    `path`: pairs of operands to contract, by place among those left; None: the first with the next.
    """
    if not tensors:
        raise _error("expected at least one operand")
    inputs, plan = _planned(equation, tuple([t.ndim for t in tensors]))
    pairs = enumerate(zip(tensors, inputs, strict=True))
    operands = [_aligned(i, t, labels, plan) for i, (t, labels) in pairs]
    n_out, n_all = plan.n_out, len(plan.labels)
    if len(operands) == 1:
        if path is not None and len(path) != 1:
            raise _error(f"expected path to have 1 number, got {list(path)}")
        summed = list(range(n_out, n_all))
        return ops.aten.sum.dim_IntList(operands[0], summed) if summed else operands[0]
    _check_sizes(operands, plan)
    result = _contract(operands, n_out, path)
    if n_out == n_all:
        return result
    return ops.aten.reshape(result, result.shape[:n_out])
