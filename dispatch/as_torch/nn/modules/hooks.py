"""Hooks: functions that a module calls beside its own work, and the handles that take them away.

Hooks stand in dicts by their handle's number, as in PyTorch, where programs look at them; a set
beside a dict says which of its hooks are given keywords (torch.utils.hooks).
"""

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["RemovableHandle", "unserializable_hook"]

Hook = Callable[..., Any]

_numbers = itertools.count()


class RemovableHandle:
    """Takes a hook out of its dict again; a block of `with` does so at its end.

    Args: hooks_dict, where the hook stands under `id`; extra_dict, dicts that know it too.
    """

    def __init__(
        self, hooks_dict: Any, *, extra_dict: dict[int, Any] | list[dict[int, Any]] | None = None
    ) -> None:
        self.id = next(_numbers)
        more = extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.extra_dict_ref = tuple(weakref.ref(d) for d in more if d is not None)

    def remove(self) -> None:
        """Forget the hook; nothing when it is forgotten already."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def enter(
    hooks: OrderedDict[int, Any],
    hook: Callable[..., Any],
    marks: Iterable[OrderedDict[int, bool]] = (),
    first: bool = False,
) -> RemovableHandle:
    """Enter a hook, at the beginning if it is to be the `first`; `marks` say more of it."""
    handle = RemovableHandle(hooks, extra_dict=list(marks))
    hooks[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if first:
        hooks.move_to_end(handle.id, last=False)
    return handle


def marked(
    hooks: Mapping[int, Callable[..., Any]], marks: Mapping[int, bool]
) -> list[tuple[int, Callable[..., Any], bool]]:
    """(number, hook, marked) of each."""
    return [(number, hook, number in marks) for number, hook in hooks.items()]


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a hook that is not to be pickled with its tensor."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def kind_of_backward(known: bool | None, full: bool, where: str) -> bool:
    """`full`, when the backward hooks that are there are of that kind; else RuntimeError."""
    if known is not None and known != full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on "
            f"{where}: please use only one of them"
        )
    return full


class BackwardHooks:
    """What a module keeps for its gradients. Nothing calls these hooks: there is no autograd engine
    (torch.nn.Module)."""

    _backward_hooks: OrderedDict[int, Any]
    _backward_pre_hooks: OrderedDict[int, Any]
    _is_full_backward_hook: bool | None = None

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Keep `hook(module, grad_input, grad_output)`. Args: prepend, before those there are."""
        self._is_full_backward_hook = kind_of_backward(
            self._is_full_backward_hook, True, "a single Module"
        )
        return enter(self._backward_hooks, hook, first=prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Keep `hook(module, grad_output)`. Args: prepend, before those that are there."""
        return enter(self._backward_pre_hooks, hook, first=prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Keep a hook of the older kind, which a module with full ones refuses."""
        self._is_full_backward_hook = kind_of_backward(
            self._is_full_backward_hook, False, "a single Module"
        )
        return enter(self._backward_hooks, hook)
