"""Texts of tensors and of the objects around them."""

from typing import Any


def _show(s, log, label, t):
    log(label, repr(t).replace("torch.", "").replace("dispatch.", "").replace("\n", "|"))


def numbers(s, log):
    T = s.T
    for label, t in {
        "ones": T.ones(2), "ints": T.tensor([1, 20, 300]), "neg": T.tensor([-1, 2]), "floats": T.tensor([1.5, 2.25]), "mixed": T.tensor([1.0, 1000000.0]), "big": T.tensor([1e10]), "small": T.tensor([1e-8, 1.0]), "nan": T.tensor([float("nan"), 1.0]),
        "inf": T.tensor([float("inf"), -float("inf"), 0.0]), "0-d": T.tensor(3), "0-d float": T.tensor(3.14159), "0-d neg": T.tensor(-1e-9), "bool": T.tensor([True, False]), "0-d bool": T.tensor(False), "complex": T.tensor([1 + 2j, -1.5j]), "0-d complex": T.tensor(1j), "complex128": T.tensor([1j], dtype=T.complex128),
        "empty": T.tensor([]), "empty int": T.tensor([], dtype=T.int64), "empty 2d": T.zeros(2, 0), "f64": T.tensor([1.0], dtype=T.float64), "f16": T.tensor([1.5], dtype=T.float16), "bf16": T.tensor([1.5], dtype=T.bfloat16), "i32": T.tensor([1], dtype=T.int32), "u8": T.tensor([1, 255], dtype=T.uint8), "zeros": T.zeros(2), "third": T.tensor([1 / 3, 2 / 3]),
        "2d": T.arange(6).view(2, 3), "3d": T.arange(8).view(2, 2, 2), "4d": T.ones(1, 2, 1, 2), "row": T.arange(30), "long floats": T.arange(30) / 7, "large": T.arange(2000), "large 2d": T.ones(100, 100), "large 3d": T.zeros(20, 20, 20), "wide": T.arange(40.0).view(2, 20), "exp": T.tensor([1e-5, 1e5]), "ints as floats": T.tensor([1.0, 2.0, 3.0e5]),
        "0.1": T.tensor(0.1), "1e8": T.tensor([1e8, 1.0]), "12345678": T.tensor(12345678.0), "minus zero": T.tensor(-0.0), "nan only": T.tensor([float("nan")]), "inf ints": T.tensor([1.0, float("inf")]), "grad": T.ones(2, requires_grad=True), "grad 0-d": T.tensor(1.0, requires_grad=True), "meta": T.ones(2, 3, device="meta"), "meta i": T.ones(2, device="meta", dtype=T.int64),
        "meta f64": T.ones(2, device="meta", dtype=T.float64), "meta grad": T.ones(2, device="meta", requires_grad=True), "strided": T.arange(6).view(2, 3).t(), "expanded": T.ones(1).expand(3), "conj": T.tensor([1 + 1j]).conj(), "i64 min": T.tensor([-(2**63)]), "f8": T.ones(2).to(T.float8_e5m2), "0x3": T.zeros(0, 3), "u16": T.tensor([1], dtype=T.uint16), "c32": T.ones(1, dtype=T.complex64).chalf() if False else T.ones(1),
        "one big": T.tensor([99999.0, 1.0]), "ratio": T.tensor([0.001, 1.0, 100.0]), "1e-4": T.tensor([1e-4]), "9e-5": T.tensor([9e-5]), "bools 2d": T.eye(2, dtype=T.bool) if hasattr(T, "eye") else T.tensor([[True, False], [False, True]]),
    }.items():  # fmt: skip
        _show(s, log, label, t)


def grad_fns(s, log):
    T = s.T
    x = T.ones(2, requires_grad=True)
    for label, f in (
        ("mul", lambda: x * 2), ("add", lambda: x + x), ("sum", lambda: x.sum()), ("view", lambda: x.view(1, 2)), ("select", lambda: x[0]), ("slice", lambda: x[:1]), ("t", lambda: x.view(1, 2).t()), ("clone", lambda: x.clone()), ("to", lambda: x.double()), ("mean", lambda: x.mean()), ("mm", lambda: x.view(1, 2) @ x.view(2, 1)), ("relu", lambda: x.relu()), ("div", lambda: x / 2), ("pow", lambda: x**2),
        ("neg", lambda: -x), ("exp", lambda: x.exp()), ("cat", lambda: T.cat([x, x])), ("stack", lambda: T.stack([x, x])), ("index", lambda: x[[0]]), ("unsqueeze", lambda: x[None]), ("expand", lambda: x.expand(2, 2)), ("add_", lambda: x.clone().add_(1)), ("softmax", lambda: T.softmax(x, 0)), ("where", lambda: T.where(x > 0, x, 0)), ("squeeze", lambda: x.squeeze()), ("reshape", lambda: x.reshape(2, 1)), ("permute", lambda: x.view(1, 2).permute(1, 0)),
    ):  # fmt: skip
        try:
            log(label, f().grad_fn.name())
            _show(s, log, label, f())
        except Exception as e:
            log(label, "raises", type(e).__name__)


def options(s, log):
    T = s.T
    x = T.tensor([1.23456789, 1000.0])
    for kw in (
        dict(precision=2),
        dict(sci_mode=True),
        dict(sci_mode=False),
        dict(linewidth=20),
        dict(threshold=1, edgeitems=1),
        dict(profile="short"),
        dict(profile="full"),
        dict(profile="default"),
    ):
        T.set_printoptions(**kw)
        _show(s, log, str(kw), x)
        _show(s, log, "range", T.arange(12))
        T.set_printoptions(profile="default", sci_mode=None)
    log.attempt("bad", lambda: T.set_printoptions(foo=1))
    _show(s, log, "after", x)


def objects(s, log):
    T = s.T
    for v in (
        T.float32,
        T.strided,
        T.channels_last,
        T.device("cpu"),
        T.device("cuda", 1),
        T.device("meta"),
        T.Size([1, 2]),
        T.Size([]),
        s.ops,
        s.ops.aten,
        s.ops.aten.add,
        s.ops.aten.add.Tensor,
        s.DispatchKey.CPU,
        s.DispatchKeySet(s.DispatchKey.CPU),
        T.iinfo(T.int8),
        T.finfo(T.float32),
        T.Tag.core,
    ):
        log(
            repr(v).replace("torch.", "").replace("dispatch.", "").split(" object at")[0],
            str(v).replace("torch.", "").replace("dispatch.", "").split(" object at")[0],
        )
    log(str(s.ops.aten.add.Tensor._schema), repr(s.ops.aten.add.Tensor._schema))


def subclasses(s, log):
    T = s.T

    class Sub(s.Tensor):
        pass

    _show(s, log, "sub", T.ones(2).as_subclass(Sub))

    class Own(s.Tensor):
        @staticmethod
        def __new__(cls, t):
            return s.Tensor._make_subclass(cls, t)

        def __repr__(self):
            return "Own!"

    _show(s, log, "own", Own(T.ones(2)))
    log(str(Own(T.ones(1))), f"{Own(T.ones(1))}")
    log.attempt("list", lambda: repr([Own(T.ones(1))]))
    log.attempt("str of list", lambda: repr([T.ones(1)]))


def format_specs(s, log):
    T = s.T
    for t in (T.tensor(3), T.tensor(2.5), T.tensor(True), T.tensor(1j)):
        for spec in ("", "d", ".3f", ">6", "e", "s"):
            log.attempt(spec, lambda: format(t, spec))
    log.attempt("vector", lambda: format(T.ones(2), "") == str(T.ones(2)))
    log.attempt("vector spec", lambda: format(T.ones(2), ".2f"))
    log.attempt("%d", lambda: "%d %.1f %s" % (T.tensor(3), T.tensor(2.5), T.tensor(1)))


def printing(s: Any, log: Any) -> None:
    T = s.T
    p = lambda x: log(repr(x).replace("torch.", "").replace("dispatch.", ""))
    p(T.tensor([1.0, 2.5, -3.0]))
    p(T.tensor([1e-5, 1.0, 1e5]))
    p(T.tensor([1e10, 1.0]))
    p(T.tensor([float("inf"), float("nan"), 1.0]))
    p(T.arange(6).view(2, 3))
    p(T.tensor([[True], [False]]))
    p(T.tensor([1 + 2j, 3.5 - 1j]))
    p(T.empty(0, 3))
    p(T.tensor(3))
    p(T.tensor([0.1], requires_grad=True))
    p(T.ones(2, device="meta"))
    p(T.arange(2000))
    p(T.zeros(2, 2, 2))
    p(T.tensor([1.5], dtype=T.bfloat16))
    p(T.Size([2, 3]))
    p(T.tensor([[0.001234, 123456.0]]))


def printing_names(s: Any, log: Any) -> None:
    T = s.T
    log(T.device("cuda", 1), T.device("cpu"), str(T.device("cuda:0")), T.device(type="meta"))
    log(T.float32, T.bool, str(T.int64).rpartition(".")[2], T.strided, T.channels_last)
    log(
        T.Size([1, 2]) + (3,),
        type(T.Size([1, 2]) + (3,)).__name__,
        T.Size([2, 3]).numel(),
        T.Size([1, 2])[1:],
    )
    log(T.device("cuda:1").index, T.device("cpu").index, T.device("cuda") == T.device("cuda:0"))
    log(
        T.float32.is_floating_point,
        T.int8.is_signed,
        T.float16.itemsize,
        T.complex64.is_complex,
        T.float32.to_complex(),
    )
    log.attempt("device", T.device, "foo")
    log.attempt("index", T.device, "cpu:x")
    log.attempt("negative", T.device, "cuda", -1)
    log(T.device("cuda:0") in {T.device("cuda", 0)}, repr(T.device("cuda", 0)))
    log(T.finfo(T.float16).max, T.iinfo(T.int8).min, T.finfo(T.float32).eps)
