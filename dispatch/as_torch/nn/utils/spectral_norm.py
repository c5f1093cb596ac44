"""`torch.nn.utils.spectral_norm`, the older form: a hook divides the weight by its matrix norm.

The norm comes from a power iteration, a step (or more) before each call in training; its vectors
are buffers, changed in place.
"""

from typing import Any

import dispatch
from dispatch.as_torch.nn import modules
from dispatch.as_torch.nn.functional import normalize
from dispatch.as_torch.nn.parameter import Parameter, is_lazy

__all__ = [
    "SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook",
    "remove_spectral_norm", "spectral_norm",
]  # fmt: skip


def as_matrix(weight: Any, dim: int) -> Any:
    """The weight with `dim` as rows."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.dim()) if d != dim))
    return weight.flatten(1) if weight.dim() > 1 else weight.reshape(weight.size(0), -1)


def rows_of(module: Any, dim: int | None) -> int:
    """The dimension of the weight that is the output's."""
    if dim is not None:
        return dim
    turned = modules.ConvTranspose1d, modules.ConvTranspose2d, modules.ConvTranspose3d
    return 1 if isinstance(module, turned) else 0


class SpectralNorm:
    """The hook: sets the weight called `name` from `name_orig`.

    Raises: ValueError for a number of steps that is not positive.
    """

    _version = 1

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name, self.dim, self.eps = name, dim, eps
        self.n_power_iterations = n_power_iterations

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """The weight with `dim` as rows."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """The weight over its norm, after steps that change the vectors in place if asked."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with dispatch.no_grad():
                for _ in range(self.n_power_iterations):
                    v = normalize(dispatch.mv(matrix.t(), u), dim=0, eps=self.eps, out=v)
                    u = normalize(dispatch.mv(matrix, v), dim=0, eps=self.eps, out=u)
                u, v = (x.clone(memory_format=dispatch.contiguous_format) for x in (u, v))
        return weight / dispatch.dot(u, dispatch.mv(matrix, v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with dispatch.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    @staticmethod
    def apply(
        module: Any, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> "SpectralNorm":
        """Put the hook on a module.

        Raises: RuntimeError for a second one of the same name; ValueError for a parameter that is
        None or lazy.
        """
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two spectral_norm hooks on the same parameter {name}"
                )
        made = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError("spectral_norm: a lazy module has no weight before its first call")
        with dispatch.no_grad():
            rows, columns = made.reshape_weight_to_matrix(weight).size()
            u = normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
            v = normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(made)
        module._register_state_dict_hook(SpectralNormStateDictHook(made))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(made))
        return made


class SpectralNormLoadStateDictPreHook:
    """Makes `name_v` for state dicts that are older than it."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        key = prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(self.fn.name + ".version")
        whole = all(key + end in state_dict for end in ("_orig", "_u", "_v"))
        if version is not None or (whole and key not in state_dict):
            return
        missing = [key + end for end in ("_orig", "", "_u") if key + end not in state_dict]
        if missing:
            missing_keys.extend(missing if strict else ())
            return
        with dispatch.no_grad():
            original, weight = state_dict[key + "_orig"], state_dict.pop(key)
            u, matrix = state_dict[key + "_u"], self.fn.reshape_weight_to_matrix(original)
            v = dispatch.linalg.multi_dot(
                [matrix.t().mm(matrix).pinverse(), matrix.t(), u.unsqueeze(1)]
            ).squeeze(1)
            norm = (original / weight).mean()
            state_dict[key + "_v"] = v.mul_(norm / dispatch.dot(u, dispatch.mv(matrix, v)))


class SpectralNormStateDictHook:
    """Notes in a state dict which form it has."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        notes = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in notes:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        notes[key] = self.fn._version


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """Divide `module.name` by its norm as a matrix before each call.

    Args: n_power_iterations, steps before a call in training; eps, for vectors of no length; dim,
    the rows (None: those of the output).

    Raises: those of `SpectralNorm` and its `apply`.
    """
    SpectralNorm.apply(module, name, n_power_iterations, rows_of(module, dim), eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again; ValueError when there is no such hook."""
    rooms = (
        (module._forward_pre_hooks, SpectralNorm, lambda hook: hook),
        (module._state_dict_hooks, SpectralNormStateDictHook, lambda hook: hook.fn),
        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook, lambda hook: hook.fn),
    )
    found = False
    for hooks, kind, norm_of in rooms:
        for number, hook in list(hooks.items()):
            if isinstance(hook, kind) and norm_of(hook).name == name:
                if kind is SpectralNorm:
                    norm_of(hook).remove(module)
                    found = True
                del hooks[number]
                break
    if not found:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    return module
