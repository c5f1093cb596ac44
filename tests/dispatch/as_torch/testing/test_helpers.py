"""What tests of PyTorch's kind use: equality, subclasses, operators of numpy, logs, patches."""

import collections
import copy
import logging
import unittest
import warnings

import numpy as np
import pytest

import dispatch
from dispatch import fake, ops
from dispatch.as_torch import (
    accelerator,
    functorch,
    logs,
)
from dispatch.as_torch.nn import parametrize
from dispatch.as_torch.nn.modules import Linear, Module
from dispatch.as_torch.nn.parameter import Parameter
from dispatch.as_torch.testing import (
    custom_op_db,
    devices,
    marks,
    numpy_ops,
    opcheck_tests,
    patched,
)
from dispatch.as_torch.testing.case import TestCase
from dispatch.as_torch.testing.opinfo import OpInfo, SampleInput
from dispatch.as_torch.testing.subclasses import (
    RedispatchTensor,
    SubclassWithTensorFactory,
    WrapperTensor,
    subclass_db,
)
from dispatch.library import _scoped_library, opcheck
from dispatch.registry.entries import singleton
from dispatch.symbolic import ShapeEnv

ONE, NAN = dispatch.ones(1), float("nan")
Pair = collections.namedtuple("Pair", "a b")


class Case(TestCase):
    def runTest(self):
        pass


# ---- equality


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (dispatch.Size([3]), [3]),
        ([(1, 2)], ([1, 2],)),
        (Pair(1, ONE), (1, ONE)),
        (1.0, 1 + 1e-6),
        (1, 1.0),
        (NAN, NAN),
        (True, 2),
        (np.int64(3), dispatch.tensor(3)),
        (np.ones(1, np.float32), ONE),
        (ONE, [1.0]),
        ([ONE, 1.0], [ONE, ONE]),
        ({"a": ONE, "b": (1,)}, collections.OrderedDict(b=[1], a=ONE)),
        ({1, 2}, {2, 1}),
        (range(2), [0, 1]),
        (collections.deque([ONE]), [ONE]),
        (ONE.to("meta"), ONE.to("meta")),
        (ONE.untyped_storage(), ONE.clone().untyped_storage()),
        (b"a", b"a"),
    ],
)
def test_what_is_equal(x, y):
    Case().assertEqual(x, y)
    with pytest.raises(AssertionError):
        Case().assertNotEqual(x, y)


@pytest.mark.parametrize(
    ("x", "y", "error"),
    [
        (1.0, 1.001, AssertionError),
        (1, 2, AssertionError),
        (float("inf"), 1.0, AssertionError),
        (ONE, ONE.double(), AssertionError),
        (ONE, dispatch.ones(1, 1), AssertionError),
        (np.ones(1), ONE, AssertionError),
        (ONE, None, AssertionError),
        (True, "a", AssertionError),
        ([1], [1, 2], AssertionError),
        ({"a": 1}, {"b": 1}, AssertionError),
        ({1}, [1], AssertionError),
        (int, float, AssertionError),
        ("cpu", dispatch.device("meta"), AssertionError),
        (dispatch.ones(2), 1, ValueError),
        (np.ones(1), [1.0], RuntimeError),
    ],
)
def test_what_is_not_equal(x, y, error):
    with pytest.raises(error):
        Case().assertEqual(x, y)


def test_tolerances_texts_and_places():
    case = Case()
    with pytest.raises(ValueError, match="both"):
        case.assertEqual(1, 1, atol=0.1)
    case.assertEqual(1.0, 1.05, atol=0.1, rtol=0)
    case.precision = 0.1
    case.assertEqual([ONE, 1.0], [ONE + 0.05, 1.05])
    with pytest.raises(AssertionError, match=r"item \['a'\]\[1\]"):
        case.assertEqual({"a": [1, 2]}, {"a": [1, 3]})
    with pytest.raises(AssertionError, match=r"\['a'\]"):
        case.assertEqual({"a": ONE}, {"a": ONE + 1})
    with pytest.raises(AssertionError, match="mine"):
        case.assertEqual(1, 2, msg="mine")
    with pytest.raises(AssertionError, match=r"^made"):
        case.assertEqual(1, 2, msg=lambda text: "made")
    with pytest.raises(AssertionError):
        case.assertEqual(NAN, NAN, equal_nan=False)
    case.assertExpectedInline(3, "3")
    with pytest.raises(AssertionError):
        case.assertExpectedInline("a", "\n    a\n")


def test_marks_that_change_a_test_or_do_not():
    seen = []

    @marks.suppress_warnings
    @marks.setLinalgBackendsToDefaultFinally
    @devices.skipCPUIfNoLapack
    @devices.skipCUDAIfNoMagma
    def noisy(word):
        warnings.warn(word, UserWarning, stacklevel=1)
        seen.append(word)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        noisy("loud")
    assert seen == ["loud"] and noisy.__name__ == "noisy"
    held = marks.is_iterable_of_tensors
    assert held([ONE]) and held((ONE, ONE)) and held([], include_empty=True)
    assert not any(map(held, (ONE, [], [ONE, 1], 3, None)))


# ---- patches


class Settings:
    value = 1


class Patched(unittest.TestCase):
    __test__ = False  # only with patches
    word = "x"

    def test_value(self):
        self.assertEqual(Settings.value, 2)

    def test_wrong(self):
        self.assertEqual(Settings.value, 1)

    test_wrong.xfail = True


def test_a_class_runs_again_with_patches():
    made = patched.make_test_cls_with_patches(
        Patched, "Other", "_two", (Settings, "value", 2), xfail_prop="xfail"
    )
    assert made.__name__ == "OtherPatched" and made.word == "x"
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(made).run(result)
    assert (result.testsRun, len(result.expectedFailures)) == (2, 1) and result.wasSuccessful()
    assert Settings.value == 1 and not hasattr(made, "test_value")


@pytest.mark.parametrize("dtype", [dispatch.float32, dispatch.int8, dispatch.float8_e5m2])
def test_random_tensors_of_a_geometry(dtype):
    made = patched.rand_strided((2, 3), (1, 4), dtype, extra_size=5)
    assert (made.shape, made.stride(), made.dtype) == ((2, 3), (1, 4), dtype)
    assert made.untyped_storage().nbytes() == (1 + 1 + 8 + 5) * dtype.itemsize
    assert patched.rand_strided((0, 3), (3, 1)).numel() == 0


# ---- subclasses


@pytest.mark.parametrize("cls", subclass_db, ids=lambda cls: cls.__name__)
def test_each_subclass_adds_copies_and_is_shown(cls):
    x = subclass_db[cls].create_fn(3)
    again = copy.deepcopy(x)
    assert type(x) is type(again) is cls and again is not x
    total = x + dispatch.zeros(3)
    if subclass_db[cls].closed_under_ops:
        assert type(total) is cls
    assert repr(Parameter(x)).count("Parameter") == 1
    assert cls is dispatch.Tensor or repr(x).count(cls.__name__) == 1


def test_wrappers_have_no_metadata_of_their_own():
    class Own(WrapperTensor):
        dtype = 3

        @classmethod
        def get_wrapper_properties(cls, t):
            return t, {}

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args)

    with pytest.raises(RuntimeError, match="dtype"):
        Own(ONE)
    x = RedispatchTensor(ONE)
    y = x + 1
    assert type(y) is RedispatchTensor and y.call_log is x.call_log and len(x.call_log) == 1
    z = SubclassWithTensorFactory(dispatch.ones(2))
    assert type(z * 3) is SubclassWithTensorFactory and (z * 3).src.tolist() == [3.0, 3.0]


# ---- operators that numpy computes


@pytest.mark.parametrize("info", custom_op_db.custom_op_db, ids=lambda info: info.name)
def test_samples_of_numpy_operators_pass_opcheck(info):
    wanted = info.supports_autograd
    (sample,) = info.sample_inputs("cpu", info.supported_dtypes("cpu")[0], requires_grad=wanted)
    opcheck(info.op, (sample.input, *sample.args), sample.kwargs)


@pytest.mark.parametrize("n", range(6))
def test_a_fake_kernels_source_is_the_file_that_registers_it(n):
    found = singleton.find(f"_torch_testing::source{n}").fake_impl.kernel
    assert "custom_op_db.py" in found.source


def test_a_sample_takes_arguments_as_they_are_or_as_two():
    one, two = SampleInput(ONE, 2, k=3), SampleInput(ONE, args=[2], kwargs={"k": 3})
    assert one.args == two.args == (2,) and one.kwargs == two.kwargs == {"k": 3}
    with pytest.raises(AssertionError, match="args"):
        SampleInput(ONE, 2, args=())
    info = OpInfo("f", lambda x, n: x * n, variant_test_name="v")
    assert info.full_name == "f.v" and list(info.sample_inputs("cpu", None)) == []
    assert info(ONE, 2).tolist() == (ONE * 2).tolist()


def test_numpy_operators_and_their_fakes():
    x = dispatch.tensor([[3.0, 1.0], [0.0, 2.0]])
    values, order, inverse = numpy_ops.numpy_sort(x, 1)
    assert (values.tolist(), order.tolist()) == ([[1.0, 3.0], [0.0, 2.0]], [[1, 0], [0, 1]])
    assert numpy_ops.numpy_take(values, inverse, order, 1).tolist() == x.tolist()
    assert numpy_ops.numpy_nonzero(x).tolist() == [[0, 0], [0, 1], [1, 1]]
    assert numpy_ops.numpy_cat([x, x], 1).shape == (2, 4)
    assert [t.tolist() for t in numpy_ops.numpy_split_copy(x, [1], 0)] == [[[3, 1]], [[0, 2]]]
    assert numpy_ops.numpy_split_copy_with_int(x, [1], 0)[1] == 1
    assert numpy_ops.numpy_view_copy(x, [4]).tolist() == [3, 1, 0, 2]
    assert [t.tolist() for t in numpy_ops.numpy_cube(dispatch.tensor([2.0]))] == [[8.0], [12.0]]
    assert numpy_ops.numpy_mul_scalar(x, scalar=2.0).tolist() == (x * 2).tolist()
    boxes = dispatch.tensor([[0.0, 0, 9, 9], [0, 0, 9, 8], [20, 20, 29, 29]])
    kept = numpy_ops.numpy_nms(boxes, dispatch.tensor([0.5, 0.9, 0.1]), 0.5)
    assert kept.tolist() == [1, 2]
    with fake.FakeTensorMode(shape_env=ShapeEnv()) as mode:
        f = mode.from_tensor(x)
        assert ops._torch_testing.numpy_nonzero(f).shape[1] == 2
        assert ops._torch_testing.numpy_cat([f, f], 0).shape == (4, 2)
        assert [t.shape for t in ops._torch_testing.numpy_split_copy(f, [1], 0)] == [(1, 2)] * 2


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("numpy_cube", (dispatch.rand(3),)),
        ("numpy_mul", (dispatch.rand(3), dispatch.rand(3))),
        ("numpy_sort", (dispatch.rand(3, 4), 1)),
        ("numpy_view_copy", (dispatch.rand(3, 4), [12])),
        ("numpy_cat", ([dispatch.rand(3), dispatch.rand(2)], 0)),
        ("numpy_split_copy", (dispatch.rand(5), [2], 0)),
    ],
)
def test_numpy_operators_pass_opcheck(name, args):
    for arg in args:
        if isinstance(arg, dispatch.Tensor):
            arg.requires_grad_()
    dispatch.library.opcheck(getattr(ops._torch_testing, name), args)
    opcheck_tests.fake_check(getattr(ops._torch_testing, name).default, args, {})


def test_an_operator_without_an_autograd_kernel_is_found():
    with _scoped_library("helpers", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x.clone(), "CPU")
        op, x = ops.helpers.f.default, dispatch.ones(2, requires_grad=True)
        opcheck_tests.autograd_registration_check(op, (x.detach(),), {})
        with pytest.raises(AssertionError, match="autograd"):
            opcheck_tests.autograd_registration_check(op, (x,), {})
        with pytest.raises(AssertionError, match="OpOverload"):
            opcheck_tests.autograd_registration_check(ops.helpers.f, (x,), {})


def test_an_error_is_looked_for_by_class_and_text():
    expects = opcheck_tests.assert_raises_regex
    with expects(RuntimeError, "c.*"):
        raise RuntimeError("abcd")
    for error, text in ((None, "Expected exception"), (ValueError, "instead got"),
                        (RuntimeError, "to match regex")):  # fmt: skip
        with pytest.raises(AssertionError, match=text), expects(RuntimeError, "f"):
            if error is not None:
                raise error("abcd")


# ---- logs


def test_an_artifact_is_silent_until_it_is_named():
    stream, context = logs.logs_to_string("helpers.module", "guards")
    log = logs.getArtifactLogger("helpers.module", "guards")
    log.debug("before")
    with context():
        log.debug("within")
    log.debug("after")
    assert stream.getvalue() == "within\n"
    logs.set_logs(guards=True)
    try:
        assert log.isEnabledFor(logging.DEBUG)
        assert logs.getArtifactLogger("helpers.other", "guards").isEnabledFor(logging.DEBUG)
    finally:
        logs.set_logs()
    assert not log.isEnabledFor(logging.CRITICAL)
    with pytest.raises(ValueError, match="level"):
        logs.set_logs(guards="loud")


def test_logs_are_recorded_for_a_test():
    class Logging(logs.LoggingTestCase):
        @logs.make_logging_test(dynamic=logging.DEBUG)
        def test_records(self, records):
            logging.getLogger("torch.fx.experimental.symbolic_shapes").debug("s%d", 3)
            self.assertTrue(self.hasRecord(records, "s3"))
            self.assertEqual(self.getRecord(records, "s3").levelno, logging.DEBUG)

        @logs.make_settings_test("-dynamic,helpers")
        def test_settings(self, records):
            logging.getLogger("torch.fx.experimental.symbolic_shapes").info("no")
            self.assertFalse(self.hasRecord(records, "no"))

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Logging).run(result)
    assert result.testsRun == 2 and result.wasSuccessful()
    assert logging.getLogger("torch.fx.experimental.symbolic_shapes").level == logging.NOTSET
    assert logs.kwargs_to_settings(dynamic=logging.DEBUG, guards=True, q=False) == "+dynamic,guards"
    text = logs.LazyString(lambda a, b: f"{a}{b}", 1, b=2)
    assert str(text) == "12"


# ---- what is computed when it is read


class Double(Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        return x / 2


class Negated(Module):
    def forward(self, x):
        return -x


@pytest.mark.parametrize("kept", [True, False])
def test_a_parametrized_weight_is_computed(kept):
    layer = Linear(2, 3)
    before = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Double())
    assert parametrize.is_parametrized(layer, "weight") and type(layer) is not Linear
    assert parametrize.type_before_parametrizations(layer) is Linear
    assert dispatch.allclose(layer.weight, before)
    assert dispatch.allclose(layer.parametrizations.weight.original, before / 2)
    parametrize.register_parametrization(layer, "weight", Negated())
    assert dispatch.allclose(layer(dispatch.eye(2)).t(), -before + layer.bias[:, None])
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    with pytest.raises(RuntimeError, match="Negated"):
        layer.weight = before
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=kept)
    assert type(layer) is Linear and not parametrize.is_parametrized(layer)
    assert dispatch.allclose(layer.weight, -before if kept else before / 2)
    assert isinstance(layer.weight, Parameter)


def test_parametrizations_keep_shape_and_dtype():
    layer = Linear(2, 2)

    class Wide(Module):
        def forward(self, x):
            return x.double()

    with pytest.raises(ValueError, match="dtype"):
        parametrize.register_parametrization(layer, "weight", Wide())
    assert not parametrize.is_parametrized(layer) and type(layer) is Linear
    with pytest.raises(ValueError, match="nothing"):
        parametrize.register_parametrization(layer, "nothing", Negated())
    with pytest.raises(ValueError, match="does not have"):
        parametrize.remove_parametrizations(layer, "weight")
    parametrize.register_parametrization(layer, "weight", Wide(), unsafe=True)
    assert layer.weight.dtype == dispatch.float64
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert layer.weight is not layer.weight
    layer.bias = Parameter(dispatch.zeros(2))
    parametrize.register_parametrization(layer, "bias", Double())
    layer.bias = dispatch.ones(2)
    assert layer.parametrizations.bias.original.tolist() == [0.5, 0.5]
    other = copy.deepcopy(layer)
    other.bias = dispatch.zeros(2)
    assert layer.bias.tolist() == [1.0, 1.0]


# ---- machines and transforms


def test_there_is_no_accelerator():
    assert accelerator.current_accelerator(check_available=True) is None
    assert not accelerator.is_available() and accelerator.device_count() == 0
    with pytest.raises(RuntimeError, match="accelerator"):
        accelerator.synchronize()


def test_no_transform_wraps_a_tensor():
    x = dispatch.ones(2)
    f = dispatch._C._to_functional_tensor(x)
    for t in (x, f):
        assert not functorch.is_batchedtensor(t) and not functorch.is_gradtrackingtensor(t)
        assert (functorch.maybe_get_level(t), functorch.maybe_get_bdim(t)) == (-1, -1)
        assert functorch.unwrap_if_dead(t) is t
    assert (functorch.is_functionaltensor(x), functorch.is_functionaltensor(f)) == (False, True)
    assert functorch.get_unwrapped(f) is x
    with pytest.raises(RuntimeError, match="No wrappers"):
        functorch.get_unwrapped(x)
    assert functorch.peek_interpreter_stack() is None
    with pytest.raises(NotImplementedError, match="_add_batch_dim"):
        functorch._add_batch_dim(x, 0, 0)
