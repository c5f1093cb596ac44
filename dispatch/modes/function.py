"""Function modes, and overriding functions by `__torch_function__` (torch.overrides).

A function mode stands above the dispatcher: it sees functions, methods and properties as the
program called them, before arguments are converted and before autograd. Who is asked, and in
which order, is decided in `_C/torch_function`; the classes and helpers that programs use are here.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import keyword
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from dispatch import _C
from dispatch._C.function import OpFunction, _find_function, _find_room_function
from dispatch._C.guards import _RestorePythonTLSSnapshot
from dispatch._C.inspection import _dispatch_get_all_op_names
from dispatch._C.naming import full_name, package_name
from dispatch._C.overload import OpOverload, OpOverloadPacket
from dispatch._C.tensor import Tensor
from dispatch._C.tls import (
    _get_torch_function_state,
    _set_torch_function_state,
    _TorchFunctionState,
)
from dispatch._C.torch_function import (
    _ask_torch_function,
    _get_function_stack_at,
    _has_torch_function,
    _has_torch_function_unary,
    _has_torch_function_variadic,
    _len_torch_function_stack,
    _nowrap_functions,
    _overloaded_arguments,
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
    _skip_one_hop_torch_function,
)

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]

F = TypeVar("F", bound=Callable[..., Any])

has_torch_function = _has_torch_function
has_torch_function_unary = _has_torch_function_unary
has_torch_function_variadic = _has_torch_function_variadic


# ---- modes


class TorchFunctionMode:
    """Handles every call in its block of what `__torch_function__` may override.

    Override `__torch_function__(self, func, types, args=(), kwargs=None)`. While a mode handles a
    call it is off: what the handler calls goes to the next mode outwards, and then to subclasses.

    Example:
        >>> class Names(TorchFunctionMode):
        ...     def __torch_function__(self, func, types, args=(), kwargs=None):
        ...         print(func.__name__)
        ...         return func(*args, **(kwargs or {}))
    """

    inner: TorchFunctionMode

    def __init__(self) -> None:
        pass

    def __torch_function__(
        self, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError(
            f"{getattr(func, '__name__', func)}: {type(self).__name__} does not define "
            "__torch_function__(self, func, types, args=(), kwargs=None)"
        )

    def __enter__(self) -> TorchFunctionMode:
        _push_on_torch_function_stack(self)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _pop_torch_function_stack()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """Deprecated: `with Mode():` pushes."""
        warnings.warn(
            "`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`",
            stacklevel=2,
        )
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(
        self, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode() -> TorchFunctionMode | None:
    """The innermost function mode; None when there is none."""
    depth = _len_torch_function_stack()
    return _get_function_stack_at(depth - 1) if depth else None


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    """All active function modes, the innermost last."""
    return [_get_function_stack_at(i) for i in range(_len_torch_function_stack())]


def _push_mode(mode: TorchFunctionMode) -> None:
    _push_on_torch_function_stack(mode)


def _pop_mode() -> TorchFunctionMode:
    mode: TorchFunctionMode = _pop_torch_function_stack()
    return mode


@contextlib.contextmanager
def _pop_mode_temporarily() -> Iterator[TorchFunctionMode]:
    """The innermost function mode, off the stack for the block."""
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


@contextlib.contextmanager
def _enable_torch_function() -> Iterator[None]:
    """`__torch_function__` is on in the block, whatever switched it off."""
    before = _get_torch_function_state()
    _set_torch_function_state(_TorchFunctionState.ENABLED)
    try:
        yield
    finally:
        _set_torch_function_state(before)


@contextlib.contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """In a `__torch_dispatch__`: calls of the block start above autograd again.

    RuntimeError elsewhere.
    """
    with _RestorePythonTLSSnapshot():
        yield


# ---- functions that take part


def _get_overloaded_args(
    relevant_args: Iterable[Any], get_type_fn: Callable[[Any], type] | None = None
) -> list[Any]:
    """Those arguments whose handlers are asked, in that order: one for each class, subclasses
    before their bases, else from left to right. `get_type_fn` stands for `type`."""
    if get_type_fn is None:
        return _overloaded_arguments(relevant_args)
    found: list[Any] = []
    for value in relevant_args:
        kind = get_type_fn(value)
        kinds = [get_type_fn(other) for other in found]
        if kind not in kinds and _handles(kind):
            places = [i for i, other in enumerate(kinds) if issubclass(kind, other)]
            found.insert(places[0] if places else len(found), value)
    return found


def _handles(kind: type) -> bool:
    from dispatch._C.disabled import _disabled_torch_function_impl

    handler = getattr(kind, "__torch_function__", None)
    return handler is not None and handler is not _disabled_torch_function_impl


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """The answer of the innermost mode or of an argument to `public_api(*args, **kwargs)`.

    Functions written in Python call this when `has_torch_function` says so.

    Raises:
        TypeError: everybody returned NotImplemented.
    """
    return _ask_torch_function(public_api, relevant_args, args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[F], F]:
    """A decorator: the function asks the arguments that `dispatcher` names before it runs."""

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    return decorate


def redispatch_function(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Call `func` without asking for this call; calls inside of it are asked for again."""
    return _skip_one_hop_torch_function(func, types, args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """Whether `inp` is a tensor or has a `__torch_function__`."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


# ---- what there is to override

_IGNORED_FUNCTIONS = (
    "empty", "eye", "full", "arange", "linspace", "logspace", "ones", "rand", "randint", "randn",
    "randperm", "range", "zeros", "scalar_tensor", "tril_indices", "triu_indices",
    "empty_strided", "empty_permuted", "from_file", "can_cast", "promote_types", "as_strided",
    "rand_like", "randint_like", "randn_like",
    "bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window",
    "normal", "empty_quantized", "fill", "is_vulkan_available", "qscheme", "vander",
    "quantized_gru", "quantized_lstm", "sparse_bsc_tensor", "sparse_bsr_tensor",
    "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor",
    "sym_constrain_range", "sym_constrain_range_for_size", "cudnn_affine_grid_generator",
    "cudnn_batch_norm", "cudnn_convolution", "cudnn_convolution_add_relu",
    "cudnn_convolution_relu", "cudnn_convolution_transpose", "cudnn_grid_sampler",
    "cudnn_is_acceptable", "miopen_ctc_loss", "mkldnn_adaptive_avg_pool2d", "mkldnn_convolution",
    "mkldnn_linear_backward_weights", "mkldnn_max_pool2d", "mkldnn_max_pool3d",
    "mkldnn_rnn_layer",
    # no functions of PyTorch's package: operators that this one shows as well
    "alias", "avg_pool2d_backward", "convolution_backward", "convolution_backward_overrideable",
    "convolution_overrideable", "copy", "embedding_dense_backward", "index", "lift", "lift_fresh",
    "lift_fresh_copy", "max_pool2d_with_indices_backward", "native_group_norm_backward",
    "native_layer_norm_backward", "normal_functional", "slice", "sym_is_contiguous", "sym_numel",
    "sym_size", "sym_storage_offset", "sym_stride", "unfold_backward", "unique_dim",
)  # fmt: skip
# Of the package and its modules, and no operators: what makes tensors out of no tensor, and
# settings.
_IGNORED_OF_PACKAGE = (
    "as_tensor", "asarray", "autocast_decrement_nesting", "autocast_increment_nesting",
    "clear_autocast_cache", "cond", "device", "dtype", "enable_grad", "finfo", "from_numpy",
    "frombuffer", "functional.broadcast_shapes", "get_autocast_dtype", "get_default_device",
    "get_default_dtype", "get_device_module", "get_num_threads", "get_rng_state", "iinfo",
    "inference_mode", "initial_seed", "is_autocast_cache_enabled", "is_autocast_enabled",
    "is_grad_enabled", "is_inference_mode_enabled", "is_storage", "is_tensor", "layout", "load",
    "manual_seed", "memory_format", "nn.functional.handle_torch_function",
    "nn.functional.hardsigmoid", "nn.functional.hardswish", "nn.functional.has_torch_function",
    "nn.functional.has_torch_function_unary", "nn.functional.has_torch_function_variadic",
    "nn.functional.sigmoid", "nn.functional.tanh", "nn.functional.upsample",
    "nn.functional.upsample_bilinear", "nn.functional.upsample_nearest", "nn.init.calculate_gain",
    "no_grad", "parse_schema", "result_type", "save", "seed", "set_autocast_cache_enabled",
    "set_autocast_dtype", "set_autocast_enabled", "set_default_device", "set_num_threads",
    "set_printoptions", "set_rng_state", "tensor", "typename",
)  # fmt: skip
_IGNORED_METHODS = (
    "__init__", "__new__", "__init_subclass__", "__delitem__", "__iter__", "__torch_function__",
    "__torch_dispatch__", "as_subclass", "_make_subclass",
    "_make_wrapper_subclass", "__getattr__", "__getattribute__", "__hash__", "new_empty",
    "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros",
    "_addmm_activation", "_conj", "_conj_physical", "_is_all_true", "_is_any_true",
    "_is_zerotensor", "_lazy_clone", "_neg_view", "_philox_normal_", "_philox_uniform_",
    "_reshape_alias", "_to_sparse", "_to_sparse_bsc", "_to_sparse_bsr", "_to_sparse_csc",
    "_to_sparse_csr", "_typed_storage", "alias", "is_non_overlapping_and_dense",
    "is_strides_like_format", "new", "slice", "to_padded_tensor", "to_sparse_bsc",
    "to_sparse_bsr", "to_sparse_csc", "to_sparse_csr", "unflatten", "is_view",
)  # fmt: skip


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Functions and methods that the protocol is not meant for: factories and settings."""
    functions = (_find_function(name, False) for name in _IGNORED_FUNCTIONS)
    methods = (getattr(Tensor, name, None) for name in _IGNORED_METHODS)
    frequencies = map(_find_room_function, ("fft_fftfreq", "fft_rfftfreq"))
    others = map(_of_package, _IGNORED_OF_PACKAGE)
    return {found for found in (*functions, *methods, *frequencies, *others) if found is not None}


def _of_package(path: str) -> Any:
    """What the package has at a dotted path; None when it has nothing there."""
    try:
        return operator.attrgetter(path)(_package)
    except AttributeError:
        return None


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Functions whose results `Tensor.__torch_function__` leaves as they are."""
    return _nowrap_functions()


def _operator_names() -> list[str]:
    full = (name for name in _dispatch_get_all_op_names() if name.startswith("aten::"))
    return sorted({name[len("aten::") :].partition(".")[0] for name in full})


# What the package shows under a name with an underscore, and handlers are asked for all the same.
_PRIVATE_FUNCTIONS = (
    "_assert_async", "_conj_copy", "_functional_assert_async", "_fused_rms_norm",
    "_fw_primal_copy", "_indices_copy", "_make_dual_copy", "_native_batch_norm_legit",
    "_neg_view_copy", "_reshape_alias_copy", "_rowwise_prune", "_sparse_broadcast_to_copy",
    "_values_copy", "_wrapped_linear_prepack", "_wrapped_quantized_linear_prepacked",
)  # fmt: skip

_package: Any = None
_written: tuple[str, ...] = ()
_written_rooms: dict[str, Sequence[str] | None] = {}
_ROOMS = ("fft", "linalg", "special")  # modules of the package whose functions are operators


def _set_package(
    package: Any, written: tuple[str, ...], rooms: Mapping[str, Sequence[str] | None] = {}
) -> None:
    """Tell whose functions programs call: the package enters itself, being above this room, with
    the names of those functions that are no operator and ask handlers all the same, and of its
    modules that have such functions: their names, or None for all of `__all__`."""
    global _package, _written, _written_rooms
    _package, _written, _written_rooms = package, written, dict(rooms)
    for worked_out in (
        get_ignored_functions,
        _get_overridable_functions,
        get_testing_overrides,
        _get_tensor_methods,
    ):
        worked_out.cache_clear()


@functools.cache
def _get_overridable_functions() -> tuple[dict[Any, list[Any]], dict[Any, str]]:
    """(functions by name space, the name of each)."""
    ignored = get_ignored_functions()
    found: dict[Any, list[Any]] = {_package: [], Tensor: []}
    names: dict[Any, str] = {}
    for name in _written:
        function = getattr(_package, name)
        names[function] = full_name(name)
        found[_package].append(function)
    for room in _ROOMS:
        module = getattr(_package, room)
        found[module] = [getattr(module, name) for name in dir(module)]
        found[module] = [f for f in found[module] if isinstance(f, OpFunction) and f not in ignored]
        for function in found[module]:
            short = function.__name__.removeprefix(room + "_")
            names[function] = full_name(f"{room}.{short}")
    there = frozenset(dir(_package))
    for name in _operator_names():
        function = _find_function(name, False)
        shown = name.partition("_")[0] not in _ROOMS and name not in _written and name in there
        if function is not None and shown and getattr(_package, name) is function:
            names[function] = full_name(name)
            public = not name.startswith("_") or name in _PRIVATE_FUNCTIONS
            if public and not name.endswith("_") and function not in ignored:
                found[_package].append(function)
        method = _find_function(name, True)
        if method is not None and getattr(Tensor, name, None) is method:
            names[method] = full_name(f"Tensor.{name}")
            if method not in ignored:
                found[Tensor].append(method)
    for path, listed in _written_rooms.items():
        module = operator.attrgetter(path)(_package)
        functions = {getattr(module, n): n for n in listed or module.__all__}
        found[module] = [f for f, n in functions.items() if n[-1] != "_" and f not in ignored]
        names.update((f, full_name(f"{path}.{n}")) for f, n in functions.items())
    for name in ("tensor", "as_tensor", "asarray", "can_cast", "promote_types", "result_type"):
        names[getattr(_package, name)] = full_name(name)
    # Of one method under two names the plain one counts.
    for name, value in sorted(vars(Tensor).items(), key=lambda item: item[0].startswith("__")):
        if getattr(object, name, None) is value or name in ("__weakref__", "__dict__", "__doc__"):
            continue
        seen = "__rdiv__" if name == "__rtruediv__" else name  # equal, and what handlers see
        _enter_attribute(name, getattr(Tensor, seen), found, names)
    return found, names


def _enter_attribute(
    name: str, value: Any, found: dict[Any, list[Any]], names: dict[Any, str]
) -> None:
    """Add an attribute of Tensor: a method, or a property as its `__get__` and `__set__`."""
    if callable(value):
        if value not in names:
            names[value] = full_name(f"Tensor.{name}")
            if value not in get_ignored_functions():
                found[Tensor].append(value)
    elif hasattr(value, "__get__") and value not in get_ignored_functions():
        names[value.__get__] = full_name(f"Tensor.{name}.__get__")
        names[value.__set__] = full_name(f"Tensor.{name}.__set__")
        found.setdefault(value, []).append(value.__get__)


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """What `__torch_function__` may override: lists by name space (the package, `Tensor`, and
    each property of `Tensor`)."""
    return _get_overridable_functions()[0]


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """A stand-in with its signature that returns -1, for each function that may be overridden."""
    functions = (f for group in get_overridable_functions().values() for f in group)
    return {f: _stand_in(f) for f in functions}


def _stand_in(function: Any) -> Callable[..., Any]:
    def stand_in(*args: Any, **kwargs: Any) -> int:
        return -1

    stand_in.__name__ = function.__name__
    stand_in.__signature__ = _signature(function)  # type: ignore[attr-defined]
    return stand_in


def _signature(function: Any) -> inspect.Signature:
    """Arguments of a function that handlers see; of an operator those of its shortest schema."""
    if function.__name__ in ("__get__", "__set__") and hasattr(function, "__self__"):
        words = ("self",) if function.__name__ == "__get__" else ("self", "value")
        return inspect.Signature([_parameter(word) for word in words])
    schemas = _schemas(function)
    if schemas:
        shortest = min(schemas, key=lambda schema: sum(map(_is_needed, schema.arguments)))
        return inspect.Signature([_parameter_of(a) for a in shortest.arguments])
    try:
        seen = getattr(function, "layout", None) or getattr(function, "__wrapped__", function)
        found = inspect.signature(seen)
    except (TypeError, ValueError):
        return inspect.Signature([_parameter("args", inspect.Parameter.VAR_POSITIONAL)])
    plain = (p.replace(annotation=inspect.Parameter.empty) for p in found.parameters.values())
    return inspect.Signature(list(plain))


def _schemas(function: Any) -> list[Any]:
    """Schemas of the operator that a function of the package, or a method, calls."""
    name = function.__name__
    if function not in (_find_function(name, False), _find_function(name, True)):
        return []
    schemas = _C._jit_get_schemas_for_operator(f"aten::{name}")
    return [s for s in schemas if not any(a.is_out for a in s.arguments)] or schemas


def _is_needed(argument: Any) -> bool:
    return not argument.has_default_value()


def _parameter_of(argument: Any) -> inspect.Parameter:
    kinds = inspect.Parameter
    kind = kinds.KEYWORD_ONLY if argument.kwarg_only else kinds.POSITIONAL_OR_KEYWORD
    default = argument.default_value if argument.has_default_value() else kinds.empty
    name = argument.name + "_" * keyword.iskeyword(argument.name)
    return inspect.Parameter(name, kind, default=default)


def _parameter(name: str, kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD) -> inspect.Parameter:
    return inspect.Parameter(name, kind)


def resolve_name(f: Any) -> str | None:
    """The dotted name of a function that a handler is shown; None for one that is not known."""
    if isinstance(f, (OpOverload, OpOverloadPacket)):
        return str(f)
    if isinstance(f, type) and f.__module__ == package_name():  # `device`, which modes see called
        return full_name(f.__name__)
    return _get_overridable_functions()[1].get(f)


@functools.cache
def _get_tensor_methods() -> set[Callable[..., Any]]:
    """Methods and properties of Tensor that may be overridden, as handlers see them."""
    return set(get_overridable_functions()[Tensor])


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether `func` is a method of Tensor or reads a property of it (as handlers see it)."""
    return func in _get_tensor_methods() or func.__name__ == "__get__"
