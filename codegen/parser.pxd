"""C types of the parser, for the compiled build; the module runs without them too."""
cimport cython

from dispatch.codegen.schema cimport AliasInfo, Argument, FunctionSchema


cdef bint _is_ident_start(Py_UCS4 c) noexcept
cdef bint _is_ident(Py_UCS4 c) noexcept


@cython.final
cdef class Parser:
    cdef str source
    cdef str text
    cdef Py_ssize_t pos
    cdef bint allow_typevars

    @cython.locals(text=str, pos=Py_ssize_t, c=Py_UCS4)
    cdef Py_UCS4 skip(self) except? 0
    cdef bint take(self, Py_UCS4 c) except -1
    cdef int expect(self, Py_UCS4 c) except -1
    @cython.locals(i=Py_ssize_t)
    cdef bint take_word(self, str word) except -1
    @cython.locals(text=str, start=Py_ssize_t, pos=Py_ssize_t)
    cdef str ident(self, str expected)
    cdef FunctionSchema schema(self)
    cdef tuple operator_name(self)
    @cython.locals(c=Py_UCS4, argument=Argument)
    cdef tuple arguments(self)
    cdef Argument argument(self, bint kwarg_only)
    cdef bint check_order(self, Argument argument, bint seen_default, Py_ssize_t start) except -1
    cdef tuple returns(self)
    cdef Argument returned(self)
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, found=tuple)
    cdef tuple type(self)
    cdef tuple parsed_type(self)
