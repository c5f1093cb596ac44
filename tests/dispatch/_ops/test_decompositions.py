"""Operators with kernels of their own that are taken apart: the same answer, by other operators."""

import pytest

import dispatch
from dispatch import ops
from dispatch._ops import enable_python_dispatcher
from dispatch.modes import TorchDispatchMode

aten = ops.aten
X = dispatch.arange(24.0).reshape(1, 2, 3, 4)
ROWS, CUBES = X[0], X[None]
ONES, ZEROS = dispatch.ones(2), dispatch.zeros(2)


class Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.ops = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.ops.append(func)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("op", "args", "kwargs"),
    [
        (aten.upsample_nearest1d.default, (ROWS, [7]), {}),
        (aten.upsample_nearest2d.default, (X, [6, 8]), {"scales_w": 2.0}),
        (aten.upsample_nearest3d.default, (CUBES, [2, 5, 3], None, None, None), {}),
        (aten._upsample_nearest_exact1d.default, (ROWS, [9], 2.5), {}),
        (aten._upsample_nearest_exact2d.default, (X, [5, 5], None, None), {}),
        (aten._upsample_nearest_exact3d.default, (CUBES, [4, 6, 8]), {}),
    ],
    ids=lambda value: str(value) if callable(value) else "",
)
def test_nearest_neighbours_are_an_index(op, args, kwargs):
    with Seen() as seen:
        got = op.decompose(*args, **kwargs)
    assert dispatch.equal(got, op(*args, **kwargs))
    assert aten._unsafe_index.Tensor in seen.ops and op not in seen.ops


def test_channels_last_stays():
    last = X.repeat(1, 2, 1, 1).contiguous(memory_format=dispatch.channels_last)
    got = aten.upsample_nearest2d.default.decompose(last, [6, 8], None, None)
    assert got.is_contiguous(memory_format=dispatch.channels_last)


@pytest.mark.parametrize(
    ("running", "training", "op"),
    [
        ((ZEROS, ONES), True, aten._native_batch_norm_legit.default),
        ((ZEROS, ONES), False, aten._native_batch_norm_legit_no_training.default),
        ((None, None), True, aten._native_batch_norm_legit.no_stats),
    ],
)
def test_batch_norm_is_one_of_three(running, training, op):
    running = [None if t is None else t.clone() for t in running]
    args = (X, ONES, ZEROS, *running, training, 0.1, 1e-5)
    with Seen() as seen:
        got = aten.native_batch_norm.default.decompose(*args)
    assert seen.ops == [op]
    assert dispatch.allclose(got[0], aten.native_batch_norm.default(*args)[0])


def test_batch_norm_refuses_one_running_statistic():
    with pytest.raises(RuntimeError, match="aten::native_batch_norm: expected both"):
        aten.native_batch_norm.default.decompose(X, ONES, ZEROS, None, ONES, True, 0.1, 1e-5)


def test_others_are_not_taken_apart():
    assert aten.sin.default.decompose(X) is NotImplemented


def test_dropout_with_symbols_is_the_operator_that_keeps_the_mask():
    kinds = ((0.5, True, "native_dropout"), (0.5, False, "clone"), (0.0, True, "clone"))
    for p, train, kind in kinds:
        with Seen() as calls, enable_python_dispatcher():
            dispatch.dropout(dispatch.ones(2, 3), p, train)
        assert calls.ops[1] is getattr(aten, kind).default
