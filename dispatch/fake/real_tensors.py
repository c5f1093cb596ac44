"""Real tensors that run along with fake ones (FakeTensorMode.propagate_real_tensors).

Called by `propagate` around each call whose fake tensors all have a `real_tensor`.
"""

from typing import Any

from dispatch._C.guards import _DisableTorchDispatch
from dispatch._C.storage import Storage
from dispatch._C.tensor import Tensor
from dispatch.fake.exceptions import MetadataMismatchError
from dispatch.fake.fake_tensor import FakeTensor

__all__ = ["attach", "forget", "real_results"]


def _real(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_real(v) for v in value)
    if isinstance(value, FakeTensor):
        if value.real_tensor is None:
            raise LookupError
        return value.real_tensor
    if isinstance(value, Storage) and value.device.type == "meta":
        raise LookupError  # a fake tensor's: it has no bytes
    if hasattr(value, "node"):  # no guard: the fake run makes them
        if not value.node.has_hint():
            raise LookupError
        return value.node.hint
    return value


def _known_sizes(fake: Any, real: Any) -> tuple[Any, Any]:
    """The two shapes without those sizes that only the real tensor knows."""
    if len(fake) != len(real):
        return fake, real
    known = [
        (f, r) for f, r in zip(fake, real, strict=True)
        if not hasattr(f, "node") or f.node.has_hint()
    ]  # fmt: skip
    return [_real(f) for f, _ in known], [r for _, r in known]


def real_results(func: Any, args: Any, kwargs: Any) -> Any:
    """What the operator gives on the real values; NotImplemented when one is missing, and on a
    device that does not exist."""
    try:
        real_args = [_real(a) for a in args]
        real_kwargs = {k: _real(v) for k, v in kwargs.items()}
    except LookupError:
        return NotImplemented
    try:
        with _DisableTorchDispatch():
            return func(*real_args, **real_kwargs)
    except (ZeroDivisionError, NotImplementedError):
        return NotImplemented


def attach(func: Any, fake: Any, real: Any) -> None:
    """Give fake outputs their real ones.

    Raises: MetadataMismatchError when the two differ in sizes, dtype or offset.
    """
    if isinstance(fake, list | tuple):
        for f, r in zip(fake, real, strict=False):
            attach(func, f, r)
    elif isinstance(fake, FakeTensor) and isinstance(real, Tensor):
        for name, f, r in (
            ("shape", *_known_sizes(fake.shape, real.shape)),
            ("dtype", fake.dtype, real.dtype),
            ("storage offset", fake.storage_offset(), real.storage_offset()),
        ):
            if f != r:
                raise MetadataMismatchError(f"{func}: {name}: fake {f}, real {r}")
        fake.real_tensor = real


def forget(fake: Any) -> None:
    """Take the real tensors from fake outputs whose real values are not known: arguments that were
    written to have old ones."""
    if isinstance(fake, list | tuple):
        for f in fake:
            forget(f)
    elif isinstance(fake, FakeTensor):
        fake.real_tensor = None
