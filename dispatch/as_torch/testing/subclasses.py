"""Tensor subclasses to try a program on (torch.testing._internal.common_subclass).

`subclass_db` has each with a way to make one of a size. Wrappers say through
`get_wrapper_properties` which tensor they show and what of it is otherwise.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import dispatch
from dispatch import Tensor, pytree
from dispatch._C import DisableTorchFunction
from dispatch.modes import redispatch_function
from dispatch.tools.logging import LoggingTensor

__all__ = [
    "DiagTensorBelow",
    "NonWrapperTensor",
    "RedispatchTensor",
    "SparseTensor",
    "SubclassInfo",
    "SubclassWithTensorFactory",
    "WrapperTensor",
    "WrapperTensorWithCustomSizes",
    "WrapperTensorWithCustomStrides",
    "subclass_db",
]

_FIXED = ("size", "stride", "dtype", "layout", "device", "requires_grad")


class WrapperTensor(Tensor):
    """A wrapper that shows the metadata of a tensor, but for what its class says."""

    @staticmethod
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        shown, other = cls.get_wrapper_properties(*args, **kwargs)
        metadata = {name: getattr(shown, name) for name in ("dtype", "layout", "device")}
        metadata |= {"requires_grad": False} | other
        size = metadata.pop("size", shown.size())
        made = Tensor._make_wrapper_subclass(cls, size, **metadata)
        made._validate_methods()
        return made

    @classmethod
    def get_wrapper_properties(cls, *args: Any, **kwargs: Any) -> tuple[Tensor, dict[str, Any]]:
        """(the tensor that is shown, what is otherwise than its)."""
        raise NotImplementedError("a subclass says which tensor it shows")

    def _validate_methods(self) -> None:
        """RuntimeError when the class has metadata of its own: operators do not ask for it."""
        for name in _FIXED:
            if getattr(type(self), name) is not getattr(Tensor, name):
                raise RuntimeError(
                    f"Subclass {type(self).__name__} is overwriting the property {name}, which "
                    "operators would not see"
                )


class _Whole(WrapperTensor):
    """A wrapper of one tensor that says part of its geometry itself."""

    _policy: ClassVar[str]
    t: Tensor  # type: ignore[assignment]

    @classmethod
    def get_wrapper_properties(cls, t: Tensor, requires_grad: bool = False) -> Any:
        return t, {"requires_grad": requires_grad, "dispatch_sizes_strides_policy": cls._policy}

    def __init__(self, t: Tensor, requires_grad: bool = False) -> None:
        self.t = t

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return super().__repr__(tensor_contents=f"t={self.t}")  # type: ignore[call-arg]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not all(issubclass(cls, t) for t in types):
            return NotImplemented
        args, kwargs = pytree.tree_map_only(cls, lambda e: e.t, (args, kwargs or {}))
        return pytree.tree_map_only(Tensor, cls, func(*args, **kwargs))


class WrapperTensorWithCustomSizes(_Whole):
    """A wrapper that is asked for its sizes."""

    _policy = "sizes"


class WrapperTensorWithCustomStrides(_Whole):
    """A wrapper that is asked for its strides."""

    _policy = "strides"


class DiagTensorBelow(WrapperTensor):
    """A diagonal matrix that holds its diagonal."""

    handled_ops: ClassVar[dict[str, Callable[..., Any]]] = {}
    diag: Tensor  # type: ignore[assignment]

    @classmethod
    def get_wrapper_properties(cls, diag: Tensor, requires_grad: bool = False) -> Any:
        if diag.dim() != 1:
            raise AssertionError(f"DiagTensorBelow: expected one dimension, got {diag.dim()}")
        return diag, {"size": diag.size() * 2, "requires_grad": requires_grad}

    def __init__(self, diag: Tensor, requires_grad: bool = False) -> None:
        self.diag = diag

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return super().__repr__(tensor_contents=f"diag={self.diag}")  # type: ignore[call-arg]

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not all(issubclass(cls, t) for t in types):
            return NotImplemented
        kwargs = kwargs or {}
        handler = cls.handled_ops.get(func.__name__)
        if handler is not None:
            return handler(*args, **kwargs)

        def kept(t: Tensor) -> Tensor:
            if t.dim() == 1:
                return cls(t)
            if t.dim() == 2 and t.count_nonzero() == t.diag().count_nonzero():
                return cls(t.diag())
            return t

        args, kwargs = pytree.tree_map_only(cls, lambda e: dispatch.diag(e.diag), (args, kwargs))
        return pytree.tree_map_only(Tensor, kept, func(*args, **kwargs))


class SparseTensor(WrapperTensor):
    """The values that are not zero, and their places."""

    values: Tensor  # type: ignore[assignment]
    indices: Tensor  # type: ignore[assignment]

    @classmethod
    def get_wrapper_properties(
        cls, size: Any, values: Tensor, indices: Tensor, requires_grad: bool = False
    ) -> Any:
        if values.device != indices.device:
            raise AssertionError(f"SparseTensor: {values.device} and {indices.device}")
        return values, {"size": size, "requires_grad": requires_grad}

    def __init__(
        self, size: Any, values: Tensor, indices: Tensor, requires_grad: bool = False
    ) -> None:
        self.values, self.indices = values, indices

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return super().__repr__(tensor_contents=f"values={self.values}, indices={self.indices}")  # type: ignore[call-arg]

    def sparse_to_dense(self) -> Tensor:
        """A plain tensor of the same values."""
        made = dispatch.zeros(self.size(), dtype=self.values.dtype)
        made[self.indices.unbind(1)] = self.values
        return made

    @staticmethod
    def from_dense(t: Tensor) -> "SparseTensor":
        """What a plain tensor has that is not zero."""
        places = t.nonzero()
        return SparseTensor(t.size(), t[places.unbind(1)], places)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = pytree.tree_map_only(cls, cls.sparse_to_dense, (args, kwargs or {}))
        return pytree.tree_map_only(Tensor, cls.from_dense, func(*args, **kwargs))


class NonWrapperTensor(Tensor):
    """A plain tensor with a state: the function that it came from."""

    extra_state: dict[str, str | None]

    def __new__(cls, data: Tensor) -> Any:
        made = Tensor._make_subclass(cls, data)
        made.extra_state = {"last_func_called": None}
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_function__(func, types, args, kwargs)
        if isinstance(result, cls):
            copied = func.__name__ == "__deepcopy__"
            state = dict(args[0].extra_state) if copied else {"last_func_called": func.__name__}
            result.extra_state = state
        return result

    def new_empty(self, shape: Any) -> Any:  # type: ignore[override]
        """One without a history: copies are made into it."""
        return type(self)(dispatch.empty(shape))


class RedispatchTensor(Tensor):
    """A plain tensor that notes in `call_log` what it was given to, as do those made of it."""

    __slots__ = ["call_log"]
    call_log: list[Any]

    def __new__(cls, data: Tensor, call_log: list[Any] | None = None) -> Any:
        made = Tensor._make_subclass(cls, data, require_grad=data.requires_grad)
        made.call_log = [] if call_log is None else call_log
        return made

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        with DisableTorchFunction():
            return super().__repr__(tensor_contents=tensor_contents)  # type: ignore[call-arg]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = (e for e in pytree.tree_leaves((args, kwargs or {})) if isinstance(e, cls))
        first = next(given, None)
        log = None if first is None else first.call_log
        if log is not None:
            log.append((func.__qualname__, types))

        def wrap(t: Tensor) -> Tensor:
            return t if isinstance(t, cls) else cls(t, call_log=log)

        return pytree.tree_map_only(Tensor, wrap, redispatch_function(func, types, args, kwargs))


class SubclassWithTensorFactory(Tensor):
    """A wrapper whose handler makes plain tensors of its own for float32."""

    src: Tensor

    @staticmethod
    def __new__(cls, src: Tensor) -> Any:
        return Tensor._make_wrapper_subclass(
            cls,
            src.shape,
            strides=src.stride(),
            storage_offset=src.storage_offset(),
            device=src.device,
            layout=src.layout,
            requires_grad=src.requires_grad,
            dtype=src.dtype,
        )

    def __init__(self, src: Tensor) -> None:
        self.src = src

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return type(self).__name__

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["src"], None

    @classmethod
    def __tensor_unflatten__(cls, inner: Any, meta: Any, size: Any, stride: Any) -> Any:
        return cls(inner["src"])

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        def plain(t: Any) -> Tensor:
            made: Tensor = t.src
            return made * dispatch.ones(made.shape) if made.dtype == dispatch.float32 else made

        args, kwargs = pytree.tree_map_only(cls, plain, (args, kwargs or {}))
        return pytree.tree_map_only(Tensor, cls, func(*args, **kwargs))


class SubclassInfo(NamedTuple):
    """How to make a tensor of a class of a size; whether sums of such tensors are of the class."""

    name: str
    create_fn: Callable[[Any], Any]
    closed_under_ops: bool = True


def _asked(cls: Any, shape: Any) -> Any:
    """A wrapper that has said its geometry once."""
    made = cls(dispatch.randn(shape))
    made.size()
    made.stride()
    return made


subclass_db: dict[type, SubclassInfo] = {
    Tensor: SubclassInfo("base_tensor", lambda shape: dispatch.randn(shape)),
    NonWrapperTensor: SubclassInfo(
        "non_wrapper_tensor", lambda shape: NonWrapperTensor(dispatch.randn(shape))
    ),
    LoggingTensor: SubclassInfo(
        "logging_tensor", lambda shape: LoggingTensor(dispatch.randn(shape))
    ),
    SparseTensor: SubclassInfo(
        "sparse_tensor", lambda shape: SparseTensor.from_dense(dispatch.randn(shape).relu())
    ),
    DiagTensorBelow: SubclassInfo(
        "diag_tensor_below", lambda shape: DiagTensorBelow(dispatch.randn(shape)), False
    ),
    WrapperTensorWithCustomSizes: SubclassInfo(
        "wrapper_with_custom_sizes",
        lambda shape: _asked(WrapperTensorWithCustomSizes, shape),
        closed_under_ops=False,
    ),
    WrapperTensorWithCustomStrides: SubclassInfo(
        "wrapper_with_custom_strides",
        lambda shape: _asked(WrapperTensorWithCustomStrides, shape),
        closed_under_ops=False,
    ),
    RedispatchTensor: SubclassInfo(
        "redispatch_tensor", lambda shape: RedispatchTensor(dispatch.randn(shape))
    ),
}
