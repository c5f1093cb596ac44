"""Marks and constants of `torch.testing._internal.common_utils`: what a test waits for, and where.

There are no GPUs, compilers or other machines here: a mark that skips a test there leaves it as it
is, one that needs them skips it.
"""

import contextlib
import enum
import functools
import importlib.util
import io
import os
import sys
import tempfile
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy

import dispatch
from dispatch.as_torch import deterministic

__all__ = [
    "IS_ARM64", "IS_CI", "IS_FBCODE", "IS_FILESYSTEM_UTF8_ENCODING", "IS_JETSON", "IS_LINUX",
    "IS_MACOS", "IS_PPC",
    "IS_REMOTE_GPU", "IS_S390X", "IS_SANDCASTLE", "IS_WINDOWS", "IS_X86", "NOTEST_CPU",
    "TEST_ACCELERATOR", "TEST_CUDA", "TEST_DILL", "TEST_HPU", "TEST_MKL", "TEST_MPS",
    "TEST_MULTIGPU", "TEST_NUMPY", "TEST_PRIVATEUSE1", "TEST_PRIVATEUSE1_DEVICE_TYPE",
    "TEST_SCIPY", "TEST_WITH_ASAN", "TEST_WITH_CROSSREF", "TEST_WITH_ROCM", "TEST_WITH_SLOW",
    "TEST_WITH_TORCHDYNAMO", "TEST_WITH_TORCHINDUCTOR", "TEST_WITH_TSAN", "TEST_WITH_UBSAN",
    "TEST_XPU",
    "AlwaysWarnTypedStorageRemoval", "BytesIOContext",
    "DeterministicGuard", "HardwareClassification", "TemporaryDirectoryName", "TemporaryFileName",
    "bytes_to_scalar", "decorateIf",
    "dtype_name", "first_sample",
    "freeze_rng_state", "is_iterable_of_tensors", "load_tests", "markDynamoStrictTest",
    "noncontiguous_like", "numpy_to_torch_dtype_dict", "requires_cuda", "scoped_load_inline",
    "serialTest",
    "setLinalgBackendsToDefaultFinally", "set_default_dtype", "skipIfCrossRef", "skipIfHpu",
    "skipIfMPS", "skipIfNoLapack", "skipIfNoSciPy", "skipIfRocm",
    "skipIfTorchDynamo", "skipIfTorchInductor", "skipIfWindows",
    "skipIfXpu", "slowTest", "suppress_warnings", "torch_to_numpy_dtype_dict",
    "unMarkDynamoStrictTest", "wrapDeterministicFlagAPITest", "xfailIfS390X",
    "xfailIfTorchDynamo", "xfail_inherited_tests",
]  # fmt: skip

F = TypeVar("F")
_OF_NUMPY = (
    "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64 complex128"
)
numpy_to_torch_dtype_dict: dict[Any, Any] = {
    numpy.bool_: dispatch.bool,
    **{getattr(numpy, name): getattr(dispatch, name) for name in _OF_NUMPY.split()},
}
torch_to_numpy_dtype_dict: dict[Any, Any] = {
    **{dtype: kind for kind, dtype in numpy_to_torch_dtype_dict.items()},
    dispatch.bfloat16: numpy.float32,
    dispatch.complex32: numpy.complex64,
}


class HardwareClassification(enum.Enum):
    """The hardware that a test case says it is for, in its attribute `hw_classification`."""

    GENERIC = "generic"
    ACCELERATOR = "accelerator"
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"
    XPU = "xpu"


IS_LINUX = sys.platform == "linux"
IS_MACOS = sys.platform == "darwin"
IS_WINDOWS = sys.platform == "win32"
_MACHINE = getattr(os, "uname", lambda: ("",))()[-1]
IS_ARM64 = _MACHINE in ("arm64", "aarch64")
IS_X86 = _MACHINE in ("x86_64", "i386")
IS_S390X = _MACHINE == "s390x"
IS_CI = bool(os.getenv("CI"))
IS_FBCODE = IS_JETSON = IS_PPC = IS_REMOTE_GPU = IS_SANDCASTLE = NOTEST_CPU = False
TEST_ACCELERATOR = TEST_CUDA = TEST_HPU = TEST_MPS = TEST_MULTIGPU = TEST_XPU = False
TEST_MKL = TEST_PRIVATEUSE1 = False
TEST_PRIVATEUSE1_DEVICE_TYPE = "privateuseone"
TEST_NUMPY = True
TEST_DILL = importlib.util.find_spec("dill") is not None
IS_FILESYSTEM_UTF8_ENCODING = sys.getfilesystemencoding() == "utf-8"
TEST_SCIPY = importlib.util.find_spec("scipy") is not None
TEST_WITH_ASAN = TEST_WITH_CROSSREF = TEST_WITH_ROCM = TEST_WITH_SLOW = TEST_WITH_TSAN = False
TEST_WITH_TORCHDYNAMO = TEST_WITH_TORCHINDUCTOR = TEST_WITH_UBSAN = False
load_tests = None  # a hook of unittest's, which programs import for their own module


def _as_it_is(decorated: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A mark with or without arguments that changes nothing: what it waits for is not here."""
    plain = callable(decorated) and not args and not kwargs
    return decorated if plain else lambda function: function


skipIfCrossRef = skipIfHpu = skipIfMPS = skipIfRocm = skipIfTorchDynamo = _as_it_is
skipIfTorchInductor = skipIfXpu = xfailIfTorchDynamo = markDynamoStrictTest = _as_it_is
skipIfNoLapack = _as_it_is
unMarkDynamoStrictTest = slowTest = serialTest = setLinalgBackendsToDefaultFinally = _as_it_is


def _unless(there: bool, mark: Callable[[Any], Any]) -> Callable[..., Any]:
    """A mark with or without arguments that applies `mark` where `there` holds."""

    def marked(decorated: Any = None, *args: Any, **kwargs: Any) -> Any:
        if callable(decorated) and not args and not kwargs:
            return mark(decorated) if there else decorated
        return mark if there else lambda function: function

    return marked


skipIfNoSciPy = _as_it_is if TEST_SCIPY else unittest.skip("there is no scipy")
skipIfWindows = _unless(IS_WINDOWS, unittest.skip("not on Windows"))
xfailIfS390X = _unless(IS_S390X, unittest.expectedFailure)
requires_cuda = unittest.skip("there is no CUDA")
scoped_load_inline = unittest.skip("there is no compiler of extensions")


def decorateIf(
    decorator: Callable[[Any], Any], predicate: Callable[[dict[str, Any]], bool]
) -> Callable[[F], F]:
    """A decorator for those values of `parametrize` for which `predicate(arguments)` holds."""

    def mark(function: F) -> F:
        chosen = [*getattr(function, "_decorated_if", ()), (decorator, predicate)]
        function._decorated_if = chosen  # type: ignore[attr-defined]
        return function

    return mark


def xfail_inherited_tests(tests: Iterable[str]) -> Callable[[type], type]:
    """A class decorator: inherited tests of these names are expected to fail."""

    def mark(cls: type) -> type:
        for name in tests:
            inherited = getattr(cls, name)

            def test(self: Any, _inherited: Any = inherited) -> None:
                _inherited(self)

            setattr(cls, name, unittest.expectedFailure(test))
        return cls

    return mark


def suppress_warnings(function: Callable[..., None]) -> Callable[..., None]:
    """A decorator: what the test warns of is not seen."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(*args, **kwargs)

    return run


@contextlib.contextmanager
def BytesIOContext(*args: Any, **kwargs: Any) -> Iterator[io.BytesIO]:
    """A file in memory, for a block."""
    with io.BytesIO(*args, **kwargs) as file:
        yield file


@contextlib.contextmanager
def TemporaryFileName(*args: Any, **kwargs: Any) -> Iterator[str]:
    """The path of an empty file, for a block."""
    with TemporaryDirectoryName() as folder:
        handle, path = tempfile.mkstemp(dir=folder, suffix=kwargs.get("suffix"))
        os.close(handle)
        yield path


@contextlib.contextmanager
def TemporaryDirectoryName(suffix: str | None = None) -> Iterator[str]:
    """The path of an empty folder, for a block."""
    with tempfile.TemporaryDirectory(suffix=suffix) as folder:
        yield folder


@contextlib.contextmanager
def freeze_rng_state() -> Iterator[None]:
    """After the block, random numbers go on as if it had drawn none."""
    state = dispatch.get_rng_state()
    try:
        yield
    finally:
        dispatch.set_rng_state(state)


@contextlib.contextmanager
def DeterministicGuard(
    mode: bool, *, warn_only: bool = False, fill_uninitialized_memory: bool = True
) -> Iterator[None]:
    """In its block the settings of deterministic algorithms are these."""
    before = deterministic.get_deterministic_debug_mode(), deterministic.fill_uninitialized_memory
    deterministic.use_deterministic_algorithms(mode, warn_only=warn_only)
    deterministic.fill_uninitialized_memory = fill_uninitialized_memory
    try:
        yield
    finally:
        deterministic.set_deterministic_debug_mode(before[0])
        deterministic.fill_uninitialized_memory = before[1]


def wrapDeterministicFlagAPITest(function: Callable[..., None]) -> Callable[..., None]:
    """A decorator: settings of deterministic algorithms that the test changes are put back."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        with DeterministicGuard(deterministic.are_deterministic_algorithms_enabled()):
            function(*args, **kwargs)

    return run


@contextlib.contextmanager
def AlwaysWarnTypedStorageRemoval(always_warn: bool) -> Iterator[None]:
    """A block in which storages with a dtype would warn at each call: they warn each time here."""
    yield


def bytes_to_scalar(byte_list: list[int], dtype: Any, device: Any) -> dispatch.Tensor:
    """The number that these bytes are, as a tensor without dimensions; a bool of any byte."""
    held = [byte != 0 for byte in byte_list] if dtype == dispatch.bool else byte_list
    return dispatch.tensor(held, dtype=dispatch.uint8, device=device).view(dtype).reshape(())


@contextlib.contextmanager
def set_default_dtype(dtype: dispatch.dtype) -> Iterator[None]:
    """Another default dtype in the block."""
    before = dispatch.get_default_dtype()
    dispatch.set_default_dtype(dtype)
    try:
        yield
    finally:
        dispatch.set_default_dtype(before)


def first_sample(test: unittest.TestCase, samples: Iterable[Any]) -> Any:
    """The first of the samples; the test is skipped without any."""
    for sample in samples:
        return sample
    test.skipTest("there is no sample")


def is_iterable_of_tensors(iterable: Any, include_empty: bool = False) -> bool:
    """Whether it holds tensors and nothing else; a tensor itself does not."""
    if isinstance(iterable, dispatch.Tensor) or not isinstance(iterable, Iterable):
        return False
    held = list(iterable)
    return all(isinstance(t, dispatch.Tensor) for t in held) if held else include_empty


def dtype_name(dtype: dispatch.dtype) -> str:
    """ "float32" for `torch.float32`."""
    return str(dtype).rpartition(".")[2]


def noncontiguous_like(t: dispatch.Tensor) -> dispatch.Tensor:
    """The same values with gaps between them, where there is more than one."""
    if t.numel() < 2 or not t.is_contiguous():
        return t
    wide = dispatch.full((*t.shape, 2), 7, dtype=t.dtype, device=t.device)
    found = wide[..., 1]
    found.copy_(t.detach())
    return found.requires_grad_(t.requires_grad)
