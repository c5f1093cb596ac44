"""Fake tensors: operators on metadata, on any device (torch._subclasses.fake_tensor)."""

from dispatch.fake.cache import DispatchCache, DispatchCacheInfo
from dispatch.fake.exceptions import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorDeviceMismatchError,
    MetadataMismatchError,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from dispatch.fake.fake_tensor import FakeTensor
from dispatch.fake.mode import FakeTensorMode

__all__ = [
    "DataDependentOutputException",
    "DispatchCache",
    "DispatchCacheInfo",
    "DynamicOutputShapeException",
    "FakeTensor",
    "FakeTensorDeviceMismatchError",
    "FakeTensorMode",
    "MetadataMismatchError",
    "UnsupportedFakeTensorException",
    "UnsupportedOperatorException",
]
