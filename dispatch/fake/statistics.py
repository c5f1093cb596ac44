"""The log of fake tensors, and what the caches of all modes counted, written there.

`logging.getLogger("dispatch.fake")`, also under PyTorch's names; nothing is written unless the
program sets its level.
"""

import atexit
import logging

from dispatch.fake.cache import total_info

__all__ = ["dump_cache_stats", "log"]

log = logging.getLogger("dispatch.fake")


@atexit.register
def dump_cache_stats() -> None:
    """Write hits, misses, and calls that are not kept with the reasons, most frequent first.

    At the end of the program too. Source: torch._subclasses.fake_tensor.dump_cache_stats.
    """
    if not log.isEnabledFor(logging.INFO):
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
