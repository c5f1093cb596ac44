"""What changed a ShapeEnv, call by call, so that another can be brought to the same state.

`ShapeEnv(should_record_events=True)` keeps `events`: its own making first, then every call that
made a symbol or narrowed one (`watch`), and every guard and runtime assert that the core learnt.
Without it nothing is wrapped and nothing costs. Names are those of
`torch.fx.experimental.recording`.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any

from dispatch.pytree import tree_map
from dispatch.symbolic.core import Core
from dispatch.symbolic.expr import Expr
from dispatch.symbolic.numbers import SymBool, SymFloat, SymInt

__all__ = [
    "FakeTensorMeta",
    "NotEqualError",
    "ShapeEnvEvent",
    "record_shapeenv_event",
    "replay_shape_env_events",
    "shape_env_check_state_equal",
    "state_of",
    "watch",
]

_RECORDED = (
    "_constrain_is_bounded", "_constrain_range", "_constrain_range_for_size", "_constrain_unify",
    "_create_symbolic_sizes_strides_storage_offset", "_eliminate_unbacked", "_rename_unbacked_to",
    "_set_replacement", "add_backed_var_to_val", "constrain_symbol_range", "create_symbol",
    "create_unbacked_symbool", "create_unbacked_symfloat", "create_unbacked_symint",
    "create_unspecified_symbol", "freeze", "freeze_runtime_asserts",
    "set_real_tensor_prop_unbacked_vals",
)  # fmt: skip


@dataclass
class ShapeEnvEvent:
    """One call: `f` with its arguments; of the making of a ShapeEnv `f` is the class."""

    f: Callable[..., Any]
    args: list[Any] | None = None
    kwargs: dict[str, Any] | None = None
    tracked_fakes: list[Any] | None = None
    name: str | None = None

    def run(self, shape_env: Any = None) -> Any:
        """The same call on another ShapeEnv, with that one's symbols."""
        if isinstance(self.f, type) and issubclass(self.f, Core):
            if shape_env is not None or self.args is not None:
                raise AssertionError("a ShapeEnv is made without one, from keyword arguments")
            return self.f(**(self.kwargs or {}))
        if shape_env is None:
            raise AssertionError("an event needs the ShapeEnv that it runs on")

        def moved(x: Any) -> Any:
            if isinstance(x, Core):
                return shape_env
            if isinstance(x, Expr):
                return shape_env.sympify(x)
            if isinstance(x, (SymInt, SymFloat, SymBool)) and x.node.is_symbolic():
                return type(x)(x.node.with_shape_env(shape_env))
            return x

        args, kwargs = tree_map(moved, (self.args or [], self.kwargs or {}))
        return self.f(*args, **kwargs)

    def __str__(self) -> str:
        name = self.name if self.name is not None else self.f.__name__
        return f"event: {name} ({self.args}, {self.kwargs})"

    def is_create_fx_call_function(self) -> bool:
        """Whether it made a node of a graph of guards: there are none here."""
        return self.name == "_create_fx_call_function"

    def is_evaluate_expr(self) -> bool:
        """Whether it was a guard."""
        return self.name == "evaluate_expr"

    def is_defer_runtime_assert(self) -> bool:
        """Whether it was a runtime assert."""
        return self.name == "guard_or_defer_runtime_assert"


def _only_env(values: Any) -> Any:
    """The ShapeEnv that all of these belong to."""
    found = None
    for x in values:
        if isinstance(x, (SymInt, SymFloat, SymBool)) and x.node.is_symbolic():
            x = x.node.shape_env
        if isinstance(x, Core):
            if found is not None and found is not x:
                raise AssertionError("call with different ShapeEnv")
            found = x
    return found


def record_shapeenv_event(
    *, save_tracked_fakes: bool = False, name: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator of a method of ShapeEnv: a call of it is an event, unless it comes from another."""

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        if next(iter(inspect.signature(fn).parameters), None) != "self":
            raise AssertionError("record_shapeenv_event should only wrap methods on ShapeEnv")
        called = fn.__name__ if name is None else name

        @functools.wraps(fn)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not isinstance(args[0], Core):
                raise AssertionError(f"Expected ShapeEnv, got {type(args[0])}")
            env: Any = args[0]
            if not env.should_record_events or env.is_recording:
                return fn(*args, **kwargs)
            _only_env((*args, *kwargs.values()))
            fakes = env._snapshot_tracked_fakes() if save_tracked_fakes else None
            event = ShapeEnvEvent(fn, list(args), kwargs, fakes, name=called)
            env.events.append(event)  # before those that it causes
            env.is_recording = True
            try:
                return fn(*args, **kwargs)
            except Exception:
                env.events.remove(event)
                raise
            finally:
                env.is_recording = False

        return wrapper

    return decorator


def watch(env: Any, settings: dict[str, Any]) -> None:
    """Begins to record: `settings` are the arguments of the ShapeEnv."""
    env.events = [ShapeEnvEvent(type(env), kwargs={**settings, "should_record_events": False})]
    for name in _RECORDED:
        method = record_shapeenv_event()(getattr(type(env), name))
        setattr(env, name, MethodType(method, env))

    def learnt(name: str, *args: Any) -> None:
        if not env.is_recording:
            method = getattr(type(env), name)
            fakes = env._snapshot_tracked_fakes()
            env.events.append(ShapeEnvEvent(method, [env, *args], {}, fakes, name=name))

    env.recorder = learnt


def replay_shape_env_events(events: Sequence[ShapeEnvEvent]) -> Any:
    """A new ShapeEnv in the state in which these events left theirs."""
    first = events[0]
    if not (isinstance(first.f, type) and issubclass(first.f, Core)):
        raise AssertionError(f"First event must be ShapeEnv constructor, got {first.f}")
    env = first.run()
    for event in events[1:]:
        event.run(env)
    return env


@dataclass
class FakeTensorMeta:
    """Of a tensor what `ShapeEnv.produce_guards` reads, without the tensor."""

    tensor_size: tuple[Any, ...]
    tensor_stride: tuple[Any, ...]
    tensor_storage_offset: Any
    is_nested: bool

    def size(self) -> tuple[Any, ...]:
        return self.tensor_size

    def stride(self) -> tuple[Any, ...]:
        return self.tensor_stride

    def storage_offset(self) -> Any:
        return self.tensor_storage_offset

    def dim(self) -> int:
        return len(self.tensor_size)

    @staticmethod
    def from_fake(fake: Any) -> "FakeTensorMeta":
        """Of a fake tensor as it is now."""
        return FakeTensorMeta(fake.size(), fake.stride(), fake.storage_offset(), fake.is_nested)


class NotEqualError(Exception):
    """Two ShapeEnvs differ: a row (what, left, right) for each difference."""

    def __init__(self, msg: str, mismatched: Sequence[tuple[str, str, str]]) -> None:
        rows = [f"==> {what}\n  >  Left: {a}\n  > Right: {b}" for what, a, b in mismatched]
        super().__init__("\n".join([f"ShapeEnv not equal: {msg}", "", *rows, ""]))


def state_of(env: Any) -> dict[str, Any]:
    """What decides what a ShapeEnv answers, by PyTorch's names."""
    return {
        "settings": env.settings,
        "guards": env.guards,
        "deferred_runtime_asserts": env.deferred_runtime_asserts,
        "backed_var_to_val": env.backed_var_to_val,
        "var_to_range": env.var_to_range,
        "var_to_sources": env.var_to_sources,
        "source_to_var": env.source_to_var,
        "val_to_var": env.val_to_var,
        "replacements": env.replacements,
        "size_like": env.size_like,
        "unbacked_renamings": env.unbacked_renamings,
        "real_tensor_prop_unbacked_vals": env.real_tensor_prop_unbacked_vals,
        "unbacked_symint_counter": env.unbacked_symint_counter,
        "unbacked_symfloat_counter": env.unbacked_symfloat_counter,
        "frozen": env.frozen,
        "runtime_asserts_frozen": env.runtime_asserts_frozen,
        "num_deferred_runtime_asserts": env.num_deferred_runtime_asserts,
    }


def _text(value: Any) -> str:
    """The same for the same facts: symbols of two ShapeEnvs are equal when their names are."""
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{k}: {_text(v)}" for k, v in value.items())) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(str, value))) + "}"
    return str(value)


def shape_env_check_state_equal(
    env1: Any,
    env2: Any,
    non_state_variable_names: Sequence[str],
    map_value: Callable[[str, Any], Any],
) -> None:
    """Nothing when two ShapeEnvs are in the same state.

    Raises:
        NotEqualError: with what differs; `map_value` says what of a value counts.
    """
    states = [
        {k: _text(map_value(k, v)) for k, v in state_of(env).items()} for env in (env1, env2)
    ]
    wrong = [
        (f"{name}: values don't match.", a, states[1][name])
        for name, a in sorted(states[0].items())
        if name not in non_state_variable_names and a != states[1][name]
    ]
    if wrong:
        raise NotEqualError("field values don't match:", wrong)
