"""Argument conversion: what crosses from Python into a boxed call.

`match` is the one matcher: it fills a `Frame` with one borrowed `PyObject*` for each argument of the schema, in schema order, and
gathers the tensors' keys and flags in the same pass. What the conversion makes (fresh lists, ints out of indexable objects) the
frame owns.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from dispatch._C.python_api cimport PyList_CheckExact_, Py_DECREF_
from dispatch._C.tensor cimport Tensor

cdef enum:
    MAX_ARGS = 64            # arguments of one operator
    MAX_OWNED = 72

cdef enum MatchError:
    MATCH_OK = 0
    MATCH_TOO_MANY = 1
    MATCH_MISSING = 2
    MATCH_BAD_TYPE = 3
    MATCH_UNKNOWN_KEYWORD = 4
    MATCH_TWICE = 5
    MATCH_RAISED = 6         # a symbolic number has no value to guard on: the exception is set

cdef struct ArgSpec:
    PyObject* name           # interned str, owned
    PyObject* dflt           # the schema's own default object, owned; NULL: required
    uint16_t flags           # ArgFlag
    uint8_t kind             # ArgKind
    uint8_t alias            # 0 none, 1 'a' ...
    int16_t size             # N of T[N]; 0 none

cdef struct RetSpec:
    uint16_t flags
    uint8_t kind
    uint8_t alias

cdef struct Signature:
    ArgSpec* args
    RetSpec* rets
    int n_args
    int n_pos                # arguments that may be given positionally
    int n_rets
    bint numbers_as_tensors  # a Python number is taken in a Tensor slot
    PyObject* entry          # borrowed: the OperatorEntry, for error texts

cdef struct Frame:
    PyObject* args[64]       # borrowed, one for each argument of the schema
    uint64_t ks              # union of the tensors' key sets
    uint32_t flags           # union of the tensors' flags
    bint lone_ints           # set before matching: a lone int is taken for SymInt[N] too (functions and methods)
    int n_owned
    PyObject* owned[72]      # references that end with the call
    int bad_arg              # on a mismatch: which argument (or given positional / keyword number)
    PyObject* bad_value      # borrowed

cdef struct IntArray:
    int64_t* data
    Py_ssize_t len

# 0: matched. Otherwise a MatchError code: nothing is raised unless `MATCH_RAISED`; release_frame is due in every case.
cdef int match(Signature* sig, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, Frame* f) noexcept
# The same for a fresh list of plain ints, which the frame keeps too, after the tensor `args[0]` when `place` is 1; no keywords.
cdef int match_ints(Signature* sig, PyObject** args, Py_ssize_t place, PyObject* ints, Frame* f) noexcept
# The same for (args, kwargs) as Python code has them; both must outlive the frame. Raises RuntimeError for a mismatch.
cdef int match_given(Signature* sig, object args, dict kwargs, Frame* f) except -1
cdef object raise_mismatch(Signature* sig, int code, Frame* f, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, error)
# keys of an array that is boxed already
cdef int gather(Signature* sig, PyObject** args, uint64_t* ks, uint32_t* flags) noexcept
cdef bint equals_default(ArgSpec* spec, PyObject* value) noexcept     # same type and value as the default
# int, float, complex, bool (and subclasses), numpy scalars not
cdef bint is_number(PyObject* o) noexcept
cdef object default_object(int kind, int64_t i, double f, const char* s, const int64_t* v)
# What the argument parser gives factories that are called as functions: a device when no tensor has one, and no pinned memory.
cdef int complete_options(Signature* sig, Frame* f) noexcept
cdef str describe_value(PyObject* value)

# A list of ints that need no conversion; NULL when some do. It ends with `end_list`.
cdef PyObject* new_plain_ints(PyObject** values, Py_ssize_t n) noexcept
cdef void end_list(PyObject* made) noexcept

cdef inline void release_frame(Frame* f) noexcept:
    cdef int i
    for i in range(f.n_owned):
        if PyList_CheckExact_(f.owned[i]):
            end_list(f.owned[i])
        else:
            Py_DECREF_(f.owned[i])
