"""Results with names: the struct sequences that functions with several results return (torch.return_types).

`function` asks for the class of an operator's results when it first returns some; classes live as long as the program. They
belong to `dispatch.return_types`, which is where programs find them.
"""
from dispatch._C.naming cimport full_name
from dispatch._C.python_api cimport PyStructSequence_Desc, PyStructSequence_Field, PyStructSequence_NewType_

__all__ = ["named"]

cdef dict classes = {}                   # (operator's name, fields) -> class
cdef list struct_names = []              # texts that the classes point to: they live as long as the program


cdef object new_class(str name, tuple fields):
    """A struct sequence class (as `time.struct_time` is one) with these fields, at most 15."""
    cdef PyStructSequence_Field members[16]
    cdef PyStructSequence_Desc description
    cdef list texts = [name.encode(), *[field.encode() for field in fields]]
    cdef Py_ssize_t i, n = len(fields)
    if not 0 < n < 16:
        raise ValueError(f"{name}: expected 1 to 15 fields, got {n}")
    for i in range(n):
        members[i].name = <bytes>texts[i + 1]
        members[i].doc = NULL
    members[n].name = NULL
    members[n].doc = NULL
    description.name = <bytes>texts[0]
    description.doc = NULL
    description.fields = members
    description.n_in_sequence = <int>n
    struct_names.append(texts)
    return PyStructSequence_NewType_(&description)


def shown(self):
    """`repr` of a result: a line for each field."""
    fields = ",\n".join([f"{name}={value!r}" for name, value in zip(type(self).__match_args__, self)])
    return f"{full_name('return_types')}.{type(self).__name__}(\n{fields})"


def made_classes():
    """The classes of results that were asked for so far."""
    return list(classes.values())


def named(str name, tuple fields):
    """The class of results `fields` of the operator `name`; ValueError for none, or more than 15."""
    found = classes.get((name, fields))
    if found is None:
        found = new_class(full_name(f"return_types.{name}"), fields)
        found.__repr__ = shown
        classes[name, fields] = found
    return found
