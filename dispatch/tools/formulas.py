"""Floating-point operations of a call, as torch.utils.flop_counter counts: matrix products,
convolutions, attention.

`report` asks `count_flops` for each call; an operator without a formula counts 0. A composite
operator counts what the matrix products of its decomposition count, so a product with a vector
(`mv`, `dot`), which PyTorch does not count, is 0. Packages add formulas of their own with
`flop_formula`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

__all__ = ["FlopCall", "count_flops", "flop_formula"]

Shape = tuple[int, ...]


class FlopCall(NamedTuple):
    """A call's arguments by the schema's names, a tensor as its shape; `outputs` are the result's
    shapes."""

    args: Mapping[str, Any]
    outputs: Sequence[Shape]

    def shape(self, name: str) -> Shape:
        """The shape of tensor argument `name`."""
        return tuple(self.args[name])

    def get(self, name: str, default: Any = None) -> Any:
        value = self.args.get(name)
        return default if value is None else value


Formula = Callable[[FlopCall], int]
_FORMULAS: dict[str, Formula] = {}


def flop_formula(*names: str) -> Callable[[Formula], Formula]:
    """Register a formula for operators, by names without overload (`"aten::mm"`); the last
    registration counts."""

    def register(formula: Formula) -> Formula:
        _FORMULAS.update(dict.fromkeys(names, formula))
        return formula

    return register


def has_formula(op: str) -> bool:
    """Whether calls of `op` (`"aten::add.Tensor"`) are counted."""
    return op.partition(".")[0] in _FORMULAS


def count_flops(op: str, call: FlopCall) -> int:
    """The operations of one call; 0 when its arguments do not fit the formula."""
    try:
        return _FORMULAS[op.partition(".")[0]](call)
    except (LookupError, TypeError, ValueError):
        return 0


def product(left: Shape, right: Shape) -> int:
    """Operations of (..., m, k) times (..., k, n)."""
    return 2 * math.prod(left) * right[-1]


@flop_formula("aten::mm", "aten::_int_mm")
def _mm(call: FlopCall) -> int:
    return product(call.shape("self"), call.shape("mat2"))


@flop_formula("aten::bmm")
def _bmm(call: FlopCall) -> int:
    return product(call.shape("self"), call.shape("mat2"))


@flop_formula("aten::addmm", "aten::_addmm_activation", "aten::_scaled_mm")
def _addmm(call: FlopCall) -> int:
    if "mat1" not in call.args:
        return _mm(call)
    return product(call.shape("mat1"), call.shape("mat2"))


@flop_formula("aten::baddbmm")
def _baddbmm(call: FlopCall) -> int:
    return product(call.shape("batch1"), call.shape("batch2"))


@flop_formula("aten::linear")
def _linear(call: FlopCall) -> int:
    weight = call.shape("weight")
    return 2 * math.prod(call.shape("input")) * weight[0] if len(weight) == 2 else 0


@flop_formula("aten::matmul", "aten::linalg_matmul")
def _matmul(call: FlopCall) -> int:
    left, right = call.shape("self"), call.shape("other")
    if len(right) == 1:
        return 0
    rows = left[-2] if len(left) > 1 else 1
    batches = _broadcast(left[:-2], right[:-2])
    return 2 * math.prod(batches) * rows * right[-2] * right[-1]


def _broadcast(left: Shape, right: Shape) -> Shape:
    n = max(len(left), len(right))
    padded = ((1,) * (n - len(left)) + left, (1,) * (n - len(right)) + right)
    return tuple(a if b == 1 else b for a, b in zip(*padded, strict=True))


@flop_formula(
    "aten::convolution", "aten::_convolution", "aten::convolution_overrideable",
    "aten::cudnn_convolution", "aten::_slow_conv2d_forward",
    "aten::conv1d", "aten::conv2d", "aten::conv3d",
    "aten::conv_transpose1d", "aten::conv_transpose2d", "aten::conv_transpose3d",
)  # fmt: skip
def _convolution(call: FlopCall) -> int:
    """Each point of the output (transposed: of the input) meets the whole filter."""
    x = call.shape("input" if "input" in call.args else "self")
    weight, out = call.shape("weight"), call.outputs[0]
    spatial = len(weight) - 2
    transposed = call.get(
        "transposed", "output_padding" in call.args and "transposed" not in call.args
    )
    points = (x if transposed else out)[-spatial:]
    batch = x[0] if len(x) == len(weight) else 1
    return 2 * batch * math.prod(points) * math.prod(weight)


@flop_formula("aten::convolution_backward")
def _convolution_backward(call: FlopCall) -> int:
    grad, x, weight = call.shape("grad_output"), call.shape("input"), call.shape("weight")
    to_input, to_weight, *_ = call.get("output_mask", (True, True))
    points = math.prod((x if call.get("transposed", False) else grad)[2:])
    through_input = math.prod(weight)
    through_weight = grad[1] * x[1] * math.prod(weight[2:])
    return 2 * grad[0] * points * (through_input * to_input + through_weight * to_weight)


@flop_formula(
    "aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_efficient_attention", "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_flash_attention_for_cpu",
    "aten::_scaled_dot_product_attention_math",
)  # fmt: skip
def _attention(call: FlopCall) -> int:
    """Scores (q times k) and their product with v."""
    query, key, value = call.shape("query"), call.shape("key"), call.shape("value")
    batch, length, keys = math.prod(query[:-2]), query[-2], key[-2]
    return 2 * batch * length * keys * (query[-1] + value[-1])


@flop_formula("aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu")
def _recurrent(call: FlopCall) -> int:
    """Each step of each sequence meets every matrix of weights once."""
    packed = "data" in call.args
    steps = call.shape("data")[0] if packed else math.prod(call.shape("input")[:-1])
    return 2 * steps * sum(math.prod(w) for w in call.args["params"] if len(w) == 2)


@flop_formula("aten::lstm_cell", "aten::gru_cell", "aten::rnn_tanh_cell", "aten::rnn_relu_cell")
def _cell(call: FlopCall) -> int:
    rows = math.prod(call.shape("input")[:-1])
    return 2 * rows * (math.prod(call.shape("w_ih")) + math.prod(call.shape("w_hh")))


@flop_formula("aten::tensordot", "aten::inner")
def _tensordot(call: FlopCall) -> int:
    left, right = call.shape("self"), call.shape("other")
    contracted = math.prod(left[dim] for dim in call.get("dims_self", (-1,)))
    return 2 * math.prod(left) * math.prod(right) // max(contracted, 1)


@flop_formula("aten::einsum")
def _einsum(call: FlopCall) -> int:
    """Operands are contracted from the left; a pair with nothing to sum is no matrix product."""
    shapes = [tuple(shape) for shape in call.args["tensors"]]
    terms, out = _einsum_terms(call.args["equation"], shapes)
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for letter, size in zip(term, shape, strict=True):
            sizes[letter] = max(size, sizes.get(letter, 1))
    wanted_after = [set(out)]  # by a term's number from the end
    for term in reversed(terms[1:]):
        wanted_after.append(wanted_after[-1] | set(term))
    total, so_far = 0, set(terms[0])
    for i, term in enumerate(terms[1:], 1):
        later = wanted_after[-i - 1]
        shared = so_far & set(term)
        kept = {c for c in so_far | set(term) if c in later or c in shared}
        if shared - later:
            total += 2 * math.prod(sizes[c] for c in kept)
        so_far = kept & later
    return total


def _einsum_terms(equation: str, shapes: Sequence[Shape]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, the dots written out as digits."""
    left, arrow, out = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    hidden = "0123456789"
    widths = [len(s) - len(t) + 3 for t, s in zip(terms, shapes, strict=True) if "..." in t]
    for i, (term, shape) in enumerate(zip(terms, shapes, strict=True)):
        n = len(shape) - len(term) + 3
        terms[i] = term.replace("...", hidden[len(hidden) - n :])
    if not arrow:
        letters = "".join(terms)
        out = "".join(c for c in sorted(set(letters)) if letters.count(c) == 1)
    return terms, out.replace("...", hidden[len(hidden) - max(widths, default=0) :])
