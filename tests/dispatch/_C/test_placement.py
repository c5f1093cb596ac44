"""Mixes of tensors on meta and on the CPU, as PyTorch's Meta kernels take and refuse them."""

import pytest

import dispatch
from dispatch import ops
from dispatch.fake import FakeTensorMode

aten = ops.aten


def _placed(t, where):
    return t if where == "c" else t.to("meta")


def _tensors(places, tensors):
    return [_placed(t, where) for t, where in zip(tensors, places, strict=True)]


def _ones(*shape):
    return dispatch.ones(shape)


def _index(*shape):
    return dispatch.zeros(shape, dtype=dispatch.int64)


_MATRICES = (_ones(2, 2), _ones(2, 2), _ones(2, 2))
_ROWS = (_ones(3), _index(1), _ones(1))
_NORM = (_ones(2, 3), _ones(3), _ones(3))
_NLL = (_ones(2, 3), _index(2))


def _mask(*shape):
    return dispatch.zeros(shape, dtype=dispatch.bool)


# Operator, its tensors, the places that are taken, those that are refused: c is the CPU, m meta.
_MIXES = [
    ("addmm", aten.addmm, _MATRICES, "mmc ccm", "mcc cmm cmc mcm"),
    ("addmm_", aten.addmm_, _MATRICES, "mmc", "mcc cmm cmc mcm"),
    ("addmm.out", lambda s, a, b, o: aten.addmm.out(s, a, b, out=o), (*_MATRICES, _ones(2, 2)),
     "mmcm", "mccm cmmm ccmc mmmc cccm"),
    ("mm", aten.mm, _MATRICES[:2], "mc cm", ""),
    ("mm.out", lambda a, b, o: aten.mm.out(a, b, out=o), _MATRICES, "mcm", "cmm cmc mcc"),
    ("addmv", aten.addmv, (_ones(2), _ones(2, 2), _ones(2)), "", "mcc cmm cmc mcm ccm mmc"),
    ("addmv of a number", aten.addmv, (_ones(), _ones(2, 2), _ones(2)), "cmm", "mcc"),
    ("stack", lambda a, b: aten.stack([a, b]), (_ones(2), _ones(2)), "", "mc cm"),
    ("cat of none", lambda a, b: aten.cat([a, b]), (_ones(2), _ones(0)), "", "mc cm"),
    ("index_add", lambda s, i, v: aten.index_add(s, 0, i, v), _ROWS, "", "mcc cmm cmc mcm ccm mmc"),
    ("index_copy_", lambda s, i, v: aten.index_copy_(s, 0, i, v), _ROWS, "", "mcm ccm mmc"),
    ("index_fill", lambda s, i: aten.index_fill(s, 0, i, 1), _ROWS[:2], "", "mc cm"),
    ("index_fill_ of a tensor", lambda s, i, v: aten.index_fill_(s, 0, i, v),
     (_ones(3), _index(1), _ones()), "", "mcc cmm cmc mcm ccm mmc"),
    ("masked_fill", lambda s, m: aten.masked_fill(s, m, 1), (_ones(3), _mask(3)), "", "mc cm"),
    ("masked_fill_", lambda s, m: aten.masked_fill_(s, m, 1), (_ones(3), _mask(3)), "mc", ""),
    ("masked_fill with one mask", aten.masked_fill, (_ones(3), _mask(), _ones()), "mcm", "mmc ccm"),
    ("put_", aten.put_, (_ones(3), _index(2), _ones(2)), "mcc mmc mcm", "cmm cmc ccm"),
    ("native_layer_norm", lambda x, w, b: aten.native_layer_norm(x, [3], w, b, 1e-5), _NORM,
     "", "mcc cmm cmc mcm ccm mmc"),
    ("nll_loss_forward", lambda x, t: aten.nll_loss_forward(x, t, None, 1, -100), _NLL,
     "", "mc cm"),
    ("multi_margin_loss of one", aten.multi_margin_loss, (_ones(3), _index()), "", "mc cm"),
    ("_prelu_kernel", aten._prelu_kernel, (_ones(2), _ones(2)), "", "mc cm"),
    ("_prelu_kernel with one weight", aten._prelu_kernel, (_ones(2), _ones()), "mc", "cm"),
    ("copysign with a number", aten.copysign, (_ones(2), _ones()), "", "mc cm"),
    ("floor_divide of a number", aten.floor_divide, (_ones(), _ones(2)), "", "cm"),
    ("vdot", aten.vdot, (_ones(2), _ones(2)), "", "mc cm"),
    ("linalg_vecdot", aten.linalg_vecdot, (_ones(2, 2), _ones(2, 2)), "", "mc cm"),
    ("take_along_dim", aten.take_along_dim, (_ones(2), _index(2)), "", "mc cm"),
    ("cholesky_solve", aten.cholesky_solve, _MATRICES[:2], "", "mc cm"),
    ("gt_ of numbers", aten.gt_, (_ones(), _ones()), "mc", "cm"),
    ("gt.out of numbers", lambda a, b, o: aten.gt.Tensor_out(a, b, out=o),
     (_ones(), _ones(), _mask()), "mcm", "cmm cmc mcc ccm"),
    ("mul.out with a number", lambda a, b, o: aten.mul.out(a, b, out=o),
     (_ones(2), _ones(), _ones(2)), "mcm", "cmm cmc ccm"),
    ("_cdist_forward.out", lambda a, b, o: aten._cdist_forward.out(a, b, 2.0, None, out=o),
     _MATRICES, "mcm", "cmm cmc mcc"),
    ("bernoulli_", aten.bernoulli_.Tensor, (_ones(2), _ones(2)), "mc", "cm"),
]  # fmt: skip


def _cases(which):
    return [
        pytest.param(call, tensors, places, id=f"{name} {places}")
        for name, call, tensors, *both in _MIXES
        for places in both[which].split()
    ]


@pytest.mark.parametrize(("call", "tensors", "places"), _cases(0))
def test_a_mix_that_is_taken_gives_metadata(call, tensors, places):
    results = call(*_tensors(places, tensors))
    for t in results if isinstance(results, (tuple, list)) else (results,):
        assert t.device.type == "meta"


@pytest.mark.parametrize(("call", "tensors", "places"), _cases(1))
def test_a_mix_that_is_refused_writes_nothing(call, tensors, places):
    given = [t.clone() for t in tensors]
    with pytest.raises(RuntimeError, match=r"device|meta"):
        call(*_tensors(places, given))
    for t, before in zip(given, tensors, strict=True):
        assert t.shape == before.shape and t.tolist() == before.tolist()


def test_fake_tensors_are_left_to_their_mode():
    with FakeTensorMode():
        a, x, b = _ones(2), _ones(2, 2), _ones(2)
        assert aten.addmv(a, x, b).shape == (2,)
        assert aten.index_add(_ones(3), 0, _index(1), _ones(1)).shape == (3,)


def test_the_error_names_both_arguments():
    with pytest.raises(RuntimeError, match=r"aten::addmv.*'self' is on cpu and 'mat' on meta"):
        aten.addmv(*_tensors("cmm", (_ones(2), _ones(2, 2), _ones(2))))


def test_a_number_lies_nowhere():
    """Though `mul_` hands it over first, as a tensor."""
    assert aten.mul_.Scalar(_ones(3).to("meta"), 2.0).device.type == "meta"
