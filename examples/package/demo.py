"""The package's operators on real tensors, in place, and on fake ones."""

import smoothing

import dispatch
from dispatch import FakeTensorMode, ops

x = dispatch.tensor([[0.0, 4.0, 0.0, 8.0], [1.0, 1.0, 1.0, 1.0]])
print(smoothing.ema(x, 0.5).tolist())
print(smoothing.macd(x)[0].shape)
print(smoothing.windows(x, 2, hop=2).tolist())
ops.smoothing.ema_(x, 0.5)
print(x[0].tolist())
print(smoothing.blend(x[0].to(dispatch.bfloat16), dispatch.tensor(8.0), 0.5).tolist())

with FakeTensorMode():
    big = dispatch.empty(1024, 1_000_000, device="cuda", dtype=dispatch.bfloat16)
    print(smoothing.macd(big).shape, smoothing.windows(big, 512, 256).shape)
