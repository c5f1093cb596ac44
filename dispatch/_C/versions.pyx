"""Version counters as programs set them: what autograd would take for a write, or for none.

Operators count their own writes (`bump_version`, called at ADInplaceOrView); this is asked from Python only.
"""
from operator import index

from libc.stdint cimport int64_t

from dispatch._C.tensor cimport TF_INFERENCE, Tensor, bump_version

__all__: list = []


def _increment_version(tensors):
    """As if each had been written to."""
    for t in tensors:
        bump_version(<Tensor?>t)


def _unsafe_set_version_counter(tensors, versions):
    """Let each tensor, and what shares its counter, have the version that stands in its place.

    Raises:
        TypeError: no sequences of tensors and of ints.
        RuntimeError: other lengths, a version below 0, a tensor made in inference mode.
    """
    cdef list wanted = []
    cdef int64_t version
    cdef Tensor t
    if not isinstance(tensors, (list, tuple)) or not isinstance(versions, (list, tuple)):
        raise TypeError("_unsafe_set_version_counter: expected a list of tensors and one of ints")
    if len(tensors) != len(versions):
        raise RuntimeError(f"_unsafe_set_version_counter: {len(tensors)} tensors and {len(versions)} versions")
    for item, number in zip(tensors, versions, strict=True):
        t, version = <Tensor?>item, index(number)
        if version < 0:
            raise RuntimeError(f"_unsafe_set_version_counter: versions begin at 0, got {version}")
        if t.c_flags & TF_INFERENCE:
            raise RuntimeError("_unsafe_set_version_counter: a tensor made in inference mode has no version counter")
        wanted.append(version)
    for item, number in zip(tensors, wanted, strict=True):
        t = <Tensor>item
        bump_version(t)                  # makes the counter
        t.c_version.value = number
