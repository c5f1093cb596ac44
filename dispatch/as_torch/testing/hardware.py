"""Marks of tests for other machines and builds: who waits for one is skipped, others run.

Tables, for `common_utils`, `common_device_type`, `common_cuda` and their like: `_SAME` leaves a
test as it is, with or without arguments, `_NEEDS` skips it. Constants say that nothing is there.
"""

import contextlib
import importlib.util
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import dispatch
from dispatch.as_torch.testing.marks import _as_it_is

__all__ = [
    "CUDA_ALREADY_INITIALIZED_ON_IMPORT", "CUDA_DEVICE", "E4M3_MAX_POS", "E5M2_MAX_POS",
    "GPU_TYPES", "HAS_PSUTIL", "IS_AVX512_VNNI_SUPPORTED", "IS_CPU_CAPABILITY_SVE",
    "IS_CPU_CAPABILITY_SVE256", "IS_CPU_EXT_SVE_SUPPORTED", "MACOS_VERSION", "MI200_ARCH",
    "MI300_ARCH", "MI350_ARCH", "NAVI3_ARCH", "NAVI4_ARCH", "NAVI_ARCH", "NO_MULTIPROCESSING_SPAWN",
    "PYTORCH_CUDA_MEMCHECK", "TEST_ACL", "TEST_BAILOUTS", "TEST_CUDA_CUDSS", "TEST_CUDA_GRAPH",
    "TEST_CUDA_MEM_LEAK_CHECK", "TEST_CUSPARSE_GENERIC", "TEST_FAIRSEQ", "TEST_HIPSPARSE_GENERIC",
    "TEST_LIBROSA", "TEST_MULTIACCELERATOR", "TEST_NUMBA", "TEST_ONEDNN", "TEST_OPT_EINSUM",
    "TEST_SKIP_CUDAGRAPH", "TEST_SKIP_FAST", "TEST_TRANSFORMERS", "TEST_WITH_AOT_EAGER",
    "TEST_WITH_MIOPEN_SUGGEST_NHWC", "TEST_WITH_MTIA", "TEST_WITH_SLOW_GRADCHECK", "TEST_WITH_TV",
    "TEST_Z3", "CDNA2OrLater", "CDNA3OrLater", "bf32_is_not_fp32", "reduced_f32_on_and_off",
    "tf32_enabled", "tf32_is_not_fp32", "tf32_off", "tf32_on", "tf32_on_and_off", "with_tf32_off",
]  # fmt: skip

IS_AVX512_VNNI_SUPPORTED = IS_CPU_CAPABILITY_SVE = IS_CPU_CAPABILITY_SVE256 = False
IS_CPU_EXT_SVE_SUPPORTED = NO_MULTIPROCESSING_SPAWN = PYTORCH_CUDA_MEMCHECK = False
TEST_ACL = TEST_BAILOUTS = TEST_CUDA_CUDSS = TEST_CUDA_GRAPH = TEST_CUDA_MEM_LEAK_CHECK = False
TEST_CUSPARSE_GENERIC = TEST_HIPSPARSE_GENERIC = TEST_MULTIACCELERATOR = TEST_ONEDNN = False
TEST_SKIP_CUDAGRAPH = TEST_SKIP_FAST = TEST_WITH_AOT_EAGER = TEST_WITH_MTIA = False
TEST_WITH_MIOPEN_SUGGEST_NHWC = TEST_WITH_SLOW_GRADCHECK = TEST_WITH_TV = False
CUDA_ALREADY_INITIALIZED_ON_IMPORT = False
CUDA_DEVICE = None
GPU_TYPES = ["cuda", "mps", "xpu", "mtia"]
MACOS_VERSION = -1.0
MI200_ARCH, MI300_ARCH, MI350_ARCH = ("gfx90a",), ("gfx942",), ("gfx950",)
NAVI3_ARCH, NAVI4_ARCH = ("gfx1100", "gfx1101"), ("gfx1200", "gfx1201")
NAVI_ARCH = ("gfx1030", *NAVI3_ARCH, *NAVI4_ARCH)
E4M3_MAX_POS = dispatch.finfo(dispatch.float8_e4m3fn).max
E5M2_MAX_POS = dispatch.finfo(dispatch.float8_e5m2).max


def _is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


HAS_PSUTIL, TEST_FAIRSEQ, TEST_LIBROSA, TEST_NUMBA, TEST_OPT_EINSUM, TEST_TRANSFORMERS, TEST_Z3 = (
    _is_there(name)
    for name in ("psutil", "fairseq", "librosa", "numba", "opt_einsum", "transformers", "z3")
)

_SAME = """
disableMkldnn disablecuDNN expectedFailureCUDA expectedFailureHPU expectedFailureMPSPre14
expectedFailureMPSPre15 expectedFailureXPU gcIfJetson recover_orig_fp32_precision
runWithoutCompiledAutograd setBlasBackendsToDefaultFinally setSdpaBackendsToDefaultFinally
skipCPUIfNoMklSparse skipCPUIfNoMkldnn skipCUDAIfCudnnVersionLessThan skipCUDAIfMiopen
skipCUDAIfNoCudnn skipCUDAIfNoCusolverROCMIfNoMagma skipCUDAIfNoCusparseGeneric
skipCUDAIfNoHipsparseGeneric skipCUDAIfNoMagmaAndNoLinalgsolver skipCUDAIfNoMiopen
skipCUDAIfNoSparseGeneric skipCUDAIfNotMiopenSuggestNHWC skipCUDAIfNotRocm
skipCUDAIfRocmHipBlasltVersionLessThan skipCUDAIfRocmVersionLessThan skipCUDAIfVersionLessThan
skipCUDAMemoryLeakCheckIf skipCUDANonDefaultStreamIf skipCUDAVersionIn skipGPUIf skipHPU skipHPUIf
skipIfCachingAllocatorDisabled skipIfCompiledWithoutNumpy skipIfFreeThreaded skipIfHpu_BUGGY
skipIfLegacyJitExecutor skipIfNoDynamoSupport skipIfNoInductorSupport skipIfRocmArch
skipIfRocmVersionLessThan skipIfRocm_BUGGY skipIfWindowsXPU skipIfXpu_BUGGY skipLazyIf skipMPSIf
skipMetaIf skipPRIVATEUSE1 skipPRIVATEUSE1If skipRocmIfTorchInductor skipXLAIf
with_ieee_matmul_precision xfailCUDAIfSM89OrLaterOnWindows xfailIfACL xfailIfNoAcceleratorTriton
xfailIfROCm xfailIfSM89 xfailIfSM90 xfailIfSM89PreCUDA13 xfailIfSM100OrLater xfailIfSM120OrLater
xfailIfSM12X xfailIfWindows
"""
_NEEDS = """
onlyCUDAAndPRIVATEUSE1 onlyHPU onlyMPS onlyPRIVATEUSE1 onlyXPU requires_cuda_and_triton
requires_cuda_p2p_access requires_gpu_and_triton requires_xpu_and_triton runOnRocm skipIfNoXNNPACK
skipIfNoXPU skipIfNotMiopenSuggestNHWC skipIfNoFBGEMM skipIfNoQNNPACK skipIfNoONEDNN
skipIfNoONEDNNBF16 skipIfNoX86
"""
# What PyTorch has as functions of no arguments that give a mark.
_NEED_AFTER_CALL = "requires_gpu requires_triton requires_helion runOnRocmArch skipIfNotRegistered"

globals().update(dict.fromkeys(_SAME.split(), _as_it_is))
globals().update({name: unittest.skip(f"{name}: not here") for name in _NEEDS.split()})


def _skips(name: str) -> Callable[..., Any]:
    def mark(*args: Any, **kwargs: Any) -> Any:
        found = unittest.skip(f"{name}: not here")
        plain = len(args) == 1 and callable(args[0]) and not kwargs
        return found(args[0]) if plain else found

    return mark


globals().update({name: _skips(name) for name in _NEED_AFTER_CALL.split()})
__all__ += [*_SAME.split(), *_NEEDS.split(), *_NEED_AFTER_CALL.split()]


def _never(*args: Any, **kwargs: Any) -> bool:
    """False: there is no such hardware."""
    return False


CDNA2OrLater = CDNA3OrLater = bf32_is_not_fp32 = tf32_is_not_fp32 = _never
_PROBES = """
evaluate_platform_supports_bf16 evaluate_platform_supports_cudnn_attention
evaluate_platform_supports_efficient_attention evaluate_platform_supports_flash_attention
evaluate_platform_supports_fp8 evaluate_platform_supports_fp8_grouped_gemm
evaluate_platform_supports_mx_gemm has_cusolver has_hipsolver isRocmArchAnyOf is_navi3_arch
"""
globals().update(dict.fromkeys(_PROBES.split(), _never))
__all__ += _PROBES.split()
_VERSIONS = "_get_torch_cuda_version _get_torch_rocm_version _get_magma_version"
globals().update(dict.fromkeys(_VERSIONS.split(), lambda: (0, 0)))
__all__ += _VERSIONS.split()


@contextlib.contextmanager
def tf32_off(*args: Any, **kwargs: Any) -> Iterator[None]:
    """Products in full precision in the block: they are so everywhere."""
    yield


tf32_on = tf32_enabled = tf32_off
with_tf32_off = _as_it_is


def tf32_on_and_off(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """The test runs once: there is one precision of float32."""
    return _as_it_is


reduced_f32_on_and_off = tf32_on_and_off
