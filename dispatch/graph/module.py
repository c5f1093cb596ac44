"""A loaded program that can be called: `load(path)` -> `GraphModule`.

The archive's JSON is read and planned at load; weights are read at the first real run, never in a
fake one. `gm(*inputs)` computes; `gm.run(*inputs, fake=True)` runs on fake tensors made from the
recorded metadata and gives a `Report`. The fake mode, with its dispatch cache, and the fake weights
are kept for each device, so a second run finds its calls in the cache.
"""

import copy
import gc
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

import dispatch
from dispatch._C.arrays import from_numpy
from dispatch._C.markup import table
from dispatch.fake import DataDependentOutputException, DynamicOutputShapeException
from dispatch.graph.archive import Archive, JsonFile, open_archive
from dispatch.graph.cases import LEAST, Case, Cases, Symbols, new_symbols
from dispatch.graph.errors import MissingOperatorsError, ModelFileError, plain, told_of
from dispatch.graph.executor import Executable, RunLog
from dispatch.graph.expr import symbolic_value
from dispatch.graph.fakes import fake_tensor, fake_weight, in_symbols, random_tensor
from dispatch.graph.freeing import Baked, Place, Term, find_baked, freed_binding, with_terms
from dispatch.graph.memory import InputFact
from dispatch.graph.modules import WeightFact
from dispatch.graph.plan import Plan, Slot, plan_graph
from dispatch.graph.printing import type_text
from dispatch.graph.program import (
    ExportedProgram,
    Graph,
    InputSpec,
    RangeConstraint,
    TensorMeta,
    read_program,
)
from dispatch.graph.recorded import Recorded, with_recorded
from dispatch.graph.report import At, ModelFacts, Report, RunFacts
from dispatch.graph.safetensors import read_tensors
from dispatch.graph.signature import Binding, Signature, read_signature
from dispatch.graph.sizes import (
    OpenSize,
    chosen,
    find,
    open_sizes,
    shape_values,
    sized,
    sized_number,
)
from dispatch.graph.weights import (
    TensorSpec,
    Weight,
    WeightStore,
    resolve_weights,
    spec_of,
)

__all__ = ["GraphModule", "load"]

Progress = Callable[[int], None]
_GRAPH = "graph_module.graph"


class _FakeRun(NamedTuple):
    """What runs on one device share: the mode, the bound plan, a value for each of the graph's
    inputs."""

    mode: Any
    executable: Executable
    values: list[Any]


def load(path: str | os.PathLike[str]) -> "GraphModule":
    """Read a `.pt2` archive, or the JSON of an exported program (`.json`, `.json.gz`).

    Raises `OSError` when the file cannot be opened, `ModelFileError` (a `RuntimeError`) naming the
    file and the place in it when it cannot be read. Weights are only looked up, not read; nothing
    is ever unpickled.
    """
    archive = open_archive(path)
    with _no_collection():
        program = read_program(archive.read_model(), archive.path, archive.place)
        return GraphModule(archive, program)


@contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage collection while a program's records are made.

    None of them is garbage, and going through all of them again and again costs more than reading.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class GraphModule:
    """An exported program: its graph, its weights, and its runs."""

    def __init__(self, archive: Archive | JsonFile, program: ExportedProgram) -> None:
        self.path = archive.path
        self.name = archive.model_name
        self.program = program
        self._place = f"{archive.place}: " if archive.place else ""
        self.signature: Signature = read_signature(program, self.path, self._place)
        self.baked: tuple[Baked, ...] = ()
        self._freed: frozenset[str] = frozenset()
        self._terms_at: Mapping[Place, Term] = {}
        self._terms: list[Term] = []  # what the plan takes after the graph's inputs
        self._weights = self._all_weights(archive)
        state = {b.target for b in self.signature.bindings if b.in_state_dict}
        self.state_dict = WeightStore(archive, _chosen(self._weights, state, True))
        self.constants = WeightStore(archive, _chosen(self._weights, state, False))
        self._plan = self._make_plan()
        self._fake_runs: dict[str | None, _FakeRun] = {}
        self._cases: dict[str | None, Cases] = {}
        self._real: tuple[Executable, list[Any]] | None = None
        self._log_size = 1024
        self._made_up: set[str] = set()

    @property
    def graph(self) -> Graph:
        """The graph as it was read: immutable records."""
        return self.program.graph_module.graph

    @property
    def input_specs(self) -> tuple[InputSpec, ...]:
        """One for each of `graph.inputs`: weights and constants, then the user's inputs."""
        return self.program.graph_module.signature.input_specs

    @property
    def missing_operators(self) -> tuple[str, ...]:
        """Operators that the program needs and that are not registered, each once."""
        return self._plan.missing

    @cached_property
    def sizes(self) -> tuple[OpenSize, ...]:
        """The sizes that the program leaves open, which `run(sizes=...)` sets by their names."""
        return open_sizes(self.signature, self.graph, self._freed)

    @property
    def n_calls(self) -> int:
        """Calls of the graph itself, branches not counted."""
        return len(self._plan.steps)

    def __repr__(self) -> str:
        counts = f"{self.n_calls} calls, {len(self.state_dict)} weights"
        return f"<GraphModule {plain(self.name)}: {counts}>"

    def print_readable(self, print_output: bool = True) -> str:
        """The graph as Python-like code, printed too unless told otherwise."""
        return self.graph.print_readable(print_output)

    def print_tabular(self, print_output: bool = True) -> str:
        """The graph as a table, printed too unless told otherwise."""
        return self.graph.print_tabular(print_output)

    def _repr_html_(self) -> str:
        """For notebooks: what it takes, and what it calls how often."""
        takes = [(b.kind, b.target or b.name, _input_text(b)) for b in self.signature.bindings]
        ops = Counter(step.op for step in self._plan.steps)
        return table(repr(self), ("operator", "calls"), ops.most_common(), True) + table(
            f"{len(takes)} inputs", ("kind", "name", "value"), takes, True
        )

    def free(self, dimensions: Mapping[str, str]) -> "GraphModule":
        """The program with dimensions of its inputs left open that it was exported with fixed:
        `{"input_ids:0": "batch"}`, by the input's name and the dimension; the values are names for
        `sizes`.

        Numbers that the export has baked in follow where the recorded sizes explain them: `baked`
        has a row for each, and for a call that does not follow. `ValueError` for what is no such
        dimension.
        """
        terms, recorded = self._places_of(dimensions)
        users = [b for b in self.signature.user_bindings if b.meta is not None]
        metas = {b.slot: self._spec_of(b).sizes for b in users}
        mode, executable, values = self._prepare_fake(None)

        def inputs(terms: Mapping[Place, Term], sizes: Mapping[str, int]) -> list[Any]:
            numbers, given = {**self._recorded_sizes, **sizes}, list(values)
            for binding in users:
                freed = freed_binding(binding, metas, terms)
                spec = spec_of(sized(freed, numbers), self.path, f"input {binding.name[:80]}")
                given[binding.slot] = fake_tensor(spec, None)
            return given

        with mode:
            found = find_baked(executable.plan, inputs, metas, terms, recorded)
        made = copy.copy(self)
        for name in ("sizes", "_facts", "_recorded_sizes"):
            made.__dict__.pop(name, None)
        made._fake_runs, made._cases, made._real = {}, {}, None
        made.baked = tuple(found.baked)
        bindings = [freed_binding(b, metas, found.terms) for b in self.signature.bindings]
        made.signature = self.signature._replace(
            bindings=tuple(bindings),
            user_bindings=tuple(b for b in bindings if not b.is_weight),
            ranges={**self.signature.ranges, **dict.fromkeys(recorded, RangeConstraint(1, None))},
        )
        made._terms_at = found.terms
        made._plan, made._terms = with_terms(self._plan, found.terms)
        made._freed = frozenset(recorded)
        return made

    def _places_of(
        self, dimensions: Mapping[str, str]
    ) -> tuple[dict[Place, Term], dict[str, int]]:
        """Where the dimensions stand, and the recorded size of each name."""
        terms: dict[Place, Term] = {}
        recorded: dict[str, int] = {}
        if self._freed:
            raise ValueError(f"{plain(self.path)}: free all dimensions at once")
        for text, name in dimensions.items():
            place, size = self._place_of(text)
            if recorded.setdefault(name, size) != size:
                problem = f"{text} is {size}, another {name} is {recorded[name]}"
                raise ValueError(f"{plain(self.path)}: {plain(problem)}")
            if any(name in open_size.names for open_size in self.sizes):
                raise ValueError(f"{plain(self.path)}: there is a size {plain(name)} already")
            terms[place] = Term(1, (name,))
        return terms, recorded

    def _place_of(self, text: str) -> tuple[Place, int]:
        """`input_ids:0`, and its recorded size."""
        name, _, number = text.rpartition(":")
        dim = int(number) if number.isdecimal() else -1
        users = [b for b in self.signature.user_bindings if b.meta is not None]
        for binding in users:
            sizes = self._spec_of(binding).sizes
            if binding.name == name and 0 <= dim < len(sizes):
                assert binding.meta is not None
                if binding.meta.sizes[dim].tag != "as_int":
                    raise ValueError(f"{plain(self.path)}: {plain(text)} is open already")
                return Place(-1, binding.slot, dim), sizes[dim]
        there = "; ".join(f"{b.name}{list(self._spec_of(b).sizes)}" for b in users)
        raise ValueError(f"{plain(self.path)}: no dimension {plain(text)}: there is {plain(there)}")

    @cached_property
    def _recorded_sizes(self) -> dict[str, int]:
        """The sizes' recorded values."""
        return {size.symbol: size.recorded or 0 for size in self.sizes}

    # -- at load --------------------------------------------------------------------------------

    def _make_plan(self) -> Plan:
        plan = plan_graph(self.graph, self.path, self._place + _GRAPH)
        return with_terms(plan, self._terms_at)[0] if self._terms_at else plan

    def _spec_of(self, binding: Binding) -> TensorSpec:
        """The recorded metadata of a tensor that the graph takes."""
        assert binding.meta is not None
        return spec_of(binding.meta, self.path, self._place_in_file(binding))

    def _place_in_file(self, binding: Binding) -> str:
        return f"{self._place}{_GRAPH}.tensor_values.{binding.name[:80]}"

    def _all_weights(self, archive: Archive | JsonFile) -> dict[str, Weight]:
        """A `Weight` for each parameter, buffer and constant, checked against the graph."""
        configured = resolve_weights(archive)
        found: dict[str, Weight] = {}
        for i, binding in enumerate(self.signature.bindings):
            if binding.is_weight:
                spec = self._spec_of(binding)
                weight = configured.get(binding.target)
                if weight is None and isinstance(archive, Archive):
                    place = f"{self._place}graph_module.signature.input_specs[{i}]"
                    problem = f"no weight or constant {binding.target[:80]!a} in the archive"
                    raise ModelFileError(self.path, place, problem)
                weight = weight or Weight(spec, None, 0, binding.kind == "parameter")
                self._check_weight(binding, spec, weight.spec)
                found[binding.target] = weight
        return found

    def _check_weight(self, binding: Binding, recorded: TensorSpec, given: TensorSpec) -> None:
        if (recorded.sizes, recorded.dtype) != (given.sizes, given.dtype):
            place = f"{self._place}{_GRAPH}.tensor_values.{binding.name[:80]}"
            problem = (
                f"{recorded.dtype} {list(recorded.sizes)}, but the weight "
                f"{binding.target[:80]!a} is {given.dtype} {list(given.sizes)}"
            )
            raise ModelFileError(self.path, place, problem)

    def _ready_plan(self) -> Plan:
        """The plan of a real run, which needs every operator."""
        if self._plan.missing:
            self._look_again()
        if self._plan.missing:
            raise MissingOperatorsError(self.path, self._plan.missing)
        return self._plan

    # -- weights --------------------------------------------------------------------------------

    def _store_of(self, name: str) -> WeightStore:
        return self.state_dict if name in self.state_dict else self.constants

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Use the given tensors (or numpy arrays) as weights: same shapes and dtypes, memory is
        shared, not copied.

        `strict`: the names must be those of `state_dict`. Raises `RuntimeError`; then nothing has
        changed.
        """
        missing = [n for n in self.state_dict if n not in state] if strict else []
        unknown = [n for n in state if n not in self._weights] if strict else []
        if missing or unknown:
            problem = f"missing weights {missing[:5]}, unknown {unknown[:5]}"
            raise RuntimeError(f"{plain(self.name)}: {problem}")
        tensors = {n: _as_tensor(v) for n, v in state.items() if n in self._weights}
        for name, tensor in tensors.items():
            self._store_of(name).check(name, tensor)
        for name, tensor in tensors.items():
            self._store_of(name).assign(name, tensor)
        self._made_up -= tensors.keys()
        self._real = None

    def load_safetensors(
        self, *paths: str | os.PathLike[str], prefix: str = "", strict: bool = True
    ) -> None:
        """Use the weights of safetensors files, whose names get `prefix` put before them.

        A tied weight may be there under one of its names only. `strict`: every weight must be
        found, and every tensor used. Raises `OSError` or `RuntimeError`; then nothing has changed.
        """
        state: dict[str, Any] = {}
        for path in paths:
            state.update(read_tensors(path, None if strict else self._weights, prefix))
        by_place = {self._tied_place(name): name for name in state if name in self._weights}
        for name in self.state_dict:
            if name not in state and self._tied_place(name) in by_place:
                state[name] = state[by_place[self._tied_place(name)]]
        try:
            self.load_state_dict(state, strict)
        except RuntimeError as error:
            files = ", ".join(str(path) for path in paths)
            raise RuntimeError(f"{files}: {error}") from None

    def _tied_place(self, name: str) -> tuple[str, TensorSpec]:
        """The same for names that are the same tensor in the archive."""
        weight = self._weights[name]
        return weight.record or f"only {name}", weight.spec

    def without_data(self) -> list[str]:
        """Names of weights and constants of which the file has only the metadata."""
        return self.state_dict.without_data() + self.constants.without_data()

    def fill_missing_weights(self, seed: int = 0) -> None:
        """Give small random values to every weight without data."""
        rng = np.random.default_rng(seed)
        for name in self.without_data():
            values = self._random_tensor(name, self._weights[name].spec, rng, 0.05)
            self._store_of(name).assign(name, values)
            self._made_up.add(name)
        self._real = None

    def random_inputs(self, seed: int = 0, sizes: Mapping[str, int] | None = None) -> list[Any]:
        """Inputs of the recorded shapes, or with other `sizes` (see `run`): normal floats, and
        integers 0 or 1."""
        rng = np.random.default_rng(seed)
        return [
            self._random_tensor(b.name, spec, rng, 1.0) if spec is not None else value
            for b, spec, value in self._sized_inputs(self._values_of(sizes))
        ]

    def _values_of(self, sizes: Mapping[str, int] | None) -> dict[str, int] | None:
        """Values for all symbols; None when no size is set, and all are as recorded."""
        try:
            return chosen(self.sizes, sizes) if sizes else None
        except ValueError as error:
            raise ValueError(f"{plain(self.path)}: {error}") from None

    def _sized_inputs(
        self, values: Mapping[str, int] | None
    ) -> Iterator[tuple[Binding, TensorSpec | None, Any]]:
        """For each of the user's inputs its metadata or, if it is no tensor, its value."""
        for binding in self.signature.user_bindings:
            if not binding.is_tensor:
                known = values is not None
                value = sized_number(binding, self.graph, values or {}) if known else binding.value
                yield binding, None, value
            elif values is None:
                yield binding, self._spec_of(binding), None
            else:
                place = f"input {binding.name[:80]}"
                yield binding, spec_of(sized(binding, values), self.path, place), None

    def _random_tensor(
        self, name: str, spec: TensorSpec, rng: np.random.Generator, scale: float
    ) -> Any:
        try:
            return random_tensor(spec, rng, scale)
        except (MemoryError, ValueError):  # numpy has either for what no memory holds
            problem = f"no memory for a {spec.dtype} tensor of {list(spec.sizes)}"
            raise ModelFileError(self.path, name[:80], problem) from None

    # -- real runs ------------------------------------------------------------------------------

    def __call__(self, *inputs: Any) -> Any:
        """Compute the program on the CPU; the result is nested as the exported module's was."""
        return self._compute(inputs, RunLog(capacity=self._log_size), None)

    def _compute(self, inputs: tuple[Any, ...], log: RunLog, progress: Progress | None) -> Any:
        executable, weights = self._ready_real()
        values = self._with_inputs(weights, map(_as_tensor, self._bind(inputs)))
        log.add_inputs(executable.plan, values)
        outputs = executable.run(values, log, progress)
        self._log_size = len(log) + 64
        return self.signature.deliver(values, outputs)

    def _bind(self, inputs: tuple[Any, ...]) -> list[Any]:
        """The caller's inputs, checked; a mistake is told with the model's name."""
        try:
            return self.signature.bind(inputs)
        except RuntimeError as error:
            raise RuntimeError(plain(f"{self.path}: {error}")) from None

    def _with_inputs(self, weights: list[Any], inputs: Iterable[Any]) -> list[Any]:
        """A value for each of the graph's inputs: `weights` with the user's in their places."""
        values = list(weights)
        for binding, value in zip(self.signature.user_bindings, inputs, strict=True):
            values[binding.slot] = value
        if self._terms:
            users = [values[b.slot] for b in self.signature.user_bindings]
            numbers = shape_values(self.sizes, lambda i: users[i].shape)
            values[-len(self._terms) :] = [term.value(numbers) for term in self._terms]
        return values

    def _ready_real(self) -> tuple[Executable, list[Any]]:
        plan = self._ready_plan()
        if self._real is None:
            empty = self.without_data()
            if empty:
                raise RuntimeError(
                    plain(
                        f"{self.path}: no data for {len(empty)} weights "
                        f"({', '.join(empty[:3])}, ...): "
                        "give them with load_state_dict, or run with fake=True"
                    )
                )
            self.state_dict.load()
            self.constants.load()
            values = [
                self._store_of(b.target)[b.target] if b.is_weight else b.value
                for b in self.signature.bindings
            ]
            values += [None] * len(self._terms)
            self._real = Executable(plan, "cpu", self.path), values
        return self._real

    # -- runs with a report ---------------------------------------------------------------------

    def run(
        self,
        *inputs: Any,
        fake: bool = True,
        device: Any = None,
        timed: bool | None = None,
        progress: Progress | None = None,
        sizes: Mapping[str, int] | None = None,
        symbolic: bool = False,
    ) -> Report:
        """Run and report. `inputs` may be left out: then they have the recorded metadata (and
        random values in a real run).

        `sizes`: instead of inputs, values of sizes that the program leaves open, by any name of
        `self.sizes` (`{"batch": 64, "input_ids:1": 2048}`); `ValueError` for others.

        `fake`: no data, no kernel, no weight is read; `device` then moves the whole program
        (`"cuda"` needs none here). `timed`: record each call's time (real runs do unless told
        otherwise). `progress(calls done)` is called now and then.

        `symbolic`: run with symbols in place of the open sizes. The report is that of the recorded
        sizes (or of `sizes`), with every size, the memory and the operations as expressions too,
        and `report.at(sizes)` gives it at others at once. A program whose data decide runs so, too.
        """
        if symbolic:
            if inputs or not fake or timed:
                raise ValueError("run: symbolic takes sizes, and is neither timed nor real")
            cases = self.cases(device)
            return self._report_at(
                device, sizes or {}, lambda values: cases.fresh(values, progress)
            )
        if inputs and sizes:
            raise ValueError("run: sizes are those of the inputs: give one of them")
        if fake:
            name = str(dispatch.device(device)) if device is not None else None
            try:
                return self._run_fake(inputs, name, bool(timed), progress, self._values_of(sizes))
            except (DataDependentOutputException, DynamicOutputShapeException):
                if inputs or timed:
                    raise
            return self.run(device=device, sizes=sizes, progress=progress, symbolic=True)
        if device is not None and str(dispatch.device(device)) != "cpu":
            raise RuntimeError(f"a real run is on the cpu; a fake one may be on {device}")
        log = RunLog(timed=timed is None or timed, capacity=self._log_size)
        self._ready_real()
        given = inputs or tuple(self.random_inputs(sizes=sizes))
        start = time.perf_counter_ns()
        self._compute(given, log, progress)
        took = time.perf_counter_ns() - start
        n_inputs = 0 if inputs else sum(b.is_tensor for b in self.signature.user_bindings)
        rows = self._size_rows(self._bind(given))
        facts = RunFacts(
            "cpu", "cpu", _NO_CACHE, took, (), len(self._made_up), n_inputs, rows,
            self.baked_rows(),
        )  # fmt: skip
        return Report(self._facts, log, facts)

    def _run_fake(
        self,
        inputs: tuple[Any, ...],
        device: str | None,
        timed: bool,
        progress: Progress | None,
        sizes: Mapping[str, int] | None,
    ) -> Report:
        if self._plan.missing:
            self._look_again()
        if self._plan.missing and sizes:
            names = ", ".join(self._plan.missing[:3])
            problem = f"not registered: {names}: known at the recorded sizes only"
            raise RuntimeError(plain(f"{self.path}: {problem}"))
        prepared = self._fake_runs.get(device)
        if prepared is None:
            prepared = self._fake_runs[device] = self._prepare_fake(device)
        mode, executable, values = prepared
        if inputs:
            values = self._with_inputs(values, self._fake_inputs(inputs, mode, device))
        elif sizes:
            with mode:
                values = self._with_inputs(
                    values,
                    [
                        fake_tensor(spec, device) if spec is not None else value
                        for _, spec, value in self._sized_inputs(sizes)
                    ],
                )
        log = RunLog(timed=timed, fake=True, capacity=self._log_size)
        before = mode.cache_info()
        start = time.perf_counter_ns()
        with mode:
            log.add_inputs(executable.plan, values)
            executable.run(values, log, progress)
        wall_ns = time.perf_counter_ns() - start
        self._log_size = len(log) + 64
        cache = _cache_difference(before, mode.cache_info())
        place = device or self._recorded_device()
        users = [values[b.slot] for b in self.signature.user_bindings]
        rows = self._size_rows(users)
        facts = RunFacts(
            place, "fake", cache, wall_ns, self._plan.missing, sizes=rows, baked=self.baked_rows()
        )
        return Report(self._facts, log, facts)

    # -- symbolic runs --------------------------------------------------------------------------

    def cases(self, device: Any = None) -> Cases:
        """What the program does on a device, as symbolic runs that are kept."""
        if self._plan.missing:
            self._look_again()
        name = str(dispatch.device(device)) if device is not None else None
        if name not in self._cases:
            self._cases[name] = Cases(
                lambda values, progress: self._run_case(name, values, progress)
            )
        return self._cases[name]

    def _report_at(
        self,
        device: Any,
        sizes: Mapping[str, int],
        case_at: Callable[[Mapping[str, int]], Case],
        asked_of: Case | None = None,
    ) -> Report:
        """A report from the case that these sizes belong to; they may name numbers of data, as
        they are called in `asked_of`."""
        of_data = {name: n for name, n in sizes.items() if _OF_DATA.fullmatch(name)}
        wanted = {name: n for name, n in sizes.items() if name not in of_data}
        values = self._values_of(wanted) or self._for_symbols()
        case = case_at(values)
        if asked_of is not None and asked_of is not case:
            of_data = case.named_here(of_data, asked_of)
        for name, number in of_data.items():
            find(case.from_data, name).check(number)
        values = case.complete({**values, **of_data})
        rows = self._rows_of((*self.sizes, *case.from_data), values)
        place = str(dispatch.device(device)) if device is not None else self._recorded_device()
        facts = RunFacts(
            place, "fake", case.cache, case.wall_ns, self._plan.missing, sizes=rows,
            baked=self.baked_rows(),
        )  # fmt: skip
        cases = self.cases(device)
        at = At(case, values, lambda other: self._report_at(device, other, cases.at, case))
        return Report(self._facts, case.log, facts, at)

    def _for_symbols(self) -> dict[str, int]:
        """The recorded sizes; 2 where these would be plain numbers."""
        found = chosen(self.sizes, {})
        for size in self.sizes:
            if found[size.symbol] < LEAST and (size.high is None or size.high >= LEAST):
                found[size.symbol] = LEAST
        return found

    def _run_case(
        self, device: str | None, values: Mapping[str, int], progress: Progress | None
    ) -> Case:
        start = time.perf_counter_ns()
        made = new_symbols(self.sizes, values)
        prepared = self._prepare_fake(device, made)
        return self._ran_case(made, prepared, None, start, progress)

    def _ran_case(
        self,
        made: Symbols,
        prepared: _FakeRun,
        learnt: Sequence[tuple[int, int]] | None,
        start: int,
        progress: Progress | None,
    ) -> Case:
        """`learnt`: of a run that is made again, what the first one learnt."""
        mode, executable, inputs = prepared
        log = RunLog(fake=True, capacity=self._log_size, env=made.env)
        before = mode.cache_info()
        with mode:
            log.add_inputs(executable.plan, inputs)
            executable.run(inputs, log, progress)
        self._log_size = len(log) + 64
        cache = _cache_difference(before, mode.cache_info())
        known = log.learnt if learnt is None else learnt

        def again() -> Case:
            return self._ran_case(made, prepared, known, time.perf_counter_ns(), None)

        took = time.perf_counter_ns() - start
        return Case(made, log, known, self._facts.inputs, cache, took, again)

    def _size_rows(self, inputs: list[Any]) -> tuple[dict[str, Any], ...]:
        """What the report says of the open sizes, whose values are those of the run's inputs."""
        return self._rows_of(self.sizes, shape_values(self.sizes, lambda i: inputs[i].shape))

    def baked_rows(self) -> list[dict[str, Any]] | None:
        """The report's rows of `baked`; None unless dimensions were freed."""
        return [row._asdict() for row in self.baked] if self._freed else None

    def _rows_of(
        self, sizes: Iterable[OpenSize], values: Mapping[str, int]
    ) -> tuple[dict[str, Any], ...]:
        return tuple(
            {"name": s.name, "symbol": s.symbol, "names": list(s.names), "min": s.low,
             "max": s.high, "value": values.get(s.symbol)}
            for s in sizes
        )  # fmt: skip

    def _look_again(self) -> None:
        """Plan anew when an operator that was missing has been registered since."""
        plan = self._make_plan()
        if plan.missing != self._plan.missing:
            self._plan = plan
            self._fake_runs.clear()
            self._cases.clear()

    def _prepare_fake(self, device: str | None, symbols: Symbols | None = None) -> _FakeRun:
        """What runs on a device, with symbols for the open sizes or as recorded."""
        mode = dispatch.FakeTensorMode(shape_env=symbols.env if symbols is not None else None)
        shared: dict[str, Any] = {}
        with mode:
            if device is not None:
                # "cuda" becomes "cuda:0", which the program's own device arguments must agree with.
                device = str(dispatch.empty_strided((0,), (1,), device=device).device)

            def new(meta: TensorMeta, place: str) -> Any:
                spec = spec_of(meta, self.path, place)
                with told_of(self.path, place):
                    return fake_tensor(in_symbols(spec, meta, symbols), device)

            recorded = Recorded(self.graph, self.path, self._place + _GRAPH, new)
            plan = with_recorded(self._plan, recorded)
            executable = Executable(plan, device, self.path)
            values = [
                self._fake_value(b, device, shared, symbols) for b in self.signature.bindings
            ]
            numbers = symbols.numbers if symbols is not None else self._recorded_sizes
            values += [term.value(numbers) for term in self._terms]
        return _FakeRun(mode, executable, values)

    def _fake_value(
        self,
        binding: Binding,
        device: str | None,
        shared: dict[str, Any],
        symbols: Symbols | None,
    ) -> Any:
        if binding.is_weight:
            return fake_weight(self._weights[binding.target], device, shared)
        if binding.meta is not None:
            spec = self._spec_of(binding)
            with told_of(self.path, self._place_in_file(binding)):
                return fake_tensor(in_symbols(spec, binding.meta, symbols), device)
        recorded = self.graph.sym_int_values.get(binding.name)
        if symbols is None or recorded is None:
            return binding.value
        with told_of(self.path, f"{self._place}{_GRAPH}.sym_int_values.{binding.name[:80]}"):
            return symbolic_value(recorded, symbols.numbers)

    def _fake_inputs(self, inputs: tuple[Any, ...], mode: Any, device: str | None) -> list[Any]:
        """Fake stand-ins with the metadata of the tensors given."""
        given = self._bind(inputs)
        with mode:
            return [
                fake_tensor(self._given_spec(b, v), device) if b.is_tensor else v
                for b, v in zip(self.signature.user_bindings, given, strict=True)
            ]

    def _given_spec(self, binding: Binding, value: Any) -> TensorSpec:
        """The metadata of a given tensor or array; from the CPU it goes where the program is."""
        tensor = _as_tensor(value)
        dtype = str(tensor.dtype).rpartition(".")[2]
        device, offset = str(tensor.device), tensor.storage_offset()
        if device == "cpu":
            device = self._spec_of(binding).device
        return TensorSpec(tuple(tensor.shape), tuple(tensor.stride()), offset, dtype, device)

    def _recorded_device(self) -> str:
        tensors = (b for b in self.signature.bindings if b.is_tensor)
        first = next(tensors, None)
        return self._spec_of(first).device if first is not None else "cpu"

    @cached_property
    def _facts(self) -> ModelFacts:
        """What every report says of the model."""
        distinct = {
            (w.record or name, w.spec): w.spec for name, w in self._weights.items() if w.is_param
        }
        outputs = [self._plan.outputs[i] for i in self.signature.user_outputs]
        return ModelFacts(
            self.name,
            sum(spec.numel for spec in distinct.values()),
            sum(spec.nbytes for spec in distinct.values()),
            tuple(b.slot for b in self.signature.user_bindings),
            tuple(ref.number for ref in outputs if isinstance(ref, Slot)),
            tuple(
                InputFact(_KINDS.get(b.kind, b.kind), b.target) if b.is_weight
                else InputFact("input", b.name)
                for b in self.signature.bindings
            ),
            tuple(
                WeightFact(name, w.spec.numel, w.spec.nbytes, (w.record or name, w.spec))
                for name, w in self._weights.items() if w.is_param
            ),
            frozenset(name for name, w in self._weights.items() if w.record is None),
            {
                ref.number: owner for ref, owner in self.signature.owners(self._plan.outputs)
                if isinstance(ref, Slot)
            },
        )  # fmt: skip


_KINDS = {"tensor_constant": "constant"}
_OF_DATA = re.compile(r"z?u[f\d]\d*", re.ASCII)
_NO_CACHE: Mapping[str, Any] = {"hits": 0, "misses": 0, "bypasses": {}}


def _chosen(weights: Mapping[str, Weight], state: set[str], inside: bool) -> dict[str, Weight]:
    return {name: w for name, w in weights.items() if (name in state) == inside}


def _input_text(binding: Binding) -> str:
    return type_text(binding.meta) if binding.meta is not None else repr(binding.value)


def _as_tensor(value: Any) -> Any:
    return from_numpy(value) if isinstance(value, np.ndarray) else value


def _cache_difference(before: Any, after: Any) -> dict[str, Any]:
    bypasses = {
        reason: count - before.bypasses.get(reason, 0)
        for reason, count in after.bypasses.items()
        if count > before.bypasses.get(reason, 0)
    }
    return {
        "hits": after.hits - before.hits,
        "misses": after.misses - before.misses,
        "bypasses": bypasses,
    }
