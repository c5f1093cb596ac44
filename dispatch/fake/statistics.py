"""The log of fake tensors, and what the caches of all modes counted, written there.

`logging.getLogger("dispatch.fake")`, also under PyTorch's names; nothing is written unless the
program sets its level. `logging` prepares forks, as `dispatch.forks` does, and calls come to this
room: it is imported when somebody asks for the log, not before.
"""

from __future__ import annotations

import atexit
import sys
from typing import TYPE_CHECKING

from dispatch.fake.cache import total_info

if TYPE_CHECKING:
    from logging import Logger

__all__ = ["dump_cache_stats"]


def _log() -> Logger:
    """The log of this room."""
    import logging

    return logging.getLogger("dispatch.fake")


def __getattr__(name: str) -> Logger:
    if name != "log":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _log()


@atexit.register
def dump_cache_stats() -> None:
    """Write hits, misses, and calls that are not kept with the reasons, most frequent first.

    At the end of the program too. Source: torch._subclasses.fake_tensor.dump_cache_stats.
    """
    if "logging" not in sys.modules:
        return  # so nobody has set a level
    log = _log()
    if not log.isEnabledFor(20):  # INFO
        return
    info = total_info()
    log.info("FakeTensor cache stats:")
    log.info("  cache_hits: %s", info.hits)
    log.info("  cache_misses: %s", info.misses)
    if info.bypasses:
        log.info("  cache_bypasses:")
        width = max(map(len, info.bypasses)) + 1
        for why, count in sorted(info.bypasses.items(), key=lambda row: -row[1]):
            log.info("    %-*s %s", width, f"{why}:", count)
