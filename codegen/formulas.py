"""Formulas: a pointwise operator's arithmetic as C expressions, read from the YAML and checked.

A `formula:` stands at the leader of a structured group in the place of a body for the CPU. `read`
turns it into a `Formula`: which operands and numbers it takes, what it is computed in, and for each
choice between expressions and each dtype the text. `loops` makes C and Cython of that.
docs/formulas.md explains the words.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .schema import Argument
from .signatures import signature_of
from .source import Mapping, SourceError
from .tensor_types import TypeTable

if TYPE_CHECKING:
    from .model import NativeFunction
    from .rooms import Rooms

__all__ = [
    "COMPUTED",
    "NARROW",
    "Choice",
    "Formula",
    "Leaf",
    "Number",
    "Variant",
    "names_in",
    "read",
]

# Dtypes that loops compute in: the short name, the C type, what kind of number it is.
COMPUTED = {
    "bool": "bool",
    "uint8": "uint8_t",
    "int8": "int8_t",
    "int16": "int16_t",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
}
# Dtypes that are converted to one of those and back.
NARROW = {
    "float16": "float32",
    "bfloat16": "float32",
    "float8_e5m2": "float32",
    "float8_e4m3fn": "float32",
    "float8_e5m2fnuz": "float32",
    "float8_e4m3fnuz": "float32",
    "float8_e8m0fnu": "float32",
    "complex32": "complex64",
}
_RAW = "raw"  # any dtype, moved as bits
_RULES = frozenset(
    {"compute", "operands", "output", "rounded", "wrapped", "exact", "check", "error"}
)
_ELSE, _NONE = "else", "None"
_NUMEL = "numel_"  # numel_self: how many elements a tensor argument has
_OUTPUT_KINDS = frozenset({"bool", "real"})
_NAME = re.compile(r"[A-Za-z_]\w*")
_COMPUTE = re.compile(r"(?:(common|float)\(([\w\s,]+)\)|(\w+))")
_FORBIDDEN = re.compile(r'[;{}"\'#\\@$`]|[^\t\n\r -~]|//|/\*|<:|<%|\?\?|(?<![=!<>])=(?!=)|\+\+|--')
_WORDS_OF_C = frozenset(
    """T PART INFINITY NAN true false sizeof bool float double int int8_t int16_t int32_t int64_t
    uint8_t uint16_t uint32_t uint64_t IS_REAL IS_COMPLEX IS_INTEGER IS_SIGNED IS_BOOL""".split()  # noqa: SIM905
)
_FUNCTIONS_OF_C = frozenset(
    """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1
    fabs floor fma fmax fmin fmod hypot ilogb isfinite isinf isnan ldexp lgamma log log10 log1p log2
    nextafter pow remainder rint round signbit sin sinh sqrt tan tanh tgamma trunc carg cimag conj
    creal""".split()  # noqa: SIM905
)


class Leaf(NamedTuple):
    """Expressions, one for each output; or a ufunc of numpy's, or a loop of the header's.

    `bits`: the expressions are over the elements' bits, as unsigned integers.
    """

    texts: tuple[str, ...]
    numpy: str | None = None
    loop: str | None = None
    bits: bool = False


class Choice(NamedTuple):
    """An argument that selects among expressions: `options` are its values, `else` any other."""

    argument: str
    options: tuple[str, ...]


class Number(NamedTuple):
    """An argument that is no tensor and that expressions read; `place` is its slot.

    The letter "n": how many elements the tensor argument behind `numel_` has.
    """

    name: str
    letter: str
    optional: bool
    place: int


class Variant(NamedTuple):
    """One way through the choices: its operands and the expressions by dtype of computation."""

    options: tuple[str, ...]
    operands: tuple[str, ...]
    leaves: dict[str, Leaf]
    narrow: tuple[str, ...]


class _Node(NamedTuple):
    """What stands under dtypes: a choice of nodes, or a leaf."""

    argument: str
    branches: dict[str, Any]


class Formula:
    """One operator's formula; all names in its expressions are known."""

    def __init__(
        self, leader: NativeFunction, source: Mapping, types: TypeTable, rooms: Rooms
    ) -> None:
        self.leader = leader
        self.source = source
        self._types = types
        self._rooms = rooms
        arguments = leader.plain_arguments
        letters = signature_of(arguments).letters
        self.letters = dict(zip((a.name for a in arguments), letters, strict=True))
        self.arguments = {a.name: a for a in arguments}
        self.outputs = _output_names(leader)
        self.trees = dict(self._read_trees())
        self.fixed = self._read_operands()
        self.output_kinds = self._read_outputs()
        self.compute_float, self.compute = self._read_compute()
        self.exact = self._tensor_name("exact")
        self.rounded, self.wrapped = self._read_names("rounded"), self._read_names("wrapped")
        self.check = self._read_check()

    # -- what the words say

    def error(self, message: str, key: str = "", source: Mapping | None = None) -> SourceError:
        """A mistake in this formula."""
        return (source or self.source).error(f"formula: {message}", key, self.leader.name)

    def _tensor_name(self, word: str) -> str | None:
        name = self.source.get(word)
        if name is not None and self.letters.get(str(name)) != "T":
            raise self.error(f"{word}: expected a tensor argument, got {name!r}", word)
        return name

    def _read_operands(self) -> dict[str, str]:
        given = self.source.get("operands", {})
        if not isinstance(given, Mapping) and given:
            raise self.error("operands: expected a mapping 'NAME: dtype'", "operands")
        for name, kind in given.items():
            if self.letters.get(name) != "T":
                raise self.error(f"operands: {name!r} is no tensor argument", name, given)
            self._check_computed(kind, name, given)
        return dict(given)

    def _check_computed(self, kind: object, key: str, source: Mapping) -> None:
        if kind not in COMPUTED and kind not in _OUTPUT_KINDS:
            expected = ", ".join(("real", *COMPUTED))
            raise self.error(f"expected one of {expected}, got {kind!r}", key, source)

    def _read_outputs(self) -> tuple[str, ...]:
        given = self.source.get("output", {})
        if isinstance(given, str):
            given = dict.fromkeys(self.outputs, given)
        if not isinstance(given, dict):
            raise self.error("output: expected a dtype, or a mapping 'NAME: dtype'", "output")
        for name, kind in given.items():
            if name not in self.outputs:
                raise self.error(f"output: expected one of {list(self.outputs)}", "output")
            self._check_computed(kind, "output", self.source)
        return tuple(given.get(name, "") for name in self.outputs)

    def _read_compute(self) -> tuple[bool | tuple[str, str], tuple[str, ...]]:
        """(whether integers are computed in the default dtype, arguments that are promoted).

        Where only one value of an argument makes floats of them, that argument and value.
        """
        tensors = [n for n, letter in self.letters.items() if letter == "T"]
        default = ", ".join(n for n in tensors if n not in self.fixed and n in self._used)
        given = self.source.get("compute", f"common({default})")
        if not isinstance(given, Mapping):
            return self._promoted(given)
        for argument, options in given.items():
            if argument in self.arguments and isinstance(options, Mapping) and len(options) == 2:
                (value, first), (other, second) = options.items()
                if other == _ELSE and self._promoted(first) == (True, self._promoted(second)[1]):
                    return (argument, value), self._promoted(second)[1]
        message = "compute: expected 'ARGUMENT: {VALUE: float(NAMES), else: common(NAMES)}'"
        raise self.error(message, "compute")

    def _promoted(self, text: object) -> tuple[bool, tuple[str, ...]]:
        found = _COMPUTE.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            message = f"compute: expected NAME, common(NAMES) or float(NAMES), got {text!r}"
            raise self.error(message, "compute")
        names = tuple(n.strip() for n in (found[2] or found[3]).split(","))
        for name in names:
            if self.letters.get(name) != "T" and not self._is_kind(name, "Scalar"):
                raise self.error(f"compute: {name!r} is no tensor or Scalar argument", "compute")
        return found[1] == "float", names

    def _is_kind(self, name: str, *kinds: str) -> bool:
        argument = self.arguments.get(name)
        return argument is not None and argument.real_type.text.rstrip("?") in kinds

    def _read_names(self, word: str) -> frozenset[str]:
        given = self.source.get(word, [])
        names = [given] if isinstance(given, str) else given
        for name in names:
            if name not in self.arguments:
                raise self.error(f"{word}: {name!r} is no argument", word)
        return frozenset(names)

    def _read_check(self) -> tuple[str, dict[str, Leaf], str] | None:
        """(operand, the condition by dtype, the text of the refusal)."""
        given = self.source.get("check")
        if given is None:
            return None
        text = self.source.get("error")
        if not isinstance(given, Mapping) or not isinstance(text, str):
            raise self.error(
                "check: expected 'DTYPES: condition', and 'error: TEXT' beside it", "check"
            )
        leaves: dict[str, Leaf] = {}
        operands: set[str] = set()
        for words, condition in given.items():
            leaf = Leaf((self._expression(condition, words, given),))
            operands |= {n for n in names_in(leaf) if self.letters.get(n) == "T"}
            leaves |= dict.fromkeys(self._dtypes(words, given), leaf)
        if len(operands) != 1:
            raise self.error("check: expected a condition on one tensor argument", "check")
        return operands.pop(), leaves, text

    # -- expressions

    def _read_trees(self) -> Iterator[tuple[str, Any]]:
        """What stands under each dtype."""
        seen: set[str] = set()
        for words, given in self.source.items():
            if words in _RULES:
                continue
            node = self._node(given, words, self.source)
            for name in self._dtypes(words, self.source):
                if name in seen:
                    raise self.error(f"{name} has a formula already", words)
                seen.add(name)
                yield name, node
        if not seen:
            raise self.error("expected an expression under a dtype or a set of dtypes")

    def _dtypes(self, words: str, source: Mapping) -> Iterator[str]:
        for word in (w.strip() for w in words.split(",")):
            if word == _RAW:
                yield from (
                    e["name"] for e in self._types.dtypes if e["kind"] != "bits" and "tensor" in e
                )
            elif word.upper() in self._types.sets:
                mask = self._types.sets[word.upper()]
                yield from (e["name"] for e in self._types.dtypes if mask >> e["code"] & 1)
            elif word in COMPUTED or word in NARROW:
                yield word
            else:
                sets = ", ".join(name.lower() for name in self._types.sets)
                expected = f"{sets}, raw, a dtype, or one of {', '.join(sorted(_RULES))}"
                raise self.error(f"expected one of {expected}; got {word!r}", words, source)

    def _node(self, given: object, key: str, source: Mapping) -> Any:
        if not isinstance(given, Mapping):
            if len(self.outputs) > 1:
                names = ", ".join(self.outputs)
                raise self.error(f"expected an expression for each of {names}", key, source)
            return Leaf((self._expression(given, key, source),))
        if set(given) == {"numpy"}:
            return Leaf((), str(given["numpy"]))
        if set(given) == {"bits"} and len(self.outputs) == 1:
            leaf = Leaf((self._expression(given["bits"], "bits", given),), bits=True)
            if any(self.letters.get(name, "T") != "T" for name in names_in(leaf)):
                raise self.error("bits: expected an expression of tensors alone", "bits", given)
            return leaf
        if set(given) == {"loop"}:
            if given["loop"] not in self.functions:
                raise self.error(f"no loop {given['loop']!r} in {self.header_name}", "loop", given)
            return Leaf((), loop=given["loop"])
        if set(given) == set(self.outputs):
            return Leaf(tuple(self._expression(given[n], n, given) for n in self.outputs))
        if len(given) == 1:
            ((name, options),) = given.items()
            if name in self.arguments and isinstance(options, Mapping):
                self._check_choice(self.arguments[name], name, given)
                nodes = {o: self._node(below, o, options) for o, below in options.items()}
                return _Node(name, nodes)
        raise self.error(
            "expected an expression, 'numpy: UFUNC', 'loop: NAME', 'bits: expression', one for"
            " each output, or 'ARGUMENT: {VALUE: expression, ...}'",
            key,
            source,
        )

    def _check_choice(self, argument: Argument, key: str, source: Mapping) -> None:
        letter = self.letters[argument.name]
        if letter == "T" and not argument.real_type.text.endswith("?"):
            raise self.error(f"{key!r} is a tensor that is always given", key, source)
        if letter in "LI":
            raise self.error(f"{key!r} is a list, which selects nothing", key, source)

    def _expression(self, text: object, key: str, source: Mapping) -> str:
        if not isinstance(text, str):
            text = str(text).lower() if isinstance(text, bool) else str(text)
        found = _FORBIDDEN.search(text)
        if found is not None or text.count("(") != text.count(")") or not text.strip():
            what = f"{found[0]!r} in " if found else ""
            raise self.error(f"expected an expression of C, got {what}{text!r}", key, source)
        for match in _NAME.finditer(text):
            self._check_name(text, match, key, source)
        return text

    def _check_name(self, text: str, found: re.Match[str], key: str, source: Mapping) -> None:
        name = found[0]
        before = text[found.start() - 1 : found.start()]
        if before.isdigit() or before == ".":  # the suffix of a number
            return
        if text[found.end() :].lstrip().startswith("("):
            if name in self.functions or name in _FUNCTIONS_OF_C or name in _WORDS_OF_C:
                return
            where = f" in {self.header_name}" if self.functions else ""
            raise self.error(f"no function {name!r}{where}", key, source)
        plain = name.removeprefix("has_")
        if name in self.arguments or plain in self.arguments or name in _WORDS_OF_C:
            return
        if self.letters.get(name.removeprefix(_NUMEL)) == "T":
            return
        known = ", ".join(self.arguments)
        raise self.error(f"expected names of arguments ({known}), got {name!r}", key, source)

    # -- the family's header

    @property
    def family(self) -> str:
        """The family of its shape function."""
        return (self.leader.shape or "").partition(".")[0]

    @property
    def header_name(self) -> str:
        """Where functions of the family are, below the package."""
        return f"kernels/cpu/{self.family}/formulas.h"

    @cached_property
    def functions(self) -> frozenset[str]:
        """The functions that the family's header defines."""
        return self._rooms.defined_in(self.header_name)

    # -- what follows

    @cached_property
    def _used(self) -> frozenset[str]:
        """Names of arguments that some expression reads."""
        found: set[str] = set()
        for node in self.trees.values():
            for leaf in _leaves(node):
                if leaf.numpy is not None or leaf.loop is not None:
                    found |= {n for n, letter in self.letters.items() if letter == "T"}
                found |= names_in(leaf)
        plain = {n.removeprefix("has_") for n in found}
        return frozenset(n for n in self.arguments if n in found or n in plain)

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """Tensor arguments that loops read."""
        return tuple(n for n in self.arguments if self.letters[n] == "T" and n in self._used)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Other arguments that expressions read."""
        names = [n for n in self.arguments if self.letters[n] != "T" and n in self._used]
        for name in names:
            if not self._is_kind(name, "Scalar", "float", "int", "SymInt", "bool"):
                raise self.error(f"{name!r} is no number")
        optional = {n: self.arguments[n].real_type.text.endswith("?") for n in names}
        found = [(n, self.letters[n], optional[n]) for n in names]
        leaves = [leaf for node in self.trees.values() for leaf in _leaves(node)]
        counts = {n for leaf in leaves for n in names_in(leaf) if n.startswith(_NUMEL)}
        found += [(n, "n", False) for n in sorted(counts - set(names))]
        return tuple(Number(*number, i) for i, number in enumerate(found))

    @cached_property
    def choices(self) -> tuple[Choice, ...]:
        """Arguments that select, with all their values."""
        found: dict[str, dict[str, None]] = {}
        for node in self.trees.values():
            _gather_choices(node, found)
        return tuple(Choice(n, tuple(sorted(o, key=_ELSE.__eq__))) for n, o in found.items())

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """One for each combination of values, in the order of their numbers."""
        return tuple(
            self._variant(o) for o in itertools.product(*(c.options for c in self.choices))
        )

    def _variant(self, options: tuple[str, ...]) -> Variant:
        chosen = dict(zip((c.argument for c in self.choices), options, strict=True))
        operands = tuple(n for n in self.operands if chosen.get(n) != _NONE)
        leaves: dict[str, Leaf] = {}
        narrow: list[str] = []
        for name, node in self.trees.items():
            leaf = _find(node, chosen)
            if leaf is None:
                continue
            if name in NARROW and not self.is_raw and not leaf.bits:
                narrow.append(name)
                wide = self.trees.get(NARROW[name])
                if wide is not None and _find(wide, chosen) == leaf:
                    continue  # the loop of the wider dtype serves
            leaves[name] = leaf
        return Variant(options, operands, leaves, tuple(narrow))

    @property
    def is_raw(self) -> bool:
        """Whether elements are moved as bits."""
        return _RAW in (w.strip() for words in self.source for w in words.split(","))


def read(leader: NativeFunction, types: TypeTable, rooms: Rooms) -> Formula:
    """The formula of a group's leader; raises `SourceError`."""
    assert leader.formula is not None
    return Formula(leader, leader.formula, types, rooms)


def _output_names(leader: NativeFunction) -> tuple[str, ...]:
    given = [a.name for a in leader.out_arguments]
    if not given:
        n = len(leader.schema.returns)
        given = [
            r.name or (f"out{i}" if n > 1 else "out") for i, r in enumerate(leader.schema.returns)
        ]
    return tuple(given)


def names_in(leaf: Leaf) -> set[str]:
    """Identifiers in a leaf's expressions."""
    return {name for text in leaf.texts for name in _NAME.findall(text)}


def _leaves(node: Any) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    else:
        for below in node.branches.values():
            yield from _leaves(below)


def _gather_choices(node: Any, found: dict[str, dict[str, None]]) -> None:
    if isinstance(node, _Node):
        found.setdefault(node.argument, {}).update(dict.fromkeys(node.branches))
        for below in node.branches.values():
            _gather_choices(below, found)


def _find(node: Any, chosen: dict[str, str]) -> Leaf | None:
    while isinstance(node, _Node):
        option = chosen[node.argument]
        node = node.branches.get(option, node.branches.get(_ELSE) if option != _NONE else None)
    found: Leaf | None = node
    return found
