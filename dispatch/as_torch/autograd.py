"""`torch.autograd.grad` and `backward`: handlers are asked, then there is no engine.

A program that only overrides them runs; one that needs gradients is told.
"""

from collections.abc import Sequence
from typing import Any

from dispatch import Tensor
from dispatch.modes import handle_torch_function, has_torch_function

__all__ = ["backward", "grad"]

_NO_ENGINE = "this library has no autograd engine"


def _listed(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """What handlers of the outputs or inputs answer. RuntimeError when nobody is asked."""
    of, by = _listed(outputs), _listed(inputs)
    if has_torch_function((*of, *by)):
        return handle_torch_function(
            grad, (*of, *by), of, by, grad_outputs=grad_outputs, retain_graph=retain_graph,
            create_graph=create_graph, allow_unused=allow_unused,
            is_grads_batched=is_grads_batched, materialize_grads=materialize_grads,
        )  # fmt: skip
    raise RuntimeError(f"autograd.grad: {_NO_ENGINE}")


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """RuntimeError: gradients would have to be computed."""
    if not any(isinstance(t, Tensor) and t.requires_grad for t in _listed(tensors)):
        raise RuntimeError("element 0 of tensors does not require grad and does not have a grad_fn")
    raise RuntimeError(f"autograd.backward: {_NO_ENGINE}")
