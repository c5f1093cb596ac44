"""Reading and writing with all kinds of indices."""

from typing import Any

import numpy as np


def _indices(s):
    T = s.T
    return {
        "0": 0, "-1": -1, "2": 2, "-3": -3, "True": True, "False": False, "None": None, "...": ..., ":": slice(None), "1:": slice(1, None), "::2": slice(None, None, 2), ":-1": slice(None, -1), "5:": slice(5, None), "::-1": slice(None, None, -1), "1.0": 1.0, "'a'": "a",
        "0, 1": (0, 1), "0, 1, 2": (0, 1, 2), "0,0,0,0": (0, 0, 0, 0), ":, 1": (slice(None), 1), "..., 1": (..., 1), "1, ...": (1, ...), "None, 0": (None, 0), "0, None": (0, None), "..., None": (..., None), "..., ...": (..., ...), "()": (), "True, 0": (True, 0), "[0, 1]": [0, 1], "[0]": [0], "[]": [], "[True, False]": [True, False], "[[0, 1]]": [[0, 1]], "[0, 1], [1, 0]": ([0, 1], [1, 0]),
        "[slice]": [slice(None), 0], "t 0-d": T.tensor(1), "t 0-d u8": T.tensor(1, dtype=T.uint8), "t 0-d bool": T.tensor(True), "t": T.tensor([1, 0]), "t i32": T.tensor([1, 0], dtype=T.int32), "t i16": T.tensor([1], dtype=T.int16), "t neg": T.tensor([-1]), "t out": T.tensor([5]), "t float": T.tensor([1.0]), "t bool": T.tensor([True, False]), "t bool short": T.tensor([True]), "t u8": T.tensor([1, 0], dtype=T.uint8), "t bool 2d": T.ones(2, 3, dtype=T.bool),
        "t, t": (T.tensor([0, 1]), T.tensor([1, 2])), "t, :, t": (T.tensor([0, 1]), slice(None), T.tensor([1, 2])), ":, t": (slice(None), T.tensor([0, 2])), "t, 0": (T.tensor([0, 1]), 0), "0, t": (0, T.tensor([0, 1])), "t2d": T.tensor([[0, 1], [1, 0]]), "t, t bad": (T.tensor([0, 1]), T.tensor([0, 1, 2])), "t broadcast": (T.tensor([[0], [1]]), T.tensor([0, 2])), "None, t": (None, T.tensor([0])), "t, None": (T.tensor([0]), None), "..., t": (..., T.tensor([0])),
        "np int": np.int64(1), "np arr": np.array([1, 0]), "np bool": np.array([True, False]), "np 0-d": np.array(1), "range": range(2), "tuple in tuple": ((0, 1),), "1:2, t": (slice(1, 2), T.tensor([0, 1])), "empty t": T.tensor([], dtype=T.int64), "float list": [0.0], "str list": ["a"], "0:0": slice(0, 0), "t slice": slice(T.tensor(0), T.tensor(1)), "big": 2**70, "big slice": slice(0, 2**70), "f slice": slice(0.0, 1), "mask all false": T.zeros(2, dtype=T.bool), "mask 3d": T.ones(2, 3, 4, dtype=T.bool), "mask wrong": T.ones(3, 3, dtype=T.bool),
    }  # fmt: skip


def reading(s, log):
    x = s.T.arange(24).view(2, 3, 4)
    for label, i in _indices(s).items():
        log.attempt(label, lambda: x[i])


def reading_is_a_view(s, log):
    x = s.T.arange(24).view(2, 3, 4)
    for label, i in _indices(s).items():
        try:
            r = x[i]
        except Exception:
            continue
        log(
            label,
            r._is_view(),
            r.storage_offset(),
            r.is_contiguous(),
            r.untyped_storage().data_ptr() == x.untyped_storage().data_ptr(),
        )


def writing(s, log):
    T = s.T
    for label, i in _indices(s).items():
        x = T.zeros(2, 3, 4)
        try:
            x[i] = 1
        except Exception as e:
            log(label, "raises", type(e).__name__, x.sum())
        else:
            log(label, x.sum(), x._version)


def writing_tensors(s, log):
    T = s.T
    for label, i in _indices(s).items():
        for value in (T.ones(4), T.ones(1, 1, 4), T.tensor(2), T.ones(3), T.full((1,), 3.0)):
            x = T.zeros(2, 3, 4)
            try:
                x[i] = value
            except Exception as e:
                log(label, tuple(value.shape), "raises", type(e).__name__)
            else:
                log(label, tuple(value.shape), x.sum())


def reading_small(s, log):
    T = s.T
    for x in (T.tensor(5), T.tensor([1, 2]), T.zeros(0, 3)):
        for label, i in _indices(s).items():
            if label not in ("'a'", "str list"):
                log.attempt(f"{tuple(x.shape)} {label}", lambda: x[i])


def values_written(s, log):
    T = s.T
    for label, v in (
        ("int", 1),
        ("float", 1.7),
        ("bool", True),
        ("complex", 1j),
        ("None", None),
        ("str", "a"),
        ("list", [1, 2]),
        ("np", np.array([1, 2])),
        ("np scalar", np.float64(2)),
        ("tensor f", T.tensor([1.7, 2.2])),
        ("tensor bool", T.tensor([True, False])),
        ("0-d", T.tensor(3)),
        ("2-d", T.ones(1, 2)),
        ("bad", T.ones(3)),
        ("big", 2**70),
        ("meta", T.ones(2, device="meta")),
    ):
        for dt in (T.int64, T.float32, T.bool):
            x = T.zeros(2, dtype=dt)

            def put():
                x[:] = v

            def put0():
                x[0] = v

            log.attempt(f"{label} :", put)
            log.attempt(f"{label} 0", put0)
            log(x)


def operators_of_indexing(s, log):
    T = s.T
    seen = []

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    for label, i in _indices(s).items():
        x = T.zeros(2, 3, 4)
        for kind in ("get", "set", "set t"):
            seen.clear()
            try:
                with M():
                    if kind == "get":
                        x[i]
                    elif kind == "set":
                        x[i] = 1
                    else:
                        x[i] = T.tensor(1.0)
            except Exception as e:
                seen.append(type(e).__name__)
            log(label, kind, " ".join(seen))


def functions_of_indexing(s, log):
    T = s.T
    x = T.arange(12).view(3, 4)
    i = T.tensor([2, 0])
    for label, f in (
        ("index_select", lambda: x.index_select(0, i)), ("index_select bad", lambda: x.index_select(0, T.tensor([3]))), ("index_select dim", lambda: x.index_select(2, i)), ("gather", lambda: x.gather(1, T.tensor([[0], [1], [2]]))),
        ("index_put_", lambda: x.clone().index_put_((i,), T.tensor(0))), ("index_put acc", lambda: x.index_put((T.tensor([0, 0]),), T.tensor(1), accumulate=True)), ("scatter", lambda: x.scatter(0, T.tensor([[0, 1, 2, 0]]), 9)),
        ("select", lambda: x.select(0, 1)), ("select bad", lambda: x.select(0, 5)), ("select dim bad", lambda: x.select(2, 0)), ("narrow", lambda: x.narrow(1, 1, 2)), ("narrow bad", lambda: x.narrow(1, 3, 2)), ("ops index", lambda: s.ops.aten.index.Tensor(x, [None, i])), ("ops slice", lambda: s.ops.aten.slice.Tensor(x, 1, 0, 3, 2)), ("ops slice none", lambda: s.ops.aten.slice.Tensor(x, 0)), ("masked_fill", lambda: x.masked_fill(x > 3, -1)), ("masked_fill tensor", lambda: x.masked_fill(x > 3, T.tensor(-1))), ("diagonal", lambda: x.diagonal()), ("flip", lambda: x.flip(0)),
    ):  # fmt: skip
        log.attempt(label, f)


def indexing_basics(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(12).view(3, 4)
    log(x[1], x[-1, -1], x[:, 1], x[..., 0])
    log(x[::2, 1:3], x[None].shape, x[:, None, :, None].shape, x[()].shape)
    log(x[True].shape, x[False].shape, x[T.tensor(1)], x[T.tensor(1), 2])
    log(x[[0, 2]], x[[0, 2], [1, 3]], x[:, [0, 1]].shape)
    log(x[x % 2 == 0], x[T.tensor([True, False, True])].shape)
    log(x[0]._is_view(), x[[0]]._is_view(), x[...]._is_view(), x[:] is x, x[...] is x)
    for name, i in {
        "out": 3,
        "too many": (0, 0, 0),
        "step": slice(None, None, -1),
        "float": 1.0,
        "str": "a",
        "mask": T.tensor([True]),
    }.items():
        log.attempt(name, lambda i=i: x[i])
    log.attempt("zero step", lambda: x[::0])
    log.attempt("float tensor", lambda: x[T.tensor([1.0])])
    log.attempt("scalar", lambda: T.tensor(1)[0])
    log.attempt("out list", lambda: x[[5]])


def indexing_assignment(s: Any, log: Any) -> None:
    T = s.T
    x = T.zeros(3, 3)
    x[0] = 1
    x[1, :2] = T.tensor([2.0, 3.0])
    x[:, 2] += 5
    log(x, x._version)
    x[x > 5] = -1
    x[[0, 2], [0, 0]] = T.tensor([7.0, 8.0])
    log(x, x._version)
    x[...] = 0
    x[T.tensor(1)] = True
    x[2, 2] = T.tensor(4)
    log(x, x._version)
    log.attempt("shape", lambda: x.__setitem__(0, T.ones(2)))
    log.attempt("bigger", lambda: x.__setitem__(0, T.ones(1, 1, 3)))
    log.attempt("nothing", lambda: x.__setitem__(slice(3, 3), 1))
    log.attempt("del", lambda: x.__delitem__(0))
    log.attempt("str", lambda: x.__setitem__(0, "a"))
    log.attempt("dtype", lambda: x.__setitem__(0, 1j))
    log(x._version)


def advanced_indexing_shapes(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(120).view(2, 3, 4, 5)
    i, j = T.tensor([0, 1]), T.tensor([[0], [1]])
    log(x[:, i].shape, x[i, j].shape, x[i, :, i].shape, x[:, i, j].shape)
    log(x[0, :, i].shape, x[i, None].shape, x[..., i].shape, x[j, ..., i].shape)
    m = T.ones(2, 3, dtype=T.bool)
    log(x[m].shape, x[m, 0].shape, x[:, m[0]].shape)
    log.attempt("not broadcast", lambda: x[T.tensor([0, 1]), T.tensor([0, 1, 2])])
    log(
        x.index_select(1, i).shape,
        T.take(x, T.tensor([3, 5])),
        x[0, 0].gather(1, T.zeros(4, 1, dtype=T.int64)).shape,
    )
    y = T.zeros(4)
    y.index_put_((T.tensor([0, 0, 1]),), T.ones(3), accumulate=True)
    log(y, y.scatter(0, T.tensor([2]), 5.0), y.index_fill(0, T.tensor([3]), 9))
    log(
        T.zeros(3).index_add_(0, T.tensor([0, 0]), T.ones(2)),
        T.zeros(2).masked_fill(T.tensor([True, False]), 3),
    )
