"""One broken file in a process of its own: did it crash, hang, or take more memory than allowed?

The file is loaded, run on fake tensors, and computed (a module that loads may still lack weights).
The child is a fork, so a trial costs little more than the loading.
"""

import json
import os
import resource
import signal
import time
import warnings
from pathlib import Path
from typing import NamedTuple

from dispatch import graph

__all__ = ["Outcome", "attempt", "limit_memory"]

_TIME_LIMIT = 20
_ADDRESS_SPACE = 16 << 30
_SLACK = 64 << 20


class Outcome(NamedTuple):
    """`kind`: fine, error (allowed), bug (an error of another type), killed; bytes and seconds."""

    kind: str
    text: str
    peak: int
    seconds: float

    def named(self, path: Path) -> bool:
        """Whether an error names the file."""
        return path.name in self.text

    def within(self, json_bytes: int, weight_bytes: int) -> bool:
        """Whether the memory was in proportion to the file."""
        return self.peak <= _SLACK + 12 * json_bytes + weight_bytes


def _used(path: Path, compute: bool) -> tuple[str, str]:
    warnings.simplefilter("error")
    try:
        module = graph.load(path)
        module.run().to_json()
        if compute:
            module.fill_missing_weights()
            module(*module.random_inputs())
    except (RecursionError, SystemError, AssertionError, AttributeError) as error:
        return "bug", f"{type(error).__name__}: {error}"
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    return "fine", ""


def limit_memory(nbytes: int) -> None:
    """Of this process; AddressSanitizer's shadow of the address space needs all of that."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (nbytes, nbytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _child(path: Path, compute: bool, out: int) -> None:
    limit_memory(_ADDRESS_SPACE)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_TIME_LIMIT)
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = _peak()
    kind, text = _used(path, compute)
    os.write(out, json.dumps([kind, text[:4000], _peak() - before]).encode())


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def attempt(path: Path, compute: bool = True) -> Outcome:
    """Use the model file at `path` in a child process."""
    begin = time.monotonic()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reader)
            _child(path, compute, writer)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    seconds = time.monotonic() - begin
    if os.WIFSIGNALED(status) or not text:
        reason = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "no answer"
        return Outcome("killed", reason, 0, seconds)
    kind, message, peak = json.loads(text)
    return Outcome(kind, message, peak, seconds)
