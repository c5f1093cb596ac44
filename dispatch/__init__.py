"""An operator dispatcher with PyTorch's semantics: schemas in, compiled dispatch out.

`dispatch.ops` reaches every operator; tensors, modes, fake tensors and libraries have PyTorch's
names. Nothing heavy is imported here: rooms that need more than numpy (`graph`, `cli`, `pytree`)
load when they are first used, and functions (`dispatch.add`) are made then. `__init__.pyi` lists
what there is.
"""

from dispatch.collection import Pause as _Pause

with _Pause():
    import importlib
    import sys
    from typing import Any

    from dispatch import _C, functional, library, modes, tools
    from dispatch._C.default_device import get_default_device, set_default_device
    from dispatch._C.dtypes import *
    from dispatch._C.dtypes import (
        can_cast as _can_cast,
        device,
        dtype,
        layout,
        memory_format,
        promote_types as _promote_types,
    )
    from dispatch._C.function import _find_function
    from dispatch._C.grad_mode import (
        enable_grad,
        inference_mode,
        is_grad_enabled,
        is_inference_mode_enabled,
        no_grad,
        set_grad_enabled,
    )
    from dispatch._C.keys import DispatchKey, DispatchKeySet
    from dispatch._C.overload import OpOverload, OpOverloadPacket
    from dispatch._C.size import Size
    from dispatch._C.tags import Tag
    from dispatch._C.tensor import Tensor
    from dispatch._C.torch_function import _watch_function
    from dispatch._ops import HigherOrderOperator, ops
    from dispatch._ops.higher_order import offer_operators as _offer_operators
    from dispatch.forks import import_before_forks as _import_before_forks
    from dispatch.library import Library
    from dispatch.modes import TorchDispatchMode, TorchFunctionMode
    from dispatch.modes.function import _operator_names
    from dispatch.tensor import methods as _methods
    from dispatch.tensor.data import shared_with_numpy as from_numpy, tensor
    from dispatch.tensor.random import Generator, default_generator, manual_seed

__version__ = "0.2.0"

# A free-threaded Python turns its lock on for these modules, unless it was told not to.
if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError("dispatch needs the interpreter's lock: run without PYTHON_GIL=0, -X gil=0")

# Handlers see these two; the core asks them without.
can_cast, promote_types = (_watch_function(f, arguments=True) for f in (_can_cast, _promote_types))

_ROOMS = frozenset(
    {
        "_higher_order_ops",
        "as_torch",
        "build",
        "cli",
        "codegen",
        "device_trace",
        "fake",
        "fft",
        "graph",
        "linalg",
        "pytree",
        "return_types",
        "special",
        "symbolic",
        "types",
    }
)
# Where a name is that is found when it is first asked for.
_LATER = {
    name: module
    for module, names in {
        "_C": "FunctionSchema parse_schema",
        "_C.dlpack": "from_dlpack",
        "_higher_order_ops": "cond while_loop",
        "fake": "FakeTensor FakeTensorMode",
        "functional": " ".join(functional._OF_WRAPPER),
        "library.autocast": """
            autocast get_autocast_dtype is_autocast_enabled set_autocast_dtype set_autocast_enabled
            """,
        "kernels.cpu.threads": "get_num_threads set_num_threads",
        "symbolic": """
            SymBool SymFloat SymInt _check_is_size _constrain_range_for_size _sym_acos _sym_asin
            _sym_atan _sym_cos _sym_cosh _sym_log2 _sym_sin _sym_sinh _sym_sqrt _sym_tan _sym_tanh
            sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum
            """,
        "tensor.data": "as_tensor asarray",
        "tensor.functions": """
            atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod
            cdist chain_matmul dsmm einsum hsmm lu meshgrid norm saddmm split stft
            sym_fresh_size tensordot
            unique unique_consecutive unravel_index
            """,
        "tensor.lobpcg": "lobpcg",
        "tensor.lowrank": "pca_lowrank svd_lowrank",
        "tensor.older": "eig lstsq matrix_rank range solve symeig",
        "tensor.questions": """
            BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor
            HalfTensor IntTensor LongTensor ShortTensor _assert _check _check_index
            _check_not_implemented _check_tensor_all _check_tensor_all_with _check_type
            _check_value _check_with broadcast_shapes
            e frombuffer get_device inf
            is_complex is_conj is_floating_point is_inference is_neg
            is_nonzero is_same_size is_signed is_storage is_tensor nan newaxis nonzero
            numel pi result_type typename
            """,
        "tensor.random": "get_rng_state initial_seed seed set_rng_state",
        "tensor.typed_storage": "TypedStorage",
        "tensor.storage": "UntypedStorage",
        "tensor.streams": "Event Stream",
        "tensor.text": "set_printoptions",
    }.items()
    for name in names.split()
}

_offer_operators(
    ("auto_functionalized", "auto_functionalized_v2", "cond", "map_impl", "out_dtype", "scan",
     "invoke_subgraph", "while_loop", "with_effects"),
    lambda: importlib.import_module("dispatch._higher_order_ops"),
)
_offer_operators(
    ("wrap", "wrap_with_autocast", "wrap_with_set_grad_enabled"),
    lambda: importlib.import_module("dispatch.library.wrap"),
)
# No operators, yet `__torch_function__` overrides them.
_WRITTEN = """
    atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist
    chain_matmul dsmm einsum get_device hsmm is_complex is_conj is_floating_point is_inference
    is_neg is_nonzero is_same_size is_signed lobpcg lu meshgrid nonzero norm numel pca_lowrank
    saddmm split stft
    svd_lowrank sym_float sym_int sym_ite sym_max sym_min sym_not sym_sum tensordot unique
    unique_consecutive unravel_index _sym_acos _sym_asin _sym_atan _sym_cos _sym_cosh _sym_sin
    _sym_sinh _sym_sqrt _sym_tan _sym_tanh
    """
_import_before_forks(__name__, sys.modules[__name__].__path__)
modes.function._set_package(sys.modules[__name__], tuple(_WRITTEN.split()))


def __getattr__(name: str) -> Any:
    """Rooms and operator functions (`dispatch.add`), found when they are first asked for."""
    found: Any
    if name in _ROOMS:
        return importlib.import_module("dispatch." + name)
    if name in _LATER:
        found = getattr(importlib.import_module("dispatch." + _LATER[name]), name)
    else:
        found = _find_function(name, False)
        if found is None:
            raise AttributeError(f"module 'dispatch' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """All of it, operators' functions too."""
    functions = (name for name in _operator_names() if _find_function(name, False) is not None)
    return sorted({*globals(), *_ROOMS, *_LATER, *functions})
