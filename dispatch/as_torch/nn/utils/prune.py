"""`torch.nn.utils.prune`: parameters of which a mask keeps some values and makes the others 0.

A method computes the mask; put on a module it is a hook that sets `name` to `name_orig` times
`name_mask` before each call. Several on one parameter are a `PruningContainer`, whose newest member
sees only what the others have kept.
"""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import dispatch
from dispatch import Tensor
from dispatch.as_torch.nn.utils.vectors import parameters_to_vector

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
    "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class BasePruningMethod(ABC):
    """What computes masks. `PRUNING_TYPE` is "unstructured", "structured" (along `dim`) or
    "global"."""

    PRUNING_TYPE: ClassVar[str]
    _tensor_name: Any = None

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for importances `t`, within the mask that there is."""

    def apply_mask(self, module: Any) -> Tensor:
        """The parameter times its mask; AssertionError when there is none."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        original: Tensor = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> Any:
        """Put the method on a module, for its parameter `name`; other arguments make the method.

        Args: importance_scores, what decides instead of the parameter's own values.

        Raises: AssertionError for scores of another shape; what the method raises. Then nothing
        has changed.
        """
        place, before = _hook_on(module, name)
        method = cls(*args, **kwargs)
        method._tensor_name = name
        weight = getattr(module, name)
        scores = weight if importance_scores is None else importance_scores
        _check_scores(scores, weight)
        if before is None:
            mask = method.compute_mask(scores, default_mask=dispatch.ones_like(weight))
            module.register_parameter(name + "_orig", weight)
            del module._parameters[name]
        else:
            made = PruningContainer(*(before if isinstance(before, PruningContainer) else [before]))
            made.add_pruning_method(method)
            kept = getattr(module, name + "_mask").detach()
            kept = kept.clone(memory_format=dispatch.contiguous_format)
            method = made
            mask = method.compute_mask(scores, default_mask=kept)
            del module._forward_pre_hooks[place]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self, t: Tensor, default_mask: Tensor | None = None, importance_scores: Any = None
    ) -> Tensor:
        """`t` times its mask, without a module.

        Raises: AssertionError for scores of another shape.
        """
        scores = t if importance_scores is None else importance_scores
        _check_scores(scores, t)
        mask = dispatch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Any) -> None:
        """Make the parameter what the mask has left; AssertionError when there is none."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before it can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        original = module._parameters.pop(self._tensor_name + "_orig")
        original.data = weight.data
        del module._buffers[self._tensor_name + "_mask"]
        setattr(module, self._tensor_name, original)


def _hook_on(module: Any, name: str) -> tuple[int, BasePruningMethod | None]:
    """The number and the method of the hook on `module.name`; (-1, None) for none."""
    found = [
        (number, hook)
        for number, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    ]
    if len(found) > 1:
        raise AssertionError(f"several pruning hooks on {name} of {module}: use a PruningContainer")
    return found[0] if found else (-1, None)


def _check_scores(scores: Any, weight: Tensor) -> None:
    if scores.shape != weight.shape:
        raise AssertionError(
            f"importance_scores have the shape {scores.shape}, the tensor {weight.shape}"
        )


class PruningContainer(BasePruningMethod):
    """Several methods on one parameter, in order.

    Raises: TypeError for what is no method; ValueError for one on another parameter.
    """

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if args:
            self._tensor_name = getattr(args[0], "_tensor_name", None)
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Enter one more."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if self._tensor_name != method._tensor_name:
            raise ValueError(
                f"a container for '{self._tensor_name}' takes no method for '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of the newest method, within what the others have kept."""
        method = self._pruning_methods[-1]
        made = default_mask.to(dtype=t.dtype)
        kept = _still_there(method, t, default_mask)
        mask = method.compute_mask(t[kept], default_mask=default_mask[kept])
        made[kept] = mask.to(dtype=made.dtype)
        return made


def _still_there(method: Any, t: Tensor, mask: Tensor) -> Any:
    """An index of what a method may decide on."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    place: list[Any] = [slice(None)] * t.dim()
    if method.PRUNING_TYPE == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError("a method of PRUNING_TYPE 'structured' needs the attribute `dim`")
        dim = method.dim + t.dim() if method.dim < 0 else method.dim
        if not 0 <= dim < t.dim():
            raise IndexError(f"Invalid index {method.dim} for tensor of size {t.shape}")
        place[dim] = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
    elif method.PRUNING_TYPE != "global":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    return tuple(place)


class _ByAmount(BasePruningMethod):
    """Makes `amount` of the values 0: a number of them, or a part between 0 and 1.

    Raises: TypeError for what is no number; ValueError for one out of range.
    """

    def __init__(self, amount: Any) -> None:
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        whole = isinstance(amount, numbers.Integral)
        if float(amount) < 0 or (not whole and float(amount) > 1):
            raise ValueError(
                f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
                "integer"
            )
        self.amount = amount

    def _count(self, size: int) -> Any:
        """How many of `size`; ValueError for more than there are."""
        amount: Any = self.amount
        if not isinstance(amount, numbers.Integral):
            return round(amount * size)
        if int(amount) > size:
            raise ValueError(f"amount={amount}, and there are {size} to prune")
        return amount


class Identity(BasePruningMethod):
    """Keeps everything."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask that there is."""
        return default_mask


class RandomUnstructured(_ByAmount):
    """Values by chance."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Without `amount` values."""
        return self._without(default_mask, self._count(t.nelement()), t)

    def _without(self, default_mask: Tensor, count: int, t: Tensor) -> Tensor:
        mask = default_mask.clone(memory_format=dispatch.contiguous_format)
        if count:
            mask.view(-1)[self._chosen(t, count)] = 0
        return mask

    def _chosen(self, t: Tensor, count: int) -> Tensor:
        return dispatch.topk(dispatch.rand_like(t).view(-1), k=count)[1]


class L1Unstructured(RandomUnstructured):
    """The smallest values."""

    def _chosen(self, t: Tensor, count: int) -> Tensor:
        return dispatch.topk(dispatch.abs(t).view(-1), k=count, largest=False)[1]

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, importance_scores: Any = None
    ) -> Any:
        """Put it on a module: see `BasePruningMethod.apply`."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class RandomStructured(_ByAmount):
    """Slices along `dim` by chance."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Without `amount` slices.

        Raises: ValueError below two dimensions; IndexError for `dim`.
        """
        if t.dim() < 2:
            raise ValueError(f"structured pruning takes two dimensions or more, not {t.shape}")
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = self._count(size)
        if count == 0:
            return default_mask
        place: list[Any] = [slice(None)] * t.dim()
        place[self.dim] = self._kept(t, size, count)
        mask = dispatch.zeros_like(t)
        mask[tuple(place)] = 1
        return mask.mul_(default_mask.to(dtype=mask.dtype))

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        chance = dispatch.rand(size)
        return chance > dispatch.kthvalue(chance, k=count)[0]


class LnStructured(RandomStructured):
    """The slices along `dim` with the smallest norm of order `n`."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        own = self.dim % t.dim()
        norms = dispatch.norm(t, p=self.n, dim=[d for d in range(t.dim()) if d != own])
        return dispatch.topk(norms, k=size - count, largest=True)[1]

    @classmethod
    def apply(  # type: ignore[override]
        cls, module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
    ) -> Any:
        """Put it on a module: see `BasePruningMethod.apply`."""
        scores = importance_scores
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=scores)


class CustomFromMask(BasePruningMethod):
    """What a given mask keeps."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Both masks; AssertionError for another shape."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"a mask of {self.mask.shape} for {default_mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# ---- on modules


def identity(module: Any, name: str) -> Any:
    """`Identity` on `module.name`; gives the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """`RandomUnstructured` on `module.name`; gives the module."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """`L1Unstructured` on `module.name`; gives the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """`RandomStructured` on `module.name`; gives the module."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """`LnStructured` on `module.name`; gives the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Tensor) -> Any:
    """`CustomFromMask` on `module.name`; gives the module."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: dict[tuple[Any, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters, (module, name), as if they were one.

    Args: importance_scores, by (module, name), what decides instead of the values; kwargs, for the
    method.

    Raises: TypeError for what is no iterable or dict, and for a method that is not unstructured.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    given = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f"global_unstructured(): {pruning_method} is {method.PRUNING_TYPE}, not unstructured"
        )
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    weights = [getattr(module, name) for module, name in given]
    masks = [
        getattr(module, name + "_mask", dispatch.ones_like(weight))
        for (module, name), weight in zip(given, weights, strict=True)
    ]
    values = [scores.get(place, weight) for place, weight in zip(given, weights, strict=True)]
    whole = container.compute_mask(parameters_to_vector(values), parameters_to_vector(masks))
    parts = dispatch.split(whole, [weight.numel() for weight in weights])
    for (module, name), weight, part in zip(given, weights, parts, strict=True):
        custom_from_mask(module, name, mask=part.view_as(weight))


def remove(module: Any, name: str) -> Any:
    """Make `module.name` a parameter again, of what the mask has left; ValueError when it is not
    pruned."""
    number, hook = _hook_on(module, name)
    if hook is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before it can be removed"
        )
    hook.remove(module)
    del module._forward_pre_hooks[number]
    return module


def is_pruned(module: Any) -> bool:
    """Whether this module or one inside is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for inner in module.modules()
        for hook in inner._forward_pre_hooks.values()
    )
