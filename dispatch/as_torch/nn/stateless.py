"""`torch.func.functional_call`: a module called with other parameters and buffers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any

from dispatch import Tensor
from dispatch.as_torch.nn.modules.module import Module

__all__ = ["_reparametrize_module", "functional_call"]


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
        TypeError: what is given is no tensor, and not None.
    """
    given: dict[str, Any] = {}
    dicts = parameter_and_buffer_dicts
    if isinstance(dicts, dict):
        given = dicts  # what the module puts in a tensor's place is written back
    else:
        for each in (dicts,) if isinstance(dicts, Mapping) else dicts:
            twice = given.keys() & each.keys()
            if twice:
                raise ValueError(f"functional_call: given more than once: {sorted(twice)}")
            given.update(each)
    if args is None:
        args = ()
    with _reparametrize_module(module, given, tie_weights=tie_weights, strict=strict):
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))


@contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: dict[str, Any],
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> Iterator[None]:
    """In the block tensors stand for the module's own by their names, as in `functional_call`.

    What the module has in their places at the end is written to the dict. `stack_weights` changes
    nothing: each of a module's places is taken and given back once.
    """
    names = parameters_and_buffers.keys()
    places = _places(module) if tie_weights or strict else _places_of(module, names)
    if strict and names != places.keys():
        raise RuntimeError("functional_call: " + _differing(names, places.keys()))
    for tensor in parameters_and_buffers.values():
        if not isinstance(tensor, Tensor) and tensor is not None:
            raise TypeError(f"functional_call: {tensor!r} is not an instance of torch.Tensor")
    given = {name: t for name, t in parameters_and_buffers.items() if name in places}
    if tie_weights:
        given = _tied(given, places)
    before = {name: places[name][0][places[name][1]] for name in given}
    try:
        for name, tensor in given.items():
            room, key = places[name]
            room[key] = tensor
        yield
    finally:
        for name, tensor in before.items():
            room, key = places[name]
            if name in parameters_and_buffers:
                parameters_and_buffers[name] = room[key]
            room[key] = tensor


def _differing(names: Set[str], wanted: Set[str]) -> str:
    """What is said of names that are not those of the module."""
    kinds = {"Unexpected": names - wanted, "Missing": wanted - names}
    return "\n\t".join(
        f"{kind} key(s): {', '.join(map(repr, sorted(found)))}."
        for kind, found in kinds.items()
        if found
    )


def _places_of(module: Module, names: Iterable[str]) -> dict[str, tuple[dict[str, Any], str]]:
    """As `_places`, of these names: a module that has itself inside has names without end."""
    found: dict[str, tuple[dict[str, Any], str]] = {}
    for name in names:
        *path, key = name.split(".")
        inner: Any = module
        for part in path:
            inner = None if inner is None else inner._modules.get(part)
        for room in () if inner is None else (inner._parameters, inner._buffers):
            if key in room:
                found[name] = room, key
    return found


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
            raise ValueError(
                f"functional_call: got multiple values for {alike}, which are one tensor: "
                "tie_weights=False keeps them apart"
            )
        for value in values.values():
            found.update(dict.fromkeys(alike, value))
    return found
