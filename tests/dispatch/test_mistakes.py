"""Mistakes that newcomers make: the text names the operator, what is wrong, and what to do."""

import pytest

import dispatch
from dispatch import graph, ops
from dispatch._C import _AutoDispatchBelowAutograd
from dispatch.modes import TorchFunctionMode

X = dispatch.ones(2, 3)
LINEAR = ops.aten.linear.default
ATTENTION = ops.aten.scaled_dot_product_attention.default


def heads(length, width):
    return dispatch.ones(1, 2, length, width)


@pytest.mark.parametrize(
    ("call", "error", "start"),
    [
        (lambda: X + dispatch.ones(4), RuntimeError, "aten::add.Tensor: The size of tensor a (3)"),
        (lambda: X.view(4), RuntimeError, "aten::view: shape '[4]' is invalid"),
        (lambda: X.softmax(5), IndexError, "aten::_softmax: Dimension out of range"),
        (lambda: X.sum(9), IndexError, "aten::sum.dim_IntList: Dimension out of range"),
        (lambda: X[5], IndexError, "aten::select.int: index 5 is out of bounds for dimension 0"),
        (lambda: X[:, 7], IndexError, "aten::select.int: index 7 is out of bounds for dimension 1"),
        (lambda: X[0, 0, 0], IndexError, "Tensor.__getitem__: too many indices for tensor"),
        (
            lambda: X.clone().__setitem__(0, dispatch.ones(4)),
            RuntimeError,
            "Tensor.__setitem__: The expanded size of the tensor ([3]) must match the existing size"
            " ([4])",
        ),
        (
            lambda: LINEAR(X, dispatch.ones(4, 5)),
            RuntimeError,
            "aten::linear: input of shape [2, 3] needs a weight of 3 columns, got shape [4, 5]: "
            "shapes cannot be multiplied",
        ),
        (
            lambda: X @ X,
            RuntimeError,
            "aten::mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
        ),
        (
            lambda: ATTENTION(heads(3, 4), heads(3, 5), heads(3, 4)),
            RuntimeError,
            "aten::scaled_dot_product_attention: query and key must be as wide",
        ),
        (
            lambda: ATTENTION(heads(3, 4), heads(3, 4), heads(5, 4)),
            RuntimeError,
            "aten::scaled_dot_product_attention: key and value must be as long",
        ),
        (
            lambda: ATTENTION(heads(3, 4), heads(3, 4), heads(3, 4), dispatch.ones(7, 7)),
            RuntimeError,
            "aten::scaled_dot_product_attention: attn_mask of shape [7, 7] does not expand",
        ),
        (
            lambda: ops.aten.add.Tensor.redispatch(X, X),
            TypeError,
            "aten::add.Tensor.redispatch: expected a DispatchKeySet before",
        ),
        (
            lambda: ops.aten.binary_cross_entropy.default(X, dispatch.ones(4)),
            RuntimeError,
            "aten::binary_cross_entropy: sizes [4] do not expand to [2, 3]",
        ),
        (lambda: dispatch.manual_seed("a"), ValueError, "manual_seed: seed: expected an int"),
        (lambda: dispatch.manual_seed(None), TypeError, "manual_seed: seed: expected an int"),
        (lambda: dispatch.set_num_threads("a"), RuntimeError, "set_num_threads: expected an int"),
        (lambda: graph.load(3), TypeError, "expected the path of a model, got int"),
        (
            lambda: X + dispatch.ones(2, 3, device="meta"),
            RuntimeError,
            "aten::add.Tensor: expected all tensors on one device",
        ),
    ],
)
def test_errors_name_the_operator(call, error, start):
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value).startswith(start)


def test_ints_in_a_row_are_not_blamed_for_another_argument():
    with pytest.raises(TypeError) as raised:
        dispatch.ones(2, 3, dtype="float32")
    assert str(raised.value).splitlines()[0] == (
        "aten::ones: argument 'dtype' (position 1) must be Optional[dtype], got str 'float32'; "
        "write dispatch.float32"
    )
    with pytest.raises(TypeError, match="aten::ones: unknown keyword argument 'dtpe'"):
        dispatch.ones(2, dtpe=1)
    with pytest.raises(TypeError, match=r"'size' \(position 0\) must be List\[int\], got str 'a'"):
        dispatch.ones("a")


def test_overloads_of_numbers_are_not_listed_for_a_tensor():
    with pytest.raises(RuntimeError) as raised:
        ops.aten.add(X, "a")
    said = [line for line in str(raised.value).splitlines() if "argument" in line]
    assert [line.partition(":  ")[0].split(": argument")[0] for line in said[1:]] == [
        "aten::add.Tensor", "aten::add.Scalar",
    ]  # fmt: skip
    with pytest.raises(RuntimeError, match=r"aten::add\.int: argument 'b'"):
        ops.aten.add(1, "a")


def test_a_dtype_in_a_device_s_place_is_told():
    with pytest.raises(RuntimeError, match=r"unknown device type 'int64'.*write dispatch\.int64$"):
        X.to("int64")
    with pytest.raises(RuntimeError, match=r"unknown device type 'gpu'.*privateuseone$"):
        X.to("gpu")


@pytest.mark.parametrize(
    ("mode", "call", "text"),
    [
        (dispatch.TorchDispatchMode, X.neg, "aten.neg.default: Misnamed does not define"),
        (TorchFunctionMode, X.neg, "neg: Misnamed does not define __torch_f"),
    ],
)  # fmt: skip
def test_a_mode_without_its_handler_says_so(mode, call, text):
    class Misnamed(mode):
        def torch_dispatch(self, func, types, args=(), kwargs=None):
            return func(*args)

    with pytest.raises(NotImplementedError) as raised, Misnamed():
        call()
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize(
    ("call", "op", "note"),
    [
        (lambda: dispatch.ones(1).item(), "aten._local_scalar_dense.default", "shape_env="),
        (lambda: dispatch.ones(1).nonzero(), "aten.nonzero.default", "shape_env="),
        (lambda: ops.mistakes.f(dispatch.ones(1)), "mistakes.f.default", "_fake('mistakes::f')"),
    ],
)
def test_fake_tensors_say_what_they_lack_and_what_to_do(call, op, note):
    """The text is the operator, as in PyTorch; tracebacks show the note."""
    with dispatch.library._scoped_library("mistakes", "DEF") as lib, dispatch.FakeTensorMode():
        lib.define("f(Tensor x) -> Tensor")
        with pytest.raises(RuntimeError) as raised:
            call()
    assert str(raised.value) == op and note in raised.value.__notes__[0]


@pytest.mark.parametrize("call", [lambda: X.sum(2**63), lambda: X.mean(2**63)])
def test_ints_that_are_too_big_are_a_value_error(call):
    with pytest.raises(ValueError):
        call()


def test_overloads_that_write_to_out_are_left_out_without_it():
    with pytest.raises(TypeError) as raised:
        dispatch.add(X, "a")
    assert "aten::add.Tensor: argument 'other'" in str(raised.value)
    assert "out" not in str(raised.value).replace("without", "")
    with pytest.raises(TypeError, match=r"aten::add\.out: argument 'out'"):
        dispatch.add(X, X, out="a")


def test_a_device_without_kernels_gets_a_short_list_and_advice():
    with pytest.raises(NotImplementedError) as raised:
        dispatch.ones(2, device="cuda")
    first, _, advice = str(raised.value).splitlines()
    assert first.endswith("kernels exist for: CPU, Meta, BackendSelect")
    assert "FakeTensorMode()" in advice and "docs/tutorials/device.md" in advice


def test_kernels_of_autograd_are_one_name():
    library = dispatch.Library("mistakes", "DEF")
    library.define("f(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="kernels exist for: no key\n"):
        ops.mistakes.f(X)
    library.impl("f", lambda x: x, "Autograd")
    library.impl("f", lambda x: x, "XLA")
    with _AutoDispatchBelowAutograd(), pytest.raises(NotImplementedError) as raised:
        ops.mistakes.f(X)
    assert "kernels exist for: XLA, Autograd\n" in str(raised.value)
    assert "FakeTensorMode" not in str(raised.value)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        (X, "tuple of Tensors, not Tensor of"),
        ([X, None], r"List\[Tensor\], got NoneType as element 1"),
    ],
)
def test_a_list_of_tensors_is_told_from_a_tensor(given, wrong):
    with pytest.raises(TypeError, match=f"'tensors' .* must be {wrong}"):
        dispatch.hstack(given)
