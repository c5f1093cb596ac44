from dispatch._C.generator import Generator
from dispatch._C.tensor import Tensor

def has_weights(self: Tensor) -> bool: ...
def multinomial_with_replacement(
    out: Tensor, self: Tensor, generator: Generator | None
) -> None: ...
def rrelu_train(
    out: Tensor,
    self: Tensor,
    noise: Tensor,
    low: float,
    high: float,
    generator: Generator | None,
) -> None: ...
def sample_dirichlet(self: Tensor, generator: Generator | None) -> Tensor: ...
