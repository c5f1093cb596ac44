"""Casters of elements: a number, a dtype, a device ... out of a Python object, or no match.

Two tongues: `ops` follow the casters of TorchScript (torch/csrc/jit/python/pybind_utils.cpp), functions and methods the argument
parser (torch/csrc/utils/python_arg_parser.cpp). A float is no int in either; a bool is an int for `ops` only. Symbolic numbers stay
what they are where the schema says SymInt or Scalar, and are guarded elsewhere. Nothing here raises but such a guard, which leaves
its exception set.
"""
from cpython.exc cimport PyErr_ExceptionMatches
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

import numpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_COUNT, is_complex_code, is_floating_code
from dispatch._C.emitted cimport (
    AF_LIST, AF_SYM, AK_BOOL, AK_COMPLEX, AK_DEVICE, AK_DICT, AK_DTYPE, AK_FLOAT, AK_GENERATOR, AK_INT, AK_LAYOUT, AK_MEMORY_FORMAT,
    AK_SCALAR, AK_STORAGE, AK_STR, AK_TENSOR,
)
from dispatch._C.python_api cimport (
    PyBool_Check_, PyBytes_Check_, PyComplex_CheckExact_, PyComplex_Check_, PyDict_Check_, PyErr_Clear_, PyErr_Occurred_,
    PyFloat_CheckExact_, PyFloat_Check_, PyIndex_Check_, PyList_CheckExact_, PyLong_CheckExact_, PyLong_Check_, PyNumber_Check_,
    PyNumber_Float_, PyNumber_Index_, PyNumber_Long_, PyObject_IsTrue_, PyObject_TypeCheck_, PyTuple_CheckExact_,
    PyUnicode_CheckExact_, PyUnicode_Check_, Py_DECREF_, Py_False_, Py_INCREF_, Py_None_, Py_True_, Py_TYPE_,
)
from dispatch._C.references cimport set_error
from dispatch._C.storage cimport Storage
from dispatch._C.symbolic cimport NK_BOOL, NK_FLOAT, NK_INT, NK_NONE, number_kind, plain_number
from dispatch._C.tensor cimport Tensor, needs_grad
from dispatch._C.tls cimport ThreadState, tls

__all__ = []

cdef extern from *:
    """
    static int dispatch_fits_64(PyObject* o, int as_unsigned) {  /* int64, or uint64 too */
        if (dispatch_fits_int64(o)) return 1;
        if (!as_unsigned) return 0;
        PyLong_AsUnsignedLongLong(o);
        if (!PyErr_Occurred()) return 1;
        PyErr_Clear();
        return 0;
    }
    static int dispatch_has_truth(PyObject* o) {                 /* __bool__, not merely a length */
        return Py_TYPE(o)->tp_as_number && Py_TYPE(o)->tp_as_number->nb_bool;
    }
    """
    bint fits_64 "dispatch_fits_64"(PyObject* o, bint as_unsigned) noexcept
    bint has_truth "dispatch_has_truth"(PyObject* o) noexcept

# Python-level Generator class, known once the room that defines it is imported.
cdef PyObject* generator_type = NULL
cdef object pinned_generator_type = None
cdef PyObject* TENSOR = <PyObject*>Tensor
cdef PyObject* STORAGE = <PyObject*>Storage
cdef PyObject* DTYPE = <PyObject*>dtypes.dtype
cdef PyObject* LAYOUT = <PyObject*>dtypes.layout
cdef PyObject* DEVICE = <PyObject*>dtypes.device
cdef PyObject* MEMORY_FORMAT = <PyObject*>dtypes.memory_format
cdef object numpy_types = (numpy.generic, numpy.integer)     # keeps the two below alive
cdef PyObject* NUMPY_SCALAR = <PyObject*>numpy.generic
cdef PyObject* NUMPY_INTEGER = <PyObject*>numpy.integer


def _set_generator_type(cls):
    """Register the class that Generator arguments take."""
    global generator_type, pinned_generator_type
    pinned_generator_type = cls
    generator_type = <PyObject*>cls


cdef inline PyObject* again(PyObject* o) noexcept:
    Py_INCREF_(o)
    return o


cdef void forget_error() noexcept:
    if PyErr_Occurred_() != NULL and PyErr_ExceptionMatches(Exception):
        PyErr_Clear_()


cdef inline PyObject* cleared(PyObject* made) noexcept:
    """What a conversion made; when it raised, no match."""
    if made == NULL:
        forget_error()
    return made


cdef PyObject* no_match(object error) noexcept:
    if not isinstance(error, Exception):
        set_error(error)
    return NULL


cdef inline bint is_tensor(PyObject* o) noexcept:
    return PyObject_TypeCheck_(o, TENSOR)


cdef bint is_plain_scalar(PyObject* o) noexcept:
    """A 0-d tensor that the argument parser takes for a number."""
    return is_tensor(o) and (<Tensor>o).c_ndim == 0 and not needs_grad(<Tensor>o)


cdef bint is_parsed_int(PyObject* o) noexcept:
    if PyLong_Check_(o):
        return not PyBool_Check_(o)
    return PyObject_TypeCheck_(o, NUMPY_INTEGER) or number_kind(o) == NK_INT


cdef PyObject* guarded(PyObject* o) noexcept:
    """The plain number that a symbolic one is here, by a guard. NULL with an exception set: nothing is known of it."""
    try:
        r = plain_number(<object>o)
    except BaseException as error:
        set_error(error)
        return NULL
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* fitting_int(PyObject* made, bint as_unsigned) noexcept:
    """Steals `made`; a plain int that fits in 64 bits, else NULL."""
    cdef PyObject* plain
    if made == NULL:
        return cleared(made)
    if not PyLong_CheckExact_(made):         # a bool, an IntEnum
        plain = int_of(made)
        Py_DECREF_(made)
        made = plain
    if made != NULL and not fits_64(made, as_unsigned):
        Py_DECREF_(made)
        return NULL
    return made


cdef PyObject* int_of(PyObject* o) noexcept:
    try:
        r = int.__int__(<object>o)
    except TypeError:
        return NULL
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* new_int(PyObject* o, uint16_t flags, int function) noexcept:
    cdef PyObject* made
    if PyLong_CheckExact_(o):
        return again(o) if fits_64(o, False) else NULL
    if number_kind(o) == NK_INT:
        return again(o) if flags & AF_SYM else guarded(o)
    if flags & AF_SYM and has_own_answer(o):
        return item_of(o, flags & AF_LIST)
    if function:
        if not is_parsed_int(o) and not (is_plain_scalar(o) and is_integral((<Tensor>o).c_dtype)):
            return NULL
        made = PyNumber_Index_(o)
        if made == NULL and flags & AF_LIST:     # a tensor whose value nobody knows: that is the call's answer
            return NULL
        return fitting_int(made, False)
    if PyFloat_Check_(o) or PyComplex_CheckExact_(o):
        return NULL
    if PyIndex_Check_(o) and not is_tensor(o):
        made = PyNumber_Index_(o)
        if made != NULL:
            return fitting_int(made, False)
        forget_error()
        if PyErr_Occurred_() != NULL:
            return NULL
    if PyNumber_Check_(o):                   # numpy's floats, tensors of one element: as int() has it
        return quiet_int(o)
    if not flags & AF_SYM:
        return code_of(o)
    return NULL


cdef bint has_own_answer(PyObject* o) noexcept:
    """One integer in a subclass of Tensor, such as a fake tensor, which may know a symbol for it."""
    return is_tensor(o) and Py_TYPE_(o) != TENSOR and (<Tensor>o).c_numel == 1 and is_integral((<Tensor>o).c_dtype)


cdef PyObject* item_of(PyObject* o, bint raises) noexcept:
    """The number in it, which may be a symbolic one. An error, such as that its value depends on data, is kept if `raises`."""
    cdef ThreadState* ts = tls()
    cdef int off = ts.torch_function_off
    cdef PyObject* made = NULL
    ts.torch_function_off = 2
    try:
        r = (<object>o).item()
        Py_INCREF(r)
        made = <PyObject*>r
    except BaseException as error:
        made = no_match(error)
        if raises:
            set_error(error)
    ts.torch_function_off = off
    return made if made == NULL or number_kind(made) == NK_INT else fitting_int(made, False)


cdef PyObject* quiet_int(PyObject* o) noexcept:
    """`int(o)`; fake tensors and handlers of functions play no part, nor do numpy's warnings."""
    cdef ThreadState* ts = tls()
    cdef int off = ts.torch_function_off
    cdef PyObject* made
    ts.torch_function_off = 2
    if PyComplex_Check_(o):
        made = int_of_real(o)
    else:
        made = PyNumber_Long_(o)
    ts.torch_function_off = off
    return fitting_int(made, False)


cdef PyObject* int_of_real(PyObject* o) noexcept:
    try:
        r = int((<object>o).real)
    except BaseException as error:
        return no_match(error)
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* code_of(PyObject* o) noexcept:
    """The integer behind a dtype, a layout, a memory format."""
    cdef object code
    if PyObject_TypeCheck_(o, DTYPE):
        code = (<dtypes.dtype>o).code
    elif PyObject_TypeCheck_(o, LAYOUT):
        code = (<dtypes.layout>o).code
    elif PyObject_TypeCheck_(o, MEMORY_FORMAT):
        code = (<dtypes.memory_format>o).code
    else:
        return NULL
    Py_INCREF(code)
    return <PyObject*>code


cdef inline bint is_integral(int code) noexcept:
    return not (is_floating_code(code) or is_complex_code(code) or code == dtypes.ST_bool)


cdef PyObject* new_float(PyObject* o, uint16_t flags, int function) noexcept:
    cdef int kind
    if PyFloat_CheckExact_(o):
        return again(o)
    kind = number_kind(o)
    if kind == NK_FLOAT and flags & AF_SYM:
        return again(o)
    if kind == NK_FLOAT or kind == NK_INT:
        return float_of_guarded(guarded(o))
    if PyUnicode_Check_(o) or PyBytes_Check_(o) or PyComplex_CheckExact_(o):
        return NULL
    if function and not (PyFloat_Check_(o) or PyLong_Check_(o) or is_plain_scalar(o)
                         or PyObject_TypeCheck_(o, NUMPY_SCALAR) and not PyComplex_Check_(o)):
        return NULL
    if PyComplex_Check_(o):                  # numpy's: the real part
        return float_of_real(o)
    return cleared(PyNumber_Float_(o))


cdef PyObject* float_of_real(PyObject* o) noexcept:
    cdef object r
    try:
        r = float((<object>o).real)
    except BaseException as error:
        return no_match(error)
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* float_of_guarded(PyObject* plain) noexcept:
    """Steals `plain`; NULL stays NULL."""
    cdef PyObject* made
    if plain == NULL:
        return NULL
    made = PyNumber_Float_(plain)
    Py_DECREF_(plain)
    return made


cdef PyObject* new_bool(PyObject* o, uint16_t flags, int function) noexcept:
    cdef int truth
    if o == Py_True_ or o == Py_False_:
        return again(o)
    if number_kind(o) == NK_BOOL:
        return again(o) if flags & AF_SYM else guarded(o)
    if function:
        return NULL
    if o == Py_None_:
        return again(Py_False_)
    if not has_truth(o):
        return NULL
    truth = PyObject_IsTrue_(o)
    if truth < 0:
        return cleared(NULL)
    return again(Py_True_ if truth else Py_False_)


cdef PyObject* new_scalar(PyObject* o, uint16_t flags, int function) noexcept:
    if PyFloat_CheckExact_(o) or PyComplex_CheckExact_(o) or PyBool_Check_(o):
        return again(o)
    if PyLong_Check_(o):
        return fitting_int(again(o), True)
    if number_kind(o) != NK_NONE:
        return again(o)
    if PyFloat_Check_(o):
        return cleared(PyNumber_Float_(o))
    if function:
        if is_plain_scalar(o):
            return new_item(o)
        return new_number(o)
    if not PyObject_TypeCheck_(o, MEMORY_FORMAT):
        return code_of(o)
    return NULL


cdef PyObject* new_number(PyObject* o) noexcept:
    if PyLong_Check_(o) or PyFloat_Check_(o) or PyComplex_CheckExact_(o) or number_kind(o) != NK_NONE:
        return again(o)
    if PyObject_TypeCheck_(o, NUMPY_SCALAR) and not PyBytes_Check_(o) and not PyUnicode_Check_(o):
        return new_numpy_number(o)
    return NULL


cdef PyObject* new_numpy_number(PyObject* o) noexcept:
    try:
        r = (<object>o).item()
    except BaseException as error:
        return no_match(error)
    if not isinstance(r, (int, float, complex)):
        return NULL
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* new_item(PyObject* o) noexcept:
    """The value of a 0-d tensor as a number; a fake tensor's may not be known: no match."""
    cdef ThreadState* ts = tls()
    cdef int off = ts.torch_function_off
    ts.torch_function_off = 2            # reading a value is no call that handlers see
    try:
        r = (<object>o).item()
    except BaseException as error:
        return no_match(error)
    finally:
        ts.torch_function_off = off
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* new_complex(PyObject* o) noexcept:
    if PyComplex_CheckExact_(o):
        return again(o)
    if PyUnicode_Check_(o) or PyBytes_Check_(o):
        return NULL
    try:
        r = complex(<object>o)
    except BaseException as error:
        return no_match(error)
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* new_str(PyObject* o, int function) noexcept:
    if PyUnicode_CheckExact_(o):
        return again(o)
    if PyUnicode_Check_(o):
        return cleared(plain_str(o))
    if PyBytes_Check_(o) and not function:
        return decoded(o)
    return NULL


cdef PyObject* plain_str(PyObject* o) noexcept:
    r = "".join([<object>o])
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* decoded(PyObject* o) noexcept:
    try:
        r = (<bytes>o).decode()
    except UnicodeDecodeError:
        return NULL
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* new_device(PyObject* o, int function) noexcept:
    if PyObject_TypeCheck_(o, DEVICE):
        return again(o)
    if not PyUnicode_Check_(o) and not (function and is_parsed_int(o)):
        return NULL
    try:
        r = dtypes.device_of(str(<object>o) if PyUnicode_Check_(o) else int(<object>o))
    except BaseException as error:
        return no_match(error)
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* new_coded(int kind, PyObject* o, int function) noexcept:
    """A dtype, layout or memory format. `ops` take their codes, functions the Python types float, int, bool, complex for a
    dtype."""
    cdef PyObject* made
    cdef Py_ssize_t code
    if PyObject_TypeCheck_(o, DTYPE if kind == AK_DTYPE else LAYOUT if kind == AK_LAYOUT else MEMORY_FORMAT):
        return again(o)
    if function:
        if kind != AK_DTYPE or not (<object>o is float or <object>o is int or <object>o is bool or <object>o is complex):
            return NULL
        r = dtypes.get_dtype(dtypes.dtype_code(<object>o))
        Py_INCREF(r)
        return <PyObject*>r
    made = new_int(o, AF_SYM, False)
    if made == NULL:
        return NULL
    code = <object>made if fits_code(made) else -1
    Py_DECREF_(made)
    return object_of_code(kind, code)


cdef bint fits_code(PyObject* o) noexcept:
    return number_kind(o) == NK_NONE and 0 <= <object>o < ST_COUNT


cdef PyObject* object_of_code(int kind, Py_ssize_t code) noexcept:
    cdef object r
    if code < 0 or (kind == AK_LAYOUT and code > 7) or (kind == AK_MEMORY_FORMAT and code > 3):
        return NULL
    if kind == AK_DTYPE:
        r = dtypes.get_dtype(<int>code)
    elif kind == AK_LAYOUT:
        r = dtypes.get_layout(<int>code)
    else:
        r = dtypes.get_memory_format(<int>code)
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* new_dict(PyObject* o, int function) noexcept:
    if PyDict_Check_(o):
        return again(o)
    if function or not PyList_CheckExact_(o) and not PyTuple_CheckExact_(o) or <object>o:
        return NULL
    r = {}
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* instance_of(PyObject* o, PyObject* cls) noexcept:
    return again(o) if cls != NULL and PyObject_TypeCheck_(o, cls) else NULL


cdef PyObject* new_storage_of(PyObject* o) noexcept:
    """A storage, or the one that a `TypedStorage` looks at."""
    if PyObject_TypeCheck_(o, STORAGE):
        return again(o)
    try:
        untyped = (<object>o)._untyped_storage
    except BaseException as error:
        return no_match(error)
    return instance_of(<PyObject*>untyped, STORAGE)


cdef PyObject* new_value(int kind, uint16_t flags, int function, PyObject* o) noexcept:
    if kind == AK_INT:
        return new_int(o, flags, function)
    if kind == AK_FLOAT:
        return new_float(o, flags, function)
    if kind == AK_BOOL:
        return new_bool(o, flags, function)
    if kind == AK_SCALAR:
        return new_scalar(o, flags, function)
    if kind == AK_STR:
        return new_str(o, function)
    if kind == AK_DTYPE or kind == AK_LAYOUT or kind == AK_MEMORY_FORMAT:
        return new_coded(kind, o, function)
    if kind == AK_DEVICE:
        return new_device(o, function)
    if kind == AK_GENERATOR:
        return instance_of(o, generator_type)
    if kind == AK_STORAGE:
        return new_storage_of(o)
    if kind == AK_COMPLEX:
        return new_complex(o)
    if kind == AK_DICT:
        return new_dict(o, function)
    return again(o)
