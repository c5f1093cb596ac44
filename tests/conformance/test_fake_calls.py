"""The calls of `test_calls` with fake tensors: dtypes, sizes and all strides are PyTorch's."""

import gzip
import json

import pytest

import dispatch
from dispatch import FakeTensorMode
from tests.conformance.compare_calls import differs
from tests.conformance.record_calls import DTYPES, FAKE, answer, calls

pytestmark = pytest.mark.usefixtures("same_state_after")

CALLS = dict(zip(calls(), json.loads(gzip.decompress(FAKE.read_bytes())), strict=True))
BY_EXPRESSION: dict[str, list[str]] = {}
for _letter, _expression in CALLS:
    BY_EXPRESSION.setdefault(_expression, []).append(_letter)
# Calls that PyTorch answers otherwise, by the beginning of the expression: letters, and why.
DIFFERENT = {
    "A._adaptive_avg_pool3d(T(0,3": ("l", "PyTorch runs a loop of no elements"),
    "A._add_relu_.Scalar": ("bh", "there is no loop in either library"),
    "A._assert_tensor_metadata": ("f", "PyTorch takes the dispatcher's mode for an argument"),
    "A._reshape_from_tensor": ("fl", "PyTorch asks to be told of a bug"),
    "A._thnn_fused_lstm_cell": ("bdfh", "PyTorch reads an attribute of None"),
    "A.baddbmm.dtype": ("bh", "PyTorch multiplies by a dtype"),
    "A.cat.out([T(2),T(3)],out=T(0,dt='i'))": ("f", "TypeError, as without fake tensors"),
    "A.celu": ("ilo", "RuntimeError, as without fake tensors"),
    "A.grid_sampler": ("fl", "RuntimeError, as without fake tensors"),
    "A.hann_window": ("iloU", "refused, as without fake tensors"),
    "A.histc(T(0),4)": ("l", "PyTorch runs a loop of no elements"),
    "A.index(T(2,3).to('meta')": ("Bu", "tensors on meta among fake ones"),
    "A.linspace.Tensor_Tensor": ("c", "PyTorch forgets the dtype"),
    "A.mse_loss": ("o", "PyTorch subtracts bools"),
    "A.multi_margin_loss": ("c", "refused, as without fake tensors"),
    "A.native_layer_norm(T(0,3)": ("l", "PyTorch runs a loop of no elements"),
    "A.nll_loss(T(0,3)": ("l", "PyTorch runs a loop of no elements"),
    "A.nll_loss2d_forward(T(1,3": ("iU", "the dtypes are those of the kernel"),
    "A.nll_loss_forward(T(3,4)": ("iU", "the dtypes are those of the kernel"),
    "A.one_hot(L(-1))": ("fl", "refused, as without fake tensors"),
    "A.pin_memory": ("f", "PyTorch looks for an accelerator"),
    "A.randint_like.Tensor_generator": ("dfl", "PyTorch mistakes the generator"),
    "A.soft_margin_loss": ("ilU", "refused, as without fake tensors"),
    "A.softmax.int(T(),0)": ("l", "PyTorch runs a loop of no elements"),
    "A.stack": ("fl", "the error's type is that without fake tensors"),
    "M.diagonal_scatter(T(3,4),T(2))": ("f", "refused, as without fake tensors"),
    "M.select_scatter(T(3,4),T(3)": ("f", "refused, as without fake tensors"),
    "M.slice_scatter(T(3,4),T(1,4)": ("f", "refused, as without fake tensors"),
}


def faked(call):
    with FakeTensorMode():
        return call()


@pytest.mark.parametrize("expression", BY_EXPRESSION)
def test_a_fake_call_gives_what_pytorch_gives(expression):
    starts = [call for call in DIFFERENT if expression.startswith(call)]
    known = "".join(DIFFERENT[call][0] for call in starts)
    wrong = {}
    for letter in BY_EXPRESSION[expression]:
        want = CALLS[letter, expression]
        got = answer(dispatch, letter, expression, faked, fake=True)
        if letter not in known and differs(want, got, all_strides=True):
            wrong[DTYPES[letter]] = f"want {want} got {got}"
    assert not wrong
