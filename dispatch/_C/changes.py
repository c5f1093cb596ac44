"""Settings of a module, which programs change for a block (torch.utils._config_module)."""

import contextlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

__all__ = ["changed"]


@contextlib.contextmanager
def changed(
    module: str, place: dict[str, Any], settings: Any, value: Any, more: dict[str, Any]
) -> Iterator[None]:
    """Other settings of a module, whose `globals()` are `place`, in a block.

    Args:
        settings: one's name, with its value in `value`; or several by name; `more` are added.

    Raises:
        AttributeError: the module has no such setting. Nothing is changed.
    """
    new = {**({settings: value} if isinstance(settings, str) else settings or {}), **more}
    for name in new:
        known = name in place and not name.startswith("_")
        if not known or callable(place[name]) or isinstance(place[name], ModuleType):
            raise AttributeError(f"{module} has no setting {name!r}")
    before = {name: place[name] for name in new}
    place.update(new)
    try:
        yield
    finally:
        place.update(before)
