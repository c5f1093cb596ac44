"""Lists and dicts that nobody changes (torch.fx.immutable_collections).

They are nodes of `dispatch.pytree`, as lists and dicts are; what would change one is a TypeError.
"""

from typing import Any, NoReturn, TypeVar

from dispatch.pytree import MappingKey, SequenceKey, register_pytree_node

__all__ = ["immutable_dict", "immutable_list"]

T = TypeVar("T")
K = TypeVar("K")


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    what = f"{type(self).__name__!r} object does not support mutation"
    raise TypeError(f"{what}: make a new one, and assign it (node.args = new_args)")


class immutable_list(list[T]):
    """A list that stays as it is, and can be hashed."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


class immutable_dict(dict[K, T]):
    """A dict that stays as it is, and can be hashed."""

    __delitem__ = __ior__ = __setitem__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self.items()),)


register_pytree_node(
    immutable_list,
    lambda items: (list(items), None),
    lambda values, _: immutable_list(values),
    serialized_type_name="torch.fx.immutable_collections.immutable_list",
    flatten_with_keys_fn=lambda items: (
        [(SequenceKey(i), item) for i, item in enumerate(items)],
        None,
    ),
)
register_pytree_node(
    immutable_dict,
    lambda found: (list(found.values()), list(found)),
    lambda values, keys: immutable_dict(zip(keys, values, strict=True)),
    serialized_type_name="torch.fx.immutable_collections.immutable_dict",
    flatten_with_keys_fn=lambda found: (
        [(MappingKey(key), value) for key, value in found.items()],
        list(found),
    ),
)
