"""`torch.nn.parallel` where no device has memory of its own: the module itself does the work.

Source of the semantics: `torch/nn/parallel/data_parallel.py`.
"""

from typing import Any

from dispatch.as_torch.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


class DataParallel(Module):
    """A module whose batches would go to several devices; there are none (torch.nn.DataParallel).

    Args:
        module: it gets the inputs as they are, and its names in `state_dict` begin with `module.`
        device_ids, output_device: not used, as in PyTorch without devices.
        dim: the dimension of the batch; kept.
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's result."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:  # fmt: skip
    """The module's result for `inputs`, one or a tuple (torch.nn.parallel.data_parallel)."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))
