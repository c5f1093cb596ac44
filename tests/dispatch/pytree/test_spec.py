"""Structures: what they tell, that they do not change, and what they refuse."""

import copy
import gc
import pickle
import weakref
from collections import defaultdict, deque, namedtuple

import pytest

import dispatch
from dispatch import pytree
from dispatch.pytree import LeafSpec, TreeSpec, tree_structure, tree_unflatten
from tests.dispatch.pytree.nests import NESTS, Pair, Point


@pytest.mark.parametrize("tree", NESTS, ids=repr)
def test_a_spec_is_rebuilt_from_its_parts(tree):
    spec = tree_structure(tree)
    by_hand = TreeSpec(spec.type, spec.context, spec.children())
    assert (by_hand == spec) == (spec.type is not None)
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
    assert spec.child(0) == spec.children()[0] == tree_structure([0, 0])


def test_a_leaf_is_a_leaf_spec():
    assert isinstance(tree_structure(3), LeafSpec)
    assert not isinstance(tree_structure([3]), LeafSpec)
    assert pytree.treespec_leaf() == tree_structure(None) == tree_structure(0)
    assert pytree.treespec_tuple([pytree.treespec_leaf()]) == tree_structure((1,))
    assert pytree.treespec_dict(a=pytree.treespec_leaf()) == tree_structure({"a": 1})


def test_wrong_leaves_and_specs_are_refused():
    spec = tree_structure((1, 2))
    with pytest.raises(ValueError, match=r"has length 1 but the spec refers to .* holds 2"):
        tree_unflatten([1], spec)
    with pytest.raises(TypeError, match="TreeSpec"):
        tree_unflatten([1, 2], (1, 2))


@pytest.mark.parametrize("name", ["type", "num_leaves", "_children", "other"])
def test_a_spec_cannot_be_changed(name):
    spec = tree_structure([1])
    with pytest.raises(AttributeError):
        setattr(spec, name, None)
    assert spec == tree_structure([1])


def test_children_are_given_as_a_list_of_ones_own():
    spec = tree_structure([1, 2])
    spec.children().clear()
    assert spec.num_children == len(spec.children()) == 2


def test_a_class_that_nobody_registered_is_not_built():
    spec = TreeSpec(set, None, [pytree.treespec_leaf()])
    with pytest.raises(ValueError, match="set'> is not registered"):
        spec.unflatten([1])


def test_old_names_warn():
    with pytest.warns(FutureWarning, match="treespec.is_leaf"):
        assert LeafSpec() == pytree.treespec_leaf()
    with pytest.warns(FutureWarning, match="children"):
        assert tree_structure([1]).children_specs == [pytree.treespec_leaf()]


@pytest.mark.parametrize("call", [pytree.tree_flatten, pytree.tree_leaves, tree_structure])
def test_a_nest_too_deep_is_a_recursion_error(call):
    deep = own = []
    for _ in range(100_000):
        deep = [deep]
    own.append(own)
    for nest in (deep, own):
        with pytest.raises(RecursionError):
            call(nest)
    own.clear()


def deep_spec():
    spec = pytree.treespec_leaf()
    for _ in range(100_000):
        spec = pytree.treespec_tuple([spec])
    return spec


CALLS = {
    "repr": repr,
    "hash": hash,
    "unflatten": lambda spec: spec.unflatten([1]),
    "==": lambda spec: spec == deep_spec(),
    "dumps": pytree.treespec_dumps,
}


@pytest.mark.parametrize("name", CALLS)
def test_a_spec_too_deep_is_a_recursion_error(name):
    with pytest.raises(RecursionError):
        CALLS[name](deep_spec())


def test_specs_and_contexts_in_a_cycle_are_collected():
    class Context:
        pass

    context = Context()
    spec = TreeSpec(list, context, [])
    context.spec, seen = spec, weakref.ref(context)
    del spec, context
    gc.collect()
    assert seen() is None


@pytest.mark.parametrize(
    ("tree", "other", "words"),
    [
        ((1,), [1], "Node type mismatch; expected <class 'tuple'>, but got <class 'list'>"),
        ([1], [1, 2], "Node arity mismatch; expected 1, but got 2"),
        ({"a": 1}, {"b": 1}, "Node keys mismatch; missing key.s.: {'a'}; extra key.s.: {'b'}"),
        (Pair(1, 2), 3, "Node type mismatch"),
        (Point(1, 2), namedtuple("Q", "u v")(1, 2), "Node context mismatch"),
    ],
    ids=str,
)
def test_a_mismatch_is_told(tree, other, words):
    with pytest.raises(ValueError, match=words):
        tree_structure(tree).flatten_up_to(other)


def test_a_flatten_function_gives_two_values():
    class Odd:
        pass

    pytree.register_pytree_node(Odd, lambda x: ([], None, None), lambda c, _: Odd())
    try:
        with pytest.raises(ValueError, match=r"must give .children, context., not 3 values"):
            tree_structure(Odd())
    finally:
        pytree._deregister_pytree_node(Odd)


def test_named_results_are_nodes_and_struct_sequences_of_others_leaves():
    import time

    result = dispatch.max(dispatch.ones(2, 2), 1)
    mapped = pytree.tree_map(lambda t: t + 1, result)
    assert type(mapped) is type(result)
    assert mapped.values.tolist() == [2, 2]
    assert pytree.tree_is_leaf(time.struct_time(range(9)))


def test_a_spec_that_nobody_initialised_is_a_leaf():
    blank = TreeSpec.__new__(TreeSpec)
    assert (blank.is_leaf(), blank.num_leaves, blank.unflatten([7])) == (True, 1, 7)
    with pytest.raises(ValueError, match="has length 0"):
        blank.unflatten([])
