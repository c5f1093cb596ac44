"""What each argument type of a schema takes, what it becomes, and what is said of anything else."""

import gc
import weakref
from contextlib import suppress

import numpy as np
import pytest

import dispatch
from dispatch import ops

pytestmark = pytest.mark.usefixtures("same_state_after")

seen = []


@pytest.fixture
def takes(library):
    """`takes(argument, *given)`: what a Python kernel of `op(Tensor t, <argument>)` gets."""
    lib = library("values", "DEF")
    t = dispatch.ones(1)
    count = 0

    def call(argument, *given, **kwargs):
        nonlocal count
        count += 1
        name = f"op{count}"
        got = []

        def kernel(*args, **kw):
            got.append((list(args[1:]), kw))

        lib.define(f"{name}(Tensor t, {argument}) -> ()")
        lib.impl(name, kernel, "CompositeExplicitAutograd")
        getattr(ops.values, name)(t, *given, **kwargs)
        return got[0]

    return call


def value_of(result):
    (args, kwargs) = result
    return args[0] if args else next(iter(kwargs.values()))


T = dispatch.ones(2)


@pytest.mark.parametrize(
    ("argument", "given", "want"),
    [
        ("int x", 3, 3),
        ("int x", True, 1),
        ("int x", np.int64(4), 4),
        ("SymInt x", 3, 3),
        ("int? x", 3, 3),
        ("int? x", None, None),
        ("float x", 2, 2.0),
        ("float x", 2.5, 2.5),
        ("float x", np.float32(2.5), 2.5),
        ("bool x", True, True),
        ("bool x", 1, True),
        ("bool x", 0.0, False),
        ("bool x", None, False),
        ("Scalar x", 2, 2),
        ("Scalar x", 2.5, 2.5),
        ("Scalar x", True, True),
        ("Scalar x", 1j, 1j),
        ("complex x", 2, 2 + 0j),
        ("str x", "a", "a"),
        ("str? x", None, None),
        ("ScalarType x", dispatch.int64, dispatch.int64),
        ("Layout x", dispatch.strided, dispatch.strided),
        ("MemoryFormat x", dispatch.channels_last, dispatch.channels_last),
        ("Device x", "cuda:1", dispatch.device("cuda:1")),
        ("Device x", dispatch.device("meta"), dispatch.device("meta")),
        ("int[] x", [1, 2], [1, 2]),
        ("int[] x", (1, True), [1, 1]),
        ("int[] x", dispatch.Size([3]), [3]),
        ("int[] x", range(3), [0, 1, 2]),
        ("int[] x", np.array([4, 5]), [4, 5]),
        ("int[]? x", None, None),
        ("int[2] x", 3, [3, 3]),
        ("int[2] x", [3], [3]),
        ("int[1] x", True, [1]),
        ("float[] x", [1, 2.5], [1.0, 2.5]),
        ("Scalar[] x", [1, 2.5, True], [1, 2.5, True]),
        ("str[] x", ["a", "b"], ["a", "b"]),
        ("ScalarType[] x", [dispatch.int8], [dispatch.int8]),
        ("int[][] x", [[1], (2, 3)], [[1], [2, 3]]),
    ],
)
def test_value_is_converted_to_the_schema_type(takes, argument, given, want):
    got = value_of(takes(argument, given))
    assert got == want
    assert type(got) is type(want)
    if isinstance(want, list):
        assert [type(g) for g in got] == [type(w) for w in want]


@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("int x", 1.0),
        ("int x", "1"),
        ("int x", None),
        ("int x", 2**70),
        ("int x", [1]),
        ("int x", np.float64(1)),
        ("float x", 1j),
        ("float x", "1"),
        ("float x", None),
        ("bool x", "a"),
        ("bool x", [True]),
        ("Scalar x", "2"),
        ("Scalar x", None),
        ("str x", 1),
        ("str x", None),
        ("ScalarType x", "int64"),
        ("Layout x", "strided"),
        ("Device x", "nowhere"),
        ("Device x", 1.5),
        ("MemoryFormat x", "channels_last"),
        ("Generator x", 1),
        ("int[] x", 3),
        ("int[] x", [1.0]),
        ("int[] x", "12"),
        ("int[] x", [None]),
        ("int[] x", {1: 2}),
        ("int[2] x", 2.0),
        ("bool[3] x", 1),
        ("float[] x", 2.0),
        ("int[][] x", [1]),
        ("Tensor x", 1),
        ("bool[3] x", True),
        ("Tensor x", np.ones(2)),
        ("Tensor[] x", T),
        ("Tensor[] x", [T, None]),
        ("Tensor?[] x", [T, 1]),
    ],
)
def test_value_of_another_type_is_refused(takes, argument, given):
    with pytest.raises(RuntimeError) as caught:
        takes(argument, given)
    text = str(caught.value)
    assert "values::op1" in text
    assert "'x'" in text
    assert f"{argument})" in text or argument.partition("[")[0] in text


def test_tensor_list_holds_the_very_tensors_in_a_fresh_list(takes):
    given = [T, None]
    got = value_of(takes("Tensor?[] x", given))
    assert got[0] is T
    assert got[1] is None
    assert got is not given


def test_generator_expression_is_a_list(takes):
    got = value_of(takes("Tensor[] x", (t for t in [T, T])))
    assert [t is T for t in got] == [True, True]


def test_tensor_of_one_dimension_is_a_list_of_ints(takes):
    assert value_of(takes("SymInt[] x", dispatch.tensor([4, 5]))) == [4, 5]


def test_index_objects_are_ints(takes):
    class Three:
        def __index__(self):
            return 3

    assert value_of(takes("int x", Three())) == 3
    assert value_of(takes("int[] x", [Three()])) == [3]


def test_failing_index_is_a_mismatch(takes):
    class Bad:
        def __index__(self):
            raise ValueError("no")

    with pytest.raises(RuntimeError, match="'x'"):
        takes("int x", Bad())


def test_list_that_shrinks_while_it_is_read_is_refused(takes):
    class Shrinks:
        def __index__(self):
            given.clear()
            return 1

    given = [Shrinks(), 2, 3]
    with pytest.raises(RuntimeError):
        takes("int[] x", given)


@pytest.mark.parametrize(
    ("args", "kwargs", "named"),
    [
        ((T, T, 2), {}, "positional"),
        ((T, T), {"beta": 2}, "'beta'"),
        ((T, T), {"other": T}, "'other'"),
        ((T,), {}, "'other'"),
        ((T, T), {"alpha": "a"}, "'alpha'"),
        ((T, "a"), {}, "'other'"),
        ((), {}, "'self'"),
    ],
)
def test_mismatch_names_operator_argument_and_schema(args, kwargs, named):
    with pytest.raises(RuntimeError) as caught:
        ops.aten.add.Tensor(*args, **kwargs)
    assert "aten::add.Tensor" in str(caught.value)
    assert named in str(caught.value)
    assert "Tensor other, *, Scalar alpha=1) -> Tensor" in str(caught.value)


def test_every_argument_may_be_a_keyword():
    r = ops.aten.add.Tensor(alpha=3, other=T, self=T)
    assert r.tolist() == [4.0, 4.0]


@pytest.mark.parametrize(
    "call",
    [
        ops.aten.sin.default,
        lambda **kw: ops.aten.sin.default.redispatch(dispatch.DispatchKeySet("CPU"), **kw),
        lambda **kw: ops.aten.sin.default._op_dk(dispatch.DispatchKey.CPU, **kw),
        lambda **kw: ops.aten.sin.default._handle.redispatch_boxed(
            dispatch.DispatchKeySet("CPU"), **kw
        ),
        lambda **kw: dispatch.FakeTensorMode().dispatch(ops.aten.sin.default, (), (), kw),
    ],
)
def test_operators_take_no_names_of_functions(call):
    with pytest.raises(RuntimeError, match="self"):
        call(input=T)


@pytest.mark.parametrize(
    ("argument", "given", "error"),
    [
        ("Scalar x", 1 << 70, OverflowError),
        ("Scalar[] x", [1 << 70], OverflowError),
        ("Scalar[] x", 1 << 70, RuntimeError),
        ("Scalar x", [1 << 70], RuntimeError),
    ],
)
def test_only_an_element_overflows(takes, argument, given, error):
    text = "does not fit in 64 bits" if error is OverflowError else "must be"
    with pytest.raises(error, match=rf"values::op1: argument 'x' .* {text}"):
        takes(argument, given)


@pytest.mark.parametrize("bad", ["a", object(), [1], None])
def test_functions_and_methods_raise_type_errors(bad):
    for call in (lambda: dispatch.add(T, bad), lambda: T.add(bad)):
        with pytest.raises(TypeError, match=r"aten::add"):
            call()


def test_numbers_stand_for_tensors_only_where_pytorch_takes_them():
    assert ops.aten.add.Tensor(T, 2).tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="'other'"):
        ops.aten.maximum.default(T, 2)


def test_default_lists_cannot_be_changed_by_a_kernel(library):
    lib = library("values", "DEF")
    lib.define("d(Tensor t, int[] x=[1, 2], *, int[] y=[3]) -> int[]")

    def kernel(t, x=None, *, y=None):
        assert x is None and y is None
        return [7]

    lib.impl("d", kernel, "CompositeExplicitAutograd")
    assert ops.values.d(T) == [7]
    assert ops.values.d(T) == [7]


@pytest.mark.parametrize("n", [0, 1, 63])
def test_long_argument_lists(library, n):
    lib = library("values", "DEF")
    names = [f"a{i}" for i in range(n)]
    lib.define("long(Tensor t" + "".join(f", int {a}=0" for a in names) + ") -> int")
    lib.impl("long", lambda t, *args: sum(args), "CompositeExplicitAutograd")
    assert ops.values.long(T, *range(1, n + 1)) == n * (n + 1) // 2
    assert ops.values.long(T, **dict.fromkeys(names, 1)) == n


def test_more_than_64_arguments_are_refused(library):
    lib = library("values", "DEF")
    with pytest.raises(RuntimeError, match="64 arguments"):
        lib.define("huge(" + ", ".join(f"int a{i}=0" for i in range(70)) + ") -> ()")
    assert not hasattr(ops.values, "huge")


def test_mismatches_leave_no_references(grown_blocks):
    def call():
        for args in ((T, "a"), (T,), (T, [1, 2, 3])):
            with suppress(RuntimeError):
                ops.aten.add.Tensor(*args)

    assert grown_blocks(call) < 200


def test_conversions_leave_no_references(grown_blocks):
    assert grown_blocks(lambda: ops.aten.view.default(T, range(2, 3))) < 200
    assert grown_blocks(lambda: ops.aten.view.default(T, (n for n in (1, 2)))) < 200
    assert grown_blocks(lambda: ops.aten.sum.dim_IntList(T, 0, np.bool_(True))) < 200


def test_a_lone_int_stands_for_a_list_of_plain_ints_only() -> None:
    """`ops` takes it for `int[1]`, not for `SymInt[1]`; functions and methods take it for both."""
    x = dispatch.empty(2, 3, device="meta")
    assert dispatch.ops.aten.sum.dim_IntList(x, 1).shape == (2,)
    with pytest.raises(RuntimeError, match="shifts"):
        dispatch.ops.aten.roll.default(x, 1, 0)
    assert dispatch.roll(x, 1, 0).shape == (2, 3)


@pytest.mark.parametrize("mask", [[], [True], [True] * 3])
def test_a_list_of_bools_has_the_length_that_the_schema_says(mask, takes):
    """A kernel in C reads as many as there should be; one in Python gets what was given."""
    x = dispatch.ones(1, 1, 2, 2)
    grid = dispatch.ones(1, 2, 2, 2)
    with pytest.raises(RuntimeError, match="output_mask"):
        ops.aten.grid_sampler_2d_backward(x, x, grid, 0, 0, False, mask)
    assert takes("bool[2] mask", mask) == ([mask], {})


class _Sees(dispatch.TorchDispatchMode):
    """Hands each call's first list to `see`."""

    def __init__(self, see):
        super().__init__()
        self.see = see

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.see(*[arg for arg in args if type(arg) is list][:1])
        return T


@pytest.mark.parametrize("spell", [dispatch.zeros, lambda *sizes: dispatch.zeros(list(sizes))])
def test_lists_that_a_handler_keeps_are_no_later_calls(spell):
    """A call's list is made anew, or another call's that nobody else has."""
    kept = []
    with _Sees(kept.append):
        for sizes in ((2, 3), (7,), (4,), (1, 2, 1, 2, 1, 2, 1, 2, 1), (5, 6)):
            spell(*sizes)
    assert kept == [[2, 3], [7], [4], [1, 2, 1, 2, 1, 2, 1, 2, 1], [5, 6]]


@pytest.mark.parametrize(
    "change",
    [
        lambda sizes: sizes.append(object()),
        lambda sizes: sizes.__setitem__(0, "text"),
        list.clear,
        lambda sizes: sizes.extend(range(100)),
        lambda sizes: sizes.__delitem__(slice(0, 1)),
    ],
)
def test_a_list_that_a_handler_changes_is_no_later_calls(change):
    """It may have other items, or no room any more."""
    for _ in range(3):
        with _Sees(change):
            dispatch.zeros(2, 3)
        assert dispatch.zeros(4, 5, 1).shape == (4, 5, 1)
        assert dispatch.ops.aten.zeros.default([6, 7]).shape == (6, 7)


def test_what_a_handler_puts_into_a_list_ends_with_the_call():
    """A list that is kept for the next call holds nothing."""
    put = type("Put", (), {})()
    gone = weakref.ref(put)
    with _Sees(lambda sizes, put=put: sizes.append(put)):
        dispatch.zeros(2, 3)
    del put
    assert gone() is None


class _Looks:
    """Reads every list of three as it goes."""

    def __del__(self):
        for o in gc.get_objects():
            if type(o) is list and len(o) == 3:
                list(o)


def test_what_goes_with_a_list_finds_it_whole():
    """No list has places that nothing stands in while other code runs."""
    with _Sees(lambda sizes: sizes.append(_Looks())):
        dispatch.zeros(2, 3)


def _list_between_calls():
    """The list of a call that ended, which the next one takes."""
    seen = []
    with _Sees(lambda sizes: seen.append(id(sizes))):
        dispatch.zeros(2, 3)
    return next(o for o in gc.get_objects() if id(o) == seen[0])


def test_a_list_found_between_calls_stays_as_it_is():
    """Who looks through all objects has what a call left."""
    found = _list_between_calls()
    dispatch.zeros(2, 3)
    assert found == []


def test_what_is_put_into_a_list_between_calls_is_let_go():
    """Even if its finder has forgotten it."""
    put = type("Put", (), {})()
    gone = weakref.ref(put)
    _list_between_calls().append(put)
    del put
    dispatch.zeros(2, 3)
    assert gone() is None
