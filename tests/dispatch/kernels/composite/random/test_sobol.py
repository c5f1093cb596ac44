"""Sobol's sequences: points of the literature, going on, scrambling, errors."""

from __future__ import annotations

import pytest

import dispatch as d
from dispatch import Tensor, ops

aten = ops.aten


def state(dimension: int) -> Tensor:
    return aten._sobol_engine_initialize_state_(d.zeros(dimension, 30, dtype=d.int64), dimension)


def points(n: int, dimension: int, dtype: d.dtype | None = None) -> tuple[Tensor, Tensor]:
    quasi = d.zeros(dimension, dtype=d.int64)
    return aten._sobol_engine_draw(quasi, n, state(dimension), dimension, 0, dtype)


def test_first_points_are_joe_and_kuos() -> None:
    drawn, _ = points(4, 3)
    assert drawn.tolist() == [
        [0.5, 0.5, 0.5],
        [0.75, 0.25, 0.25],
        [0.25, 0.75, 0.75],
        [0.375, 0.375, 0.625],
    ]


def test_direction_numbers_of_the_last_dimension() -> None:
    """A polynomial of degree 18, the last that the table has."""
    last = state(21201)[21200]
    assert [n >> (29 - j) & 1 for j, n in enumerate(last.tolist())] == [1] * 30
    assert len({*last.tolist()}) == 30


def test_each_power_of_two_of_points_fills_its_boxes() -> None:
    drawn, _ = points(31, 5, d.float64)
    for column in drawn.t().tolist():
        assert sorted(int(x * 32) for x in column) == list(range(1, 32))


def test_fast_forward_goes_where_drawing_goes() -> None:
    all_points, end = points(20, 4)
    quasi = d.zeros(4, dtype=d.int64)
    assert aten._sobol_engine_ff_(quasi, 12, state(4), 4, 0) is quasi
    rest, at_end = aten._sobol_engine_draw(quasi, 8, state(4), 4, 12, None)
    assert rest.tolist() == all_points[12:].tolist()
    assert at_end.tolist() == end.tolist() != quasi.tolist()


def test_scrambling_by_no_matrix_changes_nothing() -> None:
    """Diagonals count as ones."""
    zeros = d.zeros(3, 30, 30, dtype=d.int64)
    assert aten._sobol_engine_scramble_(state(3), zeros, 3).tolist() == state(3).tolist()


def test_what_is_no_state_is_refused() -> None:
    quasi = d.zeros(3, dtype=d.int64)
    for wrong in (
        lambda: aten._sobol_engine_draw(quasi, 1, state(3).float(), 3, 0, None),
        lambda: aten._sobol_engine_draw(quasi.float(), 1, state(3), 3, 0, None),
        lambda: aten._sobol_engine_draw(quasi, 1, state(2), 3, 0, None),
        lambda: aten._sobol_engine_draw(quasi, 1 << 30, state(3), 3, 0, None),
        lambda: aten._sobol_engine_ff_(quasi[:2], 1, state(3), 3, 0),
        lambda: aten._sobol_engine_initialize_state_(state(3), 21202),
        lambda: aten._sobol_engine_scramble_(state(3), quasi, 3),
    ):
        with pytest.raises(RuntimeError, match=r"_sobol_engine_.*expected"):
            wrong()
    assert quasi.tolist() == [0, 0, 0]
    with pytest.raises(NotImplementedError, match="float16"):
        points(1, 2, d.float16)
