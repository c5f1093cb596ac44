"""What stands for convolutions on a backend that has no kernel of its own for them.

The kernels for every backend (`elsewhere` in the YAML) call these for tensors that are not on the
CPU. Source of the semantics: PyTorch's CompositeExplicitAutograd kernels of the same names.
"""

from __future__ import annotations

from typing import Any

from dispatch._C.errors import refused

__all__ = ["backward_overrideable", "overrideable"]


def overrideable(*args: Any) -> Any:
    """Refuses: a backend registers `convolution_overrideable` to have convolutions."""
    raise refused(
        "convolution_overrideable not implemented: a backend registers a kernel of its own for it",
        NotImplementedError,
    )


def backward_overrideable(*args: Any) -> Any:
    """Refuses: a backend registers `convolution_backward_overrideable` to have the gradients."""
    raise refused(
        "convolution_backward_overrideable not implemented: a backend registers one of its own",
        NotImplementedError,
    )
