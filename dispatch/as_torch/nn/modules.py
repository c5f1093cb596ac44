"""`torch.nn.Module` and what holds modules: names for tensors, and a call of `forward`.

A module's parameters, buffers and modules are in three dicts, by name; everything else is plain
attributes. Hooks, which observe calls, are there for the call alone.
"""

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import dispatch
from dispatch._C import _nn
from dispatch.as_torch.nn.parameter import Buffer, Parameter
from dispatch.tools import flops

__all__ = [
    "Identity",
    "Linear",
    "Module",
    "ModuleList",
    "ReLU",
    "Sequential",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
]

Tensor = dispatch.Tensor
T = TypeVar("T", bound="Module")


_ROOMS = ("_parameters", "_buffers", "_modules", "_forward_hooks", "_forward_pre_hooks")
# Hooks of all modules, by the number of their handle.
_forward_hooks: dict[int, Callable[..., Any]] = {}
_forward_pre_hooks: dict[int, Callable[..., Any]] = {}


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
        for hook in [*_forward_pre_hooks.values(), *self._forward_pre_hooks.values()]:
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in [*_forward_hooks.values(), *self._forward_hooks.values()]:
            changed = hook(self, args, result)
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
                self._forget(name)
                if kind is Parameter:
                    self.register_parameter(name, value)
                else:
                    room[name] = value
                return
        if isinstance(value, Buffer) or (buffers is not None and name in buffers):
            persistent = getattr(value, "persistent", True)
            if buffers is not None and name not in buffers:
                self._forget(name)
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

    def _forget(self, name: str) -> None:
        for room in (self.__dict__, self._parameters, self._buffers, self._modules):
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
                found[prefix + name] = value if keep_vars else value.detach()
        for name, module in self.named_children():
            module.state_dict(destination=found, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return found

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Copy the tensors of `state_dict` into this module's; RuntimeError for unlike names."""
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        if strict and (missing or unexpected):
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}: Missing key(s): "
                f"{missing}, Unexpected key(s): {unexpected}"
            )
        with dispatch.no_grad():
            for name in own.keys() & state_dict.keys():
                own[name].copy_(state_dict[name])
        return missing, unexpected

    # ---- changes of all tensors

    def _apply(self: T, function: Callable[[Any], Any]) -> T:
        for module in self.children():
            module._apply(function)
        for name, value in self._parameters.items():
            if value is not None:
                with dispatch.no_grad():
                    self._parameters[name] = Parameter(function(value), value.requires_grad)
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

    def register_forward_hook(self, hook: Callable[..., Any]) -> "_Handle":
        """`hook(module, args, output)` after each call; what it returns is the output, if any."""
        return _Handle(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> "_Handle":
        """`hook(module, args)` before each call; what it returns are the arguments, if any."""
        return _Handle(self._forward_pre_hooks, hook)

    # ---- text

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


class _Handle:
    """Takes a hook away again."""

    def __init__(self, hooks: dict[int, Any], hook: Callable[..., Any]) -> None:
        self._hooks = hooks
        hooks[id(self)] = hook

    def remove(self) -> None:
        """Forget the hook."""
        self._hooks.pop(id(self), None)


def register_module_forward_hook(hook: Callable[..., Any]) -> _Handle:
    """`hook(module, args, output)` after each call of any module."""
    return _Handle(_forward_hooks, hook)


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> _Handle:
    """`hook(module, args)` before each call of any module."""
    return _Handle(_forward_pre_hooks, hook)


flops.announce_modules(Module, register_module_forward_pre_hook, register_module_forward_hook)


class Sequential(Module):
    """Modules one after another (torch.nn.Sequential)."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else None
        for name, module in named if named is not None else enumerate(args):
            self.add_module(str(name), module)

    def __getitem__(self, index: Any) -> Any:
        modules = list(self._modules.items())[index]
        return type(self)(OrderedDict(modules)) if isinstance(index, slice) else modules[1]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def append(self, module: Module) -> "Sequential":
        """Add a module behind the last."""
        self.add_module(str(len(self)), module)
        return self

    def forward(self, input: Any) -> Any:
        """The input through all modules."""
        for module in self:
            input = module(input)
        return input


class ModuleList(Module):
    """A list of modules (torch.nn.ModuleList)."""

    def __init__(self, modules: Iterable[Any] = ()) -> None:
        super().__init__()
        for module in modules:
            self.append(module)

    def append(self, module: Any) -> "ModuleList":
        """Add a module behind the last."""
        self.add_module(str(len(self)), module)
        return self

    def __getitem__(self, index: Any) -> Any:
        found = list(self._modules.values())[index]
        return type(self)(found) if isinstance(index, slice) else found

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())


class Identity(Module):
    """Gives back its input, whatever it is made with (torch.nn.Identity)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


class ReLU(Module):
    """max(x, 0) (torch.nn.ReLU)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        """The input where it is above 0."""
        return dispatch.relu_(input) if self.inplace else dispatch.relu(input)

    def extra_repr(self) -> str:
        """`inplace`, if it is set."""
        return "inplace=True" if self.inplace else ""


class Linear(Module):
    """x @ weight.T + bias (torch.nn.Linear), with weights drawn as PyTorch draws them."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        place = {"device": device, "dtype": dtype}
        self.weight = Parameter(dispatch.empty((out_features, in_features), **place))
        self.register_parameter(
            "bias", Parameter(dispatch.empty(out_features, **place)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters from a uniform distribution of width 1 / sqrt(in_features)."""
        bound = self.in_features**-0.5 if self.in_features else 0.0
        with dispatch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-bound, bound)

    def forward(self, input: Any) -> Any:
        """The input of sizes (*, in_features) as (*, out_features)."""
        return _nn.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"
