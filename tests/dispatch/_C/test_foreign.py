"""What numpy and CPython say of arguments does not reach a user; what programs say does."""

import pytest

import dispatch
from dispatch import ops
from dispatch.modes import TorchDispatchMode

A = ops.aten


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: A.upsample_nearest2d.vec(dispatch.ones(1, 1, 2, 2), None, [float("inf")] * 2),
         RuntimeError, "infinite or nan cannot become an integer"),
        (lambda: A.upsample_nearest2d.vec(dispatch.ones(1, 1, 2, 2), None, [float("nan")] * 2),
         RuntimeError, "infinite or nan cannot become an integer"),
        (lambda: A.histc(dispatch.ones(3), 4, 1j, 2),
         RuntimeError, "not of the type that the kernel expects"),
    ],
)  # fmt: skip
def test_foreign_words_become_ours(call, kind, words):
    with pytest.raises(kind, match=words) as caught:
        call()
    assert str(caught.value).startswith("aten::")
    assert caught.value.__suppress_context__
    assert isinstance(caught.value.__context__, (OverflowError, ValueError, TypeError))


@pytest.mark.parametrize(
    "call",
    [
        lambda: A.arange.start_step(2**63 - 1, -2, -2),
        lambda: A.repeat.default(dispatch.ones(1), [2**62]),
    ],
)
def test_bytes_that_no_storage_has_are_refused_by_the_operators_name(call):
    with pytest.raises(RuntimeError, match=r"^aten::.*Storage size calculation overflowed"):
        call()


class Failing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return [][1]


def test_what_a_programs_handler_raises_stays():
    with Failing(), pytest.raises(IndexError, match=r"^list index out of range$"):
        A.square.default(dispatch.ones(2))


def test_what_a_programs_kernel_raises_stays(library):
    lib = library("aten", "IMPL")
    lib.impl("rad2deg", lambda x: {}[x.missing], "CPU")
    with pytest.raises(AttributeError, match="missing"):
        A.rad2deg.default(dispatch.ones(2))
