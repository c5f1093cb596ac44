"""Registrations that do not stand in a dispatch table (torch._library.simple_registry).

One entry for each operator overload: its fake kernels, its `__torch_dispatch__` rules by class,
its effect, its arguments in symmetric memory.
"""

from collections.abc import Callable
from typing import Any

from dispatch._C.python_kernel import _torch_dispatch_rules
from dispatch.registry.effects import EffectHolder
from dispatch.registry.fake_kernels import FakeImplHolder
from dispatch.registry.handles import RegistrationHandle

__all__ = ["SimpleLibraryRegistry", "SimpleOperatorEntry", "SymmMemArgsHolder", "singleton"]


class SimpleLibraryRegistry:
    """Entries by qualified name, overload included."""

    def __init__(self) -> None:
        self._data: dict[str, SimpleOperatorEntry] = {}

    def find(self, qualname: str) -> "SimpleOperatorEntry":
        """The entry of an operator, made when there is none."""
        found = self._data.get(qualname)
        if found is None:
            found = self._data[qualname] = SimpleOperatorEntry(qualname)
        return found

    def get(self, qualname: str) -> "SimpleOperatorEntry | None":
        """The entry of an operator, or None."""
        return self._data.get(qualname)


class SimpleOperatorEntry:
    """What is registered for one operator."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname
        self.fake_impl = FakeImplHolder(qualname)
        self.torch_dispatch_rules = GenericTorchDispatchRuleHolder(qualname)
        self.effect = EffectHolder(qualname)
        self.symm_mem_args = SymmMemArgsHolder(qualname)

    @property
    def abstract_impl(self) -> FakeImplHolder:
        """The older name of `fake_impl`."""
        return self.fake_impl


class GenericTorchDispatchRuleHolder:
    """What modes and tensor subclasses run for one operator instead of `__torch_dispatch__`."""

    def __init__(self, qualname: str) -> None:
        self._data: dict[type, Callable[..., Any]] = {}
        self.qualname = qualname

    def register(self, torch_dispatch_class: type, func: Callable[..., Any]) -> RegistrationHandle:
        """Add the rule of a class; RuntimeError when it has one."""
        if self.find(torch_dispatch_class):
            raise RuntimeError(
                f"{self.qualname}: {torch_dispatch_class} has a __torch_dispatch__ rule already"
            )
        self._data[torch_dispatch_class] = func
        _torch_dispatch_rules[self.qualname] = self._data
        return RegistrationHandle(lambda: self._remove(torch_dispatch_class))

    def _remove(self, torch_dispatch_class: type) -> None:
        del self._data[torch_dispatch_class]
        if not self._data:
            del _torch_dispatch_rules[self.qualname]

    def find(self, torch_dispatch_class: type) -> Callable[..., Any] | None:
        """The rule of exactly this class, or None."""
        return self._data.get(torch_dispatch_class)


class SymmMemArgsHolder:
    """Names of the arguments that have to lie in symmetric memory; None when none was said."""

    def __init__(self, qualname: str) -> None:
        self._symm_mem_args: list[str] | None = None
        self.qualname = qualname

    def register(self, arg_names: list[str]) -> RegistrationHandle:
        """Set the names; ValueError for an empty list."""
        if not arg_names:
            raise ValueError(f"{self.qualname}: no names of arguments were given")
        self._symm_mem_args = list(dict.fromkeys(arg_names))
        return RegistrationHandle(self._clear)

    def _clear(self) -> None:
        self._symm_mem_args = None

    def get(self) -> list[str] | None:
        """The names, in the order given."""
        return self._symm_mem_args

    def is_registered(self) -> bool:
        """Whether names were given."""
        return self._symm_mem_args is not None

    def is_symm_mem_arg(self, arg_name: str) -> bool:
        """Whether the argument is one of them."""
        return arg_name in (self._symm_mem_args or ())


singleton = SimpleLibraryRegistry()
