"""`torch.func.functional_call`: a module called with other parameters and buffers."""

from collections.abc import Mapping, Sequence
from typing import Any

from dispatch import Tensor
from dispatch.as_torch.nn.modules.module import Module

__all__ = ["functional_call"]


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module`, in which tensors stand for its own by their names; then its own are back.

    Args:
        parameter_and_buffer_dicts: tensors by name, or several such dicts.
        tie_weights: what is one tensor under several names in the module is one in the call.
        strict: every name is given, and no other; else others count for nothing.

    Raises:
        RuntimeError: unknown or missing names, when `strict`.
        ValueError: two dicts have a name; tied names get different tensors.
    """
    given: dict[str, Any] = {}
    dicts = parameter_and_buffer_dicts
    for each in (dicts,) if isinstance(dicts, Mapping) else dicts:
        twice = given.keys() & each.keys()
        if twice:
            raise ValueError(f"functional_call: given more than once: {sorted(twice)}")
        given.update(each)
    places = _places(module)
    unknown, lacking = given.keys() - places.keys(), places.keys() - given.keys()
    if strict and (unknown or lacking):
        raise RuntimeError(
            f"functional_call: unknown names {sorted(unknown)}, missing ones {sorted(lacking)}"
        )
    given = {name: tensor for name, tensor in given.items() if name in places}
    if tie_weights:
        given = _tied(given, places)
    before = [(places[name], places[name][0][places[name][1]]) for name in given]
    try:
        for name, tensor in given.items():
            room, key = places[name]
            room[key] = tensor
        if args is None:
            args = ()
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
    finally:
        for (room, key), tensor in before:
            room[key] = tensor


def _places(module: Module) -> dict[str, tuple[dict[str, Any], str]]:
    """Where each parameter and buffer is kept, by its whole name."""
    found: dict[str, tuple[dict[str, Any], str]] = {}
    for prefix, inner in module.named_modules(remove_duplicate=False):
        for room in (inner._parameters, inner._buffers):
            for key in room:
                found[f"{prefix}.{key}" if prefix else key] = room, key
    return found


def _tied(given: dict[str, Any], places: dict[str, tuple[dict[str, Any], str]]) -> dict[str, Any]:
    names: dict[int, list[str]] = {}
    for name, (room, key) in places.items():
        if room[key] is not None:
            names.setdefault(id(room[key]), []).append(name)
    found = dict(given)
    for alike in names.values():
        values = {id(given[name]): given[name] for name in alike if name in given}
        if len(values) > 1:
            raise ValueError(f"functional_call: {alike} are one tensor, and got different ones")
        for value in values.values():
            found.update(dict.fromkeys(alike, value))
    return found
