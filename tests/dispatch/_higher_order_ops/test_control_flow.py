"""Functions that operators of higher order take: what is refused, and how nests go through."""

import pytest

import dispatch
from dispatch import FakeTensorMode
from dispatch._higher_order_ops.associative_scan import associative_scan
from dispatch._higher_order_ops.cond import cond
from dispatch._higher_order_ops.map import map as map_rows
from dispatch._higher_order_ops.out_dtype import out_dtype
from dispatch._higher_order_ops.print import print as higher_print
from dispatch._higher_order_ops.scan import scan
from dispatch._higher_order_ops.while_loop import while_loop
from dispatch.functional import functionalize
from dispatch.modes import TorchDispatchMode
from dispatch.symbolic import ShapeEnv

aten = dispatch.ops.aten
YES, X = dispatch.tensor(True), dispatch.ones(3, 2)


def same(x):
    return x


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: cond("1", same, same, (X,)), "Expected pred to be bool or tensor"),
        (lambda: cond(X, same, same, (X,)), "bool or single-element tensor"),
        (lambda: cond(YES, 1, same, (X,)), "Expect both branches to be callable"),
        (lambda: cond(YES, same, same, X), "Expect operands to be a tuple of possibly nested"),
        (lambda: cond(YES, same, same, ("a",)), "Expect operands to be a tuple"),
        (lambda: map_rows(same, 3), "Mapped xs can only consist of tensors"),
        (lambda: map_rows(same, dispatch.ones(())), "tensors with rows"),
        (lambda: map_rows(same, dispatch.ones(0, 2)), "Leading dimensions .* cannot be 0"),
        (lambda: map_rows(same, [X, X[1:]]), "must be consistent"),
        (lambda: scan(3, X[0], X), "Combine_fn must be a callable"),
        (lambda: scan(same, X[0], X, dim="a"), "Dim must be an int"),
        (lambda: scan(same, X[0], X, reverse=1), "Reverse must be a bool"),
        (lambda: scan(same, (), X), "requires init leaves"),
        (lambda: scan(same, 3, X), "All init leaves must be a Tensor"),
        (lambda: scan(same, X, [3]), "All xs leaves must be a Tensor"),
        (lambda: scan(same, X[0], X[:0]), "scan dimension > 0"),
        (lambda: while_loop(1, same, (X,)), "Expect cond_fn and body_fn to be callable"),
        (lambda: while_loop(same, same, ("a",)), "Expect carried_inputs to be a tuple"),
    ],
)
def test_arguments_are_refused_in_the_words_of_pytorch(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


@pytest.mark.parametrize(
    ("op", "text"),
    [
        (dispatch.add, "must be an OpOverload"),
        (aten.add_.Tensor, "needs to be a functional operator"),
        (aten.topk.default, "can only apply to ops that return a single tensor"),
        (aten.split_copy.Tensor, "can only apply to ops that return a single tensor"),
        (aten.add.Tensor, "only allows the following operators"),
    ],
)
def test_out_dtype_takes_few_operators(op, text):
    with pytest.raises(ValueError, match=text):
        out_dtype(op, dispatch.int32, X, X)


def test_a_loop_carries_nests():
    """What the body returns may have nests again, and the result has those of the input."""

    def body(i, values):
        return i + 1, {"a": values["a"] * 2, "b": [values["b"][0] + i]}

    start = dispatch.tensor(0), {"a": dispatch.ones(2), "b": [dispatch.zeros(2)]}
    i, values = while_loop(lambda i, values: i < 3, body, start)
    assert i.item() == 3
    assert values["a"].tolist() == [8, 8]
    assert values["b"][0].tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="expected a tuple of 2"):
        while_loop(lambda i, values: i < 3, lambda i, values: i, start)


def test_a_loop_gives_what_its_body_gives():
    start = dispatch.tensor(0), dispatch.ones(2)
    assert type(while_loop(lambda i, x: i < 3, lambda i, x: [i + 1, x], start)) is list
    assert type(while_loop(lambda i, x: i < 0, lambda i, x: [i + 1, x], list(start))) is tuple


def test_a_loop_of_one_value_needs_no_tuple_and_gives_none():
    doubled = while_loop(lambda x: x.sum() < 5, lambda x: x * 2, [dispatch.ones(2)])
    assert doubled.tolist() == [4, 4]
    with pytest.raises(RuntimeError, match="carried_inputs to be a tuple"):
        while_loop(lambda x: x.sum() < 5, lambda x: x * 2, dispatch.ones(2))


def test_numbers_that_a_loop_carries_are_unknown_after_it():
    env = ShapeEnv()
    with FakeTensorMode(shape_env=env):
        start = 0, dispatch.ones(2)
        count, x = while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), start)
        assert not count.node.has_hint() and x.shape == (2,)


def test_a_question_about_a_size_decides_without_a_guard():
    with FakeTensorMode(shape_env=ShapeEnv()) as mode:
        x = mode.from_tensor(X)
        found = cond(x.shape[0] == 4, lambda x: x.sin(), lambda x: x.cos(), (x,))
        assert found.shape[1] == x.shape[1] and not mode.shape_env.guards


def merged(*branches, env=True):
    with FakeTensorMode(shape_env=ShapeEnv() if env else None) as mode:
        return cond(mode.from_tensor(YES), *branches, (mode.from_tensor(X, static_shapes=True),))


def test_sizes_on_which_branches_differ_lie_between_them():
    wide = merged(lambda x: x[:1].clone().t(), lambda x: dispatch.cat([x, x]).t())
    rows, columns = wide.shape
    node, env = columns.node, columns.node.shape_env
    assert rows == 2 and wide.stride() == (1, 2) and not node.has_hint()
    assert (env.bound_sympy(node.expr).lower, env.bound_sympy(node.expr).upper) == (1, 6)
    spread = merged(lambda x: x[:, :1].expand(3, 4), lambda x: x[:, :1].expand(3, 5))
    assert spread.shape[0] == 3 and spread.stride()[1] == 0
    number = merged(lambda x: (x + 1, 3), lambda x: (x + 1, 4))[1]
    assert number.node.shape_env.bound_sympy(number.node.expr).upper == 4


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (lambda x: x.to(dispatch.int32), "dtype: one branch gives"),
        (lambda x: x.sum(), "dim: one branch gives 2"),
        (lambda x: x[:1], "need a ShapeEnv: 3 and 1"),
    ],
)
def test_branches_that_differ_otherwise_are_refused(other, text):
    words = f"When merging two branches' output in torch.cond, .*{text}"
    with pytest.raises(RuntimeError, match=words):
        merged(lambda x: x + 1, other, env=False)


ROWS = dispatch.arange(6.0).view(3, 2)


def test_scans_of_sums_are_sums():
    for dim in (0, 1, -1):
        found = associative_scan(lambda a, b: a + b, ROWS, dim, combine_mode="generic")
        assert found.equal(ROWS.cumsum(dim))
    back = associative_scan(lambda a, b: a + b, ROWS, 0, reverse=True, combine_mode="generic")
    assert back.equal(ROWS.flip(0).cumsum(0).flip(0))
    nest = associative_scan(
        lambda a, b: {"x": (a["x"][0] * b["x"][0],)}, {"x": (ROWS,)}, 0, combine_mode="generic"
    )
    assert nest["x"][0].equal(ROWS.cumprod(0))


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ((3, ROWS, 0), ValueError, "callable"), ((same, [], 0), IndexError, "at least one"),
        ((same, ROWS, 5), IndexError, "out of range"), ((same, [3], 0), ValueError, "leaves"),
        ((lambda a, b: a.sum(), ROWS, 0), RuntimeError, "expected rows"),
        ((same, (ROWS, ROWS[:2]), 0), RuntimeError, "different numbers of rows"),
        ((same, ROWS[:0], 0), ValueError, "no rows"),
    ],
)  # fmt: skip
def test_scans_refuse_other_things(given, kind, text):
    with pytest.raises(kind, match=text):
        associative_scan(*given, combine_mode="generic")
    with pytest.raises(ValueError, match="other devices"):
        associative_scan(same, ROWS, 0)


def test_texts_have_values_in_them(capsys):
    higher_print("{} and {x}", 1, x=dispatch.ones(2))
    assert capsys.readouterr().out == "1 and tensor([1., 1.])\n"
    with FakeTensorMode():
        higher_print("{}", dispatch.ones(2))
    assert capsys.readouterr().out == ""
    with pytest.raises(AssertionError, match="must be a string"):
        higher_print(3)


def test_printing_keeps_its_order():
    """`aten::_print` is declared as ordered from the start."""
    from dispatch.functional.effects import _get_effect
    from dispatch.registry.effects import EffectType

    assert _get_effect("aten::_print") is EffectType.ORDERED


def test_going_backward_needs_something_that_requires_grad():
    """Results of `out_dtype` in an integer dtype require none."""
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        out_dtype(aten.mm.default, dispatch.int32, X.t(), X.requires_grad_()).backward()
    with pytest.raises(RuntimeError, match="no autograd engine"):
        (X * 2).backward()
    X.requires_grad_(False)


def returns_it(t, *rest):
    return (t.view(t.shape),) * (1 + len(rest))


def writes_it(t, *rest):
    t.view(-1).add_(4)
    return (t.sin(), *(x.cos() for x in rest))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda f, x: cond(x.sum() > 0, f, lambda x: (x.sin(),), (x,)), "cond_true"),
        (lambda f, x: cond(x.sum() > 0, lambda x: (x.sin(),), f, (x,)), "cond_false"),
        (lambda f, x: while_loop(lambda x: x.sum() < 3, f, (x,)), "body_fn"),
        (lambda f, x: map_rows(f, x), "map"),
        (lambda f, x: scan(f, x[0], x), "scan"),
    ],
)
@pytest.mark.parametrize("function", [returns_it, writes_it])
def test_functionalized_functions_neither_write_nor_return_what_they_are_given(
    call, name, function
):
    """Also where a fake mode without symbols is on; inside of inference mode too."""
    doing = "aliasing the input or the output" if function is returns_it else "modifying the input"
    run = functionalize(lambda x: call(function, x))
    with pytest.raises(RuntimeError, match=f"{name} might be {doing}!"):
        run(X)
    with dispatch.inference_mode(), pytest.raises(RuntimeError, match=f"{name} might be {doing}!"):
        run(X.clone())
    with FakeTensorMode() as mode, pytest.raises(RuntimeError, match=f"{name} might be {doing}!"):
        run(mode.from_tensor(X))


def test_branches_run_functionalized_below_a_functionalized_call():
    """What runs a branch is off functionalization's key, and the branch is on it again."""

    def writes(t):
        return (t.clone().add_(1),)

    run = functionalize(lambda x: cond(x.sum() > 0, writes, writes, (x,))[0] * 2)
    assert run(X).equal((X + 1) * 2)
    assert functionalize(lambda x: x.clone().mul_(3))(X).equal(X * 3)


@pytest.mark.parametrize("answer", [X, (X, X, X), 5])
def test_what_a_mode_answers_is_the_result(answer):
    """It ran no function, and so there is no structure to put its results in."""

    class Answering(TorchDispatchMode):
        supports_higher_order_operators = True

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return answer

    with Answering():
        assert cond(YES, same, same, (X,)) is answer
        assert while_loop(lambda x: x.any(), same, (X,)) is answer
        assert map_rows(same, X) is answer


def test_a_fake_mode_counts_a_call_that_no_cache_holds():
    with FakeTensorMode() as mode:
        x = dispatch.ones(2)
        for n in (1, 2):
            assert cond(x.sum() > 0, lambda a: a + 1, lambda a: a - 1, (x,)).shape == (2,)
            assert mode.cache_info().bypasses["function argument"] == n
