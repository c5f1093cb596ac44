"""What a call moves between memory and the device: each tensor that it takes is read once, each
that it makes is written once.

Views and calls without tensors move nothing; an element that stands for many (stride 0) is one. Of
a table that is looked up, at most as much is read as comes out; of a tensor that is written
in places, at most as much is written as is given. So the bytes are the least that a call can do
with, as if its own intermediate values never left the device.
"""

from math import prod

from dispatch._C.generated.type_names import DTYPE_BYTES
from dispatch.graph.memory import (
    Call,
    Record,
    dtype_of,
    is_tensor,
    sizes_of,
    strides_of,
    tensors_of,
)

__all__ = ["compute_dtype", "moved_bytes"]

_LOOKED_UP = frozenset({
    "aten::embedding", "aten::embedding_bag", "aten::index", "aten::index_select", "aten::gather",
    "aten::take", "aten::take_along_dim", "aten::_unsafe_index",
})  # fmt: skip
_WRITTEN_IN_PLACES = frozenset({
    "aten::index_put_", "aten::_index_put_impl_", "aten::_unsafe_index_put_", "aten::index_copy_",
    "aten::index_fill_", "aten::scatter_", "aten::masked_scatter_", "aten::put_",
})  # fmt: skip
_NOT_READ = frozenset({"aten::copy_", "aten::fill_", "aten::zero_"})  # their first argument


def compute_dtype(call: Call) -> str | None:
    """The dtype that a call computes with: that of the first tensor that it takes."""
    first = next(iter(tensors_of(call)), None)
    return dtype_of(first) if first is not None else None


def moved_bytes(call: Call) -> int:
    """Bytes that are read and written."""
    step = call.step
    schema = getattr(step.callee, "_schema", None)
    writes = schema is not None and schema.is_mutable
    if step.branches or (not call.new_bytes and not writes):
        return 0
    base = step.op.partition(".")[0]
    if "empty" in base.partition("::")[2].split("_"):
        return 0
    made = sum(_element_bytes(record) for record in call.records if is_tensor(record))
    taken = [_element_bytes(record) for record in tensors_of(call)]
    first, rest = sum(taken[:1]), sum(taken[1:])
    if base in _LOOKED_UP:
        first = min(first, made)
    elif base in _WRITTEN_IN_PLACES:
        first, made = 0, min(made, rest)
    elif base in _NOT_READ:
        first = 0
    return (first + rest + made) * prod(call.rounds)


def _element_bytes(record: Record) -> int:
    """Bytes of a tensor's elements, each place in memory once."""
    pairs = zip(sizes_of(record), strides_of(record), strict=True)
    count = prod(n for n, step in pairs if step or not n)
    return count * DTYPE_BYTES.get(dtype_of(record), 0)
