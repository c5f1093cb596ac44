"""Small modules of PyTorch that programs import: tests, weak references, fake modes, devices."""

import gc
import subprocess
import sys
import unittest
from pathlib import Path
from textwrap import dedent

import pytest

import dispatch
from dispatch import FakeTensorMode
from dispatch.as_torch import guards
from dispatch.as_torch.testing.case import (
    TestCase,
    disable_gc,
    instantiate_parametrized_tests,
    parametrize,
    subtest,
)
from dispatch.as_torch.testing.comparing import FileCheck

ROOT = Path(__file__).resolve().parents[3]


def said(text: str) -> str:
    """What a program prints after `install()`, in a process of its own."""
    program = "import dispatch.as_torch\ndispatch.as_torch.install()\nimport torch\n" + dedent(text)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ---- tests


def ran(case) -> unittest.TestResult:
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
    return result


def test_equal_compares_tensors_numbers_and_texts():
    class Case(TestCase):
        def test_alike(self):
            self.assertEqual(dispatch.ones(2), dispatch.ones(2) + 1e-8)
            self.assertEqual(dispatch.tensor(2.0), 2)
            self.assertEqual([dispatch.ones(1), "a"][1], "a")
            self.assertNotEqual(dispatch.ones(2), dispatch.zeros(2))
            self.assertEqual(dispatch.tensor([float("nan")]), dispatch.tensor([float("nan")]))
            self.assertExpectedInline(" a\n  b", " a\n  b")

        def test_values_differ(self):
            self.assertEqual(dispatch.ones(2), dispatch.zeros(2))

        def test_dtypes_differ(self):
            self.assertEqual(dispatch.ones(2), dispatch.ones(2, dtype=dispatch.float64))

    result = ran(Case)
    failed = {test.id().rpartition(".")[2] for test, _ in result.failures}
    assert result.testsRun == 3 and not result.errors
    assert failed == {"test_values_differ", "test_dtypes_differ"}


def test_parameters_make_a_method_for_each_combination():
    seen = []

    class Case(TestCase):
        @parametrize("a,b", [(1, 2), subtest((3, 4), name="high")])
        @parametrize("dtype", [dispatch.float32])
        def test_it(self, a, b, dtype):
            seen.append((a, b, dtype))

    instantiate_parametrized_tests(Case)
    assert ran(Case).testsRun == 2
    assert sorted(name for name in vars(Case) if name.startswith("test_")) == [
        "test_it_a_1_b_2_float32",
        "test_it_high_float32",
    ]
    assert sorted(seen[:2], key=str) == [(1, 2, dispatch.float32), (3, 4, dispatch.float32)]


def test_no_collection_in_the_block():
    assert gc.isenabled()
    with disable_gc():
        assert not gc.isenabled()
    assert gc.isenabled()


# ---- storages


def test_storages_compare_by_their_bytes_and_those_of_wrappers_by_what_they_are():
    case, mode = TestCase(), FakeTensorMode()
    first, second = (dispatch.ones(2).untyped_storage() for _ in range(2))
    fake = mode.from_tensor(dispatch.ones(2)).untyped_storage()
    case.assertEqual(first, second)
    case.assertNotEqual(first, dispatch.zeros(2).untyped_storage())
    case.assertEqual(fake, fake)
    case.assertNotEqual(first, fake)


# ---- fake modes


def test_the_fake_mode_of_inputs_and_of_the_block():
    mode = FakeTensorMode()
    x = mode.from_tensor(dispatch.ones(2))
    assert guards.detect_fake_mode([1, {"a": x}]) is mode
    assert guards.detect_fake_mode([dispatch.ones(1)]) is guards.active_fake_mode() is None
    with FakeTensorMode() as other:
        assert guards.active_fake_mode() is guards.detect_fake_mode() is other
        with pytest.raises(AssertionError, match="one fake mode"):
            guards.detect_fake_mode(x)


# ---- devices


def test_a_device_has_a_module_and_methods():
    assert said("""
        class Module:
            count = 3
        torch.utils.rename_privateuse1_backend("toy")
        torch._register_device_module("toy", Module)
        torch.utils.generate_methods_for_privateuse1_backend()
        import torch.toy
        for again in (torch.utils.generate_methods_for_privateuse1_backend,
                      lambda: torch._register_device_module("toy", Module)):
            try:
                again()
            except RuntimeError as error:
                print("refused")
        print(torch.toy.count, torch.get_device_module("toy") is Module)
        print(torch.ones(2).is_toy, torch.device("toy", 1), hasattr(torch.Tensor, "toy"))
        """).split("\n") == ["refused", "refused", "3 True", "False toy:1 True"]


def test_a_module_that_is_there_is_not_replaced_and_may_be_taken_away():
    assert said("""
        class Module:
            count = 3
        for name in ("cuda", "privateuseone", "nowhere", "privateuseone"):
            try:
                torch._register_device_module(name, Module)
            except RuntimeError as error:
                print(str(error).partition(" has ")[0][:40])
        del torch.privateuseone
        torch._register_device_module("privateuseone", Module)
        print(torch.privateuseone.count)
        """).split("\n") == [
        "The runtime module of 'cuda'", "device(): unknown device type 'nowhere' ",
        "The runtime module of 'privateuseone'", "3",
    ]  # fmt: skip


def test_the_index_of_a_device():
    assert said("""
        from torch._utils import _get_device_index as index
        print(index(3), index("meta:1"), index(torch.device("meta", 2)),
              index("cpu", allow_cpu=True), index("meta", optional=True))
        for device in ("cpu", "meta", None):
            try:
                index(device)
            except ValueError as error:
                print("Expected a" in str(error))
        """).split("\n") == ["3 1 2 -1 0", "True", "True", "True"]


def test_autocast_asks_the_module_of_a_device():
    assert said("""
        import warnings
        torch.utils.rename_privateuse1_backend("maia")
        def block(**how):
            with warnings.catch_warnings(record=True) as told, torch.autocast("maia", **how):
                return torch.is_autocast_enabled("maia"), len(told)
        try:
            block()
        except AssertionError as error:
            print("amp" in str(error))
        class Module:
            @staticmethod
            def get_amp_supported_dtype():
                return [torch.float16]
        torch._register_device_module("maia", Module)
        print(block(dtype=torch.float16), block(dtype=torch.bfloat16))
        with torch.amp.autocast("cpu"):
            print(torch.is_autocast_enabled("cpu"))
        """).split("\n") == ["True", "(True, 0) (False, 1)", "True"]


def test_a_backend_whose_tensors_are_kept_in_python():
    assert said("""
        from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
        _setup_privateuseone_for_python_backend("npy")
        class Kept(torch.Tensor):
            def __new__(cls, values):
                made = torch._C._acc.create_empty_tensor(values.shape, torch.float32)
                made.__class__ = cls
                return made
            def __init__(self, values):
                self.values = values
        impl = torch.library.impl
        impl("aten::add.Tensor", "privateuseone", lambda a, b: Kept(a.values + b.values))
        impl("aten::empty_strided", "privateuseone",
             lambda size, stride, **options: Kept(torch.zeros(size)))
        @impl("aten::_copy_from", "privateuseone")
        def copy(source, target):
            target.values = source
        x = torch.ones(2, 3).to("npy")
        y = x + x
        print(type(y).__name__, y.device, y.shape, y.stride(), y.is_npy, y.values.sum().item())
        print(torch.npy.device_count(), torch.npy.current_device(), torch.npy.is_available())
        try:
            torch._C._acc.register_python_privateuseone_hook(torch._C._acc.PrivateUse1Hooks())
        except RuntimeError as error:
            print("registered already" in str(error))
        """).split("\n") == [
        "Kept npy:0 torch.Size([2, 3]) (3, 1) True 12.0", "1 0 True", "True",
    ]  # fmt: skip


def test_programs_may_set_attributes_of_tensor():
    assert said("""
        torch.Tensor.twice = lambda self: self * 2
        plus = torch.Tensor.__add__
        torch.Tensor.__add__ = lambda self, other: plus(self, other) * 10
        print(torch.ones(1).twice(), torch.ones(1) + 1)
        torch.Tensor.__add__ = plus
        del torch.Tensor.twice
        print(torch.ones(1) + 1, hasattr(torch.ones(1), "twice"))
        """).split("\n") == ["tensor([2.]) tensor([20.])", "tensor([2.]) False"]
    with pytest.raises(TypeError, match="immutable"):
        dispatch.Tensor.twice = 2


def test_metadata_of_fake_tensors_is_compared():
    assert said("""
        import torch
        from torch._prims.utils import compare_tensor_meta
        from torch._prims_common import suggest_memory_format
        from torch._subclasses.fake_tensor import FakeTensorMode
        x = torch.ones(3, 1, 2)
        fake = FakeTensorMode().from_tensor(x)
        compare_tensor_meta(x, fake, check_strides=True)
        compare_tensor_meta(x, fake.as_strided((3, 1, 2), (2, 9, 1)), check_strides=True)
        for other, error in (
            (x.double(), AssertionError), (x.view(3, 2), AssertionError), (3, AssertionError),
            (x.as_strided((3, 1, 2), (1, 1, 3)), RuntimeError),
            (torch.ones(7)[1:].view(3, 1, 2), RuntimeError), (x._neg_view(), RuntimeError),
        ):
            try:
                compare_tensor_meta(x, other, check_strides=True)
            except error:
                continue
            raise SystemExit(f"{other} was taken")
        print(suggest_memory_format(x))
        storages = {torch._C._storage_id(t) for t in (x, x[0], x.clone())}
        print(len(storages), repr(x._typed_storage()).splitlines()[-1])
        """).splitlines() == [
        "torch.contiguous_format",
        "2 [torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 6]",
    ]


def test_a_tracing_context_names_a_fake_mode():
    assert said("""
        import torch
        from torch._guards import ShapeGuard, SLoc, TracingContext, detect_fake_mode, tracing
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import PropagateUnbackedSymInts, ShapeEnv
        assert (ShapeGuard.__name__, SLoc.__name__) == ("ShapeGuard", "SLoc")
        mode = FakeTensorMode()
        with tracing(TracingContext(mode)):
            assert TracingContext.get().fake_mode is mode and detect_fake_mode() is mode
            try:
                detect_fake_mode(FakeTensorMode().from_tensor(torch.ones(1)))
            except AssertionError:
                print("two modes")
        assert TracingContext.try_get() is None and detect_fake_mode() is None
        print(repr(torch.ones(3, device="meta")._typed_storage()).splitlines()[0])
        """).splitlines() == ["two modes", "..."]


@pytest.mark.parametrize(
    ("checks", "passes"),
    [
        (lambda c: c.check("a").check("c"), True),
        (lambda c: c.check("c").check("a"), False),
        (lambda c: c.check("a").check_not("b").check("c"), False),
        (lambda c: c.check("b").check_not("a").check("c"), True),
        (lambda c: c.check("c").check_not("d"), False),
        (lambda c: c.check("a").check_same("b"), True),
        (lambda c: c.check("a").check_same("c"), False),
        (lambda c: c.check("a").check_next("d"), False),
        (lambda c: c.check("a").check_next("c"), True),
        (lambda c: c.check_count("d", 2), True),
        (lambda c: c.check_count("d", 3), False),
        (lambda c: c.check_count("d", 1, exactly=True), False),
        (lambda c: c.check_count("d", 2, exactly=True), True),
    ],
)
def test_lines_are_looked_for_in_order(checks, passes):
    check = checks(FileCheck())
    if passes:
        check.run("a b\nc\nd d\n")
    else:
        with pytest.raises(RuntimeError, match="FileCheck"):
            check.run("a b\nc\nd d\n")


def test_star_takes_the_public_names_of_every_source():
    program = (
        "from dispatch import as_torch\nas_torch.install()\n"
        "from torch.fx.experimental.symbolic_shapes import *\nfrom torch.nn import *\n"
        "print(ShapeEnv.__name__, Linear.__name__, Parameter.__name__, '_nn' in dir())\n"
    )
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == "ShapeEnv Linear Parameter False\n"


def test_names_that_pytorch_lacks_are_not_there():
    program = """
    from torch.overrides import get_overridable_functions, resolve_name
    extra = "gelu pad linear slice copy lift unique_dim cast_eligible Kernel _DTYPES Any".split()
    print([name for name in extra if name in dir(torch)])
    print({f.__name__ for f in get_overridable_functions()[torch]} & set(extra))
    found = get_overridable_functions()[torch.nn.functional]
    print([f.__name__ for f in found if f.__name__.endswith("_")])
    print(resolve_name(torch._C._nn.gelu), torch.is_autocast_enabled("cpu"))
    try:
        torch.unique_dim
    except AttributeError as error:
        print(type(error).__name__)
    """
    expected = ["[]", "set()", "[]", "torch.nn.functional.gelu False", "AttributeError"]
    assert said(program).splitlines() == expected


def test_errors_of_devices_can_be_caught_and_anomalies_asked_for():
    program = """
    import torch.nn.functional as F
    from torch.overrides import _is_torch_function_mode_enabled
    print(torch.cuda.OutOfMemoryError is torch.OutOfMemoryError is torch._C.OutOfMemoryError)
    print(issubclass(torch.AcceleratorError, RuntimeError), _is_torch_function_mode_enabled())
    print(F.has_torch_function is torch.functional.has_torch_function)
    with torch.autograd.detect_anomaly():
        print(torch.is_anomaly_enabled())
    with torch.autograd.set_detect_anomaly(False):
        print(torch.is_anomaly_enabled())
    """
    assert said(program).split() == ["True", "True", "False", "True", "True", "False"]


def test_older_names_of_questions_about_trees():
    program = """
    from torch.utils import _pytree
    print(_pytree._is_namedtuple_instance((1,)), _pytree._is_leaf(1), _pytree._is_leaf([]))
    """
    assert said(program) == "False True False"


def test_what_lasts_is_found_once():
    found = said("""
        torch.int64, torch.strided, torch.channels_last, torch.inf, torch.zeros
        print(sorted({"int64", "strided", "channels_last", "inf", "zeros"} - set(vars(torch))))
        print(torch.int64 is torch.long, torch.inf)
    """)
    assert found.splitlines() == ["[]", "True inf"]
