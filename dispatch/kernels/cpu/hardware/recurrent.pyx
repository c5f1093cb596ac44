"""The layer of an LSTM in one direction, whole: `mkldnn_rnn_layer`, which exported programs call and `lstm` does.

All steps' inputs are multiplied at once; a step multiplies its state, and the gates follow. 16-bit
floats are computed in float32 and rounded once.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_FLOATING, MF_contiguous, ST_float32, get_dtype, itemsize_table,
)
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values, zero_
from dispatch.kernels.cpu.dense cimport check_kernel, computed_in, dense, finish, held, target
from dispatch.kernels.cpu.matrix.gemm cimport product
from dispatch.kernels.cpu.runs cimport address
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

from dispatch._ops import ops

__all__ = ["mkldnn_rnn_layer"]

cdef extern from "../kernels/cpu/hardware/recurrent.h" nogil:
    enum:
        LSTM_BYTES               # of a vector of columns
    int64_t lstm_width(int64_t columns, int64_t itemsize) noexcept
    ctypedef struct Loops "lstm_loops":
        void (*pack)(const void* weights, int64_t columns, int64_t depth, void* packed) noexcept nogil
        void (*product)(const void* a, int64_t n, int64_t depth, const void* packed, int64_t columns, int64_t width,
                        void* to) noexcept nogil
        void (*step)(const void* given, const void* of_state, int64_t width, const void* biases, void* memory, void* output,
                     int64_t n, int64_t size) noexcept nogil
    const Loops LSTM_F32, LSTM_F64

cdef enum:
    LSTM = 2


cdef struct Hidden:              # the states of one step, times the packed weights
    const Loops* loops
    const char* state
    int64_t n, depth             # states, and how long each is
    const char* packed
    int64_t width                # columns of the product, and bytes of an element
    int item
    char* to


cdef void multiply_columns(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Hidden* j = <Hidden*>context
    cdef int64_t columns = LSTM_BYTES // j.item
    j.loops.product(j.state, j.n, j.depth, j.packed + first * LSTM_BYTES * j.depth, (end - first) * columns, j.width,
                    j.to + first * LSTM_BYTES)


cdef int check(str name, Tensor t, Tensor like, int64_t rows, int64_t columns) except -1:
    """Of a dtype, and as many elements as are read: `columns` in each row."""
    if t.c_dtype != like.c_dtype:
        raise refused(f"expected {name} to have input's dtype {get_dtype(like.c_dtype)!r}, got {get_dtype(t.c_dtype)!r}")
    if t.c_ndim == 0 or t.c_sizes[t.c_ndim - 1] != columns or t.c_numel // (columns if columns else 1) != (rows if columns else 0):
        raise refused(f"expected {name} to have {rows} rows of {columns}, got {list(t.shape)}")
    return 0


def mkldnn_rnn_layer(Tensor output not None, Tensor hy not None, Tensor cy not None, workspace, Tensor input not None,
                     Tensor weight0 not None, Tensor weight1 not None, Tensor weight2 not None, Tensor weight3 not None,
                     Tensor hx_ not None, Tensor cx_ not None, bint reverse, batch_sizes, int64_t mode, int64_t hidden_size,
                     int64_t num_layers, bint has_biases, bint bidirectional, bint batch_first, bint train):
    """Steps come first in `input`, whatever `batch_first` says, as in PyTorch."""
    cdef int code
    cdef int64_t steps, batch, width, step, at
    cdef int64_t gates[2]
    cdef Tensor x, w, u, biases, memory, given, of_state, packed, first, y
    if mode != LSTM:
        raise refused(f"expected mode {LSTM} (LSTM), got {mode}")
    check_kernel(input.c_dtype, DTYPES_FLOATING)
    if input.c_ndim != 3:
        raise refused(f"expected input to have 3 dimensions, got {list(input.shape)}")
    if hidden_size < 0 or hidden_size > (<int64_t>1 << 30):
        raise refused(f"expected hidden_size to be a size, got {hidden_size}")
    steps, batch, width, gates[1] = input.c_sizes[0], input.c_sizes[1], input.c_sizes[2], 4 * hidden_size
    check("weight0", weight0, input, gates[1], width)
    check("weight1", weight1, input, gates[1], hidden_size)
    check("hx_", hx_, input, batch, hidden_size)
    check("cx_", cx_, input, batch, hidden_size)
    if has_biases:
        check("weight2", weight2, input, 1, gates[1])
        check("weight3", weight3, input, 1, gates[1])
    cdef int64_t n = gates[1]
    code = computed_in(input.c_dtype)
    cdef int item = itemsize_table()[code]
    cdef const Loops* loops = &LSTM_F32 if code == ST_float32 else &LSTM_F64
    x, w = dense(input, code, MF_contiguous), dense(weight0, code, MF_contiguous)
    u, first = dense(weight1, code, MF_contiguous), dense(hx_, code, MF_contiguous)
    memory = new_empty(code, DEV_CPU, -1, cx_.c_ndim, cx_.c_sizes, NULL)
    copy_values(memory, cx_)
    biases = new_empty(code, DEV_CPU, -1, 1, &gates[1], NULL)
    if has_biases:
        copy_values(biases, ops.aten.add.Tensor(dense(weight2, code, MF_contiguous), dense(weight3, code, MF_contiguous)))
    else:
        zero_(biases)
    gates[0] = steps * batch
    given = new_empty(code, DEV_CPU, -1, 2, gates, NULL)
    gates[0], gates[1] = batch, lstm_width(n, item)
    of_state = new_empty(code, DEV_CPU, -1, 2, gates, NULL)
    gates[0] = hidden_size
    packed = new_empty(code, DEV_CPU, -1, 2, gates, NULL)
    y = target(output, code, MF_contiguous)
    cdef void* from_ = address(x)
    cdef void* by = address(w)
    cdef void* state_by = address(u)
    cdef char* to = <char*>address(y)
    cdef char* rows = <char*>address(given)
    cdef void* of_hidden = address(of_state)
    cdef void* added = address(biases)
    cdef void* kept = address(memory)
    cdef char* hidden = <char*>address(first)
    cdef void* laid_out = address(packed)
    cdef int64_t room = gates[1]
    cdef Hidden j
    j.loops, j.n, j.depth, j.packed, j.width = loops, batch, hidden_size, <char*>laid_out, room
    j.item, j.to = item, <char*>of_hidden
    cdef int64_t vectors = room * item // LSTM_BYTES, parts = parts_for(vectors, batch * hidden_size * room // 4)
    cdef object owners = held(x, w, u, y), more = held(first, first)
    with nogil:
        if batch and hidden_size:
            product(code, steps * batch, width, n, from_, width, 1, by, 1, width, rows, n)
            loops.pack(state_by, n, hidden_size, laid_out)
            for step in range(steps):
                at = steps - 1 - step if reverse else step
                j.state = hidden
                in_spans(multiply_columns, &j, vectors, parts)
                hidden = to + at * batch * hidden_size * item
                loops.step(rows + at * batch * n * item, of_hidden, room, added, kept, hidden, batch, hidden_size)
    if steps and batch and hidden_size:
        first = new_empty(code, DEV_CPU, -1, hx_.c_ndim, hx_.c_sizes, NULL)
        memcpy(address(first), hidden, batch * hidden_size * item)
    copy_values(hy, first)
    copy_values(cy, memory)
    finish(output, y)
