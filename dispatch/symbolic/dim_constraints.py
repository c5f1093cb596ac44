"""What the guards of a run say of its dimensions, solved: which are numbers, which lie in a range.

`ShapeEnv.produce_guards` leaves one in `dim_constraints`; guards come in as sympy's (`add`),
solutions go out as Python text over sources, and as declarations of dimensions that would have held
(`prettify_results`). Names and behaviour are those of `torch.fx.experimental.symbolic_shapes`.
sympy is imported with this module, and this module when somebody asks for it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import sympy
from sympy.core.function import Application
from sympy.ntheory.modular import solve_congruence
from sympy.printing.str import StrPrinter
from sympy.solvers.inequalities import reduce_inequalities

from dispatch.symbolic.dim_fixes import Fixes, dims_of
from dispatch.symbolic.sources import ConstantSource, Source
from dispatch.symbolic.sympy_bridge import sympy_class

__all__ = ["DimConstraints", "DynamicDimConstraintPrinter"]

# What becomes division without a remainder, once it is known; of other functions nothing is solved.
_DIVISIONS = ("Mod", "PythonMod", "FloorDiv")
_RELATIONS = {"==": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class DynamicDimConstraintPrinter(StrPrinter):
    """Prints a solution as Python, with the first source of each symbol in its place."""

    def __init__(
        self,
        symbol_to_source: dict[Any, list[Source]],
        source_name_to_debug_name: Mapping[str, str],
    ) -> None:
        super().__init__()
        self.symbol_to_source = symbol_to_source
        self.source_name_to_debug_name = source_name_to_debug_name

    def _print_Symbol(self, expr: Any) -> str:
        sources = self.symbol_to_source.get(expr)
        if not sources:
            raise AssertionError(f"Unknown symbol {expr} created by constraints solver")
        return sources[0].name

    _print_Dummy = _print_Symbol

    def _print_Relational(self, expr: Any) -> str:
        sign = _RELATIONS[expr.rel_op]
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"

    def _print_Mod(self, expr: Any) -> str:
        return f"({self._print(expr.args[0])}) % ({self._print(expr.args[1])})"

    _print_PythonMod = _print_Mod

    def _print_FloorDiv(self, expr: Any) -> str:
        return f"({self._print(expr.args[0])}) // ({self._print(expr.args[1])})"


class DimConstraints:
    """Guards by the symbols in them, and what follows for each symbol alone.

    Args:
        symbol_to_source: where each symbol comes from; the first source names it.
        var_to_val: the numbers of the run.
        marked_dynamic: symbols that somebody wanted to stay symbols.
        source_name_to_debug_name: what the user calls a source.
    """

    def __init__(
        self,
        symbol_to_source: dict[Any, list[Source]],
        var_to_val: Mapping[Any, Any],
        marked_dynamic: Iterable[Any],
        source_name_to_debug_name: Mapping[str, str],
    ) -> None:
        self._var_to_val = var_to_val
        self._marked_dynamic = set(marked_dynamic)
        self._dcp = DynamicDimConstraintPrinter(symbol_to_source, source_name_to_debug_name)
        self._univariate_inequalities: defaultdict[Any, set[Any]] = defaultdict(set)
        self._multivariate_inequalities: set[Any] = set()
        self._congruences: defaultdict[Any, set[Any]] = defaultdict(set)  # each is 0
        self._symbols_with_equalities: set[Any] = set()
        self._substitutions: dict[Any, Any] = {}
        self._symbolic_equivalences: list[tuple[Source, Any]] = []
        self._static_results: set[str] = set()
        self._dynamic_results: set[str] = set()
        self._inconsistencies: list[str] = []

    # --- taking in

    def add(self, expr: Any) -> bool:
        """Takes a guard in; whether it says nothing."""
        if expr == sympy.true:
            return True
        if expr.xreplace(self._var_to_val) == sympy.false:
            self._inconsistencies.append(f"{expr} is inconsistent!")
        if isinstance(expr, (sympy.Ne, sympy.Or, sympy.And)) or _has_other_functions(expr):
            return False
        if not expr.free_symbols:
            raise AssertionError(f"Did not expect constraint with no free variables: {expr}")
        if len(expr.free_symbols) > 1:
            self._multivariate_inequalities.add(expr)
            return False
        return self._add_univariate(expr)

    def _add_univariate(self, expr: Any) -> bool:
        (s,) = expr.free_symbols
        before = len(self._congruences[s])
        found = self.rewrite_with_congruences(s, expr)
        if found == sympy.true:
            return before == len(self._congruences[s])
        if found.xreplace(self._var_to_val) == sympy.false:
            self._inconsistencies.append(
                f"{found}, obtained by rewriting {expr} with congruences, is inconsistent!"
            )
        if isinstance(found, sympy.Eq):
            self._symbols_with_equalities.add(s)
        self._univariate_inequalities[s].add(found)
        return False

    def add_equality(self, source: Source, expr: Any) -> None:
        """What a source of the inputs is: a number, or an expression of other sources' symbols."""
        if expr.is_number:
            self._static_results.add(f"{source.name} == {expr}")
        else:
            self._symbolic_equivalences.append((source, expr))

    def rewrite_with_congruences(self, s: Any, expr: Any) -> Any:
        """`//` and `%` as division, with the remainder of this run as a congruence."""

        def remainder(base: Any, divisor: Any) -> tuple[Any, Any, Any]:
            base = self.rewrite_with_congruences(s, base)
            divisor = self.rewrite_with_congruences(s, divisor)
            rest = base.xreplace(self._var_to_val) % divisor.xreplace(self._var_to_val)
            congruence = (base - rest) % divisor
            if congruence != 0:
                self._congruences[s].add(congruence)
            return base, divisor, rest

        def quotient(base: Any, divisor: Any) -> Any:
            base, divisor, rest = remainder(base, divisor)
            return (base - rest) / divisor

        for kind in (sympy.Mod, sympy_class("Mod"), sympy_class("PythonMod")):
            if expr.has(kind):
                expr = expr.replace(kind, lambda *args: remainder(*args)[2])
        division = sympy_class("FloorDiv")
        return expr.replace(division, quotient) if expr.has(division) else expr

    # --- solving

    def solve(self) -> None:
        """Finds what all guards together say of each symbol.

        Raises:
            ValueError: the guards do not hold for the numbers of this run.
        """
        self._raise_inconsistencies()
        while self._symbols_with_equalities:
            self._solve_equality(self._symbols_with_equalities.pop())
        for s, congruences in self._reduce_congruences().items():
            for congruence in congruences:
                self._solve_congruence(s, congruence)
        for s, exprs in self._univariate_inequalities.items():
            self._dynamic_results.update(self._range_of(s, exprs))
        parked, self._symbolic_equivalences = self._symbolic_equivalences, []
        for source, expr in parked:
            self.add_equality(source, expr.xreplace(self._substitutions))
        for source, expr in self._symbolic_equivalences:
            self._dynamic_results.add(f"{source.name} == {self._dcp.doprint(expr)}")

    def _solve_equality(self, s: Any) -> None:
        """A symbol with an equality of its own is a number; others may then stand alone."""
        solution = reduce_inequalities(self._univariate_inequalities.pop(s), s)
        if isinstance(solution, sympy.And):
            solution = next((a for a in solution.args if isinstance(a, sympy.Eq)), solution)
        if not isinstance(solution, sympy.Eq) or solution.lhs != s:
            raise AssertionError(f"Expected an equality constraint for {s}, got {solution}")
        self._substitutions[s] = solution.rhs
        name = self._dcp.symbol_to_source[s][0].name
        self._static_results.add(f"{name} == {solution.rhs}")
        parked, self._multivariate_inequalities = self._multivariate_inequalities, set()
        for expr in parked:
            self.add(expr.xreplace({s: solution.rhs}))
        self._raise_inconsistencies()

    def _reduce_congruences(self) -> dict[Any, set[Any]]:
        """The linear congruences of each symbol as one; others that it does not answer."""
        found: dict[Any, set[Any]] = {}
        whole = sympy.Symbol("quotient", integer=True)
        for s, congruences in self._congruences.items():
            pairs, others = [], set()
            for congruence in congruences:
                base, divisor = congruence.args
                symbol, solution = sympy.solve_linear(base - divisor * whole, symbols=[s])
                modulus, rest = sympy.div(solution, whole) if symbol == s else (None, None)
                if isinstance(modulus, sympy.Integer) and isinstance(rest, sympy.Integer):
                    pairs.append((rest % modulus, modulus))
                else:
                    others.add(congruence)
            if pairs:
                rest, modulus = solve_congruence(*pairs)
                known = {s: modulus * whole + rest}
                others = {c for c in others if not sympy.checksol(c, known)}
                others.add((s - rest) % modulus)
            found[s] = others
        return found

    def _solve_congruence(self, s: Any, congruence: Any) -> None:
        """s + a divisible by b: s is b*_s - a for a new dimension _s."""
        if s in self._substitutions and sympy.checksol(congruence, {s: self._substitutions[s]}):
            return
        base, divisor = congruence.args
        if not isinstance(divisor, sympy.Integer) or not (base - s).is_Integer:
            return
        name = self._dcp.symbol_to_source[s][0].name
        name = "_" + str(self._dcp.source_name_to_debug_name.get(name, name))
        root = sympy.Symbol(name, integer=True)
        self._dcp.symbol_to_source[root] = [ConstantSource(name)]
        text = self._dcp.doprint(sympy.Eq(s, divisor * root - (base - s), evaluate=False))
        self._dynamic_results.add(text)

    def _range_of(self, s: Any, exprs: set[Any]) -> list[str]:
        """The inequalities of one symbol, as few as sympy finds, else as they are."""
        try:
            solution = reduce_inequalities(exprs, s)
            if isinstance(solution, sympy.Or):
                solution = next(a for a in solution.args if a.xreplace(self._var_to_val))
            parts = solution.args if isinstance(solution, sympy.And) else (solution,)
            return [self._dcp.doprint(part) for part in parts]
        except (NotImplementedError, AssertionError):
            return [self._dcp.doprint(expr) for expr in exprs]

    def _raise_inconsistencies(self) -> None:
        if self._inconsistencies:
            text = "\n".join(self._inconsistencies)
            self._inconsistencies.clear()
            raise ValueError(f"The following inconsistencies were found:\n{text}")

    # --- giving out

    def forced_specializations(self) -> dict[str, Any]:
        """{source: number} of symbols that were to stay symbols, as the user calls the source."""
        names = self._dcp.source_name_to_debug_name

        def called(source: Source) -> str:
            return f"{names[source.name]} = {source.name}" if names else source.name

        return {
            called(self._dcp.symbol_to_source[s][0]): value
            for s, value in self._substitutions.items()
            if s in self._marked_dynamic
        }

    def prettify_results(
        self,
        original_signature: Any,
        dynamic_shapes: Any,
        constraint_violation_error: Any,
        forced_specializations: Mapping[str, Any],
    ) -> str:
        """The declarations of dimensions that would have held, one a line; "" when there are none.

        `dynamic_shapes` is a nest of the dimensions that were declared: objects with `__name__`,
        `min`, `max`, and with `root` and `fn` when they are computed from another.
        """
        names = self._dcp.source_name_to_debug_name
        if not names:
            return ""
        dims = dims_of(dynamic_shapes)
        text = _forced_text(forced_specializations, dims)
        fixes = Fixes(dims)
        for line in self._static_results | self._dynamic_results:
            called = _renamed(line, names)
            if called != line:
                fixes.take(*re.split(r" (==|<=|>=|<|>) ", called))
        sources = {name: source for source, name in names.items()}
        lines = fixes.lines(order=lambda name: _renamed(name, sources))
        return text + "\nSuggested fixes:\n  " + "\n  ".join(lines) if lines else text


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for name, other in names.items():
        text = text.replace(name, other)
    return text


def _has_other_functions(expr: Any) -> bool:
    return any(type(f).__name__ not in _DIVISIONS for f in expr.atoms(Application))


def _forced_text(forced: Mapping[str, Any], dims: Mapping[str, Any]) -> str:
    if not forced:
        return ""
    named = [dims[key.split(" = ")[0]] for key in forced]
    roots = sorted({getattr(dim, "root", dim).__name__ for dim in named})
    lines = [
        f"  - solving the guards generated for {key} resulted in a specialized value of {value}.\n"
        for key, value in sorted(forced.items(), key=lambda item: item[0].split(" = ")[1])
    ]
    head = f"Specializations unexpectedly required ({', '.join(roots)})!\n"
    return head + "".join(lines)
