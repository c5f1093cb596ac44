# `float`, `int`, `bool` are dtypes here: the builtins stand under private names.
from builtins import bool as _bool, float as _float, int as _int
from typing import Any, overload

__all__ = [
    "_mkldnn",
    "bfloat16",
    "bit",
    "bits1x8",
    "bits2x4",
    "bits4x2",
    "bits8",
    "bits16",
    "bool",
    "can_cast",
    "cdouble",
    "cfloat",
    "chalf",
    "channels_last",
    "channels_last_3d",
    "complex32",
    "complex64",
    "complex128",
    "contiguous_format",
    "device",
    "double",
    "dtype",
    "finfo",
    "float",
    "float4_e2m1fn_x2",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "half",
    "iinfo",
    "int",
    "int1",
    "int2",
    "int3",
    "int4",
    "int5",
    "int6",
    "int7",
    "int8",
    "int16",
    "int32",
    "int64",
    "jagged",
    "layout",
    "legacy_contiguous_format",
    "long",
    "memory_format",
    "preserve_format",
    "promote_types",
    "qint8",
    "qint32",
    "quint2x4",
    "quint4x2",
    "quint8",
    "set_default_dtype",
    "short",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "uint5",
    "uint6",
    "uint7",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

class dtype:
    @property
    def name(self) -> str: ...
    @property
    def itemsize(self) -> _int: ...
    @property
    def is_floating_point(self) -> _bool: ...
    @property
    def is_complex(self) -> _bool: ...
    @property
    def is_signed(self) -> _bool: ...
    @property
    def abbr(self) -> str: ...
    def to_real(self) -> dtype: ...
    def to_complex(self) -> dtype: ...

class layout:
    @property
    def name(self) -> str: ...

class memory_format:
    @property
    def name(self) -> str: ...

class device:
    @overload
    def __init__(self, device: device | str | _int) -> None: ...
    @overload
    def __init__(self, type: str, index: _int = ...) -> None: ...
    @property
    def type(self) -> str: ...
    @property
    def index(self) -> _int | None: ...
    def __hash__(self) -> _int: ...

class finfo:
    bits: _int
    eps: _float
    max: _float
    min: _float
    smallest_normal: _float
    tiny: _float
    resolution: _float
    dtype: str
    def __init__(self, type: _dtype = ...) -> None: ...

class iinfo:
    bits: _int
    max: _int
    min: _int
    dtype: str
    def __init__(self, type: _dtype) -> None: ...

_dtype = dtype

def can_cast(from_: dtype, to: dtype) -> _bool: ...
def get_default_dtype() -> dtype: ...
def promote_types(type1: dtype, type2: dtype) -> dtype: ...
def set_default_dtype(d: dtype) -> None: ...
def _from_numpy_dtype(descr: Any) -> dtype: ...
def _numpy_dtype(d: dtype) -> Any: ...

bfloat16: _dtype
bit: _dtype
bits16: _dtype
bits1x8: _dtype
bits2x4: _dtype
bits4x2: _dtype
bits8: _dtype
bool: _dtype
cdouble: _dtype
cfloat: _dtype
chalf: _dtype
complex128: _dtype
complex32: _dtype
complex64: _dtype
double: _dtype
float: _dtype
float16: _dtype
float32: _dtype
float4_e2m1fn_x2: _dtype
float64: _dtype
float8_e4m3fn: _dtype
float8_e4m3fnuz: _dtype
float8_e5m2: _dtype
float8_e5m2fnuz: _dtype
float8_e8m0fnu: _dtype
half: _dtype
int: _dtype
int1: _dtype
int16: _dtype
int2: _dtype
int3: _dtype
int32: _dtype
int4: _dtype
int5: _dtype
int6: _dtype
int64: _dtype
int7: _dtype
int8: _dtype
long: _dtype
qint32: _dtype
qint8: _dtype
quint2x4: _dtype
quint4x2: _dtype
quint8: _dtype
short: _dtype
uint1: _dtype
uint16: _dtype
uint2: _dtype
uint3: _dtype
uint32: _dtype
uint4: _dtype
uint5: _dtype
uint6: _dtype
uint64: _dtype
uint7: _dtype
uint8: _dtype

_mkldnn: layout
jagged: layout
sparse_bsc: layout
sparse_bsr: layout
sparse_coo: layout
sparse_csc: layout
sparse_csr: layout
strided: layout

channels_last: memory_format
channels_last_3d: memory_format
contiguous_format: memory_format
legacy_contiguous_format: memory_format
preserve_format: memory_format
