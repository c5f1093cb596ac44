"""FakeTensor: its constructor, its device, what is refused, and instances that nobody filled in."""

import copy
import gc
import weakref

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, ops
from dispatch.fake import in_kernel_invocation_manager

pytestmark = pytest.mark.usefixtures("same_state_after")


@pytest.fixture
def mode():
    return FakeTensorMode()


@pytest.fixture
def meta():
    return dispatch.empty(2, 3, device="meta")


def test_both_orders_of_the_constructor_give_the_same(mode, meta):
    for f in (FakeTensor(mode, meta, "cuda"), FakeTensor(meta, fake_mode=mode, fake_device="cuda")):
        assert f.fake_mode is mode and str(f.device) == "cuda:0" and f.shape == (2, 3)
        assert f.untyped_storage() is meta.untyped_storage()


@pytest.mark.parametrize(
    ("kwargs", "error"),
    [
        ({"device": None}, TypeError),
        ({"device": "cpu", "fake_device": "cuda"}, ValueError),
        ({"device": "cpu", "colour": 1}, TypeError),
        ({"device": "cpu", "real_tensor": "fake"}, AssertionError),
        ({"device": "cpu", "elem": dispatch.ones(2)}, AssertionError),
        ({"device": "cpu", "fake_mode": 3}, TypeError),
    ],
)
def test_wrong_arguments_are_refused(mode, meta, kwargs, error):
    if kwargs.get("real_tensor") == "fake":
        kwargs = kwargs | {"real_tensor": FakeTensor(mode, meta, "cpu")}
    with pytest.raises(error):
        FakeTensor(mode, **{"elem": meta} | kwargs)


def test_instances_without_a_mode_raise_and_do_not_crash(meta):
    blank = FakeTensor.__new__(FakeTensor)
    made = dispatch.Tensor._make_subclass(FakeTensor, meta)
    for t in (blank, made):
        for use in (lambda t=t: t.data, lambda t=t: copy.copy(t), lambda t=t: t.get_nested_int()):
            with pytest.raises((RuntimeError, AttributeError)):
                use()
        with pytest.raises(TypeError):
            t.fake_mode = None
    with pytest.raises(AssertionError):
        made + 1


def test_one_without_a_mode_reaches_no_kernel():
    blank = FakeTensor.__new__(FakeTensor)
    for call in (blank.mode, blank.sum, lambda: blank.add_(1), lambda: dispatch.cat([blank])):
        with pytest.raises(AssertionError):
            call()


def test_device_is_meta_while_a_kernel_runs(mode, meta):
    f = FakeTensor(mode, meta, "cuda")
    with in_kernel_invocation_manager(mode):
        assert str(f.device) == "meta" and f.is_meta and str(f.fake_device) == "cuda:0"
    assert str(f.device) == "cuda:0"


def test_numbers_are_remembered_for_one_version(mode):
    with mode:
        t = dispatch.ones((), dtype=dispatch.int64)
        t.item_memo = 5
        assert t.item() == 5
        t.add_(1)
        assert t.item_memo is None
    t.item_memo = 6
    mode.epoch += 1
    assert t.item_memo is None


def test_text_has_sizes_and_no_values(mode):
    with mode:
        assert repr(dispatch.empty(2, 3)) == "FakeTensor(..., size=(2, 3))"
        assert repr(dispatch.empty(0, dtype=dispatch.int64)).endswith(
            "size=(0,), dtype=dispatch.int64)"
        )


def test_data_and_copy_share_the_storage(mode):
    with mode:
        t = dispatch.empty(2, requires_grad=True)
    for made, grad in ((t.data, False), (copy.copy(t), True)):
        assert made is not t and made.untyped_storage() is t.untyped_storage()
        assert made.requires_grad is grad and made.fake_mode is mode


def test_a_tensor_that_runs_along_must_be_a_real_one(mode, meta):
    t = FakeTensor(mode, meta, "cpu")
    t.real_tensor = real = dispatch.ones(2, 3)
    for wrong in (3, FakeTensor(mode, meta, "cpu")):
        with pytest.raises(TypeError, match="real_tensor"):
            t.real_tensor = wrong
    assert t.real_tensor is real
    t.real_tensor = None
    assert t.real_tensor is None


def test_a_fake_tensor_has_the_version_of_what_it_was_made_of(mode, meta):
    t = FakeTensor(mode, meta, "cpu")
    meta.add_(1)
    assert t._version == meta._version == 1


def test_what_a_fake_tensor_is_told_of_its_original(mode, meta):
    keys = dispatch.DispatchKeySet("CPU")
    t = FakeTensor(mode, meta, "cpu", pytype=dict, dispatch_keys=keys)
    assert t.pytype is dict and t.dispatch_keys == keys
    plain = FakeTensor(mode, meta, "cpu")
    assert plain.pytype is None and plain.dispatch_keys is None


def test_constant_must_be_a_real_tensor(mode):
    with mode:
        t = dispatch.ones(())
        for wrong in (3, t):
            with pytest.raises(TypeError):
                t.constant = wrong


def test_versions_are_those_of_the_meta_tensor(mode, meta):
    f = FakeTensor(mode, meta, "cpu")
    f.add_(1)
    assert (f._version, meta._version) == (1, 1)
    meta.add_(1)
    assert f._version == 2


def test_an_address_is_refused_where_nobody_may_ask(mode):
    fake = mode.from_tensor(dispatch.ones(3))
    assert fake.data_ptr() == 0
    mode._allow_unsafe_data_ptr_access = False
    with pytest.raises(RuntimeError, match="no memory"):
        fake.data_ptr()


def test_a_fake_tensor_has_nothing_of_one_that_ended(mode):
    """Their memory comes again, more than is kept at once too."""
    ended = [mode.from_tensor(dispatch.ones(2, 3)) for _ in range(300)]
    for f in ended:
        f.note = ended
        f.requires_grad_()
        f.constant = dispatch.ones(1)
        f.detach().add_(1)
    del f
    ended.clear()
    gc.collect()
    made = [mode.from_tensor(dispatch.empty(4)) for _ in range(400)]
    assert len(set(map(id, made))) == 400 and all(map(gc.is_tracked, made))
    for f in made:
        assert (f._version, f.requires_grad, f.constant, f.shape) == (0, False, None, (4,))
        assert not vars(f) and f._base is None and weakref.ref(f)() is f


def test_a_class_below_has_memory_of_its_own(mode, meta):
    class Below(FakeTensor):
        pass

    for _ in range(3):
        below = [Below(mode, meta, "cpu") for _ in range(5)]
        del below
        assert {type(mode.from_tensor(dispatch.empty(4))) for _ in range(5)} == {FakeTensor}


def original(name):
    complex_ = dispatch.empty(4, dtype=dispatch.complex64, device="meta")
    if name == "inference":
        with dispatch.inference_mode():
            return dispatch.empty(4, device="meta")
    if name == "zero":
        return dispatch._efficientzerotensor((4,), device="meta")
    made = {"plain": lambda: complex_, "conj": complex_.conj, "grad": complex_.requires_grad_,
            "neg": lambda: complex_.conj().imag, "part": lambda: complex_[2::2]}  # fmt: skip
    return made[name]()


@pytest.mark.parametrize("wanted", [None, False, True])
@pytest.mark.parametrize("name", ["plain", "conj", "neg", "zero", "grad", "part", "inference"])
def test_a_fake_tensor_has_what_its_meta_tensor_has(mode, name, wanted):
    meta = original(name)
    if name == "inference" and wanted:
        with pytest.raises(RuntimeError, match="nference"):
            FakeTensor(mode, meta, "cpu", requires_grad=wanted)
        return
    t = FakeTensor(mode, meta, "cpu", requires_grad=wanted)

    def facts(t):
        bits = t.is_conj(), t.is_neg(), dispatch._is_zerotensor(t), t.is_inference()
        return bits, t.dtype, t.layout, t.shape, t.stride(), t.storage_offset()

    assert facts(t) == facts(meta)
    assert t.requires_grad == (meta.requires_grad if wanted is None else wanted)


def test_a_fake_tensor_has_what_its_constructor_was_given(mode, meta):
    real = dispatch.ones(2, 3)
    t = FakeTensor(mode, meta, "cpu", constant=real, real_tensor=real, _is_param=True)
    assert t.constant is real and t.real_tensor is real and t._is_param
    assert not hasattr(FakeTensor(mode, meta, "cpu"), "_is_param")
    for memo in ("nonzero", "item", "unique", "unique_consecutive", "nested_int"):
        for part in ("", "_vc", "_epoch"):
            made = FakeTensor(mode, meta, "cpu", **{f"_{memo}_memo{part}": 3})
            assert getattr(made, f"{memo}_memo") is None
    copied = copy.copy(t)
    assert copied.constant is real and copied.real_tensor is real
    assert t.data.constant is None and t.data.real_tensor is None


@pytest.mark.parametrize("device", ["cpu", "cuda:1", "meta"])
def test_a_fake_tensor_says_what_its_device_is(mode, meta, device):
    t = FakeTensor(mode, meta, device)
    kind = device.partition(":")[0]
    assert (t.is_cpu, t.is_meta) == (kind == "cpu", kind == "meta")
    with in_kernel_invocation_manager(mode):
        assert (t.is_cpu, t.is_meta) == (False, True)
        assert FakeTensor(mode, t, "cuda:2").fake_device == dispatch.device("cuda:2")
    with pytest.raises(AssertionError, match="meta"):
        FakeTensor(mode, t if kind != "meta" else dispatch.ones(1), "cpu")
    for other in ("cuda:2", "cuda:1", "cpu"):
        t.fake_device = other
        assert t.fake_device == t.device == dispatch.device(other)
    assert str(t.untyped_storage().device) == "meta"


def test_a_mode_may_refuse_meta_as_a_device(mode, meta):
    mode.allow_meta = False
    with pytest.raises(AssertionError, match="meta"):
        FakeTensor(mode, meta, "meta")
    assert FakeTensor(mode, meta, "cpu").is_cpu


def test_without_a_mode_that_of_the_arguments_handles_calls(mode, meta):
    class Other(dispatch.Tensor):
        pass

    t = FakeTensor(mode, meta, "cpu")
    add, cat = ops.aten.add.Tensor, ops.aten.cat.default
    handler = FakeTensor.__torch_dispatch__
    for types in ((FakeTensor,), (FakeTensor, dispatch.Tensor)):
        assert handler(add, types, (t, 1)).fake_mode is mode
    assert handler(add, (FakeTensor,), (), {"self": 1, "other": t}).fake_mode is mode
    assert handler(cat, (FakeTensor,), ([t, t],)).shape == (4, 3)
    assert handler(cat, (FakeTensor,), (), {"tensors": [t, t]}).shape == (4, 3)
    assert handler(add, (FakeTensor, Other), (t, t)) is NotImplemented
    with pytest.raises(AssertionError, match="no fake tensor"):
        handler(add, (FakeTensor,), (dispatch.ones(1), [1]))
    with mode:
        assert handler(add, (FakeTensor,), (t, t)) is NotImplemented
