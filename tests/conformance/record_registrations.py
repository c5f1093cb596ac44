"""Records what serves each key: `TORCH_PYTHON -m tests.conformance.record_registrations`.

Of every operator of `aten`, `prim` and `prims`, in its computed table: the reason (`kernel`,
`default backend kernel`, ...) at the dense backends and the keys above them, with `-` in front of a
fallthrough and "" where nothing serves. Autograd and Autocast keys come with gradients; sparse,
nested and quantized ones are not here. Writes `data/registrations.json.gz`; same PyTorch, same
bytes.
"""

import gzip
import json
from pathlib import Path
from typing import Any

__all__ = ["KEYS", "main", "reasons"]

DATA = Path(__file__).parent / "data"
KEYS = (
    *("Undefined", "CPU", "CUDA", "HIP", "XLA", "MPS", "IPU", "XPU", "HPU", "VE", "Lazy", "MTIA"),
    *("MAIA", "PrivateUse1", "PrivateUse2", "PrivateUse3", "Meta", "FPGA", "Vulkan", "Metal"),
    *("BackendSelect", "ADInplaceOrView", "Conjugate", "Negative", "ZeroTensor"),
)


def reasons(table: str) -> list[str]:
    """The reason at each of `KEYS`, from what `_dispatch_dump_table` prints."""
    found = {}
    for line in table.strip().splitlines():
        key, _, text = line.partition(": ")
        reason = text.rpartition("[")[2].rstrip("]")
        found[key] = "-" + reason if text.startswith("fallthrough") else reason
    return [found.get(key, "") for key in KEYS]


def main() -> None:
    """Write the file."""
    import torch

    core: Any = torch._C
    rows: dict[tuple[str, ...], int] = {}
    operators = {}
    for name in sorted(core._dispatch_get_all_op_names()):
        if name.startswith(("aten::", "prim::", "prims::")):
            row = tuple(reasons(core._dispatch_dump_table(name)))
            operators[name] = rows.setdefault(row, len(rows))
    recorded = {"keys": KEYS, "rows": list(rows), "operators": operators}
    text = json.dumps(recorded, separators=(",", ":"))
    (DATA / "registrations.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
