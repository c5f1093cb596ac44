"""Schemas as numbers: those of `emitted.h`, for arguments, defaults and operators."""

from __future__ import annotations

import re

import pytest

from dispatch.codegen.encoding import AF, AK, DF, OF, arg_spec, default_spec, op_flags
from dispatch.codegen.parser import parse_schema
from tests.codegen.helpers import ROOT


def _enum_values(name: str) -> dict[str, int]:
    text = (ROOT / "dispatch" / "_C" / "emitted.h").read_text()
    body = re.sub(
        r"/\*.*?\*/", "", re.search(rf"enum {name} \{{(.*?)\}};", text, re.S)[1], flags=re.S
    )
    values: dict[str, int] = {}
    for item in filter(None, (part.strip() for part in body.split(","))):
        word, _, number = (part.strip() for part in item.partition("="))
        values[word] = int(number) if number else max(values.values(), default=-1) + 1
    return values


@pytest.mark.parametrize(
    ("enum", "prefix", "numbers"),
    [("ArgKind", "AK", AK), ("ArgFlag", "AF", AF), ("DefaultKind", "DF", DF), ("OpFlag", "OF", OF)],
)
def test_numbers_are_those_of_the_header(enum: str, prefix: str, numbers: dict[str, int]) -> None:
    header = _enum_values(enum)
    assert {f"{prefix}_{name}": value for name, value in numbers.items()}.items() <= header.items()


@pytest.mark.parametrize(
    ("argument", "kind", "flags", "alias", "size"),
    [
        ("Tensor x", "TENSOR", (), 0, 0),
        ("Tensor? x=None", "TENSOR", ("OPTIONAL", "HAS_DEFAULT"), 0, 0),
        ("Tensor?[] x", "TENSOR", ("LIST", "ELEM_OPTIONAL"), 0, 0),
        ("SymInt[2]? x", "INT", ("LIST", "OPTIONAL", "SYM"), 0, 2),
        ("int[][] x", "INT", ("LIST", "LIST2"), 0, 0),
        ("*, Tensor(b!) x", "TENSOR", ("WRITE", "OUT", "KWARG_ONLY"), 2, 0),
        ("Tensor(a!)[] x", "TENSOR", ("LIST", "WRITE"), 1, 0),
        ("Tensor(*) x", "TENSOR", (), 255, 0),
        ("Scalar[] x", "SCALAR", ("LIST",), 0, 0),
        ("ScalarType? x", "DTYPE", ("OPTIONAL",), 0, 0),
        ("Dict(str, int) x", "DICT", (), 0, 0),
        ("__torch__.torch.classes.a.B x", "OTHER", (), 0, 0),
    ],
)
def test_arguments_become_records(argument, kind, flags, alias, size) -> None:
    spec = arg_spec(parse_schema(f"f({argument}) -> ()").arguments[0])
    assert spec == (AK[kind], sum(AF[f] for f in flags), alias, size)


@pytest.mark.parametrize(
    ("argument", "record"),
    [
        ("int x=3", ("INT", 3, 0.0, None, None)),
        ("bool x=True", ("BOOL", 1, 0.0, None, None)),
        ("float x=2", ("FLOAT", 0, 2.0, None, None)),
        ('str x="a"', ("STR", 0, 0.0, "a", None)),
        ("Device x=cpu", ("DEVICE", 0, 0.0, "cpu", None)),
        ("ScalarType? x=long", ("DTYPE", 4, 0.0, None, None)),
        ("MemoryFormat x=2", ("MEMORY_FORMAT", 2, 0.0, None, None)),
        ("int[2] x=1", ("INTS", 2, 0.0, None, (1, 1))),
        ("bool[2] x=[True, False]", ("BOOLS", 2, 0.0, None, (1, 0))),
        ("float[] x=[1., 2.5]", ("FLOATS", 2, 0.0, "[1.0, 2.5]", None)),
        ("Tensor? x=None", ("NONE", 0, 0.0, None, None)),
    ],
)
def test_defaults_become_records(argument: str, record: tuple[object, ...]) -> None:
    spec = default_spec(parse_schema(f"f({argument}) -> ()").arguments[0])
    assert spec == (DF[record[0]], *record[1:])


def test_a_complex_default_has_no_record() -> None:
    with pytest.raises(ValueError, match="complex"):
        default_spec(parse_schema("f(complex x=1j) -> ()").arguments[0])


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("f(Tensor x) -> Tensor", ()),
        ("f_(Tensor(a!) x) -> Tensor(a!)", ("MUTABLE", "INPLACE")),
        ("__iand__(Tensor(a!) x) -> Tensor(a!)", ("MUTABLE", "INPLACE")),
        ("__and__(Tensor x) -> Tensor", ()),
        ("f(*, Tensor(a!) out) -> Tensor(a!)", ("MUTABLE", "OUT")),
        ("chunk(Tensor(a -> *) x) -> Tensor(a)[]", ("ALIASING",)),
    ],
)
def test_operators_have_the_flags_of_their_schema(text: str, flags: tuple[str, ...]) -> None:
    assert op_flags(parse_schema(text)) == sum(OF[f] for f in flags)
