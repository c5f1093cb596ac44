"""`torch.futures`: a result that comes later, and what is to be done with it then."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A value, or an error, that somebody sets once; others wait for it, or say what follows.

    Args: devices, those that the value is on, which count for nothing here.
    """

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        self._lock = threading.Lock()
        self._is_set = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None
        self._followers: list[Callable[[Future], Any]] = []

    def done(self) -> bool:
        """Whether it has its value, or its error."""
        return self._is_set.is_set()

    def wait(self) -> Any:
        """The value, once it is there; what `set_exception` was given is raised."""
        self._is_set.wait()
        return self._result()

    def value(self) -> Any:
        """The value; RuntimeError before it is set."""
        if not self.done():
            raise RuntimeError("Future.value: it is not set yet; wait() waits for it")
        return self._result()

    def _result(self) -> Any:
        if self._error is not None:
            raise self._error
        return self._value

    def then(self, callback: "Callable[[Future], Any]") -> "Future":
        """A future for what `callback(self)` gives when this one is done, or raises."""
        made = Future()

        def follow(future: Future) -> None:
            try:
                found = callback(future)
            except Exception as error:
                made.set_exception(error)
            else:
                made.set_result(found)

        self.add_done_callback(follow)
        return made

    def add_done_callback(self, callback: "Callable[[Future], None]") -> None:
        """`callback(self)` when this one is done: at once if it is."""
        with self._lock:
            if not self.done():
                self._followers.append(callback)
                return
        callback(self)

    def set_result(self, result: Any) -> None:
        """Its value; RuntimeError if it has one."""
        self._set(result, None)

    def set_exception(self, result: BaseException) -> None:
        """The error that `wait` raises; AssertionError for anything else."""
        if not isinstance(result, Exception):
            raise AssertionError(
                f"Future.set_exception: expected an Exception, got {type(result).__name__}"
            )
        self._set(None, result)

    def _set(self, value: Any, error: BaseException | None) -> None:
        with self._lock:
            if self.done():
                raise RuntimeError("Future can only be marked completed once: it is done already")
            self._value, self._error = value, error
            self._is_set.set()
            followers, self._followers = self._followers, []
        for follower in followers:
            follower(self)


def collect_all(futures: Sequence[Future]) -> Future:
    """A future for the list, done when each is."""
    made = Future()
    left = [len(futures)]
    lock = threading.Lock()

    def one_is_done(future: Future) -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            made.set_result(list(futures))

    if not futures:
        made.set_result([])
    for future in futures:
        future.add_done_callback(one_is_done)
    return made


def wait_all(futures: Sequence[Future]) -> list[Any]:
    """The values, once all are there."""
    return [future.wait() for future in collect_all(futures).wait()]
