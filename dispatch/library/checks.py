"""opcheck: does an operator do what its registrations say (torch.testing._internal.optests).

- `test_schema`: it writes and aliases what its schema says (`SchemaCheckMode`);
- `test_autograd_registration`: when an output requires grad, a kernel stands at an autograd key (of
  the library's own operators the fallback does);
- `test_faketensor`: on fake tensors its results have the same metadata (`CrossRefFakeMode`);
- `test_aot_dispatch_static`: it runs on fake tensors under any conditions, a second run gives the
  first one's values, and its gradient formula, run once on real and once on fake tensors, gives
  gradients of the arguments' sizes. PyTorch compiles the operator here;
- `test_aot_dispatch_dynamic`: the same with symbolic sizes, which must come out as the real ones
  for the arguments' sizes; a size that depends on values may be anything.

Each works on copies of the arguments, and passes when these are fake or Meta tensors.
"""

from collections.abc import Callable, Sequence
from typing import Any

from dispatch import modes, pytree
from dispatch._C.fallbacks import _get_autograd_fallback_mode, _set_autograd_fallback_mode
from dispatch._C.inspection import _dispatch_has_kernel_for_dispatch_key
from dispatch._C.overload import OpOverload, OpOverloadPacket
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.fake import CrossRefFakeMode, FakeTensor, FakeTensorMode
from dispatch.library.autograd import _Node
from dispatch.library.custom_ops import CustomOpDef
from dispatch.registry.schemas import is_builtin

__all__ = ["OpCheckError", "opcheck"]

_Check = Callable[..., None]
_OPCHECK_DEFAULT_UTILS = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_dynamic",
)


class OpCheckError(Exception):
    """An operator failed a check; `__cause__` is what the check raised."""


def _copied(t: Tensor) -> Tensor:
    return t.detach().clone().requires_grad_(t.requires_grad)


def _copies(value: Any) -> Any:
    return pytree.tree_map_only(Tensor, _copied, value)


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)]


def _has_values(value: Any) -> bool:
    """Whether no tensor in it is fake or on the Meta device: then there is something to compare."""
    return not any(isinstance(t, FakeTensor) or t.is_meta for t in _tensors(value))


def _test_schema(op: OpOverload, args: Any, kwargs: Any, **_: Any) -> None:
    with modes.SchemaCheckMode():
        op(*args, **kwargs)


def _test_autograd_registration(op: OpOverload, args: Any, kwargs: Any, **_: Any) -> None:
    tensors = _tensors((args, kwargs))
    if not any(t.requires_grad for t in tensors):
        return
    if is_builtin(op):  # the fallback at the autograd keys is theirs
        return
    devices = {t.device.type for t in tensors}
    if not devices <= {"cpu", "cuda", "xpu"}:
        raise NotImplementedError(f"{op}: cannot be checked on the devices {sorted(devices)}")
    backend = "CUDA" if "cuda" in devices else "CPU" if "cpu" in devices else "XPU"
    for key in (f"Autograd{backend}", "Autograd", "CompositeImplicitAutograd"):
        if _dispatch_has_kernel_for_dispatch_key(op.name(), key):
            return
    given = {id(t) for t in tensors}
    mode = _get_autograd_fallback_mode()
    _set_autograd_fallback_mode("nothing")
    try:
        outputs = _tensors(op(*args, **kwargs))
    finally:
        _set_autograd_fallback_mode(mode)
    if any(t.requires_grad and id(t) not in given for t in outputs):
        raise AssertionError(
            f"{op.name()}: an output requires grad, but the operator does not have an autograd "
            "kernel: one that records gradients is incorrectly registered at a key below autograd"
        )


def _test_faketensor(op: OpOverload, args: Any, kwargs: Any, **_: Any) -> None:
    with CrossRefFakeMode(ignore_op_fn=is_builtin):
        op(*args, **kwargs)


def _test_dynamic(op: OpOverload, args: Any, kwargs: Any, **tolerances: float | None) -> None:
    from dispatch.symbolic import ShapeEnv  # dear at import

    _test_tracing(op, args, kwargs, shape_env=ShapeEnv(), **tolerances)


def _test_tracing(
    op: OpOverload,
    args: Any,
    kwargs: Any,
    *,
    rtol: float | None,
    atol: float | None,
    shape_env: Any = None,
) -> None:
    _refuse_aliases(op)
    fresh = _copies((args, kwargs))
    with FakeTensorMode(shape_env=shape_env) as mode:
        a, kw = pytree.tree_map_only(Tensor, mode.from_tensor, fresh)
        fake = op(*a, **kw)
        fake_grads = _gradients(op, fake)
    first = op(*args, **kwargs)
    again = op(*fresh[0], **fresh[1])
    _compare_values(op, first, again, rtol, atol)
    real, made = _tensors(first), _tensors(fake)
    if not _same_metadata(real, made):
        raise AssertionError(f"{op}: fake and real tensors give different results")
    grads = _gradients(op, first)
    if not _same_metadata(grads, fake_grads):
        raise AssertionError(f"{op}: its formula gives other gradients on fake tensors")


def _refuse_aliases(op: OpOverload) -> None:
    """RuntimeError for an operator of others that returns what it was given."""
    if not is_builtin(op) and any(r.alias_info is not None for r in op._schema.returns):
        raise RuntimeError(
            f"{op}: We only support functionalizing operators whose outputs do not have alias "
            f"annotations (e.g. 'Tensor(a)' is a Tensor with an alias annotation): {op._schema}"
        )


def _same_metadata(real: list[Tensor], fake: list[Tensor]) -> bool:
    return len(real) == len(fake) and all(map(_fits, real, fake))


def _fits(real: Tensor, fake: Tensor) -> bool:
    """Whether a fake tensor has the real one's metadata; symbolic sizes are what they are here."""
    for name in ("dtype", "device", "requires_grad"):
        if getattr(real, name) != getattr(fake, name):
            return False
    return real.dim() == fake.dim() and all(map(_is_size, real.shape, fake.shape))


def _is_size(real: int, fake: Any) -> bool:
    if isinstance(fake, int):
        return fake == real
    return not fake.node.has_hint() or int(fake.node.hint) == real


def _gradients(op: OpOverload, result: Any) -> list[Tensor]:
    """What the operator's formula gives for gradients of ones; RuntimeError when it has none."""
    outputs = _tensors(result)
    nodes = {id(t.grad_fn): t.grad_fn for t in outputs if isinstance(t.grad_fn, _Node)}
    return [g for node in nodes.values() for g in _tensors(node.apply(*_ones_like(result)))]


def _ones_like(result: Any) -> tuple[Any, ...]:
    def one(value: Any) -> Any:
        return ops.aten.ones_like(value.detach()) if isinstance(value, Tensor) else None

    flat = pytree.tree_leaves(result)
    return tuple(one(value) for value in flat)


# dtype -> relative and absolute tolerance (torch.testing.assert_close)
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex32": (1e-3, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def _compare_values(
    op: OpOverload, first: Any, second: Any, rtol: float | None, atol: float | None
) -> None:
    import numpy as np

    for a, b in zip(_tensors(first), _tensors(second), strict=True):
        if a.device.type != "cpu" or a.shape != b.shape:
            continue
        default = TOLERANCES.get(a.dtype.name, (0.0, 0.0))
        r, t = default if rtol is None or atol is None else (rtol, atol)
        x, y = (np.asarray(v.detach().numpy()) for v in (a, b))
        if x.dtype.kind == "V":  # bfloat16 and other types that numpy does not know
            x, y = x.astype(np.float32), y.astype(np.float32)
        try:
            _refuse_far(x, y, r, t)
        except ValueError as e:
            raise AssertionError(
                f"{op}: eager-mode PyTorch vs AOTDispatcher: two runs on the same arguments give "
                "different values"
            ) from e


def _refuse_far(x: Any, y: Any, rtol: float, atol: float) -> None:
    """ValueError for arrays that differ by more than the tolerances."""
    import numpy as np

    if not np.allclose(x, y, rtol=rtol, atol=atol):
        off = np.max(np.abs(x.astype(np.complex128) - y))
        raise ValueError(f"Absolute difference: {off} (up to {atol} + {rtol} of the value allowed)")


_CHECKS: dict[str, _Check] = {
    "test_schema": _test_schema,
    "test_autograd_registration": _test_autograd_registration,
    "test_faketensor": _test_faketensor,
    "test_aot_dispatch_static": _test_tracing,
    "test_aot_dispatch_dynamic": _test_dynamic,
}


def _one_overload(op: OpOverloadPacket) -> OpOverload:
    names = op.overloads()
    if len(names) != 1:
        raise RuntimeError(f"opcheck: {op} has several overloads, name one: {names}")
    found: OpOverload = getattr(op, names[0])
    return found


def _chosen(test_utils: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(test_utils, str):
        test_utils = tuple(_CHECKS) if test_utils == "ALL" else (test_utils,)
    if not isinstance(test_utils, (tuple, list)) or not set(test_utils) <= set(_CHECKS):
        raise ValueError(
            f"opcheck: expected test_utils to be subset of {tuple(_CHECKS)}, got {test_utils}"
        )
    return tuple(test_utils)


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = _OPCHECK_DEFAULT_UTILS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Check that an operator does, on sample arguments, what its registrations say.

    Args:
        test_utils: which checks, by name; one or several, default all.
        raise_exception: False: failures are returned in the result instead of raised.
        atol, rtol: tolerances where values are compared; both or none.

    Returns:
        A dict from the check's name to "SUCCESS" or to what it raised.

    Raises:
        OpCheckError: a check failed.
        ValueError: unknown checks; one tolerance without the other; `op` is no operator.

    Source of the semantics: torch.library.opcheck.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("opcheck: give both of rtol and atol, or none")
    if isinstance(op, CustomOpDef):
        op = op._opoverload
    if isinstance(op, OpOverloadPacket):
        op = _one_overload(op)
    if not isinstance(op, OpOverload):
        raise ValueError(f"opcheck: expected an OpOverload or a custom operator, got {type(op)}")
    given = kwargs or {}
    results: dict[str, Any] = {}
    compares = _has_values((args, given))
    for name in _chosen(test_utils):
        try:
            if compares:
                a, kw = _copies((args, given))
                _CHECKS[name](op, a, kw, rtol=rtol, atol=atol)
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(f"opcheck: {op}: {name} failed: {error}") from error
            results[name] = error
    return results
