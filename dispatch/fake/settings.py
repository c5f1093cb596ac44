"""What a thread says of fake tensors beside their modes (torch._subclasses.fake_tensor)."""

import threading
import weakref
from typing import Any

__all__ = ["FakeTensorConfig", "FakeTensorTLS", "fake_tensor_tls"]


class FakeTensorTLS(threading.local):
    """`allow_non_fake_inputs_override`, unless None, takes the place of every mode's setting."""

    def __init__(self) -> None:
        self.allow_non_fake_inputs_override: bool | None = None
        self.non_strict_export_fake_tensor_tracker: weakref.WeakSet[Any] = weakref.WeakSet()


fake_tensor_tls = FakeTensorTLS()


class FakeTensorConfig:
    """`debug` is kept for programs that read it: nothing is recorded."""

    debug = False
