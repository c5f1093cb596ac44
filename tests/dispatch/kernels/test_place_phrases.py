"""Phrases that programs written for PyTorch look for where indices, views and joins refuse."""

import pytest

import dispatch
from dispatch import cfloat, float32, int32, int64, ones, ops, tensor, zeros

A = ops.aten
X = ones(2, 3, 4)
ROWS = ones(3, 4)
AT = zeros(1, dtype=int64)
INT = ones(2, 2, dtype=int32)
WIDE = ones(1, 4, dtype=dispatch.float64)


@pytest.mark.parametrize(
    "call, error, phrase",
    [
        (lambda: ROWS.index_copy_(0, AT[None], ROWS), IndexError, r"dimension 1 or 0 \(got 2\)"),
        (lambda: ROWS.index_copy_(0, AT.int(), ROWS), RuntimeError, "long tensor .* but got Int"),
        (
            lambda: ROWS.index_copy_(0, AT, ROWS),
            IndexError,
            r"indices \(1\) should be equal to source.size\(dim\) \(3\)",
        ),
        (
            lambda: ROWS.index_copy_(0, AT, WIDE),
            RuntimeError,
            "but got self.dtype = Float and source.dtype = Double",
        ),
        (
            lambda: ROWS.index_add_(0, AT, ROWS),
            RuntimeError,
            r"Number of indices \(1\) should be equal to source.size\(dim\)",
        ),
        (lambda: ROWS.index_fill_(0, AT.int(), 1), IndexError, "Expected dtype int64 for index"),
        (
            lambda: A.index_fill_(ROWS, 0, AT, ones(1)),
            RuntimeError,
            r"index_fill_ only supports a 0-dimensional .* but got tensor with 1 dimension\(s\)",
        ),
        (
            lambda: A.index_reduce(ROWS, 0, AT, ROWS, "sum"),
            RuntimeError,
            "Expected reduce to be one of mean, amax, amin, or prod but got sum",
        ),
        (lambda: A.take(zeros(0), AT), IndexError, "tried to take from an empty tensor"),
        (lambda: A.take(ROWS, AT.int()), RuntimeError, "Expected a long tensor .* got Int"),
        (lambda: ROWS.put_(AT, ones(2)), IndexError, r"source.numel\(\) = 2, index.numel\(\) = 1"),
        (
            lambda: ROWS.masked_fill(ROWS.int(), 0),
            RuntimeError,
            "only supports boolean masks, but got mask with dtype",
        ),
        (
            lambda: A.index_put_(ROWS, [tensor([0, 1, 2]), tensor([0])], ones(2)),
            RuntimeError,
            r"value tensor of shape \[2\] cannot be broadcast to indexing result of shape \[3\]",
        ),
        (
            lambda: ROWS.__setitem__(0, ones(9)),
            RuntimeError,
            "The expanded size of the tensor .* must match the existing size",
        ),
        (
            lambda: A.take_along_dim(ROWS, AT, 0),
            RuntimeError,
            "but got 2 dimensions for input, and 1 dimensions for indices",
        ),
        (lambda: A.take_along_dim(ROWS, ROWS, 0), RuntimeError, "should be Long but got Float"),
        (
            lambda: A.where(INT, INT, INT),
            RuntimeError,
            "condition to be a boolean tensor, but got a tensor with dtype Int",
        ),
        (lambda: A.bucketize(ROWS, ROWS), RuntimeError, r"must be 1 dimension, but got dim\(2\)"),
        (
            lambda: A.searchsorted(ROWS[0], ROWS, sorter=AT),
            RuntimeError,
            r"but got boundary tensor \[4\]and got sorter tensor \[1\]",
        ),
        (lambda: A.nonzero(ROWS, out=ones(0)), RuntimeError, "Expected out tensor to have scalar"),
        (lambda: ones(()).select(0, 0), IndexError, r"select\(\) cannot be applied to a 0-dim"),
        (lambda: X.select(0, 5), IndexError, r"select\(\): index 5 out of range for tensor of"),
        (lambda: X.split(-1), RuntimeError, "expects split_size be non-negative, .*split_size=-1"),
        (lambda: X.split(0), RuntimeError, "can only be 0 if dimension size is 0, .* size of 2"),
        (lambda: ones(()).split(1), RuntimeError, "split expects at least a 1-dimensional tensor"),
        (lambda: ones(()).split([1]), RuntimeError, "split expects at least a 1-dimensional"),
        (
            lambda: X.split([1, 2]),
            RuntimeError,
            r"to sum exactly to 2 \(input tensor's size at dimension 0\), but got split_sizes=\[1",
        ),
        (lambda: X.split([-1, 3]), RuntimeError, "have only non-negative entries, but got split_"),
        (lambda: ones(()).chunk(1), RuntimeError, "chunk expects at least a 1-dimensional tensor"),
        (lambda: X.chunk(0), RuntimeError, "`chunks` to be greater than 0, got: 0"),
        (lambda: A.unsafe_chunk(X, 0), RuntimeError, "`chunks` to be greater than 0, got: 0"),
        (lambda: X.view(-2, 2), RuntimeError, "invalid shape dimension -2"),
        (
            lambda: X.transpose(0, 2).view(24),
            RuntimeError,
            r"not compatible with input tensor's size and stride. Use .reshape\(...\)",
        ),
        (
            lambda: X.expand(5, 3, 4),
            RuntimeError,
            r"\(5\) must match the existing size \(2\) at non-singleton dimension 0.  Target size",
        ),
        (
            lambda: X.expand(4),
            RuntimeError,
            r"sizes provided \(1\) must be greater or equal to the number of dimensions",
        ),
        (
            lambda: X.repeat(2),
            RuntimeError,
            "of repeat dims can not be smaller than number of dimensions of tensor",
        ),
        (lambda: X.permute(0, 1), RuntimeError, "does not match the length of the desired orderi"),
        (lambda: X.permute(0, 0, 1), RuntimeError, r"permute\(\): duplicate dims are not allowed"),
        (lambda: X.t(), RuntimeError, r"t\(\) expects a tensor with <= 2 dimensions"),
        (lambda: X.flatten(2, 0), RuntimeError, r"flatten\(\) has invalid args: start_dim cannot"),
        (lambda: X.unflatten(0, []), RuntimeError, "unflatten: sizes must be non-empty"),
        (lambda: X[0, 0].mT, RuntimeError, "on matrices or batches of matrices. Got 1-D tensor"),
        (lambda: A.view_as_real(X), RuntimeError, "view_as_real is only supported for complex"),
        (lambda: A.view_as_complex(INT), RuntimeError, "but got a tensor of scalar type: Int"),
        (lambda: ones(2, -1), RuntimeError, r"with negative dimension -1: \[2, -1\]"),
        (
            lambda: dispatch.stack([ones(2), ones(3)]),
            RuntimeError,
            r"equal size, but got \[2\] at entry 0 and \[3\] at entry 1",
        ),
        (
            lambda: dispatch.cat([ones(1, 2), ones(1, 3)]),
            RuntimeError,
            "Expected size 2 but got size 3 for tensor number 1 in the list.",
        ),
        (lambda: dispatch.cat([ones(())]), RuntimeError, r"tensor \(at position 0\) cannot be con"),
        (lambda: A.meshgrid([]), RuntimeError, "meshgrid expects a non-empty TensorList"),
        (lambda: A.meshgrid([INT], indexing="ij"), RuntimeError, "1D tensor in the tensor list b"),
        (lambda: A.combinations(INT), RuntimeError, r"Expect a 1D vector, but got shape \[2, 2\]"),
        (lambda: A.combinations(AT, -1), RuntimeError, "Expect a non-negative number, but got -1"),
        (lambda: A.repeat_interleave(AT, AT[None]), RuntimeError, "repeats must be 0-dim or 1-dim"),
        (
            lambda: A.repeat_interleave(AT, tensor([1, 2])),
            RuntimeError,
            r"repeats.size\(0\) = 2 and input.size\(0\) = 1",
        ),
        (lambda: A.repeat_interleave(AT, -1), RuntimeError, "repeats can not be negative"),
        (lambda: A.repeat_interleave(tensor([-1])), RuntimeError, "repeats can not be negative"),
        (lambda: A.diff(ones(())), RuntimeError, "diff expects input to be at least one-dimens"),
        (lambda: A.diff(ROWS, append=AT), RuntimeError, "to be the same dimension as input"),
        (
            lambda: A.diff(ROWS, append=ones(2, 2)),
            RuntimeError,
            "to match that of input except along the differencing dimension",
        ),
        (lambda: A.bincount(tensor([-1])), RuntimeError, "only supports 1-d non-negative integral"),
        (
            lambda: A.cov(ones(2, 2), fweights=ones(2)),
            RuntimeError,
            "integral dtype but got fweights with Float dtype",
        ),
        (
            lambda: A.cov(ones(2, 2), fweights=zeros(2, dtype=int64)),
            RuntimeError,
            "weights sum to zero, can't be normalized",
        ),
        (
            lambda: A.quantile(zeros(1, dtype=float32).expand((1 << 24) + 1), 0.5),
            RuntimeError,
            r"quantile\(\) input tensor is too large",
        ),
        (
            lambda: A.segment_reduce(ones(2), "sum", lengths=tensor([1])),
            RuntimeError,
            r"along axis to sum to data.size\(lengths.dim\(\)-1\) when !unsafe\.",
        ),
        (lambda: A.fft_rfft(ones(2, dtype=cfloat)), RuntimeError, "rfft expects a real input"),
        (
            lambda: A.stft(ones(9), 11, center=False, return_complex=True),
            RuntimeError,
            "expected 0 < n_fft <= 9, but got n_fft=11",
        ),
        (
            lambda: A.stft(ones(9, dtype=cfloat), 4, onesided=True, return_complex=True),
            RuntimeError,
            "Cannot have onesided output if window or input is complex",
        ),
        (
            lambda: A.istft(ones(3, 4, dtype=cfloat), 8),
            RuntimeError,
            r"\(3rd to the last\) .* to match n_fft / 2 \+ 1 when onesided=True, 5, but got 3",
        ),
    ],
)
def test_the_text_has_the_phrase(call, error, phrase):
    with pytest.raises(error, match=phrase):
        call()
