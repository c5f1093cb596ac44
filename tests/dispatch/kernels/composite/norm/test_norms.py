"""Composite normalisations, softmax and means: what they call and give (PyTorch 2.13's)."""

from __future__ import annotations

from typing import Any

import pytest

import dispatch
from dispatch import ops
from dispatch.fake import FakeTensorMode
from tests.dispatch.kernels.tensors import fake, geometry, meta, traced

aten = ops.aten


def calls(op: Any, *args: Any) -> list[str]:
    with traced() as seen:
        op(*args)
    return seen


def test_softmax_converts_only_to_another_dtype() -> None:
    x = meta((2, 3))
    assert calls(aten.softmax.int, x, 1, dispatch.float32) == ["_softmax.default"]
    assert calls(aten.log_softmax.int, x, 1, dispatch.float64) == [
        "_to_copy.default",
        "_log_softmax.default",
    ]


def test_softmax_widens_half_precision_in_one_call_on_cuda() -> None:
    mode = FakeTensorMode()
    x = fake(mode, (2, 3), dtype="float16", device="cuda")
    with mode:
        assert calls(aten.softmax.int, x, 1, dispatch.float32) == ["_softmax.default"]
        assert geometry(aten.softmax.int(x, 1, dispatch.float32))[0] == "float32"


def test_softmax_into_a_strided_out_keeps_its_strides() -> None:
    out = meta((2, 3), (1, 2))
    assert aten.softmax.int_out(meta((2, 3)), 1, out=out) is out
    assert geometry(out)[2] == (1, 2)


def test_layer_norm_is_the_native_one() -> None:
    assert calls(aten.layer_norm, meta((2, 3)), [3]) == ["native_layer_norm.default"]


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_is_the_native_one(training: bool) -> None:
    stats = meta((3,)), meta((3,))
    seen = calls(aten.batch_norm, meta((2, 3, 4)), None, None, *stats, training, 0.1, 1e-5, True)
    assert seen == ["empty.memory_format", "native_batch_norm.default"]


def test_batch_norm_of_nothing_copies() -> None:
    results = aten._batch_norm_impl_index(
        meta((0, 3)), meta((3,)), None, None, None, True, 0.1, 1e-5, True
    )
    assert [geometry(t)[:2] for t in results[:4]] == [
        ("float32", (0, 3)),
        ("float64", (3,)),
        ("float64", (3,)),
        ("uint8", (0,)),
    ]
    assert results[4] == 0


def test_batch_norm_needs_statistics_unless_training() -> None:
    with pytest.raises(RuntimeError, match="running_mean"):
        aten.batch_norm(meta((2, 3)), None, None, None, None, False, 0.1, 1e-5, True)
    with pytest.raises(RuntimeError, match="weight should contain 3"):
        aten.batch_norm(meta((2, 3)), meta((4,)), None, None, None, True, 0.1, 1e-5, True)


def test_group_norm_makes_its_input_contiguous_but_for_channels_last_on_cpu() -> None:
    mode = FakeTensorMode()
    strides = (96, 1, 24, 6)
    for device, result in (("cpu", strides), ("cuda", (96, 16, 4, 1))):
        x = fake(mode, (2, 6, 4, 4), strides, device=device)
        with mode:
            assert geometry(aten.group_norm(x, 3))[2] == result


@pytest.mark.parametrize(
    ("groups", "weight", "error"),
    [(0, None, RuntimeError), (4, None, RuntimeError), (3, (5,), RuntimeError)],
)
def test_group_norm_checks_its_groups(groups: int, weight: Any, error: type) -> None:
    with pytest.raises(error, match="group_norm"):
        aten.group_norm(meta((2, 6)), groups, None if weight is None else meta(weight))


def test_group_norm_needs_channels() -> None:
    with pytest.raises(IndexError):
        aten.group_norm(meta((6,)), 3)


def test_weight_norm_is_one_operator_for_the_first_and_last_dim() -> None:
    v = meta((4, 3, 2))
    for dim, sizes in ((0, (4, 1, 1)), (2, (1, 1, 2))):
        assert calls(aten._weight_norm, v, meta(sizes), dim) == ["_weight_norm_interface.default"]
    assert geometry(aten._weight_norm(v, meta((1, 3, 1)), 1))[1] == (4, 3, 2)


def test_unbiased_is_a_correction() -> None:
    assert calls(aten.std.dim, meta((2, 3)), [0]) == ["std.correction"]
    assert calls(aten.var.default, meta((2, 3)), False) == ["var.correction"]


def test_instance_norm_takes_the_running_statistics_before_it_reads_the_new_ones() -> None:
    means, variances = dispatch.zeros(2), dispatch.ones(2)
    x = dispatch.ones(1, 2, 3)
    args = (x, None, None, means, variances, True, 0.1, 1e-5, False)
    seen = [name for name in calls(aten.instance_norm, *args) if name != "view.default"]
    assert seen[-6:] == 2 * ["alias.default", "mean.dim", "copy_.default"]
