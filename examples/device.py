"""A made-up device: memory of its own, a few kernels, the rest on the host; then a model on it.

A tensor of the device has sizes and a storage without bytes on the host: what it holds lies in
`MEMORY`, by storage, so that nobody reads it but the device's kernels. Few kernels are asked of a
backend: to allocate, to look at memory in another way, to copy. `mm.out` and `add.out` are the
device's own; `mm` and `add` follow from them. Whatever else is called goes through the fallback of
the key, which lends the memory to the kernels of the CPU.
"""

import weakref
from collections import Counter

import dispatch
from dispatch import device_trace
from dispatch._C import _rename_privateuse1_backend
from dispatch._C.arrays import _new_strided
from dispatch._C.device_events import _fire_device_event
from dispatch._C.storage import _new_storage
from dispatch.library import Library
from dispatch.pytree import tree_map

KEY = "PrivateUse1"
MEMORY: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
calls: Counter = Counter()
allocated: list[int] = []


# ---- memory


def allocate(sizes, strides, dtype):
    """A tensor on the device with room for its last element."""
    room = 1 + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    nbytes = room * dtype.itemsize if all(sizes) else 0
    storage = _new_storage(nbytes, "toy:0")
    MEMORY[storage] = bytearray(nbytes)
    _fire_device_event("toy:0", device_trace.EVENT_KINDS.index("memory_allocation"), nbytes)
    return _new_strided(storage, dtype, list(sizes), list(strides), 0)


def dense(sizes):
    strides = [1]
    for n in reversed(sizes[1:]):
        strides.insert(0, strides[0] * max(n, 1))
    return strides[: len(sizes)]


def lent(tensor):
    """The memory of a tensor as a tensor of the CPU; numbers and tensors of the CPU as they are."""
    if not isinstance(tensor, dispatch.Tensor) or tensor.device.type != "toy":
        return tensor
    content = MEMORY[tensor.untyped_storage()]
    if not content:
        return dispatch.empty(tensor.shape, dtype=tensor.dtype)
    whole = dispatch.frombuffer(content, dtype=tensor.dtype)
    return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def look(tensor, sizes, strides, offset):
    return _new_strided(tensor.untyped_storage(), tensor.dtype, list(sizes), list(strides), offset)


# ---- kernels

library = Library("aten", "IMPL")


def kernel(name):
    return lambda function: library.impl(name, function, KEY)


@kernel("empty.memory_format")
def empty(size, *, dtype=None, **options):
    return allocate(size, dense(size), dtype or dispatch.get_default_dtype())


@kernel("empty_strided")
def empty_strided(size, stride, *, dtype=None, **options):
    return allocate(size, stride, dtype or dispatch.get_default_dtype())


@kernel("as_strided")
def as_strided(self, size, stride, storage_offset=None):
    offset = self.storage_offset() if storage_offset is None else storage_offset
    return look(self, size, stride, offset)


@kernel("view")
def view(self, size):
    like = dispatch.empty_strided(self.shape, self.stride(), dtype=self.dtype, device="meta")
    seen = like.view(size)  # the rules of views are those of any device
    return look(self, seen.shape, seen.stride(), self.storage_offset())


@kernel("copy_")
def copy_(self, src, non_blocking=False):
    lent(self).copy_(lent(src))
    return self


@kernel("_copy_from")
def copy_from(self, dst, non_blocking=False):
    return copy_(dst, self)


@kernel("mm.out")
def mm(self, mat2, *, out):
    calls["mm on the device"] += 1
    lent(out).copy_(lent(self) @ lent(mat2))
    return out


@kernel("add.out")
def add(self, other, *, alpha=1, out):
    calls["add on the device"] += 1
    lent(out).copy_(lent(self) + alpha * lent(other))
    return out


def on_the_host(op, *args, **kwargs):
    """Any other operator, by the kernels of the CPU; what is written in place is written there."""
    calls[f"{op} on the host"] += 1
    lenders = {}

    def lend(value):
        there = lent(value)
        if there is not value:
            lenders[id(there)] = (there, value)
        return dispatch.device("cpu") if isinstance(value, dispatch.device) else there

    def take(value):
        if not isinstance(value, dispatch.Tensor):
            return value
        if id(value) in lenders:
            return lenders[id(value)][1]
        return moved(value)

    def moved(value):
        made = allocate(value.shape, dense(value.shape), value.dtype)
        lent(made).copy_(value)
        return made

    found = op(*tree_map(lend, args), **tree_map(lend, kwargs))
    for there, value in lenders.values():
        if there.shape != value.shape:  # an `out=` that was resized
            value.data = moved(there)
    return tree_map(take, found)


# ---- a model


def block(x, weights):
    """Attention and a small network, each behind a norm."""
    width = x.shape[-1]
    y = dispatch.layer_norm(x, [width])
    q, k, v = (y @ weights[name] for name in "qkv")
    y = dispatch.softmax(q @ k.t() / width**0.5, -1) @ v
    x = x + y
    return x + dispatch.relu(dispatch.layer_norm(x, [width]) @ weights["up"]) @ weights["down"]


def main():
    _rename_privateuse1_backend("toy")
    device_trace.register_callback_for_memory_allocation("toy", allocated.append)
    fallbacks = Library("_", "IMPL")
    fallbacks.fallback(on_the_host, KEY)

    dispatch.manual_seed(0)
    shapes = {"q": (8, 8), "k": (8, 8), "v": (8, 8), "up": (8, 32), "down": (32, 8)}
    weights = {name: dispatch.randn(*shape) for name, shape in shapes.items()}
    x = dispatch.randn(4, 8)
    there = block(x.to("toy"), {name: w.to("toy") for name, w in weights.items()})
    print(there.device, tuple(there.shape))
    print("equal to the CPU's:", dispatch.allclose(there.cpu(), block(x, weights), atol=1e-5))
    for name, n in sorted(calls.items()):
        print(f"{n:3} {name}")
    print(f"{len(allocated)} allocations, {sum(allocated)} bytes; {len(MEMORY)} are alive")


if __name__ == "__main__":
    main()
