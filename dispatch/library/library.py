"""Library: operators and kernels of one namespace, registered together (torch.library.Library).

It writes through one module object of the core (`_C/registration`), and what stands in no table
into `registry`; everything is taken back when it is destroyed. Registering a kernel never depends
on order: it may come before the operator's definition.
"""

import contextlib
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dispatch import _ops
from dispatch._C.advice import advise_once
from dispatch._C.inspection import _dispatch_has_kernel_for_dispatch_key
from dispatch._C.keys import DispatchKey, DispatchKeySet
from dispatch._C.markup import table
from dispatch._C.overload import OpOverload
from dispatch._C.registration import LibraryModule, _dispatch_pystub
from dispatch._C.tags import Tag
from dispatch.registry.effects import EffectType
from dispatch.registry.entries import singleton
from dispatch.registry.fake_kernels import check_no_decomposition
from dispatch.registry.handles import RegistrationHandle, get_source

__all__ = ["Library"]

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
        self._noted = (self._op_defs, _defs)
        self._op_impls: set[str] = set()
        self._registration_handles: list[RegistrationHandle] = []
        weakref.finalize(
            self, _forget, self.m, _defs, self._op_defs, _impls, self._op_impls,
            self._registration_handles,
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def _repr_html_(self) -> str:
        """For notebooks: the operators that it defines, and those that it has kernels for."""
        defined = [("defines", name, "") for name in sorted(self._op_defs)]
        tokens = (token.split("/", 2) for token in sorted(self._op_impls))
        kernels = [("kernel", f"{ns}::{name}", key) for ns, name, key in tokens]
        return table(repr(self), ("what", "operator", "key"), [*defined, *kernels])

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
        if alias_analysis and alias_analysis not in ("FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        module = self.m or self._module()
        if type(schema) is not str:
            schema = str.__str__(schema)  # of a subclass; a TypeError of what is no text
        listed = () if tags == () else _checked_tags(schema, tags)
        return module.define(schema, alias_analysis, listed, self._noted)

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
            TypeError: `fn` is not callable; the key is no text.
            RuntimeError: an unknown key; another namespace; a Meta kernel for an operator that
                decomposes, or that is not defined.
        """
        if not callable(fn):
            raise TypeError(
                f"{op_name}: Input function is required to be a callable, got {type(fn)}"
            )
        dispatch_key = dispatch_key or self.dispatch_key
        name = op_name if type(op_name) is str else self._resolve_op_name(op_name, "impl")
        if not isinstance(dispatch_key, str):
            raise TypeError(f"{name}: a dispatch key is given by its name, not as {dispatch_key!r}")
        token = self._token(name, dispatch_key)
        if not allow_override:
            self._check_free(token)
        if dispatch_key == "Meta":
            check_no_decomposition(name if "::" in name else f"{self.ns}::{name}")
        module = self.m or self._module()
        there = token in _impls or (self.ns == "aten" and _is_built_in(name, dispatch_key))
        if there and dispatch_key != "Meta":
            advise_once("Library.impl", f"{name} has a kernel at {dispatch_key} already")
        module.impl(name, dispatch_key or "CompositeImplicitAutograd", fn, with_keyset)
        _impls.add(token)
        self._op_impls.add(token)

    def _token(self, name: str, dispatch_key: str) -> str:
        bare = name.rpartition("::")[2] if "::" in name else name
        return f"{self.ns}/{bare}/{dispatch_key}"

    def _check_free(self, token: str) -> None:
        if token in _impls:
            namespace, name, key = token.split("/")
            raise RuntimeError(
                f"{name}: there is already a kernel registered from python for {key} in "
                f"namespace {namespace}, and allow_override is False"
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
        source = get_source(_stacklevel + 1)
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

    def _register_effectful_op(self, op_name: str, effect: EffectType | None) -> None:
        """Declare an operator's side effect."""
        self._registration_handles.append(self._entry(op_name).effect.register(effect))

    def _destroy(self) -> None:
        """Take away everything that this library registered."""
        if self.m is not None:
            _take_back(self.m, self._op_defs, _impls, self._op_impls, self._registration_handles)
            self.m = None


def _is_built_in(name: str, dispatch_key: str) -> bool:
    """Whether the operator of aten has a kernel of the package there."""
    whole = name if "::" in name else f"aten::{name}"
    key = dispatch_key or "CompositeImplicitAutograd"
    with contextlib.suppress(RuntimeError):  # an operator or a key that is none
        return _dispatch_has_kernel_for_dispatch_key(whole, key)
    return False


def _checked_tags(schema: str, tags: Tag | Sequence[Tag]) -> tuple[Tag, ...]:
    """Tags as a tuple; those that say what the schema must be are compared with it."""
    listed = (tags,) if isinstance(tags, Tag) else tuple(tags)
    for tag in listed:
        if not isinstance(tag, Tag):
            raise TypeError(f"{schema}: expected tags, got {type(tag).__name__} {tag!r}")
    if Tag.out in listed or Tag.inplace in listed:
        from dispatch.library.tagged_schemas import check_inplace, check_out

        if Tag.out in listed:
            check_out(schema)
        if Tag.inplace in listed:
            check_inplace(schema)
    return listed


def _take_back(
    module: LibraryModule,
    defs: set[str],
    all_impls: set[str],
    impls: set[str],
    handles: list[RegistrationHandle],
) -> None:
    module.reset()
    for handle in handles:
        handle.destroy()
    handles.clear()
    all_impls.difference_update(impls)
    for name in defs:
        _ops.refresh(name.partition(".")[0])


def _forget(
    module: LibraryModule,
    all_defs: set[str],
    defs: set[str],
    all_impls: set[str],
    impls: set[str],
    handles: list[RegistrationHandle],
) -> None:
    _take_back(module, defs, all_impls, impls, handles)
    all_defs.difference_update(defs)


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
