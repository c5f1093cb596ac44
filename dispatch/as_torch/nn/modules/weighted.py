"""Modules with weights that are no convolutions, norms or recurrent cells."""

import math
from typing import Any

import dispatch
from dispatch.as_torch.nn import functional as F, init
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parameter import Parameter

__all__ = ["Bilinear", "Embedding", "EmbeddingBag", "Identity", "Linear", "PReLU"]


class Identity(Module):
    """Gives back its input, whatever it is made with (torch.nn.Identity)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input."""
        return input


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
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan) if fan > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> dispatch.Tensor:
        """The input of sizes (*, in_features) as (*, out_features)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, bias={self.bias is not None}"


class Bilinear(Module):
    """x1 @ weight[k] @ x2 + bias[k] for each output k (torch.nn.Bilinear)."""

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features, self.in2_features = in1_features, in2_features
        self.out_features = out_features
        place = {"device": device, "dtype": dtype}
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(dispatch.empty(shape, **place))
        self.register_parameter(
            "bias", Parameter(dispatch.empty(out_features, **place)) if bias else None
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters from a uniform distribution of width 1 / sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.weight.size(1))
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        """(*, in1_features) and (*, in2_features) as (*, out_features)."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """The sizes."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class PReLU(Module):
    """x where it is positive, else a learned slope times x (torch.nn.PReLU)."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(dispatch.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes to `init`."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        """The input with its negative values scaled."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """The number of slopes."""
        return f"num_parameters={self.num_parameters}"


class _Rows(Module):
    """A table of rows: what `Embedding` and `EmbeddingBag` share."""

    padding_idx: int | None

    def _make_weight(self, given: Any, trained: bool, place: dict[str, Any]) -> None:
        shape = [self.num_embeddings, self.embedding_dim]
        if given is None:
            self.weight = Parameter(dispatch.empty(tuple(shape), **place), requires_grad=trained)
            self.reset_parameters()
        else:
            if list(given.shape) != shape:
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim"
                )
            self.weight = Parameter(given, requires_grad=trained)

    def _check_padding(self) -> None:
        """A place from the end becomes one from the front; AssertionError beyond the table."""
        index, n = self.padding_idx, self.num_embeddings
        if index is not None:
            if not -n <= index < n:
                raise AssertionError("Padding_idx must be within num_embeddings")
            self.padding_idx = index % n if n else index

    def reset_parameters(self) -> None:
        """Draw the rows from a normal distribution; the padding row is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with dispatch.no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, **options: Any) -> Any:
        """A module over a table that is there, with the constructor's options."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        made = cls(rows, columns, _weight=embeddings, **options)
        made.weight.requires_grad = not freeze
        return made

    def extra_repr(self) -> str:
        """The sizes, and what differs from the defaults."""
        parts = [f"{self.num_embeddings}", f"{self.embedding_dim}"]
        usual = {"padding_idx": None, "max_norm": None, "norm_type": 2, "scale_grad_by_freq": False,
                 "sparse": False}  # fmt: skip
        for name, default in usual.items():
            value = getattr(self, name)
            if value != default:
                text = "True" if value is True else value
                parts.append(f"{name}={text}")
        return ", ".join(parts)


class Embedding(_Rows):
    """Rows of a table by number (torch.nn.Embedding)."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0, scale_grad_by_freq: bool = False,
        sparse: bool = False, _weight: Any = None, _freeze: bool = False, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._check_padding()
        self._make_weight(_weight, not _freeze, {"device": device, "dtype": dtype})

    def forward(self, input: Any) -> Any:
        """The rows of the numbers."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.sparse,
        )  # fmt: skip


class EmbeddingBag(_Rows):
    """Sums or means of rows (torch.nn.EmbeddingBag)."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
        sparse: bool = False, _weight: Any = None, include_last_offset: bool = False,
        padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq, self.sparse, self.mode = scale_grad_by_freq, sparse, mode
        self.include_last_offset = include_last_offset
        self._check_padding()
        self._make_weight(_weight, True, {"device": device, "dtype": dtype})

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """One row for each bag."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, self.sparse, per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The sizes, what differs from the defaults, and how rows are put together."""
        parts = super().extra_repr().split(", ")
        padding = [part for part in parts if part.startswith("padding_idx")]
        rest = [part for part in parts if not part.startswith("padding_idx")]
        return ", ".join([*rest, f"mode={self.mode!r}", *padding])
