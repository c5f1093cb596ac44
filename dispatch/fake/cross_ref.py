"""CrossRefFakeMode: each call on real tensors is compared with the same call on fake ones.

A mode for tests of Meta kernels (torch._subclasses.fake_utils).
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

from dispatch._C.mode import TorchDispatchMode
from dispatch._C.tags import Tag
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.fake.by_hand import tree_flatten_only
from dispatch.fake.exceptions import MetadataMismatchError, UnsupportedFakeTensorException
from dispatch.fake.fake_tensor import FakeTensor
from dispatch.fake.implementations import has_meta
from dispatch.fake.mode import FakeTensorMode

__all__ = [
    "CrossRefFakeMode",
    "output_alias_each_other",
    "outputs_alias_inputs",
    "outputs_are_inputs",
    "try_convert_fake_to_real",
]

_NOT_COMPARED = frozenset(
    ("aten::lift_fresh", "aten::lift_fresh_copy", "aten::set_.source_Storage_storage_offset")
)
_NOT_COMPARED_TAGS = (
    Tag.dynamic_output_shape,
    Tag.inplace_view,
    Tag.data_dependent_output,
)


def _storages(tree: Any) -> list[int]:
    return [t.untyped_storage()._cdata for t in tree_flatten_only(Tensor, tree)]


def outputs_alias_inputs(outputs: Any, inputs: Any) -> bool:
    """Whether an output shares storage with an input."""
    return not set(_storages(outputs)).isdisjoint(_storages(inputs))


def outputs_are_inputs(outputs: Any, inputs: Any) -> bool:
    """Whether an output is an input itself."""
    given = {id(t) for t in tree_flatten_only(Tensor, inputs)}
    return any(id(t) in given for t in tree_flatten_only(Tensor, outputs))


def output_alias_each_other(outputs: Any) -> bool:
    """Whether two outputs share storage."""
    storages = _storages(outputs)
    return len(set(storages)) < len(storages)


def try_convert_fake_to_real(ten_list: list[Any]) -> list[Any]:
    """The list with real tensors for fakes whose storage stands for that of a living real one.

    They have the fake's sizes, strides and offset over the real storage; a fake of unknown sizes,
    or of no such storage, stays as it is.
    """
    return [_real_of(t) if isinstance(t, FakeTensor) else t for t in ten_list]


def _real_of(t: FakeTensor) -> Any:
    memo = t.fake_mode.fake_tensor_converter.meta_converter.tensor_memo
    place = (t.shape, t.stride(), t.storage_offset())
    if not all(isinstance(n, int) for n in (*place[0], *place[1], place[2])):
        return t
    for real, fake in memo.pairs():
        if fake.untyped_storage() is t.untyped_storage():
            return ops.aten.as_strided.default(real.detach(), *place).to(t.dtype)
    return t


def check_alias_info(context: str, real: Any, real_in: Any, fake: Any, fake_in: Any) -> None:
    """MetadataMismatchError unless fake outputs alias what the real ones do."""
    for what, of_real, of_fake in (
        ("aliasing of inputs", outputs_alias_inputs(real, real_in),
         outputs_alias_inputs(fake, fake_in)),
        ("identity with inputs", outputs_are_inputs(real, real_in),
         outputs_are_inputs(fake, fake_in)),
        ("aliasing of outputs", output_alias_each_other(real), output_alias_each_other(fake)),
    ):  # fmt: skip
        if of_real != of_fake:
            raise MetadataMismatchError(f"{context}: {what}: fake {of_fake}, real {of_real}")


def check_tensors(context: str, real: Tensor, fake: Any, *, strides: bool) -> None:
    """MetadataMismatchError at the first difference."""
    if not _same(real.shape, fake.shape):
        raise MetadataMismatchError(
            f"{context}: Shapes {real.shape} and {fake.shape} are not equal (real and fake)"
        )
    for name in ("requires_grad", "dtype", "layout", "device"):
        of_real, of_fake = getattr(real, name), getattr(fake, name)
        if of_real != of_fake:
            which = name if name == "requires_grad" else f"{name.capitalize()}s"
            raise MetadataMismatchError(
                f"{context}: {which} {of_real} and {of_fake} are not equal (real and fake)"
            )
    places: list[tuple[str, Any, Any]] = [
        ("Storage offset", real.storage_offset(), fake.storage_offset())
    ]
    if strides and real.numel():
        kept = [i for i, n in enumerate(real.shape) if n > 1]
        places.append(("Stride", [real.stride(i) for i in kept], [fake.stride(i) for i in kept]))
    for name, of_real, of_fake in places:
        if not _same(of_real, of_fake):
            raise MetadataMismatchError(
                f"{context}: {name} mismatch: real {of_real}, fake {of_fake}"
            )


def _same(real: Any, fake: Any) -> bool:
    """Whether both are equal; a fake size that depends on values may be any."""
    if isinstance(real, (tuple, list)):
        return len(real) == len(fake) and all(map(_same, real, fake))
    node = getattr(fake, "node", None)
    return (node is not None and not node.has_hint()) or bool(real == fake)


class CrossRefFakeMode(TorchDispatchMode):
    """Runs each call on fake counterparts of its arguments too, and compares.

    Args: `ignore_op_fn(op)`: which operators are left out; `check_strides`, `check_aliasing`;
    `only_check_ops_with_meta`: operators without a Meta kernel are left out.

    Raises: MetadataMismatchError; AssertionError when the numbers of outputs differ.
    """

    def __init__(
        self,
        ignore_op_fn: Callable[[Any], bool] | None = None,
        *,
        check_strides: bool = True,
        check_aliasing: bool = True,
        only_check_ops_with_meta: bool = True,
    ) -> None:
        super().__init__()
        self.ignore_op_fn = ignore_op_fn or (lambda op: False)
        self.check_strides = check_strides
        self.check_aliasing = check_aliasing
        self.only_check_ops_with_meta = only_check_ops_with_meta

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        fake = self._fake_run(func, args, kwargs) if self._is_compared(func) else None
        real = func(*args, **kwargs)
        if fake is not None:
            self._compare(f"{func}: a run on fake tensors", real, (args, kwargs), *fake)
        return real

    def _is_compared(self, func: Any) -> bool:
        if func.name() in _NOT_COMPARED or self.ignore_op_fn(func):
            return False
        if self.only_check_ops_with_meta and not has_meta(func):
            return False
        return not any(tag in func.tags for tag in _NOT_COMPARED_TAGS)

    def _fake_run(self, func: Any, args: Any, kwargs: Any) -> Any:
        """(outputs, fake arguments); None for arguments that have no fake counterpart."""
        from dispatch.pytree import tree_map_only
        from dispatch.symbolic import ShapeEnv  # dear at import

        try:
            with FakeTensorMode(shape_env=ShapeEnv()) as mode, warnings.catch_warnings():
                convert = functools.partial(mode.from_tensor, static_shapes=True)
                fake_in = tree_map_only(Tensor, convert, (args, kwargs))
                return func(*fake_in[0], **fake_in[1]), fake_in
        except UnsupportedFakeTensorException:
            return None

    def _compare(self, context: str, real: Any, real_in: Any, fake: Any, fake_in: Any) -> None:
        from dispatch.pytree import tree_leaves

        reals, fakes = tree_leaves(real), tree_leaves(fake)
        if len(reals) != len(fakes):
            raise AssertionError(f"{context}: {len(fakes)} outputs instead of {len(reals)}")
        if self.check_aliasing:
            check_alias_info(context, real, real_in, fake, fake_in)
        for i, (r, f) in enumerate(zip(reals, fakes, strict=True)):
            if isinstance(r, Tensor) != isinstance(f, Tensor):
                raise AssertionError(f"{context}: output {i}: one is a tensor, one is not")
            if isinstance(r, Tensor):
                check_tensors(f"{context}: output {i}", r, f, strides=self.check_strides)
