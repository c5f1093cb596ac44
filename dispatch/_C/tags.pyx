"""`dispatch.Tag`: one member for each tag of `schemas/tags.yaml`, numbered by its bit."""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

cdef extern from "generated/tags.h":
    const char* TAG_NAMES[]
    int TAG_COUNT


cdef class Tag:
    """A tag of an operator (torch.Tag): `name`, `value`; members are class attributes, `Tag.core`."""
    cdef readonly str name
    cdef readonly int value

    def __init__(self, value):
        raise TypeError("tags are the attributes of dispatch.Tag")

    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __hash__(self):
        return self.value

    def __eq__(self, other):
        return self is other

    def __repr__(self):
        return f"<Tag.{self.name}: {self.value}>"

    def __str__(self):
        return f"Tag.{self.name}"

    def __reduce__(self):
        return _tag, (self.name,)


cdef extern from *:
    """
    #define DISPATCH_TYPE_DICT(t) (((PyTypeObject*)(t))->tp_dict)
    """
    PyObject* DISPATCH_TYPE_DICT(object t)      # borrowed

cdef extern from "Python.h":
    void PyType_Modified(type)

cdef list members = []


def _tag(str name):
    """The member called `name`."""
    return getattr(Tag, name)


def _tags_of_bits(uint64_t bits):
    """The members whose bits are set."""
    cdef int i
    return [members[i] for i in range(TAG_COUNT) if bits >> i & 1]


cdef int make_members() except -1:
    cdef Tag t
    cdef int i
    for i in range(TAG_COUNT):
        t = Tag.__new__(Tag)
        t.name = TAG_NAMES[i].decode()
        t.value = i
        members.append(t)
        (<object>DISPATCH_TYPE_DICT(Tag))[t.name] = t
    (<object>DISPATCH_TYPE_DICT(Tag))["__members__"] = {(<Tag>t).name: t for t in members}
    PyType_Modified(Tag)
    return 0


make_members()
