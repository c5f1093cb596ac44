"""What `dispatch` has, for editors and type checkers; the package finds most of it lazily."""

from dispatch import _C as _C
from dispatch import build as build
from dispatch import cli as cli
from dispatch import codegen as codegen
from dispatch import fake as fake
from dispatch import graph as graph
from dispatch import library as library
from dispatch import modes as modes
from dispatch import pytree as pytree
from dispatch._C.dtypes import *
from dispatch._C.generated.functions import *
from dispatch._C.grad_mode import enable_grad as enable_grad
from dispatch._C.grad_mode import inference_mode as inference_mode
from dispatch._C.grad_mode import is_grad_enabled as is_grad_enabled
from dispatch._C.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from dispatch._C.grad_mode import no_grad as no_grad
from dispatch._C.grad_mode import set_grad_enabled as set_grad_enabled
from dispatch._C.keys import DispatchKey as DispatchKey
from dispatch._C.keys import DispatchKeySet as DispatchKeySet
from dispatch._C.overload import OpOverload as OpOverload
from dispatch._C.overload import OpOverloadPacket as OpOverloadPacket
from dispatch._C.tags import Tag as Tag
from dispatch._C.tensor import Size as Size
from dispatch._C.tensor import Tensor as Tensor
from dispatch._C.tensor import from_numpy as from_numpy
from dispatch._ops import HigherOrderOperator as HigherOrderOperator
from dispatch._ops import ops as ops
from dispatch._random import Generator as Generator
from dispatch._random import default_generator as default_generator
from dispatch._random import manual_seed as manual_seed
from dispatch._tensor_data import as_tensor as as_tensor
from dispatch._tensor_data import asarray as asarray
from dispatch._tensor_data import tensor as tensor
from dispatch.codegen.schema import FunctionSchema as FunctionSchema
from dispatch.codegen.schema import parse_schema as parse_schema
from dispatch.fake import FakeTensor as FakeTensor
from dispatch.fake import FakeTensorMode as FakeTensorMode
from dispatch.library import Library as Library
from dispatch.modes import TorchDispatchMode as TorchDispatchMode

__version__: str
