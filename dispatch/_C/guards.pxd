"""Guards: a change of the thread's state from __enter__ to __exit__.

Others derive theirs from `Guard`: set `parts` (and `bits`) when made, and override `apply`.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.tls cimport ThreadState

cdef enum Part:                  # what a guard's frame saves and puts back
    PART_INCLUDED = 1
    PART_EXCLUDED = 2
    PART_GRAD = 4                # gradient and inference mode
    PART_FUNCTION = 8
    PART_DISPATCHER = 16         # and the key PythonDispatcher
    PART_SNAPSHOT = 32

cdef struct Frame:               # what one entry of a guard found
    Frame* below
    uint64_t serial              # of the thread that entered
    uint64_t included
    uint64_t excluded
    uint64_t snapshot_included
    uint64_t snapshot_excluded
    PyObject* python_dispatcher
    int grad_mode
    int inference_mode
    int torch_function_off
    int meta_in_include
    int has_snapshot


cdef class Guard:
    """A change of the thread's state; may be entered again meanwhile, and by several threads."""
    cdef Frame first             # the usual only frame, so that entering allocates nothing
    cdef bint first_used
    cdef bint pending            # acts since its construction; the next __enter__ does nothing
    cdef bint undone_at_end      # leaving is made up for when the object dies
    cdef int parts
    cdef uint64_t bits           # of the exclude set, those that are put back
    cdef Frame* top              # frames not left yet, the last one first, maybe of several threads

    cdef int apply(self, ThreadState* ts) except -1   # makes the change, or raises and makes none
    cdef int enter(self) except -1
    cdef bint leave(self) noexcept       # undoes this thread's last entry; False: there is none
    cdef void free_frame(self, Frame* frame) noexcept
