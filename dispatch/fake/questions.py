"""Questions about tensors: fake or not, whose, plain, sparse (torch._subclasses.fake_tensor)."""

from typing import Any

from dispatch._C.dtypes import strided
from dispatch._C.tensor import Tensor
from dispatch.fake.fake_tensor import FakeTensor
from dispatch.modes.subclasses import is_traceable_wrapper_subclass

__all__ = [
    "_check_for_subclass",
    "_check_for_subclass_arg",
    "_is_plain_tensor",
    "get_plain_tensors",
    "is_fake",
    "is_sparse_any",
    "is_sparse_compressed",
    "maybe_get_fake_mode",
]

def _inner_tensors(t: Any) -> list[Tensor]:
    names, _ = t.__tensor_flatten__()
    inner = [getattr(t, name) for name in names]
    for value in inner:
        if not isinstance(value, Tensor):
            raise AssertionError(f"expected a Tensor, got {type(value).__name__}")
    return inner


def is_fake(x: object) -> bool:
    """Whether `x` is a fake tensor, or a wrapper of fake tensors only.

    Raises: AssertionError for a wrapper of fake and real tensors.
    """
    if isinstance(x, FakeTensor):
        return True
    if not is_traceable_wrapper_subclass(x):
        return False
    answers = {is_fake(t) for t in _inner_tensors(x)}
    if len(answers) > 1:
        raise AssertionError("a wrapper of both fake and real tensors")
    return answers == {True}


def maybe_get_fake_mode(t: object) -> Any:
    """The mode of a fake tensor or of a wrapper's fake tensors; None for anything else.

    Raises: AssertionError for a wrapper of several modes' tensors.
    """
    if isinstance(t, FakeTensor):
        return t.fake_mode
    if not is_traceable_wrapper_subclass(t):
        return None
    found = [maybe_get_fake_mode(inner) for inner in _inner_tensors(t)]
    if any(mode is not found[0] for mode in found[1:]):
        raise AssertionError("a wrapper of fake tensors of several modes")
    return found[0] if found else None


def get_plain_tensors(subclass: Any, *, out: list[Any]) -> list[Any]:
    """Append what a wrapper, or a wrapper in it, holds to `out`, in order; returns `out`."""
    if not is_traceable_wrapper_subclass(subclass):
        out.append(subclass)
        return out
    names, _ = subclass.__tensor_flatten__()
    for name in names:
        get_plain_tensors(getattr(subclass, name), out=out)
    return out


def is_sparse_compressed(t: Any) -> bool:
    """Whether a tensor's layout is one of the compressed sparse ones."""
    return isinstance(t, Tensor) and str(t.layout).rpartition(".")[2] in (
        "sparse_csr",
        "sparse_csc",
        "sparse_bsr",
        "sparse_bsc",
    )


def is_sparse_any(t: Any) -> bool:
    """Whether a tensor's layout is a sparse one."""
    return is_sparse_compressed(t) or (
        isinstance(t, Tensor) and str(t.layout).endswith("sparse_coo")
    )


def _is_plain_tensor(t: object) -> bool:
    """Whether `t` is a strided tensor of exactly the class Tensor."""
    return type(t) is Tensor and t.layout == strided


def _check_for_subclass_arg(x: object) -> bool:
    """Whether `x` is a tensor of a class that the mode leaves to its own handler."""
    if isinstance(x, FakeTensor) or not isinstance(x, Tensor):
        return False
    return type(x) is not Tensor


def _check_for_subclass(flat_args: Any) -> bool:
    """Whether one of the arguments is such a tensor."""
    return any(_check_for_subclass_arg(x) for x in flat_args)
