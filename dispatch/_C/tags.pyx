"""`dispatch.Tag`: one member for each tag of `schemas/tags.yaml`, numbered by its bit."""
from cpython.object cimport PyTypeObject
from cpython.type cimport PyType_Modified
from libc.stdint cimport uint64_t


cdef class Tag:
    """A tag of an operator (torch.Tag): `name`, `value`; members are class attributes, `Tag.core`."""
    cdef readonly str name
    cdef readonly int value

    def __init__(self, int value):
        self.value = value
        self.name = TAG_NAMES[value].decode() if 0 <= value < TAG_COUNT else "???"

    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __hash__(self):
        return self.value

    def __eq__(self, other):
        return isinstance(other, Tag) and (<Tag>other).value == self.value

    def __repr__(self):
        return f"<Tag.{self.name}: {self.value}>"

    def __str__(self):
        return f"Tag.{self.name}"

    def __reduce__(self):
        return (Tag, (self.value,)) if self.name == "???" else (_tag, (self.name,))


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
    cdef dict attributes = <dict>(<PyTypeObject*>Tag).tp_dict
    for i in range(TAG_COUNT):
        t = Tag(i)
        members.append(t)
        attributes[t.name] = t
    attributes["__members__"] = {(<Tag>t).name: t for t in members}
    PyType_Modified(Tag)
    return 0


make_members()
