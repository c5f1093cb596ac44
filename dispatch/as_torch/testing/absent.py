"""What modules of `torch.testing._internal` know of other machines, and lists of PyTorch's samples.

The lists are empty, so that a test for each of their entries is none: the samples of PyTorch's
operators, modules and optimizers are PyTorch's. Capabilities of a GPU (`SM80OrLater`,
`PLATFORM_SUPPORTS_...`) are False.
"""

import contextlib
from typing import Any

from dispatch.as_torch.testing.case import TestCase as JitTestCase

_LISTS = """
autograd_function_db binary_ufuncs criterion_tests foreach_binary_op_db foreach_other_op_db
foreach_pointwise_op_db foreach_reduce_op_db foreach_unary_op_db hop_db module_db module_tests op_db
ops_and_refs optim_db python_ref_db reduction_ops reference_filtered_ops reference_masked_ops
shape_funcs sparse_reduction_ops sparse_unary_ufuncs spectral_funcs unary_ufuncs
"""
__all__ = [
    "GPU_TYPE", "HAS_CPU", "HAS_CUDA", "HAS_CUDA_AND_TRITON", "HAS_GPU", "HAS_MULTIGPU",
    "HAS_TRITON", "RUN_CPU", "RUN_CUDA", "RUN_GPU", "TEST_CUDA", "TEST_MULTIGPU", "JitTestCase",
    "get_new_module_tests", "loss_reference_fns", "maybe_skip_size_asserts", *_LISTS.split(),
]  # fmt: skip

GPU_TYPE = "cuda"
HAS_CPU = HAS_CUDA = HAS_GPU = RUN_CUDA = TEST_CUDA = TEST_MULTIGPU = False
HAS_CUDA_AND_TRITON = HAS_MULTIGPU = HAS_TRITON = RUN_CPU = RUN_GPU = False
globals().update({name: [] for name in _LISTS.split()})
loss_reference_fns: dict[str, Any] = {}


def get_new_module_tests() -> list[Any]:
    """None."""
    return []


def maybe_skip_size_asserts(op: Any) -> contextlib.nullcontext[None]:
    """A block in which a compiler would check fewer sizes."""
    return contextlib.nullcontext()


def __getattr__(name: str) -> bool:
    """No GPU can do anything."""
    if name.startswith(("PLATFORM_SUPPORTS_", "SM", "TEST_CUDNN", "IS_SM", "IS_THOR")):
        return False
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
