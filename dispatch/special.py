"""Special functions under PyTorch's names: `dispatch.special.i0` is the operator `special_i0`."""

from dispatch._C.prefixed import OperatorModule

__getattr__, __dir__ = OperatorModule(__name__, "special_").protocol()
