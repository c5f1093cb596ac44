"""The dispatch cache: what is hit, what is not shared, what is never cached, when entries go."""

import resource
import subprocess
import sys

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, ops
from dispatch.fake import (
    DataDependentOutputException,
    DispatchCache,
    DynamicOutputShapeException,
)
from dispatch.library import _scoped_library
from dispatch.symbolic import ShapeEnv

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


@pytest.fixture
def mode():
    with FakeTensorMode() as mode:
        yield mode


def counted(mode, call):
    """(hits, misses) that a call adds."""
    before = mode.cache_info()
    call()
    after = mode.cache_info()
    return after.hits - before.hits, after.misses - before.misses


def empty(*sizes, **kwargs):
    return dispatch.empty(sizes, **kwargs)


def test_second_call_is_a_hit_with_a_new_output(mode):
    x = empty(2, 3)
    first = A.add.Tensor(x, 1)
    results = []
    assert counted(mode, lambda: results.append(A.add.Tensor(x, 1))) == (1, 0)
    assert results[0] is not first and type(results[0]) is FakeTensor
    assert results[0].untyped_storage() is not first.untyped_storage()
    assert (results[0].shape, results[0].stride(), results[0].dtype) == (
        (2, 3),
        (3, 1),
        dispatch.float32,
    )


DIFFERENT = {
    "int, float": (lambda x: A.add.Tensor(x, 1), lambda x: A.add.Tensor(x, 1.0)),
    "int, bool": (lambda x: A.add.Tensor(x, 1), lambda x: A.add.Tensor(x, True)),
    "0.0, -0.0": (lambda x: A.add.Tensor(x, 0.0), lambda x: A.add.Tensor(x, -0.0)),
    "complex": (lambda x: A.add.Tensor(x, 1.0), lambda x: A.add.Tensor(x, 1 + 0j)),
    "alpha": (lambda x: A.add.Tensor(x, 1), lambda x: A.add.Tensor(x, 1, alpha=1.0)),
    "dtype": (lambda x: A.sum.default(x), lambda x: A.sum.default(x, dtype=dispatch.float64)),
    "overload": (lambda x: A.add.Tensor(x, 1), lambda x: A.sub.Tensor(x, 1)),
    "order": (lambda x: A.permute.default(x, [0, 1]), lambda x: A.permute.default(x, [1, 0])),
    "none": (lambda x: A.sum.dim_IntList(x, None), lambda x: A.sum.dim_IntList(x, [])),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_calls_that_differ_share_no_entry(mode, what):
    """What arguments the key is made of is in test_cache_key."""
    first, second = DIFFERENT[what]
    x = empty(2, 3)
    assert counted(mode, lambda: first(x)) == (0, 1)
    assert counted(mode, lambda: second(x)) == (0, 1)
    assert counted(mode, lambda: (first(x), second(x))) == (2, 0)


def test_hits_know_which_arguments_are_one(mode):
    a, b, c = empty(2), empty(2), empty(2)
    for _ in range(2):
        assert A.add.out(a, b, out=a) is a
        assert A.add.out(a, b, out=c) is c
        assert A.add.out(a, b, out=b) is b


def test_hits_know_which_argument_a_view_is_of(mode):
    v = [A.view.default(x, [4]) for x in (empty(2, 2), empty(2, 2))]
    x = empty(2, 2)
    w = A.view.default(x, [4])
    assert w.untyped_storage() is x.untyped_storage() is not v[0].untyped_storage()
    assert w._base is x
    parts = [A.split.Tensor(x, 1) for _ in range(2)][1]
    assert [p.untyped_storage() is x.untyped_storage() for p in parts] == [True, True]


def test_in_place_hits_bump_versions(mode):
    x = empty(2)
    A.add_.Tensor(x, 1)
    assert counted(mode, lambda: A.add_.Tensor(x, 1)) == (1, 0)
    assert x._version == 2


@pytest.mark.parametrize(
    "op, args",
    [
        ("t_", ()),
        ("transpose_", (0, 1)),
        ("squeeze_", ()),
        ("unsqueeze_", (1,)),
        ("as_strided_", ([2, 2], [1, 1], 1)),
    ],
)
def test_in_place_views_are_cached(mode, op, args):
    op = getattr(A, op).default
    fresh = op(empty(2, 3), *args)
    x = empty(2, 3)
    alias, storage = A.view.default(x, [6]), x.untyped_storage()
    assert counted(mode, lambda: op(x, *args)) == (1, 0)
    assert (x.shape, x.stride(), x.storage_offset()) == (
        fresh.shape,
        fresh.stride(),
        fresh.storage_offset(),
    )
    assert x.untyped_storage() is storage and alias.shape == (6,)
    assert x._version == 1


def test_operators_that_change_a_storage_are_not_cached(mode):
    for _ in range(3):
        y = empty(2)
        A.resize_.default(y, [5])
        assert y.shape == (5,)
    assert mode.cache_info().bypasses["inplace view"] == 3
    for _ in range(3):
        out = empty(0)
        A.add.out(empty(2), 1, out=out)
        assert out.shape == (2,)
    assert mode.cache_info().bypasses["metadata mutation"] == 3
    for _ in range(3):
        out = empty(3, 3)  # of as many dimensions before and after, contiguous and full
        with pytest.warns(UserWarning, match="resized"):
            A.add.out(empty(2, 5), 1, out=out)
        assert out.shape == (2, 5)
    assert mode.cache_info().bypasses["metadata mutation"] == 6


def test_constants_are_bypassed(mode):
    for _ in range(2):
        A.mul.Tensor(empty(2), dispatch.tensor(2.0))
    assert mode.cache_info().bypasses == {"constant attribute": 2, "non-fake tensor": 2}


def test_bypassed_calls_have_an_entry_that_says_why(library, mode):
    lib = library("cache_why")
    lib.define("same(Tensor x) -> Tensor")
    lib.impl("same", lambda x: x.clone(), "Meta")
    x = empty(2)
    size = mode.cache_info().size
    for _ in range(3):
        ops.cache_why.same(x)
    info = mode.cache_info()
    assert info.bypasses == {"non-builtin": 3}
    assert info.size == size + 1


def test_index_by_numbers_is_cached_and_by_masks_is_not(mode):
    x, at = empty(4), empty(2, dtype=dispatch.int64)
    A.index.Tensor(x, [at])
    assert counted(mode, lambda: A.index.Tensor(x, [at])) == (1, 0)
    with pytest.raises(RuntimeError):
        A.index.Tensor(x, [empty(4, dtype=dispatch.bool)])


def test_definitions_of_others_leave_entries_of_the_schemas_alone():
    # in a process where nobody replaced a kernel of the schemas
    program = """
import dispatch
from dispatch import FakeTensorMode, Library, ops

with FakeTensorMode() as mode:
    x = dispatch.empty(2)
    ops.aten.relu.default(x)
    lib = Library("cache_other", "FRAGMENT")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x, "CPU")
    before = mode.cache_info().hits
    ops.aten.relu.default(x)
    print(mode.cache_info().hits - before)
"""
    said = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert said == "1\n"


def test_what_a_replaced_kernel_calls_counts_for_operators_of_the_schemas():
    """Once somebody has replaced a kernel of theirs, every registration does."""
    with _scoped_library("aten", "IMPL") as aten, _scoped_library("cache_called", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        aten.impl("erfinv", lambda x: A.add.Tensor(ops.cache_called.f(x), 0), "Meta")
        shapes = []
        with FakeTensorMode():
            x = dispatch.empty(2)
            for n in (3, 4):
                with _scoped_library("cache_called", "FRAGMENT") as more:
                    more.impl("f", lambda x, n=n: dispatch.empty(n, device="meta"), "Meta")
                    shapes += [tuple(A.erfinv.default(x).shape) for _ in range(2)]
    assert shapes == [(3,), (3,), (4,), (4,)]


def test_a_cache_that_goes_leaves_no_table():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20_000):
        DispatchCache()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 << 10  # KiB


def test_class_tells_of_all_caches():
    FakeTensorMode.cache_clear()
    with FakeTensorMode(cache=DispatchCache()) as one:
        A.relu.default(empty(2))
    with FakeTensorMode() as other:
        A.relu.default(empty(2))
        A.relu.default(empty(2))
    total, parts = FakeTensorMode.cache_info(), (one.cache_info(), other.cache_info())
    for name in ("hits", "misses", "size"):
        assert getattr(total, name) == sum(getattr(info, name) for info in parts)
    del one, other
    assert (FakeTensorMode.cache_info().hits, FakeTensorMode.cache_info().size) == (total.hits, 0)
    FakeTensorMode.cache_clear()
    assert FakeTensorMode.cache_info().hits == FakeTensorMode.cache_info().misses == 0


def test_class_tells_of_bypasses_and_of_caches_that_are_gone():
    FakeTensorMode.cache_clear()
    modes = [FakeTensorMode(cache=DispatchCache()) for _ in range(2)]
    for n, mode in enumerate(modes, 1):
        with mode:
            for _ in range(n):
                empty(2, 3).fill_(1).t_().resize_(9)
            with pytest.raises(DynamicOutputShapeException):
                A.nonzero.default(empty(2))
    total, parts = FakeTensorMode.cache_info(), [mode.cache_info() for mode in modes]
    for name in total.bypasses:
        assert total.bypasses[name] == sum(info.bypasses.get(name, 0) for info in parts)
    assert total == FakeTensorMode.cache_info() != parts[0]
    del mode, modes
    gone = FakeTensorMode.cache_info()
    assert (gone.misses, gone.bypasses) == (total.misses, total.bypasses)
    with FakeTensorMode(cache=DispatchCache()) as mode:
        A.relu.default(empty(2))
        FakeTensorMode.cache_clear()
        assert mode.cache_info().size == FakeTensorMode.cache_info().size == 0
        assert FakeTensorMode.cache_info().bypasses == {}


def on_meta(*sizes, **kwargs):
    return A.empty.memory_format(sizes, device="meta", **kwargs)


def test_failing_calls_are_not_cached(mode):
    x = empty(2, 3)
    for _ in range(2):
        with pytest.raises(RuntimeError):
            A.mm.default(x, x)
    assert counted(mode, lambda: A.mm.default(x, empty(3, 2)))[1] >= 1


def test_registration_outdates_entries(mode, library):
    x = empty(2)
    A.relu.default(x)
    assert counted(mode, lambda: A.relu.default(x)) == (1, 0)
    lib = library("aten", "IMPL")
    lib.impl("relu", lambda x: A.empty.memory_format([7], device="meta"), "Meta")
    assert A.relu.default(x).shape == (7,)
    lib._destroy()
    assert A.relu.default(x).shape == (2,)


def test_zero_tensors_come_out_of_a_hit_as_such(mode):
    zeros = A._efficientzerotensor.default([4])
    for want in ((0, 1), (1, 0)):
        views = []
        assert counted(mode, lambda views=views: views.append(zeros.expand(2, 4))) == want
        assert views[0]._is_zerotensor()


def test_symbols_that_the_arguments_do_not_have_are_not_kept(library):
    lib = library("cache_symbols")
    lib.define("f(Tensor x) -> Tensor")
    env = ShapeEnv()
    sizes = [env.create_unbacked_symint() for _ in range(2)]
    given = iter(sizes)
    lib.impl("f", lambda x: x.new_empty(next(given)), "Meta")
    with FakeTensorMode(shape_env=env, cache_policy=lambda op: True) as mode:
        x = empty(2)
        for size in sizes:
            assert str(ops.cache_symbols.f(x).shape[0]) == str(size)
        assert mode.cache_info().hits == 0


def test_policy_is_asked_once_for_an_operator(library):
    lib = library("cache_policy")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x.new_empty(3), "Meta")
    asked = []
    with FakeTensorMode(cache_policy=lambda op: asked.append(op) or True):
        for n in range(3):
            ops.cache_policy.f(empty(n))
    assert asked == [ops.cache_policy.f.default]


GOING = {
    "kernel": lambda: ops.cache_inner.g(empty(2)).numel(),
    "definition": lambda: int(hasattr(ops.cache_inner, "h")),
    "fallback": lambda: int(dispatch._C._dispatch_has_backend_fallback("PrivateUse3")),
}


@pytest.mark.parametrize("what", GOING)
def test_what_a_cached_operator_relies_on_outdates_its_entry_by_going(library, what):
    """The entry's own operator does not change."""
    outer, inner, last = library("cache_outer"), library("cache_inner"), library("cache_inner")
    outer.define("f(Tensor x) -> Tensor")
    inner.define("g(Tensor x) -> Tensor")
    inner.impl("g", lambda x: x.new_empty(5), "CompositeExplicitAutograd")
    if what == "kernel":
        last.impl("g", lambda x: x.new_empty(7), "Meta")
    elif what == "definition":
        last.define("h(Tensor x) -> Tensor")
    else:
        last = library("_", "IMPL")
        last.fallback(lambda op, *args: None, "PrivateUse3")
    outer.impl("f", lambda x: x.new_empty(GOING[what]()), "Meta")
    with FakeTensorMode(cache_policy=lambda op: True) as mode:
        x, there = empty(2), GOING[what]()
        assert ops.cache_outer.f(x).numel() == there
        assert counted(mode, lambda: ops.cache_outer.f(x)) == (1, 0)
        last._destroy()
        assert ops.cache_outer.f(x).numel() == GOING[what]() != there


def test_size_is_bounded(library):
    cache = DispatchCache(max_entries=8)
    with FakeTensorMode(cache=cache) as mode:
        for n in range(1, 40):
            A.relu.default(empty(n))
        assert len(cache) <= 8 and cache.evictions > 0
        assert mode.cache_info().size == len(cache)
        for n in range(1, 40):
            assert A.relu.default(empty(n)).shape == (n,)
    with pytest.raises(ValueError):
        DispatchCache(max_entries=0)


def test_recently_hit_entries_stay():
    """A clock lets go of one now and then; without regard to hits it would be 2000 / 16 times."""
    cache = DispatchCache(max_entries=16)
    with FakeTensorMode(cache=cache) as mode:
        kept = empty(1)
        others = [empty(n) for n in range(2, 2002)]
        missed = 0
        for other in others:
            missed += counted(mode, lambda: A.relu.default(kept))[1]
            assert counted(mode, lambda other=other: A.relu.default(other)) == (0, 1)
        assert missed < 40


def test_a_full_cache_drops_one_for_each_that_comes():
    cache = DispatchCache(max_entries=4)
    with FakeTensorMode(cache=cache):
        tensors = [empty(n) for n in range(10)]
        cache.clear()
        for n, t in enumerate(tensors, 1):
            A.relu.default(t)
            assert (len(cache), cache.evictions) == (min(n, 4), max(n - 4, 0))


def test_many_entries_are_all_found(mode):
    tensors = [empty(n) for n in range(1500)]
    for t in tensors:
        A.relu.default(t)
    assert counted(mode, lambda: [A.relu.default(t) for t in tensors]) == (1500, 0)


def test_modes_have_caches_of_their_own_unless_they_share():
    shared = DispatchCache()
    for caches, want in (((True, True), (0, 1)), ((shared, shared), (1, 0))):
        for n, cache in enumerate(caches):
            with FakeTensorMode(cache=cache) as mode:
                x = empty(2)
                got = counted(mode, lambda x=x: A.relu.default(x))
                assert n == 0 or got == want
                assert A.relu.default(x).fake_mode is mode


def test_cache_can_be_off():
    with FakeTensorMode(cache=False) as mode:
        for _ in range(2):
            assert A.relu.default(empty(2)).shape == (2,)
        info = mode.cache_info()
    assert mode.cache is None
    assert (info.hits, info.misses, info.size) == (0, 0, 0)


def test_clearing_forgets_entries_and_counters(mode):
    A.relu.default(empty(2))
    A.resize_.default(empty(2), [5])
    assert mode.cache_info().bypasses
    mode.cache_clear()
    info = mode.cache_info()
    assert (info.hits, info.misses, info.bypasses, info.size) == (0, 0, {}, 0)


@pytest.mark.parametrize("cached", [False, True])
def test_policy_says_which_custom_operators_are_cached(library, cached):
    lib = library("ca", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    runs = []
    lib.impl("f", lambda x: runs.append(1) or A.empty_like.default(x), "Meta")
    policy = (lambda op: op is ops.ca.f.default) if cached else None
    with FakeTensorMode(cache_policy=policy) as mode:
        x = empty(2)
        for _ in range(3):
            assert ops.ca.f(x).shape == (2,)
    assert len(runs) == (1 if cached else 3)
    assert mode.cache_info().bypasses.get("non-builtin", 0) == (0 if cached else 3)


def test_custom_operator_with_two_aliased_outputs(library):
    lib = library("ca", "DEF")
    lib.define("two(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))")
    lib.impl("two", lambda x, y: (A.view.default(x, [2, 1]), A.view.default(y, [1, 2])), "Meta")
    with FakeTensorMode(cache_policy=lambda op: True):
        a, b = empty(2), empty(2)
        for x, y in ((a, a), (a, b), (b, a), (b, b)) * 2:
            u, v = ops.ca.two(x, y)
            assert u.untyped_storage() is x.untyped_storage()
            assert v.untyped_storage() is y.untyped_storage()


def test_entries_leave_no_memory(grown_blocks):
    def call():
        with FakeTensorMode():
            x = empty(2, 3)
            A.add.Tensor(x, 1)
            A.split.Tensor(x, 1)

    assert grown_blocks(call, 300) < 150


# ---- how outputs are made again: each call twice, the second a hit


@pytest.fixture
def own(library):
    """`own(schema, kernel)`: an operator with that Meta kernel, under a mode that caches it."""
    lib = library("cache_own")
    with FakeTensorMode(cache_policy=lambda op: True) as mode:

        def define(schema, kernel):
            name = lib.define(schema)
            lib.impl(name, kernel, "Meta")
            return getattr(ops.cache_own, name), mode

        yield define


def test_outputs_over_one_new_storage_share_it_each_time(own):
    def halves(x):
        y = on_meta(4)
        return A.slice.Tensor(y, 0, 0, 2), A.slice.Tensor(y, 0, 2)

    op, mode = own("halves(Tensor x) -> (Tensor, Tensor)", halves)
    x = empty(2)
    for n in range(1, 4):
        a, b = op(x)
        assert a.untyped_storage() is b.untyped_storage()
        assert (a.storage_offset(), b.storage_offset()) == (0, 2)
        assert mode.cache_info().bypasses == {"non-FakeTensor output": n}


def test_new_outputs_have_storages_of_their_own(own):
    op, mode = own("pair(Tensor x) -> (Tensor, Tensor)", lambda x: (on_meta(2), on_meta(3)))
    x = empty(2)
    a, b = op(x)
    assert counted(mode, lambda: op(x)) == (1, 0)
    c, d = op(x)
    assert len({id(t.untyped_storage()) for t in (a, b, c, d)}) == 4
    assert [t.shape for t in (c, d)] == [(2,), (3,)]


@pytest.mark.parametrize(
    "returns, value",
    [("int", 10**15), ("float", 2.5), ("bool", True), ("Tensor?", None), ("int[]", [1, 2])],
)
def test_outputs_that_are_no_tensors(own, returns, value):
    op, mode = own(f"told(Tensor x) -> {returns}", lambda x: value)
    x = empty(2)
    got = [op(x) for _ in range(3)]
    assert got == [value] * 3 and {type(v) for v in got} == {type(value)}
    assert mode.cache_info().hits == 2


def test_an_entry_owns_a_value_until_it_goes(own):
    value = float(12345)
    op, mode = own("value(Tensor x) -> float", lambda x: value)
    x = empty(2)
    before = sys.getrefcount(value)
    op(x)
    assert sys.getrefcount(value) == before + 1
    assert op(x) is value
    assert sys.getrefcount(value) == before + 1
    mode.cache_clear()
    assert sys.getrefcount(value) == before


@pytest.mark.parametrize("end", ["evicted", "with its cache"])
def test_an_entry_lets_its_value_go(library, end):
    value = float(12345)
    lib = library("cache_goes")
    lib.define("value(Tensor x) -> float")
    lib.impl("value", lambda x: value, "Meta")
    cache = DispatchCache(max_entries=1)
    with FakeTensorMode(cache=cache, cache_policy=lambda op: True) as mode:
        x = empty(2)
        before = sys.getrefcount(value)
        ops.cache_goes.value(x)
        assert sys.getrefcount(value) == before + 1
        if end == "evicted":
            A.neg.default(x)
            assert len(cache) == 1
            assert sys.getrefcount(value) == before
    del x, mode, cache
    assert sys.getrefcount(value) == before


def test_several_outputs_come_in_the_same_kind_of_sequence(mode):
    x, y, z = empty(4), empty(2, 3), empty(3)
    calls = (
        (list, lambda: A.split.Tensor(x, 2)),
        (tuple, lambda: A.sort.default(x)),
        (tuple, lambda: A.native_batch_norm.default(y, z, z, z, z, True, 0.1, 1e-5)),
    )
    for kind, call in calls:
        first = call()
        assert counted(mode, call) == (1, 0)
        second = call()
        assert type(first) is type(second) is kind
        assert [t.shape for t in first] == [t.shape for t in second]
        assert [t.stride() for t in first] == [t.stride() for t in second]


def test_a_view_of_an_element_of_a_list_is_of_that_element(own):
    op, mode = own(
        "pick(Tensor(a)[] xs, int i) -> Tensor(a)", lambda xs, i: A.view.default(xs[i], [2, 1])
    )
    xs = [empty(2), empty(2), empty(2)]
    mode.cache_clear()
    for i in (0, 1, 2) * 2:
        assert op(xs, i).untyped_storage() is xs[i].untyped_storage()
    assert mode.cache_info().hits == 3


def test_an_alias_is_not_the_argument_itself(mode):
    a, b = empty(2), empty(2)
    alias = A.view.default(a, [2])
    for _ in range(2):
        assert A.add.out(a, b, out=a) is a
        assert A.add.out(a, b, out=alias) is alias
        assert A.alias.default(a) is not a


def test_which_arguments_share_a_storage_decides_whose_view_is_made(own):
    op, mode = own(
        "third(Tensor(a!) x, Tensor(b!) y, Tensor(c) z) -> Tensor(c)",
        lambda x, y, z: A.view.default(z, [2, 1]),
    )
    a, b, c = empty(2), empty(2), empty(2)
    a2, b2, c2 = (A.view.default(t, [2]) for t in (a, b, c))
    calls = [(a, b, c), (a, b, a2), (a, b, b2), (a, a2, c), (a, a, c), (a, b, a), (a, b, b)]
    calls += [(c, a, c2), (a, c, c2), (a, a2, a2), (a, a, a2), (a, a2, a)]
    for x, y, z in calls * 2 + calls[::-1]:
        assert op(x, y, z).untyped_storage() is z.untyped_storage()
    assert mode.cache_info().hits >= len(calls)


def test_sharing_counts_in_lists_too(own):
    op, _ = own(
        "last(Tensor(a!)[] xs, Tensor(b) z) -> Tensor(b)", lambda xs, z: A.view.default(z, [2, 1])
    )
    a, b, c = empty(2), empty(2), empty(2)
    for z in (c, A.view.default(a, [2]), A.view.default(b, [2]), a, b) * 2:
        assert op([a, b], z).untyped_storage() is z.untyped_storage()


def test_views_of_views_have_their_storages_bytes_and_offsets(mode):
    base = empty(4, 6)
    for n in range(4):
        row = A.select.int(base, 0, n)
        part = A.slice.Tensor(row, 0, 2, 5)
        assert (row.storage_offset(), part.storage_offset()) == (6 * n, 6 * n + 2)
        assert part.untyped_storage() is base.untyped_storage()
    a, b = A.split.Tensor(base, 2)
    assert [A.t.default(t).storage_offset() for t in (a, b, a, b)] == [0, 12, 0, 12]


# ---- calls that are not cached


TOO_MUCH = {
    "ints": ("many(int[] l) -> Tensor", lambda: ([1] * 600,)),
    "tensors": ("many(Tensor[] ts) -> Tensor", lambda: ([empty(2, 2)] * 200,)),
    "dimensions": ("many(Tensor[] ts) -> Tensor", lambda: ([empty(*[1] * 64)] * 8,)),
    "text": ("many(str s) -> Tensor", lambda: ("x" * 257,)),
    "written": ("many(Tensor(a!)[] ts) -> Tensor", lambda: ([empty() for _ in range(65)],)),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_calls_too_large_for_a_key_run_each_time(own, what):
    schema, make = TOO_MUCH[what]
    runs = []
    op, mode = own(schema, lambda x: runs.append(len(x)) or on_meta(2))
    if what in ("ints", "text"):
        schema = schema.replace("(", "(Tensor t, ", 1)
        op, mode = own(schema.replace("many", "more"), lambda t, x: runs.append(1) or on_meta(2))
    arguments = (empty(2), *make()) if what in ("ints", "text") else make()
    before = mode.cache_info().size
    for n in range(1, 4):
        assert op(*arguments).shape == (2,)
        assert len(runs) == n
    info = mode.cache_info()
    assert info.bypasses == {"too many arguments": 3} and info.size == before


@pytest.mark.parametrize("text", ["\ud800", "a\udfff"])
def test_text_without_bytes_is_not_cached(own, text):
    op, mode = own("text(Tensor x, str s) -> Tensor", lambda x, s: on_meta(len(s)))
    x = empty(2)
    for _ in range(2):
        assert op(x, text).shape == (len(text),)
    assert mode.cache_info().bypasses == {"unhashable argument": 2}


def test_tensors_of_another_mode_are_refused_though_an_entry_fits(mode):
    x = empty(2)
    A.relu.default(x)
    with FakeTensorMode():
        stranger = empty(2)
    with pytest.raises(AssertionError, match="Mixing fake modes"):
        A.relu.default(stranger)
    assert mode.cache_info().bypasses == {"not our fake": 1}


def test_what_depends_on_values_is_refused_each_time(mode):
    x = empty(3)
    for _ in range(3):
        with pytest.raises(DataDependentOutputException):
            A._local_scalar_dense.default(x)
        with pytest.raises(DynamicOutputShapeException):
            A.nonzero.default(x)


def test_a_memoised_item_is_not_cached(mode):
    x, y = empty(dtype=dispatch.int64), empty(dtype=dispatch.int64)
    x.item_memo, y.item_memo = 3, 4
    for _ in range(2):
        assert A._local_scalar_dense.default(x) == 3
        assert A._local_scalar_dense.default(y) == 4
    assert mode.cache_info().bypasses == {"data dependent output": 4}


def test_a_told_output_size_makes_repeat_interleave_cachable(mode):
    repeats = empty(3, dtype=dispatch.int64)
    call = lambda: A.repeat_interleave.Tensor(repeats, output_size=7)  # noqa: E731
    assert call().shape == (7,)
    assert counted(mode, call) == (1, 0)
    with pytest.raises(DynamicOutputShapeException):
        A.repeat_interleave.Tensor(repeats)


def test_the_cache_can_be_switched_off_and_on(mode):
    x = empty(2)
    A.relu.default(x)
    mode.cache_enabled = False
    assert counted(mode, lambda: A.relu.default(x)) == (0, 0)
    mode.cache_enabled = True
    assert counted(mode, lambda: A.relu.default(x)) == (1, 0)


def test_numbers_beyond_64_bits_are_not_cached(mode):
    for number in (1 << 63, (1 << 63) + 1):
        for _ in range(2):
            A.full.default([2], number)
    assert mode.cache_info().bypasses == {"unhashable argument": 4}


def test_a_result_that_is_a_constant_stays_one(library, mode):
    lib = library("cache_own")
    lib.define("three(Tensor x) -> Tensor")
    dispatch.library.register_fake("cache_own::three", lambda x: dispatch.tensor(3.0), lib=lib)
    with FakeTensorMode(cache_policy=lambda op: True) as cached:
        x = empty(2)
        assert [ops.cache_own.three(x).item() for _ in range(3)] == [3.0] * 3
    assert cached.cache_info().bypasses["constant attribute"] >= 3


def test_a_result_that_is_no_fake_tensor_is_not_kept(library):
    real = dispatch.ones(2)
    lib = library("cache_real")
    lib.define("f(Tensor x) -> Tensor")
    dispatch.library.register_fake("cache_real::f", lambda x: real, lib=lib)
    with FakeTensorMode(cache_policy=lambda op: True) as mode:
        x = empty(2)
        for n in (1, 2):
            assert ops.cache_real.f(x) is real
            assert mode.cache_info().bypasses == {"non-FakeTensor output": n}


def test_calls_with_very_many_outputs_run_each_time(mode):
    x = empty(257)
    for _ in range(2):
        parts = A.unbind.int(x)
        assert [p.storage_offset() for p in parts] == list(range(257))
    assert mode.cache_info().bypasses == {"too many arguments": 2}
    x = empty(256)
    A.unbind.int(x)
    assert counted(mode, lambda: A.unbind.int(x)) == (1, 0)
    assert [p.storage_offset() for p in A.unbind.int(x)] == list(range(256))


def test_an_operator_of_dynamic_shape_is_not_cached_though_its_fake_kernel_knows(library):
    sizes = [3, 4, 5]
    lib = library("cache_own")
    lib.define("some(Tensor x) -> Tensor", tags=dispatch.Tag.dynamic_output_shape)
    dispatch.library.register_fake("cache_own::some", lambda x: x.new_empty(sizes.pop(0)), lib=lib)
    with FakeTensorMode(cache_policy=lambda op: True) as cached:
        x = empty(2)
        assert [ops.cache_own.some(x).shape for _ in range(3)] == [(3,), (4,), (5,)]
    assert cached.cache_info().bypasses["dynamic output shape"] == 3
