"""`torch.nn.Module`: names for tensors and modules, and a call of `forward`.

A module's parameters, buffers and modules are in three dicts, by name; everything else is plain
attributes. Hooks, which observe calls, are there for the call alone.
"""

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

import dispatch
from dispatch._C.advice import advise
from dispatch.as_torch.nn.modules.hooks import (
    BackwardHooks,
    RemovableHandle,
    enter,
    kind_of_backward,
    marked,
)
from dispatch.as_torch.nn.modules.state import STATE_ROOMS, State
from dispatch.as_torch.nn.parameter import Buffer, Parameter
from dispatch.as_torch.nn.parsing import _parse_to
from dispatch.modes.subclasses import is_traceable_wrapper_subclass
from dispatch.tools import flops

__all__ = [
    "Module", "register_module_backward_hook", "register_module_buffer_registration_hook",
    "register_module_forward_hook", "register_module_forward_pre_hook",
    "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]  # fmt: skip

Tensor = dispatch.Tensor
T = TypeVar("T", bound="Module")


_HOOK_ROOMS = (
    "_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called",
    "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_backward_hooks",
    "_backward_pre_hooks", *STATE_ROOMS,
)  # fmt: skip
# Hooks of all modules.
_global_forward_hooks: OrderedDict[int, Any] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Any] = OrderedDict()
_global_backward_pre_hooks: OrderedDict[int, Any] = OrderedDict()
_global_is_full_backward_hook: bool | None = None
# By what is registered: hooks that see it, and may give another for it.
_global_registration_hooks: dict[str, OrderedDict[int, Any]] = {
    kind: OrderedDict() for kind in ("parameter", "buffer", "module")
}


class Module(BackwardHooks, State):
    """The base of modules (torch.nn.Module): `forward` is for the subclass to write."""

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _forward_hooks: OrderedDict[int, Any]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Any]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    call_super_init: ClassVar[bool] = False
    dump_patches: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = [*map(repr, args), *(f"{name}=" for name in kwargs)]
        if given:
            raise TypeError(
                f"{type(self).__name__}.__init__() got unexpected arguments: {', '.join(given)}"
            )
        for name in ("_parameters", "_buffers", "_modules"):
            object.__setattr__(self, name, {})
        for name in _HOOK_ROOMS:
            object.__setattr__(self, name, OrderedDict())
        object.__setattr__(self, "_non_persistent_buffers_set", set())
        object.__setattr__(self, "training", True)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What a call computes."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (
            self._forward_hooks or self._forward_pre_hooks
            or _global_forward_hooks or _global_forward_pre_hooks
        ):  # fmt: skip
            return self.forward(*args, **kwargs)
        called: set[int] = set()
        result = None
        try:
            args, kwargs = self._before(args, kwargs)
            result = self.forward(*args, **kwargs)
            return self._after(args, kwargs, result, called)
        except Exception:
            self._in_any_case(args, kwargs, result, called)
            raise

    _call_impl = __call__

    def _replicate_for_data_parallel(self) -> "Module":
        """A module over the same values, without parameters of its own."""
        made = type(self).__new__(type(self))
        made.__dict__ = dict(self.__dict__, _parameters={}, _is_replica=True)
        made._buffers, made._modules = self._buffers.copy(), self._modules.copy()
        return made

    def _before(self, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The arguments, after the hooks before a call."""
        for _, hook, named in (
            *marked(_global_forward_pre_hooks, {}),
            *marked(self._forward_pre_hooks, self._forward_pre_hooks_with_kwargs),
        ):
            changed = hook(self, args, kwargs) if named else hook(self, args)
            if changed is None:
                continue
            if not named:
                args = changed if isinstance(changed, tuple) else (changed,)
            elif isinstance(changed, tuple) and len(changed) == 2:
                args, kwargs = changed
            else:
                raise RuntimeError(
                    "a forward pre-hook with kwargs returns None or (args, kwargs), "
                    f"not {changed!r}"
                )
        return args, kwargs

    def _hooks_after(self) -> list[tuple[int, Callable[..., Any], bool]]:
        return [
            *marked(_global_forward_hooks, _global_forward_hooks_with_kwargs),
            *marked(self._forward_hooks, self._forward_hooks_with_kwargs),
        ]

    def _after(self, args: Any, kwargs: Any, result: Any, called: set[int]) -> Any:
        """The result, after the hooks after a call; `called` gets their numbers."""
        for number, hook, named in self._hooks_after():
            called.add(number)
            given = (args, kwargs, result) if named else (args, result)
            changed = hook(self, *given)
            result = result if changed is None else changed
        return result

    def _in_any_case(self, args: Any, kwargs: Any, result: Any, called: set[int]) -> None:
        """After an exception: the hooks that are called all the same, unless they were."""
        always = self._forward_hooks_always_called.keys() | _global_forward_hooks_always_called
        for number, hook, named in self._hooks_after():
            if number in always and number not in called:
                given = (args, kwargs, result) if named else (args, result)
                try:
                    changed = hook(self, *given)
                    result = result if changed is None else changed
                except Exception as error:  # the first one is on its way
                    warnings.warn(f"forward hook with always_call: {error!r}", stacklevel=2)

    # ---- names

    def register_parameter(self, name: str, param: Any) -> None:
        """Enter a parameter, or None for one that is not there."""
        self._check_name(name, self._parameters, "parameter")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{dispatch.typename(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn:
            raise ValueError(
                f"Cannot assign non-leaf tensor to parameter '{name}': it is computed from others"
            )
        self._parameters[name] = self._seen("parameter", name, param)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Enter a tensor that is no parameter."""
        self._check_name(name, self._buffers, "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{dispatch.typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = self._seen("buffer", name, tensor)
        (self._non_persistent_buffers_set.discard if persistent else
         self._non_persistent_buffers_set.add)(name)  # fmt: skip

    def add_module(self, name: str, module: Any) -> None:
        """Enter a module, or None for one that is not there."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{dispatch.typename(module)} is not a Module subclass")
        self._check_name(name, self._modules, "module")
        self._modules[name] = self._seen("module", name, module)

    register_module = add_module

    def _seen(self, kind: str, name: str, value: Any) -> Any:
        """What the hooks of registrations make of `value`."""
        for hook in _global_registration_hooks[kind].values():
            changed = hook(self, name, value)
            value = value if changed is None else changed
        return value

    def _check_name(self, name: str, own: dict[str, Any], kind: str) -> None:
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {dispatch.typename(name)}")
        if "." in name or not name:
            wrong = 'can\'t contain "."' if name else 'can\'t be empty string ""'
            raise KeyError(f"{kind} name {wrong}")
        if hasattr(self, name) and name not in own:
            raise KeyError(f"attribute '{name}' already exists")

    def __setattr__(self, name: str, value: Any) -> None:
        rooms = [self.__dict__.get(room) for room in ("_parameters", "_buffers", "_modules")]
        parameters, buffers, modules = rooms
        kinds = ((Parameter, parameters, "parameters"), (Module, modules, "module"))
        for kind, room, called in kinds:
            if isinstance(value, kind):
                if room is None:
                    raise AttributeError(f"cannot assign {called} before Module.__init__() call")
                self._forget(name, room)
                if kind is Parameter:
                    self.register_parameter(name, value)
                else:
                    room[name] = self._seen("module", name, value)
                return
        if isinstance(value, Buffer) or (buffers is not None and name in buffers):
            persistent = getattr(value, "persistent", True)
            if buffers is not None and name not in buffers:
                self._forget(name, buffers)
            self.register_buffer(name, value, persistent)
        elif parameters is not None and name in parameters:
            self.register_parameter(name, value)
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{dispatch.typename(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            modules[name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str, kept: dict[str, Any]) -> None:
        """The name elsewhere; in `kept` it keeps its place."""
        for room in (self.__dict__, self._parameters, self._buffers, self._modules):
            if room is not kept:
                room.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        for room in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(room, {})
            if name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for room in (self._parameters, self._buffers, self._modules):
            if name in room:
                del room[name]
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        own = [*self._parameters, *self._buffers, *self._modules]
        return sorted({*super().__dir__(), *own})

    # ---- what is inside

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """This module and all inside, with their dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                inner = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, inner, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all inside."""
        found = self.named_modules(remove_duplicate=remove_duplicate)
        return (module for _, module in found)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: there is no compiler, and the module computes what it computed."""

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules right inside, with their names."""
        return ((name, module) for name, module in self._modules.items() if module is not None)

    def children(self) -> Iterator[Any]:
        """The modules right inside."""
        return (module for _, module in self.named_children())

    def _named(
        self, room: str, prefix: str, recurse: bool, once: bool
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        pairs = self.named_modules(prefix=prefix, remove_duplicate=once)
        for place, module in pairs if recurse else [(prefix, self)]:
            for name, value in getattr(module, room).items():
                if value is None or (once and id(value) in seen):
                    continue
                seen.add(id(value))
                yield f"{place}.{name}" if place else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Parameters with their dotted names."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """Parameters."""
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Buffers with their dotted names."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Buffers."""
        return (value for _, value in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Any:
        """The module of a dotted name; AttributeError when there is none."""
        found = self
        for name in target.split(".") if target else ():
            if not hasattr(found, name):
                raise AttributeError(f"{type(found).__name__} has no attribute `{name}`")
            found = getattr(found, name)
            if not isinstance(found, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return found

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module at a dotted name.

        Raises: ValueError for an empty name or what is no module; AttributeError for a place that
        is not there, or with `strict` for a last name that is not.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        place, _, name = target.rpartition(".")
        inside = self.get_submodule(place)
        if strict and not hasattr(inside, name):
            raise AttributeError(f"{type(inside).__name__} has no attribute `{name}`")
        if hasattr(inside, name) and not isinstance(getattr(inside, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(inside, name, module)

    def _get(self, target: str, room: str, kind: str) -> Any:
        place, _, name = target.rpartition(".")
        module = self.get_submodule(place)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in getattr(module, room):
            raise AttributeError(f"`{name}` is not {kind} of {type(module).__name__}")
        return getattr(module, name)

    def get_parameter(self, target: str) -> Any:
        """The parameter of a dotted name; AttributeError when there is none."""
        return self._get(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Any:
        """The buffer of a dotted name; AttributeError when there is none."""
        return self._get(target, "_buffers", "a buffer")

    # ---- changes of all tensors

    def _apply(self: T, function: Callable[[Any], Any], recurse: bool = True) -> T:
        for module in self.children() if recurse else ():
            module._apply(function)
        for name, value in self._parameters.items():
            if value is not None:
                with dispatch.no_grad():
                    changed = function(value)
                # Memory of another kind of device takes no other's place.
                kind = dispatch.Tensor if Parameter in type(value).__mro__ else type(value)
                if type(changed) is kind and changed.device.type == value.device.type:
                    if is_traceable_wrapper_subclass(changed):     # what it wraps comes with it
                        changed = Parameter(changed, value.requires_grad)
                        for inner in changed.__tensor_flatten__()[0]:
                            setattr(value, inner, getattr(changed, inner))
                    value.data = changed
                else:
                    self._parameters[name] = Parameter(changed, value.requires_grad)
        for name, value in self._buffers.items():
            if value is not None:
                self._buffers[name] = function(value)
        return self

    def to(self: T, *args: Any, **kwargs: Any) -> T:
        """All floating tensors with another dtype, all tensors on another device.

        A complex dtype is a UserWarning. Raises: TypeError for one that is not floating either.
        """
        device, dtype, non_blocking, layout = _parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )
        if dtype is not None and dtype.is_complex:
            advise(f"Module.to: not every module can compute with {dtype}")

        def moved(t: Any) -> Any:
            own = dtype if t.is_floating_point() or t.is_complex() else None
            if layout is not None and t.dim() in (4, 5):
                return t.to(device, own, non_blocking, memory_format=layout)
            return t.to(device, own, non_blocking)

        return self._apply(moved)

    def _floating(self: T, dtype: Any) -> T:
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() else t)

    def float(self: T) -> T:
        """Floating tensors as float32."""
        return self._floating(dispatch.float32)

    def double(self: T) -> T:
        """Floating tensors as float64."""
        return self._floating(dispatch.float64)

    def half(self: T) -> T:
        """Floating tensors as float16."""
        return self._floating(dispatch.float16)

    def bfloat16(self: T) -> T:
        """Floating tensors as bfloat16."""
        return self._floating(dispatch.bfloat16)

    def type(self: T, dst_type: Any) -> T:
        """All tensors of one type."""
        return self._apply(lambda t: t.type(dst_type))

    def to_empty(self: T, *, device: Any, recurse: bool = True) -> T:
        """Tensors on another device, without their values."""
        return self._apply(lambda t: dispatch.empty_like(t, device=device), recurse)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or make them 0."""
        for parameter in self.parameters():
            if parameter.grad is not None:
                if set_to_none:
                    parameter.grad = None
                else:
                    parameter.grad.zero_()

    def cpu(self: T) -> T:
        """Tensors on the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self: T, device: Any = None) -> T:
        """Tensors on a CUDA device."""
        return self._apply(lambda t: t.cuda(device))

    def apply(self: T, fn: Callable[[Any], None]) -> T:
        """Call `fn` with every module inside and with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self: T, mode: bool = True) -> T:
        """Set `training` here and inside."""
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self: T) -> T:
        """`train(False)`."""
        return self.train(False)

    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Set it for all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:  # fmt: skip
        """`hook(module, args, output)` after each call; what it returns is the output, if any.

        Args: prepend, before the hooks that are there; with_kwargs, `hook(module, args, kwargs,
        output)`; always_call, after an exception too.
        """
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        marks += [self._forward_hooks_always_called] if always_call else []
        return enter(self._forward_hooks, hook, marks, prepend)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """`hook(module, args)` before each call; what it returns are the arguments, if any.

        Args: prepend, before the hooks that are there; with_kwargs, `hook(module, args, kwargs)`
        returns None or (args, kwargs).
        """
        marks = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return enter(self._forward_pre_hooks, hook, marks, prepend)

    # ---- text

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What `repr` shows of the module itself."""
        return ""

    def __repr__(self) -> str:
        lines = self.extra_repr().split("\n") if self.extra_repr() else []
        inner = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self._modules.items()
        ]
        if not inner and len(lines) < 2:
            return f"{type(self).__name__}({''.join(lines)})"
        return f"{type(self).__name__}(\n  " + "\n  ".join([*lines, *inner]) + "\n)"


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """`hook(module, args, output)` after each call of any module, before the module's own.

    Args: those of `Module.register_forward_hook`.
    """
    marks = [_global_forward_hooks_with_kwargs] if with_kwargs else []
    marks += [_global_forward_hooks_always_called] if always_call else []
    return enter(_global_forward_hooks, hook, marks)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(module, args)` before each call of any module."""
    return enter(_global_forward_pre_hooks, hook)


def _enter_global_backward(hook: Callable[..., Any], full: bool) -> RemovableHandle:
    global _global_is_full_backward_hook
    _global_is_full_backward_hook = kind_of_backward(
        _global_is_full_backward_hook, full, "all modules"
    )
    return enter(_global_backward_hooks, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Keep `hook(module, grad_input, grad_output)` of all modules; nothing calls it here."""
    return _enter_global_backward(hook, True)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Keep `hook(module, grad_output)` of all modules; nothing calls it here."""
    return enter(_global_backward_pre_hooks, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Keep a hook of the older kind of all modules; nothing calls it here."""
    return _enter_global_backward(hook, False)


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(module, name, parameter)` at each registration; it may give another."""
    return enter(_global_registration_hooks["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(module, name, buffer)` at each registration; it may give another."""
    return enter(_global_registration_hooks["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(module, name, submodule)` at each registration; it may give another."""
    return enter(_global_registration_hooks["module"], hook)


flops.announce_modules(Module, register_module_forward_pre_hook, register_module_forward_hook)
