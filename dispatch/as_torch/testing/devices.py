"""`torch.testing._internal.common_device_type`: tests for each device type, dtype and operator.

The one device type is the CPU: `instantiate_device_type_tests(TestX, globals())` makes `TestXCPU`
out of `TestX`, whose tests get `device`, and what `dtypes`, `ops` and `parametrize` name.
"""

import enum
import inspect
import unittest
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import dispatch
from dispatch.as_torch.testing.case import (
    Case,
    TestCase,
    instantiate_parametrized_tests,
    parametrize,
)
from dispatch.as_torch.testing.marks import _as_it_is, decorateIf, dtype_name

__all__ = [
    "PYTORCH_TESTING_DEVICE_EXCEPT_FOR_KEY",
    "PYTORCH_TESTING_DEVICE_ONLY_FOR_KEY",
    "CPUTestBase",
    "DeviceTypeTestBase",
    "OpDTypes",
    "SkipSpec",
    "deviceCountAtLeast",
    "dtypes",
    "dtypesIfCPU",
    "dtypesIfCUDA",
    "dtypesIfHPU",
    "dtypesIfMPS",
    "dtypesIfPRIVATEUSE1",
    "dtypesIfXPU",
    "e4m3_type",
    "expectedFailure",
    "expectedFailureCPU",
    "expectedFailureMPS",
    "expectedFailureMPSComplex",
    "expectedFailureMeta",
    "expectedFailureXLA",
    "get_all_device_types",
    "get_desired_device_type_test_bases",
    "get_device_type_test_bases",
    "instantiate_device_type_tests",
    "largeTensorTest",
    "onlyAccelerator",
    "onlyCPU",
    "onlyCUDA",
    "onlyNativeDeviceTypes",
    "onlyNativeDeviceTypesAnd",
    "onlyOn",
    "ops",
    "precisionOverride",
    "skip",
    "skipCPUIf",
    "skipCPUIfNoFFT",
    "skipCPUIfNoLapack",
    "skipCPUIfNoMkl",
    "skipCUDAIf",
    "skipCUDAIfNoCusolver",
    "skipCUDAIfNoMagma",
    "skipCUDAIfNoMagmaAndNoCusolver",
    "skipCUDAIfRocm",
    "skipIf",
    "skipLazy",
    "skipMPS",
    "skipMeta",
    "skipOps",
    "skipXLA",
    "skipXPU",
    "skipXPUIf",
    "tol",
    "toleranceOverride",
    "xfail",
]  # fmt: skip

e4m3_type = dispatch.float8_e4m3fn
PYTORCH_TESTING_DEVICE_ONLY_FOR_KEY = "PYTORCH_TESTING_DEVICE_ONLY_FOR"
PYTORCH_TESTING_DEVICE_EXCEPT_FOR_KEY = "PYTORCH_TESTING_DEVICE_EXCEPT_FOR"


class DeviceTypeTestBase(TestCase):
    """A test case for one type of device."""

    device_type = "generic_device_type"


class CPUTestBase(DeviceTypeTestBase):
    """A test case for the CPU."""

    device_type = "cpu"


DeviceTypeTestBase.__test__ = CPUTestBase.__test__ = False


def get_device_type_test_bases() -> list[type]:
    """Test cases for the types of devices that there are."""
    return [CPUTestBase]


get_desired_device_type_test_bases = get_device_type_test_bases


class OpDTypes(enum.Enum):
    """Which dtypes of its operators a test runs with."""

    supported = 0
    unsupported = 1
    supported_backward = 2
    unsupported_backward = 3
    any_one = 4
    none = 5
    any_common_cpu_cuda_one = 6


class dtypes(parametrize):
    """A decorator: the test runs for each dtype, or for each tuple of them."""

    def __init__(self, *args: Any, device_type: str = "all") -> None:
        super().__init__("dtype", (tuple(d) if isinstance(d, list) else d for d in args))
        self.here = device_type in ("all", "cpu")

    def __call__(self, function: Any) -> Any:
        marks = getattr(function, "_parameters", ())
        if not self.here or any(isinstance(mark, dtypesIfCPU) for mark in marks):
            return function
        return super().__call__(function)

    def cases(self) -> Iterator[Case]:
        for value in self.values:
            named = value if isinstance(value, tuple) else (value,)
            yield "", "_".join(map(dtype_name, named)), {"dtype": value}, []


class dtypesIfCPU(dtypes):
    """`dtypes` on the CPU, instead of those of `dtypes` above or below it."""

    def __call__(self, function: Any) -> Any:
        kept = [m for m in getattr(function, "_parameters", ()) if not isinstance(m, dtypes)]
        function._parameters = [*kept, self]
        return function


def dtypesIfCUDA(*args: Any) -> Callable[[Any], Any]:
    """`dtypes` where there is CUDA: not here."""
    return _as_it_is(*args) if len(args) > 1 else lambda function: function


dtypesIfHPU = dtypesIfMPS = dtypesIfXPU = dtypesIfPRIVATEUSE1 = dtypesIfCUDA


def get_all_device_types() -> list[str]:
    """The CPU is all there is."""
    return ["cpu"]



class ops(parametrize):
    """A decorator: the test runs for each operator of a list, and each of its dtypes."""

    def __init__(
        self,
        op_list: Iterable[Any],
        *,
        dtypes: OpDTypes | Sequence[Any] = OpDTypes.supported,
        allowed_dtypes: Sequence[Any] | None = None,
        skip_if_dynamo: bool = True,
    ) -> None:
        super().__init__("op", op_list)
        self.dtypes, self.allowed = dtypes, allowed_dtypes

    def cases(self) -> Iterator[Case]:
        for op in self.values:
            name = getattr(op, "full_name", op.name).replace(".", "_")
            if self.dtypes is OpDTypes.none:
                yield name, "", {"op": op}, []
            for dtype in self._dtypes_of(op):
                yield name, dtype_name(dtype), {"op": op, "dtype": dtype}, []

    def _dtypes_of(self, op: Any) -> list[Any]:
        if self.dtypes is OpDTypes.none:
            return []
        there = list(op.supported_dtypes("cpu"))
        if not isinstance(self.dtypes, OpDTypes):
            there = list(self.dtypes)
        found = [d for d in there if self.allowed is None or d in self.allowed]
        one = self.dtypes in (OpDTypes.any_one, OpDTypes.any_common_cpu_cuda_one)
        return found[:1] if one else sorted(found, key=str)


def instantiate_device_type_tests(
    generic_test_class: type,
    scope: dict[str, Any],
    except_for: Any = None,
    only_for: Any = None,
    include_lazy: bool = False,
    allow_mps: bool = False,
    allow_xpu: bool = False,
    allow_hpu: bool = False,
) -> None:
    """Replace a class of tests in `scope` by one for the CPU, unless it is not meant for it."""
    scope.pop(generic_test_class.__name__, None)
    chosen = only_for is None or "cpu" in ([only_for] if isinstance(only_for, str) else only_for)
    if not chosen or "cpu" in ([except_for] if isinstance(except_for, str) else except_for or ()):
        return
    name = generic_test_class.__name__ + "CPU"
    own = {"device_type": "cpu", "__module__": generic_test_class.__module__}
    made = type(name, (generic_test_class,), own)
    for test, function in list(_tests_of(generic_test_class)):
        setattr(made, test, None)  # the loader passes over what cannot be called
        _enter(made, test, function)
    scope[name] = instantiate_parametrized_tests(made)


def _tests_of(cls: type) -> Iterator[tuple[str, Any]]:
    for name, function in vars(cls).items():
        if name.startswith("test") and callable(function):
            yield name, function


def _enter(cls: type, name: str, function: Any) -> None:
    """A test with the device after `self`, if it asks for one; its marks come along."""
    names = inspect.signature(function).parameters
    tolerances = getattr(function, "_tolerances", {})

    def test(self: Any, **kwargs: Any) -> Any:
        if kwargs.get("dtype") in tolerances:
            self.precision, self.rel_tol = tolerances[kwargs["dtype"]]
        if "dtypes" in names and "dtype" in kwargs:
            kwargs["dtypes"] = kwargs.pop("dtype")
        if "devices" in names:
            return function(self, ["cpu"], **kwargs)
        if "device" in names:
            kwargs["device"] = "cpu"
        return function(self, **kwargs)

    test.__dict__.update(function.__dict__)
    test.__name__, test.__doc__ = f"{name}_cpu", function.__doc__
    test._stem_and_device = name, "cpu"  # type: ignore[attr-defined]
    setattr(cls, test.__name__, test)


def onlyCPU(function: Any) -> Any:
    """The test as it is: the CPU is what there is."""
    return function


onlyNativeDeviceTypes = onlyCPU
onlyCUDA = unittest.skip("there is no CUDA")
onlyAccelerator = unittest.skip("there is no accelerator")


def onlyOn(device_type: str | Sequence[str]) -> Callable[[Any], Any]:
    """Skips the test unless the CPU is meant."""
    kinds = [device_type] if isinstance(device_type, str) else device_type
    return onlyCPU if "cpu" in kinds else unittest.skip(f"only on {', '.join(kinds)}")


def onlyNativeDeviceTypesAnd(devices: Any = None) -> Callable[[Any], Any]:
    """The CPU is among them always."""
    return onlyCPU


def largeTensorTest(size: str | int, device: str | None = None, **_: Any) -> Callable[[Any], Any]:
    """Skips the test: memory is not measured here."""
    return unittest.skip(f"needs {size} of memory")


def deviceCountAtLeast(num_required_devices: int) -> Callable[[Any], Any]:
    """Skips the test where more than the one CPU is needed; it gets a list of devices."""
    return onlyCPU if num_required_devices < 2 else unittest.skip("there is one device")


def skipCPUIf(dep: Any, reason: str) -> Callable[[Any], Any]:
    """Skips the test if `dep` holds."""
    return unittest.skipIf(bool(dep), reason)


skipIf = skipCPUIf
skipCUDAIf = skipXPUIf = _as_it_is
expectedFailureCPU = unittest.expectedFailure
expectedFailureMeta = skipMeta = skipMPS = skipXPU = skipXLA = skipCUDAIfRocm = _as_it_is
expectedFailureMPS = expectedFailureMPSComplex = expectedFailureXLA = skipLazy = _as_it_is
skipCPUIfNoLapack = skipCPUIfNoFFT = skipCPUIfNoMkl = _as_it_is  # the CPU has them all
skipCUDAIfNoMagma = skipCUDAIfNoCusolver = skipCUDAIfNoMagmaAndNoCusolver = _as_it_is


def expectedFailure(device_type: str | None, dtype: Any = None) -> Callable[[Any], Any]:
    """The test is expected to fail on this type of device, with this dtype."""

    def mark(function: Any) -> Any:
        if device_type not in (None, "cpu"):
            return function
        if dtype is None:
            return unittest.expectedFailure(function)
        return decorateIf(unittest.expectedFailure, lambda given: given.get("dtype") == dtype)(
            function
        )

    return mark


class tol(NamedTuple):
    """Tolerances of a dtype."""

    atol: float
    rtol: float


def precisionOverride(d: dict[Any, float]) -> Callable[[Any], Any]:
    """The least `atol` with which the test compares, by its dtype."""
    return toleranceOverride({dtype: tol(atol, 0.0) for dtype, atol in d.items()})


def toleranceOverride(d: dict[Any, tol]) -> Callable[[Any], Any]:
    """The least tolerances with which the test compares, by its dtype."""

    def mark(function: Any) -> Any:
        function._tolerances = {**getattr(function, "_tolerances", {}), **d}
        return function

    return mark


class SkipSpec(NamedTuple):
    """An operator for whose dtypes a test of all operators fails, or is left out."""

    op_name: str
    variant_name: str
    device_type: str | None
    dtypes: Any
    expected_failure: bool

    def fits(self, arguments: dict[str, Any]) -> bool:
        """Whether this run of the test is meant."""
        op = arguments.get("op")
        named = (getattr(op, "name", None), getattr(op, "variant_test_name", ""))
        fits = self.dtypes is None or arguments.get("dtype") in self.dtypes
        return fits and named == self[:2] and self.device_type in (None, "cpu")


def skip(
    op_name: str, variant_name: str = "", *, device_type: str | None = None, dtypes: Any = None
) -> SkipSpec:
    """The test is left out for this operator."""
    return SkipSpec(op_name, variant_name, device_type, dtypes, False)


def xfail(
    op_name: str, variant_name: str = "", *, device_type: str | None = None, dtypes: Any = None
) -> SkipSpec:
    """The test is expected to fail for this operator."""
    return SkipSpec(op_name, variant_name, device_type, dtypes, True)


def skipOps(to_skip: Iterable[SkipSpec]) -> Callable[[Any], Any]:
    """A decorator: the test is left out, or expected to fail, for these operators."""

    def mark(function: Any) -> Any:
        for spec in to_skip:
            fails = unittest.expectedFailure if spec.expected_failure else unittest.skip("left out")
            function = decorateIf(fails, spec.fits)(function)
        return function

    return mark
