"""The structured kernel: one shape function for the functional, in-place and out variants of a group, on every key.

A shape function fills a `Spec` for each output; `prepare_outputs` makes, checks or resizes the outputs; a body fills them.
What the shape function worked out besides stands in `handed` of the first Spec, and the body need not work it out again.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.operator cimport Kernel, KernelObject, OperatorEntry
from dispatch._C.tensor cimport Tensor

cdef enum:
    DEVICE_OF_ARGUMENTS = -2

cdef enum:                   # Spec.cast: which dtypes a given output may have
    CAST_EXACT = 0           # the result's
    CAST_SAFE = 1            # one that the result can be cast to (TensorIterator's operators); what True means
    CAST_ANY = 2             # any: it decides the result's (sum, prod, cumsum without a dtype argument)
    CAST_MASK = 3
    # ... and what memory it may share; without a flag, outputs of CAST_SAFE and CAST_ANY must not overlap themselves
    OVERLAP_ANY = 4          # no check (operators that PyTorch copies into place)
    OVERLAP_NONE = 8         # none with itself or a tensor argument (gather)
    OVERLAP_SELF = 16        # the same, but it may be the first argument as a whole (scatter)
    RESTRIDE = 32            # an out argument that has the sizes takes the strides too (sort, on Meta)
    OVERLAP_TOLD = 128       # it may overlap itself in place, which is told (masked_fill_)
    COPIED = 64              # PyTorch's Meta kernel of the out variant copies into place: see TensorSpec's `copied`

cdef enum:
    N_HANDED = 65            # a count, and a number for each dimension

cdef int META_KEY

cdef struct Spec:
    int ndim
    int dtype                # ScalarType
    int devtype              # DeviceType, or DEVICE_OF_ARGUMENTS: that of the first tensor argument (the adapter's default)
    int devindex
    bint has_strides         # False: contiguous
    int cast                 # CAST_* | OVERLAP_* | RESTRIDE | COPIED
    bint absent              # this output is None (an optional result that was not asked for)
    int64_t sizes[64]
    int64_t strides[64]
    int64_t handed[N_HANDED]  # of the first output, for a body whose last parameter is `const int64_t* handed`; else not read

cdef inline void init_spec(Spec* s) noexcept nogil:
    s.ndim = 0
    s.dtype = -1
    s.devtype = -2
    s.devindex = -1
    s.has_strides = False
    s.cast = CAST_EXACT
    s.absent = False

# Outputs to be filled and returned, by the kernel's variant: a Tensor, or a tuple of them.
cdef object prepare_outputs(Kernel* k, PyObject* op, Spec* specs, PyObject** args)
# What a body writes to, for the outputs that the call returns (see `steady`): `taken` is what was taken for args, an output may be
# one of them.
cdef object new_steady_outputs(Kernel* k, object outputs, PyObject** args, tuple taken)
cdef bint any_long(object outputs) noexcept          # of several outputs
cdef Tensor new_output(Kernel* k, OperatorEntry e, Spec* s, PyObject** args)
cdef int check_out_device(int devtype, int devindex, Tensor out) except -1
# dtype, overlap, size; resizes when it may
cdef int check_output(OperatorEntry e, Spec* s, Tensor out, bint may_resize) except -1
cdef bint can_cast_codes(int from_, int to) noexcept
# The one of `n` arguments whose device the outputs are on, borrowed: the first with a dimension, else the first; NULL.
cdef PyObject* device_tensor(OperatorEntry e, PyObject** args, int n) noexcept
cdef bint is_meta(Kernel* k) noexcept                                                     # whether outputs are metadata only
cdef int load_structured(OperatorEntry e, KernelObject k) except -1
