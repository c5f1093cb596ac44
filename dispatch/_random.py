"""Generators of random numbers: a seed and a state for each (torch.Generator).

The kernels that draw numbers take theirs from the generator that they are given, or from
`default_generator`. Registering the class here makes it the type of Generator arguments.
"""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import device
from dispatch._C.values import _set_generator_type

__all__ = ["Generator", "default_generator", "manual_seed"]

_DEFAULT_SEED = 67280421310721


class Generator:
    """A stream of random numbers for a device; `numpy` is the stream, made when first used."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device = _device(device)
        self._seed = _DEFAULT_SEED
        self._stream: Any = None

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream over from `seed`; negative seeds count from 2**64."""
        if not -(1 << 63) <= seed < 1 << 64:
            raise RuntimeError(f"manual_seed: seed {seed} does not fit in 64 bits")
        self._seed = seed % (1 << 64)
        self._stream = None
        return self

    def initial_seed(self) -> int:
        """The seed that the stream started from."""
        return self._seed

    def seed(self) -> int:
        """Start over from a seed of the operating system's choice; returns it."""
        from secrets import randbits

        self.manual_seed(randbits(63))
        return self._seed

    @property
    def numpy(self) -> Any:
        """The numpy generator that kernels draw from."""
        if self._stream is None:
            from numpy.random import MT19937, Generator as Stream

            self._stream = Stream(MT19937(self._seed))
        return self._stream

    def get_state(self) -> dict[str, Any]:
        """Seed and state of the stream, for `set_state`."""
        return {"seed": self._seed, "stream": self.numpy.bit_generator.state}

    def set_state(self, state: dict[str, Any]) -> Generator:
        """Go on from a state of `get_state`."""
        self._seed = state["seed"]
        self.numpy.bit_generator.state = state["stream"]
        return self

    def clone_state(self) -> Generator:
        """Another generator that goes on from here."""
        return Generator(self.device).set_state(self.get_state())

    def __repr__(self) -> str:
        return f"<dispatch.Generator on {self.device}>"


def _device(given: Any) -> device:
    return given if isinstance(given, device) else device(given)


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Seed the default generator and return it (torch.manual_seed)."""
    return default_generator.manual_seed(int(seed))


_set_generator_type(Generator)
