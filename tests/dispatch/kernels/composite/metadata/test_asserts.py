"""Asserts and ranges: what holds says nothing, what does not is a RuntimeError."""

import pytest

import dispatch
from dispatch import ops
from dispatch.symbolic import ShapeEnv

aten = ops.aten


def test_asserts_look_at_one_value():
    assert aten._assert_async(dispatch.tensor(1)) is None
    with pytest.raises(RuntimeError, match="that went wrong"):
        aten._assert_async.msg(dispatch.tensor(0.0), "that went wrong")
    with pytest.raises(RuntimeError, match="ambiguous"):
        aten._assert_async(dispatch.ones(2))
    assert aten._assert_async(dispatch.zeros((), device="meta")) is None


def test_functional_asserts_pass_the_token_on():
    token = dispatch.ones(1)
    got = aten._functional_assert_async.msg(dispatch.tensor(1), "no", token)
    assert got is not token and got.tolist() == [1]
    with pytest.raises(RuntimeError, match="no"):
        aten._functional_assert_scalar(0, "no", token)


def test_on_fake_tensors_the_token_itself_goes_on():
    with dispatch.FakeTensorMode():
        token = dispatch.ones(1)
        for got in (
            aten._functional_assert_async.msg(dispatch.ones(()), "no", token),
            aten._functional_sym_constrain_range(3, 1, None, token),
            aten._functional_sym_constrain_range_for_size(3, 1, None, token),
        ):
            assert got is token
    assert aten._functional_sym_constrain_range(3, 1, None, x := dispatch.ones(1)) is not x


@pytest.mark.parametrize(
    ("size", "low", "high", "text"),
    [
        (3, 4, 5, r"3 is not in the range \[4, 5\]"),
        (4, 5, 4, "less than min"),
    ],
)
def test_numbers_out_of_range(size, low, high, text):
    assert aten.sym_constrain_range(4, min=4, max=5) is None
    with pytest.raises(RuntimeError, match=text):
        aten.sym_constrain_range(size, min=low, max=high)


def test_sizes_may_be_larger_than_two():
    assert aten.sym_constrain_range_for_size(3, min=0, max=3) is None
    with pytest.raises(RuntimeError, match="greater than 2"):
        aten.sym_constrain_range_for_size(1, max=2)
    with pytest.raises(RuntimeError, match="range"):
        aten.sym_constrain_range_for_size(-1)


def test_printing_goes_to_standard_output(capsys):
    aten._print("hello")
    assert capsys.readouterr().out == "hello\n"


def test_overlap_inside_a_tensor():
    x = dispatch.ones(2, 3)
    of = aten._debug_has_internal_overlap
    assert [of(x), of(x.expand(4, 2, 3)), of(x[:, ::2])] == [0, 1, 2]


def test_overlap_that_data_decide_is_left_open():
    env = ShapeEnv()
    n = env.create_unbacked_symint()
    x = dispatch.empty_strided((n, 2), (3, 1), device="meta")
    before = str(env.deferred_runtime_asserts)
    assert aten._debug_has_internal_overlap(x) == 2
    assert not env.guards and str(env.deferred_runtime_asserts) == before
