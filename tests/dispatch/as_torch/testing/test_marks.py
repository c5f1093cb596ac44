"""Marks of tests: what waits for another machine, what fails for some operators, tolerances."""

import unittest
import warnings

import numpy as np
import pytest

import dispatch
from dispatch.as_torch.testing import devices, hardware, helpers, matrices, samples
from dispatch.as_torch.testing.case import (
    TestCase,
    instantiate_parametrized_tests,
    parametrize,
    reparametrize,
)
from dispatch.as_torch.testing.opinfo import DecorateInfo, OpInfo


def outcomes(cls):
    """How each test of a class ends."""
    ends = {}
    for name in unittest.TestLoader().getTestCaseNames(cls):
        result = unittest.TestResult()
        cls(name).run(result)
        kinds = ["failures", "errors", "skipped", "expectedFailures", "unexpectedSuccesses"]
        ends[name] = next((kind for kind in kinds if getattr(result, kind)), "passed")
    return ends


def test_operators_of_a_list_are_left_out_or_expected_to_fail():
    both = (dispatch.float32, dispatch.float64)
    sin, cos = (OpInfo(name, getattr(dispatch, name), both) for name in ("sin", "cos"))

    class TestAll(TestCase):
        @devices.skipOps([devices.skip("cos"), devices.xfail("sin", dtypes=(dispatch.float64,))])
        @devices.ops([sin, cos])
        def test_it(self, device, dtype, op):
            self.assertEqual(dtype, dispatch.float32)

    scope = {"TestAll": TestAll}
    devices.instantiate_device_type_tests(TestAll, scope)
    assert outcomes(scope["TestAllCPU"]) == {
        "test_it_cos_cpu_float32": "skipped",
        "test_it_cos_cpu_float64": "skipped",
        "test_it_sin_cpu_float32": "passed",
        "test_it_sin_cpu_float64": "expectedFailures",
    }


def test_tolerances_are_those_of_the_dtype():
    class TestNear(TestCase):
        @devices.toleranceOverride({dispatch.float32: devices.tol(atol=0.5, rtol=0)})
        @devices.dtypes(dispatch.float32, dispatch.float64)
        def test_it(self, device, dtype):
            self.assertEqual(dispatch.ones(2, dtype=dtype), dispatch.ones(2, dtype=dtype) + 0.4)

    scope = {"TestNear": TestNear}
    devices.instantiate_device_type_tests(TestNear, scope)
    ends = outcomes(scope["TestNearCPU"])
    assert ends == {"test_it_cpu_float32": "passed", "test_it_cpu_float64": "failures"}


def test_parametrizations_are_changed_and_left_out():
    def even(name, arguments):
        yield (f"{name}_even", {**arguments, "half": arguments["x"] // 2}) if (
            arguments["x"] % 2 == 0
        ) else None

    class TestSome(TestCase):
        @reparametrize(parametrize("x", range(4)), even)
        def test_it(self, x, half):
            assert x == 2 * half

    ends = outcomes(instantiate_parametrized_tests(TestSome))
    assert ends == {"test_it_x_0_even": "passed", "test_it_x_2_even": "passed"}


@pytest.mark.parametrize(
    ("mark", "end"),
    [
        (hardware.skipCUDAIfNoCudnn, "passed"),
        (hardware.skipIfRocmArch(hardware.MI300_ARCH), "passed"),
        (hardware.onlyMPS, "skipped"),
        (hardware.requires_gpu(), "skipped"),
        (hardware.requires_gpu, "skipped"),
        (helpers.xfailIf(False), "passed"),
        (helpers.xfailIf(True), "unexpectedSuccesses"),
        (helpers.slowTestIf(True), "passed"),
        (helpers.skipIfPythonVersionMismatch(lambda major, minor, micro: major == 2), "skipped"),
        (devices.expectedFailure("cuda"), "passed"),
        (devices.expectedFailureCPU, "unexpectedSuccesses"),
    ],
)
def test_marks(mark, end):
    class TestOne(unittest.TestCase):
        @mark
        def test_it(self):
            pass

    assert outcomes(TestOne) == {"test_it": end}


def test_modules_run_in_their_modes():
    info = samples.ModuleInfo(dispatch.Tensor, lambda *_: (), (dispatch.float32,), True)
    seen = []

    class TestModules(TestCase):
        @samples.modules([info])
        def test_it(self, device, dtype, module_info, training):
            seen.append((training, dtype))

    scope = {"TestModules": TestModules}
    devices.instantiate_device_type_tests(TestModules, scope)
    assert list(outcomes(scope["TestModulesCPU"])) == [
        "test_it_nn_Tensor_eval_mode_cpu_float32", "test_it_nn_Tensor_train_mode_cpu_float32",
    ]  # fmt: skip
    assert seen == [(False, dispatch.float32), (True, dispatch.float32)]


def test_decorators_are_for_the_tests_that_fit():
    info = DecorateInfo(unittest.skip, "TestA", dtypes=[dispatch.half], active_if=lambda k: k["x"])
    assert info.is_active("TestA", "test", "cpu", dispatch.half, {"x": True})
    assert not info.is_active("TestB", "test", "cpu", dispatch.half, {"x": True})
    assert not info.is_active("TestA", "test", "cpu", dispatch.float, {"x": True})
    assert not info.is_active("TestA", "test", "cpu", dispatch.half, {"x": False})


def test_matrices_have_their_property():
    rank = dispatch.linalg.matrix_rank
    assert rank(matrices.random_square_matrix_of_rank(4, 2)).item() == 2
    assert rank(matrices.random_lowrank_matrix(2, 5, 4, 3)).tolist() == [2, 2, 2]
    assert rank(matrices.random_matrix(4, 4, singular=True)).item() == 2
    a = matrices.random_hermitian_pd_matrix(3, dtype=dispatch.cdouble, device="cpu")
    assert dispatch.allclose(a, a.mH.resolve_conj()) and (dispatch.linalg.eigvalsh(a) >= 0.9).all()
    distinct = matrices.make_fullrank_matrices_with_distinct_singular_values
    values = dispatch.linalg.svdvals(distinct(3, 3, device="cpu", dtype=dispatch.double))
    assert np.allclose(values.numpy(), [1.5, 1.25, 2 / 3])


def test_threads_start_together_and_what_one_raises_is_raised():
    assert helpers.run_concurrently([lambda: 1, lambda: 2]) == [1, 2]
    with pytest.raises(ZeroDivisionError):
        helpers.run_concurrently(lambda: 1 / 0, num_threads=2)


def test_texts_of_errors_lose_what_changes():
    try:
        raise ValueError(f"in {__file__}:12 at line 7")
    except ValueError as e:
        assert helpers.munge_exc(e) == "in test_marks.py:N at line N"


def test_settings_hold_for_their_block():
    before = dispatch.get_default_dtype()
    with helpers.set_default_tensor_type("torch.DoubleTensor"):
        assert dispatch.get_default_dtype() is dispatch.float64
    assert dispatch.get_default_dtype() is before
    with helpers.check_leaked_tensors() as leaked:
        x = dispatch.ones(2)
        x.me = [x]
        del x
    assert [t.tolist() for t in leaked] == [[1, 1]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with helpers.set_warn_always_context(False):
            pass


def test_indices_and_dtypes():
    assert list(helpers.iter_indices(dispatch.ones(2, 1))) == [(0, 0), (1, 0)]
    assert list(helpers.iter_indices(dispatch.ones(2))) == [0, 1]
    assert helpers.numpy_to_torch_dtype(np.dtype("float32")) is dispatch.float32
    assert not helpers.has_corresponding_torch_dtype(np.str_)
