"""Dimensions of a program that was exported with fixed sizes, set free: which numbers in it go with
them.

An export with fixed sizes has numbers where the model had sizes (`view(x, [2, 16, 768])`). With a
dimension at another size such a call fails, or one that takes its result. `find_baked` runs the
program so, on fake tensors, and where a call fails looks for numbers that the recorded sizes
explain: in the call, then in the calls and inputs that its arguments come from. With the number as
an expression of the sizes the call must run; then it goes on. `with_terms` makes a plan in which
these numbers are inputs, so that runs at all sizes follow.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations_with_replacement, count, product
from math import isqrt, prod
from typing import Any, NamedTuple

import dispatch
from dispatch.graph.errors import plain
from dispatch.graph.executor import Executable, RunLog
from dispatch.graph.plan import Body, Const, DeviceConst, Items, Plan, Ref, Slot, Step
from dispatch.graph.program import SymExpr, SymExprHint, SymInt, TensorMeta
from dispatch.graph.signature import Binding

__all__ = [
    "FREE_FORM",
    "Baked",
    "Place",
    "Term",
    "find_baked",
    "freed_binding",
    "read_free",
    "with_terms",
]

Json = dict[str, Any]
FREE_FORM = re.compile(r"\s*([^=\s]+):(\d{1,3})\s*=\s*([A-Za-z_]\w*)\s*", re.ASCII)
_RESERVED = re.compile(r"z?u[f\d]\d*", re.ASCII)  # numbers that data decide
_VIEWS = frozenset({"aten::view", "aten::reshape", "aten::_unsafe_view", "aten::view_copy"})
_TAKES_SIZES = ("SymInt", "SymInt[]", "SymInt?", "SymInt[]?")
_COUNTS = frozenset({"aten::arange", "aten::linspace"})  # whose Scalars are sizes
_MOST_FACTORS = 3
_MOST_TRIES = 64  # of one call
_MOST_NUMBERS = 6
_MOST_CALLS = 400  # that a failing call's arguments come from
_ERRORS = (RuntimeError, ValueError, LookupError, ArithmeticError, TypeError)


class Term(NamedTuple):
    """A number as a product of sizes: `factor` times the sizes of `symbols`."""

    factor: int
    symbols: tuple[str, ...]

    def value(self, sizes: Mapping[str, Any]) -> Any:
        """With these sizes, numbers or symbolic ones."""
        return self.factor * prod(sizes[name] for name in self.symbols)

    def __str__(self) -> str:
        return "*".join([*([str(self.factor)] if self.factor != 1 else []), *self.symbols])


class Place(NamedTuple):
    """Where a number stands: argument `arg` of call `step`, item `item` (-1: the argument itself);
    step -1: dimension `item` of the graph's input `arg`."""

    step: int
    arg: int
    item: int


class Baked(NamedTuple):
    """A number that the export has baked in, and the expression that it has to be; or, without an
    expression, a call that does not follow and the problem."""

    node: str
    op: str
    argument: str
    value: int | None
    expr: str
    problem: str = ""

    def __str__(self) -> str:
        where = f"{self.node} ({self.op})" if self.op else f"input {self.node}"
        if not self.expr:
            return plain(f"{where}: {self.problem}")
        return plain(f"{where}: {self.argument} = {self.value} has to be {self.expr}")


class Found(NamedTuple):
    """What goes with the sizes: terms by place, the rows for people, and how many calls follow."""

    terms: dict[Place, Term]
    baked: list[Baked]
    calls: int


def read_free(settings: Iterable[str]) -> dict[str, str]:
    """`input_ids:0=batch` -> {"input_ids:0": "batch"}; `ValueError` for what is no such setting."""
    found: dict[str, str] = {}
    for text in settings:
        match = FREE_FORM.fullmatch(text)
        if match is None or _RESERVED.fullmatch(match[3]):
            raise ValueError(f"--free {text!r}: expected INPUT:DIMENSION=NAME, input_ids:0=batch")
        place = f"{match[1]}:{int(match[2])}"
        if found.setdefault(place, match[3]) != match[3]:
            raise ValueError(f"--free: {place} is {found[place]} and {match[3]}")
    return found


def _other_sizes(recorded: Mapping[str, int], attempt: int) -> dict[str, int]:
    """Sizes unlike the recorded ones that a program is likely to take: primes, so that no number
    is by chance a multiple of one, or (`attempt` 1) half of them, for what is divided."""
    found: dict[str, int] = {}
    for name, size in recorded.items():
        if attempt and size > 3 and size % 2 == 0:
            found[name] = size // 2
            continue
        below = [n for n in range(size - 1, max(size // 2, 2), -1) if _is_prime(n)]
        above = (n for n in count(max(size + 1, 3)) if _is_prime(n))
        taken = {*found.values(), *recorded.values()}
        found[name] = next(n for n in chain(below, above) if n not in taken)
    return found


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % i for i in range(2, isqrt(n) + 1))


def _freed_meta(meta: TensorMeta, sizes: Sequence[int], terms: Mapping[int, Term]) -> TensorMeta:
    """The metadata of an input with terms for some dimensions, in its strides too where these go
    with the sizes. `sizes`: as recorded."""
    if not terms:
        return meta
    texts = {dim: _product_text(term) for dim, term in terms.items()}
    new_sizes = list(meta.sizes)
    for dim, text in texts.items():
        new_sizes[dim] = _expression(text, sizes[dim])
    strides, step = list(meta.strides), 1
    within: list[int] = []
    order = sorted(range(len(sizes)), key=lambda d: (_plain(meta.strides[d]), -d))
    for dim in order:
        if _plain(meta.strides[dim]) != step:
            break
        fixed = prod(sizes[d] for d in within if d not in texts)
        factors = [f"Integer({fixed})", *(texts[d] for d in within if d in texts)]
        if len(factors) > 1:
            strides[dim] = _expression(f"Mul({', '.join(factors)})", step)
        within.append(dim)
        step *= sizes[dim]
    return meta._replace(sizes=tuple(new_sizes), strides=tuple(strides))


def freed_binding(
    binding: Binding, metas: Mapping[int, Sequence[int]], terms: Mapping[Place, Term]
) -> Binding:
    """A user's input with the terms of its dimensions."""
    if binding.meta is None or binding.slot not in metas:
        return binding
    mine = {at.item: t for at, t in terms.items() if at.step < 0 and at.arg == binding.slot}
    return binding._replace(meta=_freed_meta(binding.meta, metas[binding.slot], mine))


def _product_text(term: Term) -> str:
    """As torch writes it."""
    names = [f"Symbol('{name}', positive=True, integer=True)" for name in term.symbols]
    factors = [*([f"Integer({term.factor})"] if term.factor != 1 else []), *names]
    return factors[0] if len(factors) == 1 else f"Mul({', '.join(factors)})"


def _expression(text: str, hint: int) -> SymInt:
    return SymInt("as_expr", SymExpr(text, SymExprHint("as_int", hint)))


def _plain(size: SymInt) -> int:
    return size.value if size.tag == "as_int" else -1


# -- which numbers ------------------------------------------------------------------------------


class _Number(NamedTuple):
    """A number of the program that sizes may explain."""

    place: Place
    value: int
    terms: list[Term]


Chosen = list[tuple[_Number, Term]]
Inputs = Callable[[Mapping[Place, Term], Mapping[str, int]], list[Any]]


class _MisfitError(ValueError):
    """A call that runs, and does something else than at the recorded sizes."""


class _Search:
    """A program at other sizes, call by call; `values` are by slot and are all kept."""

    def __init__(
        self,
        plan: Plan,
        inputs: Inputs,
        metas: Mapping[int, Sequence[int]],
        terms: Mapping[Place, Term],
        recorded: Mapping[str, int],
        sizes: Mapping[str, int],
    ) -> None:
        self.plan = plan
        self.inputs = inputs
        self.metas = metas
        self.recorded = recorded
        self.at = 0  # the call that failed last
        self.terms = dict(terms)
        self.sizes = recorded
        self.as_recorded = self.start(self.terms)
        self.run(0, len(plan.steps), self.as_recorded, self.terms)
        self.sizes = sizes
        self.values = self.start(self.terms)
        self.makers = {
            slot: i for i, step in enumerate(plan.steps) for slot in _flat(step.outputs)
        }

    def start(self, terms: Mapping[Place, Term]) -> list[Any]:
        rest = len(self.plan.slot_names) - self.plan.n_inputs
        return [*self.inputs(terms, self.sizes), *[None] * rest]

    def found(self) -> Found:
        baked: list[Baked] = []
        for i in range(len(self.plan.steps)):
            error = self.run(i, i + 1, self.values, self.terms)
            if error is None:
                continue
            fixed = self.fix(i)
            if fixed is None and isinstance(error, _MisfitError):
                continue  # what was meant is not known, and it runs
            if fixed is None:
                step = self.plan.steps[i]
                problem = " ".join(str(error).split())[:200]
                baked.append(Baked(step.node, step.op, "", None, "", problem))
                return Found(self.terms, baked, i)
            ordered = sorted(fixed, key=lambda row: row[0].place)
            baked += [self.row(number, term) for number, term in ordered]
        return Found(self.terms, baked, len(self.plan.steps))

    def run(
        self, begin: int, end: int, values: list[Any], terms: Mapping[Place, Term]
    ) -> Exception | None:
        """Calls from `begin` to before `end`; what the first that fails, number `at`, raises."""
        for i in range(begin, end):
            step = self.plan.steps[i]
            places = [Place(i, k, -1) for k in range(len(step.args))]
            refs = zip(step.args, places, strict=True)
            given = [self.argument(ref, at, values, terms) for ref, at in refs]
            try:
                _store(self.call(step, given), step.outputs, values)
                self.check_fit(step, values)
            except _ERRORS as error:
                self.at = i
                return error
        return None

    def call(self, step: Step, given: list[Any]) -> Any:
        if step.branches and step.callee is None:
            branch = Executable(step.branches[1 if step.is_loop else 0], None, "")
            operands = [*given[0], *given[1]] if step.is_loop else list(given[-1])
            return tuple(branch.run(operands, RunLog(fake=True)))
        assert step.callee is not None
        n = len(given) - len(step.kwnames)
        return step.callee(*given[:n], **dict(zip(step.kwnames, given[n:], strict=True)))

    def check_fit(self, step: Step, values: list[Any]) -> None:
        """Raise `_MisfitError` when a view takes other dimensions together than it did: with a -1
        in its sizes it runs all the same."""
        source = step.args[0] if step.args else None
        if step.op not in _VIEWS or not isinstance(source, Slot) or step.outputs is None:
            return
        (result,) = _flat(step.outputs)
        before, after = (
            [[*map(int, kept[slot].shape)] for slot in (source.number, result)]
            for kept in (self.as_recorded, values)
        )
        for taken, given in _groups(*before):
            if prod(after[0][d] for d in taken) != prod(after[1][d] for d in given):
                raise _MisfitError(f"{before[0]} to {before[1]}, now {after[0]} to {after[1]}")

    def argument(
        self, ref: Ref, place: Place, values: list[Any], terms: Mapping[Place, Term]
    ) -> Any:
        if isinstance(ref, Slot):
            return values[ref.number]
        if isinstance(ref, DeviceConst):
            return dispatch.device(ref.recorded) if ref.recorded is not None else None
        if isinstance(ref, Body):
            body = Executable(self.plan.steps[place.step].branches[ref.number], None, "")
            return lambda *operands: tuple(body.run(list(operands), RunLog(fake=True)))
        if isinstance(ref, Items):
            items = [
                self.argument(item, place._replace(item=k), values, terms)
                for k, item in enumerate(ref.refs)
            ]
            return items if ref.keys is None else dict(zip(ref.keys, items, strict=True))
        if isinstance(ref.value, tuple):
            return [
                terms[at].value(self.sizes) if (at := place._replace(item=k)) in terms else item
                for k, item in enumerate(ref.value)
            ]
        return terms[place].value(self.sizes) if place in terms else ref.value

    # -- a call that fails ------------------------------------------------------------------------

    def fix(self, failed: int) -> Chosen | None:
        """Terms for numbers with which the call runs: of one call or input, or all that are just a
        size in several; None: there are none. They stay."""
        together: Chosen = []
        for at, numbers in self.suspects(failed):
            for chosen in _choices(numbers):
                if self.runs(failed, chosen) is not None:
                    return self.keep(failed, chosen)
            if at < 0 or not self.follows(at):
                together += [(n, n.terms[0]) for n in numbers if _cost(n.terms[0])[0] == 0]
            if together:
                repaired = self.repaired(failed, together)
                if repaired is not None:
                    return self.keep(failed, self.least(failed, repaired))
        return None

    def follows(self, i: int) -> bool:
        """Whether the call makes its result of something whose sizes have changed already; then its
        own numbers go with them."""
        step = self.plan.steps[i]
        if step.op.startswith("aten::new_"):
            return False
        slots = [slot for ref in step.args for slot in _slots(ref)]
        now, then = (
            [getattr(values[slot], "shape", None) for slot in slots]
            for values in (self.values, self.as_recorded)
        )
        return now != then

    def repaired(self, failed: int, chosen: Chosen) -> Chosen | None:
        """The same with other terms for calls on the way that fail with them; None when the call
        still fails."""
        terms, values, at = self.begun(chosen)
        while self.run(at, failed + 1, values, terms) is not None:
            at = self.at
            kept = {place: term for place, term in terms.items() if place.step != at}
            for local in _choices(list(self.numbers(at, kept))) if at < failed else ():
                terms = {**kept, **{number.place: term for number, term in local}}
                if self.run(at, at + 1, values, terms) is None:
                    chosen = [(n, term) for n, term in chosen if n.place.step != at] + local
                    break
            else:
                return None
        return chosen

    def least(self, failed: int, chosen: Chosen) -> Chosen:
        """The same without calls that need no change for that."""
        for step in sorted({number.place.step for number, _ in chosen}):
            fewer = [(n, term) for n, term in chosen if n.place.step != step]
            if fewer and self.runs(failed, fewer) is not None:
                chosen = fewer
        return chosen

    def begun(self, chosen: Chosen) -> tuple[dict[Place, Term], list[Any], int]:
        """More terms, the values that don't depend on them, and the first call that does."""
        begin = min(number.place.step for number, _ in chosen)
        terms = {**self.terms, **{number.place: term for number, term in chosen}}
        return terms, self.start(terms) if begin < 0 else list(self.values), max(begin, 0)

    def runs(self, failed: int, chosen: Chosen) -> list[Any] | None:
        """The values when the call runs with more terms."""
        terms, values, begin = self.begun(chosen)
        return values if self.run(begin, failed + 1, values, terms) is None else None

    def keep(self, failed: int, chosen: Chosen) -> Chosen:
        values = self.runs(failed, chosen)
        assert values is not None
        self.values = values
        self.terms.update({number.place: term for number, term in chosen})
        return chosen

    def suspects(self, failed: int) -> Iterator[tuple[int, list[_Number]]]:
        """Numbers of the call, then of the calls and inputs (-1) that it depends on, nearest
        first."""
        seen: set[int] = set()
        level, looked_at = [failed], 0
        while level and looked_at < _MOST_CALLS:
            slots: list[int] = []
            for i in level:
                looked_at += 1
                numbers = list(self.numbers(i, self.terms))
                if numbers:
                    yield i, numbers
                for ref in self.plan.steps[i].args:
                    slots += _slots(ref)
            made = dict.fromkeys(slots)
            for slot in made:
                numbers = list(self.input_numbers(slot))
                if numbers:
                    yield -1, numbers
            level = [i for i in dict.fromkeys(self.makers.get(s, -1) for s in made)
                     if i >= 0 and i not in seen]  # fmt: skip
            seen.update(level)

    def numbers(self, i: int, terms: Mapping[Place, Term]) -> Iterator[_Number]:
        step = self.plan.steps[i]
        for k, (kind, ref) in enumerate(zip(_kinds(step), step.args, strict=True)):
            if kind not in _TAKES_SIZES and not (
                kind == "Scalar" and step.op.partition(".")[0] in _COUNTS
            ):
                continue
            for item, value in _constants(ref):
                yield from self.explained(Place(i, k, item), value, terms)

    def input_numbers(self, slot: int) -> Iterator[_Number]:
        for dim, value in enumerate(self.metas.get(slot, ())):
            yield from self.explained(Place(-1, slot, dim), value, self.terms)

    def explained(
        self, place: Place, value: int, known: Mapping[Place, Term]
    ) -> Iterator[_Number]:
        """The number, if it is no term yet and sizes explain it."""
        terms = list(_terms(value, self.recorded)) if place not in known else []
        if terms:
            yield _Number(place, value, terms)

    def row(self, number: _Number, term: Term) -> Baked:
        place = number.place
        if place.step < 0:
            name = self.plan.slot_names[place.arg]
            return Baked(name, "", f"size {place.item}", number.value, str(term))
        step = self.plan.steps[place.step]
        argument = _names(step)[place.arg]
        if place.item >= 0:
            argument = f"{argument}[{place.item}]"
        return Baked(step.node, step.op, argument, number.value, str(term))


def find_baked(
    plan: Plan,
    inputs: Inputs,
    metas: Mapping[int, Sequence[int]],
    terms: Mapping[Place, Term],
    recorded: Mapping[str, int],
) -> Found:
    """Numbers of `plan` that go with the freed sizes, which were `recorded`; `terms` are those that
    are known to. `inputs(terms, sizes)` gives a fake value for each of the graph's inputs; `metas`
    are the recorded sizes of the user's, by slot. Runs under the fake mode that is on."""

    def search(terms: Mapping[Place, Term], sizes: Mapping[str, int]) -> Found:
        return _Search(plan, inputs, metas, terms, recorded, sizes).found()

    best = search(terms, _other_sizes(recorded, 0))
    if best.calls == len(plan.steps):
        return best
    other = search(terms, _other_sizes(recorded, 1))
    best = max(best, other, key=lambda found: found.calls)
    # One size that cannot follow is no reason for the others not to.
    for name in recorded if len(recorded) > 1 and best.calls < len(plan.steps) else ():
        alone = search(best.terms, {**recorded, name: _other_sizes(recorded, 0)[name]})
        if alone.calls == len(plan.steps):
            best = Found(alone.terms, alone.baked + best.baked, best.calls)
    return best


def _terms(value: int, recorded: Mapping[str, int]) -> Iterator[Term]:
    """The products of sizes that the number can be, the likeliest first."""
    found = []
    for n in range(1, _MOST_FACTORS + 1):
        for names in combinations_with_replacement(recorded, n):
            part = prod(recorded[name] for name in names)
            if part and value > 0 and value % part == 0 and (part > 1 or n == 1):
                found.append(Term(value // part, names))
    return iter(sorted(found, key=_cost))


def _cost(term: Term) -> tuple[int, int]:
    """Less for what is likelier: a size as it is, then a product of sizes, then a multiple."""
    return (4 if term.factor > 1 else 0) + len(term.symbols) - 1, term.factor


def _choices(numbers: Sequence[_Number]) -> Iterator[Chosen]:
    """Which of a place's numbers are terms, and which: the likeliest first."""
    some = numbers[:_MOST_NUMBERS]
    options = [[None, *((number, term) for term in number.terms)] for number in some]
    rows = ([pair for pair in row if pair is not None] for row in product(*options))
    ranked = sorted(
        filter(None, rows), key=lambda row: (sum(_cost(term)[0] for _, term in row), len(row))
    )
    return iter(ranked[:_MOST_TRIES])


def _schema(step: Step) -> list[Any]:
    schema = getattr(step.callee, "_schema", None)
    return list(schema.arguments) if schema is not None else []


def _names(step: Step) -> list[str]:
    positional = [a.name for a in _schema(step)][: len(step.args) - len(step.kwnames)]
    return [*positional, *step.kwnames]


def _kinds(step: Step) -> list[str]:
    """The types of the arguments that are given; none are known of what has no schema."""
    kinds = {a.name: str(a).partition(" ")[0] for a in _schema(step)}
    return [kinds[name] for name in _names(step)] if kinds else [""] * len(step.args)


def _groups(taken: Sequence[int], given: Sequence[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Dimensions of two shapes of as many elements that stand for each other: (2, 4, 8) and (8, 8)
    are 0, 1 for 0 and 2 for 1."""
    a = b = 0
    while a < len(taken) or b < len(given):
        left, right = [a] * (a < len(taken)), [b] * (b < len(given))
        while (n := prod(taken[d] for d in left)) != (m := prod(given[d] for d in right)):
            side, other = (left, taken) if n < m else (right, given)
            following = (side[-1] + 1) if side else (a if side is left else b)
            if following >= len(other):
                return  # an empty one
            side.append(following)
        a, b = a + len(left), b + len(right)
        yield left, right


def _constants(ref: Ref) -> Iterator[tuple[int, int]]:
    """(item, number) of the whole numbers in an argument; item -1: the argument itself."""
    if isinstance(ref, Items):
        for k, item in enumerate(ref.refs):
            if isinstance(item, Const):
                yield from ((k, value) for _, value in _constants(item))
    elif isinstance(ref, Const):
        many = isinstance(ref.value, tuple)
        for k, value in enumerate(ref.value if many else (ref.value,)):
            if type(value) is int:
                yield (k if many else -1), value


def _slots(ref: Ref) -> Iterator[int]:
    if isinstance(ref, Slot):
        yield ref.number
    elif isinstance(ref, Items):
        for item in ref.refs:
            yield from _slots(item)


def _flat(template: Any) -> Iterator[int]:
    if isinstance(template, int):
        yield template
    elif template is not None:
        for item in template:
            yield from _flat(item)


def _store(result: Any, template: Any, values: list[Any]) -> None:
    if isinstance(template, int):
        if template >= 0:
            values[template] = result
    elif template is not None:
        for item, inner in zip(result, template, strict=True):
            _store(item, inner, values)


# -- a plan that follows ------------------------------------------------------------------------


def with_terms(plan: Plan, terms: Mapping[Place, Term]) -> tuple[Plan, list[Term]]:
    """The plan with more inputs, one for each term that a call takes, and these terms in order."""
    needed = list(dict.fromkeys(term for place, term in terms.items() if place.step >= 0))
    first, more = plan.n_inputs, len(needed)

    def moved(slot: int) -> int:
        return slot + more if slot >= first else slot

    def renumbered(template: Any) -> Any:
        if isinstance(template, int):
            return moved(template)
        return template if template is None else tuple(map(renumbered, template))

    def ref_at(ref: Ref, place: Place) -> Ref:
        if isinstance(ref, Slot):
            return Slot(moved(ref.number))
        if isinstance(ref, Items):
            refs = tuple(ref_at(r, place._replace(item=k)) for k, r in enumerate(ref.refs))
            return Items(refs, ref.keys)
        if place in terms:
            return Slot(first + needed.index(terms[place]))
        if isinstance(ref, Const) and isinstance(ref.value, tuple):
            places = [place._replace(item=k) for k in range(len(ref.value))]
            if any(at in terms for at in places):
                items = map(Const, ref.value)
                return Items(tuple(ref_at(r, at) for r, at in zip(items, places, strict=True)))
        return ref

    steps = tuple(
        step._replace(
            args=tuple(ref_at(ref, Place(i, k, -1)) for k, ref in enumerate(step.args)),
            outputs=renumbered(step.outputs),
            frees=tuple(map(moved, step.frees)),
        )
        for i, step in enumerate(plan.steps)
    )
    names = tuple(f"\0{term}" for term in needed)
    uses = (len(steps),) * more
    changed = plan._replace(
        slot_names=plan.slot_names[:first] + names + plan.slot_names[first:],
        n_inputs=first + more,
        steps=steps,
        outputs=tuple(ref_at(ref, Place(len(steps), 0, -1)) for ref in plan.outputs),
        last_use=plan.last_use[:first] + uses + plan.last_use[first:],
    )
    return changed, needed
