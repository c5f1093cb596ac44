"""`torch.utils._traceback`: short texts of frames, stacks that are kept and made text later."""

import contextlib
import inspect
import linecache
import os.path
import traceback
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

import dispatch

__all__ = [
    "CapturedTraceback", "format_frame", "format_traceback_short",
    "report_compile_source_on_error", "shorten_filename",
]  # fmt: skip


def shorten_filename(fn: str, *, base: str | None = None) -> str:
    """A path without what it has in common with `base`, which is where this package is."""
    base = os.path.dirname(os.path.dirname(dispatch.__file__)) if base is None else base
    try:
        prefix = os.path.commonpath([fn, base])
    except ValueError:
        return fn
    return fn[len(prefix) + 1 :]


def format_frame(frame: Any, *, base: str | None = None, line: bool = False) -> str:
    """A frame in one line, its source before it if `line`."""
    place = f"{shorten_filename(frame.filename, base=base)}:{frame.lineno} in {frame.name}"
    return f"{frame.line}  # {place}" if line else place


def format_traceback_short(tb: TracebackType | None) -> str:
    """The innermost frame in one line."""
    return format_frame(traceback.extract_tb(tb)[-1])


class CapturedTraceback:
    """The frames that ran when it was made; lines of source are read when it becomes text."""

    __slots__ = ("skip", "tb")

    def __init__(self, tb: Any, skip: int = 0) -> None:
        self.tb, self.skip = tb, skip

    @staticmethod
    def extract(*, script: bool = False, cpp: bool = False, skip: int = 0) -> "CapturedTraceback":
        """Those that run now, without the last `skip`; frames of compiled code are not seen."""
        if (script or cpp) and skip:
            raise AssertionError("CapturedTraceback.extract: skip, with frames of compiled code")
        frame = inspect.currentframe()
        found = traceback.walk_stack(frame.f_back if frame else None)
        return CapturedTraceback(
            [(f.f_code.co_filename, line, f.f_code.co_name) for f, line in found], skip
        )

    def cleanup(self) -> None:
        """Let the frames go."""
        self.tb = None

    def summary(self) -> traceback.StackSummary:
        """As `traceback` has it, the outermost first."""
        frames = (self.tb or [])[self.skip :]
        return traceback.StackSummary.from_list(
            [traceback.FrameSummary(*frame) for frame in reversed(frames)]
        )

    def format(self) -> list[str]:
        """A text for each frame, with its source."""
        return traceback.format_list(self.summary())

    @staticmethod
    def format_all(tbs: Iterable["CapturedTraceback"]) -> list[list[str]]:
        """The texts of several."""
        return [tb.format() for tb in tbs]

    def __getstate__(self) -> Any:
        return None, {"tb": None, "skip": self.skip}


@contextlib.contextmanager
def report_compile_source_on_error() -> Iterator[None]:
    """Tracebacks of the block show source that a program compiled of a text without a file.

    The text is `__compile_source__` among the globals of its frames.
    """
    try:
        yield
    except Exception as error:
        for frame, _ in traceback.walk_tb(error.__traceback__):
            source = frame.f_globals.get("__compile_source__")
            if source is not None and frame.f_code.co_filename == "<string>":
                linecache.cache["<string>"] = (
                    len(source), None, source.splitlines(keepends=True), "<string>",
                )  # fmt: skip
        raise
