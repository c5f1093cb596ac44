"""`torch._C._functorch`: questions about tensors that transforms wrap; there are no transforms.

What would wrap one or enter a transform raises NotImplementedError when it is called.
"""

from typing import Any

from dispatch import Tensor
from dispatch._C import _from_functional_tensor, _is_functional_tensor
from dispatch.as_torch.modules import refused

__all__ = [
    "_add_batch_dim",
    "_grad_increment_nesting",
    "_remove_batch_dim",
    "_vmap_increment_nesting",
    "get_unwrapped",
    "is_batchedtensor",
    "is_dead_tensor_wrapper",
    "is_functionaltensor",
    "is_functorch_wrapped_tensor",
    "is_gradtrackingtensor",
    "is_legacy_batchedtensor",
    "maybe_current_level",
    "maybe_get_bdim",
    "maybe_get_level",
    "peek_interpreter_stack",
    "unwrap_if_dead",
]

_HOME = "torch._C._functorch."
_add_batch_dim = refused(_HOME + "_add_batch_dim")
_remove_batch_dim = refused(_HOME + "_remove_batch_dim")
_vmap_increment_nesting = refused(_HOME + "_vmap_increment_nesting")
_grad_increment_nesting = refused(_HOME + "_grad_increment_nesting")


def is_batchedtensor(tensor: Tensor) -> bool:
    """False."""
    return False


is_gradtrackingtensor = is_legacy_batchedtensor = is_dead_tensor_wrapper = is_batchedtensor
is_functorch_wrapped_tensor = is_batchedtensor


def is_functionaltensor(tensor: Tensor) -> bool:
    """Whether functionalization wraps `tensor`."""
    return _is_functional_tensor(tensor)


def get_unwrapped(tensor: Tensor) -> Tensor:
    """What functionalization wraps; RuntimeError for a tensor that nothing wraps."""
    if _is_functional_tensor(tensor):
        return _from_functional_tensor(tensor)
    raise RuntimeError("No wrappers present!")


def maybe_get_level(tensor: Tensor) -> int:
    """-1."""
    return -1


maybe_get_bdim = maybe_get_level


def maybe_current_level() -> None:
    """None."""


peek_interpreter_stack = maybe_current_level


def unwrap_if_dead(tensor: Tensor) -> Any:
    """`tensor`."""
    return tensor
