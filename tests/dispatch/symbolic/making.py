"""What the tests of symbolic numbers share: a ShapeEnv's symbols, and random programs."""

from typing import Any

from hypothesis import strategies as st

from dispatch.symbolic import ConstantSource, DimDynamic, ShapeEnv, sym_max, sym_min

__all__ = ["PROGRAMS", "run", "size"]

_INTS = st.integers(-6, 12)
_OPERATIONS = ("+", "-", "*", "//", "%", "min", "max", "neg", "abs", "**2")
# Steps of (operation, index of an earlier value, index or number): values begin with the symbols.
PROGRAMS = st.lists(
    st.tuples(
        st.sampled_from(_OPERATIONS),
        st.integers(0, 9),
        st.one_of(
            st.tuples(st.just("value"), st.integers(0, 9)), st.tuples(st.just("number"), _INTS)
        ),
    ),
    min_size=1,
    max_size=7,
)


def size(env: ShapeEnv, value: int, name: str) -> Any:
    """A SymInt that is `value` in this run."""
    symbol = env.create_symbol(value, ConstantSource(name), DimDynamic.DYNAMIC)
    return env.create_symintnode(symbol, hint=value)


def _step(operation: str, a: Any, b: Any) -> Any:
    if operation == "neg":
        return -a
    if operation == "abs":
        return abs(a)
    if operation == "**2":
        return a**2
    if operation == "min":
        return sym_min(a, b)
    if operation == "max":
        return sym_max(a, b)
    if operation in ("//", "%"):
        return a // b if operation == "//" else a % b
    return a + b if operation == "+" else a - b if operation == "-" else a * b


def run(program: list[Any], symbols: list[Any]) -> list[Any]:
    """The values of all steps, the symbols first; a step that divides by 0 gives its argument."""
    values = list(symbols)
    for operation, i, (kind, j) in program:
        a = values[i % len(values)]
        b = values[j % len(values)] if kind == "value" else j
        try:
            values.append(_step(operation, a, b))
        except ZeroDivisionError:
            values.append(a)
    return values
