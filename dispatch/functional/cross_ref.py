"""Each call that is functionalized, compared with the same call on fake tensors.

(torch._dispatch.python.) For tests of the rules that functionalization has for an operator: its
results' sizes, dtypes and strides are those of the operator as it is. It works through the Python
dispatcher, which asks `_watched` for what runs at the Functionalize key.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from dispatch import _C, pytree
from dispatch._C.guards import _EnablePythonDispatcher
from dispatch._C.keys import DispatchKey
from dispatch._C.overload import OpOverload
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch._ops.python_dispatcher import _watch_functionalize
from dispatch.fake.mode import FakeTensorMode
from dispatch.modes.stack import _disable_current_modes

__all__ = [
    "all_py_loaded_overloads",
    "check_metadata_matches",
    "check_tensor_metadata_matches",
    "enable_crossref_functionalize",
    "suspend_functionalization",
]


def all_py_loaded_overloads() -> Iterator[OpOverload]:
    """The overloads that somebody has named in Python so far."""
    for namespace in list(ops):
        packets = getattr(ops, namespace)
        for name in list(packets):
            packet = getattr(packets, name)
            for overload in packet:
                yield getattr(packet, overload)


@contextmanager
def suspend_functionalization() -> Iterator[None]:
    """Nothing is functionalized in the block; afterwards it is as before."""
    on = _C._dispatch_tls_is_dispatch_key_included(DispatchKey.Functionalize)
    reapplies = _C._functionalization_reapply_views_tls()
    if on:
        _C._disable_functionalization()
    try:
        yield
    finally:
        if on:
            _C._enable_functionalization(reapply_views=reapplies)


def check_tensor_metadata_matches(nv: Tensor, rv: Tensor, desc: Callable[[], str]) -> None:
    """AssertionError unless both have one dtype, one size, and strides that act alike."""
    facts: list[tuple[str, Any, Any]] = [
        ("sizes", nv.size(), rv.size()),
        ("dtype", nv.dtype, rv.dtype),
    ]
    if nv.size() == rv.size() and nv.numel():
        long = [dim for dim, size in enumerate(nv.size()) if size > 1]
        facts.append(("strides", [nv.stride(d) for d in long], [rv.stride(d) for d in long]))
    for what, expected, found in facts:
        if expected != found:
            raise AssertionError(f"{desc()}: {what} {expected} != {found}")


def check_metadata_matches(n: Any, r: Any, desc: Callable[[], str]) -> None:
    """The same of all tensors of two nests."""
    expected, found = pytree.tree_leaves(n), pytree.tree_leaves(r)
    if len(expected) != len(found):
        raise AssertionError(f"{desc()}: {len(expected)} != {len(found)} results")
    for i, (one, other) in enumerate(zip(expected, found, strict=True)):
        if isinstance(other, Tensor):
            check_tensor_metadata_matches(one, other, partial(_output, desc, i))


def _output(desc: Callable[[], str], i: int) -> str:
    return f"{desc()} output {i}"


def _watched(op: OpOverload, served: Any) -> Any:
    """What runs `served` and compares its results with those of fake arguments."""
    if op is ops.aten.lift_fresh.default:  # its argument is no functional tensor yet
        return served

    def handler(*args: Any, **kwargs: Any) -> Any:
        mode = FakeTensorMode()

        def fake(t: Tensor) -> Any:
            return mode.from_tensor(_C._from_functional_tensor(t) if _is_wrapped(t) else t)

        with _disable_current_modes(), suspend_functionalization():
            given = pytree.tree_map_only(Tensor, fake, (args, kwargs))
            shown = pytree.tree_map_only(Tensor, _Shown, given)
            with mode:
                expected = op(*given[0], **given[1])
        if isinstance(served, DispatchKey):
            found = op._op_dk(served, *args, **kwargs)
        else:
            found = served(*args, **kwargs)

        def called() -> str:
            words = [*map(repr, shown[0]), *(f"{name}={v!r}" for name, v in shown[1].items())]
            return f"{op}({', '.join(words)})"

        check_metadata_matches(expected, found, called)
        return found

    return handler


def _is_wrapped(t: Tensor) -> bool:
    return _C._is_functional_tensor(t)


class _Shown:
    """A tensor as a call that makes one like it; the call that is compared may change its sizes."""

    def __init__(self, t: Tensor) -> None:
        self._text = f"empty_strided({tuple(t.size())}, {t.stride()}, dtype={t.dtype})"

    def __repr__(self) -> str:
        return self._text


@contextmanager
def enable_crossref_functionalize() -> Iterator[None]:
    """In the block every functionalized call is compared; slow."""
    _watch_functionalize(_watched)
    try:
        with _EnablePythonDispatcher():
            yield
    finally:
        _watch_functionalize(None)
