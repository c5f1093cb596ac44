from typing import Any

from dispatch._C.dtypes import device as _device
from dispatch._C.tensor import Tensor
from dispatch.fake.mode import FakeTensorMode

class FakeTensor(Tensor):
    constant: Tensor | None
    def __init__(
        self,
        fake_mode: FakeTensorMode,
        elem: Tensor,
        device: _device | str,
        constant: Tensor | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None: ...
    @property
    def fake_mode(self) -> FakeTensorMode: ...
    @property
    def fake_device(self) -> _device: ...
    @staticmethod
    def __torch_dispatch__(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any: ...
