"""`torch.nn.Module`: names for tensors and modules, and a call of `forward`.

A module's parameters, buffers and modules are in three dicts, by name; everything else is plain
attributes. Hooks, which observe calls, are there for the call alone.
"""

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import dispatch
from dispatch.as_torch.nn.parameter import Buffer, Parameter, is_lazy
from dispatch.modes.subclasses import is_traceable_wrapper_subclass
from dispatch.tools import flops

__all__ = ["Module", "register_module_forward_hook", "register_module_forward_pre_hook"]

Tensor = dispatch.Tensor
T = TypeVar("T", bound="Module")


_ROOMS = ("_parameters", "_buffers", "_modules", "_forward_hooks", "_forward_pre_hooks")
# Hooks of all modules, and whether they are given keywords, by the number of their handle.
_forward_hooks: dict[int, tuple[Callable[..., Any], bool]] = {}
_forward_pre_hooks: dict[int, tuple[Callable[..., Any], bool]] = {}


class Module:
    """The base of modules (torch.nn.Module): `forward` is for the subclass to write."""

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = [*map(repr, args), *(f"{name}=" for name in kwargs)]
        if given:
            raise TypeError(
                f"{type(self).__name__}.__init__() got unexpected arguments: {', '.join(given)}"
            )
        for name in _ROOMS:
            object.__setattr__(self, name, {})
        object.__setattr__(self, "_non_persistent_buffers_set", set())
        object.__setattr__(self, "training", True)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What a call computes."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for hook, named in [*_forward_pre_hooks.values(), *self._forward_pre_hooks.values()]:
            if named:
                changed = hook(self, args, kwargs)
                args, kwargs = (args, kwargs) if changed is None else changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook, named in [*_forward_hooks.values(), *self._forward_hooks.values()]:
            changed = hook(self, args, kwargs, result) if named else hook(self, args, result)
            result = result if changed is None else changed
        return result

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
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Enter a tensor that is no parameter."""
        self._check_name(name, self._buffers, "buffer")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{dispatch.typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else
         self._non_persistent_buffers_set.add)(name)  # fmt: skip

    def add_module(self, name: str, module: Any) -> None:
        """Enter a module, or None for one that is not there."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{dispatch.typename(module)} is not a Module subclass")
        self._check_name(name, self._modules, "module")
        self._modules[name] = module

    register_module = add_module

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
                    room[name] = value
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

    def modules(self) -> Iterator[Any]:
        """This module and all inside."""
        return (module for _, module in self.named_modules())

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

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """The tensors by dotted name, without the buffers that do not persist."""
        found = OrderedDict() if destination is None else destination
        hidden = self._non_persistent_buffers_set
        own = itertools.chain(self._parameters.items(), self._buffers.items())
        for name, value in own:
            if value is not None and name not in hidden:
                found[prefix + name] = value if keep_vars or is_lazy(value) else value.detach()
        for name, module in self.named_children():
            module.state_dict(destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return found

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Copy the tensors of `state_dict` into this module's, or with `assign` put them there.

        Returns: (missing_keys, unexpected_keys). Raises: RuntimeError for sizes that differ, and
        with `strict` for names that do; nothing is changed then.
        """
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        wrong = [
            f"size mismatch for {name}: copying a param with shape {state_dict[name].shape} from "
            f"checkpoint, the shape in current model is {value.shape}."
            for name, value in own.items()
            if name in state_dict and not is_lazy(value) and state_dict[name].shape != value.shape
        ]
        if strict:
            for names, kind in ((unexpected, "Unexpected"), (missing, "Missing")):
                if names:
                    shown = ", ".join(f'"{name}"' for name in names)
                    wrong.insert(0, f"{kind} key(s) in state_dict: {shown}. ")
        if wrong:
            lines = "\n\t".join(wrong)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}"
            )
        with dispatch.no_grad():
            for name, value in own.items():
                if name in state_dict and not assign:
                    if is_lazy(value) and not is_lazy(state_dict[name]):
                        value.materialize(state_dict[name].shape)
                    value.copy_(state_dict[name])
                elif name in state_dict:
                    self._assign(name, state_dict[name], value.requires_grad)
        return _Keys(missing, unexpected)

    def _assign(self, path: str, given: Any, requires_grad: bool) -> None:
        place, _, name = path.rpartition(".")
        module = self.get_submodule(place)
        if name in module._parameters and not isinstance(given, Parameter):
            given = Parameter(given, requires_grad)
        setattr(module, name, given)

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

    def _get(self, target: str, room: str, kind: str) -> Any:
        place, _, name = target.rpartition(".")
        module = self.get_submodule(place)
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
                if type(changed) is type(value.data) and changed.device.type == value.device.type:
                    value.data = changed
                    if is_traceable_wrapper_subclass(changed):     # what it wraps comes with it
                        for inner in changed.__tensor_flatten__()[0]:
                            setattr(value, inner, getattr(changed, inner))
                else:
                    self._parameters[name] = Parameter(changed, value.requires_grad)
        for name, value in self._buffers.items():
            if value is not None:
                self._buffers[name] = function(value)
        return self

    def to(self: T, *args: Any, **kwargs: Any) -> T:
        """All floating tensors with another dtype, all tensors on another device."""

        def moved(t: Any) -> Any:
            like = t.to(*args, **kwargs)
            return like if t.is_floating_point() or t.is_complex() else t.to(like.device)

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
    ) -> "_Handle":  # fmt: skip
        """`hook(module, args, output)` after each call; what it returns is the output, if any.

        Args: prepend, before the hooks that are there; with_kwargs, `hook(module, args, kwargs,
        output)`. Raises: NotImplementedError for `always_call`.
        """
        _refuse_always(always_call)
        return _Handle(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> "_Handle":
        """`hook(module, args)` before each call; what it returns are the arguments, if any.

        Args: prepend, before the hooks that are there; with_kwargs, `hook(module, args, kwargs)`
        returns None or (args, kwargs).
        """
        return _Handle(self._forward_pre_hooks, (hook, with_kwargs), prepend)

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


class _Keys(NamedTuple):
    """What `load_state_dict` did not find, and what it found beside."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not any(self):
            return "<All keys matched successfully>"
        missing, unexpected = self
        return f"_IncompatibleKeys(missing_keys={missing}, unexpected_keys={unexpected})"


class _Handle:
    """Takes a hook away again; a block of `with` does so at its end."""

    def __init__(self, hooks: dict[int, Any], hook: tuple[Any, bool], first: bool) -> None:
        self._hooks = hooks
        before = {} if not first else dict(hooks)
        if first:
            hooks.clear()
        hooks[id(self)] = hook
        hooks.update(before)

    def remove(self) -> None:
        """Forget the hook."""
        self._hooks.pop(id(self), None)

    def __enter__(self) -> "_Handle":
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> _Handle:
    """`hook(module, args, output)` after each call of any module, before the module's own.

    Args and errors: those of `Module.register_forward_hook`.
    """
    _refuse_always(always_call)
    return _Handle(_forward_hooks, (hook, with_kwargs), False)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> _Handle:
    """`hook(module, args)` before each call of any module."""
    return _Handle(_forward_pre_hooks, (hook, False), False)


def _refuse_always(always_call: bool) -> None:
    if always_call:
        raise NotImplementedError("forward hooks are not called after an exception (always_call)")


flops.announce_modules(Module, register_module_forward_pre_hook, register_module_forward_hook)
