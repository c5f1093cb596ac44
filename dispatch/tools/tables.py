"""What a dispatch table becomes by registrations: for learning (torch._python_dispatcher).

`PythonDispatcher` has an operator of its own, registers made-up kernels (`fn_CPU`) at the keys
that one names, and prints what was registered and what serves each key then. One backend of each
kind stands for its like: CPU, FPGA without autograd of its own, XLA and Lazy out of tree.
"""

import re
from collections.abc import Sequence
from typing import ClassVar

from dispatch._C.inspection import _dispatch_dump, _dispatch_dump_table
from dispatch._C.registration import _dispatch_library

__all__ = ["PythonDispatcher"]

# A built-in fallback: the reason alone is printed.
_FALLBACK = re.compile(r"registered at .*FallbackKernel\.cpp.*(\[)")


class PythonDispatcher:
    """An operator `foo(Tensor x) -> Tensor` on which keys are tried; it goes with the object.

    >>> from dispatch.tools import PythonDispatcher
    >>> tried = PythonDispatcher()
    >>> tried.register(["CPU", "CompositeImplicitAutograd"])
    >>> print(tried.dispatchTable())
    <BLANKLINE>
    Computed Dispatch Table
    key             kernel
    ---------------------------
    CPU             fn_CPU [kernel]
    ...
    AutogradXLA     fn_CompositeImplicitAutograd [math kernel]
    ...
    """

    namespace: ClassVar[str] = "__test__"
    name: ClassVar[str] = "foo"
    runtime_keys: ClassVar[list[str]] = [
        *("CPU", "AutogradCPU", "FPGA", "AutogradOther"),
        *("XLA", "AutogradXLA", "Lazy", "AutogradLazy"),
    ]
    alias_keys: ClassVar[list[str]] = [
        "CompositeExplicitAutograd",
        "Autograd",
        "CompositeImplicitAutograd",
    ]
    supported_keys: ClassVar[list[str]] = runtime_keys + alias_keys

    def __init__(self) -> None:
        self.ref = _dispatch_library("FRAGMENT", self.namespace, "")
        self.ref.def_(f"{self.name}(Tensor x) -> Tensor")

    def keys(self) -> list[str]:
        """The keys that `register` takes."""
        return self.supported_keys

    def register(self, dispatchKeys: Sequence[str]) -> None:
        """Register a made-up kernel at each of these keys.

        Raises:
            RuntimeError: a key twice, an unknown one, both composite keys.
        """
        if len(set(dispatchKeys)) != len(dispatchKeys):
            raise RuntimeError(f"Overridden is not allowed but found duplicates in {dispatchKeys}.")
        if {"CompositeImplicitAutograd", "CompositeExplicitAutograd"} <= set(dispatchKeys):
            raise RuntimeError(
                "Registration to both CompositeImplicitAutograd and CompositeExplicitAutograd is "
                "not allowed."
            )
        for key in dispatchKeys:
            if key not in self.supported_keys:
                raise RuntimeError(
                    f"{key} is not supported, please select a dispatch key in "
                    f"{self.supported_keys}."
                )
            self.ref.impl_t_t(self.name, dispatch=key, debug=f"fn_{key}")

    def rawRegistrations(self) -> str:
        """What `_dispatch_dump` says of the operator."""
        return _dispatch_dump(f"{self.namespace}::{self.name}")

    def rawDispatchTable(self) -> str:
        """What `_dispatch_dump_table` says of the operator."""
        return _dispatch_dump_table(f"{self.namespace}::{self.name}")

    def registrations(self) -> str:
        """The keys that have a kernel, alias keys too, and the kernels."""
        rows = []
        for line in self.rawRegistrations().splitlines():
            key, _, rest = line.partition(": ")
            if key.removesuffix("[alias]") in self.supported_keys:
                rows.append((key, rest.partition(" ::")[0]))
        return _page("Registered Kernels", rows)

    def dispatchTable(self) -> str:
        """What serves each key, and why."""
        rows = []
        for line in self.rawDispatchTable().splitlines():
            key, _, rest = line.partition(": ")
            if key in self.runtime_keys:
                rows.append((key, _FALLBACK.sub(r"\1", rest)))
        return _page("Computed Dispatch Table", rows)


def _page(title: str, rows: list[tuple[str, str]]) -> str:
    head = f"\n{title}\n{'key':<15} kernel\n---------------------------\n"
    return head + "".join(f"{key:<15} {kernel}\n" for key, kernel in rows)
