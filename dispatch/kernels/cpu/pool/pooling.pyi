from dispatch._C.tensor import Tensor

def max_line(
    self: Tensor, kernel: int, stride: int, padding: int, dilation: int
) -> Tensor | None: ...
