"""`torch.nn`: functions, parameters and modules. There are no optimisers and no gradients.

`modules` has the modules, `functional` the functions of `torch.nn.functional` (activations and
norms in `layers`, `attention`, pools and resizing in `resampling`, losses in `losses`), `parameter`
tensors that say that they are parameters. Each function asks `__torch_function__` as PyTorch's does
and then calls operators.
"""

from dispatch.as_torch.nn.parameter import (
    Buffer,
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
)

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]
