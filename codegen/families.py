"""The Cython modules that are emitted: registration shards by family, adapters by signature.

The shard of a family (of kernels, or of their shape functions) holds one slot for each different
kernel, and the records of `ops.h` refer to (shard, slot). Adapters are spread over a few modules by
a hash of the signature's letters, so that a new signature changes one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from .model import Kernel, NativeFunction, Package
from .output import wrapped
from .rooms import KernelRef
from .signatures import Parameter, Signature, signature_of

__all__ = ["Adapter", "Layout", "Slot"]

_SIGNATURES_PER_MODULE = 48
_SLOTS_PER_FUNCTION = 32  # a C compiler takes much longer over one long function


class Adapter(NamedTuple):
    """What calls an unboxed kernel: for a plain one `n_out` is 0.

    `handed`: the body gets what the shape function worked out.
    """

    signature: Signature
    n_out: int = 0
    python_body: bool = False
    handed: bool = False

    @property
    def symbol(self) -> str:
        """The name of the emitted function."""
        return f"structured_{self.name}" if self.n_out else f"unbox_{self.signature.name}"

    @property
    def name(self) -> str:
        """What stands behind `structured_`, and behind `body_`."""
        tail = "_py" if self.python_body else "_handed" if self.handed else ""
        return f"{self.signature.name}_{self.n_out}{tail}"


class Slot(NamedTuple):
    """One entry of a shard's TABLE."""

    adapter: Adapter
    fn: KernelRef
    body: KernelRef | None


class Layout:
    """Which emitted module holds what; `module` is the dotted name of the emitted folder."""

    def __init__(self, package: Package, module: str) -> None:
        self.package = package
        self.module = module
        self._slots: dict[str, dict[Slot, list[str]]] = {}
        self._place: dict[tuple[str, Kernel], tuple[str, Slot]] = {}
        for f in package.functions:
            for kernel in package.kernels[f.name]:
                if kernel.is_cython:
                    self._add(f, kernel)
        self.families = sorted(self._slots)

    def _add(self, f: NativeFunction, kernel: Kernel) -> None:
        slot = self._slot_of(f, kernel)
        users = self._slots.setdefault(slot.fn.family, {}).setdefault(slot, [])
        users.append(f"{kernel.key}: {f.schema}")
        self._place[f.name, kernel] = slot.fn.family, slot

    def _slot_of(self, f: NativeFunction, kernel: Kernel) -> Slot:
        if kernel.shape is None:
            assert kernel.body is not None
            return Slot(Adapter(signature_of(f.schema.arguments)), kernel.body, None)
        if not kernel.shape.is_cython:
            raise self.package.group_of[f.name].leader.error(
                f"a body in Cython ({kernel.body and kernel.body.text}) needs a shape function in"
                f" Cython, expected {kernel.shape.function!r} in the .pxd of {kernel.shape.module}"
            )
        python_body = kernel.body is not None and not kernel.body.is_cython
        handed = kernel.body is not None and kernel.body.takes_handed
        adapter = Adapter(signature_of(f.plain_arguments), kernel.n_out, python_body, handed)
        return Slot(adapter, kernel.shape, kernel.body)

    def place(self, f: NativeFunction, kernel: Kernel) -> tuple[str, int]:
        """(family, slot) of a Cython kernel."""
        family, slot = self._place[f.name, kernel]
        return family, list(self._slots[family]).index(slot)

    def shard_module(self, family: str) -> str:
        """The dotted name of a family's registration shard."""
        return f"{self.module}.kernels_{family}"

    @cached_property
    def adapters(self) -> list[Adapter]:
        """Every adapter that some slot needs, sorted."""
        found = {slot.adapter for slots in self._slots.values() for slot in slots}
        return sorted(found)

    @cached_property
    def n_adapter_modules(self) -> int:
        """A power of two that grows with the number of signatures."""
        n = len({a.signature for a in self.adapters})
        return 1 << max(0, (n // _SIGNATURES_PER_MODULE).bit_length())

    def adapter_module(self, signature: Signature) -> str:
        """The dotted name of the module that has a signature's adapters."""
        return f"{self.module}.adapters_{signature.shard(self.n_adapter_modules)}"

    # -- views for the templates

    def kernel_view(self, family: str) -> dict[str, Any]:
        """The context of `kernels.pyx.j2`."""
        slots = self._slots[family]
        views = [_slot_view(i, slot, uses) for i, (slot, uses) in enumerate(slots.items())]
        refs = {r for s in slots for r in (s.fn, s.body) if r is not None}
        cython = {(r.module, r.alias) for r in refs if r.is_cython}
        return {
            "family": family,
            "adapter_imports": list(self._adapter_imports(slots)),
            "modules": [_module_view(m, a) for m, a in sorted(cython)],
            "n_slots": len(slots),
            "parts": [
                {"first": first, "slots": views[first : first + _SLOTS_PER_FUNCTION]}
                for first in range(0, len(views), _SLOTS_PER_FUNCTION)
            ],
        }

    def _adapter_imports(self, slots: Iterable[Slot]) -> Iterable[str]:
        return self._imports((s.adapter.signature, name) for s in slots for name in _names_of(s))

    def caller_imports(self) -> list[str]:
        """The lines of `calls.pxd`."""
        signatures = {a.signature for a in self.adapters}
        return list(self._imports((s, f"call_{s.name}") for s in signatures))

    def _imports(self, wanted: Iterable[tuple[Signature, str]]) -> Iterator[str]:
        names: dict[str, set[str]] = {}
        for signature, name in wanted:
            names.setdefault(self.adapter_module(signature), set()).add(name)
        for module in sorted(names):
            yield f"from {module} cimport (\n    {wrapped(sorted(names[module]), 4, 4)},\n)"

    def adapter_view(self, index: int) -> dict[str, Any]:
        """The context of the adapters' templates."""
        mine = [a for a in self.adapters if a.signature.shard(self.n_adapter_modules) == index]
        signatures = sorted({a.signature for a in mine})
        structured = [a for a in mine if a.n_out]
        return {
            "has_structured": bool(structured),
            "plain": [_signature_view(a.signature) for a in mine if not a.n_out],
            "shapes": [
                {"name": s.name, "types": _types(s, ["Spec*"])}
                for s in sorted({a.signature for a in structured})
            ],
            "bodies": [
                {
                    "adapter": a.name,
                    "types": _types(
                        a.signature, ["Tensor"] * a.n_out, ["const int64_t*"] * a.handed
                    ),
                }
                for a in structured
                if not a.python_body
            ],
            "structured": [_structured_view(a) for a in structured],
            "callers": [_signature_view(s) for s in signatures],
        }


def _names_of(slot: Slot) -> list[str]:
    adapter = slot.adapter
    name = adapter.signature.name
    if not adapter.n_out:
        return [adapter.symbol, f"fn_{name}"]
    names = [adapter.symbol, f"shape_{name}"]
    return names if adapter.python_body else [*names, f"body_{adapter.name}"]


def _module_view(module: str, alias: str) -> dict[str, str]:
    package, _, name = module.rpartition(".")
    return {"package": package, "name": name, "alias": alias}


def _slot_view(index: int, slot: Slot, uses: list[str]) -> dict[str, Any]:
    adapter = slot.adapter
    body_type = body = ""
    if slot.body is not None:
        if adapter.python_body:
            body = f'"{slot.body.text}"'
        else:
            body = f"{slot.body.alias}.{slot.body.function}"
            body_type = f"body_{adapter.name}"
    return {
        "index": index,
        "uses": uses,
        "adapter": adapter.symbol,
        "fn_type": ("shape_" if adapter.n_out else "fn_") + adapter.signature.name,
        "fn": f"{slot.fn.alias}.{slot.fn.function}",
        "body_type": body_type,
        "body": body,
    }


def _types(signature: Signature, first: list[str], last: list[str] | None = None) -> str:
    return wrapped(first + [p.ctype for p in signature.parameters] + (last or []), 32)


def _buffers(parameters: list[Parameter]) -> list[Parameter]:
    return [p for p in parameters if p.buffer]


def _signature_view(signature: Signature) -> dict[str, Any]:
    parameters = signature.parameters
    declared = ["OperatorEntry op", *(f"{p.ctype} {p.name}" for p in parameters)]
    return {
        "name": signature.name,
        "parameters": parameters,
        "buffers": _buffers(parameters),
        "types": _types(signature, []),
        "unboxed": wrapped((p.unboxed for p in parameters), 40),
        "declared": wrapped(declared, 20),
        "n_slots": max(1, signature.n_args),
    }


def _python_argument(p: Parameter, i: int) -> str:
    if p.letter == "T":
        return f"steady_object(args[{i}], {p.name})"
    return p.name if p.letter in "LO" else f"<object>args[{i}]"


def _any_of(conditions: list[str]) -> str:
    text = " or ".join(conditions)
    return text if len(text) < 80 else f"({f'{chr(10)}                or '.join(conditions)})"


def _structured_view(adapter: Adapter) -> dict[str, Any]:
    parameters = adapter.signature.parameters
    names = [p.name for p in parameters]
    outs = ["<Tensor>written"]
    is_long = "is_long(<Tensor>outputs)"
    if adapter.n_out > 1:
        outs = [f"<Tensor>PyTuple_GET_ITEM(written, {i})" for i in range(adapter.n_out)]
        is_long = "any_long(outputs)"
    short = [out.replace("written", "outputs") for out in outs]
    boxed = [_python_argument(p, i) for i, p in enumerate(parameters)]
    rest = names + ["specs.handed"] * adapter.handed
    taken = "".join(f"{p.name}, " if p.letter == "T" else "None, " for p in parameters)
    return {
        "name": adapter.signature.name,
        "adapter": adapter.name,
        "n_out": adapter.n_out,
        "outputs": list(range(adapter.n_out)),
        "python_body": adapter.python_body,
        "is_long": _any_of([is_long, *(p.is_long for p in parameters if p.is_long)]),
        "steady": [p for p in parameters if p.steady],
        "taken": taken.rstrip(),
        "parameters": parameters,
        "buffers": _buffers(parameters),
        "shape_arguments": wrapped(["specs", *names], 24),
        "body_arguments": wrapped([*outs, *rest], 32, 16),
        "short_arguments": wrapped([*short, *rest], 32, 16),
        "python_arguments": wrapped(outs + boxed, 24),
    }
