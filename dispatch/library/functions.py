"""Defining operators and registering kernels by name (torch.library).

The functions take an operator by name, by object, or as a `CustomOpDef`, and register on a library
of their own when none is given.
"""

import functools
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from dispatch._C.inspection import (
    _dispatch_find_schema_or_throw,
    _dispatch_get_computed_kernel_for_dispatch_key,
)
from dispatch._C.keys import DispatchKey, _dispatch_key_for_device, _parse_dispatch_key
from dispatch._C.overload import OpOverload
from dispatch._C.tags import Tag
from dispatch.library import autograd
from dispatch.library.autocast import check_autocast
from dispatch.library.custom_ops import (
    CustomOpDef,
    _maybe_get_opdef,
    autocast_kernel,
    device_types_t,
    refuse_autograd,
    vmap_kernel,
)
from dispatch.library.library import Library
from dispatch.library.operators import lookup_op
from dispatch.registry.effects import EffectType
from dispatch.registry.fake_kernels import global_ctx_getter
from dispatch.registry.handles import parse_namespace
from dispatch.registry.schemas import has_kwarg_only_tensors, is_functional_schema

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "define",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
]

# ---- by qualified name -----------------------------------------------------------------------

_keep_alive: list[Library] = []  # of functions that were given no library
NAMELESS_SCHEMA = re.compile(r"\(.*\) -> .*")


def _library_for_registration(namespace: str, lib: Library | None) -> Library:
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _keep_alive.append(lib)
    return lib


if TYPE_CHECKING:  # `singledispatch` hides the signatures

    @overload
    def define(lib: Library, schema: str, alias_analysis: str = "") -> Callable[[F], F]: ...
    @overload
    def define(
        qualname: str, schema: str, *, lib: Library | None = None, tags: Tag | Sequence[Tag] = ()
    ) -> None: ...
    def define(*args: Any, **kwargs: Any) -> Any: ...

else:

    @functools.singledispatch
    def define(
        qualname: Any, schema: str, *, lib: Library | None = None, tags: Tag | Sequence[Tag] = ()
    ) -> Any:
        """Define an operator: `define("ns::name", "(Tensor x) -> Tensor")`.

        With a Library first, `define(lib, "name(Tensor x) -> Tensor")` is a decorator that defines
        the operator and makes the function its kernel for every device.

        Raises:
            ValueError: the name has no namespace; the schema has a name.

        Source of the semantics: torch.library.define.
        """
        if not isinstance(qualname, str):
            raise ValueError(f"define: expected a name, got {type(qualname)}")
        namespace, name = parse_namespace(qualname)
        if not NAMELESS_SCHEMA.fullmatch(schema):
            raise ValueError(
                f"define: {qualname}: expected schema to look like '(Tensor x) -> Tensor', got "
                f"{schema!r}"
            )
        _library_for_registration(namespace, lib).define(name + schema, tags=tags)

    @define.register
    def _define_in(lib: Library, schema: str, alias_analysis: str = "") -> Any:
        def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
            lib.impl(lib.define(schema, alias_analysis), f)
            return f

        return wrap


if TYPE_CHECKING:

    @overload
    def impl(lib: Library, name: str, dispatch_key: str = "") -> Callable[[F], F]: ...
    @overload
    def impl(
        qualname: str, types: str | Sequence[str], func: None = None, *, lib: Library | None = None
    ) -> Callable[[Callable[..., Any]], None]: ...
    @overload
    def impl(
        qualname: str,
        types: str | Sequence[str],
        func: Callable[..., Any],
        *,
        lib: Library | None = None,
    ) -> None: ...
    def impl(*args: Any, **kwargs: Any) -> Any: ...

else:

    @functools.singledispatch
    def impl(
        qualname: Any,
        types: str | Sequence[str],
        func: Callable[..., Any] | None = None,
        *,
        lib: Library | None = None,
    ) -> Any:
        """Register a kernel by qualified name; without `func` a decorator.

        Args:
            types: device types ("cpu", "default" for all) or dispatch keys, one or several.

        With a Library first, `impl(lib, name, dispatch_key="")` is a decorator for `lib.impl`.

        Raises:
            RuntimeError: neither a device type nor a key.
            ValueError: the name has no namespace.

        Source of the semantics: torch.library.impl.
        """
        keys = {_key_of(t) for t in ((types,) if isinstance(types, str) else types)}

        def register(func: Callable[..., Any]) -> None:
            namespace, _ = parse_namespace(qualname)
            use_lib = _library_for_registration(namespace, lib)
            for key in keys:
                use_lib.impl(qualname, func, key)

        return register if func is None else register(func)

    @impl.register
    def _impl_in(lib: Library, name: str, dispatch_key: str = "") -> Any:
        def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
            lib.impl(name, f, dispatch_key)
            return f

        return wrap


def _key_of(type_: str) -> str:
    return type_ if _parse_dispatch_key(type_) is not None else _device_type_to_key(type_)


def _device_type_to_key(device_type: str) -> str:
    if device_type == "default":
        return "CompositeExplicitAutograd"
    return _dispatch_key_for_device(device_type)


# ---- on an operator --------------------------------------------------------------------------


def _resolve_op_for_registration(op: Any, registration_name: str) -> str | CustomOpDef:
    """The CustomOpDef of an operator when it has one, else its qualified name."""
    if not isinstance(op, (str, OpOverload, CustomOpDef)):
        raise ValueError(
            f"{registration_name}: expected a name, an OpOverload or a custom operator, got {op!r}"
        )
    opdef = _maybe_get_opdef(op)
    if opdef is not None:
        return opdef
    return op._name if isinstance(op, OpOverload) else op


def register_kernel(
    op: Any,
    device_types: device_types_t,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Register an operator's function for device types, None for all; without `func` a decorator.

    Raises:
        ValueError: `op` is no operator and no name.

    Source of the semantics: torch.library.register_kernel.
    """
    found = _resolve_op_for_registration(op, "register_kernel")
    if not isinstance(found, str):
        return found.register_kernel(device_types, func)
    types = "CompositeExplicitAutograd" if device_types is None else device_types
    return impl(found, types, func, lib=lib)


def register_fake(
    op: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
    allow_override: bool = True,
) -> Any:
    """Register what stands for an operator on fake and Meta tensors; without `func` a decorator.

    The function works out the result's metadata from the arguments' and never touches data.
    Returns `func`.

    Raises:
        ValueError: `op` is no operator and no name.
        RuntimeError: the operator is not defined, or decomposes.

    Source of the semantics: torch.library.register_fake.
    """
    found = _resolve_op_for_registration(op, "register_fake")
    if not isinstance(found, str):
        return found.register_fake if func is None else found.register_fake(func)
    level = _stacklevel if func is None else _stacklevel + 1

    def register(func: Callable[..., Any]) -> Callable[..., Any]:
        namespace, name = parse_namespace(found)
        use_lib = _library_for_registration(namespace, lib)
        use_lib._register_fake(name, func, level + 1, allow_override=allow_override)
        return func

    return register if func is None else register(func)


def impl_abstract(
    qualname: Any,
    func: Callable[..., Any] | None = None,
    *,
    lib: Library | None = None,
    _stacklevel: int = 1,
) -> Any:
    """Deprecated: `register_fake`."""
    warnings.warn("impl_abstract is deprecated: use register_fake", FutureWarning, stacklevel=2)
    level = _stacklevel if func is None else _stacklevel + 1
    return register_fake(qualname, func, lib=lib, _stacklevel=level)


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """Register an operator's gradient formula.

    There is no engine: a call whose tensors require grad runs `setup_context(ctx, inputs, output)`
    and gives its outputs a `grad_fn` whose `apply` runs `backward(ctx, *grads)`; `backward()` on a
    tensor raises.

    Raises:
        ValueError: `op` is no operator and no name.
        RuntimeError: the operator writes, returns nothing or returns a view.
        NotImplementedError: it has tensors among its keyword-only arguments.

    Source of the semantics: torch.library.register_autograd.
    """
    found = _resolve_op_for_registration(op, "register_autograd")
    if not isinstance(found, str):
        found.register_autograd(backward, setup_context=setup_context)
        return
    overload = lookup_op(found)
    refuse_autograd(overload, is_functional_schema(overload._schema))
    _refuse_kwarg_only_tensors(overload, "register_autograd")
    kernel = autograd.make_autograd_impl(overload, autograd.Info(backward, setup_context))
    namespace, name = parse_namespace(found)
    _library_for_registration(namespace, lib).impl(name, kernel, "Autograd")


def _refuse_kwarg_only_tensors(op: OpOverload, what: str) -> None:
    if has_kwarg_only_tensors(op._schema):
        raise NotImplementedError(f"{what}: {op} has kwarg-only Tensor args\n  {op._schema}")


def register_torch_dispatch(
    op: Any,
    torch_dispatch_class: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Register what a mode or tensor subclass runs for one operator; without `func` a decorator.

    `func(mode or class, op, types, args, kwargs)` runs instead of the `__torch_dispatch__` of
    exactly this class. Returns `func`.

    Raises:
        ValueError: `op` is no operator and no name.
        RuntimeError: the class has a rule for the operator already.

    Source of the semantics: torch.library.register_torch_dispatch.
    """
    found = _resolve_op_for_registration(op, "register_torch_dispatch")
    if not isinstance(found, str):
        return found.register_torch_dispatch(torch_dispatch_class, func)

    def register(func: Callable[..., Any]) -> Callable[..., Any]:
        namespace, name = parse_namespace(found)
        use_lib = _library_for_registration(namespace, lib)
        use_lib._register_torch_dispatch_rule(name, torch_dispatch_class, func)
        return func

    return register if func is None else register(func)


def _register_effectful_op(
    op: Any, effect: EffectType | None, *, lib: Library | None = None
) -> None:
    """Declare an operator's side effect; None takes it away.

    Args:
        op: an overload, a custom operator, or a qualified name.
        lib: the registration ends with it; by default with the process.

    Raises:
        ValueError: `op` is something else.

    Source of the semantics: torch.library._register_effectful_op.
    """
    found = _resolve_op_for_registration(op, "register_effectful_op")
    if not isinstance(found, str):
        found.register_effect(effect)
        return
    use_lib = _library_for_registration(parse_namespace(found)[0], lib)
    use_lib._register_effectful_op(found, effect)


def register_vmap(
    op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None
) -> Any:
    """Register an operator's batching rule at FuncTorchBatched; without `func` a decorator.

    There are no function transforms: a call that reaches the rule's key raises RuntimeError.

    Raises:
        ValueError: `op` is no operator and no name.
        NotImplementedError: it has tensors among its keyword-only arguments.

    Source of the semantics: torch.library.register_vmap.
    """
    found = _resolve_op_for_registration(op, "register_vmap")
    if not isinstance(found, str):
        return found.register_vmap(func)
    overload = lookup_op(found)
    _refuse_kwarg_only_tensors(overload, "register_vmap")

    def register(func: Callable[..., Any]) -> None:
        namespace, name = parse_namespace(found)
        use_lib = _library_for_registration(namespace, lib)
        use_lib.impl(name, vmap_kernel(overload), "FuncTorchBatched", with_keyset=True)

    return register if func is None else register(func)


def register_autocast(
    op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None
) -> Any:
    """Have an operator's floating-point tensors of a device type cast where autocast is on.

    Raises:
        ValueError: `op` is no operator and no name; a device type without autocast.

    Source of the semantics: torch.library.register_autocast.
    """
    found = _resolve_op_for_registration(op, "register_autocast")
    check_autocast(device_type)
    if not isinstance(found, str):
        return found.register_autocast(device_type, cast_inputs)
    key, kernel = autocast_kernel(lookup_op(found), device_type, cast_inputs)
    namespace, name = parse_namespace(found)
    _library_for_registration(namespace, lib).impl(name, kernel, key, with_keyset=True)
    return None


def get_ctx() -> Any:
    """The context of the fake kernel that runs: `new_dynamic_size()`; None outside of one."""
    return global_ctx_getter()


def get_kernel(op: str | OpOverload, dispatch_key: str | DispatchKey) -> Any:
    """The kernel that serves an operator at a key, by the computed table.

    It is called with `kernel.call_boxed(keyset, *args, **kwargs)`.

    Raises:
        ValueError: `op` is neither a name nor an OpOverload; an unknown key.
        RuntimeError: no such operator, none that is defined, or nothing serves the key.

    Source of the semantics: torch.library.get_kernel.
    """
    if not isinstance(op, (str, OpOverload)):
        raise ValueError(f"get_kernel: expected a name or an OpOverload, got {type(op)}")
    if isinstance(dispatch_key, str):
        members = DispatchKey.__members__
        if dispatch_key not in members:
            raise ValueError(f"get_kernel: unknown dispatch key {dispatch_key!r}")
        dispatch_key = members[dispatch_key]
    name = op._name if isinstance(op, OpOverload) else op
    _dispatch_find_schema_or_throw(*(name.split(".", 1) if "." in name else (name, "")))
    return _dispatch_get_computed_kernel_for_dispatch_key(name, dispatch_key)
