"""Registration: classes, dataclasses, constants, and what is refused."""

import warnings
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

import dispatch
from dispatch import pytree
from dispatch.pytree import keystr, tree_flatten, tree_unflatten
from tests.dispatch.pytree.nests import Pair


@dataclass
class Data:
    x: Any
    y: Any = None


@dataclass(frozen=True)
class Constant:
    name: str


@pytest.fixture
def registered():
    """Whatever a test registers is gone after it."""
    before = set(pytree.SUPPORTED_NODES)
    yield
    for cls in set(pytree.SUPPORTED_NODES) - before:
        pytree._deregister_pytree_node(cls)


@pytest.mark.parametrize("cls", [Pair, list, dispatch.Size, namedtuple])
def test_a_class_is_registered_once(cls):
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(cls, lambda x: ([], None), lambda c, _: None)


def test_a_refused_registration_leaves_nothing_behind():
    with pytest.raises(ValueError, match="Both to_dumpable_context and from_dumpable_context"):
        pytree.register_pytree_node(
            Data, lambda d: ([], None), lambda c, _: None, to_dumpable_context=str
        )
    assert Data not in pytree.SUPPORTED_NODES


@pytest.mark.usefixtures("registered")
def test_the_older_name_replaces_with_warnings():
    both = (lambda d: ([d.x], None)), (lambda c, _: Data(*c))
    with pytest.warns(FutureWarning, match=r"torch.utils._pytree._register_pytree_node"):
        pytree._register_pytree_node(Data, *both)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        pytree._register_pytree_node(Data, *both, str, str)
    assert [w.category for w in seen] == [FutureWarning, FutureWarning, UserWarning]
    assert {w.filename for w in seen} == {__file__}
    assert "Overwriting the previous registration" in str(seen[2].message)


def test_deregistering_what_is_not_there():
    with pytest.raises(KeyError):
        pytree._deregister_pytree_node(Data)


@pytest.mark.usefixtures("registered")
def test_classes_without_a_name_deregister_one_after_the_other():
    for cls in (Data, Constant):
        pytree.register_pytree_node(cls, lambda d: ([], None), lambda c, _: None)
    for cls in (Data, Constant):
        pytree._deregister_pytree_node(cls)
        assert pytree.tree_is_leaf(cls(1))


@pytest.mark.usefixtures("registered")
def test_a_dataclass_is_a_node_of_the_fields_that_are_not_none():
    pytree.register_dataclass(Data)
    leaves, spec = tree_flatten(Data([1, 2]))
    assert (leaves, spec.context) == ([1, 2], [["x"], ["y"]])
    assert tree_unflatten([3, 4], spec) == Data([3, 4])
    assert [keystr(path) for path, _ in pytree.tree_leaves_with_path(Data(1, 2))] == [".x", ".y"]


@pytest.mark.parametrize(
    ("cls", "given", "words"),
    [
        (Data, {"field_names": ["x"]}, "Missing fields in `field_names`: {'y'}"),
        (Data, {"field_names": ["x", "y", "z"]}, "Unexpected fields in `field_names`: {'z'}"),
        (Data, {"field_names": ["x", "y"], "drop_field_names": ["y"]}, "Unexpected .*'y'"),
        (Pair, {}, "field_names must be specified"),
    ],
)
def test_fields_that_do_not_fit(cls, given, words):
    with pytest.raises(ValueError, match=words):
        pytree.register_dataclass(cls, **given)


@pytest.mark.usefixtures("registered")
def test_a_constant_is_part_of_the_structure():
    pytree.register_constant(Constant)
    leaves, spec = tree_flatten([1, Constant("a")])
    assert leaves == [1]
    assert tree_unflatten([2], spec) == [2, Constant("a")]
    assert spec != pytree.tree_structure([1, Constant("b")])
    assert hash(spec) == hash(pytree.tree_structure([0, Constant("a")]))
    assert pytree._retrieve_constant(spec.child(1)) == Constant("a")
    assert pytree.is_constant_class(Constant)
    pytree._deregister_pytree_node(Constant)
    assert not pytree.is_constant_class(Constant)


class NoHash:
    def __eq__(self, other):
        return True

    __hash__ = None


@pytest.mark.parametrize(("cls", "method"), [(Pair, "__eq__"), (NoHash, "__hash__")])
def test_a_constant_is_compared_and_hashed(cls, method):
    with pytest.raises(TypeError, match=f"non-default `{method}`"):
        pytree.register_constant(cls)
    assert not pytree.is_constant_class(cls)
