"""Pickling and copying of tensors and subclasses."""

import copy
import io
import pickle
import sys
import types
from typing import Any


def _module(**names):
    """A module of our own, so that pickle finds the classes."""
    m = types.ModuleType("pickled_classes")
    sys.modules["pickled_classes"] = m
    for name, cls in names.items():
        cls.__module__, cls.__qualname__, cls.__name__ = m.__name__, name, name
        setattr(m, name, cls)


def _round(x, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(x, protocol))


def plain_tensors(s, log):
    for x in (
        s.T.arange(6.0).reshape(2, 3),
        s.T.ones(2, dtype=s.T.int64),
        s.T.tensor(3.5),
        s.T.zeros(0),
        s.T.tensor([True, False]),
        s.T.ones(2, dtype=s.T.complex64),
    ):
        y = _round(x)
        log(y, y is x, type(y))


def protocols(s, log):
    x = s.T.arange(4.0)
    for p in range(pickle.HIGHEST_PROTOCOL + 1):
        log.attempt(str(p), _round, x, p)


def views_and_strides(s, log):
    x = s.T.arange(6.0).reshape(2, 3)
    for v in (x.t(), x[1:], x[:, 1], x.expand(2, 2, 3)):
        y = _round(v)
        log(y, y.storage_offset(), y.untyped_storage().nbytes(), y._is_view())


def the_same_tensor_twice(s, log):
    x = s.T.arange(6.0)
    c, d = _round([x, x])
    log(c is d, c is x)


def flags(s, log):
    x = s.T.ones(2, requires_grad=True)
    y = _round(x)
    log(y.requires_grad, y.is_leaf)
    log.attempt("not a leaf", lambda: _round(x * 2).requires_grad)
    z = s.T.ones(2, dtype=s.T.complex64).conj()
    log(_round(z).is_conj())
    w = s.T.ones(2)
    w.add_(1)
    log(w._version, _round(w)._version)


def attributes_of_tensors(s, log):
    x = s.T.ones(2)
    x.note = {"a": [1]}
    y = _round(x)
    log(y.__dict__, y.note is x.note)
    z = copy.copy(x)
    log(z.note is x.note)


def meta_tensors(s, log):
    x = s.T.empty(2, 3, device="meta")
    y = _round(x)
    log(y, y.is_meta)
    z = copy.deepcopy(x)
    log(z)


def subclasses(s, log):
    class P(s.Tensor):
        pass

    _module(P=P)
    p = s.Tensor._make_subclass(P, s.T.arange(3.0))
    p.note = "n"
    q = _round(p)
    log(type(q), q.note, q.as_subclass(s.Tensor))
    p.requires_grad_()
    log(_round(p).requires_grad)


def handled_subclasses(s, log):
    class A(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("called", str(func))
            return NotImplemented

    _module(A=A)
    a = s.Tensor._make_subclass(A, s.T.arange(3.0))
    a.note = 1
    q = log.attempt("round", lambda: _round(a).note)
    log(q)


def wrapper_subclasses(s, log):
    class W(s.Tensor):
        @staticmethod
        def __new__(cls, a):
            return s.Tensor._make_wrapper_subclass(cls, a.size(), dtype=a.dtype)

        def __init__(self, a):
            self.a = a

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("called", str(func))
            return NotImplemented

    _module(W=W)
    w = W(s.T.arange(3.0))
    w.note = 1
    q = _round(w)
    log(type(q), q.a, q.note, tuple(q.shape), q.dtype, q.requires_grad, s.C._dispatch_keys(q))
    w.requires_grad_()
    log(_round(w).requires_grad)


def wrapper_subclass_metadata(s, log):
    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    _module(W=W)
    make = s.Tensor._make_wrapper_subclass
    for w in (
        make(W, (2, 3), (1, 2)),
        make(W, (2,), dtype=s.T.int64),
        make(W, (2,), device="meta"),
        make(W, (2,), device="cuda"),
    ):
        q = log.attempt("round", lambda w=w: type(_round(w)))
        if q is not None:
            q = _round(w)
            log(tuple(q.shape), q.stride(), q.storage_offset(), q.dtype, str(q.device))


def own_reduce(s, log):
    class R(s.Tensor):
        def __reduce_ex__(self, protocol):
            log("reduce")
            return R._again, (self.as_subclass(s.Tensor),)

        @staticmethod
        def _again(t):
            return s.Tensor._make_subclass(R, t)

    _module(R=R)
    sys.modules["pickled_classes"].R._again.__qualname__ = "R._again"
    R._again.__module__ = "pickled_classes"
    r = s.Tensor._make_subclass(R, s.T.arange(2.0))
    log(type(_round(r)))


def own_state(s, log):
    class S(s.Tensor):
        def __setstate__(self, state):
            log("setstate", type(state))
            self.__dict__.update(state if isinstance(state, dict) else {})

    _module(S=S)
    t = s.Tensor._make_subclass(S, s.T.arange(2.0))
    t.note = 1
    q = log.attempt("round", lambda: type(_round(t)))
    log(q)


def deep_copies(s, log):
    x = s.T.arange(6.0).reshape(2, 3)
    y = copy.deepcopy(x)
    log(y, y is x, y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr())
    a, b = copy.deepcopy((x, x.view(-1)))
    log(a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr())
    r = s.T.ones(2, requires_grad=True)
    log(copy.deepcopy(r).requires_grad)
    log.attempt("not a leaf", lambda: copy.deepcopy(r * 2))
    z = s.T.ones(2, dtype=s.T.complex64).conj()
    log(copy.deepcopy(z).is_conj())
    memo = {}
    c = copy.deepcopy(x, memo)
    log(memo[id(x)] is c)


def shallow_copies(s, log):
    x = s.T.arange(3.0)
    y = copy.copy(x)
    log(y, y is x, y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr())
    y.add_(1)
    log(x, x._version, y._version)


def deepcopy_of_wrappers_without_clone(s, log):
    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("called", str(func))
            return NotImplemented

    w = s.Tensor._make_wrapper_subclass(W, (2,))
    log.attempt("declined", lambda: copy.deepcopy(w))

    class D(W):
        def __deepcopy__(self, memo):
            return "mine"

    log(copy.deepcopy(s.Tensor._make_wrapper_subclass(D, (2,))))


def other_objects(s, log):
    for x in (s.T.float32, s.T.strided, s.T.device("cuda:1"), s.T.Size([1, 2]), s.T.channels_last):
        y = _round(x)
        log(repr(y).replace("torch.", "dispatch."), type(y) is type(x), y == x)


def broken_data(s, log):
    data = pickle.dumps(s.T.ones(3))
    for cut in (0, 5, len(data) // 2, len(data) - 1):
        try:
            pickle.load(io.BytesIO(data[:cut]))
            log("read", str(cut))
        except Exception:
            log("raises", "something")


def pickling_and_copies(s: Any, log: Any) -> None:
    import copy
    import pickle

    T = s.T
    x = T.arange(6.0).view(2, 3)
    y = pickle.loads(pickle.dumps(x.t()))
    log(y, y.stride(), y.is_contiguous())
    a, b = pickle.loads(pickle.dumps([x, x[0]]))
    log(a.data_ptr() == b.data_ptr())
    g = T.ones(2, requires_grad=True)
    log(pickle.loads(pickle.dumps(g)).requires_grad, copy.deepcopy(g).requires_grad)
    c = copy.deepcopy({"x": x, "v": x[1], "same": x})
    log(
        c["x"] is c["same"],
        c["v"].data_ptr() - c["x"].data_ptr(),
        c["x"]._version,
        c["v"]._is_view(),
    )
    log(copy.copy(x) is x, copy.copy(x).data_ptr() == x.data_ptr())
    log(
        pickle.loads(pickle.dumps(T.float32)) is T.float32,
        pickle.loads(pickle.dumps(T.device("cuda:1"))),
        pickle.loads(pickle.dumps(T.Size([1]))),
    )
    log(pickle.loads(pickle.dumps(T.strided)) is T.strided, copy.deepcopy(T.bfloat16) is T.bfloat16)
    log(
        pickle.loads(pickle.dumps(T.tensor([True]))),
        pickle.loads(pickle.dumps(T.tensor(2, dtype=T.bfloat16))),
    )
    log.attempt("non-leaf", lambda: copy.deepcopy(g * 2))
    log(copy.deepcopy(T.ones(2, device="meta")))
