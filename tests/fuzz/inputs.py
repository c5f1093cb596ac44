"""Inputs that lie: `python -m tests.fuzz.inputs [--n N] [--seed S] [--only KIND]`.

What comes from elsewhere and is no model file (those are `python -m tests.fuzz`): schemas in YAML
and as text, safetensors, archives of inputs, reports, settings of the command line, pickles and
their parts, size expressions, DLPack capsules, arrays, buffers. Each
is made right and then changed as its format invites: other types, negative and huge numbers, depth,
names twice, parts left out. A case either works, or ends in an error of the kinds listed for it, in
words of ours; it takes seconds and megabytes at most, and never ends the process. What works lies
within its storage.
"""

import argparse
import copy
import ctypes
import io
import json
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dispatch
from dispatch import Tensor, pytree as trees
from dispatch.as_torch import serialization
from dispatch.cli.sizes import read_sizes
from dispatch.codegen.generate import generate
from dispatch.codegen.source import SourceError
from dispatch.graph.checks import read_check
from dispatch.graph.diff import compare
from dispatch.graph.errors import ModelFileError
from dispatch.graph.expr import evaluate, symbols_in
from dispatch.graph.freeing import read_free
from dispatch.graph.inputs import read_inputs
from dispatch.graph.safetensors import read_tensors
from dispatch.graph.saved import read_report
from dispatch.graph.sweep import read_vary
from dispatch.library import Library
from tests.codegen.helpers import SCHEMAS, job_for, make_package
from tests.fuzz.hostile import FOREIGN
from tests.fuzz.trial import limit_memory

__all__ = ["KINDS", "attempt"]

_ADDRESS_SPACE = 6 << 30
_PEAK = 512 << 20  # bytes of a trial, beyond those at its start
_SECONDS = 5.0  # of one case
_BATCH = 50  # cases of a process
_NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    64,
    65,
    2**31,
    -(2**31),
    2**32,
    2**62,
    2**63 - 1,
    -(2**63),
    2**63,
    2**64,
    10**40,
)
_VALUES = (
    None,
    True,
    False,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "\ud800",
    "\x00",
    "float32",
    "F32",
    "as_int",
    [],
    {},
    [[]],
    (),
    b"x",
    object(),
    "9" * 5000,
    [1] * 70,
    {"a": {"b": []}},
    *_NUMBERS,
)


class Kind(NamedTuple):
    """`make` gives a case to be run, from a seed; `errors`: what it may end in."""

    make: Callable[[random.Random, Path], Callable[[], Any]]
    errors: tuple[type[BaseException], ...]


def changed(rng: random.Random, value: Any, rate: float = 0.15) -> Any:
    """A copy with some of its parts replaced, doubled, left out or nested."""
    if rng.random() < rate:
        return rng.choice(_VALUES)
    if isinstance(value, dict):
        return {k: changed(rng, v, rate) for k, v in value.items() if rng.random() > rate / 3}
    if isinstance(value, list | tuple):
        items = [changed(rng, v, rate) for v in value if rng.random() > rate / 3]
        if items and rng.random() < rate / 3:
            items.append(copy.copy(rng.choice(items)))
        return type(value)(items)
    if type(value) is int and rng.random() < rate:
        return value + rng.choice((-1, 1, 8, 2**40))
    return value


def _text_changed(rng: random.Random, text: str, words: tuple[str, ...]) -> str:
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.choice((0, 1, 3, 20)))
        times = rng.choice((1, 1, 1, 1, 50, 3000))
        text = text[:at] + rng.choice((*words, text[at:end] * 2)) * times + text[end:]
    return text


# -- schemas ---------------------------------------------------------------------------------------

_YAML_WORDS = (
    ":",
    "- ",
    "\n",
    "\n  ",
    "[",
    "{",
    "]",
    "}",
    "&a ",
    "*a",
    "<<: *a",
    "!!python/object:os.system ",
    "'",
    '"',
    "|\n",
    "%TAG",
    "---\n",
    "\t",
    "\x07",
    "\u2028",
    "9" * 50,
    "0x",
    "? ",
    ", ",
    "Tensor(a!) ",
    "int[99999999999]",
    "=",
    "->",
    "(",
    ")",
    "CPU: ",
    "func: ",
    "\ufeff",
)
_SCHEMA_WORDS = (
    "Tensor",
    "(a!)",
    "(a -> *)",
    "int[3]",
    "[]",
    "?",
    "=",
    "->",
    "(",
    ")",
    ", ",
    "*",
    "SymInt",
    " ",
    ".",
    "::",
    "None",
    "1e999",
    "-9223372036854775809",
    "[1, 2]",
    "'",
    '"',
    "\\x",
    "float",
    "Dict(int, str)",
    "__torch__",
    "\x00",
    "é",
    "9" * 40,
    "(a|b)",
    "|",
)
_SCHEMAS = (
    "f(Tensor self, int[2] n=1, *, Tensor(a!) out) -> Tensor(a!)",
    "f.o(Tensor(a)[] x, str s='a', Scalar? v=None, bool b=False) -> (Tensor(a), int[])",
    "f(SymInt[] size, ScalarType? dtype=None, float x=1e-3) -> Tensor",
)


def _yaml(rng: random.Random, folder: Path) -> Callable[[], Any]:
    lines = (SCHEMAS / "native_functions.yaml").read_text().splitlines(keepends=True)
    starts = [i for i, line in enumerate(lines) if line.startswith("- func:")]
    text = ""
    for _ in range(rng.randint(1, 4)):
        k = rng.randrange(len(starts) - 1)
        text += "".join(lines[starts[k] : starts[k + 1]])
    data = _text_changed(rng, text, _YAML_WORDS).encode(errors="surrogatepass")
    if rng.random() < 0.2:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice((b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00")) + data[at:]
    make_package(folder, "").write_bytes(data)
    return lambda: generate(job_for(folder))


def _schema(rng: random.Random, folder: Path) -> Callable[[], Any]:
    text = _text_changed(rng, rng.choice(_SCHEMAS), _SCHEMA_WORDS)

    def define() -> None:
        library = Library(f"inputs{rng.randrange(10**12)}", "DEF")
        try:
            library.define(text)
        finally:
            library._destroy()

    return define


# -- files -----------------------------------------------------------------------------------------


def _safetensors(rng: random.Random, folder: Path) -> Callable[[], Any]:
    header: Any = {
        "__metadata__": {"a": "b"},
        "x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "y": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]},
        "z": {"dtype": "I64", "shape": [], "data_offsets": [32, 40]},
    }
    text = json.dumps(changed(rng, header), default=str)
    if rng.random() < 0.3:
        text = _text_changed(rng, text, ("{", "[", '"x":', ",", "1e400", "-", '"dtype"', "0" * 30))
    data = text.encode(errors="surrogatepass")
    size = len(data) if rng.random() < 0.8 else rng.choice((0, 1, len(data) + 50, 2**62, 2**64 - 1))
    path = folder / "w.safetensors"
    path.write_bytes(size.to_bytes(8, "little") + data + bytes(rng.choice((40, 40, 39, 0, 100))))
    return lambda: list(read_tensors(path).values())


def _rebuilt(rng: random.Random, folder: Path) -> Callable[[], Any]:
    x = rng.choice(
        (
            dispatch.ones(2, 3),
            dispatch.arange(12).view(3, 4).t(),
            dispatch.ones(3).requires_grad_(),
            dispatch.ones(2).to("meta"),
            dispatch.ones(2, dtype=dispatch.complex64).conj(),
            dispatch.ones(3, dtype=dispatch.bfloat16)[1:],
            dispatch.ones(3).untyped_storage(),
        )
    )
    make, arguments, *rest = x.__reduce_ex__(2)
    arguments = changed(rng, arguments)
    state = [changed(rng, part) for part in rest]

    def use() -> Any:
        made = make(*arguments)
        if state and state[0] is not None and hasattr(made, "__setstate__"):
            made.__setstate__(state[0])
        pickle.dumps(made)
        return made

    return use


def _bytes_changed(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(changed) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            changed[at : at + 1] = bytes((rng.randrange(256),))
        elif kind == 1:
            del changed[at : at + rng.choice((1, 4, 100))]
        elif kind == 2:
            changed[at:at] = changed[at : at + rng.choice((1, 8, 60))]
        else:
            changed[at : at + 8] = rng.choice((b"\xff" * 8, bytes(8), b"\xff" * 4))
    return bytes(changed)


def _npz(rng: random.Random, folder: Path) -> Callable[[], Any]:
    path = folder / "in.npz"
    save = rng.choice((np.savez, np.savez_compressed))
    arrays = [_array(rng) for _ in range(rng.randint(1, 3))]
    save(path, **{f"in_{i}": a for i, a in enumerate(arrays) if a.size < 1000})
    if rng.random() < 0.8:
        path.write_bytes(_bytes_changed(rng, path.read_bytes()))
    return lambda: read_inputs(path)


def _report(rng: random.Random, folder: Path) -> Callable[[], Any]:
    tensor = {"shape": [2, 3], "dtype": "float32", "stride": [3, 1], "device": "cpu"}
    call = {"op": "aten::add", "outputs": [tensor], "module": "a.b", "new_bytes": 24}
    module = {"path": "a", "class": "A", "parameters": 1, "bytes": 4, "flops": 2, "calls": 1}
    report: Any = {
        "model": "m.pt2",
        **dict.fromkeys(("parameters", "parameter_bytes", "peak_bytes", "flops"), 3),
        "calls": [call],
        "modules": [module],
        "storages": [{"name": "w", "kind": "parameter", "dtype": "float32", "shape": [2]}],
        "inputs": [tensor],
        "outputs": [tensor],
    }
    text = json.dumps(changed(rng, report, 0.04), default=str)
    if rng.random() < 0.3:
        text = _text_changed(rng, text, ("{", "[", '"calls":', ",", "1e400", "-", "[" * 5000))
    path = folder / "report.json"
    path.write_bytes(text.encode(errors="surrogatepass"))

    def use() -> None:
        found = read_report(path)
        if found is not None:
            compare(found, report).tables()
            compare(report, found).tables()

    return use


_SETTINGS: tuple[tuple[Callable[[list[str]], Any], tuple[str, ...]], ...] = (
    (read_sizes, ("batch=64", "seq=1")),
    (read_free, ("input_ids:0=batch", "x:1=n")),
    (read_vary, ("batch=1,2,4", "seq=128:1024:128", "n=2:64:*2")),
    (lambda texts: [read_check(text) for text in texts], ("peak_bytes < 16GB", "flops<=1e12")),
)
_SETTING_WORDS = (
    "=", ":", ",", "*", "<", "-", "0", "9" * 30, "9" * 5000, "e999", "GB", "\u0663", " ", "\x00",
)  # fmt: skip


def _settings(rng: random.Random, folder: Path) -> Callable[[], Any]:
    read, texts = rng.choice(_SETTINGS)
    made = [_text_changed(rng, rng.choice(texts), _SETTING_WORDS) for _ in range(2)]
    return lambda: read(made)


def _saved(rng: random.Random, folder: Path) -> Callable[[], Any]:
    x = dispatch.arange(6, dtype=dispatch.float32)
    value = {"a": x.view(2, 3).t(), "b": [x[2:], x.conj()], "c": dispatch.ones(2, device="meta")}
    file = io.BytesIO()
    serialization.save(value, file, pickle_protocol=rng.choice((2, 4, 5)))
    data = _bytes_changed(rng, file.getvalue())
    return lambda: [
        t for t in trees.tree_leaves(serialization.load(io.BytesIO(data))) if isinstance(t, Tensor)
    ]


# -- expressions -----------------------------------------------------------------------------------

_EXPRESSION_WORDS = (
    "Mul(",
    "Add(",
    "Mod(",
    "FloorDiv(",
    "Pow(",
    "PowByNatural(",
    "Max(",
    "Symbol('s0')",
    "Integer(",
    "Rational(1, 0)",
    ")",
    ", ",
    "'x'",
    "2",
    "-",
    "9" * 30,
    "1e308",
    "nan",
    "**",
    "//",
    "%",
    "(",
    "[",
    "s0",
    "lambda: 0",
    "__import__('os')",
    "True",
    "\x00",
    "evaluate=False",
    "*",
)


class _Held(NamedTuple):
    expr_str: Any


class _Size(NamedTuple):
    value: Any
    tag: str = "as_expr"


def _expression(rng: random.Random, folder: Path) -> Callable[[], Any]:
    text = rng.choice(
        (
            "Add(Mul(Integer(2), Symbol('s0', integer=True)), Integer(-1))",
            "FloorDiv(s0 + 7, 8)*2",
            "Max(1, s0)",
        )
    )
    size: Any = _Size(_Held(_text_changed(rng, text, _EXPRESSION_WORDS)))
    return lambda: (symbols_in(size), evaluate(size, {"s0": rng.choice((0, 5, 2**62, -3))}))


# -- memory of others -----------------------------------------------------------------------------


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Lender:
    """An object that lends what it says it has."""

    def __init__(self, capsule: Any, device: Any) -> None:
        self._capsule, self._device = capsule, device

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> Any:
        return self._device


_KEPT: list[Any] = []  # what capsules point at


def _dlpack(rng: random.Random, folder: Path) -> Callable[[], Any]:
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    memory = (ctypes.c_char * 4096)()
    edge = tuple(n for n in _NUMBERS if -(2**63) <= n < 2**63)
    ndim = rng.choice((0, 1, 2, 3, 3))
    shape = (ctypes.c_int64 * 200)(*[rng.choice((2, 3, 4)) for _ in range(200)])
    strides = (ctypes.c_int64 * 200)(*[1] * 200)
    m = _Managed()
    t = m.tensor
    t.data, t.device_type, t.ndim, t.code, t.bits, t.lanes = (
        ctypes.addressof(memory),
        1,
        ndim,
        2,
        32,
        1,
    )
    t.shape, t.strides = shape, strides
    lies: list[Callable[[], Any]] = [
        lambda: setattr(t, "ndim", rng.choice((-1, -(2**31), 65, 129, 150))),
        lambda: setattr(t, "data", None),
        lambda: setattr(t, "lanes", rng.choice((0, 2, 65535))),
        lambda: setattr(t, "bits", rng.choice((0, 1, 4, 7, 24, 255))),
        lambda: setattr(t, "code", rng.choice((3, 4, 5, 6, 7, 99, 255))),
        lambda: setattr(t, "device_type", rng.choice((0, 2, 3, 10, 99, -1))),
        lambda: setattr(t, "device_id", rng.choice((-1, 1, 2**31 - 1))),
        lambda: setattr(t, "byte_offset", rng.choice((1, 3, 64))),
        lambda: shape.__setitem__(
            rng.randrange(3), rng.choice((-1, 0, -(2**63), 2**62, 2**63 - 1))
        ),
        lambda: strides.__setitem__(rng.randrange(3), rng.choice((*edge, 0))),
        lambda: setattr(t, "shape", ctypes.POINTER(ctypes.c_int64)()),
        lambda: setattr(t, "strides", ctypes.POINTER(ctypes.c_int64)()),
    ]
    for lie in rng.sample(lies, rng.choice((0, 1, 1, 2, 3))):
        lie()
    _KEPT[:] = [*_KEPT[-200:], m, shape, strides, memory]
    name = rng.choice(
        (b"dltensor", b"dltensor", b"dltensor", b"used_dltensor", b"x", b"dltensor_versioned")
    )
    if name == b"dltensor_versioned":  # another structure: the version says that it is not known
        versioned = (ctypes.c_uint64 * 40)(rng.choice((2, 99, 2**31)))
        _KEPT.append(versioned)
        capsule = new(ctypes.addressof(versioned), name, None)
    else:
        capsule = new(ctypes.addressof(m), name, None)
    device = rng.choice(
        (
            (1, 0),
            (1, 0),
            (1, 0),
            (),
            (1,),
            [1, 0],
            (2, 0),
            ("cpu", 0),
            None,
            (1, 2**40),
            3,
            (1, 0, 0),
        )
    )
    lender = (
        capsule
        if rng.random() < 0.4
        else _Lender(rng.choice((capsule, capsule, capsule, None, 3, ())), device)
    )
    return lambda: dispatch.from_dlpack(lender)


def _array(rng: random.Random) -> np.ndarray[Any, Any]:
    kind = rng.choice(
        (
            "f4",
            "f8",
            "i8",
            "u1",
            ">f4",
            "<f2",
            "c8",
            "O",
            "S3",
            "U2",
            "V5",
            "?",
            "f4,i4",
            "g",
            "G",
            "u8",
            ">i2",
        )
    )
    base = np.zeros(24, kind)
    for _ in range(rng.randint(0, 3)):
        made = rng.randrange(8)
        if made == 0:
            base = base[::-1]
        elif made == 1:
            base = base[1:]
        elif made == 2:
            base = np.broadcast_to(base, (3, *base.shape))
        elif made == 3:
            base = base[..., ::2]
        elif made == 4 and base.dtype.kind not in "O":
            shape, strides = rng.choice(
                (
                    ((0,), (7,)),
                    ((2, 3), (0, 0)),
                    ((2**40, 0), (8, 8)),
                    ((2**30, 2**25), (0, 0)),
                    ((2, 2), (3, 1)),
                )
            )
            base = np.lib.stride_tricks.as_strided(base, shape, strides)
        elif made == 5:
            base.flags.writeable = False
        elif made == 6 and base.ndim < 30:
            base = base[(None,) * rng.choice((1, 5, 30))]
        elif base.dtype.kind not in "O" and 0 < base.size < 10_000:
            raw = np.zeros(base.nbytes + 1, "u1")[1:]
            base = raw[: base.itemsize * 2].view(base.dtype)
    return base


def _numpy(rng: random.Random, folder: Path) -> Callable[[], Any]:
    array = _array(rng)

    class Lying(np.ndarray):  # type: ignore[type-arg]
        @property
        def shape(self) -> Any:
            return rng.choice(_VALUES)

    if rng.random() < 0.1:
        array = array.view(Lying)
    interface = {"shape": (3,), "typestr": "<f4", "version": 3, "data": memoryview(bytes(12))}
    lying = type("Lying", (), {"__array_interface__": changed(rng, interface, 0.4)})()
    buffer = rng.choice(
        (
            bytes(12),
            bytearray(12),
            memoryview(bytearray(12))[::2],
            array,
            b"",
            memoryview(bytearray(12)).cast("B", (3, 4)),
        )
    )
    number = lambda: rng.choice((*_NUMBERS, 1.5, None, "x"))  # noqa: E731
    return rng.choice(
        (
            lambda: dispatch.from_numpy(array),
            lambda: dispatch.as_tensor(array),
            lambda: dispatch.tensor(array),
            lambda: dispatch.tensor([array, array]),
            lambda: dispatch.as_tensor(lying),
            lambda: dispatch.tensor(lying),
            lambda: dispatch.from_numpy(lying),
            lambda: dispatch.frombuffer(
                buffer,
                dtype=rng.choice(
                    (dispatch.float32, dispatch.uint8, dispatch.complex64, dispatch.bool)
                ),
                count=rng.choice((-1, number())),
                offset=rng.choice((0, number())),
            ),
        )
    )


_USUAL = (
    TypeError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    IndexError,
    BufferError,
    AttributeError,
)
KINDS = {
    "yaml": Kind(_yaml, (SourceError,)),
    "schema": Kind(_schema, (RuntimeError, ValueError, TypeError)),
    "safetensors": Kind(_safetensors, (ModelFileError,)),
    "npz": Kind(_npz, (ModelFileError,)),
    "report": Kind(_report, (ModelFileError,)),
    "settings": Kind(_settings, (ValueError,)),
    "saved": Kind(_saved, (*_USUAL, KeyError, MemoryError, EOFError, pickle.UnpicklingError)),
    "rebuilt": Kind(_rebuilt, (*_USUAL, KeyError, MemoryError, pickle.PicklingError)),
    "expression": Kind(_expression, ()),
    "dlpack": Kind(_dlpack, (TypeError, ValueError, RuntimeError, BufferError, AttributeError)),
    "numpy": Kind(_numpy, (TypeError, ValueError, RuntimeError, MemoryError)),
}
# A pickle's parts go wherever its author likes: only how it ends counts.
_THEIR_WORDS = ("rebuilt", "saved")


def _check_inside(value: Any) -> None:
    """AssertionError for a tensor that reaches beyond its storage."""
    for t in value if isinstance(value, list) else [value]:
        if isinstance(t, Tensor) and t.device.type == "cpu" and t.numel() and type(t) is Tensor:
            last = t.storage_offset() + sum(
                (n - 1) * s for n, s in zip(t.size(), t.stride(), strict=True)
            )
            if (last + 1) * t.element_size() > t.untyped_storage().nbytes():
                raise AssertionError(
                    f"{t.size()}, {t.stride()} at {t.storage_offset()} over"
                    f" {t.untyped_storage().nbytes()} bytes"
                )


def _problem(name: str, seed: str, folder: Path) -> str | None:
    """What is wrong with how one case ends."""
    kind = KINDS[name]
    use = kind.make(random.Random(f"{name} {seed}"), folder)
    begin = time.monotonic()
    try:
        _check_inside(use())
    except kind.errors as error:
        text = str(error).replace("numpy", "")  # of an array we may say so
        if name not in _THEIR_WORDS and (not text or FOREIGN.search(text)):
            return f"words of others: {type(error).__name__}: {str(error)[:300]}"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    seconds = time.monotonic() - begin
    return f"took {seconds:.1f} s" if seconds > _SECONDS else None


def _run(name: str, seeds: list[str], out: int) -> None:
    limit_memory(_ADDRESS_SPACE)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as text:
        for seed in seeds:
            os.write(out, f"\nat {seed}".encode())
            signal.alarm(int(_SECONDS) * 4)
            problem = _problem(name, seed, Path(text))
            signal.alarm(0)
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
            if problem is None and grown > _PEAK:
                problem, before = f"took {grown >> 20} MiB", before + (grown >> 10)
            if problem is not None:
                os.write(out, f": {problem!r}".encode(errors="replace"))
    os.write(out, b"\nend")


def attempt(name: str, seeds: list[str]) -> list[str]:
    """The cases that end badly. After one that ends the process, another one tries the rest."""
    failures = []
    while seeds:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.close(reader)
                _run(name, seeds, writer)
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as answer:
            lines = answer.read().decode(errors="replace").split("\n")
        _, status = os.waitpid(child, 0)
        failures += [line[3:] for line in lines if line.startswith("at ") and ": " in line]
        if lines[-1] == "end":
            break
        last = lines[-1][3:].partition(":")[0]
        how = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "ended"
        failures.append(f"{last}: {how}")
        seeds = seeds[seeds.index(last) + 1 :]
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.inputs", description=__doc__)
    parser.add_argument("--n", type=int, default=1000, help="cases of each kind")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--only", default="", choices=["", *KINDS])
    options = parser.parse_args()
    failed = 0
    for name in [options.only] if options.only else KINDS:
        for first in range(0, options.n, _BATCH):
            seeds = [f"{options.seed} {i}" for i in range(first, min(first + _BATCH, options.n))]
            for failure in attempt(name, seeds):
                failed += 1
                print(f"{name} {failure}", flush=True)
    print(f"{'failed' if failed else 'passed'}: {options.n} cases of each kind, {failed} failures")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
