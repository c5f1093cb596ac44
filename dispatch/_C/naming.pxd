cpdef str package_name()
cpdef str full_name(str name)
cpdef int name_type(type cls, str name) except -1
