"""The guards of a run as `DimConstraints`: over sympy's symbols, with the sources of dimensions.

Between `ShapeEnv.dim_constraints` and `dim_constraints`, which knows neither guards nor inputs.
"""

from typing import Any

import sympy

from dispatch.symbolic.dim_constraints import DimConstraints
from dispatch.symbolic.expr import Expr
from dispatch.symbolic.sources import TensorProperty, TensorPropertySource

__all__ = ["of_run"]


def _is_dim(source: Any) -> bool:
    return isinstance(source, TensorPropertySource) and source.prop is TensorProperty.SIZE


def of_run(env: Any, inputs: Any) -> DimConstraints:
    """What `env` guards on for `inputs` (those of `guard_text`), not yet solved."""
    of = {s: s.sympy() for s in inputs.sources}
    found = DimConstraints(
        {of[s]: list(sources) for s, sources in inputs.sources.items() if sources},
        {of[s]: sympy.Integer(v) for s, v in env.backed_var_to_val.items() if s in of},
        {of[e] for _, e, constraint in inputs.rows if constraint is not None and e in of},
        env.source_name_to_debug_name,
    )
    for source, e, _ in inputs.rows:
        if not _is_dim(source) or (e in of and inputs.sources[e][0] is source):
            continue
        if isinstance(e, Expr):
            found.add_equality(source, e.sympy())
    guards = [g.expr for g in env.guards]
    guards += [a.expr for a in env.deferred_runtime_asserts.get(None, ())]
    dims = {s for s, sources in inputs.sources.items() if any(map(_is_dim, sources))}
    for guard in guards:
        e = env.simplify(guard)
        if e.free_symbols & dims and e.free_symbols <= of.keys():
            found.add(e.sympy())
    for s in dims:
        r = env.var_to_range.get(s)
        if r is not None:
            low, high = float(r.lower), float(r.upper)
            if low != -float("inf"):
                found.add(sympy.Ge(of[s], int(r.lower)))
            if high != float("inf"):
                found.add(sympy.Le(of[s], int(r.upper)))
    return found
