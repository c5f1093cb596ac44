"""What is said of a call that fits no overload, or finds no kernel, beside what is wrong: on the cold path.

`overload` asks which overloads were meant and why each does not fit, `dispatcher` what to do about a device without kernels. A
text blames the argument that is wrong: ints in a row are a list to functions, and `out` is meant only where it is given.
"""
from cpython.object cimport PyObject

from dispatch._C.emitted cimport AF_LIST, AF_OUT, AK_INT, AK_TENSOR
from dispatch._C.keys cimport DK_NAME_BY_VALUE, DK_NUM_RUNTIME, DK_VALUE_BY_INDEX
from dispatch._C.operator cimport OperatorEntry
from dispatch._C.python_api cimport PyIndex_Check_, PyTuple_GET_SIZE_
from dispatch._C.values cimport MATCH_BAD_TYPE, MATCH_TOO_MANY, Frame, match, raise_mismatch, release_frame


cdef list overloads_meant(list entries, PyObject** args, Py_ssize_t nargs, tuple names):
    """Without `out` in a call the overloads that need one are not what somebody meant, nor are those of numbers and texts where
    the first argument is none (`add.int`), if there are others."""
    cdef list found = [] if "out" in names else [e for e in entries if not writes_out(<OperatorEntry>e)]
    if nargs and not isinstance(<object>args[0], (int, float, complex, str)):
        found = [e for e in found if takes_tensor_first(<OperatorEntry>e)] or found
    return found or entries


cdef bint takes_tensor_first(OperatorEntry e):
    return e.sig.n_args > 0 and e.sig.args[0].kind == AK_TENSOR


cdef bint writes_out(OperatorEntry e):
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_OUT:
            return True
    return False


cdef object refuse_overload(OperatorEntry e, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, error):
    """Raise why one overload does not take the arguments. Ints in a row stand for a list, as functions take them: what is wrong
    then is something else, or one of them is no int."""
    cdef Frame f
    cdef PyObject* vec[64]
    cdef Py_ssize_t first, n_names = PyTuple_GET_SIZE_(kwnames) if kwnames != NULL else 0
    cdef int last = e.sig.n_pos - 1
    cdef object row
    f.lone_ints = error is TypeError
    code = match(&e.sig, args, nargs, kwnames, &f)
    first = f.bad_arg if code == MATCH_BAD_TYPE else 0
    if code in (MATCH_BAD_TYPE, MATCH_TOO_MANY) and error is TypeError and nargs + n_names <= 60:
        if takes_ints(e, first) and are_ints(args, first, nargs):
            release_frame(&f)
            row = put_row(vec, args, first, nargs, n_names)
            f.lone_ints = True
            code = match(&e.sig, vec, first + 1, kwnames, &f)
            if code != MATCH_BAD_TYPE or f.bad_arg != first:     # the ints themselves are well: not too big
                raise_mismatch(&e.sig, code, &f, vec, first + 1, kwnames, error)
            release_frame(&f)
            f.lone_ints = True
            code = match(&e.sig, args, nargs, kwnames, &f)
        elif code == MATCH_TOO_MANY and last <= 1 and takes_ints(e, last) and not are_ints(args, last, nargs):
            release_frame(&f)
            row = put_row(vec, args, last, nargs, n_names)
            raise_mismatch(&e.sig, match(&e.sig, vec, last + 1, kwnames, &f), &f, vec, last + 1, kwnames, error)
    raise_mismatch(&e.sig, code, &f, args, nargs, kwnames, error)


cdef bint takes_ints(OperatorEntry e, Py_ssize_t i):
    """Whether the positional argument `i` is a list of ints."""
    return 0 <= i < e.sig.n_pos and e.sig.args[i].kind == AK_INT and e.sig.args[i].flags & AF_LIST


cdef bint are_ints(PyObject** args, Py_ssize_t first, Py_ssize_t nargs):
    """Whether something stands from `first` on, and all of it may be an int."""
    return first < nargs and all([PyIndex_Check_(args[i]) for i in range(first, nargs)])


cdef object put_row(PyObject** vec, PyObject** args, Py_ssize_t first, Py_ssize_t nargs, Py_ssize_t n_names):
    """The arguments with those from `first` on as one tuple, which the caller holds."""
    cdef Py_ssize_t i
    cdef object row = tuple([<object>args[i] for i in range(first, nargs)])
    for i in range(first):
        vec[i] = args[i]
    vec[first] = <PyObject*>row
    for i in range(n_names):
        vec[first + 1 + i] = args[nargs + i]
    return row


cdef str advice(str name):
    """What to do about a device without kernels, on a line of its own; "" where nothing is certain."""
    cdef int i
    cdef bint is_device = any([DK_NAME_BY_VALUE[DK_VALUE_BY_INDEX[i]] == b"Sparse" + name.encode() for i in range(DK_NUM_RUNTIME)])
    if not is_device or name in ("CPU", "Meta"):
        return ""
    return ("\n  Values on such a device need kernels that a program registers (docs/tutorials/device.md); for shapes, dtypes "
            "and memory alone, run it under FakeTensorMode()")
