"""Fresh runs: fallback, registered implementations, what kernels of others see, real tensors."""

import pytest

import dispatch
from dispatch import FakeTensorMode, ops
from dispatch.fake import (
    CrossRefFakeMode,
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


def test_cross_reference_finds_wrong_meta_kernels(library):
    lib = library("fkx", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x.clone(), "CPU")
    lib.impl("f", lambda x: x.new_empty(7), "Meta")
    x = dispatch.ones(2)
    with CrossRefFakeMode():
        assert (x + 1).tolist() == [2.0, 2.0]
        with pytest.raises(MetadataMismatchError, match="shape"):
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
