"""A library with one operator: its schema, a CPU kernel in Python, and a shape function.

The Meta kernel is what fake tensors run, so the operator works on any device that there is not.
"""

import numpy as np

import dispatch
from dispatch import FakeTensorMode, Library, ops


def windows_on_cpu(x, size, hop=1):
    """The values, windows of `size` elements that begin every `hop` elements."""
    view = np.lib.stride_tricks.sliding_window_view(x.numpy(), size)
    return dispatch.from_numpy(view[::hop].copy())


def windows_on_meta(x, size, hop=1):
    """The metadata alone."""
    return x.new_empty([(x.size(0) - size) // hop + 1, size])


def main():
    lib = Library("example", "DEF")
    lib.define("windows(Tensor x, int size, int hop=1) -> Tensor")
    lib.impl("windows", windows_on_cpu, "CPU")
    lib.impl("windows", windows_on_meta, "Meta")

    x = dispatch.arange(6, dtype=dispatch.float32)
    print(ops.example.windows(x, 3, hop=2).tolist())
    with FakeTensorMode():
        big = dispatch.empty(1_000_000_000, device="cuda")
        print(ops.example.windows(big, 1000, hop=100))
    try:
        ops.example.windows(x, "3")
    except RuntimeError as error:
        print("RuntimeError:", str(error).splitlines()[0])


if __name__ == "__main__":
    main()
