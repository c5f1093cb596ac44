"""How a written view is written back: for each view operator, the base with the view's new values.

`wrappers` calls these when it works a write into the base (ATen's FunctionalInverses). Below
`functionalize(remove="mutations_and_views")` an inverse must not view either: `_call` then takes
the operator's `_copy` variant.
"""

from typing import Any

from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.functional.wrappers import _set_view_inverse

_aten = ops.aten


def _call(meta: Any, op: Any, *args: Any) -> Any:
    """`op`, or the operator that copies what `op` views."""
    if meta.reapply_views:
        return op(*args)
    name = op.name().partition("::")[2].partition(".")[0]
    return getattr(getattr(_aten, name + "_copy"), op._overloadname)(*args)


def _given(meta: Any, *defaults: Any) -> tuple[Any, ...]:
    return meta.args + defaults[len(meta.args) :]


def _as_strided(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _aten.as_strided_scatter.default(base, mutated, *meta.args)


def _diagonal(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _aten.diagonal_scatter.default(base, mutated, *meta.args)


def _select(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _aten.select_scatter.default(base, mutated, *meta.args)


def _slice(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _aten.slice_scatter.default(base, mutated, *meta.args)


def _unbind(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    (dim,) = _given(meta, 0)
    return _aten.select_scatter.default(base, mutated, dim, meta.out_index)


def _split(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    split_size, dim = _given(meta, None, 0)
    dim %= base.ndim
    start = meta.out_index * split_size
    end = min(start + split_size, base.shape[dim])
    return _aten.slice_scatter.default(base, mutated, dim, start, end, 1)


def _split_with_sizes(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    sizes, dim = _given(meta, None, 0)
    start = sum(sizes[: meta.out_index])
    end = start + sizes[meta.out_index]
    return _aten.slice_scatter.default(base, mutated, dim % base.ndim, start, end, 1)


def _permute(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    dims = [d % len(meta.args[0]) for d in meta.args[0]]
    back = [dims.index(i) for i in range(len(dims))]
    return _call(meta, _aten.permute.default, mutated, back)


def _transpose(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten.transpose.int, mutated, *meta.args)


def _t(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten.t.default, mutated)


def _view(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten.view.default, mutated, list(base.shape))


def _unsafe_view(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    if meta.reapply_views:
        return _aten._unsafe_view.default(mutated, list(base.shape))
    return _aten.view_copy.default(mutated, list(base.shape))


def _view_dtype(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten.view.dtype, mutated, base.dtype)


def _view_of_any_kind(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    """`view` with a list of sizes or with a dtype: both are called aten::view."""
    kind = _view if isinstance(meta.args[0], (list, tuple)) else _view_dtype
    return kind(base, mutated, meta)


def _reshape_alias(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten._reshape_alias.default, mutated, list(base.shape), list(base.stride()))


def _unsqueeze(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten.squeeze.dim, mutated, meta.args[0])


def _squeeze(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    """Put back the dimensions of size 1: all, or those of `meta`."""
    chosen = range(base.ndim)
    if meta.args:
        dims = meta.args[0] if isinstance(meta.args[0], (list, tuple)) else [meta.args[0]]
        chosen = sorted({d % max(base.ndim, 1) for d in dims})  # type: ignore[assignment]
    result = mutated
    changed = False
    for d in chosen:
        if base.ndim and base.shape[d] == 1:
            result = _call(meta, _aten.unsqueeze.default, result, d)
            changed = True
    return result if changed else _same(base, result, meta)


def _same(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    """The view was the base itself."""
    return mutated


def _alias(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten.alias.default, mutated)


def _detach(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return mutated


def _sum_to(t: Tensor, shape: list[int], meta: Any) -> Tensor:
    """Sum over the dimensions that broadcasting gave a tensor of `shape`."""
    leading = t.ndim - len(shape)
    dims = list(range(leading))
    dims += [i for i in range(leading, t.ndim) if shape[i - leading] == 1 and t.shape[i] != 1]
    if dims:
        t = _aten.sum.dim_IntList(t, dims, True)
    if leading:
        return _call(meta, _aten.view.default, t, shape)
    return t if meta.reapply_views else _aten.clone.default(t)


def _expand(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    difference = _aten.sub.Tensor(mutated, base)
    return _aten.add.Tensor(base, _sum_to(difference, list(base.shape), meta))


def _unfold(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    """What no window covers stays: PyTorch writes 0 there."""
    dim, size, step = meta.args
    if meta.reapply_views and size > step:
        raise RuntimeError(
            f"{meta.name}: functionalization encountered a tensor being mutated that has internal "
            "overlap, which it cannot write back; clone it first"
        )
    sizes = list(base.shape)
    result = _aten.unfold_backward.default(mutated, sizes, dim, size, step)
    covered = base.ndim == 0 or (size >= step and (sizes[dim] - size) % step == 0)
    if covered:
        return result
    windows = _aten.unfold_backward.default(_aten.ones_like.default(mutated), sizes, *meta.args)
    return _aten.where.self(_aten.ne.Scalar(windows, 0), result, base)


def _view_as_real(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten.view_as_complex.default, mutated)


def _view_as_complex(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten.view_as_real.default, _aten.resolve_conj.default(mutated))


def _conj(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten._conj.default, mutated)


def _neg_view(base: Tensor, mutated: Tensor, meta: Any) -> Tensor:
    return _call(meta, _aten._neg_view.default, mutated)


for _name, _inverse in {
    "_conj": _conj,
    "_neg_view": _neg_view,
    "_reshape_alias": _reshape_alias,
    "_unsafe_view": _unsafe_view,
    "alias": _alias,
    "as_strided": _as_strided,
    "detach": _detach,
    "diagonal": _diagonal,
    "expand": _expand,
    "permute": _permute,
    "select": _select,
    "slice": _slice,
    "split": _split,
    "split_with_sizes": _split_with_sizes,
    "squeeze": _squeeze,
    "t": _t,
    "transpose": _transpose,
    "unbind": _unbind,
    "unfold": _unfold,
    "unsqueeze": _unsqueeze,
    "view": _view_of_any_kind,
    "view_as_complex": _view_as_complex,
    "view_as_real": _view_as_real,
}.items():
    _set_view_inverse("aten::" + _name, _inverse)
