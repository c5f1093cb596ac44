"""FakeTensorConverter: identity, aliases, views, wrappers; the memo keeps nothing alive."""

import gc
import weakref

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, Tensor
from dispatch.fake import (
    DataDependentOutputException,
    FakeTensorConverter,
    MetaConverter,
    UnsupportedFakeTensorException,
    assert_metadata_eq,
)
from dispatch.fake.metadata import assert_eq
from dispatch.symbolic import ConstantSource, ShapeEnv

pytestmark = pytest.mark.usefixtures("same_state_after")


@pytest.fixture
def mode():
    return FakeTensorMode()


class Pair(dispatch.Tensor):
    @staticmethod
    def __new__(cls, a, b):
        return dispatch.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype, device=a.device)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Pair(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def test_fake_dies_while_its_original_lives(mode):
    x = dispatch.ones(2)
    gone = weakref.ref(mode.from_tensor(x))
    assert gone() is None
    assert mode.from_tensor(x).shape == (2,)


def test_fake_outlives_its_original(mode):
    x = dispatch.ones(2)
    f = mode.from_tensor(x)
    memo = mode.fake_tensor_converter.tensor_memo
    del x
    assert list(memo.values()) == [f] or memo.values()
    assert len(memo) == 1
    del f
    assert len(memo) == 0


def test_storage_of_an_alias_is_found_again(mode):
    x = dispatch.ones(2, 2)
    storage = mode.from_tensor(x).untyped_storage()
    assert mode.from_tensor(x[0]).untyped_storage() is storage


def test_views_are_views_of_the_bases_counterpart(mode):
    x = dispatch.ones(4)
    v = mode.from_tensor(x[1:3])
    assert v._is_view() and v._base is mode.from_tensor(x) and v.storage_offset() == 1
    v.add_(1)
    assert v._base._version == v._version


def test_wrappers_are_taken_apart(mode):
    p = Pair(dispatch.ones(2), dispatch.zeros(2))
    f = mode.from_tensor(p)
    assert type(f) is Pair and type(f.a) is type(f.b) is FakeTensor
    assert mode.from_tensor(p.a) is f.a


def test_wrapper_of_itself_is_an_error(mode):
    p = Pair(dispatch.ones(2), dispatch.zeros(2))
    p.a = p
    with pytest.raises(RecursionError):
        mode.from_tensor(p)


def test_other_layouts_are_refused(mode):
    t = dispatch.Tensor._make_wrapper_subclass(Pair, [2], layout=dispatch.sparse_coo)
    with pytest.raises(UnsupportedFakeTensorException):
        mode.from_tensor(t)
    assert not mode.fake_tensor_converter.meta_converter.successful()


def test_conversion_in_a_callback_of_the_memo(mode):
    x = dispatch.ones(2)
    f = mode.from_tensor(x)
    weakref.finalize(x, lambda: mode.from_tensor(dispatch.ones(3)))
    del x
    assert f.shape == (2,)


def test_converter_made_without_init_works(mode):
    c = FakeTensorConverter.__new__(FakeTensorConverter)
    x = dispatch.ones(2)
    assert c.from_real_tensor(mode, x) is not mode.from_tensor(x)
    for wrong in ((None, x), (mode, None)):
        with pytest.raises(TypeError):
            c.from_real_tensor(*wrong)


def test_constants_are_followed_by_storage(mode):
    c, x = mode.fake_tensor_converter, dispatch.ones(())
    f = c.from_real_tensor(mode, x, make_constant=True)
    assert f.constant is x and len(c.constant_storage_mapping) == 1
    c.invalidate_constant_aliases(x.view(1))
    assert f.constant is None and not c.constant_storage_mapping


def test_conversions_leave_nothing(mode, grown_blocks):
    x = dispatch.ones(4)
    v = x[1:]

    def convert():
        return mode.from_tensor(x), mode.from_tensor(v), mode.from_tensor(dispatch.ones(2))

    assert grown_blocks(convert, 500) < 100
    gc.collect()
    assert len(mode.fake_tensor_converter.tensor_memo) == 0


def test_gradients_are_converted_too(mode):
    x = dispatch.ones(2, requires_grad=True)
    x.grad = dispatch.zeros(2)
    fake = mode.from_tensor(x)
    assert type(fake.grad) is FakeTensor and fake.grad is mode.from_tensor(x.grad)
    env = ShapeEnv()
    symbolic = FakeTensorMode(shape_env=env).from_tensor(x, source=ConstantSource("x"))
    assert type(symbolic.grad) is FakeTensor


def test_a_size_that_nobody_knows_is_told(mode):
    """An element of a list of sizes that is a fake tensor without a value: as `int()` of it."""
    with mode:
        x, sizes = dispatch.ones(2), dispatch.empty(2, dtype=dispatch.int64)
        for call in (lambda: x.new_full([1, *sizes], 0.0), lambda: dispatch.zeros((sizes[0], 2))):
            with pytest.raises(DataDependentOutputException):
                call()
        assert x.new_full([1, dispatch.tensor(3)], 0.0).shape == (1, 3)


def test_a_fake_tensor_on_a_device_is_made_of_meta_alone():
    mode = FakeTensorMode()
    with pytest.raises(AssertionError, match="on meta"):
        mode.fake_tensor_converter.from_meta_and_device(mode, dispatch.ones(2), "cuda")


def test_modes_of_one_env_share_its_symbols():
    env = ShapeEnv()
    one, other = FakeTensorMode(shape_env=env), FakeTensorMode(shape_env=env)
    fake = one.from_tensor(dispatch.ones(5, 6), static_shapes=False)
    again = other.from_tensor(fake)
    assert again.fake_mode is other
    assert [a.node.expr for a in again.shape] == [a.node.expr for a in fake.shape]
    assert not env.guards


def test_alone_it_gives_tensors_on_meta_which_share_as_the_originals_do():
    x = dispatch.ones(2, 3, requires_grad=True)
    flat, part, to_meta = x.view(6), x[1:], MetaConverter()
    made, made_part, again = to_meta(flat), to_meta(part), to_meta(x)
    assert type(made) is Tensor and made.device.type == "meta" and to_meta(flat) is made
    assert made._base is made_part._base is again and again.is_leaf and not made.is_leaf
    for original, counterpart in ((flat, made), (part, made_part), (x, again)):
        assert_metadata_eq(assert_eq, original, counterpart)
    assert to_meta(3) == 3 and to_meta.successful() and (to_meta.hit, to_meta.miss) == (3, 0)
    with dispatch.no_grad():
        again.add_(1)
    assert made._version == again._version == 1 and x._version == 0


def test_alone_it_keeps_conjugation_inference_and_parameters():
    to_meta = MetaConverter()
    conj = dispatch.ones(2, dtype=dispatch.complex64).conj()
    with dispatch.inference_mode():
        inferred = dispatch.ones(2)
    assert to_meta(conj).is_conj() and to_meta(inferred).is_inference()
    assert not to_meta(dispatch.ones(2)).is_inference()


def test_alone_it_forgets_what_dies():
    to_meta, x = MetaConverter(), dispatch.ones(2)
    known, y = to_meta.describer, to_meta(x)
    assert not known.lookup_tensor and list(to_meta.describer.lookup_tensor.values()) == [0]
    assert list(to_meta.describer.lookup_storage) == [x.untyped_storage()]
    del x
    assert not to_meta.describer.lookup_tensor and len(to_meta.tensor_memo) == 1
    del y
    assert len(to_meta.tensor_memo) == len(to_meta.storage_memo) == 0
    weak = weakref.ref(to_meta)
    del to_meta
    assert weak() is None


def test_a_counterpart_of_an_inference_tensor_has_no_autograd_key(mode):
    with dispatch.inference_mode():
        inferred = dispatch.ones(2)
    fake = mode.from_tensor(inferred)
    assert fake.is_inference()
    for key in ("AutogradCPU", "ADInplaceOrView"):
        assert not dispatch._C._dispatch_keys(fake).has(key)
        assert dispatch._C._dispatch_keys(mode.from_tensor(dispatch.ones(2))).has(key)


def test_what_is_laid_into_a_storage_counts_that_as_a_write():
    mode, storage = FakeTensorMode(), dispatch.ones(4).untyped_storage()
    first, second = (dispatch.empty(0).set_(storage, 0, (4,), (1,)) for _ in range(2))
    behind = dispatch.empty(0).set_(dispatch.ones(4).untyped_storage(), 2, (2,), (1,))
    fakes = [mode.from_tensor(x) for x in (first, second, behind)]
    assert [f._version for f in fakes] == [0, 1, 1]
