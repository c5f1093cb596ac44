"""`torch.utils.checkpoint` forwards: policies are asked, kept results are given back once."""

import functools

import pytest

import dispatch
from dispatch import ops
from dispatch.as_torch.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
)

X = dispatch.ones(2, 2)
MM, SIGMOID = ops.aten.mm.default, ops.aten.sigmoid.default


def step(x, y):
    return dispatch.sigmoid(x @ y) @ y


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_a_function_runs_once(use_reentrant):
    assert dispatch.equal(checkpoint(step, X, X, use_reentrant=use_reentrant), step(X, X))
    twice = checkpoint_sequential([dispatch.neg, dispatch.neg], 2, X, use_reentrant=use_reentrant)
    assert dispatch.equal(twice, X)


def test_a_policy_is_asked_for_each_call_where_gradients_are():
    asked = []

    def policy(context, op, *args, **kwargs):
        asked.append((op, context.is_recompute, tuple(context.op_output.shape)))
        return CheckpointPolicy.PREFER_RECOMPUTE

    contexts = functools.partial(create_selective_checkpoint_contexts, policy)
    checkpoint(step, X, X, use_reentrant=False, context_fn=contexts)
    assert asked == [(op, False, (2, 2)) for op in (MM, SIGMOID, MM)]
    with dispatch.no_grad():
        checkpoint(step, X, X, use_reentrant=False, context_fn=contexts)
    assert len(asked) == 3


def test_kept_results_come_back_once():
    """Products are kept, so other arguments do not matter; what was not seen is refused."""
    first, second = create_selective_checkpoint_contexts([MM])
    with first:
        expected = step(X, X)
    zeros = dispatch.zeros(2, 2)
    with second:
        found = step(zeros, zeros)
    assert dispatch.equal(found, expected)
    with second, pytest.raises(RuntimeError, match="given back already"):
        step(X, X)
    with second, pytest.raises(RuntimeError, match="not in the first run"):
        X.exp()


def test_a_kept_result_that_was_written_to_is_refused():
    first, second = create_selective_checkpoint_contexts([MM])
    with first:
        step(X, X).add_(1)
    with second, pytest.raises(RuntimeError, match="has been mutated"):
        step(X, X)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: create_selective_checkpoint_contexts([ops.aten.mm]), ValueError),
        (lambda: create_selective_checkpoint_contexts(3), TypeError),
        (lambda: checkpoint(step, X, X, use_reentrant=True, z=1), ValueError),
        (lambda: checkpoint(step, X, X, use_reentrant=True, debug=True), ValueError),
        (lambda: checkpoint_sequential([dispatch.sin], 1, X, False, z=2), ValueError),
    ],
)
def test_what_cannot_be_asked_is_refused(wrong, error):
    with pytest.raises(error):
        wrong()


def test_a_call_says_which_kind_it_is():
    with pytest.warns(UserWarning, match="use_reentrant"):
        checkpoint(step, X, X)
