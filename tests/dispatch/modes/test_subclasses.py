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


# the operator; arguments with an alias set, those written with !; results likewise; whether
# metadata changes in place; what results are written arguments; which arguments are viewed by which
ALIASES = [
    ("add.Tensor", "", "-", False, None, []),
    ("add_.Tensor", "self!a", "!a", False, ["a"], []),
    ("add.out", "out!a", "!a", False, ["a"], []),
    ("frexp.Tensor_out", "mantissa!a exponent!b", "mantissa!a exponent!b", False, ["a", "b"], []),
    ("t_.default", "self!a", "!a", True, ["a"], []),
    ("view.default", "self:a", ":a", False, None, [(0, 0)]),
    ("split.Tensor", "self:a", ":a", False, None, [(0, 0)]),
    ("contiguous.default", "self:a", ":a", False, None, [(0, 0)]),
    ("_foreach_add_.Scalar", "self!a", "", False, None, []),
    ("split_copy.Tensor_out", "out!a", "", False, None, []),
    ("_native_batch_norm_legit.default", "running_mean!a running_var!b", "- - -", False, None, []),
    ("native_batch_norm.default", "", "- - -", False, None, []),
]


def short(info):
    sign = "!" if info.is_write else ":"
    return f"{info.name or ''}{sign}{''.join(info.alias_set)}" if info.alias_set else "-"


@pytest.mark.parametrize("row", ALIASES, ids=lambda row: row[0])
def test_what_schemas_say_of_aliases(row):
    name, overload = row[0].split(".")
    info = modes.get_alias_info(getattr(getattr(ops.aten, name), overload))
    args = " ".join(short(a) for a in info.args if a.alias_set)
    assert (args, " ".join(map(short, info.outs)), info.is_inplace_view_op) == row[1:4]
    assert (info.outs_write_aliases, info.read_only_alias_match_indexes) == row[4:]


def test_aliases_of_several_results(library):
    lib = library("mal", "DEF")
    lib.define("second(Tensor(a!) x, Tensor(b) y) -> Tensor(b)")
    assert modes.get_alias_info(ops.mal.second.default).read_only_alias_match_indexes == [(1, 0)]
    lib.define("some(Tensor(a!) x) -> (Tensor(a!), Tensor)")
    with pytest.raises(RuntimeError, match="only some results"):
        modes.get_alias_info(ops.mal.some.default)
    lib.define("both(Tensor(a!) x, *, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))")
    x, y = Two(dispatch.ones(2)), Two(dispatch.ones(2))
    both = ops.mal.both.default
    for args, kwargs in (((x,), {"y": y}), ((), {"x": x, "y": y})):
        got = modes.return_and_correct_aliasing(both, args, kwargs, (Two(dispatch.ones(2)),) * 2)
        assert type(got) is tuple and got[0] is x and got[1] is y


def test_results_of_another_class_are_refused(t):
    with pytest.raises(AssertionError, match="view"):
        modes.return_and_correct_aliasing(ops.aten.view.default, (t, [6]), {}, dispatch.zeros(6))
    with pytest.raises(AssertionError, match="tuple"):
        modes.return_and_correct_aliasing(ops.aten.view.default, [t, [6]], {}, t)
    split = ops.aten.split.Tensor
    with pytest.raises(AssertionError, match="result must be one too"):
        modes.return_and_correct_aliasing(split, (t, 1), {}, [dispatch.zeros(1, 3)] * 2)
    plain, view = dispatch.zeros(2, 3), ops.aten.view.default
    with pytest.raises(AssertionError, match="result must be one too"):
        modes.return_and_correct_aliasing(view, (plain, [6]), {}, Two(dispatch.zeros(6)))
    info = modes.get_alias_info(split)
    for wrong in ({1: t}, t):
        with pytest.raises(AssertionError, match="list or tuple"):
            modes._correct_storage_aliasing(split, info, (t, 1), wrong)


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
