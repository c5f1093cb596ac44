"""Phrases that programs written for PyTorch look for in the texts of refused calls."""

import pytest

import dispatch
from dispatch import complex64, float32, float64, int32, int64, ones, ops, tensor

A = ops.aten
BOOL = tensor([True])
INDEX = dispatch.zeros(2, 2, dtype=int64)


@pytest.mark.parametrize(
    "call, error, phrase",
    [
        (lambda: ones(()).view(float64), RuntimeError, r"self.dim\(\) cannot be 0"),
        (lambda: ones(2, 2).t().view(float64), RuntimeError, r"self.stride\(-1\) must be 1"),
        (lambda: ones(3).view(float64), RuntimeError, r"self.size\(-1\) must be divisible by 2"),
        (
            lambda: ones(2, 5)[:, 1:].view(float64),
            RuntimeError,
            r"self.storage_offset\(\) must be divisible by 2",
        ),
        (
            lambda: ones(4, 4, 2).as_strided((4, 4, 2), (2, 1, 1)).view(float64),
            RuntimeError,
            r"self.stride\(1\) must be divisible by 2",
        ),
        (lambda: A.view_as_complex(ones(())), RuntimeError, "must have one or more dimensions"),
        (lambda: A.view_as_complex(ones(3)), RuntimeError, "a last dimension of size 2"),
        (lambda: A.view_as_complex(ones(2, 3).t()), RuntimeError, "last dimension with stride 1"),
        (
            lambda: A.view_as_complex(ones(3, 3).as_strided((2, 2), (1, 1))),
            RuntimeError,
            "a stride divisible by 2 for all but last dimension",
        ),
        (
            lambda: A.conv2d(ones(1, 1, 2, 2), ones(1, 1, 1, 1).long()),
            RuntimeError,
            "expected scalar type Float but found Long: input and weight",
        ),
        (
            lambda: A.conv2d(ones(1, 1, 2, 2), ones(1, 2, 1, 1)),
            RuntimeError,
            r"expected input\[1, 1, 2, 2\] to have 2 channels, but got 1 channels instead",
        ),
        (
            lambda: A.col2im(ones(1, 12, 12), [4, 5], [2, 2], [8, 8], [0, 0], [1, 1]),
            RuntimeError,
            "calculated shape of the array of sliding blocks as",
        ),
        (lambda: A.pad(ones(2), [1]), RuntimeError, "Padding length must be divisible by 2"),
        (lambda: A.pad(ones(2), [1] * 4), RuntimeError, "equal to two times the input dimension"),
        (lambda: A.glu(ones(2, 3)), RuntimeError, "must be even, but dimension 1 is size 3"),
        (lambda: A.pixel_shuffle(ones(1, 4, 2, 2), 0), RuntimeError, "a positive upscale_factor"),
        (
            lambda: A.pixel_unshuffle(ones(1, 4, 2, 3), 2),
            RuntimeError,
            "expects width to be divisible by downscale_factor",
        ),
        (
            lambda: A.grid_sampler_2d(ones(1, 1, 2, 2), ones(2, 1, 1, 2), 0, 0, False),
            RuntimeError,
            "expected grid and input to have same batch size",
        ),
        (
            lambda: A.grid_sampler_2d(ones(1, 1, 2, 2), ones(1, 1, 1, 3), 0, 0, False),
            RuntimeError,
            "expected grid to have size 2 in last dimension",
        ),
        (
            lambda: A.grid_sampler_2d(ones(1, 1, 0, 2), ones(1, 1, 1, 2), 0, 0, False),
            RuntimeError,
            "expected input to have non-empty spatial dimensions",
        ),
        (
            lambda: A.index_select(ones(0, 3), 0, tensor([0])),
            RuntimeError,
            "self indexing axis dim should be positive",
        ),
        (lambda: ones(2).imag, RuntimeError, "not implemented for tensors with non-complex dtypes"),
        (lambda: ones(2, 2).flatten(1, 0), RuntimeError, "start_dim cannot come after end_dim"),
        (lambda: ones(2).transpose(0, 5), IndexError, "Dimension out of range"),
        (lambda: ones(2).movedim(5, 0), IndexError, "Dimension out of range"),
        (lambda: ones(2).size(5), IndexError, "Dimension out of range"),
        (lambda: ones(2, 2).movedim((0, 1), (0,)), RuntimeError, "movedim: Invalid source or dest"),
        (lambda: ones(2, 2).movedim((0, 0), (0, 1)), RuntimeError, "movedim: repeated dim in `s"),
        (lambda: ones(2, 2).movedim((0, 1), (1, 1)), RuntimeError, "movedim: repeated dim in `d"),
        (lambda: ones(2).chunk(0), RuntimeError, "chunk expects.*greater than 0"),
        (lambda: A.unsafe_chunk(ones(2), 0), RuntimeError, "chunk expects.*greater than 0"),
        (lambda: ones(2).unfold(0, -1, 1), RuntimeError, "size is -1 but must be >= 0"),
        (lambda: ones(2).unfold(0, 3, 1), RuntimeError, "maximum size .* 0 is 2 but size is 3"),
        (lambda: ones(2).unfold(0, 1, 0), RuntimeError, "step is 0 but must be > 0"),
        (lambda: ones(2).tensor_split(0), RuntimeError, "sections must be larger than 0, got 0"),
        (lambda: ones(()).tensor_split(1), RuntimeError, "at least a 1-dimensional tensor"),
        (lambda: ones(2).tensor_split(ones(1)), RuntimeError, "dtype of long, but got Float"),
        (
            lambda: ones(2).tensor_split(ones(1, 1, dtype=int64)),
            RuntimeError,
            "zero-dimensional or one-dimensional tensor, but got a tensor with 2 dims",
        ),
        (
            lambda: ones(2).vsplit(2),
            RuntimeError,
            "torch.vsplit requires a tensor with at least 2 dimension",
        ),
        (
            lambda: ones(2, 3).hsplit(2),
            RuntimeError,
            "torch.hsplit attempted to split along dimension 1, but the size of the dimension 3 is",
        ),
        (lambda: ones(())[0], IndexError, "invalid index of a 0-dim tensor"),
        (lambda: ones(2)[0.5], IndexError, "only integers, slices"),
        (lambda: ones(2)[ones(1)], IndexError, "tensors used as indices must be long"),
        (lambda: ones(2)[BOOL], IndexError, "does not match the shape of the indexed tensor"),
        (lambda: ones(3, 3)[[0, 1], [0, 1, 2]], IndexError, "shape mismatch: indexing tensors"),
        (
            lambda: A.index_put_(ones(3), [tensor([0, 1])], ones(3)),
            RuntimeError,
            "shape mismatch: value tensor of shape",
        ),
        (
            lambda: ones(2) + ones(3),
            RuntimeError,
            r"size of tensor a \(2\) must match the size of tensor b \(3\) at non-singleton dim",
        ),
        (lambda: ones(2).sum((0, 0)), RuntimeError, "dim 0 appears multiple times in the list of"),
        (lambda: ones(6).view(4), RuntimeError, r"shape '\[4\]' is invalid for input of size 6"),
        (
            lambda: dispatch.cat([ones(2, 3), ones(2, 4)]),
            RuntimeError,
            "Sizes of tensors must match except in dimension 0",
        ),
        (lambda: dispatch.cat([]), ValueError, "expected a non-empty list of Tensors"),
        (
            lambda: dispatch.stack([ones(2), ones(3)]),
            RuntimeError,
            "stack expects each tensor to be equal size",
        ),
        (lambda: dispatch.stack([]), RuntimeError, "stack expects a non-empty TensorList"),
        (lambda: ones(-1), RuntimeError, "Trying to create tensor with negative dimension"),
        (lambda: ones(2).clamp(), RuntimeError, "At least one of 'min' or 'max' must not be None"),
        (lambda: ones(2).topk(5), RuntimeError, "selected index k out of range"),
        (lambda: ones(2).kthvalue(5), RuntimeError, "selected number k out of range for dimension"),
        (
            lambda: ones(2, 3).select(0, 5),
            IndexError,
            r"index 5 out of range for tensor of size \[2, 3\] at dimension 0",
        ),
        (
            lambda: ones(2, 2).diagonal(0, 0, 0),
            RuntimeError,
            "diagonal dimensions cannot be identical",
        ),
        (lambda: ones(2, 3).permute(0, 0), RuntimeError, "duplicate dims are not allowed"),
        (
            lambda: ones(2).item(),
            RuntimeError,
            "a Tensor with 2 elements cannot be converted to Scalar",
        ),
        (lambda: bool(ones(2)), RuntimeError, "Tensor with more than one value is ambiguous"),
        (lambda: bool(ones(0)), RuntimeError, "Tensor with no values is ambiguous"),
        (lambda: A._assert_async(tensor(0)), RuntimeError, "nonzero value, but got zero"),
        (lambda: ones(2).masked_select(ones(2)), RuntimeError, "expected BoolTensor for mask"),
        (lambda: ones(2).masked_fill(ones(2), 0), RuntimeError, "only supports boolean masks"),
        (
            lambda: ones(1).expand(2).copy_(ones(2)),
            RuntimeError,
            "unsupported operation.* single memory location",
        ),
        (lambda: ones(1).expand(2).random_(), RuntimeError, "unsupported operation"),
        (lambda: dispatch.quint8.is_signed, RuntimeError, "not supported for quantized types"),
        (lambda: dispatch.Generator().manual_seed(1 << 64), ValueError, "Overflow when unpacking"),
        (
            lambda: ones(2).as_subclass(int),
            TypeError,
            "subclass from a class that does not inherit from Tensor",
        ),
        (
            lambda: ones(2, 3) @ ones(2, 3),
            RuntimeError,
            r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)",
        ),
        (
            lambda: A.index_put_(ones(3), [tensor([0])], ones(1, 1)),
            RuntimeError,
            "shape mismatch: value tensor of shape",
        ),
        (
            lambda: A.index_put(ones(()), [], ones(1)),
            RuntimeError,
            "shape mismatch: value tensor of shape",
        ),
        (
            lambda: dispatch.take_along_dim(ones(2), ones(2, dtype=int32), 0),
            RuntimeError,
            "dtype of indices should be Long",
        ),
        (
            lambda: dispatch.take_along_dim(ones(2, 2), ones(2, dtype=int64), 0),
            RuntimeError,
            "input and indices should have the same number of dimensions",
        ),
        (lambda: ones(1).expand(2).add_(1), RuntimeError, "unsupported operation"),
        (lambda: ones(1).expand(2).copy_(ones(2)), RuntimeError, "unsupported operation"),
        (
            lambda: dispatch.promote_types(dispatch.float8_e5m2, float32),
            RuntimeError,
            "Promotion for Float8 Types is not supported",
        ),
        (
            lambda: dispatch.promote_types(dispatch.uint16, dispatch.int8),
            RuntimeError,
            "Promotion for uint16, uint32, uint64 types is not supported",
        ),
        (lambda: dispatch.linalg.cross(ones(()), ones(()), dim=0), IndexError, "dimension"),
        (lambda: BOOL - BOOL, RuntimeError, "`-` operator, with two bool tensors is not"),
        (lambda: BOOL - 1, RuntimeError, "`-` operator, with a bool tensor is not"),
        (lambda: -BOOL, RuntimeError, "Negation, the `-` operator, on a bool tensor is not"),
        (lambda: dispatch.add(1, 1, alpha=True), RuntimeError, "Boolean alpha only supported"),
        (
            lambda: dispatch.add(ones(1, dtype=int32), 1, alpha=1.5),
            RuntimeError,
            "argument alpha must not be",
        ),
        (lambda: ones(1, dtype=int32).pow(-1), RuntimeError, "Integers to negative integer powers"),
        (
            lambda: dispatch.addcdiv(*[ones(1, dtype=int32)] * 3),
            RuntimeError,
            "Integer division with addcdiv is no longer supported",
        ),
        (lambda: A.arange(0, 3, 0), RuntimeError, "step must be nonzero"),
        (lambda: A.arange(0, 3, -1), RuntimeError, "inconsistent with step sign"),
        (lambda: A.arange(0, float("inf")), RuntimeError, "unsupported range: 0 -> inf"),
        (lambda: A.linspace(0, 1, -1), RuntimeError, "number of steps must be non-negative"),
        (lambda: A.dot(ones(2, 2), ones(2)), RuntimeError, "1D tensors expected, but got 2D and"),
        (lambda: A.dot(ones(2), ones(2).double()), RuntimeError, "both vectors to have same dtype"),
        (lambda: A.dot(ones(2), ones(3)), RuntimeError, "inconsistent tensor size"),
        (lambda: A.vdot(ones(2), ones(3)), RuntimeError, "inconsistent tensor size"),
        (lambda: A.diff(ones(2), -1), RuntimeError, "order must be non-negative but got -1"),
        (lambda: A.diag_embed(ones(2, 2), 0, 1, 1), RuntimeError, "cannot be identical 1, 1"),
        (lambda: ones(2).size(5), IndexError, r"in range of \[-1, 0\], but got 5\)"),
        (lambda: ones(()).unbind(), IndexError, "Dimension specified as 0 but tensor has no dim"),
        (lambda: ones(3).narrow(0, 4, 1), IndexError, r"start out of range .*\[-3, 3\], but got 4"),
        (lambda: ones(3).narrow(0, 0, 4), RuntimeError, r"start \(0\) \+ length \(4\) exceeds"),
        (lambda: A.isclose(ones(1), ones(1), -1), RuntimeError, "rtol must be greater than or equ"),
        (
            lambda: A.gather(ones(3, 4), 0, INDEX.float()),
            RuntimeError,
            "Expected dtype int32/int64",
        ),
        (
            lambda: A.gather(ones(1, 4), 1, INDEX),
            RuntimeError,
            r"Size does not match at dimension 0",
        ),
        (lambda: A.gather(ones(3), 0, INDEX), RuntimeError, "same number of dimensions as input"),
        (
            lambda: A.scatter(ones(3, 4), 0, INDEX, ones(2, 2).double()),
            RuntimeError,
            "Expected self.dtype to be equal to src.dtype",
        ),
        (lambda: A.mean(ones(2).long()), RuntimeError, "could not infer output dtype.*Got: Long"),
        (
            lambda: A.masked_fill(ones(1), BOOL, 1j),
            RuntimeError,
            "converted to type .* without over",
        ),
        (
            lambda: A.masked_scatter(ones(1), ones(1), ones(1)),
            RuntimeError,
            "only supports boolean",
        ),
        (lambda: A.avg_pool2d(ones(1, 4, 4), 2, 2, -1), RuntimeError, "pad must be non-negative"),
        (
            lambda: A.max_pool2d(ones(1, 4, 4), 2, 0),
            RuntimeError,
            "stride must be greater than zero",
        ),
        (
            lambda: A.conv1d(ones(1, 1, 3), ones(1, 1, 1), stride=[-1]),
            RuntimeError,
            "non-positive str",
        ),
        (
            lambda: A.conv1d(ones(1, 1, 3), ones(2, 1, 1), groups=3),
            RuntimeError,
            "to be at least 3",
        ),
        (lambda: A.prelu(ones(2, 3), ones(2)), RuntimeError, "Mismatch of parameter numbers"),
        (lambda: A.layer_norm(ones(2, 3), [2]), RuntimeError, r"Given normalized_shape=\[2\]"),
        (lambda: A.multinomial(ones(2), 0), RuntimeError, "cannot sample n_sample <= 0"),
        (lambda: A.gelu(ones(2), approximate="x"), RuntimeError, "argument must be either none or"),
        (lambda: A.linalg_cross(ones(2), ones(2)), RuntimeError, "dimension -1 must have length 3"),
        (lambda: A.cat([ones(2), ones(1, 2)]), RuntimeError, "must have same number of dimensions"),
        (lambda: A.sort(ones(2, dtype=complex64)), RuntimeError, "does not support complex dtypes"),
        (lambda: A.linalg_inv(ones(3)), RuntimeError, "A must have at least 2 dimensions"),
        (
            lambda: A.linalg_inv(ones(3, 2)),
            RuntimeError,
            "A must be batches .* they are 3 by 2 mat",
        ),
        (
            lambda: A.linalg_det(ones(2, 2).int()),
            RuntimeError,
            "floating point .*as input. Got Int",
        ),
        (lambda: A.linalg_inv(ones(2, 2).half()), RuntimeError, "Low precision .*. Got Half"),
        (lambda: A.linalg_inv(ones(2, 2)), RuntimeError, "input matrix is singular"),
        (lambda: A.linalg_eigh(ones(2, 2), "x"), RuntimeError, "UPLO argument to be 'L' or 'U'"),
        (lambda: A.linalg_multi_dot([ones(2)]), RuntimeError, "at least 2 tensors but got 1"),
        (lambda: A.fft_rfft(ones(2).cfloat()), RuntimeError, "expects a real input .*ComplexFloat"),
        (lambda: A.fft_fft(ones(2), 0), RuntimeError, r"number of data points \(0\) specified"),
        (lambda: A.mm(ones(2, 2), ones(2)), RuntimeError, "mat2 must be a matrix"),
        (lambda: A.bmm(ones(2, 2), ones(2)), RuntimeError, "batch1 must be a 3D tensor"),
        (lambda: A.outer(ones(2, 2), ones(2)), RuntimeError, "Expected 1-D argument self, but got"),
        (
            lambda: A.add(ones(1), 1, out=ones(1).int()),
            RuntimeError,
            "type Float can't .* type Int",
        ),
    ],
)
def test_the_text_has_the_phrase(call, error, phrase):
    with pytest.raises(error, match=phrase):
        call()


def test_a_mask_of_uint8_warns_once_for_each_call():
    x, mask = tensor([1.0, 3.0, 2.0]), tensor([1, 0, 1], dtype=dispatch.uint8)
    with pytest.warns(UserWarning, match="indexing with dtype torch.uint8 is now depr") as said:
        assert x[mask].tolist() == [1.0, 2.0]
        assert x.index_put((mask,), x[mask] * 2).tolist() == [2.0, 3.0, 4.0]
    assert len(said) == 3


def test_bits_are_viewed_where_sizes_and_strides_allow_it():
    x = ones(2, 6)[:, 2:]
    assert x.view(float64).shape == (2, 2) and x.view(float64).storage_offset() == 1
    assert A.view_as_complex(ones(2, 2)).dtype is complex64 and x.view(float32).shape == (2, 4)
