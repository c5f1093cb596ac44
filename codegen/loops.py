"""What is emitted for formulas: C loops by dtype, tables of them, and the bodies that run them.

Called by `generate` with the formulas of one module. A loop is one macro of the emitted header with
the operands' types, the numbers that it reads and the expressions; a body is a C function that
gathers operands and numbers, finds the dtype of computation, and hands a table to the driver.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .formulas import COMPUTED, NARROW, Formula, Leaf, Variant, names_in
from .signatures import Signature, signature_of
from .tensor_types import TypeTable

__all__ = ["module_view"]

_PARTS = {"complex64": "float32", "complex128": "float64"}
_OF_SIZE = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64", 16: "complex128"}
_CALL = re.compile(r"\bFN\((?!larger|smaller|lerp)|\b(?:exp|log|pow)\w*\(")
_ROOT = re.compile(r"\bsqrt\(")
_QUICK = re.compile(r"\bFN\(hard\w*\)")  # of all calls: less than converting 16-bit floats takes
_HALVES = ("float16", "bfloat16")
_CONSTANT_PATHS = 3  # operands up to which a single element has a loop of its own


class _Loop(NamedTuple):
    """One loop: its name, and what it is made of."""

    name: str
    section: str
    operands: tuple[tuple[str, str], ...]  # (name, dtype); outputs behind
    n_out: int
    numbers: str
    text: str

    @property
    def is_wide(self) -> bool:
        """Whether it calls something or takes roots, so that it is compiled for AVX-512 too."""
        calls = _CALL.search(self.text) or _ROOT.search(self.text)
        return self.section in _PARTS.values() and bool(calls)

    @property
    def is_costly(self) -> bool:
        """Whether it computes much more than a conversion."""
        return bool(_CALL.search(_QUICK.sub("", self.text)))

    @property
    def arity(self) -> tuple[int, int]:
        return len(self.operands) - self.n_out, self.n_out


class _Module:
    """The loops and tables of one module, as they are found."""

    def __init__(self, types: TypeTable) -> None:
        self.abbr = {e["name"]: e["abbr"] for e in types.dtypes}
        self.size = {e["name"]: e["size"] for e in types.dtypes}
        self.codes = types.codes
        self.loops: dict[tuple[object, ...], _Loop] = {}
        self.tables: list[dict[str, Any]] = []
        self.taken: list[dict[str, Any]] = []
        self.halves: set[_Loop] = set()  # loops that there are of 16-bit floats too
        self.wide: list[dict[str, Any]] = []  # rows of tables that have a loop for AVX-512

    def add(self, formula: Formula) -> int:
        """The tables of a formula's variants; the number of the first."""
        first = len(self.tables)
        for variant in formula.variants:
            self._add_variant(formula, variant)
        return first

    def _add_variant(self, formula: Formula, variant: Variant) -> None:
        place = len(self.tables)
        rows: dict[str, str] = {}
        needs, halves = 0, ["NULL", "NULL"]
        for name, leaf in variant.leaves.items():
            if leaf.numpy is not None:
                self.taken.append({"place": place, "dtype": name, "ufunc": leaf.numpy})
                continue
            as_bits = formula.is_raw or leaf.bits
            section = _OF_SIZE[self.size[name]] if as_bits else NARROW.get(name, name)
            if leaf.loop is not None:
                rows[name] = f"LOOP_OF({leaf.loop}, {self.abbr[section]})"
                if section in _PARTS.values():
                    self._widen(place, f"loops[ST_{name}]", rows[name])
                continue
            loop = self._loop(formula, variant, section, leaf)
            rows[name] = f"LOOP_OF({loop.name}, {self.abbr[section]})"
            if loop.is_wide:
                self._widen(place, f"loops[ST_{name}]", rows[name])
            if name == NARROW[_HALVES[0]]:
                halves = self._halves(variant, loop)
            if loop.numbers:
                narrow = (n for n in variant.narrow if NARROW[n] == name)
                needs |= sum(1 << self.codes[n] for n in (name, *narrow))
        for i, half in enumerate(halves):
            if half != "NULL":
                self._widen(place, f"halves[{i}]", half)
        exact = formula.exact
        self.tables.append(
            {
                "about": " ".join((formula.leader.name, *variant.options)),
                "n_in": len(variant.operands),
                "n_out": len(formula.outputs),
                "narrow": _mask(self.codes[n] for n in variant.narrow),
                "needs": f"0x{needs:X}ULL" if needs else "0",
                "exact": variant.operands.index(exact) if exact in variant.operands else -1,
                "dtypes": ", ".join(self._kinds(formula, variant)),
                "halves": ", ".join(halves),
                "rows": [f"[ST_{name}] = {row}" for name, row in rows.items()],
            }
        )

    def _widen(self, place: int, field: str, loop: str) -> None:
        self.wide.append({"place": place, "field": field, "loop": loop})

    def _halves(self, variant: Variant, loop: _Loop) -> list[str]:
        """The loops of 16-bit floats: where conversions cost more than what is computed."""
        plain = all(dtype in (loop.section, "bool") for _, dtype in loop.operands)
        found = [n in variant.narrow and n not in variant.leaves for n in _HALVES]
        if loop.is_costly or not plain or not any(found):
            return ["NULL", "NULL"]
        self.halves.add(loop)
        names = (f"HALF_OF({loop.name}, {self.abbr[n]})" for n in _HALVES)
        return [name if there else "NULL" for name, there in zip(names, found, strict=True)]

    def _kinds(self, formula: Formula, variant: Variant) -> Iterator[str]:
        kinds = [formula.fixed.get(n, "") for n in variant.operands]
        for kind in (*kinds, *formula.output_kinds):
            yield {"": "OF_COMPUTE", "real": "OF_REAL"}.get(kind, f"ST_{kind}")

    def _loop(self, formula: Formula, variant: Variant, section: str, leaf: Leaf) -> _Loop:
        key = formula.leader.name, section, leaf, variant.operands
        if key not in self.loops:
            number = sum(1 for k in self.loops if k[:2] == key[:2])
            kinds = [formula.fixed.get(n, "") for n in variant.operands]
            names = (*variant.operands, *formula.outputs)
            dtypes = (_dtype_of(k, section) for k in (*kinds, *formula.output_kinds))
            self.loops[key] = _Loop(
                f"{formula.leader.symbol}_{number}",
                section,
                tuple(zip(names, dtypes, strict=True)),
                len(formula.outputs),
                _declarations(formula, leaf),
                _statements(formula, leaf),
            )
        return self.loops[key]

    def add_check(self, formula: Formula) -> int:
        """The table of a formula's check."""
        assert formula.check is not None
        operand, leaves, _ = formula.check
        rows = []
        for name, leaf in leaves.items():
            text = f"if (!({_called(formula, leaf.texts[0])})) FAULT = 1;"
            loop = _Loop(f"{formula.leader.symbol}_check", name, ((operand, name),), 0, "", text)
            self.loops[formula.leader.name, name, "check"] = loop
            rows.append(f"[ST_{name}] = LOOP_OF({loop.name}, {self.abbr[name]})")
        self.tables.append(
            {
                "about": f"{formula.leader.name}: check",
                "n_in": 1,
                "n_out": 0,
                "narrow": "0",
                "needs": "0",
                "exact": -1,
                "dtypes": "OF_COMPUTE",
                "halves": "NULL, NULL",
                "rows": rows,
            }
        )
        return len(self.tables) - 1

    def sections(self) -> list[dict[str, Any]]:
        """The loops by dtype of computation; those of real numbers first, which the others call."""
        order = sorted(COMPUTED, key=lambda name: name not in _PARTS.values())
        found = []
        for name in order:
            loops = [x for x in self.loops.values() if x.section == name]
            if loops or name in _PARTS.values():
                found.append(self._section_view(name, loops))
        return found

    def _section_view(self, name: str, loops: list[_Loop]) -> dict[str, Any]:
        part = _PARTS.get(name, name)
        wide = [self._loop_view(x) for x in loops if x.is_wide]
        narrow = [self._loop_view(x) for x in loops if not x.is_wide]
        return {
            "type": self.abbr[name],
            "ctype": COMPUTED[name],
            "part": COMPUTED[part],
            "part_type": self.abbr[part],
            "is_real": int(name.startswith("float")),
            "is_complex": int(name in _PARTS),
            "is_integer": int("int" in name),
            "is_signed": int(name.startswith("int")),
            "is_bool": int(name == "bool"),
            "wide": wide,
            "loops": narrow,
            "halves": [self._loop_view(x) for x in loops if x in self.halves],
        }

    def _loop_view(self, loop: _Loop) -> dict[str, Any]:
        n_in, n_out = loop.arity
        types = ", ".join(self.abbr[dtype] for _, dtype in loop.operands)
        names = ", ".join(name for name, _ in loop.operands)
        return {
            "macro": f"{n_in}_{n_out}",
            "name": loop.name,
            "types": types,
            "names": names,
            "numbers": loop.numbers,
            "text": loop.text,
        }

    def arities(self) -> list[dict[str, Any]]:
        """The macros that the loops are made with."""
        return [_arity_view(*a) for a in sorted({loop.arity for loop in self.loops.values()})]

    def half_arities(self) -> list[dict[str, Any]]:
        """The macros of the loops of 16-bit floats."""
        return [_half_view(*a) for a in sorted({loop.arity for loop in self.halves})]


def _mask(codes: Iterator[int]) -> str:
    mask = sum(1 << code for code in codes)
    return f"0x{mask:X}ULL" if mask else "0"


def _dtype_of(kind: str, section: str) -> str:
    if kind == "real":
        return _PARTS.get(section, section)
    return kind or section


def _arity_view(n_in: int, n_out: int) -> dict[str, Any]:
    """One macro: its parameters, and its loops by which operands step and which hold still."""
    n = n_in + n_out
    return {
        "name": f"LOOP_{n_in}_{n_out}",
        "parameters": _macro_parameters(n),
        "pointers": _pointer_lines(n),
        "paths": [_path_view(steps, n_in) for steps in _paths(n_in, n_out)],
        "any": _element_lines([f"loop_s{k}" for k in range(n)], n_in),
    }


def _paths(n_in: int, n_out: int) -> list[list[bool]]:
    """Whether each operand steps: all do, or all but the first or the last operand."""
    n = n_in + n_out
    still = (0, n_in - 1) if 2 <= n_in <= _CONSTANT_PATHS else ()
    return [[True] * n, *([i != k for i in range(n)] for k in still)]


def _macro_parameters(n: int) -> str:
    operands = [f"A{k}" for k in range(n)] + [f"a{k}" for k in range(n)]
    return ", ".join(("NAME", *operands, "NUMBERS", "..."))


def _pointer_lines(n: int) -> list[str]:
    return [
        f"char *loop_p{k} = loop_pointers[{k}]; const intptr_t loop_s{k} = loop_steps[{k}];"
        for k in range(n)
    ]


def _half_view(n_in: int, n_out: int) -> dict[str, Any]:
    """The macro of a loop of 16-bit floats: rows are converted, computed and rounded."""
    n = n_in + n_out
    return {
        "name": f"HALF_{n_in}_{n_out}",
        "parameters": f"HALF, {_macro_parameters(n)}",
        "pointers": _pointer_lines(n),
        "paths": [_half_path_view(steps, n_in) for steps in _paths(n_in, n_out)],
        "some": _half_lines([True] * n, n_in, "SOME", ", loop_s{k}, loop_m", "loop_s{k}"),
    }


def _half_path_view(steps: list[bool], n_in: int) -> dict[str, Any]:
    sizes = [f"HALF_SIZE_##A{k}" if step else "0" for k, step in enumerate(steps)]
    return {
        "condition": " && ".join(f"loop_s{k} == {size}" for k, size in enumerate(sizes)),
        "constants": [_load(k, f"loop_p{k}") for k, step in enumerate(steps) if not step],
        "lines": _half_lines(steps, n_in, "ROW", "", "HALF_SIZE_##A{k}"),
    }


def _half_lines(steps: list[bool], n_in: int, way: str, more: str, size: str) -> list[str]:
    """One row: operands that step are loaded, results computed element by element, and stored."""
    moving = [k for k, step in enumerate(steps) if step]
    outputs = range(n_in, len(steps))

    def call(kind: str, k: int) -> str:
        at = f"loop_p{k} + loop_i * {size.format(k=k)}"
        return f"{way}_{kind}(A{k}, HALF)(loop_r{k}, {at}{more.format(k=k)});"

    return [
        *(f"COMPUTED_##A{k} loop_r{k}[HALF_ROW];" for k in moving),
        *(call("OF", k) for k in moving if k < n_in),
        "for (int loop_j = 0; loop_j < HALF_ROW; loop_j++) {",
        *(
            f"    const COMPUTED_##A{k} a{k} UNUSED = loop_r{k}[loop_j];"
            for k in moving
            if k < n_in
        ),
        *(f"    COMPUTED_##A{k} a{k};" for k in outputs),
        "    __VA_ARGS__",
        *(f"    loop_r{k}[loop_j] = a{k};" for k in outputs),
        "}",
        *(call("TO", k) for k in outputs),
    ]


def _path_view(steps: list[bool], n_in: int) -> dict[str, Any]:
    sizes = [f"SIZE_OF(A{k})" if step else "0" for k, step in enumerate(steps)]
    return {
        "condition": " && ".join(f"loop_s{k} == {size}" for k, size in enumerate(sizes)),
        "constants": [_load(k, f"loop_p{k}") for k, step in enumerate(steps) if not step],
        "lines": _element_lines(sizes, n_in),
    }


def _load(k: int, at: str) -> str:
    return f"const COMPUTED_##A{k} a{k} UNUSED = LOAD(A{k}, {at});"


def _element_lines(sizes: list[str], n_in: int) -> list[str]:
    """One element: operands that step are loaded, results computed and stored."""
    places = [f"loop_p{k} + loop_i * {size}" for k, size in enumerate(sizes)]
    return [
        *(_load(k, at) for k, at in enumerate(places[:n_in]) if sizes[k] != "0"),
        *(f"COMPUTED_##A{k} a{k};" for k in range(n_in, len(sizes))),
        "__VA_ARGS__",
        *(f"STORE(A{k}, {places[k]}, a{k});" for k in range(n_in, len(sizes))),
    ]


def _called(formula: Formula, text: str) -> str:
    """The expression with the family's functions in the dtype of computation."""
    for name in sorted(formula.functions & names_in(Leaf((text,)))):
        text = re.sub(rf"\b{name}(?=\s*\()", f"FN({name})", text)
    return text


def _statements(formula: Formula, leaf: Leaf) -> str:
    texts = (_called(formula, text) for text in leaf.texts)
    return " ".join(f"{o} = {t};" for o, t in zip(formula.outputs, texts, strict=True))


def _declarations(formula: Formula, leaf: Leaf) -> str:
    used = names_in(leaf)
    found = []
    flag = len(formula.numbers)
    for number in formula.numbers:
        if number.name in used:
            if number.letter in "ibn":
                found.append(f"const int64_t {number.name} = loop_numbers[{number.place}].i64;")
            else:
                found.append(f"const T {number.name} = NUMBER(T, {number.place});")
        if number.optional:
            if f"has_{number.name}" in used:
                found.append(f"const int has_{number.name} = loop_numbers[{flag}].i64 != 0;")
            flag += 1
    return " ".join(found)


# ---- bodies


def _body_view(formula: Formula, first: int, check: int, is_cython: bool) -> dict[str, Any]:
    leader = formula.leader
    signature = signature_of(leader.plain_arguments)
    lines = [*_operand_lines(formula), *_code_lines(formula)]
    if formula.check is not None:
        operand, _, text = formula.check
        lines += [
            f"operands[{len(formula.operands)}] = <PyObject*>{operand}",
            "if out_0.c_numel:",
            f"    check(&FORMULAS[{check}], code, operands + {len(formula.operands)}, {text!r})",
            *_output_lines(formula),
        ]
    lines += _choice_lines(formula, first)
    lines += _number_lines(formula)
    pointer = "numbers" if formula.numbers else "NULL"
    end = "return " if is_cython else ""
    lines.append(f"{end}run(&FORMULAS[which], code, operands, {pointer})")
    return {
        "schema": str(leader.schema),
        "symbol": leader.symbol,
        "is_cython": is_cython,
        "parameters": ", ".join(_parameters(formula, signature, is_cython)),
        "n_operands": len(formula.operands) + len(formula.outputs),
        "n_numbers": len(formula.numbers) + sum(n.optional for n in formula.numbers),
        "lines": lines,
        "n_items": len(formula.compute) if len(formula.compute) > 2 or _has_object(formula) else 0,
    }


def _parameters(formula: Formula, signature: Signature, is_cython: bool) -> Iterator[str]:
    for i in range(len(formula.outputs)):
        yield f"Tensor out_{i}"
    for name, parameter in zip(formula.arguments, signature.parameters, strict=True):
        plain = is_cython or formula.letters[name] in "Tidb"
        yield f"{parameter.ctype if plain else 'object'} {name}"


def _has_object(formula: Formula) -> bool:
    optional = (formula.arguments[n].real_type.text.endswith("?") for n in formula.compute)
    return any(formula.letters[n] != "T" for n in formula.compute) or any(optional)


def _operand_lines(formula: Formula) -> Iterator[str]:
    optional = {c.argument for c in formula.choices if formula.letters[c.argument] == "T"}
    if not optional:
        for i, name in enumerate(formula.operands):
            yield f"operands[{i}] = <PyObject*>{name}"
        if formula.check is None:
            yield from _output_lines(formula)
        return
    yield "cdef int n = 0"
    names = [*formula.operands, *(f"out_{i}" for i in range(len(formula.outputs)))]
    for name in names:
        indent = ""
        if name in optional:
            yield f"if {name} is not None:"
            indent = "    "
        yield f"{indent}operands[n] = <PyObject*>{name}"
        yield f"{indent}n += 1"


def _output_lines(formula: Formula) -> Iterator[str]:
    for i in range(len(formula.outputs)):
        yield f"operands[{len(formula.operands) + i}] = <PyObject*>out_{i}"


def _code_lines(formula: Formula) -> Iterator[str]:
    names = formula.compute
    if _has_object(formula) or len(names) > 2:
        for i, name in enumerate(names):
            yield f"items[{i}] = <PyObject*>{name}"
        yield f"code = rules.result_type(items, {len(names)})"
    elif len(names) == 2:
        yield f"code = common_of({names[0]}, {names[1]})"
    else:
        yield f"code = {names[0]}.c_dtype"
    if isinstance(formula.compute_float, tuple):
        yield f"if {_test(formula, *formula.compute_float)}:"
        yield "    code = rules.float_type(code)"
    elif formula.compute_float:
        yield "code = rules.float_type(code)"


def _choice_lines(formula: Formula, first: int) -> Iterator[str]:
    yield f"which = {first}"
    stride = len(formula.variants)
    for choice in formula.choices:
        stride //= len(choice.options)
        for i, option in enumerate(choice.options):
            if i == len(choice.options) - 1:
                if i > 0:
                    yield "else:"
                    yield f"    which += {i * stride}"
                continue
            word = "if" if i == 0 else "elif"
            test = _test(formula, choice.argument, option)
            yield f"{word} {test}:"
            yield f"    which += {i * stride}"


def _test(formula: Formula, name: str, option: str) -> str:
    if option == "None":
        return f"{name} is None"
    if formula.letters[name] == "b":
        return name if option == "True" else f"not {name}"
    if formula.letters[name] == "i":
        return f"{name} == {int(option)}"
    if "str" in formula.arguments[name].real_type.text:
        return f"{name} == {option!r}"
    return f"equals({name}, {float(option) if '.' in option else int(option)})"


def _number_lines(formula: Formula) -> Iterator[str]:
    if not formula.numbers:
        return
    indent = ""
    if formula.choices:
        yield "if FORMULAS[which].needs >> code & 1:"
        indent = "    "
    flag = len(formula.numbers)
    for number in formula.numbers:
        name, slot = number.name, f"numbers[{number.place}]"
        way = (
            "WRAPPED"
            if name in formula.wrapped
            else "ROUNDED"
            if name in formula.rounded
            else "EXACT"
        )
        if number.letter == "n":
            yield f"{indent}{slot}.i64 = {name.removeprefix('numel_')}.c_numel"
            continue
        if number.letter in "ib":
            yield f"{indent}{slot}.i64 = {name}"
            continue
        value = f"0 if {name} is None else {name}" if number.optional else name
        if number.optional:
            yield f"{indent}numbers[{flag}].i64 = {name} is not None"
            flag += 1
        yield f"{indent}load_scalar(&{slot}, {value}, code, {name!r}, {way})"


# ---- one module


def module_view(
    name: str, formulas: list[tuple[Formula, bool]], types: TypeTable, folder: Path, out: Path
) -> dict[str, Any]:
    """The context of the templates `formulas*`; `bool`: its shape function is in Cython."""
    module = _Module(types)
    bodies = []
    for formula, is_cython in formulas:
        first = module.add(formula)
        check = module.add_check(formula) if formula.check is not None else -1
        bodies.append(_body_view(formula, first, check, is_cython))
    headers = {formula.header_name for formula, _ in formulas}
    family = [os.path.relpath(folder / h, out) for h in sorted(headers) if (folder / h).is_file()]
    return {
        "name": name,
        "headers": family,
        "arities": module.arities(),
        "half_arities": module.half_arities(),
        "sections": module.sections(),
        "tables": module.tables,
        "wide": module.wide,
        "taken": module.taken,
        "bodies": bodies,
    }
