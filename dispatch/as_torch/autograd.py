"""`torch.autograd` as far as it goes without an engine: `Function`, `grad`, `backward`.

A `Function` computes forwards, and its outputs have a `grad_fn` whose `apply` runs the formula.
For `grad` and `backward` handlers are asked; a program that needs gradients is told.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dispatch import Tensor
from dispatch._C.fallbacks import Node, set_grad_fn
from dispatch._C.grad_mode import is_grad_enabled, no_grad
from dispatch._C.versions import _increment_version, _unsafe_set_version_counter
from dispatch.library.autograd import FunctionCtx
from dispatch.modes import handle_torch_function, has_torch_function

__all__ = ["Function", "FunctionCtx", "backward", "grad", "increment_version",
           "once_differentiable"]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])

_NO_ENGINE = "this library has no autograd engine"


class Function(FunctionCtx):
    """An operation with a formula of its own (torch.autograd.Function): `apply` calls it.

    It has static methods `forward(ctx, *args)` and `backward(ctx, *grads)`, or `forward(*args)`
    beside `setup_context(ctx, inputs, output)`. `forward` runs without grad; when an argument
    requires grad, its results have a `grad_fn`, which is the `ctx`.
    """

    needs_input_grad: Any = ()

    def __init__(self) -> None:
        self.metadata: dict[Any, Any] = {}
        self.next_functions: tuple[Any, ...] = ()

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """What a class defines. NotImplementedError here."""
        raise NotImplementedError("a Function defines the static method forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """What a class may define: fills `ctx`, of which `forward` knows nothing then."""
        raise NotImplementedError("setup_context is not defined")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The formula. NotImplementedError for a class without one."""
        raise NotImplementedError("a Function that gradients go through defines backward (or vjp)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call `forward`; the results follow the arguments that require grad."""
        node = type(cls.__name__ + "Backward", (_Node,), {"_function": cls})()
        node.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        apart = cls.setup_context is not Function.setup_context
        with no_grad():
            found = cls.forward(*args, **kwargs) if apart else cls.forward(node, *args, **kwargs)
            if apart:
                cls.setup_context(node, args, found)
        several = isinstance(found, tuple)
        follows = is_grad_enabled() and any(node.needs_input_grad)
        made = [node.followed(x, args, follows) for x in (found if several else (found,))]
        return tuple(made) if several else made[0]


class _Node(Function, Node):
    """The `ctx` of one call, and the `grad_fn` of what it gave."""

    _function: type[Function]

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` was given."""
        return tuple(self.to_save)

    def followed(self, value: Any, args: tuple[Any, ...], follows: bool) -> Any:
        """A result: an argument that was not written comes back as a view of it."""
        if not isinstance(value, Tensor):
            return value
        dirty = any(value is t for t in self.dirty_tensors)
        if not dirty and any(value is a for a in args):
            with no_grad():
                value = value.view_as(value)
        if follows and not any(value is t for t in self.non_differentiable):
            set_grad_fn(value, self)
        return value

    def apply(self, *grads: Any) -> Any:  # type: ignore[override]
        """Run the formula on gradients of the results."""
        return self._function.backward(self, *grads)


def once_differentiable(fn: F) -> F:
    """The formula as it is: nothing differentiates it."""
    return fn


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


def increment_version(tensor: Any) -> None:
    """Count a write to a tensor, or to each of several, that nobody has seen."""
    _increment_version((tensor,) if isinstance(tensor, Tensor) else tuple(tensor))


class _unsafe_preserve_version_counter:
    """Within the block writes to a tensor, or to each of a tuple, are not counted."""

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError(
                f"_unsafe_preserve_version_counter: expected tensors, got {tensors!r}"
            )
        self.versions = [t._version for t in self.tensors]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _unsafe_set_version_counter(self.tensors, self.versions)
