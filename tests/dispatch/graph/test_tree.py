"""`tree`: the nest that a program returns."""

import json
from collections import OrderedDict

import pytest

from dispatch.graph.tree import flat_leaves, read_tree

LEAF = {"type": None, "context": None, "children_spec": []}


def spec(kind, children, context=None):
    context = None if context is None else json.dumps(context)
    return {"type": kind, "context": context, "children_spec": children}


def text(tree):
    return json.dumps([1, tree])


@pytest.mark.parametrize(
    ("tree", "value"),
    [
        (LEAF, 1),
        (spec("builtins.tuple", [LEAF, LEAF]), (1, 2)),
        (spec("builtins.list", [LEAF, spec("builtins.tuple", [])]), [1, ()]),
        (spec("builtins.dict", [LEAF, LEAF], ["a", "b"]), {"a": 1, "b": 2}),
        (spec("collections.OrderedDict", [LEAF], ["k"]), OrderedDict(k=1)),
    ],
)
def test_fold(tree, value):
    result = read_tree(text(tree)).fold([1, 2, 3])
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "[2, {}]",
        "[1]",
        "null",
        text(spec("mylib.Output", [LEAF])),
        text(spec("builtins.dict", [LEAF], ["a", "b"])),
        text({"type": "builtins.tuple"}),
        "[" * 100_000,
    ],
)
def test_an_unknown_tree_is_none(broken):
    assert read_tree(broken) is None


def test_flat_leaves():
    assert flat_leaves([1, (2, {"a": 3}), []]) == [1, 2, 3]
