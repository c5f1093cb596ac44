"""Structures as text: PyTorch's format, and what is refused."""

import enum
import json
from collections import OrderedDict, defaultdict, deque

import pytest

import dispatch
from dispatch import pytree
from dispatch.pytree import tree_structure, treespec_dumps, treespec_loads
from tests.dispatch.pytree.nests import Pair, Point

# As PyTorch writes it.
SAVED = (
    '[1, {"type": "collections.OrderedDict", "context": "[1, 2, 3]", "children_spec": '
    '[{"type": null, "context": null, "children_spec": []}, {"type": "builtins.list", "context": '
    '"null", "children_spec": [{"type": null, "context": null, "children_spec": []}]}, '
    '{"type": "builtins.tuple", "context": "null", "children_spec": []}]}]'
)


class Color(enum.Enum):
    RED = 1


def test_the_format_is_that_of_saved_files():
    spec = tree_structure(OrderedDict([(1, 0), (2, [0]), (3, ())]))
    assert treespec_dumps(spec) == SAVED
    assert treespec_loads(SAVED) == spec


@pytest.mark.parametrize(
    "tree",
    [
        5,
        [1, (2, {"a": None})],
        defaultdict(list, a=1),
        deque([1], maxlen=3),
        {Color.RED: 1},
        dispatch.Size([1, 2]),
    ],
    ids=str,
)
def test_what_is_written_is_read(tree):
    spec = tree_structure(tree)
    assert treespec_loads(treespec_dumps(spec)) == spec


@pytest.mark.parametrize(
    ("tree", "kind", "words"),
    [
        (Pair(1, 2), NotImplementedError, "No registered serialization name for"),
        (Point(1, 2), NotImplementedError, "Please register using `_register_namedtuple`"),
        ({(1, 2): 3, object: 4}, TypeError, "Unable to serialize context"),
    ],
)
def test_what_cannot_be_written(tree, kind, words):
    with pytest.raises(kind, match=words):
        treespec_dumps(tree_structure(tree))


def test_only_specs_are_written():
    with pytest.raises(TypeError, match="got item of type <class 'str'>"):
        treespec_dumps("random")


@pytest.mark.parametrize("call", [lambda: treespec_dumps(tree_structure(1), -1),
                                  lambda: treespec_loads("[7, null]")])  # fmt: skip
def test_another_protocol(call):
    with pytest.raises(ValueError, match=r"Unknown protocol .* Available protocols: .1."):
        call()


def node(kind, context):
    return json.dumps([1, {"type": kind, "context": context, "children_spec": []}])


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (node("no.such", "null"), NotImplementedError, "Deserializing no.such in pytree"),
        (node("builtins.list", {}), TypeError, "Unable to deserialize context"),
        (node("collections.namedtuple", "no.such"), NotImplementedError, "no.such"),
        (node("collections.defaultdict", {"a": 1}), ValueError, "expected an object with"),
        (
            node(
                "builtins.dict",
                '[{"__enum__": true, "fqn": "os:system", "name": "x"}]',
            ),
            TypeError,
            "os:system is no enumeration",
        ),
        ("{", ValueError, ""),
    ],
)
def test_what_cannot_be_read(text, kind, words):
    with pytest.raises(kind) as error:
        treespec_loads(text)
    assert words in str(error.value) or words in str(error.value.__cause__)


def test_a_constant_is_asked_of_its_own_structure():
    with pytest.raises(AssertionError, match="registered constant"):
        pytree._retrieve_constant(tree_structure([1]))


def test_older_names_warn():
    with pytest.warns(FutureWarning, match="use `treespec_dumps`"):
        text = pytree.pytree_to_str(tree_structure([1]))
    with pytest.warns(FutureWarning, match="use `treespec_loads`"):
        assert pytree.str_to_pytree(text) == tree_structure([1])


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("null", TypeError),
        ("[1]", ValueError),
        ("[1, null]", TypeError),
        ('[1, {"context": null, "children_spec": []}]', KeyError),
        ('[1, {"type": "builtins.list"}]', KeyError),
        ('[1, {"type": [], "context": null, "children_spec": []}]', TypeError),
        ('[1, {"type": "builtins.list", "context": "null", "children_spec": 5}]', TypeError),
        ('[1, {"type": "builtins.list", "context": "null", "children_spec": [[]]}]', TypeError),
    ],
)
def test_text_that_is_no_structure_is_refused_in_words(text, error):
    with pytest.raises(error, match="treespec: expected"):
        treespec_loads(text)
