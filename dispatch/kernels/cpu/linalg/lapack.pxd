"""LAPACK's routines on blocks, and what finds them and lays out their arguments for modules that call some of their own."""
from dispatch.kernels.cpu.linalg.blocks cimport Block

cdef struct Batch:
    char* data
    size_t step                              # bytes of a matrix
    int rows, columns                        # of a matrix; rows is the leading dimension too

cdef int getrf(Block a, Block pivots, Block info) except -1
cdef int getrs(Block a, Block pivots, Block b, char trans=*) except -1
cdef int potrf(Block a, bint upper, Block info) except -1
cdef int potri(Block a, bint upper, Block info) except -1
cdef int potrs(Block a, Block b, bint upper) except -1
cdef int sytrf(Block a, Block pivots, bint hermitian, Block info) except -1
cdef int sytrs(Block a, Block pivots, Block b, bint hermitian) except -1
cdef int trsm(Block a, Block b, bint left, bint upper, char trans, bint unit) except -1
cdef int clear(Block a, bint upper) except -1
cdef int permutations(Block pivots, Block rows) except -1
cdef int geqrf(Block a, Block tau) except -1
cdef int orgqr(Block a, Block tau) except -1
cdef int ormqr(Block a, Block tau, Block c, bint left, bint transpose) except -1
cdef int syevd(Block a, Block w, bint upper, bint vectors, Block info) except -1
cdef int geev(Block a, Block w, Block wi, Block vectors, Block info) except -1
cdef int gesdd(Block a, Block s, Block u, Block vt, Block info) except -1

# ---- for modules that call others

# By a name without the letter of the dtype. RuntimeError: there is no scipy.
cdef void* address_of(int kind, str name) except NULL
cdef Batch batch(Block a) noexcept
cdef void set_one(int kind, double* one) noexcept                # the number 1 of a dtype, real or complex
cdef int size_of(int kind, void* work) noexcept nogil
cdef void* space(size_t nbytes) except NULL
# Whether one of BLAS's threads does small matrices, until `end_alone`.
cdef bint is_alone(Batch* a) noexcept nogil
cdef void end_alone(bint alone) noexcept nogil
