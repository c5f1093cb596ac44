"""Settings of a whole program, and storages by the names of their dtypes."""

import pytest

import dispatch
from dispatch.as_torch import anomalies, settings
from dispatch.tensor import storage_classes


@pytest.mark.parametrize("t", [dispatch.DoubleTensor, "torch.DoubleTensor"])
def test_the_default_dtype_is_set_by_a_type_of_tensors(t):
    settings.set_default_tensor_type(t)
    try:
        assert dispatch.ones(1).dtype is dispatch.float64
    finally:
        settings.set_default_tensor_type(dispatch.FloatTensor)
    assert dispatch.ones(1).dtype is dispatch.float32


@pytest.mark.parametrize(
    "t", [dispatch.IntTensor, "torch.cuda.FloatTensor", dispatch.Tensor, dispatch.float32, None]
)
def test_other_types_are_no_default(t):
    with pytest.raises(TypeError):
        settings.set_default_tensor_type(t)
    assert dispatch.get_default_dtype() is dispatch.float32


def test_settings_that_change_nothing_are_kept():
    settings.set_float32_matmul_precision("high")
    settings.set_float32_matmul_precision("unknown")
    assert settings.get_float32_matmul_precision() == "high"
    settings.set_float32_matmul_precision("highest")
    settings.set_num_interop_threads(3)
    assert settings.get_num_interop_threads() == 3
    settings.set_num_interop_threads(1)
    assert settings.set_flush_denormal(True) is False
    for call, wrong in (
        (settings.set_float32_matmul_precision, 3),
        (settings.set_num_interop_threads, 0),
        (settings.set_flush_denormal, 1),
    ):
        with pytest.raises(RuntimeError, match=call.__name__):
            call(wrong)


def test_a_build_is_described():
    assert "dispatch" in settings.show()
    assert str(dispatch.get_num_threads()) in settings.parallel_info()
    assert settings.compiled_with_cxx11_abi()


def test_storages_by_dtype_make_and_know_typed_ones():
    made = storage_classes.LongStorage([1, 2])
    assert made.tolist() == [1, 2] and made.dtype is dispatch.int64
    assert isinstance(made, storage_classes.LongStorage)
    assert not isinstance(made, storage_classes.IntStorage)
    assert storage_classes.FloatStorage(3).size() == 3
    assert storage_classes.HalfStorage.dtype is dispatch.float16


def test_anomaly_detection_is_kept_and_put_back():
    assert not anomalies.is_anomaly_enabled() and anomalies.is_anomaly_check_nan_enabled()
    with anomalies.detect_anomaly(check_nan=False):
        assert anomalies.is_anomaly_enabled() and not anomalies.is_anomaly_check_nan_enabled()
        with anomalies.set_detect_anomaly(False):
            assert not anomalies.is_anomaly_enabled()
        assert anomalies.is_anomaly_enabled()
    made = anomalies.detect_anomaly()
    assert not anomalies.is_anomaly_enabled(), f"{made} was not entered"
    with pytest.raises(TypeError, match="set_anomaly_enabled"):
        anomalies.set_anomaly_enabled(True, 1)
    assert not anomalies.is_anomaly_enabled()
