"""Fresh runs: fallback, registered implementations, what kernels of others see, real tensors."""

import pytest

import dispatch
from dispatch import FakeTensorMode, ops
from dispatch.fake import (
    CrossRefFakeMode,
    DynamicOutputShapeException,
    FakeTensorDeviceMismatchError,
    MetadataMismatchError,
    UnsupportedOperatorException,
    _deregister_op_impl,
    fake_tensor_tls,
    meta_registrations,
    register_meta,
    register_op_impl,
)
from dispatch.fake.implementations import op_implementations_checks
from dispatch.symbolic import DimDynamic, ShapeEnv, StatelessSymbolicContext

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


@pytest.fixture
def mode():
    return FakeTensorMode(cache=False)


def test_fallback_runs_the_real_kernel_on_zeros(mode, library):
    lib = library("aten", "FRAGMENT")
    lib.define("fk_zeros(Tensor x) -> Tensor")
    seen = []
    lib.impl("fk_zeros", lambda x: seen.append(x.tolist()) or dispatch.ones(3), "CPU")
    with mode:
        r = A.fk_zeros.default(dispatch.ones(2))
        assert r.shape == (3,) and r.fake_mode is mode and seen == [[0.0, 0.0]]
        mode.allow_fallback_kernels = False
        with pytest.raises(UnsupportedOperatorException):
            A.fk_zeros.default(dispatch.ones(2))


def test_fallback_refuses_aliases(mode, library):
    lib = library("aten", "FRAGMENT")
    lib.define("fk_alias(Tensor x) -> Tensor")
    lib.impl("fk_alias", lambda x: x.view(-1), "CPU")
    with mode, pytest.raises(NotImplementedError):
        A.fk_alias.default(dispatch.ones(2))


@pytest.mark.parametrize("listed", [False, True])
def test_meta_kernel_that_makes_memory_is_refused(mode, library, listed):
    lib = library("fk_memory")
    lib.define("made(Tensor x) -> Tensor[]" if listed else "made(Tensor x) -> Tensor")
    real = dispatch.ones(2)
    lib.impl("made", lambda x: [real] if listed else real, "Meta")
    x = mode.from_tensor(dispatch.ones(2))
    with mode, pytest.raises(AssertionError, match="must make tensors on meta, got one on cpu"):
        dispatch.ops.fk_memory.made(x)


@pytest.mark.parametrize("dtype", ["bool", "uint8"])
def test_masks_give_as_many_elements_as_data_say(mode, dtype):
    x = mode.from_tensor(dispatch.ones(2))
    mask = mode.from_tensor(dispatch.ones(2).to(getattr(dispatch, dtype)))
    with mode, pytest.raises(DynamicOutputShapeException):
        A.index.Tensor(x, [mask])
    with mode:
        assert A.index.Tensor(x, [mask.long()]).shape == (2,)


def test_registered_implementation_comes_before_the_meta_kernel(mode):
    @register_op_impl(A.relu.default)
    def own(fake_mode, func, x):
        return NotImplemented if x.dim() == 1 else dispatch.empty(7, device="meta")

    try:
        with mode:
            assert A.relu.default(dispatch.empty(2)).shape == (2,)
            assert A.relu.default(dispatch.empty(2, 2)).shape == (7,)
        with pytest.raises(AssertionError):
            register_op_impl(A.relu.default)(own)
    finally:
        _deregister_op_impl(A.relu.default)


def test_implementations_may_choose_their_operators(mode):
    def chooses(op):
        return op in (A.relu.default, A.neg.default)

    @register_op_impl(chooses)
    def own(fake_mode, func, x):
        return dispatch.empty(7, device="meta")

    try:
        with mode:
            x = dispatch.empty(2)
            assert [A.relu.default(x).shape, A.neg.default(x).shape] == [(7,), (7,)]
            assert A.sin.default(x).shape == (2,)
    finally:
        op_implementations_checks.pop()


def test_register_meta_serves_fake_tensors(mode, library):
    lib = library("fkm", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    seen = []

    @register_meta(ops.fkm.f)
    def meta(x):
        seen.append(str(x.device))
        return dispatch.empty(5, device="meta")

    with mode:
        assert str(ops.fkm.f(dispatch.empty(2, device="cuda")).device) == "cuda:0"
    assert seen == ["meta"]
    with pytest.raises(TypeError):
        register_meta("f")
    meta_registrations._modules.pop().reset()
    del meta_registrations.meta_table[ops.fkm.f.default]


def test_thread_may_override_what_the_mode_allows(mode):
    x = dispatch.ones(2)
    fake_tensor_tls.allow_non_fake_inputs_override = True
    try:
        with mode:
            assert A.relu.default(x).fake_mode is mode
    finally:
        fake_tensor_tls.allow_non_fake_inputs_override = None
    with mode, pytest.raises(AssertionError):
        A.relu.default(x)


def test_real_tensors_run_along(mode):
    mode.propagate_real_tensors = True
    f = mode.from_tensor(dispatch.ones(2))
    assert A.mul.Tensor(f, 3).real_tensor is None
    f.real_tensor = dispatch.ones(2)
    assert A.mul.Tensor(f, 3).real_tensor.tolist() == [3.0, 3.0]


def test_a_write_of_unknown_values_takes_the_real_tensor_away(mode):
    mode.propagate_real_tensors = True
    with mode:
        x, other = dispatch.ones(2), dispatch.ones(2)
        other.real_tensor = None
        x.add_(other)
        loaded = A.set_.source_Storage(dispatch.ones(3), dispatch.UntypedStorage(8, device="meta"))
    assert x.real_tensor is None and loaded.real_tensor is None


def test_devices_that_do_not_exist_have_no_real_tensors(mode):
    mode.propagate_real_tensors = True
    with mode:
        x = dispatch.ones(2, device="cuda")
    assert x.device.type == "cuda" and x.real_tensor is None


def test_sizes_that_values_decide_are_left_to_the_real_tensor():
    mode = FakeTensorMode(shape_env=ShapeEnv())
    mode.propagate_real_tensors = True
    with mode:
        found = dispatch.ones(5).nonzero()
        rows = found + found
    assert [t.real_tensor.shape for t in (found, rows)] == [(5, 1), (5, 1)]
    assert found.T.is_contiguous() and not mode.shape_env.guards


def test_sizes_with_hints_reach_real_kernels_as_numbers():
    mode = FakeTensorMode(shape_env=ShapeEnv())
    mode.propagate_real_tensors = True
    dynamic = StatelessSymbolicContext([DimDynamic.DYNAMIC])
    x = mode.from_tensor(dispatch.ones(6), symbolic_context=dynamic)
    x.real_tensor = dispatch.ones(6)
    assert x.new_zeros(x.size(0)).shape == (x.size(0),)
    assert x.expand(2, x.size(0)).real_tensor.shape == (2, 6)
    assert not mode.shape_env.guards


def test_cross_reference_finds_wrong_meta_kernels(library):
    lib = library("fkx", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x.clone(), "CPU")
    lib.impl("f", lambda x: x.new_empty(7), "Meta")
    x = dispatch.ones(2)
    with CrossRefFakeMode():
        assert (x + 1).tolist() == [2.0, 2.0]
        with pytest.raises(MetadataMismatchError, match="Shapes"):
            ops.fkx.f(x)
    with CrossRefFakeMode(ignore_op_fn=lambda op: op.namespace == "fkx"):
        assert ops.fkx.f(x).tolist() == [1.0, 1.0]


def test_set_keeps_the_device_of_a_fake_tensor(mode):
    with mode:
        x, y = dispatch.empty(4, device="cuda"), dispatch.empty(2, device="cuda")
        y.set_(x)
    assert str(y.device) == "cuda:0" and y.untyped_storage() is x.untyped_storage()


def test_nextafter_takes_a_number_on_the_cpu_for_what_it_is():
    """Operators let 0-d CPU tensors go with any device, but for this one (its `out` is lax)."""
    with FakeTensorMode():
        x, zero = dispatch.empty(3, device="cuda"), dispatch.empty(())
        assert ops.aten.hypot(zero, x).device.type == "cuda"
        for given in ((x, zero), (zero, x)):
            with pytest.raises(FakeTensorDeviceMismatchError, match="nextafter"):
                ops.aten.nextafter(*given)
        out = ops.aten.nextafter.out(x, zero, out=dispatch.empty(3, device="cuda"))
        assert out.device.type == "cuda"


@pytest.mark.parametrize(
    "call",
    [
        lambda zero, other: zero.add_(other),
        lambda zero, other: dispatch.add(other, 1, out=zero),
        lambda zero, other: dispatch.neg(other, out=zero),
        lambda zero, other: dispatch.add(zero, other, out=zero),
        lambda zero, other: dispatch.cumsum(other, 0, out=zero),
        lambda zero, other: zero.mul_(other),
    ],
)
def test_what_is_written_lies_on_the_device_of_the_call(mode, call):
    """A 0-d CPU tensor goes with any device where it is read, and only there."""
    with mode:
        zero, other = dispatch.ones(()), dispatch.empty((), device="cuda")
        with pytest.raises(RuntimeError, match="does not match the device cuda:0 of the call"):
            call(zero, other)
        assert zero.device.type == "cpu"
        assert other.add_(zero).device.type == "cuda"
        assert zero.copy_(other) is zero
        assert dispatch.add(zero, 1, out=other) is other


def refused(mode, error, call):
    with mode, pytest.raises(Exception) as caught:
        call()
    assert type(caught.value) is error


def test_out_variants_of_factories_are_refused_as_in_pytorch(mode):
    x, out = mode.from_tensor(dispatch.ones(2, 3)), mode.from_tensor(dispatch.ones(2, 3))
    refused(mode, RuntimeError, lambda: A.zeros_like.out(x, out=out))
    refused(mode, RuntimeError, lambda: A.new_full.out(x, [2, 3], 1, out=out))
    with mode:
        assert A.zeros_like(x).shape == (2, 3)


def test_out_variants_without_a_meta_kernel_are_refused_as_in_pytorch(mode):
    numbers = mode.from_tensor(dispatch.tensor([0, 1]))
    grad = mode.from_tensor(dispatch.ones(2, 3))
    args = (grad, numbers, 4, -1, False)
    with mode:
        out = A.embedding_dense_backward(*args)
        found = A.bucketize.Scalar(1.5, numbers)
    refused(mode, TypeError, lambda: A.embedding_dense_backward.out(*args, out=out))
    refused(mode, TypeError, lambda: A.bucketize.Scalar_out(1.5, numbers, out=found))


def test_what_pytorch_reads_from_memory_is_refused(mode):
    data, counts = mode.from_tensor(dispatch.ones(3, 2)), mode.from_tensor(dispatch.tensor([2, 1]))
    weight, kept = mode.from_tensor(dispatch.ones(2, 3)), dispatch.tensor([True, False])
    images, grid = dispatch.ones(1, 1, 2, 2), dispatch.zeros(1, 2, 2, 2)
    images, grid, kept = (mode.from_tensor(t) for t in (images, grid, kept))
    for call in (
        lambda: A._pad_packed_sequence(data, counts, False, 0.0, 2),
        lambda: A._pack_padded_sequence_backward(data, [2, 2, 2], counts, False),
        lambda: A._rowwise_prune(weight, kept, dispatch.int64),
        lambda: A._grid_sampler_2d_cpu_fallback(images, grid, 0, 0, False),
    ):
        refused(mode, RuntimeError, call)


def test_sizes_that_lengths_decide_are_dynamic(mode):
    data, counts = mode.from_tensor(dispatch.ones(3, 2)), mode.from_tensor(dispatch.tensor([3, 1]))
    padded, ends = dispatch.ones(2, 3, 4), dispatch.tensor([0, 2, 4])
    padded, ends = mode.from_tensor(padded), mode.from_tensor(ends)
    scores, classes = dispatch.ones(3, 2, 4), dispatch.ones(2, 2, dtype=dispatch.int64)
    scores, classes = mode.from_tensor(scores), mode.from_tensor(classes)
    for call in (
        lambda: A._pack_padded_sequence(data, counts, False),
        lambda: A._padded_dense_to_jagged_forward(padded, [ends]),
        lambda: A.ctc_loss.Tensor(scores, classes, counts, counts),
    ):
        refused(mode, DynamicOutputShapeException, call)
    with mode:
        assert A._padded_dense_to_jagged_forward(padded, [ends], 4).shape == (4, 4)


def test_randint_like_does_not_ask_for_the_value_of_its_bound(mode):
    like, high = mode.from_tensor(dispatch.ones(2, 3)), mode.from_tensor(dispatch.tensor(7))
    with mode:
        assert A.randint_like.Tensor(like, high).shape == (2, 3)


def test_functional_set_takes_the_place_of_a_fake_source(mode):
    x, source = mode.from_tensor(dispatch.ones(3)), mode.from_tensor(dispatch.ones(2, 5))
    with mode:
        assert A.set.source_Tensor(x, source).shape == (2, 5)


def test_rank_into_out_is_out(mode):
    x, out = mode.from_tensor(dispatch.ones(2, 3, 3)), mode.from_tensor(dispatch.zeros(2).long())
    with mode:
        assert A.linalg_matrix_rank.out(x, 0.5, out=out) is out


def test_magnitudes_of_complex_numbers_go_into_real_outputs_only(mode):
    x = mode.from_tensor(dispatch.ones(2, dtype=dispatch.complex64))
    real, both = (mode.from_tensor(dispatch.ones(2).to(t)) for t in (dispatch.float32, x.dtype))
    with mode:
        assert A.abs.out(x, out=real) is real
    refused(mode, RuntimeError, lambda: A.abs.out(x, out=both))


def test_norms_that_take_a_mean_refuse_integers(mode):
    x, one = mode.from_tensor(dispatch.ones(2, 4, 3).long()), mode.from_tensor(dispatch.ones(4))
    refused(mode, RuntimeError, lambda: A.native_group_norm(x, None, None, 2, 4, 3, 2, 0.1))
    rest = (None, None, one, one)
    refused(mode, RuntimeError, lambda: A.batch_norm(x, *rest, True, 0.1, 0.1, False))
    with mode:
        assert A.batch_norm(x, *rest, False, 0.1, 0.1, False).shape == x.shape


def test_mean_squared_error_has_the_promoted_dtype(mode):
    x, y = mode.from_tensor(dispatch.ones(2).to(dispatch.uint8)), mode.from_tensor(dispatch.ones(2))
    with mode:
        assert A.mse_loss(x, y).dtype is dispatch.float32
    refused(mode, RuntimeError, lambda: A.mse_loss(x, x))


def test_updated_statistics_of_halves_are_returned_in_float32(mode):
    x, one = (mode.from_tensor(dispatch.ones(*s).bfloat16()) for s in ((2, 4), (4,)))
    with mode:
        found = A._batch_norm_with_update_functional(x, one, one, one, one, 0.1, 1e-5)
    assert [t.dtype.name for t in found[4:]] == ["float32", "float32"]


def test_a_constant_keeps_its_values_whatever_its_original_does():
    real = dispatch.tensor(3)
    with FakeTensorMode():
        fake = ops.aten.lift_fresh(real)
    real.fill_(5)
    assert fake.item() == 3


def test_a_constant_that_is_read_stays_one():
    with FakeTensorMode():
        total, three = dispatch.ones(2), dispatch.tensor(3)
        total.add_(three)
        assert three.item() == 3


def test_a_meta_kernel_of_others_sees_meta(library):
    seen = []

    def kernel(x):
        seen.append(x.device.type)
        return dispatch.empty(x.shape, device="meta")

    library("aten", "IMPL").impl("sinh", kernel, "Meta", allow_override=True)
    with FakeTensorMode():
        made = ops.aten.sinh(dispatch.ones(3, device="cuda"))
    assert seen == ["meta"]
    assert made.device.type == "cuda"


def test_a_mask_of_other_sizes_is_refused_before_its_elements_are_counted():
    with FakeTensorMode(shape_env=ShapeEnv()), pytest.raises(IndexError, match=r"sizes \[2\]"):
        dispatch.ones(3, 4)[dispatch.ones(2, dtype=dispatch.bool)]


def test_the_number_in_a_tensor_is_one_symbol():
    env = ShapeEnv()
    with FakeTensorMode(shape_env=env):
        total = dispatch.ones(3, dtype=dispatch.int64).sum()
        assert total.item().node.expr == total.item().node.expr
        assert total.item().node.expr != dispatch.ones(3).long().sum().item().node.expr


def test_nested_ints_have_numbers_of_their_own():
    with FakeTensorMode(shape_env=ShapeEnv()) as mode:
        one, other = mode.create_symbolic_nested_int(), mode.create_symbolic_nested_int()
    assert str(one.node.hint) != str(other.node.hint)


FACTORY_OUTS = [
    lambda x, out: A.empty_like.out(x, out=out),
    lambda x, out: A.full_like.out(x, 1, out=out),
    lambda x, out: A.ones_like.out(x, out=out),
    lambda x, out: A.rand_like.out(x, out=out),
    lambda x, out: A.randn_like.out(x, out=out),
    lambda x, out: A.zeros_like.out(x, out=out),
    lambda x, out: A.new_empty.out(x, [2], out=out),
    lambda x, out: A.new_empty_strided.out(x, [2], [1], out=out),
    lambda x, out: A.new_full.out(x, [2], 1, out=out),
    lambda x, out: A.new_ones.out(x, [2], out=out),
    lambda x, out: A.new_zeros.out(x, [2], out=out),
]


@pytest.mark.parametrize("call", FACTORY_OUTS)
def test_factories_write_no_fake_tensor(call):
    with FakeTensorMode():
        x, out = dispatch.ones(2), dispatch.empty(2)
        with pytest.raises(RuntimeError, match="no fake tensor"):
            call(x, out)
    out = dispatch.empty(2)
    assert call(dispatch.ones(2), out) is out


def test_overloads_without_a_way_for_fake_tensors_are_type_errors():
    with FakeTensorMode():
        x, out = dispatch.ones(3), dispatch.empty((), dtype=dispatch.int64)
        with pytest.raises(TypeError, match="no fake tensor"):
            A.bucketize.Scalar_out(1, x, out=out)
        with pytest.raises(TypeError, match="no fake tensor"):
            A.resize_as.out(x, x, out=dispatch.empty(3))
        with pytest.raises(RuntimeError, match="no fake tensor"):
            A._grid_sampler_2d_cpu_fallback(
                dispatch.ones(1, 1, 2, 2), dispatch.ones(1, 1, 1, 2), 0, 0, False
            )


@pytest.mark.parametrize("registered", [False, True])
def test_shapes_ask_for_the_device_that_a_fake_tensor_stands_for(library, registered):
    """Also where a program has registered a kernel of its own, and `device` is meta inside."""
    lib = library("aten", "IMPL")
    if registered:
        for name in ("reflection_pad2d", "log_sigmoid_forward", "native_batch_norm"):
            lib.impl(name, lambda *args: None, "PrivateUse1")
    ones = dispatch.ones
    with FakeTensorMode(cache=False):
        x = ones(1, 4, 3, 3, device="cuda").to(memory_format=dispatch.channels_last)
        assert A.reflection_pad2d.default(x, [1, 1, 1, 1]).stride() == (100, 25, 5, 1)
        assert A.log_sigmoid_forward.default(ones(3, device="cuda"))[1].shape == (0,)
        assert A.log_sigmoid_forward.default(ones(3))[1].shape == (3,)
        for device, saved in (("cuda", (3,)), ("cpu", (0,))):
            x, weight = ones(2, 3, device=device), ones(3, device=device)
            found = A.native_batch_norm.default(
                x, weight, weight, weight, weight, False, 0.1, 1e-5
            )
            assert found[1].shape == saved, device
