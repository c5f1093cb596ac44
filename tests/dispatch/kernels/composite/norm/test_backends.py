"""Norms on a backend that has `native_batch_norm` alone: what the CPU's own kernels give."""

import pytest

import dispatch
from dispatch.kernels.composite.norm import backends

aten = dispatch.ops.aten


def same(found, want):
    assert len(found) == len(want)
    for a, b in zip(found, want, strict=True):
        assert a.shape == b.shape
        assert dispatch.allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("given", [(True, True), (True, False), (False, True), (False, False)])
def test_layer_norm_is_a_batch_norm_of_rows(given):
    x, weight, bias = dispatch.randn(3, 2, 4, 5), dispatch.randn(4, 5), dispatch.randn(4, 5)
    weight, bias = (t if there else None for t, there in zip((weight, bias), given, strict=True))
    arguments = x, [4, 5], weight, bias, 1e-5
    same(backends.native_layer_norm(*arguments), aten.native_layer_norm(*arguments))


@pytest.mark.parametrize("given", [True, False])
def test_group_norm_is_a_batch_norm_of_groups(given):
    x, weight, bias = dispatch.randn(2, 6, 3, 3), dispatch.randn(6), dispatch.randn(6)
    arguments = x, weight if given else None, bias if given else None, 2, 6, 9, 3, 1e-5
    same(backends.native_group_norm(*arguments), aten.native_group_norm(*arguments))


def test_batch_norm_without_training_leaves_statistics_alone():
    x, mean, var = dispatch.randn(2, 3, 4), dispatch.randn(3), dispatch.rand(3) + 1
    before = mean.clone(), var.clone()
    arguments = x, dispatch.randn(3), dispatch.randn(3), mean, var, 0.1, 1e-5
    found = backends.batch_norm_no_training(*arguments)
    same(found[:1], aten._native_batch_norm_legit_no_training(*arguments)[:1])
    same((mean, var), before)
