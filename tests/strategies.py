"""Random input for hypothesis, shared by all tests: one function for each kind of thing."""

from __future__ import annotations

import string
from functools import cache
from typing import Any

from hypothesis import strategies as st

from dispatch.codegen.defaults import LISTED_KINDS
from dispatch.codegen.schema import AliasInfo, Argument, FunctionSchema
from dispatch.codegen.types import (
    BASE_TYPES,
    ClassType,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)

__all__ = ["argument_types", "identifiers", "schemas"]

_NUMBERS = st.floats(allow_nan=False, width=64)
_COMPLEX = st.complex_numbers(allow_nan=False, allow_infinity=False)
_DEFAULTS: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-(2**63), 2**63 - 1),
    "SymInt": st.integers(-(2**63), 2**63 - 1),
    "DeviceIndex": st.integers(-1, 127),
    "float": _NUMBERS,
    "SymFloat": _NUMBERS,
    "bool": st.booleans(),
    "SymBool": st.booleans(),
    "complex": _COMPLEX,
    "Scalar": st.booleans() | st.integers(-(2**63), 2**63 - 1) | _NUMBERS | _COMPLEX,
    "number": st.booleans() | st.integers(-(2**63), 2**63 - 1) | _NUMBERS,
    "Dimname": st.sampled_from(["N", "C"]),
    "str": st.text(st.characters(codec="utf-8"), max_size=8),
    "ScalarType": st.integers(0, 44),
    "Layout": st.integers(0, 7),
    "MemoryFormat": st.integers(0, 3),
    "Device": st.sampled_from(["cpu", "cuda", "cuda:1"]),
}


@cache
def identifiers() -> st.SearchStrategy[str]:
    """Names of arguments and operators."""
    first = st.sampled_from(string.ascii_letters + "_")
    rest = st.text(string.ascii_letters + string.digits + "_", max_size=8)
    return st.builds(str.__add__, first, rest)


@cache
def argument_types() -> st.SearchStrategy[Type]:
    """Types of every form, nested a few levels."""
    words = sorted(name for name in BASE_TYPES if name not in ("None", "PyObject"))
    base: st.SearchStrategy[Type] = st.sampled_from([BASE_TYPES[name] for name in words])
    base |= st.just(ClassType("__torch__.torch.classes.a.B", "__torch__.torch.classes.a.B"))
    return st.recursive(base, _larger_types, max_leaves=4)


def _larger_types(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    sizes = st.none() | st.integers(1, 6)
    return st.one_of(
        inner.filter(lambda t: not isinstance(t, OptionalType)).map(OptionalType),
        st.builds(ListType, inner, sizes),
        st.builds(DictType, inner, inner),
        st.builds(TupleType, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    )


@cache
def _aliases(type_: Type) -> st.SearchStrategy[AliasInfo | None]:
    sets = st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True).map(tuple)
    after = st.none() | st.just(("*",))
    leaf = st.builds(
        lambda before, then, write: AliasInfo(write, before, then or before),
        sets,
        after,
        st.booleans(),
    )
    if isinstance(type_, ListType):
        inner = leaf.map(lambda a: AliasInfo(a.is_write, (), (), a))
        return st.none() | inner
    return st.none() | leaf


@cache
def _default(type_: Type) -> st.SearchStrategy[Any]:
    if isinstance(type_, OptionalType):
        element = type_.element
        return st.none() if isinstance(element, ListType) else st.none() | _default(element)
    if isinstance(type_, ListType):
        size = type_.size
        element = _default(type_.element)
        return st.lists(element, min_size=size or 0, max_size=size or 4)
    return _DEFAULTS.get(type_.text, st.none())


@st.composite
def _arguments(draw: st.DrawFn) -> tuple[Argument, ...]:
    names = draw(st.lists(identifiers(), unique=True, max_size=5))
    n_positional = draw(st.integers(0, len(names)))
    n_required = draw(st.integers(0, n_positional))
    found = []
    for i, name in enumerate(names):
        type_ = draw(argument_types())
        has_default = i >= n_required if i < n_positional else draw(st.booleans())
        has_default = has_default and _has_defaults(type_)
        if i < n_positional and not has_default and i >= n_required:
            type_, has_default = BASE_TYPES["bool"], True
        value = draw(_default(type_)) if has_default else None
        alias = draw(_aliases(type_))
        found.append(Argument(name, type_, None, value, i >= n_positional, alias, has_default))
    return tuple(found)


def _has_defaults(type_: Type) -> bool:
    # what the schema language has constants for: lists of numbers or bools, no lists of lists
    if isinstance(type_, OptionalType):
        return True
    return not isinstance(type_, ListType) or type_.element.kind() in LISTED_KINDS


def _result(type_: Type) -> st.SearchStrategy[Argument]:
    names = st.just("") | identifiers()
    return st.builds(Argument, names, st.just(type_), alias_info=_aliases(type_))


@cache
def schemas() -> st.SearchStrategy[FunctionSchema]:
    """Whole schemas: names, arguments with defaults and aliases, results."""
    names = st.builds("{}::{}".format, identifiers(), identifiers())
    overloads = st.just("") | identifiers().filter(
        lambda name: not name.startswith("__") and name != "default"
    )
    results = st.lists(argument_types().flatmap(_result), max_size=3).map(tuple)
    return st.builds(FunctionSchema, names, overloads, _arguments(), results)
