"""Every component of the dispatch cache's key: two calls that differ in it alone share no entry.

An operator whose shape function can see everything, `facts`, answers with a size of its own for
each call that differs, so that a hit on another call's entry is a wrong answer.
"""

import gc
import itertools
import struct
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import dispatch
from dispatch import FakeTensor, FakeTensorMode, ops
from dispatch._C.tls import _get_dispatch_mode, _TorchDispatchModeKey
from dispatch._C.values import wrapped_number
from dispatch.fake import DispatchCache
from dispatch.library import fallthrough_kernel
from dispatch.symbolic import ShapeEnv, SymBool, SymFloat, SymInt

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten

SCHEMA = """facts(Tensor? x=None, Tensor? y=None, *, Tensor[]? ts=None, Scalar? n=None,
    float? f=None, int? i=None, bool? b=None, str? s=None, int[]? l=None, int[]? m=None,
    float[]? fs=None, bool[]? bs=None, ScalarType? dtype=None, Device? dev=None, Layout? lay=None,
    MemoryFormat? mf=None) -> Tensor"""


def geometry(t: dispatch.Tensor) -> tuple:
    return (tuple(t.shape), t.stride(), t.storage_offset(), t.dtype, t.device, t.layout)


def facts_of(value: Any) -> Any:
    """What a shape function sees of an argument; -0.0 and True are told from 0.0 and 1."""
    if isinstance(value, dispatch.Tensor):
        bits = (value.is_conj(), value.is_neg(), value.requires_grad, value.is_inference())
        return (*geometry(value), value.untyped_storage().nbytes(), bits, value._is_zerotensor())
    if isinstance(value, (list, tuple)):
        return [facts_of(v) for v in value]
    return (type(value), repr(value))


class Seen:
    """The shape function of `facts`: each new set of arguments gets the next number as its size."""

    def __init__(self) -> None:
        self.known: list[str] = []
        self.runs = 0

    def __call__(self, *args: Any, **kwargs: Any) -> dispatch.Tensor:
        self.runs += 1
        text = repr(([facts_of(a) for a in args], {k: facts_of(v) for k, v in kwargs.items()}))
        if text not in self.known:
            self.known.append(text)
        return A.empty.memory_format([self.known.index(text)], device="meta")


@pytest.fixture
def seen(library) -> Iterator[Seen]:
    """The operator `cache_key::facts`, under a mode that caches it."""
    lib = library("cache_key")
    lib.define(SCHEMA)
    seen = Seen()
    lib.impl("facts", seen, "Meta")
    for key in ("Conjugate", "Negative", "ZeroTensor"):
        lib.impl("facts", fallthrough_kernel, key)  # what is pending is a fact too
    with FakeTensorMode(cache_policy=lambda op: True):
        yield seen


def mode() -> FakeTensorMode:
    """The mode that is active."""
    return _get_dispatch_mode(_TorchDispatchModeKey.FAKE)


def counted(call: Any) -> tuple[int, int]:
    """(hits, misses) that a call adds."""
    before = mode().cache_info()
    call()
    after = mode().cache_info()
    return after.hits - before.hits, after.misses - before.misses


def new(*sizes: int, **kwargs: Any) -> dispatch.Tensor:
    return dispatch.empty(sizes, **kwargs)


def strided(sizes: Any, strides: Any, **kwargs: Any) -> dispatch.Tensor:
    return A.empty_strided.default(sizes, strides, **kwargs)


def shown(storage: int, sizes: Any, strides: Any, offset: int = 0) -> dispatch.Tensor:
    """A view of a storage of that many elements."""
    return A.as_strided.default(new(storage), sizes, strides, offset)


def beyond_its_storage() -> dispatch.Tensor:
    x = shown(4, (2,), (1,), 2)
    x.untyped_storage().resize_(8)
    return x


def complex_view(conj: bool) -> dispatch.Tensor:
    x = new(2, dtype=dispatch.complex64)
    return A._conj.default(x) if conj else x


def made_in_inference_mode() -> dispatch.Tensor:
    with dispatch.inference_mode():
        return new(2)


class Sparse(dispatch.Tensor):
    """A wrapper may have any layout, and so may the fake tensor that is made of it."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise AssertionError("not called")


def laid_out() -> dispatch.Tensor:
    wrapper = dispatch.Tensor._make_wrapper_subclass(
        Sparse, (2, 2), (1, 2), layout=dispatch.sparse_coo, device="meta"
    )
    return FakeTensor(mode(), wrapper, dispatch.device("cpu"))


# name: the two arguments, made before the calls that are counted
TENSORS = {
    "dtype": lambda: (new(2), new(2, dtype=dispatch.int32)),
    "dtype of the same size and kind": lambda: (
        new(2, dtype=dispatch.float16),
        new(2, dtype=dispatch.bfloat16),
    ),
    "device type": lambda: (new(2), new(2, device="cuda")),
    "device index": lambda: (new(2, device="cuda:0"), new(2, device="cuda:1")),
    "meta": lambda: (new(2), new(2, device="meta")),
    "number of dimensions": lambda: (new(2), new(2, 1)),
    "no dimensions": lambda: (new(), new(1)),
    "first size": lambda: (new(2, 3), new(3, 3)),
    "last size": lambda: (new(2, 3), new(2, 2)),
    "size beyond 32 bits": lambda: (new(1 << 33), new(1 << 34)),
    "no elements": lambda: (new(0, 3), new(0, 4)),
    "order of strides": lambda: (new(3, 3), strided((3, 3), (1, 3))),
    "strides with gaps": lambda: (shown(30, (2, 3), (8, 2)), shown(30, (2, 3), (9, 2))),
    "last stride": lambda: (shown(30, (2, 3), (8, 1)), shown(30, (2, 3), (8, 2))),
    "stride of the only row": lambda: (strided((1, 3), (3, 1)), strided((1, 3), (7, 1))),
    "stride of the only column": lambda: (strided((3, 1), (1, 1)), strided((3, 1), (1, 5))),
    "two odd strides of a row": lambda: (strided((1, 3), (9, 1)), strided((1, 3), (7, 1))),
    "strides without elements": lambda: (strided((0, 3), (3, 1)), strided((0, 3), (1, 1))),
    "broadcast": lambda: (A.expand.default(new(1, 3), [2, 3]), new(2, 3)),
    "offset": lambda: (shown(9, (2,), (1,), 1), shown(9, (2,), (1,), 2)),
    "no offset and one": lambda: (shown(9, (2,), (1,), 0), shown(9, (2,), (1,), 1)),
    "offset beyond what the storage has left": lambda: (new(2), beyond_its_storage()),
    "storage bytes": lambda: (shown(9, (2,), (1,)), shown(10, (2,), (1,))),
    "storage of just the elements": lambda: (new(2), shown(3, (2,), (1,))),
    "storage of a transposed": lambda: (strided((2, 2), (1, 2)), shown(9, (2, 2), (1, 2))),
    "conj": lambda: (complex_view(False), complex_view(True)),
    "neg": lambda: (new(2), A._neg_view.default(new(2))),
    "requires grad": lambda: (new(2), new(2, requires_grad=True)),
    "inference": lambda: (new(2), made_in_inference_mode()),
    "layout": lambda: (strided((2, 2), (1, 2)), laid_out()),
    "zero tensor": lambda: (new(2), A._efficientzerotensor.default([2])),
}

VALUES = {
    "number: int, float": ("n", 1, 1.0),
    "number: int, bool": ("n", 1, True),
    "number: float, complex": ("n", 1.0, 1 + 0j),
    "number: real part": ("n", 1 + 2j, 3 + 2j),
    "number: imaginary part": ("n", 1 + 2j, 1 + 3j),
    "number: True, False": ("n", True, False),
    "int": ("i", 1, 2),
    "int, its negative": ("i", 1, -1),
    "int: bits above the 32nd": ("i", 1, 1 + (1 << 32)),
    "int: the highest bit": ("i", 1, 1 - (1 << 63)),
    "int: 0, absent": ("i", 0, None),
    "int of the bits of a float": ("n", 0x3FF0000000000000, 1.0),
    **{f"float of the bits {n}, None": ("f", n * 5e-324, None) for n in range(1, 9)},
    **{f"float of the bits {n}, bool": ("n", n * 5e-324, n % 2 == 0) for n in range(1, 9)},
    "float": ("f", 1.0, 1.0000000000000002),
    "float: 0.0, -0.0": ("f", 0.0, -0.0),
    "float: nan, inf": ("f", float("nan"), float("inf")),
    "float: 0.0, absent": ("f", 0.0, None),
    "bool": ("b", True, False),
    "bool: False, absent": ("b", False, None),
    "str": ("s", "sum", "max"),
    "str: length": ("s", "a", "a\0"),
    "str: the ninth character": ("s", "12345678a", "12345678b"),
    "str: the first of nine characters": ("s", "a23456789", "b23456789"),
    "str: beyond ASCII": ("s", "\xe9", "\xe8"),
    "str: empty, absent": ("s", "", None),
    "list: elements": ("l", [1, 2], [1, 3]),
    "list: order": ("l", [1, 2], [2, 1]),
    "list: length": ("l", [1, 2], [1, 2, 2]),
    "list: empty, one": ("l", [], [0]),
    "list: empty, absent": ("l", [], None),
    "floats": ("fs", [0.0, 1.0], [-0.0, 1.0]),
    "bools": ("bs", [True, False], [False, True]),
    "dtype": ("dtype", dispatch.float32, dispatch.float64),
    "dtype, absent": ("dtype", dispatch.uint8, None),
    "device: type": ("dev", dispatch.device("cpu"), dispatch.device("cuda")),
    "device: index": ("dev", dispatch.device("cuda:0"), dispatch.device("cuda:1")),
    "device: index, none": ("dev", dispatch.device("cuda"), dispatch.device("cuda:0")),
    "layout": ("lay", dispatch.strided, dispatch.sparse_coo),
    "memory format": ("mf", dispatch.contiguous_format, dispatch.channels_last),
    "memory format, absent": ("mf", dispatch.contiguous_format, None),
}


def check_apart(seen: Seen, first: Any, second: Any) -> None:
    """Each call misses once, then hits; a hit gives its own answer."""
    sizes = []
    for call in (first, second):
        assert counted(lambda call=call: sizes.append(tuple(call().shape))) == (0, 1)
    for call, size in zip((first, second), sizes, strict=True):
        assert counted(lambda call=call, size=size: sizes.append(call().shape)) == (1, 0)
        assert sizes.pop() == size
    assert seen.runs == 2


@pytest.mark.parametrize("what", TENSORS)
def test_tensors_that_differ_share_no_entry(seen, what):
    one, other = TENSORS[what]()
    facts = ops.cache_key.facts
    check_apart(seen, lambda: facts(one), lambda: facts(other))


@pytest.mark.parametrize("what", sorted(set(TENSORS) - {"device type", "device index", "meta"}))
def test_shape_functions_see_what_tensors_differ_in(seen, what):
    """So that the test above compares answers; devices are put on the outputs afterwards."""
    one, other = TENSORS[what]()
    assert ops.cache_key.facts(one).shape != ops.cache_key.facts(other).shape


@pytest.mark.parametrize("what", TENSORS)
def test_tensors_in_lists_and_second_places_count_too(seen, what):
    one, other = TENSORS[what]()
    plain = new(2, device=one.device)
    facts = ops.cache_key.facts
    check_apart(seen, lambda: facts(None, one), lambda: facts(None, other))
    seen.runs = 0
    check_apart(seen, lambda: facts(ts=[one, one]), lambda: facts(ts=[other, other]))
    assert counted(lambda: facts(plain)) == (0, 1)


@pytest.mark.parametrize("what", VALUES)
def test_values_that_differ_share_no_entry(seen, what):
    name, one, other = VALUES[what]
    facts = ops.cache_key.facts
    check_apart(seen, lambda: facts(**{name: one}), lambda: facts(**{name: other}))
    assert facts(**{name: one}).shape != facts(**{name: other}).shape


def test_strides_are_not_taken_for_the_argument_behind_them(library):
    lib = library("cache_key_behind")
    lib.define("f(Tensor x, int? n) -> Tensor")
    make = A.empty.memory_format
    lib.impl("f", lambda x, n: make([7 if n is None else n], device="meta"), "Meta")
    with FakeTensorMode(cache_policy=lambda op: True):
        x = new(1)
        for stride in range(2, 9):
            assert ops.cache_key_behind.f(A.as_strided(x, [1], [stride]), None).shape == (7,)
        for n in range(9):
            assert ops.cache_key_behind.f(x, n).shape == (n,)


def test_sizes_are_not_taken_for_the_argument_behind_them(library):
    lib = library("cache_key_behind")
    lib.define("f(Tensor x, int? n) -> Tensor")
    make = A.empty.memory_format
    lib.impl("f", lambda x, n: make([x.dim(), n or 0], device="meta"), "Meta")
    with FakeTensorMode(cache_policy=lambda op: True):
        for n in range(1, 17):
            assert ops.cache_key_behind.f(new(2), n).shape == (1, n)
            assert ops.cache_key_behind.f(new(2, n), None).shape == (2, 0)


def test_a_text_is_not_taken_for_strides_offset_and_bytes(library):
    lib = library("cache_key_text")
    lib.define("f(Tensor x, str? s) -> Tensor")
    make = A.empty.memory_format
    lib.impl("f", lambda x, s: make([x.stride(0), len(s or "")], device="meta"), "Meta")
    offset, nbytes = 5, 0x2020
    with FakeTensorMode(cache_policy=lambda op: True):
        x, storage = new(2, dtype=dispatch.uint8), new(nbytes, dtype=dispatch.uint8)
        for behind in range(1, 17):
            text = struct.pack("<QQB", offset, nbytes, behind).decode()
            assert ops.cache_key_text.f(x, text).shape == (1, 17)
        for tag in range(1, 17):
            stride = tag | 17 << 8
            part = A.as_strided(storage, [2], [stride], offset)
            assert ops.cache_key_text.f(part, None).shape == (stride, 0)


# what a list has, how many words each takes in a key, and how much room is asked for besides
ELEMENTS = {
    "int": (lambda: 1, 2, 0),
    "float": (lambda: 0.5, 2, 1),
    "complex": (lambda: 1j, 3, 0),
    "bool": (lambda: True, 1, 2),
    "str": (lambda: "x" * 256, 33, 1),
    **{f"Tensor of {n}": (lambda n=n: shown(9, [1] * n, [2] * n), 2 * n + 3, 2)
       for n in (1, 8, 20, 40, 64)},
}  # fmt: skip


@pytest.mark.parametrize("what", ELEMENTS)
def test_no_key_is_larger_than_its_512_words(library, what):
    lib = library("cache_key_room")
    kind = what.split()[0]
    lib.define(f"f({kind if kind in ('str', 'Tensor') else 'Scalar'}[] ts) -> Tensor")
    lib.impl("f", lambda ts: A.empty.memory_format([len(ts)], device="meta"), "Meta")
    lib.impl("f", lambda ts: A.empty.memory_format([len(ts)]), "CompositeExplicitAutograd")
    make, words, more = ELEMENTS[what]
    with FakeTensorMode(cache_policy=lambda op: True):
        element = make()
        for n in range(1, 512 // words + 4):
            assert ops.cache_key_room.f([element] * n).shape == (n,)
            refused = mode().cache_info().bypasses.get("too many arguments", 0)
            assert bool(refused) == (4 + n * words + more > 512)


def test_up_to_64_tensors_may_share_storages(library):
    lib = library("cache_key_room")
    lib.define("f(Tensor(a!)[] ts) -> ()")
    lib.impl("f", lambda ts: None, "Meta")
    with FakeTensorMode(cache_policy=lambda op: True):
        for n in (63, 64, 65):
            ops.cache_key_room.f([new() for _ in range(n)])
            assert bool(mode().cache_info().bypasses) == (n > 64)


def test_places_of_arguments_count(seen):
    x = new(2)
    facts = ops.cache_key.facts
    calls = [
        lambda: facts(x),
        lambda: facts(None, x),
        lambda: facts(ts=[x]),
        lambda: facts(l=[1]),
        lambda: facts(m=[1]),
        lambda: facts(l=[1, 2], m=[]),
        lambda: facts(l=[1], m=[2]),
        lambda: facts(l=[], m=[1, 2]),
        lambda: facts(n=1),
        lambda: facts(i=1),
    ]
    sizes = [call().shape for call in calls * 2]
    assert len(set(sizes)) == len(calls) == seen.runs
    assert sizes[: len(calls)] == sizes[len(calls) :]


def test_lists_of_tensors_differ_by_length_and_order(seen):
    a, b = new(2), new(3)
    facts = ops.cache_key.facts
    for ts in itertools.chain.from_iterable(itertools.product((a, b), repeat=n) for n in range(4)):
        assert counted(lambda ts=ts: facts(ts=list(ts))) == (0, 1)
        assert counted(lambda ts=ts: facts(ts=list(ts))) == (1, 0)


def test_wrapped_numbers_are_not_other_tensors(seen):
    """A number as a tensor takes no part in promotion."""
    plain = new(dtype=dispatch.float64)
    wrapped = mode().from_tensor(wrapped_number(2.5))
    assert geometry(plain) == geometry(wrapped)
    half = new(3, dtype=dispatch.int32)
    for order in ((plain, wrapped), (wrapped, plain)):
        mode().cache_clear()
        got = [A.mul.Tensor(half, t).dtype for t in order * 2]
        want = [dispatch.float64 if t is plain else dispatch.float32 for t in order * 2]
        assert got == want
    info = mode().cache_info()
    assert (info.hits, info.misses) == (2, 2)


# ---- operators of the library: the same pair in both orders, compared with a mode without a cache


REAL = {
    "dtype": (A.relu.default, TENSORS["dtype"]),
    "device type": (A.relu.default, TENSORS["device type"]),
    "device index": (A.relu.default, TENSORS["device index"]),
    "size": (A.relu.default, TENSORS["first size"]),
    "order of strides": (A.relu.default, TENSORS["order of strides"]),
    "stride of the only row": (A.t.default, TENSORS["stride of the only row"]),
    "stride of the only column": (A.t.default, TENSORS["stride of the only column"]),
    "offset": (A.detach.default, TENSORS["offset"]),
    "offset of a transposed": (
        A.t.default,
        lambda: (shown(30, (2, 3), (3, 1), 0), shown(30, (2, 3), (3, 1), 3)),
    ),
    "rows of a tensor": (
        A.t.default,
        lambda: tuple(A.split.Tensor(new(4, 3), 2)),
    ),
    "conj": (A.alias.default, TENSORS["conj"]),
    "conj, resolved": (A.resolve_conj.default, TENSORS["conj"]),
    "neg": (A.alias.default, TENSORS["neg"]),
    "neg, resolved": (A.resolve_neg.default, TENSORS["neg"]),
    "strides of a copy": (A.clone.default, TENSORS["order of strides"]),
    "broadcast": (A.t.default, TENSORS["broadcast"]),
    "no elements": (A.t.default, TENSORS["no elements"]),
    "layout": (A.alias.default, TENSORS["layout"]),
}


def everything(t: dispatch.Tensor, of: dispatch.Tensor) -> tuple:
    """All that can be told of a result, and how it is related to the argument."""
    storage = t.untyped_storage()
    bits = (t.is_conj(), t.is_neg(), t.requires_grad, t.is_inference())
    return (*geometry(t), storage.nbytes(), bits, t is of, storage is of.untyped_storage())


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("what", REAL)
def test_operators_answer_for_the_call_that_is_made(what, turned):
    op, make = REAL[what]
    told = []
    for cache in (False, True):
        with FakeTensorMode(cache=cache):
            pair = make()
            told.append([everything(op(x), x) for x in (pair[::-1] if turned else pair) * 2])
    assert told[0] == told[1]
    assert told[0][0] != told[0][1]


# ---- what is not an argument


def test_default_dtype_is_part_of_the_key(seen):
    x = new(2, dtype=dispatch.int64)
    call = lambda: A.div.Tensor(x, x)  # noqa: E731
    call()
    dispatch.set_default_dtype(dispatch.float64)
    try:
        assert call().dtype is dispatch.float64
        assert counted(call) == (1, 0)
    finally:
        dispatch.set_default_dtype(dispatch.float32)
    assert counted(call) == (1, 0)
    assert call().dtype is dispatch.float32


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1", "cpu", "cpu:0", "xpu:2"])
def test_default_device_is_part_of_the_key(device):
    shared = DispatchCache()
    with FakeTensorMode(cache=shared), dispatch.device("cuda:2"):
        A.empty.memory_format([2])
    with FakeTensorMode(cache=shared), dispatch.device(device):
        assert A.empty.memory_format([2]).device == dispatch.device(device)
    with FakeTensorMode(cache=shared):
        assert A.empty.memory_format([2]).device == dispatch.device("cpu")


def test_inference_mode_is_part_of_the_key(seen):
    x = new(2)
    call = lambda: A.relu.default(x)  # noqa: E731
    call()
    with dispatch.inference_mode():
        assert counted(call) == (0, 1)
        assert call().is_inference()
    assert counted(call) == (1, 0)
    assert not call().is_inference()


@pytest.mark.parametrize("setting", ["allow_non_fake_inputs", "allow_meta"])
def test_settings_of_the_mode_are_part_of_the_key(setting):
    with FakeTensorMode() as m:
        x = new(2)
        A.relu.default(x)
        setattr(m, setting, not getattr(m, setting))
        assert counted(lambda: A.relu.default(x)) == (0, 1)
        setattr(m, setting, not getattr(m, setting))
        assert counted(lambda: A.relu.default(x)) == (1, 0)


def test_operator_and_overload_are_part_of_the_key(seen):
    x = new(2, 2)
    for op in (A.mul.Tensor, A.div.Tensor, A.eq.Tensor, A.mm.default):
        assert counted(lambda op=op: op(x, x)) == (0, 1)
        assert counted(lambda op=op: op(x, x)) == (1, 0)
    assert A.eq.Tensor(x, x).dtype is dispatch.bool
    assert A.sum.default(x).shape == () and A.sum.dim_IntList(x, [0]).shape == (2,)


# ---- registrations


def test_a_second_definition_of_a_name_has_entries_of_its_own(library):
    with FakeTensorMode(cache_policy=lambda op: True):
        x = new(2)
        for size in (3, 4):
            lib = dispatch.Library("cache_key_again", "DEF")
            lib.define("f(Tensor x) -> Tensor")
            lib.impl("f", lambda x, n=size: A.empty.memory_format([n], device="meta"), "Meta")
            assert [ops.cache_key_again.f(x).shape for _ in range(2)] == [(size,)] * 2
            lib._destroy()


def test_a_kernel_of_another_operator_outdates_custom_entries(library):
    """A package's operator may call any other, so each registration counts for it."""
    lib = library("cache_calls")
    lib.define("outer(Tensor x) -> Tensor")
    lib.define("inner(Tensor x) -> Tensor")
    lib.impl("outer", lambda x: ops.cache_calls.inner(x), "Meta")
    lib.impl("inner", lambda x: A.empty.memory_format([3], device="meta"), "Meta")
    with FakeTensorMode(cache_policy=lambda op: True):
        x = new(2)
        assert [ops.cache_calls.outer(x).shape for _ in range(2)] == [(3,)] * 2
        newer = library("cache_calls", "IMPL")
        newer.impl("inner", lambda x: A.empty.memory_format([4], device="meta"), "Meta",
                   allow_override=True)  # fmt: skip
        assert ops.cache_calls.outer(x).shape == (4,)
        newer._destroy()
        assert ops.cache_calls.outer(x).shape == (3,)


@pytest.mark.parametrize("namespace", ["aten", "_"])
def test_registration_and_its_end_outdate_entries_of_emitted_operators(library, namespace):
    """A kernel of an emitted operator and a fallback both do: others may call through them."""
    with FakeTensorMode():
        x = new(2)
        call = lambda: A.mul.Tensor(x, x)  # noqa: E731
        call()
        lib = library(namespace, "IMPL")
        if namespace == "_":
            lib.fallback(lambda op, *args, **kwargs: op(*args, **kwargs), "PrivateUse3")
        else:
            lib.impl("relu", lambda x: x, "PrivateUse3")
        assert counted(call) == (0, 1)
        assert counted(call) == (1, 0)
        lib._destroy()
        assert counted(call) == (0, 1)


ALONE = """
import dispatch
from dispatch import FakeTensorMode, Library, ops

A = ops.aten
lib = Library("cache_alone", "DEF")
lib.define("outer(Tensor x) -> Tensor")
lib.define("inner(Tensor x) -> Tensor")
lib.impl("outer", lambda x: ops.cache_alone.inner(x), "Meta")
lib.impl("inner", lambda x: A.empty.memory_format([3], device="meta"), "Meta")
with FakeTensorMode(cache_policy=lambda op: True) as mode:
    x = dispatch.empty(2)
    calls = {"own": lambda: ops.cache_alone.outer(x), "emitted": lambda: A.mul.Tensor(x, x)}
    for call in calls.values():
        call()
    %s
    for name, call in calls.items():
        before = mode.cache_info().hits
        sizes = tuple(call().shape)
        print(name, mode.cache_info().hits - before, sizes)
"""

NEWER = """newer = Library("cache_alone", "IMPL")
    newer.impl("inner", lambda x: A.empty.memory_format([4], device="meta"), "Meta",
               allow_override=True)"""
FALLBACK = """newer = Library("_", "IMPL")
    newer.fallback(lambda op, *args, **kwargs: op(*args, **kwargs), "PrivateUse3")"""
EMITTED = """newer = Library("aten", "IMPL")
    newer.impl("relu", lambda x: x, "PrivateUse3")"""


@pytest.mark.parametrize(
    ("registration", "said"),
    [
        ("pass", ["own 1 (3,)", "emitted 1 (2,)"]),
        (NEWER, ["own 0 (4,)", "emitted 1 (2,)"]),
        (FALLBACK, ["own 0 (3,)", "emitted 0 (2,)"]),
        (EMITTED, ["own 0 (3,)", "emitted 0 (2,)"]),
    ],
    ids=["none", "a package's kernel", "a fallback", "a kernel of an emitted operator"],
)
def test_which_entries_the_first_registration_of_a_process_outdates(registration, said):
    """Later ones outdate all, once an emitted operator was touched: hence a process of its own."""
    program = [sys.executable, "-c", ALONE % registration]
    assert subprocess.check_output(program, text=True).splitlines() == said


# ---- any call


SIZES = st.lists(st.integers(0, 3), max_size=3).map(tuple)


@st.composite
def tensor_recipes(draw: st.DrawFn) -> tuple:
    """What `build` makes a tensor from: base sizes, dtype, device, then a few views."""
    dtype = draw(st.sampled_from(["float32", "int64", "complex64"]))
    device = draw(st.sampled_from(["cpu", "cpu", "cuda:0", "cuda:1"]))
    views = draw(st.lists(st.sampled_from(sorted(CHANGES)), max_size=3))
    return draw(SIZES), dtype, device, tuple(views)


CHANGES = {
    "transposed": lambda t: A.transpose.int(t, 0, -1) if t.ndim else t,
    "row": lambda t: A.slice.Tensor(t, 0, 1) if t.ndim else t,
    "end": lambda t: A.slice.Tensor(t, -1, 0, 1) if t.ndim else t,
    "step": lambda t: A.slice.Tensor(t, 0, 0, 9, 2) if t.ndim else t,
    "more": lambda t: A.unsqueeze.default(t, 0),
    "wide": lambda t: A.expand.default(A.unsqueeze.default(t, -1), [*t.shape, 2]),
    "conj": lambda t: A._conj.default(t) if t.is_complex() else t,
    "neg": lambda t: A._neg_view.default(t),
    "grad": lambda t: t.requires_grad_() if t.dtype is dispatch.float32 and t.is_leaf else t,
}

CALLS = [
    A.relu.default,
    A.t.default,
    A.detach.default,
    A.clone.default,
    A.resolve_conj.default,
    A.resolve_neg.default,
    A.sum.default,
    A.unsqueeze.default,
    A.mul.Tensor,
    A.add.Tensor,
    A.squeeze.default,
    A.empty_like.default,
    A.view_as_real.default,
]
CALL_ARGUMENTS = {A.unsqueeze.default: (1,), A.mul.Tensor: (2.5,), A.add.Tensor: (2,)}


def build(recipe: tuple) -> dispatch.Tensor:
    sizes, dtype, device, views = recipe
    t = new(*sizes, dtype=getattr(dispatch, dtype), device=device)
    for name in views:
        t = CHANGES[name](t)
    return t


def told_of(op: Any, recipe: tuple) -> Any:
    x = build(recipe)
    try:
        return everything(op(x, *CALL_ARGUMENTS.get(op, ())), x)
    except (RuntimeError, IndexError) as error:
        return type(error)


LASTING = DispatchCache()


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(CALLS), tensor_recipes())
def test_a_cache_that_saw_many_calls_answers_as_none_does(op, recipe):
    with FakeTensorMode(cache=False):
        want = told_of(op, recipe)
    for _ in range(2):
        with FakeTensorMode(cache=LASTING):
            assert told_of(op, recipe) == want


def test_symbols_of_an_env_that_is_gone_are_not_those_of_its_successor():
    cache = DispatchCache()
    for i in range(12):
        mode = FakeTensorMode(shape_env=ShapeEnv(), cache=cache)
        x = mode.from_tensor(dispatch.ones(5, 6), static_shapes=False)
        kept = [x.shape[0] + k + 7 for k in range(i % 3)]
        with mode:
            y = dispatch.cat([x, x])
        assert y.shape[0].node.shape_env is mode.shape_env
        assert y.shape[0].node.expr == (x.shape[0] * 2).node.expr
        del mode, x, y, kept
        gc.collect()
    assert cache.info().hits == 0


def test_envs_that_live_side_by_side_share_no_entry():
    cache = DispatchCache()
    modes = [FakeTensorMode(shape_env=ShapeEnv(), cache=cache) for _ in range(3)]
    given = [mode.from_tensor(dispatch.ones(5, 6), static_shapes=False) for mode in modes]
    for hits in (0, 3):
        for mode, x in zip(modes, given, strict=True):
            with mode:
                y = dispatch.cat([x, x])
            assert y.shape[0].node.shape_env is mode.shape_env
        assert cache.info().hits == hits


class Foreign:
    """A node that another library made: it is a number."""

    def __init__(self, number: float) -> None:
        self.number = number

    def is_constant(self) -> bool:
        return True

    def guard_int(self, file: str, line: int) -> int:
        return int(self.number)

    def guard_float(self, file: str, line: int) -> float:
        return float(self.number)

    def guard_bool(self, file: str, line: int) -> bool:
        return bool(self.number)


def test_a_symbolic_number_counts_by_its_kind_too():
    with FakeTensorMode() as mode:
        x = dispatch.ones(3, dtype=dispatch.int64)
        for kind, dtype in ((SymInt, "int64"), (SymFloat, "float32"), (SymBool, "int64")):
            assert dispatch.add(x, kind(Foreign(1))).dtype.name == dtype
    assert mode.cache_info().hits == 0


def test_floats_of_other_nodes_are_not_their_integers():
    with FakeTensorMode():
        for end, n in ((3.2, 13), (3.7, 15)):
            made = dispatch.ops.aten.arange.start_step(0.0, SymFloat(Foreign(end)), 0.25)
            assert made.shape == (n,)
