import threading
import weakref
from typing import Any

from dispatch._C.mode import TorchDispatchMode

class FakeState(TorchDispatchMode):
    allow_fallback_kernels: bool
    allow_non_fake_inputs: bool
    allow_meta: bool
    static_shapes: bool
    export: bool
    cache_enabled: bool
    cache_crosscheck_enabled: bool
    propagate_real_tensors: bool
    allow_scalar_outputs: bool
    shape_env: Any
    unbacked_made: int
    epoch: Any
    @property
    def in_kernel_invocation(self) -> bool: ...
    @in_kernel_invocation.setter
    def in_kernel_invocation(self, value: bool) -> None: ...

class FakeTensorTLS(threading.local):
    allow_non_fake_inputs_override: bool | None
    non_strict_export_fake_tensor_tracker: weakref.WeakSet[Any]

fake_tensor_tls: FakeTensorTLS

class FakeTensorConfig:
    debug: bool
