"""Checks of `torch.testing._internal.optests` that trace: a graph of a function computes the same.

`aot_autograd_check` traces the function with what it writes taken out (`functionalize`); gradients,
which the first of PyTorch compares too, are not compared: there is no autograd engine.
"""

from collections.abc import Callable
from typing import Any

import dispatch
from dispatch import pytree
from dispatch.as_torch.fx.proxies import make_fx
from dispatch.as_torch.testing.comparing import assert_close
from dispatch.as_torch.testing.marks import freeze_rng_state
from dispatch.functional import functionalize
from dispatch.library import checks

__all__ = ["aot_autograd_check", "make_fx_check"]


def aot_autograd_check(
    func: Callable[..., Any],
    args: Any,
    kwargs: Any,
    dynamic: bool,
    assert_raises_regex_fn: Any = None,
    assert_equals_fn: Callable[..., Any] = assert_close,
    check_gradients: bool | str = True,
    try_check_data_specialization: bool = False,
    skip_correctness_check: bool = False,
    disable_functionalization: bool = False,
) -> None:
    """Raise unless a functional graph of `func` computes what `func` does.

    Args:
        dynamic: the graph is traced with symbolic sizes.
        check_gradients: "auto" and False leave gradients out; True is a NotImplementedError.
    """
    if check_gradients is True:
        raise NotImplementedError(
            "aot_autograd_check: check_gradients=True: there is no autograd engine; "
            'write check_gradients="auto" to compare results alone'
        )
    flat, spec = pytree.tree_flatten((args, kwargs))
    places = [i for i, value in enumerate(flat) if isinstance(value, dispatch.Tensor)]

    def of_tensors(*tensors: Any) -> Any:
        put = dict(zip(places, tensors, strict=True))
        a, kw = pytree.tree_unflatten([put.get(i, v) for i, v in enumerate(flat)], spec)
        return func(*a, **kw)

    tensors = [checks._copied(flat[i]) for i in places]
    traced = of_tensors if disable_functionalization else functionalize(of_tensors)
    graph = make_fx(traced, tracing_mode="symbolic" if dynamic else "fake")(*tensors)
    if not skip_correctness_check:
        _compare(graph, of_tensors, [flat[i] for i in places], assert_equals_fn)


def make_fx_check(
    func: Callable[..., Any],
    args: Any,
    kwargs: Any,
    tracing_mode: str,
    assert_close: Callable[..., Any] = assert_close,
    randomize_data: bool = False,
) -> None:
    """Raise unless the graph that `make_fx` makes of `func` computes what `func` does.

    `randomize_data`: on other values than those that it was traced with, if `func` takes them.
    """

    def of_arguments(*values: Any) -> Any:
        return func(*values, **kwargs)

    graph = make_fx(of_arguments, tracing_mode=tracing_mode)(*args)
    if randomize_data:
        args = pytree.tree_map_only(dispatch.Tensor, _other_values, args)
        try:
            of_arguments(*checks._copies(args))
        except Exception:
            return
    _compare(graph, of_arguments, args, assert_close)


def _other_values(t: dispatch.Tensor) -> dispatch.Tensor:
    if not t.dtype.is_floating_point:
        return t
    return dispatch.rand_like(t.detach()).requires_grad_(t.requires_grad)


def _compare(graph: Any, func: Any, args: Any, equal: Callable[..., Any]) -> None:
    """Both run on copies of the arguments, with the same random numbers."""
    results = []
    for run in (graph, func):
        with freeze_rng_state():
            dispatch.manual_seed(42)
            results.append(run(*checks._copies(tuple(args))))
    text = "the function and its graph give different values: eager-mode PyTorch vs AOTDispatcher"
    equal(*results, msg=text)
