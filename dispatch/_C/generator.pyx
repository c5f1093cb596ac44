"""Generators of random numbers (torch.Generator): a seed and a state, from which the CPU's kernels draw PyTorch's numbers.

`mersenne.h` is the engine. The kernels ask `generator_of` for their argument and `borrow` its engine: two threads that draw from
one generator take turns, each for a whole tensor. Importing this module makes `Generator` the type of Generator arguments.
"""
import os

from cpython.pythread cimport PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock

from dispatch._C.conversion import _set_generator_type

from dispatch._C.dtypes cimport DEV_CPU, ST_uint8, device, device_of
from dispatch._C.errors cimport refused
from dispatch._C.steady cimport new_steady
from dispatch._C.storage cimport has_bytes
from dispatch._C.tensor cimport Tensor, data_of, is_contiguous_as, new_empty
from dispatch._C.dtypes cimport MF_contiguous

__all__ = ["Generator", "default_generator"]

cdef extern from "mersenne.h" nogil:
    ctypedef struct MersenneState:
        uint64_t seed
    void mersenne_get_state(const Mersenne* m, MersenneState* s)
    void mersenne_give_up(Mersenne* m)
    bint mersenne_set_state(Mersenne* m, const MersenneState* s)

cdef uint64_t DEFAULT_SEED = 67280421310721
cdef int64_t forks = 0                        # that led to this process


cdef class Generator:
    """A stream of random numbers; the same seed gives the numbers that PyTorch draws on the CPU."""

    def __cinit__(self, *args, **kwargs):
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError
        self.forks = forks
        mersenne_seed(&self.engine, DEFAULT_SEED)

    def __init__(self, device="cpu"):
        self._device = device_of(device)

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    @property
    def device(self):
        """The device whose kernels may draw from it."""
        return self._device

    def manual_seed(self, seed):
        """Start the stream over from `seed`; negative seeds count from 2**64.

        Raises: RuntimeError for what is no integer, ValueError for one of more than 64 bits.
        """
        if isinstance(seed, (float, str)) or not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed: expected an int, got {type(seed).__name__}")
        number = seed.__index__()
        if not -(1 << 63) <= number < 1 << 64:
            raise ValueError(f"manual_seed: Overflow when unpacking long long: seed {number}")
        cdef uint64_t start = number & 0xFFFFFFFFFFFFFFFF
        mersenne_seed(borrow(self), start)
        give_back(self)
        return self

    def initial_seed(self):
        """The seed that the stream started from."""
        return self.engine.seed

    def seed(self):
        """Start over from a seed of the operating system's choice; returns it."""
        from secrets import randbits

        self.manual_seed(randbits(63))
        return self.engine.seed

    def get_state(self):
        """Seed and state of the stream as a tensor of bytes, PyTorch's very ones, for `set_state`; no mode sees it."""
        cdef int64_t size = sizeof(MersenneState)
        cdef Tensor state = new_empty(ST_uint8, DEV_CPU, -1, 1, &size, NULL)
        mersenne_get_state(borrow(self), <MersenneState*>state.c_storage.data)
        give_back(self)
        return state

    def set_state(self, new_state):
        """Go on from a state of `get_state`, PyTorch's or this package's.

        Raises: TypeError for what is no tensor of bytes on the CPU, RuntimeError for bytes that are no state.
        """
        cdef Tensor state
        if not isinstance(new_state, Tensor):
            raise TypeError(f"set_state: expected a tensor of bytes from get_state, got {type(new_state).__name__}")
        state = new_steady(<Tensor>new_state)        # another thread may have the engine, and this one wait for it
        if state.c_dtype != ST_uint8 or not has_bytes(state.c_storage):
            raise TypeError(f"set_state: expected a tensor of bytes on the cpu, got {state.dtype} on {state.device}")
        if not is_contiguous_as(state, MF_contiguous):
            raise RuntimeError(f"set_state: expected a contiguous tensor, got strides {list(state.stride())}")
        if state.c_numel != sizeof(MersenneState):
            raise RuntimeError(f"set_state: expected {sizeof(MersenneState)} bytes from get_state, got {state.c_numel}")
        valid = mersenne_set_state(borrow(self), <const MersenneState*>data_of(state, 1))
        give_back(self)
        if not valid:
            raise RuntimeError("set_state: the bytes are no state of a Mersenne twister")
        return self

    def graphsafe_get_state(self):
        """NotImplementedError: graphs of calls are captured on accelerators."""
        raise NotImplementedError("graphsafe_get_state: a generator on cpu has no state of captured graphs")

    def graphsafe_set_state(self, new_state):
        """NotImplementedError: graphs of calls are captured on accelerators."""
        if not isinstance(new_state, Generator):
            raise TypeError(f"graphsafe_set_state: expected a Generator, got {type(new_state).__name__}")
        raise NotImplementedError("graphsafe_set_state: a generator on cpu has no state of captured graphs")

    def get_offset(self):
        """RuntimeError: only streams of counters have an offset."""
        raise RuntimeError("get_offset: a generator on cpu has no offset")

    def set_offset(self, offset):
        """RuntimeError: only streams of counters have an offset."""
        raise RuntimeError("set_offset: a generator on cpu has no offset")

    def clone_state(self):
        """Another generator that goes on from here."""
        return Generator(self._device).set_state(self.get_state())

    def __reduce__(self):
        return _restored, (type(self), self._device, self.get_state())

    def __repr__(self):
        return f"<{type(self).__module__}.Generator object at {<size_t><void*>self:#x}>"


def _restored(cls, device, state):
    """What pickles of generators call."""
    return cls(device).set_state(state)


cdef Generator the_default = Generator()
default_generator = the_default
_set_generator_type(Generator)


cdef Generator generator_of(object given):
    if given is None:
        return the_default
    cdef Generator g = <Generator?>given
    if (<device>g._device).devtype != DEV_CPU:
        raise refused(f"expected a generator of the cpu, got one of {g._device}")
    return g


def _count_fork():
    """The thread that had an engine is not in a forked child, its lock is: it would never be given back."""
    global forks
    forks += 1


os.register_at_fork(after_in_child=_count_fork)


cdef bint try_borrow(Generator g) noexcept:
    if g.forks != forks:
        renew_lock(g)
    return PyThread_acquire_lock(g.lock, 0)


cdef void renew_lock(Generator g) noexcept:
    """In a forked child. Who had the engine was in the midst of a draw: the words that it left are not drawn."""
    cdef PyThread_type_lock fresh
    if not PyThread_acquire_lock(g.lock, 0):
        fresh = PyThread_allocate_lock()
        if fresh == NULL:
            return
        g.lock = fresh                        # the other one is held, and never freed
        mersenne_give_up(&g.engine)
    else:
        PyThread_release_lock(g.lock)
    g.forks = forks


cdef Mersenne* borrow(Generator g) noexcept:
    if not try_borrow(g):
        with nogil:
            PyThread_acquire_lock(g.lock, 1)
    return &g.engine


cdef void give_back(Generator g) noexcept nogil:
    PyThread_release_lock(g.lock)
