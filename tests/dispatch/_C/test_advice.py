"""Warnings of kernels name the line of the program; some come once in a process."""

import math
import warnings

import numpy as np
import pytest

import dispatch
from dispatch._C.advice import is_warn_always_enabled, set_warn_always
from dispatch.as_torch.nn import functional as F, modules
from dispatch.as_torch.settings import set_default_tensor_type

A = dispatch.ops.aten
x, v, eye = dispatch.ones(4, 3), dispatch.ones(3), dispatch.eye(2)
c, first = dispatch.ones(2, dtype=dispatch.complex64), dispatch.tensor([0])
mask, older = v > 0, dispatch.ones(3, dtype=dispatch.uint8)
needs_grad = dispatch.ones((), requires_grad=True)


def stacked(**settings):
    return modules.TransformerEncoder(modules.TransformerEncoderLayer(4, 2, **settings), 1)


ONCE = {
    "complex numbers as real ones:": [
        lambda: c.float(), lambda: dispatch.ones(2).copy_(c), lambda: dispatch.ones(()).fill_(c[0]),
    ],
    "complex32:": [
        lambda: dispatch.ones(2, dtype=dispatch.complex32), lambda: c.to(dispatch.complex32),
        lambda: dispatch.empty_strided((2,), (1,), dtype=dispatch.complex32),
    ],
    "torch.searchsorted(): boundary tensor": [
        lambda: dispatch.searchsorted(x.t(), dispatch.ones(3, 2)),
        lambda: dispatch.bucketize(v, dispatch.ones(6)[::2]),
        lambda: dispatch.bucketize(1, dispatch.ones(6)[::2]),
    ],
    "torch.searchsorted(): input value tensor": [lambda: dispatch.searchsorted(v, x.t())],
    "torch.searchsorted(): sorter tensor": [
        lambda: dispatch.searchsorted(x, x, sorter=dispatch.zeros(3, 4, dtype=dispatch.int64).t())
    ],
    "reduce of scatter": [lambda: v.scatter(0, first, v, reduce="add")],
    "index_reduce:": [lambda: v.index_reduce(0, first, v[:1], "mean")],
    "cholesky:": [lambda: eye.cholesky()],
    "lu_solve:": [lambda: eye.lu_solve(eye, dispatch.ones(2, dtype=dispatch.int32))],
    "triangular_solve:": [lambda: eye.triangular_solve(eye)],
    "nuclear_norm:": [lambda: dispatch.nuclear_norm(eye)],
    "padding='same'": [
        lambda: F.conv1d(dispatch.ones(1, 1, 5), dispatch.ones(1, 1, 2), padding="same")
    ],
    "a tensor that requires grad as a number": [
        lambda: float(needs_grad), lambda: complex(needs_grad), lambda: math.sqrt(needs_grad),
        lambda: dispatch.tensor([needs_grad]),
    ],
    "a tensor of a list of arrays": [
        lambda: dispatch.tensor([np.ones(2), np.ones(2)]), lambda: dispatch.as_tensor([np.ones(2)]),
    ],
    "where of a uint8 condition": [lambda: dispatch.where(older, v, v), lambda: v.where(older, 1)],
    "set_default_tensor_type:": [lambda: set_default_tensor_type("torch.FloatTensor")],
}  # fmt: skip
EACH_TIME = {
    "range:": [lambda: dispatch.range(0, 3), lambda: dispatch.range(0, 3, device="meta")],
    "aten::masked_fill_": [lambda: v[:1].expand(3).masked_fill_(mask, 1)],
    "aten::index_put_": [lambda: A.index_put_(dispatch.ones(1).expand(3), [first], v[:1])],
    "index_fill_": [lambda: dispatch.ones(1).expand(3).index_fill_(0, first, 1)],
    "x.list.": [lambda: x[[slice(0, 1), 1]], lambda: x[[first]], lambda: x[[np.array([0])]]],
    "TransformerEncoder: .* norm_first": [lambda: stacked(norm_first=True)],
}
SILENT = [
    lambda: c.bool(), lambda: c.to("meta").float(), lambda: c.to(dispatch.complex128),
    lambda: int(needs_grad), lambda: needs_grad.item(), lambda: dispatch.tensor([np.float32(1)]),
    lambda: x[[0, 1]], lambda: x[[True, False, True, False]], lambda: v.scatter_add(0, first, v),
    lambda: F.conv1d(dispatch.ones(1, 1, 5), dispatch.ones(1, 1, 3), padding="same"),
    lambda: v[:1].expand(3).masked_fill(mask, 1), lambda: v.masked_fill_(mask, 1),
    lambda: A.masked_fill_(v[:1].to("meta").expand(3), mask.to("meta"), 1),
    lambda: stacked(batch_first=True),
]  # fmt: skip


def told_by(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    assert {w.filename for w in told} <= {__file__}
    return [str(w.message) for w in told]


def table(rows):
    return [(start, call) for start, calls in rows.items() for call in calls]


def test_kernels_between_the_call_and_the_warning_are_passed_over():
    with pytest.warns(UserWarning, match=r"^cov\(\): ") as told:
        dispatch.corrcoef(dispatch.ones(1))
    assert [w.filename for w in told] == [__file__]


def test_what_is_told_once_is_told_once(untold):
    x = dispatch.ones(2, 3)
    with pytest.warns(UserWarning, match="^cross: dim") as told:
        x.cross(x)
        x.cross(x)
    assert [w.filename for w in told] == [__file__]


@pytest.mark.parametrize(("start", "call"), table(ONCE))
def test_a_doubtful_call_is_told_the_first_time(untold, start, call):
    told = told_by(call)
    assert len(told) == 1 and told[0].startswith(start)
    assert told_by(call) == []


@pytest.mark.parametrize(("start", "call"), table(EACH_TIME))
def test_a_call_that_will_change_is_told_each_time(start, call):
    for _ in range(2):
        with pytest.warns(UserWarning, match=f"^{start}") as told:
            call()
        assert len(told) == 1 and told[0].filename == __file__


@pytest.mark.parametrize("call", SILENT)
def test_nothing_is_told_of_what_nobody_doubts(untold, call):
    assert told_by(call) == []


def test_what_is_told_once_may_be_asked_for_each_time(untold):
    set_warn_always(True)
    try:
        assert is_warn_always_enabled()
        assert len(told_by(c.float)) == len(told_by(c.float)) == 1
    finally:
        set_warn_always(False)
    assert not is_warn_always_enabled()
    with pytest.raises(RuntimeError, match="bool"):
        set_warn_always(1)


def test_sizes_that_change_while_a_warning_is_shown_are_refused(monkeypatch):
    short = dispatch.ones(1)
    written, where = short.expand(3), dispatch.ones(3, dtype=dispatch.bool)
    monkeypatch.setattr(warnings, "warn", lambda *args, **kwargs: where.resize_(1))
    with pytest.raises(RuntimeError, match="while a warning was shown"):
        written.masked_fill_(where, 5)
    assert short.tolist() == [1]
