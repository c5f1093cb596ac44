"""User code in the midst of every operator's call, which changes what the call works on.

`python -m tests.fuzz.midcall [--seed S] [--rounds N] [--only REGEX]` makes each recorded call of
`tests/conformance` with arguments that ask user code (numbers, sequences, subclasses of Tensor),
under modes whose handlers run in between, or beside cycles of objects whose finalizers run
whenever the collector does. That code gives the call's tensors other sizes, strides, storages and
dtypes, frees what they had, empties the lists that they stand in. A call may compute anything then,
and may refuse; it must not end the process, and afterwards every tensor lies within its storage.
Children, their limits and what counts as a failure are those of `operators`.
"""

import contextlib
import gc
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

import dispatch
from dispatch import OpOverload, Tensor
from dispatch.modes import TorchDispatchMode, TorchFunctionMode
from tests.fuzz import operators
from tests.fuzz.near import Near, command
from tests.fuzz.operators import Call, Failure

__all__ = ["Spoiler", "attempt", "beyond"]

_CHANGES = 6  # of one call: user code that changes things for ever says little more


def beyond(t: Tensor) -> str | None:
    """How a tensor reaches beyond its storage, if it does."""
    if type(t) is not Tensor or t.device.type != "cpu" or not t.numel():
        return None
    places = [(n - 1) * s for n, s in zip(t.size(), t.stride(), strict=True)]
    have = t.untyped_storage().nbytes()
    if (t.storage_offset() + sum(places) + 1) * t.element_size() <= have:
        return None
    return f"{t.size()}, {t.stride()} at {t.storage_offset()} over {have} bytes"


class Spoiler:
    """Changes the tensors and lists of one call; `rng` says what, and whether."""

    def __init__(self, rng: random.Random, tensors: Sequence[Tensor]) -> None:
        self.rng = rng
        self.tensors = list(tensors)
        self.lists: list[list[Any]] = []
        self.left = _CHANGES
        self.shrunk = False  # a storage: it has the memory that it had, and says less

    def act(self) -> None:
        if not self.left or self.rng.random() < 0.4:
            return
        self.left -= 1
        left, self.left = self.left, 0  # what it does itself is left alone
        with contextlib.suppress(RuntimeError, IndexError, TypeError, ValueError):
            self.rng.choice(_ACTS)(self, self.rng.choice(self.tensors))
        self.left = left

    def size(self) -> int:
        return self.rng.choice((0, 1, 2, 7, 3000))


def _empty_lists(s: Spoiler, t: Tensor) -> None:
    for items in s.lists:
        items.clear()


def _fill_lists(s: Spoiler, t: Tensor) -> None:
    for items in s.lists:
        items[:] = [s.rng.choice((None, t, 10**30, 0, dispatch.ones(3)))] * s.rng.choice((1, 9, 70))


def _bomb(s: Spoiler, t: Tensor) -> None:
    """Something for the collector, which runs soon."""
    _Finalized(s)
    gc.set_threshold(1)


def _shrink(s: Spoiler, t: Tensor) -> None:
    s.shrunk = True
    t.untyped_storage().resize_(s.rng.choice((0, 0, 4, 16)))


def _other_data(s: Spoiler, t: Tensor) -> None:
    t.data = s.rng.choice(s.tensors)


def _no_data(s: Spoiler, t: Tensor) -> None:
    t.data = dispatch.empty(s.size(), dtype=s.rng.choice((t.dtype, dispatch.uint8)))


_ACTS: list[Callable[[Spoiler, Tensor], Any]] = [
    lambda s, t: t.resize_(s.size()),
    lambda s, t: t.resize_(s.size(), 2),
    lambda s, t: t.set_(),
    lambda s, t: t.set_(dispatch.ones(s.size(), dtype=t.dtype)),
    lambda s, t: t.untyped_storage().resize_(65536),
    _shrink,
    _shrink,
    lambda s, t: t.as_strided_((s.size(),), (s.rng.choice((0, 1, 2)),)),
    lambda s, t: t.as_strided_((1,) * 9, (1,) * 9),
    lambda s, t: t.transpose_(0, -1),
    lambda s, t: t.unsqueeze_(0),
    lambda s, t: t.squeeze_(),
    lambda s, t: t.detach_().requires_grad_(),
    lambda s, t: t.fill_(s.rng.choice((-1, 3, 100, 2**40))),
    lambda s, t: gc.collect(),
    lambda s, t: s.tensors.append(dispatch.ones(s.size())),
    _other_data,
    _no_data,
    _empty_lists,
    _fill_lists,
    _bomb,
]


class _Finalized:
    """Found by the collector only, which has it act."""

    def __init__(self, spoiler: Spoiler) -> None:
        self.spoiler, self.me = spoiler, self

    def __del__(self) -> None:
        self.spoiler.act()
        if self.spoiler.left:
            _Finalized(self.spoiler)


class _Number:
    """A number that acts whenever it is asked which."""

    def __init__(self, spoiler: Spoiler, value: Any) -> None:
        self.spoiler, self.value = spoiler, value

    def _say(self) -> Any:
        self.spoiler.act()
        return self.value

    def __index__(self) -> int:
        return self._say()

    def __int__(self) -> int:
        return int(self._say())

    def __float__(self) -> float:
        return float(self._say())

    def __bool__(self) -> bool:
        return bool(self._say())

    def __complex__(self) -> complex:
        return complex(self._say())

    def __eq__(self, other: object) -> bool:
        return self._say() == other

    def __hash__(self) -> int:
        return hash(self._say())

    def __getattr__(self, name: str) -> Any:
        self.__dict__["spoiler"].act()
        raise AttributeError(name)


class _Int(int):
    """An int that acts."""

    spoiler: Spoiler

    def __index__(self) -> int:
        self.spoiler.act()
        return int.__index__(self)

    def __int__(self) -> int:
        self.spoiler.act()
        return int.__int__(self)

    def __bool__(self) -> bool:
        self.spoiler.act()
        return int.__bool__(self)


class _Float(float):
    """A float that acts."""

    spoiler: Spoiler

    def __float__(self) -> float:
        self.spoiler.act()
        return float.__float__(self)


class _Items(list[Any]):
    """A list that acts."""

    spoiler: Spoiler

    def __len__(self) -> int:
        self.spoiler.act()
        return super().__len__()

    def __iter__(self) -> Any:
        self.spoiler.act()
        return super().__iter__()

    def __getitem__(self, at: Any) -> Any:
        self.spoiler.act()
        return super().__getitem__(at)


class _Sequence:
    """No list, but asked like one."""

    def __init__(self, spoiler: Spoiler, items: list[Any]) -> None:
        self.spoiler, self.items = spoiler, items

    def __len__(self) -> int:
        self.spoiler.act()
        return len(self.items)

    def __getitem__(self, at: Any) -> Any:
        self.spoiler.act()
        return self.items[at]


class _Plain(Tensor):
    """A subclass whose function handler acts."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        _current[0].act()
        try:
            return super().__torch_function__(func, types, args, kwargs or {})
        finally:
            _current[0].act()


class _Handled(Tensor):
    """A subclass with memory of its own whose dispatch handler acts."""

    __torch_function__ = dispatch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _acted(_current[0], func, args, kwargs, dispatch._C._DisableTorchDispatch)


_current: list[Spoiler] = [Spoiler(random.Random(0), [])]


def _acted(
    spoiler: Spoiler, func: Any, args: Any, kwargs: Any, around: Any = contextlib.nullcontext
) -> Any:
    spoiler.act()
    try:
        with around():
            return func(*args, **(kwargs or {}))
    finally:
        spoiler.act()


class _Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _acted(_current[0], func, args, kwargs)


class _Again(TorchDispatchMode):
    """Sees the operators that composite ones are made of, each of them."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with self:
            result = func.decompose(*args, **(kwargs or {}))
        if result is not NotImplemented:
            return result
        return _acted(_current[0], func, args, kwargs)


class _Functions(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _acted(_current[0], func, args, kwargs)


def _asking(spoiler: Spoiler, value: Any) -> Any:
    """An argument like `value` that asks user code, at times."""
    rng = spoiler.rng
    if isinstance(value, Tensor):
        cls = rng.choice((Tensor, Tensor, Tensor, _Plain, _Handled))
        made = value if cls is Tensor else value.as_subclass(cls)
        spoiler.tensors.append(made)
        return made
    if isinstance(value, list):
        items = [_asking(spoiler, item) for item in value]
        kind = rng.randrange(4)
        made_items: Any = items
        if kind == 0:
            made_items = _Items(items)
            made_items.spoiler = spoiler
        elif kind == 1:
            made_items = _Sequence(spoiler, items)
        spoiler.lists.append(items if kind == 1 else made_items)
        return made_items
    if isinstance(value, bool) or value is None or rng.random() < 0.3:
        return _Number(spoiler, value) if isinstance(value, bool) and rng.random() < 0.2 else value
    if isinstance(value, int | float):
        if rng.random() < 0.5:
            return _Number(spoiler, value)
        made_number = (_Int if isinstance(value, int) else _Float)(value)
        made_number.spoiler = spoiler
        return made_number
    return value


def _under(rng: random.Random) -> Any:
    return rng.choice(
        (
            contextlib.nullcontext,
            contextlib.nullcontext,
            _Mode,
            _Again,
            _Functions,
            dispatch.inference_mode,
        )
    )()


class _Called:
    """An operator that is called beside user code. Stands for the operator in `operators`."""

    def __init__(self, op: OpOverload, cases: list[dict[str, Any]]) -> None:
        self.op, self.cases = op, cases
        self._name, self.namespace = op._name, op.namespace

    def made(self, rng: random.Random) -> Call:
        near = Near(rng, rng.choice(self.cases), wrong=0)
        spoiler = Spoiler(rng, near.tensors)
        args = [_asking(spoiler, value) for value in near.args]
        kwargs = {name: _asking(spoiler, value) for name, value in near.kwargs.items()}
        return [spoiler, args, kwargs], {}

    def __call__(self, spoiler: Spoiler, args: list[Any], kwargs: dict[str, Any]) -> Any:
        _current[0] = spoiler
        gc.freeze()  # so that a collection looks at what is new
        results: Any = None
        if spoiler.rng.random() < 0.3:
            _bomb(spoiler, args[0] if args else None)
        try:
            with _under(spoiler.rng):
                called = self.op if spoiler.rng.random() < 0.7 else self.op._overloadpacket
                results = called(*args, **kwargs)
        finally:
            gc.set_threshold(700)
            spoiler.left = 0
        made = results if isinstance(results, list | tuple) else [results]
        for t in () if spoiler.shrunk else (*spoiler.tensors, *made):
            problem = beyond(t) if isinstance(t, Tensor) else None
            if problem is not None:
                raise AssertionError(problem)
        return results


def attempt(calls: dict[OpOverload, list[dict[str, Any]]], seed: str, rounds: int) -> list[Failure]:
    """So many calls of each overload, in child processes."""
    called: Any = [_Called(op, cases) for op, cases in calls.items()]
    return operators.attempt(called, seed, rounds, make=lambda op, rng: op.made(rng))  # type: ignore[attr-defined]


def main() -> int:
    return command("midcall", __doc__, attempt)


if __name__ == "__main__":
    sys.exit(main())
