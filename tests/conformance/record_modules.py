"""Records modules of `torch.nn`: `TORCH_PYTHON -m tests.conformance.record_modules`.

Of each line of `CASES`, a module and the inputs that it is called with: the module's text, its
state, and what a call gives, with weights and random numbers drawn from fixed seeds. Tensors are
kept as sizes, dtype and two sums. Writes `data/modules.json.gz`; same PyTorch, same bytes.
"""

import gzip
import json
from pathlib import Path
from typing import Any

__all__ = ["CASES", "main", "record"]

DATA = Path(__file__).parent / "data"
CASES = """
ReLU() | x4
ReLU(inplace=True) | x4
ReLU6() | x4
Hardtanh(-2, 2) | x4
ELU(0.5) | x4
CELU() | x4
SELU(True) | x4
LeakyReLU(0.2) | x4
RReLU().eval() | x4
GELU('tanh') | x4
GELU() | x4
SiLU() | x4
Mish() | x4
Hardswish() | x4
Hardsigmoid() | x4
Hardshrink() | x4
Softshrink(0.1) | x4
Softplus(2.0) | x4
Threshold(0.1, 20) | x4
GLU(1) | x4
Sigmoid() | x4
Tanh() | x4
Softsign() | x4
Tanhshrink() | x4
LogSigmoid() | x4
Softmax(1) | x4
LogSoftmax(dim=-1) | x4
Softmin(dim=1) | x4
Softmax2d() | x4
PReLU() | x4
PReLU(4) | x4
Dropout(0.3) | x4
Dropout().eval() | x4
Dropout2d(0.3) | x4
Dropout1d(0.3) | x3
Dropout3d(0.3) | x5
AlphaDropout(0.2) | x4
FeatureAlphaDropout(0.2) | x4
MaxPool1d(2) | x3
MaxPool2d(2, 1, padding=1) | x4
MaxPool2d(2, return_indices=True) | x4
MaxPool3d(2) | x5
AvgPool1d(2) | x3
AvgPool2d(2, 1) | x4
AvgPool3d(2) | x5
LPPool1d(2, 2) | x3
LPPool2d(2, 2) | x4
LPPool3d(2, 2) | x5
AdaptiveAvgPool1d(2) | x3
AdaptiveAvgPool2d((1, 1)) | x4
AdaptiveAvgPool3d(1) | x5
AdaptiveMaxPool1d(2) | x3
AdaptiveMaxPool2d((2, None)) | x4
AdaptiveMaxPool3d(1) | x5
FractionalMaxPool2d(2, output_size=2) | x4
FractionalMaxPool3d(2, output_ratio=0.6) | x5
ReflectionPad1d(1) | x3
ReflectionPad2d((1, 0, 1, 0)) | x4
ReflectionPad3d(1) | x5
ReplicationPad1d(2) | x3
ReplicationPad2d(1) | x4
ReplicationPad3d(1) | x5
CircularPad1d(1) | x3
CircularPad2d(1) | x4
CircularPad3d(1) | x5
ConstantPad1d(1, 3.5) | x3
ConstantPad2d(1, 3.5) | x4
ConstantPad3d(1, 3.5) | x5
ZeroPad1d(1) | x3
ZeroPad2d((1, 2, 0, 1)) | x4
ZeroPad3d(1) | x5
Flatten() | x4
Flatten(0, 1) | x4
Unflatten(1, (2, 2)) | x4
Fold((5, 5), (2, 2)) | fold
Unfold(2) | x4
PixelShuffle(2) | x4
PixelUnshuffle(2) | x4
ChannelShuffle(2) | x4
Upsample(scale_factor=2) | x4
Upsample(size=(3, 5), mode='bilinear') | x4
Upsample(scale_factor=(2, 3), mode='bicubic', align_corners=True) | x4
UpsamplingNearest2d(scale_factor=2) | x4
UpsamplingBilinear2d(size=7) | x4
LocalResponseNorm(2) | x4
CosineSimilarity() | x4,y4
PairwiseDistance(1) | x2,y2
Linear(4, 3) | x2
Linear(4, 3, bias=False) | x2
Identity(3, a=4) | x2
Bilinear(4, 4, 2) | x2,y2
Embedding(10, 3) | ids
Embedding(10, 3, padding_idx=-1, max_norm=1.0) | ids
EmbeddingBag(10, 3, mode='sum') | ids2
EmbeddingBag(10, 3, padding_idx=1) | ids2
Conv1d(4, 6, 3) | x3
Conv2d(4, 6, 3, padding=1, stride=2) | x4
Conv2d(4, 4, (3, 1), groups=4, bias=False, padding='same', padding_mode='circular') | x4
Conv2d(4, 8, 2, padding='valid', dilation=2) | x4
Conv3d(2, 2, 2) | x5
Conv2d(4, 2, 3, padding=(1, 2), padding_mode='reflect') | x4
ConvTranspose1d(4, 2, 3) | x3
ConvTranspose2d(4, 2, 3, stride=2, output_padding=1) | x4
ConvTranspose3d(2, 2, 2) | x5
BatchNorm1d(4) | x2
BatchNorm1d(4, affine=False) | x3
BatchNorm2d(4) | x4
BatchNorm2d(4, momentum=None) | x4
BatchNorm2d(4).eval() | x4
BatchNorm3d(2, track_running_stats=False) | x5
SyncBatchNorm(4) | x3
SyncBatchNorm(4, momentum=None, bias=False).eval() | x2
SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm1d(4, affine=False))) | x3
InstanceNorm1d(4) | x3
InstanceNorm2d(4, affine=True, track_running_stats=True) | x4
InstanceNorm3d(2) | x5
LayerNorm(4) | x2
LayerNorm([6, 6], bias=False) | x4
RMSNorm(4) | x2
GroupNorm(2, 4) | x4
GroupNorm(2, 4, affine=False) | x4
RNN(4, 3) | x3t
RNN(4, 3, 2, 'relu', batch_first=True) | x3t
GRU(4, 3, bidirectional=True) | x3t
LSTM(4, 3, num_layers=2, dropout=0.0) | x3t
LSTM(4, 3, proj_size=2, bias=False) | x3t
LSTM(4, 3) | x2
GRU(4, 3) | x2
RNNCell(4, 3) | x2
RNNCell(4, 3, nonlinearity='relu') | x2
GRUCell(4, 3) | x2
LSTMCell(4, 3) | x2
LSTMCell(4, 3, bias=False) | x1
GRUCell(4, 3) | x1
L1Loss() | x2,y2
L1Loss(reduction='sum') | x2,y2
MSELoss(size_average=False) | x2,y2
MSELoss(reduce=False) | x2,y2
SmoothL1Loss(beta=0.5) | x2,y2
HuberLoss(delta=0.3) | x2,y2
KLDivLoss(reduction='batchmean') | x2,y2
SoftMarginLoss() | x2,y2
BCELoss() | p2,q2
BCEWithLogitsLoss(pos_weight=torch.ones(4) * 2) | x2,q2
NLLLoss() | x2,c2
CrossEntropyLoss(weight=torch.arange(4.) + 1, label_smoothing=0.1) | x2,c2
MultiMarginLoss() | x2,c2
MarginRankingLoss(0.5) | x1,y1,y1
CosineEmbeddingLoss() | x2,y2,s2
HingeEmbeddingLoss() | x2,y2
PoissonNLLLoss() | x2,p2
GaussianNLLLoss() | x2,y2,p2
TripletMarginLoss(swap=True) | x2,y2,p2
TripletMarginWithDistanceLoss() | x2,y2,p2
MultiLabelSoftMarginLoss() | x2,q2
MultiLabelMarginLoss() | x2,mm
CTCLoss() | lp,tg,il,tl
LinearCrossEntropyLoss(4, 5) | x2,c2
LinearCrossEntropyLoss(4, 4, bias=True, weight=torch.arange(4.) + 1, reduction='none') | x2,c2
LinearCrossEntropyLoss(4, 5, out_features=(2,), label_smoothing=0.2) | x2,c3
LinearCrossEntropyLoss(4, 4, ignore_index=1, options=nn.LinearCrossEntropyOptions()) | x2,c2
NLLLoss2d() | x2,c2
Sequential(nn.Linear(4, 3)) + nn.Sequential(nn.ReLU(), nn.Linear(3, 2)) | x2
Sequential(nn.Linear(4, 4), nn.ReLU()) * 2 | x2
utils.weight_norm(nn.Linear(4, 3), dim=1) | x2
utils.spectral_norm(nn.Conv2d(4, 3, 3)) | x4
utils.parametrizations.weight_norm(nn.ConvTranspose1d(4, 3, 3), dim=None) | x3
utils.parametrizations.spectral_norm(nn.Linear(4, 3), n_power_iterations=2) | x2
utils.parametrizations.orthogonal(nn.Linear(4, 4), orthogonal_map='cayley') | x2
utils.parametrizations.orthogonal(nn.Linear(4, 2), use_trivialization=False) | x2
utils.prune.ln_structured(nn.Linear(4, 3), 'weight', 1, 2, 0) | x2
utils.prune.l1_unstructured(nn.Conv1d(4, 2, 3), 'weight', 0.4) | x3
utils.fuse_conv_bn_eval(nn.Conv2d(4, 3, 3).eval(), nn.BatchNorm2d(3).eval()) | x4
Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 2))) | x2
ModuleList([nn.Linear(2, 2), nn.ReLU()])
ModuleDict({'a': nn.Linear(2, 2), 'b': nn.Tanh()})
ParameterList([torch.ones(2, 3), torch.zeros(1)])
ParameterDict({'w': torch.ones(2, 3)})
MultiheadAttention(4, 2, batch_first=True) | x3t,x3t,x3t
MultiheadAttention(4, 2) | x3t,x3t,x3t
TransformerEncoderLayer(4, 2, 8, batch_first=True, dropout=0.0) | x3t
TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 2) | x3t
TransformerDecoderLayer(4, 2, 8, dropout=0.0) | x3t,x3t
TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0), 2, nn.LayerNorm(4)) | x3t,x3t
Transformer(4, 2, 1, 1, 8, dropout=0.0) | x3t,x3t
Embedding.from_pretrained(torch.ones(3, 2)) | ids3
MultiheadAttention(4, 2, bias=False, add_bias_kv=True, add_zero_attn=True) | x3t,x3t,x3t
MultiheadAttention(4, 2, kdim=3, vdim=5, batch_first=True) | x3t,k3,v3
TransformerEncoderLayer(4, 2, 8, activation='gelu', norm_first=True, bias=False).eval() | x3t
MaxPool2d(3, 2, ceil_mode=True) | x4
Upsample(scale_factor=2, mode='bilinear', align_corners=True) | x4
TripletMarginLoss(reduction='none') | x2,y2,p2
ModuleList([nn.Linear(2, 2), nn.Linear(2, 2), nn.Tanh()])
MaxUnpool1d(2) | u3,i3
MaxUnpool2d(2) | u4,i4
MaxUnpool3d(2) | u5,i5
AdaptiveLogSoftmaxWithLoss(4, 10, [2, 6]) | x2,l2
AdaptiveLogSoftmaxWithLoss(4, 9, [5], div_value=2.0, head_bias=True) | x2,c2
CrossMapLRN2d(3, alpha=0.1) | x4
RNNBase('LSTM', 4, 3, num_layers=2)
RNNBase('GRU', 4, 3, bidirectional=True)
LazyLinear(3) | x2
LazyLinear(3, bias=False)
LazyConv1d(2, 3) | x3
LazyConv2d(2, 3, padding=1) | x4
LazyConv3d(2, 2, bias=False) | x5
LazyConvTranspose1d(2, 3) | x3
LazyConvTranspose2d(2, 3, stride=2) | x4
LazyConvTranspose3d(2, 2) | x5
LazyBatchNorm1d() | x2
LazyBatchNorm2d(momentum=0.5) | x4
LazyBatchNorm3d(affine=False) | x5
LazyInstanceNorm1d() | x3
LazyInstanceNorm2d(affine=True) | x4
LazyInstanceNorm3d(track_running_stats=True) | x5
"""


def _inputs(torch: Any) -> dict[str, Any]:
    """The tensors that cases name."""
    torch.manual_seed(3)
    r, whole = torch.randn, torch.tensor
    return {
        "x1": r(4), "y1": r(4).sign(), "x2": r(3, 4), "y2": r(3, 4), "x3": r(2, 4, 6),
        "x3t": r(2, 3, 4), "x4": r(2, 4, 6, 6), "y4": r(2, 4, 6, 6), "x5": r(2, 2, 4, 4, 4),
        "fold": r(1, 12, 16), "ids": whole([[1, 2, 9], [0, 1, 3]]),
        "ids2": whole([[1, 2, 9], [0, 1, 3]]), "ids3": whole([0, 2]),
        "p2": torch.rand(3, 4), "q2": torch.rand(3, 4).round(), "c2": whole([1, 0, 3]),
        "c3": whole([[1, 0], [3, 4], [2, 2]]),
        "l2": whole([1, 9, 3]),
        "s2": whole([1.0, -1.0, 1.0]), "mm": whole([[1, 0, -1, 2]] * 3),
        "lp": torch.log_softmax(r(10, 2, 5), -1), "tg": whole([[1, 2, 3], [2, 1, 4]]),
        "il": whole([10, 10]), "tl": whole([3, 2]), "k3": r(2, 3, 3), "v3": r(2, 3, 5),
        "u4": r(1, 1, 2, 2), "i4": whole([[[[0, 3], [9, 15]]]]),
        "u3": r(1, 1, 2), "i3": whole([[[0, 3]]]), "u5": r(1, 1, 1, 1, 2),
        "i5": whole([[[[[0, 9]]]]]),
    }  # fmt: skip


def _summary(value: Any, torch: Any) -> Any:
    """Sizes, dtype, the sum, and the sum with growing weights; lists for several tensors."""
    if isinstance(value, (tuple, list)):
        return [_summary(v, torch) for v in value]
    if value is None:
        return None
    if type(value).__name__.startswith("Uninitialized"):
        return type(value).__name__
    flat = value.detach().double().reshape(-1)
    weights = torch.arange(flat.numel(), dtype=torch.float64) % 7 + 1
    dtype = str(value.dtype).rpartition(".")[2]
    return [list(value.shape), dtype, flat.sum().item(), (flat * weights).sum().item()]


def record(case: str, nn: Any, torch: Any) -> dict[str, Any]:
    """What the module of a line of `CASES` is, and gives."""
    text, _, names = case.partition(" | ")
    inputs = _inputs(torch)
    with torch.no_grad():
        torch.manual_seed(0)
        module = eval("nn." + text, {"nn": nn, "torch": torch})
        found = {"text": repr(module), "training": module.training}
        given = [inputs[name].clone() for name in names.split(",") if name]
        if given:
            torch.manual_seed(1)
            found["result"] = _summary(module(*given), torch)
            found["inputs"] = _summary(given, torch)
        found["state"] = {n: _summary(v, torch) for n, v in module.state_dict().items()}
    return found


def main() -> None:
    """Write the file."""
    import torch
    import torch.nn.utils.prune

    rows = {case: record(case, torch.nn, torch) for case in CASES.strip().splitlines()}
    text = json.dumps(rows, separators=(",", ":"))
    (DATA / "modules.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
