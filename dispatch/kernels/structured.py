"""The structured kernel's face for packages of others; it stands in `dispatch._C.structured`."""

from dispatch._C.structured import Shaped, TensorSpec

__all__ = ["Shaped", "TensorSpec"]
