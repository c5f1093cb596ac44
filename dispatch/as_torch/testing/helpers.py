"""Helpers and conditional marks of `torch.testing._internal.common_utils` that need no machine.

Settings that hold for a block, copies of arguments, indices of a tensor, threads that start
together; marks that look at Python's version, a condition or how tests are run.
"""

import contextlib
import functools
import gc
import inspect
import itertools
import os
import random
import re
import socket
import sys
import threading
import types
import unittest
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy

import dispatch
from dispatch._C import advice
from dispatch.as_torch import settings as torch_settings
from dispatch.as_torch.testing.marks import (
    IS_LINUX,
    _as_it_is,
    numpy_to_torch_dtype_dict,
    slowTest,
)

__all__ = [
    "GRADCHECK_NONDET_TOL", "SEED", "CudaSyncGuard", "LazyVal", "NoTest", "SwapTensorsGuard",
    "TrackedInput", "check_leaked_tensors", "chunk_list", "clone_input_helper", "coalescedonoff",
    "copy_func", "do_test_dtypes", "dtype2prec_DONTUSE", "extract_test_fn", "find_free_port",
    "find_library_location", "get_function_arglist", "get_tensors_from",
    "has_corresponding_torch_dtype", "is_iterable", "iter_indices", "lazy_skip_if", "munge_exc",
    "numpy_to_torch_dtype", "raise_on_run_directly", "run_concurrently", "set_cwd",
    "set_default_tensor_type", "set_rng_seed", "set_warn_always_context", "skipIfNNModuleInlined",
    "skipIfPythonVersionMismatch", "skip_but_pass_in_sandcastle", "skip_but_pass_in_sandcastle_if",
    "skip_exception_type", "skip_if_pytest", "slowTestIf", "split_if_not_empty",
    "wrapSwapTensorsTest", "xfailIf", "xfailIfLinux", "xfailIfPy312Plus", "xpassIfTorchDynamo_np",
]  # fmt: skip

F = TypeVar("F")
SEED = 1234
GRADCHECK_NONDET_TOL = 1e-12
dtype2prec_DONTUSE = {
    dispatch.float: 1e-5,
    dispatch.double: 1e-5,
    dispatch.half: 1e-2,
    dispatch.bfloat16: 1e-1,
}

# ---- marks


def xfailIf(condition: Any) -> Callable[[F], F]:
    """The test is expected to fail if `condition` holds."""
    return unittest.expectedFailure if condition else lambda function: function  # type: ignore[return-value]


xfailIfLinux = xfailIf(IS_LINUX)
xfailIfPy312Plus = xfailIf(sys.version_info >= (3, 12))
xpassIfTorchDynamo_np = unittest.expectedFailure
skip_but_pass_in_sandcastle = unittest.skip
skip_but_pass_in_sandcastle_if = unittest.skipIf


def slowTestIf(condition: Any) -> Any:
    """`slowTest` if `condition` holds."""
    return slowTest if condition else _as_it_is


def lazy_skip_if(condition_fn: Callable[[], Any], reason: str) -> Callable[[Any], Any]:
    """Skips the test if the function says so when it runs, a class when it is made."""

    def mark(decorated: Any) -> Any:
        if isinstance(decorated, type):
            return unittest.skip(reason)(decorated) if condition_fn() else decorated

        @functools.wraps(decorated)
        def run(*args: Any, **kwargs: Any) -> Any:
            if condition_fn():
                raise unittest.SkipTest(reason)
            return decorated(*args, **kwargs)

        return run

    return mark


def skipIfNNModuleInlined(msg: str = "modules are inlined", condition: Any = True) -> Any:
    """Skips the test if `condition` holds: no compiler treats modules in another way."""
    return lazy_skip_if(lambda: condition, msg)


def skipIfPythonVersionMismatch(predicate: Callable[[int, int, int], Any]) -> Any:
    """Skips the test unless `predicate(major, minor, micro)` of Python's version holds."""
    return lazy_skip_if(lambda: not predicate(*sys.version_info[:3]), "another Python's version")


skip_if_pytest = lazy_skip_if(lambda: "PYTEST_CURRENT_TEST" in os.environ, "run by pytest")


@contextlib.contextmanager
def skip_exception_type(exc_type: Any) -> Iterator[None]:
    """What is raised of this type in the block skips the test."""
    try:
        yield
    except exc_type as e:
        raise unittest.SkipTest(f"not implemented: {e}") from e


def raise_on_run_directly(file_to_call: str) -> None:
    """RuntimeError: the tests of this module run as part of another."""
    raise RuntimeError(f"these tests are not run directly: python {file_to_call} TESTNAME")


def extract_test_fn() -> Any:
    """The function of the test that is running, or None."""
    for info in inspect.stack():
        case = info.frame.f_locals.get("self")
        if isinstance(case, unittest.TestCase) and case._testMethodName.startswith("test"):
            return getattr(case, case._testMethodName).__func__
    return None


def wrapSwapTensorsTest(swap: bool | None = None) -> Any:
    """A mark for tests of both ways to convert modules: there is one here."""
    return _as_it_is


def coalescedonoff(function: Callable[..., None]) -> Callable[..., None]:
    """The test runs twice, with `coalesced` True and False."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        function(*args, **kwargs, coalesced=True)
        function(*args, **kwargs, coalesced=False)

    return run


# ---- settings for a block


@contextlib.contextmanager
def set_cwd(path: str) -> Iterator[None]:
    """Another working directory in the block."""
    before = os.getcwd()
    os.chdir(path)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def set_warn_always_context(new_val: bool) -> Iterator[None]:
    """In the block, what is told once in a process is told each time, or once."""
    before = advice.is_warn_always_enabled()
    advice.set_warn_always(new_val)
    try:
        yield
    finally:
        advice.set_warn_always(before)


@contextlib.contextmanager
def set_default_tensor_type(tensor_type: Any) -> Iterator[None]:
    """Another default dtype in the block, by the name of a class of tensors."""
    before = dispatch.get_default_dtype()
    torch_settings.set_default_tensor_type(tensor_type)
    try:
        yield
    finally:
        dispatch.set_default_dtype(before)


def set_rng_seed(seed: int | None = None) -> None:
    """Seed every source of random numbers."""
    seed = SEED if seed is None else seed
    dispatch.manual_seed(seed)
    random.seed(seed)
    numpy.random.seed(seed)


class CudaSyncGuard(contextlib.nullcontext[None]):
    """A block in which waiting for CUDA would warn or raise: nothing waits."""

    def __init__(self, sync_debug_mode: Any) -> None:
        super().__init__()
        self.mode = sync_debug_mode


class SwapTensorsGuard(contextlib.nullcontext[None]):
    """A block for another way to convert modules: there is one here."""

    def __init__(self, use_swap_tensors: bool | None) -> None:
        super().__init__()
        self.use_swap_tensors = use_swap_tensors


@contextlib.contextmanager
def check_leaked_tensors(
    limit: int = 1, matched_type: Any = dispatch.Tensor
) -> Iterator[list[Any]]:
    """Afterwards the list holds the tensors that only the garbage collector could free."""
    found: list[Any] = []
    gc.collect()
    flags = gc.get_debug()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        found += [one for one in gc.garbage if isinstance(one, matched_type)]
    finally:
        gc.set_debug(flags)
        gc.garbage.clear()


# ---- functions


class NoTest:
    """What pytest takes for no test."""

    __test__ = False


class LazyVal:
    """A truth value that is worked out when somebody asks."""

    def __init__(self, constructor: Callable[[], Any]) -> None:
        self._value = functools.cache(constructor)

    def __bool__(self) -> bool:
        return bool(self._value())


@dataclass
class TrackedInput:
    """The place and kind of the sample that a test has reached."""

    index: int
    val: Any
    type_desc: str


def chunk_list(lst: Sequence[Any], nchunks: int) -> list[Any]:
    """Every `nchunks`-th of the list, from each of the first on."""
    return [lst[i::nchunks] for i in range(nchunks)]


def split_if_not_empty(x: str) -> list[str]:
    """Words between commas; none of an empty text."""
    return x.split(",") if x else []


def clone_input_helper(input: Any) -> Any:
    """A copy of a tensor, of those of a sequence; anything else as it is."""
    if isinstance(input, dispatch.Tensor):
        return dispatch.clone(input)
    return tuple(map(clone_input_helper, input)) if isinstance(input, Sequence) else input


def copy_func(f: Any) -> Any:
    """A function with the same code, of which attributes may be set."""
    made = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__ = f.__kwdefaults__
    return functools.update_wrapper(made, f)


def do_test_dtypes(self: Any, dtypes: Iterable[Any], layout: Any, device: Any) -> None:
    """Zeros of each dtype have it, the layout and the device."""
    for dtype in dtypes:
        if dtype != dispatch.float16:
            out = dispatch.zeros((2, 3), dtype=dtype, layout=layout, device=device)
            self.assertIs(dtype, out.dtype)
            self.assertIs(layout, out.layout)
            self.assertEqual(device, out.device)


def find_free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as s:
        s.bind(("localhost", 0))
        port: int = s.getsockname()[1]
    return port


def find_library_location(lib_name: str) -> Path:
    """Where a library of test operators would be; there are none."""
    return Path(dispatch.__file__).resolve().parent / "lib" / lib_name


def get_function_arglist(func: Callable[..., Any]) -> list[str]:
    """Names of the arguments that it takes by place."""
    return inspect.getfullargspec(func).args


def get_tensors_from(args: Iterable[Any], kwargs: dict[str, Any]) -> set[Any]:
    """The tensors among the arguments."""
    return {one for one in (*args, *kwargs.values()) if isinstance(one, dispatch.Tensor)}


def numpy_to_torch_dtype(np_dtype: Any) -> Any:
    """The dtype for one of numpy's, or for a class of its scalars; KeyError for others."""
    known = numpy_to_torch_dtype_dict
    return known[np_dtype] if np_dtype in known else known[numpy.dtype(np_dtype).type]


def has_corresponding_torch_dtype(np_dtype: Any) -> bool:
    """Whether there is a dtype for one of numpy's."""
    try:
        numpy_to_torch_dtype(np_dtype)
    except KeyError:
        return False
    return True


def is_iterable(obj: Any) -> bool:
    """Whether one can go through it."""
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def iter_indices(tensor: dispatch.Tensor) -> Any:
    """Each element's index: numbers for a vector, tuples for more dimensions."""
    if tensor.dim() < 2:
        return range(tensor.size(0) if tensor.dim() else 0)
    return itertools.product(*map(range, tensor.size()))


def munge_exc(e: Any, *, file: str | None = None, skip: int = 0, **_: Any) -> str:
    """An error's text without what changes: frames of other files, lines and paths."""
    file = inspect.stack()[1 + skip].filename if file is None else file
    frame = r'( *)File "([^"]+)", line \d+, in (.+)\n(\1  .+\n( +[~^]* *\n)?)*'
    text = re.sub(
        frame,
        lambda m: m.group(0) if m.group(2) == file and m.group(3) != "<module>" else "",
        str(e),
    )
    text = re.sub(r"line \d+", "line N", text)
    text = re.sub(r"\.py:\d+", ".py:N", text)
    return text.replace(file, os.path.basename(file))


def run_concurrently(
    worker_func: Any, num_threads: int | None = None, args: Any = (), kwargs: Any = None
) -> list[Any]:
    """What the functions give, which start at once in threads of their own; what one raises."""
    workers = list(worker_func) if is_iterable(worker_func) else [worker_func] * (num_threads or 0)
    barrier = threading.Barrier(len(workers))
    results: list[Any] = [None] * len(workers)
    raised: list[BaseException] = []

    def work(place: int, function: Callable[..., Any]) -> None:
        barrier.wait()
        try:
            results[place] = function(*args, **(kwargs or {}))
        except Exception as e:
            raised.append(e)

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[-1]
    return results
