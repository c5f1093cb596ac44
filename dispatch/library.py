"""Defining operators and registering kernels at run time (torch.library).

A `Library` writes through one module object of the core (`_C/registration`) and takes everything
back when it is destroyed. Registering never depends on order: an implementation may come before
its definition.
"""

import contextlib
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from dispatch import _ops
from dispatch._C.overload import OpOverload
from dispatch._C.registration import (
    LibraryModule,
    _dispatch_has_kernel_for_dispatch_key,
    fallthrough_kernel,
)

__all__ = ["Library", "fallthrough_kernel"]

_RESERVED_NAMESPACES = frozenset({"prim"})
_impls: set[str] = set()


class Library:
    """Operators and kernels of one namespace, registered together and taken away together.

    Args:
        ns: the namespace; "_" for fallbacks.
        kind: "DEF" (one for each namespace), "FRAGMENT" (adds definitions), "IMPL" (kernels only).
        dispatch_key: the key used where none is given.

    Raises:
        ValueError: unknown kind, or a reserved namespace.
        RuntimeError: a second "DEF" of the same namespace; an unknown key.

    Source of the semantics: torch.library.Library.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in _RESERVED_NAMESPACES and kind != "IMPL":
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
        self._finalizer = weakref.finalize(
            self, _take_back, self.m, self._op_defs, self._op_impls
        )

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def _module(self) -> LibraryModule:
        if self.m is None:
            raise RuntimeError(f"{self!r} has been destroyed")
        return self.m

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an operator by its schema and return its name.

        Raises:
            RuntimeError: the schema does not parse; the operator is defined already; an unknown
                alias analysis.
        """
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        listed = tuple(tags) if isinstance(tags, (tuple, list)) else (tags,)
        name = self._module().define(schema, alias_analysis, listed)
        self._op_defs.add(f"{self.ns}::{name}")
        return name

    def _operator_name(self, op_name: str | OpOverload) -> str:
        if isinstance(op_name, str):
            return op_name
        if isinstance(op_name, OpOverload):
            return op_name.name()
        raise RuntimeError(
            "impl should be passed either a name or an OpOverload object as the first argument, "
            f"got {type(op_name)}"
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
            RuntimeError: an unknown key; a Meta kernel for an operator that decomposes.
        """
        if not callable(fn):
            raise TypeError(f"{op_name}: expected a callable as the kernel, got {type(fn)}")
        dispatch_key = dispatch_key or self.dispatch_key
        name = self._operator_name(op_name)
        bare = name.rpartition("::")[2]
        token = f"{self.ns}/{bare}/{dispatch_key}"
        if not allow_override and token in _impls:
            raise RuntimeError(
                f"{bare}: a kernel for {dispatch_key} was registered from Python already in "
                f"namespace {self.ns}, and allow_override is False"
            )
        if dispatch_key == "Meta":
            self._check_no_decomposition(name, bare)
        self._module().impl(name, dispatch_key or "CompositeImplicitAutograd", fn, with_keyset)
        _impls.add(token)
        self._op_impls.add(token)

    def _check_no_decomposition(self, name: str, bare: str) -> None:
        full = name if "::" in name else f"{self.ns}::{name}"
        if _ops.find_overload(full) is None:
            return
        if _dispatch_has_kernel_for_dispatch_key(full, "CompositeImplicitAutograd"):
            raise RuntimeError(
                f"{bare}: the operator has a CompositeImplicitAutograd kernel and decomposes; "
                "register Meta kernels for the operators that it decomposes into instead"
            )

    def fallback(
        self, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False
    ) -> None:
        """Register `fn(op, *args, **kwargs)` for a key of every operator without a kernel there.

        Raises:
            RuntimeError: the library's namespace is not "_"; not a runtime key.
        """
        dispatch_key = dispatch_key or self.dispatch_key
        if self.ns != "_":
            raise RuntimeError(
                f'Fallback can only be registered with namespace "_", not {self.ns!r}'
            )
        if not dispatch_key:
            raise AssertionError("dispatch_key must not be empty for fallback")
        self._module().fallback(dispatch_key, fn, with_keyset)

    def _destroy(self) -> None:
        """Take away everything that this library registered."""
        if self.m is not None:
            self._finalizer()
            self.m = None


def _take_back(module: LibraryModule, defs: set[str], impls: set[str]) -> None:
    module.reset()
    _impls.difference_update(impls)
    for name in defs:
        _ops.refresh(name.partition(".")[0])
    defs.clear()
    impls.clear()


@contextlib.contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A Library that is destroyed when the block ends."""
    lib = Library(*args, **kwargs)
    try:
        yield lib
    finally:
        lib._destroy()
