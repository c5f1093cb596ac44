"""Modes and tensors that log each operator call (torch.testing._internal.logging_tensor).

`LoggingTensorMode` sends every call to the logger "LoggingTensor"; `capture_logs` collects the
records as lines, a tensor being `$n` with its dtype and shape where it is made:

    $1: f32[2, 3] = dispatch._ops.aten.add.Tensor($0, 1)
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from dispatch import pytree
from dispatch._C.disabled import _disabled_torch_function_impl
from dispatch._C.mode import TorchDispatchMode
from dispatch._C.tensor import Tensor
from dispatch.modes.function import enable_reentrant_dispatch

__all__ = [
    "LoggingTensor",
    "LoggingTensorHandler",
    "LoggingTensorMode",
    "LoggingTensorReentrant",
    "capture_logs",
    "capture_logs_with_logging_tensor_mode",
    "dtype_abbrs",
    "log_input",
]

_logger = logging.getLogger("LoggingTensor")

_ABBREVIATIONS = {
    "bfloat16": "bf16", "float64": "f64", "float32": "f32", "float16": "f16",
    "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2", "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e8m0fnu": "f8e8m0fnu", "complex32": "c32",
    "complex64": "c64", "complex128": "c128", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "bool": "b8", "uint8": "u8", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "bits16": "b16", "bits1x8": "b1x8",
}  # fmt: skip


def dtype_abbrs(dtype: Any) -> str:
    """The short name of a dtype: `f32` for float32."""
    name = str(dtype).rpartition(".")[2]
    return _ABBREVIATIONS.get(name, name)


def _log_call(func: Any, args: Any, kwargs: Any, result: Any) -> None:
    _logger.info(f"{func.__module__}.{func.__name__}", args, kwargs, result)


class LoggingTensorMode(TorchDispatchMode):
    """Logs each call of its block, after it has run."""

    def __torch_dispatch__(
        self, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        _log_call(func, args, kwargs, result)
        return result


class LoggingTensor(Tensor):
    """A wrapper of a tensor (`elem`) that logs each call on it; results are wrapped again."""

    elem: Tensor
    context: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    @staticmethod
    def __new__(cls: Any, elem: Tensor, *args: Any, **kwargs: Any) -> LoggingTensor:
        made: LoggingTensor = Tensor._make_wrapper_subclass(
            cls, elem.size(), strides=elem.stride(), storage_offset=elem.storage_offset(),
            dtype=elem.dtype, layout=elem.layout, device=elem.device,
            requires_grad=kwargs.get("requires_grad", False),
        )  # fmt: skip
        made.elem = elem.detach() if made.requires_grad else elem
        return made

    def __init__(self, elem: Tensor, *args: Any, **kwargs: Any) -> None:
        pass

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return super().__repr__(tensor_contents=f"{self.elem}")  # type: ignore[call-arg]

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}

        def unwrap(value: Any) -> Any:
            return value.elem if isinstance(value, cls) else value

        def wrap(value: Any) -> Any:
            return cls(value) if isinstance(value, Tensor) else value

        with cls.context():
            inner = func(*pytree.tree_map(unwrap, args), **pytree.tree_map(unwrap, kwargs))
        result = pytree.tree_map(wrap, inner)
        _log_call(func, args, kwargs, result)
        return result


class LoggingTensorReentrant(LoggingTensor):
    """A LoggingTensor whose inner calls start above autograd again."""

    context = enable_reentrant_dispatch


class LoggingTensorHandler(logging.Handler):
    """Turns records into lines of `log_list`.

    Args:
        log_list: where lines go.
        use_shortid_for_all_tensors: `$n` for every tensor, else for LoggingTensors only.
        with_type: dtype and shape of results.
        tracebacks_list: where the stack of each call goes, if anywhere.
    """

    def __init__(
        self,
        log_list: list[str],
        use_shortid_for_all_tensors: bool,
        with_type: bool,
        tracebacks_list: list[Any] | None,
    ) -> None:
        super().__init__()
        self.log_list = log_list
        self.use_shortid_for_all_tensors = use_shortid_for_all_tensors
        self.tracebacks_list = tracebacks_list
        self.with_type = with_type
        self.next_id = 0
        self._ids: dict[int, tuple[weakref.ref[Any], int]] = {}

    def _shortid(self, t: Tensor) -> int:
        """The number of a tensor, given when it is first seen; a later tensor at the same
        address has another."""
        known = self._ids.get(id(t))
        if known is not None and known[0]() is t:
            return known[1]
        number = self.next_id
        self._ids[id(t)] = (weakref.ref(t), number)
        self.next_id += 1
        return number

    def _fmt(self, a: object, with_type: bool = False) -> str:
        kind = Tensor if self.use_shortid_for_all_tensors else LoggingTensor
        if not isinstance(a, kind):
            return repr(a)
        text = f"${self._shortid(a)}"
        if with_type and self.with_type:
            text += f": {dtype_abbrs(a.dtype)}[{', '.join(map(str, a.shape))}]"
        return text

    def emit(self, record: logging.LogRecord) -> None:
        given: Any = record.args
        arguments = ", ".join(
            itertools.chain(
                (str(pytree.tree_map(self._fmt, a)) for a in given[0]),
                (f"{k}={pytree.tree_map(self._fmt, v)!s}" for k, v in given[1].items()),
            )
        )
        results = pytree.tree_map(functools.partial(self._fmt, with_type=True), given[2])
        self.log_list.append(f"{results} = {record.msg}({arguments})")
        if self.tracebacks_list is not None:
            self.tracebacks_list.append(traceback.extract_stack()[:-1])


def log_input(name: str, var: object) -> None:
    """Log a program's input, so that it has a number and a name: `$0: f32[2] = input('x')`."""
    _logger.info("input", (name,), {}, var)


@contextlib.contextmanager
def capture_logs(
    is_mode: bool = False, python_tb: bool = False, script_tb: bool = False, cpp_tb: bool = False
) -> Iterator[Any]:
    """The lines that are logged in the block: a list, with `python_tb` also a list of stacks.

    `is_mode` numbers every tensor, not only LoggingTensors.
    """
    lines: list[str] = []
    stacks: list[Any] = []
    with_stacks = python_tb or script_tb or cpp_tb
    handler = LoggingTensorHandler(
        lines, with_type=True, use_shortid_for_all_tensors=is_mode,
        tracebacks_list=stacks if with_stacks else None,
    )  # fmt: skip
    before = _logger.level, _logger.propagate
    _logger.addHandler(handler)
    _logger.setLevel(logging.INFO)
    _logger.propagate = False
    try:
        yield (lines, stacks) if with_stacks else lines
    finally:
        _logger.removeHandler(handler)
        _logger.level, _logger.propagate = before


@contextlib.contextmanager
def capture_logs_with_logging_tensor_mode(
    python_tb: bool = False, script_tb: bool = False, cpp_tb: bool = False
) -> Iterator[Any]:
    """`capture_logs` of a LoggingTensorMode around the block."""
    with LoggingTensorMode(), capture_logs(True, python_tb, script_tb, cpp_tb) as logs:
        yield logs
