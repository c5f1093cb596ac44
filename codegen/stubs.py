"""The `.pyi` stubs: what editors and type checkers know of operators, functions and Tensor methods.

One stub for each namespace (`ops_aten.pyi`), one for the functions, one for each module of more
(`functions_linalg.pyi`), one for the methods.
Overloads of one name are kept apart with `typing.overload`; an out variant is the `out` argument
of its functional one, sizes may be given one by one (`zeros(2, 3)`), and factories as functions
take `requires_grad`, as in a call.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .encoding import is_inplace_name
from .model import OUT, NativeFunction, Package
from .output import wrapped
from .schema import Argument
from .types import DictType, ListType, OptionalType, TupleType, Type

__all__ = [
    "MODULES", "functions_view", "methods_view", "namespace_views", "prefixed_view", "results_view",
]  # fmt: skip

# Modules of the package whose functions are the operators of their prefix.
MODULES = ("fft", "linalg", "special")
_PREFIXES = tuple(f"{module}_" for module in MODULES)
# Functions that the package writes in Python, for they take tensors one by one.
_WRITTEN = ("broadcast_tensors", "chain_matmul", "einsum")

# Types stand under private names: an overload or a method may be called `Tensor`, `int` or `dtype`.
_PYTHON_TYPES = {
    "Tensor": "_Tensor", "int": "_int", "SymInt": "_int", "float": "_float", "SymFloat": "_float",
    "bool": "_bool", "SymBool": "_bool", "complex": "_complex", "Scalar": "_Number",
    "number": "_Number", "str": "_str", "ScalarType": "_dtype", "Layout": "_layout",
    "Device": "_Device", "MemoryFormat": "_memory_format", "Generator": "_Generator",
    "Dimname": "_str", "NoneType": "None",
}  # fmt: skip

_INTS = ("int", "SymInt")


def _python_type(type_: Type) -> str:
    if isinstance(type_, OptionalType):
        return f"{_python_type(type_.element)} | None"
    if isinstance(type_, ListType):
        inner = _python_type(type_.element)
        return f"_Sequence[{inner}]" if type_.size is None else f"{inner} | _Sequence[{inner}]"
    if isinstance(type_, TupleType):
        return f"_tuple[{', '.join(map(_python_type, type_.containedTypes()))}]"
    if isinstance(type_, DictType):
        return f"_dict[{', '.join(map(_python_type, type_.containedTypes()))}]"
    return _PYTHON_TYPES.get(type_.text, "_Any")


def _result_type(f: NativeFunction) -> str:
    types = [_python_type(r.real_type).replace("_Sequence[", "_list[") for r in f.schema.returns]
    if len(types) == 1:
        return types[0]
    return f"_tuple[{', '.join(types)}]" if types else "None"


def _shown_type(f: NativeFunction) -> str:
    """What a function or method gives: lists are tuples, named results have their class."""
    names = _result_names(f)
    if names:
        return f"_results.{_class_name(f.base_name, names)}"
    result = _result_type(f).replace("_Number", "_Real")
    return f"_tuple[{result[6:-1]}, ...]" if result.startswith("_list[") else result


def _result_names(f: NativeFunction) -> tuple[str, ...]:
    """The names of several results; () unless each has one that a field may have."""
    names = tuple(r.name or "" for r in f.schema.returns)
    fit = all(_is_name(name) and not name.startswith("_") for name in names)
    return names if len(names) > 1 and fit else ()


def _class_name(name: str, fields: tuple[str, ...]) -> str:
    return f"{name}_of_{'_'.join(fields)}"


def results_view(package: Package) -> list[dict[str, Any]]:
    """A class for each name and fields of several named results."""
    found: dict[str, dict[str, Any]] = {}
    for f in package.functions:
        names = _result_names(f)
        if names and (f.is_function or f.is_method or f.base_name.startswith(_PREFIXES)):
            types = [_python_type(r.real_type) for r in f.schema.returns]
            fields = [{"name": n, "type": t} for n, t in zip(names, types, strict=True)]
            name = _class_name(f.base_name, names)
            found.setdefault(name, {"name": name, "fields": fields})
    return list(found.values())


def _name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _parameter(argument: Argument, renamed: str = "") -> str:
    text = f"{renamed or _name(argument.name)}: {_python_type(argument.real_type)}"
    if not argument.has_default_value():
        return text
    value = argument.default_value
    shown = json.dumps(value) if isinstance(value, str) else "..."
    if value is None or isinstance(value, (bool, float)):
        shown = repr(value)
    if type(value) is int and "type" not in text and "format" not in text:
        shown = repr(value)
    return f"{text} = {shown}"


def _parameters(arguments: Iterable[Argument], names: dict[str, str]) -> list[str]:
    found: list[str] = []
    starred = optional = False
    for a in arguments:
        if not starred and (a.kwarg_only or (optional and not a.has_default_value())):
            found.append("*")
            starred = True
        optional = optional or a.has_default_value()
        found.append(_parameter(a, names.get(a.name, "")))
    return found


def _overload(name: str, indent: int, parameters: list[str], result: str) -> dict[str, str]:
    line = wrapped(parameters, indent + len(name) + 24, indent + 4)
    return {"parameters": line, "result": result}


# ---- one namespace: packets and overloads


def namespace_views(package: Package) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """(namespace, its packets) for each namespace of the package."""
    packets: dict[str, dict[str, list[NativeFunction]]] = {}
    for f in package.functions:
        packets.setdefault(f.schema.namespace, {}).setdefault(f.base_name, []).append(f)
    for namespace, named in sorted(packets.items()):
        yield namespace, [_packet(name, functions) for name, functions in named.items()]


def _packet(name: str, functions: list[NativeFunction]) -> dict[str, Any]:
    overloads = [
        {"name": f.schema.overload_name or "default", "result": _result_type(f)} for f in functions
    ]
    return {
        "name": _name(name),
        "calls": [_packet_call(f) for f in functions],
        "is_overloaded": len(functions) > 1,
        "overloads": [o for o in overloads if _is_name(o["name"])],
    }


def _packet_call(f: NativeFunction) -> dict[str, str]:
    first = "_" if any(a.name == "self" for a in f.schema.arguments) else "self"
    parameters = [first, *_parameters(f.schema.arguments, {})]
    return _overload("__call__", 4, parameters, _result_type(f))


# ---- functions and methods


def functions_view(package: Package) -> list[dict[str, Any]]:
    """Every operator with `variants: function`, by name."""
    shown = [f for f in package.functions if f.is_function and f.base_name not in _WRITTEN]
    return _named(package, shown, _function_call)


def prefixed_view(package: Package, module: str) -> list[dict[str, Any]]:
    """Every operator whose name starts with the module's, by the rest of it."""
    start = f"{module}_"
    shown = [f for f in package.functions if f.base_name.startswith(start)]
    found = _named(package, shown, _function_call)
    return [{**function, "name": function["name"].removeprefix(start)} for function in found]


def methods_view(package: Package) -> list[dict[str, Any]]:
    """Every operator with `variants: method`, by name."""
    return _named(package, [f for f in package.functions if f.is_method], _method_call)


def _named(package: Package, functions: list[NativeFunction], call: Any) -> list[dict[str, Any]]:
    named: dict[str, list[dict[str, str]]] = {}
    for f in functions:
        if f.variant != OUT and _is_name(f.base_name):
            calls = named.setdefault(f.base_name, [])
            calls += [view for view in call(package, f) if view not in calls]
    return [
        {"name": name, "calls": calls, "is_overloaded": len(calls) > 1}
        for name, calls in named.items()
    ]


def _function_call(package: Package, f: NativeFunction) -> Iterator[dict[str, str]]:
    arguments = f.schema.arguments
    more = []
    outs = _out_type(package, f)
    if outs:
        more.append(f"out: {outs} | None = None")
    if any(a.name == "pin_memory" for a in arguments):
        more.append("requires_grad: _bool = False")
    for parameters in _spellings(arguments, {"self": "input"}):
        star = [] if not more or any(p.startswith("*") for p in parameters) else ["*"]
        yield _overload(f.base_name, 0, [*parameters, *star, *more], _shown_type(f))


def _spellings(arguments: Sequence[Argument], names: dict[str, str]) -> Iterator[list[str]]:
    """The parameters; once more with an int for each size if the sizes are all that has a place."""
    yield _parameters(arguments, names)
    positional = [a for a in arguments if not a.kwarg_only]
    if len(positional) == 1 and _is_int_list(positional[0].real_type):
        options = [_parameter(a) for a in arguments if a.kwarg_only]
        yield [f"*{_name(positional[0].name)}: _int", *options]


def _is_int_list(type_: Type) -> bool:
    return isinstance(type_, ListType) and type_.size is None and type_.element.text in _INTS


def _out_type(package: Package, f: NativeFunction) -> str:
    if is_inplace_name(f.schema.name):
        return ""
    plain = [(a.name, a.real_type) for a in f.schema.arguments]
    for other in package.out_variants.get(f.schema.name, ()):
        if [(a.name, a.real_type) for a in other.plain_arguments] == plain:
            n = len(other.out_arguments)
            return "_Tensor" if n == 1 else f"_tuple[{', '.join(['_Tensor'] * n)}]"
    return ""


def _method_call(package: Package, f: NativeFunction) -> Iterator[dict[str, str]]:
    others = [a for a in f.schema.arguments if a.name != "self"]
    for parameters in _spellings(others, {}):
        yield _overload(f.base_name, 4, ["self", *parameters], _shown_type(f))
