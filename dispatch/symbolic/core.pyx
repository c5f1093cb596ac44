# cython: nonecheck=True, boundscheck=True
"""What a ShapeEnv knows, and how it learns: deciding a condition from ranges, guarding on the hint where they do not, drawing
conclusions.

`numbers` and the calls of `dispatch._C.symbolic` come here with conditions; what comes out of a guard goes into the nodes
(`expr`): ranges of symbols, bounds of sums, excluded values, replacements. A condition that has been answered once is answered
from its node. Invariant: what is recorded holds wherever all guards hold, so an answer never needs to be taken back.
"""
import math
import sys
from collections import Counter

cimport cython
from cpython.dict cimport PyDict_SetItem

from dispatch._C.stack cimport check_depth
from dispatch._C.symbolic cimport symbolic_calls
from dispatch.symbolic import config
from dispatch.symbolic.bounds cimport bounds_of, intersection
from dispatch.symbolic.deciding cimport condition, decide, known_value, shared_symbols, shifted
from dispatch.symbolic.division cimport divided_exactly
from dispatch.symbolic.errors import ConstraintViolationError, GuardOnDataDependentSymNode, ShapeEnvGuardError, ValueRangeError
from dispatch.symbolic.expr cimport (
    Expr, H_KNOWN, S_FLOAT, S_SIZE, S_UNBACKED, Table, hint_of, hooks, range_of, substituted, sympify,
)
from dispatch.symbolic.operations cimport *
from dispatch.symbolic.provenance import RuntimeAssert, ShapeGuard, here, suppressed
from dispatch.symbolic.ranges cimport ValueRanges, new_range
from dispatch.symbolic.rules cimport Condition, condition_of, expand, replaced, target_of

cdef double INF = math.inf
cdef enum:
    SOLVED = 5                           # symbols: a condition on more is not solved for one of them

@cython.no_gc_clear                      # the table is told of the end
cdef class Core:
    """The compiled part of a ShapeEnv."""

    def __cinit__(self, *args, **kwargs):
        symbolic_calls.in_use = True             # sizes get their handles by an environment
        self.table = Table()
        self.table.owner = <void*>self
        self.guards = []
        self.targets, self.replacements_slocs, self.deferred_runtime_asserts = {}, {}, {}
        self.facts, self.replaced_now = {}, []
        self.backed_var_to_val, self.var_to_range_sloc, self.var_to_sources = {}, {}, {}
        self.ranges = Ranges()
        self.size_like, self.unbacked_inputs = set(), set()
        self.symbol_guard_counter = Counter()
        self.real_tensor_prop_unbacked_vals, self.unbacked_renamings = {}, {}

    def __del__(self):
        if self.table is not None:
            self.table.close()

    def __dealloc__(self):
        if self.table is not None:
            self.table.owner = NULL      # a subclass may have a `__del__` of its own

    @property
    def replacements(self):
        """{symbol: what stands for it}, with the replacements of the symbols in that."""
        cdef Expr s
        for s in self.targets:
            self.targets[s] = target_of(s)
        return self.targets

    @property
    def var_to_range(self):
        """{symbol: ValueRanges}, a dict that passes entries on to the symbols; of a replaced one, also as what replaced it says."""
        cdef Expr s
        cdef tuple of_target
        if self.targets and self.ranges_state != self.table.state:
            for s in self.targets:
                known = self.ranges.get(s)
                if known is None:
                    continue
                of_target = range_of(target_of(s))
                low, high = max((<ValueRanges>known).low, of_target[0]), min((<ValueRanges>known).high, of_target[1])
                if (low, high) != ((<ValueRanges>known).low, (<ValueRanges>known).high) and low <= high:
                    s.bounds = (low, high)
                    PyDict_SetItem(self.ranges, s, new_range(low, high, s.kind == K_INT))
            self.ranges_state = self.table.state
        return self.ranges

    @property
    def _version_counter(self):
        return self.table.state

    @property
    def _replacements_version_counter(self):
        return self.table.replacements

    # --- what is asked

    cdef int ask(self, int question, Expr e) except -1:
        """A condition, by `Question`."""
        cdef int found
        if e.table.replacements:
            e = replaced(e)
        found = decide(e)
        if found >= 0:
            return found
        if question == Q_KNOWN:
            return 0
        if question == Q_EXPECT:
            return self.expect(e, "")
        return self.value(e, None if question == Q_GUARD else question == Q_OR_TRUE, False)

    cdef object value(self, Expr e, object fallback, bint size_oblivious):
        """What the expression is in this run, guarded on. A condition without a hint gives `fallback`, or raises without one."""
        cdef int found
        cdef object concrete
        cdef Expr g
        cdef Table t = self.table
        e = replaced(e)
        if e.kind == K_BOOL:
            found = decide(e)
            if found < 0 and size_oblivious:
                found = decide(self.oblivious(e))
            if found >= 0:
                return bool(found)
        else:
            concrete = known_value(e)
            if concrete is not None:
                return concrete
        check_comparable(e)
        if e.unbacked:
            e = self.backed_form(e)
            if e.unbacked:
                concrete = self.last_resort(e)
                if concrete is not None:
                    return concrete
                if fallback is not None:
                    return fallback
                raise self._make_data_dependent_error(e)
        if fallback is not None and config.backed_size_oblivious:
            return fallback
        concrete = hint_of(e)
        if e.kind == K_BOOL:
            g = e if concrete else t.negate(e)
        else:
            g = t.build(OP_EQ, [e, t.number(concrete)])
        if self._error_on_new_guards:
            raise ShapeEnvGuardError(f"Guard attempted while ShapeEnv guards are frozen: {e} == {concrete}")
        if suppressed.depth == 0:
            sloc = here()
            self.learn(g, sloc)
            self.guards.append(ShapeGuard(g, sloc, size_oblivious))
            if self.recorder is not None:
                self.recorder("evaluate_expr", g)
            self.count_guard(g)
        return concrete

    cdef int count_guard(self, Expr g) except -1:
        """Count a guard for each of its symbols: one with more than `config` allows becomes its number."""
        limit = config.symbol_guard_limit_before_specialize
        for s in g.free_symbols:
            self.symbol_guard_counter[s] += 1
            if limit is not None and self.symbol_guard_counter[s] > limit:
                self.value(<Expr?>s, None, False)
        return 0

    cdef Expr backed_form(self, Expr e):
        """The condition without the unbacked symbols that cancel."""
        cdef Condition c
        if is_relation(e.op) and (<Expr>e.args[0]).kind == K_INT and (<Expr>e.args[1]).kind == K_INT:
            c = condition(e)
            if c.form is not None and not c.form.unbacked:
                return self.table.build(c.relation, [c.form, self.table.number(c.bound)])
        return e

    cdef object last_resort(self, Expr e):
        """By a value that a real run gave an unbacked symbol: it becomes a runtime assert."""
        values = self.real_tensor_prop_unbacked_vals
        if not values:
            return None
        rule = {s: self.table.number(v) for s, v in values.items()}
        found = hint_of(replaced(substituted(e, rule, {})))
        if found is not None:
            condition = e
            if found is not True:
                condition = self.table.negate(e) if found is False else self.table.build(OP_EQ, [e, self.table.number(found)])
            self.expect(condition, f"propagate_real_tensors: {e} == {found}")
        return found

    cdef Expr oblivious(self, Expr e):
        """Over size-like symbols that are at least 2 and below 2**48."""
        cdef Expr s, other
        cdef dict rule = {}
        cdef Table t = self.table
        for s in e.free_symbols:
            if s in self.size_like:
                low, high = range_of(s)
                low, high = max(2, low), min(2 ** 48, high)
                if low <= high:
                    other = t.symbol(f"_{s.value}_size_{low}", K_INT, S_SIZE, False)
                    other.assumed = (2, INF)
                    other.bounds, other.bounds_state = (low, high - 1 if high > low else high), 0
                    rule[s] = other
        return substituted(e, rule, {}) if rule else e

    cdef int expect(self, Expr e, str msg) except -1:
        """It must hold: a guard when all symbols have hints, else a runtime assert. False when it is known not to."""
        cdef int found
        cdef Expr form
        e = replaced(e)
        found = decide(e)
        if found >= 0:
            return found
        form = self.backed_form(e) if e.unbacked else e
        check_comparable(e)
        if not form.unbacked and not self.prefer_deferred_runtime_asserts_over_guards:
            return self.value(form, None, False)
        if suppressed.depth:
            return 1
        if self._error_on_new_guards:
            raise ShapeEnvGuardError(f"Guard attempted while ShapeEnv guards are frozen: {e}")
        sloc = here()
        self.learn(e, sloc)
        unbacked = [s for s in e.free_symbols if s not in self.backed_var_to_val]
        last = max(unbacked, key=age_of_name) if unbacked else None
        self.deferred_runtime_asserts.setdefault(last, []).append(RuntimeAssert(self.canonical(e), msg, sloc))
        self.num_deferred_runtime_asserts += 1
        if self.recorder is not None:
            self.recorder("guard_or_defer_runtime_assert", e, msg)
        return 1

    cdef Expr canonical(self, Expr e):
        """Comparisons as < and <=, terms on the side where they are positive."""
        cdef Table t = self.table
        cdef Expr gap
        cdef int op = e.op
        cdef list sides
        if op == OP_AND or op == OP_OR:
            return t.build(op, [self.canonical(<Expr>a) for a in e.args])
        if not is_relation(op) or (<Expr>e.args[0]).kind == K_BOOL:
            return e
        gap = t.sum_of([e.args[1], t.scaled(e.args[0], -1)])
        if op == OP_GT or op == OP_GE:
            gap, op = t.scaled(gap, -1), mirrored(op)
        sides = [[], []]
        for term in (gap.args if gap.op == OP_ADD else (gap,)):
            negative = (<Expr>term).value < 0 if (<Expr>term).op == OP_NUMBER else (<Expr>term).coeff < 0
            sides[0 if negative else 1].append(t.scaled(term, -1) if negative else term)
        return t.intern(op, tuple([t.sum_of(side) if side else t.number(0) for side in sides]), K_BOOL)

    # --- what a condition that holds says

    cdef int learn(self, Expr g, object sloc) except -1:
        """What it says, and what older conditions say of the symbols that it replaces."""
        cdef Expr s, e, now
        self.take_in(g, sloc)
        while self.replaced_now:
            s = self.replaced_now.pop()
            for e in self.facts.pop(s, ()):
                now = replaced(e)
                hint = hint_of(now)
                if hint is None or e.lower <= hint <= e.upper:   # runtime asserts may contradict the run's own numbers
                    self.narrow(now, e.lower, e.upper, sloc, 0)
        return 0

    cdef int take_in(self, Expr g, object sloc) except -1:
        cdef Table t = self.table
        cdef Condition c
        cdef Expr other
        cdef tuple r
        t.state += 1
        g.answer = 1
        if g.op != OP_BOOL:
            other = t.negate(g)
            if other.op != OP_BOOL:
                other.answer = 0
        if g.op == OP_AND:
            for a in g.args:
                self.take_in(<Expr>a, sloc)
            return 0
        if g.op == OP_NOT and (<Expr>g.args[0]).op == OP_OR:
            for a in (<Expr>g.args[0]).args:
                self.take_in(t.negate(<Expr>a), sloc)
            return 0
        if not is_relation(g.op) or (<Expr>g.args[0]).kind == K_BOOL:
            return 0
        if g.op == OP_EQ and (<Expr>g.args[0]).op == OP_SYMBOL and (<Expr>g.args[1]).op == OP_NUMBER and g.args[0].kind == K_INT:
            value = (<Expr>g.args[1]).value
            return self.set_range(g.args[0], value, value, sloc)
        if (<Expr>g.args[0]).kind == K_INT and (<Expr>g.args[1]).kind == K_INT:
            c = condition(g)
            if c.form is not None:
                if c.relation == OP_NE:
                    if c.form.excluded is None:
                        c.form.excluded = set()
                    r = range_of(c.form)
                    c.form.excluded.add(c.bound)
                    if c.form.op == OP_SYMBOL:
                        self.set_range(c.form, r[0], r[1], sloc)
                else:
                    self.narrow(c.form, -INF if c.relation == OP_LE else c.bound, INF if c.relation == OP_GE else c.bound, sloc, 0)
        else:
            other = t.intern(mirrored(g.op), (g.args[1], g.args[0]), K_BOOL)
            other.answer = 1
            t.negate(other).answer = 0
        if g.op == OP_EQ:
            self.solve(g, sloc)
        return 0

    cdef int narrow(self, Expr e, object low, object high, object sloc, int depth) except -1:
        """The expression lies in [low, high]: what follows for its parts."""
        cdef Table t = self.table
        cdef tuple r = range_of(e), other
        cdef Expr a, b
        low, high = low if low > r[0] else r[0], high if high < r[1] else r[1]
        if e.op == OP_NUMBER or low > high or depth > 8:
            return 0
        if e.op == OP_SYMBOL:
            self.set_range(e, low, high, sloc)
            return 0
        if low == r[0] and high == r[1]:
            return 0
        if e.lower is None and len(e.free_symbols) <= SOLVED:
            for s in e.free_symbols:
                self.facts.setdefault(s, []).append(e)
        e.lower, e.upper = low, high
        t.state += 1
        if e.op == OP_ADD:
            for a in e.args[:32]:
                self.narrow(a, less(low, rest_of(e, a, 1)), less(high, rest_of(e, a, 0)), sloc, depth + 1)
        elif e.op == OP_MUL and e.rest is not None and type(e.coeff) is int:
            if e.coeff < 0:
                low, high = -high, -low
            by = abs(e.coeff)
            self.narrow(e.rest, low if low == -INF else -(-low // by), high if high == INF else high // by, sloc, depth + 1)
        elif e.op == OP_MUL and e.kind == K_INT:
            for a in e.args:
                other = bounds_of(OP_MUL, [range_of(<Expr>x) for x in e.args if x is not a] or [(1, 1)], True)
                if other[0] >= 1 and range_of(a)[0] >= 0:
                    self.narrow(a, -(-low // other[1]) if low > 0 and other[1] != INF else 1 if low > 0 else 0, high
                            if high == INF else high // other[0], sloc, depth + 1)
        elif e.op == OP_FLOORDIV:
            a, b = e.args
            if b.op == OP_NUMBER and b.value > 0:
                self.narrow(a, low if low == -INF else low * b.value, high if high == INF else high * b.value + b.value - 1, sloc,
                        depth + 1)
        elif e.op == OP_MAX:
            for a in e.args:
                self.narrow(a, -INF, high, sloc, depth + 1)
        elif e.op == OP_MIN:
            for a in e.args:
                self.narrow(a, low, INF, sloc, depth + 1)
        return 0

    cdef int set_range(self, Expr s, object low, object high, object sloc) except -1:
        """Intersects a symbol's range; at one number it is replaced by it."""
        cdef tuple r
        self.intersect_range(s, low, high, sloc)
        r = range_of(s)
        if r[0] == r[1] and s.target is None and s.kind == K_INT:
            self.set_replacement(s, self.table.number(r[0]), sloc)
        return 0

    cdef int intersect_range(self, Expr s, object low, object high, object sloc) except -1:
        cdef tuple r = range_of(s)
        if s.excluded is not None:
            while low in s.excluded and low < high:
                low = low + 1
            while high in s.excluded and low < high:
                high = high - 1
        low, high = low if low > r[0] else r[0], high if high < r[1] else r[1]
        if high < 2 and s in self.size_like:
            high = max(2, low)
        if low > high:
            return 0
        if low != r[0] or high != r[1] or (low, high) != s.bounds:
            s.bounds = (low, high)
            self.table.state += 1
            PyDict_SetItem(self.ranges, s, new_range(low, high, s.kind == K_INT))
            self.var_to_range_sloc[s] = sloc
            if s.hinted == H_KNOWN and not low <= s.hint <= high:
                raise AssertionError(f"{s.hint} not in {self.ranges[s]}")
        return 0

    cdef int set_replacement(self, Expr s, Expr target, object sloc) except -1:
        """`target` takes the symbol's place, unless that forgets a bound of the symbol."""
        cdef Table t = self.table
        cdef tuple source, bound
        if s.target is target or s in target.free_symbols:
            return 0
        if self.prefer_deferred_runtime_asserts_over_guards and not supported(target):
            return 0
        if s.kind == K_INT and s in self.ranges:
            source = range_of(s)
            bound = range_of(target)
            if target.op != OP_NUMBER:
                self.set_range(s, bound[0], bound[1], sloc)
                source = range_of(s)
                if bound[0] < source[0] or bound[1] > source[1]:
                    self.narrow(target, source[0], source[1], sloc, 0)
                    if target.op != OP_SYMBOL:
                        bound = bounds_of(target.op, [range_of(<Expr>a) for a in target.args], True)
                    else:
                        bound = range_of(target)
                    if bound[0] < source[0] or bound[1] > source[1]:
                        return 0
            if target.op == OP_SYMBOL:
                if s in self.size_like:
                    self.size_like.add(target)
                elif target in self.size_like:
                    self.size_like.add(s)
        if self.replace_by(s, target):
            self.replacements_slocs.setdefault(s, sloc)
        return 0

    cdef bint replace_by(self, Expr s, Expr target) except -1:
        """Enters a replacement; not one that has the symbol in it, itself or by other replacements: nothing would end."""
        cdef Expr found = replaced(target)
        if s.op != OP_SYMBOL or s.table is not self.table or s in found.free_symbols:
            return False
        s.target = self.targets[s] = found
        if s in self.facts:
            self.replaced_now.append(s)
        self.table.replacements += 1
        self.table.state += 1
        return True

    cdef int solve(self, Expr g, object sloc) except -1:
        """An equality gives a symbol its replacement, or says that something divides."""
        cdef Expr a = g.args[0], b = g.args[1], s
        cdef Table t = self.table
        cdef Condition c
        if len(g.free_symbols) > SOLVED:
            return 0
        nodes = g.atoms()
        for e in nodes:
            if (<Expr>e).op in (OP_MOD, OP_PYTHONMOD, OP_FLOORDIV):
                return 0
        if self.trivially(a, b):
            return self.set_replacement(a, replaced(b), sloc)
        if self.trivially(b, a):
            return self.set_replacement(b, replaced(a), sloc)
        if a.kind != K_INT or b.kind != K_INT:
            return 0
        c = condition(g)
        if c.form is None:
            return 0
        s = max(g.free_symbols, key=self.elimination_order)
        return self.eliminate(c, s, sloc)

    cdef bint trivially(self, Expr a, Expr b) except -1:
        if a.op != OP_SYMBOL:
            return False
        if a.unbacked and all([s in self.backed_var_to_val or s in self.unbacked_inputs for s in b.free_symbols]):
            return True
        return a.symbol_type == S_FLOAT

    def elimination_order(self, Expr s not None):
        """Ephemeral sources first, then those without a hint, large sizes, late names."""
        sources = self.var_to_sources.get(s)
        hint = self.backed_var_to_val.get(s)
        size = hint if type(hint) is int and s.symbol_type == S_SIZE else sys.maxsize
        return (bool(sources) and all([source.is_ephemeral() for source in sources]), size, s.value)

    cdef int eliminate(self, Condition c, Expr s, object sloc) except -1:
        """form == bound, solved for a symbol that stands in one term."""
        cdef Table t = self.table
        cdef Expr term, by = None
        cdef list rest = [t.number(c.bound)]
        for term in (c.form.args if c.form.op == OP_ADD else (c.form,)):
            if s not in term.free_symbols:
                rest.append(t.scaled(term, -1))
                continue
            quotient = divided_exactly(term, s)
            if quotient is None or by is not None or s in (<Expr>quotient).free_symbols:
                return 0
            by = quotient
        if by is None or (by.op != OP_NUMBER and range_of(by)[0] <= 0):
            return 0
        found = divided_exactly(t.sum_of(rest), by)
        if found is None or (<Expr>found).unbacked:
            return 0
        return self.set_replacement(s, replaced(<Expr>found), sloc)

    # --- the same, for Python

    def sympify(self, o):
        """A number, an expression of any ShapeEnv, a sympy expression or a SymInt as an expression of this one."""
        return sympify(self.table, o)

    def same(self, a, b):
        """The condition a == b (`==` of expressions asks whether they are the same)."""
        return self.table.binary(OP_EQ, sympify(self.table, a), sympify(self.table, b))

    def parse(self, text, names=None):
        """An expression from its text, over this ShapeEnv's symbols; `names` gives other names meanings."""
        return hooks["parse"](self.table, text, names or {})

    def _number(self, value):
        return self.table.number(value)

    cdef Expr new_symbol(self, str name, int symbol_type, object hint, bint positive, object low, object high):
        """A symbol with its range."""
        cdef bint whole = symbol_type == S_SIZE or symbol_type == S_UNBACKED
        cdef Expr s = self.table.symbol(name, K_INT if whole else K_FLOAT, symbol_type, positive)
        if hint is not None:
            s.hint, s.hinted, s.unbacked = hint, H_KNOWN, False
            self.backed_var_to_val[s] = hint
        s.bounds = (-INF if low is None else low, INF if high is None else high)
        PyDict_SetItem(self.ranges, s, new_range(s.bounds[0], s.bounds[1], whole))
        self.var_to_range_sloc[s] = self.sloc or here()
        return s

    def _rows(self):
        """Every symbol as a row of plain values, and back by `_restore`."""
        cdef Expr s
        return [(s.value, s.symbol_type, self.backed_var_to_val.get(s), s.assumed[0] == 1, s.bounds, s in self.size_like,
                s in self.unbacked_inputs)
                for s in self.ranges]

    def _restore(self, row):
        cdef Expr s
        name, symbol_type, hint, positive, (low, high), is_size, is_input = row
        s = self.new_symbol(name, symbol_type, hint, positive, None if low == -INF else low, None if high == INF else high)
        if is_size:
            self.size_like.add(s)
        if is_input:
            self.unbacked_inputs.add(s)
        return s

    def _learn_again(self, Expr e not None, sloc, bint deferred):
        """A guard or runtime assert that another process recorded."""
        self.learn(e, sloc)
        if not deferred:
            self.guards.append(ShapeGuard(e, sloc))
            return
        unbacked = [s for s in e.free_symbols if (<Expr>s).unbacked]
        last = max(unbacked, key=age_of_name) if unbacked else None
        self.deferred_runtime_asserts.setdefault(last, []).append(RuntimeAssert(e, "", sloc))
        self.num_deferred_runtime_asserts += 1

    def _give_hint(self, Expr s not None, value):
        s.hint, s.hinted = value, H_KNOWN
        self.backed_var_to_val[s] = value
        self.table.state += 1

    def _update_var_to_range(self, Expr s not None, ValueRanges vr not None, vr_sloc=None, *, is_constraint=False):
        """Intersects a symbol's range with this one; at one number the symbol stays, as it was not a guard that said so."""
        low, high = vr.low, vr.high
        hint = self.backed_var_to_val.get(s)
        if is_constraint and hint is not None and not low <= hint <= high:
            raise ConstraintViolationError(f"{hint} not in range [{vr.lower}, {vr.upper}]")
        known = range_of(s)
        if low > known[1] or high < known[0]:
            raise ValueRangeError(f"Invalid ranges [{max(low, known[0])}:{min(high, known[1])}]")
        self.intersect_range(s, low, high, vr_sloc or here())

    def _replace_by(self, Expr s not None, Expr target not None):
        self.replace_by(s, target)

    def _set_replacement(self, Expr s not None, target, msg=""):
        """`target` takes the symbol's place, if that forgets nothing of its range."""
        self.set_replacement(s, sympify(self.table, target), here())

    _eliminate_unbacked = _set_replacement

    def _rename_unbacked_to(self, Expr s not None, Expr new not None):
        """The symbol of a call that was made again is the one of the first time."""
        before = self.targets.get(s)
        self.replace_by(s, new)
        self.unbacked_renamings[s] = new
        if before is not None:
            self.replace_by(new, before)

    def _find(self, Expr s not None):
        return target_of(s)

    def replace(self, e):
        """With the replacements of its symbols."""
        return replaced(sympify(self.table, e))

    def simplify(self, e, size_oblivious=False):
        """With replacements, products of sums written out."""
        return expand(replaced(sympify(self.table, e)))

    def bound_sympy(self, e, size_oblivious=False):
        """What an expression can be, as ValueRanges."""
        cdef Expr x = replaced(sympify(self.table, e))
        cdef tuple r
        if size_oblivious:
            x = self.oblivious(x)
        if x.kind == K_BOOL:
            found = decide(x)
            return new_range(found == 1, found != 0, False)
        r = range_of(x)
        if x.kind == K_INT and shared_symbols(x):
            r = intersection(r, range_of(shifted(expand(x))))
        return new_range(r[0], r[1], x.kind == K_INT)

    def _maybe_evaluate_static(self, e, *, unbacked_only=False, compute_hint=False, size_oblivious=False, axioms=None,
            var_to_range=None):
        """The number or truth value that an expression is for all values of its symbols; None: it depends on them."""
        cdef Expr x = replaced(sympify(self.table, e))
        if compute_hint:
            return hint_of(x)
        if size_oblivious:
            x = self.oblivious(x)
        if x.kind == K_BOOL:
            found = decide(x)
            return None if found < 0 else bool(found)
        return known_value(x)

    def evaluate_expr(self, orig_expr, hint=None, fx_node=None, size_oblivious=False, fallback_value=None, *, forcing_spec=False):
        """What an expression is in this run, with a guard where that is not so for all."""
        return self.value(sympify(self.table, orig_expr), fallback_value, size_oblivious)

    def evaluate_sym_node(self, sym_node, size_oblivious=False, fallback_value=None):
        """The same of a SymNode."""
        return self.value(sym_node.expr, fallback_value, size_oblivious)

    def guard_or_defer_runtime_assert(self, orig_expr, msg, fx_node=None):
        """A condition must hold: a guard if there are hints, else a runtime assert. False when it is known not to."""
        return bool(self.expect(sympify(self.table, orig_expr), msg))

    def guarding_hint_or_throw(self, e):
        """The hint; GuardOnDataDependentSymNode without one."""
        cdef Expr x = replaced(sympify(self.table, e))
        found = hint_of(x)
        if found is None:
            raise self._make_data_dependent_error(x)
        return found

    def has_guarding_hint(self, e):
        return hint_of(replaced(sympify(self.table, e))) is not None

    def size_hint(self, e, *, allow_none=False):
        """The hint of an expression; None without one, if that is allowed."""
        found = hint_of(replaced(sympify(self.table, e)))
        return found if found is not None or allow_none else self.guarding_hint_or_throw(e)

    def _make_data_dependent_error(self, Expr e not None, unhinted=None):
        """GuardOnDataDependentSymNode: what was asked, what is unknown in it, and the line that asked."""
        likes = ", ".join(sorted([s.name for s in e.free_symbols if s in self.size_like])) or "none"
        if e.kind == K_INT:
            head, advice = "Could not extract specialized integer from data-dependent expression", ""
        else:
            head = "Could not guard on data-dependent expression"
            advice = "consider data-dependent friendly APIs such as guard_or_false, guard_or_true and statically_known_true.\n"
        values = {s: self.table.number(v) for s, v in self.backed_var_to_val.items()}
        hinted = substituted(e, values, {})
        return GuardOnDataDependentSymNode(e,
                f"{head} {hinted} (unhinted: {e}).  (Size-like symbols: {likes})\n\n{advice}Caused by: {here()}")


def age_of_name(Expr s not None):
    """Later symbols have higher numbers."""
    return len(s.value), s.value


cdef int check_comparable(Expr e) except -1:
    """TypeError where truth values are compared: a condition of conditions has no range to be decided by."""
    if e.kind != K_BOOL:
        return 0
    for a in e.args:
        if is_relation(e.op) and (<Expr>a).kind == K_BOOL:
            raise TypeError(f"truth values are compared: {e}")
        check_depth(" in a condition")
        check_comparable(<Expr>a)
    return 0


class Ranges(dict):
    """{symbol: ValueRanges}; an entry that a program sets is the symbol's range from then on."""

    def __setitem__(self, symbol, value):
        cdef Expr s = symbol
        s.bounds = (value.low, value.high)
        s.table.state += 1
        super().__setitem__(symbol, value)


cdef bint supported(Expr e):
    """A symbol, or one with a number added or multiplied: what a deferred assert may replace by."""
    if e.op == OP_ADD or e.op == OP_MUL:
        return len(e.args) == 2 and (<Expr>e.args[0]).op == OP_NUMBER and supported(e.args[1])
    return e.op == OP_SYMBOL


cdef object rest_of(Expr total, Expr term, int end):
    """The sum of one end of the ranges of all other terms."""
    found = 0
    for other in total.args:
        if other is not term:
            found = found + range_of(<Expr>other)[end]
    return found


cdef object less(a, b):
    """a - b, where an infinite bound says nothing."""
    if a == INF or a == -INF:
        return a
    return a - b
