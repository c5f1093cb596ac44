"""The text of a tensor, `tensor([1., 2.])`, in PyTorch's format. Imported when first needed.

Values are shown with four digits after the point, in scientific notation where they differ too
much, aligned in columns; large tensors by their edges; then what differs from the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.grad_mode import no_grad
from dispatch._C.keys import DispatchKey
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _dispatch_tls_is_dispatch_key_excluded
from dispatch._C.wrapper import has_handler
from dispatch._ops import ops
from dispatch.modes import resolve_name
from dispatch.modes.stack import _disable_current_modes
from dispatch.tensor.data import plain_values

__all__ = [
    "PRINT_OPTS", "get_printoptions", "print_as_wrapper", "printoptions", "render_call",
    "set_printoptions", "tensor_text",
]  # fmt: skip


_aten = ops.aten
_MOST_DIMS = 64  # of an array


@dataclass
class _Options:
    """How tensors are printed; `sci_mode` None: as the values ask for."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": _Options(),
    "short": _Options(precision=2, edgeitems=2),
    "full": _Options(threshold=float("inf")),
}
PRINT_OPTS = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Digits after the point, how many values are shown whole, how many at each edge, characters in
    a line (torch.set_printoptions).

    Args:
        profile: "default", "short" or "full" to start from.
        sci_mode: scientific notation always or never; None: where values differ much.
    """
    start = _PROFILES.get(profile) if profile is not None else None
    for field in ("precision", "threshold", "edgeitems", "linewidth"):
        given = locals()[field]
        if start is not None:
            setattr(PRINT_OPTS, field, getattr(start, field))
        if given is not None:
            setattr(PRINT_OPTS, field, given)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """The arguments of `set_printoptions` that hold now."""
    return asdict(PRINT_OPTS)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """In the block tensors are printed so (the arguments of `set_printoptions`)."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def render_call(fn: Any, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
    """A call as text: `sum(tensor([...], size=(100,)), dim=0)`."""
    with printoptions(threshold=0, edgeitems=0):
        shown = [*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())]
    return f"{resolve_name(fn) or fn}({', '.join(shown)})"


# (a call up to the value, whether a tensor is shown so, what it holds, whether marks follow)
_wrappers: list[tuple[str, Callable[[Tensor], bool], Callable[[Tensor], Tensor], bool]] = []


def print_as_wrapper(
    call: str,
    is_wrapper: Callable[[Tensor], bool],
    value_of: Callable[[Tensor], Tensor],
    marked: bool = True,
) -> None:
    """Show tensors of a kind as a call, which is given up to what they hold; marks are autograd's,
    and a tensor on meta that has them is shown as any."""
    _wrappers.append((call, is_wrapper, value_of, marked))


_plain: set[type] = set()


def print_as_plain(cls: type) -> None:
    """Show tensors of exactly this class as `Tensor` is shown."""
    _plain.add(cls)


def tensor_text(self: Tensor, contents: str | None = None) -> str:
    """What `repr` shows; `contents` stands for the values, which nobody reads then."""
    if type(self) is Tensor or type(self) in _plain:
        return _text(self, "tensor(", contents)
    text = _text(self, f"{type(self).__name__}(", contents)
    mark = getattr(self, "_mark_text", None)  # what a parameter says of itself
    if mark is None and getattr(self, "_is_param", False):
        mark = "Parameter"  # its fake counterpart
    return f"{mark}({text})" if mark else text


def _text(self: Tensor, prefix: str, contents: str | None) -> str:
    if contents is not None:
        without_values = _is_fake(self) or self.device.type == "meta"
        return _joined(prefix, contents, _suffixes(self, without_values))
    values = _values_of(self) if self.ndim <= _MOST_DIMS else None
    suffixes = _suffixes(self, values is None)
    for call, is_wrapper, value_of, marked in _wrappers:
        if not marked and is_wrapper(self):
            return f"{call}{value_of(self)!r})"
        if is_wrapper(self) and self.device.type != "meta":
            said = ("dtype=", "size=")
            suffixes = [s for s in suffixes if not s.startswith(said)]
            return _joined(call, repr(value_of(self)), suffixes)
    if values is None:
        return _joined(prefix, "...", suffixes)
    if self.numel() == 0:
        return _joined(prefix, "[]", suffixes)
    if PRINT_OPTS.edgeitems == 0 and self.ndim and self.numel() > PRINT_OPTS.threshold:
        return _joined(prefix, "[...]", suffixes)
    if _is_handled(values):
        with no_grad(), _disable_current_modes():
            shown = np.array(_by_handler(values, self.numel() > PRINT_OPTS.threshold))
    elif values.data_ptr():
        shown = _shown(plain_values(values))
    else:
        return _joined(prefix, "...", suffixes)
    return _joined(prefix, _array_text(shown, tuple(self.shape), len(prefix)), suffixes)


def _is_handled(self: Tensor) -> bool:
    """Whether its class says what its values are: it has a handler, and handlers are not off."""
    return has_handler(self) and not _dispatch_tls_is_dispatch_key_excluded(DispatchKey.Python)


def _by_handler(self: Tensor, summarized: bool) -> Any:
    """The values in lists, read by calls that the class handles; long dimensions by their edges.

    Raises: what the handler raises; RuntimeError for a row that is still of a class with a handler
    and has no `tolist` of its own.
    """
    edge = PRINT_OPTS.edgeitems
    n = self.shape[0] if self.ndim else 1
    cut = summarized and n > 2 * edge
    if self.ndim == 0:
        return self.item()
    if self.ndim == 1:
        return (_aten.cat.default([self[:edge], self[-edge:]]) if cut else self).tolist()
    rows = (*range(edge), *range(n - edge, n)) if cut else range(n)
    return [_by_handler(self[i], summarized) for i in rows]


def _values_of(self: Tensor) -> Tensor | None:
    """The tensor on the CPU, copied by the kernels that its device has; None without values."""
    if self.device.type == "cpu" and not _is_fake(self):
        return self
    if has_handler(self) or self.device.type == "meta":
        return None
    try:
        return self.detach().to("cpu")
    except (NotImplementedError, RuntimeError):  # nobody registered what moves it
        return None


def _is_fake(self: Tensor) -> bool:
    """Whether it is a FakeTensor, which has no values on any device."""
    return hasattr(self, "fake_mode")


def _suffixes(self: Tensor, without_values: bool) -> list[str]:
    found = []
    on_cpu = self.device.type == "cpu"
    if not on_cpu:
        found.append(f"device='{self.device}'")
    hidden = self.ndim != 1 if self.numel() == 0 else PRINT_OPTS.edgeitems == 0
    if without_values or hidden:
        found.append(f"size={tuple(self.shape)}")
    if not _is_usual(self, without_values or self.numel() == 0):
        found.append(f"dtype={self.dtype}")
    try:
        made_by = self.grad_fn
    except RuntimeError:
        found.append("grad_fn=<Invalid>")
        return found
    if made_by is not None:
        found.append(f"grad_fn=<{made_by.name().rpartition(':')[2]}>")
    elif self.requires_grad:
        found.append("requires_grad=True")
    return found


def _is_usual(self: Tensor, hidden: bool) -> bool:
    """Whether the dtype goes without saying: the values show it, or it is the default."""
    default = dtypes.get_default_dtype()
    if self.dtype == default:
        return True
    if hidden:
        return False
    return self.dtype in (dtypes.int64, dtypes.bool) or self.dtype == dtypes.promote_types(
        default, dtypes.complex32
    )


def _joined(prefix: str, text: str, suffixes: list[str]) -> str:
    """Suffixes go on while they fit in the line, each in a line of its own otherwise."""
    out = prefix + text
    line = len(out) - out.rfind("\n") + 1
    for suffix in suffixes:
        if line + len(suffix) + 2 > PRINT_OPTS.linewidth:
            out += ",\n" + " " * len(prefix) + suffix
            line = len(prefix) + len(suffix)
        else:
            out += ", " + suffix
            line += len(suffix) + 2
    return out + ")"


def _shown(values: np.ndarray) -> np.ndarray:
    """The values without the middle of long dimensions, when there are many."""
    if values.size > PRINT_OPTS.threshold:
        for dim, n in enumerate(values.shape):
            if n > 2 * PRINT_OPTS.edgeitems:
                values = np.take(
                    values,
                    [*range(PRINT_OPTS.edgeitems), *range(n - PRINT_OPTS.edgeitems, n)],
                    axis=dim,
                )
    return values


def _array_text(values: np.ndarray, whole: tuple[int, ...], indent: int) -> str:
    """`whole`: the sizes before the middle was left out."""
    if np.iscomplexobj(values):
        real, imag = _Format(values.real), _Format(values.imag)

        def one(v: Any) -> str:
            second = imag(v.imag).lstrip()
            sign = "" if second[0] in "-+" else "+"
            return f"{real(v.real)}{sign}{second}j"

        return _nested(values, whole, indent, one, real.width + imag.width + 1)
    form = _Format(values)
    return _nested(values, whole, indent, form, form.width)


def _nested(values: np.ndarray, whole: Any, indent: int, one: Any, width: int) -> str:
    if values.ndim == 0:
        return one(values[()])
    if values.ndim == 1:
        return _row(values, whole[0], indent, one, width)
    parts = [_nested(v, whole[1:], indent + 1, one, width) for v in values]
    if len(parts) < whole[0]:
        parts.insert(PRINT_OPTS.edgeitems, "...")
    gap = "," + "\n" * (values.ndim - 1) + " " * (indent + 1)
    return "[" + gap.join(parts) + "]"


def _row(values: np.ndarray, n: int, indent: int, one: Any, width: int) -> str:
    texts = [one(v) for v in values]
    if len(texts) < n:
        texts.insert(PRINT_OPTS.edgeitems, " ...")
    per_line = max(1, (PRINT_OPTS.linewidth - indent) // (width + 2))
    lines = [texts[i : i + per_line] for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


class _Format:
    """How the numbers of one tensor are written: all in the same way.

    The width is that of the finite numbers other than 0: what is wider stands out, as in PyTorch.
    """

    def __init__(self, values: np.ndarray) -> None:
        self.is_float = values.dtype.kind == "f"
        self.scientific, self.whole = False, True
        deciding = values.reshape(-1)
        if self.is_float:
            deciding = deciding[np.isfinite(deciding) & (deciding != 0)].astype(np.float64)
            self._choose(np.abs(deciding))
        self.width = max([len(self._text(v)) for v in deciding], default=1)

    def _choose(self, sizes: np.ndarray) -> None:
        if sizes.size:
            low, high = sizes.min(), sizes.max()
            self.whole = bool((sizes == np.ceil(sizes)).all())
            self.scientific = bool(high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4)
        if PRINT_OPTS.sci_mode is not None:
            self.scientific = PRINT_OPTS.sci_mode

    def _text(self, value: Any) -> str:
        if not self.is_float:
            return str(value)
        value = float(value)
        if self.scientific:
            return f"{value:.{PRINT_OPTS.precision}e}"
        if not self.whole:
            return f"{value:.{PRINT_OPTS.precision}f}"
        return f"{value:.0f}" + ("." if np.isfinite(value) else "")

    def __call__(self, value: Any) -> str:
        return self._text(value).rjust(self.width)
