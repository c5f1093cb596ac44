"""What a ShapeEnv heeds (torch.fx.experimental._config in PyTorch).

`use_duck_shape` is read when an environment is made, the others whenever they decide.
"""

import contextlib
from typing import Any

from dispatch._C.changes import changed

__all__ = ["patch"]

use_duck_shape = True  # sizes of the same number are one symbol, unless the environment says
backed_size_oblivious = False  # new sizes may be 0 and 1, and `guard_or_false` makes no guard
symbol_guard_limit_before_specialize: int | None = None  # a symbol with more guards is a number
soft_pending_unbacked_not_found_error = False  # a warning in the log where a symbol is nowhere
# For programs that read or set them: no graph is traced here that these could change.
no_data_dependent_graph_break = False
translation_validation = False
print_specializations = False


def patch(
    settings: str | dict[str, Any] | None = None, value: Any = None, **more: Any
) -> contextlib.AbstractContextManager[None]:
    """Other settings in a block or a decorated function; AttributeError for one there is not.

    Example:
        >>> from dispatch.symbolic import ShapeEnv, config
        >>> with config.patch(use_duck_shape=False):
        ...     ShapeEnv().duck_shape
        False
    """
    return changed(__name__, globals(), settings, value, more)
