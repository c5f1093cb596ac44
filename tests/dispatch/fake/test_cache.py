"""The dispatch cache: what is hit, what is not shared, what is never cached, when entries go."""

import subprocess
import sys

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, ops
from dispatch.fake import DispatchCache, MetadataMismatchError

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


def relu(x):
    return A.relu.default(x)


DIFFERENT = {
    "int, float": (lambda x: A.add.Tensor(x, 1), lambda x: A.add.Tensor(x, 1.0)),
    "int, bool": (lambda x: A.add.Tensor(x, 1), lambda x: A.add.Tensor(x, True)),
    "0.0, -0.0": (lambda x: A.add.Tensor(x, 0.0), lambda x: A.add.Tensor(x, -0.0)),
    "complex": (lambda x: A.add.Tensor(x, 1.0), lambda x: A.add.Tensor(x, 1 + 0j)),
    "alpha": (lambda x: A.add.Tensor(x, 1), lambda x: A.add.Tensor(x, 1, alpha=1.0)),
    "dtype": (lambda x: A.sum.default(x), lambda x: A.sum.default(x, dtype=dispatch.float64)),
    "shape": (relu, lambda x: relu(empty(3, 2))),
    "strides": (relu, lambda x: relu(A.t.default(empty(3, 2)))),
    "offset": (relu, lambda x: relu(A.slice.Tensor(empty(3, 3), 0, 1))),
    "dtype of a tensor": (relu, lambda x: relu(empty(2, 3, dtype=dispatch.float64))),
    "device": (relu, lambda x: relu(empty(2, 3, device="cuda"))),
    "device index": (
        lambda x: relu(empty(1, device="cuda:0")),
        lambda x: relu(empty(1, device="cuda:1")),
    ),
    "requires grad": (relu, lambda x: relu(empty(2, 3, requires_grad=True))),
    "overload": (lambda x: A.add.Tensor(x, 1), lambda x: A.sub.Tensor(x, 1)),
    "order": (lambda x: A.permute.default(x, [0, 1]), lambda x: A.permute.default(x, [1, 0])),
    "none": (lambda x: A.sum.dim_IntList(x, None), lambda x: A.sum.dim_IntList(x, [])),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_calls_that_differ_share_no_entry(mode, what):
    first, second = DIFFERENT[what]
    x = empty(2, 3)
    first(x)
    second(x)
    warm = mode.cache_info()
    first(x)
    second(x)
    assert mode.cache_info().misses == warm.misses
    mode.cache_clear()
    first(x)
    assert counted(mode, lambda: second(x))[1] >= 1


def test_default_dtype_default_device_and_inference_are_part_of_the_key(mode):
    x = empty(2, dtype=dispatch.int64)
    call = lambda: A.div.Tensor(x, 2)  # noqa: E731
    call()
    assert counted(mode, call) == (1, 0)
    dispatch.set_default_dtype(dispatch.float64)
    try:
        assert counted(mode, call) == (0, 1)
    finally:
        dispatch.set_default_dtype(dispatch.float32)
    with dispatch.inference_mode():
        assert counted(mode, call) == (0, 1)
    assert counted(mode, call) == (1, 0)


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


def test_cross_check_finds_an_entry_that_does_not_hold(mode, library):
    sizes = [[2], [2], [3]]
    lib = library("cache_check")
    lib.define("unsteady(Tensor x) -> Tensor")
    lib.impl("unsteady", lambda x: A.empty.memory_format(sizes.pop(0), device="meta"), "Meta")
    checked = FakeTensorMode(cache_policy=lambda op: True)
    checked.cache_crosscheck_enabled = True
    with checked:
        x = empty(2)
        ops.cache_check.unsteady(x)
        ops.cache_check.unsteady(x)
        with pytest.raises(MetadataMismatchError, match="unsteady"):
            ops.cache_check.unsteady(x)


def test_cross_check_lets_correct_hits_pass():
    checked = FakeTensorMode()
    checked.cache_crosscheck_enabled = True
    with checked:
        for _ in range(3):
            x, y = empty(2, 3), empty(3)
            A.add_.Tensor(x, y)
            A.t_.default(x)
            A.split.Tensor(x, 2)
            A.native_batch_norm.default(empty(2, 3), y, y, empty(3), empty(3), True, 0.1, 1e-5)
            A.cat.default([x, x])
            assert x.shape == (3, 2)
    assert checked.cache_info().hits >= 8


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


def test_recently_hit_entries_stay(library):
    cache = DispatchCache(max_entries=64)
    with FakeTensorMode(cache=cache) as mode:
        kept = empty(1)
        for n in range(2, 400):
            A.relu.default(kept)
            A.relu.default(empty(n))
        assert counted(mode, lambda: A.relu.default(kept)) == (1, 0)


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
