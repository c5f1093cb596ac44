"""What the package is called: in texts, in the names of types, and in pickles.

`dispatch`, or `torch` where it stands for that (`dispatch.as_torch` sets it). What shows such a name asks here when it
shows it, and keeps none, so that the two can be exchanged while a program runs.
"""
from cpython.object cimport PyTypeObject

from dispatch._C.generated.type_names import TENSOR_TYPES

cdef extern from *:
    """
    #define DISPATCH_NAME(tp, name) ((tp)->tp_name = (name), PyType_Modified(tp))
    #define DISPATCH_OPEN(tp) ((tp)->tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE)
    """
    void open_tp "DISPATCH_OPEN"(PyTypeObject* tp) noexcept
    void set_tp_name "DISPATCH_NAME"(PyTypeObject* tp, const char* name) noexcept

cdef str package = "dispatch"
cdef list names_in_use = []            # `tp_name` points into these


cpdef str package_name():
    return package


cpdef str full_name(str name):
    """`dispatch.NAME`: where a program finds what it is shown."""
    return f"{package}.{name}"


def tensor_word(object dtype not None):
    """"Float" of float32, as in FloatTensor."""
    cdef str wanted = str(dtype).rpartition(".")[2]
    return next(name for name, known in TENSOR_TYPES.items() if known == wanted).removesuffix("Tensor")


def set_package_name(str name not None):
    global package
    package = name


cpdef int name_type(type cls, str name) except -1:
    """Give a compiled class the name `MODULE.CLASS`: its `repr`, its `__module__`, where pickles look for it."""
    cdef bytes text = name.encode()
    names_in_use.append(text)
    set_tp_name(<PyTypeObject*>cls, text)
    return 0


cpdef int open_type(type cls) except -1:
    """Let programs set attributes of a compiled class, as they may of PyTorch's, whose `Tensor` is written in Python."""
    open_tp(<PyTypeObject*>cls)
    return 0
