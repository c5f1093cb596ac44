"""User code that answers wrongly: `python -m tests.fuzz.answers [--n N] [--seed S]`.

Handlers of modes and subclasses, kernels, fake kernels, functions that flatten, numbers that are
asked for themselves and callbacks of what dies: each returns what nobody should, raises, or changes
the arguments in the midst of the call (sizes, storage, the list that it stands in, the stack of
modes). A trial is a child process of some such calls. Exceptions are fine; a signal, a time-out, a
SystemError, an exception that a compiled function of ours could not raise, or state that is left
behind (a mode on the stack, grad mode off) is a failure.
"""

import argparse
import contextlib
import faulthandler
import gc
import os
import random
import signal
import sys
import tempfile
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dispatch
from dispatch import Tensor, ops, pytree as trees
from dispatch.fake import FakeTensorMode
from dispatch.library import Library, custom_op
from dispatch.modes import TorchDispatchMode, TorchFunctionMode
from tests.fuzz.trial import limit_memory

__all__ = ["attempt"]

_CALLS = 40
_SECONDS = 30
_ADDRESS_SPACE = 8 << 30
aten = ops.aten


class World:
    """What a trial's user code can reach and spoil; `answer` is what it says when it is asked."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.tensors = [
            dispatch.ones(4, 5),
            dispatch.arange(6),
            dispatch.ones(()),
            dispatch.ones(2, 3, 4),
        ]
        self.lists: list[list[Any]] = []
        self.depth = 0

    def tensor(self) -> Tensor:
        return self.rng.choice(self.tensors)

    def spoil(self) -> None:
        """Change what is being worked on."""
        x = self.tensor()
        with contextlib.suppress(Exception):
            self.rng.choice(_SPOILS)(self, x)

    def answer(self, *_: Any, **__: Any) -> Any:
        rng = self.rng
        self.depth += 1
        try:
            if rng.random() < 0.5:
                self.spoil()
            if rng.random() < 0.1:
                gc.collect()
            if rng.random() < 0.15:
                raise rng.choice(
                    (
                        RuntimeError,
                        TypeError,
                        KeyError,
                        StopIteration,
                        MemoryError,
                        RecursionError,
                        KeyboardInterrupt,
                        GeneratorExit,
                    )
                )("user")
            if rng.random() < 0.2 and self.depth < 30:
                return self.call()
            return rng.choice(_ANSWERS)(self)
        finally:
            self.depth -= 1

    def number(self) -> Any:
        return (
            Number(self) if self.rng.random() < 0.7 else self.rng.choice((0, 1, -1, 2, 10**30, 1.5))
        )

    def call(self) -> Any:
        """Some call over the tensors, with arguments that ask back."""
        return self.rng.choice(_CALLS_MADE)(self, self.tensor(), self.tensor())


class Number:
    """Answers to every question about a number; so do its attributes."""

    def __init__(self, world: World) -> None:
        self.world = world

    def _say(self, right: Any) -> Any:
        answer = self.world.answer()
        return right if self.world.rng.random() < 0.6 else answer

    def __index__(self) -> int:
        return self._say(1)

    def __int__(self) -> int:
        return self._say(1)

    def __float__(self) -> float:
        return self._say(1.0)

    def __bool__(self) -> bool:
        return self._say(True)

    def __complex__(self) -> complex:
        return self._say(1j)

    def __len__(self) -> int:
        return self._say(2)

    def __iter__(self) -> Any:
        return self._say(iter([1, 2]))

    def __getitem__(self, at: Any) -> Any:
        return self._say(1)

    def __eq__(self, other: object) -> Any:
        return self._say(True)

    def __hash__(self) -> int:
        return self._say(7)

    def __add__(self, other: Any) -> Any:
        return self._say(3)

    __radd__ = __mul__ = __rmul__ = __sub__ = __lt__ = __ge__ = __add__

    def __dlpack_device__(self) -> Any:
        return self._say((1, 0))

    def __dlpack__(self, **_: Any) -> Any:
        return self._say(self.world.tensor().__dlpack__())

    @property
    def __array_interface__(self) -> Any:
        return self._say({"shape": (2,), "typestr": "<f4", "version": 3, "data": b"12345678"})

    @property
    def shape(self) -> Any:
        return self._say((2,))

    @property
    def __torch_function__(self) -> Any:
        return self._say(self.world.answer)


class Callback:
    """Spoils when it dies, or when what it watches does."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.me = self  # found by the collector only

    def __del__(self) -> None:
        self.world.spoil()


# -- what user code does in between ------------------------------------------------------------


def _watch(world: World, x: Tensor) -> None:
    y = x[:]
    world.lists.append([y, weakref.ref(y, lambda _: world.spoil())])
    Callback(world)


def _alias(world: World, x: Tensor) -> None:
    x.data = world.tensor()[:1]


_SPOILS: list[Callable[[World, Tensor], Any]] = [
    lambda w, x: x.resize_(w.rng.choice((0, 1, 3, 500))),
    lambda w, x: x.set_(),
    lambda w, x: x.untyped_storage().resize_(w.rng.choice((0, 4, 4096))),
    lambda w, x: x.as_strided_((w.rng.randrange(4),), (1,)),
    lambda w, x: x.t_(),
    lambda w, x: x.unsqueeze_(0),
    lambda w, x: w.tensors.append(w.tensors.pop(0)[:]),
    lambda w, x: [items.clear() for items in w.lists],
    lambda w, x: gc.set_threshold(w.rng.choice((1, 5, 700))),
    lambda w, x: gc.collect(),
    _watch,
    _alias,
]
_ANSWERS: list[Callable[[World], Any]] = [
    lambda w: None,
    lambda w: NotImplemented,
    lambda w: 3,
    lambda w: "text",
    lambda w: (),
    lambda w: [],
    lambda w: {},
    lambda w: object(),
    lambda w: w.tensor(),
    lambda w: [w.tensor()] * 2,
    lambda w: (w.tensor(), None),
    lambda w: (w.tensor(),) * 3,
    lambda w: dispatch.ones(2, 3),
    lambda w: dispatch.empty(3, device="meta"),
    lambda w: Number(w),
    lambda w: w.answer,
    lambda w: type,
    lambda w: float("nan"),
    lambda w: 2**70,
    lambda w: iter([1]),
    lambda w: dispatch.float32,
    lambda w: w,
]


# -- calls ---------------------------------------------------------------------------------------


def _listed(world: World, items: list[Any]) -> list[Any]:
    world.lists.append(items)
    return items


def _out(world: World, x: Tensor, y: Tensor) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *_, **__: world.spoil()  # type: ignore[assignment]
        return aten.add(x, y, out=world.tensor())


_CALLS_MADE: list[Callable[[World, Tensor, Tensor], Any]] = [
    lambda w, x, y: aten.add(x, y, alpha=w.number()),
    lambda w, x, y: aten.sum(x, _listed(w, [w.number()])),
    lambda w, x, y: aten.sum(x, [0], out=y),
    lambda w, x, y: aten.cat(_listed(w, [x, y, x[:]]), w.number()),
    lambda w, x, y: aten.view(x, _listed(w, [w.number(), -1])),
    lambda w, x, y: x.reshape(w.number(), w.number()),
    lambda w, x, y: x[w.number()],
    lambda w, x, y: x[w.number() : w.number()],
    lambda w, x, y: x.__setitem__(w.number(), w.number()),
    lambda w, x, y: x[[w.number(), 0]],
    lambda w, x, y: x.as_strided(_listed(w, [w.number()]), _listed(w, [w.number()]), w.number()),
    lambda w, x, y: x.resize_(_listed(w, [w.number(), 2])),
    lambda w, x, y: aten.constant_pad_nd(x, _listed(w, [1, w.number()]), w.number()),
    lambda w, x, y: aten.index_put_(x, _listed(w, [y, None]), w.tensor()),
    lambda w, x, y: aten.split(x, w.number()),
    lambda w, x, y: aten.split_with_sizes(x, _listed(w, [w.number(), 2])),
    lambda w, x, y: dispatch.tensor([w.number(), [w.number()], 1]),
    lambda w, x, y: dispatch.tensor(w.number()),
    lambda w, x, y: dispatch.as_tensor(w.number()),
    lambda w, x, y: dispatch.from_dlpack(w.number()),
    lambda w, x, y: dispatch.full((w.number(), 2), w.number()),
    lambda w, x, y: dispatch.stack(_listed(w, [x, w.number()])),
    lambda w, x, y: x.normal_(w.number(), w.number()),
    lambda w, x, y: x.masked_fill_(x > 0, w.number()),
    lambda w, x, y: x[x > w.number()],
    lambda w, x, y: x + w.number(),
    lambda w, x, y: x == w.number(),
    lambda w, x, y: x.expand(w.number(), *x.shape),
    lambda w, x, y: x.permute(_listed(w, [w.number(), 0])),
    lambda w, x, y: x.tolist(),
    lambda w, x, y: repr(x),
    lambda w, x, y: x.to(w.number()),
    lambda w, x, y: x.type(w.number()),
    lambda w, x, y: x.untyped_storage()[w.number()],
    lambda w, x, y: x.untyped_storage().__setitem__(w.number(), w.number()),
    lambda w, x, y: x.copy_(y),
    lambda w, x, y: aten.roll(x, _listed(w, [w.number()])),
    lambda w, x, y: aten.repeat(x, _listed(w, [w.number(), 1])),
    lambda w, x, y: aten._foreach_add(_listed(w, [x, y]), _listed(w, [w.number(), 1])),
    lambda w, x, y: aten._foreach_mul_(_listed(w, [x, y]), _listed(w, [y, x])),
    lambda w, x, y: trees.tree_map(w.answer, {"a": [x, y], "b": w.number()}),
    lambda w, x, y: trees.tree_unflatten([1, w.number()], w.number()),
    _out,
]


# -- who is asked ----------------------------------------------------------------------------------


def _in_mode(world: World) -> None:
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if world.rng.random() < 0.5:
                world.spoil()
                return func(*args, **(kwargs or {}))
            return world.answer()

        def __enter__(self) -> Any:
            if world.rng.random() < 0.3:
                return world.answer()
            return super().__enter__()

    with Mode():
        world.call()


def _in_function_mode(world: World) -> None:
    class Mode(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if world.rng.random() < 0.5:
                world.spoil()
                return func(*args, **(kwargs or {}))
            return world.answer()

    with Mode():
        world.call()


def _deep_mode(world: World) -> None:
    """A handler that calls itself until there is no more stack."""

    class Deep(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            with self:
                return func(*args, **(kwargs or {}))

    with Deep():
        aten.add(world.tensor(), 1)


def _subclass(world: World) -> type[Tensor]:
    class Wrapper(Tensor):
        @staticmethod
        def __new__(cls: Any, *_: Any) -> Any:
            return Tensor._make_wrapper_subclass(
                cls,
                (4, 5),
                dispatch_sizes_strides_policy=world.rng.choice((None, "sizes", "strides")),
            )

        @classmethod
        def __torch_dispatch__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return world.answer()

        def __tensor_flatten__(self) -> Any:
            return world.answer()

        @staticmethod
        def __tensor_unflatten__(*_: Any) -> Any:
            return world.answer()

    class Plain(Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if world.rng.random() < 0.5:
                return world.answer()
            return super().__torch_function__(func, types, args, kwargs or {})

    return world.rng.choice((Wrapper, Plain))


def _with_subclass(world: World) -> None:
    cls = _subclass(world)
    x = cls() if world.rng.random() < 0.8 else dispatch.ones(4, 5).as_subclass(cls)
    kept = world.tensors
    world.tensors = [*kept, x, x]
    try:
        for read in (
            "shape",
            "device",
            "dtype",
            "layout",
            "numel",
            "is_contiguous",
            "__deepcopy__",
            "dim",
        ):
            with contextlib.suppress(Exception):
                value = getattr(x, read)
                value({}) if read == "__deepcopy__" else callable(value) and value()
        world.call()
    finally:
        world.tensors = kept


def _registered(world: World) -> None:
    rng = world.rng
    library = Library(f"answers{rng.randrange(10**9)}", "DEF")
    returns = rng.choice(
        ("Tensor", "Tensor[]", "(Tensor, Tensor)", "int", "Tensor?", "()", "bool[]", "Scalar")
    )
    library.define(f"f(Tensor x, int n=1, Tensor[]? rest=None) -> {returns}")
    library.impl(
        "f",
        world.answer,
        rng.choice(("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "Meta")),
    )
    if rng.random() < 0.5:
        with contextlib.suppress(Exception):
            dispatch.library.register_fake(f"{library.ns}::f", world.answer, lib=library)
    if rng.random() < 0.3:
        with contextlib.suppress(Exception):
            dispatch.library.register_autograd(
                f"{library.ns}::f", world.answer, setup_context=world.answer, lib=library
            )
    if rng.random() < 0.3:
        with contextlib.suppress(Exception):
            dispatch.library.register_vmap(f"{library.ns}::f", world.answer, lib=library)
    op = getattr(ops, library.ns).f
    x = world.tensor()
    if rng.random() < 0.3 and x.is_floating_point():
        x = x.detach().requires_grad_()
    if rng.random() < 0.4:
        with FakeTensorMode() as mode:
            op(mode.from_tensor(x), world.number(), [world.tensor()])
    else:
        op(x, world.number(), _listed(world, [x, world.tensor()]))
    if rng.random() < 0.5:
        library._destroy()


def _custom(world: World) -> None:
    name = f"answers{world.rng.randrange(10**9)}::g"
    mutates = world.rng.choice(((), ("x",)))
    made = custom_op(
        name,
        world.answer,
        mutates_args=mutates,
        schema="(Tensor x) -> Tensor" if not mutates else "(Tensor(a!) x) -> Tensor",
    )
    with contextlib.suppress(Exception):
        made.register_fake(world.answer)
        made.register_autograd(world.answer, setup_context=world.answer)
        made.register_torch_dispatch(TorchDispatchMode, world.answer)
    made(world.tensor())


def _functionalized(world: World) -> None:
    def program(x: Any) -> Any:
        if world.rng.random() < 0.5:
            x.add_(world.number())
        x.view(-1).mul_(2)
        return world.answer()

    dispatch.functional.functionalize(program)(dispatch.ones(4, 5))


def _faked(world: World) -> None:
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        kept = world.tensors
        world.tensors = [mode.from_tensor(t) for t in kept[:3]]
        try:
            world.call()
        finally:
            world.tensors = kept


def _trees(world: World) -> None:
    class Node:
        pass

    with contextlib.suppress(Exception):
        trees.register_pytree_node(
            Node,
            world.answer,
            world.answer,
            serialized_type_name=f"n{world.rng.randrange(10**9)}",
            to_dumpable_context=world.answer,
            from_dumpable_context=world.answer,
        )
    tree = [Node(), {"a": Node(), "b": [world.number()]}]
    _, spec = trees.tree_flatten(tree)
    trees.tree_unflatten(world.answer(), spec)
    trees.tree_map(world.answer, tree, tree)
    trees.treespec_dumps(spec)


_ASKED: list[Callable[[World], None]] = [
    World.call,
    World.call,
    World.call,
    _in_mode,
    _in_function_mode,
    _deep_mode,
    _with_subclass,
    _with_subclass,
    _registered,
    _registered,
    _custom,
    _functionalized,
    _faked,
    _trees,
]


def _state() -> Any:
    names = ("_len_torch_dispatch_stack", "_len_torch_function_stack")
    return [getattr(dispatch._C, name)() for name in names] + [
        dispatch.is_grad_enabled(),
        dispatch.is_inference_mode_enabled(),
        str(dispatch._C._dispatch_tls_local_include_set()),
        str(dispatch._C._dispatch_tls_local_exclude_set()),
    ]


def _trial(seed: str, log: int) -> None:
    limit_memory(_ADDRESS_SPACE)
    signal.alarm(_SECONDS)
    warnings.simplefilter("ignore")
    lost: list[str] = []
    # Finalizers may fail; the name of a compiled function stands where a finalizer would.
    sys.unraisablehook = lambda u: lost.extend([u.object] if isinstance(u.object, str) else [])
    rng = random.Random(seed)
    before = _state()
    for _ in range(_CALLS):
        world = World(rng)
        asked = rng.choice(_ASKED)
        os.pwrite(log, f"{asked.__name__:40}".encode(), 0)
        try:
            asked(world)
        except SystemError:
            raise
        except BaseException:
            pass
        if lost:
            raise AssertionError(f"{asked.__name__}: exceptions got lost in {lost}")
        if _state() != before:
            raise AssertionError(f"{asked.__name__} left {_state()}, before {before}")


def attempt(seed: str) -> str | None:
    """How the process of one trial ended, if it did not end well."""
    with tempfile.NamedTemporaryFile(prefix="answers") as log:
        child = os.fork()
        if not child:
            status = 1
            try:
                with Path(log.name + ".trace").open("w") as trace:
                    os.dup2(trace.fileno(), 2)
                    faulthandler.enable(trace)
                    faulthandler.register(signal.SIGALRM, trace, chain=True)
                    _trial(seed, log.fileno())
                    status = 0
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        trace = Path(log.name + ".trace")
        text = trace.read_text() if trace.exists() else ""
        trace.unlink(missing_ok=True)
        if not status:
            return None
        how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "failed"
        return f"{how} in {Path(log.name).read_text().strip()}\n{text[-3000:]}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.answers", description=__doc__)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failed = 0
    for i in range(options.n):
        problem = attempt(f"{options.seed} {i}")
        if problem is not None:
            failed += 1
            print(f"{options.seed} {i}: {problem}", flush=True)
    print(f"{'failed' if failed else 'passed'}: {options.n} trials, {failed} failures")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
