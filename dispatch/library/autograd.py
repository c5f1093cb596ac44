"""Gradient formulas of custom operators, without an engine to run them (torch._library.autograd).

The kernel at the Autograd key runs the operator below itself; when an argument requires grad, a
node keeps what the formula needs (`setup_context`) and becomes the outputs' `grad_fn`. Its
`apply` runs the formula; `backward()` raises, for there is no engine.
"""

from collections.abc import Callable
from typing import Any, Protocol

from dispatch._C.fallbacks import Node, follow_view, set_grad_fn
from dispatch._C.grad_mode import no_grad
from dispatch._C.guards import _AutoDispatchBelowAutograd
from dispatch._C.keys import DispatchKeySet
from dispatch._C.naming import full_name
from dispatch._C.native_functor import NativeFunctor
from dispatch._C.overload import OpOverload
from dispatch._C.tensor import Tensor
from dispatch.library.kernels import new_autograd_kernel
from dispatch.registry import schemas

__all__ = ["FunctionCtx", "Info", "make_autograd_impl"]


class InfoProtocol(Protocol):
    """Who knows an operator's formula."""

    _backward_fn: Callable[..., Any] | None
    _setup_context_fn: Callable[..., Any] | None


class Info:
    """A formula by itself."""

    def __init__(
        self,
        _backward_fn: Callable[..., Any] | None,
        _setup_context_fn: Callable[..., Any] | None,
    ) -> None:
        self._backward_fn = _backward_fn
        self._setup_context_fn = _setup_context_fn


class FunctionCtx:
    """What `setup_context` fills and the formula reads (torch.autograd.function.FunctionCtx)."""

    needs_input_grad: Any
    materialize_grads: bool = True
    to_save: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    dirty_tensors: tuple[Any, ...] = ()
    saved_for_forward: tuple[Any, ...] = ()
    _is_pure_view: bool = False  # the results are views that autograd may follow writes through

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for the formula; it finds them in `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for forward-mode differentiation."""
        if not all(t is None or isinstance(t, Tensor) for t in tensors):
            raise AssertionError("save_for_forward: expected tensors; keep others as attributes")
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """These arguments were written."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """These outputs do not require grad."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that are not there reach the formula as zeros."""
        self.materialize_grads = value


class _Node(FunctionCtx, Node):
    """The `grad_fn` of a custom operator's outputs: the context, and the formula."""

    _op: OpOverload
    _info: InfoProtocol

    def __init__(self) -> None:
        self.metadata: dict[Any, Any] = {}
        self.next_functions: tuple[Any, ...] = ()
        self._saved: tuple[Any, ...] = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved; empty until the forward has ended."""
        return self._saved

    def apply(self, *grads: Any) -> tuple[Any, ...]:
        """Run the formula on gradients of the outputs; one more None ends the result.

        Raises:
            RuntimeError: no formula was registered; its result has not the arguments' structure.
        """
        formula = self._info._backward_fn
        if formula is None:
            raise RuntimeError(
                f"{self._op}: no autograd formula was registered: use register_autograd to add one"
            )
        all_needs = self.needs_input_grad
        self.needs_input_grad = self.formula_needs()
        try:
            result = formula(self, *self.formula_grads(grads))
        finally:
            self.needs_input_grad = all_needs
        return self.input_grads(result if isinstance(result, tuple) else (result,))

    def formula_needs(self) -> Any:
        return self.needs_input_grad[:-1]

    def formula_grads(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        return grads

    def input_grads(self, result: tuple[Any, ...]) -> tuple[Any, ...]:
        return (*result, None)


class _ListNode(_Node):
    """The same for operators with lists of tensors: a list counts as its elements."""

    lengths: tuple[int | None, ...]  # of the arguments; None: no list
    out_lengths: tuple[int | None, ...]

    def formula_needs(self) -> Any:
        return tuple(_grouped(self.needs_input_grad[:-2], self.lengths))

    def formula_grads(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(_grouped(grads, self.out_lengths))

    def input_grads(self, result: tuple[Any, ...]) -> tuple[Any, ...]:
        flat: list[Any] = []
        got = [len(g) if isinstance(g, (list, tuple)) else None for g in result]
        if got != list(self.lengths):
            raise RuntimeError(
                f"{self._op}: the formula's result must have the structure of the arguments: "
                f"lists of {self.lengths}, got {tuple(got)} (None: no list)"
            )
        for grad in result:
            flat.extend(grad) if isinstance(grad, (list, tuple)) else flat.append(grad)
        return (*flat, None, None)


def _grouped(flat: Any, lengths: tuple[int | None, ...]) -> list[Any]:
    items = iter(flat)
    return [next(items) if n is None else [next(items) for _ in range(n)] for n in lengths]


def _tensor_list_length(value: Any) -> int | None:
    is_list = isinstance(value, list) and all(isinstance(t, Tensor) for t in value)
    return len(value) if is_list else None


def _leaves(values: tuple[Any, ...]) -> list[Any]:
    out: list[Any] = []
    for value in values:
        out.extend(value) if _tensor_list_length(value) is not None else out.append(value)
    return out


def make_autograd_impl(op: OpOverload, info: InfoProtocol) -> NativeFunctor:
    """The kernel for the Autograd key of `op`, whose formula `info` knows when it is called."""
    schema = op._schema
    everything = (*schema.arguments, *schema.returns)
    has_lists = any(schemas.is_tensorlist_like_type(a.type) for a in everything)
    node_class = type(
        f"GeneratedBackwardFor_{op.namespace}_{op._packet_name()}_{op._overloadname}Backward",
        (_ListNode if has_lists else _Node,),
        {
            "_op": op, "_info": info, "__repr__": object.__repr__,
            "__module__": full_name("autograd.function"),
        },
    )  # fmt: skip
    has_kwarg_only = schemas.has_kwarg_only_args(schema)

    def record(keyset: DispatchKeySet, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        node = node_class()
        leaves = _leaves(args)
        needs = [isinstance(a, Tensor) and a.requires_grad for a in leaves]
        # PyTorch hands its own record of the call, and one of the lists, through as arguments.
        node.needs_input_grad = (*needs, False, False) if has_lists else (*needs, False)
        with no_grad(), _AutoDispatchBelowAutograd():
            result = op.redispatch(keyset, *args, **kwargs)
            if info._setup_context_fn is not None:
                inputs, keywords = schemas.fill_defaults(schema, args, kwargs)
                extra = {"keyword_only_inputs": keywords} if has_kwarg_only else {}
                info._setup_context_fn(ctx=node, inputs=inputs, output=result, **extra)
        result = _apart_from(leaves, node.dirty_tensors, result)
        outputs = result if isinstance(result, tuple) else (result,)
        if has_lists:
            node.lengths = tuple(map(_tensor_list_length, args))
            node.out_lengths = tuple(map(_tensor_list_length, outputs))
        _finish(node, _leaves(outputs))
        return result

    return new_autograd_kernel(op, record, schemas.is_out(op))


def _apart_from(inputs: list[Any], dirty: tuple[Any, ...], result: Any) -> Any:
    """The result with views in place of arguments: an argument keeps its own history."""
    given = {id(t) for t in inputs} - {id(t) for t in dirty}

    def apart(value: Any) -> Any:
        if not isinstance(value, Tensor) or id(value) not in given:
            return value
        with no_grad():
            return value.view(value.shape)

    return tuple(map(apart, result)) if isinstance(result, tuple) else apart(result)


def _finish(node: Any, outputs: list[Any]) -> None:
    """Check what was saved; give the outputs that are differentiable their `grad_fn`."""
    for i, tensor in enumerate(node.to_save):
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"save_for_backward keeps tensors; argument {i} is a {type(tensor).__name__}"
            )
    excepted = {id(t) for t in node.non_differentiable}
    for tensor in outputs:
        if isinstance(tensor, Tensor) and id(tensor) not in excepted:
            if node._is_pure_view and tensor._is_view():
                follow_view(tensor)
            set_grad_fn(tensor, node)
    node._saved = tuple(node.to_save)
