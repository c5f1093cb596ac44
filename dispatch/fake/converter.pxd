"""Real tensors made fake: the memo, aliases, views, and the constants among them."""
from dispatch._C.storage cimport Storage
from dispatch._C.tensor cimport Tensor
from dispatch.fake.fake_tensor cimport FakeTensor
from dispatch.fake.settings cimport FakeState

cdef class Memo:
    cdef dict held               # id(original) -> (weak reference to it, weak reference to its fake, number); ~number once it died
    cdef object next_number
    cdef object __weakref__
    cdef object find(self, object original)               # the fake counterpart, or None
    cdef int remember(self, object original, object fake) except -1

cdef class MetaConverter:
    cdef readonly Memo tensor_memo, storage_memo
    cdef public object hit, miss
    cdef object __weakref__

cdef class FakeTensorConverter:
    cdef readonly MetaConverter meta_converter
    cdef public object constant_storage_mapping    # storage of real constants -> weak references to their fakes
    cdef public bint export, copy_data             # copy_data: a fake keeps a copy of what it was made of (`real_tensor`)
    cdef object __weakref__
    # A FakeTensor, or a wrapper of fake tensors; without a mode a tensor on meta, or a wrapper of such. With a ShapeEnv (else None)
    # its sizes become symbols as `context` says; `source` is what the program calls the tensor, None for one without a name.
    cdef object convert(self, FakeState mode, Tensor t, bint make_constant, object env=*, object source=*, object context=*)
    cdef FakeTensor wrap_meta(self, FakeState mode, Tensor t, int devtype, int devindex)   # new, over t's storage; not remembered
