"""Replays recorded calls on the CPU: values, metadata and aliasing of results, what the call wrote.

A record is one of `replay`'s, with contents: `storages` and results name arrays by number,
`unpacked` gives their bytes. `replay_value` returns what is wrong, or "". Floats may differ by what
right implementations differ by: a few units of the last place of sums in another order, and
four times what PyTorch's own answer differs by between precisions (`noise`).
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import dispatch
from dispatch import Tensor, ops
from dispatch._C.arrays import _new_strided
from dispatch._C.storage import _new_storage
from tests.conformance.replay import decoded, encoded, find_overload, wrong_metadata

__all__ = ["replay_value", "unpacked"]

Arrays = Mapping[int, np.ndarray[Any, Any]]

_TOLERANCE = {
    "float32": (1e-5, 1e-6),
    "bfloat16": (1e-2, 1e-2),
    "float16": (1e-3, 1e-3),
    "float64": (1e-7, 1e-9),
    "complex64": (1e-5, 1e-6),
    "complex128": (1e-7, 1e-9),
}
_NOISE = 4.0


def unpacked(texts: Sequence[str]) -> dict[int, np.ndarray[Any, Any]]:
    """The bytes of numbered arrays."""
    decoded_texts = map(base64.b64decode, texts)
    return {i: np.frombuffer(data, np.uint8) for i, data in enumerate(decoded_texts)}


def _bytes_of(tensor: Tensor) -> np.ndarray[Any, Any]:
    """All bytes of the tensor's storage, as they lie."""
    storage = tensor.untyped_storage()
    return _new_strided(storage, dispatch.uint8, [storage.nbytes()], [1], 0).numpy()


def _made(case: dict[str, Any], arrays: Arrays) -> list[Tensor]:
    storages = []
    for s in case["storages"]:
        storage = _new_storage(s["numel"] * getattr(dispatch, s["dtype"]).itemsize)
        whole = _new_strided(storage, dispatch.uint8, [storage.nbytes()], [1], 0)
        whole.numpy()[:] = arrays[s["a"]]
        storages.append(storage)
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


def _numbers(data: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    """Bytes as numbers that numpy compares: bfloat16 as float32, what numpy lacks as bits."""
    if dtype == "bfloat16":
        return (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    if dtype.startswith("float8"):
        return data
    return data.view(np.dtype(dtype))


def _close(want: np.ndarray[Any, Any], got: np.ndarray[Any, Any], rtol: float, atol: float) -> bool:
    size = np.abs(want)
    bound = atol + rtol * np.where(np.isfinite(size), size, 0)
    parts = [(want.real, got.real)]
    if want.dtype.kind == "c":
        parts.append((want.imag, got.imag))
    with np.errstate(all="ignore"):
        return all(
            np.where(
                np.isfinite(a) & np.isfinite(b),
                np.abs(a.astype(np.float64) - b.astype(np.float64)) <= bound,
                (a == b) | (np.isnan(a) & np.isnan(b)),
            ).all()
            for a, b in parts
        )


def _wrong_values(want: dict[str, Any], arrays: Arrays, got: Tensor) -> str:
    dtype = want["dtype"]
    plain = got.detach().resolve_conj().resolve_neg().contiguous().clone()
    a, b = _numbers(arrays[want["a"]], dtype), _numbers(_bytes_of(plain), dtype)
    if dtype not in _TOLERANCE:
        same = bool((a == b).all())
    else:
        rtol, atol = _TOLERANCE[dtype]
        finite = np.abs(a[np.isfinite(a)])
        noise = want.get("noise", [0])[0]
        if noise < 1e-2 * (1 + float(finite.max(initial=0))):
            atol += _NOISE * noise
        same = _close(a, b, rtol, atol)
    return "" if same else f"values: want {a.tolist()[:20]}, got {b.tolist()[:20]}"


def _wrong_aliasing(want: dict[str, Any], got: Tensor, given: list[Tensor]) -> str:
    same = next((i for i, t in enumerate(given) if got is t), None)
    if same != want.get("is"):
        return f"is argument tensor {same}, want {want.get('is')}"
    mine = got.untyped_storage()._cdata
    shared = {i for i, t in enumerate(given) if t.untyped_storage()._cdata == mine}
    if ("alias_of" in want) != bool(shared) or (
        "alias_of" in want and want["alias_of"] not in shared
    ):
        return f"shares the storage of {shared}, want {want.get('alias_of')}"
    return ""


def _same_structure(want: Any, got: Any) -> bool:
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(map(_same_structure, want, got))
    if isinstance(got, complex):
        want = decoded(want, [])
    if isinstance(got, (float, complex)) and type(want) is type(got):
        return bool(np.isclose(want, got, 1e-5, 1e-6, equal_nan=True))
    return type(want) is type(got) and bool(want == got)


def _wrong_results(case: dict[str, Any], arrays: Arrays, result: Any, given: list[Tensor]) -> str:
    outs: list[Tensor] = []
    structure = encoded(result, outs)
    if not _same_structure(case["result"], structure):
        return f"structure: want {case['result']}, got {structure}"
    checked = [
        (f"output {i}", *pair) for i, pair in enumerate(zip(case["outs"], outs, strict=True))
    ]
    checked += [(f"argument tensor {p['t']}", p, given[p["t"]]) for p in case["post"]]
    for name, want, got in checked:
        wrong = wrong_metadata(want, got)
        if not wrong and case["values"]:
            wrong = _wrong_values(want, arrays, got)
        if not wrong and name.startswith("output"):
            wrong = _wrong_aliasing(want, got, given)
        if wrong:
            return f"{name}: {wrong}"
    written = {case["tensors"][p["t"]]["storage"] for p in case["post"]}
    for i, t in enumerate(case["tensors"]):
        if t["storage"] not in written:
            before = arrays[case["storages"][t["storage"]]["a"]]
            if wrong_metadata(t, given[i]) or not np.array_equal(_bytes_of(given[i]), before):
                return f"argument tensor {i} was changed"
    return ""


def replay_value(case: dict[str, Any], arrays: Arrays) -> str:
    """Make the call of a record, or the call that must fail."""
    if case["overload"]:
        op = find_overload(case["overload"])
    else:
        namespace, _, packet = case["packet"].partition("::")
        op = getattr(getattr(ops, namespace), packet)
    dispatch.manual_seed(0)
    want = case.get("error")
    try:  # a call that must fail may be refused when its tensors are made
        given = _made(case, arrays)
        args = decoded(case["args"], given)
        kwargs = {name: decoded(v, given) for name, v in case["kwargs"].items()}
        with dispatch.no_grad():
            result = op(*args, **kwargs)
    except Exception as error:
        if want == type(error).__name__:
            return ""
        return f"want {want or 'a result'}, got {type(error).__name__}: {str(error)[:200]}"
    if want is not None:
        return f"want {want}, got a result"
    return _wrong_results(case, arrays, result, given)
