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
