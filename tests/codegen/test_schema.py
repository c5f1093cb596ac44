"""The schema language: text -> model -> the same text, and errors that say where."""

from __future__ import annotations

import copy
import gzip
import json
import pickle

import pytest
from hypothesis import given, settings

from dispatch.codegen.parser import (
    SchemaError,
    parse_schema,
    parse_text,
    parse_type,
    register_opaque_type,
    unregister_opaque_type,
)
from dispatch.codegen.schema import Argument, FunctionSchema
from tests.codegen.helpers import ATEN_SCHEMAS
from tests.strategies import schemas

SELECTION = """\
aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]
aten::_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()
aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)
aten::conv1d.padding(Tensor x, Tensor weight, SymInt[1] stride=[1], str padding="valid") -> Tensor
aten::norm(Tensor self, int[2] dim=1, float eps=1.0000000000000001e-05, float? p=1) -> Tensor
aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)
aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331) -> Tensor
aten::_test_string_default(Tensor dummy, str a="\\"\\'\\\\", str b="") -> Tensor
aten::index(Tensor self, Tensor?[] indices, bool[2] mask=[True, False]) -> Tensor
aten::get_gradients(int context_id) -> Dict(Tensor, Tensor)
aten::gru(Tensor x, __torch__.torch.classes.rnn.CellParamsBase[] params, Storage s) -> (Tensor, int)
aten::record(Stream s, QScheme q, Generator? g, Device d=cuda:0, Layout? l=None) -> ()
prim::f(t[] x, (int, Tensor) pair, int[][] table, Future(Tensor) y, ...) -> ...
prim::g() -> (int, ...)
prim::h((Tensor, int)[] x) -> ((int, int))
ns::f(Tensor(a|b) x, Tensor(a! -> c|*) y, Tensor(*) z, complex c=0.+1.5j, float e=1e+21) -> int n
""".splitlines()


@pytest.mark.parametrize("text", SELECTION)
def test_printing_a_parsed_schema_gives_its_text(text: str) -> None:
    schema = parse_schema(text)
    assert str(schema) == text
    assert parse_schema(str(schema)) == schema


@pytest.mark.skipif(not ATEN_SCHEMAS.is_file(), reason="the whole ATen list is not there")
def test_every_aten_schema_is_printed_as_it_was_read() -> None:
    with gzip.open(ATEN_SCHEMAS) as stream:
        entries = json.load(stream)
    assert len(entries) == 3236
    for entry in entries:
        schema = parse_schema(entry["schema"])
        assert str(schema) == entry["schema"]
        assert schema.is_mutable == entry["is_mutable"], entry["schema"]


@given(schemas())
@settings(max_examples=60, deadline=None)
def test_any_schema_survives_printing_and_parsing(schema) -> None:
    assert parse_schema(str(schema)) == schema
    assert hash(parse_schema(str(schema))) == hash(schema)


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("aten::f(Tenso x) -> Tensor", 8, "a type"),
        ("aten::f(Tensor) -> Tensor", 14, "the name of an argument"),
        ("aten::f(Tensor x -> Tensor", 17, "',' or ')'"),
        ("aten::f(Tensor x)", 17, "'->'"),
        ("aten::f(Tensor x) -> Tensor junk more", 33, "the end"),
        ("aten::f(Tensor x,) -> Tensor", 17, "a type"),
        ("aten::f(Tensor x=3) -> Tensor", 17, "a default of type Tensor"),
        ("aten::f(int x=2.5) -> Tensor", 14, "a default of type int"),
        ("aten::f(int[] x=2) -> Tensor", 16, "a default of type int[]"),
        ("aten::f(int x=foo) -> Tensor", 14, "a default"),
        ('aten::f(str x="ab) -> Tensor', 28, 'a closing "'),
        ("aten::f(int a=1, Tensor b) -> Tensor", 17, "a default for 'b'"),
        ("aten::f(int a=1, ...) -> Tensor", 17, "')': schemas with vararg (...)"),
        ("aten::f.(int a) -> Tensor", 8, "the name of an overload"),
        ("aten::f.default(int a) -> Tensor", 8, "an overload name that is legal"),
        ("aten::f.__x(int a) -> Tensor", 8, "an overload name that is legal"),
        ("aten::f(Tensor(a x) -> Tensor", 17, "')'"),
        ("aten::f(int[x] a) -> Tensor", 12, "']' or a number"),
        ("1f() -> ()", 0, "the name of an operator"),
        ("", 0, "the name of an operator"),
        ("f(\0) -> ()", 2, "a type"),
    ],
)
def test_a_mistake_is_reported_with_its_column(text: str, column: int, expected: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_text(text)
    assert caught.value.column == column
    assert caught.value.expected.startswith(expected)
    assert text in str(caught.value)
    with pytest.raises(RuntimeError) as public:
        parse_schema(text)
    assert type(public.value) is RuntimeError
    assert str(public.value) == str(caught.value)


def test_comments_are_skipped_to_the_end_of_their_line() -> None:
    text = '# a\nf(int# b\n x, str y="#" # c\n) -> () # d'
    assert str(parse_schema(text)) == 'f(int x, str y="#") -> ()'
    with pytest.raises(RuntimeError, match="'->'"):
        parse_schema("f()# -> ()")


@pytest.mark.parametrize("kind", ["int", "float", "str", "bool", "Scalar", "SymInt", "ScalarType"])
def test_none_is_a_default_that_means_left_out(kind: str) -> None:
    (argument,) = parse_schema(f"f({kind} x=None) -> ()").arguments
    assert argument.has_default_value() and argument.default_value is None
    assert str(parse_schema(f"f({kind} x=None) -> ()")) == f"f({kind} x=None) -> ()"


@pytest.mark.parametrize("kind", ["Device", "int[2]"])
def test_some_types_have_no_default_of_none(kind: str) -> None:
    with pytest.raises(RuntimeError, match="a default"):
        parse_schema(f"f({kind} x=None) -> ()")


def test_names_and_overloads_are_split() -> None:
    schema = parse_schema("aten::add.Tensor(Tensor self) -> Tensor")
    assert (schema.namespace, schema.name, schema.overload_name) == ("aten", "aten::add", "Tensor")
    assert parse_schema("f() -> ()").namespace == ""
    assert parse_schema(" f.x() -> ()", prefix="mine::").name == "mine::f"
    assert parse_schema("yours::f() -> ()", prefix="mine::").name == "yours::f"


def test_types_have_pytorchs_names() -> None:
    """`type` shows what crosses, `real_type` what is written; N is the length of a filled list."""
    x, y, z = parse_schema("f(SymInt[2]? x, ScalarType? y, Tensor?[] z) -> ()").arguments
    assert (str(x.type), str(x.real_type), x.N) == ("Optional[List[int]]",) * 2 + (2,)
    assert (str(y.type), str(y.real_type), y.N) == ("Optional[int]", "Optional[ScalarType]", None)
    assert (str(z.type), z.type.kind()) == ("List[Optional[Tensor]]", "ListType")
    assert x.real_type.getElementType() == parse_type("SymInt[2]")


def test_alias_annotations_of_lists_belong_to_their_elements() -> None:
    (argument,) = parse_schema("f(*, Tensor(a!)[] out) -> ()").arguments
    assert argument.is_write
    assert argument.is_out
    assert argument.alias_info.before_set == set()
    assert argument.alias_info.contained.before_set == {"a"}


def test_defaults_have_the_values_that_a_call_gets() -> None:
    schema = parse_schema(
        "f(int[2] a=3, float b=1, float? c=1, ScalarType d=float, MemoryFormat e=channels_last,"
        " int f=Mean, bool? g=None, float h=-inf) -> ()"
    )
    values = [a.default_value for a in schema.arguments]
    assert values == [[3, 3], 1.0, 1, 6, 2, 1, None, float("-inf")]
    assert [type(v) for v in values[1:3]] == [float, int]
    assert all(a.has_default_value() for a in schema.arguments)


def test_equal_numbers_of_different_types_are_different_defaults() -> None:
    assert parse_schema("f(Scalar x=1) -> ()") != parse_schema("f(Scalar x=1.) -> ()")
    assert parse_schema("f(Scalar x=1) -> ()") != parse_schema("f(Scalar x=True) -> ()")


def test_a_new_argument_with_a_default_is_backward_compatible() -> None:
    old = parse_schema("f(int a) -> int")
    assert parse_schema("f(int a, int b=1) -> int").is_backward_compatible_with(old)
    assert not parse_schema("f(int a, int b) -> int").is_backward_compatible_with(old)
    assert not old.is_backward_compatible_with(parse_schema("f(int a, int b=1) -> int"))


# PyTorch's words, which its tests compare.
NEW = "Function schema is not forward compatible since the new argument 'b' of type"
DIFFERS = "is not forward compatible with the older version of the schema"


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("f(int a, int b=1) -> int", ""),
        ("f(int a) -> float", ""),
        ("f(int a, int b) -> int", f"{NEW} int did not provide a default value."),
        ("f(int a, int[] b=[1]) -> int", f"{NEW} int[] has a container type as its default value."),
        ("f(int b=1, int a=2) -> int", f"'b' {DIFFERS}"),
        ("f(*, int b=1, int a) -> int", f"'b' {DIFFERS}"),
        (
            "f(int a, *, Tensor(a!) o) -> int",
            "Function schema should have the same number of out arguments",
        ),
    ],
)
def test_forward_compatibility_says_what_is_in_the_way(new: str, reason: str) -> None:
    answer = parse_schema(new).check_forward_compatible_with(parse_schema("f(int a) -> int"))
    assert answer == (not reason, reason)


def test_an_out_argument_that_changes_is_not_forward_compatible() -> None:
    old = parse_schema("f(int a, *, Tensor(a!) o) -> int")
    new = parse_schema("f(int a, *, Tensor(a!) p) -> int")
    why = "Out argument 'p' is not FC with the older version of the schema"
    assert new.check_forward_compatible_with(old) == (False, why)


@pytest.mark.parametrize("new", ["g(int a) -> int", "f.o(int a) -> int", "f(int a) -> ()"])
def test_another_operator_is_not_forward_compatible(new: str) -> None:
    old = parse_schema("f(int a) -> int")
    assert parse_schema(new).check_forward_compatible_with(old) == (False, "")


def test_type_variables_are_for_those_who_ask() -> None:
    assert str(parse_schema("f(t x) -> t")) == "f(t x) -> t"
    for text in ("f(t x) -> ()", "f(t[] x) -> ()", "f(int x) -> t"):
        parse_schema(text)
        with pytest.raises(RuntimeError):
            parse_schema(text, allow_typevars=False)


@pytest.mark.parametrize(
    ("known", "longer"),
    [
        ("complex c=1.", "complex c=1.+2.j"),
        ("Tensor x", "Tensor x\n, Tensor y"),
        ("int n", "int n\t=\n 3"),
        ("int n=1", "int n=12, *, int m=1"),
        ("float e=1", "float e=1e-05"),
        ("int[2] s=1", "int[2] s=[1, 2]"),
        ("Tensor self", "Tensor self, *, Tensor self2"),
        ("Device? d", "Device? d=cuda:0"),
        ("Tensor", "Tensor(a!) x"),
        ("str s", 'str s="a, b)"'),
    ],
)
def test_an_argument_that_goes_on_where_a_known_one_ends_is_another(
    known: str, longer: str
) -> None:
    """Arguments and results of libraries' operators recur, and are the same objects."""
    name = "" if " " in known else " x"
    first = parse_schema(f"ns::f({known}{name}) -> Tensor", False)
    again = parse_schema(f"ns::g({known}{name}) -> Tensor", False)
    shared = first.arguments[0] is again.arguments[0]
    assert shared is not isinstance(first.arguments[0].default_value, list)
    assert first.returns[0] is again.returns[0]
    for text in (f"ns::f({longer}) -> Tensor", f"ns::f({known}{name}) -> (Tensor, Tensor r)"):
        assert parse_schema(text, False) == parse_schema(text) == parse_schema(text, False)
        assert str(parse_schema(text, False)) == str(parse_schema(text))


def test_keyword_only_arguments_are_not_the_positional_ones_of_the_same_text() -> None:
    positional, keyword = parse_schema("f(int n=1, *, int n=1) -> ()", False).arguments
    assert (positional.kwarg_only, keyword.kwarg_only) == (False, True)


def test_what_follows_a_known_signature_is_read() -> None:
    """Everything behind a name recurs too: with garbage at its end it is no schema, each time."""
    for text in ("f(Tensor x) -> Tensor", "g(t x) -> t"):
        parse_schema(text)
    for text in ("f(Tensor x) -> Tensor", "ns::g.out(Tensor x) -> Tensor"):
        schema = parse_schema(text, False)
        assert str(schema) == text
        with pytest.raises(RuntimeError, match="end of the schema"):
            parse_schema(text + " )", False)
        with pytest.raises(RuntimeError, match="end of the schema"):
            parse_schema(text + " )", False)
    with pytest.raises(RuntimeError, match="unknown type"):
        parse_schema("g(t x) -> t", False)
    lists = [parse_schema("f(int[] x=[1]) -> ()", False).arguments[0] for _ in range(2)]
    assert lists[0].default_value is not lists[1].default_value


def test_types_that_are_taken_back_are_unknown_again() -> None:
    register_opaque_type("mine.Queue")
    assert str(parse_schema("f(mine.Queue q) -> mine.Queue", False).arguments[0].name) == "q"
    unregister_opaque_type("mine.Queue")
    for text in ("f(mine.Queue q) -> ()", "f() -> mine.Queue"):
        with pytest.raises(RuntimeError, match="unknown type"):
            parse_schema(text, False)


def test_schemas_are_compared_with_schemas_only() -> None:
    schema = parse_schema("f(int[2] x, SymInt y) -> ()")
    assert schema == parse_schema("f(int[2] x, int y) -> ()")
    assert schema != parse_schema("f(int[] x, int y) -> ()")
    for other in ("f", None, schema.arguments[0].type):
        with pytest.raises(TypeError):
            _ = schema == other


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("int", "number"),
        ("float", "number"),
        ("int", "int?"),
        ("NoneType", "Tensor?"),
        ("Tensor", "Any"),
        ("(int, Tensor)", "(number, Tensor?)"),
        ("int[]", "int[]?"),
    ],
)
def test_subtypes(narrow: str, wide: str) -> None:
    a, b = parse_type(narrow), parse_type(wide)
    assert a.isSubtypeOf(b)
    assert a.isSubtypeOf(a)
    assert not b.isSubtypeOf(a)


def test_schemas_can_be_copied_and_pickled() -> None:
    schema = parse_schema(
        "aten::f(Tensor(a!)? x, int[2] y=1, *, Device d=cpu) -> (Tensor(a!), str)"
    )
    assert copy.deepcopy(schema) == schema
    assert pickle.loads(pickle.dumps(schema)) == schema


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: parse_type("Tensor x"), SchemaError, "expected the end of the type at column 8"),
        (lambda: parse_schema('f(str s="a\\'), RuntimeError, "a character behind the backslash"),
        (lambda: parse_schema(3), TypeError, "parse_schema: schema: expected a str, got 3"),
        (lambda: Argument("a", 3), TypeError, "Argument: type: expected a type, got 3"),
        (lambda: FunctionSchema("a", "", [3], []), TypeError, "expected an Argument, got 3"),
        (lambda: parse_type("int") == 3, TypeError, "a type is compared with types, not with 3"),
    ],
)
def test_what_is_no_schema_is_refused(call, error, text):
    with pytest.raises(error) as raised:
        call()
    assert text in str(raised.value)
