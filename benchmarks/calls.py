"""The rows that both systems have: the same statements over either one's names."""

from collections.abc import Callable
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import Any

from .rows import Row, nothing

__all__ = ["rows"]


def _add(api: SimpleNamespace, x: object, y: object, **context: Any) -> Row:
    return Row("op(x, y)", {"op": api.ops.aten.add.Tensor, "x": x, "y": y}, **context)


def _yardstick(api: SimpleNamespace) -> Row:
    return Row("nothing()", {"nothing": nothing})


def _plain_add(api: SimpleNamespace) -> Row:
    return _add(api, api.T.ones(2, 3), api.T.ones(2, 3))


def _packet(api: SimpleNamespace) -> Row:
    names = {"op": api.ops.aten.add, "x": api.T.ones(2, 3), "y": api.T.ones(2, 3)}
    return Row("op(x, y)", names)


def _meta_add(api: SimpleNamespace) -> Row:
    return _add(api, api.T.ones(2, 3, device="meta"), api.T.ones(2, 3, device="meta"))


def _python_kernel(api: SimpleNamespace) -> Row:
    library = api.Library("bench", "DEF")
    library.define("same(Tensor x) -> Tensor")
    library.impl("same", lambda x: x, "CPU")
    names = {"op": api.ops.bench.same.default, "x": api.T.ones(2, 3), "library": library}
    return Row("op(x)", names)


def _ten_tensors(api: SimpleNamespace) -> Row:
    library = api.Library("bench_ten", "DEF")
    given = ", ".join(f"Tensor x{i}" for i in range(10))
    library.define(f"three({given}) -> (Tensor, Tensor, Tensor)")
    library.impl("three", lambda *x: (x[0], x[1], x[2]), "CPU")
    names = {"op": api.ops.bench_ten.three.default, "x": api.T.ones(2, 3), "library": library}
    return Row("op(x, x, x, x, x, x, x, x, x, x)", names)


def _autograd_kernel(api: SimpleNamespace) -> Row:
    library = api.Library("bench_autograd", "DEF")
    library.define("same(Tensor x) -> Tensor")
    op, below = api.ops.bench_autograd.same.default, api.below_autograd

    def autograd(keys: Any, x: object) -> object:
        return op.redispatch(keys & below, x)

    library.impl("same", autograd, "Autograd", with_keyset=True)
    library.impl("same", lambda x: x, "CPU")
    return Row("op(x)", {"op": op, "x": api.T.ones(2, 3), "library": library})


def _view(api: SimpleNamespace) -> Row:
    names = {"op": api.ops.aten.view.default, "x": api.T.ones(2, 3), "size": [3, 2]}
    return Row("op(x, size)", names)


def _statement(api: SimpleNamespace, statement: str) -> Row:
    return Row(statement, {"x": api.T.ones(2, 3), "add": api.T.add, "empty": api.T.empty})


def _mode(api: SimpleNamespace) -> Row:
    class PassThrough(api.TorchDispatchMode):  # type: ignore[name-defined]
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    return _add(api, api.T.ones(2, 3), api.T.ones(2, 3), context=PassThrough)


def _mode_constant(api: SimpleNamespace) -> Row:
    class Constant(api.TorchDispatchMode):  # type: ignore[name-defined]
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return made

    made = api.T.ones(2, 3)
    return _add(api, api.T.ones(2, 3), api.T.ones(2, 3), context=Constant)


def _subclass(api: SimpleNamespace) -> Row:
    class Same(api.T.Tensor):  # type: ignore[name-defined]
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return args[0]

    return _add(api, api.T.ones(2, 3).as_subclass(Same), api.T.ones(2, 3))


def _key_sets(api: SimpleNamespace, sign: str) -> Row:
    a, b = (api.DispatchKeySet(getattr(api.DispatchKey, k)) for k in ("CPU", "AutogradCPU"))
    return Row(f"a {sign} b", {"a": a, "b": b})


def _highest_key(api: SimpleNamespace) -> Row:
    keys = api.DispatchKeySet(api.DispatchKey.CPU)
    return Row("highest()", {"highest": keys.highestPriorityTypeId})


def _define(api: SimpleNamespace) -> Row:
    library = api.Library("bench_define", "DEF")
    numbers = count()

    def define() -> None:
        name = f"f{next(numbers)}"
        library.define(name + "(Tensor x, int n=1) -> Tensor")
        library.impl(name, nothing, "CPU")

    return Row("define()", {"define": define, "library": library})


def _fake(
    api: SimpleNamespace, statement: str, op: Any, cache: bool = True, **names: object
) -> Row:
    mode = api.fake_mode(cache)
    x, y = (mode.from_tensor(api.T.ones(2, 3)) for _ in range(2))
    names = {"op": op, "x": x, "y": y, **names}
    return Row(statement, names, lambda: mode)


def _fake_factory(api: SimpleNamespace) -> Row:
    mode = api.fake_mode(True)
    return Row("op(2, 3)", {"op": api.T.empty}, lambda: mode)


def _from_new(api: SimpleNamespace) -> Row:
    mode, x = api.fake_mode(True), api.T.ones(2, 3)
    return Row("convert(x.detach())", {"convert": mode.from_tensor, "x": x})


def _from_known(api: SimpleNamespace) -> Row:
    mode, x = api.fake_mode(True), api.T.ones(2, 3)
    return Row("convert(x)", {"convert": mode.from_tensor, "x": x, "held": mode.from_tensor(x)})


def rows(api: SimpleNamespace) -> dict[str, Callable[[], Row]]:
    """Name -> what sets the row up.

    Args:
        api: T (the package), ops, Library, TorchDispatchMode, DispatchKey, DispatchKeySet,
            below_autograd (a key set), fake_mode(cache: bool, env=None).
    """
    aten = api.ops.aten
    return {
        "yardstick": partial(_yardstick, api),
        "add": partial(_plain_add, api),
        "packet": partial(_packet, api),
        "view": partial(_view, api),
        "plus": partial(_statement, api, "x + x"),
        "first_row": partial(_statement, api, "x[0]"),
        "sum": partial(_statement, api, "x.sum()"),
        "view_method": partial(_statement, api, "x.view(6)"),
        "detach": partial(_statement, api, "x.detach()"),
        "shape": partial(_statement, api, "x.shape"),
        "factory": partial(_statement, api, "empty(2, 3)"),
        "function": partial(_statement, api, "add(x, x)"),
        "meta_add": partial(_meta_add, api),
        "python_kernel": partial(_python_kernel, api),
        "ten_tensors": partial(_ten_tensors, api),
        "autograd_kernel": partial(_autograd_kernel, api),
        "mode": partial(_mode, api),
        "mode_constant": partial(_mode_constant, api),
        "subclass": partial(_subclass, api),
        "keys_or": partial(_key_sets, api, "|"),
        "keys_and": partial(_key_sets, api, "&"),
        "highest_key": partial(_highest_key, api),
        "define": partial(_define, api),
        "fake_add": partial(_fake, api, "op(x, y)", aten.add.Tensor),
        "fake_add_scalar": partial(_fake, api, "op(x, 1)", aten.add.Tensor),
        "fake_view": partial(_fake, api, "op(x, size)", aten.view.default, size=[3, 2]),
        "fake_sum": partial(_fake, api, "op(x, dims)", aten.sum.dim_IntList, dims=[1]),
        "fake_add_uncached": partial(_fake, api, "op(x, y)", aten.add.Tensor, cache=False),
        "fake_factory": partial(_fake_factory, api),
        "from_new": partial(_from_new, api),
        "from_known": partial(_from_known, api),
    }
