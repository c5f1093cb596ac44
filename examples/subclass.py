"""A tensor that wraps another one and knows the unit of its values: adding metres to seconds fails.

`__torch_dispatch__` sees every operator that meets an instance: it unwraps the arguments, calls the
operator on plain tensors, and wraps what comes out.
"""

import dispatch
from dispatch import Tensor, ops
from dispatch.pytree import tree_leaves, tree_map_only

SAME_UNIT = {ops.aten.add.Tensor, ops.aten.sub.Tensor}
PRODUCT = {ops.aten.mul.Tensor}


class Quantity(Tensor):
    """`value` with a `unit`."""

    @staticmethod
    def __new__(cls, value, unit):
        made = Tensor._make_wrapper_subclass(
            cls, value.shape, strides=value.stride(), dtype=value.dtype, device=value.device
        )
        made.value, made.unit = value, unit
        return made

    def __init__(self, value, unit):
        pass

    def __repr__(self):
        return f"{self.value.tolist()} {self.unit}"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        units = [q.unit for q in tree_leaves((args, kwargs)) if isinstance(q, Quantity)]
        if func in SAME_UNIT and len(set(units)) > 1:
            raise ValueError(f"{func}: units differ: {' and '.join(units)}")
        unit = "*".join(units) if func in PRODUCT else units[0]
        args, kwargs = tree_map_only(Quantity, lambda q: q.value, (args, kwargs or {}))
        result = func(*args, **kwargs)
        return tree_map_only(Tensor, lambda t: Quantity(t, unit), result)


if __name__ == "__main__":
    way = Quantity(dispatch.tensor([3.0, 4.0]), "m")
    time = Quantity(dispatch.tensor([2.0, 5.0]), "s")
    print(way + way)
    print(way * time)
    print((way * 2).sum())
    try:
        way + time
    except ValueError as error:
        print("ValueError:", error)
