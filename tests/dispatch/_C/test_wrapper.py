"""Instances of tensor subclasses, and metadata that their classes answer."""

import gc
import pickle
import weakref

import pytest

import dispatch
from dispatch import Size, Tensor, ops
from dispatch._C import _dispatch_keys

pytestmark = pytest.mark.usefixtures("same_state_after")


class Answering(Tensor):
    """Answers from a table, and notes what it is asked."""

    answers: dict = {}
    asked: list = []

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.asked.append((str(func), types, len(args), kwargs))
        return cls.answers.get(str(func))


def wrapper(size=(2, 3), answers=None, **policy):
    Answering.answers = answers or {}
    Answering.asked = []
    return Tensor._make_wrapper_subclass(Answering, size, **policy)


def asked():
    return [name for name, *_ in Answering.asked]


SIZES = {"dispatch_sizes_strides_policy": "sizes"}
STRIDES = {"dispatch_sizes_strides_policy": "strides"}


@pytest.mark.parametrize(
    ("policy", "question", "operators"),
    [
        ({}, lambda t: (t.shape, t.stride(), t.device, t.layout, t.numel()), []),
        (STRIDES, lambda t: t.shape, []),
        (STRIDES, lambda t: t.stride(1), ["aten.sym_stride.default"]),
        (STRIDES, lambda t: t.is_contiguous(), ["aten.is_contiguous.default"]),
        (SIZES, lambda t: t.shape, ["aten.sym_size.default"]),
        (SIZES, lambda t: t.numel(), ["aten.sym_numel.default"]),
        (SIZES, lambda t: t.nbytes, ["aten.numel.default"]),
        (SIZES, lambda t: t.storage_offset(), ["aten.sym_storage_offset.default"]),
    ],
)
def test_policy_decides_what_the_class_is_asked(policy, question, operators):
    t = wrapper(**policy)
    question(t)
    assert asked() == operators
    assert all(call[1:] == ((Answering,), 1, {}) for call in Answering.asked)


def test_answers_are_what_the_accessors_give():
    t = wrapper(answers={"aten.sym_size.default": [7, 8], "aten.dim.default": 2}, **SIZES)
    assert t.shape == Size([7, 8])
    assert type(t.shape) is Size
    assert (t.size(0), t.size(-1), t.dim(), len(t)) == (7, 8, 2, 7)


def test_answered_strides_are_all_or_that_of_one_dimension():
    t = wrapper(answers={"aten.sym_stride.default": [7, 5]}, **STRIDES)
    assert tuple(t.stride()) == tuple(t.stride(None)) == (7, 5)
    assert (t.stride(0), t.stride(1), t.stride(-2), t.stride(dim=-1)) == (7, 5, 7, 5)
    for dim in (2, -3):
        with pytest.raises(IndexError):
            t.stride(dim)


@pytest.mark.parametrize(
    ("operator", "policy", "question", "answer"),
    [
        ("aten.sym_size.default", SIZES, lambda t: t.shape, 7),
        ("aten.sym_size.default", SIZES, lambda t: t.shape, (1.5,)),
        ("aten.sym_stride.default", STRIDES, lambda t: t.stride(), "no"),
        ("aten.dim.default", SIZES, lambda t: t.dim(), None),
        ("aten.sym_numel.default", SIZES, lambda t: t.numel(), (1,)),
        ("aten.is_contiguous.default", STRIDES, lambda t: t.is_contiguous(), 1),
        ("prim.device.default", {"dispatch_device": True}, lambda t: t.device, 3),
        ("prim.layout.default", {"dispatch_layout": True}, lambda t: t.layout, "strided"),
    ],
)
def test_wrong_answers_are_errors_that_name_the_class(operator, policy, question, answer):
    t = wrapper(answers={operator: answer}, **policy)
    with pytest.raises(RuntimeError, match="Answering"):
        question(t)


def test_device_and_layout_are_asked_for():
    answers = {"prim.device.default": dispatch.device("cuda:1"), "prim.layout.default": 1}
    t = wrapper(answers=answers, dispatch_device=True, dispatch_layout=True)
    assert (t.device, t.is_cuda, t.get_device()) == (dispatch.device("cuda:1"), True, 1)
    assert t.layout is dispatch.sparse_coo


def test_declined_questions_are_type_errors():
    t = wrapper(answers={"aten.sym_size.default": NotImplemented}, **SIZES)
    with pytest.raises(TypeError, match="sym_size"):
        t.size()


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (TypeError, lambda: Tensor._make_wrapper_subclass(Tensor, (2,))),
        (TypeError, lambda: Tensor._make_wrapper_subclass(int, (2,))),
        (TypeError, lambda: Tensor._make_wrapper_subclass(None, (2,))),
        (TypeError, lambda: wrapper(4)),
        (TypeError, lambda: wrapper((2.0,))),
        (TypeError, lambda: wrapper(None)),
        (TypeError, lambda: wrapper((2,), dtype="float32")),
        (TypeError, lambda: wrapper((2,), layout=None)),
        (TypeError, lambda: wrapper((2,), _extra_dispatch_keys="CPU")),
        (ValueError, lambda: wrapper((2,), dispatch_sizes_strides_policy="both")),
        (TypeError, lambda: wrapper((2,), dispatch_sizes_strides_policy=1)),
        (RuntimeError, lambda: wrapper((2, 3), strides=(1,))),
        (RuntimeError, lambda: wrapper((-2,))),
        (RuntimeError, lambda: wrapper((2,), storage_offset=1)),
        (RuntimeError, lambda: wrapper((2,), storage_size=1 << 70)),
        (RuntimeError, lambda: wrapper((2,), dtype=dispatch.int64, requires_grad=True)),
        (TypeError, lambda: Tensor._make_subclass(Answering, None)),
        (TypeError, lambda: Tensor._make_subclass(None, dispatch.ones(1))),
        (TypeError, lambda: dispatch.ones(1).as_subclass(None)),
        (TypeError, lambda: dispatch.ones(1).as_subclass(int)),
    ],
)
def test_wrong_arguments_of_the_makers(error, call):
    with pytest.raises(error):
        call()


def test_keys_of_wrappers():
    key = dispatch.DispatchKey
    extra = dispatch.DispatchKeySet(key.Conjugate)
    t = wrapper(device="cuda", _extra_dispatch_keys=extra)
    keys = _dispatch_keys(t)
    assert all(keys.has(k) for k in (key.Python, key.PythonTLSSnapshot, key.CUDA, key.Conjugate))
    assert _dispatch_keys(wrapper(layout=dispatch.sparse_coo)).has(key.SparseCPU)


def test_a_wrapper_has_bytes_in_number_only():
    t = wrapper((2, 3))
    assert t.untyped_storage().nbytes() == 24
    assert t.data_ptr() == 0
    with pytest.raises(RuntimeError, match="data pointer"):
        t.untyped_storage().data_ptr()
    with pytest.raises(RuntimeError, match="Answering"):
        t.numpy()


def test_instances_share_memory_and_version():
    class Plain(Tensor):
        pass

    x = dispatch.zeros(3)
    t = Tensor._make_subclass(Plain, x)
    x.add_(1)
    assert (t.tolist(), t._version, t._is_view()) == ([1.0, 1.0, 1.0], 1, False)
    u = x.as_subclass(Plain)
    assert (u._is_view(), u._base is x, u._version) == (True, True, 1)


def test_as_subclass_is_not_seen_by_modes():
    seen = []

    class Seeing(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    class Plain(Tensor):
        pass

    x = dispatch.ones(1)
    with Seeing():
        assert type(x.as_subclass(Plain)) is Plain
    assert seen == []


def test_metadata_operators_are_not_seen_by_modes():
    seen = []

    class Seeing(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = dispatch.ones(2, 3)
    with Seeing(), dispatch.inference_mode():
        assert ops.aten.sym_size.default(x) == [2, 3]
        assert ops.aten.stride.default(x) == [3, 1]
        assert ops.prim.device.default(x) == dispatch.device("cpu")
    assert seen == []


def test_class_without_its_handler_any_more_is_an_error():
    class Fading(Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return dispatch.ones(1)

    t = Tensor._make_subclass(Fading, dispatch.ones(2))
    del Fading.__torch_dispatch__
    with pytest.raises(RuntimeError, match="Fading"):
        ops.aten.neg.default(t)


def test_handler_may_be_taken_off_its_class_while_it_runs():
    class Leaving(Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            del cls.__torch_dispatch__
            gc.collect()
            return dispatch.ones(3)

    t = Tensor._make_subclass(Leaving, dispatch.ones(2))
    assert ops.aten.neg.default(t).shape == (3,)


def test_cycles_through_attributes_are_collected():
    t = wrapper()
    t.me = t
    gone = weakref.ref(t)
    del t
    gc.collect()
    assert gone() is None


def test_pickled_wrappers_keep_metadata_and_attributes():
    t = wrapper((2, 3), strides=(1, 2), dtype=dispatch.float64)
    t.inner = dispatch.ones(2)
    u = pickle.loads(pickle.dumps(t))
    assert (type(u), u.shape, u.stride(), u.dtype) == (Answering, (2, 3), (1, 2), dispatch.float64)
    assert u.inner.tolist() == [1.0, 1.0]
    assert asked() == []


def test_set_takes_over_a_storage():
    x = dispatch.arange(6.0)
    t = dispatch.zeros(0)
    ops.aten.set_.source_Storage_storage_offset(t, x.untyped_storage(), 2, [2, 2], [1, 2])
    assert t.tolist() == [[2.0, 4.0], [3.0, 5.0]]
    with pytest.raises(RuntimeError, match="invalid storage offset -1"):
        ops.aten.set_.source_Storage_storage_offset(t, x.untyped_storage(), -1, [2], [1])
    assert t.shape == (2, 2)


@pytest.mark.parametrize("sizes", [(), [], (3,)])
def test_two_answers_that_do_not_fit_together_are_an_index_error(sizes):
    t = wrapper(answers={"aten.dim.default": 50, "aten.sym_size.default": sizes}, **SIZES)
    for dim in (0, 7, 49, -1):
        if dim < len(sizes) and dim >= 0:
            assert t.size(dim) == sizes[dim]
        else:
            with pytest.raises(IndexError, match="imension"):
                t.size(dim)


def test_strides_that_vanish_while_they_are_read_do_no_harm():
    class Vanishing:
        def __index__(self):
            strides.clear()
            return 1

        __int__ = __index__

    strides = [Vanishing(), 1, 1, 1]
    with pytest.raises(RuntimeError, match="differ in length"):
        Tensor._make_wrapper_subclass(Answering, (2, 2, 2, 2), strides=strides)
    strides = [1, Vanishing()]
    made = Tensor._make_wrapper_subclass(Answering, (2, 2), strides=strides)
    assert made.stride() == (1, 1)
