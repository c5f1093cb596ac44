"""Storage: bytes that tensors share; on meta and fake devices a size without bytes.

Made by the makers of tensors; `dispatch/tensor/storage.py` answers what bytes are asked in Python. The memory is the storage's own
until somebody else sees it (`shared_owner`), and never less than it ever was: no tensor reads foreign bytes after `resize_`.
"""
import warnings

cimport cython
from cpython.long cimport PyLong_FromVoidPtr
from cpython.object cimport PyObject, PyTypeObject, destructor
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU
from dispatch._C.geometry cimport add_overflows
from dispatch._C.naming cimport full_name, name_type
from dispatch._C.python_api cimport Py_None_, allocate_quietly
from dispatch._C.slots cimport hook
from dispatch._C.symbolic cimport any_symbolic, concrete, is_symbolic, larger, size_from, size_object

cdef extern from *:
    """
    /* The C library's allocator gives a large block back to the system when it is freed, and pages that come anew cost more than
       most operators, until a program has freed a block as large as this: from then on it keeps some. Nothing is touched here. */
    static void keep_large_blocks(void)
    {
        void *volatile block = malloc((32u << 20) - (64u << 10));
        free(block);
    }

    /* A block beyond that comes anew each time: in huge pages where the system has them, of which it takes fewer. */
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    enum { ALWAYS_NEW = 32 << 20, PAGE = 4096 };
    static void ask_for_huge_pages(char *block, int64_t nbytes)
    {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        const uintptr_t first = (uintptr_t)block, start = (first + PAGE - 1) / PAGE * PAGE;
        const uintptr_t end = (first + (uintptr_t)nbytes) / PAGE * PAGE;
        if (nbytes >= ALWAYS_NEW)
            (void)madvise((void *)start, end - start, MADV_HUGEPAGE);      /* an advice: none is needed */
    #endif
    }

    /* Blocks of a few elements are kept for the next ones (row `factory`: 120 instructions); all of them have SMALL bytes. */
    enum { SMALL = 64, MOST_SMALL = 128 };
    #if CYTHON_USE_FREELISTS && !defined(__SANITIZE_ADDRESS__)
    static void *small_blocks[MOST_SMALL];
    static int n_small_blocks;
    static inline void *new_small_block(int64_t nbytes) { return n_small_blocks ? small_blocks[--n_small_blocks] : malloc(SMALL); }
    static inline void free_small_block(void *block)
    {
        if (n_small_blocks < MOST_SMALL) small_blocks[n_small_blocks++] = block;
        else free(block);
    }
    #else
    #define new_small_block(nbytes) malloc((size_t)(nbytes))
    #define free_small_block free
    #endif
    """
    int SMALL
    void* new_small_block(int64_t nbytes)
    void free_small_block(void* block)
    void keep_large_blocks()
    void ask_for_huge_pages(char* block, int64_t nbytes)

cdef extern from "stdlib.h" nogil:
    void* aligned_alloc(size_t, size_t)

keep_large_blocks()


cdef class Buffer:
    def __dealloc__(self):
        free(self.data)


cdef char* new_bytes(int64_t nbytes) except NULL:
    """malloc'ed memory: aligned to 64 bytes from 1 KiB on."""
    cdef char* p
    cdef int64_t rounded
    if nbytes <= SMALL:
        p = <char*>new_small_block(nbytes if nbytes > 0 else 1)
    elif nbytes < 1024:
        p = <char*>malloc(nbytes)
    else:
        p = NULL if add_overflows(nbytes, 63, &rounded) else <char*>aligned_alloc(64, rounded & ~<int64_t>63)
    if p == NULL:
        raise RuntimeError(f"could not allocate {nbytes} bytes for a tensor")
    ask_for_huge_pages(p, nbytes)
    return p


cdef inline void free_bytes(void* block, int64_t nbytes) noexcept:
    """The end of what `new_bytes(nbytes)` gave."""
    if block == NULL or nbytes > SMALL:
        free(block)
    else:
        free_small_block(block)


@cython.no_gc_clear
@cython.freelist(128)
cdef class Storage:
    """Bytes that tensors share (torch.UntypedStorage). Meta and fake storages have a size and no bytes."""

    def __init__(self, *args, **kwargs):
        raise TypeError("Storage is made by tensors: use dispatch.empty(...).untyped_storage()")

    def nbytes(self):
        """Size in bytes."""
        return size_object(self.c_nbytes)

    def size(self):
        """Size in bytes (an untyped storage counts bytes)."""
        return size_object(self.c_nbytes)

    def __len__(self):
        return concrete(self.c_nbytes)

    def data_ptr(self):
        """Address of the first byte; 0 when there are none. RuntimeError for the storage of a wrapper."""
        self._check_not_of_wrapper("access the data pointer")
        check_pointer(self)
        return PyLong_FromVoidPtr(self.data) if self.c_nbytes else 0

    def _check_not_of_wrapper(self, str doing not None):
        """RuntimeError for the storage of a wrapper subclass: it has a size and an identity, and nothing else."""
        if self.fake and self.owner is not None:
            raise RuntimeError(f"Attempted to {doing} on an invalid python storage: it is that of {self.owner}")

    def resizable(self):
        """Whether `resize_` may change the size: memory borrowed from elsewhere is not resizable."""
        return self.c_resizable

    def resize_(self, nbytes):
        """Change the size in bytes, keeping the bytes that stay."""
        self._check_not_of_wrapper("call resize_()")
        if isinstance(nbytes, (bool, float)) or not hasattr(nbytes, "__index__"):
            raise RuntimeError(f"resize_: expected an int, got {type(nbytes).__name__}")
        resize_storage(self, size_from(nbytes))
        return self

    @property
    def device(self):
        return dtypes.new_device(self.devtype, self.devindex)

    @property
    def _cdata(self):
        return PyLong_FromVoidPtr(<void*>self)

    def __reduce_ex__(self, protocol):
        return hook("storage")(self, "__reduce_ex__", protocol)

    def __copy__(self):
        return hook("storage")(self, "__copy__")

    def __deepcopy__(self, memo):
        return hook("storage")(self, "__deepcopy__", memo)

    def __repr__(self):
        return hook("storage")(self, "__repr__")

    def __getitem__(self, index):
        return hook("storage")(self, "__getitem__", index)

    def __setitem__(self, index, value):
        hook("storage")(self, "__setitem__", index, value)

    def __iter__(self):
        return hook("storage")(self, "__iter__")

    def __getattr__(self, str name):
        return hook("storage_attribute")(self, name)

    def __setattr__(self, str name, value):
        hook("storage_keep")(self, name, value)

    def __delattr__(self, str name):
        hook("storage_drop")(self, name)


name_type(Storage, full_name("UntypedStorage"))       # what programs know it as


# In front of Cython's deallocator, as `wrapper.dealloc`.
cdef destructor dealloc_fields = (<PyTypeObject*>Storage).tp_dealloc


cdef void dealloc(PyObject* o) noexcept:
    if <PyObject*>(<Storage>o).owner == Py_None_:
        free_bytes((<Storage>o).data, room_of(<Storage>o))
    dealloc_fields(o)


(<PyTypeObject*>Storage).tp_dealloc = dealloc
allocate_quietly(<PyTypeObject*>Storage)


cdef Storage new_storage(int64_t nbytes, int devtype, int devindex):
    cdef Storage s
    if nbytes < 0:
        nbytes = checked_nbytes(nbytes, devtype == DEV_CPU)
    s = Storage.__new__(Storage)
    s.c_nbytes = nbytes
    s.devtype = devtype
    s.devindex = devindex
    s.c_resizable = True
    if devtype == DEV_CPU and nbytes:
        s.data = new_bytes(nbytes)
    return s


cdef int64_t checked_nbytes(int64_t nbytes, bint bytes_there) except -1:
    """The size of a storage that is no plain number: where there are bytes, an expression is pinned to one."""
    if is_symbolic(nbytes):
        if not bytes_there:
            return nbytes
        nbytes = concrete(nbytes)
    if nbytes < 0:
        raise RuntimeError(f"storage size must not be negative, got {nbytes}")
    return nbytes


cdef Storage new_borrowed_storage(char* data, int64_t nbytes, object owner):
    cdef Storage s = Storage.__new__(Storage)
    s.c_nbytes = nbytes
    s.devtype = DEV_CPU
    s.devindex = -1
    s.data = data
    s.owner = owner
    return s


cdef object shared_owner(Storage s):
    """The object that keeps the bytes alive, so that somebody else may look at them."""
    cdef Buffer b
    if s.owner is None and s.data != NULL:
        b = Buffer.__new__(Buffer)
        b.data = s.data
        s.owner = b
    return s.owner


cdef int ask_pointer(Storage s) except -1:
    if s.pointer_rule == POINTER_THROWS:
        raise RuntimeError("data_ptr: the memory of this storage must not be written to, so that its address is not given")
    s.pointer_rule = POINTER_PLAIN
    warnings.warn("data_ptr: writing through the address of this storage is deprecated", UserWarning, stacklevel=1)
    return 0


cdef int check_resizable(Storage s) except -1:
    if not s.c_resizable:
        raise RuntimeError("Trying to resize storage that is not resizable")
    return 0


cdef int resize_storage(Storage s, int64_t nbytes) except -1:
    """It never has less memory than it ever had: tensors whose geometry reaches too far then read stale bytes, not foreign ones.
    Memory that somebody else looks at (`shared_owner`) lives until they are done.
    """
    cdef int64_t room
    cdef char* p
    check_resizable(s)
    if nbytes < 0:
        nbytes = checked_nbytes(nbytes, has_bytes(s))
    room = max(nbytes, room_of(s))
    if has_bytes(s) and nbytes > s.c_nbytes:
        p = new_bytes(room)
        if s.data != NULL:
            memcpy(p, s.data, s.c_nbytes)
        if s.owner is None:
            free_bytes(s.data, room_of(s))
        s.owner = None
        s.data = p
    if s.data != NULL:
        s.c_peak = room
    s.c_nbytes = nbytes
    return 0


cdef int grow_storage(Storage s, int64_t nbytes) except -1:
    if any_symbolic(nbytes, s.c_nbytes):
        nbytes = larger(nbytes, s.c_nbytes)
        return resize_storage(s, nbytes) if nbytes != s.c_nbytes else 0
    return resize_storage(s, nbytes) if nbytes > s.c_nbytes else 0


def _new_storage(nbytes, device="cpu"):
    """A fresh storage of that many bytes."""
    cdef dtypes.device dev = dtypes.device_of(device)
    return new_storage(size_from(nbytes), dev.devtype, dev.devindex)
