"""Fake tensors whose sizes are expressions of a ShapeEnv."""

import gc

import numpy as np
import pytest

import dispatch
from dispatch import ops, symbolic
from dispatch.fake import DynamicOutputShapeException, FakeTensorMode
from dispatch.symbolic import DimDynamic, ShapeEnv, StatelessSymbolicContext, SymInt


def context(*dims):
    return StatelessSymbolicContext(dynamic_sizes=[getattr(DimDynamic, d) for d in dims])


@pytest.fixture
def mode():
    return FakeTensorMode(shape_env=ShapeEnv())


def dynamic(mode, *sizes, **options):
    t = dispatch.empty(*sizes, **options)
    return mode.from_tensor(t, symbolic_context=context(*["DYNAMIC"] * len(sizes)))


def exprs(values):
    return [str(v) for v in values]


def guards(mode):
    return [str(g.expr) for g in mode.shape_env.guards]


def test_sizes_of_a_converted_tensor_are_symbols(mode):
    x = dynamic(mode, 3, 4)
    assert exprs(x.shape) == ["s0", "s1"] or all(isinstance(s, SymInt) for s in x.shape)
    assert str(x.stride(0)) == str(x.size(1))
    assert str(x.numel()) == str(x.shape[0] * x.shape[1])
    assert x.stride(1) == 1
    assert x.storage_offset() == 0
    assert guards(mode) == []


def test_metadata_give_symbols_without_a_guard(mode):
    x = dynamic(mode, 3, 4)
    assert x.is_contiguous()
    assert str(x.nbytes) == str(x.numel() * 4)
    assert str(x.untyped_storage().nbytes()) == str(x.numel() * 4)
    assert [type(s) for s in ops.aten.sym_size.default(x)] == [SymInt, SymInt]
    assert str(ops.aten.sym_stride.int(x, 0)) == str(x.shape[1])
    assert str(ops.aten.sym_numel.default(x)) == str(x.numel())
    assert guards(mode) == []


def test_len_of_a_symbolic_tensor_is_guarded(mode):
    x = dynamic(mode, 3, 4)
    assert len(x) == 3
    assert len(guards(mode)) == 1


def test_static_dimensions_stay_numbers(mode):
    t = mode.from_tensor(dispatch.empty(3, 4), symbolic_context=context("STATIC", "DYNAMIC"))
    assert t.shape[0] == 3
    assert type(t.shape[0]) is int
    assert isinstance(t.shape[1], SymInt)


def test_static_shapes_leave_numbers(mode):
    t = mode.from_tensor(dispatch.empty(3, 4), static_shapes=True)
    assert t.shape == (3, 4)


def test_elementwise_results_have_the_symbols(mode):
    x = dynamic(mode, 3, 4)
    with mode:
        y = x + x
    assert exprs(y.shape) == exprs(x.shape)
    assert exprs(y.stride()) == exprs(x.stride())


def test_a_view_shares_the_storage_of_its_base(mode):
    base = dispatch.empty(6, 4)
    view = base[2:5]
    f = mode.from_tensor(view, symbolic_context=context("DYNAMIC", "DYNAMIC"))
    assert f.untyped_storage()._cdata == mode.from_tensor(base).untyped_storage()._cdata
    assert isinstance(f.shape[0], SymInt)
    assert f._is_view()


def test_equal_layers_hit_the_cache(mode):
    x = dynamic(mode, 3, 4)
    with mode:
        for _ in range(5):
            x = x + x
    assert mode.cache_info().hits == 4
    assert isinstance(x.shape[0], SymInt)


def test_different_symbols_are_different_calls(mode):
    x, y = dynamic(mode, 3, 4), dynamic(mode, 5, 6)
    with mode:
        a, b = x + x, y + y
    assert mode.cache_info().hits == 0
    assert exprs(a.shape) != exprs(b.shape)


def test_symbolic_arguments_are_part_of_the_key(mode):
    x, y = dynamic(mode, 3, 4), dynamic(mode, 5, 6)
    with mode:
        a = ops.aten.expand.default(x, [x.shape[0], x.shape[0], x.shape[1]])
        b = ops.aten.expand.default(x, [y.shape[0], x.shape[0], x.shape[1]])
        c = ops.aten.expand.default(x, [x.shape[0], x.shape[0], x.shape[1]])
    assert str(b.shape[0]) == str(y.shape[0])
    assert str(a.shape[0]) == str(c.shape[0]) == str(x.shape[0])
    assert mode.cache_info().hits == 1


def test_symbolic_floats_and_conditions_are_part_of_the_key(mode):
    x = dynamic(mode, 3, 4)
    a, b = x.shape
    scale = symbolic.sym_float(a) * 1.5
    with mode:
        for other in (scale, scale, scale + 1, a > 2, a > 2, b > 2):
            assert exprs((x * other).shape) == exprs(x.shape)
    assert mode.cache_info().hits == 2
    assert not mode.cache_info().bypasses


def test_a_plain_tensor_behind_a_symbolic_one_leaves_its_symbols(mode):
    x = dynamic(mode, 3, 4)
    with mode:
        one = dispatch.ones(1)
        for hits in (0, 1):
            assert exprs((x + one).shape) == exprs(x.shape)
            assert mode.cache_info().hits == hits


def test_a_call_that_is_given_symbols_and_no_tensor_is_cached(mode):
    a, b = dynamic(mode, 3, 4).shape
    with mode:
        for hits in (0, 1):
            assert exprs(ops.aten.full.default([a, b], 0).shape) == exprs((a, b))
            assert mode.cache_info().hits == hits


def test_a_symbol_of_one_is_broadcast():
    mode = FakeTensorMode(shape_env=ShapeEnv(specialize_zero_one=False))
    one = mode.from_tensor(dispatch.ones(1), static_shapes=False)
    assert isinstance(one.shape[0], SymInt)
    with mode:
        many = dispatch.ones(5)
        assert (many + one).shape == (one + many).shape == (5,)


def test_cross_check_of_symbolic_hits_agrees(mode):
    x = dynamic(mode, 3, 4)
    mode.cache_crosscheck_enabled = True
    with mode:
        x + x
        y = x + x
    assert mode.cache_info().hits == 1
    assert exprs(y.shape) == exprs(x.shape)


def test_calls_on_what_a_symbolic_hit_gave_are_cached(mode):
    x = dynamic(mode, 3, 4)
    with mode:
        x + x
        y = x + x
        for op in (ops.aten.neg.default, ops.aten.t.default, ops.aten.detach.default):
            before = mode.cache_info().hits
            first, second = op(y), op(y)
            assert mode.cache_info().hits == before + 1
            assert exprs(first.shape) == exprs(second.shape)
    assert not mode.cache_info().bypasses


def test_one_cache_serves_two_envs_apart():
    cache = dispatch.fake.DispatchCache()
    shapes = []
    for _ in range(2):
        mode = FakeTensorMode(shape_env=ShapeEnv(), cache=cache)
        x = dynamic(mode, 3, 4)
        with mode:
            y = x + x
        shapes.append(y.shape[0].node.shape_env is mode.shape_env)
        del mode, x, y
    assert shapes == [True, True]


def test_handles_of_an_env_that_is_gone_mean_something_else_in_the_next():
    """Expressions of one env after the other have the same handles."""
    cache = dispatch.fake.DispatchCache()
    for before in range(6):
        mode = FakeTensorMode(shape_env=ShapeEnv(), cache=cache)
        x = dynamic(mode, 5)
        n = x.shape[0]
        others = [n * factor for factor in range(3, 3 + before)]
        with mode:
            doubled = ops.aten.cat.default([x, x])
        assert doubled.shape[0] == 2 * n
        assert doubled.shape[0].node.hint == 10
        del mode, x, n, others, doubled
        gc.collect()


def test_sizes_that_data_decide_are_new_with_each_call(library):
    lib = library("fake_symbolic")
    lib.define("f(Tensor x) -> Tensor")

    def kept(x):
        return x.new_empty(dispatch.library.get_ctx().new_dynamic_size())

    dispatch.library.register_fake("fake_symbolic::f", kept, lib=lib)
    mode = FakeTensorMode(shape_env=ShapeEnv(), cache_policy=lambda op: True)
    x = dynamic(mode, 3)
    with mode:
        sizes = [str(ops.fake_symbolic.f(x).shape[0]) for _ in range(3)]
    assert len(set(sizes)) == 3


def test_guards_that_were_suppressed_are_recorded_later(mode):
    x, y = dynamic(mode, 3), dynamic(mode, 5)
    with mode:
        with mode.shape_env.suppress_guards():
            ops.aten.slice.Tensor(x, 0, 0, y.shape[0])
            assert guards(mode) == []
        ops.aten.slice.Tensor(x, 0, 0, y.shape[0])
    assert guards(mode) != []


def test_calls_without_symbols_are_kept_while_guards_are_suppressed(mode):
    with mode, mode.shape_env.suppress_guards():
        x = dispatch.ones(3)
        ops.aten.neg.default(x)
        before = mode.cache_info().hits
        ops.aten.neg.default(x)
    assert mode.cache_info().hits == before + 1


# ---- no bytes ------------------------------------------------------------------------------------


def test_factories_take_symbolic_sizes(mode):
    s = dynamic(mode, 3).shape[0]
    t = dispatch.empty((s, 2), device="meta")
    assert exprs(t.shape) == [str(s), "2"]
    assert exprs(t.stride()) == ["2", "1"]
    assert guards(mode) == []


def test_a_cpu_tensor_pins_symbols(mode):
    s = dynamic(mode, 3).shape[0]
    t = dispatch.empty((s, 2))
    assert t.shape == (3, 2)
    assert type(t.shape[0]) is int
    assert len(guards(mode)) == 1


def test_a_view_of_bytes_pins_symbols(mode):
    s = dynamic(mode, 3).shape[0]
    t = dispatch.arange(12).narrow(0, s, s)
    assert t.tolist() == [3, 4, 5]
    assert type(t.shape[0]) is int


def test_kernels_with_bytes_refuse_symbolic_tensors(mode):
    s = dynamic(mode, 3).shape[0]
    t = dispatch.empty((s,), device="meta")
    with pytest.raises(RuntimeError, match="symbolic"):
        ops.aten.add.Tensor.redispatch(
            dispatch.DispatchKeySet(dispatch.DispatchKey.CPU), t, dispatch.zeros(3)
        )


def test_memory_of_symbolic_tensors_is_refused(mode):
    x = dynamic(mode, 3, 4)
    with pytest.raises(RuntimeError):
        x.numpy()
    with pytest.raises((BufferError, RuntimeError)):
        x.__dlpack__()
    with pytest.raises((BufferError, RuntimeError)):
        memoryview(x)


@pytest.mark.parametrize("forged", [-(2**63) + 1, -(2**63) + 2, -(2**62) - 1])
def test_no_int_becomes_an_expression(mode, forged):
    dynamic(mode, 3, 4)
    for call in (
        lambda: dispatch.empty((forged,), device="meta"),
        lambda: ops.aten.empty.memory_format([forged, 2], device="meta"),
        lambda: dispatch.empty(4, device="meta").as_strided([2], [1], forged),
        lambda: dispatch.empty(4, device="meta").as_strided([2], [forged], 0),
        lambda: dispatch.empty(4).expand(forged, 4),
        lambda: dispatch.empty(4).unfold(0, forged, 1),
    ):
        with pytest.raises(RuntimeError, match=r"out of range|must be >= 0"):
            call()


def test_an_int_argument_guards_a_symint(mode):
    x = dynamic(mode, 3, 4)
    with mode:
        y = x.unsqueeze(x.shape[0] - 3)
    assert len(y.shape) == 3
    assert len(guards(mode)) == 1


# ---- results that depend on values ---------------------------------------------------------------


def test_item_is_an_unbacked_symbol_and_remembered(mode):
    x = mode.from_tensor(dispatch.empty((), dtype=dispatch.int64))
    with mode:
        a, b = x.item(), x.item()
    assert isinstance(a, SymInt)
    assert str(a) == str(b)
    assert not a.node.has_hint()


def test_a_number_in_a_named_tensor_is_a_symbol_with_its_value(mode):
    named = symbolic.ConstantSource
    assert bool(mode.from_tensor(dispatch.tensor(5), source=named("n")).item() == 5)
    assert bool(mode.from_tensor(dispatch.tensor(0.5).double(), source=named("x")).item() == 0.5)
    assert [str(guard.expr)[:3] for guard in mode.shape_env.guards] == ["Eq(", "Eq("]
    written = mode.from_tensor(dispatch.tensor(5), source=named("w"))
    written.add_(1)
    others = [
        written,
        mode.from_tensor(dispatch.tensor(5)),
        mode.from_tensor(dispatch.tensor(5, dtype=dispatch.uint8), source=named("u")),
        mode.from_tensor(dispatch.tensor(5.0), source=named("f")),
        mode.from_tensor(dispatch.tensor(float("inf")).double(), source=named("i")),
        mode.from_tensor(dispatch.tensor([5]), source=named("v")),
    ]
    assert [str(t.item()) for t in others] == ["u0", "u1", "u2", "zuf0", "zuf1", "u3"]


def test_fake_tensors_stand_for_sizes(mode):
    rows, count = mode.from_tensor(dispatch.tensor([3, 4])).unbind(0)
    x = dynamic(mode, 12, 5)
    assert exprs(x.new_zeros([rows, count, 2]).shape) == ["u0", "u1", "2"]
    assert exprs(x.expand(rows, 12, 5).shape)[0] == "u0"
    assert len(exprs(x.narrow(0, rows, count).shape)) == 2


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [(dispatch.int32, "SymInt"), (dispatch.float64, "SymFloat"), (dispatch.bool, "SymBool")],
)
def test_item_has_the_kind_of_its_dtype(mode, dtype, kind):
    x = mode.from_tensor(dispatch.empty((), dtype=dtype))
    with mode:
        assert isinstance(x.item(), getattr(symbolic, kind))


def test_nonzero_is_remembered_until_the_tensor_changes(mode):
    x = mode.from_tensor(dispatch.empty(5), symbolic_context=context("STATIC"))
    with mode:
        a, b = x.nonzero(), x.nonzero()
        x.add_(1)
        c = x.nonzero()
    assert str(a.shape[0]) == str(b.shape[0]) != str(c.shape[0])
    assert a.shape[1] == 1
    symbol = a.shape[0].node.expr
    bounds = mode.shape_env.bound_sympy(symbol)
    assert (int(bounds.lower), int(bounds.upper)) == (0, 5)


def test_masks_give_unbacked_sizes(mode):
    x = dynamic(mode, 3, 4)
    mask = mode.from_tensor(
        dispatch.empty(3, 4, dtype=dispatch.bool), symbolic_context=context("DUCK", "DUCK")
    )
    with mode:
        a = x[mask]
        b = x.masked_select(mask)
    assert len(a.shape) == len(b.shape) == 1
    assert not a.shape[0].node.has_hint()


def test_unbacked_results_are_not_cached(mode):
    x = dynamic(mode, 3)
    with mode:
        a = dispatch.masked_select(x, x > 0)
        b = dispatch.masked_select(x, x > 0)
    assert str(a.shape[0]) != str(b.shape[0])


def test_a_packed_sequence_has_an_unbacked_number_of_steps(mode):
    x, lengths = dynamic(mode, 6, 2, 4), mode.from_tensor(dispatch.tensor([6, 5]))
    with mode:
        data, steps = ops.aten._pack_padded_sequence(x, lengths, False)
        swapped, _ = ops.aten._pack_padded_sequence(x, lengths, True)
    assert list(data.shape) == [x.shape[0], x.shape[2]]
    assert list(swapped.shape) == [x.shape[1], x.shape[2]]
    assert not steps.shape[0].node.has_hint()


def test_dynamic_output_shapes_may_be_forbidden():
    mode = FakeTensorMode(shape_env=ShapeEnv(allow_dynamic_output_shape_ops=False))
    x = dynamic(mode, 3)
    with mode, pytest.raises(DynamicOutputShapeException):
        x.nonzero()


def test_fake_kernels_may_make_dynamic_sizes(mode):
    with dispatch.library._scoped_library("symt", "FRAGMENT") as lib:
        lib.define("found(Tensor x) -> Tensor")

        @dispatch.library.register_fake("symt::found", lib=lib)
        def _(x):
            n = dispatch.library.get_ctx().new_dynamic_size(min=1, max=7)
            return x.new_empty((n, x.shape[0]))

        x = dynamic(mode, 3)
        with mode:
            y = ops.symt.found(x)
    bounds = mode.shape_env.bound_sympy(y.shape[0].node.expr)
    assert (int(bounds.lower), int(bounds.upper)) == (1, 7)
    assert str(y.shape[1]) == str(x.shape[0])


# ---- wrappers ------------------------------------------------------------------------------------


class Wrapper(dispatch.Tensor):
    @staticmethod
    def __new__(cls, sizes, strides=None, **options):
        return dispatch.Tensor._make_wrapper_subclass(cls, sizes, strides, **options)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def test_wrappers_take_symbolic_sizes(mode):
    s = dynamic(mode, 3).shape[0]
    w = Wrapper((s, 2))
    assert exprs(w.shape) == [str(s), "2"]
    assert exprs(w.stride()) == ["2", "1"]
    assert str(w.numel()) == str(s * 2)
    assert str(w.untyped_storage().nbytes()) == str(s * 8)


def test_wrappers_may_answer_with_symbols(mode):
    s = dynamic(mode, 3).shape[0]

    class Answers(Wrapper):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            if func is ops.aten.sym_size.default:
                return (s, 5)
            if func is ops.aten.dim.default:
                return 2
            return NotImplemented

    w = Answers((3, 5), dispatch_sizes_strides_policy="sizes")
    assert exprs(w.shape) == [str(s), "5"]


def test_numbers_of_real_tensors_are_guarded(mode):
    s = dynamic(mode, 3).shape[0]
    got = dispatch.arange(6).roll(s, 0)
    assert np.array_equal(got.numpy(), np.roll(np.arange(6), 3))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.aten.nonzero(x),
        lambda x: ops.aten._pack_padded_sequence(x, x[0].long(), False),
        lambda x: ops.aten.masked_select(x, x > 0),
        lambda x: ops.aten._unique2(x),
        lambda x: ops.aten.unique_dim(x, 0),
        lambda x: ops.aten.unique_consecutive(x),
        lambda x: ops.aten.repeat_interleave.Tensor(x[0].long()),
        lambda x: ops.aten.bincount(x[0].long()),
        lambda x: ops.aten.index.Tensor(x, [x > 0]),
    ],
)
def test_each_operator_whose_sizes_data_decide_may_be_forbidden(call):
    mode = FakeTensorMode(shape_env=ShapeEnv(allow_dynamic_output_shape_ops=False))
    x = dynamic(mode, 3, 2)
    with mode, pytest.raises(DynamicOutputShapeException):
        call(x)
