"""FunctionalTensorMode: functionalization as an infra mode, between user modes and fake ones.

A call decomposes if it can, or goes to the Functionalize key with the wrappers that its
FunctionalTensors hold; what comes out is wrapped again. Views are replayed as views.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

from dispatch import _C, pytree
from dispatch._C.keys import DispatchKey, DispatchKeySet
from dispatch._C.pre_dispatch import (
    _get_dispatch_mode_pre_dispatch,
    register_pre_dispatch_mode,
)
from dispatch._C.tags import Tag
from dispatch._C.tensor import Tensor
from dispatch._ops import OpOverload, ops
from dispatch.functional import wrappers
from dispatch.functional.custom import can_auto_functionalize, do_auto_functionalize
from dispatch.functional.effects import has_effects
from dispatch.functional.tensor import FunctionalTensor, has_foreign_classes
from dispatch.modes import (
    TorchDispatchMode,
    _disable_infra_mode,
    autograd_would_have_decomposed,
    return_and_correct_aliasing,
)

__all__ = ["FunctionalTensorMode", "disable_functional_mode", "dispatch_functionalize"]

_FUNCTIONALIZE_KEY = DispatchKey.Functionalize
_FUNCTIONALIZE = DispatchKeySet(_FUNCTIONALIZE_KEY)
_KEY = _C._TorchDispatchModeKey.FUNCTIONAL
_aten = ops.aten


def _check_inactive() -> None:
    key = DispatchKey.Functionalize
    if _C._dispatch_tls_is_dispatch_key_included(
        key
    ) and not _C._dispatch_tls_is_dispatch_key_excluded(key):
        raise AssertionError("functionalization must not be active above FunctionalTensorMode")


def _unwrap(x: FunctionalTensor) -> Tensor:
    return x.elem


@contextlib.contextmanager
def _functionalizing() -> Iterator[None]:
    """The Functionalize key is on, and replays views as views."""
    include = _C._dispatch_tls_local_include_set() | _FUNCTIONALIZE
    exclude = (
        _C._dispatch_tls_local_exclude_set().remove(DispatchKey.Functionalize)
        - FunctionalTensor._extra_dispatch_keys
    )
    with _C._ForceDispatchKeyGuard(include, exclude):
        before = wrappers._functionalize_enable_reapply_views(True)
        try:
            yield
        finally:
            wrappers._disable_functionalization()
            wrappers._functionalize_enable_reapply_views(before)


class FunctionalTensorMode(TorchDispatchMode):
    """Functionalizes every call on FunctionalTensors, and the factories, of its block.

    Args:
        pre_dispatch: sit on the PreDispatch key's stack, above autograd.
        export: decompose as an exporter wants: composites stay when `pre_dispatch` is set.
        _allow_token_discovery: make the first token of each effect (else they are in `_tokens`).

    A second mode inside the block does nothing of its own: the first one serves.
    """

    def __init__(
        self,
        pre_dispatch: bool = False,
        export: bool = False,
        _allow_token_discovery: bool = False,
    ) -> None:
        super().__init__()
        self.export = export
        self.is_on_stack = False
        self.enter_stack: list[bool] = []
        self._mode_key = _KEY
        self.pre_dispatch = pre_dispatch
        self._dispatch_key = DispatchKey.PreDispatch if pre_dispatch else None
        self._tokens: dict[Any, Tensor] = {}
        self._tokens_forward_output: dict[Any, Tensor] = {}
        self._allow_token_discovery = _allow_token_discovery
        self._storage_to_base: dict[Any, Any] = {}

    def _previous(self) -> Any:
        if self._dispatch_key == DispatchKey.PreDispatch:
            return _get_dispatch_mode_pre_dispatch(_KEY)
        return _C._get_dispatch_mode(_KEY)

    def __enter__(self) -> "FunctionalTensorMode":
        first = self._previous() is None
        if first:
            super().__enter__()
        self.enter_stack.append(first)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if self.enter_stack.pop():
            super().__exit__(exc_type, exc_value, traceback)

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if has_foreign_classes(types):
            return NotImplemented
        if func not in FunctionalTensor.metadata_fns and self._can_decompose(func, args, kwargs):
            with self:
                r = func.decompose(*args, **kwargs)
                if r is not NotImplemented:
                    return r
        if can_auto_functionalize(func):
            return do_auto_functionalize(self, func, args, kwargs)
        if has_effects(func):
            if _C._dispatch_has_kernel_for_dispatch_key(func.name(), _FUNCTIONALIZE_KEY):
                raise AssertionError(
                    f"{func}: an operator with an effect must have no kernel for Functionalize"
                )
            chain = ops.higher_order.with_effects.handle  # type: ignore[attr-defined]
            return chain(self._allow_token_discovery, self._tokens, func, args, kwargs)
        _check_inactive()
        outs = self._functionalized(func, args, kwargs)
        _check_inactive()
        return self._related(func, args, kwargs, outs)

    def _functionalized(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        plain, named = pytree.tree_map_only(FunctionalTensor, _unwrap, (args, kwargs))
        with _functionalizing():
            if func in FunctionalTensor.metadata_fns:
                outs = func(*plain, **named)
            else:
                outs = func.redispatch(_FUNCTIONALIZE, *plain, **named)
                if self.export and func is _aten.dropout.default:
                    wrappers._freeze_functional_tensor(outs)
            return pytree.tree_map_only(Tensor, self._wrap, outs)

    def _wrap(self, x: Tensor) -> Tensor:
        if isinstance(x, FunctionalTensor):
            raise AssertionError("a result must not be a FunctionalTensor before it is wrapped")
        return FunctionalTensor(x, self) if wrappers._is_functional_tensor(x) else x

    def _related(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], outs: Any
    ) -> Any:
        """Outputs with their inputs' storage, or the inputs that `func` returns."""
        ours = any(isinstance(x, FunctionalTensor) for x in pytree.tree_leaves(outs))
        if not ours or func is _aten.lift_fresh.default:
            return outs
        if Tag.inplace_view in func.tags and func is not _aten.set_.source_Tensor:
            with _C._DisableTorchDispatch():
                func(*args, **kwargs)
        return return_and_correct_aliasing(func, args, kwargs, outs)

    def _can_decompose(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> bool:
        """Composite operators decompose, but functional ones that an exporter keeps."""
        if not _C._dispatch_has_kernel(func.name()):
            return False
        if self.export and func is _aten.dropout.default:
            return False
        schema = func._schema
        if any(a.alias_info for a in schema.arguments) or schema.is_mutable:
            return True
        if self.export:
            return not self.pre_dispatch
        return autograd_would_have_decomposed(func, pytree.tree_leaves((args, kwargs)))

    @classmethod
    def is_infra_mode(cls) -> bool:
        """It has a fixed place below all user modes."""
        return True


register_pre_dispatch_mode(FunctionalTensorMode, 1)


def disable_functional_mode() -> AbstractContextManager[Any]:
    """No FunctionalTensorMode is active in the block; yields the one that was, or None."""
    return contextlib.contextmanager(_disable_infra_mode)(_KEY)


_shared_mode = FunctionalTensorMode()


def _to_functional(x: Tensor) -> Tensor:
    return FunctionalTensor.to_functional(x)


def _from_functional(x: FunctionalTensor) -> Tensor:
    wrappers._sync(x.elem)
    return wrappers._from_functional_tensor(x.elem)


def dispatch_functionalize(
    func: Callable[..., Any], mode: FunctionalTensorMode = _shared_mode
) -> Callable[..., Any]:
    """`func` on FunctionalTensors of `mode`: views and writes are gone below the mode.

    Inputs keep their values: unlike `functionalize` it does not write back to them
    (torch._subclasses.functional_tensor.dispatch_functionalize).
    """

    def inner(*args: Any, **kwargs: Any) -> Any:
        with _C._ExcludeDispatchKeyGuard(_FUNCTIONALIZE), mode:
            given = pytree.tree_map_only(Tensor, _to_functional, args)
            named = pytree.tree_map_only(Tensor, _to_functional, kwargs)
            return pytree.tree_map_only(FunctionalTensor, _from_functional, func(*given, **named))

    return inner
