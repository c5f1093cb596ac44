from collections.abc import Sequence

from dispatch._C.tensor import Tensor

def einsum(
    equation: str, tensors: Sequence[Tensor], *, path: Sequence[int] | None = None
) -> Tensor: ...
def multiply_sum(a: Tensor, b: Tensor, dims: list[int]) -> Tensor: ...
