"""The cache's cross-check: each hit is compared with a fresh run (FakeTensorMode._crosscheck_cache_output).

Called by the handler when `cache_crosscheck_enabled`; the fresh run gets stand-ins of the arguments, so that it changes nothing.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcmp

from dispatch._C cimport dtypes
from dispatch._C.keys cimport KS_Conjugate, KS_Negative, KS_ZeroTensor
from dispatch._C.operator cimport OperatorEntry, qualified_name
from dispatch._C.tensor cimport begin_grad, needs_grad
from dispatch._C.tls cimport ThreadState
from dispatch.fake.cache cimport Entry, new_outputs
from dispatch.fake.fake_tensor cimport FakeTensor, new_fake_like
from dispatch.fake.propagate cimport fresh
from dispatch.fake.settings cimport FakeState

from dispatch.fake.exceptions import MetadataMismatchError

cdef object checked_outputs(Entry* entry, FakeState mode, OperatorEntry e, PyObject** args, ThreadState* ts, PyObject* env):
    """A hit's outputs, compared with those of a fresh run on stand-ins of the arguments; MetadataMismatchError when they differ."""
    cdef PyObject* twins[64]
    cdef dict made = {}
    cdef list keep = []
    cdef int i
    for i in range(e.sig.n_args):
        value = stand_in(mode, <object>args[i], made)
        keep.append(value)
        twins[i] = <PyObject*>value
    want = fresh(mode, e, twins, ts)
    got = new_outputs(entry, mode, e, args, env)
    compare(e, got, want, {id(twin): original for original, twin in made.values()})
    return got


cdef object stand_in(FakeState mode, object value, dict made):
    """A fake tensor over the same storage with the same metadata, one for each; lists of them; other values as they are."""
    cdef FakeTensor t, twin
    if type(value) is list:
        return [stand_in(mode, v, made) for v in value]
    if type(value) is not FakeTensor:
        return value
    held = made.get(id(value))
    if held is None:
        t = <FakeTensor>value
        twin = new_fake_like(mode, t.c_storage, t, dtypes.new_device(t.c_devtype, t.c_devindex))
        if needs_grad(t):
            begin_grad(twin)
        held = made[id(value)] = (value, twin)
    return held[1]


cdef int compare(OperatorEntry e, object got, object want, dict originals) except -1:
    cdef FakeTensor a, b
    if isinstance(got, (list, tuple)):
        if type(got) is not type(want) or len(got) != len(want):
            mismatch(e, f"{len(got)} outputs", f"{type(want).__name__} of {len(want) if isinstance(want, (list, tuple)) else 1}")
        for g, w in zip(got, want):
            compare(e, g, w, originals)
        return 0
    if not isinstance(got, FakeTensor) or not isinstance(want, FakeTensor):
        if type(got) is not type(want) or got != want:
            mismatch(e, got, want)
        return 0
    a, b = <FakeTensor>got, <FakeTensor>want
    for name in ("dtype", "layout", "device"):
        if getattr(a, name) != getattr(b, name):
            mismatch(e, f"{name} {getattr(a, name)}", getattr(b, name))
    if a.c_ndim != b.c_ndim or memcmp(a.c_sizes, b.c_sizes, a.c_ndim * sizeof(int64_t)):
        mismatch(e, f"shape {a.shape}", b.shape)
    if memcmp(a.c_strides, b.c_strides, a.c_ndim * sizeof(int64_t)) or a.c_offset != b.c_offset:
        mismatch(e, f"strides {a.stride()} at {a.storage_offset()}", f"{b.stride()} at {b.storage_offset()}")
    if (a.c_keys ^ b.c_keys) & (KS_Conjugate | KS_Negative | KS_ZeroTensor):
        mismatch(e, f"keys {a.c_keys:#x}", f"{b.c_keys:#x}")
    if id(b) in originals and originals[id(b)] is not a:
        mismatch(e, "a new tensor", "an argument itself")
    if a.c_storage.c_nbytes != b.c_storage.c_nbytes:
        mismatch(e, f"a storage of {a.c_storage.nbytes()} bytes", f"{b.c_storage.nbytes()}")
    return 0


cdef int mismatch(OperatorEntry e, object got, object want) except -1:
    raise MetadataMismatchError(f"{qualified_name(e)}: the cache gives {got}, a fresh run {want}\n  {e._schema_text}")
