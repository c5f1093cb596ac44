"""What `dispatch` has, for editors and type checkers; the package finds most of it lazily."""

from dispatch import (
    _C as _C,
    as_torch as as_torch,
    build as build,
    cli as cli,
    codegen as codegen,
    fake as fake,
    fft as fft,
    functional as functional,
    graph as graph,
    library as library,
    linalg as linalg,
    modes as modes,
    pytree as pytree,
    special as special,
    types as types,
)
from dispatch._C.arrays import from_numpy as from_numpy
from dispatch._C.default_device import (
    get_default_device as get_default_device,
    set_default_device as set_default_device,
)
from dispatch._C.dlpack import from_dlpack as from_dlpack
from dispatch._C.dtypes import *  # noqa: F403
from dispatch._C.generated.functions import *  # noqa: F403
from dispatch._C.grad_mode import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from dispatch._C.keys import DispatchKey as DispatchKey, DispatchKeySet as DispatchKeySet
from dispatch._C.overload import OpOverload as OpOverload, OpOverloadPacket as OpOverloadPacket
from dispatch._C.size import Size as Size
from dispatch._C.tags import Tag as Tag
from dispatch._C.tensor import Tensor as Tensor
from dispatch._higher_order_ops.cond import cond as cond
from dispatch._higher_order_ops.while_loop import while_loop as while_loop
from dispatch._ops import HigherOrderOperator as HigherOrderOperator, ops as ops
from dispatch.codegen.parser import parse_schema as parse_schema
from dispatch.codegen.schema import FunctionSchema as FunctionSchema
from dispatch.fake import FakeTensor as FakeTensor, FakeTensorMode as FakeTensorMode
from dispatch.kernels.cpu.threads import (
    get_num_threads as get_num_threads,
    set_num_threads as set_num_threads,
)
from dispatch.library import Library as Library
from dispatch.library.autocast import (
    autocast as autocast,
    get_autocast_dtype as get_autocast_dtype,
    is_autocast_enabled as is_autocast_enabled,
    set_autocast_dtype as set_autocast_dtype,
    set_autocast_enabled as set_autocast_enabled,
)
from dispatch.modes import (
    TorchDispatchMode as TorchDispatchMode,
    TorchFunctionMode as TorchFunctionMode,
)
from dispatch.symbolic import (
    SymBool as SymBool,
    SymFloat as SymFloat,
    SymInt as SymInt,
    _check_is_size as _check_is_size,
    _constrain_range_for_size as _constrain_range_for_size,
    _sym_acos as _sym_acos,
    _sym_asin as _sym_asin,
    _sym_atan as _sym_atan,
    _sym_cos as _sym_cos,
    _sym_cosh as _sym_cosh,
    _sym_log2 as _sym_log2,
    _sym_sin as _sym_sin,
    _sym_sinh as _sym_sinh,
    _sym_sqrt as _sym_sqrt,
    _sym_tan as _sym_tan,
    _sym_tanh as _sym_tanh,
    sym_float as sym_float,
    sym_int as sym_int,
    sym_ite as sym_ite,
    sym_max as sym_max,
    sym_min as sym_min,
    sym_not as sym_not,
    sym_sqrt as sym_sqrt,
    sym_sum as sym_sum,
)
from dispatch.tensor.data import as_tensor as as_tensor, asarray as asarray, tensor as tensor
from dispatch.tensor.functions import (
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
    block_diag as block_diag,
    broadcast_tensors as broadcast_tensors,
    cartesian_prod as cartesian_prod,
    chain_matmul as chain_matmul,
    dsmm as dsmm,
    einsum as einsum,
    hsmm as hsmm,
    lu as lu,
    meshgrid as meshgrid,
    norm as norm,
    saddmm as saddmm,
    sym_fresh_size as sym_fresh_size,
    tensordot as tensordot,
    unique as unique,
    unique_consecutive as unique_consecutive,
    unravel_index as unravel_index,
)
from dispatch.tensor.lobpcg import lobpcg as lobpcg
from dispatch.tensor.lowrank import pca_lowrank as pca_lowrank, svd_lowrank as svd_lowrank
from dispatch.tensor.older import (
    eig as eig,
    lstsq as lstsq,
    matrix_rank as matrix_rank,
    solve as solve,
    symeig as symeig,
)
from dispatch.tensor.questions import (
    BFloat16Tensor as BFloat16Tensor,
    BoolTensor as BoolTensor,
    ByteTensor as ByteTensor,
    CharTensor as CharTensor,
    DoubleTensor as DoubleTensor,
    FloatTensor as FloatTensor,
    HalfTensor as HalfTensor,
    IntTensor as IntTensor,
    LongTensor as LongTensor,
    ShortTensor as ShortTensor,
    _assert as _assert,
    _check as _check,
    _check_index as _check_index,
    _check_not_implemented as _check_not_implemented,
    _check_tensor_all as _check_tensor_all,
    _check_tensor_all_with as _check_tensor_all_with,
    _check_type as _check_type,
    _check_value as _check_value,
    _check_with as _check_with,
    broadcast_shapes as broadcast_shapes,
    e as e,
    frombuffer as frombuffer,
    get_device as get_device,
    inf as inf,
    is_complex as is_complex,
    is_conj as is_conj,
    is_floating_point as is_floating_point,
    is_inference as is_inference,
    is_neg as is_neg,
    is_same_size as is_same_size,
    is_signed as is_signed,
    is_storage as is_storage,
    is_tensor as is_tensor,
    nan as nan,
    newaxis as newaxis,
    pi as pi,
    result_type as result_type,
    typename as typename,
)
from dispatch.tensor.random import (
    Generator as Generator,
    default_generator as default_generator,
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from dispatch.tensor.storage import UntypedStorage as UntypedStorage
from dispatch.tensor.streams import Event as Event, Stream as Stream
from dispatch.tensor.text import set_printoptions as set_printoptions
from dispatch.tensor.typed_storage import TypedStorage as TypedStorage

__version__: str
