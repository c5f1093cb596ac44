"""Taking wrapper subclasses apart, and results that alias as schemas say."""

import pytest

import dispatch
from dispatch import Tensor, modes, ops
from dispatch.pytree import tree_map


class Two(Tensor):
    """Wraps one tensor and corrects the aliasing of results."""

    @staticmethod
    def __new__(cls, inner):
        return Tensor._make_wrapper_subclass(
            cls, inner.size(), strides=inner.stride(), dtype=inner.dtype
        )

    def __init__(self, inner):
        self.inner = inner

    def __tensor_flatten__(self):
        return ["inner"], "context"

    @staticmethod
    def __tensor_unflatten__(parts, context, outer_size, outer_stride):
        assert context == "context"
        return Two(parts["inner"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        plain = tree_map(lambda t: t.inner if isinstance(t, Two) else t, (args, kwargs))
        out = func(*plain[0], **plain[1])
        out = tree_map(lambda t: Two(t) if isinstance(t, Tensor) else t, out)
        return modes.return_and_correct_aliasing(func, args, kwargs, out)


@pytest.fixture
def t():
    return Two(dispatch.arange(6.0).reshape(2, 3))


def test_both_methods_make_a_class_traceable(t):
    flatten, unflatten = Two.__tensor_flatten__, staticmethod(Two.__tensor_unflatten__)
    halves = [{"__tensor_flatten__": flatten}, {"__tensor_unflatten__": unflatten}]
    assert modes.is_traceable_wrapper_subclass(t)
    assert modes.is_traceable_wrapper_subclass_type(Two)
    assert not modes.is_traceable_wrapper_subclass(dispatch.ones(1))
    assert not modes.is_traceable_wrapper_subclass_type(Tensor)
    for half in halves:
        kind = type("Half", (Tensor,), half)
        assert not modes.is_traceable_wrapper_subclass_type(kind)
        assert not modes.is_traceable_wrapper_subclass(dispatch.ones(1).as_subclass(kind))
    no_tensor = type("NoTensor", (), halves[0] | halves[1])
    assert not modes.is_traceable_wrapper_subclass(no_tensor())
    assert not modes.is_traceable_wrapper_subclass_type(no_tensor)
    with pytest.raises(TypeError):
        modes.is_traceable_wrapper_subclass_type(t)


def test_transformed_parts_make_a_new_instance(t):
    seen = []
    u = modes.transform_subclass(t, lambda name, x: seen.append(name) or x * 2)
    assert type(u) is Two
    assert u.inner.tolist() == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]
    assert seen == ["inner"]
    with pytest.raises(AssertionError, match="Two"):
        modes.transform_subclass(t, lambda name, x: x[0])


def test_views_share_the_wrappers_storage(t):
    v = t.view(-1)
    assert v.untyped_storage() is t.untyped_storage()
    assert all(p.untyped_storage() is t.untyped_storage() for p in t.split(1))
    assert (t + 1).untyped_storage() is not t.untyped_storage()


def test_written_arguments_come_back(t):
    out = Two(dispatch.zeros(2, 3))
    assert t.add_(1) is t
    assert dispatch.add(t, 1, out=out) is out
    assert out.inner.tolist() == [[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]


def test_shape_changes_in_place_reach_the_wrapper(t):
    assert t.t_() is t
    assert (t.shape, t.inner.shape) == ((3, 2), (3, 2))


def test_alias_info_of_an_operator():
    info = modes.get_alias_info(ops.aten.split.Tensor)
    assert info.read_only_alias_match_indexes == [(0, 0)]
    assert info.outs_write_aliases is None
    assert modes.get_alias_info(ops.aten.add_.Tensor).outs_write_aliases == ["a"]
    assert modes.get_alias_info(ops.aten.t_.default).is_inplace_view_op


def test_results_of_another_class_are_refused(t):
    with pytest.raises(AssertionError, match="view"):
        modes.return_and_correct_aliasing(ops.aten.view.default, (t, [6]), {}, dispatch.zeros(6))
    with pytest.raises(AssertionError, match="tuple"):
        modes.return_and_correct_aliasing(ops.aten.view.default, [t, [6]], {}, t)


def test_an_instance_of_other_strides_is_refused():
    class Column(Two):
        @staticmethod
        def __tensor_unflatten__(parts, context, outer_size, outer_stride):
            return Two(parts["inner"].t().contiguous().t())

    t = Column(dispatch.arange(6.0).reshape(2, 3))
    with pytest.raises(AssertionError, match="expected stride"):
        modes.transform_subclass(t, lambda _, inner: inner)


def test_the_size_that_was_asked_for_is_that_of_the_new_instance(t):
    made = modes.transform_subclass(t, lambda _, inner: inner.t().contiguous(), (3, 2), (2, 1))
    assert made.shape == (3, 2)
