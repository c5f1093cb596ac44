"""`torch._decomp`: tables of functions that take operators apart."""

import pytest

import dispatch
from dispatch import ops
from dispatch.as_torch import decompositions
from dispatch.as_torch.decompositions import (
    core_aten_decompositions,
    decomposition_table,
    get_decompositions,
    register_decomposition,
    remove_decompositions,
)
from dispatch.as_torch.fx.proxies import make_fx

aten = ops.aten


def test_a_tracer_takes_apart_what_a_program_has_entered():
    mine = {}

    @register_decomposition([aten.gelu, aten.silu.default], mine)
    def f(x, *_, **__):
        return x * 2

    assert mine.keys() >= {aten.gelu.default, aten.gelu.out, aten.silu.default}
    traced = make_fx(lambda x: dispatch.ops.aten.gelu(x), decomposition_table=mine)
    code = traced(dispatch.ones(2)).code
    assert "aten.mul.Tensor" in code and "gelu" not in code
    with pytest.raises(RuntimeError, match="duplicate registrations for aten"):
        register_decomposition(aten.silu, mine)(f)
    remove_decompositions(mine, [aten.gelu, aten.relu])
    assert list(mine) == [aten.silu.default]


def test_tables_are_asked_by_packet_or_overload():
    found = get_decompositions([aten.upsample_nearest2d, aten.add, aten.native_batch_norm.default])
    assert aten.upsample_nearest2d.default in found and aten.native_batch_norm.default in found
    assert not found.keys() & set(map(aten.add.__getattr__, aten.add.overloads()))
    assert core_aten_decompositions() == decomposition_table
    assert core_aten_decompositions() is not decomposition_table
    assert get_decompositions([aten.add], "meta") == {}


def test_other_types_and_values_are_refused():
    with pytest.raises(AssertionError, match="post_autograd, pre_autograd, meta"):
        get_decompositions([], "later")
    with pytest.raises(AssertionError, match="expected an operator"):
        register_decomposition(dispatch.relu, {})(dispatch.relu)


def test_operators_whose_schema_says_too_little_are_taken_apart():
    unsafe = decompositions._should_decompose_because_unsafe_op
    assert unsafe(aten.native_batch_norm.default) and not unsafe(aten.add.Tensor)
    assert not unsafe(aten.add)
