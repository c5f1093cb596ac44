"""Linear algebra under PyTorch's names: `dispatch.linalg.inv` is the operator `linalg_inv`."""

from dispatch._C.errors import LinAlgError
from dispatch._C.prefixed import OperatorModule

__all__ = ["LinAlgError"]

__getattr__, __dir__ = OperatorModule(__name__, "linalg_").protocol()
