"""Fresh runs, rule by rule: what is written, who is asked, whose device counts."""

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, ops
from dispatch.fake import _deregister_op_impl, register_op_impl

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


@pytest.fixture
def mode():
    return FakeTensorMode(cache=False)


@pytest.mark.parametrize("allowed", [False, True])
def test_a_real_tensor_is_not_reshaped_in_place(allowed):
    real = dispatch.ones(3)
    with FakeTensorMode(allow_non_fake_inputs=allowed):
        for call in (lambda: A.unsqueeze_(real, 0), lambda: A.t_(real)):
            with pytest.raises(AssertionError, match="metadata"):
                call()
        assert A.neg(dispatch.ones(3)).shape == (3,)
    assert real.shape == (3,)


def test_a_refused_write_writes_nothing(mode):
    real = dispatch.ones(3)
    with mode, pytest.raises(AssertionError, match="add_"):
        A.add_(real, 1)
    assert real.tolist() == [1.0, 1.0, 1.0]


def test_numbers_are_known_beside_numbers(mode):
    with mode:
        three = dispatch.tensor(3.0)
        assert [(three + 2).item(), (2 * three).item(), (three - 1.5).item()] == [5.0, 6.0, 1.5]
        assert [dispatch.rsub(three, 2).item(), three.mul_(2).item()] == [-1.0, 6.0]


def test_a_mask_leaves_out_as_it_is(mode):
    with mode:
        out = dispatch.ones(7)
        mask = dispatch.ones(4, dtype=dispatch.bool)
        assert A.index.Tensor_out(dispatch.ones(4), [mask], out=out) is out
    assert out.shape == (7,)


@pytest.mark.parametrize("name", ["index_put", "index_put_"])
def test_values_are_put_from_their_own_device_unless_they_are_one_number(mode, name):
    with mode:
        x, at = dispatch.ones(3, device="cuda:0"), [dispatch.empty(1, dtype=dispatch.int64)]
        put = getattr(A, name)
        for device in ("cuda:1", "cpu"):
            with pytest.raises(RuntimeError, match=f"{name}.*{device}"):
                put(x, at, dispatch.ones(1, device=device))
            assert str(put(x, at, dispatch.ones((), device=device)).device) == "cuda:0"
        assert put(x, at, dispatch.ones(1, device="cuda:0")).shape == (3,)


def test_the_device_of_a_fake_tensor_can_be_asked_by_an_operator(mode):
    with mode:
        x = dispatch.ones(3, device="cuda:1")
        assert ops.prim.device.default(x) == x.device == dispatch.device("cuda:1")


def test_subclasses_of_fake_tensors_are_fake_tensors(mode):
    class Mine(FakeTensor):
        pass

    mine = Mine(mode, dispatch.empty(2, device="meta"), dispatch.device("cpu"))
    assert type(A.add.Tensor(mine, mode.from_tensor(dispatch.ones(2)))) is FakeTensor
    assert type(A.stack.default([mine, mine])) is FakeTensor


def test_a_decomposition_in_python_serves_fake_tensors(mode, library):
    library("fresh", "DEF").define("f(Tensor x) -> Tensor")
    decompose = ops.fresh.f.default.py_impl(dispatch.DispatchKey.CompositeImplicitAutograd)
    decompose(lambda x: dispatch.cat([x, x]))
    with mode:
        found = ops.fresh.f(dispatch.ones(2))
    assert type(found) is FakeTensor and found.shape == (4,)


def test_a_meta_kernel_may_return_a_view_or_what_is_no_tensor(mode, library):
    lib = library("fresh", "DEF")
    lib.define("view(Tensor(a) x) -> Tensor(a)")
    lib.define("two(Tensor x) -> (Tensor, int)")
    lib.define("list(Tensor x) -> Tensor[]")
    lib.impl("view", lambda x: x.view(-1), "Meta")
    lib.impl("two", lambda x: (x.new_empty(3), 5), "Meta")
    lib.impl("list", lambda x: [x.new_empty(3), x.new_empty(4)], "Meta")
    with mode:
        x = dispatch.ones(2, 3, device="cuda")
        view, (made, number), listed = ops.fresh.view(x), ops.fresh.two(x), ops.fresh.list(x)
    assert view.shape == (6,) and view.untyped_storage() is x.untyped_storage()
    assert (made.shape, number) == ((3,), 5) and [t.shape for t in listed] == [(3,), (4,)]
    assert type(listed) is list
    assert {str(t.device) for t in (view, made, *listed)} == {"cuda:0"}


def test_an_implementation_must_return_what_the_schema_says(mode):
    register_op_impl(A.relu.default)(lambda fake_mode, func, x: "text")
    try:
        with mode, pytest.raises(RuntimeError, match="aten::relu"):
            A.relu.default(dispatch.ones(2))
    finally:
        _deregister_op_impl(A.relu.default)


def test_another_storage_of_the_same_size_is_taken_each_time():
    with FakeTensorMode():
        for _ in range(3):
            x, source = dispatch.ones(2), dispatch.ones(2)
            x.set_(source)
            assert x.untyped_storage() is source.untyped_storage()
