"""functionalize: the same values as eager, without writes or views below."""

import math

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import dispatch
from dispatch import _C, symbolic
from dispatch._C.tags import Tag
from dispatch.functional import functionalize, wrappers
from dispatch.functional.custom import can_auto_functionalize
from dispatch.modes import TorchDispatchMode


class Log(TorchDispatchMode):
    def __init__(self):
        self.ops = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.ops.append(func)
        return func(*args, **(kwargs or {}))


# No reshape or contiguous: whether they are views depends on strides, and a copy's differ.
VIEWS = [
    lambda t: t[0] if t.ndim and t.shape[0] else t,
    lambda t: t[1:] if t.ndim else t,
    lambda t: t.t() if t.ndim == 2 else t,
    lambda t: t.unsqueeze(-1),
    lambda t: t.unsqueeze(0),
    lambda t: t.squeeze(),
    lambda t: t.diagonal() if t.ndim >= 2 else t,
    lambda t: t.split(2)[0] if t.ndim and t.shape[0] else t,
    lambda t: t.unbind(0)[-1] if t.ndim and t.shape[0] else t,
    lambda t: t.narrow(0, 0, 1) if t.ndim and t.shape[0] else t,
    lambda t: t.detach(),
    lambda t: t.permute(*reversed(range(t.ndim))) if t.ndim else t,
]
WRITES = [
    lambda t: t.add_(1),
    lambda t: t.mul_(3),
    lambda t: t.zero_(),
    lambda t: t.fill_(2),
    lambda t: t.copy_(t * 2),
    lambda t: t.clamp_(max=5),
]
steps = st.lists(
    st.tuples(st.booleans(), st.integers(0, 11), st.integers(0, 20)), min_size=1, max_size=8
)


def run(program, x):
    live = [x]
    for is_view, which, target in program:
        t = live[target % len(live)]
        if is_view:
            live.append(VIEWS[which % len(VIEWS)](t))
        else:
            WRITES[which % len(WRITES)](t)
    return live


def numbers(n=3):
    return dispatch.tensor([[float(i * n + j) for j in range(n)] for i in range(n)])


@settings(max_examples=60, deadline=None)
@given(steps, st.sampled_from(["mutations", "mutations_and_views"]))
def test_random_programs_give_what_eager_gives(program, remove):
    eager, x = numbers(), numbers()
    want = run(program, eager)
    log = Log()
    with log:
        got = functionalize(lambda t: run(program, t), remove=remove)(x)
    assert [t.tolist() for t in got] == [t.tolist() for t in want]
    assert x.tolist() == eager.tolist()
    for op in log.ops:
        assert not op._schema.is_mutable or op is dispatch.ops.aten.copy_.default
        if remove == "mutations_and_views" and op is not dispatch.ops.aten.detach.default:
            assert not op.is_view, op


def test_state_is_put_back_after_an_error():
    def fail(t):
        raise ValueError

    with pytest.raises(ValueError):
        functionalize(fail)(dispatch.ones(2))
    assert not _C._dispatch_tls_is_dispatch_key_included(_C.DispatchKey.Functionalize)
    assert not _C._functionalization_reapply_views_tls()
    assert not _C._is_functional_tensor(dispatch.ones(1))


def test_a_wrapper_below_functionalization_is_an_error():
    w = _C._to_functional_tensor(dispatch.ones(2))
    key = _C.DispatchKeySet(_C.DispatchKey.Functionalize)
    with (
        _C._ExcludeDispatchKeyGuard(key),
        pytest.raises(RuntimeError, match=r"aten::add\.Tensor.*functional"),
    ):
        w + 1
    assert (w + 1).sum().item() == 4


def test_a_result_that_does_not_fit_leaves_the_tensor_alone():
    w = _C._to_functional_tensor(dispatch.ones(2, dtype=dispatch.int32))
    with pytest.raises(RuntimeError, match="aten::add_"):
        w.add_(1.5)
    with pytest.raises(RuntimeError, match="aten::add_"):
        w.add_(dispatch.ones(3, 2, dtype=dispatch.int32))
    assert _C._from_functional_tensor(w).tolist() == [1, 1]
    assert not _C._functionalize_has_data_mutation(w)


@pytest.mark.parametrize(("size", "step"), [(2, 2), (2, 3), (3, 3), (1, 4)])
@pytest.mark.parametrize("remove", ["mutations", "mutations_and_views"])
def test_windows_that_do_not_overlap_are_written_back(size, step, remove):
    """What lies between and behind them stays as it was."""

    def program(t):
        t = t.clone()
        t.unfold(0, size, step).add_(10)
        return t

    x = dispatch.arange(8.0)
    assert functionalize(program, remove=remove)(x).tolist() == program(x).tolist()


def test_unfold_cannot_be_written_through_as_a_view():
    def f(t):
        t.unfold(0, 2, 1).add_(1)
        return t

    with pytest.raises(RuntimeError, match="unfold"):
        functionalize(f)(dispatch.ones(4))


@pytest.mark.parametrize("name", ["view_copy", "t_copy", "squeeze_copy"])
def test_copies_share_no_memory(name):
    x = dispatch.ones(1, 2)
    args = ([2],) if name == "view_copy" else ()
    getattr(dispatch.ops.aten, name)(x, *args).add_(1)
    assert x.tolist() == [[1.0, 1.0]]
    assert Tag.view_copy in getattr(dispatch.ops.aten, name).default.tags


def test_scatters_write_a_part_of_a_copy():
    x = dispatch.zeros(2, 2)
    assert x.diagonal_scatter(dispatch.ones(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    strided = x.as_strided_scatter(dispatch.ones(2), (2,), (2,), 1)
    assert strided.tolist() == [[0.0, 1.0], [0.0, 1.0]]
    with pytest.raises(RuntimeError, match="diagonal_scatter"):
        x.diagonal_scatter(dispatch.ones(3))
    assert x.sum().item() == 0


def test_unfold_and_its_backward():
    x = dispatch.tensor([1.0, 2.0, 3.0, 4.0])
    windows = x.unfold(0, 2, 1)
    assert windows.tolist() == [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0]]
    back = dispatch.unfold_backward(windows, [4], 0, 2, 1)
    assert back.tolist() == [1.0, 4.0, 6.0, 4.0]
    with pytest.raises(RuntimeError, match="unfold"):
        x.unfold(0, 5, 1)
    with pytest.raises(IndexError, match="unfold"):
        x.unfold(2, 1, 1)


# -- kernels that answer something else ---------------------------------------------------------


class Short(TorchDispatchMode):
    """`split` gives fewer parts from its second call on."""

    def __init__(self):
        self.calls = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if "split" not in func.name():
            return out
        self.calls += 1
        return out if self.calls == 1 else []


def test_a_view_that_is_gone_when_it_is_replayed_is_an_error():
    def step(x):
        parts = x.split(2)
        parts[1].add_(1)
        return x + parts[0]

    with Short(), pytest.raises(RuntimeError, match="replayed"):
        functionalize(step)(dispatch.ones(4))


class Fewer(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        return out[:1] if "_foreach" in func.name() else out


def test_a_list_of_results_that_is_too_short_is_an_error():
    def step(x):
        dispatch.ops.aten._foreach_add_.Scalar([x, x.clone()], 1)
        return x

    with Fewer(), pytest.raises(RuntimeError, match="expected a tuple of 2"):
        functionalize(step)(dispatch.ones(4))


def test_a_view_that_was_given_an_expression_is_symbolic() -> None:
    """So are views of it; a view by plain numbers of a tensor with symbolic sizes is not."""
    mode = dispatch.FakeTensorMode(shape_env=symbolic.ShapeEnv())
    context = symbolic.StatelessSymbolicContext(dynamic_sizes=[symbolic.DimDynamic.DYNAMIC] * 2)
    fake = mode.from_tensor(dispatch.empty(5, 7), symbolic_context=context)
    with mode:
        wrapper = dispatch._to_functional_tensor(fake)
        dispatch._enable_functionalization(reapply_views=False)
        try:
            cut, plain = wrapper[: wrapper.shape[0] - 1], wrapper[:2]
            row = cut[0]
        finally:
            dispatch._disable_functionalization()
        answers = [_C._functionalize_is_symbolic(t) for t in (wrapper, cut, plain, row)]
    assert answers == [False, True, False, True]


def test_a_view_is_not_made_larger():
    def grow(x):
        return x.view(4)[1:3].resize_(9)

    with pytest.raises(RuntimeError, match=r"^aten::resize_: .* larger"):
        functionalize(grow)(dispatch.ones(2, 2))
    assert functionalize(lambda x: x.view(4)[1:3].resize_(1))(dispatch.ones(2, 2)).tolist() == [1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), []),
        ((dispatch.arange(6.0).untyped_storage(),), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        ((dispatch.arange(6.0).untyped_storage(), 1, (2, 2), (2, 1)), [[1.0, 2.0], [3.0, 4.0]]),
    ],
)
def test_a_storage_is_a_new_value(arguments, expected):
    y = _C._to_functional_tensor(dispatch.ones(2))
    before = y.view(-1)
    assert y.set_(*arguments) is y
    _C._sync(y)
    assert _C._from_functional_tensor(y).tolist() == expected
    assert before.shape == (2,) and not _C._functionalize_was_storage_changed(y)


@pytest.mark.parametrize(
    ("name", "shared"), [("lift", True), ("lift_fresh", True), ("lift_fresh_copy", False)]
)
def test_a_functional_tensor_is_lifted_to_an_alias_or_a_copy(name, shared):
    t = dispatch._to_functional_tensor(dispatch.ones(2))
    lifted = getattr(dispatch.ops.aten, name)(t)
    assert dispatch._is_functional_tensor(lifted)
    t.add_(1)
    dispatch._sync(lifted)
    assert dispatch._from_functional_tensor(lifted).tolist() == [2.0 if shared else 1.0] * 2


@pytest.mark.parametrize(
    ("schema", "can"),
    [
        ("f(Tensor(a!) x) -> ()", True),
        ("f(Tensor(a!)[] x) -> ()", True),
        ("f(Tensor(a!) x) -> Tensor", True),
        ("f(Tensor(a!) x) -> int", False),
        ("f(Tensor(a!) x) -> (Tensor, int)", False),
        ("f(Tensor(a!) x, int(b!) y) -> ()", False),
        ("f(Tensor x) -> Tensor", False),
    ],
)
def test_operators_that_write_tensors_and_return_new_ones_can_be_made_functional(
    library, schema, can
):
    library("can_be", "DEF").define(schema)
    assert can_auto_functionalize(dispatch.ops.can_be.f.default) is can


def test_a_view_counts_the_changes_of_its_base_storage():
    wrapper = wrappers._to_functional_tensor(dispatch.ones(4))
    wrappers._functionalize_mark_storage_changed(wrapper)
    _C._dispatch_tls_set_dispatch_key_included("Functionalize", True)
    try:
        view = wrapper.view(2, 2)
    finally:
        _C._dispatch_tls_set_dispatch_key_included("Functionalize", False)
    assert wrappers._functionalize_storage_changed_counter(view) == 1


def test_values_under_a_wrapper_are_computed_without_autograd():
    x = _C._to_functional_tensor(dispatch.ones(2, requires_grad=True))
    x.requires_grad_()
    y = x.sin()
    assert y.requires_grad and not _C._from_functional_tensor(y).requires_grad


def test_of_results_and_written_values_the_last_ones_are_written():
    x, mean, var = dispatch.arange(24.0).reshape(2, 3, 4), dispatch.ones(3), dispatch.ones(3)
    norm = dispatch.ops.aten._native_batch_norm_legit.default
    wanted = norm(x, None, None, seen := mean.clone(), wide := var.clone(), True, 0.1, 1e-5)
    found = functionalize(norm)(x, None, None, mean, var, True, 0.1, 1e-5)
    assert [mean.tolist(), var.tolist()] == [seen.tolist(), wide.tolist()]
    assert [t.tolist() for t in found] == [t.tolist() for t in wanted]


def test_wrappers_of_a_transform_are_shown_with_its_level_and_their_data_is_seen_by_no_mode():
    texts = []

    def f(x):
        texts.append(repr(x))
        return x.data + 1

    x = dispatch.ones(2, requires_grad=True)
    with Log() as log:
        functionalize(f)(x)
    assert texts == ["FunctionalTensor(lvl=1, value=\\\ntensor([1., 1.], requires_grad=True))"]
    assert log.ops == [dispatch.ops.aten.add.Tensor]
    plain = _C._to_functional_tensor(dispatch.ones(2))
    assert repr(plain) == "_to_functional_tensor(tensor([1., 1.]))"


@pytest.mark.parametrize(
    ("change", "sizes", "after", "strides", "values"),
    [
        (lambda t: t.t_().add_(1), (2, 3), (3, 2), (1, 3), [[1, 4], [2, 5], [3, 6]]),
        (lambda t: t.transpose_(0, 1)[0].zero_(), (2, 2), (2, 2), (2, 1), [[0, 0], [1, 3]]),
        (lambda t: t.unsqueeze_(0).mul_(2), (2,), (1, 2), (2, 1), [[0, 2]]),
        (lambda t: t.resize_(8).fill_(1), (4,), (8,), (1,), [1] * 8),
        (lambda t: t.resize_(2), (4,), (2,), (1,), [0, 1]),
    ],
)
def test_an_input_takes_the_shape_that_the_function_gave_it(change, sizes, after, strides, values):
    x = dispatch.arange(float(math.prod(sizes))).reshape(sizes)
    functionalize(change)(x)
    assert (tuple(x.shape), x.stride(), x.tolist()) == (after, strides, values)
