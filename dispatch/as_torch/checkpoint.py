"""`torch.utils.checkpoint`, forwards: there is no autograd engine, so nothing is computed twice.

A function runs under the context that saves (`create_selective_checkpoint_contexts`); a program
that enters the second context itself gets back what the first one kept.
"""

import contextlib
import enum
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dispatch import OpOverload, Tensor, TorchDispatchMode, is_grad_enabled, ops
from dispatch._C import DispatchKey, _SetExcludeDispatchKeyGuard
from dispatch.as_torch.backends import get_device_module
from dispatch.as_torch.nn.modules.containers import Sequential
from dispatch.pytree import tree_leaves, tree_map

__all__ = [
    "SAC_IGNORED_OPS", "CheckpointError", "CheckpointPolicy", "SelectiveCheckpointContext",
    "_infer_device_type", "checkpoint", "checkpoint_sequential",
    "create_selective_checkpoint_contexts", "get_device_states", "noop_context_fn",
    "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
]  # fmt: skip

SAC_IGNORED_OPS = {ops.aten.detach.default, ops.prim.device.default}
_RECOMPUTE, _CONSUMED = object(), object()


class CheckpointError(RuntimeError):
    """A second run that differs from the first."""


class CheckpointPolicy(enum.Enum):
    """What becomes of an operator's result until the second run."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy is told beside the call: its result."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


class _Kept:
    """A value, and the version that it had."""

    def __init__(self, value: Any) -> None:
        if isinstance(value, Tensor):
            # So that it shares the version counter of what it is detached from.
            with _SetExcludeDispatchKeyGuard(DispatchKey.ADInplaceOrView, False):
                value = value.detach()
        self.value = value
        self.version = self.value._version if isinstance(value, Tensor) else None

    def get(self, allow_mutation: bool) -> Any:
        if self.version is not None and self.value._version != self.version and not allow_mutation:
            raise RuntimeError(
                "Tensor cached during selective activation checkpoint has been mutated"
            )
        return self.value


class _CachingTorchDispatchMode(TorchDispatchMode):
    """Keeps the results that the policy names, by operator and number of its call."""

    def __init__(self, policy_fn: Callable[..., Any], storage: Any) -> None:
        super().__init__()
        self.policy_fn, self.storage = policy_fn, storage
        self.func_counter: dict[Any, int] = defaultdict(int)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if func in SAC_IGNORED_OPS:
            return out
        number = self.func_counter[func]
        self.func_counter[func] += 1
        told = SelectiveCheckpointContext(is_recompute=False, op_output=out)
        policy = self.policy_fn(told, func, *args, **kwargs)
        kept = policy in (True, CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
        self.storage[func][number] = tree_map(_Kept, out) if kept else _RECOMPUTE
        return out


class _CachedTorchDispatchMode(TorchDispatchMode):
    """Gives back, once, what a `_CachingTorchDispatchMode` kept, and computes the rest."""

    def __init__(
        self, policy_fn: Any, storage: Any, allow_cache_entry_mutation: bool = False
    ) -> None:
        super().__init__()
        self.storage, self.allow_cache_entry_mutation = storage, allow_cache_entry_mutation
        self.func_counter: dict[Any, int] = defaultdict(int)

    def __enter__(self) -> Any:
        self.func_counter.clear()
        return super().__enter__()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        number = self.func_counter[func]
        self.func_counter[func] += 1
        kept = self.storage[func].get(number) if func in self.storage else None
        if kept is None:
            raise RuntimeError(f"{func}: call {number} of it was not in the first run")
        if kept is _CONSUMED:
            raise RuntimeError(f"{func}: the result of call {number} was given back already")
        if kept is _RECOMPUTE:
            return func(*args, **(kwargs or {}))
        self.storage[func][number] = _CONSUMED
        return tree_map(lambda value: value.get(self.allow_cache_entry_mutation), kept)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """The contexts of the first and of the second run.

    Arguments: a list of overloads whose results are kept, or a function of a
    `SelectiveCheckpointContext` and the call that gives a `CheckpointPolicy`.
    Raises: ValueError for a list with something else, TypeError for anything else.
    """
    policy = policy_fn_or_list
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, OpOverload):
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}"
                )

        def policy(_: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
            return op in policy_fn_or_list

    elif not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: dict[Any, dict[int, Any]] = defaultdict(dict)
    return (
        _CachingTorchDispatchMode(policy, storage),
        _CachedTorchDispatchMode(None, storage, allow_cache_entry_mutation),
    )


def noop_context_fn() -> tuple[Any, Any]:
    """Two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def _infer_device_type(*args: Any) -> str:
    """The type of device of the arguments that are not on the CPU: "cuda" before others.

    Without any it is "cuda", PyTorch's default; a warning where there are several.
    """
    kinds = [t.device.type for t in tree_leaves(args) if isinstance(t, Tensor)]
    others = [kind for kind in kinds if kind != "cpu"]
    if len(set(others)) > 1:
        warnings.warn(
            "Tensor arguments, excluding CPU tensors, are detected on at least two types of "
            f"devices: the state of one is saved.\nDevice types: {sorted(set(others))} first "
            f"device type: {others[0]}",
            stacklevel=2,
        )
    return "cuda" if not others or "cuda" in others else others[0]


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Indices of the arguments' devices and states of their random numbers: a CPU has neither."""
    here = [t for t in tree_leaves(args) if isinstance(t, Tensor)]
    ids = [t.get_device() for t in here if t.device.type not in ("cpu", "meta")]
    module: Any = get_device_module(_infer_device_type(*args)) if ids else None
    states = []
    for index in ids:
        with module.device(index):
            states.append(module.get_rng_state())
    return ids, states


def _reentrant(given: bool | None) -> bool:
    if given is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly",
            stacklevel=3,
        )
    return given is None or given


def checkpoint(
    function: Callable[..., Any], *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default", debug: bool = False, early_stop: bool = True,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """`function(*args, **kwargs)`, under the first of `context_fn()`.

    Raises: ValueError for keywords or contexts together with `use_reentrant`.
    """
    kwargs.pop("preserve_rng_state", None)
    if not _reentrant(use_reentrant):
        with context_fn()[0] if is_grad_enabled() else contextlib.nullcontext():
            return function(*args, **kwargs)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    return function(*args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """`input` through all functions; ValueError for other keywords than `preserve_rng_state`."""
    kwargs.pop("preserve_rng_state", None)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    _reentrant(use_reentrant)
    steps: Sequence[Any] = (
        list(functions.children()) if isinstance(functions, Sequential) else functions
    )
    for function in steps:
        input = function(input)
    return input


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Nothing runs a second time, so nothing stops early."""
    yield


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Nothing runs a second time, so there is no difference to trace."""
    yield
