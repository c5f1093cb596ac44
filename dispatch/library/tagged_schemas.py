"""What the tags of in-place and out operators ask of a schema (torch.library)."""

from typing import Any, NoReturn

from dispatch._C.naming import full_name
from dispatch.codegen.parser import parse_schema
from dispatch.codegen.schema import FunctionSchema

__all__ = ["check_inplace", "check_out"]


def _fail(tag: str, what: str, schema: FunctionSchema) -> NoReturn:
    raise ValueError(f"a schema tagged with {full_name('Tag')}.{tag} must {what}\n  {schema}")


def _written(arguments: Any) -> list[Any]:
    return [a for a in arguments if a.is_write]


def _check_return(tag: str, returned: Any, argument: Any, schema: FunctionSchema) -> None:
    """A result is the written argument itself: a Tensor, with its alias, as written."""
    alias, what = returned.alias_info, f"return the first mutable argument {argument.name}"
    if tag == "out":
        what = f"return the mutable argument {argument.name}"
    if returned.type.text != "Tensor":
        _fail(tag, f"{what}: the return must be a Tensor", schema)
    if alias is None or alias.before_set != argument.alias_info.before_set:
        _fail(tag, f"{what}: the return must alias mutable arg '{argument.name}'", schema)
    if not alias.is_write:
        _fail(tag, f"{what}: the return must be a mutable alias of it", schema)


def check_out(schema: str | FunctionSchema) -> None:
    """ValueError unless every written argument is a keyword-only Tensor, and all are returned."""
    if isinstance(schema, str):
        schema = parse_schema(schema)
    written = _written(schema.arguments)
    if not written:
        _fail("out", "have at least one mutable argument", schema)
    for argument in written:
        if not argument.kwarg_only:
            _fail("out", f"write keyword-only arguments alone, not {argument.name}", schema)
        if argument.type.text != "Tensor":
            _fail("out", f"write Tensors: it only supports Tensor, not {argument.name}", schema)
    if len(schema.returns) != len(written):
        _fail("out", f"return all mutable arguments, {len(written)} of them", schema)
    for returned, argument in zip(schema.returns, written, strict=True):
        _check_return("out", returned, argument, schema)


def check_inplace(schema: str | FunctionSchema) -> None:
    """ValueError unless the first positional argument, a Tensor, alone is written, and returned."""
    if isinstance(schema, str):
        schema = parse_schema(schema)
    first = schema.arguments[0] if schema.arguments else None
    if first is None or first.kwarg_only:
        _fail("inplace", "have at least one positional argument", schema)
    if not first.is_write:
        _fail("inplace", "declare its first positional argument to be mutable", schema)
    if first.type.text != "Tensor":
        _fail("inplace", "declare its first positional argument to be a Tensor", schema)
    if len(schema.returns) != 1:
        _fail("inplace", f"return exactly one value, {first.name}", schema)
    _check_return("inplace", schema.returns[0], first, schema)
    if len(_written(schema.arguments)) > 1:
        _fail("inplace", f"only mutate the first positional argument {first.name}", schema)
