"""Tags: members, names, identity."""

import copy
import pickle

import pytest

import dispatch
from dispatch import Tag, ops


def test_members_are_singletons_with_names():
    assert Tag.core.name == "core"
    assert str(Tag.core) == "Tag.core"
    assert repr(Tag.core).startswith("<Tag.core: ")
    assert Tag.__members__["core"] is Tag.core
    assert len({int(t) for t in Tag.__members__.values()}) == len(Tag.__members__)


def test_tags_survive_copying_and_pickling():
    assert pickle.loads(pickle.dumps(Tag.pointwise)) is Tag.pointwise
    assert copy.deepcopy(Tag.pointwise) is Tag.pointwise
    assert {Tag.core: 1}[Tag.core] == 1
    assert Tag.core != Tag.pointwise


def test_tags_cannot_be_made():
    with pytest.raises(TypeError):
        Tag(3)


def test_operators_carry_their_tags():
    assert Tag.inplace_view in ops.aten.transpose_.default.tags
    assert Tag.data_dependent_output in ops.aten._local_scalar_dense.default.tags
    assert Tag.dynamic_output_shape in ops.aten.nonzero.default.tags
    assert all(isinstance(t, dispatch.Tag) for t in ops.aten.add.Tensor.tags)
