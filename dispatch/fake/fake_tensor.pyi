from collections.abc import Sequence
from typing import Any

from dispatch._C.dtypes import device as _device
from dispatch._C.keys import DispatchKeySet
from dispatch._C.tensor import Tensor
from dispatch.fake.mode import FakeTensorMode
from dispatch.fake.settings import FakeState

def construct(
    self: FakeTensor,
    fake_mode_or_elem: FakeTensorMode | Tensor | None = None,
    elem: Tensor | None = None,
    device: _device | str | None = None,
    constant: Tensor | None = None,
    real_tensor: Tensor | None = None,
    pytype: type[Tensor] | None = None,
    dispatch_keys: DispatchKeySet | None = None,
    *,
    fake_mode: FakeTensorMode | None = None,
    fake_device: _device | str | None = None,
    _fake_device: _device | str | None = None,
    requires_grad: bool | None = None,
    _is_param: bool = False,
    **state: Any,
) -> None: ...

class FakeTensor(Tensor):
    constant: Tensor | None
    real_tensor: Tensor | None
    pytype: type[Tensor] | None
    dispatch_keys: DispatchKeySet | None
    nonzero_memo: Any
    item_memo: Any
    unique_memo: Any
    unique_consecutive_memo: Any
    nested_int_memo: Any
    _mode_key: Any
    def __init__(
        self,
        fake_mode_or_elem: FakeTensorMode | Tensor | None = None,
        elem: Tensor | None = None,
        device: _device | str | None = None,
        constant: Tensor | None = None,
        real_tensor: Tensor | None = None,
        pytype: type[Tensor] | None = None,
        dispatch_keys: DispatchKeySet | None = None,
        *,
        fake_mode: FakeTensorMode | None = None,
        fake_device: _device | str | None = None,
        _fake_device: _device | str | None = None,
        requires_grad: bool | None = None,
        _is_param: bool = False,
        **state: Any,
    ) -> None: ...
    @property
    def fake_mode(self) -> FakeTensorMode: ...
    @fake_mode.setter
    def fake_mode(self, value: FakeState) -> None: ...
    @property
    def fake_device(self) -> _device: ...
    @fake_device.setter
    def fake_device(self, value: _device | str) -> None: ...
    def __copy__(self) -> FakeTensor: ...
    @staticmethod
    def from_tensor(t: Tensor, fake_mode: FakeTensorMode) -> FakeTensor: ...
    @staticmethod
    def _find_common_device(func: Any, flat_args: Sequence[Any]) -> tuple[_device, bool]: ...
    @staticmethod
    def _normalize_fake_device(device: _device | str) -> _device: ...
    def get_nested_int(self, *, coeff: int = 1) -> Any: ...
    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any: ...
