"""What `dispatch` has, for editors and type checkers; the package finds most of it lazily."""

from dispatch import (
    _C as _C,
    build as build,
    cli as cli,
    codegen as codegen,
    fake as fake,
    graph as graph,
    library as library,
    modes as modes,
    pytree as pytree,
)
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
from dispatch._C.tags import Tag as Tag
from dispatch._C.tensor import Size as Size, Tensor as Tensor, from_numpy as from_numpy
from dispatch._ops import HigherOrderOperator as HigherOrderOperator, ops as ops
from dispatch._random import (
    Generator as Generator,
    default_generator as default_generator,
    manual_seed as manual_seed,
)
from dispatch._tensor_data import as_tensor as as_tensor, asarray as asarray, tensor as tensor
from dispatch.codegen.schema import FunctionSchema as FunctionSchema, parse_schema as parse_schema
from dispatch.fake import FakeTensor as FakeTensor, FakeTensorMode as FakeTensorMode
from dispatch.library import Library as Library
from dispatch.modes import TorchDispatchMode as TorchDispatchMode

__version__: str
