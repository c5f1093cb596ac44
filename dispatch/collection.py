"""When the collector does not look: what modules make while they load lives on.

`import dispatch` takes a tenth less time that way, numpy's part in it too.
"""

import gc

__all__ = ["Pause"]


class Pause:
    """No garbage is collected in the block; what it made is then as old as what outlived that."""

    def __enter__(self) -> None:
        self._collects = gc.isenabled()
        gc.disable()

    def __exit__(self, *raised: object) -> None:
        if self._collects:
            if gc.get_freeze_count() == 0:  # else what the program froze would not stay so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
