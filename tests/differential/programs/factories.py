"""Tensors from data and sizes."""

from typing import Any

import numpy as np


def tensor_of_data(s, log):
    T = s.T
    for label, v in {
        "int": 1, "float": 1.5, "bool": True, "complex": 1j, "list": [1, 2], "mixed": [1, 2.5], "bools": [True, False], "bool int": [True, 2], "complex list": [1, 1j], "nested": [[1, 2], [3, 4]], "ragged": [[1, 2], [3]], "empty": [], "empty nested": [[], []], "tuple": (1, 2), "range": range(3), "None": None, "str": "a", "strs": ["a"], "dict": {1: 2}, "set": {1},
        "np": np.arange(3), "np f": np.ones(2), "np int": np.int16(2), "list of np": [np.float64(1), np.int64(2)], "list of arr": [np.ones(2), np.ones(2)], "tensor": T.ones(2), "2**62": 2**62, "2**63": 2**63, "2**64": 2**64, "-2**63": -(2**63), "nan": float("nan"), "object": object(), "bytes": b"ab", "None list": [None], "gen": (i for i in range(2)),
        "size": T.Size([1, 2]), "bytearray": bytearray(b"ab"), "np str": np.array(["a"]),
    }.items():  # fmt: skip
        log.attempt(label, T.tensor, v)
        log.attempt(label + " f64", lambda: T.tensor(v, dtype=T.float64))
        log.attempt(label + " i32", lambda: T.tensor(v, dtype=T.int32))
        log.attempt(label + " bool", lambda: T.tensor(v, dtype=T.bool))


def tensor_options(s, log):
    T = s.T
    for label, f in (
        ("device", lambda: T.tensor([1], device="meta")), ("grad", lambda: T.tensor([1.0], requires_grad=True)), ("grad int", lambda: T.tensor([1], requires_grad=True)), ("pin", lambda: T.tensor([1], pin_memory=False)), ("float type", lambda: T.tensor([1], dtype=float)), ("bad dtype", lambda: T.tensor([1], dtype="x")), ("positional", lambda: T.tensor([1], T.float32)), ("data=", lambda: T.tensor(data=[1])), ("none", lambda: T.tensor()), ("unknown", lambda: T.tensor([1], foo=1)), ("u8 256", lambda: T.tensor(256, dtype=T.uint8)), ("i8 -129", lambda: T.tensor(-129, dtype=T.int8)), ("u8 -1", lambda: T.tensor(-1, dtype=T.uint8)), ("f16 big", lambda: T.tensor(1e10, dtype=T.float16)), ("int of 1.9", lambda: T.tensor([1.9, -1.9], dtype=T.int64)), ("int of nan", lambda: T.tensor(float("nan"), dtype=T.int64)), ("bf16", lambda: T.tensor([1.1], dtype=T.bfloat16)),
        ("c64 of real", lambda: T.tensor([1.0], dtype=T.complex64)), ("f of complex", lambda: T.tensor([1j], dtype=T.float32)), ("as_tensor same", lambda: T.as_tensor(T.ones(1)).shape), ("as_tensor is", lambda: (lambda t: T.as_tensor(t) is t)(T.ones(1))), ("as_tensor dtype", lambda: T.as_tensor([1], dtype=T.float32)), ("as_tensor device", lambda: T.as_tensor([1], device="cpu")), ("asarray list", lambda: T.asarray([1, 2])), ("asarray copy", lambda: (lambda t: T.asarray(t, copy=True) is t)(T.ones(1))), ("asarray is", lambda: (lambda t: T.asarray(t) is t)(T.ones(1))), ("asarray False", lambda: T.asarray([1], copy=False)), ("new_tensor", lambda: T.ones(1).new_tensor([1, 2])), ("new_tensor int", lambda: T.ones(1, dtype=T.int32).new_tensor([1.5])), ("tensor of tensor grad", lambda: T.tensor(T.ones(1, requires_grad=True)).requires_grad),
    ):  # fmt: skip
        log.attempt(label, f)


def sizes_of_factories(s, log):
    T = s.T
    for name in ("zeros", "ones", "empty", "rand", "randn"):
        f = getattr(T, name)
        for label, g in (
            ("()", lambda: f(())), ("none", lambda: f()), ("0", lambda: f(0)), ("2", lambda: f(2)), ("2, 3", lambda: f(2, 3)), ("tuple", lambda: f((2, 3))), ("list", lambda: f([2, 3])), ("size", lambda: f(T.Size([2]))), ("size=", lambda: f(size=(2,))), ("size=2", lambda: f(size=2)), ("np", lambda: f(np.int64(2))), ("np arr", lambda: f(np.array([2, 3]))), ("tensor", lambda: f(T.tensor(2))), ("tensor list", lambda: f([T.tensor(2), 1])), ("vec", lambda: f(T.tensor([2, 3]))), ("neg", lambda: f(-1)), ("float", lambda: f(2.0)), ("floats", lambda: f([2.0])), ("str", lambda: f("a")), ("None", lambda: f(None)), ("bool", lambda: f(True)), ("huge", lambda: f(2**40, 2**40)), ("2, tuple", lambda: f(2, (3,))), ("mix", lambda: f((2,), 3)), ("dtype", lambda: f(2, dtype=T.float64)), ("names", lambda: f(2, device="cpu", layout=T.strided, requires_grad=True)), ("int dtype", lambda: f(2, dtype=T.int32)), ("meta", lambda: f(2, device="meta")), ("out", lambda: f(2, out=T.empty(0))), ("bad kw", lambda: f(2, foo=1)), ("gen", lambda: f(2, generator=T.Generator())), ("range", lambda: f(range(2))), ("MF", lambda: f(1, 2, 1, 1, memory_format=T.channels_last)), ("device int", lambda: f(2, device=T.device("meta", 0)).device), ("bad device", lambda: f(2, device="foo")), ("dtype None", lambda: f(2, dtype=None, device=None, layout=None)), ("grad int", lambda: f(2, dtype=T.int64, requires_grad=True)),
        ):  # fmt: skip
            try:
                r = g()
                if T.is_tensor(r):
                    log(name, label, r.shape, r.dtype, r.device, r.requires_grad, r.stride())
                else:
                    log(name, label, r)
            except Exception as e:
                log(name, label, "raises", type(e).__name__)


def ranges(s, log):
    T = s.T
    for label, f in (
        ("3", lambda: T.arange(3)), ("3.0", lambda: T.arange(3.0)), ("1,4", lambda: T.arange(1, 4)), ("1,4,2", lambda: T.arange(1, 4, 2)), ("step 0.5", lambda: T.arange(0, 2, 0.5)), ("neg", lambda: T.arange(3, 0, -1)), ("bad step", lambda: T.arange(3, 0)), ("zero step", lambda: T.arange(0, 1, 0)), ("end=", lambda: T.arange(end=3)), ("start= end=", lambda: T.arange(start=1, end=3)), ("step=", lambda: T.arange(0, 6, step=2)), ("dtype", lambda: T.arange(3, dtype=T.float32)), ("bool", lambda: T.arange(True)), ("tensor", lambda: T.arange(T.tensor(3))), ("nan", lambda: T.arange(float("nan"))), ("str", lambda: T.arange("a")), ("out", lambda: T.arange(3, out=T.empty(0))), ("complex", lambda: T.arange(1j)), ("0", lambda: T.arange(0)), ("np", lambda: T.arange(np.int64(2))), ("i8", lambda: T.arange(3, dtype=T.int8)),
        ("full", lambda: T.full((2,), 1)), ("full f", lambda: T.full((2,), 1.5)), ("full bool", lambda: T.full((2,), True)), ("full c", lambda: T.full((1,), 1j)), ("full dtype", lambda: T.full((1,), 1.5, dtype=T.int64)), ("full tensor", lambda: T.full((1,), T.tensor(2))), ("full int size", lambda: T.full(2, 1)), ("full none", lambda: T.full((2,))), ("full_like", lambda: T.full_like(T.ones(2), 3)), ("fill_value=", lambda: T.full(size=(1,), fill_value=2)), ("full str", lambda: T.full((1,), "a")),
        ("zeros_like dtype", lambda: T.zeros_like(T.ones(2), dtype=T.int32)), ("ones_like", lambda: T.ones_like(T.zeros(2, 2).t())), ("empty_like", lambda: T.empty_like(T.ones(2, 3).t()).stride()), ("rand_like", lambda: T.rand_like(T.ones(2)).shape), ("rand_like int", lambda: T.rand_like(T.tensor([1]))), ("zeros_like grad", lambda: T.zeros_like(T.ones(1), requires_grad=True)), ("like list", lambda: T.zeros_like([1])), ("like device", lambda: T.zeros_like(T.ones(1), device="meta")), ("like mf", lambda: T.zeros_like(T.ones(2, 3).t(), memory_format=T.contiguous_format).stride()), ("like expanded", lambda: T.zeros_like(T.ones(1).expand(3)).stride()),
        ("randint", lambda: T.randint(5, (2,)).dtype), ("randint 2", lambda: T.randint(1, 2, (3,))), ("randint bad", lambda: T.randint(0, (3,))), ("randint kw", lambda: T.randint(low=0, high=1, size=(2,))), ("randint dtype", lambda: T.randint(3, (1,), dtype=T.float32).dtype), ("randperm", lambda: T.randperm(3).sort()[0]), ("bernoulli", lambda: T.bernoulli(T.ones(2))), ("empty_strided", lambda: T.empty_strided((2, 3), (1, 2)).stride()), ("empty_strided bad", lambda: T.empty_strided((2,), (1, 1))), ("scalar_tensor", lambda: T.scalar_tensor(2)), ("empty_permuted", lambda: T.empty_permuted((2, 3), (1, 0)).stride()), ("tril", lambda: T.tril(T.ones(2, 2))), ("new_empty_strided", lambda: T.ones(1).new_empty_strided((2,), (3,)).stride()), ("new_full", lambda: T.ones(1, dtype=T.int32).new_full((2,), 1.5)), ("normal_", lambda: T.empty(2).normal_().shape), ("uniform_", lambda: T.empty(2).uniform_(1, 1)), ("random_", lambda: T.empty(2).random_(1)), ("bernoulli_", lambda: T.empty(2).bernoulli_(1.0)),
    ):  # fmt: skip
        log.attempt(label, f)


def factories_one_by_one(s: Any, log: Any) -> None:
    T = s.T
    log(T.arange(0, 1, 0.25), T.arange(5, 0, -2), T.arange(3.0), T.arange(1))
    log(T.full((2,), 7), T.full((2,), 1.5), T.full((1,), True), T.full((), 2j))
    log(T.zeros(2, 0).shape, T.ones([2, 1]), T.zeros(()).shape, T.empty(T.Size([2])).shape)
    log(
        T.zeros_like(T.ones(2, dtype=T.int8)),
        T.full_like(T.ones(1), 4),
        T.ones(2).new_zeros(3, dtype=T.bool),
    )
    log(T.ones(1).new_tensor([1, 2]), T.ones(1).new_full((2,), 3), T.scalar_tensor(2))
    for name, call in {
        "negative": lambda: T.ones(-1),
        "float": lambda: T.ones(1.5),
        "none": lambda: T.ones(None),
        "dtype": lambda: T.ones(1, dtype=int),
        "bad dtype": lambda: T.ones(1, dtype="float32"),
        "step": lambda: T.arange(0, 1, -1),
        "zero": lambda: T.arange(0, 1, 0),
        "device": lambda: T.ones(1, device="nowhere"),
        "keyword": lambda: T.ones(1, foo=2),
        "full": lambda: T.full((2,)),
        "out": lambda: T.zeros(2, out=T.empty(0)),
    }.items():
        log.attempt(name, call)


def tensor_from_data(s: Any, log: Any) -> None:
    T = s.T
    log(
        T.tensor([1, 2.5]),
        T.tensor([True, 2]),
        T.tensor([[1], [2]]),
        T.tensor([]),
        T.tensor([1j, 1]),
    )
    log(T.tensor(3).dtype, T.tensor(3.0).dtype, T.tensor(True).dtype, T.tensor([[]]).shape)
    log(T.tensor((1, [2][0])), T.tensor(range(3)), T.tensor([T.tensor(1), T.tensor(2)]))
    log(T.tensor([1.7, -1.7], dtype=T.int64), T.tensor([256], dtype=T.float16), T.tensor(2**40))
    log.attempt("ragged", T.tensor, [[1], [2, 3]])
    log.attempt("str", T.tensor, "a")
    log.attempt("none", T.tensor, None)
    log.attempt("list none", T.tensor, [None])
    log.attempt("big", T.tensor, 2**63)
    log.attempt("uint8", lambda: T.tensor(300, dtype=T.uint8))
    log.attempt("object", T.tensor, object())
    x = T.ones(2)
    log(T.as_tensor(x) is x, T.as_tensor(x, dtype=T.float64).dtype, T.asarray([1, 2]))
    log(T.tensor([1.0], requires_grad=True).requires_grad, T.tensor(1.0, device="meta").device)


def default_dtype(s: Any, log: Any) -> None:
    T = s.T
    log(T.get_default_dtype())
    T.set_default_dtype(T.float64)
    log(
        T.tensor(1.0).dtype,
        T.ones(1).dtype,
        T.tensor(1j).dtype,
        (T.arange(2) / 1).dtype,
        T.arange(2.0).dtype,
    )
    log((T.ones(1, dtype=T.float32) + 1.0).dtype, T.full((1,), 2.0).dtype, T.tensor(2).sqrt().dtype)
    log.attempt("int", T.set_default_dtype, T.int64)
    log.attempt("str", T.set_default_dtype, "float32")
    T.set_default_dtype(T.float16)
    log(T.tensor(1.5).dtype, repr(T.ones(1, dtype=T.float16)))
    T.set_default_dtype(T.float32)
    log(T.get_default_dtype(), repr(T.ones(1)))
