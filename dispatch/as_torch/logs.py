"""`torch._logging`, and what tests read logs with (torch.testing._internal.logging_utils).

A log is one of Python's: that of a module, or `MODULE.__ARTIFACT` for one kind of what the module
tells (`getArtifactLogger`). An artifact's is silent until `set_logs` names it. Nothing is written
to traces: `trace_structured` drops what it gets.
"""

import contextlib
import functools
import io
import logging
import unittest
from collections.abc import Callable, Iterator
from typing import Any

__all__ = [
    "LazyString", "LoggingTestCase", "dtrace_structured", "getArtifactLogger",
    "get_structured_logging_overhead", "kwargs_to_settings", "log_api", "log_settings",
    "logs_to_string", "make_logging_test", "make_settings_test", "multiple_logs_to_string",
    "preserve_log_state", "set_logs", "trace_structured", "warning_once",
]  # fmt: skip

# What `set_logs` calls the logs of a part; a word that is not here names an artifact.
_PARTS = {
    "all": ("torch",),
    "dynamic": ("torch.fx.experimental.symbolic_shapes", "torch.fx.experimental.sym_node"),
    "torch": ("torch",),
}
_artifacts: dict[str, list[logging.Logger]] = {}
_enabled: dict[str, Any] = {}


def getArtifactLogger(module_qname: str, artifact_name: str) -> logging.Logger:
    """The log of one kind of what a module tells; silent until `set_logs(artifact_name=True)`."""
    log = logging.getLogger(f"{module_qname}.__{artifact_name}")
    known = _artifacts.setdefault(artifact_name, [])
    if log not in known:
        known.append(log)
        log.setLevel(_level_of(_enabled.get(artifact_name)))
    return log


def _level_of(setting: Any) -> int:
    """A level as it is; True is DEBUG, and False above every level."""
    if isinstance(setting, int) and not isinstance(setting, bool):
        return setting
    return logging.DEBUG if setting else logging.CRITICAL + 1


def set_logs(*, modules: dict[str, Any] | None = None, **settings: Any) -> None:
    """Choose logs: `dynamic=logging.DEBUG` for a part, `guards=True` for an artifact.

    `modules` gives levels by a module's name. Each call begins anew: what it does not name is as
    it was at the start.

    Raises: ValueError for a level that is none.
    """
    for name, value in (*settings.items(), *(modules or {}).items()):
        if not isinstance(value, int):
            raise ValueError(f"set_logs: expected a level or a bool for {name}, got {value!r}")
    for names in _PARTS.values():
        for name in names:
            logging.getLogger(name).setLevel(logging.NOTSET)
    _enabled.clear()
    _enabled.update(settings)
    for name, value in settings.items():
        for where in _PARTS.get(name, ()):
            logging.getLogger(where).setLevel(value)
    for name, value in (modules or {}).items():
        logging.getLogger(name).setLevel(value)
    for name, logs in _artifacts.items():
        for log in logs:
            log.setLevel(_level_of(_enabled.get(name)))


@functools.cache
def warning_once(log: logging.Logger, *args: Any, **kwargs: Any) -> None:
    """A warning that is given once for its arguments."""
    log.warning(*args, **kwargs)


def trace_structured(*args: Any, **kwargs: Any) -> None:
    """Nothing: there is no trace."""


dtrace_structured = trace_structured


def get_structured_logging_overhead() -> None:
    """None: there is no trace."""


class LazyString:
    """A text that is made when somebody reads it: `func(*args, **kwargs)`."""

    def __init__(self, func: Callable[..., str], *args: Any, **kwargs: Any) -> None:
        self.func, self.args, self.kwargs = func, args, kwargs

    def __str__(self) -> str:
        return self.func(*self.args, **self.kwargs)


# ---- tests


@contextlib.contextmanager
def preserve_log_state() -> Iterator[None]:
    """The logs are afterwards as they are now."""
    before = dict(_enabled)
    try:
        yield
    finally:
        set_logs(**before)


def log_settings(settings: str) -> contextlib.ExitStack:
    """Logs as the text says until the stack is closed: "+dynamic,-torch,guards"."""
    return log_api(**dict(_setting(word) for word in settings.split(",") if word))


def _setting(word: str) -> tuple[str, Any]:
    name = word.lstrip("+-")
    if name not in _PARTS:
        return name, True
    return name, {"+": logging.DEBUG, "-": logging.ERROR}.get(word[0], logging.INFO)


def log_api(**kwargs: Any) -> contextlib.ExitStack:
    """Logs as `set_logs` sets them until the stack is closed."""
    stack = contextlib.ExitStack()
    stack.enter_context(preserve_log_state())
    set_logs(**kwargs)
    return stack


def kwargs_to_settings(**kwargs: Any) -> str:
    """The same as a text for `log_settings`."""
    marks = {logging.DEBUG: "+", logging.ERROR: "-"}
    words = (
        (marks.get(value, "") if not isinstance(value, bool) else "") + name
        for name, value in kwargs.items()
        if value is not False
    )
    return ",".join(words)


@contextlib.contextmanager
def _heard(log: logging.Logger, handler: logging.Handler) -> Iterator[None]:
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class _Kept(logging.Handler):
    """Keeps records."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


class LoggingTestCase(unittest.TestCase):
    """A test case whose tests get the records that were logged (`make_logging_test`)."""

    def getRecord(self, records: list[logging.LogRecord], m: str) -> logging.LogRecord:
        """The one record whose text has `m`."""
        (found,) = [record for record in records if m in record.getMessage()]
        return found

    def hasRecord(self, records: list[logging.LogRecord], m: str) -> bool:
        """Whether a record's text has `m`."""
        return any(m in record.getMessage() for record in records)


def _recording(open_logs: Callable[[], contextlib.ExitStack]) -> Callable[[Any], Any]:
    def wrap(test: Any) -> Any:
        @functools.wraps(test)
        def run(self: Any) -> Any:
            kept = _Kept()
            with open_logs(), _heard(logging.getLogger("torch"), kept):
                return test(self, kept.records)

        del run.__wrapped__  # its signature has `records`, which a runner would take for a fixture
        return run

    return wrap


def make_logging_test(**kwargs: Any) -> Callable[[Any], Any]:
    """A decorator: the test gets the records that are logged with these settings."""
    return _recording(lambda: log_api(**kwargs))


def make_settings_test(settings: str) -> Callable[[Any], Any]:
    """The same for settings as a text."""
    return _recording(lambda: log_settings(settings))


def logs_to_string(
    module: str, log_option: str
) -> tuple[io.StringIO, Callable[[], contextlib.AbstractContextManager[None]]]:
    """(a stream, a context in which the artifact `log_option` of `module` is written there)."""
    (stream,), context = multiple_logs_to_string(module, log_option)
    return stream, context


def multiple_logs_to_string(
    module: str, *log_options: str
) -> tuple[list[io.StringIO], Callable[[], contextlib.AbstractContextManager[None]]]:
    """The same for several artifacts, each with its stream."""
    streams = [io.StringIO() for _ in log_options]

    @contextlib.contextmanager
    def written() -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            logs = [getArtifactLogger(module, option) for option in log_options]
            stack.enter_context(log_api(**_enabled | dict.fromkeys(log_options, True)))
            for log, stream in zip(logs, streams, strict=True):
                stack.enter_context(_heard(log, logging.StreamHandler(stream)))
            yield

    return streams, written
