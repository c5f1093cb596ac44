"""Replays recorded calls: metadata of fake outputs, computed dispatch tables.

A record is one JSON object (`select_cases.py` says where it comes from): `overload`, `args` and
`kwargs` with `{"t": i}` for tensor i, `storages`, `tensors`, and under `fake` what PyTorch's
FakeTensorMode answered or raised. `replay_fake` returns what is wrong, or "".
Values play no part: storages are made without contents.
"""

import math
from typing import Any

import dispatch
from dispatch import _C, FakeTensorMode, Tensor, ops
from dispatch._C.arrays import _new_strided
from dispatch._C.storage import _new_storage
from dispatch._ops import resolve_key
from dispatch.library import Library, fallthrough_kernel

__all__ = [
    "decoded",
    "encoded",
    "find_overload",
    "replay_fake",
    "replay_table",
    "wrong_metadata",
]


def find_overload(name: str) -> Any:
    """The overload `ns::name.overload`; None when this library has none."""
    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(ops, namespace), packet), overload or "default")
    except AttributeError:
        return None


def _float(value: Any) -> float:
    return float(value["float"]) if isinstance(value, dict) else float(value)


def decoded(value: Any, tensors: list[Tensor]) -> Any:
    """A recorded argument."""
    if isinstance(value, list):
        return [decoded(v, tensors) for v in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "t":
        return tensors[content]
    if kind == "float":
        return float(content)
    if kind == "complex":
        return complex(_float(content[0]), _float(content[1]))
    return dispatch.device(content) if kind == "device" else getattr(dispatch, content)


def _tensors(case: dict[str, Any]) -> list[Tensor]:
    storages = [
        _new_storage(s["numel"] * getattr(dispatch, s["dtype"]).itemsize) for s in case["storages"]
    ]
    return [
        _new_strided(
            storages[t["storage"]],
            getattr(dispatch, t["dtype"]),
            t["shape"],
            t["stride"],
            t["offset"],
        )
        for t in case["tensors"]
    ]


def encoded(value: Any, outs: list[Tensor]) -> Any:
    """The structure of a result, its tensors numbered."""
    if isinstance(value, Tensor):
        outs.append(value)
        return {"o": len(outs) - 1}
    if isinstance(value, (list, tuple)):
        return [encoded(v, outs) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    for kind in ("dtype", "layout", "memory_format", "device"):
        if isinstance(value, getattr(dispatch, kind)):
            return {kind: str(value).rpartition(".")[2]}
    return value


def wrong_metadata(want: dict[str, Any], got: Tensor) -> str:
    """What differs in dtype, shape, strides (of dimensions longer than one) or offset."""
    have = {
        "dtype": str(got.dtype).rpartition(".")[2],
        "shape": list(got.shape),
        "offset": got.storage_offset(),
    }
    for key, value in have.items():
        if value != want[key]:
            return f"{key}: want {want[key]}, got {value}"
    steps = zip(want["stride"], got.stride(), want["shape"], strict=True)
    if 0 not in want["shape"] and any(a != b for a, b, n in steps if n > 1):
        return f"stride of {want['shape']}: want {want['stride']}, got {list(got.stride())}"
    return ""


def replay_fake(case: dict[str, Any]) -> str:
    """Run the call on fake tensors."""
    want = case["fake"]
    mode = FakeTensorMode()
    try:  # a record that raises may be refused when its tensors are made
        real = _tensors(case)
        fakes = [mode.from_tensor(t) for t in real]
        args = decoded(case["args"], fakes)
        kwargs = {name: decoded(v, fakes) for name, v in case["kwargs"].items()}
        with mode, dispatch.no_grad():
            result = find_overload(case["overload"])(*args, **kwargs)
    except Exception as error:
        if type(error).__name__ == want.get("exc"):
            return ""
        return f"want {want.get('exc', 'a result')}, got {type(error).__name__}: {str(error)[:200]}"
    if "exc" in want:
        return f"want {want['exc']}, got a result"
    outs: list[Tensor] = []
    structure = encoded(result, outs)
    if structure != want["result"]:
        return f"structure: want {want['result']}, got {structure}"
    for expected, out in zip(want["outs"], outs, strict=True):
        same = next((i for i, t in enumerate(fakes) if out is t), None)
        wrong = wrong_metadata(expected, out)
        if not wrong and same != expected.get("is"):
            wrong = f"output is argument tensor {same}, want {expected.get('is')}"
        if wrong:
            return wrong
    return ""


def _dumped(name: str) -> dict[str, tuple[str, bool]]:
    return {key: (why, fall) for key, _, why, fall in _C._dispatch_table(name)}


def _resolved(op: Any, key: str) -> str:
    try:
        return _C._dispatch_key_name(resolve_key(op, dispatch.DispatchKey.__members__[key]))
    except (NotImplementedError, RuntimeError) as error:
        return f"error: {type(error).__name__}"


def replay_table(case: dict[str, Any]) -> str:
    """Register what the case says; compare the computed table and `resolve_key`."""
    lib = Library("conformance_table", "DEF")
    try:
        lib.define("f(Tensor x) -> Tensor")
        for r in case["registrations"]:
            kernel = fallthrough_kernel if r["fallthrough"] else (lambda x: x)
            try:
                lib.impl("f", kernel, r["key"])
            except Exception as error:
                if "error" not in r:
                    return f"registration {r['key']}: {type(error).__name__}: {error}"
            else:
                if "error" in r:
                    return f"registration {r['key']} must be refused"
        got = _dumped("conformance_table::f")
        want = {k: (v["how"], v["fallthrough"]) for k, v in case["computed_table"].items()}
        if got != want:
            differ = {k for k in got.keys() | want.keys() if got.get(k) != want.get(k)}
            return f"table: {sorted(differ)[:5]}"
        op = ops.conformance_table.f.default
        for key, answer in case["resolve_key"].items():
            short = ": ".join(answer.split(": ")[:2]) if answer.startswith("error") else answer
            if (have := _resolved(op, key)) != short:
                return f"resolve_key {key}: want {answer}, got {have}"
        return ""
    finally:
        lib._destroy()
