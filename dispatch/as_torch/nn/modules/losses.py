"""Losses as modules: a function of input and target, with a reduction and sometimes weights."""

import warnings
from collections.abc import Callable
from typing import Any

from dispatch.as_torch.nn import functional as F
from dispatch.as_torch.nn.modules.applied import Applied
from dispatch.as_torch.nn.modules.windows import PairwiseDistance
from dispatch.as_torch.nn.reductions import legacy_get_string

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss",
    "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss",
    "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]  # fmt: skip


class _Loss(Applied):
    """The two old flags win over `reduction`; tensors among the attributes are buffers."""

    hidden = ("size_average", "reduce")
    size_average: Any = None
    reduce: Any = None
    reduction: str = "mean"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        average, reduce = (self.__dict__.pop(name, None) for name in self.hidden)
        if average is not None or reduce is not None:
            self.reduction = legacy_get_string(average, reduce)

    def _put(self, name: str, value: Any) -> None:
        if name in ("weight", "pos_weight"):
            self.register_buffer(name, value)
        else:
            super()._put(name, value)

    def forward(self, input: Any, target: Any) -> Any:  # type: ignore[override]
        """The loss."""
        return self._result(input, target)


class L1Loss(_Loss):
    """|input - target| (torch.nn.L1Loss)."""

    function = F.l1_loss


class MSELoss(_Loss):
    """(input - target)^2 (torch.nn.MSELoss)."""

    function = F.mse_loss


class SmoothL1Loss(_Loss):
    """Squares near 0, distances beyond `beta` (torch.nn.SmoothL1Loss)."""

    function = F.smooth_l1_loss
    size_average: Any = None
    reduce: Any = None
    reduction: str = "mean"
    beta: float = 1.0


class HuberLoss(_Loss):
    """Squares near 0, distances times `delta` beyond it (torch.nn.HuberLoss)."""

    function = F.huber_loss
    reduction: str = "mean"
    delta: float = 1.0

    def _put(self, name: str, value: Any) -> None:
        if name == "delta" and not isinstance(value, float | int):
            raise TypeError(f"delta must be a float or int, got: {type(value)}")
        super()._put(name, value)


class KLDivLoss(_Loss):
    """The divergence of Kullback and Leibler (torch.nn.KLDivLoss)."""

    function = F.kl_div
    size_average: Any = None
    reduce: Any = None
    reduction: str = "mean"
    log_target: bool = False


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input)) (torch.nn.SoftMarginLoss)."""

    function = F.soft_margin_loss


class MultiLabelMarginLoss(_Loss):
    """Margins between classes that are and are not meant (torch.nn.MultiLabelMarginLoss)."""

    function = F.multilabel_margin_loss


class _WeightedLoss(_Loss):
    weight: Any = None
    size_average: Any = None
    reduce: Any = None
    reduction: str = "mean"


class BCELoss(_WeightedLoss):
    """Cross entropy of probabilities (torch.nn.BCELoss)."""

    function = F.binary_cross_entropy


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Cross entropy of each class by itself (torch.nn.MultiLabelSoftMarginLoss)."""

    function = F.multilabel_soft_margin_loss


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of the sigmoid (torch.nn.BCEWithLogitsLoss)."""

    function = F.binary_cross_entropy_with_logits
    weight: Any = None
    size_average: Any = None
    reduce: Any = None
    reduction: str = "mean"
    pos_weight: Any = None


class NLLLoss(_WeightedLoss):
    """The negative logarithm of the meant class's probability (torch.nn.NLLLoss)."""

    function = F.nll_loss
    weight: Any = None
    size_average: Any = None
    ignore_index: int = -100
    reduce: Any = None
    reduction: str = "mean"


class NLLLoss2d(NLLLoss):
    """The old name of `NLLLoss` (torch.nn.NLLLoss2d)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        text = "`NLLLoss2d` is now `NLLLoss`"
        warnings.warn(text, FutureWarning, stacklevel=2)
        super().__init__(*args, **kwargs)


class CrossEntropyLoss(_WeightedLoss):
    """`NLLLoss` of the logarithm of softmax (torch.nn.CrossEntropyLoss)."""

    function = F.cross_entropy
    weight: Any = None
    size_average: Any = None
    ignore_index: int = -100
    reduce: Any = None
    reduction: str = "mean"
    label_smoothing: float = 0.0


class MultiMarginLoss(_WeightedLoss):
    """Margins between the meant class and the others (torch.nn.MultiMarginLoss)."""

    function = F.multi_margin_loss
    p: int = 1
    margin: float = 1.0
    weight: Any = None
    size_average: Any = None
    reduce: Any = None
    reduction: str = "mean"


class _Margin(_Loss):
    margin: float = 0.0
    size_average: Any = None
    reduce: Any = None
    reduction: str = "mean"

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:  # type: ignore[override]
        """The loss."""
        return self._result(input1, input2, target)


class MarginRankingLoss(_Margin):
    """Which of two inputs is larger (torch.nn.MarginRankingLoss)."""

    function = F.margin_ranking_loss


class CosineEmbeddingLoss(_Margin):
    """Whether two inputs point the same way (torch.nn.CosineEmbeddingLoss)."""

    function = F.cosine_embedding_loss


class HingeEmbeddingLoss(_Loss):
    """Distances below a margin (torch.nn.HingeEmbeddingLoss)."""

    function = F.hinge_embedding_loss
    margin: float = 1.0
    size_average: Any = None
    reduce: Any = None
    reduction: str = "mean"


class PoissonNLLLoss(_Loss):
    """The likelihood of counts (torch.nn.PoissonNLLLoss)."""

    function = F.poisson_nll_loss
    log_input: bool = True
    full: bool = False
    size_average: Any = None
    eps: float = 1e-8
    reduce: Any = None
    reduction: str = "mean"

    def forward(self, log_input: Any, target: Any) -> Any:  # type: ignore[override]
        """The loss."""
        return self._result(log_input, target)


class GaussianNLLLoss(_Loss):
    """The likelihood of values with a variance (torch.nn.GaussianNLLLoss)."""

    function = F.gaussian_nll_loss
    keywords_only = True
    full: bool = False
    eps: float = 1e-6
    reduction: str = "mean"

    def forward(self, input: Any, target: Any, var: Any) -> Any:  # type: ignore[override]
        """The loss."""
        return self._result(input, target, var)


class TripletMarginLoss(_Loss):
    """An anchor's distances from a like and an unlike one (torch.nn.TripletMarginLoss)."""

    function = F.triplet_margin_loss
    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: Any = None
    reduce: Any = None
    reduction: str = "mean"

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:  # type: ignore[override]
        """The loss."""
        return self._result(anchor, positive, negative)


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` by a distance of one's own (torch.nn.TripletMarginWithDistanceLoss)."""

    function = F.triplet_margin_with_distance_loss
    keywords_only = True
    distance_function: Callable[..., Any] | None = None
    margin: float = 1.0
    swap: bool = False
    reduction: str = "mean"

    def _put(self, name: str, value: Any) -> None:
        usual = name == "distance_function" and value is None
        super()._put(name, PairwiseDistance() if usual else value)

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:  # type: ignore[override]
        """The loss."""
        return self._result(anchor, positive, negative)


class CTCLoss(_Loss):
    """Texts of unknown alignment (torch.nn.CTCLoss)."""

    function = F.ctc_loss
    blank: int = 0
    reduction: str = "mean"
    zero_infinity: bool = False

    def forward(  # type: ignore[override]
        self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any
    ) -> Any:
        """The loss."""
        return self._result(log_probs, targets, input_lengths, target_lengths)
