"""Many models at many sizes: a row of figures for each.

`plan_sweep` makes the tasks, each some points of one model on one device; `rows_of` is what a
worker does with a task (`run_sweep` gives it to processes of this machine, or to a
`dask.distributed` cluster): load the model, run it once with symbols, evaluate the points. Whatever
goes wrong with a model, at a point or with a worker is a row with its `error`, so that the rest
goes on.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import get_context
from typing import Any, NamedTuple

from dispatch.graph.errors import plain
from dispatch.graph.freeing import read_free
from dispatch.graph.hardware import hardware
from dispatch.graph.imports import import_operators
from dispatch.graph.module import GraphModule, load
from dispatch.graph.report import Report
from dispatch.graph.sizes import find

__all__ = ["Task", "columns_of", "key_of", "plan_sweep", "read_vary", "rows_of", "run_sweep"]

Row = dict[str, Any]
ReportAt = Callable[[Mapping[str, int]], Report]
Vary = Mapping[str, Sequence[int] | None]
_FORM = re.compile(r"\s*([^=\s]+)\s*(?:=\s*(\S+))?\s*", re.ASCII)
_RANGE = re.compile(r"(\d{1,18}):(\d{1,18})(?::(\*?)(\d{1,18}))?", re.ASCII)
_POINTS = 32  # of a task
_DOUBLINGS = 8  # of a size without values
_MOST_VALUES = 100_000
_MOST_POINTS = 1_000_000
_CONNECT_SECONDS = 20
_ERRORS = (
    OSError, RuntimeError, TypeError, ValueError, LookupError, ArithmeticError, MemoryError,
)  # fmt: skip


class Task(NamedTuple):
    """Points of one model on one device; a point has no value for a size whose values are those of
    the model's own range. `skip`: keys of rows that are known. `imports`: what a worker imports."""

    path: str
    device: str | None
    free: tuple[str, ...]
    hardware: str | None
    points: tuple[Mapping[str, int | None], ...]
    skip: frozenset[tuple[Any, ...]]
    imports: tuple[str, ...]


def read_vary(settings: Iterable[str]) -> dict[str, list[int] | None]:
    """`batch=1,2,4`, `seq=128:1024:128`, `seq=128:1024:*2` -> values by name; `batch` alone: None.
    `ValueError` for what is no such setting."""
    found: dict[str, list[int] | None] = {}
    for text in settings:
        match = _FORM.fullmatch(text)
        values = _values(match[2]) if match is not None and match[2] else None
        if match is None or (match[2] and values is None):
            raise ValueError(
                f"--vary {text!r}: expected NAME, NAME=1,2,4 or NAME=FROM:TO[:STEP|:*FACTOR]"
            )
        if match[1] in found:
            raise ValueError(f"--vary: {match[1]} is given twice")
        found[match[1]] = values
    return found


def _values(text: str) -> list[int] | None:
    """The values of a setting, each once; None for what is none."""
    found: dict[int, None] = {}
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is not None:
            low, high, times, step = int(match[1]), int(match[2]), match[3], int(match[4] or 1)
            if high < low or step < (2 if times else 1) or (times and not low):
                return None
            while low <= high:
                if len(found) == _MOST_VALUES:
                    raise ValueError(f"--vary: {text} are more than {_MOST_VALUES:,} values")
                found[low] = None
                low = low * step if times else low + step
        elif part.isdecimal() and len(part) < 19:
            found[int(part)] = None
        else:
            return None
    return list(found)


def columns_of(names: Iterable[str]) -> list[str]:
    """The keys of a row, in order; `names`: the sizes that vary."""
    return [
        "model", "device", "hardware", *names, "parameters", "parameter_bytes", "peak_bytes",
        "flops", "calls", "least_ns", "fits", "error",
    ]  # fmt: skip


def key_of(row: Mapping[str, Any], names: Iterable[str]) -> tuple[Any, ...]:
    """What a row is about: equal for a row and the same one of a run before."""
    values = (row.get(name) for name in ("model", "device", "hardware", *names))
    return tuple("" if value is None else str(value) for value in values)


def plan_sweep(
    paths: Iterable[str],
    vary: Vary,
    *,
    devices: Sequence[str | None] = (None,),
    free: Sequence[str] = (),
    on: Sequence[str | None] = (None,),
    skip: Iterable[tuple[Any, ...]] = (),
    imports: Sequence[str] = (),
) -> list[Task]:
    """The tasks of a sweep: all `paths` on all `devices` at all combinations of values, with
    estimates for each hardware of `on`."""
    values = [[None] if found is None else found for found in vary.values()]
    if (count := math.prod(map(len, values))) > _MOST_POINTS:
        raise ValueError(f"--vary: {count:,} combinations, and {_MOST_POINTS:,} are the most")
    points = [dict(zip(vary, row, strict=True)) for row in itertools.product(*values)]
    known, made = frozenset(skip), tuple(imports)
    return [
        Task(path, device, tuple(free), hardware_name, tuple(points[i : i + _POINTS]), known, made)
        for path, device, hardware_name in itertools.product(paths, devices, on)
        for i in range(0, len(points), _POINTS)
    ]


# -- what a worker does -------------------------------------------------------------------------


def rows_of(task: Task) -> list[Row]:
    """A row for each point of a task."""
    try:
        for name in task.imports:
            import_operators(name)
        module = _loaded(task.path, task.free)
        points = [point for row in task.points for point in _filled(module, row)]
    except _ERRORS as error:
        return [_row(task, point, error=_text(error)) for point in task.points]
    wanted = [p for p in points if key_of(_row(task, p), p) not in task.skip]
    if not wanted:
        return []
    report_at = _reports(module, task.device)
    return [_measured(task, report_at, point) for point in wanted]


def _reports(module: GraphModule, device: str | None) -> ReportAt:
    """What gives the report at a point: one symbolic run for all, or a run for each where that
    cannot be made."""
    try:
        return module.run(symbolic=True, device=device).at
    except _ERRORS:
        return lambda point: module.run(sizes=point, device=device)


@lru_cache(maxsize=2)
def _loaded(path: str, free: tuple[str, ...]) -> GraphModule:
    module = load(path)
    dimensions = read_free(free)
    return module.free(dimensions) if dimensions else module


def _filled(module: GraphModule, point: Mapping[str, int | None]) -> Iterator[dict[str, int]]:
    """The point with values for sizes that have none: from the smallest doubled, within the range
    of the export."""
    values = []
    for name, value in point.items():
        size = find(module.sizes, name)
        low, high = max(size.low, 1), size.high
        doubled = [low * 2**i for i in range(_DOUBLINGS)]
        known = [n for n in doubled if high is None or n <= high]
        values.append(known if value is None else [value])
    for row in itertools.product(*values):
        yield dict(zip(point, row, strict=True))


def _measured(task: Task, report_at: ReportAt, point: Mapping[str, int]) -> Row:
    try:
        found = report_at(point)
        row = _row(
            task, point, parameters=found.parameters, parameter_bytes=found.parameter_bytes,
            peak_bytes=found.peak_bytes, flops=found.flops, calls=len(found.calls),
        )  # fmt: skip
        if task.hardware is not None:
            estimate = found.roofline(hardware(task.hardware))
            row["least_ns"], row["fits"] = round(estimate["ns"]), estimate["fits"]
        return row
    except _ERRORS as error:
        return _row(task, point, error=_text(error))


def _row(task: Task, point: Mapping[str, int | None], **figures: Any) -> Row:
    known = {"model": task.path, "device": task.device, "hardware": task.hardware, **point}
    return {name: {**known, **figures}.get(name) for name in columns_of(point)}


def _text(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename:
        return plain(f"{error.filename}: {error.strerror}")
    return plain(" ".join(str(error).split())[:300] or type(error).__name__)


# -- who does it --------------------------------------------------------------------------------


def run_sweep(
    tasks: Sequence[Task], jobs: int = 1, scheduler: str | None = None
) -> Iterator[list[Row]]:
    """The rows of each task, as they are done: in this process (`jobs` 1), in that many, or by the
    workers of the dask scheduler at an address, for whom the models' paths must be the same."""
    if scheduler is not None:
        yield from _on_cluster(tasks, scheduler)
    elif jobs == 1 or len(tasks) < 2:
        yield from map(rows_of, tasks)
    else:
        yield from _in_processes(tasks, min(jobs, len(tasks)))


def _in_processes(tasks: Sequence[Task], jobs: int) -> Iterator[list[Row]]:
    """A task that ends its process takes the pool with it: what was not done is tried again, each
    in a process of its own."""
    left: list[Task] = []
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        futures: dict[Future[list[Row]], Task] = {pool.submit(rows_of, t): t for t in tasks}
        try:
            for future in as_completed(futures):
                try:
                    yield future.result()
                except BrokenProcessPool:
                    left.append(futures[future])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    for task in left:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            try:
                yield pool.submit(rows_of, task).result()
            except BrokenProcessPool:
                problem = "the process ended: not enough memory, or a crash"
                yield [_row(task, point, error=problem) for point in task.points]


def _on_cluster(tasks: Sequence[Task], scheduler: str) -> Iterator[list[Row]]:
    try:
        from distributed import Client, as_completed as completed
    except ImportError:
        raise ImportError("--scheduler needs dask.distributed: pip install distributed") from None
    with Client(scheduler, timeout=_CONNECT_SECONDS) as client:
        futures = {client.submit(rows_of, task, pure=False): task for task in tasks}
        for future in completed(list(futures)):
            if future.status == "finished":
                yield future.result()
            else:
                task, problem = futures[future], _text(future.exception() or RuntimeError("lost"))
                yield [_row(task, point, error=problem) for point in task.points]
