"""What modules of `torch.testing._internal` know of other machines, and lists of PyTorch's samples.

The lists are empty, so that a test for each of their entries is none: the samples of PyTorch's
operators are PyTorch's. Capabilities of a GPU (`SM80OrLater`, `PLATFORM_SUPPORTS_...`) are False.
"""

from typing import Any

from dispatch.as_torch.testing.case import TestCase as JitTestCase

__all__ = [
    "GPU_TYPE",
    "HAS_CPU",
    "HAS_CUDA",
    "HAS_GPU",
    "RUN_CUDA",
    "TEST_CUDA",
    "TEST_MULTIGPU",
    "JitTestCase",
    "hop_db",
    "op_db",
]  # fmt: skip

GPU_TYPE = "cuda"
HAS_CPU = HAS_CUDA = HAS_GPU = RUN_CUDA = TEST_CUDA = TEST_MULTIGPU = False
hop_db: list[Any] = []
op_db: list[Any] = []


def __getattr__(name: str) -> bool:
    """No GPU can do anything."""
    if name.startswith(("PLATFORM_SUPPORTS_", "SM", "TEST_CUDNN", "IS_SM")):
        return False
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
