"""`torch.testing._internal`: marks, tests for each device type, `TwoTensor`, what is empty."""

import subprocess
import sys
import textwrap
import unittest
import warnings
from pathlib import Path

import numpy
import pytest

import dispatch
from dispatch.as_torch import deterministic, modules, prims_common
from dispatch.as_torch.report import report
from dispatch.as_torch.testing import absent, dtype_lists, marks
from dispatch.as_torch.testing.case import TestCase, instantiate_parametrized_tests, parametrize
from dispatch.as_torch.testing.devices import (
    OpDTypes,
    deviceCountAtLeast,
    dtypes,
    dtypesIfCPU,
    dtypesIfCUDA,
    dtypesIfMPS,
    instantiate_device_type_tests,
    largeTensorTest,
    onlyAccelerator,
    onlyCPU,
    onlyCUDA,
    onlyNativeDeviceTypesAnd,
    onlyOn,
    ops,
    skipCPUIf,
)
from dispatch.as_torch.testing.two_tensor import TwoTensor, TwoTensorMode
from dispatch.modes import is_traceable_wrapper_subclass
from dispatch.symbolic import ShapeEnv

F32, I64, BF16 = dispatch.float32, dispatch.int64, dispatch.bfloat16
ROOT = Path(__file__).resolve().parents[4]


class Operator:
    """What a list of operators has of each."""

    name = "some.op"

    def supported_dtypes(self, device_type):
        return (F32, dispatch.float64)


def ran(cls):
    """Outcome by name of the tests that a loader finds."""
    found = {}

    class Result(unittest.TestResult):
        def addSuccess(self, test):
            found[test._testMethodName] = "ok"

        def addSkip(self, test, reason):
            found[test._testMethodName] = "skipped"

        def addExpectedFailure(self, test, error):
            found[test._testMethodName] = "expected failure"

    result = Result()
    unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
    assert not result.failures and not result.errors, (result.failures, result.errors)
    return found


def test_marks_of_other_machines_change_nothing():
    def f():
        return 3

    for mark in (marks.skipIfRocm, marks.slowTest, marks.skipIfTorchDynamo, marks.skipIfWindows):
        assert mark(f) is f and mark("a reason")(f) is f and mark(msg="a reason")(f) is f
    skipping = marks._unless(True, unittest.skip("here"))
    for marked in (skipping(lambda self: None), skipping(msg="x")(lambda self: None)):
        assert marked.__unittest_skip__
    assert marks.requires_cuda(lambda self: None).__unittest_skip__
    assert marks.TEST_CUDA is marks.TEST_WITH_TORCHDYNAMO is False


def test_decorators_for_some_values_and_inherited_failures():
    class Values(TestCase):
        @parametrize("x", [1, 2])
        @marks.decorateIf(unittest.expectedFailure, lambda found: found["x"] == 2)
        def test_one(self, x):
            self.assertEqual(x, 1)

    instantiate_parametrized_tests(Values)
    assert ran(Values) == {"test_one_x_1": "ok", "test_one_x_2": "expected failure"}

    class Named(TestCase):
        @parametrize("x", [1.5, "a", (1,), sum, F32, dispatch.device("cpu"), Operator()])
        def test_it(self, x):
            pass

    instantiate_parametrized_tests(Named)
    ends = ("x_1_5", "x_a", "x2", "x3", "float32", "cpu", "x6")
    assert [*ran(Named)] == sorted(f"test_it_{end}" for end in ends)

    class Wrong(TestCase):
        right = True

        def test_it(self):
            self.assertTrue(self.right)

    @marks.xfail_inherited_tests(["test_it"])
    class Heir(Wrong):
        right = False

    assert (ran(Wrong), ran(Heir)) == ({"test_it": "ok"}, {"test_it": "expected failure"})


def test_symbolic_numbers_are_compared_with_plain_ones():
    class Compared(TestCase):
        def test_it(self):
            n = ShapeEnv().create_unbacked_symint()
            dispatch._check(n == 3)
            for found, plain in ((n, 3), (n == 3, True), (dispatch.sym_float(n), 3.0)):
                self.assertEqual(found, plain)
                self.assertNotEqual(plain + 1, found)

    assert ran(Compared) == {"test_it": "ok"}


def test_functions_are_compared_with_those_of_numpy():
    class Compared(TestCase):
        def test_equal(self):
            for dtype in (F32, I64, BF16):
                nested = [[1, 2], [3, 4]]
                self.compare_with_numpy(dispatch.t, numpy.transpose, nested, "cpu", dtype)
                given = dispatch.tensor(nested, dtype=dtype).t()
                self.compare_with_numpy(dispatch.sum, numpy.sum, given)

        def test_unequal(self):
            with self.assertRaises(AssertionError):
                self.compare_with_numpy(dispatch.t, numpy.flip, [[1.0, 2.0]], "cpu", F32)

    assert ran(Compared) == {"test_equal": "ok", "test_unequal": "ok"}


def test_blocks_put_back_what_they_change():
    with marks.TemporaryFileName() as path:
        assert Path(path).read_bytes() == b""
    assert not Path(path).exists()
    state = dispatch.get_rng_state()
    with marks.freeze_rng_state():
        dispatch.rand(3)
    assert dispatch.get_rng_state().equal(state)
    with pytest.raises(KeyError), marks.set_default_dtype(dispatch.float64):
        assert dispatch.ones(1).dtype is dispatch.float64
        raise KeyError
    assert dispatch.ones(1).dtype is F32


def test_samples_and_copies_with_gaps():
    test = unittest.TestCase()
    assert marks.first_sample(test, iter([5, 6])) == 5
    with pytest.raises(unittest.SkipTest):
        marks.first_sample(test, [])
    x = dispatch.arange(6.0).reshape(2, 3).requires_grad_()
    wide = marks.noncontiguous_like(x)
    assert not wide.is_contiguous() and wide.equal(x) and wide.requires_grad
    assert marks.noncontiguous_like(wide) is wide
    assert marks.dtype_name(F32) == "float32"


def test_a_class_of_tests_becomes_one_for_the_cpu():
    class Devices(TestCase):
        @dtypes(F32, I64)
        def test_dtypes(self, device, dtype):
            self.assertEqual(dispatch.ones(1, device=device, dtype=dtype).dtype, dtype)

        @dtypesIfCPU(I64)
        @dtypesIfCUDA(F32)
        @dtypes(F32)
        def test_own(self, device, dtype):
            self.assertEqual(dtype, I64)

        @dtypes(F32)
        @dtypesIfCPU(BF16)
        def test_below(self, device, dtype):
            self.assertEqual(dtype, BF16)

        @dtypes((F32, I64))
        def test_pair(self, device, dtype):
            self.assertEqual(dtype, (F32, I64))

        @dtypes((F32, I64))
        @marks.suppress_warnings
        def test_dtypes_named(self, device, dtypes):
            self.assertEqual((device, dtypes), ("cpu", (F32, I64)))

        def test_without_device(self):
            self.assertEqual(self.device_type, "cpu")

        @parametrize("k", [3])
        @dtypes(F32)
        def test_both(self, device, dtype, k):
            self.assertEqual((device, dtype, k), ("cpu", F32, 3))

        @ops([Operator()], allowed_dtypes=(F32,))
        def test_ops(self, device, dtype, op):
            self.assertEqual((dtype, op.name), (F32, "some.op"))

        @ops([Operator()], dtypes=OpDTypes.none)
        def test_no_dtypes(self, device, op):
            self.assertEqual(op.name, "some.op")

        @ops([Operator()], dtypes=OpDTypes.any_one)
        def test_any(self, device, dtype, op):
            self.assertEqual(dtype, F32)

        @ops(absent.op_db)
        def test_none(self, device, dtype, op):
            raise AssertionError

        @deviceCountAtLeast(1)
        def test_devices(self, devices):
            self.assertEqual(devices, ["cpu"])

        @deviceCountAtLeast(2)
        def test_two(self, devices):
            raise AssertionError

        @onlyCUDA
        def test_cuda(self, device):
            raise AssertionError

        @onlyOn(["cuda", "xpu"])
        def test_elsewhere(self, device):
            raise AssertionError

        @skipCPUIf(True, "told so")
        def test_skipped(self, device):
            raise AssertionError

        @onlyCPU
        @onlyOn("cpu")
        def test_plain(self, device):
            self.assertEqual(device, self.device_type)

    scope = {"Devices": Devices}
    instantiate_device_type_tests(Devices, scope)
    assert list(scope) == ["DevicesCPU"]
    skipped = ("test_two_cpu", "test_cuda_cpu", "test_elsewhere_cpu", "test_skipped_cpu")
    assert ran(scope["DevicesCPU"]) == {
        **dict.fromkeys(
            (
                "test_dtypes_cpu_float32", "test_dtypes_cpu_int64", "test_own_cpu_int64",
                "test_below_cpu_bfloat16",
                "test_pair_cpu_float32_int64", "test_both_k_3_cpu_float32",
                "test_dtypes_named_cpu_float32_int64", "test_without_device_cpu",
                "test_ops_some_op_cpu_float32", "test_no_dtypes_some_op_cpu",
                "test_any_some_op_cpu_float32", "test_devices_cpu", "test_plain_cpu",
            ),
            "ok",
        ),
        **dict.fromkeys(skipped, "skipped"),
    }  # fmt: skip
    for options in ({"only_for": ("cuda",)}, {"except_for": "cpu"}):
        scope = {"Devices": Devices}
        instantiate_device_type_tests(Devices, scope, **options)
        assert scope == {}


def test_what_is_told_once_is_told_in_each_block_that_waits_for_it():
    class Telling(TestCase):
        def test_told(self):
            for _ in range(2):
                with self.assertWarnsOnceRegex(UserWarning, "indexing arg"):
                    dispatch.meshgrid(dispatch.ones(2))

    assert ran(Telling) == {"test_told": "ok"}


def test_two_tensors_run_twice():
    x = TwoTensor(dispatch.ones(2, 2), dispatch.zeros(2, 2))
    y = (x + 1).view(4)
    y.add_(1)
    assert (y.a.tolist(), y.b.tolist()) == ([3.0] * 4, [2.0] * 4)
    assert is_traceable_wrapper_subclass(x) and x.get_elem_a() is x.a
    assert repr(y).startswith("TwoTensor(tensor(")
    parts, context = y.__tensor_flatten__()
    again = TwoTensor.__tensor_unflatten__({n: getattr(y, n) for n in parts}, context, (4,), (1,))
    assert again.a is y.a
    with TwoTensorMode():
        made = dispatch.ones(2)
        assert type(made) is TwoTensor and type(made + 1) is TwoTensor
    for other in (dispatch.ones(2, 2).double(), dispatch.ones(3), dispatch.ones(2, 2).t()[:1]):
        with pytest.raises(AssertionError, match="TwoTensor"):
            TwoTensor(dispatch.ones(2, 2), other)


def test_dtypes_come_by_kind():
    assert dtype_lists.floating_types() == (F32, dispatch.float64)
    assert dtype_lists.integral_types_and(dispatch.bool, I64)[-1] is dispatch.bool
    assert len(dtype_lists.all_types_and_complex()) == 9
    assert len(set(dtype_lists.get_all_dtypes())) == 12


def test_what_is_not_here_says_so_when_it_is_called(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from torch.fx.passes.graph_drawer import FxGraphDrawer\n"
        "from torch.testing._internal.common_cuda import SM80OrLater, PLATFORM_SUPPORTS_FUSED\n"
        "import torch.utils.cpp_extension, torch.backends.cudnn\n"
        "print(SM80OrLater, PLATFORM_SUPPORTS_FUSED, torch.backends.cudnn.is_available())\n"
        "try:\n    FxGraphDrawer(print)\nexcept NotImplementedError as error:\n    print(error)\n"
    )
    command = [sys.executable, "-m", "dispatch.as_torch", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    first, second = done.stdout.splitlines()
    assert first == "False False False"
    assert "FxGraphDrawer is not here" in second and "not all passes over graphs" in second
    missing = {use.name for use in report(program).missing}
    assert missing == {"torch.fx.passes.graph_drawer.FxGraphDrawer"}
    assert modules.is_refused(modules.refused("torch.x.load")) and not modules.is_refused(print)
    assert not hasattr(absent, "anything")


def test_warnings_are_counted():
    def warn(times):
        for _ in range(times):
            warnings.warn("told you", UserWarning, stacklevel=1)

    class Warned(TestCase):
        def test_it(self):
            self.assertNotWarn(lambda: warn(0))
            with self.assertRaises(AssertionError):
                self.assertNotWarn(lambda: warn(1))
            for times in (1, 2):  # "once" is said of warnings that a process tells once
                with self.assertWarnsOnceRegex(UserWarning, "told"):
                    warn(times)
            for times, text in ((0, "told"), (1, "other")):
                with self.assertRaises(AssertionError):  # noqa: SIM117
                    with self.assertWarnsOnceRegex(UserWarning, text):
                        warn(times)
            self.assertGreaterAlmostEqual(1.0, 1.0 + 1e-9)
            with self.assertRaises(AssertionError):
                self.assertGreaterAlmostEqual(1.0, 1.1)

    assert ran(Warned) == {"test_it": "ok"}


def test_strides_that_count_and_the_storage_that_they_need():
    a, b = dispatch.ones(2, 3), dispatch.ones(3, 2).t()
    check = prims_common.check_significant_strides
    assert check(a, b) == (True, None)
    assert check(a, b, only_cuda=False) == (False, 0)
    assert check(a[:, :1], a[:, :1].as_strided((2, 1), (3, 9)), only_cuda=False) == (True, None)
    assert prims_common.compute_required_storage_length((2, 3), (10, 2), 1) == 16
    x, u = dispatch.ones(1, 2, 3, 4), ShapeEnv().create_unbacked_symint()
    last = x.to(memory_format=dispatch.channels_last)
    assert prims_common.is_contiguous_or_false(x) and not prims_common.is_contiguous_or_false(x.mT)
    assert prims_common.is_channels_last_contiguous_or_false(last)
    assert not prims_common.is_channels_last_contiguous_or_false(last[0])
    ask = prims_common.is_contiguous_for_memory_format_or_false
    assert ask(last, memory_format=dispatch.channels_last)
    dense = prims_common.is_non_overlapping_and_dense_or_false
    assert dense(dispatch.empty_strided((u, 2), (2, 1), device="meta"))
    assert not dense(dispatch.empty_strided((u, 2), (u, 1), device="meta"))
    assert prims_common.compute_required_storage_length((2, 0), (1, 1), 5) == 0
    assert prims_common.make_contiguous_strides_for((2, 0, 3)) == (3, 3, 1)
    assert prims_common.make_contiguous_strides_for((4, 2, 3), row_major=False) == (6, 1, 2)


def test_types_of_the_numbers_of_dtypes():
    kinds = [dispatch.bool, dispatch.uint16, dispatch.bfloat16, dispatch.complex32]
    assert [prims_common.dtype_to_type(d) for d in kinds] == [bool, int, float, complex]
    with pytest.raises(AssertionError, match="dtype"):
        prims_common.dtype_to_type(3)


def test_annotated_arguments_are_what_an_overload_needs():
    program = """
        import dispatch.as_torch
        dispatch.as_torch.install()
        import torch
        from torch.testing._internal.generated.annotated_fn_args import annotated_args as known

        def words(function):
            return [(a["name"], a["simple_type"], a.get("size")) for a in known[function]]

        pool = torch.nn.functional.avg_pool2d
        print(words(torch.Tensor.transpose), words(torch.chunk), words(pool))
        print(words(torch.index_put), words(torch.Tensor.sum), words(torch.native_dropout))
        print([a["is_kwarg_only"] for a in known[torch.linalg.solve_triangular]])
        print(words(torch.Tensor.set_), hasattr(torch.nn.functional, "as_addends"))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, cwd=ROOT
    )
    tensor = ("self", "Tensor", None)
    indices = ("indices", "c10::List<::std::optional<Tensor>>", None)
    given = [("input", "Tensor", None), ("p", "double", None), ("train", "bool?", None)]
    assert done.stdout.splitlines() == [
        f"{[tensor, ('dim0', 'int64_t', None), ('dim1', 'int64_t', None)]} "
        f"{[tensor, ('chunks', 'int64_t', None)]} {[tensor, ('kernel_size', 'IntArrayRef', 2)]}",
        f"{[tensor, indices, ('values', 'Tensor', None)]} "
        f"{[tensor, ('dim', 'IntArrayRef?', 1)]} {given}",
        "['False', 'False', 'True']",
        f"{[tensor]} False",
    ], done.stderr


def test_settings_of_deterministic_algorithms_are_read_back():
    try:
        deterministic.use_deterministic_algorithms(True, warn_only=True)
        assert deterministic.is_deterministic_algorithms_warn_only_enabled()
        with marks.DeterministicGuard(True, fill_uninitialized_memory=False):
            assert deterministic.get_deterministic_debug_mode() == 2
            assert not deterministic.fill_uninitialized_memory
        assert deterministic.get_deterministic_debug_mode() == 1
        assert deterministic.fill_uninitialized_memory
        deterministic.set_deterministic_debug_mode("default")
        assert not deterministic.are_deterministic_algorithms_enabled()
        with pytest.raises(RuntimeError, match="expected one of"):
            deterministic.set_deterministic_debug_mode(3)
        with pytest.raises(TypeError, match="expected str or int"):
            deterministic.set_deterministic_debug_mode(1.0)
        with pytest.raises(TypeError, match=r"'mode' .* must be bool, not int"):
            deterministic.use_deterministic_algorithms(1)
        with pytest.raises(TypeError, match="'warn_only' must be bool, not int"):
            deterministic.use_deterministic_algorithms(False, warn_only=1)
        deterministic.use_deterministic_algorithms(False, warn_only=True)
        assert deterministic.is_deterministic_algorithms_warn_only_enabled()
        assert deterministic.get_deterministic_debug_mode() == 0
        assert deterministic.get_deterministic_debug_mode() == 0, "as before"
    finally:
        deterministic.set_deterministic_debug_mode(0)


def test_dtypes_of_numpy_and_back():
    there, back = marks.numpy_to_torch_dtype_dict, marks.torch_to_numpy_dtype_dict
    assert there[numpy.bool_] is dispatch.bool and there[numpy.uint16] is dispatch.uint16
    assert all(back[dtype] is kind for kind, dtype in there.items())
    assert back[dispatch.bfloat16] is numpy.float32


def test_dtypes_of_arithmetic():
    cpu, cuda = map(dtype_lists.get_all_math_dtypes, ("cpu", "cuda"))
    assert set(cuda) - set(cpu) == {dispatch.half} and dispatch.complex64 in cpu
    assert dispatch.bool not in dtype_lists.get_all_int_dtypes()
    assert dispatch.float64 not in dtype_lists.all_mps_types_and(dispatch.bool)
    assert dtype_lists.highest_precision_complex("mps") is dispatch.complex64
    assert dtype_lists.get_all_complex_dtypes(True)[0] is dispatch.complex32
    assert dtype_lists.get_all_fp_dtypes(False) == [*dtype_lists.floating_types_and(BF16)]
    assert dtype_lists.custom_types(F32, I64) == (F32, I64)
    assert [dtype_lists.highest_precision_float(d) for d in ("cpu", "mps")] == [
        dispatch.float64,
        F32,
    ]


def test_marks_of_accelerators_skip_or_leave_the_test():
    class Tests(TestCase):
        @largeTensorTest("12GB")
        def test_large(self): ...

        @onlyAccelerator
        def test_device(self): ...

        @onlyNativeDeviceTypesAnd("mps")
        @dtypesIfMPS(F32)
        def test_native(self): ...

    assert ran(Tests) == {
        "test_large": "skipped",
        "test_device": "skipped",
        "test_native": "ok",
    }


def test_bytes_are_numbers():
    four = list(numpy.float32(2.5).tobytes())
    assert marks.bytes_to_scalar(four, dispatch.float32, "cpu").item() == 2.5
    assert marks.bytes_to_scalar([7], dispatch.bool, "cpu").item() is True


def test_settings_of_deterministic_algorithms_are_put_back():
    seen = []

    @marks.wrapDeterministicFlagAPITest
    def test():
        deterministic.use_deterministic_algorithms(True, warn_only=True)
        seen.append(deterministic.get_deterministic_debug_mode())

    test()
    assert seen == [1] and deterministic.get_deterministic_debug_mode() == 0


def test_the_device_of_a_test_may_stand_behind_other_arguments():
    class TestIt(TestCase):
        @parametrize("fn", ["add"])
        def test_it(self, fn, device):
            assert (fn, device) == ("add", "cpu")

    scope = {"TestIt": TestIt}
    instantiate_device_type_tests(TestIt, scope)
    assert ran(scope["TestItCPU"]) == {"test_it_fn_add_cpu": "ok"}
