"""Nests of every kind, and two classes that are registered, for this folder's tests."""

from collections import OrderedDict, defaultdict, deque, namedtuple

from dispatch.pytree import GetAttrKey, register_pytree_node

Point = namedtuple("Point", "u v")


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


class Named(Pair):
    pass


register_pytree_node(Pair, lambda p: ([p.a, p.b], "pair"), lambda c, _: Pair(*c))
register_pytree_node(
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
