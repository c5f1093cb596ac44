"""What programs look for in the texts of refusals: the phrases that PyTorch's texts have too."""

import copy

import pytest

import dispatch
from dispatch import library
from dispatch._C.torch_function import _has_torch_function
from dispatch.modes import TorchDispatchMode, TorchFunctionMode

aten = dispatch.ops.aten


class Wrapper(dispatch.Tensor):
    """Holds nothing; `answer(func)` is what its handler gives."""

    answer = staticmethod(lambda func: NotImplemented)

    @staticmethod
    def __new__(cls, **policy):
        return dispatch.Tensor._make_wrapper_subclass(cls, (2, 2), **policy)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return cls.answer(func)


class Plain(dispatch.Tensor):
    """No handler."""


class ByClass(TorchDispatchMode):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class FunctionsByClass(TorchFunctionMode):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class FunctionsDeclined(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return NotImplemented


class Declines(dispatch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def answering(value):
    return type("Answering", (Wrapper,), {"answer": staticmethod(lambda func: value)})


def inside(mode):
    with mode:
        return dispatch.ones(2) + 1


def impl(*args, ns="aten", key=""):
    with library._scoped_library(ns, "IMPL", key) as lib:
        lib.impl(*args)


def write_storage(name):
    storage = Wrapper().untyped_storage()
    return {
        "data_ptr": storage.data_ptr,
        "resize_": lambda: storage.resize_(0),
        "fill_": lambda: storage.fill_(0),
        "copy_": lambda: storage.copy_(storage),
    }[name]()


@pytest.mark.parametrize(
    ("call", "error", "phrase"),
    [
        (lambda: aten.sum(Wrapper()), TypeError, "dispatch failed for 'dispatch.ops.aten.sum'"),
        (
            lambda: Wrapper(dispatch_sizes_strides_policy="sizes").dim(),
            TypeError,
            "Multiple dispatch failed for 'dispatch.ops.aten.dim'",
        ),
        (lambda: dispatch.div(Declines([1.0]), 2), TypeError, "failed for 'dispatch.div'"),
        (lambda: Declines([1.0]).sin(), TypeError, "failed for 'dispatch.Tensor.sin'"),
        (lambda: inside(FunctionsDeclined()), TypeError, "mode object <.*FunctionsDeclined object"),
        (lambda: answering("arf")().neg(), RuntimeError, "Unable to cast"),
        (lambda: answering(3)().neg(), RuntimeError, "Unable to cast"),
        (lambda: answering(3)().add_(1), RuntimeError, "Unable to cast 3"),
        (lambda: dispatch.add(answering(3)(), 1), RuntimeError, "Unable to cast"),
        (lambda: inside(ByClass()), RuntimeError, "classmethod is not supported, please make it"),
        (lambda: inside(FunctionsByClass()), RuntimeError, "classmethod is not supported"),
        (lambda: _has_torch_function(object()), TypeError, "expected a sequence"),
        (
            lambda: dispatch.Tensor._make_subclass(Plain, answering(Wrapper())()),
            RuntimeError,
            r"subclass Plain but.*already associated to a python object of type Wrapper",
        ),
        (
            lambda: dispatch.Tensor._make_wrapper_subclass(Plain, (2,)),
            TypeError,
            "Plain must define __torch_dispatch__",
        ),
        (lambda: Wrapper().tolist(), RuntimeError, "is not supported for tensor subclasses"),
        (lambda: Wrapper().numpy(), RuntimeError, "is not supported for tensor subclasses"),
        (lambda: write_storage("data_ptr"), RuntimeError, "data pointer on an invalid python"),
        (lambda: write_storage("resize_"), RuntimeError, r"call resize_\(\) on an invalid python"),
        (lambda: write_storage("fill_"), RuntimeError, r"call fill_\(\) on an invalid python"),
        (lambda: write_storage("copy_"), RuntimeError, r"call copy_\(\) on an invalid python"),
        (
            lambda: copy.deepcopy(Plain([1.0])),
            RuntimeError,
            "for which that function returns another instance of the same subclass",
        ),
        (
            lambda: copy.deepcopy(answering(dispatch.ones(2, 2))()),
            RuntimeError,
            "for which cloning returns another instance of the same subclass",
        ),
        (lambda: impl("neg", [], "CPU"), TypeError, "Input function is required to be a callable"),
        (
            lambda: impl("neg", abs, "CUDA", key="CPU"),
            RuntimeError,
            "inconsistent with the dispatch key",
        ),
        (
            lambda: impl(aten.neg.default, abs, "CPU", ns="other"),
            RuntimeError,
            "operator name does not match namespace",
        ),
    ],
)
def test_the_text_has_the_phrase(call, error, phrase):
    with pytest.raises(error, match=phrase):
        call()


def test_devices_that_differ_are_both_named():
    with dispatch.FakeTensorMode():
        x, y = dispatch.ones(2), dispatch.ones(2, device="cuda")
        with pytest.raises(RuntimeError, match=r"found two different devices cpu, cuda:0"):
            x.add_(y)


def test_a_subclass_with_a_metaclass_of_its_own_is_a_subclass_everywhere():
    class Meta(type(dispatch.Tensor)):
        """Nothing but another type of classes."""

    class Named(dispatch.Tensor, metaclass=Meta):
        """Propagates."""

    class Handled(Wrapper, metaclass=Meta):
        answer = staticmethod(lambda func: dispatch.ones(1))

    assert type(dispatch.ones(2).as_subclass(Named)) is Named
    assert type(dispatch.Tensor._make_subclass(Named, dispatch.ones(2))) is Named
    assert type(Named([1.0]) + 1) is Named
    assert (Handled() + dispatch.ones(2)).tolist() == [1.0]


def test_given_contents_stand_in_the_place_of_values():
    class Shown(Wrapper):
        def __repr__(self):
            return super().__repr__(tensor_contents="inner")

    assert repr(Shown()) == "Shown(inner)"


def test_set_takes_a_typed_storage():
    source = dispatch.tensor([1.0, 2.0])
    x = dispatch.empty(0)
    x.set_(source._typed_storage())
    assert x.tolist() == [1.0, 2.0]
    with pytest.raises(TypeError):
        x.set_(3)


def test_a_kernel_may_return_an_expression():
    from dispatch.symbolic import ShapeEnv, SymInt

    with library._scoped_library("refusals", "DEF") as lib:
        lib.define("double(SymInt a) -> SymInt")
        lib.impl("double", lambda a: a + a, "CompositeExplicitAutograd")
        fake = dispatch.FakeTensorMode(shape_env=ShapeEnv()).from_tensor(dispatch.ones(3, 4))
        made = dispatch.ops.refusals.double(fake.shape[0])
        assert isinstance(made, SymInt)
        assert made == 6
        assert dispatch.ops.refusals.double(4) == 8


def test_functions_of_a_room_say_where_they_are_from():
    assert dispatch.fft.fft.__module__ == "dispatch._C._fft"
    assert dispatch.linalg.det.__name__ == "linalg_det"
    assert dispatch.add.__module__ == "dispatch"
    assert dispatch.Tensor.shape.__get__.__self__.__qualname__ == "TensorBase.shape"
