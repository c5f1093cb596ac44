"""Formulas: what is refused, with file, line and operator, and what the words mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch.codegen.formulas import Formula, Leaf, read
from dispatch.codegen.loops import module_view
from dispatch.codegen.source import SourceError
from dispatch.codegen.tensor_types import read_types

from .helpers import SCHEMAS, read_package

TYPES = read_types(SCHEMAS / "types.yaml")
HEAD = """\
    - func: f(Tensor self, Tensor? other, Scalar alpha, str how) -> Tensor
      structured: True
      shape: misc.f
      formula:
"""


def _read(folder: Path, *lines: str) -> Formula:
    package = read_package(folder, HEAD + "".join(f"        {line}\n" for line in lines))
    return read(package.functions[0], TYPES, package.rooms)


@pytest.mark.parametrize(
    ("lines", "place", "text"),
    [
        (("floating: self + wrong",), 5, "expected names of arguments .*'wrong'"),
        (("floating: blur(self)",), 5, "no function 'blur'"),
        (("floating: self = 1",), 5, "expected an expression of C, got '='"),
        (("floating: self; other",), 5, "expected an expression of C, got ';'"),
        (("floating: (self",), 5, "expected an expression of C"),
        (('floating: "self\\u202e + other"',), 5, "expected an expression of C, got '.u202e'"),
        (("floating: self<:0:>",), 5, "expected an expression of C, got '<:'"),
        (("integral: self", "floats: self"), 6, "expected one of .*floating.*; got 'floats'"),
        (("floating: self", "float32: self"), 6, "float32 has a formula already"),
        (("compute: float(self)",), 5, "expected an expression under a dtype"),
        (("floating: self", "compute: widest(self)"), 6, "compute: expected NAME"),
        (("floating: self", "compute: common(how)"), 6, "'how' is no tensor or Scalar"),
        (("floating: self", "operands: {alpha: bool}"), 6, "'alpha' is no tensor argument"),
        (("floating: self", "operands: {self: float16}"), 6, "expected one of .*got 'float16'"),
        (("floating: self", "exact: alpha"), 6, "exact: expected a tensor argument"),
        (("floating: self", "wrapped: beta"), 6, "wrapped: 'beta' is no argument"),
        (("floating: self", "output: quaternion"), 6, "got 'quaternion'"),
        (("floating: self", "check: {integral: self != 0}"), 6, "'error: TEXT' beside it"),
        (("floating: {self: {None: alpha, else: self}}",), 5, "a tensor that is always given"),
        (("floating: {how: {}, alpha: {}}",), 5, "expected an expression, 'numpy: UFUNC'"),
        (("floating: self + how",), 5, "'how' is no number"),
        (("floating: {bits: self ^ alpha}",), 5, "bits: expected an expression of tensors alone"),
        (("floating: {loop: nowhere}",), 5, "no loop 'nowhere' in kernels/cpu/"),
        (("floating: self", "operands: bool"), 6, "operands: expected a mapping 'NAME: dtype'"),
        (("floating: self", "output: [bool]"), 6, "output: expected a dtype, or a mapping"),
        (("floating: self", "output: {result: bool}"), 6, "output: expected one of"),
        (("floating: self", "check: {integral: alpha}", "error: x"), 6, "on one tensor argument"),
        (
            ("floating: self", "check: {integral: self + other}", "error: x"),
            6,
            "on one tensor argument",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(
    tmp_path: Path, lines: tuple[str, ...], place: int, text: str
) -> None:
    with pytest.raises(SourceError, match=rf"(?s):{place}: aten::f: formula: .*{text}"):
        _ = _read(tmp_path, *lines).numbers


def test_a_formula_is_the_only_body_and_needs_a_shape_function(tmp_path: Path) -> None:
    yaml = """
        - func: f(Tensor self) -> Tensor
          formula: {floating: self}
    """
    with pytest.raises(SourceError, match=r"expected 'structured: True' beside it"):
        read_package(tmp_path, yaml)
    yaml = """
        - func: f(Tensor self) -> Tensor
          structured: True
          shape: misc.f
          formula: {floating: self}
          dispatch:
            CPU: misc.f
    """
    with pytest.raises(SourceError, match="the body for the CPU, expected no other"):
        read_package(tmp_path, yaml)


def test_choices_make_variants_and_leave_out_what_is_none(tmp_path: Path) -> None:
    formula = _read(
        tmp_path,
        "floating: {other: {None: self * alpha, else: {alpha: {1: self, else: self - other}}}}",
        "integral: {other: {else: self + other}}",
    )
    found = {v.options: (v.operands, sorted(v.leaves)) for v in formula.variants}
    floats, integers = ["float32", "float64"], ["int16", "int32", "int64", "int8", "uint8"]
    assert found["None", "1"] == (("self",), floats)
    assert found["else", "1"] == (("self", "other"), sorted(floats + integers))
    assert all("bfloat16" in v.narrow for v in formula.variants)


def test_a_formula_of_bits_is_a_dtypes_own_and_not_that_of_a_wider_one(tmp_path: Path) -> None:
    formula = _read(tmp_path, "full_floating: -self", "float16: {bits: self ^ 0x8000}")
    (variant,) = formula.variants
    assert variant.leaves["float16"] == Leaf(("self ^ 0x8000",), bits=True)
    assert variant.narrow == ()


def test_functions_of_the_familys_header_are_known(tmp_path: Path) -> None:
    header = tmp_path / "mylib" / "kernels" / "cpu" / "misc" / "formulas.h"
    header.parent.mkdir(parents=True)
    header.write_text('#include "edges.h"\nINLINE T FN(blur)(T x) { return x; }\n')
    assert _read(tmp_path, "floating: blur(self)").functions == {"blur"}
    header.with_name("edges.h").write_text("INLINE T FN(sharpen)(T x) { return x; }\n")
    assert _read(tmp_path, "floating: sharpen(self)").functions == {"blur", "sharpen"}


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (("floating: self",), ()),
        (("floating: self + alpha",), ("bfloat16", "float16", "float32", "float64")),
        (
            ("reduced_floating, float32: self + alpha", "float64: self"),
            ("bfloat16", "float16", "float32"),
        ),
        (("float32: self", "float64: self + alpha"), ("float64",)),
    ],
)
def test_numbers_are_needed_where_a_loop_takes_them(
    tmp_path: Path, lines: tuple[str, ...], names: tuple[str, ...]
) -> None:
    formula = _read(tmp_path, *lines)
    table = module_view("misc", [(formula, True)], TYPES, tmp_path, tmp_path)["tables"][0]
    needs = int(table["needs"].removesuffix("ULL"), 16)
    assert sorted(name for name, code in TYPES.codes.items() if needs >> code & 1) == sorted(names)


def test_the_number_of_elements_is_handed_over_like_any_number(tmp_path: Path) -> None:
    formula = _read(tmp_path, "floating: self * numel_self + alpha")
    body = module_view("misc", [(formula, True)], TYPES, tmp_path, tmp_path)["bodies"][0]
    assert [line for line in body["lines"] if "numbers[" in line] == [
        "load_scalar(&numbers[0], alpha, code, 'alpha', EXACT)",
        "numbers[1].i64 = self.c_numel",
    ]
