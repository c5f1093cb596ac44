from typing import Any

from dispatch._C.tensor import Tensor

def from_numpy(array: Any) -> Tensor: ...
