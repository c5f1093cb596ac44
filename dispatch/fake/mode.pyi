from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from dispatch._C.overload import OpOverload
from dispatch._C.tensor import Tensor
from dispatch.fake.cache import DispatchCache, DispatchCacheInfo
from dispatch.fake.converter import FakeTensorConverter
from dispatch.fake.fake_tensor import FakeTensor
from dispatch.fake.settings import FakeState

T = TypeVar("T")

def own_info(mode: FakeTensorMode) -> DispatchCacheInfo: ...
def own_clear(mode: FakeTensorMode) -> None: ...
def note_function_argument(mode: FakeTensorMode) -> None: ...

class OfModeOrAll(Generic[T]):
    def __init__(
        self, of_mode: Callable[[FakeTensorMode], T], of_all: Callable[[], T], doc: str
    ) -> None: ...
    def __get__(
        self, mode: FakeTensorMode | None, owner: type | None = None
    ) -> Callable[[], T]: ...

class FakeTensorMode(FakeState):
    avoid_device_init: bool
    nt_tensor_id_initial_count: int
    nt_tensor_id_counter: int
    _allow_unsafe_data_ptr_access: bool
    _can_run_unsafe_fallback_allowed_namespaces: dict[str, bool]
    fake_tensor_converter: FakeTensorConverter
    cache_info: OfModeOrAll[DispatchCacheInfo]
    cache_clear: OfModeOrAll[None]
    def __init__(
        self,
        *,
        allow_fallback_kernels: bool = True,
        allow_non_fake_inputs: bool = False,
        shape_env: Any = None,
        static_shapes: bool | None = None,
        export: bool = False,
        cache: bool | DispatchCache | None = True,
        cache_policy: Callable[[OpOverload], bool] | None = None,
    ) -> None: ...
    @property
    def cache(self) -> DispatchCache | None: ...
    @property
    def enter_stack(self) -> list[tuple[int, Any]]: ...
    @property
    def lift_fns(self) -> dict[OpOverload, bool]: ...
    @property
    def stack(self) -> str: ...
    def left(self) -> Any: ...
    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any: ...
    def _cache_key(self, state: Any, func: Any, args: Any, kwargs: Any) -> Any: ...
    def _dispatch_impl(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any: ...
    def _cached_dispatch_impl(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any: ...
    def from_tensor(
        self,
        tensor: Tensor,
        *,
        static_shapes: bool | None = None,
        source: Any = None,
        symbolic_context: Any = None,
        trace: bool = True,
    ) -> FakeTensor: ...
    def is_our_fake(self, t: object) -> bool: ...
    def may_turn_const(self, t: object) -> bool: ...
    def can_run_unsafe_fallback(self, func: OpOverload) -> bool: ...
    def cpp_meta_supports_symint(self, func: OpOverload) -> bool: ...
    def create_symbolic_nested_int(self, *, nt_tensor_id: int | None = None) -> Any: ...
    def invalidate_written_to_constants(
        self,
        func: OpOverload,
        flat_arg_fake_tensors: Sequence[FakeTensor],
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ) -> None: ...
    def reset_nt_tensor_id_counter(self) -> None: ...
    def validate_and_convert_non_fake_tensors(
        self,
        func: OpOverload,
        converter: FakeTensorConverter,
        flat_args: Sequence[Any],
        args_spec: Any,
    ) -> tuple[list[Any], list[FakeTensor]]: ...
    def wrap_meta_outputs_with_default_device_logic(
        self, r: Any, func: OpOverload, flat_args: Sequence[Any], device: Any
    ) -> Any: ...
