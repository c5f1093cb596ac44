"""What a kernel raises when it refuses its arguments: the text without the operator, which the dispatcher puts in front of it."""

cpdef object refused(str text, object type=*)
cdef object take_text(object error)          # the text of a refusal that nobody has named yet, which is named by that; else None
cdef object not_several(str text)
# A bool, and nothing that only has a truth: an `error` that names the flag else.
cdef bint checked_flag(str name, object value, object error) except -1
