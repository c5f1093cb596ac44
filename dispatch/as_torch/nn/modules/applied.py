"""Modules that are one function with the module's attributes as its arguments.

A subclass of `Applied` says which function and declares the attributes as annotated names, with
their defaults, in the order of PyTorch's constructor; `__init__`, its signature and `forward`
follow from that. Everything else (weights, state) stands in the other modules of this room.
"""

import inspect
from typing import Any, ClassVar, get_type_hints

import dispatch
from dispatch.as_torch.nn import functional as F
from dispatch.as_torch.nn.modules.module import Module

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "SELU", "AlphaDropout", "Dropout", "Dropout1d", "Dropout2d",
    "Dropout3d", "FeatureAlphaDropout", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh",
    "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "RReLU", "ReLU", "ReLU6", "SiLU", "Sigmoid",
    "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink",
    "Threshold",
]  # fmt: skip


_HERE = __name__.rpartition(".")[0]


class Applied(Module):
    """A call of `function` with the inputs and the attributes.

    In a subclass: `shown` is the format of what `repr` shows of the attributes, `in_order` says
    that they are given by place, `in_training` that the function is told `training`, `hidden`
    names attributes that the function does not take, `keywords_only` that the constructor takes
    them by keyword. What takes more than one input has a `forward` with their names.
    """

    function: ClassVar[Any]
    shown: ClassVar[str] = ""
    in_order: ClassVar[bool] = False
    in_training: ClassVar[bool] = False
    hidden: ClassVar[tuple[str, ...]] = ()
    keywords_only: ClassVar[bool] = False
    _signature: ClassVar[inspect.Signature] = inspect.Signature()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__module__.startswith(_HERE):
            return  # a program's own class: its annotations are its own
        function = cls.__dict__.get("function")
        if function is not None and not isinstance(function, staticmethod):
            cls.function = staticmethod(function)
        hints = get_type_hints(cls)
        own = [name for name in inspect.get_annotations(cls) if _is_field(hints[name])]
        if own:
            cls._signature = inspect.Signature([_taken(cls, name) for name in own])
            cls.__signature__ = cls._signature  # type: ignore[attr-defined]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}.__init__(): {error}") from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            self._put(name, value)

    def _put(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    def _given(self) -> dict[str, Any]:
        """What the function gets beside the inputs."""
        found = {
            name: getattr(self, name) for name in self._signature.parameters
            if name not in self.hidden
        }  # fmt: skip
        if self.in_training:
            found["training"] = self.training
        return found

    def forward(self, input: Any) -> Any:
        """The function's result for the input."""
        return self._result(input)

    def _result(self, *inputs: Any) -> Any:
        given = self._given()
        if self.in_order:
            return self.function(*inputs, *given.values())
        return self.function(*inputs, **given)

    def extra_repr(self) -> str:
        """The attributes that PyTorch shows."""
        text = self.shown and self.shown.format_map(vars(self))
        changes = "inplace" not in self.shown and getattr(self, "inplace", False)
        return ", ".join(part for part in (text, "inplace=True" if changes else "") if part)


def _is_field(hint: Any) -> bool:
    return getattr(hint, "__origin__", hint) is not ClassVar


def _taken(cls: type[Applied], name: str) -> inspect.Parameter:
    """The constructor's parameter of a declared attribute, whose default leaves the class: there
    it would hide buffers."""
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    default = cls.__dict__.get(name, inspect.Parameter.empty)
    if name in cls.__dict__:
        delattr(cls, name)
    return inspect.Parameter(name, kinds[cls.keywords_only], default=default)


def sizes(value: Any, count: int) -> tuple[Any, ...]:
    """One number `count` times; several as they are."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * count


# ---- activations


class ReLU(Applied):
    """max(x, 0) (torch.nn.ReLU)."""

    function = F.relu
    inplace: bool = False


class Hardtanh(Applied):
    """x between two bounds (torch.nn.Hardtanh)."""

    function = F.hardtanh
    shown = "min_val={min_val}, max_val={max_val}"
    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False


class ReLU6(Hardtanh):
    """x between 0 and 6 (torch.nn.ReLU6)."""

    function = F.relu6  # type: ignore[assignment]
    shown = ""
    min_val = 0.0
    max_val = 6.0
    inplace: bool = False


class _WithAlpha(Applied):
    shown = "alpha={alpha}"
    alpha: float = 1.0
    inplace: bool = False


class ELU(_WithAlpha):
    """x where it is positive, else alpha * (exp(x) - 1) (torch.nn.ELU)."""

    function = F.elu


class CELU(_WithAlpha):
    """`ELU` whose slope has no step at 0 (torch.nn.CELU)."""

    function = F.celu


class SELU(Applied):
    """`ELU` with the two constants of self-normalising networks (torch.nn.SELU)."""

    function = F.selu
    inplace: bool = False


class LeakyReLU(Applied):
    """x where it is positive, else negative_slope * x (torch.nn.LeakyReLU)."""

    function = F.leaky_relu
    shown = "negative_slope={negative_slope}"
    negative_slope: float = 0.01
    inplace: bool = False


class RReLU(Applied):
    """`LeakyReLU` with slopes drawn in training (torch.nn.RReLU)."""

    function = F.rrelu
    shown = "lower={lower}, upper={upper}"
    in_training = True
    lower: float = 1.0 / 8
    upper: float = 1.0 / 3
    inplace: bool = False


class GELU(Applied):
    """x times the share of a normal distribution below x (torch.nn.GELU)."""

    function = F.gelu
    shown = "approximate={approximate!r}"
    approximate: str = "none"


class SiLU(Applied):
    """x * sigmoid(x) (torch.nn.SiLU)."""

    function = F.silu
    inplace: bool = False


class Mish(Applied):
    """x * tanh(softplus(x)) (torch.nn.Mish)."""

    function = F.mish
    inplace: bool = False


class _Quiet(Applied):
    """Its text says nothing of the attribute."""

    inplace: bool = False

    def extra_repr(self) -> str:
        """Nothing."""
        return ""


class Hardswish(_Quiet):
    """x * relu6(x + 3) / 6 (torch.nn.Hardswish)."""

    function = F.hardswish


class Hardsigmoid(_Quiet):
    """relu6(x + 3) / 6 (torch.nn.Hardsigmoid)."""

    function = F.hardsigmoid


class _Shrink(Applied):
    in_order = True
    shown = "{lambd}"
    lambd: float = 0.5


class Hardshrink(_Shrink):
    """x outside of -lambd .. lambd, else 0 (torch.nn.Hardshrink)."""

    function = F.hardshrink


class Softshrink(_Shrink):
    """x moved by lambd towards 0 (torch.nn.Softshrink)."""

    function = F.softshrink


class Softplus(Applied):
    """log(1 + exp(beta * x)) / beta (torch.nn.Softplus)."""

    function = F.softplus
    in_order = True
    shown = "beta={beta}, threshold={threshold}"
    beta: float = 1.0
    threshold: float = 20.0


class Threshold(Applied):
    """x above a threshold, else a value (torch.nn.Threshold)."""

    function = F.threshold
    shown = "threshold={threshold}, value={value}"
    threshold: float
    value: float
    inplace: bool = False


class GLU(Applied):
    """The first half times the sigmoid of the second (torch.nn.GLU)."""

    function = F.glu
    shown = "dim={dim}"
    dim: int = -1


class _Plain(Applied):
    """A function without attributes; what it is made with is refused."""


class Sigmoid(_Plain):
    """1 / (1 + exp(-x)) (torch.nn.Sigmoid)."""

    function = dispatch.sigmoid


class Tanh(_Plain):
    """The hyperbolic tangent (torch.nn.Tanh)."""

    function = dispatch.tanh


class Softsign(_Plain):
    """x / (1 + |x|) (torch.nn.Softsign)."""

    function = F.softsign


class Tanhshrink(_Plain):
    """x - tanh(x) (torch.nn.Tanhshrink)."""

    function = F.tanhshrink


class LogSigmoid(_Plain):
    """log(sigmoid(x)) (torch.nn.LogSigmoid)."""

    function = F.logsigmoid


class _AlongDim(Applied):
    shown = "dim={dim}"
    dim: int | None = None


class Softmax(_AlongDim):
    """Exponentials that sum to 1 along a dimension (torch.nn.Softmax)."""

    function = F.softmax


class LogSoftmax(_AlongDim):
    """The logarithm of `Softmax` (torch.nn.LogSoftmax)."""

    function = F.log_softmax


class Softmin(_AlongDim):
    """`Softmax` of -x (torch.nn.Softmin)."""

    function = F.softmin


class Softmax2d(_Plain):
    """`Softmax` over the channels of pictures (torch.nn.Softmax2d)."""

    function = F.softmax

    def forward(self, input: Any) -> Any:
        """ValueError for an input that has not three or four dimensions."""
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected 3 or 4 dimensions, got {input.dim()}")
        return F.softmax(input, -3)


# ---- dropout


class _DropoutNd(Applied):
    """Zeros with the probability `p` in training."""

    shown = "p={p}, inplace={inplace}"
    in_training = True
    p: float = 0.5
    inplace: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")


class Dropout(_DropoutNd):
    """Of single values (torch.nn.Dropout)."""

    function = F.dropout


class Dropout1d(_DropoutNd):
    """Of whole channels of sequences (torch.nn.Dropout1d)."""

    function = F.dropout1d


class Dropout2d(_DropoutNd):
    """Of whole channels of pictures (torch.nn.Dropout2d)."""

    function = F.dropout2d


class Dropout3d(_DropoutNd):
    """Of whole channels of volumes (torch.nn.Dropout3d)."""

    function = F.dropout3d


class AlphaDropout(_DropoutNd):
    """Keeps mean and variance (torch.nn.AlphaDropout)."""

    function = F.alpha_dropout
    hidden = ("inplace",)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels (torch.nn.FeatureAlphaDropout)."""

    function = F.feature_alpha_dropout
    hidden = ("inplace",)
