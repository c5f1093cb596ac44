"""Shape functions of normalisations and softmax, by device; expected are PyTorch 2.13's results."""

from __future__ import annotations

import pytest

import dispatch
from dispatch import ops
from dispatch.fake import FakeTensorMode
from tests.dispatch.kernels.tensors import fake, geometry, meta

aten = ops.aten
CHANNELS_LAST = (96, 1, 24, 6)


@pytest.mark.parametrize(("device", "dtype"), [("cpu", "bfloat16"), ("cuda", "float32")])
def test_layer_norm_statistics_keep_half_precision_on_cpu_only(device: str, dtype: str) -> None:
    mode = FakeTensorMode()
    x = fake(mode, (2, 3, 4), (4, 8, 1), "bfloat16", device)
    with mode:
        out, mean, rstd = aten.native_layer_norm(x, [3, 4], None, None, 1e-5)
    assert geometry(out) == ("bfloat16", (2, 3, 4), (12, 4, 1))
    assert geometry(mean)[:2] == geometry(rstd)[:2] == (dtype, (2, 1, 1))


@pytest.mark.parametrize(
    ("shape", "weight"),
    [([], None), ([3], None), ([4], (3,)), ([4], (2, 4)), ([2, 3, 4, 5], None)],
)
def test_layer_norm_checks_its_shapes(shape: list[int], weight: tuple[int, ...] | None) -> None:
    given = None if weight is None else meta(weight)
    with pytest.raises(RuntimeError, match=r"native_layer_norm: (Expected|Given)"):
        aten.native_layer_norm(meta((2, 3, 4)), shape, given, None, 1e-5)


@pytest.mark.parametrize(("device", "sizes"), [("cpu", (0,)), ("cuda", (6,))])
def test_batch_norm_saves_nothing_on_cpu_unless_training(
    device: str, sizes: tuple[int, ...]
) -> None:
    mode = FakeTensorMode()
    x = fake(mode, (2, 6, 4, 4), CHANNELS_LAST, device=device)
    mean, var = (fake(mode, (6,), device=device) for _ in range(2))
    with mode:
        out, saved, _ = aten.native_batch_norm(x, None, None, mean, var, False, 0.1, 1e-5)
        trained = aten.native_batch_norm(x, None, None, mean, var, True, 0.1, 1e-5)[1]
    assert geometry(out)[2] == CHANNELS_LAST
    assert tuple(saved.shape) == sizes
    assert tuple(trained.shape) == (6,)


def test_batch_norm_checks_the_channels() -> None:
    with pytest.raises(RuntimeError, match="weight"):
        aten.native_batch_norm(meta((2, 6)), meta((5,)), None, None, None, True, 0.1, 1e-5)
    with pytest.raises(RuntimeError, match="running_mean"):
        aten.native_batch_norm(meta((2, 6)), None, None, None, None, False, 0.1, 1e-5)


def test_functional_batch_norm_returns_statistics_as_computed() -> None:
    x, running = meta((2, 6, 4), dtype="float16"), meta((6,), dtype="float16")
    results = aten._native_batch_norm_legit_functional(
        x, None, None, running, running, True, 0.1, 1e-5
    )
    assert [geometry(r)[0] for r in results[3:]] == ["float32", "float32"]


@pytest.mark.parametrize(
    ("strides", "result"), [(CHANNELS_LAST, CHANNELS_LAST), ((96, 1, 6, 24), (96, 16, 4, 1))]
)
def test_group_norm_keeps_strides_that_its_groups_can_view(
    strides: tuple[int, ...], result: tuple[int, ...]
) -> None:
    x = meta((2, 6, 4, 4), strides)
    out, mean, _ = aten.native_group_norm(x, None, None, 2, 6, 16, 3, 1e-5)
    assert geometry(out)[2] == result
    assert tuple(mean.shape) == (2, 3)


def test_gradients_that_are_not_asked_for_are_none() -> None:
    x, stat, w = meta((2, 3)), meta((2, 1)), meta((3,))
    given = aten.native_layer_norm_backward(x, x, [3], stat, stat, w, None, [True, True, True])
    assert given[2] is None
    assert [tuple(t.shape) for t in given[:2]] == [(2, 3), (3,)]


def test_out_of_a_gradient_that_is_not_asked_for_stays() -> None:
    x, stat = meta((2, 3)), meta((2, 1))
    outs = [meta((0,)), meta((7,)), meta((7,))]
    aten.native_layer_norm_backward.out(
        x, x, [3], stat, stat, None, None, [True, False, False],
        out0=outs[0], out1=outs[1], out2=outs[2],
    )  # fmt: skip
    assert [tuple(t.shape) for t in outs] == [(2, 3), (7,), (7,)]


def test_weight_norm_keeps_the_norm_wide_beside_bfloat16() -> None:
    v, g = meta((4, 3, 2), dtype="bfloat16"), meta((4, 1, 1), dtype="bfloat16")
    out, norm = aten._weight_norm_interface(v, g, 0)
    assert geometry(out)[:2] == ("bfloat16", (4, 3, 2))
    assert geometry(norm)[:2] == ("float32", (4, 1, 1))


def test_softmax_is_contiguous_and_may_widen_half_precision() -> None:
    x = meta((2, 3), (1, 2), "float16")
    assert geometry(aten._softmax(x, 1, False)) == ("float16", (2, 3), (3, 1))
    assert geometry(aten._log_softmax(x, 1, True)) == ("float32", (2, 3), (3, 1))
    with pytest.raises(RuntimeError, match="half_to_float"):
        aten._softmax(meta((2, 3)), 1, True)


def test_log_softmax_checks_its_dim_and_softmax_only_with_data() -> None:
    with pytest.raises(IndexError):
        aten._log_softmax(meta((2, 3)), 2, False)
    assert tuple(aten._softmax(meta((2, 3)), 2, False).shape) == (2, 3)


def test_batch_norm_of_one_dimension_by_given_statistics_is_known_without_data_alone() -> None:
    one = dispatch.ones(1)
    with FakeTensorMode():
        x = dispatch.ones(3)
        assert aten.native_batch_norm(x, None, None, x, x, False, 0.1, 1e-5)[0].shape == (3,)
    with pytest.raises(IndexError, match="Dimension"):
        aten.native_batch_norm(dispatch.ones(3), None, None, one, one, False, 0.1, 1e-5)
