"""`torch.random.fork_rng`: random numbers that leave the generators as they were."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from dispatch.as_torch.backends import get_device_module
from dispatch.tensor.random import get_rng_state, set_rng_state

__all__ = ["fork_rng"]


@contextlib.contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """After the block, the default generator goes on as if nothing had been drawn in it.

    Args: devices, those of `device_type` whose generators are kept too, by the module that a
    program has registered for it; None, all that this module counts. enabled=False keeps nothing.
    Raises: RuntimeError for a device type without a module (torch.random.fork_rng).
    """
    if not enabled or device_type == "meta":
        yield
        return
    named = device_type or ("cuda" if devices is not None and (devices := list(devices)) else None)
    module: Any = None if named is None else get_device_module(named)
    if devices is None:
        devices = range(module.device_count() if module else 0)
    kept, states = get_rng_state(), [(d, module.get_rng_state(d)) for d in devices]
    try:
        yield
    finally:
        set_rng_state(kept)
        for device, state in states:
            module.set_rng_state(state, device)
