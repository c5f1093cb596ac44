"""The default generator of random numbers (torch.random): its seed and its state.

`Generator` itself is compiled (`_C/generator`). The kernels that draw numbers take theirs from the
generator that they are given, or from `default_generator`.
"""

from __future__ import annotations

from dispatch._C.generator import Generator, default_generator
from dispatch._C.tensor import Tensor

__all__ = [
    "Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]  # fmt: skip


def manual_seed(seed: int) -> Generator:
    """Seed the default generator and return it (torch.manual_seed)."""
    try:
        number = int(seed)
    except (TypeError, ValueError) as error:
        raise type(error)(f"manual_seed: seed: expected an int, got {seed!r}") from None
    return default_generator.manual_seed(number)


def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def seed() -> int:
    """Start the default generator over from a seed of the operating system's choice."""
    return default_generator.seed()


def get_rng_state() -> Tensor:
    """The default generator's state, a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Let the default generator go on from a state of `get_rng_state`."""
    default_generator.set_state(new_state)
