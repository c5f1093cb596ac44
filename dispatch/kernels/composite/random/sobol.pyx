"""Sobol's sequences (torch.quasirandom): what a SobolEngine calls, over int64 tensors that it keeps.

The state has a row of 30 direction numbers for each dimension; a point is the exclusive or of some of them (Gray code: the next
point differs in one). `directions.bin` holds Joe and Kuo's numbers for 21,201 dimensions (new-joe-kuo-6): the differences of the
primitive polynomials in order, halved, seven bits a byte; then for each dimension m(j) - 1, halved, in j bits, j below the degree.
"""
from pathlib import Path

from dispatch._C.dtypes cimport ST_NONE, ST_float32, ST_float64, ST_int64, get_dtype
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport data_of, new_empty

from dispatch._ops import ops

cdef object aten = ops.aten

cdef enum:
    BITS = 30
    DIMENSIONS = 21201


# ---- arguments ---------------------------------------------------------------------------------


cdef int check_whole(str name, Tensor t, int64_t least, int64_t columns) except -1:
    """RuntimeError unless `t` is int64 and has so many elements (columns 1) or rows of so many."""
    if t.c_dtype != ST_int64:
        raise refused(f"expected {name} to be int64, got {t.dtype}")
    if t.c_ndim != (1 if columns == 1 else 2) or t.c_sizes[0] < least or (columns > 1 and t.c_sizes[1] < columns):
        raise refused(f"expected {name} to have shape {[least] if columns == 1 else [least, columns]}, got {list(t.shape)}")
    return 0


cdef int check_dimension(int64_t dimension) except -1:
    if not 0 <= dimension <= DIMENSIONS:
        raise refused(f"expected dimension to be at most {DIMENSIONS}, got {dimension}")
    return 0


cdef inline int64_t* at(Tensor t, int64_t* data, int64_t row, int64_t column) noexcept nogil:
    return data + row * t.c_strides[0] + column * t.c_strides[1]


cdef inline int changed_bit(int64_t index) noexcept nogil:
    """The lowest bit of `index` that is 0."""
    cdef int bit = 0
    while index & 1:
        index >>= 1
        bit += 1
    return bit


# ---- points ------------------------------------------------------------------------------------


cdef inline void step(int64_t* quasi, int64_t stride, Tensor state, int64_t* directions, int64_t dimension,
                      int64_t index) noexcept nogil:
    cdef int bit = changed_bit(index)
    cdef int64_t j
    for j in range(dimension):
        quasi[j * stride] ^= at(state, directions, j, bit)[0]


cdef int check_walk(Tensor quasi, Tensor state, int64_t dimension, int64_t n, int64_t num_generated) except -1:
    check_dimension(dimension)
    check_whole("sobolstate", state, dimension, BITS)
    check_whole("quasi", quasi, dimension, 1)
    if n < 0 or num_generated < 0 or num_generated + n >= <int64_t>1 << BITS:
        raise refused(f"expected n and num_generated to be 0 or more and below 2**{BITS} together, got {n} and {num_generated}")
    return 0


cdef object draw(Tensor quasi, int64_t n, Tensor sobolstate, int64_t dimension, int64_t num_generated, int dtype):
    """The next `n` points, [n, dimension] between 0 and 1, and what `quasi` is after them."""
    cdef int64_t sizes[2]
    cdef int64_t i, j
    cdef int64_t* at_point
    cdef int64_t* directions
    cdef Tensor point, points
    check_walk(quasi, sobolstate, dimension, n, num_generated)
    dtype = ST_float32 if dtype == ST_NONE else dtype
    if dtype != ST_float32 and dtype != ST_float64:
        raise refused(f"no kernel for {get_dtype(dtype)}", NotImplementedError)
    directions = <int64_t*>data_of(sobolstate, 8)
    point = <Tensor?>aten.clone.default(quasi)
    at_point = <int64_t*>data_of(point, 8)
    sizes[0] = n
    sizes[1] = dimension
    points = new_empty(dtype, quasi.c_devtype, quasi.c_devindex, 2, sizes, NULL)
    cdef void* values = data_of(points, 8 if dtype == ST_float64 else 4)
    for i in range(n):
        step(at_point, point.c_strides[0], sobolstate, directions, dimension, num_generated + i)
        for j in range(dimension):
            if dtype == ST_float64:
                (<double*>values)[i * dimension + j] = at_point[j * point.c_strides[0]] * (1.0 / (1 << BITS))
            else:
                (<float*>values)[i * dimension + j] = <float>at_point[j * point.c_strides[0]] * <float>(1.0 / (1 << BITS))
    return points, point


cdef object fast_forward_(Tensor self, int64_t n, Tensor sobolstate, int64_t dimension, int64_t num_generated):
    """`self` as it is after `n` more points."""
    cdef int64_t i
    check_walk(self, sobolstate, dimension, n, num_generated)
    cdef int64_t* directions = <int64_t*>data_of(sobolstate, 8)
    cdef int64_t* quasi = <int64_t*>data_of(self, 8)
    for i in range(n):
        step(quasi, self.c_strides[0], sobolstate, directions, dimension, num_generated + i)
    return self


# ---- state -------------------------------------------------------------------------------------


cdef inline int parity(int64_t bits) noexcept nogil:
    cdef int shift = 32
    while shift:
        bits ^= bits >> shift
        shift >>= 1
    return bits & 1


cdef object scramble_(Tensor self, Tensor ltm, int64_t dimension):
    """Direction numbers times the lower triangular matrices of bits `ltm` [dimension, 30, 30], whose diagonals count as ones."""
    cdef int64_t d, j, p, i, row, scrambled
    cdef int64_t rows[BITS]
    cdef int64_t* matrix
    check_dimension(dimension)
    check_whole("self", self, dimension, BITS)
    if ltm.c_dtype != ST_int64 or ltm.c_ndim != 3 or ltm.c_sizes[0] < dimension or ltm.c_sizes[1] != BITS or ltm.c_sizes[2] != BITS:
        raise refused(f"expected ltm to be int64 of shape {[dimension, BITS, BITS]}, got {ltm.dtype} of {list(ltm.shape)}")
    ltm = <Tensor?>aten.contiguous.default(ltm)
    cdef int64_t* directions = <int64_t*>data_of(self, 8)
    cdef int64_t* matrices = <int64_t*>data_of(ltm, 8)
    for d in range(dimension):
        matrix = matrices + d * BITS * BITS
        for p in range(BITS):
            row = 0
            for i in range(BITS):
                row += (1 if i == p else matrix[p * BITS + i]) << (BITS - 1 - i)
            rows[p] = row & ((<int64_t>1 << BITS) - 1)
        for j in range(BITS):
            scrambled = 0
            for p in range(BITS):
                scrambled = scrambled << 1 | parity(rows[p] & at(self, directions, d, j)[0])
            at(self, directions, d, j)[0] = scrambled
    return self


cdef object numbers = None               # the file's bytes, read when first needed


cdef bytes read_numbers():
    global numbers
    if numbers is None:
        numbers = Path(__file__).with_name("directions.bin").read_bytes()
    return <bytes>numbers


cdef inline int64_t next_polynomial(const unsigned char* data, int64_t* place, int64_t last) noexcept nogil:
    cdef int64_t difference = 0
    cdef int shift = 0
    while True:
        difference |= <int64_t>(data[place[0]] & 127) << shift
        shift += 7
        place[0] += 1
        if not data[place[0] - 1] & 128:
            return last + 2 * difference


cdef inline int64_t take_bits(const unsigned char* data, int64_t* place, int n) noexcept nogil:
    cdef int64_t value = 0
    cdef int i
    for i in range(n):
        value |= <int64_t>(data[place[0] >> 3] >> (place[0] & 7) & 1) << i
        place[0] += 1
    return value


cdef inline int degree_of(int64_t polynomial) noexcept nogil:
    cdef int degree = -1
    while polynomial:
        polynomial >>= 1
        degree += 1
    return degree


cdef void fill_row(int64_t* m, int64_t polynomial) noexcept nogil:
    """The numbers from the degree on follow from those before by the polynomial's recurrence."""
    cdef int degree = degree_of(polynomial), j, k
    for j in range(degree, BITS):
        m[j] = m[j - degree]
        for k in range(degree):
            if polynomial >> (degree - 1 - k) & 1:
                m[j] ^= m[j - k - 1] << (k + 1)


cdef object initialize_state_(Tensor self, int64_t dimension):
    """Joe and Kuo's direction numbers, in the upper of 30 bits."""
    cdef int64_t m[BITS]
    cdef int64_t d, polynomial = 1, place = 0, bit
    cdef int j
    check_dimension(dimension)
    check_whole("self", self, dimension, BITS)
    cdef bytes kept = read_numbers()
    cdef const unsigned char* data = kept
    cdef int64_t* directions = <int64_t*>data_of(self, 8)
    for d in range(DIMENSIONS - 1):      # past the polynomials, to the numbers
        next_polynomial(data, &place, 0)
    bit = 8 * place
    place = 0
    for d in range(dimension):
        for j in range(BITS):
            m[j] = 1
        if d:
            polynomial = next_polynomial(data, &place, polynomial)
            for j in range(degree_of(polynomial)):
                m[j] = 2 * take_bits(data, &bit, j) + 1
            fill_row(m, polynomial)
        for j in range(BITS):
            at(self, directions, d, j)[0] = m[j] << (BITS - 1 - j)
    return self
