"""Guards as Python text over a program's inputs, and that text asked of other inputs.

Called by `ShapeEnv.produce_guards` and its like. A guard's symbols are written as their sources
(`L['x'].size()[0]`), so that the text can be evaluated where nothing of this room is.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dispatch.symbolic.contexts import RelaxedUnspecConstraint, StrictMinMaxConstraint
from dispatch.symbolic.errors import ConstraintViolationError
from dispatch.symbolic.expr import Expr
from dispatch.symbolic.numbers import SymFloat, SymInt
from dispatch.symbolic.sources import LocalSource, Source, TensorProperty, TensorPropertySource

__all__ = [
    "FUNCTIONS", "bind", "eval_is_non_overlapping_and_dense", "produce", "produce_verbose",
    "python_text",
]  # fmt: skip



def eval_is_non_overlapping_and_dense(sizes: Sequence[Any], strides: Sequence[Any]) -> int:
    """1 when strides in some order leave no gap and meet no place twice, else 0."""
    if len(sizes) == 1:
        return int(strides[0] == 1 or sizes[0] < 2)
    expected: Any = 1
    for size, stride in sorted(zip(sizes, strides, strict=True), key=lambda dim: dim[1]):
        if size == 1:
            continue
        if stride != expected:
            return 0
        expected = expected * size
    return 1


def _indicator(*numbers: Any) -> int:
    middle = len(numbers) // 2
    return eval_is_non_overlapping_and_dense(numbers[:middle], numbers[middle:])


# What the text of a guard may call.
FUNCTIONS: dict[str, Any] = {
    "math": math, "min": min, "max": max, "abs": abs, "float": float,
    "IsNonOverlappingAndDenseIndicator": _indicator,
}  # fmt: skip
# Between what stands an operator, and how close it binds what it stands between.
_INFIX = {
    "Add": (" + ", 40),
    "Mul": ("*", 50),
    "PowByNatural": (" ** ", 60),
    "FloatPow": (" ** ", 60),
    "FloorDiv": (" // ", 999),
    "CleanDiv": (" // ", 999),
    "Mod": (" % ", 999),
    "PythonMod": (" % ", 999),
    "LShift": (" << ", 999),
    "RShift": (" >> ", 999),
    "IntTrueDiv": (" / ", 999),
    "FloatTrueDiv": (" / ", 999),
    "Eq": (" == ", 50),
    "Ne": (" != ", 50),
    "Lt": (" < ", 35),
    "Le": (" <= ", 35),
    "Gt": (" > ", 35),
    "Ge": (" >= ", 35),
    "And": (" and ", 30),
    "Or": (" or ", 20),
    "BitwiseFn_bitwise_and": (" & ", 38),
    "BitwiseFn_bitwise_or": (" | ", 36),
    "BitwiseFn_bitwise_xor": (" ^ ", 37),
}
_ATOM = 1000
_WAYS = ("python", "verbose_python")
_BINDING = {name: level for name, (_, level) in _INFIX.items() if level < 999} | {
    "Pow": 60, "PowByNatural": 50, "FloatPow": 60, "Not": 100, "FloorDiv": 35, "CleanDiv": 35,
    "LShift": 35, "RShift": 35, "Mod": 35, "PythonMod": 35, "IntTrueDiv": 35, "FloatTrueDiv": 35,
    "ModularIndexing": 35,
}  # fmt: skip
_CALLED = {
    "Min": "min",
    "Max": "max",
    "Abs": "abs",
    "ToFloat": "float",
    "TruncToInt": "math.trunc",
    "CeilToInt": "math.ceil",
    "FloorToInt": "math.floor",
    "floor": "math.floor",
    "ceiling": "math.ceil",
    "RoundToInt": "round",
    "RoundDecimal": "round",
    "TruncToFloat": "math.trunc",
    "IsNonOverlappingAndDenseIndicator": "IsNonOverlappingAndDenseIndicator",
}
_UNORDERED = frozenset(("Add", "Mul", "And", "Or", "Max", "Min"))
_RANKS = {"Number": 0, "Symbol": 1, "Pow": 2, "Mul": 3, "Add": 4, "Abs": 5}  # sympy's classes


def _order(e: Any) -> tuple[Any, ...]:
    """The place of an argument where any order means the same, as sympy compares them."""
    kind = e.function
    if kind in ("Number", "Symbol"):
        return (_RANKS[kind], "", 1, (e.value if kind == "Number" else str(e),))
    rank = _RANKS.get(kind, 6)
    parts = tuple(map(_order, _arguments(e)))
    return (rank, kind if rank == 6 else "", len(parts), parts)


def _arguments(e: Any) -> list[Any]:
    return sorted(e.args, key=_order) if e.function in _UNORDERED else list(e.args)


def _binding(e: Any) -> int:
    """How close an expression binds; a sum's closeness where a minus leads."""
    kind = e.function
    if kind == "Number":
        return 40 if e.value < 0 else _ATOM
    if kind == "Mul" and any(a.is_number and a.value < 0 for a in e.args):
        return 40
    return _BINDING.get(kind, _ATOM)


def python_text(e: Any, name_of: Callable[[Any], str]) -> str:
    """An expression as Python, with a name for each symbol; brackets as PyTorch's printer sets."""
    kind, parts = e.function, _arguments(e)

    def inside(a: Any, level: int) -> str:
        text = python_text(a, name_of)
        return f"({text})" if _binding(a) <= level else text

    if kind == "Symbol":
        return name_of(e)
    if kind == "Number":
        return str(e.value)
    if kind == "Not":
        return f"not ({python_text(parts[0], name_of)})"
    if kind == "Pow":
        return "*".join([inside(parts[0], 50)] * parts[1].value)
    if kind == "ModularIndexing":
        x, step, modulus = (inside(a, 999) for a in parts)
        return f"({x} % {modulus})" if step == "1" else f"(({x} // {step}) % {modulus})"
    if kind in _INFIX:
        between, level = _INFIX[kind]
        text = between.join(inside(a, _binding(e) if kind == "Mul" else level) for a in parts)
        return f"({text})" if kind == "FloatTrueDiv" else text
    texts = [python_text(a, name_of) for a in parts]
    if kind == "Piecewise":
        return f"({texts[0]} if {texts[1]} else {texts[2]})"
    called = _CALLED.get(kind) or "math." + kind.removeprefix("OpaqueUnaryFn_")
    return f"{called}({', '.join(texts)})"


class _Inputs:
    """The numbers of the inputs: (source, expression or number, constraint) each."""

    def __init__(self) -> None:
        self.rows: list[tuple[Source, Any, Any]] = []
        self.sources: dict[Any, list[Source]] = {}

    def number(self, source: Source, value: Any, constraint: Any = None) -> None:
        e = value.node.expr if isinstance(value, (SymInt, SymFloat)) else value
        if isinstance(e, Expr) and e.is_number:
            e = e.value
        self.rows.append((source, e, constraint))
        if isinstance(e, Expr) and e.is_symbol:
            self.sources.setdefault(e, []).append(source)
        elif isinstance(e, Expr) and (-e).is_symbol:
            self.sources.setdefault(-e, [])

    def tensor(self, source: Source, t: Any, context: Any) -> None:
        for prop, values, constraints in (
            (TensorProperty.SIZE, t.size(), getattr(context, "constraint_sizes", None)),
            (TensorProperty.STRIDE, t.stride(), getattr(context, "constraint_strides", None)),
        ):
            for i, value in enumerate(values):
                constraint = constraints[i] if constraints else None
                self.number(TensorPropertySource(source, prop, i), value, constraint)
        offset = TensorPropertySource(source, TensorProperty.STORAGE_OFFSET)
        self.number(offset, t.storage_offset())


def _collect(
    env: Any, placeholders: Sequence[Any], sources: Sequence[Any], contexts: Any
) -> _Inputs:
    if len(placeholders) != len(sources):
        raise AssertionError(f"len({placeholders}) != len({sources})")
    inputs = _Inputs()
    for i, (value, source) in enumerate(zip(placeholders, sources, strict=True)):
        context = contexts[i] if contexts is not None else None
        if isinstance(source, str):
            source = LocalSource(source)
        if isinstance(value, (SymInt, SymFloat, int, float)):
            inputs.number(source, value, getattr(context, "constraint", None))
        elif value is not None:
            inputs.tensor(source, value, context)
    return inputs


def produce(*args: Any, **kwargs: Any) -> list[str]:
    """Conditions on inputs under which the run holds for them, each as Python text.

    Raises:
        ConstraintViolationError: a guard says more than the inputs' constraints allow.
    """
    return list(_produced(*args, **kwargs))


class Texts(NamedTuple):
    """The guards in one of the ways to write them."""

    exprs: list[str]


def produce_verbose(*args: Any, langs: Sequence[str] = _WAYS, **kwargs: Any) -> list[Texts]:
    """The same plainly, and with the line that asked behind each.

    Raises:
        NotImplementedError: for a language other than these two.
    """
    if unknown := [lang for lang in langs if lang not in _WAYS]:
        raise NotImplementedError(f"Unknown lang: {unknown[0]}")
    found = _produced(*args, **kwargs)
    told = [text if line is None else f"{text}  # {line}" for text, line in found.values()]
    return [Texts(list(found) if lang == "python" else told) for lang in langs]


def _produced(
    env: Any,
    placeholders: Sequence[Any],
    sources: Sequence[Any],
    source_ref: Callable[[Source], str] = lambda source: source.name,
    *,
    guards: Sequence[Any] | None = None,
    input_contexts: Sequence[Any] | None = None,
    equalities_inputs: Any = None,
    _simplified: bool = False,
    ignore_static: bool = True,
) -> dict[str, Any]:
    """{text: (as it is told, the line that asked, None where no line did)}."""
    inputs = env._inputs = _collect(env, placeholders, sources, input_contexts)
    found: dict[str, Any] = {}

    def name_of(symbol: Any) -> str:
        known = inputs.sources.get(symbol) or env.var_to_sources.get(symbol)
        if not known:
            raise AssertionError(f"{symbol} is in no input, yet a guard speaks of it")
        return source_ref(known[0])

    _check_constraints(env, inputs, equalities_inputs)
    if not _simplified:
        for source, e, _ in inputs.rows:
            first = inputs.sources.get(e) if isinstance(e, Expr) else None
            if first and first[0] is source:
                continue
            if (
                not isinstance(e, Expr)
                and ignore_static
                and isinstance(source, TensorPropertySource)
            ):
                continue
            text = python_text(e, name_of) if isinstance(e, Expr) else str(e)
            equal = f"{source_ref(source)} == {text}"
            found.setdefault(equal, (equal, None))
    of_ranges = _of_ranges(env) if guards is None else None
    for guard in env.guards if guards is None else guards:
        e = env.simplify(guard.expr)
        if of_ranges is not None and of_ranges._maybe_evaluate_static(e) is not None:
            continue  # the ranges, which are told too, leave no other answer
        if all(inputs.sources.get(s) or env.var_to_sources.get(s) for s in e.free_symbols):
            text = python_text(e, name_of)
            found.setdefault(text, (text, guard.sloc))
    if guards is None:
        for s in inputs.sources:
            for text, told in _range_texts(env, s, name_of, _simplified):
                found.setdefault(text, (told, env.var_to_range_sloc.get(s)))
    return found


def _of_ranges(env: Any) -> Any:
    """A ShapeEnv that knows the symbols' ranges, and nothing else that was learnt."""
    found = type(env)()
    for row in env._rows():
        found._restore(row)
    return found


def _range_texts(
    env: Any, s: Any, name_of: Callable[[Any], str], simplified: bool
) -> list[tuple[str, str]]:
    """The symbol's range, if it has one: each end by itself, and told in one."""
    if s not in env.var_to_range or s in env.replacements:
        return []
    r, name = env.var_to_range[s], name_of(s)
    low, high = float(r.lower), float(r.upper)
    if simplified and low <= float(env._default_value_range().lower):
        low = -math.inf
    before = f"{r.lower} <= " if low != -math.inf else ""
    behind = f" <= {r.upper}" if high != math.inf else ""
    ends = [end for end, given in ((before + name, before), (name + behind, behind)) if given]
    return [(" and ".join(ends), before + name + behind)] if ends else []


def _check_constraints(env: Any, inputs: _Inputs, equalities: Any) -> None:
    wrong: list[str] = []
    for source, e, constraint in inputs.rows:
        if constraint is None or constraint.warn_only:
            continue
        if not isinstance(e, Expr) or not e.is_symbol:
            if isinstance(constraint, RelaxedUnspecConstraint) and e in (0, 1):
                continue
            became = f"a constant ({e})" if not isinstance(e, Expr) else f"{e}"
            wrong.append(
                f"You marked {source.name} as dynamic but your code specialized it to be {became}."
            )
        elif isinstance(constraint, StrictMinMaxConstraint):
            wrong += _beyond(env, source, e, constraint)
    if equalities is not None:
        for known in inputs.sources.values():
            wrong += [
                f"The values of {known[0].name} and {other.name} must always be equal."
                for other in known[1:]
                if not equalities.is_equal(known[0], other)
            ]
    if wrong:
        lines = "\n".join(f"  {i}. {text}" for i, text in enumerate(wrong, 1))
        raise ConstraintViolationError(f"Constraints violated!\n{lines}")


def _beyond(env: Any, source: Source, s: Any, constraint: StrictMinMaxConstraint) -> list[str]:
    """What guards say of a symbol beyond its range."""
    low, high = env._default_value_range().lower, constraint.vr.upper
    r = env.var_to_range[s]
    if r.lower > max(constraint.vr.lower, low) or r.upper < high:
        return [f"Not all values of {source.name} are in {r.lower} <= {source.name} <= {r.upper}."]
    return [
        f"Not all values of {source.name} satisfy the generated guard {g.expr} {g.sloc}."
        for g in env.guards
        if s in g.expr.free_symbols and env._maybe_evaluate_static(g.expr, axioms=()) is None
    ]


def bind(placeholders: Sequence[Any], args: Sequence[Any]) -> dict[Any, int]:
    """{symbol: number} from symbolic inputs and the real ones in their place."""
    found: dict[Any, int] = {}

    def number(value: Any, symbolic: Any) -> None:
        if not isinstance(symbolic, SymInt):
            return
        e = symbolic.node.expr
        if not e.is_symbol:
            e, value = -e, -value
        if e.is_symbol and found.setdefault(e, value) != value:
            raise AssertionError(f"{found[e]} != {value}")

    for symbolic, arg in zip(placeholders, args, strict=False):
        if isinstance(symbolic, SymInt):
            number(arg, symbolic)
        elif symbolic is not None:
            for values, symbols in (
                (arg.size(), symbolic.size()),
                (arg.stride(), symbolic.stride()),
            ):
                for value, symbol in zip(values, symbols, strict=True):
                    number(value, symbol)
            number(arg.storage_offset(), symbolic.storage_offset())
    return found
