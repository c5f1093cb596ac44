"""Arguments for `tests.fuzz.api`: sensible ones, wrong ones, and ones that act when looked at."""

import contextlib
import inspect
import random
from collections.abc import Callable
from typing import Any

import dispatch
from dispatch import _C, Tensor, library, ops
from dispatch._C import DispatchKey, DispatchKeySet
from dispatch.fake import FakeTensorMode
from dispatch.modes import TorchDispatchMode, TorchFunctionMode

__all__ = ["Arguments"]

_KEYS = (
    "CPU",
    "Meta",
    "Python",
    "Functionalize",
    "AutogradCPU",
    "ADInplaceOrView",
    "BackendSelect",
    "Undefined",
    "PythonTLSSnapshot",
    "CompositeImplicitAutograd",
    "CUDA",
    "Conjugate",
    "FuncTorchBatched",
    "PreDispatch",
    "PythonDispatcher",
    "Autograd",
    "Dense",
)
_WORDS = (
    "",
    "aten::add",
    "aten::add.Tensor",
    "add",
    "Tensor",
    "CPU",
    "cpu",
    "meta",
    "fuzz::f",
    "\0",
    "x" * 300,
    "fuzz::g(Tensor x) -> Tensor",
    "f(Tensor(a!) x, int[] y=[1]) -> ()",
    "IMPL",
    "DEF",
    "FRAGMENT",
    "__torch_dispatch__",
    "sizes",
    "strides",
    "\ud800",
    "(",
    "aten",
    "fuzz",
)
_INTS = (
    0,
    1,
    -1,
    2,
    3,
    5,
    63,
    64,
    65,
    127,
    255,
    2**15,
    2**31 - 1,
    2**31,
    2**32,
    2**62,
    2**63 - 1,
    2**63,
    -(2**63),
    2**64,
    10**30,
)


class _Wrapper(Tensor):
    """A tensor without bytes, on the CPU."""

    @staticmethod
    def __new__(cls):
        return Tensor._make_wrapper_subclass(cls, (2, 3), dtype=dispatch.float32)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class _Transient(_Wrapper):
    """Its handler goes away at the first call."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        with contextlib.suppress(AttributeError):
            del cls.__torch_dispatch__
        with _C._DisableTorchDispatch():
            return func(*args, **(kwargs or {}))


class _Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class _FunctionMode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class _PoppingMode(_Mode):
    """Takes itself off the stack while it is being called."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        with contextlib.suppress(Exception):
            _C._pop_torch_dispatch_stack()
        return func(*args, **(kwargs or {}))


class _Actor:
    """Does something to the world whenever it is looked at."""

    def __init__(self, act: Callable[[], None], value: Any) -> None:
        self.act, self.value = act, value

    def _say(self) -> Any:
        self.act()
        return self.value

    def __index__(self):
        return self._say()

    __int__ = __len__ = __index__

    def __float__(self):
        return float(self._say())

    def __bool__(self):
        return bool(self._say())

    def __eq__(self, other):
        return bool(self._say())

    def __hash__(self):
        return hash(self._say())

    def __getitem__(self, index):
        self.act()
        if index == 3:
            raise IndexError
        return self.value

    def __str__(self):
        self.act()
        return "actor"

    def __call__(self, *args, **kwargs):
        self.act()
        return args[0] if args else None

    def __del__(self):
        with contextlib.suppress(Exception):
            self.act()

    def __getattr__(self, name):
        self.act()
        raise AttributeError(name)


class Arguments:
    """The arguments of one trial; `rng` decides all."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lists: list[list[Any]] = []
        self.offered: list[Any] = []
        self.libraries = [library.Library("fuzz", "FRAGMENT"), library.Library("fuzz2", "DEF")]
        self._define()
        self.tensors = self._tensors()
        self.operators = self._operators()

    def _define(self) -> None:
        first = self.libraries[0]
        first.define("f(Tensor x, int[] y=[], *, Scalar? s=None) -> Tensor")
        first.define("g(Tensor(a!) x, Tensor[] ys, str name='') -> Tensor(a!)")
        first.define("h(Tensor?[] xs, bool[2] b, Device? d=None) -> (Tensor, int)")
        first.impl("f", self._destroying(first), "CompositeExplicitAutograd")
        first.impl("g", lambda x, ys, name="": x, "CPU")
        self.libraries[1].define("k(Tensor x) -> Tensor")
        self.libraries[1].impl("k", lambda ks, x: x, "CPU", with_keyset=True)

    def _destroying(self, owner: Any) -> Callable[..., Any]:
        def kernel(x: Any, *args: Any, **kwargs: Any) -> Any:
            if self.rng.random() < 0.1:
                owner._destroy()
            return x

        return kernel

    def _tensors(self) -> list[Any]:
        base = dispatch.ones(2, 3)
        wrapper, mode = _Wrapper(), FakeTensorMode()
        made = [
            base,
            dispatch.zeros(0, 3),
            dispatch.tensor(2),
            dispatch.ones(2, 3, dtype=dispatch.int64),
            base.t(),
            dispatch.empty(2, 3, device="meta"),
            dispatch.ones(2, 3, dtype=dispatch.complex64).conj(),
            dispatch.ones(2, 3, requires_grad=True),
            wrapper,
            _Transient(),
            mode.from_tensor(base),
            dispatch.ones(1, dtype=dispatch.bool),
            dispatch.zeros(1, 1, 1, 1, 1, 1, 1),
        ]
        with contextlib.suppress(Exception):
            made.append(_C._to_functional_tensor(base))
        with contextlib.suppress(Exception):
            made.append(_C._to_functional_tensor(dispatch.ones(4)))
        self.fake_mode = mode
        return made

    def _operators(self) -> list[Any]:
        found = [ops.fuzz.f.default, ops.fuzz.g.default, ops.fuzz.h.default, ops.fuzz2.k.default]
        names = self.rng.sample(_C._emitted_names(), 60)
        for name in names:
            space, _, rest = name.partition("::")
            packet, _, overload = rest.partition(".")
            found.append(getattr(getattr(getattr(ops, space), packet), overload or "default"))
        return found

    # -- what acts -------------------------------------------------------------------------------

    def _act(self) -> None:
        kind = self.rng.randrange(8)
        with contextlib.suppress(Exception):
            if kind == 0:
                for items in self.lists:
                    items.clear()
            elif kind == 1:
                for items in self.lists:
                    items.extend([None] * 50)
            elif kind == 2:
                self.rng.choice(self.libraries)._destroy()
            elif kind == 3:
                _C._push_on_torch_dispatch_stack(_Mode())
            elif kind == 4:
                _C._pop_torch_dispatch_stack()
            elif kind == 5:
                self.rng.choice(self.tensors).resize_(self.rng.choice((0, 1, 1000)))
            elif kind == 6:
                self.tensors[0].untyped_storage().resize_(self.rng.choice((0, 4, 4096)))
            else:
                self.libraries.append(library.Library("fuzz", "FRAGMENT"))
                self.libraries[-1].define(f"n{len(self.libraries)}(Tensor x) -> Tensor")

    def _actor(self) -> Any:
        return _Actor(self._act, self.rng.choice((0, 1, 2, -1, 2**70, None, "x", 1.5)))

    # -- values ----------------------------------------------------------------------------------

    def offer(self, value: Any) -> None:
        """A result that later calls may be given."""
        self.offered.append(value)

    def tensor(self) -> Any:
        return self.rng.choice(self.tensors)

    def operator(self) -> Any:
        return self.rng.choice(self.operators)

    def key(self) -> Any:
        return getattr(DispatchKey, self.rng.choice(_KEYS), DispatchKey.CPU)

    def key_set(self) -> Any:
        keys = DispatchKeySet(DispatchKey.CPU)
        for _ in range(self.rng.randrange(3)):
            with contextlib.suppress(Exception):
                keys = keys.add(self.key())
        return keys

    def number(self) -> int:
        return self.rng.choice(_INTS)

    def items(self) -> list[Any]:
        made = [
            self.rng.choice((self.number, self.tensor, self._actor, self.plain))()
            for _ in range(self.rng.randrange(4))
        ]
        self.lists.append(made)
        return made

    def mode(self) -> Any:
        return self.rng.choice((_Mode, _FunctionMode, _PoppingMode, FakeTensorMode))()

    def guard(self) -> Any:
        """A context in which calls take another way."""
        make = self.rng.choice(
            (
                _C._DisableTorchDispatch,
                self.mode,
                lambda: _C._ExcludeDispatchKeyGuard(self.key_set()),
                lambda: _C._IncludeDispatchKeyGuard(self.key()),
                lambda: _C._ForceDispatchKeyGuard(self.key_set(), self.key_set()),
                dispatch.no_grad,
                dispatch.inference_mode,
            )
        )
        try:
            return make()
        except Exception:
            return contextlib.nullcontext()

    def plain(self) -> Any:
        return self.rng.choice(
            (
                None,
                True,
                1.5,
                float("nan"),
                b"x",
                2j,
                object(),
                type,
                (),
                {},
                set(),
                slice(None),
                lambda *args, **kwargs: args[0] if args else None,
            )
        )

    def known(self) -> Any:
        """An object of ours; making one may fail under the modes that earlier calls left."""
        make = self.rng.choice(
            (
                self.tensor,
                self.operator,
                self.key,
                self.key_set,
                self.mode,
                self.guard,
                lambda: self.rng.choice(self.libraries),
                lambda: self.operator()._schema,
                lambda: ops,
                lambda: ops.fuzz,
                lambda: ops.aten.add,
                lambda: self.operator()._overloadpacket,
                lambda: self.tensor().untyped_storage(),
                lambda: self.tensor().shape,
                lambda: dispatch.device("cpu"),
                lambda: dispatch.float32,
                lambda: dispatch.strided,
                lambda: self.fake_mode,
                lambda: _C._dispatch_library("FRAGMENT", "fuzz", "", "api.py", 1),
            )
        )
        try:
            return make()
        except Exception:
            return None

    def any(self) -> Any:
        kind = self.rng.randrange(12)
        if kind == 0:
            return self._actor()
        if kind == 1:
            return self.rng.choice((_Wrapper, _Transient, Tensor, int, FakeTensorMode))
        if kind == 2 and self.offered:
            return self.rng.choice(self.offered)
        makers = (
            self.tensor,
            self.number,
            self.items,
            self.plain,
            self.known,
            lambda: self.rng.choice(_WORDS),
        )
        try:
            return makers[kind % len(makers)]()
        except Exception:
            return None

    # -- whole calls -----------------------------------------------------------------------------

    def given(self, function: Any) -> tuple[list[Any], dict[str, Any]]:
        """Arguments by the names of the parameters where these tell a kind, else anything."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except Exception:
            return [self.any() for _ in range(self.rng.randrange(5))], {}
        args, kwargs = [], {}
        for p in parameters:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                args += [self.any()] if p.kind == p.VAR_POSITIONAL and not kwargs else []
                continue
            if p.default is not p.empty and self.rng.random() < 0.5:
                if p.kind != p.KEYWORD_ONLY:
                    break
                continue
            value = self.named(p.name) if self.rng.random() < 0.7 else self.any()
            if p.kind == p.KEYWORD_ONLY:
                kwargs[p.name] = value
            else:
                args.append(value)
        if self.rng.random() < 0.1:
            args = args[:-1] if args else [None]
        return args, kwargs

    def named(self, name: str) -> Any:
        """A value of the kind that a parameter of this name takes."""
        low = name.lower()
        for words, make in self._by_name:
            if any(word in low for word in words):
                with contextlib.suppress(Exception):
                    return make(self)
        return self.any()

    _by_name: tuple[tuple[tuple[str, ...], Callable[["Arguments"], Any]], ...] = (
        (("keyset", "key_set", "keys", "include", "exclude"), lambda s: s.key_set()),
        (("key",), lambda s: s.rng.choice((s.key(), s.key().name))),
        (
            ("tensor", "self", "input", "base", "source", "t"),
            lambda s: s.tensor() if s.rng.random() < 0.5 else s.any(),
        ),
        (("size", "stride", "dims", "shape"), lambda s: s.items()),
        (("op", "func", "fn"), lambda s: s.rng.choice((s.operator(), s.plain(), s._actor()))),
        (("name", "schema", "str", "ns"), lambda s: s.rng.choice(_WORDS)),
        (("mode",), lambda s: s.mode()),
        (("n", "index", "dim", "offset"), lambda s: s.number()),
        (("args",), lambda s: tuple(s.items())),
        (("kwargs",), lambda s: {}),
        (("dtype",), lambda s: dispatch.int64),
        (("device",), lambda s: s.rng.choice(("cpu", "meta", dispatch.device("cuda", 3)))),
        (("cls", "type"), lambda s: s.rng.choice((_Wrapper, _Transient, Tensor, int))),
    )

    def for_schema(self, op: Any) -> tuple[list[Any], dict[str, Any]]:
        """Arguments of the operator's types, mostly."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for a in op._schema.arguments:
            if a.has_default_value() and self.rng.random() < 0.6:
                continue
            value = self._typed(str(a.type)) if self.rng.random() < 0.9 else self.any()
            if a.kwarg_only or len(args) < op._schema.arguments.index(a):
                kwargs[a.name] = value
            else:
                args.append(value)
        return args, kwargs

    def _typed(self, kind: str) -> Any:
        if "Tensor" in kind and ("List" in kind or "[" in kind):
            made = [self.tensor() for _ in range(self.rng.randrange(1, 4))]
            self.lists.append(made)
            return made
        if "Tensor" in kind:
            return self.tensor()
        if "List" in kind or "[" in kind:
            return self.rng.choice(([0], [1], [0, 1], [2, 3], [-1], [6], [], self.items()))
        if "int" in kind.lower():
            return self.rng.choice((0, 1, -1, 2, 0, 1, self.number(), self._actor()))
        if "bool" in kind:
            return self.rng.choice((True, False))
        if "float" in kind or "Scalar" in kind or "number" in kind:
            return self.rng.choice((0, 1, 0.5, 2, float("inf"), 1j, self.number()))
        if "str" in kind:
            return self.rng.choice(("none", "mean", *_WORDS))
        return self.rng.choice((None, self.any()))
