"""`auto_functionalized_v2`: written arguments made again as views of clones of their bases."""

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, Tag, library, ops

NAMESPACE = "auto_functionalize_tests"


@pytest.fixture
def own():
    lib = library.Library(NAMESPACE, "FRAGMENT")
    lib.define("all(Tensor(a!) x, Tensor(b!)[]? ys, Tensor(c!)? z, Tensor w) -> Tensor")
    lib.define("one(Tensor(a!) x) -> ()")
    lib.define("double.out(Tensor w, *, Tensor(a!) out) -> Tensor(a!)", tags=(Tag.out,))

    def write_all(x, ys, z, w):
        x.add_(w)
        for y in ys or ():
            if y is not None:
                y.mul_(2)
        if z is not None:
            z.zero_()
        return w + 1

    def double(w, *, out):
        return out.copy_(w * 2)

    def add_one(x):
        x.add_(1)

    for name, kernel in (("all", write_all), ("one", add_one), ("double.out", double)):
        lib.impl(name, kernel, "CompositeExplicitAutograd")
    yield getattr(ops, NAMESPACE)
    lib._destroy()


def call(op, **kwargs):
    return ops.higher_order.auto_functionalized_v2(op, **kwargs)


def test_views_of_new_bases_are_written(own):
    """A slice, a whole, a view by strides, one that is None; the bases themselves stay."""
    first, second, w = dispatch.zeros(4), dispatch.ones(2, 3), dispatch.full((2,), 5.0)
    found = call(
        own.all.default, w=w, _all_bases=[first, second], _x_base_index=0, _x_slice_dim=0,
        _x_slice_start=1, _x_slice_end=3, _ys_length=2, _ys_0_base_index=1, _ys_0_alias=True,
        _ys_1_base_index=1, _ys_1_size=[2], _ys_1_stride=[3], _ys_1_storage_offset=1,
        _z_base_index=None,
    )  # fmt: skip
    assert [t.tolist() for t in found] == [[6, 6], [0, 5, 5, 0], [[2, 4, 2], [2, 4, 2]]]
    assert (first.tolist(), second.tolist()) == ([0] * 4, [[1] * 3] * 2)
    whole = call(
        own.all.default, w=w, _all_bases=[w], _x_base_index=0, _ys_length=None, _z_base_index=0
    )
    assert (w.tolist(), whole[1].tolist()) == ([5, 5], [0, 0])


def test_a_base_may_be_written_itself(own):
    x = dispatch.zeros(2)
    result, base = call(own.one.default, _x_base_index=0, _all_bases=[x])
    assert result is None and base is not x and (x.tolist(), base.tolist()) == ([0, 0], [1, 1])
    _, base = call(own.one.default, _x_base_index=0, _all_bases=[x], _only_clone_these_bases=())
    assert base is x and x.tolist() == [1, 1]


def test_out_arguments_are_made_anew(own):
    device = dispatch.device("cpu")
    found = call(
        own.double.out, w=dispatch.ones(2), _all_bases=[], _out_size=[2], _out_stride=[1],
        _out_dtype=dispatch.float32, _out_device=device,
    )  # fmt: skip
    assert found.tolist() == [2, 2]


def test_fake_tensors_and_refusals(own):
    with FakeTensorMode():
        _, base = call(own.one.default, _x_base_index=0, _all_bases=[dispatch.ones(3)])
        assert type(base) is FakeTensor and base.shape == (3,)
    with pytest.raises(AssertionError, match="cannot be functionalized"):
        call(ops.aten.sin_.default, _self_base_index=0, _all_bases=[dispatch.ones(1)])
