"""`supports_tensorlist`: a `Function` of lists of tensors (torch._library.autograd).

Its `apply` hands the tensors of lists on one by one, so that each is followed; `forward` and
`backward` of the class see the lists. A mixed list is no list of tensors, and stays as it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dispatch import Tensor, pytree

__all__ = ["not_list_of_optional_tensor", "not_list_of_tensor", "supports_tensorlist"]


def not_list_of_tensor(tree: Any) -> bool:
    """Whether it is a leaf: neither a tuple nor a list of tensors."""
    return _is_leaf(tree, Tensor)


def not_list_of_optional_tensor(tree: Any) -> bool:
    """Whether it is a leaf: neither a tuple nor a list of tensors and Nones."""
    return _is_leaf(tree, (Tensor, type(None)))


def _is_leaf(tree: Any, elements: Any) -> bool:
    if isinstance(tree, tuple):
        return False
    return not (isinstance(tree, list) and all(isinstance(x, elements) for x in tree))


@dataclass
class _Call:
    """The last argument of a call: how its arguments and results came apart."""

    input_spec: Any
    output_spec: Any = None
    gave_tuple: bool = False


def supports_tensorlist(cls: Any) -> Any:
    """The class with lists of tensors in the place of tensors; it is changed in place.

    `needs_input_grad` and what `backward` returns have the structure of the arguments.

    Raises (later):
        NotImplementedError: its `forward` or `backward` is called directly.
        RuntimeError: `backward` returned another structure.
    """
    cls.apply = _applied(cls.apply)
    cls.forward = staticmethod(_forward(cls.forward))
    cls.backward = staticmethod(_backward(cls.backward))
    return cls


def _applied(apply: Callable[..., Any]) -> Callable[..., Any]:
    def applied(*args: Any) -> Any:
        leaves, spec = pytree.tree_flatten(args, is_leaf=not_list_of_tensor)
        call = _Call(spec)
        found = pytree.tree_unflatten(list(apply(*leaves, call)), call.output_spec)
        return found if call.gave_tuple else found[0]

    return applied


def _forward(forward: Callable[..., Any]) -> Callable[..., Any]:
    def flat(ctx: Any, *args: Any) -> tuple[Any, ...]:
        call = args[-1] if args else None
        if not isinstance(call, _Call):
            raise NotImplementedError(
                "supports_tensorlist: autograd Function.forward directly called: call apply"
            )
        found = forward(ctx, *pytree.tree_unflatten(list(args[:-1]), call.input_spec))
        call.gave_tuple = isinstance(found, tuple)
        outputs = found if call.gave_tuple else (found,)
        leaves, call.output_spec = pytree.tree_flatten(outputs, is_leaf=not_list_of_tensor)
        if hasattr(ctx, "_pt_metadata"):
            raise RuntimeError("supports_tensorlist: ctx._pt_metadata is its own: do not set it")
        ctx._pt_metadata = call
        return tuple(leaves)

    return flat


def _backward(backward: Callable[..., Any]) -> Callable[..., Any]:
    def flat(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        if not hasattr(ctx, "_pt_metadata"):
            raise NotImplementedError(
                "supports_tensorlist: autograd Function.backward directly called: it is the "
                "grad_fn of what apply gives that calls it"
            )
        call, needs = ctx._pt_metadata, ctx.needs_input_grad
        given = pytree.tree_unflatten(list(grads), call.output_spec)
        ctx.needs_input_grad = pytree.tree_unflatten(list(needs[:-1]), call.input_spec)
        try:
            found = backward(ctx, *given)
        finally:
            ctx.needs_input_grad = needs
        outputs = found if isinstance(found, tuple) else (found,)
        leaves, spec = pytree.tree_flatten(outputs, is_leaf=not_list_of_optional_tensor)
        if spec != call.input_spec:
            raise RuntimeError(
                "supports_tensorlist: Expected the return from backward to be of the same "
                f"structure as the inputs. Got {spec}, inputs {call.input_spec}"
            )
        return (*leaves, None)

    return flat
