"""The inverse of each view: what is written to a view lands in its base, at the right places.

Every case is run as it stands and functionalized, with views put back and without, and all that
can be seen afterwards is compared: the base, the view, an older view, and where they lie.
"""

import inspect
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import dispatch
from dispatch import Tensor, ops
from dispatch._C import (
    _AutoDispatchBelowADInplaceOrView,
    _freeze_functional_tensor,
    _from_functional_tensor,
    _functionalize_are_all_mutations_under_no_grad_or_inference_mode,
    _functionalize_commit_update,
    _functionalize_replace,
    _functionalize_sync,
    _to_functional_tensor,
)
from dispatch.functional import functionalize, inverses
from dispatch.modes import TorchDispatchMode

A = ops.aten
BOTH = ["mutations", "mutations_and_views"]


def numbers(*sizes: int, dtype: Any = None) -> Tensor:
    """1, 2, 3, ... as no two elements are alike."""
    count = 1
    for n in sizes:
        count *= n
    return dispatch.arange(1.0, count + 1.0).reshape(sizes).to(dtype or dispatch.float32)


def pairs(*sizes: int) -> Tensor:
    return A.view_as_complex.default(numbers(*sizes, 2))


# name: a base and a view of it; permutations that are not their own inverse above all
CASES: dict[str, tuple[Callable[[], Tensor], Callable[[Tensor], Tensor]]] = {
    "_conj": (lambda: pairs(3), lambda t: A._conj.default(t)),
    "_neg_view": (lambda: numbers(3), lambda t: A._neg_view.default(t)),
    "_reshape_alias": (lambda: numbers(2, 3), lambda t: A._reshape_alias.default(t, [6], [1])),
    "_unsafe_view": (lambda: numbers(2, 3), lambda t: A._unsafe_view.default(t, [3, 2])),
    "view of a single element": (lambda: numbers(), lambda t: A.view.default(t, [1, 1])),
    "alias": (lambda: numbers(3), lambda t: A.alias.default(t)),
    "as_strided": (lambda: numbers(9), lambda t: A.as_strided.default(t, [2, 2], [4, 1], 1)),
    "as_strided at an offset": (
        lambda: numbers(9),
        lambda t: A.as_strided.default(t[2:], [2], [3]),
    ),
    "detach": (lambda: numbers(3), lambda t: A.detach.default(t)),
    "diagonal": (lambda: numbers(3, 4), lambda t: A.diagonal.default(t, 1)),
    "diagonal below": (lambda: numbers(4, 3), lambda t: A.diagonal.default(t, -2)),
    "diagonal of last": (lambda: numbers(2, 3, 3), lambda t: A.diagonal.default(t, 0, -1, 1)),
    "expand of the same size": (lambda: numbers(2, 3), lambda t: A.expand.default(t, [2, 3])),
    "expand a new one": (lambda: numbers(3), lambda t: A.expand.default(t, [1, 3])),
    "permute": (lambda: numbers(2, 3, 4), lambda t: A.permute.default(t, [1, 2, 0])),
    "permute from the end": (lambda: numbers(2, 3, 4), lambda t: A.permute.default(t, [-1, 0, -2])),
    "permute of four": (lambda: numbers(2, 1, 3, 2), lambda t: A.permute.default(t, [2, 0, 3, 1])),
    "select": (lambda: numbers(3, 4), lambda t: A.select.int(t, 1, 2)),
    "select from the end": (lambda: numbers(3, 4), lambda t: A.select.int(t, -2, -1)),
    "slice": (lambda: numbers(6, 2), lambda t: A.slice.Tensor(t, 0, 1, 5, 2)),
    "slice of a row": (lambda: numbers(2, 6), lambda t: A.slice.Tensor(t, 1, -4, -1)),
    "slice without an end": (lambda: numbers(5), lambda t: A.slice.Tensor(t, 0, 2)),
    "split, first": (lambda: numbers(5, 2), lambda t: A.split.Tensor(t, 2)[0]),
    "split, middle": (lambda: numbers(5, 2), lambda t: A.split.Tensor(t, 2)[1]),
    "split, rest": (lambda: numbers(5, 2), lambda t: A.split.Tensor(t, 2)[2]),
    "split of columns": (lambda: numbers(2, 5), lambda t: A.split.Tensor(t, 2, 1)[1]),
    "split from the end": (lambda: numbers(2, 5), lambda t: A.split.Tensor(t, 3, -1)[1]),
    "split_with_sizes": (
        lambda: numbers(6, 2),
        lambda t: A.split_with_sizes.default(t, [1, 3, 2])[1],
    ),
    "split_with_sizes, last": (
        lambda: numbers(2, 6),
        lambda t: A.split_with_sizes.default(t, [1, 3, 2], -1)[2],
    ),
    "squeeze": (lambda: numbers(1, 3, 1), lambda t: A.squeeze.default(t)),
    "squeeze nothing": (lambda: numbers(2, 3), lambda t: A.squeeze.default(t)),
    "squeeze.dim": (lambda: numbers(1, 3, 1), lambda t: A.squeeze.dim(t, -1)),
    "squeeze.dim of none": (lambda: numbers(1, 3), lambda t: A.squeeze.dim(t, 1)),
    "squeeze.dims of the first": (lambda: numbers(1, 1, 3), lambda t: A.squeeze.dims(t, [1, 0])),
    "squeeze.dims from the end": (lambda: numbers(1, 1, 3), lambda t: A.squeeze.dims(t, [-3, -2])),
    "squeeze.dims": (lambda: numbers(1, 3, 1, 1), lambda t: A.squeeze.dims(t, [0, -2, 1])),
    "t": (lambda: numbers(2, 3), lambda t: A.t.default(t)),
    "transpose": (lambda: numbers(2, 3, 4), lambda t: A.transpose.int(t, 0, -1)),
    "unbind": (lambda: numbers(3, 2), lambda t: A.unbind.int(t)[1]),
    "unbind of columns": (lambda: numbers(2, 3), lambda t: A.unbind.int(t, 1)[2]),
    "unsqueeze": (lambda: numbers(2, 3), lambda t: A.unsqueeze.default(t, 1)),
    "unsqueeze at the end": (lambda: numbers(2, 3), lambda t: A.unsqueeze.default(t, -1)),
    "view": (lambda: numbers(2, 6), lambda t: A.view.default(t, [4, -1])),
    "view.dtype": (lambda: numbers(2, 2), lambda t: A.view.dtype(t, dispatch.int32)),
    "view_as_complex": (lambda: numbers(3, 2), lambda t: A.view_as_complex.default(t)),
    "view_as_real": (lambda: pairs(3), lambda t: A.view_as_real.default(t)),
    # several, one after the other
    "transposed part": (lambda: numbers(3, 4), lambda t: t.t()[1:3].unsqueeze(0)),
    "part of a permuted": (lambda: numbers(2, 3, 4), lambda t: t.permute(1, 2, 0)[1]),
    "row of a view": (lambda: numbers(12), lambda t: t.view(3, 4)[2][1:]),
    "diagonal of a part": (lambda: numbers(4, 4), lambda t: t[1:].diagonal(1)),
    "a chain of permutations": (
        lambda: numbers(2, 3, 4),
        lambda t: t.permute(1, 2, 0).permute(2, 0, 1).permute(2, 1, 0),
    ),
    "moved": (lambda: numbers(2, 3, 4), lambda t: t.movedim(0, 2)[:, 1]),
}


def other(t: Tensor) -> Tensor:
    """Values that are all different and none of which was there before."""
    new = dispatch.arange(101.0, 101.0 + t.numel()).reshape(t.shape)
    return new.to(t.dtype) * (1 + 2j) if t.is_complex() else new.to(t.dtype)


def written(view: Callable[[Tensor], Tensor], base: Tensor) -> list[Any]:
    """Look at the base through a view, write to it, and look at everything again."""
    older = base.view(-1)
    part = view(base)
    seen = [part.clone()]
    part.copy_(other(part))
    seen += [base.clone(), part.clone(), older.clone()]
    base.mul_(2)
    return [*seen, base, part, view(base)]


def told(t: Tensor) -> tuple[Any, ...]:
    return t.resolve_conj().resolve_neg().tolist(), tuple(t.shape), t.dtype


class OnlyFunctional(TorchDispatchMode):
    """Below functionalization nothing is written but the program's own input, at the end."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        assert not func._schema.is_mutable or func is A.copy_.default, func
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("remove", BOTH)
@pytest.mark.parametrize("name", CASES)
def test_what_a_view_is_given_lands_in_its_base(name, remove):
    make, view = CASES[name]
    eager, x = make(), make()
    want = written(view, eager)
    with OnlyFunctional():
        got = functionalize(lambda t: written(view, t), remove=remove)(x)
    assert [told(t) for t in got] == [told(t) for t in want]
    assert told(x) == told(eager)


def test_every_inverse_has_a_case():
    written = {
        name.strip("_")
        for name, value in vars(inverses).items()
        if inspect.isfunction(value) and [*inspect.signature(value).parameters][1:2] == ["mutated"]
    }
    tried = {name.split(",")[0].split(" ")[0].split(".")[0].strip("_") for name in CASES}
    helpers = {"inverse", "same", "view_dtype", "view_of_any_kind"}
    assert written - helpers - tried == {"unfold"}


@pytest.mark.parametrize("remove", BOTH)
def test_a_write_to_what_is_broadcast_is_the_sum_of_the_changes(remove):
    """All places of an expanded view are one; functionalization adds what each was changed by."""

    def program(t):
        t.expand(2, 3).add_(dispatch.tensor([[1.0], [10.0]]))
        return t

    for sizes in ((3,), (1, 3)):
        x = numbers(*sizes)
        got = functionalize(program, remove=remove)(x)
        assert got.flatten().tolist() == x.flatten().tolist() == [12.0, 13.0, 14.0]


@pytest.mark.parametrize("remove", BOTH)
@pytest.mark.parametrize("sizes, change", [((2, 2, 3), 6), ((2, 3), 3)])
def test_changes_along_an_inner_dimension_are_summed_there(remove, sizes, change):
    def program(t):
        t.expand(sizes).add_(1)
        return t

    got = functionalize(program, remove=remove)(numbers(2, 1))
    assert got.tolist() == [[1.0 + change], [2.0 + change]]


def test_windows_without_overlap_are_written_back_without_views():
    def program(t):
        t.unfold(0, 2, 2).mul_(10)
        return t

    x = numbers(5)
    functionalize(program, remove="mutations_and_views")(x)
    assert x.tolist() == [10.0, 20.0, 30.0, 40.0, 5.0]


@pytest.mark.parametrize("index", [0, 1, 2])
@pytest.mark.parametrize("remove", BOTH)
def test_each_of_several_views_is_written_back_where_it_came_from(index, remove):
    splits = [
        lambda t: A.unbind.int(t, 1),
        lambda t: A.split.Tensor(t, 1, 1),
        lambda t: A.split_with_sizes.default(t, [1, 1, 1], 1),
    ]
    for split in splits:
        eager, x = numbers(2, 3), numbers(2, 3)

        def program(t, split=split):
            parts = split(t)
            parts[index].add_(50)
            return [p.clone() for p in parts]

        want = [told(t) for t in program(eager)]
        got = [told(t) for t in functionalize(program, remove=remove)(x)]
        assert (got, told(x)) == (want, told(eager))


# ---- any program


VIEWS: list[Callable[[Tensor, int], Tensor]] = [
    lambda t, n: t[n % t.shape[0]] if t.ndim and t.shape[0] else t,
    lambda t, n: t.select(-1, -1) if t.ndim and t.shape[-1] else t,
    lambda t, n: t[n % 3 :: n % 2 + 1] if t.ndim else t,
    lambda t, n: A.slice.Tensor(t, -1, n % 2, 3) if t.ndim else t,
    lambda t, n: t.permute(*((d + n) % t.ndim for d in range(t.ndim))) if t.ndim else t,
    lambda t, n: t.transpose(0, -1) if t.ndim else t,
    lambda t, n: t.unsqueeze(n % (t.ndim + 1)),
    lambda t, n: t.squeeze(),
    lambda t, n: t.squeeze(n % t.ndim) if t.ndim else t,
    lambda t, n: t.diagonal(n % 3 - 1, 0, -1) if t.ndim >= 2 else t,
    lambda t, n: t.split(2)[n % 2] if t.ndim and t.shape[0] > 2 else t,
    lambda t, n: t.split(1, -1)[n % t.shape[-1]] if t.ndim and t.shape[-1] else t,
    lambda t, n: t.unbind(-1)[n % t.shape[-1]] if t.ndim and t.shape[-1] else t,
    lambda t, n: t.movedim(0, -1) if t.ndim else t,
    lambda t, n: A.alias.default(t),
]


def change_of_sizes(t: Tensor, n: int) -> Tensor:
    """Not of the program's input: that is no write, and is not handed back."""
    return t.t_() if t.ndim == 2 else t.unsqueeze_(0)


WRITES: list[Callable[[Tensor, int], Any]] = [
    lambda t, n: t.add_(n + 1),
    lambda t, n: t.mul_(2),
    lambda t, n: t.copy_(other(t)),
    lambda t, n: t.fill_(n),
    lambda t, n: t.neg_(),
    change_of_sizes,
]
STEPS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 14), st.integers(0, 20), st.integers(0, 5)),
    min_size=2,
    max_size=9,
)


def run(program: list[tuple[bool, int, int, int]], x: Tensor) -> list[Tensor]:
    live = [x]
    for is_view, which, target, n in program:
        at = target % len(live)
        t = live[at]
        if is_view:
            live.append(VIEWS[which % len(VIEWS)](t, n))
        elif at > 0 or WRITES[which % len(WRITES)] is not change_of_sizes:
            WRITES[which % len(WRITES)](t, n)
    return [*live[1:], live[0].clone()]


@settings(max_examples=150, deadline=None)
@given(STEPS, st.sampled_from(BOTH), st.sampled_from([(2, 3, 4), (3, 3), (4, 1, 2)]))
def test_programs_of_views_and_writes_give_what_eager_gives(program, remove, sizes):
    eager, x = numbers(*sizes), numbers(*sizes)
    want = run(program, eager)
    got = functionalize(lambda t: run(program, t), remove=remove)(x)
    assert [told(t) for t in got] == [told(t) for t in want]
    assert x.flatten().tolist() == eager.flatten().tolist()


def test_a_view_of_a_wrapper_is_up_to_date_when_it_is_read():
    w = _to_functional_tensor(numbers(2, 3))
    row, column = w[0], w.t()[1]
    w.add_(10)
    assert (row * 1).shape == (3,)
    assert value_of(row) == [11.0, 12.0, 13.0]
    row.zero_()
    assert value_of(column) == [0.0, 15.0]
    assert value_of(w) == [[0.0, 0.0, 0.0], [14.0, 15.0, 16.0]]


def value_of(wrapper: Tensor) -> Any:
    _functionalize_sync(wrapper)
    return _from_functional_tensor(wrapper).tolist()


@pytest.mark.parametrize("schema", ["f(Tensor(a!) x) -> ()", "f(Tensor(a) x) -> Tensor(a)"])
def test_operators_of_packages_that_write_or_alias_are_refused(library, schema):
    lib = library("not_functional", "DEF")
    lib.define(schema)
    lib.impl("f", lambda x: None if "!" in schema else x.view(-1), "CPU")
    with pytest.raises(RuntimeError, match=r"not_functional::f.*register a functional operator"):
        functionalize(lambda t: ops.not_functional.f(t))(dispatch.ones(2))


def test_all_queued_writes_reach_the_base_in_their_order():
    w = _to_functional_tensor(numbers(2, 3))
    views = (w[0], w[1], w.t()[0])
    for n, view in enumerate(views, 1):
        new = dispatch.full(tuple(view.shape), 10.0 * n)
        _functionalize_replace(view, new)
        _functionalize_commit_update(view)
    assert value_of(w) == [[30.0, 10.0, 10.0], [30.0, 20.0, 20.0]]
    assert value_of(views[0]) == [30.0, 10.0, 10.0]


def test_a_frozen_storage_takes_no_write():
    w = _to_functional_tensor(numbers(2, 3))
    row = w[0]
    _freeze_functional_tensor(w)
    with pytest.raises(RuntimeError, match="frozen"):
        row.add_(1)
    _functionalize_replace(row, dispatch.zeros(3))
    with pytest.raises(RuntimeError, match="frozen"):
        _functionalize_commit_update(row)
    assert value_of(w) == numbers(2, 3).tolist()


def test_a_wrapper_keeps_its_dtype_whatever_it_is_given():
    w = _to_functional_tensor(numbers(2, 3))
    row = w[0]
    _functionalize_replace(row, dispatch.zeros(3, dtype=dispatch.float64))
    assert _from_functional_tensor(row).dtype is row.dtype is dispatch.float32
    _functionalize_commit_update(row)
    assert value_of(w) == [[0.0, 0.0, 0.0], [4.0, 5.0, 6.0]]
    assert _from_functional_tensor(w).dtype is dispatch.float32


def test_views_of_a_wrapper_share_its_version_and_storage():
    w = _to_functional_tensor(numbers(6)[2:])
    assert w.untyped_storage().nbytes() == 24
    row = w.view(2, 2)[0]
    row.add_(1)
    assert w._version == row._version == 1
    assert row.untyped_storage() is w.untyped_storage()


def test_views_that_autograd_does_not_see_share_the_version_too():
    w = _to_functional_tensor(numbers(4))
    with _AutoDispatchBelowADInplaceOrView():
        part = ops.aten.slice.Tensor(w, 0, 1)
    part.add_(1)
    assert w._version == part._version == 1
    w.add_(1)
    assert w._version == part._version == 2


def test_writes_without_gradients_are_told_from_others():
    told = _functionalize_are_all_mutations_under_no_grad_or_inference_mode
    w = _to_functional_tensor(numbers(2))
    with dispatch.no_grad():
        w.add_(1)
    assert told(w)
    w.add_(1)
    assert not told(w)


@pytest.mark.parametrize("remove", BOTH)
def test_writing_to_no_elements_beyond_the_end_is_nothing(remove):
    """A slice from the end on starts where the memory has ended."""

    def program(t):
        t[..., -1][2:].copy_(dispatch.zeros(0, 3))
        t[..., -1][2:].add_(1)
        return t

    x = numbers(2, 3, 4)
    assert functionalize(program, remove=remove)(x).tolist() == numbers(2, 3, 4).tolist()
    part = x[..., -1][2:]
    copied = A.copy.default(part, dispatch.zeros(0, 3))
    assert (copied.shape, copied.stride(), copied.storage_offset()) == ((0, 3), (12, 4), 27)


def test_a_part_is_written_within_its_base():
    """As PyTorch's traces have it: the dimension from the front, the end not past the base."""
    calls = []

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.extend([args[2:]] if func is A.slice_scatter.default else [])
            return func(*args, **(kwargs or {}))

    def program(x):
        y = x + 1
        y.split(2, -1)[2].mul_(3)
        return y

    with Log():
        functionalize(program)(numbers(2, 5))
    assert calls == [(1, 4, 5)]
