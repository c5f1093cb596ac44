"""Records whole calls: `TORCH_PYTHON -m tests.conformance.record_calls` (needs PyTorch).

`calls.txt`, `calls_of_shapes.txt` about sizes, layouts and shared memory, and `calls_of_views.txt`
have one expression a line behind the dtypes that it is evaluated with, a letter each.
`T(sizes, k=...)` makes a tensor of that dtype whose numbers depend on the sizes and `k` alone,
`L(numbers)` one of int64. Recorded are, of every tensor in the result, dtype, sizes, strides and
two sums that stand for its values, of everything else the text, or the type of the error. The
calls are made with fake tensors too (`calls_fake`: no values), those of the two smaller files also
as functions without writes, and without views (`calls_functional`). Writes `data/calls*.json.gz`;
same PyTorch, same bytes.
"""

import gzip
import json
import logging
import math
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["DATA", "FAKE", "FUNCTIONAL", "SMALLER", "answer", "calls", "described"]

HERE = Path(__file__).parent
DATA = HERE / "data" / "calls.json.gz"
FAKE = HERE / "data" / "calls_fake.json.gz"
FUNCTIONAL = {  # by what `functionalize` removes
    remove: HERE / "data" / f"calls_functional_{remove}.json.gz"
    for remove in ("mutations", "mutations_and_views")
}
SMALLER = ("calls_of_shapes.txt", "calls_of_views.txt")
Way = Callable[[Callable[[], Any]], Any]
DTYPES = {
    "f": "float32", "d": "float64", "b": "bfloat16", "h": "float16", "c": "complex64",
    "z": "complex128", "l": "int64", "i": "int32", "s": "int16", "B": "int8", "u": "uint8",
    "U": "uint16", "o": "bool",
}  # fmt: skip


def calls(names: tuple[str, ...] = ("calls.txt", *SMALLER)) -> Iterator[tuple[str, str]]:
    """(letter of a dtype, expression)."""
    for name in names:
        for line in (HERE / name).read_text().splitlines():
            letters, _, expression = line.partition("|")
            for letter in letters:
                yield letter, expression


def _numbers(n: int, letter: str, k: int, lo: float, hi: float) -> list[Any]:
    source = random.Random(n * 1000 + k)
    parts = [round(source.uniform(lo, hi) * 64) / 64 for _ in range(2 * n)]
    if letter in "cz":
        return [complex(a, b) for a, b in zip(parts[:n], parts[n:], strict=True)]
    if letter == "o":
        return [a > 0 for a in parts[:n]]
    if letter in "lisB":
        return [round(3 * a) for a in parts[:n]]
    return [abs(round(3 * a)) for a in parts[:n]] if letter in "uU" else parts[:n]


def _names(library: Any, letter: str) -> dict[str, Any]:
    kinds = {name: getattr(library, dtype) for name, dtype in DTYPES.items()}

    def made(*sizes: int, dt: str = letter, k: int = 0, lo: float = -2.0, hi: float = 2.0) -> Any:
        numbers = _numbers(math.prod(sizes), dt, k, lo, hi)
        return library.tensor(numbers, dtype=kinds[dt]).reshape(sizes)

    def listed(*numbers: Any, dt: str = "l") -> Any:
        return library.tensor(list(numbers), dtype=kinds[dt])

    return {"A": library.ops.aten, "P": library.ops.prims, "M": library, "T": made, "L": listed,
            "K": kinds[letter]}  # fmt: skip


def _sums(library: Any, tensor: Any) -> list[float]:
    """Of finite numbers, each times a factor that its place gives, and of infinities and NaNs."""
    plain = tensor.detach().resolve_conj().resolve_neg()
    if not plain.dtype.is_complex:
        plain = plain.to(library.float64)
    numbers = [x for v in plain.reshape(-1).tolist() for x in (complex(v).real, complex(v).imag)]
    finite = [v * (1 + i % 7) for i, v in enumerate(numbers) if math.isfinite(v)]
    odd = [3 if v != v else 1 if v > 0 else 2 for v in numbers if not math.isfinite(v)]
    return [float(f"{sum(finite):.5g}"), float(f"{sum(map(abs, finite)):.5g}"), sum(odd)]


def described(library: Any, value: Any, fake: bool = False) -> Any:
    """What is recorded of a result."""
    if isinstance(value, library.Tensor):
        dtype = str(value.dtype).rpartition(".")[2]
        if fake or value.is_meta:
            return [dtype, list(value.shape), list(value.stride())]
        return [dtype, list(value.shape), list(value.stride()), _sums(library, value)]
    if isinstance(value, (list, tuple)):
        return [described(library, v, fake) for v in value]
    return repr(value).replace(library.__name__, "library")


def answer(
    library: Any, letter: str, expression: str, way: Way | None = None, fake: bool = False
) -> Any:
    """What is recorded of a call; `library` is torch, or what stands for it. `way` makes the call;
    of `fake` results there are no values."""
    library.manual_seed(0)
    names = _names(library, letter)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = way(lambda: eval(expression, names)) if way else eval(expression, names)
            return described(library, result, fake)
    except Exception as error:
        return type(error).__name__


def main() -> None:
    """Records."""
    import torch
    from torch._subclasses import FakeTensorMode
    from torch.func import functionalize

    def faked(call: Callable[[], Any]) -> Any:
        with FakeTensorMode():
            return call()

    torch.set_num_threads(1)
    logging.disable()  # fake tensors tell of each error
    with torch.no_grad():
        _write(DATA, [answer(torch, *call) for call in calls()])
        _write(FAKE, [answer(torch, *call, faked, True) for call in calls()])
        for remove, path in FUNCTIONAL.items():

            def functional(call: Callable[[], Any], remove: str = remove) -> Any:
                return functionalize(call, remove=remove)()

            _write(path, [answer(torch, *call, functional) for call in calls(SMALLER)])


def _write(path: Path, found: list[Any]) -> None:
    path.write_bytes(gzip.compress(json.dumps(found, separators=(",", ":")).encode(), mtime=0))


if __name__ == "__main__":
    main()
