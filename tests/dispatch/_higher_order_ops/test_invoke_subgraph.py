"""`invoke_subgraph` on values, fake tensors and under functionalization; what it refuses."""

import pytest

import dispatch
from dispatch import FakeTensorMode
from dispatch._higher_order_ops.invoke_subgraph import (
    invoke_subgraph,
    invoke_subgraph_infer,
    mark_compile_region,
)
from dispatch.functional import functionalize
from dispatch.library.opaque import OpaqueBase, register_opaque_type

X = dispatch.ones(2, 3)


def body(x, n):
    return (x.sin() + n,)


def test_it_calls_the_function():
    (out,) = dispatch.ops.higher_order.invoke_subgraph(body, "one", X, 2)
    assert out.equal(X.sin() + 2)
    assert invoke_subgraph_infer(body, X, 2)[0].equal(out)


def test_a_boxed_function_gets_a_list():
    def boxed(operands):
        assert type(operands) is list
        return body(*operands)

    boxed._boxed_call = True
    assert invoke_subgraph(boxed, None, X, 2)[0].equal(X.sin() + 2)


def test_fake_operands_give_fake_results():
    with FakeTensorMode() as mode:
        (out,) = invoke_subgraph(body, "one", mode.from_tensor(X), 2)
    assert isinstance(out, dispatch.FakeTensor) and out.shape == (2, 3)


def test_results_require_grad_where_operands_do():
    (out,) = invoke_subgraph(body, "one", dispatch.ones(2, requires_grad=True), 2)
    assert out.requires_grad


def test_a_functionalized_program_has_its_writes():
    def writes(x):
        y = x.clone()
        invoke_subgraph(lambda t: (t.add_(1),), "one", y)
        return y * 2

    assert functionalize(writes)(X).equal((X + 1) * 2)


def test_wrong_operands_are_refused():
    with pytest.raises(AssertionError, match="identifier must be None or a string, got int"):
        invoke_subgraph(body, 3, X)
    with pytest.raises(AssertionError, match=r"invoke_subgraph operands must be .* got str"):
        invoke_subgraph(body, "one", X, "2")


def test_objects_of_registered_classes_are_operands():
    class Settings(OpaqueBase):
        amount = 2

    register_opaque_type(Settings, typ="reference")
    out = invoke_subgraph(lambda x, by: x + by.amount, None, X, Settings())
    assert out.equal(X + 2)


def test_a_marked_function_is_called_as_it_was():
    @mark_compile_region(max_reuse_entries=3)
    def plus(x, *, by):
        return x + by

    assert mark_compile_region(plus)(X, by=2).equal(X + 2)
    assert plus.__marked_compile_region_fn__.__marked_compile_region_max_reuse_entries__ == 3


def test_the_dispatch_cache_counts_calls_that_got_a_function():
    mode = FakeTensorMode()
    with mode:
        x = dispatch.ones(2)
        for _ in range(2):
            invoke_subgraph(body, None, x, 1)
    assert mode.cache_info().bypasses["function argument"] == 2
    mode.cache_enabled = False
    with mode:
        invoke_subgraph(body, None, x, 1)
    assert mode.cache_info().bypasses["function argument"] == 2
