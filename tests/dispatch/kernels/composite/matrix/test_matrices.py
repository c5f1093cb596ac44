"""Matrices: diagonals that are written."""

import dispatch


def test_a_diagonal_that_goes_on_below_is_that_of_the_elements_whatever_their_strides():
    x = dispatch.zeros(7, 3, 3)[:, 1].fill_diagonal_(1, wrap=True)
    assert x.nonzero().tolist() == [[0, 0], [1, 1], [2, 2], [4, 0], [5, 1], [6, 2]]
    assert x.tolist() == dispatch.zeros(7, 3).fill_diagonal_(1, wrap=True).tolist()
