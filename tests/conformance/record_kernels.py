"""Records calls of kernels: `TORCH_PYTHON -m tests.conformance.record_kernels FILE`.

Needs PyTorch. Of every operator in `drawn_kernels`, calls whose arguments are drawn at random, on
tensors that lie in memory in every way: permuted, with steps and an offset, expanded, of size 0
and 1. Each is made on the CPU and on meta, now and then with an output that lies otherwise, or is
of another size.
`select_kernels` chooses those that the tests carry.
"""

import json
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

from tests.conformance.drawing import Drawn
from tests.conformance.drawn_kernels import CALLS
from tests.conformance.record_calls import described

__all__ = ["answer", "main", "operator"]

EACH = 40  # calls of an operator


def operator(library: Any, name: str) -> Any:
    """The overload of aten that a record names."""
    packet, _, overload = name.partition(".")
    return getattr(getattr(library.ops.aten, packet), overload or "default")


def _content(library: Any, count: int, dtype: Any) -> Any:
    """What a storage of `count` elements holds: numbers that tell the place."""
    numbers = [k * 37 % 101 - 50 for k in range(count)]
    if dtype is library.bool:
        return library.tensor([n % 3 == 0 for n in numbers])
    if not dtype.is_signed:
        return library.tensor([n + 50 for n in numbers]).to(dtype)
    if dtype.is_complex:
        return library.tensor([complex(n / 16, 2 - n / 32) for n in numbers], dtype=dtype)
    if dtype.is_floating_point:
        return library.tensor([n / 16 for n in numbers]).to(dtype)
    return library.tensor([n // 5 for n in numbers]).to(dtype)


def _tensor(library: Any, told: dict[str, Any], device: str) -> Any:
    dtype = getattr(library, told["dtype"])
    shape, strides, offset = told["shape"], told["stride"], told["offset"]
    span = offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    span = span if 0 not in shape else offset
    if "numbers" in told:
        base = library.tensor(told["numbers"], dtype=dtype)
    else:
        base = _content(library, span, dtype)
    return base.to(device).as_strided(shape, strides, offset)


def _made(library: Any, value: Any, device: str) -> Any:
    if isinstance(value, list):
        return [_made(library, v, device) for v in value]
    if not isinstance(value, dict):
        return value
    if "shape" in value:
        return _tensor(library, value, device)
    return getattr(library, value["named"])


def answer(library: Any, call: dict[str, Any], device: str) -> Any:
    """What is recorded of a call; `library` is torch, or what stands for it."""
    library.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args = _made(library, call["args"], device)
            kwargs = {k: _made(library, v, device) for k, v in call["kwargs"].items()}
            result = operator(library, call["op"])(*args, **kwargs)
            return described(library, result)
    except Exception as error:
        return type(error).__name__


def main(file: Path) -> None:
    """Records."""
    import torch

    torch.set_num_threads(1)
    lines = []
    with torch.no_grad():
        for name, draw in CALLS.items():
            rng = Drawn(name, partial(answer, torch))
            for _ in range(EACH):
                call = rng.call(name, draw)
                call["cpu"], call["meta"] = answer(torch, call, "cpu"), answer(torch, call, "meta")
                lines.append(json.dumps(call, separators=(",", ":")))
    file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
