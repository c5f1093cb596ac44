"""`torch.nn.grad`: gradients of convolutions with respect to their input and their weight."""

from collections.abc import Callable
from typing import Any

from dispatch import Tensor, ops
from dispatch.as_torch.nn.modules.utils import _ntuple

__all__ = [
    "conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input",
    "conv3d_weight",
]  # fmt: skip


def _gradient(n: int, which: int) -> Callable[..., Tensor]:
    """Of a convolution over `n` dimensions: 0, of its input; 1, of its weight."""
    each = _ntuple(n)

    def of_input(
        input_size: Any, weight: Tensor, grad_output: Tensor, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        input = grad_output.new_empty(1).expand(input_size)
        return compute(grad_output, input, weight, stride, padding, dilation, groups)

    def of_weight(
        input: Tensor, weight_size: Any, grad_output: Tensor, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        weight = grad_output.new_empty(1).expand(weight_size)
        return compute(grad_output, input, weight, stride, padding, dilation, groups)

    def compute(
        grad_output: Tensor, input: Any, weight: Any, stride: Any, padding: Any, dilation: Any,
        groups: int,
    ) -> Tensor:  # fmt: skip
        mask = [which == 0, which == 1, False]
        found: Tensor = ops.aten.convolution_backward(
            grad_output, input, weight, None, each(stride), each(padding), each(dilation), False,
            [0], groups, mask,
        )[which]  # fmt: skip
        return found

    made = (of_input, of_weight)[which]
    made.__name__ = made.__qualname__ = f"conv{n}d_{('input', 'weight')[which]}"
    sizes = ("the input, of sizes `input_size`", "the weight, of sizes `weight_size`")[which]
    made.__doc__ = f"The gradient of `conv{n}d` with respect to {sizes}."
    return made


conv1d_input, conv1d_weight = _gradient(1, 0), _gradient(1, 1)
conv2d_input, conv2d_weight = _gradient(2, 0), _gradient(2, 1)
conv3d_input, conv3d_weight = _gradient(3, 0), _gradient(3, 1)
