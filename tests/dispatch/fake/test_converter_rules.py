"""FakeTensorConverter, rule by rule: marks, numbers, constants, symbols of parts, real tensors."""

import gc
import weakref

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, Tensor
from dispatch.fake import FakeTensorConverter, MetaConverter, config
from dispatch.symbolic import (
    ConstantSource,
    DimDynamic,
    ShapeEnv,
    StatelessSymbolicContext,
    SubclassSymbolicContext,
)

pytestmark = pytest.mark.usefixtures("same_state_after")

STATIC, DYNAMIC = DimDynamic.STATIC, DimDynamic.DYNAMIC


@pytest.fixture
def mode():
    return FakeTensorMode()


@pytest.fixture
def symbolic():
    return FakeTensorMode(shape_env=ShapeEnv())


class Pair(dispatch.Tensor):
    told: tuple = ()

    @staticmethod
    def __new__(cls, a, b):
        return dispatch.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype, device=a.device)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        made = Pair(inner["a"], inner["b"])
        made.told = (size, stride)
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def has(t, *keys):
    return [dispatch._C._dispatch_keys(t).has(key) for key in keys]


# ---- the memo


def test_numbers_count_conversions(mode):
    held = [mode.from_tensor(dispatch.ones(n)) for n in range(3)]
    memo = mode.fake_tensor_converter.tensor_memo
    assert list(memo.items()) == [(0, held[0]), (1, held[1]), (2, held[2])]
    held[0] = None
    last = mode.from_tensor(dispatch.ones(7))
    assert list(memo) == [1, 2, 3] and memo[3] is last and 0 not in memo


def test_a_counterpart_that_was_replaced_dies_alone(mode):
    x, made = dispatch.ones(2), []
    fake = mode.from_tensor(x)
    dying = weakref.ref(fake, lambda _: made.append(mode.from_tensor(x)))
    del fake
    assert dying() is None and mode.from_tensor(x) is made[0]


def test_the_memo_can_be_told(mode):
    x, other = dispatch.ones(2), FakeTensorMode().from_tensor(dispatch.ones(3))
    mode.fake_tensor_converter.set_tensor_memo(x, other)
    assert mode.from_tensor(x) is other


def test_a_counterpart_outlives_its_original_under_its_number(mode):
    x = dispatch.ones(2)
    held = mode.from_tensor(dispatch.ones(1)), mode.from_tensor(x)
    memo = mode.fake_tensor_converter.tensor_memo
    del x
    assert memo[1] is held[1] and list(memo) == [0, 1]
    assert not mode.fake_tensor_converter.meta_converter.describer.lookup_tensor
    del held
    assert len(memo) == 0 and not memo.pairs()


def test_original_and_counterpart_that_die_in_one_collection_leave_nothing(mode):
    x = dispatch.ones(2)
    x.fake, memo = mode.from_tensor(x), mode.fake_tensor_converter.tensor_memo
    x.itself = x
    assert memo.pairs() == [(x, x.fake)]
    del x
    gc.collect()
    assert len(memo) == 0 and memo.pairs() == []


def test_successful_is_who_converted_some_and_refused_none(mode):
    to_meta = mode.fake_tensor_converter.meta_converter
    assert not to_meta.successful() and (to_meta.hit, to_meta.miss) == (0, 0)
    x = dispatch.ones(2)
    for _ in range(2):
        mode.from_tensor(x)
    assert to_meta.successful() and to_meta.hit == 2
    refused = dispatch.Tensor._make_wrapper_subclass(Pair, [2], layout=dispatch.sparse_coo)
    assert to_meta(refused) is NotImplemented
    assert not to_meta.successful() and (to_meta.hit, to_meta.miss) == (2, 1)


# ---- what the counterpart keeps


def test_a_fake_tensor_over_meta_shares_version_and_marks(mode):
    converter, original = mode.fake_tensor_converter, dispatch.ones(2, device="meta")
    fake = converter.from_meta_and_device(mode, original, "cuda")
    assert str(fake.device) == "cuda:0" and not fake.requires_grad
    assert converter.from_meta_and_device(mode, original, "cpu") is fake
    original.add_(1)
    assert fake._version == original._version == 1
    learnt = dispatch.ones(2, device="meta", requires_grad=True)
    assert converter.from_meta_and_device(mode, learnt, "cpu").requires_grad


@pytest.mark.parametrize(
    "convert", [lambda m, x: m.from_tensor(x), lambda m, x: MetaConverter()(x)]
)
def test_the_original_says_what_autograd_does_not_the_thread(mode, convert):
    x = dispatch.ones(2)
    with dispatch.inference_mode():
        fake, inferred = convert(mode, x), convert(mode, dispatch.ones(2))
    keys = ("ADInplaceOrView", "AutogradCPU" if type(fake) is FakeTensor else "AutogradMeta")
    assert not fake.is_inference() and has(fake, *keys) == [True, True]
    assert inferred.is_inference() and has(inferred, *keys) == [False, False]


def test_views_that_may_not_be_written_stay_so(mode):
    split = mode.from_tensor(dispatch.ones(4, requires_grad=True).split(2)[0])
    with pytest.raises(RuntimeError, match="returns several views"):
        split.add_(1)
    y = dispatch.ones(3)
    with dispatch.no_grad():
        unnoticed = y[1:]
    y.requires_grad_()
    with pytest.raises(RuntimeError, match="no_grad"):
        mode.from_tensor(unnoticed).add_(1)


def test_parameters_stay_parameters(mode):
    x, wrapper = dispatch.ones(2), Pair(dispatch.ones(2), dispatch.ones(2))
    x._is_param = wrapper._is_param = True
    assert mode.from_tensor(x)._is_param and MetaConverter()(x)._is_param
    assert repr(mode.from_tensor(x)).startswith("Parameter(FakeTensor(..., size=")
    assert type(mode.from_tensor(wrapper)) is Pair and mode.from_tensor(wrapper)._is_param
    assert not hasattr(mode.from_tensor(wrapper.a), "_is_param")


def test_alone_it_keeps_negation(mode):
    negated = dispatch.ops.aten._neg_view(dispatch.ones(2))
    assert mode.from_tensor(negated).is_neg() and MetaConverter()(negated).is_neg()


def test_storages_have_the_bytes_that_the_sizes_need(mode):
    def laid(offset, sizes, storage=None):
        storage = dispatch.ones(10).untyped_storage() if storage is None else storage
        return dispatch.empty(0).set_(storage, offset, sizes, (1,))

    emptied = dispatch.ones(2)
    emptied.untyped_storage().resize_(0)
    for t, nbytes in ((laid(0, (2,)), 8), (laid(4, (2,)), 40), (laid(0, (0,)), 0), (emptied, 0)):
        assert mode.from_tensor(t).untyped_storage().nbytes() == nbytes


def test_a_mode_that_does_not_allow_meta_converts_none():
    with config.patch(fake_tensor_allow_meta=False):
        mode = FakeTensorMode()
    x = dispatch.ones(2, device="meta")
    with pytest.raises(AssertionError, match="meta"):
        mode.from_tensor(x)
    with pytest.raises(AssertionError, match="meta"):
        mode.fake_tensor_converter.from_meta_and_device(mode, x, "meta")
    assert mode.from_tensor(dispatch.ones(2)).device.type == "cpu"


def test_real_tensors_are_copies_of_the_originals():
    with config.patch(fake_tensor_propagate_real_tensors=True):
        mode, other = FakeTensorMode(), FakeTensorMode()
    x = dispatch.ones(2)
    fake = mode.from_tensor(x)
    x.add_(1)
    assert type(fake.real_tensor) is Tensor and fake.real_tensor.tolist() == [1.0, 1.0]
    assert other.from_tensor(FakeTensorMode().from_tensor(x)).real_tensor is None
    assert FakeTensorMode().from_tensor(x).real_tensor is None


# ---- constants


def test_constants_that_died_are_not_kept(mode):
    converter, x = mode.fake_tensor_converter, dispatch.ones(())
    for _ in range(5):
        fake = FakeTensorConverter().from_real_tensor(mode, x, make_constant=True)
        converter.add_constant_storage_mapping(fake)
    (known,) = converter.constant_storage_mapping.values()
    assert [r() for r in known if r() is not None] == [fake] and len(known) <= 2


def test_only_constants_elsewhere_are_forgotten(mode):
    converter, x, y = (
        mode.fake_tensor_converter,
        dispatch.ones(()),
        dispatch.ones((), device="meta"),
    )
    here, there = (converter.from_real_tensor(mode, t, make_constant=True) for t in (x, y))
    converter.clear_non_cpu_constants()
    assert here.constant is x and there.constant is None


# ---- symbols


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_the_number_in_an_original_is_a_symbol_that_has_it(symbolic, dtype):
    x = dispatch.tensor(3).to(getattr(dispatch, dtype))
    number = symbolic.from_tensor(x, source=ConstantSource("n")).item()
    assert number.node.hint == 3 and len(symbolic.shape_env.var_to_val) == 1


@pytest.mark.parametrize(
    "dtype, symbols",
    [("int32", 1), ("int16", 1), ("int8", 1), ("uint8", 0), ("bool", 0), ("float32", 0)],
)
def test_other_numbers_have_no_value(symbolic, dtype, symbols):
    x = dispatch.tensor(3).to(getattr(dispatch, dtype))
    assert symbolic.from_tensor(x, source=ConstantSource("n")).item_memo is None
    assert len(symbolic.shape_env.var_to_val) == symbols


@pytest.mark.parametrize(
    "original",
    [
        lambda: dispatch.tensor([3]),
        lambda: dispatch.tensor(3, device="meta"),
        lambda: dispatch.tensor(float("inf"), dtype=dispatch.float64),
        lambda: dispatch.tensor(float("nan"), dtype=dispatch.float64),
    ],
)
def test_what_is_no_finite_number_on_the_cpu_is_not_read(symbolic, original):
    assert symbolic.from_tensor(original(), source=ConstantSource("n")).item_memo is None


def test_numbers_are_not_read_without_a_name_or_for_an_export(symbolic):
    assert symbolic.from_tensor(dispatch.tensor(3)).item_memo is None
    export = FakeTensorMode(shape_env=ShapeEnv(), export=True)
    assert export.from_tensor(dispatch.tensor(3), source=ConstantSource("n")).item_memo is None
    assert MetaConverter()(dispatch.tensor(3), ShapeEnv(), source=ConstantSource("n")).dim() == 0


def names(mode):
    sources = mode.shape_env.var_to_sources.values()
    return [[source.name for source in found] for found in sources]


def test_a_view_and_its_base_have_contexts_and_names_of_their_own(symbolic):
    context = StatelessSymbolicContext(
        [DYNAMIC, STATIC], view_base_context=StatelessSymbolicContext([STATIC, DYNAMIC])
    )
    view = dispatch.ones(6, 4)[:3]
    fake = symbolic.from_tensor(view, source=ConstantSource("v"), symbolic_context=context)
    assert [type(n) is int for n in (*fake.shape, *fake._base.shape)] == [False, True, True, False]
    assert names(symbolic) == [["v._base.size()[1]"], ["v.size()[0]"]]
    assert fake._version == fake._base._version and fake._base.add_(1)._version == fake._version


def test_parts_of_wrappers_have_contexts_and_names_of_their_own(symbolic):
    inner = {"b": StatelessSymbolicContext([STATIC, DYNAMIC])}
    context = SubclassSymbolicContext(
        dynamic_sizes=[STATIC, STATIC],
        constraint_sizes=[None, None],
        inner_contexts=inner | {"a": StatelessSymbolicContext([STATIC, STATIC])},
        tensor_source=ConstantSource("w"),
    )
    wrapper = Pair(dispatch.ones(5, 3), dispatch.ones(5, 3))
    fake = symbolic.from_tensor(wrapper, source=ConstantSource("w"), symbolic_context=context)
    assert fake.a.shape == (5, 3) and type(fake.b.shape[1]) is not int
    assert names(symbolic) == [["w.b.size()[1]"]]
    assert fake.told == ((5, 3), (3, 1)) and type(fake.told[0]) is tuple


def test_a_wrapper_hears_its_own_sizes(mode):
    fake = mode.from_tensor(Pair(dispatch.ones(2, 3), dispatch.ones(2, 3)))
    assert fake.told == ((2, 3), (3, 1)) and type(fake.told[0]) is dispatch.Size


def test_a_gradient_has_the_symbols_of_its_tensor_under_its_own_name(symbolic):
    x = dispatch.ones(7, requires_grad=True)
    x.grad = dispatch.ones(7)
    fake = symbolic.from_tensor(x, source=ConstantSource("x"), static_shapes=False)
    assert fake.grad.shape == fake.shape
    assert names(symbolic) == [["x.size()[0]", "x.grad.size()[0]"]]


def test_sizes_of_fake_tensors_stay_what_they_are_unless_a_context_says_so(symbolic):
    first, second = (FakeTensorMode().from_tensor(dispatch.ones(5, 7)) for _ in range(2))
    assert symbolic.from_tensor(first).shape == (5, 7) and not names(symbolic)
    context = StatelessSymbolicContext([DYNAMIC, STATIC])
    made = symbolic.from_tensor(second, source=ConstantSource("x"), symbolic_context=context)
    assert type(made.shape[0]) is not int and names(symbolic) == [["x.size()[0]"]]
    twin = FakeTensorMode(shape_env=symbolic.shape_env).from_tensor(
        made, source=ConstantSource("y"), symbolic_context=context
    )
    assert twin.shape == made.shape and names(symbolic) == [["x.size()[0]"]]


def test_symbols_of_another_env_are_brought_over(symbolic):
    foreign = FakeTensorMode(shape_env=ShapeEnv()).from_tensor(dispatch.ones(5, 7))
    made = symbolic.from_tensor(foreign, source=ConstantSource("x"))
    assert all(n.node.shape_env is symbolic.shape_env for n in made.shape)


def test_an_env_must_give_as_many_sizes_as_there_are():
    class Wrong(ShapeEnv):
        def create_symbolic_sizes_strides_storage_offset(self, *args, **kwargs):
            return (2,), (1,), 0

    with pytest.raises(RuntimeError, match="ShapeEnv gave"):
        FakeTensorMode(shape_env=Wrong()).from_tensor(dispatch.ones(2, 3))


def test_a_counterpart_says_that_nothing_goes_backward_through_an_example(mode):
    x = dispatch.ones(2, requires_grad=True) * 2
    fake, view = mode.from_tensor(x), mode.from_tensor(x.view(1, 2))
    assert repr(fake) == "FakeTensor(..., size=(2,), grad_fn=<Error>)"
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert view._base.grad_fn.name() == fake.grad_fn.name()
    assert mode.from_tensor(dispatch.ones(2, requires_grad=True)).is_leaf
