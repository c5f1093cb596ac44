"""Errors of numpy and CPython that leave a kernel of ours, in our words.

Kernels check their arguments and refuse in words of their own. What gets past them fails in numpy, or where Python's numbers
become C's, and those texts speak of arrays, axes and C types that the user never saw. The dispatcher asks `in_own_words` for each
error out of a kernel of the package: a text that is known to be foreign becomes a refusal, which is then named as all are. Errors
with any other text stay, and so does what a program's own handler or kernel raised further in: its frames tell.
"""
from dispatch._C.errors cimport refused

# (words that only numpy, Cython or CPython says, our exception, our words)
cdef tuple KNOWN = (
    (("array is too big", "Maximum allowed size exceeded", "Maximum allowed dimension exceeded", "negative dimensions are"),
     RuntimeError, "the sizes of the result are too large"),
    (("too large to convert to C", "int too big to convert", "too large to convert to float", "value too large to convert to",
      "can't convert negative", "Python integer "),
     RuntimeError, "a number is too large for its type"),
    (("cannot convert float",), RuntimeError, "a number that is infinite or nan cannot become an integer"),
    (("is out of bounds for axis",), IndexError, "an index is out of bounds for its dimension"),
    (("is out of bounds for array of dimension",), IndexError, "a dimension is out of range"),
    (("list index out of range", "tuple index out of range", "not enough values to unpack", "too many values to unpack",
      "operands could not be broadcast", "could not broadcast input array", "shape mismatch: objects", "cannot reshape array",
      "all the input array", "zero-size array to reduction", "boolean index did not match"),
     RuntimeError, "the shapes of the arguments do not fit together"),
    (("Cannot convert ", "' not supported between instances", "unsupported operand type", "an integer is required",
      "must be real number, not", "object cannot be interpreted as an integer", "object is not subscriptable",
      "object is not iterable", "object has no attribute", "' not supported for the input types"),
     RuntimeError, "an argument is not of the type that the kernel expects"),
    (("division by zero", "math domain error", "math range error", "Numerical result out of range"),
     RuntimeError, "a number has no result"),
)


cdef set OURS = {"dispatch", "numpy", "scipy", "ml_dtypes"}


cdef bint is_ours(object trace) except -1:
    """Whether no frame between the kernel and the place of the error belongs to a program."""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__")
        if not isinstance(name, str) or name.partition(".")[0] not in OURS:
            return False
        trace = trace.tb_next
    return True


cdef object in_own_words(object error, object trace):
    if not is_ours(trace):
        return None
    if isinstance(error, MemoryError):
        return memory_refusal(error)
    if not isinstance(error, (ValueError, TypeError, ArithmeticError, IndexError, AttributeError)):
        return None
    text = str(error)
    for words, kind, ours in KNOWN:
        for word in words:
            if word in text:
                return hiding(refused(ours, kind), error)
    return None


cdef object memory_refusal(object error):
    """numpy says how much; CPython says nothing."""
    text = str(error)
    if not text:
        return hiding(refused("there is not enough memory", MemoryError), error)
    if text.startswith("Unable to allocate"):
        size = " ".join(text.split()[3:5])
        return hiding(refused(f"there is not enough memory: {size} are needed", MemoryError), error)
    return None


cdef object hiding(object refusal, object error):
    """The foreign error stays at hand for who debugs a kernel, and is not printed."""
    refusal.__context__ = error
    refusal.__suppress_context__ = True
    return refusal
