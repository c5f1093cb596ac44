"""Operators that take functions: dispatched in Python, by what `py_impl` registers (torch._ops).

A call goes by the keys of its tensors and of the thread, as any operator's: handlers of function
modes first, then rules for the innermost mode or the tensors' classes at the Python key, else the
kernel that `resolve_key` finds. Nothing is served by the dispatcher's fallbacks.
"""

import abc
from collections.abc import Callable, Iterable
from typing import Any, final

from dispatch._C.arrays import _dispatch_keys
from dispatch._C.disabled import _disabled_torch_dispatch_impl
from dispatch._C.grad_mode import is_grad_enabled
from dispatch._C.guards import _AutoDispatchBelowAutograd
from dispatch._C.keys import (
    DispatchKey,
    DispatchKeySet,
    _dispatch_keyset_full,
    _to_functionality_key,
)
from dispatch._C.naming import full_name
from dispatch._C.overload import OperatorBase
from dispatch._C.pre_dispatch import (
    _get_current_dispatch_mode_pre_dispatch,
    _len_torch_dispatch_stack_pre_dispatch,
)
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _dispatch_tls_is_dispatch_key_excluded
from dispatch._ops.keysets import _compute_keyset, _to_flat_tuple
from dispatch._ops.python_dispatcher import current_mode
from dispatch._ops.resolution import resolve_key
from dispatch.modes.function import handle_torch_function, has_torch_function
from dispatch.modes.stack import _pop_mode_temporarily

__all__ = [
    "HigherOrderOperator",
    "_higher_order_ops",
    "find_operator",
    "offer_operators",
    "serve_by_mode",
]

_higher_order_ops: dict[str, "HigherOrderOperator"] = {}
# Names of operators that a room above makes, with what makes them when they are asked for.
_makers: dict[str, Callable[[], object]] = {}


def offer_operators(names: Iterable[str], make: Callable[[], object]) -> None:
    """Let `make` be called when one of the operators is first asked for by name."""
    _makers.update(dict.fromkeys(names, make))


def find_operator(name: str) -> "HigherOrderOperator | None":
    """The operator of that name; None when there is none."""
    if name not in _higher_order_ops and name in _makers:
        _makers[name]()
    return _higher_order_ops.get(name)

_HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS = [
    DispatchKey.PythonDispatcher,
    DispatchKey.PythonTLSSnapshot,
    DispatchKey.ADInplaceOrView,
    DispatchKey.BackendSelect,
    DispatchKey.AutocastCPU,
    DispatchKey.AutocastCUDA,
    DispatchKey.AutocastXPU,
]


# Tensor class -> (class of the mode whose rule serves it, the mode of a tensor).
_classes_served_by_modes: dict[type, tuple[type, Callable[[Any], Any]]] = {}


def serve_by_mode(cls: type, mode_class: type, mode_of: Callable[[Any], Any]) -> None:
    """Let the rule for a mode's class serve tensors of exactly `cls`, outside of the mode too."""
    _classes_served_by_modes[cls] = mode_class, mode_of


class HigherOrderOperator(OperatorBase, abc.ABC):
    """An operator that takes functions; it is `dispatch.ops.higher_order.NAME` once it is made.

    Subclasses write `__call__`, which mostly calls this one.

    Args:
        name: its name in `dispatch.ops.higher_order`; a later one of the same name takes its place.
        cacheable: whether compiled calls may be cached.
        supports_training_input_mutation: `py_autograd_impl` takes schemas that write.
    """

    def __init__(
        self,
        name: str,
        *,
        cacheable: bool = False,
        supports_training_input_mutation: bool = False,
    ) -> None:
        super().__init__()
        self._name = name
        self.__name__ = name
        _higher_order_ops[name] = self
        self._ns = "higher_order"
        self.__module__ = full_name("ops.higher_order")
        self._cacheable = cacheable
        self._supports_training_input_mutation = supports_training_input_mutation
        self.non_fallthrough_keys: DispatchKeySet = _dispatch_keyset_full()
        for key in _HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS:
            self.fallthrough(key)

    def py_impl(self, k: Any) -> Callable[[Any], Any]:
        """As OperatorBase.py_impl; a key that fell through does no longer."""
        if isinstance(k, DispatchKey) and not self.non_fallthrough_keys.has(k):
            self.non_fallthrough_keys = self.non_fallthrough_keys.add(k)
        return super().py_impl(k)

    def py_autograd_impl(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Register `fn` at Autograd, for calls with grad mode on and a tensor that requires grad.

        Other calls go on below autograd. RuntimeError for a schema (`gen_schema`) that writes an
        argument, unless the operator supports that.
        """

        def unless_idle(*args: Any, **kwargs: Any) -> Any:
            leaves = _to_flat_tuple(args, kwargs)
            recorded = any(isinstance(x, Tensor) and x.requires_grad for x in leaves)
            if not recorded or not is_grad_enabled():
                with _AutoDispatchBelowAutograd():
                    return self(*args, **kwargs)
            self._refuse_mutation(args, kwargs)
            return fn(*args, **kwargs)

        self.py_impl(DispatchKey.Autograd)(unless_idle)
        return fn

    def _refuse_mutation(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        has_schema = type(self).gen_schema is not HigherOrderOperator.gen_schema
        if self._supports_training_input_mutation or not has_schema:
            return
        if any(a.is_write for a in self.gen_schema(*args, **kwargs).arguments):
            raise RuntimeError(f"{self._name}: training with written inputs is not supported")

    @property
    def namespace(self) -> str:
        """`higher_order`."""
        return self._ns

    @final
    def cacheable(self) -> bool:
        """Whether compiled calls may be cached."""
        return self._cacheable

    def fallthrough(self, dispatch_key: Any) -> None:
        """Calls skip this key, until something is registered there."""
        self.non_fallthrough_keys = self.non_fallthrough_keys.remove(dispatch_key)

    def _get_overloaded_args(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Tensor, ...]:
        """The tensors with the Python key among the arguments and in lists and tuples of them."""
        found: list[Any] = []
        for value in (*args, *kwargs.values()):
            found.append(value)
            if isinstance(value, (list, tuple)):
                found.extend(value)
        return tuple(
            x for x in found if isinstance(x, Tensor) and _dispatch_keys(x).has(DispatchKey.Python)
        )

    def dispatch(self, /, dispatch_key: DispatchKey, *args: Any, **kwargs: Any) -> Any:
        """Run what serves the key.

        Raises:
            NotImplementedError: nothing does, or there is no rule for the mode or the class.
            TypeError: all rules at the Python key returned NotImplemented.
        """
        cached = self._dispatch_cache.get(dispatch_key)
        if cached is not None:
            return cached(*args, **kwargs)
        if dispatch_key == DispatchKey.FuncTorchDynamicLayerFrontMode:
            raise AssertionError(f"{self._name}: there is no transform that could serve the call")
        if dispatch_key == DispatchKey.Python:
            return self._dispatch_at_python(args, kwargs)
        if _to_functionality_key(dispatch_key) == DispatchKey.PreDispatch:
            handler = self._pre_dispatch_rule()
            if handler is not None:
                return handler(*args, **kwargs)
        final_key = resolve_key(self, dispatch_key)
        kernel = self.py_kernels.get(final_key)
        if kernel is None:
            raise NotImplementedError(
                f"{self._name}: no kernel is registered for {final_key}, which {dispatch_key} "
                f"comes to; kernels exist for: {', '.join(k.name for k in self.py_kernels)}"
            )
        if dispatch_key != DispatchKey.PreDispatch:
            self._dispatch_cache[dispatch_key] = kernel
        return kernel(*args, **kwargs)

    def _dispatch_at_python(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The innermost mode's answer, or else that of the first tensor class that has one."""
        mode = current_mode()
        if mode is not None:
            result = self._ask_mode(mode, args, kwargs)
            if result is not NotImplemented or type(mode) not in self.python_key_table:
                return result
        overloaded = self._get_overloaded_args(args, kwargs)
        for tensor in overloaded:
            cls: Any = type(tensor)
            if cls.__torch_dispatch__ is _disabled_torch_dispatch_impl:
                continue
            result = self._ask_class(tensor, args, kwargs)
            if result is not NotImplemented:
                return result
        raise TypeError(
            f"{self._name}: all rules returned NotImplemented; the mode is {mode}, the classes "
            f"among the arguments are {[type(t).__name__ for t in overloaded]}"
        )

    def _ask_mode(self, mode: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        rule = self.python_key_table.get(type(mode))
        if rule is None and not mode.supports_higher_order_operators:
            raise NotImplementedError(
                f"There was no rule registered for HigherOrderOperator {self._name} and mode "
                f"{mode}; a mode takes all higher-order operators in __torch_dispatch__ if its "
                "supports_higher_order_operators is True"
            )
        with _pop_mode_temporarily() as popped:
            if rule is None:
                return mode.__torch_dispatch__(self, [], args, kwargs)
            return rule(popped, *args, **kwargs)

    def _ask_class(self, tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        by_mode = _classes_served_by_modes.get(type(tensor))
        if by_mode is not None:
            mode_class, mode_of = by_mode
            return self.python_key_table[mode_class](mode_of(tensor), *args, **kwargs)
        rule = self.python_key_table.get(type(tensor))
        if rule is None:
            raise NotImplementedError(
                f"There was no rule registered for HigherOrderOperator {self._name} and subclass "
                f"{type(tensor).__name__}"
            )
        return rule(*args, **kwargs)

    def _pre_dispatch_rule(self) -> Callable[..., Any] | None:
        """The rule for the pre-dispatch mode that is asked first; None without such a mode."""
        off = _dispatch_tls_is_dispatch_key_excluded(DispatchKey.Python)
        if _len_torch_dispatch_stack_pre_dispatch() == 0 or off:
            return None
        mode = _get_current_dispatch_mode_pre_dispatch()
        if type(mode) not in self.python_key_table:
            raise AssertionError(f"{self._name}: no rule is registered for the mode {mode}")
        rule = self.python_key_table[type(mode)]

        def handler(*args: Any, **kwargs: Any) -> Any:
            with _pop_mode_temporarily(DispatchKey.PreDispatch) as popped:
                return rule(popped, *args, **kwargs)

        return handler

    @abc.abstractmethod
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Ask function handlers; else dispatch by the highest key that does not fall through."""
        flat = _to_flat_tuple(args, kwargs)
        if has_torch_function(flat):
            return handle_torch_function(self, flat, *args, **kwargs)
        keys = _compute_keyset(args, kwargs, self.non_fallthrough_keys)
        return self.dispatch(keys.highestPriorityTypeId(), *args, **kwargs)

    def gen_schema(self, *args: Any, **kwargs: Any) -> Any:
        """The FunctionSchema of one call; an operator without it writes and aliases nothing."""
        raise NotImplementedError(f"{self._name}: gen_schema is not written")

    def __str__(self) -> str:
        return self._name

    def name(self) -> str:
        """Its name."""
        return self._name

    def __deepcopy__(self, memo: Any = None) -> "HigherOrderOperator":
        return self
