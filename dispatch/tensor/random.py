"""Generators of random numbers: a seed and a state for each (torch.Generator).

The kernels that draw numbers take theirs from the generator that they are given, or from
`default_generator`. Registering the class here makes it the type of Generator arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dispatch._C.arrays import from_numpy
from dispatch._C.conversion import _set_generator_type
from dispatch._C.dtypes import device

__all__ = [
    "Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]  # fmt: skip

_DEFAULT_SEED = 67280421310721
_STATE_BYTES = 4 * (2 + 1 + 624)  # the seed, the position and the key of a Mersenne twister


class Generator:
    """A stream of random numbers for a device; `numpy` is the stream, made when first used."""

    def __init__(self, device: Any = "cpu") -> None:
        self.device = _device(device)
        self._seed = _DEFAULT_SEED
        self._stream: Any = None

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream over from `seed`; negative seeds count from 2**64.

        Raises: RuntimeError for what is no integer, ValueError for one of more than 64 bits.
        """
        if isinstance(seed, (float, str)) or not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed: expected an int, got {type(seed).__name__}")
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError(f"manual_seed: seed {seed} does not fit in 64 bits")
        self._seed = int(seed) % (1 << 64)
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

    def get_state(self) -> Any:
        """Seed and state of the stream as a tensor of bytes, for `set_state`; no mode sees it."""
        state = self.numpy.bit_generator.state["state"]
        words = (*_words(self._seed), int(state["pos"]), *state["key"].tolist())
        return from_numpy(np.array(words, dtype=np.uint32).view(np.uint8))

    def set_state(self, new_state: Any) -> Generator:
        """Go on from a state of `get_state`. TypeError for anything else."""
        dtype = getattr(new_state, "dtype", None)
        if str(dtype).rpartition(".")[2] != "uint8" or new_state.numel() != _STATE_BYTES:
            raise TypeError(f"set_state: expected a tensor of {_STATE_BYTES} bytes from get_state")
        words = np.ascontiguousarray(new_state.numpy()).view(np.uint32)
        self._seed = int(words[0]) | int(words[1]) << 32
        state = self.numpy.bit_generator.state
        state["state"] = {"pos": int(words[2]), "key": words[3:].copy()}
        self.numpy.bit_generator.state = state
        return self

    graphsafe_get_state = get_state
    graphsafe_set_state = set_state

    def get_offset(self) -> int:
        """RuntimeError: only streams of counters have an offset."""
        raise RuntimeError("get_offset: a generator on cpu has no offset")

    def set_offset(self, offset: int) -> Generator:
        """RuntimeError: only streams of counters have an offset."""
        raise RuntimeError("set_offset: a generator on cpu has no offset")

    def clone_state(self) -> Generator:
        """Another generator that goes on from here."""
        return Generator(self.device).set_state(self.get_state())

    def __repr__(self) -> str:
        return f"<dispatch.Generator on {self.device}>"


def _device(given: Any) -> device:
    return given if isinstance(given, device) else device(given)


def _words(seed: int) -> tuple[int, int]:
    return seed & 0xFFFFFFFF, seed >> 32


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Seed the default generator and return it (torch.manual_seed)."""
    return default_generator.manual_seed(int(seed))


def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def seed() -> int:
    """Start the default generator over from a seed of the operating system's choice."""
    return default_generator.seed()


def get_rng_state() -> Any:
    """The default generator's state, a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Let the default generator go on from a state of `get_rng_state`."""
    default_generator.set_state(new_state)


_set_generator_type(Generator)
