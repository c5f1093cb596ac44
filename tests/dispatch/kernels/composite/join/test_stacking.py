"""Tensors next to one another: along which dimension they are joined, and what out gets."""

import pytest

import dispatch
from tests.dispatch.refused import A, o


@pytest.mark.parametrize(
    ("op", "shapes", "want"),
    [
        ("hstack", [(2,), (3,)], (5,)),
        ("hstack", [(), (3,)], (4,)),
        ("hstack", [(2, 1), (2, 2)], (2, 3)),
        ("hstack", [(2, 1, 3), (2, 2, 3)], (2, 3, 3)),
        ("vstack", [(2,), (2,)], (2, 2)),
        ("vstack", [(1, 2), (3, 2)], (4, 2)),
        ("dstack", [(2,), (2,)], (1, 2, 2)),
        ("column_stack", [(2,), (2, 3)], (2, 4)),
        ("column_stack", [(), ()], (1, 2)),
    ],
)
def test_a_stack_has_the_sizes_of_its_parts(op, shapes, want):
    tensors = [o(shape) for shape in shapes]
    packet = getattr(A, op)
    assert tuple(packet(tensors).shape) == want
    out = o(0)
    assert packet.out(tensors, out=out) is out and tuple(out.shape) == want


def test_no_blocks_are_one_row_of_nothing():
    assert dispatch.block_diag().shape == (1, 0)
