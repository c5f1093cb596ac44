"""Functional wrappers and their views, one by one: writes, resizes, `set_`."""

from collections.abc import Iterator

import pytest

import dispatch
from dispatch import Tensor, ops
from dispatch.functional import wrappers


@pytest.fixture(autouse=True)
def functionalization() -> Iterator[None]:
    wrappers._enable_functionalization(reapply_views=True)
    yield
    wrappers._disable_functionalization()


def plain(t: Tensor) -> Tensor:
    """The value, up to date."""
    wrappers._sync(t)
    return wrappers._from_functional_tensor(t)


def test_a_view_of_one_of_several_views_is_one_of_several():
    first, _ = dispatch.arange(4.0).split(2)
    assert wrappers._functionalize_is_multi_output_view(first)
    assert wrappers._functionalize_is_multi_output_view(first.view(2, 1))
    assert not wrappers._functionalize_is_multi_output_view(dispatch.ones(4).view(2, 2))


def test_a_write_that_waits_is_that_of_the_view_as_it_was():
    """The view turns round before the base looks."""
    base = dispatch.zeros(6)
    view = base.view(2, 3)
    view.add_(dispatch.arange(6.0).view(2, 3))
    view.t_()
    assert plain(base).tolist() == [0, 1, 2, 3, 4, 5]
    assert plain(view).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_a_view_grows_to_the_end_of_its_storage_and_no_further():
    base = dispatch.arange(4.0)
    assert plain(base[:2].resize_(4)).tolist() == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="resize a view tensor to a larger size"):
        base[:2].resize_(5)


def test_what_set_left_behind_takes_no_writes_and_what_it_took_stays_apart():
    taken, source = dispatch.arange(4.0), dispatch.ones(6).view(2, 3)
    left = taken.view(2, 2)
    taken.set_(source)
    with pytest.raises(RuntimeError, match="cannot mutate tensors with frozen storage"):
        left.add_(1)
    source.t_()
    assert plain(taken).shape == (2, 3) and plain(source).shape == (3, 2)
    taken.add_(1)
    assert plain(source).tolist() == [[2, 2]] * 3


@pytest.mark.parametrize("name", ["swapaxes_", "swapdims_", "transpose_"])
def test_turning_round_in_place_writes_no_data(name: str):
    x = dispatch.zeros(2, 3)
    getattr(x, name)(0, 1)
    assert wrappers._functionalize_has_metadata_mutation(x) and plain(x).shape == (3, 2)
    assert not wrappers._functionalize_has_data_mutation(x)
    x.add_(1)
    assert wrappers._functionalize_has_data_mutation(x)


def test_what_is_given_as_out_is_written():
    out = dispatch.zeros(3)
    assert dispatch.add(dispatch.arange(3.0), 1, out=out) is out
    assert plain(out).tolist() == [1, 2, 3]
    assert ops.aten.ones.out([3], out=out[:3]).shape == (3,)
    assert plain(out).tolist() == [1, 1, 1]


def test_set_tells_the_new_size_and_that_it_happened():
    taken, source = dispatch.ones(2), dispatch.ones(6)
    assert not wrappers._functionalize_was_storage_changed(taken)
    taken.set_(source)
    assert wrappers._functionalize_was_storage_changed(taken)
    assert wrappers._functionalize_storage_changed_counter(taken) == 1
    assert not wrappers._functionalize_was_storage_changed(source)
    assert wrappers._functionalize_get_storage_size(taken, before=False) == 24


def test_resize_tells_the_new_size_of_the_storage():
    t = dispatch.ones(2)
    t.resize_(6)
    sizes = [wrappers._functionalize_get_storage_size(t, before) for before in (True, False)]
    assert sizes == [24, 24]


def test_a_list_of_wrappers_and_others_is_not_written():
    wrapped = dispatch.ones(2)
    wrappers._disable_functionalization()
    other = dispatch.ones(2)
    wrappers._enable_functionalization(reapply_views=True)
    with pytest.raises(RuntimeError, match="mutating a non-functional tensor"):
        ops.aten._foreach_add_([wrapped, other], 1)
    assert plain(wrapped).tolist() == other.tolist() == [1, 1]


def test_a_smaller_size_shows_the_first_elements_row_by_row():
    t = dispatch.arange(6.0)
    t.resize_(2, 2)
    assert plain(t).tolist() == [[0, 1], [2, 3]]
    t.resize_(2, 0, 2)
    assert (plain(t).shape, plain(t).stride()) == ((2, 0, 2), (2, 2, 1))
