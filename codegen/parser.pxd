"""C types of the parser, for the compiled build; the module runs without them too.

Those of `schema` are Python objects here: a cimport would name the package `dispatch.codegen`, and
`python -m codegen` runs before there is a `dispatch`.
"""
cimport cython


cdef bint _is_ident_start(Py_UCS4 c) noexcept
cdef bint _is_ident(Py_UCS4 c) noexcept
cdef bint _is_plain(Py_UCS4 c) noexcept
cdef bint _may_be_shared(tuple arguments) except -1
cdef int _keep(dict cache, str text, object value) except -1


@cython.final
cdef class Parser:
    cdef str prefix
    cdef str source
    cdef str text
    cdef Py_ssize_t pos
    cdef bint allow_typevars
    cdef int depth

    @cython.locals(text=str, pos=Py_ssize_t, c=Py_UCS4)
    cdef Py_UCS4 skip(self) except? 0
    cdef bint take(self, Py_UCS4 c) except -1
    cdef int expect(self, Py_UCS4 c) except -1
    @cython.locals(i=Py_ssize_t)
    cdef bint take_word(self, str word) except -1
    @cython.locals(text=str, start=Py_ssize_t, pos=Py_ssize_t)
    cdef str ident(self, str expected)
    @cython.locals(spelled=str, found=tuple)
    cdef object schema(self)
    cdef tuple signature(self)
    cdef tuple operator_name(self)
    @cython.locals(c=Py_UCS4)
    cdef tuple arguments(self)
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, cache=dict, spelled=str)
    cdef object argument(self, bint kwarg_only)
    @cython.locals(text=str, pos=Py_ssize_t)
    cdef Py_ssize_t plain_end(self) except -1
    cdef object parsed_argument(self, bint kwarg_only)
    cdef bint check_order(self, object argument, bint seen_default, Py_ssize_t start) except -1
    @cython.locals(start=Py_ssize_t, found=tuple, spelled=str)
    cdef tuple returns(self)
    cdef tuple parsed_returns(self)
    cdef object returned(self)
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, found=tuple, last=bint, spelled=str)
    cdef tuple type(self)
    @cython.locals(depth=cython.int)
    cdef tuple parsed_type(self)
    cdef int deeper(self) except -1
    cdef object list_size(self)
    @cython.locals(start=Py_ssize_t)
    cdef object base_type(self)
    cdef tuple types_in_parentheses(self)
    cdef object alias(self)
    cdef tuple alias_sets(self)
    @cython.locals(c=Py_UCS4)
    cdef object default(self, object type_)
    cdef object list_default(self, object type_)
    @cython.locals(c=Py_UCS4)
    cdef object constant(self, object type_)
    @cython.locals(start=Py_ssize_t)
    cdef object word_constant(self, object type_)
    @cython.locals(start=Py_ssize_t, c=Py_UCS4)
    cdef object number(self)
    @cython.locals(text=str, start=Py_ssize_t, pos=Py_ssize_t, digits=Py_ssize_t, whole=bint)
    cdef object real_number(self)
    @cython.locals(text=str)
    cdef Py_ssize_t fraction_end(self, Py_ssize_t pos) except -1
