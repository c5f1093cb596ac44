"""How far a build is: modules done of all, and about how long the rest takes.

`BuildExt` says what it starts and what it has ended; a terminal shows one line that is written
over, anything else a line now and then. A build in which nothing is to be done says nothing. What
is left is guessed from the sizes of the sources that are done (or were) and of those that are not.
"""

import shutil
import sys
import time
from collections.abc import Mapping
from threading import Lock

__all__ = ["Progress"]

_PAUSE = 10.0  # seconds between two lines where they are not written over
_SURE = 5.0  # seconds of work before a guess


class Progress:
    """The modules of a build (`sizes`: of their sources, by name), told from several threads."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._waiting = dict(sizes)
        self._n = len(sizes)
        self._at_work: set[str] = set()
        self._size_done = 0
        self._begin = time.monotonic()
        self._shown = self._begin - _PAUSE
        self._terminal = sys.stdout.isatty()
        self._lock = Lock()

    def start(self, what: str, name: str) -> None:
        """A step of a module begins: "compiling", "shop.till"."""
        with self._lock:
            self._at_work.add(name)
            now = time.monotonic()
            if self._terminal or now - self._shown >= _PAUSE:
                self._shown = now
                self._show(f"[{self._n - len(self._waiting)} of {self._n}] {what} {name}", now)

    def end(self, name: str) -> None:
        """A module is as it should be, whether or not there was something to do."""
        with self._lock:
            self._size_done += self._waiting.pop(name)

    def close(self) -> None:
        """The build is over; says how many modules it made."""
        if self._at_work:
            made = len(self._at_work - self._waiting.keys())
            seconds = time.monotonic() - self._begin
            text = f"built {made} of {self._n} modules in {_minutes(seconds)}"
            print(f"\r\x1b[K{text}" if self._terminal else text, flush=True)

    def _show(self, text: str, now: float) -> None:
        spent = now - self._begin
        if self._size_done and spent > _SURE:
            left = spent * sum(self._waiting.values()) / self._size_done
            text += f", about {_minutes(left)} left"
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{text[:width]}", end="", flush=True)
        else:
            print(text, flush=True)


def _minutes(seconds: float) -> str:
    return f"{round(seconds) // 60}:{round(seconds) % 60:02} minutes"
