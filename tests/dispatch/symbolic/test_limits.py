"""Where expressions end: depth, size, circles, other tables, environments that are gone."""

import gc
import pickle
import sys
import threading
from typing import Any

import pytest

import dispatch
from dispatch.fake import FakeTensorMode
from dispatch.symbolic import (
    ConstantSource,
    DimDynamic,
    ShapeEnv,
    SymInt,
    SymNode,
    sym_float,
    sym_max,
)
from dispatch.symbolic.expr import Expr, build, count_pages

from .making import size


def deepest(env: ShapeEnv) -> Any:
    """An expression as deep as one can be."""
    x, b = size(env, 5, "a"), size(env, 7, "b")
    with pytest.raises(RecursionError, match="nested more than"):
        for i in range(100_000):
            x = sym_max(x % 7 + b, i)
    return x


def test_deep_expression_ends_where_it_is_made_and_can_be_used() -> None:
    env = ShapeEnv()
    x = deepest(env)
    e = x.node.expr
    copy = pickle.loads(pickle.dumps(e))
    assert copy == e
    assert env.sympify(copy) is e
    assert env.bound_sympy(env.simplify(e)).lower >= 0
    assert bool(x >= 0)
    pickle.loads(pickle.dumps(env))
    with pytest.raises(RecursionError):
        str(e)


def test_small_stack_ends_in_an_exception() -> None:
    e, found = deepest(ShapeEnv()).node.expr, []

    def take_in() -> None:
        try:
            str(ShapeEnv().sympify(e))
        except RecursionError as error:
            found.append(error)

    before = threading.stack_size(256 << 10)
    thread = threading.Thread(target=take_in)
    thread.start()
    thread.join()
    threading.stack_size(before)
    assert len(found) == 1


def test_text_of_a_nest_takes_no_doubling_time() -> None:
    env = ShapeEnv()
    x, b = size(env, 5, "a"), size(env, 7, "b")
    for i in range(60):
        x = sym_max(x // 3 % 11 + b, i)
    assert str(x).count("Max") > 20


def test_pickle_keeps_every_digit_and_what_is_assumed() -> None:
    env, other = ShapeEnv(), ShapeEnv()
    a = size(env, 5, "a")
    e = (sym_float(a) * (0.1 + 0.2)).node.expr
    assert env.sympify(pickle.loads(pickle.dumps(e))) is e
    plain = other.create_unspecified_symint_and_symbol(
        5, ConstantSource("a"), DimDynamic.DYNAMIC
    )
    assert str(plain) == str(a)
    for n in (a, plain):
        copy = pickle.loads(pickle.dumps(n.node.expr))
        assert copy.is_positive == n.node.expr.is_positive


def test_replacements_go_in_no_circle() -> None:
    env = ShapeEnv()
    u, v, w = (env.create_unbacked_symint() for _ in range(3))
    for s, target in ((u, v + 1), (v, w * 2), (w, u - 1), (v, u), (u, w)):
        env._replace_by(s.node.expr, target.node.expr)
        env._rename_unbacked_to(s.node.expr, next(iter(target.node.expr.free_symbols)))
    for n in (u, v, w):
        env.replace(n)
    assert all(s not in env.replace(e).free_symbols for s, e in env.replacements.items())


@pytest.mark.parametrize("power", [2**17, 2**40, 2**62])
def test_number_without_end_is_refused(power: int) -> None:
    a = size(ShapeEnv(), 5, "a")
    for make in (lambda: a**power, lambda: a << power):
        with pytest.raises(OverflowError):
            make()


@pytest.mark.parametrize(
    ("name", "count"), [("Pow", 1), ("ModularIndexing", 1), ("Piecewise", 2), ("Add", 0),
                        ("IsNonOverlappingAndDenseIndicator", 3), ("OpaqueUnaryFn_sqrt", 2)],
)  # fmt: skip
def test_operation_takes_so_many_arguments(name: str, count: int) -> None:
    e = size(ShapeEnv(), 5, "a").node.expr
    with pytest.raises(TypeError, match=f"{name} of {count} arguments"):
        build(e.table, name, [e] * count)


def test_nodes_of_two_environments_do_not_meet() -> None:
    a, b = size(ShapeEnv(), 5, "a"), size(ShapeEnv(), 5, "b")
    for make in (lambda: a + b, lambda: a.node.sym_sum([a.node, b.node]), lambda: a == b + 1):
        with pytest.raises(AssertionError, match="two ShapeEnvs"):
            make()
    assert a.node.expr == size(ShapeEnv(), 5, "a").node.expr


def test_lists_of_another_length_are_refused() -> None:
    env = ShapeEnv()
    node = size(env, 5, "a").node
    with pytest.raises(IndexError):
        node.is_contiguous([node] * 4, [])
    with pytest.raises(IndexError):
        env._create_symbolic_sizes_strides_storage_offset((5, 7), (), 0, None, ConstantSource("x"))
    env.replacements[5] = 6  # type: ignore[index,assignment]
    with pytest.raises(TypeError):
        env.replacements  # noqa: B018


def test_environment_whose_subclass_ends_otherwise_leaves_no_handle() -> None:
    class Silent(ShapeEnv):
        def __del__(self) -> None:
            pass

    gc.collect()
    before = count_pages()
    env = Silent()
    t = FakeTensorMode(shape_env=env).from_tensor(dispatch.empty(5, 7))
    e = t.shape[0].node.expr
    assert count_pages() == before + 1
    del env, t
    gc.collect()
    assert str(e + 1) == f"{e} + 1"
    del e
    gc.collect()
    assert count_pages() == before


def test_what_no_init_saw_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    t = mode.from_tensor(dispatch.empty(5, 7))
    for node in (5, env, SymNode.__new__(SymNode), Expr.__new__(Expr)):
        with pytest.raises((AttributeError, TypeError, RuntimeError)), mode:
            t.new_empty([SymInt(node), 3])
    with pytest.raises((AttributeError, TypeError, RuntimeError)):
        dispatch.ops.aten.sum.default(t, dtype=env.create_unbacked_symint())
    assert not ignored


def test_guards_of_threads_are_all_there() -> None:
    env = ShapeEnv()
    a = size(env, 5, "a")

    def ask(i: int) -> None:
        for j in range(50):
            bool(a * (50 * i + j + 2) % (i + 3) > j)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asked = {str(g.expr) for g in env.guards}
    assert len(asked) == len(env.guards)
    count = len(env.guards)
    for i in range(4):
        ask(i)
    assert len(env.guards) == count


def test_guard_unpacks_as_a_tuple() -> None:
    env = ShapeEnv()
    bool(size(env, 5, "a") > 3)
    expr, sloc, oblivious = env.guards[0]
    assert (expr, oblivious, len(env.guards[0])) == (env.guards[0][0], False, 3)
    assert sloc.name == "test_guard_unpacks_as_a_tuple"


@pytest.mark.parametrize("handle", [-(2**63), -(2**63) + 1, -(2**63) + 5, -(2**62) - 1])
def test_number_in_the_place_of_a_handle_is_refused(handle: int) -> None:
    size(ShapeEnv(), 5, "a")
    x = dispatch.ones(3)
    calls = (
        lambda: dispatch.empty(handle), lambda: x.expand(handle, 3), lambda: x.view(handle),
        lambda: x.as_strided([2], [handle]), lambda: x.as_strided([2], [1], handle),
        lambda: dispatch.empty_strided((2,), (handle,)), lambda: x.narrow(0, 0, handle),
    )  # fmt: skip
    for call in calls:
        with pytest.raises((RuntimeError, ValueError, IndexError)):
            call()
