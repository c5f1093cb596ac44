"""What is asked of hardware, answered for a CPU; convolutions under a library's name."""

import pytest

import dispatch
from dispatch import ops

aten = ops.aten
X = dispatch.arange(6.0).reshape(2, 3)


def test_there_is_no_other_hardware():
    assert not aten.cudnn_is_acceptable(X)
    assert not dispatch.is_vulkan_available()
    assert not X.is_distributed()


def test_plain_tensors_are_not_quantized():
    assert X.dequantize() is X
    assert X.double().dequantize().dtype is dispatch.float32


@pytest.mark.parametrize("enabled", [True, False])
def test_autocast_casts_where_it_is_on(enabled):
    half = X.half()._autocast_to_full_precision(True, enabled)
    assert half.dtype is (dispatch.float32 if enabled else dispatch.float16)
    short = X._autocast_to_reduced_precision(True, enabled, dispatch.float16, dispatch.bfloat16)
    assert short.dtype is (dispatch.bfloat16 if enabled else dispatch.float32)


def test_a_librarys_convolution_is_the_convolution():
    image, weight = dispatch.ones(1, 1, 4, 4), dispatch.ones(1, 1, 2, 2)
    plain = dispatch.conv2d(image, weight)
    found = aten.mkldnn_convolution(image, weight, None, [0, 0], [1, 1], [1, 1], 1)
    assert found.tolist() == plain.tolist()
    assert dispatch._nnpack_spatial_convolution(image, weight, None, [0]).tolist() == plain.tolist()
