"""What programs of several areas use: modes that log, operators that log, values as text."""

import warnings
from typing import Any

import numpy as np


class MyInt(int):
    pass


def seen(v):
    """A value with its type, containers with those of their items."""
    if type(v) in (list, tuple):
        return f"{type(v).__name__}[{', '.join(map(seen, v))}]"
    if type(v) is dict:
        return "dict{" + ", ".join(f"{seen(k)}: {seen(x)}" for k, x in v.items()) + "}"
    if hasattr(v, "storage_offset"):
        return f"Tensor{tuple(v.shape)}"
    text = str(v).replace("torch.", "").replace("dispatch.", "")
    if type(v).__name__ == "Generator":
        text = ""
    return f"{type(v).__name__}:{text}"


def logging_operator(s, log, ns, schema, result=None):
    """An operator `ns::f` of the schema whose kernel logs what it gets."""
    lib = s.library.Library(ns, "FRAGMENT")
    lib.define("f" + schema)

    def kernel(*args, **kwargs):
        kw = ", ".join(f"{k}={seen(v)}" for k, v in sorted(kwargs.items()))
        log("  got", ", ".join(map(seen, args)), "|", kw)
        return result

    lib.impl("f", kernel, "CompositeExplicitAutograd")
    return lib, getattr(s.ops, ns).f


def multiplying_op(s, name, mutates_args=(), **kw):
    def f(x: s.Tensor, n: int = 2) -> s.Tensor:
        return x * n

    return s.library.custom_op(name, f, mutates_args=mutates_args, **kw)


def doubling_op(s, ns, name="sin", **kwargs):
    @s.library.custom_op(f"{ns}::{name}", mutates_args=kwargs.pop("mutates_args", ()), **kwargs)
    def f(x: s.Tensor) -> s.Tensor:
        return x * 2

    return f


def logging_mode(s: Any, log: Any, tag: str = "") -> Any:
    class Logging(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(tag, func, list(types), args, kwargs or {})
            return func(*args, **(kwargs or {}))

    return Logging()


def name_of(func: Any) -> str:
    if type(func).__name__ in ("OpOverload", "OpOverloadPacket"):
        return str(func)
    return getattr(func, "__name__", type(func).__name__)


def described(log: Any, value: Any) -> str:
    """Tensors without their values; the class of named results."""
    if isinstance(value, log.side.Tensor):
        text = log.tensor(value.detach() if value.device.type == "meta" else value)
        kind, _, rest = text.partition("<")
        words = rest.rstrip(">").split(" [")[0]
        return f"{kind}<{words}>"
    if type(value) in (list, tuple) or type(value).__name__ == "Size":
        inner = ", ".join(described(log, v) for v in value)
        return f"[{inner}]" if type(value) is list else f"({inner})"
    if isinstance(value, tuple):
        return f"{type(value).__name__}({', '.join(described(log, v) for v in value)})"
    return str(log.show(value))


def names_for_calls(s: Any) -> dict[str, Any]:
    T = s.T
    return {
        "T": T,
        "np": np,
        "x": T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "y": T.tensor([[2.0, 2.0, 2.0], [3.0, 3.0, 3.0]]),
        "i": T.tensor([[1, 2, 3], [4, 5, 6]]),
        "b": T.tensor([[True, False, True], [False, True, False]]),
        "v": T.tensor([1.0, 2.0, 3.0]),
        "s": T.tensor(2.0),
        "z": T.tensor(1),
        "c": T.tensor([1 + 2j, 3 - 1j]),
        "m": T.tensor([[1.0, 0.0], [0.0, 1.0]]),
        "idx": T.tensor([0, 1]),
        "e": T.empty(0),
        "g": T.tensor([1.0, 2.0], requires_grad=True),
        "x4": T.ones(1, 2, 3, 4),
        "d": T.tensor([1.0, 2.0], dtype=T.float64),
        "L": [T.ones(2), T.zeros(2)],
        "meta": T.empty(2, 3, device="meta"),
    }


def show_calls(s: Any, log: Any, calls: str) -> None:
    """Each line of `calls` under a mode that logs operators; `r` is the result of statements."""

    class Shown(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            given = [described(log, a) for a in args]
            given += [f"{k}={described(log, v)}" for k, v in (kwargs or {}).items()]
            seen.append(f"{func}({', '.join(given)})")
            return func(*args, **(kwargs or {}))

    warnings.simplefilter("ignore")
    for call in filter(None, map(str.strip, calls.splitlines())):
        names, seen = names_for_calls(s), []
        s.T.manual_seed(0)
        try:
            with Shown():
                if ";" in call:
                    exec(call, names)
                    result = names["r"]
                else:
                    result = eval(call, names)
            text = None
        except Exception as error:
            text = f"raises {type(error).__name__}"
        log(call, "->", text or described(log, result), *[f"| {line}" for line in seen])
