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


def _returns_written(returned: Any, argument: Any) -> bool:
    alias = returned.alias_info
    if alias is None or not alias.is_write:
        return False
    return bool(alias.before_set == argument.alias_info.before_set)


def check_out(schema: str | FunctionSchema) -> None:
    """ValueError unless every written argument is a keyword-only Tensor, and all are returned."""
    if isinstance(schema, str):
        schema = parse_schema(schema)
    written = _written(schema.arguments)
    if not written:
        _fail("out", "write an argument", schema)
    for argument in written:
        if not argument.kwarg_only:
            _fail("out", f"write keyword-only arguments alone, not {argument.name}", schema)
        if argument.type.text != "Tensor":
            _fail("out", f"write Tensors: it only supports Tensor, not {argument.name}", schema)
    if len(schema.returns) != len(written):
        _fail("out", f"return its {len(written)} written arguments", schema)
    for returned, argument in zip(schema.returns, written, strict=True):
        if not _returns_written(returned, argument):
            _fail("out", f"return {argument.name} with its alias, as written", schema)


def check_inplace(schema: str | FunctionSchema) -> None:
    """ValueError unless the first positional argument, a Tensor, alone is written, and returned."""
    if isinstance(schema, str):
        schema = parse_schema(schema)
    first = schema.arguments[0] if schema.arguments else None
    if first is None or first.kwarg_only:
        _fail("inplace", "have a positional argument", schema)
    if not first.is_write or first.type.text != "Tensor":
        _fail("inplace", "write its first argument, a Tensor", schema)
    returns = schema.returns
    if len(returns) != 1 or returns[0].type.text != "Tensor":
        _fail("inplace", "return one Tensor", schema)
    if not _returns_written(returns[0], first):
        _fail("inplace", f"return {first.name}: the return must alias it, as written", schema)
    if len(_written(schema.arguments)) > 1:
        _fail("inplace", f"write {first.name} alone", schema)
