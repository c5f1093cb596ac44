"""What a row of the table is, and how one sample of it is taken.

Both systems' rows have the statement of the real call, timed in a loop of its own by `timeit`
(garbage collection off): the loop and the loading of local names, about 10 ns, are part of
every figure. The yardstick row is an empty Python function.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from timeit import Timer
from typing import NamedTuple

__all__ = ["TITLES", "Row", "Sampler", "model_files", "nothing"]

TITLES = {
    "yardstick": "empty Python call",
    "add": "`ops.aten.add.Tensor`, 2x3 float32",
    "packet": "`ops.aten.add`, the packet",
    "view": "`ops.aten.view`, 2x3 to 3x2",
    "plus": "`x + x`, 2x3 float32",
    "first_row": "`x[0]`",
    "sum": "`x.sum()`",
    "view_method": "`x.view(6)`",
    "detach": "`x.detach()`",
    "shape": "`x.shape`",
    "factory": "`empty(2, 3)`",
    "function": "`add(x, x)`, the function",
    "meta_add": "add on the Meta device",
    "python_kernel": "Python kernel, one argument",
    "ten_tensors": "Python kernel, 10 tensors in, 3 out",
    "autograd_kernel": "Python Autograd kernel, redispatch, Python CPU kernel",
    "mode": "add below a pass-through `TorchDispatchMode`",
    "mode_constant": "add below a mode that returns a constant",
    "subclass": "add of a subclass, `__torch_dispatch__` returns its argument",
    "keys_or": "union of two `DispatchKeySet`s",
    "keys_and": "intersection of two `DispatchKeySet`s",
    "highest_key": "`highestPriorityTypeId`",
    "define": "`Library.define` and `impl` of a new operator",
    "fake_add": "fake add, cache warm",
    "fake_add_scalar": "fake add of a number, cache warm",
    "fake_view": "fake view, cache warm",
    "fake_sum": "fake sum, cache warm",
    "fake_add_uncached": "fake add, without the cache",
    "fake_factory": "`empty(2, 3)` under the mode",
    "from_new": "`from_tensor(x.detach())`: a new tensor",
    "from_known": "`from_tensor(x)`: a known one",
    "sym_add": "`s + 1` of a SymInt",
    "sym_floordiv": "`s // 2` of a SymInt",
    "sym_guard": "`bool(s != 9)`, asked before",
    "sym_new_guard": "`bool(...)` of a new condition",
    "sym_guard_of_many": "the same of three of 1,000 symbols",
    "sym_guard_int": "`int(s)` of a fresh symbol",
    "sym_dims": "symbols for a tensor of three dimensions",
    "sym_from_tensor": "`from_tensor` of it, whole",
    "sym_fake_add": "fake add of symbolic sizes, cache warm",
    "sym_fake_view": "fake view of symbolic sizes, cache warm",
    "sym_fake_permute": "fake permute of symbolic sizes, cache warm",
    "sym_fake_add_uncached": "fake add of symbolic sizes, without the cache",
    "model_gpt2": "GPT-2 on fake tensors, second run",
    "model_llama": "Llama-7B on fake tensors, second run",
    "model_resnet": "ResNet-50 on fake tensors, second run",
    "import_numpy": "`import numpy`",
    "import": "`import dispatch`, `import torch`",
}
_SAMPLE_SECONDS = 0.02  # of a row of the README


class Row(NamedTuple):
    """A statement, the names in it, and what is entered around each sample of it."""

    statement: str
    names: dict[str, object]
    context: Callable[[], AbstractContextManager[object]] = nullcontext

    def run(self, calls: int) -> float:
        """Make that many calls in one loop; the seconds that they took."""
        setup = f"{', '.join(self.names)}, = values"
        timer = Timer(self.statement, setup, globals={"values": tuple(self.names.values())})
        with self.context():
            return timer.timeit(calls)


class Sampler:
    """A warmed row: each `sample` is the mean ns of a call over about so many seconds of them."""

    def __init__(self, row: Row, seconds: float = _SAMPLE_SECONDS) -> None:
        self._row = row
        self._calls = 1
        row.run(1)
        while row.run(self._calls) < seconds:
            self._calls *= 2

    def sample(self) -> float:
        """One sample, in ns a call."""
        return self._row.run(self._calls) / self._calls * 1e9


def nothing() -> None:
    """The yardstick."""


def model_files(folder: Path | None) -> dict[str, Path]:
    """Row name -> exported program, for those models that are below the folder."""
    if folder is None:
        return {}
    models = (name for name in TITLES if name.startswith("model_"))
    found = {name: sorted(folder.glob(f"**/{name[6:]}.aten.json.gz")) for name in models}
    return {name: paths[0] for name, paths in found.items() if paths}
