"""Fake tensors whose values are known: what gives one, keeps it, and takes it away."""

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, ops
from dispatch.fake import DataDependentOutputException
from dispatch.modes import _disable_current_modes
from dispatch.symbolic import ShapeEnv

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten
tensor, ones = dispatch.tensor, dispatch.ones


@pytest.fixture(autouse=True)
def mode():
    with FakeTensorMode() as mode:
        yield mode


def known(t):
    """The number that a fake tensor stands for, None when nobody knows it."""
    assert type(t) is FakeTensor
    if t.constant is None:
        with pytest.raises(DataDependentOutputException):
            t.item()
        return None
    return t.item()


@pytest.mark.parametrize(
    "made, number",
    [
        (lambda: tensor(3.0), 3.0),
        (lambda: tensor([[1]]), 1),
        (lambda: tensor(True), True),
        (lambda: tensor(2 + 3j), 2 + 3j),
        (lambda: tensor(3.0).clone(), 3.0),
        (lambda: tensor(3.7).to(dispatch.int64), 3),
        (lambda: tensor([3.0]).expand(1, 1), 3.0),
        (lambda: dispatch.ones_like(tensor(3.0)), 1.0),
        (lambda: dispatch.cat([tensor([3.0])]), 3.0),
        (lambda: dispatch.add(tensor(1.0), tensor(2.0), alpha=4), 9.0),
        (lambda: dispatch.add(tensor(1.0), tensor(2.0), out=tensor(0.0)), 3.0),
        (lambda: A.index(tensor([[3.0]]), [None, tensor([0])]), 3.0),
        (lambda: A.index(tensor([[3.0]]), [tensor([0]), None]), 3.0),
        (lambda: A.index_put(tensor([[3.0]]), [None, tensor([0])], tensor(5.0)), 5.0),
        (lambda: A.add(2, 3), 5),
        (lambda: A.mul(2.0, 3), 6.0),
        (lambda: A.add(2, 3, alpha=2), 8),
        (lambda: ones(()), None),
        (lambda: dispatch.scalar_tensor(3), None),
        (lambda: tensor(0.5).bernoulli(), None),
        (lambda: dispatch.rand_like(tensor(3.0)), None),
        (lambda: tensor(3.0) + ones(()), None),
        (lambda: ones(()) + tensor(3.0), None),
        (lambda: dispatch.cat([tensor([3.0]), ones(0)]), None),
        (lambda: dispatch.add(tensor(1.0), tensor(2.0), out=ones(())), None),
    ],
)
def test_numbers_that_follow_from_numbers_are_known(made, number):
    found = known(made())
    assert found == number and type(found) is type(number)


def test_tensors_of_two_elements_or_on_meta_have_no_known_number():
    assert tensor([1.0, 2.0]).constant is None
    assert dispatch.stack([tensor(3.0), tensor(4.0)]).constant is None
    assert tensor([]).constant.shape == (0,)
    on_meta = dispatch.empty((), device="meta")
    assert getattr(A.lift_fresh(on_meta), "constant", None) is None


def test_several_outputs_are_known_in_the_type_of_the_schema():
    parts = tensor([3.0]).unbind()
    assert type(parts) is tuple and [known(t) for t in parts] == [3.0]
    assert [known(t) for t in dispatch.max(tensor([3.0]), 0)] == [3.0, 0]
    assert tensor(3.0).equal(tensor(3.0)) and not tensor(3.0).equal(tensor(4.0))


def test_what_is_written_with_a_number_is_known_in_all_views():
    x = tensor([3.0])
    view = x.view(())
    for write, number in ((lambda: x.add_(1), 4.0), (lambda: view.zero_(), 0.0)):
        assert known(write()) == number
        assert known(x) == known(view) == number
    dispatch._foreach_add_([x, tensor([4.0])], 5)
    assert known(x) == 5.0


def test_a_write_of_unknown_values_is_noticed_in_all_views_and_nowhere_else():
    x, other = tensor(3.0), tensor(3.0)
    view = x.view(1)
    x.add_(ones(()))
    assert [known(t) for t in (x, view, other)] == [None, None, 3.0]


def test_a_list_that_is_written_is_not_known_any_more():
    x, other = tensor([3.0]), ones(1)
    view = x.view(())
    dispatch._foreach_add_([other, x], 1)
    assert known(x) is known(view) is None


def test_operators_of_others_write_too(library):
    lib = library("fkwrite", "DEF")
    lib.define("f(Tensor(a!) x, Tensor y) -> ()")
    lib.impl("f", lambda x, y: None, "Meta")
    x, other = tensor(3.0), tensor(4.0)
    view = x.view(1)
    ops.fkwrite.f(x, ones(()))
    assert [known(t) for t in (x, view, other)] == [None, None, 4.0]


def test_a_view_of_many_elements_may_write_what_nobody_follows():
    x, other = tensor([3.0]), tensor([3.0])
    assert x.expand(3).constant is None
    assert known(x) is None and known(other) == 3.0


def test_sizes_in_place_take_the_number_away_and_detaching_does_not():
    x, y = tensor(3.0), tensor(3.0)
    assert known(x.unsqueeze_(0)) is None and x.shape == (1,)
    assert known(y.detach_()) == 3.0


def test_real_tensors_of_one_element_are_copied_and_longer_ones_made_fake():
    with _disable_current_modes():
        one, three = ones(()), ones(3)
    assert known(A.lift_fresh(one)) == known(A.lift_fresh_copy(one)) == 1.0
    assert known(A.add(one, 1)) == 2.0
    fake = A.lift_fresh(three)
    assert fake is A.lift_fresh(three) and fake.constant is None
    copied = A.lift_fresh(one)
    with _disable_current_modes():
        one.zero_()
    assert known(copied) == 1.0


def test_numbers_that_are_symbols_give_no_constant():
    env = ShapeEnv()
    with _disable_current_modes():
        five = ones(5)
    with FakeTensorMode(shape_env=env) as symbolic:
        size = symbolic.from_tensor(five).shape[0]
        assert isinstance(size, dispatch.SymInt)
        found = [A.add(size, 1), A.mul(size, 2.5), A.mul(size > 2, True), A.add(1, 2, alpha=size)]
        assert [str(t.dtype)[9:] for t in found] == ["int64", "float32", "bool", "int64"]
        assert [t.constant for t in found] == [None] * 4
        assert A.add(1.0, 1).item() == 2.0
    assert not env.guards


@pytest.mark.parametrize("other", ["core", "pointwise"])
@pytest.mark.parametrize("place", [0, 1])
def test_each_tag_of_an_operator_of_others_counts(library, other, place):
    tags = [getattr(dispatch.Tag, other)]
    lib = library("fktags", "DEF")
    lib.define("f(Tensor x) -> Tensor", tags=tags)
    tags.insert(place, dispatch.Tag.nondeterministic_seeded)
    lib.define("g(Tensor x) -> Tensor", tags=tags)
    for name in "fg":
        lib.impl(name, lambda x: x + 1, "CPU")
        lib.impl(name, lambda x: x.new_empty(()), "Meta")
    assert [known(op(tensor(3.0))) for op in (ops.fktags.f, ops.fktags.g)] == [4.0, None]
