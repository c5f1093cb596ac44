"""Counting floating-point operations while a program runs (torch.utils.flop_counter).

The formulas stand in `formulas`; the mode counts the operators that PyTorch's counts
(`flop_registry`), and those that `register_flop_formula` and `custom_mapping` add. Counts are kept
by operator packet and by module: what `counter.module(name)` blocks say, objects with
`named_children()` and hooks, given as `mods`, and classes that announce their calls
(`announce_modules`: `torch.nn.Module` under `dispatch.as_torch`).
"""

from __future__ import annotations

import contextlib
import functools
import warnings
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dispatch import pytree
from dispatch._C.mode import TorchDispatchMode
from dispatch._C.overload import OpOverloadPacket
from dispatch._C.tensor import Tensor
from dispatch._ops import HigherOrderOperator, ops
from dispatch.tools.formulas import FlopCall, count_flops

__all__ = [
    "FlopCounterMode",
    "addmm_flop",
    "baddbmm_flop",
    "bmm_flop",
    "conv_backward_flop",
    "conv_flop",
    "conv_flop_count",
    "flop_registry",
    "mm_flop",
    "register_flop_formula",
    "sdpa_flop",
    "sdpa_flop_count",
    "shape_wrapper",
]

flop_registry: dict[Any, Callable[..., int]] = {}


def _shape_of(value: Any) -> Any:
    return value.shape if isinstance(value, Tensor) else value


def shape_wrapper(f: Callable[..., int]) -> Callable[..., int]:
    """`f` with shapes for tensors: `f(*args, out_shape=..., **kwargs)`."""

    @functools.wraps(f)
    def formula(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        args, kwargs, out_shape = pytree.tree_map(_shape_of, (args, kwargs, out_val))
        return f(*args, out_shape=out_shape, **kwargs)

    return formula


def register_flop_formula(
    targets: Any, get_raw: bool = False
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A decorator that registers a formula for operator packets (one, or a nest of them).

    The formula takes the call's arguments, tensors as shapes, and `out_shape`; with `get_raw` the
    tensors themselves and `out_val`.

    Raises:
        ValueError: a target is no OpOverloadPacket or higher-order operator.
        RuntimeError: it has a formula already.
    """

    def register(formula: Callable[..., int]) -> Callable[..., int]:
        if not get_raw:
            formula = shape_wrapper(formula)
        for target in pytree.tree_leaves(targets):
            if not isinstance(target, (OpOverloadPacket, HigherOrderOperator)):
                raise ValueError(
                    "register_flop_formula: expected each target to be OpOverloadPacket or "
                    "HigherOrderOperator, "
                    f"got {target} of type {type(target).__name__}"
                )
            if target in flop_registry:
                raise RuntimeError(
                    f"register_flop_formula: duplicate registrations for {target}: it has a formula"
                )
            flop_registry[target] = formula
        return formula

    return register


# The operators that PyTorch's registry has, which programs look formulas up in and call.
_REGISTERED = """
    mm addmm bmm baddbmm _scaled_mm convolution _convolution cudnn_convolution
    convolution_overrideable _slow_conv2d_forward convolution_backward
    _scaled_dot_product_efficient_attention _scaled_dot_product_flash_attention
    _scaled_dot_product_cudnn_attention
    """


def _formula_of(name: str) -> Callable[..., int]:
    """The formula of `aten::NAME` in PyTorch's form: shapes as arguments, and `out_shape`."""
    packet = getattr(ops.aten, name)
    names = [a.name for a in getattr(packet, packet.overloads()[0])._schema.arguments]

    def formula(*args: Any, out_shape: Any = None, **kwargs: Any) -> int:
        given = dict(zip(names, args, strict=False)) | kwargs
        outputs = [] if out_shape is None else [out_shape]
        return count_flops(f"aten::{name}", FlopCall(given, outputs))

    formula.__name__ = name.lstrip("_") + "_flop"
    formula.__doc__ = f"Operations of one call of aten::{name}, by the shapes of its tensors."
    return register_flop_formula(packet)(formula)


_formulas = {name: _formula_of(name) for name in _REGISTERED.split()}
mm_flop, addmm_flop, bmm_flop, baddbmm_flop, conv_flop, conv_backward_flop, sdpa_flop = (
    _formulas[name]
    for name in (
        "mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward",
        "_scaled_dot_product_flash_attention",
    )
)  # fmt: skip


def conv_flop_count(
    x_shape: Sequence[int], w_shape: Sequence[int], out_shape: Sequence[int],
    transposed: bool = False,
) -> int:  # fmt: skip
    """Operations of a convolution: two for each weight at each place (transposed: of the input)."""
    given = {"input": x_shape, "weight": w_shape, "transposed": transposed}
    return count_flops("aten::convolution", FlopCall(given, [tuple(out_shape)]))


def sdpa_flop_count(
    query_shape: Sequence[int], key_shape: Sequence[int], value_shape: Sequence[int]
) -> int:
    """Operations of attention: scores, and their product with the values."""
    given = {"query": query_shape, "key": key_shape, "value": value_shape}
    return count_flops("aten::scaled_dot_product_attention", FlopCall(given, []))


# (class of modules that announce their calls, and two functions that take a hook for all of them)
_announcing: list[tuple[type, Callable[..., Any], Callable[..., Any]]] = []


def announce_modules(cls: type, before: Callable[..., Any], after: Callable[..., Any]) -> None:
    """Let counters hear of every call of a class of modules.

    Args:
        before: takes `hook(module, args)` and gives a handle with `remove()`.
        after: the same of `hook(module, args, output)`.
    """
    _announcing.append((cls, before, after))


class _Modules:
    """Which modules are running: their names, and the hooks of those that were given."""

    def __init__(self, mods: Any) -> None:
        self.running: list[str] = []
        self.handles: list[Any] = []
        roots = [] if mods is None else list(mods) if isinstance(mods, list) else [mods]
        classes = tuple(cls for cls, _, _ in _announcing)
        if any(isinstance(root, classes) for root in roots):
            warnings.warn("mods is not needed: these modules announce their calls", stacklevel=3)
        self.roots = [root for root in roots if not isinstance(root, classes)]
        self.names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    def parents(self) -> set[str]:
        return {"Global", *self.running}

    def attach(self) -> None:
        for root in self.roots:
            self._attach(root, type(root).__name__)
        for _, before, after in _announcing:
            self.handles.append(before(lambda module, args: self.running.append(self.name(module))))
            self.handles.append(after(lambda module, args, out: self._leave(self.name(module))))

    def _leave(self, name: str) -> None:
        if name in self.running:
            self.running.remove(name)

    def name(self, module: Any) -> str:
        """The name below the first module that was called; its class's where that is itself."""
        if module not in self.names:
            self._enter(module, type(module).__name__)
        return self.names[module]

    def _enter(self, module: Any, name: str) -> None:
        self.names[module] = name
        for child_name, child in module.named_children():
            if child not in self.names:
                self._enter(child, f"{name}.{child_name}")

    def _attach(self, module: Any, name: str) -> None:
        def enter(*args: Any) -> None:
            self.running.append(name)

        def leave(*args: Any) -> None:
            self.running.remove(name)

        self.handles.append(module.register_forward_pre_hook(enter))
        self.handles.append(module.register_forward_hook(leave))
        for child_name, child in module.named_children():
            self._attach(child, f"{name}.{child_name}")

    def detach(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles.clear()
        self.running.clear()


class FlopCounterMode:
    """Counts the operations of its block; one block at a time.

    Args:
        mods: objects with `named_children()`, `register_forward_pre_hook(f)` and
            `register_forward_hook(f)`, whose calls are counted apart; or a list of them.
        depth: how deep `get_table` goes into modules.
        display: print the table at the end of the block.
        custom_mapping: formulas by packet, as `register_flop_formula` takes them.
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: Mapping[Any, Callable[..., int]] | None = None,
    ) -> None:
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth = depth
        self.display = display
        self.mode: _CountingMode | None = None
        custom = {
            packet: f if getattr(f, "_get_raw", False) else shape_wrapper(f)
            for packet, f in (custom_mapping or {}).items()
        }
        self.flop_registry = {**flop_registry, **custom}
        self._modules = _Modules(mods)

    def get_total_flops(self) -> int:
        """Operations of the last block."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Operations by module ("Global": all) and operator packet."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    @contextlib.contextmanager
    def module(self, name: str) -> Iterator[None]:
        """Calls in the block count for module `name` as well; blocks nest, with dotted names."""
        running = self._modules.running
        full = f"{running[-1]}.{name}" if running else name
        running.append(full)
        try:
            yield
        finally:
            running.remove(full)

    def get_table(self, depth: int | None = None) -> str:
        """The counts as text, modules down to `depth`."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        scale = _scale_of(total)
        rows: list[tuple[str, str, str]] = []
        all_in_modules = False
        for module in sorted(set(self.flop_counts) - {"Global"}):
            level = module.count(".") + 1
            if depth is None or level <= depth:
                rows += self._rows(module, level - 1, total, scale)
                all_in_modules |= sum(self.flop_counts[module].values()) >= total
        if "Global" in self.flop_counts and not all_in_modules:
            rows = self._rows("Global", 0, total, scale) + [(" " + a, b, c) for a, b, c in rows]
        return _table(rows or [("Global", "0", "0%")])

    def _rows(self, module: str, level: int, total: int, scale: int) -> list[tuple[str, str, str]]:
        pad = " " * level
        counts = self.flop_counts[module]
        lines = [(pad + module, sum(counts.values()))]
        lines += [(f"{pad} - {packet}", n) for packet, n in counts.items()]
        return [(text, _number(n, scale), _percent(n, total)) for text, n in lines]

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self._modules.attach()
        self.mode = _CountingMode(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        if self.mode is None:
            raise AssertionError("FlopCounterMode: left without having been entered")
        mode, self.mode = self.mode, None
        mode.__exit__(*exc)
        self._modules.detach()
        if self.display:
            print(self.get_table(self.depth))

    def _count(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        packet = func._overloadpacket
        formula = self.flop_registry.get(packet)
        if formula is None:
            return
        flops = formula(*args, **kwargs, out_val=out)
        for module in self._modules.parents():
            self.flop_counts[module][packet] += flops


class _CountingMode(TorchDispatchMode):
    """Runs each call and tells the counter; composite operators are counted by their parts."""

    supports_higher_order_operators = True

    def __init__(self, counter: FlopCounterMode) -> None:
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(
        self, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if isinstance(func, HigherOrderOperator):
            return NotImplemented
        if func._overloadpacket not in self.counter.flop_registry:
            parts = self._by_parts(func, args, kwargs)
            if parts is not NotImplemented:
                return parts
        out = func(*args, **kwargs)
        self.counter._count(func, args, kwargs, out)
        return out

    def _by_parts(self, func: Any, args: Any, kwargs: Any) -> Any:
        decompose = getattr(func, "decompose", None)
        if decompose is None:
            return NotImplemented
        with self:
            return decompose(*args, **kwargs)


# ---- text

_SUFFIXES = ("", "K", "M", "B", "T")


def _scale_of(number: int) -> int:
    """Which suffix: at least two digits stand before the point, 1.01 billion being 1010M."""
    return max(0, min(len(_SUFFIXES) - 1, (len(str(number)) - 2) // 3))


def _number(number: int, scale: int) -> str:
    return f"{number / 1000**scale:.3f}{_SUFFIXES[scale]}" if scale else str(number)


def _percent(part: int, total: int) -> str:
    return f"{part / total:.2%}" if total else "0%"


def _table(rows: list[tuple[str, str, str]]) -> str:
    """Columns as `tabulate` sets them: the first to the left, numbers to the right."""
    head = ("Module", "FLOP", "% Total")
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(3)]
    widths = [max(w, len(h) + 2) for w, h in zip(widths, head, strict=True)]

    def line(row: tuple[str, str, str]) -> str:
        first, second, third = row
        text = f"{first:<{widths[0]}}  {second:>{widths[1]}}  {third:>{widths[2]}}"
        return text.rstrip() if row is head else text

    return "\n".join([line(head), "  ".join("-" * w for w in widths), *map(line, rows)])
