from collections.abc import Callable
from typing import Any, Self, TypeVar, overload

from dispatch._C.guards import Guard

_F = TypeVar("_F", bound=Callable[..., Any])

class DecoratorGuard(Guard):
    def clone(self) -> Self: ...
    def __call__(self, function: _F) -> _F: ...

class _InferenceMode(Guard):
    def __init__(self, mode: bool) -> None: ...

class GradGuard(DecoratorGuard):
    @property
    def mode(self) -> bool: ...

class no_grad(GradGuard):
    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, orig_func: _F) -> _F: ...  # type: ignore[misc]

class enable_grad(GradGuard):
    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, orig_func: _F) -> _F: ...  # type: ignore[misc]

class set_grad_enabled(GradGuard):
    @property
    def prev(self) -> bool: ...
    def __init__(self, mode: bool) -> None: ...

class inference_mode(DecoratorGuard):
    @property
    def mode(self) -> bool: ...
    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: _F) -> _F: ...  # type: ignore[misc]

def _set_grad_enabled(enabled: bool) -> None: ...
def _watch_grad_mode(watch: Callable[[Callable[[bool], None], bool], bool]) -> None: ...
def is_grad_enabled() -> bool: ...
def is_inference_mode_enabled() -> bool: ...
