"""Schemas out of signatures."""

import collections.abc
import typing


def _signature(log, s, label, annotation, ret=None, mutates=(), **kw):
    def f(x):
        pass

    f.__annotations__ = {"x": annotation, "return": s.Tensor if ret is None else ret}
    return log.attempt(label, s.library.infer_schema, f, mutates_args=mutates, **kw)


def base_types(s, log):
    T = s.T
    for label, a in (("Tensor", s.Tensor), ("int", int), ("float", float), ("bool", bool), ("str", str), ("dtype", T.dtype),
                     ("device", T.device), ("number", typing.Union[int, float, bool]), ("number |", int | float | bool),
                     ("layout", T.layout), ("memory format", T.memory_format), ("complex", complex), ("bytes", bytes),
                     ("object", object), ("Any", typing.Any), ("None", None), ("dict", dict),
                     ("float | int", float | int), ("Size", T.Size), ("type", type)):  # fmt: skip
        _signature(log, s, label, a)


def optionals(s, log):
    T = s.T
    for label, a in (("Tensor", s.Tensor), ("int", int), ("float", float), ("bool", bool), ("str", str), ("dtype", T.dtype),
                     ("device", T.device), ("number", typing.Union[int, float, bool])):  # fmt: skip
        _signature(log, s, "Optional " + label, typing.Optional[a])
        _signature(log, s, label + " | None", a | None)
        _signature(log, s, "None | " + label, None | a)


def lists(s, log):
    for label, a in (("Tensor", s.Tensor), ("int", int), ("float", float), ("bool", bool), ("str", str),
                     ("number", typing.Union[int, float, bool]), ("device", s.T.device)):  # fmt: skip
        _signature(log, s, "list " + label, list[a])
        _signature(log, s, "List " + label, typing.List[a])
        _signature(log, s, "Sequence " + label, typing.Sequence[a])
        _signature(log, s, "abc.Sequence " + label, collections.abc.Sequence[a])
        _signature(log, s, "list of optional " + label, list[typing.Optional[a]])
        _signature(log, s, "list of | None " + label, list[a | None])
        _signature(log, s, "optional list " + label, typing.Optional[list[a]])
        _signature(log, s, "list | None " + label, typing.List[a] | None)


def tuples_and_others(s, log):
    for label, a in (("tuple[int, int]", tuple[int, int]), ("tuple[int, ...]", tuple[int, ...]), ("Tuple[Tensor]", typing.Tuple[s.Tensor]),
                     ("tuple", tuple), ("list", list), ("List", typing.List), ("list[list[int]]", list[list[int]]),
                     ("set[int]", set[int]), ("dict", dict[str, int]), ("Callable", typing.Callable), ("T", typing.TypeVar("T")),
                     ("Iterable", typing.Iterable[int])):  # fmt: skip
        _signature(log, s, label, a)


def returns(s, log):
    Tn = s.Tensor
    for label, a in (("int", int), ("float", float), ("bool", bool), ("number", typing.Union[int, float, bool]), ("str", str),
                     ("list[Tensor]", list[Tn]), ("List[Tensor]", typing.List[Tn]), ("tuple[Tensor]", tuple[Tn]),
                     ("tuple[Tensor, Tensor]", tuple[Tn, Tn]), ("Tuple", typing.Tuple[Tn, int, float]), ("tuple of list", tuple[Tn, list[Tn]]),
                     ("Optional", typing.Optional[Tn]), ("Sequence", typing.Sequence[Tn]), ("list[int]", list[int]),
                     ("tuple[Tensor, str]", tuple[Tn, str]), ("tuple", tuple), ("tuple[()]", tuple[()]), ("tuple[Tensor, ...]", tuple[Tn, ...])):  # fmt: skip
        _signature(log, s, label, Tn, a)

    def nothing(x: Tn) -> None:
        pass

    def missing(x: Tn):
        pass

    log(s.library.infer_schema(nothing, mutates_args=()))
    log.attempt("missing", s.library.infer_schema, missing, mutates_args=())


def parameters(s, log):
    Tn, infer = s.Tensor, s.library.infer_schema

    def varargs(*x: Tn) -> Tn:
        pass

    def varkw(**x: Tn) -> Tn:
        pass

    def posonly(x: Tn, /) -> Tn:
        pass

    def kwonly(x: Tn, *, y: int, z: float = 2.5) -> Tn:
        pass

    def untyped(x, y: int) -> Tn:
        pass

    def none() -> Tn:
        pass

    def only_kw(*, a: int, b: Tn) -> Tn:
        pass

    for f in (varargs, varkw, posonly, kwonly, untyped, none, only_kw):
        log.attempt(f.__name__, infer, f, mutates_args=())
    log.attempt("lambda", infer, lambda: 3, mutates_args=())
    log.attempt("no function", infer, 3, mutates_args=())
    log.attempt("builtin", infer, len, mutates_args=())
    log.attempt("keyword", lambda: infer(prototype_function=none, mutates_args=()))
    log.attempt("without mutates_args", lambda: infer(none))


def defaults(s, log):
    T = s.T

    def f(a: int = 3, b: float = 1.5, c: bool = True, d: str = "hi", e: T.dtype = T.float32, f: T.device = T.device("cpu"),
          g: typing.Optional[s.Tensor] = None, h: float = 1e-10, i: int = -2, j: float = 3.0, k: typing.Optional[list[int]] = None) -> s.Tensor:  # fmt: skip
        pass

    log(s.library.infer_schema(f, mutates_args=()))
    log(s.C.parse_schema("a::b" + s.library.infer_schema(f, mutates_args=())))

    def inf(a: float = float("inf")) -> s.Tensor:
        pass

    def listed(a: list[int] = [1, 2]) -> s.Tensor:
        pass

    def tupled(a: list[int] = (1, 2)) -> s.Tensor:
        pass

    def complexed(a: float = 1j) -> s.Tensor:
        pass

    def cuda(a: T.device = T.device("cuda", 1), b: T.dtype = T.int64) -> s.Tensor:
        pass

    def stringed(a: T.device = "cpu", b: str = 'with "quotes"') -> s.Tensor:
        pass

    for g in (inf, listed, tupled, complexed, cuda, stringed):
        log.attempt(g.__name__, s.library.infer_schema, g, mutates_args=())


def mutation(s, log):
    Tn, infer = s.Tensor, s.library.infer_schema

    def f(x: Tn, n: int, ys: list[Tn], o: Tn | None = None, *, z: Tn) -> None:
        pass

    for m in (
        (),
        ("x",),
        ["x", "ys"],
        {"o"},
        ("x", "ys", "o", "z"),
        "unknown",
        ("n",),
        ("nothing",),
        "x",
        "",
        ("x", "nothing"),
        {},
    ):
        log.attempt(str(m), infer, f, mutates_args=m)
    log.attempt("number", infer, f, mutates_args=3)
    log.attempt("None", infer, f, mutates_args=None)
    log.attempt("generator", infer, f, mutates_args=(n for n in ("x",)))


def op_names(s, log):
    def f(x: s.Tensor) -> s.Tensor:
        pass

    log(s.library.infer_schema(f, mutates_args=(), op_name="mine"))
    log(s.library.infer_schema(f, mutates_args=(), op_name="ns::mine"))
    log(s.library.infer_schema(f, mutates_args=(), op_name=""))


def inplace_tag(s, log):
    Tn, infer, tag = s.Tensor, s.library.infer_schema, s.T.Tag.inplace

    def f(x: Tn, y: Tn) -> Tn:
        pass

    def g(n: int, x: Tn) -> Tn:
        pass

    def h(x: Tn) -> None:
        pass

    def k(*, x: Tn) -> Tn:
        pass

    def two(x: Tn) -> tuple[Tn, Tn]:
        pass

    for fn in (f, g, h, k, two):
        for m in (("x",), ("x", "y"), (), "unknown"):
            log.attempt(f"{fn.__name__} {m}", infer, fn, mutates_args=m, tags=tag)
    log.attempt("both", infer, f, mutates_args=("x",), tags=(tag, s.T.Tag.out))
    log.attempt("None", infer, f, mutates_args=(), tags=None)
    log.attempt("another", infer, f, mutates_args=("x",), tags=s.T.Tag.core)


def out_tag(s, log):
    Tn, infer, tag = s.Tensor, s.library.infer_schema, s.T.Tag.out

    def one(x: Tn, *, out: Tn) -> Tn:
        pass

    def two(x: Tn, *, a: Tn, b: Tn) -> tuple[Tn, Tn]:
        pass

    def positional(x: Tn, out: Tn) -> Tn:
        pass

    def listed(x: Tn, *, out: list[Tn]) -> Tn:
        pass

    def nothing(x: Tn, *, out: Tn) -> None:
        pass

    log.attempt("one", infer, one, mutates_args=("out",), tags=tag)
    log.attempt("two", infer, two, mutates_args=("a", "b"), tags=[tag])
    log.attempt("one of two", infer, two, mutates_args=("a",), tags=[tag])
    log.attempt("positional", infer, positional, mutates_args=("out",), tags=tag)
    log.attempt("listed", infer, listed, mutates_args=("out",), tags=tag)
    log.attempt("nothing", infer, nothing, mutates_args=("out",), tags=tag)
    log.attempt("none mutated", infer, one, mutates_args=(), tags=tag)
    log.attempt("unknown", infer, one, mutates_args="unknown", tags=tag)


def string_annotations(s, log):
    infer = s.library.infer_schema

    def plain(x: "int", y: "list[float]", z: "bool | None" = None) -> "int":
        pass

    def unknown(x: "NoSuchName") -> "int":
        pass

    def broken(x: "int[") -> "int":
        pass

    def no_attribute(x: "typing.NoSuch") -> "int":
        pass

    def nested(x: list["int"], y: "typing.Optional[float]") -> tuple["int", "float"]:
        pass

    for f in (plain, unknown, broken, no_attribute, nested):
        log.attempt(f.__name__, infer, f, mutates_args=())


def tables(s, log):
    T = s.T

    def f(x: s.Tensor, dim: list[int], p: float = 2.0, keep: bool = False, dtype: typing.Optional[T.dtype] = None,
          device: T.device | None = None) -> tuple[s.Tensor, s.Tensor]:  # fmt: skip
        pass

    text = s.library.infer_schema(f, mutates_args=(), op_name="inf1::f")
    schema = s.C.parse_schema(text)
    log(text, schema)
    log([(a.name, str(a.type), a.has_default_value(), a.default_value) for a in schema.arguments])
    log([str(r.type) for r in schema.returns], schema.is_mutable)
