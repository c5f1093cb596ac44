"""Functions over nests: leaves, maps, questions and paths."""

import doctest

import pytest

from dispatch import pytree
from dispatch.pytree import (
    GetAttrKey,
    MappingKey,
    SequenceKey,
    keys,
    spec,
    text,
    tree_map,
    tree_map_only,
)
from tests.dispatch.pytree.nests import NESTS, Named, Pair, Point


@pytest.mark.parametrize("module", [keys, spec, text], ids=lambda m: m.__name__)
def test_docstring_examples(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("tree", NESTS, ids=repr)
def test_unflatten_undoes_flatten(tree):
    leaves, spec = pytree.tree_flatten(tree)
    built = pytree.tree_unflatten(leaves, spec)
    assert built == tree
    assert type(built) is type(tree)
    assert list(built) == list(tree) if isinstance(tree, dict) else True


def test_a_subclass_that_nobody_registered_is_a_leaf():
    class Mine(list):
        pass

    assert pytree.tree_is_leaf(Mine([1]))
    assert not pytree.tree_is_leaf([1])


def test_map_over_several_nests():
    total = tree_map(lambda a, b: a + b, {"x": 1, "y": [2]}, {"y": [3], "x": 4})
    assert total == {"x": 5, "y": [5]}
    assert tree_map(lambda a, b: [a, b], (1, 2), ([3], {})) == ([1, [3]], [2, {}])


@pytest.mark.parametrize("other", [(1,), [1, 2], 3], ids=repr)
def test_map_refuses_another_structure(other):
    with pytest.raises(ValueError):
        tree_map(lambda a, b: a, (1, 2), other)


def test_map_in_place_returns_the_nest_itself():
    tree, seen = [1, {"a": 2}], []
    assert pytree.tree_map_(seen.append, tree) is tree
    assert pytree.tree_map_only_(int, seen.append, tree) is tree
    assert seen == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (int, [2, "a", 2, 2.0]),
        ((int, str), [2, "aa", 2, 2.0]),
        (int | float, [2, "a", 2, 4.0]),
        (lambda x: x == "a", [1, "aa", True, 2.0]),
    ],
    ids=str,
)
def test_map_only(which, expected):
    assert tree_map_only(which, lambda x: x * 2, [1, "a", True, 2.0]) == expected


def test_map_only_refuses_what_is_no_type():
    with pytest.raises(TypeError, match="a type, a tuple of types, or a callable"):
        tree_map_only(3, lambda x: x, [1])


def test_questions():
    tree = [1, {"a": -2, "b": "x"}]
    assert pytree.tree_any(lambda x: x == "x", tree)
    assert not pytree.tree_all(lambda x: x == "x", tree)
    assert pytree.tree_any_only(int, lambda x: x < 0, tree)
    assert not pytree.tree_all_only(int, lambda x: x < 0, tree)


def test_leaves_of_a_call():
    assert pytree.arg_tree_leaves(1, [2], a=3) == [1, 2, 3]
    assert list(pytree.tree_iter((1, [2]))) == pytree.tree_leaves((1, [2])) == [1, 2]
    assert pytree.tree_leaves([1, [2]], is_leaf=lambda x: x == [2]) == [1, [2]]


def test_paths():
    tree = {"a": [1, Point(2, 3)], "n": Named(4, 5)}
    pairs, spec = pytree.tree_flatten_with_path(tree)
    assert pairs[1] == ((MappingKey("a"), SequenceKey(1), GetAttrKey("u")), 2)
    texts = [pytree.keystr(path) for path, _ in pairs]
    assert texts == ["['a'][0]", "['a'][1].u", "['a'][1].v", "['n'].a", "['n'].b"]
    assert [pytree.key_get(tree, path) for path, _ in pairs] == [1, 2, 3, 4, 5]
    assert pytree.tree_leaves_with_path(tree) == pairs
    assert spec.num_leaves == 5


def test_paths_need_keys():
    with pytest.raises(ValueError, match="flatten_with_keys_fn"):
        pytree.tree_flatten_with_path(Pair(1, 2))


def test_map_with_path():
    got = pytree.tree_map_with_path(lambda p, a, b: (pytree.keystr(p), a + b), [1, 2], [3, 4])
    assert got == [("[0]", 4), ("[1]", 6)]


@pytest.mark.parametrize(
    ("tree", "expected"), [((1, [2]), [1, 1, 2]), (0, [0, 0, 0]), ((0,), None), ([1, 2], None)]
)
def test_broadcasting_to_a_structure(tree, expected):
    assert pytree._broadcast_to_and_flatten(tree, pytree.tree_structure(([1, 2], [3]))) == expected


def test_a_nest_is_taken_apart_as_far_as_it_is_asked_for():
    reached = []

    class Lazy(Pair):
        pass

    def flatten(lazy):
        reached.append(lazy.a)
        return [lazy.b], None

    pytree.register_pytree_node(Lazy, flatten, lambda c, _: Lazy(0, *c))
    try:
        assert next(pytree.tree_iter([Lazy(1, "first"), Lazy(2, "second")])) == "first"
        assert reached == [1]
    finally:
        pytree._deregister_pytree_node(Lazy)


def test_what_is_asked_to_be_a_leaf_is_one_at_any_depth():
    tree = {"a": [1, (2, 3)], "b": (4, [5])}
    found = [1, (2, 3), (4, [5])]
    assert list(pytree.tree_iter(tree, lambda x: isinstance(x, tuple))) == found
    pairs = pytree.tree_leaves_with_path(tree, lambda x: isinstance(x, tuple))
    assert [leaf for _, leaf in pairs] == found


def test_questions_of_some_types_leave_the_others_out():
    tree = [1, {"a": "text", "b": 3}]
    assert pytree.tree_any_only(int, lambda x: x > 2, tree)
    assert not pytree.tree_any_only(int, lambda x: x > 5, tree)
    assert pytree.tree_all_only(int, lambda x: x > 0, tree)
    assert not pytree.tree_all_only(int, lambda x: x > 1, tree)
