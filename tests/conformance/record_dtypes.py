"""Records dtype rules: `TORCH_PYTHON -m tests.conformance.record_dtypes` (needs PyTorch).

Every pointwise operator of one or two tensors, and every other of one tensor (and a dimension), is
called with every dtype, or every pair of them, on small tensors of the CPU and of meta; recorded is
the dtype of the (first) result, or the type of the error. Two tensors come with one dimension each,
or one of them has none. An operator's answers are one text with a letter for each call, `?` for a
dtype that is not in the list. Writes `data/dtypes.json.gz`; same PyTorch, same bytes.
"""

import gzip
import itertools
import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["ANSWERS", "DATA", "answers", "calls"]

DATA = Path(__file__).parent / "data" / "dtypes.json.gz"
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64", "complex64", "complex128")  # fmt: skip
ERRORS = ("IndexError", "NotImplementedError", "RuntimeError", "TypeError", "ValueError")
# What a letter of a record stands for.
ANSWERS = dict(zip((*DTYPES, *ERRORS), "bu1348hHfdcCIRXTV", strict=True))
DEVICES = ("cpu", "meta")
_LEFT_OUT = ("to_mkldnn", "to_sparse")  # these give other layouts


def calls(n: int) -> Iterator[tuple[str, list[tuple[str, list[int]]]]]:
    """(device, [(dtype, sizes) of each tensor]) of every call of an operator of `n` tensors."""
    for device in DEVICES:
        if n == 1:
            for dtype in DTYPES:
                yield device, [(dtype, [2])]
            continue
        for sizes in (([2], [2]), ([2], []), ([], [2])):
            for pair in itertools.product(DTYPES, repeat=2):
                yield device, list(zip(pair, sizes, strict=True))


def answers(library: Any, op: Any, n: int, dims: int) -> str:
    """The letters of all calls; `library` is torch, or what stands for it; `dims`: how many."""
    letters = []
    for device, tensors in calls(n):
        given = [library.ones(s, dtype=getattr(library, d), device=device) for d, s in tensors]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = op(*given, *[0] * dims)
            first = result[0] if isinstance(result, (list, tuple)) else result
            answer = str(first.dtype).rpartition(".")[2]
        except Exception as error:
            answer = type(error).__name__
        letters.append(ANSWERS.get(answer, "?"))
    return "".join(letters)


def _operators(torch: Any) -> Iterator[tuple[str, Any, int, int]]:
    """Name, operator, and how many tensors and dimensions must be given: nothing else is."""
    for full in sorted(torch._C._dispatch_get_all_op_names()):
        packet, _, overload = full.removeprefix("aten::").partition(".")
        if not full.startswith("aten::") or packet.startswith("_") or packet in _LEFT_OUT:
            continue
        op = getattr(getattr(torch.ops.aten, packet), overload or "default")
        schema, tags = op._schema, op.tags
        needed = [a for a in schema.arguments if not a.has_default_value()]
        kinds = [str(a.type) for a in needed]
        n = kinds.count("Tensor")
        dims = sum(a.name == "dim" and str(a.type) == "int" for a in needed)
        random = torch.Tag.nondeterministic_seeded in tags
        written = any(a.alias_info and a.alias_info.is_write for a in schema.arguments)
        if (
            kinds == ["Tensor"] * n + ["int"] * dims and not random and not written
            and n and n <= (2 if torch.Tag.pointwise in tags else 1)
            and schema.returns and str(schema.returns[0].type) == "Tensor"
        ):  # fmt: skip
            yield f"{packet}.{overload or 'default'}", op, n, dims


def main() -> None:
    import torch  # the oracle, where there is one

    logging.disable(logging.CRITICAL)
    found = {name: [n, k, answers(torch, op, n, k)] for name, op, n, k in _operators(torch)}
    # what refuses every tensor of one dimension says nothing
    given = {ANSWERS[dtype] for dtype in DTYPES}
    kept = {name: row for name, row in found.items() if given & set(row[2])}
    text = json.dumps(kept, indent=0, sort_keys=True)
    DATA.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
