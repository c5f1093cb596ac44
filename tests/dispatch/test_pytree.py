"""Nests: leaves, structures and paths, as PyTorch's `_pytree` has them."""

import copy
import doctest
import pickle
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import dispatch
from dispatch import pytree
from dispatch.pytree import (
    GetAttrKey,
    LeafSpec,
    MappingKey,
    SequenceKey,
    TreeSpec,
    tree_flatten,
    tree_map,
    tree_map_only,
    tree_structure,
    tree_unflatten,
)

Point = namedtuple("Point", "u v")


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


class Named(Pair):
    pass


pytree.register_pytree_node(Pair, lambda p: ([p.a, p.b], "pair"), lambda c, _: Pair(*c))
pytree.register_pytree_node(
    Named,
    lambda p: ([p.a, p.b], None),
    lambda c, _: Named(*c),
    flatten_with_keys_fn=lambda p: ([(GetAttrKey("a"), p.a), (GetAttrKey("b"), p.b)], None),
)

NESTS = [
    5,
    None,
    (),
    [],
    {"b": [1, 2], "a": (3, None)},
    OrderedDict(z=1, a=[2]),
    defaultdict(list, z=1, y=2),
    deque([1, 2], maxlen=3),
    Point(1, [2]),
]


def test_docstring_examples():
    assert doctest.testmod(pytree).failed == 0


@pytest.mark.parametrize("tree", NESTS, ids=repr)
def test_unflatten_undoes_flatten(tree):
    leaves, spec = tree_flatten(tree)
    built = tree_unflatten(leaves, spec)
    assert built == tree
    assert type(built) is type(tree)
    assert list(built) == list(tree) if isinstance(tree, dict) else True


@pytest.mark.parametrize("tree", NESTS, ids=repr)
def test_a_spec_is_rebuilt_from_its_parts(tree):
    spec = tree_structure(tree)
    assert TreeSpec(spec.type, spec.context, spec.children()) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert copy.deepcopy(spec) == spec
    assert hash(copy.copy(spec)) == hash(spec)


@pytest.mark.parametrize(
    ("tree", "type_", "context", "text"),
    [
        ({"b": 1, "a": 2}, dict, ["b", "a"], "TreeSpec(dict, ['b', 'a'], [*,\n  *])"),
        (deque([1], maxlen=3), deque, 3, "TreeSpec(deque, 3, [*])"),
        (defaultdict(list, z=1), defaultdict, [list, ["z"]], None),
        (Point(1, 2), namedtuple, Point, None),
        (Pair(1, 2), Pair, "pair", "TreeSpec(Pair, pair, [*,\n  *])"),
        (dispatch.Size((1, 2)), dispatch.Size, None, "TreeSpec(Size, None, [*,\n  *])"),
        (None, None, None, "*"),
        ([1, (2,)], list, None, "TreeSpec(list, None, [*,\n  TreeSpec(tuple, None, [*])])"),
        ([(2, 3)], list, None, "TreeSpec(list, None, [TreeSpec(tuple, None, [*,\n    *])])"),
    ],
    ids=str,
)
def test_what_a_spec_tells(tree, type_, context, text):
    spec = tree_structure(tree)
    assert (spec.type, spec.context) == (type_, context)
    assert text is None or repr(spec) == text


def test_counts_of_a_spec():
    spec = tree_structure({"b": [1, 2], "a": (3, None)})
    assert (spec.num_nodes, spec.num_leaves, spec.num_children) == (7, 4, 2)
    assert spec.child(0) == spec.children_specs[0] == tree_structure([0, 0])


def test_a_leaf_is_a_leaf_spec():
    assert isinstance(tree_structure(3), LeafSpec)
    assert not isinstance(tree_structure([3]), LeafSpec)
    assert LeafSpec() == pytree.treespec_leaf() == tree_structure(None)
    assert pytree.treespec_tuple([LeafSpec()]) == tree_structure((1,))
    assert pytree.treespec_dict(a=LeafSpec()) == tree_structure({"a": 1})


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
    with pytest.raises(TypeError, match="map_only"):
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


def test_wrong_leaves_and_specs_are_refused():
    spec = tree_structure((1, 2))
    with pytest.raises(ValueError, match="expected 2 leaves, got 1"):
        tree_unflatten([1], spec)
    with pytest.raises(TypeError, match="TreeSpec"):
        tree_unflatten([1, 2], (1, 2))


@pytest.mark.parametrize("cls", [Pair, list, dispatch.Size])
def test_a_class_is_registered_once(cls):
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(cls, lambda x: ([], None), lambda c, _: None)


def test_an_unknown_class_makes_no_spec():
    with pytest.raises(ValueError, match="register_pytree_node"):
        TreeSpec(set, None, [LeafSpec()])


@pytest.mark.parametrize(
    ("tree", "expected"), [((1, [2]), [1, 1, 2]), (0, [0, 0, 0]), ((0,), None), ([1, 2], None)]
)
def test_broadcasting_to_a_structure(tree, expected):
    assert pytree._broadcast_to_and_flatten(tree, tree_structure(([1, 2], [3]))) == expected
