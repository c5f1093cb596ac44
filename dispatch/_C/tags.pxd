"""The emitted `tags.h`: the tags' names, and the bits in `OperatorEntry.tags` that compiled code asks for."""
from libc.stdint cimport uint64_t

cdef extern from "generated/tags.h":
    const char* TAG_NAMES[]
    int TAG_COUNT
    const uint64_t TAG_data_dependent_output
    const uint64_t TAG_dynamic_output_shape
    const uint64_t TAG_generated
    const uint64_t TAG_inplace_view
    const uint64_t TAG_nondeterministic_seeded
    const uint64_t TAG_view_copy
