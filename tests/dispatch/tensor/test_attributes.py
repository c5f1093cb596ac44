"""Attributes of Tensor: views of the whole, parts of complex numbers."""

import pytest

import dispatch
from dispatch import tensor


def test_transposing_attributes() -> None:
    base = dispatch.zeros(2, 3, 4)
    assert tuple(base.T.shape) == (4, 3, 2) and tuple(base.mT.shape) == (2, 4, 3)
    assert dispatch.zeros(2, 3, dtype=dispatch.complex64).H.is_conj()
    for bad in (lambda: base.H, lambda: base[0, 0].mT):
        with pytest.raises(RuntimeError):
            bad()


def test_real_and_imag_can_be_assigned() -> None:
    base = tensor([1 + 2j])
    base.real = tensor([5.0])
    base.imag = tensor([7.0])
    assert base.tolist() == [5 + 7j]
