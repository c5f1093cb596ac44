"""Shapes of fused attention: recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

from dispatch._C import arrays, dtypes, tensor as core
from dispatch._C.storage import _new_storage
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.attention import fused as attention

Ints = tuple[int, ...]

STORAGE = _new_storage(1 << 16)


def tensor(
    sizes: Ints, strides: Ints | None = None, dtype: dtypes.dtype = dtypes.float32
) -> core.Tensor:
    strides = strides or rules.contiguous_strides(sizes)
    return arrays._new_strided(STORAGE, dtype, sizes, strides, 0)


@pytest.mark.parametrize("strides", [(512, 128, 8, 1), (512, 8, 32, 1)])
def test_fused_attention_follows_the_query(strides: Ints) -> None:
    q = tensor((2, 4, 16, 8), strides, dtypes.bfloat16)
    out, logsumexp = attention.flash_attention_for_cpu(q, q, q, 0.0, False, None, None)
    assert out.strides == strides
    assert (logsumexp.sizes, logsumexp.strides) == ((2, 4, 16), (64, 1, 4))
    assert logsumexp.dtype is dtypes.float32


def test_efficient_attention_pads_the_logsumexp() -> None:
    q = tensor((2, 4, 33, 8))
    out, logsumexp, _, _ = attention.efficient_attention(q, q, q, None, True, 0.0, False, None)
    assert (out.sizes, out.strides) == ((2, 4, 33, 8), (1056, 8, 32, 1))
    assert logsumexp.sizes == (2, 4, 64)
