"""`torch.utils._sympy.solve`: a condition of sympy's with one symbol alone on its left side."""

from typing import Any

import sympy

__all__ = ["INEQUALITY_TYPES", "mirror_rel_op", "try_solve"]

_MIRROR: dict[type, type] = {
    sympy.Eq: sympy.Eq,
    sympy.Ne: sympy.Ne,
    sympy.Ge: sympy.Le,
    sympy.Gt: sympy.Lt,
    sympy.Le: sympy.Ge,
    sympy.Lt: sympy.Gt,
}
INEQUALITY_TYPES = (sympy.Gt, sympy.Ge, sympy.Lt, sympy.Le)


def mirror_rel_op(type: type) -> Any:
    """The relation of the sides in the other order; None for what is none."""
    return _MIRROR.get(type)


def try_solve(
    expr: Any, thing: Any, trials: int = 5, floordiv_inequality: bool = True
) -> tuple[Any, Any] | None:
    """(the condition with `thing` alone on the left, its right side), or None.

    Args:
        trials: how many steps are tried.
        floordiv_inequality: a quotient rounded down becomes an inequality without it, where its
            divisor is positive and the other side whole.
    """
    mirror = mirror_rel_op(type(expr))
    if mirror is None or expr.lhs.has(thing) == expr.rhs.has(thing):
        return None
    e = expr if expr.lhs.has(thing) else mirror(expr.rhs, expr.lhs)
    for _ in range(trials):
        before, e = e, _divided(_moved(e, thing), thing)
        if floordiv_inequality:
            e = _without_floor(e)
        if e == before or not isinstance(e, sympy.Rel):
            break
    return (e, e.rhs) if isinstance(e, sympy.Rel) and e.lhs == thing else None


def _moved(e: Any, thing: Any) -> Any:
    """Terms without `thing` go to the right."""
    terms = e.lhs.args if isinstance(e.lhs, sympy.Add) else ()
    others = sum(term for term in terms if not term.has(thing))
    return type(e)(e.lhs - others, e.rhs - others)


def _divided(e: Any, thing: Any) -> Any:
    """Factors without `thing` go to the right, where their sign is known or does not matter."""
    if not isinstance(e, sympy.Rel) or not isinstance(e.lhs, sympy.Mul):
        return e
    other = sympy.Mul(*(factor for factor in e.lhs.args if not factor.has(thing)))
    ordered = isinstance(e, INEQUALITY_TYPES)
    if other.is_negative is None if ordered else e.rhs.is_zero:
        return e
    relation = mirror_rel_op(type(e)) if ordered and other.is_negative else type(e)
    return relation(e.lhs / other, e.rhs / other)


def _without_floor(e: Any) -> Any:
    """`a // b < c` as `a < b * c`, and its like, for b above 0 and a whole c."""
    if not isinstance(e, sympy.Rel) or type(e.lhs).__name__ not in ("FloorDiv", "CleanDiv"):
        return e
    a, b = e.lhs.args
    if not b.is_positive or not e.rhs.is_integer:
        return e
    least, beyond = e.rhs * b, (e.rhs + 1) * b
    match e:
        case sympy.Eq():
            return sympy.And(sympy.Ge(a, least), sympy.Lt(a, beyond))
        case sympy.Ne():
            return sympy.Or(sympy.Lt(a, least), sympy.Ge(a, beyond))
        case sympy.Ge() | sympy.Gt():
            return sympy.Ge(a, least if isinstance(e, sympy.Ge) else beyond)
        case _:
            return sympy.Lt(a, least if isinstance(e, sympy.Lt) else beyond)
