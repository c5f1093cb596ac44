"""Defining operators and registering kernels at run time (torch.library).

A `Library` writes through one module object of the core (`_C/registration`) and takes everything
back when it is destroyed. Registering a kernel never depends on order: it may come before the
operator's definition. The functions here take an operator by name, by object, or as a
`CustomOpDef`, and register on a library of their own when none is given; custom operators
themselves are made in `_library/custom_ops`, which loads when it is first asked for.
"""

import contextlib
import functools
import importlib
import re
import sys
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dispatch import _ops
from dispatch._C import _dispatch_has_kernel_for_dispatch_key, _dispatch_pystub
from dispatch._C.keys import (
    DispatchKey,
    DispatchKeySet,
    _dispatch_key_for_device,
    _parse_dispatch_key,
)
from dispatch._C.overload import OpOverload
from dispatch._C.registration import LibraryModule, fallthrough_kernel
from dispatch._C.tags import Tag
from dispatch._library import fake_impl, utils

if TYPE_CHECKING:
    from dispatch._library.custom_ops import CustomOpDef, custom_op, device_types_t
    from dispatch._library.effects import EffectType
    from dispatch._library.infer_schema import infer_schema

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
]

_LATER = {
    "CustomOpDef": "custom_ops",
    "EffectType": "effects",
    "_cast": "custom_ops",
    "_maybe_get_opdef": "custom_ops",
    "custom_op": "custom_ops",
    "device_types_t": "custom_ops",
    "infer_schema": "infer_schema",
}


def __getattr__(name: str) -> Any:
    """What custom operators need, loaded when it is first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("dispatch._library." + _LATER[name]), name)
    globals()[name] = found
    return found


_reserved_namespaces = ["prim"]
_impls: set[str] = set()  # "namespace/operator/key" of the kernels registered here
_defs: set[str] = set()  # "namespace::operator" of the operators defined here


class Library:
    """Operators and kernels of one namespace, registered together and taken away together.

    Args:
        ns: the namespace; "_" for fallbacks.
        kind: "DEF" (one for each namespace), "FRAGMENT" (adds definitions), "IMPL" (kernels only).
        dispatch_key: the key used where none is given.

    Raises:
        ValueError: unknown kind, or a reserved namespace.
        RuntimeError: a second "DEF" of the same namespace; an unknown key.

    Every method raises AssertionError on a library that was destroyed. Source of the semantics:
    torch.library.Library.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in _reserved_namespaces and kind != "IMPL":
            raise ValueError(f"{ns} is a reserved namespace: choose another name for the library.")
        frame = sys._getframe(1)
        self.m: LibraryModule | None = LibraryModule(
            kind, ns, dispatch_key, frame.f_code.co_filename, frame.f_lineno
        )
        self.ns = ns
        self.kind = kind
        self.dispatch_key = dispatch_key
        self._op_defs: set[str] = set()
        self._op_impls: set[str] = set()
        self._registration_handles: list[utils.RegistrationHandle] = []
        weakref.finalize(
            self, _forget, self.m, self._op_defs, self._op_impls, self._registration_handles
        )

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def _module(self) -> LibraryModule:
        if self.m is None:
            raise AssertionError(f"{self!r} has been destroyed")
        return self.m

    def define(
        self, schema: str, alias_analysis: str = "", *, tags: Tag | Sequence[Tag] = ()
    ) -> str:
        """Define an operator by its schema and return its name.

        Args:
            alias_analysis: "", "FROM_SCHEMA" or "CONSERVATIVE"; kept with the operator.
            tags: one tag or several; `Tag.inplace` and `Tag.out` say what the schema must be.

        Raises:
            RuntimeError: the schema does not parse; the operator is defined already; an unknown
                alias analysis; a library of kind "IMPL".
            ValueError: the schema is not that of an in-place or out operator, and a tag says so.
            TypeError: something that is no tag among the tags.
        """
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        module = self._module()
        listed = (tags,) if isinstance(tags, Tag) else tuple(tags)
        for tag in listed:
            if not isinstance(tag, Tag):
                raise TypeError(f"{schema}: expected tags, got {type(tag).__name__} {tag!r}")
        if Tag.out in listed or Tag.inplace in listed:
            from dispatch._library.tagged_schemas import check_inplace, check_out

            if Tag.out in listed:
                check_out(schema)
            if Tag.inplace in listed:
                check_inplace(schema)
        name = module.define(schema, alias_analysis, listed)
        qualname = f"{self.ns}::{schema.partition('(')[0]}"
        self._op_defs.add(qualname)
        _defs.add(qualname)
        return name

    def _resolve_op_name(self, op_name: str | OpOverload, api_name: str) -> str:
        if isinstance(op_name, str):
            return op_name
        if isinstance(op_name, OpOverload):
            return op_name.name()
        raise RuntimeError(
            f"{api_name} takes the operator's name or its OpOverload first, got {type(op_name)}"
        )

    def impl(
        self,
        op_name: str | OpOverload,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Register `fn` (or `fallthrough_kernel`) as the kernel of an operator at a dispatch key.

        Args:
            op_name: "name", "name.overload" or an OpOverload.
            dispatch_key: default the library's own, else CompositeImplicitAutograd.
            with_keyset: `fn` gets the DispatchKeySet of the call first, for `redispatch`.
            allow_override: False: RuntimeError when Python registered a kernel there already.

        Raises:
            TypeError: `fn` is not callable.
            RuntimeError: an unknown key; another namespace; a Meta kernel for an operator that
                decomposes, or that is not defined.
        """
        if not callable(fn):
            raise TypeError(f"{op_name}: expected a callable as the kernel, got {type(fn)}")
        dispatch_key = dispatch_key or self.dispatch_key
        name = self._resolve_op_name(op_name, "impl")
        token = self._token(name, dispatch_key)
        if not allow_override:
            self._check_free(token)
        if dispatch_key == "Meta":
            self._check_no_decomposition(name)
        module = self._module()
        module.impl(name, dispatch_key or "CompositeImplicitAutograd", fn, with_keyset)
        _impls.add(token)
        self._op_impls.add(token)

    def _token(self, name: str, dispatch_key: str) -> str:
        return f"{self.ns}/{name.rpartition('::')[2]}/{dispatch_key}"

    def _check_free(self, token: str) -> None:
        if token in _impls:
            namespace, name, key = token.split("/")
            raise RuntimeError(
                f"{name}: a kernel for {key} was registered from Python already in namespace "
                f"{namespace}, and allow_override is False"
            )

    def _check_no_decomposition(self, name: str) -> None:
        full = name if "::" in name else f"{self.ns}::{name}"
        if _dispatch_has_kernel_for_dispatch_key(full, "CompositeImplicitAutograd"):
            raise RuntimeError(
                f"{name}: the operator has a CompositeImplicitAutograd kernel and decomposes; "
                "register Meta kernels for the operators that it decomposes into instead"
            )

    def _impl_with_aoti_compile(self, op_name: str | OpOverload, dispatch_key: str = "") -> None:
        """Refused: there is no compiler that could make the kernel.

        Raises:
            AssertionError: the key has no dense backend.
            NotImplementedError: always, else.
        """
        dispatch_key = dispatch_key or self.dispatch_key
        keys = DispatchKeySet(getattr(DispatchKey, dispatch_key, DispatchKey.Undefined))
        if not keys.has(DispatchKey.Dense):
            raise AssertionError(f"dispatch_key {dispatch_key!r} has no dense backend")
        name = self._resolve_op_name(op_name, "_impl_with_aoti_compile")
        self._check_free(self._token(name, dispatch_key))
        raise NotImplementedError(f"{name}: kernels cannot be compiled ahead of time here")

    def fallback(
        self, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False
    ) -> None:
        """Register `fn(op, *args, **kwargs)` for a key of every operator without a kernel there.

        Raises:
            RuntimeError: the library's namespace is not "_"; not a runtime key.
            AssertionError: no key.
        """
        dispatch_key = dispatch_key or self.dispatch_key
        if self.ns != "_":
            raise RuntimeError(
                f'Fallback can only be registered with namespace "_", not {self.ns!r}'
            )
        if not dispatch_key:
            raise AssertionError("dispatch_key must not be empty for fallback")
        self._module().fallback(dispatch_key, fn, with_keyset)

    def _entry(self, op_name: str) -> Any:
        """The operator's entry among the registrations that stand in no table."""
        from dispatch._library.simple_registry import singleton

        return singleton.find(op_name if "::" in op_name else f"{self.ns}::{op_name}")

    def _register_fake(
        self,
        op_name: str,
        fn: Callable[..., Any],
        _stacklevel: int = 1,
        *,
        allow_override: bool = True,
    ) -> None:
        """Register a fake kernel; `_stacklevel` says whose place is remembered."""
        source = utils.get_source(_stacklevel + 1)
        entry = self._entry(f"{self.ns}::{op_name}")
        module = sys._getframe(_stacklevel).f_globals.get("__name__")
        if module in sys.modules:
            fn = _in_named_module(fn, entry.qualname, module)
        handle = entry.fake_impl.register(fn, source, lib=self, allow_override=allow_override)
        self._registration_handles.append(handle)

    def _register_torch_dispatch_rule(
        self, op_name: str, torch_dispatch_class: type, fn: Callable[..., Any]
    ) -> None:
        """Register what a class runs for an operator instead of its `__torch_dispatch__`."""
        rules = self._entry(f"{self.ns}::{op_name}").torch_dispatch_rules
        self._registration_handles.append(rules.register(torch_dispatch_class, fn))

    def register_symm_mem_args(self, op_name: str | OpOverload, arg_names: list[str]) -> None:
        """Note which arguments have to lie in symmetric memory."""
        name = self._resolve_op_name(op_name, "register_symm_mem_args")
        self._registration_handles.append(self._entry(name).symm_mem_args.register(arg_names))

    def _register_effectful_op(self, op_name: str, effect: "EffectType | None") -> None:
        """Declare an operator's side effect."""
        self._registration_handles.append(self._entry(op_name).effect.register(effect))

    def _destroy(self) -> None:
        """Take away everything that this library registered."""
        if self.m is not None:
            _take_back(self.m, self._op_defs, self._op_impls, self._registration_handles)
            self.m = None


def _take_back(
    module: LibraryModule,
    defs: set[str],
    impls: set[str],
    handles: list[utils.RegistrationHandle],
) -> None:
    module.reset()
    for handle in handles:
        handle.destroy()
    handles.clear()
    _impls.difference_update(impls)
    for name in defs:
        _ops.refresh(name.partition(".")[0])


def _forget(
    module: LibraryModule,
    defs: set[str],
    impls: set[str],
    handles: list[utils.RegistrationHandle],
) -> None:
    _take_back(module, defs, impls, handles)
    _defs.difference_update(defs)


@contextlib.contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A Library that is destroyed when the block ends."""
    lib = Library(*args, **kwargs)
    try:
        yield lib
    finally:
        lib._destroy()


def _in_named_module(fn: Callable[..., Any], qualname: str, module: str) -> Callable[..., Any]:
    """`fn`, or what raises when the operator's definition names another module for its kernels."""
    base, _, overload = qualname.partition(".")
    named = _dispatch_pystub(base, overload)
    if named is None or named[0] == module:
        return fn

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{qualname}: its definition names the module {named[0]} for its fake kernel, which "
            f"was registered in {module} ({named[1]})"
        )

    return refuse


# ---- by qualified name -----------------------------------------------------------------------

_keep_alive: list[Library] = []  # of functions that were given no library
NAMELESS_SCHEMA = re.compile(r"\(.*\) -> .*")


def _library_for_registration(namespace: str, lib: Library | None) -> Library:
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _keep_alive.append(lib)
    return lib


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
    namespace, name = utils.parse_namespace(qualname)
    if not NAMELESS_SCHEMA.fullmatch(schema):
        raise ValueError(
            f'define: {qualname}: expected a schema such as "(Tensor x) -> Tensor", got {schema!r}'
        )
    _library_for_registration(namespace, lib).define(name + schema, tags=tags)


@define.register
def _define_in(lib: Library, schema: str, alias_analysis: str = "") -> Any:
    def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
        lib.impl(lib.define(schema, alias_analysis), f)
        return f

    return wrap


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
        namespace, _ = utils.parse_namespace(qualname)
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


def _resolve_op_for_registration(op: Any, registration_name: str) -> "str | CustomOpDef":
    """The CustomOpDef of an operator when it has one, else its qualified name."""
    from dispatch._library.custom_ops import CustomOpDef, _maybe_get_opdef

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
    device_types: "device_types_t",
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
        namespace, name = utils.parse_namespace(found)
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
    from dispatch._library import autograd
    from dispatch._library.custom_ops import refuse_autograd

    overload = utils.lookup_op(found)
    refuse_autograd(overload, utils.is_functional_schema(overload._schema))
    _refuse_kwarg_only_tensors(overload, "register_autograd")
    kernel = autograd.make_autograd_impl(overload, autograd.Info(backward, setup_context))
    namespace, name = utils.parse_namespace(found)
    _library_for_registration(namespace, lib).impl(name, kernel, "Autograd", with_keyset=True)


def _refuse_kwarg_only_tensors(op: OpOverload, what: str) -> None:
    if utils.has_kwarg_only_tensors(op._schema):
        raise NotImplementedError(f"{what}: tensors may not be keyword-only\n  {op._schema}")


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
        namespace, name = utils.parse_namespace(found)
        use_lib = _library_for_registration(namespace, lib)
        use_lib._register_torch_dispatch_rule(name, torch_dispatch_class, func)
        return func

    return register if func is None else register(func)


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
    overload = utils.lookup_op(found)
    _refuse_kwarg_only_tensors(overload, "register_vmap")

    def register(func: Callable[..., Any]) -> None:
        from dispatch._library.custom_ops import vmap_kernel

        namespace, name = utils.parse_namespace(found)
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
    from dispatch._library.custom_ops import autocast_kernel, check_autocast

    found = _resolve_op_for_registration(op, "register_autocast")
    check_autocast(device_type)
    if not isinstance(found, str):
        return found.register_autocast(device_type, cast_inputs)
    key, kernel = autocast_kernel(utils.lookup_op(found), device_type, cast_inputs)
    namespace, name = utils.parse_namespace(found)
    _library_for_registration(namespace, lib).impl(name, kernel, key, with_keyset=True)
    return None


def get_ctx() -> Any:
    """The context of the fake kernel that runs: `new_dynamic_size()`; None outside of one."""
    return fake_impl.global_ctx_getter()


def get_kernel(op: str | OpOverload, dispatch_key: str | DispatchKey) -> Any:
    """The kernel that serves an operator at a key, by the computed table.

    It is called with `kernel.call_boxed(keyset, *args, **kwargs)`.

    Raises:
        ValueError: `op` is neither a name nor an OpOverload; an unknown key.
        RuntimeError: no such operator, or nothing serves the key.

    Source of the semantics: torch.library.get_kernel.
    """
    from dispatch._C import _dispatch_get_computed_kernel_for_dispatch_key

    if not isinstance(op, (str, OpOverload)):
        raise ValueError(f"get_kernel: expected a name or an OpOverload, got {type(op)}")
    if isinstance(dispatch_key, str):
        members = DispatchKey.__members__
        if dispatch_key not in members:
            raise ValueError(f"get_kernel: unknown dispatch key {dispatch_key!r}")
        dispatch_key = members[dispatch_key]
    name = op._name if isinstance(op, OpOverload) else op
    return _dispatch_get_computed_kernel_for_dispatch_key(name, dispatch_key)


_OPCHECK_DEFAULT_UTILS = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_dynamic",
)


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = _OPCHECK_DEFAULT_UTILS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Check that an operator does, on sample arguments, what its registrations say.

    Args:
        test_utils: which checks, by name; one or several, default all.
        raise_exception: False: failures are returned in the result instead of raised.
        atol, rtol: tolerances where values are compared; both or none.

    Returns:
        A dict from the check's name to "SUCCESS" or to what it raised.

    Raises:
        OpCheckError: a check failed.
        ValueError: unknown checks; one tolerance without the other; `op` is no operator.

    The checks are described in `dispatch._library.opcheck`. Source of the semantics:
    torch.library.opcheck.
    """
    from dispatch._library.opcheck import run_checks

    return run_checks(op, args, kwargs or {}, test_utils, raise_exception, atol, rtol)
