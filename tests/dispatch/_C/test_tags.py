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


def test_a_tag_is_made_of_its_number():
    made = Tag(int(Tag.pointwise))
    assert made == Tag.pointwise and hash(made) == hash(Tag.pointwise)
    assert (made.name, repr(made)) == ("pointwise", repr(Tag.pointwise))
    assert made != Tag.core and made != int(made)
    with pytest.raises(TypeError):
        Tag("core")


def test_a_number_of_no_tag_has_no_name_and_tags_no_operator():
    strange = Tag(300)
    assert (strange.name, strange.value, str(strange)) == ("???", 300, "Tag.???")
    assert pickle.loads(pickle.dumps(strange)) == strange
    lib = dispatch.Library("test_tags", "FRAGMENT")
    with pytest.raises(TypeError, match="tags"):
        lib.define("strange(Tensor x) -> Tensor", tags=(strange,))
    assert not hasattr(ops.test_tags, "strange")


def test_operators_carry_their_tags():
    assert Tag.inplace_view in ops.aten.transpose_.default.tags
    assert Tag.data_dependent_output in ops.aten._local_scalar_dense.default.tags
    assert Tag.dynamic_output_shape in ops.aten.nonzero.default.tags
    assert all(isinstance(t, dispatch.Tag) for t in ops.aten.add.Tensor.tags)
