"""A mode that prints every operator called in its block, with the shapes that came out."""

import dispatch
from dispatch import Tensor, TorchDispatchMode
from dispatch.pytree import tree_leaves


class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        shapes = [list(t.shape) for t in tree_leaves(result) if isinstance(t, Tensor)]
        print(f"{func!s:24} {shapes}")
        return result


if __name__ == "__main__":
    x = dispatch.ones(2, 3)
    with Log():
        (x @ x.t()).relu().sum()
