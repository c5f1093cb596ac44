# cython: nonecheck=True, boundscheck=True
"""Sources of a tensor's own numbers: every symbol has one, so they are compiled. `sources` has the others.

Invariant: a name is made when it is first asked for, and stays.
"""
import enum

cimport cython


@cython.auto_pickle(False)
cdef class Source:
    """What a value is called: `name` is an expression over the inputs."""

    @property
    def name(self):
        raise NotImplementedError

    def is_ephemeral(self):
        """Whether it is not there when the program runs again; nor is then what is part of it."""
        base = getattr(self, "base", None)
        return base is not None and base.is_ephemeral()

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r})"


class TensorProperty(enum.Enum):
    """What of a tensor a number is."""

    SIZE = 0
    STRIDE = 1
    STORAGE_OFFSET = 2

    def method_name(self):
        """The method of Tensor that reads it: `size`, `stride`, `storage_offset`."""
        return self.name.lower()


cdef object OF_SIZE = TensorProperty.SIZE
cdef object OF_STRIDE = TensorProperty.STRIDE


@cython.auto_pickle(False)
cdef class TensorPropertySource(Source):
    """A size or stride of a tensor, or its storage offset."""

    def __init__(self, base, prop, idx=None):
        self.base, self.prop, self.idx = base, prop, idx

    @property
    def name(self):
        return self.own_name()

    cdef str own_name(self):
        if self.known is None:
            method = "size" if self.prop is OF_SIZE else "stride" if self.prop is OF_STRIDE else self.prop.method_name()
            place = "" if self.idx is None else f"[{self.idx}]"
            self.known = f"{self.base.name}.{method}(){place}"
        return self.known

    def __eq__(self, other):
        return isinstance(other, TensorPropertySource) and self.own_name() == (<TensorPropertySource>other).own_name()

    def __hash__(self):
        return hash(self.own_name())

    def __reduce__(self):
        return type(self), (self.base, self.prop, self.idx)


cdef TensorPropertySource property_source(object base, object prop, object idx):
    cdef TensorPropertySource made = TensorPropertySource.__new__(TensorPropertySource)
    made.base, made.prop, made.idx = base, prop, idx
    return made
