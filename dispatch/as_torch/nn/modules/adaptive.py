"""A softmax over many classes, in clusters: the head has the frequent ones, tails the others."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import dispatch
from dispatch.as_torch.nn import functional as F
from dispatch.as_torch.nn.modules.containers import ModuleList, Sequential
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.modules.weighted import Linear

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of the targets and their mean loss (torch.nn.AdaptiveLogSoftmaxWithLoss).

    Args: cutoffs, the classes below each of which a cluster ends, ascending; div_value, by which
    power of it the width of a tail is divided; head_bias, whether the head has a bias.
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0,
        head_bias: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        ends = list(cutoffs)
        if not ends:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            ends != sorted(set(ends)) or min(ends) <= 0 or max(ends) > n_classes - 1
            or any(int(end) != end for end in ends)
        ):  # fmt: skip
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                "order, where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*ends, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = ends[0], len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        place = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **place)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, **place),
                    Linear(width, size, bias=False, **place),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> _ASMoutput:
        """(log-probability of each target, mean loss) of (N, in_features) and (N), or of one row.

        Raises: RuntimeError for sizes that do not go together and for targets that are no class.
        """
        batched = target_.dim() > 0
        if target_.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if batched and input_.shape[0] != target_.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        wanted = 2 if batched else 1
        if input_.dim() != wanted:
            raise RuntimeError(
                f"{wanted}D target tensor expects {wanted}D input tensors, but found inputs with "
                f"size {input_.size()}"
            )
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        least, most = target.min(), target.max()
        if bool(least < 0) or bool(most >= self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{least.item()}, {most.item()}] were found. "
            )
        output = self._of_targets(input, target)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _of_targets(self, input: Any, target: Any) -> Any:
        """A target of a tail counts in the head as its cluster."""
        output = input.new_zeros(target.size(0))
        gather = target.new_empty(target.size(0))
        for i, (low, high) in enumerate(zip([0, *self.cutoffs], self.cutoffs, strict=False)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            if i == 0:
                gather.index_copy_(0, rows, target[rows])
                continue
            found = F.log_softmax(self.tail[i - 1](input.index_select(0, rows)), dim=1)
            places = (target[rows] - low).unsqueeze(1)
            output.index_copy_(0, rows, found.gather(1, places).squeeze(1))
            gather.index_fill_(0, rows, self.shortlist_size + i - 1)
        head = F.log_softmax(self.head(input), dim=1)
        return output + head.gather(1, gather.unsqueeze(1)).squeeze(1)

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        """All log-probabilities, given what the head says."""
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, tail in enumerate(self.tail):
            cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + cluster)
        return dispatch.cat(parts, dim=1)

    def log_prob(self, input: Any) -> Any:
        """Log-probabilities of all classes, (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The likeliest class of each row."""
        return self.log_prob(input).argmax(dim=1)
