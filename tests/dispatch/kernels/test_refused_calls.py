"""Calls that PyTorch refuses, one for each rule, with its type of error."""

import pytest

import dispatch
from dispatch import ops, tensor

A, o = ops.aten, dispatch.ones
i64, c64 = dispatch.int64, dispatch.complex64
pytestmark = pytest.mark.filterwarnings("ignore")  # some warn before they refuse, as in PyTorch

CALLS = [
    (lambda: A.view_as_complex(A.as_strided(o(9), [2, 2], [3, 1])), RuntimeError),
    (lambda: A.view_as_complex(A.as_strided(o(9), [2, 2], [2, 1], 1)), RuntimeError),
    (lambda: A.view_as_complex(o(2, 3)), RuntimeError),
    (lambda: A.view_as_complex(o(2, 2).t()), RuntimeError),
    (lambda: A._assert_tensor_metadata(o(2), None, None, None, device="meta"), RuntimeError),
    (
        lambda: A._assert_tensor_metadata(o(2), None, None, None, layout=dispatch.sparse_coo),
        RuntimeError,
    ),
    (lambda: A.clamp(o(2), 1j), RuntimeError),
    (lambda: A.renorm(o(2, 2), 1j, 0, 1), RuntimeError),
    (lambda: A.renorm(o(2, 2), 1, 0, 1j), RuntimeError),
    (
        lambda: A.convolution(o(1, 1, 3), o(1, 1, 2), None, [1], [0], [1], True, [-1], 1),
        RuntimeError,
    ),
    (lambda: A.index.Tensor(o(4, 4), [tensor([0, 1]), tensor([0, 1, 2])]), IndexError),
    (lambda: A.index.Tensor(o(4), [tensor([0]), tensor([0])]), IndexError),
    (lambda: A.index.Tensor(o(0, 4), [tensor([0])]), IndexError),
    (lambda: A.index_put(o(0, 4), [tensor([0])], o(())), IndexError),
    (lambda: A.index_put(o(4, 4), [tensor([0, 1]), tensor([0, 1, 2])], o(())), IndexError),
    (lambda: A.embedding_dense_backward(o(()), tensor(0), 3, -1, False), IndexError),
    (lambda: A.embedding_dense_backward(o(1, 2), tensor([0]), -1, -1, False), RuntimeError),
    (lambda: A.grid_sampler_2d(o(1, 1, 2, 2), o(1, 1, 1, 2).double(), 0, 0, False), RuntimeError),
    (lambda: A.linspace(0, 1j, 3, dtype=dispatch.float32), RuntimeError),
    (lambda: A.randint.low(3, 3, [2]), RuntimeError),
    (lambda: A.linalg_vander(o(())), RuntimeError),
    (lambda: A.vander(o(2, 2)), RuntimeError),
    (lambda: A.vander(o(2), -1), RuntimeError),
    (lambda: A.celu(o(2), 0), RuntimeError),
    (lambda: A.nll_loss2d_forward(o(1, 2, 2, 2), o(1, 2, dtype=i64), None, 1, -100), RuntimeError),
    (
        lambda: A.nll_loss_backward(o(2), o(3, 2), o(3, dtype=i64), None, 1, -100, o(())),
        RuntimeError,
    ),
    (
        lambda: A.nll_loss_backward(o(()), o(3, 2), o(3, dtype=i64), None, 1, -100, o(2)),
        RuntimeError,
    ),
    (lambda: A.tensordot(o(2, 3), o(3, 2), [1], [0, 1]), RuntimeError),
    (lambda: A.inner(o(2, 3), o(2, 4)), RuntimeError),
    (lambda: A.istft(o(0, 3, dtype=c64), 4), RuntimeError),
    (lambda: A.istft(o(3, 3, dtype=c64), 4, onesided=True, return_complex=True), RuntimeError),
    (lambda: A.istft(o(3, 3, dtype=c64), 4, window=o(4, dtype=c64)), RuntimeError),
    (lambda: A.istft(o(3, 3, dtype=c64), 4, hop_length=0), RuntimeError),
    (lambda: A.segment_reduce(o(2, 2), "sum", lengths=tensor([[2], [2]]), axis=0), RuntimeError),
    (lambda: A.segment_reduce(o(2), "sum", lengths=tensor([-1, 3])), RuntimeError),
    (lambda: A.segment_reduce(o(2), "sum", indices=tensor([0, 1])), RuntimeError),
    (lambda: A.multinomial(dispatch.zeros(3), 1), RuntimeError),
    (lambda: A.bincount(tensor([1]), None, -1), RuntimeError),
    (lambda: A.bincount(tensor([1, 2]), o(3)), RuntimeError),
    (lambda: A.binary_cross_entropy(dispatch.full((2,), 2.0), o(2)), RuntimeError),
    (lambda: getattr(A.random_, "from")(o(2), 5, 2), RuntimeError),
    (lambda: A._histogramdd_bin_edges(o(3, 2), [2, 2], range=[0.0, 1.0]), RuntimeError),
    (lambda: A.histc(o(3), 2, 1j, 2), RuntimeError),
    (lambda: A.var.correction(o(3), [0], correction=1j), RuntimeError),
    (lambda: A._local_scalar_dense(o(0)), RuntimeError),
    (lambda: A.fractional_max_pool2d(o(1, 2, 2), [3, 3], [2, 2], o(1, 1, 2)), RuntimeError),
    (lambda: A._cdist_forward(o(2, 3), o(2, 4), 2.0, None), RuntimeError),
]


@pytest.mark.parametrize(("call", "error"), CALLS)
def test_a_call_that_pytorch_refuses(call, error):
    with pytest.raises(error) as raised:
        call()
    assert raised.type is error
    assert str(raised.value).startswith("aten::")


f64, x = dispatch.float64, o(3)
OTHER_DTYPES = [
    lambda: A._softmax.out(x, 0, False, out=o(3, dtype=f64)),
    lambda: A.hardshrink.out(x, out=o(3, dtype=f64)),
    lambda: A.heaviside.out(x, x, out=o(3, dtype=f64)),
    lambda: A.huber_loss_backward.out(x, x, x, 1, 1.0, grad_input=o(3, dtype=f64)),
    lambda: A.huber_loss_backward(x, x.double(), x, 1, 1.0),
    lambda: A.log_sigmoid_backward.grad_input(x, x, x, grad_input=o(3, dtype=f64)),
    lambda: A.frexp.Tensor_out(
        x, mantissa=o(3, dtype=f64), exponent=o(3, dtype=dispatch.int32)
    ),
    lambda: A.frexp.Tensor_out(x, mantissa=o(3), exponent=o(3, dtype=i64)),
    lambda: A.ormqr.out(o(3, 3), x, o(3, 3), out=o(3, 3, dtype=f64)),
    lambda: A.soft_margin_loss.out(x, x, out=o((), dtype=f64)),
    lambda: A.linalg_matrix_power.out(o(3, 3), 0, out=o(3, 3, dtype=i64)),
    lambda: A.native_batch_norm.out(
        o(4, 3), x, x, x, x, True, 0.1, 1e-5, out=o(4, 3, dtype=f64), save_mean=x, save_invstd=x
    ),
    lambda: A.rrelu_with_noise(x, o(3, dtype=dispatch.float16), 0.1, 0.3, True),
    lambda: A.rrelu_with_noise(x.double(), o(3), 0.1, 0.3, True),
]


@pytest.mark.parametrize("call", OTHER_DTYPES)
def test_an_output_of_a_dtype_that_no_result_is_converted_to(call):
    with pytest.raises(RuntimeError, match=r"float64|int64|float16|with dtype (Double|Long|Half)"):
        call()


def test_the_mean_of_a_loss_is_converted_to_an_output():
    for loss in (A.mse_loss, A.huber_loss, A.smooth_l1_loss):
        assert loss.out(x, x * 3, out=o((), dtype=f64)).item() in (4, 1.5)
