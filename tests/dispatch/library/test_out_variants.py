"""Out variants are found among an operator's overloads."""

import pytest

from dispatch import Tag, ops
from dispatch.library import out_variants
from dispatch.library.out_variants import check_out_variant, to_out_variant

aten = ops.aten


@pytest.fixture
def define(library):
    lib = library("tov", "DEF")

    def entered(name, functional, *outs, tags=(Tag.out,)):
        lib.define(f"{name}{functional}")
        packet = getattr(ops.tov, name.partition(".")[0])
        for overload, schema in outs:
            lib.define(f"{packet.__name__}.{overload}{schema}", tags=tags)
        return getattr(packet, name.partition(".")[2] or "default")

    return entered


ONE = "(Tensor x, *, Tensor(a!) result) -> Tensor(a!)"


@pytest.mark.parametrize(
    ("op", "out"),
    [
        (aten.sin.default, aten.sin.out),
        (aten.add.Tensor, aten.add.out),
        (aten.add.Scalar, aten.add.Scalar_out),
        (aten.sort.stable, aten.sort.values_stable),
        (aten._foreach_add.List, aten._foreach_add.List_out),
        (aten.max.dim, aten.max.dim_max),
        (aten.relu.default, aten.relu.out),
        (aten.view.default, None),
    ],
)
def test_the_librarys_own(op, out):
    assert to_out_variant(op) == out


def test_overloads_are_told_apart_by_their_arguments(define):
    two = "*, Tensor(a!) p, Tensor(b!) q) -> (Tensor(a!), Tensor(b!))"
    f = define(
        "f.tensor", "(Tensor x, Tensor s) -> (Tensor, Tensor)",
        ("t_out", f"(Tensor x, Tensor s, {two}"), ("s_out", f"(Tensor x, float s, {two}"),
    )  # fmt: skip
    assert to_out_variant(f) == ops.tov.f.t_out
    check_out_variant(f, ops.tov.f.t_out)
    assert out_variants.get_out_arg_names(ops.tov.f.t_out) == ["p", "q"]
    with pytest.raises(AssertionError, match=r"expected tov\.f\.s_out, found tov\.f\.t_out"):
        check_out_variant(f, ops.tov.f.s_out)


@pytest.mark.parametrize(
    ("functional", "out"),
    [
        ("(Tensor x) -> Tensor", None),
        ("(Tensor x, Tensor y) -> Tensor", ONE),
        ("(Tensor? x) -> Tensor", ONE),
        ("(Tensor self) -> Tensor", ONE),
        ("(Tensor x) -> (Tensor, Tensor)", ONE),
        ("(Tensor x, int n=0) -> Tensor", ONE.replace("x,", "x, int n=1,")),
    ],
)
def test_one_that_does_not_fit_is_none(define, functional, out):
    op = define("f", functional, *([("out", out)] if out else []))
    assert to_out_variant(op) is None
    with pytest.raises(AssertionError, match=r"We did not find an out variant for tov\.f\."):
        check_out_variant(op, None)


def test_it_needs_the_tag(define):
    assert to_out_variant(define("f", "(Tensor x) -> Tensor", ("out", ONE), tags=())) is None


@pytest.mark.parametrize("name", ["f", "f_"])
def test_an_operator_that_writes_has_none(define, name):
    op = define(name, "(Tensor x) -> Tensor" if name == "f_" else "(Tensor(a!) x) -> Tensor")
    with pytest.raises(RuntimeError, match="schema is not functional"):
        to_out_variant(op)


def test_one_is_registered_by_hand(define, monkeypatch):
    monkeypatch.setattr(out_variants, "_registered", {})
    f, g = define("f", "(Tensor x) -> Tensor"), define("g", ONE)
    assert out_variants.lookup_manual_out_variant(f) is None
    out_variants.register_out_variant(f, g)
    assert out_variants.lookup_manual_out_variant(f) == g
