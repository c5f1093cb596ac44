"""Refusals: errors that say what was expected and what came, and leave the operator to who knows it.

A kernel serves all variants of its group, and other kernels call it: it does not know which operator was called. It raises
`refused(text)`; the dispatcher, as the exception leaves the kernel, puts the operator's name in front and its schema on a line of
its own (`name_operator`). A refusal is named once, by the operator whose kernel it leaves first: the innermost call.
"""
from dispatch._C.generated.type_names import TENSOR_TYPES

cdef dict scalar_types = {dtype: name.removesuffix("Tensor") for name, dtype in TENSOR_TYPES.items()}   # int32: Int


class LinAlgError(RuntimeError):
    """A factorisation that does not exist or was not found: of a singular matrix, say."""


LinAlgError.__name__ = "_LinAlgError"        # PyTorch's names: torch._C._LinAlgError, torch.linalg.LinAlgError
LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "dispatch._C"


cpdef object refused(str text, object type=RuntimeError):
    """An exception to be raised by a kernel, in the words that follow the operator's name.

    Args:
        text: what was expected and what came: "expected a matrix, got shape [3]".
        type: PyTorch's type of exception at this place; its constructor takes one text.

    Example:
        raise refused(f"expected bins to be positive, got {bins}", ValueError)
    """
    error = type(text)
    error._unnamed = True
    return error


def scalar_type(object dtype):
    """The name that PyTorch's texts have for a dtype: Int for int32."""
    cdef str name = str(dtype).rpartition(".")[2]
    return scalar_types.get(name, name)


def unserved(object dtype):
    """The exception of a kernel that has no loop for a dtype."""
    return refused(f"not implemented for '{scalar_type(dtype)}': no CPU kernel for {dtype!r}", NotImplementedError)


cdef object not_several(str text):
    """The TypeError for one value where an operator has several results; functions and methods make a RuntimeError of it."""
    error = TypeError(text)
    error._not_several = True
    return error


cdef extern from *:
    """
    static inline int dispatch_has_attributes(PyObject* o) {     /* of its own; none are made for the question */
        PyObject** attributes = _PyObject_GetDictPtr(o);
        return attributes && *attributes;
    }
    """
    bint has_attributes "dispatch_has_attributes"(object o) noexcept


cdef object take_text(object error):
    if not has_attributes(error):
        return None
    try:
        return str(error) if error.__dict__.pop("_unnamed", False) else None
    except BaseException:
        return None                          # a class that hides its attributes made no refusal


cdef bint checked_flag(str name, object value, object error) except -1:
    if type(value) is not bool:
        raise error(f"{name} must be a bool, got {type(value).__name__}")
    return value
