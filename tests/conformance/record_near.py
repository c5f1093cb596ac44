"""Records calls that are nearly right: `TORCH_PYTHON -m tests.conformance.record_near FROM TO`.

Needs PyTorch; FROM is the folder that `select_cases` reads, TO a new one. Of recorded calls one
thing is changed: a size, a dtype, a number, a truth value, the length of a list, an argument left
out. Each is made on fake tensors and on the CPU, where storages hold small numbers that tell the
place; recorded is what came back (of the CPU's results the sum of absolute values) or the type of
the error. `select_near` chooses those that the tests carry. Operators without a recorded call are
called with arguments drawn after their schemas until some fit.
"""

import hashlib
import json
import logging
import math
import os
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

__all__ = ["answer", "main", "order"]

TRIES = 40  # draws of arguments of an operator without a recorded call
BASES = 2  # recorded calls of an overload that are changed
MADE = 14  # calls that a recorded one is changed into
# Operators whose shape rules have something to refuse.
_FAMILIES = re.compile(
    "conv|pool|norm|scatter|gather|index|mm$|bmm|matmul|addmv|addr|baddbmm|dot|mv$|fft|attention|"
    "upsample|pad|unfold|fold|im2col|col2im|cross|cdist|embedding|loss|nll|ctc|stack|cat|split|chunk|"
    "roll|flip|repeat|tile|diag|tri|cum|sort|topk|kthvalue|median|mode|quantile|search|bucketize|"
    "histc|bincount|unique|where|take|put|masked|select|slice|narrow|squeeze|permute|transpose|view|"
    "expand|reshape|strided|linalg|cholesky|solve|lu|qr|svd|eig|det|inverse|grid|shuffle|glu|prelu|"
    "softmax|one_hot|range|linspace|logspace|eye|full|var|std|logsumexp|amax|amin|aminmax|argm|renorm|"
    "polar|complex|lerp|clamp|bernoulli|multinomial|ormqr|householder|tensordot|einsum|kron|vander"
)
_NOT_DRAWN = re.compile(
    "rand|empty|dropout|bernoulli|multinomial|normal|cauchy|exponential|geometric|poisson|binomial|"
    "cuda|cudnn|miopen|mkldnn|sparse|quant|nested|jagged|foreach|fused|fbgemm|xnnpack|mps|resize|"
    "set_|storage|record_stream|pin_memory|is_pinned|rename|_dimI|sobol|sym_|_assert|_print|lift|"
    "backward|_thnn|cholesky|lu_|qr|svd|eig|lstsq|ormqr|geqrf|triangular|ldl|dirichlet|gamma|"
    "_to_cpu|_cslt|_test|_coalesc|indices|values|crow|ccol|functional_|symeig|from_file|version|"
    "_wrapped|cudnn|wait|debug|data$|grad|retain|output_nr|names|align|unsafe_|rrelu|new_"
)
_SHAPES = [[4], [3, 4], [3, 3], [2, 3, 4], [2, 3, 3], [1, 2, 5, 5]]
_DTYPES = ("float64", "int64", "bool", "complex64", "bfloat16")


def _content(count: int) -> list[int]:
    """What a storage of `count` elements holds."""
    return [k * 7 % 5 + 1 for k in range(count)]


def _changed_tensor(t: dict[str, Any]) -> Iterator[dict[str, Any]]:
    shape = t["shape"]
    shapes = [[2, *shape], shape[:-1], [*shape[:-1], *(n + 1 for n in shape[-1:])]]
    shapes += [[*(0 for _ in shape[:1]), *shape[1:]], [*(n + 1 for n in shape[:1]), *shape[1:]]]
    shapes += [[*shape[:-2], *shape[-2:][::-1]], [1 for _ in shape]]
    for new in shapes:
        if new != shape:
            yield t | {"shape": new}
    for dtype in _DTYPES:
        if dtype != t["dtype"]:
            yield t | {"dtype": dtype}


def _changed_value(value: Any) -> Iterator[Any]:
    """Other values of an argument that is no tensor."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from {value + 1, value - 1, -value, 100, -100, 0} - {value}
    elif isinstance(value, float):
        yield from (-value, 0.0, value + 1, 100.0)
    elif isinstance(value, str):
        yield from ("none", "mean", "constant")
    elif isinstance(value, list):
        if value:
            yield value[:-1]
            yield [*value, value[-1]]
        for i, v in enumerate(value[:4]):
            yield from ([*value[:i], new, *value[i + 1 :]] for new in _changed_value(v))
    elif isinstance(value, dict) and "t" in value:
        yield None
    elif isinstance(value, dict) and "dtype" in value:
        yield from ({"dtype": name} for name in _DTYPES if name != value["dtype"])


def _changed(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Calls that differ from the recorded one in one thing."""
    calls = sorted(_all_changed(case), key=order)
    return calls[:MADE]


def order(call: dict[str, Any]) -> bytes:
    """One that says nothing, and stays."""
    return hashlib.sha1(
        json.dumps([call["args"], call["kwargs"], call["tensors"]]).encode()
    ).digest()


def _all_changed(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    base = {f: case[f] for f in ("overload", "args", "kwargs")}
    given = [{f: t[f] for f in ("dtype", "shape", "stride", "offset")} for t in case["tensors"]]
    base["tensors"] = given
    for i, t in enumerate(given):
        for new in _changed_tensor(t):
            steps, step = [], 1
            for n in reversed(new["shape"]):
                steps.insert(0, step)
                step *= max(n, 1)
            new = new | {"stride": steps, "offset": 0}
            yield base | {"tensors": [*given[:i], new, *given[i + 1 :]]}
    for i, value in enumerate(case["args"]):
        for new in _changed_value(value):
            yield base | {"args": [*case["args"][:i], new, *case["args"][i + 1 :]]}
    for name, value in case["kwargs"].items():
        for new in _changed_value(value):
            yield base | {"kwargs": case["kwargs"] | {name: new}}


def _drawn_tensor(rng: random.Random, name: str, shape: list[int]) -> dict[str, Any]:
    dtype = "float32"
    if re.search("ind(ex|ices)|target|offsets|lengths|mask|^tau|labels", name):
        dtype = "bool" if "mask" in name else "int64"
    elif rng.random() < 0.15:
        dtype = rng.choice(["int64", "float64", "complex64", "bool"])
    if rng.random() < 0.3:
        shape = rng.choice(_SHAPES)
    strides = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    return {"dtype": dtype, "shape": shape, "stride": strides, "offset": 0}


def _drawn_value(
    rng: random.Random, kind: str, shape: list[int], made: list[Any], name: str
) -> Any:
    """An argument of a type of schemas; tensors are put into `made`."""
    if kind.endswith("?"):
        return None if rng.random() < 0.6 else _drawn_value(rng, kind[:-1], shape, made, name)
    if kind == "Tensor":
        made.append(_drawn_tensor(rng, name, shape))
        return {"t": len(made) - 1}
    if kind.startswith(("Optional[", "List[")):
        inner = kind[kind.index("[") + 1 : -1]
        if kind.startswith("Optional["):
            return None if rng.random() < 0.6 else _drawn_value(rng, inner, shape, made, name)
        if inner == "int" and rng.random() < 0.3:
            return shape
        return [
            _drawn_value(rng, inner, shape, made, name) for _ in range(rng.choice((1, 2, 2, 3)))
        ]
    if kind == "int":
        return rng.choice((0, 0, 1, 1, 2, -1, 3))
    plain = {"float": 0.5, "number": 2, "Scalar": 2, "str": "mean", "bool": rng.random() < 0.5}
    if kind not in plain:
        raise LookupError(kind)
    return plain[kind]


def _drawn_call(rng: random.Random, op: Any, name: str) -> dict[str, Any]:
    """A call that the schema allows; most arguments with a default are left out."""
    shape, made, args, kwargs = rng.choice(_SHAPES), [], [], {}
    for a in op._schema.arguments:
        if a.has_default_value() and rng.random() < 0.6:
            continue
        value = _drawn_value(rng, str(a.type), shape, made, a.name)
        if a.is_out:
            made[-1] |= {"dtype": "float32", "shape": [0], "stride": [1]}
        if a.kwarg_only or len(args) < op._schema.arguments.index(a):
            kwargs[a.name] = value
        else:
            args.append(value)
    return {"overload": name, "args": args, "kwargs": kwargs, "tensors": made, "values": True}


def _drawn_cases(torch: Any, op: Any, name: str) -> list[dict[str, Any]]:
    """A few different calls that come back."""
    rng, found = random.Random(name), {}
    for _ in range(TRIES):
        try:
            call = _drawn_call(rng, op, name)
        except LookupError:
            return []
        told = answer(torch, op, call, None)
        if not isinstance(told, str):
            found.setdefault(json.dumps(told), call)
        if len(found) == BASES:
            break
    return list(found.values())


def _tensor(torch: Any, t: dict[str, Any]) -> Any:
    steps = zip(t["shape"], t["stride"], strict=True)
    span = t["offset"] + 1 + sum((n - 1) * step for n, step in steps if n)
    dtype = getattr(torch, t["dtype"])
    return torch.tensor(_content(span)).to(dtype).as_strided(t["shape"], t["stride"], t["offset"])


def _decoded(torch: Any, value: Any, tensors: list[Any]) -> Any:
    if isinstance(value, list):
        return [_decoded(torch, v, tensors) for v in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "t":
        return tensors[inner]
    if kind == "float":
        return float(inner)
    if kind == "complex":
        return complex(*(float(v["float"] if isinstance(v, dict) else v) for v in inner))
    return torch.device(inner) if kind == "device" else getattr(torch, inner)


def _told(torch: Any, result: Any, with_sums: bool) -> list[Any]:
    told: list[Any] = []
    for t in result if isinstance(result, (list, tuple)) else [result]:
        if not isinstance(t, torch.Tensor):
            told.append(t if isinstance(t, (int, str, type(None))) else str(type(t).__name__))
            continue
        steps = [0 if n <= 1 else s for n, s in zip(t.shape, t.stride(), strict=True)]
        if 0 in t.shape:
            steps = []
        told.append([str(t.dtype).rpartition(".")[2], list(t.shape), steps, t.storage_offset()])
        if with_sums:
            told[-1].append(_total(torch, t))
    return told


def _total(torch: Any, t: Any) -> float | str:
    """The sum of absolute values, as double precision has it."""
    wide = t.detach().resolve_conj().resolve_neg()
    wide = wide.to(torch.complex128 if wide.dtype.is_complex else torch.float64)
    found = float(torch.ops.aten.sum.default(torch.ops.aten.abs.default(wide)))
    return float(f"{found:.9g}") if abs(found) < 1e300 else "not finite"


def answer(torch: Any, op: Any, call: dict[str, Any], mode: Any) -> list[Any] | str:
    """What came back, or the type of the error (of arguments that no schema takes, "").

    On the CPU when `mode` is None.
    """
    try:
        real = [_tensor(torch, t) for t in call["tensors"]]
        if mode is not None:
            real = [mode.from_tensor(t) for t in real]
        args = _decoded(torch, call["args"], real)
        kwargs = {name: _decoded(torch, v, real) for name, v in call["kwargs"].items()}
        torch.manual_seed(0)
        with torch.no_grad():
            if mode is None:
                return _told(torch, op(*args, **kwargs), True)
            with mode:
                return _told(torch, op(*args, **kwargs), False)
    except Exception as error:
        return "" if "xpected a value of type" in str(error) else type(error).__name__


def _record(torch: Any, path: Path, out: Path) -> None:
    """All changed calls of a file, with both answers, as lines of `out`."""
    by_overload: dict[str, list[dict[str, Any]]] = {}
    for line in path.read_text().splitlines():
        case = json.loads(line)
        if case["overload"] and "error" not in case and len(line) < 3000:
            by_overload.setdefault(case["overload"], []).append(case)
    with out.open("a") as file:
        for name, cases in sorted(by_overload.items()):
            bases = cases[:: max(1, len(cases) // BASES)][:BASES]
            _record_changed(torch, _overload(torch, name), bases, file)


def _overload(torch: Any, name: str) -> Any:
    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), packet), overload or "default")


def _record_changed(torch: Any, op: Any, bases: list[dict[str, Any]], file: IO[str]) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    for base in bases:
        mode = FakeTensorMode()
        for call in _changed(base):
            fake = answer(torch, op, call, mode)
            if not fake:
                continue
            file.write(json.dumps(call | {"fake": fake}) + "\n")
            file.flush()
            if base["values"] and not base.get("ambiguous") and not base.get("fragile"):
                cpu = answer(torch, op, call, None)
                file.write(json.dumps(call | {"fake": fake, "cpu": cpu}) + "\n")
                file.flush()


def _record_drawn(torch: Any, names: list[str], out: Path) -> None:
    with out.open("a") as file:
        for name in names:
            op = _overload(torch, name)
            cases = _drawn_cases(torch, op, name)
            _record_changed(torch, op, cases, file)


def main(recordings: Path, out: Path) -> None:
    """Write the files."""
    import torch
    import torch._subclasses.fake_tensor

    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    out.mkdir(parents=True)
    known: set[str] = set()
    for path in sorted((recordings / "operators").glob("*.jsonl")):
        known |= {json.loads(line)["overload"] for line in path.read_text().splitlines()}
        if _FAMILIES.search(path.stem):
            _apart(_record, torch, path, out / path.name)
    names = {s.name + ("." + s.overload_name if s.overload_name else ""): s.name
             for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::")}  # fmt: skip
    drawn = [n for n in sorted(names) if n not in known and not _NOT_DRAWN.search(names[n])]
    drawn = [n for n in drawn if not names[n].endswith("_") and not re.search("out$", n)]
    for at in range(0, len(drawn), 8):
        _apart(_record_drawn, torch, drawn[at : at + 8], out / f"drawn{at:04}.jsonl")


def _apart(record: Callable[..., None], *args: Any) -> None:
    """In a child: what ends PyTorch ends only that one."""
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        record(*args)
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
