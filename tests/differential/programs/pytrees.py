"""Nests: flattening, structures, registration, paths, and structures as text."""

import copy
import enum
import json
import pickle
import time
import warnings
from collections import OrderedDict, UserDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Point = namedtuple("Point", "u v")


class Line(NamedTuple):
    start: Any
    end: Any = None


class Fancy(Point):
    pass


class Mine(list):
    pass


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def __repr__(self):
        return f"Pair({self.a!r}, {self.b!r})"

    def __eq__(self, other):
        return isinstance(other, Pair) and (self.a, self.b) == (other.a, other.b)

    __hash__ = None


class Color(enum.Enum):
    RED = 1
    BLUE = "b"


class Holder:
    class Inner(enum.Enum):
        X = 0


@dataclass
class Data:
    x: Any
    y: Any = None
    z: Any = field(default=3, init=False)


def _nests(s):
    return [
        5, None, "text", (), [], {}, (1,), [1, [2, (3,)]], {"b": [1, None], "a": {"c": 2}},
        OrderedDict([("z", 1), ("a", (2, 3))]), defaultdict(list, {"q": 1, "p": [2]}),
        deque([1, [2]], maxlen=4), deque([]), Point(1, [2, 3]), Line(1), Fancy(1, 2), Mine([1, 2]),
        UserDict(a=1), {1, 2}, (i for i in ()), range(3), s.T.Size([2, 3]), s.T.Size([]),
        time.struct_time(range(9)), {1: (2, {3: [4]}), None: 5, (1, 2): 6}, [s.T.ones(2)],
    ]  # fmt: skip


def flatten_and_build(s, log):
    p = s.pytree
    for nest in _nests(s):
        leaves, spec = p.tree_flatten(nest)
        log(type(nest).__name__, len(leaves), str(spec))
        log(" ", spec.num_nodes, spec.num_leaves, spec.num_children, spec.is_leaf())
        if spec.type is not None:
            log(" ", spec.type.__name__, repr(spec.context))
        built = p.tree_unflatten(leaves, spec)
        log(" ", type(built).__name__, built is nest, p.tree_structure(built) == spec)
        log(" ", p.tree_leaves(nest) == leaves, len(list(p.tree_iter(nest))), p.tree_is_leaf(nest))
        log("  mapped", p.tree_map(lambda x: type(x).__name__, nest))
        log(" ", p.treespec_pprint(spec))


def structures(s, log):
    p = s.pytree
    specs = [p.tree_structure(nest) for nest in _nests(s)]
    log([[int(a == b) for b in specs] for a in specs])
    log([hash(a) == hash(copy.copy(a)) for a in specs])
    for spec in specs:
        log(copy.deepcopy(spec) == spec)
        log(spec.children() == [spec.child(i) for i in range(spec.num_children)])
        log(spec == 3, spec != 3, spec == p.TreeSpec(spec.type, spec.context, spec.children()))
    plain = p.tree_structure({"a": [1, (2,)], "b": Point(1, 2)})
    log(pickle.loads(pickle.dumps(plain)) == plain)
    for name in ("type", "num_leaves"):
        try:
            setattr(plain, name, 1)
        except AttributeError:
            log(name, "cannot be set")
    log.attempt("child 5", plain.child, 5)
    log.attempt("child -1", plain.child, -1)
    kids = plain.children()
    kids.clear()
    log(plain.num_children, len(plain.children()))


def structures_by_hand(s, log):
    p = s.pytree
    leaf = p.treespec_leaf()
    log(str(leaf), leaf.type, leaf.context, leaf.is_leaf(), leaf == p.tree_structure(1))
    log(leaf is p.treespec_leaf(), p.TreeSpec(None, None, []) == leaf)
    log(p.TreeSpec(None, None, []).is_leaf(), p.TreeSpec(tuple, None, []).is_leaf())
    log.attempt("tuple", p.treespec_tuple, [leaf, p.treespec_tuple()])
    log.attempt("dict", p.treespec_dict, {"a": leaf}, b=p.treespec_tuple([leaf]))
    log.attempt("dict of pairs", p.treespec_dict, [("a", leaf)])
    log.attempt("tuple of numbers", p.treespec_tuple, [1])
    log.attempt("dict of numbers", p.treespec_dict, {"a": 1})
    log.attempt("leaf with context", p.TreeSpec, None, 1, [])
    log.attempt("leaf with child", p.TreeSpec, None, None, [leaf])
    log(p.treespec_tuple([leaf]) == p.tree_structure((1,)))
    log(p.treespec_dict(a=leaf) == p.tree_structure({"a": 1}))
    log(p.TreeSpec(list, None, [leaf, leaf]).unflatten([1, 2]))
    log(p.TreeSpec(namedtuple, Point, [leaf, leaf]).unflatten([1, 2]))
    log(p.TreeSpec(defaultdict, [int, ["a"]], [leaf]).unflatten([7]))
    log.attempt("by position only", p.TreeSpec, list, None)


def deprecated_names(s, log):
    p = s.pytree
    spec = p.tree_structure([1])
    calls = {
        "LeafSpec": p.LeafSpec,
        "children_specs": lambda: spec.children_specs,
        "isinstance": lambda: isinstance(spec.child(0), p.LeafSpec),
        "not isinstance": lambda: isinstance(spec, p.LeafSpec),
        "pytree_to_str": lambda: p.pytree_to_str(spec),
        "str_to_pytree": lambda: p.str_to_pytree(p.treespec_dumps(spec)),
        "_register": lambda: p._register_pytree_node(Pair, lambda x: ([x.a], None), lambda c, _: c),
        "again": lambda: p._register_pytree_node(Pair, lambda x: ([x.a], None), lambda c, _: c),
        "to_str": lambda: p._register_pytree_node(
            Mine, lambda x: (list(x), None), lambda c, _: Mine(c), lambda c: "", lambda t: None
        ),
    }
    for name, call in calls.items():
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            result = call()
        log(name, result, [w.category.__name__ for w in seen])
        log(" ", [w.filename == __file__ for w in seen][:1])
        log(" ", ["deprecated" in str(w.message) for w in seen])


def wrong_calls(s, log):
    p = s.pytree
    spec = p.tree_structure((1, 2))
    for leaves in ([1], [1, 2, 3], (), iter([1]), "ab", iter([1, 2]), {1: 2, 3: 4}):
        log.attempt("unflatten", p.tree_unflatten, leaves, spec)
    log.attempt("swapped", p.tree_unflatten, spec, [1, 2])
    log.attempt("no spec", p.tree_unflatten, [1, 2], (1, 2))
    log.attempt("nothing", p.tree_unflatten, [1, 2], None)
    log.attempt("map_only", p.map_only, 3)
    log.attempt("None tree", p.tree_flatten, None)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    log.attempt("deep", p.tree_leaves, deep)
    log.attempt("deep", p.tree_structure, deep)
    own = []
    own.append(own)
    log.attempt("own", p.tree_flatten, own)


def mapping(s, log):
    p = s.pytree
    nest = {"a": [1, (2.5, "x")], "b": Point(3, None)}
    log(p.tree_map(lambda x: [x], nest))
    log(p.tree_map(lambda *a: a, [1, 2], [3, 4], ([5], {}) and [[5], {}]))
    log(p.tree_map_only(int, lambda x: x + 1, nest))
    log(p.tree_map_only((int, str), lambda x: x * 2, nest))
    log(p.tree_map_only(int | float, lambda x: -x, nest))
    log(p.tree_map_only(lambda x: x == "x", lambda x: "y", nest))
    seen = []
    log(p.tree_map_(seen.append, nest) is nest, seen)
    log(p.tree_map_only_(int, seen.append, nest) is nest, seen)
    log(p.map_only(int)(lambda x: x + 1)("no"), p.map_only(int)(lambda x: x + 1)(1))
    log(p.tree_all(bool, nest), p.tree_any(bool, nest))
    log(p.tree_all_only(int, bool, nest), p.tree_any_only(str, bool, nest))
    log(p.tree_all(bool, []), p.tree_any(bool, []))
    log(p.arg_tree_leaves(1, [2, {"k": 3}], z=4, y=(5,)))
    log(p.tree_map(lambda x: x, [1, [2]], is_leaf=lambda x: x == [2]))
    log(p.tree_leaves([1, [2]], is_leaf=lambda x: isinstance(x, list) and len(x) == 1))
    log(p.tree_leaves([1, [2]], lambda x: True))
    log(str(p.tree_structure((1, [2], {"a": 3}), lambda x: isinstance(x, dict))))


def several_nests(s, log):
    p = s.pytree
    firsts = [
        (1, 2), [1, 2], {"a": 1, "b": 2}, OrderedDict(a=1, b=2), defaultdict(int, a=1, b=2),
        Point(1, 2), deque([1, 2]), deque([1, 2], maxlen=2), 7, s.T.Size([1, 2]), Line(1, 2),
    ]  # fmt: skip
    others = [*firsts, {"b": 2, "a": 1}, {"a": 1}, {"a": 1, "c": 2}, (1,), [[1], (2,)], None]
    for first in firsts:
        spec = p.tree_structure(first)
        for other in others:
            log.attempt(type(first).__name__, spec.flatten_up_to, other)
    for words, first, other in (
        ("type mismatch", [1], (1,)),
        ("arity mismatch", [1], [1, 2]),
        ("keys mismatch", {"a": 1}, {"b": 1}),
        ("context mismatch", Point(1, 2), Line(1, 2)),
    ):
        try:
            p.tree_map(lambda *a: a, first, other)
        except ValueError as error:
            log(words, words in str(error))


def broadcasting(s, log):
    p = s.pytree
    full = p.tree_structure(([1, 2], {"a": 3, "b": (4, 5)}))
    for prefix in (0, (0, 1), ([0, 1], 2), ([0, 1], {"a": 2, "b": 3}), [0, 1], (0,), ((0,), 1),
                   (0, {"b": 1, "a": 2}), (None, None), ([0, 1, 2], 3)):  # fmt: skip
        log(p._broadcast_to_and_flatten(prefix, full))
    log(p._broadcast_to_and_flatten((1, [2]), full, is_leaf=lambda x: isinstance(x, list)))


def paths(s, log):
    p = s.pytree
    for nest in _nests(s):
        if type(nest).__name__ == "generator":
            continue
        pairs, spec = p.tree_flatten_with_path(nest)
        log(type(nest).__name__, [p.keystr(path) for path, _ in pairs])
        log(" ", [[repr(key) for key in path] for path, _ in pairs])
        log(" ", p.tree_leaves_with_path(nest) == pairs, spec == p.tree_structure(nest))
        log(" ", all(p.key_get(nest, path) is leaf for path, leaf in pairs))
    log(p.tree_map_with_path(lambda k, x: p.keystr(k) + str(x), {"a": [1, 2], "b": Point(3, 4)}))
    log(p.tree_map_with_path(lambda k, x, y: (len(k), x, y), [1, [2]], [3, [4]]))
    log(p.tree_map_with_path(lambda k, x: p.keystr(k), [1, [2]], is_leaf=lambda x: x == [2]))
    log.attempt("other", p.tree_map_with_path, lambda k, x, y: x, [1], (1,))
    for key in (p.SequenceKey(0), p.MappingKey("a"), p.MappingKey(0), p.GetAttrKey("a")):
        log(str(key), repr(key), hash(key) == hash(copy.copy(key)))
        log(" ", [key == k for k in (p.SequenceKey(0), p.MappingKey(0), p.GetAttrKey("a"), (0,))])
        try:
            key.other = 1
        except (AttributeError, TypeError):
            log("  frozen")
    log(p.key_get({"a": [1, Point(2, 3)]}, (p.MappingKey("a"), p.SequenceKey(1), p.GetAttrKey("v"))))
    log(p.keystr(()), p.key_get(3, ()))


def registering(s, log):
    p = s.pytree
    both = (lambda x: ([x.a, x.b], "ctx")), (lambda c, ctx: Pair(*c))
    log(p.tree_is_leaf(Pair(1, 2)), Pair in p.SUPPORTED_NODES)
    log.attempt("one of two", p.register_pytree_node, Mine, *both, to_dumpable_context=str)
    log.attempt("first", p.register_pytree_node, Pair, *both)
    log.attempt("again", p.register_pytree_node, Pair, *both)
    for cls in (list, dict, tuple, s.T.Size, namedtuple):
        log.attempt(cls.__name__, p.register_pytree_node, cls, *both)
    try:
        p.register_pytree_node(Pair, *both)
    except ValueError as error:
        log("already registered as pytree node" in str(error))
    node = p.SUPPORTED_NODES[Pair]
    log(node._fields, node.type, node.flatten_fn(Pair(1, 2)), node.flatten_with_keys_fn)
    leaves, spec = p.tree_flatten([Pair(1, (2, 3))])
    log(leaves, str(spec), spec.child(0).type, spec.child(0).context)
    log(p.tree_map(lambda x: x + 1, Pair(1, (2, 3))))
    log.attempt("no keys", p.tree_flatten_with_path, Pair(1, 2))
    log.attempt("no name", p.treespec_dumps, spec)
    log.attempt("context", p.tree_structure(Pair(1, 2)).flatten_up_to, Pair(1, [2]))
    log.attempt("gone", p._deregister_pytree_node, Pair)
    log(p.tree_is_leaf(Pair(1, 2)), Pair in p.SUPPORTED_SERIALIZED_TYPES)
    log.attempt("gone twice", p._deregister_pytree_node, Pair)
    p.register_pytree_node(
        Pair, *both, serialized_type_name="pair",
        flatten_with_keys_fn=lambda x: ([(p.GetAttrKey("a"), x.a), (p.GetAttrKey("b"), x.b)], "ctx"),
    )  # fmt: skip
    log([p.keystr(k) for k, _ in p.tree_leaves_with_path([Pair(1, [2])])])
    log(p.SERIALIZED_TYPE_TO_PYTHON_TYPE["pair"], p.SUPPORTED_SERIALIZED_TYPES[Pair]._fields)
    log(sorted(t.__name__ for t in p.BUILTIN_TYPES), len(p.STANDARD_DICT_TYPES))


def dataclasses(s, log):
    p = s.pytree
    p.register_dataclass(Data, serialized_type_name="data")
    for value in (Data(1), Data(1, [2, 3]), Data(None, None)):
        leaves, spec = p.tree_flatten(value)
        log(leaves, spec, p.tree_unflatten(leaves, spec) == value)
        log([p.keystr(k) for k, _ in p.tree_leaves_with_path(value)])
        log(p.treespec_loads(p.treespec_dumps(spec)) == spec)

    @dataclass
    class Other:
        x: Any
        y: Any = 2

    class Plain:
        def __init__(self, a):
            self.a = a

    log.attempt("too few", p.register_dataclass, Other, field_names=["x"])
    log.attempt("too many", p.register_dataclass, Other, field_names=["x", "y", "q"])
    log.attempt("no dataclass", p.register_dataclass, Plain)
    log.attempt("dropped", p.register_dataclass, Other, field_names=["x"], drop_field_names=["y"])
    log(p.tree_leaves(Other(1, 5)), p.tree_map(lambda x: x * 2, Other(4, 5)))
    log.attempt("fields given", p.register_dataclass, Plain, field_names=["a"])
    log(p.tree_leaves([Plain((1, 2))]), p.tree_map(str, Plain(7)).a)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        p.register_dataclass(Data)
    log([w.category.__name__ for w in seen])


def constants(s, log):
    p = s.pytree

    @dataclass(frozen=True)
    class Config:
        name: str

    class NoEq:
        pass

    log.attempt("no eq", p.register_constant, NoEq)
    log.attempt("no hash", p.register_constant, Pair)
    log.attempt("good", p.register_constant, Config)
    log(p.is_constant_class(Config), p.is_constant_class(NoEq), p.is_constant_class(3))
    leaves, spec = p.tree_flatten([1, Config("a")])
    log(leaves, spec.num_leaves, spec.num_nodes, p.tree_unflatten([2], spec)[1].name)
    log(spec == p.tree_structure([1, Config("a")]), spec == p.tree_structure([1, Config("b")]))
    log(hash(spec) == hash(p.tree_structure([1, Config("a")])))
    inner = spec.child(1)
    log(p._is_constant_holder(inner), p._is_constant_holder(spec), inner.is_leaf())
    log(p._retrieve_constant(inner).name, type(inner.context).__name__, inner.context.value.name)
    log.attempt("no constant", p._retrieve_constant, spec)
    log(p.tree_leaves_with_path([1, Config("a")]))


def written(s, log):
    p = s.pytree
    nests = [
        5, None, (), [1, [2, (3,)]], {"b": [1, None], "a": {"c": 2}}, {1: 2, 1.5: 3, False: 4},
        OrderedDict([("z", 1), (2, (2, 3))]), defaultdict(list, {"q": 1, "p": [2]}),
        deque([1, [2]], maxlen=4), deque([1]), {Color.RED: 1, Color.BLUE: [2]},
        {Holder.Inner.X: 1}, s.T.Size([2, 3]), {None: 1},
    ]  # fmt: skip
    for nest in nests:
        spec = p.tree_structure(nest)
        text = p.treespec_dumps(spec)
        log(text)
        log(p.treespec_loads(text) == spec, p.treespec_dumps(spec, 1) == text)
    for nest in (Point(1, 2), {(1, 2): 3}, {Point(1, 2): 3}, {object: 1}, defaultdict(None, a=1)):
        log.attempt(type(nest).__name__, lambda n=nest: p.treespec_dumps(p.tree_structure(n)))
    log.attempt("no spec", p.treespec_dumps, "text")
    log.attempt("protocol -1", p.treespec_dumps, p.treespec_leaf(), -1)
    log.attempt("protocol 2", p.treespec_loads, '[2, {"type": null}]')
    for text in ("", "[]", "[1]", "[1, 2]", "{}", '[1, {"type": "no_such"}]', "null",
                 '[1, {"type": "no_such", "context": "null", "children_spec": []}]'):  # fmt: skip
        log.attempt(repr(text), p.treespec_loads, text)
    log(p.treespec_loads('[1, {"type": null, "context": null, "children_spec": []}]').is_leaf())
    log(p.DEFAULT_TREESPEC_SERIALIZATION_PROTOCOL)
    log(json.dumps({"k": [Color.RED]}, cls=p.EnumEncoder))
    log(p.enum_object_hook({"a": 1}))


def written_classes(s, log):
    p = s.pytree
    try:
        p.treespec_dumps(p.tree_structure(Point(1, 2)))
    except NotImplementedError as error:
        log("_register_namedtuple" in str(error))
    p._register_namedtuple(Point, serialized_type_name="tests.Point")
    spec = p.tree_structure([Point(1, (2,))])
    log(p.treespec_dumps(spec), p.treespec_loads(p.treespec_dumps(spec)) == spec)
    log(p.treespec_loads(p.treespec_dumps(spec)).unflatten([1, 2]))
    log.attempt("fancy", p.treespec_dumps, p.tree_structure(Fancy(1, 2)))
    both = (lambda x: ([x.a], x.b)), (lambda c, b: Pair(c[0], b))
    p.register_pytree_node(
        Pair, *both, serialized_type_name="tests.Pair",
        to_dumpable_context=lambda c: {"context": sorted(c)},
        from_dumpable_context=lambda d: set(d["context"]),
    )  # fmt: skip
    spec = p.tree_structure({"k": Pair(1, {"q", "p"})})
    log(p.treespec_dumps(spec))
    log(p.treespec_loads(p.treespec_dumps(spec)) == spec)
    p.register_pytree_node(Mine, lambda x: (list(x), {1, 2}), lambda c, _: Mine(c),
                           serialized_type_name="tests.Mine")  # fmt: skip
    log.attempt("a set", p.treespec_dumps, p.tree_structure(Mine([1])))
    try:
        p.treespec_dumps(p.tree_structure(Mine([1])))
    except TypeError as error:
        log("Unable to serialize context" in str(error))
    log(p.SERIALIZED_TYPE_TO_PYTHON_TYPE["tests.Pair"] is Pair)
    log(p.SERIALIZED_TYPE_TO_PYTHON_TYPE["builtins.list"] is list)
    log(p.SERIALIZED_TYPE_TO_PYTHON_TYPE["torch.Size"] is s.T.Size)


def kinds(s, log):
    p = s.pytree
    result = s.T.max(s.T.ones(2, 2), 0)
    things = [Point, Point(1, 2), Line, Fancy(1, 2), tuple, (1,), time.struct_time, 3, int, result,
              time.struct_time(range(9)), type(result), s.T.Size([1]), s.T.Size]  # fmt: skip
    for thing in things:
        log(p.is_namedtuple(thing), p.is_namedtuple_class(thing), p.is_namedtuple_instance(thing))
        log(p.is_structseq(thing), p.is_structseq_class(thing), p.is_structseq_instance(thing))
    log.attempt("base", lambda: type("Sub", (p.structseq,), {}))
    log.attempt("made", p.structseq, [1])


def named_results(s, log):
    p, T = s.pytree, s.T
    result = T.max(T.tensor([[1.0, 2.0], [4.0, 3.0]]), 1)
    leaves, spec = p.tree_flatten([result])
    log(leaves, str(spec), spec.child(0).context, spec.child(0).type.__name__)
    mapped = p.tree_map(lambda t: t + 1, result)
    log(type(mapped).__name__, type(mapped) is type(result), mapped.values, mapped.indices)
    log([p.keystr(k) for k, _ in p.tree_leaves_with_path(result)])
    log(p.tree_is_leaf(result), p.tree_is_leaf(time.struct_time(range(9))))


def sizes(s, log):
    p, T = s.pytree, s.T
    x = T.ones(2, 3)
    leaves, spec = p.tree_flatten((x.shape, 1))
    log(leaves, str(spec), spec.child(0).type is T.Size)
    built = p.tree_unflatten(leaves, spec)
    log(type(built[0]) is tuple, built)
    log(type(p.tree_map(lambda n: n * 2, x.shape)) is tuple, p.tree_map(str, x.shape))
    log(p.tree_map(lambda a, b: a + b, x.shape, T.Size([1, 1])))
    log.attempt("a tuple", p.tree_structure(x.shape).flatten_up_to, (1, 2))
    log([p.keystr(k) for k, _ in p.tree_leaves_with_path(x.shape)])
