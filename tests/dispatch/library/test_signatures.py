"""Schemas out of signatures (the whole table is compared with PyTorch in tests/differential)."""

import pytest

import dispatch
from dispatch import Tag, Tensor, parse_schema
from dispatch.library import infer_schema
from dispatch.library.signatures import SUPPORTED_PARAM_TYPES, SUPPORTED_RETURN_TYPES


def function(annotation, ret=Tensor, **defaults):
    def f(x):
        pass

    f.__annotations__ = {"x": annotation, "return": ret}
    return f


@pytest.mark.parametrize("annotation", SUPPORTED_PARAM_TYPES, ids=str)
def test_every_supported_annotation_gives_a_schema_that_parses(annotation):
    text = infer_schema(function(annotation), mutates_args=(), op_name="a::f")
    assert str(parse_schema(text)) == text
    assert f"({SUPPORTED_PARAM_TYPES[annotation]} x)" in text


@pytest.mark.parametrize("ret", SUPPORTED_RETURN_TYPES, ids=str)
def test_every_supported_return_gives_a_schema_that_parses(ret):
    for given in (ret, tuple[ret], tuple[ret, ret]):
        parse_schema("a::f" + infer_schema(function(int, given), mutates_args=()))


@pytest.mark.parametrize("annotation", [complex, tuple[int, int], dict[str, int], "no name"])
def test_errors_name_the_parameter_and_the_signature(annotation):
    with pytest.raises(ValueError, match="signature is"):
        infer_schema(function(annotation), mutates_args=())


def test_defaults_are_spelled_as_schemas_do():
    def f(a: float = 1e-5, b: str = "s", c: dispatch.dtype = dispatch.float16,
          d: dispatch.device = dispatch.device("cuda", 1),
          e: Tensor | None = None) -> None:  # fmt: skip
        pass

    assert infer_schema(f, mutates_args=()) == (
        '(float a=1e-05, str b="s", ScalarType c=float16, Device d="cuda:1", Tensor? e=None) -> ()'
    )


def test_written_arguments_get_an_alias_each():
    def f(n: int, x: Tensor, *, ys: list[Tensor]) -> None:
        pass

    assert infer_schema(f, mutates_args={"x", "ys"}) == (
        "(SymInt n, Tensor(a1!) x, *, Tensor(a2!)[] ys) -> ()"
    )
    assert infer_schema(f, mutates_args="unknown") == infer_schema(f, mutates_args=("x", "ys"))
    for wrong in (("n",), ("z",), "x"):
        with pytest.raises(ValueError):
            infer_schema(f, mutates_args=wrong)


def test_tags_say_what_is_returned():
    def f(x: Tensor) -> Tensor:
        pass

    def g(x: Tensor, *, out: Tensor) -> Tensor:
        pass

    inplace = infer_schema(f, mutates_args=("x",), tags=Tag.inplace)
    assert inplace == "(Tensor(a0!) x) -> Tensor(a0!)"
    out = infer_schema(g, mutates_args=("out",), tags=[Tag.out])
    assert out == "(Tensor x, *, Tensor(a1!) out) -> Tensor(a1!)"
    with pytest.raises(AssertionError):
        infer_schema(f, mutates_args=(), tags=(Tag.inplace, Tag.out))
