"""CrossRefFakeMode: fake results against real ones."""

import pytest

import dispatch
from dispatch import ops
from dispatch.fake import CrossRefFakeMode, MetadataMismatchError, try_convert_fake_to_real
from dispatch.fake.cross_ref import check_tensors

pytestmark = pytest.mark.usefixtures("same_state_after")


@pytest.fixture
def pair(library):
    """`pair(real, fake, schema)`: an operator with these kernels."""
    lib = library("tcr", "DEF")

    def make(real, fake, schema="(Tensor x) -> Tensor"):
        lib.define("f" + schema)
        lib.impl("f", real, "CPU")
        if fake is not None:
            lib.impl("f", fake, "Meta")
        return ops.tcr.f

    return make


def test_equal_results_pass_and_the_real_one_is_returned(pair):
    f = pair(lambda x: x + 1, lambda x: x.new_empty(x.shape))
    with CrossRefFakeMode():
        assert f(dispatch.ones(2)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("fake", "what"),
    [
        (lambda x: x.new_empty(4), r"Shapes .*\[2, 3\].* are not equal"),
        (lambda x: x.new_empty(2, 3, dtype=dispatch.int8), "Dtypes .*32 and .*int8 are not equal"),
        (lambda x: x.new_empty(3, 2).t(), r"Stride mismatch: real \[3, 1\], fake \[1, 2\]"),
        (lambda x: x.new_empty(7)[1:].view(2, 3), "Storage offset mismatch: real 0, fake 1"),
        (lambda x: x, "alias"),
    ],
)
def test_differences_are_named(pair, fake, what):
    f = pair(lambda x: x + 1, fake)
    with CrossRefFakeMode(), pytest.raises(MetadataMismatchError, match=what):
        f(dispatch.ones(2, 3))


def test_whether_gradients_are_asked_for_is_compared():
    x = dispatch.ones(2, 3)
    y = x.clone().requires_grad_()
    with pytest.raises(MetadataMismatchError, match="f: requires_grad False and True"):
        check_tensors("f", x, y, strides=True)


def test_sizes_that_depend_on_values_may_be_any(pair, library):
    f = pair(lambda x: x.new_zeros(2, 18), None)

    def made(width):
        def fake(x):
            ctx = dispatch.library.get_ctx()
            return x.new_empty(x.shape[0], ctx.new_dynamic_size() if width is None else width)

        return fake

    x = dispatch.ones(2, 3)
    own = library("tcr")
    for width in (None, 18, 17):
        dispatch.library.register_fake("tcr::f", made(width), lib=own, allow_override=True)
        with CrossRefFakeMode():
            if width == 17:
                with pytest.raises(MetadataMismatchError, match="Shapes"):
                    f(x)
            else:
                assert f(x).shape == (2, 18)


def test_what_is_not_compared(pair):
    f = pair(lambda x: x + 1, lambda x: x.new_empty(4))
    x = dispatch.ones(2)
    with CrossRefFakeMode(ignore_op_fn=lambda op: op.namespace == "tcr"):
        f(x)
    with CrossRefFakeMode(check_strides=False, check_aliasing=False), pytest.raises(RuntimeError):
        f(x)


def test_operators_without_a_meta_kernel_are_left_out_when_asked(pair):
    f = pair(lambda x: x.item(), None, "(Tensor x) -> Scalar")
    x = dispatch.ones(1)
    with CrossRefFakeMode():
        assert dispatch.nonzero(x).tolist() == [[0]]
    with CrossRefFakeMode(ignore_op_fn=lambda op: True):
        assert f(x) == 1.0


def test_fakes_of_living_tensors_become_real_again():
    mode = dispatch.FakeTensorMode()
    real = dispatch.arange(6).to(dispatch.float32)
    fake = mode.from_tensor(real)
    gone = mode.from_tensor(dispatch.ones(2))
    with mode:
        part, other = fake[2:4], fake + 1
    made = try_convert_fake_to_real([part, other, gone, real, 3])
    assert made[0].tolist() == [2.0, 3.0] and type(made[0]) is dispatch.Tensor
    assert made[0].untyped_storage() is real.untyped_storage()
    assert made[1] is other and made[2] is gone and made[3] is real and made[4] == 3
