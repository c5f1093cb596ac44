from enum import IntEnum
from typing import Any

from dispatch._C.dtypes import device as _device
from dispatch._C.tensor import Tensor

__all__ = ["DLDeviceType", "dlpack_device", "from_dlpack", "to_dlpack"]

class DLDeviceType(IntEnum):
    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17

def to_dlpack(
    self: Tensor,
    *,
    stream: int | None = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> object: ...
def dlpack_device(self: Tensor) -> tuple[DLDeviceType, int]: ...
def from_dlpack(
    ext_tensor: Any, *, device: _device | str | None = None, copy: bool | None = None
) -> Tensor: ...
