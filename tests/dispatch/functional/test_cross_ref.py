"""Functionalized calls against the same calls on fake tensors."""

import pytest

import dispatch
from dispatch import _C, ops
from dispatch.functional.cross_ref import (
    all_py_loaded_overloads,
    check_metadata_matches,
    check_tensor_metadata_matches,
    enable_crossref_functionalize,
    suspend_functionalization,
)

pytestmark = pytest.mark.usefixtures("same_state_after")


def functionalized(f, x, reapply_views=False):
    """`f(x)` and `x` after it, as functionalization gives them."""
    wrapped = _C._to_functional_tensor(x.clone())
    _C._enable_functionalization(reapply_views=reapply_views)
    try:
        result = f(wrapped)
    finally:
        _C._disable_functionalization()
    for t in (result, wrapped):
        _C._sync(t)
    return _C._from_functional_tensor(result), _C._from_functional_tensor(wrapped)


def through_a_view(x):
    x.view(4, 2).add_(dispatch.ones(4, 2))
    return x * x


@pytest.mark.parametrize("reapply_views", [False, True])
@pytest.mark.parametrize("f", [through_a_view, lambda x: x[1:].unsqueeze(0) + 1])
def test_right_rules_pass(f, reapply_views):
    x = dispatch.arange(8.0).view(4, 2)
    with enable_crossref_functionalize():
        result, changed = functionalized(f, x, reapply_views)
    assert dispatch.equal(result, f(x)) and dispatch.equal(changed, x)


def test_a_copy_of_a_view_has_other_strides():
    x = dispatch.arange(8.0).view(4, 2)
    with enable_crossref_functionalize():
        functionalized(lambda x: x.diagonal() * 2, x, reapply_views=True)
        with pytest.raises(AssertionError, match=r"aten.diagonal.default\(empty_strided.*strides"):
            functionalized(lambda x: x.diagonal() * 2, x)
    functionalized(lambda x: x.diagonal() * 2, x)


def test_wrong_sizes_are_found_and_only_in_the_block(library):
    lib = library("tcf", "DEF")
    lib.define("f(Tensor x, *, int n=1) -> Tensor")
    lib.impl("f", lambda x, n=1: x.clone(), "CPU")
    lib.impl("f", lambda x, n=1: x.new_empty(3), "Meta")
    x = dispatch.ones(2)
    for _ in range(2):
        functionalized(ops.tcf.f, x)
        with enable_crossref_functionalize(), pytest.raises(AssertionError, match=r"n=2\).*sizes"):
            functionalized(lambda x: ops.tcf.f(x, n=2), x)


def test_functionalization_rests_in_a_block():
    included = _C._dispatch_tls_is_dispatch_key_included
    key = _C.DispatchKey.Functionalize
    with suspend_functionalization():
        assert not included(key)
    _C._enable_functionalization(reapply_views=True)
    try:
        with suspend_functionalization():
            assert not included(key)
        assert included(key) and _C._functionalization_reapply_views_tls()
    finally:
        _C._disable_functionalization()


@pytest.mark.parametrize(
    ("found", "what"),
    [
        (lambda x: x.t(), "sizes"),
        (lambda x: x.double(), "dtype"),
        (lambda x: x.t().contiguous().t(), "strides"),
        (lambda x: [x, x], "results"),
    ],
)
def test_what_differs_is_named(found, what):
    x = dispatch.ones(2, 3)
    check_metadata_matches([x, 3], [x.clone(), 4], lambda: "f")
    with pytest.raises(AssertionError, match=f"f.*{what}"):
        check_metadata_matches(x, found(x), lambda: "f")


def test_overloads_that_were_named():
    assert ops.aten.add.Tensor in set(all_py_loaded_overloads())


def test_strides_of_dimensions_of_size_1_are_nobodys_concern():
    def compare(sizes):
        other = dispatch.empty_strided(sizes, (9, 1))
        check_tensor_metadata_matches(dispatch.ones(sizes), other, lambda: "it")

    compare((1, 3))
    with pytest.raises(AssertionError, match="it: strides"):
        compare((2, 3))
