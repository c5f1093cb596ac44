"""A schema out of a Python signature (torch._library.infer_schema).

One table says which annotations are which schema types; everything else here is the text around
it and the rules of `mutates_args` and of the tags for in-place and out operators.
"""

import collections.abc
import inspect
import typing
from collections.abc import Callable, Iterable, Sequence
from types import GenericAlias
from typing import Any, NoReturn

from dispatch._C.dtypes import device, dtype
from dispatch._C.naming import full_name
from dispatch._C.tags import Tag
from dispatch._C.tensor import Tensor
from dispatch.library.opaque import (
    get_opaque_type_name,
    is_opaque_reference_type,
    is_opaque_type,
)
from dispatch.types import Number

__all__ = ["SUPPORTED_PARAM_TYPES", "SUPPORTED_RETURN_TYPES", "infer_schema", "tuple_to_list"]

_Fail = Callable[[str], NoReturn]


def _lists_of(annotation: Any) -> tuple[Any, ...]:
    return (
        typing.Sequence[annotation],
        typing.List[annotation],  # noqa: UP006
        GenericAlias(collections.abc.Sequence, (annotation,)),
        GenericAlias(list, (annotation,)),
    )


def _derived(
    annotation: Any, text: str, lists: bool, optional_elements: bool, optional_list: bool
) -> dict[Any, str]:
    """An annotation and those made of it, with their schema types."""
    found = {annotation: text, typing.Optional[annotation]: f"{text}?"}  # noqa: UP045
    if lists:
        found |= dict.fromkeys(_lists_of(annotation), f"{text}[]")
    if optional_elements:
        optional = typing.Optional[annotation]  # noqa: UP045
        found |= dict.fromkeys(_lists_of(optional), f"{text}?[]")
    if optional_list:
        for made in _lists_of(annotation):
            found[typing.Optional[made]] = f"{text}[]?"  # noqa: UP045
    return found


# annotation, schema type, lists of it, lists of optional ones, optional lists
_TABLE: tuple[tuple[Any, str, bool, bool, bool], ...] = (
    (Tensor, "Tensor", True, True, False),
    (int, "SymInt", True, False, True),
    (float, "float", True, False, True),
    (bool, "bool", True, False, True),
    (str, "str", False, False, False),
    (Number, "Scalar", True, False, False),
    (dtype, "ScalarType", False, False, False),
    (device, "Device", False, False, False),
)

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional-only arguments",
    inspect.Parameter.VAR_POSITIONAL: "varargs (*args)",
    inspect.Parameter.VAR_KEYWORD: "varkwargs (**kwargs)",
}

SUPPORTED_PARAM_TYPES: dict[Any, str] = {}
for _line in _TABLE:
    SUPPORTED_PARAM_TYPES.update(_derived(*_line))

SUPPORTED_RETURN_TYPES: dict[Any, str] = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",  # noqa: UP006
    list[Tensor]: "Tensor[]",
    int: "SymInt",
    float: "float",
    bool: "bool",
    Number: "Scalar",
}


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Tag | Sequence[Tag] | None = (),
) -> str:
    """The schema of an operator that a function with type annotations implements.

    Args:
        mutates_args: names of the arguments that it writes, or "unknown": every tensor may be.
        op_name: stands before the parentheses when given.
        tags: `Tag.inplace` and `Tag.out` say what the results alias.

    Raises:
        ValueError: an annotation is missing or has no schema type; a default that a schema
            cannot say; `mutates_args` names something else than tensor arguments.

    Source of the semantics: torch.library.infer_schema.

    Example:
        >>> from dispatch import Tensor
        >>> from dispatch.library import infer_schema
        >>> def scaled(x: Tensor, by: float = 2.0) -> Tensor: ...
        >>> infer_schema(scaled, mutates_args=())
        '(Tensor x, float by=2.0) -> Tensor'
    """
    return _Inference(prototype_function, mutates_args, tags).schema(op_name)


class _Inference:
    """One function on its way to a schema."""

    def __init__(self, function: Any, mutates_args: Any, tags: Any) -> None:
        self.globals = function.__globals__
        self.signature = inspect.signature(function)
        listed = () if tags is None else (tags,) if isinstance(tags, Tag) else tags
        self.is_inplace = Tag.inplace in listed
        self.is_out = Tag.out in listed
        if self.is_inplace and self.is_out:
            raise AssertionError(f"{_tag('inplace')} and {_tag('out')} are mutually exclusive")
        self.mutates_args = mutates_args if type(mutates_args) is str else tuple(mutates_args)
        self.first: tuple[str, str, str] | None = None  # name, type, alias of the first positional
        self.outs: list[tuple[str, str]] = []  # name, alias

    def fail(self, what: str) -> NoReturn:
        raise ValueError(f"infer_schema: {what}\n  the function's signature is {self.signature}")

    def schema(self, op_name: str | None) -> str:
        """The text."""
        params: list[str] = []
        for i, param in enumerate(self.signature.parameters.values()):
            if param.kind not in (param.POSITIONAL_OR_KEYWORD, param.KEYWORD_ONLY):
                self.fail(f"{_KINDS[param.kind]} are not supported")
            if param.kind == param.KEYWORD_ONLY and "*" not in params:
                params.append("*")
            params.append(self.parameter(i, param))
        self.check_names()
        return f"{op_name or ''}({', '.join(params)}) -> {self.returns()}"

    def parameter(self, i: int, param: inspect.Parameter) -> str:
        """One argument: type, name, default."""
        text = self.parameter_type(param)
        if param.kind == param.POSITIONAL_OR_KEYWORD and self.first is None:
            self.first = param.name, text, f"a{i}"
        if self.is_mutated(param.name, text):
            text = f"Tensor(a{i}!){text[len('Tensor') :]}"
            if self.is_out:
                self.note_out(param, text, f"a{i}")
        if param.default is param.empty:
            return f"{text} {param.name}"
        return f"{text} {param.name}={self.default(param)}"

    def parameter_type(self, param: inspect.Parameter) -> str:
        if param.annotation is param.empty:
            self.fail(f"parameter {param.name} must have a type annotation")
        annotation = self.resolved(param.annotation)
        if annotation in SUPPORTED_PARAM_TYPES:
            return SUPPORTED_PARAM_TYPES[annotation]
        if is_opaque_type(annotation):
            return get_opaque_type_name(annotation)
        hint = ""
        if typing.get_origin(annotation) is tuple:
            hint = " Tuples are not supported: lists are."
            as_list = tuple_to_list(annotation)
            if as_list in SUPPORTED_PARAM_TYPES:
                hint += f" For example, {as_list}."
        self.fail(
            f"parameter {param.name} has the unsupported type {param.annotation}.{hint} "
            f"Supported are {', '.join(map(str, SUPPORTED_PARAM_TYPES))}"
        )

    def is_mutated(self, name: str, text: str) -> bool:
        if type(self.mutates_args) is str:
            if self.mutates_args != "unknown":
                raise ValueError(
                    "mutates_args must be the names of the arguments that are written, in a "
                    f'sequence, or the string "unknown", got {self.mutates_args!r}'
                )
            return text.startswith("Tensor")
        if name not in self.mutates_args:
            return False
        if not text.startswith("Tensor"):
            self.fail(f"{name} is in mutates_args: only tensors and lists of them can be mutated")
        return True

    def note_out(self, param: inspect.Parameter, text: str, alias: str) -> None:
        if param.kind != param.KEYWORD_ONLY:
            self.fail(f"{_tag('out')}: the written argument {param.name} must be keyword-only")
        if text != f"Tensor({alias}!)":
            self.fail(f"{_tag('out')} only supports Tensor as written argument, not {param.name}")
        self.outs.append((param.name, alias))

    def default(self, param: inspect.Parameter) -> str:
        value = param.default
        if value is None or isinstance(value, (int, float, bool)):
            return str(value)
        if isinstance(value, (str, device)):
            return f'"{value}"'
        if isinstance(value, dtype):
            return str(value).rpartition(".")[2]
        self.fail(f"parameter {param.name} has a default of the unsupported type {type(value)}")

    def check_names(self) -> None:
        if type(self.mutates_args) is not str:
            unknown = set(self.mutates_args) - set(self.signature.parameters)
            if unknown:
                names = ", ".join(map(repr, sorted(unknown)))
                self.fail(f"{{{names}}} in mutates_args were not found among the parameters")
        if self.is_inplace:
            if self.first is None or self.first[1] != "Tensor":
                self.fail(f"{_tag('inplace')}: the first positional argument must be a Tensor")
            if type(self.mutates_args) is str or set(self.mutates_args) != {self.first[0]}:
                self.fail(
                    f"{_tag('inplace')}: mutates_args must name the first positional argument "
                    f"alone, got {self.mutates_args}"
                )
        if self.is_out and not self.outs:
            self.fail(f"{_tag('out')}: at least one keyword-only Tensor argument must be written")

    def returns(self) -> str:
        annotation = self.resolved(self.signature.return_annotation)
        if self.is_out:
            return self.out_returns(annotation)
        text = self.return_type(annotation)
        if not self.is_inplace or self.first is None:
            return text
        if text != "Tensor":
            self.fail(f"{_tag('inplace')}: the return annotation must be Tensor")
        return f"Tensor({self.first[2]}!)"

    def return_type(self, annotation: Any) -> str:
        if annotation is None:
            return "()"
        if annotation is inspect.Parameter.empty:
            self.fail("No return type annotation was provided. Please add one.")
        if typing.get_origin(annotation) is not tuple:
            return self.one_return(annotation, annotation)
        texts = [self.one_return(a, annotation) for a in typing.get_args(annotation)]
        text = f"({', '.join(texts)})"
        return f"({text})" if len(texts) == 1 else text

    def one_return(self, annotation: Any, whole: Any) -> str:
        if is_opaque_reference_type(annotation):
            return get_opaque_type_name(annotation)
        if annotation not in SUPPORTED_RETURN_TYPES:
            self.fail(
                f"the return type {whole} is unsupported. "
                f"Supported are {', '.join(map(str, SUPPORTED_RETURN_TYPES))}, and tuples of them"
            )
        return SUPPORTED_RETURN_TYPES[annotation]

    def out_returns(self, annotation: Any) -> str:
        n = len(self.outs)
        want = (Tensor,) * n
        tuple_fits = typing.get_origin(annotation) is tuple and typing.get_args(annotation) == want
        if not (annotation is Tensor if n == 1 else tuple_fits):
            names = ", ".join(name for name, _ in self.outs)
            what = f"the return annotation must be one Tensor for each of {names}"
            self.fail(f"{_tag('out')}: {what}")
        texts = [f"Tensor({alias}!)" for _, alias in self.outs]
        return texts[0] if n == 1 else f"({', '.join(texts)})"

    def resolved(self, annotation: Any) -> Any:
        """The annotation with strings in it evaluated where the function was defined."""
        if isinstance(annotation, str):
            return self.evaluated(annotation)
        origin = typing.get_origin(annotation)
        if origin is None:
            return annotation
        args = typing.get_args(annotation)
        new = tuple(self.resolved(a) for a in args)
        return annotation if all(a is b for a, b in zip(args, new, strict=True)) else (
            GenericAlias(origin, new)
        )  # fmt: skip

    def evaluated(self, text: str) -> Any:
        try:
            return eval(text, self.globals)
        except Exception as error:
            self.fail(
                f"Unsupported type annotation {text}. It is not a type. ({error}: names in "
                "annotations that are strings, as `from __future__ import annotations` makes "
                "them all, must be found in the function's module)"
            )


def tuple_to_list(tuple_type: Any) -> Any:
    """The list that may stand for a tuple (torch._library.infer_schema.tuple_to_list)."""
    args = tuple(a for a in typing.get_args(tuple_type) if a is not Ellipsis)
    if not args:
        return list
    return list[args[0] if len(args) == 1 else typing.Union[args]]  # type: ignore[misc]  # noqa: UP007


def _tag(name: str) -> str:
    return f"{full_name('Tag')}.{name}"
