"""FakeTensorMode: devices, conversion, constants, what is refused, and who may handle a call."""

import copy
import gc
import pickle
import threading
import weakref

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, ops
from dispatch.fake import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorDeviceMismatchError,
    UnsupportedOperatorException,
)
from dispatch.modes import (
    TorchDispatchMode,
    _get_current_dispatch_mode_stack,
    is_in_torch_dispatch_mode,
)

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


@pytest.fixture
def mode():
    return FakeTensorMode()


# ---- devices and metadata


@pytest.mark.parametrize("device", ["cpu", "cuda", "cuda:3", "mps", "xpu", "meta"])
def test_any_device_works(mode, device):
    with mode:
        t = dispatch.empty(2, 3, device=device)
        r = A.add.Tensor(t, t)
    want = device if device in ("cpu", "meta") or ":" in device else device + ":0"
    assert type(r) is FakeTensor and str(r.device) == want and r.shape == (2, 3)
    assert r.fake_mode is mode and r.fake_device == r.device


def test_arguments_find_their_mode_after_its_block(mode):
    with mode:
        t = dispatch.ones(2, device="cuda")
    r = A.mul.Tensor(t, 2)
    assert type(r) is FakeTensor and r.fake_mode is mode
    assert type(A.split.Tensor(t, 1)[0]) is FakeTensor


def test_views_share_the_storage(mode):
    with mode:
        t = dispatch.ones(4)
        v = A.view.default(t, [2, 2])
        w = A.select.int(v, 0, 1)
    assert v.untyped_storage() is t.untyped_storage() is w.untyped_storage()
    assert w._base is t and w.storage_offset() == 2
    assert t.untyped_storage().nbytes() == 16 and t.untyped_storage().data_ptr() == 0


def test_no_bytes_can_be_read(mode):
    with mode:
        t = dispatch.ones(2)
    for read in (t.numpy, lambda: dispatch._C.arrays._numpy_view(t)):
        with pytest.raises((RuntimeError, TypeError)):
            read()
    assert t.data_ptr() == 0


def test_tensors_of_two_devices_are_refused(mode):
    with mode:
        a, b, c = (dispatch.empty(2, device=d) for d in ("cuda:0", "cuda:1", "cpu"))
        for other in (b, c):
            with pytest.raises(FakeTensorDeviceMismatchError, match=r"aten::add\.Tensor"):
                A.add.Tensor(a, other)
        assert A.add.Tensor(a, dispatch.empty(())).device == a.device
        assert A.add.Tensor(dispatch.empty(()), a).device == a.device
        assert A.copy_.default(a, c).device == a.device


def test_default_dtype_is_looked_at_in_each_call(mode):
    with mode:
        assert A.div.Tensor(dispatch.ones(2, dtype=dispatch.int64), 2).dtype is dispatch.float32
        dispatch.set_default_dtype(dispatch.float64)
        try:
            assert A.div.Tensor(dispatch.ones(2, dtype=dispatch.int64), 2).dtype is dispatch.float64
        finally:
            dispatch.set_default_dtype(dispatch.float32)


def test_in_place_and_out_return_their_arguments(mode):
    with mode:
        a, b, c = (dispatch.empty(2) for _ in range(3))
        assert A.add_.Tensor(a, b) is a and a._version == 1
        assert A.add.out(a, b, out=c) is c and c._version == 1


def test_requires_grad_passes_on(mode):
    with mode:
        x = dispatch.ones(2, requires_grad=True)
        for _ in range(3):
            r = A.mul.Tensor(x, 2)
            assert r.requires_grad and r.grad_fn.name() == "MulBackward0"


# ---- conversion


def test_from_tensor_gives_one_fake_for_one_tensor(mode):
    x = dispatch.ones(2, 3, requires_grad=True)
    f = mode.from_tensor(x)
    assert mode.from_tensor(x) is f
    assert (f.shape, f.stride(), f.dtype) == (x.shape, x.stride(), x.dtype)
    assert f.requires_grad and f.is_leaf


def test_from_tensor_keeps_aliases(mode):
    x = dispatch.ones(4)
    y = A.view.default(x, [2, 2])[1]
    fx, fy = mode.from_tensor(x), mode.from_tensor(y)
    assert fx.untyped_storage() is fy.untyped_storage()
    assert fy.storage_offset() == 2
    assert mode.from_tensor(dispatch.ones(4)).untyped_storage() is not fx.untyped_storage()


def test_memo_does_not_keep_tensors_alive(mode):
    x = dispatch.ones(2)
    f = mode.from_tensor(x)
    ref, fake = weakref.ref(x), weakref.ref(f)
    del x, f
    gc.collect()
    assert ref() is None and fake() is None


def test_converted_tensors_are_not_confused_by_reused_addresses(mode):
    for n in range(1, 50):
        assert mode.from_tensor(dispatch.empty(n)).shape == (n,)


def test_fake_of_another_mode_is_refused(mode):
    x = dispatch.ones(2)
    a, b = mode.from_tensor(x), FakeTensorMode().from_tensor(x)
    with pytest.raises(AssertionError, match="Mixing fake modes"):
        A.add.Tensor(a, b)
    c = mode.from_tensor(b)
    assert c is not b and c.fake_mode is mode and mode.from_tensor(b) is c


def test_subclasses_that_wrap_nothing_become_plain_fakes(mode):
    class Sub(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    f = mode.from_tensor(dispatch.Tensor._make_wrapper_subclass(Sub, [2]))
    assert type(f) is FakeTensor and f.shape == (2,)
    with pytest.raises(TypeError):
        mode.from_tensor(3)


def test_real_tensors_are_refused_unless_allowed(mode):
    x = dispatch.ones(2)
    with mode, pytest.raises(AssertionError, match="allow_non_fake_inputs"):
        A.add.Tensor(x, x)
    with pytest.raises(AssertionError, match="allow_non_fake_inputs"):
        A.add.Tensor(mode.from_tensor(dispatch.ones(2)), x)
    with FakeTensorMode(allow_non_fake_inputs=True) as lenient:
        r = A.add.Tensor(x, x)
    assert type(r) is FakeTensor and r.fake_mode is lenient


def test_fake_tensor_from_a_meta_tensor(mode):
    f = FakeTensor(mode, dispatch.empty(2, 3, device="meta"), dispatch.device("cuda"))
    assert f.shape == (2, 3) and str(f.device) == "cuda:0" and f.fake_mode is mode
    with pytest.raises(AssertionError):
        FakeTensor(mode, dispatch.empty(2), "cuda")
    with pytest.raises(TypeError):
        FakeTensor()


# ---- values that are not there, and some that are


def test_values_are_unknown(mode):
    with mode:
        t = dispatch.ones(())
        for read in (t.item, lambda: bool(t), lambda: int(t), lambda: float(t)):
            with pytest.raises(DataDependentOutputException) as caught:
                read()
        assert caught.value.func is A._local_scalar_dense.default
        with pytest.raises(DynamicOutputShapeException) as caught:
            A.nonzero.default(dispatch.ones(3))
    assert caught.value.func is A.nonzero.default


def test_small_constants_are_known(mode):
    with mode:
        assert dispatch.tensor(2.5).item() == 2.5
        assert int(dispatch.tensor(2)) == 2 and bool(dispatch.tensor(0)) is False
        assert A.mul.Tensor(dispatch.tensor(2.5), 2).item() == 5.0
        assert A.add.Tensor(dispatch.tensor(2), dispatch.tensor(3)).item() == 5
        with pytest.raises(DataDependentOutputException):
            A.select.int(dispatch.tensor([1, 2]), 0, 0).item()


def test_writes_to_constants_and_their_views_are_followed(mode):
    with mode:
        t = dispatch.tensor(1.0)
        v = A.view.default(t, [1])
        assert A.add_.Tensor(v, 1) is v
        assert t.item() == 2.0 and v.item() == 2.0
        A.add_.Tensor(v, dispatch.ones(1))  # of unknown value
        for lost in (t, v):
            assert lost.constant is None
            with pytest.raises(DataDependentOutputException):
                lost.item()


def test_constants_die(mode):
    with mode:
        t = dispatch.tensor(1.0)
        refs = [weakref.ref(t), weakref.ref(t.constant)]
    del t
    gc.collect()
    assert [r() for r in refs] == [None, None]


# ---- operators of others


@pytest.fixture
def custom(library):
    lib = library("fk", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: A.add.Tensor(x, 1), "CPU")
    return lib


def test_operator_without_a_meta_kernel_is_unsupported(mode, custom):
    with mode, pytest.raises(UnsupportedOperatorException) as caught:
        ops.fk.f(dispatch.ones(2))
    assert caught.value.func is ops.fk.f.default


def test_what_is_no_operator_is_unsupported(mode):
    with pytest.raises(UnsupportedOperatorException, match="len"):
        mode.dispatch(len, ())


def test_a_mode_takes_another_converter(mode):
    other = FakeTensorMode().fake_tensor_converter
    mode.fake_tensor_converter = other
    assert mode.fake_tensor_converter is other


def test_meta_kernel_of_a_library_is_used(mode, custom):
    custom.impl("f", lambda x: A.empty_like.default(x), "Meta")
    with mode:
        r = ops.fk.f(dispatch.ones(2, device="cuda"))
    assert type(r) is FakeTensor and r.device.type == "cuda"


def test_composite_operators_decompose(mode, custom):
    custom.define("g(Tensor x) -> Tensor")
    custom.impl("g", lambda x: A.mul.Tensor(x, 2), "CompositeImplicitAutograd")
    with mode:
        assert type(ops.fk.g(dispatch.ones(2))) is FakeTensor


# ---- who handles


@pytest.mark.parametrize("override", [False, True])
def test_subclass_of_the_mode_handles_calls(override):
    handled = []

    class Mine(FakeTensorMode):
        if override:

            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                handled.append(func)
                return super().__torch_dispatch__(func, types, args, kwargs)

    with Mine() as mine:
        t = dispatch.empty(2, device="cuda")
        r = A.add.Tensor(t, t, alpha=2)
    assert type(r) is FakeTensor and r.fake_mode is mine
    assert handled == ([A.empty.memory_format, A.add.Tensor] if override else [])
    assert type(A.relu.default(r)) is FakeTensor
    with pytest.raises(AssertionError):
        A.add.Tensor(r, dispatch.ones(2))


def test_unknown_subclasses_handle_their_calls(mode):
    class Sub(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(types)
            return args[0]

    seen = []
    sub = dispatch.Tensor._make_wrapper_subclass(Sub, [2])
    fake = mode.from_tensor(dispatch.ones(2))
    assert A.add.Tensor(sub, fake) is sub
    with mode:
        assert A.add.Tensor(fake, sub) is fake
    assert set(seen[0]) == set(seen[1]) == {Sub, FakeTensor}


def test_subclass_and_fake_that_both_decline(mode):
    class Sub(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    sub = dispatch.Tensor._make_wrapper_subclass(Sub, [2])
    with pytest.raises(TypeError, match=r"aten::add\.Tensor"):
        A.add.Tensor(mode.from_tensor(dispatch.ones(2)), sub)


def test_mode_on_top_sees_every_call(mode):
    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((func, types))
            return func(*args, **(kwargs or {}))

    seen = []
    with mode, Log():
        t = dispatch.empty(2)
        for _ in range(2):
            assert type(A.add.Tensor(t, t)) is FakeTensor
    assert [s[0] for s in seen] == [A.empty.memory_format] + 2 * [A.add.Tensor]
    assert seen[1][1] == (FakeTensor,)


def test_modes_nest_and_come_back(mode):
    inner = FakeTensorMode()
    with mode:
        with inner:
            with inner:
                assert dispatch.empty(1).fake_mode is inner
            assert dispatch.empty(1).fake_mode is inner
        assert dispatch.empty(1).fake_mode is mode
    assert type(dispatch.empty(1)) is dispatch.Tensor


def test_errors_leave_the_mode_in_place(mode):
    with mode:
        t = dispatch.empty(2, 3)
        for _ in range(2):
            with pytest.raises(RuntimeError):
                A.mm.default(t, t)
            assert _get_current_dispatch_mode_stack() == [mode]
        assert type(A.mm.default(t, dispatch.empty(3, 2))) is FakeTensor


def test_one_mode_in_two_threads_at_once(mode):
    inner = FakeTensorMode()
    entered, leave = threading.Event(), threading.Event()
    after = []

    def other():
        with inner:
            with mode:
                entered.set()
                leave.wait(10)
            after.append(dispatch.empty(1).fake_mode is inner)

    thread = threading.Thread(target=other)
    with mode:
        thread.start()
        entered.wait(10)
    assert type(dispatch.empty(1)) is dispatch.Tensor
    leave.set()
    thread.join()
    assert after == [True]


def test_mode_and_its_tensors_are_collected():
    mode = FakeTensorMode()
    with mode:
        t = dispatch.empty(2)
        A.add.Tensor(t, t)
    t.mine = t
    refs = [weakref.ref(t)]
    del mode, t
    gc.collect()
    assert refs[0]() is None


def test_pickling_is_refused(mode):
    import pickle

    with pytest.raises(RuntimeError, match="fake"):
        pickle.dumps(mode.from_tensor(dispatch.ones(2)))


def test_fake_calls_leave_no_references(mode, grown_blocks):
    cold = FakeTensorMode(cache=False)
    for one in (mode, cold):
        with one:
            x, m = dispatch.empty(2, 2), dispatch.empty(2, 2)
            for call in (
                lambda x=x: A.add.Tensor(x, 1),
                lambda x=x: A.add_.Tensor(x, 1),
                lambda x=x: A.view.default(x, [4]),
                lambda x=x: A.split.Tensor(x, 1),
                lambda x=x, m=m: A.mm.default(x, m),
                lambda: dispatch.empty(3, device="cuda"),
                lambda: dispatch.tensor(1.5),
                lambda: A.add.Tensor(dispatch.tensor(1.5), 1),
                lambda one=one, x=x: one.from_tensor(x),
            ):
                assert grown_blocks(call, 500) < 150


def test_copies_of_a_mode_have_its_settings_and_attributes():
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    mode.note = [1]
    for made in (copy.deepcopy(mode), copy.copy(mode), pickle.loads(pickle.dumps(mode))):
        assert made is not mode and made.note == [1] and made.allow_non_fake_inputs
        assert made.cache is not mode.cache
    assert copy.deepcopy(FakeTensorMode(cache=False)).cache is None


def test_programs_can_ask_whether_they_are_in_a_fake_mode(mode):
    with mode, mode:
        assert is_in_torch_dispatch_mode()
        assert not is_in_torch_dispatch_mode(include_infra_modes=False)
    assert not is_in_torch_dispatch_mode()


@pytest.mark.parametrize("op", ["bernoulli", "rand_like", "randn_like"])
def test_random_numbers_are_no_constants(op):
    with FakeTensorMode():
        x = dispatch.tensor(0.5)
        assert x.constant is not None
        assert getattr(ops.aten, op).default(x).constant is None
        assert ops.aten.neg.default(x).constant is not None
