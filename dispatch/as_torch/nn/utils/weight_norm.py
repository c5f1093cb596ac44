"""`torch.nn.utils.weight_norm`, the older form: a hook computes the weight before each call.

The weight is length times direction: `weight_g` and `weight_v` are the parameters.
"""

import warnings
from typing import Any

import dispatch
from dispatch.as_torch.nn.parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook: sets the weight called `name`, whose length is taken for each index of `dim`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight from its length and direction."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return dispatch._weight_norm(v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> "WeightNorm":
        """Put the hook on a module.

        Raises: RuntimeError for a second one of the same name; ValueError for a lazy module.
        """
        text = "torch.nn.utils.weight_norm: see torch.nn.utils.parametrizations.weight_norm"
        warnings.warn(text, FutureWarning, stacklevel=3)
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two weight_norm hooks on the same parameter {name}"
                )
        made = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError("weight_norm: a lazy module has no weight before its first call")
        del module._parameters[name]
        length = dispatch.norm_except_dim(weight, 2, made.dim)
        module.register_parameter(name + "_g", Parameter(length.data))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, made.compute_weight(module))
        module.register_forward_pre_hook(made)
        return made

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Compute `module.name` before each call from `name_g`, its length for each index of `dim`
    (None: of all), and `name_v`, its direction.

    Raises: those of `WeightNorm.apply`.
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again; ValueError when there is no such hook."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
