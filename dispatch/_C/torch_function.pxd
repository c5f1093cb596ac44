"""`__torch_function__`: modes and arguments that are asked before an operator, method or property runs."""
from cpython.object cimport PyObject

# Function modes on the stacks of all threads together: while it is 0, no call has to look for modes.
cdef int n_function_modes

cdef enum AskFlag:
    ASK_SELF = 1             # the first argument counts although it is a plain Tensor (functions that PyTorch does not parse for)
    ASK_KEYWORDS = 2         # handlers get a dictionary of keywords, an empty one too
    ASK_NESTED = 4           # handlers may stand in lists within lists (indexing)
    ASK_TENSORS = 8          # every argument that is a plain Tensor counts (Python functions in PyTorch)
    ASK_OWN = 16             # the first argument is looked at, no other: the function asks for those itself, or refuses them

# What the innermost function mode, or else the arguments' __torch_function__, answer to `func(*args)`: a new reference, or NULL
# with an exception. `asked` stays False, and nothing is raised, when there is nobody to ask.
cdef PyObject* ask_functions(PyObject* func, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int how, bint* asked) noexcept
