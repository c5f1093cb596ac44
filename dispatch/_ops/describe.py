"""What an operator says of itself: `help(ops.aten.add.Tensor)`, an editor's hover, the reference.

Made from the schema and the registrations when somebody asks, never at import: the arguments with
types and defaults, what is written and what shares memory, how else it is called, which keys have
kernels, its tags and its relatives. `_C/overload` and `_C/function` call it by hooks.
"""

import inspect
import keyword
from collections.abc import Iterable, Iterator
from typing import Any

from dispatch._C.function import _find_function
from dispatch._C.inspection import _dispatch_has_kernel_for_dispatch_key, _overload_names
from dispatch._C.keys import DispatchKey
from dispatch._C.naming import full_name, package_name
from dispatch._C.overload import OpOverload, _set_overload_hooks

__all__ = ["describe", "signature"]

# Keys that say how an operator is computed, in the order in which they are told.
_KEYS = (
    "CPU", "Meta", "CUDA", "PrivateUse1", "CompositeImplicitAutograd",
    "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional", "Autograd",
    "AutogradCPU", "ADInplaceOrView", "Functionalize", "BackendSelect", "Python",
)  # fmt: skip


def describe(subject: Any) -> str:
    """The text for an overload or a packet; functions and methods have that of their packet."""
    if isinstance(subject, OpOverload):
        return "\n".join([str(subject._schema), "", *_details(subject), *_relatives(subject)])
    packet = subject
    overloads = [getattr(packet, name) for name in packet.overloads()]
    if not overloads:
        return f"{packet}: no overload is defined any more"
    schemas = [str(overload._schema) for overload in overloads]
    return "\n".join([*schemas, "", *_details(overloads[0]), *_see_also(packet._qualified_op_name)])


def signature(subject: Any) -> inspect.Signature:
    """The arguments of an overload; of several overloads those of the first."""
    if isinstance(subject, OpOverload):
        overload = subject
    else:
        overload = getattr(subject, subject.overloads()[0])
    schema = overload._schema
    seen: set[str] = set()
    parameters = []
    for argument in schema.arguments:
        name = argument.name + "_" * (keyword.iskeyword(argument.name) or argument.name in seen)
        seen.add(name)
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY
                if argument.kwarg_only
                else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=_default_of(argument),
                annotation=str(argument.type),
            )
        )
    returns = ", ".join(str(r.type) for r in schema.returns)
    many = len(schema.returns) != 1
    return _lenient(parameters, f"({returns})" if many else returns)


def _default_of(argument: Any) -> Any:
    return argument.default_value if argument.has_default_value() else inspect.Parameter.empty


def _lenient(parameters: list[inspect.Parameter], returns: str) -> inspect.Signature:
    """A schema may have an argument without a default behind one with: Python may not."""
    defaults = False
    kept = []
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            if defaults and parameter.default is parameter.empty:
                parameter = parameter.replace(kind=parameter.KEYWORD_ONLY)
            defaults |= parameter.default is not parameter.empty
        kept.append(parameter)
    kept.sort(key=lambda parameter: parameter.kind)
    return inspect.Signature(kept, return_annotation=returns)


# ---- lines


def _details(op: OpOverload) -> Iterator[str]:
    schema = op._schema
    if schema.arguments:
        yield "Args:"
    for argument in schema.arguments:
        yield f"    {_argument_line(argument)}"
    if schema.returns:
        yield f"Returns: {', '.join(_result_text(r) for r in schema.returns)}"
    shared = list(_shared(schema))
    if shared:
        yield f"Memory: {'; '.join(shared)}"
    called = list(_ways(op))
    if called:
        yield f"Called as: {', '.join(called)}"
    keys = _keys_of(op.name())
    yield f"Kernels: {', '.join(keys) if keys else 'none here; programs may register some'}"
    tags = sorted(tag.name for tag in op.tags)
    if tags:
        yield f"Tags: {', '.join(tags)}"


def _argument_line(argument: Any) -> str:
    words = [f"{argument.name}: {argument.type}"]
    if argument.has_default_value():
        words.append(f"= {argument.default_value!r}")
    notes = []
    if argument.kwarg_only:
        notes.append("by keyword")
    if argument.alias_info is not None and argument.alias_info.is_write:
        notes.append("written to")
    return " ".join(words) + (f" ({', '.join(notes)})" if notes else "")


def _result_text(result: Any) -> str:
    return f"{result.name}: {result.type}" if result.name else str(result.type)


def _shared(schema: Any) -> Iterator[str]:
    """What results share memory with, and what is written."""
    for place, result in enumerate(schema.returns):
        alias = result.alias_info
        if alias is None:
            continue
        which = "the result" if len(schema.returns) == 1 else f"result {place}"
        for argument in schema.arguments:
            other = argument.alias_info
            if other is not None and set(alias.before_set) & set(other.before_set):
                same = "is" if other.is_write else "is a view of"
                yield f"{which} {same} {argument.name}"
            elif other is not None and other.after_set and "*" in alias.before_set:
                yield f"{which} may share memory with {argument.name}"


def _ways(op: OpOverload) -> Iterator[str]:
    """Functions and methods of the package that call the operator."""
    if op.namespace != "aten":
        return
    name = op._qualified_op_name.partition("::")[2]
    if _find_function(name, False) is not None:
        yield f"{full_name(name)}(...)"
    if _find_function(name, True) is not None:
        yield f"Tensor.{name}(...)"
    for room in ("fft", "linalg", "special"):
        if name.startswith(room + "_"):
            yield f"{full_name(room)}.{name.removeprefix(room + '_')}(...)"


def _keys_of(name: str) -> list[str]:
    """Keys for which somebody registered a kernel."""
    return [
        key
        for key in _KEYS
        if _dispatch_has_kernel_for_dispatch_key(name, DispatchKey.__members__[key])
    ]


def _relatives(op: OpOverload) -> Iterator[str]:
    packet = op.overloadpacket
    tensors = "Tensor" in str(op._schema)  # TorchScript's on numbers are no relatives of those
    others = [
        name
        for name in packet.overloads()
        if name != op._overloadname
        and (not tensors or "Tensor" in str(getattr(packet, name)._schema))
    ]
    if others:
        yield f"Other overloads: {', '.join(others)}"
    yield from _see_also(op._qualified_op_name)


def _see_also(qualified: str) -> Iterator[str]:
    """Operators of the same stem: in place, as a copy of a view, backward, for lists."""
    namespace, _, name = qualified.partition("::")
    stem = name.strip("_")
    for ending in ("_copy", "_backward", "_functional"):
        stem = stem.removesuffix(ending)
    made = (
        f"{namespace}::{form.format(stem)}"
        for form in (
            "{}", "{}_", "_{}", "{}_copy", "{}_backward", "_{}_backward", "{}_functional",
            "native_{}", "_foreach_{}", "_foreach_{}_",
        )
    )  # fmt: skip
    found = [other for other in made if other != qualified and _overload_names(other)]
    if found:
        yield f"See also: {', '.join(_shown(found))}"


def _shown(names: Iterable[str]) -> Iterator[str]:
    return (f"{package_name()}.ops.{name.replace('::', '.')}" for name in names)


_set_overload_hooks(describe=describe, signature=signature)
