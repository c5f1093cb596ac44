"""What kernels written in Python receive for each type of argument."""

import enum

import numpy as np

from tests.differential.helpers import MyInt, logging_operator


class MyFloat(float):
    pass


class MyStr(str):
    pass


class MyList(list):
    pass


class Colour(enum.IntEnum):
    RED = 3


class Indexed:
    def __index__(self):
        return 5


class Floated:
    def __float__(self):
        return 2.5


class Counted:
    """A sequence by protocol."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def _values(s):
    T = s.T
    return {
        "None": None, "True": True, "False": False, "0": 0, "1": 1, "-3": -3, "2**62": 2**62,
        "2**63": 2**63, "-2**63": -(2**63), "2**64": 2**64, "1.0": 1.0, "2.5": 2.5,
        "inf": float("inf"), "1j": 1j, "2+0j": 2 + 0j, "str": "x", "bytes": b"x", "MyInt": MyInt(7),
        "MyFloat": MyFloat(1.5), "MyStr": MyStr("s"), "IntEnum": Colour.RED, "Indexed": Indexed(),
        "Floated": Floated(), "np.int64": np.int64(4), "np.int8": np.int8(4),
        "np.float64": np.float64(1.5), "np.float32": np.float32(1.5), "np.bool": np.bool_(True),
        "np.complex128": np.complex128(1j), "np 0-d": np.array(3), "np 1 elem": np.array([3]),
        "np 0-d float": np.array(1.5),
        "np vec": np.array([1, 2]), "0-d int tensor": T.tensor(3), "0-d float tensor": T.tensor(1.5),
        "0-d bool tensor": T.tensor(True), "0-d complex tensor": T.tensor(1j),
        "1-elem tensor": T.tensor([3]), "1-elem float tensor": T.tensor([1.5]), "tensor": T.ones(2),
        "list": [1, 2], "tuple": (1, 2), "empty list": [],
        "empty tuple": (), "floats": [1.0, 2.5], "mixed": [1, 2.5], "bools": [True, False],
        "strs": ["a", "b"], "Nones": [None, 1], "size": T.Size([2, 3]), "range": range(3),
        "set": {1}, "dict": {"a": 1}, "MyList": MyList([1]), "Counted": Counted(1, 2),
        "generator": (i for i in range(2)),
        "dtype": T.float32, "device": T.device("cpu"), "layout": T.strided,
        "memory_format": T.contiguous_format, "object": object(), "type": int, "slice": slice(1),
        "tensors": [T.ones(1), T.ones(2)], "tensor or None": [T.ones(1), None],
        "nested": [[1, 2], [3]], "nested tuples": ((1,), (2,)), "0-d tensors": [T.tensor(1), 2],
        "np ints": [np.int64(1), np.int32(2)], "np floats": [np.float64(1.5)],
        "ellipsis": ..., "cuda str": "cuda:1", "cpu str": "cpu",
    }  # fmt: skip


def _matrix(s, log, ns, type_, without=()):
    lines = []
    lib, packet = logging_operator(s, lambda *words: lines.append(words), ns, f"({type_} x) -> ()")
    for label, value in _values(s).items():
        lines.clear()
        if label in without:
            continue
        try:
            packet.default(value)
        except Exception as error:
            log(label, "raises", type(error).__name__)
        else:
            log(label, *lines[0])


def takes_int(s, log):
    _matrix(s, log, "ti", "int")


def takes_float(s, log):
    _matrix(s, log, "tf", "float")


def takes_bool(s, log):
    _matrix(s, log, "tb", "bool")


def takes_scalar(s, log):
    _matrix(s, log, "tsc", "Scalar", without=["2**64"])


def takes_complex(s, log):
    _matrix(s, log, "tcx", "complex")


def takes_str(s, log):
    _matrix(s, log, "tst", "str")


def takes_tensor(s, log):
    _matrix(s, log, "tt", "Tensor")


def takes_symint(s, log):
    _matrix(s, log, "tsi", "SymInt")


def takes_dtype(s, log):
    _matrix(s, log, "tdt", "ScalarType", without=["-2**63", "-3", "2**62"])


def takes_device(s, log):
    _matrix(s, log, "tde", "Device")


def takes_layout(s, log):
    _matrix(s, log, "tla", "Layout", without=["-2**63", "-3", "2**62"])


def takes_memory_format(s, log):
    lib, packet = logging_operator(s, log, "tmf", "(MemoryFormat x) -> ()")
    for value in (None, 0, 1, 2, 3, True, 1.0, "s", s.T.channels_last, s.T.strided):
        log.attempt(str(value).rpartition(".")[2], packet.default, value)


def takes_generator(s, log):
    lib, packet = logging_operator(s, log, "tge", "(Generator? x) -> ()")
    for value in (None, s.T.Generator(), 1, "s", s.T.ones(1), []):
        log.attempt(type(value).__name__, packet.default, value)


def takes_any(s, log):
    _matrix(
        s,
        log,
        "tan",
        "Any",
        without=[
            "0-d tensors",
            "2**63",
            "2**64",
            "Counted",
            "Floated",
            "Indexed",
            "IntEnum",
            "MyFloat",
            "MyInt",
            "MyList",
            "MyStr",
            "bytes",
            "dtype",
            "ellipsis",
            "empty list",
            "generator",
            "layout",
            "memory_format",
            "mixed",
            "np 0-d",
            "np 0-d float",
            "np 1 elem",
            "np floats",
            "np ints",
            "np vec",
            "np.bool",
            "np.complex128",
            "np.float32",
            "np.float64",
            "np.int64",
            "np.int8",
            "object",
            "range",
            "set",
            "size",
            "slice",
            "type",
        ],
    )


def takes_int_list(s, log):
    _matrix(s, log, "til", "int[]")


def takes_symint_list(s, log):
    _matrix(s, log, "tsl", "SymInt[]", without=["generator"])


def takes_int_list_of_two(s, log):
    _matrix(s, log, "til2", "int[2]")


def takes_symint_list_of_two(s, log):
    _matrix(s, log, "tsl2", "SymInt[2]", without=["generator"])


def takes_float_list(s, log):
    _matrix(s, log, "tfl", "float[]")


def takes_bool_list(s, log):
    _matrix(s, log, "tbl", "bool[]")


def takes_bool_list_of_three(s, log):
    _matrix(s, log, "tbl3", "bool[3]")


def takes_scalar_list(s, log):
    _matrix(s, log, "tscl", "Scalar[]")


def takes_str_list(s, log):
    _matrix(s, log, "tstl", "str[]")


def takes_tensor_list(s, log):
    _matrix(s, log, "ttl", "Tensor[]")


def takes_optional_tensor_list(s, log):
    _matrix(s, log, "totl", "Tensor?[]")


def takes_optional_int(s, log):
    _matrix(s, log, "toi", "int?")


def takes_optional_float(s, log):
    _matrix(s, log, "tof", "float?")


def takes_optional_bool(s, log):
    _matrix(s, log, "tob", "bool?")


def takes_optional_scalar(s, log):
    _matrix(s, log, "tos", "Scalar?", without=["2**64"])


def takes_optional_tensor(s, log):
    _matrix(s, log, "tot", "Tensor?")


def takes_optional_int_list(s, log):
    _matrix(s, log, "toil", "int[]?")


def takes_optional_int_list_of_two(s, log):
    _matrix(s, log, "toil2", "int[2]?")


def takes_optional_float_list(s, log):
    _matrix(s, log, "tofl", "float[]?")


def takes_list_of_optional_ints(s, log):
    _matrix(s, log, "tloi", "int?[]")


def takes_nested_int_list(s, log):
    _matrix(s, log, "tnl", "int[][]")


def takes_dict(s, log):
    _matrix(s, log, "tdi", "Dict(str, int)", without=["dict"])


def takes_optional_str(s, log):
    _matrix(s, log, "tostr", "str?")


def takes_optional_dtype(s, log):
    _matrix(s, log, "todt", "ScalarType?", without=["-2**63", "-3", "2**62"])


def codes_for_objects(s, log):
    o = s.ops.aten
    for label, call in (
        ("dtype=6", lambda: o.empty.memory_format([2], dtype=6).dtype),
        ("dtype=7", lambda: o.zeros.default([2], dtype=7)),
        ("dtype=4 layout=0", lambda: o.zeros.default([2], dtype=4, layout=0)),
        ("dtype=100", lambda: o.zeros.default([2], dtype=100)),
        ("dtype=True", lambda: o.zeros.default([2], dtype=True)),
        ("dtype=float", lambda: o.zeros.default([2], dtype=float)),
        ("dtype=int", lambda: o.zeros.default([2], dtype=int)),
        ("dtype='float32'", lambda: o.zeros.default([2], dtype="float32")),
        ("dtype=np", lambda: o.zeros.default([2], dtype=np.float32)),
        ("T.zeros dtype=6", lambda: s.T.zeros(2, dtype=6)),
        ("T.zeros dtype=float", lambda: s.T.zeros(2, dtype=float)),
        ("T.zeros dtype=bool", lambda: s.T.zeros(2, dtype=bool)),
        ("T.zeros dtype='float32'", lambda: s.T.zeros(2, dtype="float32")),
        ("memory_format=0", lambda: o.clone.default(s.T.ones(2), memory_format=0)),
        ("memory_format=2", lambda: o.clone.default(s.T.ones(1, 2, 1, 1), memory_format=2)),

        ("clone method mf=0", lambda: s.T.ones(2).clone(memory_format=0)),
        ("device='cpu'", lambda: o.zeros.default([2], device="cpu")),
        ("device='meta'", lambda: o.zeros.default([2], device="meta").device),
        ("device=0", lambda: o.zeros.default([2], device=0)),
        ("device='nope'", lambda: o.zeros.default([2], device="nope")),
        ("T.zeros device='nope'", lambda: s.T.zeros(2, device="nope")),
        ("T.zeros device=1.5", lambda: s.T.zeros(2, device=1.5)),
        ("layout str", lambda: o.zeros.default([2], layout="strided")),
        ("T.zeros layout", lambda: s.T.zeros(2, layout=s.T.strided)),
        ("pin_memory False", lambda: s.T.zeros(2, pin_memory=False)),
        ("to.dtype", lambda: o.to.dtype(s.T.ones(2), 7)),
        ("_to_copy", lambda: o._to_copy.default(s.T.ones(2), dtype=7)),
    ):  # fmt: skip
        log.attempt(label, call)


def dtype_codes_reach_kernels(s, log):
    lib, packet = logging_operator(s, log, "dck", "(ScalarType a, Layout b, MemoryFormat c, Device d) -> ()")
    T = s.T
    log.attempt("objects", packet.default, T.float32, T.strided, T.channels_last, T.device("cpu"))
    log.attempt("codes", packet.default, 6, 0, 2, "cpu")
    log.attempt("types", packet.default, float, T.strided, T.channels_last, "meta")


def subclassed_values(s, log):
    lib, packet = logging_operator(s, log, "sbv", "(int a, float b, str c, int[] d, bool e=False) -> ()")
    log.attempt(
        "subclasses", packet.default, MyInt(3), MyFloat(2.0), MyStr("z"), MyList([MyInt(1)])
    )
    log.attempt("enum", packet.default, Colour.RED, Colour.RED, "z", [Colour.RED], Colour.RED)
    log.attempt("bools", packet.default, True, True, "z", [True, False])
    log.attempt("packet", packet, MyInt(3), MyFloat(2.0), MyStr("z"), MyList([MyInt(1)]))
