"""Calls with sizes, places and counts that data decide: what they give, and what they assert."""

from typing import Any

import pytest

import dispatch
from dispatch import FakeTensorMode
from dispatch.symbolic import (
    ConstantSource,
    DimDynamic,
    GuardOnDataDependentSymNode,
    ShapeEnv,
    StatelessSymbolicContext,
    _check,
)


class Run:
    """x is a vector of s0, u any number, w a size; nz has u2 rows."""

    def __init__(self) -> None:
        env = self.env = ShapeEnv()
        self.mode = FakeTensorMode(shape_env=env)
        context = StatelessSymbolicContext([DimDynamic.DYNAMIC])
        x = self.mode.from_tensor(
            dispatch.empty(9), source=ConstantSource("x"), symbolic_context=context
        )
        u, w = env.create_unbacked_symint(), env.create_unbacked_symint()
        _check(w >= 0)
        with self.mode:
            nz = dispatch.nonzero(x)
        self.names = {"x": x, "u": u, "w": w, "nz": nz, "n": x.shape[0], "d": dispatch}
        self.known = len(self.asserts())

    def asserts(self) -> list[str]:
        return [str(a.expr) for each in self.env.deferred_runtime_asserts.values() for a in each]

    def __call__(self, code: str) -> Any:
        with self.mode:
            return eval(code, dict(self.names))


def numbers(text: str, n: Any) -> str:
    return text.replace(str(n), "n")


@pytest.mark.parametrize(
    "code, shape, offset",
    [
        ("x[:w]", "(Min(n, u1),)", "0"),
        ("x[w:]", "(Max(0, n - Min(n, u1)),)", "Min(n, u1)"),
        ("x[w:w + 2]", "(Max(0, -Min(n, u1) + Min(n, u1 + 2)),)", "Min(n, u1)"),
        ("x[:-w - 1]", "(Max(0, n - u1 - 1),)", "0"),
        ("nz[:2]", "(Min(2, u2), 1)", "0"),
        ("d.ones(5)[w:3]", "(Max(0, 3 - Min(5, u1)),)", "Min(5, u1)"),
    ],
)
def test_a_slice_of_known_sign_stays_within_the_dimension(
    code: str, shape: str, offset: str
) -> None:
    run = Run()
    t = run(code)
    n = run.names["n"]
    assert numbers(str(tuple(t.shape)), n) == shape
    assert numbers(str(t.storage_offset()), n) == offset
    assert len(run.asserts()) == run.known
    assert run.env.guards == []


@pytest.mark.parametrize("code", ["x[u:]", "x[:u]", "x[u:u + 3]", "x[-u:]", "x[1:u]", "x[u:w]"])
def test_of_a_slice_of_unknown_sign_data_decide_the_length(code: str) -> None:
    run = Run()
    t = run(code)
    n = run.names["n"]
    length = t.shape[0]
    assert length.node.expr.is_symbol
    assert sorted(numbers(a, n) for a in run.asserts()[run.known :]) == [
        f"0 <= {length}",
        f"{length} <= n",
    ]
    starts_at_u = not code.startswith(("x[:", "x[1"))
    assert (str(t.storage_offset()).startswith("u")) == starts_at_u


@pytest.mark.parametrize(
    "code, shape, asserts",
    [
        ("d.empty(u)", "(u0,)", ["0 <= u0"]),
        ("d.ones(u, 2)", "(u0, 2)", ["0 <= u0"]),
        ("d.empty_strided((u, 2), (2, 1))", "(u0, 2)", ["0 <= u0"]),
        ("d.randint(5, (u,))", "(u0,)", ["0 <= u0"]),
        ("d.randint(0, u, (4,))", "(4,)", ["0 < u0"]),
        ("d.randperm(u)", "(u0,)", ["0 <= u0"]),
        ("d.arange(u)", "(u0,)", ["0 <= u0"]),
        ("d.arange(1, u)", "(u0 - 1,)", ["1 <= u0"]),
        ("d.eye(u, 3)", "(u0, 3)", ["0 <= u0"]),
        ("d.ones(3).repeat(u)", "(3*u0,)", ["0 <= u0"]),
        ("d.ones(w).unfold(0, 2, 1)", "(u1 - 1, 2)", ["2 <= u1"]),
        ("d.ones(w).kthvalue(1)[0]", "()", ["Ne(u1, 0)"]),
        ("d.ops.aten.avg_pool2d(d.ones(2, w, w), 2)", "(2, (u1//2), (u1//2))", None),
        ("nz[0]", "(1,)", ["0 < u2"]),
        ("x.narrow(0, u, 2)", "(2,)", None),
        ("x.select(0, u)", "()", []),
        ("d.ones(w)", "(u1,)", []),
    ],
)
def test_what_must_hold_of_data_is_asserted(code: str, shape: str, asserts: Any) -> None:
    run = Run()
    t = run(code)
    assert str(tuple(t.shape)) == shape
    assert asserts is None or run.asserts()[run.known :] == asserts


def test_a_place_known_to_be_negative_is_counted_from_the_end() -> None:
    run = Run()
    _check(run.names["u"] < 0)
    assert numbers(str(run("x.select(0, u).storage_offset()")), run.names["n"]) == "n + u0"



@pytest.mark.parametrize(
    "code, shape, stride",
    [
        ("d.ones(w, 3, 4).flatten(1)", "(u1, 12)", "(12, 1)"),
        ("d.ones(2, 3, w).flatten(1)", "(2, 3*u1)", "(Max(1, 3*u1), 1)"),
        ("d.ones(w, 3).view(3, -1)", "(3, u1)", "(Max(1, u1), 1)"),
        ("d.einsum('ij,jk->ik', d.ones(w, 3), d.ones(3, w))", "(u1, u1)", "(Max(1, u1), 1)"),
    ],
)
def test_contiguous_tensors_are_viewed_without_a_question(
    code: str, shape: str, stride: str
) -> None:
    run = Run()
    t = run(code)
    assert (str(tuple(t.shape)), str(t.stride())) == (shape, stride)


def test_sizes_that_a_program_gives_are_guarded_to_be_sizes() -> None:
    run = Run()
    n = run.names["n"]
    run("d.empty(n - 3)")
    assert [numbers(str(g.expr), n) for g in run.env.guards] == ["n - 3 >= 0"]
    with pytest.raises(RuntimeError, match="sizes must not be negative"):
        run("d.empty(n - 10)")


def test_a_transposed_tensor_of_data_is_not_viewed_as_contiguous() -> None:
    run = Run()
    with pytest.raises((ValueError, RuntimeError, GuardOnDataDependentSymNode)):
        run("d.ones(w, 3).t().view(-1)")


@pytest.mark.parametrize(
    "name, error",
    [
        ("_check", RuntimeError),
        ("_check_index", IndexError),
        ("_check_value", ValueError),
        ("_check_type", TypeError),
        ("_check_not_implemented", NotImplementedError),
    ],
)
def test_checks_guard_on_what_was_asked(name: str, error: type[Exception]) -> None:
    run = Run()
    check, n = getattr(dispatch, name), run.names["n"]
    check(n > 3)
    assert [numbers(str(g.expr), n) for g in run.env.guards] == ["n > 3"]
    with pytest.raises(error, match="Expected cond to be True, but got False"):
        check(n > 20)
    with pytest.raises(error, match=r"^7$"):
        check(False, lambda: 7)
    with pytest.raises(TypeError, match="must be a callable"):
        check(False, "text")
    with pytest.raises(TypeError, match="cond must be a bool, but got"):
        check(1)


def test_checks_take_the_error_and_tensors() -> None:
    with pytest.raises(KeyError, match="so"):
        dispatch._check_with(KeyError, False, lambda: "so")
    with pytest.raises(AssertionError, match="error_type must be an Exception"):
        dispatch._check_with(UserWarning, False, None)
    ones = dispatch.tensor([True, True])
    dispatch._check_tensor_all(ones)
    with pytest.raises(RuntimeError, match="Expected cond"):
        dispatch._check_tensor_all(ones.logical_not())
    with pytest.raises(ValueError, match="why"):
        dispatch._check_tensor_all_with(ValueError, ones.logical_not(), lambda: "why")
    with pytest.raises(TypeError, match="must have dtype"):
        dispatch._check_tensor_all(dispatch.ones(2))
    with pytest.raises(TypeError, match="must be a tensor"):
        dispatch._check_tensor_all(True)
