"""A graph as text: one line, Python-like code, or a table.

`program.Graph` and `module.GraphModule` show themselves with it. The code has the form of what
`print_readable` of PyTorch's `fx.GraphModule` prints, not its letters: each value with its type,
the line of Python that it comes from, and after a call the names that nobody needs any more.
Names are a stranger's: what cannot be printed is escaped.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dispatch._C.generated.type_names import (
    EXPORTED_DTYPES,
    EXPORTED_LAYOUTS,
    EXPORTED_MEMORY_FORMATS,
)
from dispatch.graph.errors import plain
from dispatch.graph.notes import frames_of, innermost

__all__ = ["argument_text", "line", "readable", "tabular", "type_text"]

_SHORT = {
    "float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c", "bool": "b8",
}  # fmt: skip
_INDENT = "    "
_SYMBOL = re.compile(r"Symbol\('(\w+)'[^()]*\)")


def line(graph: Any) -> str:
    """`Graph(17 inputs, 128 calls, 1 output)`."""
    counts = (
        (len(graph.inputs), "input"),
        (len(graph.nodes), "call"),
        (len(graph.outputs), "output"),
    )
    shown = ", ".join(f"{n} {what}{'s' if n != 1 else ''}" for n, what in counts)
    return f"Graph({shown})"


# -- arguments ----------------------------------------------------------------------------------


def type_text(meta: Any) -> str:
    """`f32[2, 3]` of a tensor's recorded metadata."""
    name = EXPORTED_DTYPES.get(meta.dtype, "?")
    kind = name.rstrip("0123456789")
    short = _SHORT.get(kind, name) + name[len(kind) :] if kind in _SHORT else name
    return f"{short}[{', '.join(_size_text(size) for size in meta.sizes)}]"


def _size_text(size: Any) -> str:
    """A number, a symbol's name, or of another expression its value when it was traced."""
    if size.tag != "as_expr":
        return str(size.value)
    symbol = _SYMBOL.fullmatch(size.value.expr_str)
    if symbol is not None:
        return symbol[1]
    hint = size.value.hint
    return f"{hint.value}?" if hint is not None else "?"


def argument_text(argument: Any) -> str:
    """An argument or output as Python would write it."""
    return plain(_TEXTS.get(argument.tag, _other)(argument.value))


def _other(value: Any) -> str:
    return repr(value)


def _named(value: Any) -> str:
    return str(value.name)


def _symbol(value: Any) -> str:
    return str(value.value)


def _optional(value: Any) -> str:
    return "None" if value.tag == "as_none" else str(value.value.name)


def _list_of(one: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda values: f"[{', '.join(map(one, values))}]"


def _torch(names: Mapping[int, str]) -> Callable[[Any], str]:
    return lambda value: f"torch.{names.get(value, value)}"


def _device(value: Any) -> str:
    index = "" if value.index is None else f", index={value.index}"
    return f"device(type={value.type!r}{index})"


_TEXTS: Mapping[str, Callable[[Any], str]] = {
    "as_none": lambda value: "None",
    "as_tensor": _named,
    "as_tensors": _list_of(_named),
    "as_ints": lambda value: str(list(value)),
    "as_floats": lambda value: str(list(value)),
    "as_bools": lambda value: str(list(value)),
    "as_strings": lambda value: str(list(value)),
    "as_sym_int": _symbol,
    "as_sym_float": _symbol,
    "as_sym_bool": _symbol,
    "as_sym_ints": _list_of(_symbol),
    "as_sym_floats": _list_of(_symbol),
    "as_sym_bools": _list_of(_symbol),
    "as_scalar_type": _torch(EXPORTED_DTYPES),
    "as_memory_format": _torch(EXPORTED_MEMORY_FORMATS),
    "as_layout": _torch(EXPORTED_LAYOUTS),
    "as_device": _device,
    "as_graph": _named,
    "as_custom_obj": _named,
    "as_optional_tensor": _optional,
    "as_optional_tensors": _list_of(_optional),
    "as_nested_tensors": _list_of(_list_of(_named)),
    "as_complex": lambda value: str(complex(value.real, value.imag)),
    "as_operator": str,
}


def _names_in(value: Any) -> Iterator[str]:
    """The values that an argument names."""
    name = getattr(value, "name", None)
    if isinstance(name, str):
        yield name
    elif getattr(value, "tag", None) == "as_name":
        yield value.value
    elif hasattr(value, "tag"):
        yield from _names_in(value.value)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _names_in(item)


# -- code ---------------------------------------------------------------------------------------


def readable(graph: Any, name: str = "GraphModule") -> str:
    """The graph as Python-like code."""
    return "\n".join([f"class {name}:", *_function(graph, "forward", _INDENT)]) + "\n"


def _function(graph: Any, name: str, indent: str) -> Iterator[str]:
    takes = ", ".join(["self", *(_typed(graph, a) for a in graph.inputs)])
    yield f"{indent}def {plain(name)}({takes}):"
    inner, last = indent + _INDENT, ""
    dying = _last_uses(graph)
    for i, node in enumerate(graph.nodes):
        frame = innermost(frames_of(node.metadata.stack_trace))
        where = f"# {frame.file}:{frame.line} in {frame.function}: {frame.code}" if frame else ""
        if where != last:
            yield from ["", inner + plain(where)] if where else [""]
            last = where
        for branch in (g.arg.value for g in node.inputs if g.arg.tag == "as_graph"):
            yield from _function(branch.graph, branch.name, inner)
        yield inner + _call(graph, node) + _deleted(dying[i])
    results = ", ".join(map(argument_text, graph.outputs))
    yield f"{inner}return ({results}{',' if len(graph.outputs) == 1 else ''})"


def _typed(graph: Any, argument: Any) -> str:
    text = argument_text(argument)
    meta = graph.tensor_values.get(getattr(argument.value, "name", None))
    return f'{text}: "{type_text(meta)}"' if meta is not None else text


def _call(graph: Any, node: Any) -> str:
    outputs = [_typed(graph, output) for output in node.outputs]
    target = f"{', '.join(outputs)} = " if outputs else ""
    return f"{target}{plain(node.target)}({', '.join(_given(node.inputs))})"


def _given(inputs: Iterable[Any]) -> Iterator[str]:
    for given in inputs:
        text = argument_text(given.arg)
        yield f"{plain(given.name)} = {text}" if given.kind == 2 else text


def _last_uses(graph: Any) -> list[list[str]]:
    """By node, the names that it is the last one to use."""
    last: dict[str, int] = {}
    for i, node in enumerate(graph.nodes):
        for given in node.inputs:
            if given.arg.tag != "as_graph":
                last.update(dict.fromkeys(_names_in(given.arg), i))
    for output in graph.outputs:
        for name in _names_in(output):
            last.pop(name, None)
    found: list[list[str]] = [[] for _ in graph.nodes]
    for name, i in last.items():
        found[i].append(name)
    return found


def _deleted(names: list[str]) -> str:
    return f";  {plain(' = '.join(names))} = None" if names else ""


# -- a table ------------------------------------------------------------------------------------


def tabular(graph: Any) -> str:
    """The graph as a table: what each value is, and what it is made of."""
    rows = [("opcode", "name", "target", "args", "kwargs")]
    for argument in graph.inputs:
        rows.append(("placeholder", argument_text(argument), argument_text(argument), "()", "{}"))
    for node in graph.nodes:
        args = ", ".join(argument_text(g.arg) for g in node.inputs if g.kind != 2)
        kwargs = ", ".join(f"{g.name}: {argument_text(g.arg)}" for g in node.inputs if g.kind == 2)
        name = node.name or ", ".join(map(argument_text, node.outputs))
        target = node.target.removeprefix("torch.ops.")
        rows.append(
            ("call_function", plain(name), plain(target), f"({args})", f"{{{plain(kwargs)}}}")
        )
    results = ", ".join(map(argument_text, graph.outputs))
    rows.append(("output", "output", "output", f"({results})", "{}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)) for row in rows]
    rule = "  ".join("-" * w for w in widths)
    return "\n".join(text.rstrip() for text in (lines[0], rule, *lines[1:]))
