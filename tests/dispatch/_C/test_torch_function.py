"""`__torch_function__`: who is asked, in which order, what is left behind."""

import gc
import threading
import weakref

import numpy as np
import pytest

import dispatch
from dispatch import _C, modes, ops
from dispatch._C import torch_function
from dispatch.modes import TorchFunctionMode


class Names(TorchFunctionMode):
    """Collects the names of what it sees."""

    def __init__(self):
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


class Plain(dispatch.Tensor):
    """A subclass that overrides nothing."""


class Stand:
    """No tensor, but with a handler."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func


@pytest.fixture
def x():
    return dispatch.ones(2, 2)


def test_results_become_instances_of_the_subclass(x):
    p = x.as_subclass(Plain)
    for made in (p + 1, 1 + p, p[0], p.T, p.clone(), ops.aten.neg.default(p), dispatch.cat([x, p])):
        assert type(made) is Plain
    assert type(p.shape) is dispatch.Size and type(p.tolist()) is list


@pytest.mark.parametrize(
    ("call", "func"),
    [
        (lambda x: dispatch.add(x, 1), dispatch.add),
        (lambda x: x.add(1), dispatch.Tensor.add),
        (lambda x: x + 1, dispatch.Tensor.add),
        (lambda x: x.shape, dispatch.Tensor.shape.__get__),
        (lambda x: x[0], dispatch.Tensor.__getitem__),
        (lambda x: x.size(), dispatch.Tensor.size),
        (lambda x: ops.aten.add.Tensor(x, 1), ops.aten.add.Tensor),
        (lambda x: ops.aten.add(x, 1), ops.aten.add),
        (lambda x: dispatch.tensor([1]), dispatch.tensor),
        (lambda x: dispatch.ones(1), dispatch.ones),
    ],
)
def test_handlers_see_the_function_itself(x, call, func):
    seen = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with Mode():
        call(x)
    assert seen == [func]


def test_an_object_with_a_handler_stands_for_any_argument(x):
    stand = Stand()
    assert dispatch.add(x, stand) is dispatch.add
    assert dispatch.ones(stand) is dispatch.ones
    assert dispatch.ones(2, dtype=stand) is dispatch.ones
    assert dispatch.cat([x, stand]) is dispatch.cat
    assert x + stand is dispatch.Tensor.add
    with pytest.raises(TypeError, match="aten::add"):
        dispatch.add(stand, 1, beta=2)


def test_methods_refuse_what_is_no_tensor():
    for method in (dispatch.Tensor.add, dispatch.Tensor.dim, dispatch.Tensor.shape.__get__):
        with pytest.raises(TypeError):
            method(Stand())
    with pytest.raises(TypeError):
        dispatch.Tensor.dim()


def test_a_mode_is_off_while_it_handles_and_back_after_an_error(x):
    class Fails(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            assert _C._len_torch_function_stack() == 0
            raise KeyError(func.__name__)

    mode = Fails()
    with mode:
        for call in (lambda: x.neg(), lambda: x.shape, lambda: ops.aten.neg(x), lambda: x + 1):
            with pytest.raises(KeyError):
                call()
            assert _C._get_function_stack_at(0) is mode


def test_values_are_read_without_being_shown(x):
    """Matching a 0-d tensor against a number reads it; describing one in an error does too."""
    with Names() as mode:
        dispatch.add(x, 1, alpha=dispatch.tensor(2))
        with pytest.raises(RuntimeError):
            ops.aten.neg.default(x, x)
    assert mode.names == ["tensor", "add", "neg.default"]


def test_classes_with_a_dispatch_handler_keep_functions_to_themselves(x):
    class Wrapper(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return dispatch.zeros(1)

    assert Wrapper.__torch_function__ is _C._disabled_torch_function_impl
    assert type(x.as_subclass(Wrapper) + 1) is dispatch.Tensor


def test_everybody_declining_is_a_type_error(x):
    class No(dispatch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match=r"neg.*No"):
        x.as_subclass(No).neg()


def test_another_thread_does_not_see_the_mode(x):
    seen = []

    def work():
        seen.append((_C._len_torch_function_stack(), x.shape))

    with Names() as mode:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [(0, (2, 2))] and mode.names == []


def test_the_stack_owns_its_modes():
    mode = Names()
    reference = weakref.ref(mode)
    torch_function._push_on_torch_function_stack(mode)
    del mode
    gc.collect()
    dispatch.ones(1)
    assert torch_function._pop_torch_function_stack() is reference()
    gc.collect()
    assert reference() is None


def test_an_answer_of_another_type_is_refused_where_python_wants_one(x):
    class Three(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "three"

    with Three():
        assert x.add_(1) == "three" and x.shape == "three"
        for convert in (bool, len, int, float):
            with pytest.raises(TypeError):
                convert(x)


def test_a_default_device_for_a_block():
    with dispatch.device("meta"):
        assert dispatch.ones(1).is_meta and dispatch.tensor([1]).is_meta
        with dispatch.device("cpu"):
            assert dispatch.ones(1).is_cpu
        assert dispatch.ones(1).is_meta
    assert dispatch.ones(1).is_cpu
    with pytest.raises(RuntimeError):
        dispatch.device("meta").__exit__(None, None, None)


def test_modes_see_gradient_mode_and_may_leave_it():
    class Sees(TorchFunctionMode):
        does = True

        def __torch_function__(self, func, types, args=(), kwargs=None):
            assert func is _C._set_grad_enabled and kwargs is None
            seen.append(*args)
            return func(*args) if self.does else None

    def state():
        seen.append("on" if dispatch.is_grad_enabled() else "off")

    seen = []
    with Sees() as mode:
        with dispatch.no_grad():
            state()
        with dispatch.set_grad_enabled(False), dispatch.enable_grad():
            state()
        dispatch.no_grad(state)()
        mode.does = False
        with dispatch.no_grad():
            state()
        with pytest.raises(TypeError, match="expected a bool"):
            _C._set_grad_enabled(1)
    with dispatch.no_grad():
        state()
    assert dispatch.is_grad_enabled()
    assert seen == [
        False, "off", True, False, False, True, "on", False, True, False, "off", True,
        False, "on", True, "off",
    ]  # fmt: skip


def test_modes_see_texts_that_name_no_device():
    """A mode may stand for a device of its own: its name is read where nobody answers."""

    class Mine(dispatch.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = dict(kwargs or {})
            if kwargs.pop("device", None) == "mine":
                return func, args, kwargs
            return func(*args, **kwargs)

    with Mine():
        assert dispatch.rand(4, device="mine") == (dispatch.rand, (4,), {})
        assert dispatch.empty((2, 3), device="mine") == (dispatch.empty, ((2, 3),), {})
        assert dispatch.ones(2).to(device="mine")[0] is dispatch.Tensor.to
        assert dispatch.ones(2, device="cpu").tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="mine"):
        dispatch.rand(4, device="mine")


class Keeps(dispatch.Tensor):
    """Swallows what is assigned; says 3 for its truth."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") == "__set__":
            return None
        if func is dispatch.Tensor.__bool__:
            return 3
        return super().__torch_function__(func, types, args, kwargs or {})


def test_what_a_handler_swallows_is_not_assigned():
    x = dispatch.ones(1).as_subclass(Keeps)
    x.requires_grad = True
    x.grad = dispatch.ones(1)
    x.data = dispatch.zeros(2)
    with dispatch._C.DisableTorchFunctionSubclass():
        assert (x.requires_grad, x.grad, x.tolist()) == (False, None, [1])


def test_a_truth_that_is_no_bool_is_refused():
    with pytest.raises(TypeError, match="__bool__ should return bool, returned int"):
        bool(dispatch.ones(1).as_subclass(Keeps))


@pytest.mark.parametrize(
    ("call", "category"),
    [
        (lambda x: modes.handle_torch_function(len, (x,), x), DeprecationWarning),
        (dispatch.abs, UserWarning),
        (dispatch.ops.aten.abs, UserWarning),
    ],
)
def test_a_handler_that_is_a_plain_method_warns_as_its_function_does_in_pytorch(call, category):
    class Plain:
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "answered"

    with pytest.warns(category, match="as a plain method is deprecated") as told:
        assert call(Plain()) == "answered"
    assert [type(w.message) for w in told] == [category]


def test_what_handlers_never_see_is_not_overridable():
    found = modes.get_overridable_functions()
    assert vars(dispatch.Tensor)["is_view"] not in found
    assert vars(dispatch.Tensor)["is_leaf"] in found


def test_handlers_of_several_outs_see_the_tuple_that_was_given():
    seen = []

    class Out(dispatch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func.__name__, sorted(kwargs or {})))
            return super().__torch_function__(func, types, args, kwargs or {})

    outs = tuple(
        dispatch.empty(0, dtype=t).as_subclass(Out) for t in (dispatch.float32, dispatch.int64)
    )
    found = dispatch.max(dispatch.ones(2, 2), 0, out=outs)
    assert seen == [("max", ["out"])]
    assert type(found) is dispatch.return_types.max_out
    assert found[0].tolist() == [1, 1]


def test_numpy_asks_the_handlers_for_an_array():
    names = []

    class Array(dispatch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            names.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = dispatch.ones(2)
    assert np.asarray(x.as_subclass(Array)).tolist() == [1, 1]
    with Names() as mode:
        assert np.asarray(x).tolist() == [1, 1]
    assert "__array__" in names and "__array__" in mode.names
