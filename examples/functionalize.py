"""What is left of a program with views and in-place operators when it is functionalized."""

import dispatch
from dispatch.functional import functionalize
from dispatch.modes import TorchDispatchMode


class Log(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        print("   ", func)
        return func(*args, **(kwargs or {}))


def normalize(x):
    for row in x.unbind(0):
        row.sub_(row.mean())
    return x.t()


for remove in ("mutations", "mutations_and_views"):
    x = dispatch.tensor([[1.0, 3.0], [2.0, 6.0]])
    print(remove)
    with Log():
        result = functionalize(normalize, remove=remove)(x)
    print(result.tolist())
