"""The two sides of a comparison under one set of names: only this module knows where things are."""

import enum
import re
import types
from typing import Any


def torch_side() -> types.SimpleNamespace:
    """PyTorch's modules."""
    import torch
    import torch._higher_order_ops
    import torch._library.custom_ops
    import torch._library.fake_class_registry
    import torch._library.fake_impl
    import torch._library.simple_registry
    import torch._library.utils
    import torch._ops
    import torch._subclasses.fake_tensor as fake
    import torch._subclasses.functional_tensor as functional_tensor
    import torch.library
    import torch.overrides
    import torch.utils._python_dispatch as dispatch_modes
    from torch.utils import _pytree

    modes = types.SimpleNamespace(**vars(dispatch_modes))
    for name in ("TorchFunctionMode", "_get_current_function_mode_stack"):
        setattr(modes, name, getattr(torch.overrides, name))
    functional = types.SimpleNamespace(**vars(functional_tensor))
    functional.functionalize = torch.func.functionalize
    return types.SimpleNamespace(
        name="torch", functional=functional, T=torch, C=torch._C,
        ops=torch.ops, _ops=torch._ops, library=torch.library, _library=torch._library,
        modes=modes, overrides=torch.overrides, fake=fake, pytree=_pytree,
        Tensor=torch.Tensor, DispatchKey=torch._C.DispatchKey,
        DispatchKeySet=torch._C.DispatchKeySet, nn=torch.nn, fx=_graphs_of_torch(),
    )  # fmt: skip


def _graphs_of_torch() -> types.SimpleNamespace:
    import torch.fx.experimental.proxy_tensor as proxies
    from torch import fx
    from torch.fx import subgraph_rewriter
    from torch.fx.passes import fake_tensor_prop, shape_prop
    from torch.fx.passes.utils import matcher_utils

    rooms = (matcher_utils, subgraph_rewriter, proxies, shape_prop, fake_tensor_prop, fx.node,
             fx.proxy, fx.interpreter, fx)  # fmt: skip
    return types.SimpleNamespace(**{k: v for room in rooms for k, v in vars(room).items()})


def dispatch_side() -> types.SimpleNamespace:
    """Ours."""
    import dispatch
    from dispatch import _C, _ops, fake, functional, library, modes, pytree

    return types.SimpleNamespace(
        name="dispatch", functional=functional, T=dispatch, C=_C,
        ops=dispatch.ops, _ops=_ops, library=library, _library=_behind_the_library(),
        modes=modes, overrides=modes, fake=fake, pytree=pytree,
        Tensor=dispatch.Tensor, DispatchKey=_C.DispatchKey, DispatchKeySet=_C.DispatchKeySet,
        nn=_modules(), fx=_graphs(),
    )  # fmt: skip


def _modules() -> types.SimpleNamespace:
    from dispatch.as_torch.nn import functional, modules, parameter

    found = {**vars(parameter), **vars(modules)}
    return types.SimpleNamespace(**found, functional=functional)


def _graphs() -> types.SimpleNamespace:
    from dispatch.as_torch import fx
    from dispatch.as_torch.fx import node, patterns, proxies, proxy, shapes

    rooms = (patterns, proxies, shapes, node, proxy, fx)
    return types.SimpleNamespace(**{k: v for room in rooms for k, v in vars(room).items()})


def _behind_the_library() -> types.SimpleNamespace:
    """Our rooms under the names of torch._library's modules."""
    from dispatch.library import custom_ops, operators
    from dispatch.registry import entries, fake_kernels, handles, schemas, script_classes

    utils = (schemas, handles, fake_kernels, operators, custom_ops)
    return types.SimpleNamespace(
        utils=types.SimpleNamespace(**{k: v for room in utils for k, v in vars(room).items()}),
        custom_ops=custom_ops, fake_impl=fake_kernels, simple_registry=entries,
        fake_class_registry=script_classes,
    )  # fmt: skip


SIDES = {"torch": torch_side, "dispatch": dispatch_side}


def _number(x: Any) -> str:
    if isinstance(x, bool):
        return repr(x)
    if isinstance(x, float):
        return f"{x:.5g}"
    if isinstance(x, complex):
        return f"({x.real:.5g}{x.imag:+.5g}j)"
    return repr(x)


class Log:
    """Collects what a program says, in words that do not depend on the side."""

    def __init__(self, side: types.SimpleNamespace) -> None:
        self.side = side
        self.lines: list[str] = []

    def __call__(self, *values: Any) -> None:
        """One line of the values; strings stand as they are."""
        self.lines.append(" ".join(v if type(v) is str else self.show(v) for v in values))

    def attempt(self, label: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        """Log what a call returns, or the type of what it raises; returns the result or None."""
        try:
            result = call(*args, **kwargs)
        except Exception as error:
            self(label, "raises", type(error).__name__)
            return None
        self(label, result)
        return result

    def show(self, v: Any) -> str:
        """A value's description: tensors by metadata and values, keys by name."""
        s = self.side
        if isinstance(v, s.Tensor):
            return self.tensor(v)
        if isinstance(v, (bool, int, float, complex)) and not isinstance(v, enum.Enum):
            return _number(v)
        if isinstance(v, s.DispatchKeySet):
            return f"keys:{v.raw_repr():#x}"
        if type(v) is dict:
            return "{" + ", ".join(f"{self.show(k)}: {self.show(x)}" for k, x in v.items()) + "}"
        if isinstance(v, (tuple, list)) and type(v).__name__ in ("tuple", "list", "Size"):
            inner = ", ".join(map(self.show, v))
            return f"[{inner}]" if type(v) is list else f"({inner})"
        if isinstance(v, (set, frozenset)):
            return "{" + ", ".join(sorted(map(self.show, v))) + "}"
        if isinstance(v, type):
            return f"class {v.__name__}"
        if isinstance(v, s.DispatchKey):
            return v.name
        text = str(v) if type(v).__name__ in ("OpOverload", "OpOverloadPacket") else repr(v)
        return re.sub(r"0x[0-9a-f]+", "0x", re.sub(r"\b(torch|dispatch)\.", "", text))

    def tensor(self, t: Any) -> str:
        """Class, dtype, sizes, strides, device and, of small plain tensors, the values."""
        s = self.side
        text = (
            f"{type(t).__name__}<{str(t.dtype).rpartition('.')[2]} {tuple(t.shape)} "
            f"{tuple(t.stride())} {t.device}"
        )
        if t.requires_grad:
            text += " grad"
        plain = type(t) is s.Tensor and t.device.type == "cpu" and t.numel() <= 16
        if plain and not isinstance(t, s.fake.FakeTensor):
            text += " " + self.show(t.detach().tolist())
        return text + ">"
