"""Fake tensors: operators on metadata, on any device (torch._subclasses.fake_tensor)."""

import importlib
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from dispatch._ops.higher_order import serve_by_mode
from dispatch.fake import implementations
from dispatch.fake.blocks import (
    IncrementRecursionCount,
    disable_fake_tensor_cache,
    in_kernel_invocation_manager,
    recursion_count,
    unset_fake_temporarily,
)
from dispatch.fake.by_hand import (
    _device_handler,
    get_schema_info,
    torch_decomp_decompositions,
    tree_flatten_only,
)
from dispatch.fake.cache import DispatchCache, DispatchCacheInfo
from dispatch.fake.constants import CONSTANT_NUMEL_LIMIT
from dispatch.fake.converter import FakeTensorConverter, MetaConverter
from dispatch.fake.devices import (
    init_gpu_context,
    is_indexed_device_type as _is_indexed_device_type,
    should_allow_numbers_as_tensors,
)
from dispatch.fake.exceptions import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorDeviceMismatchError,
    MetadataMismatchError,
    UnsupportedFakeTensorException,
    UnsupportedMutationAliasingException,
    UnsupportedOperatorException,
)
from dispatch.fake.fake_tensor import FakeTensor
from dispatch.fake.fallback import run_fallback_kernel
from dispatch.fake.implementations import (
    _deregister_op_impl,
    _is_op_registered_to_fake_rule,
    _is_tensor_constructor,
    contains_tensor_types,
    get_fast_op_impls,
    has_meta,
    is_builtin,
    op_implementations_checks,
    op_implementations_dict,
    ordered_set,
    register_fast_op_impl,
    register_op_impl,
    stride_incorrect_op,
)
from dispatch.fake.mode import FakeTensorMode
from dispatch.fake.number_memos import SymNumberMemoDescriptor
from dispatch.fake.questions import (
    _check_for_subclass,
    _check_for_subclass_arg,
    _is_plain_tensor,
    get_plain_tensors,
    is_fake,
    is_sparse_any,
    is_sparse_compressed,
    maybe_get_fake_mode,
)
from dispatch.fake.settings import FakeTensorConfig, FakeTensorTLS, fake_tensor_tls
from dispatch.fake.statistics import dump_cache_stats

if TYPE_CHECKING:
    from logging import Logger

    from dispatch.fake.copy_mode import FakeCopyMode
    from dispatch.fake.cross_ref import (
        CrossRefFakeMode,
        output_alias_each_other,
        outputs_alias_inputs,
        outputs_are_inputs,
    )
    from dispatch.fake.meta_registrations import register_meta
    from dispatch.fake.metadata import (
        SingletonConstant,
        TensorMetadata,
        assert_eq,
        assert_metadata_eq,
        extract_tensor_metadata,
        suggest_memory_format,
    )

    log: Logger

__all__ = [
    "CONSTANT_NUMEL_LIMIT",
    "CrossRefFakeMode",
    "DataDependentOutputException",
    "DispatchCache",
    "DispatchCacheInfo",
    "DynamicOutputShapeException",
    "FakeCopyMode",
    "FakeTensor",
    "FakeTensorConfig",
    "FakeTensorConverter",
    "FakeTensorDeviceMismatchError",
    "FakeTensorMode",
    "FakeTensorTLS",
    "IncrementRecursionCount",
    "MetaConverter",
    "MetadataMismatchError",
    "SingletonConstant",
    "SymNumberMemoDescriptor",
    "TensorMetadata",
    "UnsupportedFakeTensorException",
    "UnsupportedMutationAliasingException",
    "UnsupportedOperatorException",
    "_check_for_subclass",
    "_check_for_subclass_arg",
    "_deregister_op_impl",
    "_device_handler",
    "_is_indexed_device_type",
    "_is_op_registered_to_fake_rule",
    "_is_plain_tensor",
    "_is_tensor_constructor",
    "assert_eq",
    "assert_metadata_eq",
    "contains_tensor_types",
    "disable_fake_tensor_cache",
    "dump_cache_stats",
    "extract_tensor_metadata",
    "fake_tensor_tls",
    "get_fast_op_impls",
    "get_plain_tensors",
    "get_schema_info",
    "has_meta",
    "in_kernel_invocation_manager",
    "init_gpu_context",
    "is_builtin",
    "is_fake",
    "is_sparse_any",
    "is_sparse_compressed",
    "log",
    "maybe_get_fake_mode",
    "op_implementations_checks",
    "op_implementations_dict",
    "ordered_set",
    "output_alias_each_other",
    "outputs_alias_inputs",
    "outputs_are_inputs",
    "register_fast_op_impl",
    "register_meta",
    "register_op_impl",
    "run_fallback_kernel",
    "should_allow_numbers_as_tensors",
    "stride_incorrect_op",
    "suggest_memory_format",
    "torch_decomp_decompositions",
    "tree_flatten_only",
    "unset_fake_temporarily",
]

# What few programs use is loaded when it is first asked for.
_LATER = {
    name: module
    for module, names in {
        "cache_keys": "_BypassDispatchCache _CacheKeyState _DispatchCacheKey",
        "copy_mode": "FakeCopyMode",
        "cross_ref": """
            CrossRefFakeMode output_alias_each_other outputs_alias_inputs outputs_are_inputs
            try_convert_fake_to_real
            """,
        "meta_registrations": "register_meta",
        "metadata": """
            SingletonConstant TensorMetadata assert_eq assert_metadata_eq
            extract_tensor_metadata suggest_memory_format
            """,
        "statistics": "log",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name == "RECURSION_COUNT":
        return recursion_count()
    if name in ("_device_not_kwarg_ops", "_like_tensor_constructors"):
        return getattr(implementations, name)
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("dispatch.fake." + _LATER[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


serve_by_mode(FakeTensor, FakeTensorMode, attrgetter("fake_mode"))
