"""The cross-check of the dispatch cache: each hit is compared with a fresh run."""

import pytest

import dispatch
from dispatch import FakeTensorMode, Tensor, ops
from dispatch.fake import MetadataMismatchError

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


def empty(*sizes, **kwargs):
    return dispatch.empty(sizes, **kwargs)


def on_meta(*sizes, **kwargs):
    return A.empty.memory_format(sizes, device="meta", **kwargs)


def window(offset=0, of=9, size=2):
    return A.as_strided.default(on_meta(of), [size], [1], offset)


class Laid(Tensor):
    """A tensor on meta that says which layout it has."""

    def __new__(cls, layout):
        return Tensor._make_wrapper_subclass(cls, (2,), layout=layout, device="meta")

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise NotImplementedError


# what an operator returns by its schema, and what a kernel gives at first, and, when a hit is
# checked, at last
UNSTEADY = {
    "shape": ("Tensor", lambda x: window(), lambda x: window(size=3)),
    "more dimensions": ("Tensor", lambda x: on_meta(2), lambda x: on_meta(2, 1)),
    "fewer dimensions": ("Tensor", lambda x: on_meta(2, 1), lambda x: on_meta(2)),
    "dtype": ("Tensor", lambda x: on_meta(2), lambda x: on_meta(2, dtype=dispatch.int32)),
    "layout": ("Tensor", lambda x: Laid(dispatch.strided), lambda x: Laid(dispatch.sparse_coo)),
    "strides": ("Tensor", lambda x: on_meta(2, 2), lambda x: A.t.default(on_meta(2, 2))),
    "offset": ("Tensor", lambda x: window(), lambda x: window(1)),
    "storage": ("Tensor", lambda x: window(), lambda x: window(of=10)),
    "neg": ("Tensor", lambda x: on_meta(2), lambda x: A._neg_view.default(on_meta(2))),
    "conj": ("Tensor", lambda x: complex_(), lambda x: complex_().conj()),
    "zero": ("Tensor", lambda x: on_meta(2),
             lambda x: dispatch._efficientzerotensor((2,), device="meta")),
    "fewer": ("Tensor(a)[]", lambda x: [on_meta(2), on_meta(2)], lambda x: [on_meta(2)]),
    "argument": ("Tensor(a)[]", lambda x: [A.alias.default(x)], lambda x: [x]),
    "list or none": ("Tensor[]?", lambda x: [on_meta(2)], lambda x: None),
    "none or list": ("Tensor[]?", lambda x: None, lambda x: [on_meta(2)]),
    "none or tensor": ("Tensor?", lambda x: None, lambda x: on_meta(2)),
    "tensor or none": ("Tensor?", lambda x: on_meta(2), lambda x: None),
    "number": ("int", lambda x: 1, lambda x: 2),
    "type of a number": ("Scalar", lambda x: 1, lambda x: 1.0),
    "one of two": ("(int, Tensor)", lambda x: (1, on_meta(2)), lambda x: (2, on_meta(2))),
}  # fmt: skip


def complex_():
    return on_meta(2, dtype=dispatch.complex64)


@pytest.mark.parametrize("what", UNSTEADY)
def test_cross_check_finds_an_entry_that_does_not_hold(library, what):
    returns, first, last = UNSTEADY[what]
    kernels = [first, first, last]
    lib = library("cache_check")
    lib.define(f"unsteady(Tensor(a) x) -> {returns}")
    lib.impl("unsteady", lambda x: kernels.pop(0)(x), "Meta")
    checked = FakeTensorMode(cache_policy=lambda op: True)
    checked.cache_crosscheck_enabled = True
    with checked:
        x = empty(2)
        ops.cache_check.unsteady(x)
        ops.cache_check.unsteady(x)
        assert checked.cache_info().hits == 1
        with pytest.raises(MetadataMismatchError, match="unsteady"):
            ops.cache_check.unsteady(x)


def test_cross_check_looks_at_devices(library):
    devices = ["cuda:0", "cuda:0", "cuda:1"]
    lib = library("cache_check")
    lib.define("somewhere(Tensor x) -> Tensor")
    dispatch.library.register_fake(
        "cache_check::somewhere", lambda x: empty(2, device=devices.pop(0)), lib=lib
    )
    checked = FakeTensorMode(cache_policy=lambda op: True)
    checked.cache_crosscheck_enabled = True
    with checked:
        x = empty(2)
        assert [ops.cache_check.somewhere(x).device.index for _ in range(2)] == [0, 0]
        with pytest.raises(MetadataMismatchError, match="somewhere"):
            ops.cache_check.somewhere(x)


def test_cross_check_lets_correct_hits_pass():
    checked = FakeTensorMode()
    checked.cache_crosscheck_enabled = True
    with checked:
        for _ in range(3):
            x, y = empty(2, 3), empty(3)
            A.add_.Tensor(x, y)
            A.t_.default(x)
            A.split.Tensor(x, 2)
            A.native_batch_norm.default(empty(2, 3), y, y, empty(3), empty(3), True, 0.1, 1e-5)
            A.cat.default([x, x])
            assert x.shape == (3, 2)
    assert checked.cache_info().hits >= 8
