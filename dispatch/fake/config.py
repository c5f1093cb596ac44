"""What new fake modes start with (torch._functorch.config and torch._dynamo.config in PyTorch).

A mode reads these when it is made, and keeps what it read; the preferred device is read when
devices differ.
"""

import contextlib
from typing import Any

from dispatch._C.changes import changed

__all__ = ["patch"]

fake_tensor_allow_meta = True  # meta tensors may be arguments
fake_tensor_cache_enabled = True  # results are kept by the arguments' metadata
fake_tensor_cache_crosscheck_enabled = False  # each of them is compared with a fresh run
fake_tensor_propagate_real_tensors = False  # real tensors run along, and nothing is kept
fake_tensor_prefer_device_type: str | None = None  # goes before others, where devices do not mix
# For programs that set them: a custom operator's results are looked at in every call, and refused.
check_custom_op_aliasing = True
error_on_custom_op_aliasing = True


def patch(
    settings: str | dict[str, Any] | None = None, value: Any = None, **more: Any
) -> contextlib.AbstractContextManager[None]:
    """Other settings in a block or a decorated function; AttributeError for one there is not.

    Example:
        >>> from dispatch.fake import FakeTensorMode, config
        >>> with config.patch(fake_tensor_allow_meta=False):
        ...     FakeTensorMode().allow_meta
        False
    """
    return changed(__name__, globals(), settings, value, more)
