"""Texts of schemas, good and bad, and calls of what they define."""

_GOOD = (
    "f(Tensor x) -> Tensor", "f(Tensor x, *, int y=1) -> Tensor", "f(Tensor(a) x) -> Tensor(a)", "f(Tensor(a!) x) -> Tensor(a!)", "f(Tensor(a!) x) -> ()", "f() -> ()", "f(int[] x) -> int[]", "f(int[2] x=0) -> ()", "f(int[2] x=[0, 1]) -> ()", "f(Tensor? x=None) -> Tensor?", "f(Tensor[] xs) -> Tensor[]", "f(Tensor?[] xs) -> Tensor", "f(str x='a') -> str", 'f(str x="a") -> str', "f(float x=1.0) -> float", "f(float x=1) -> float", "f(float x=-1e-3) -> float", "f(bool x=True) -> bool", "f(bool[3] x) -> bool",
    "f(Scalar x=1) -> Scalar", "f(Scalar x=1.5) -> Scalar", "f(ScalarType? dtype=None) -> ()", "f(ScalarType dtype=float) -> ()", "f(ScalarType dtype=long) -> ()", "f(Layout l=strided) -> ()", "f(MemoryFormat m=contiguous_format) -> ()", "f(Device d='cpu') -> ()", "f(Generator? g=None) -> ()", "f(SymInt n, SymInt[] s) -> SymInt", "f(Dict(str, Tensor) d) -> ()", "f((Tensor, int) t) -> (Tensor, int)", "f(Any x) -> Any", "f(t x) -> t", "f(t[] x) -> t[]", "f(int x, ...) -> ()", "f(Tensor x) -> (Tensor y, Tensor z)", "f(Tensor x) -> (Tensor, Tensor)", "f(Tensor(a) x) -> Tensor(a)[]", "f(Tensor(a -> *) x) -> Tensor(a)[]", "f(Tensor(a!)[] x) -> ()", "f.ov(Tensor x) -> Tensor", "ns::f(Tensor x) -> Tensor", "ns::f.ov(Tensor x) -> Tensor",
    "f( Tensor  x , int y = 2 ) -> Tensor", "f(Tensor x,int y=2)->Tensor", "f(int? x=3) -> int?", "f(int[]? x=None) -> int[]?", "f(int[][] x) -> ()", "f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "f(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "f(NoneType x) -> ()", "f(Storage s) -> ()", "f(Stream s) -> ()", "f(Future(Tensor) x) -> ()", "f(QScheme q) -> ()", "f(Tensor x) -> Tensor  ", "f(Tensor x_1, int _y) -> Tensor", "f(AnyEnumType x) -> ()", "f(Union(int, str) x) -> ()", "f(float[] x=[1.0, 2.0]) -> ()", "f(int x=-1) -> ()", "f(int x=9223372036854775807) -> ()", "f(bool? x=None, *, bool y=False) -> ()", "f(Tensor x) -> Tensor(a)", "f(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))", "f(RRef(int) x) -> ()", "f(Await(int) x) -> ()", "f(Tensor x=None) -> ()", "f(int[] x=[]) -> ()", "f(str x='it\\'s') -> ()", "f(str x='') -> ()", "f(Tensor x, int y=2, *, int z) -> ()", "f(Tensor x, int y=2, int z) -> ()", "f(ScalarType[] x) -> ()", "f(Device[] x) -> ()", "f(Scalar[] x) -> ()", "f(Layout? x=None) -> ()",
)  # fmt: skip

_BAD = (
    "", "f", "f(", "f()", "f() ->", "f(Tensor) -> Tensor", "f(Tensor x) -> ", "f(Tensor x -> Tensor", "f(Tensor x,) -> Tensor", "f(Foo x) -> Foo", "f(tensor x) -> Tensor", "f(Tensor x, Tensor x) -> Tensor", "f(Tensor x) -> Tensor y z", "f(Tensor x) Tensor", "f(Tensor x) => Tensor", "f(int x=) -> ()", "f(int x=a) -> ()", "f(Tensor(a! x) -> ()", "f(Tensor() x) -> ()", "f(*, int x, *, int y) -> ()", "f(Tensor x)) -> ()", "1f(Tensor x) -> ()", "f g(Tensor x) -> ()", "f(Tensor x) -> Tensor extra", "f(int[ x) -> ()", "f(int[a] x) -> ()", "f(int[-1] x) -> ()", "f(str x=a) -> ()", "f(bool x=true) -> ()", "f(Tensor x) -> (Tensor", "f(Tensor x) -> (Tensor,)", "f.(Tensor x) -> ()", "f.a.b(Tensor x) -> ()", "::f() -> ()", "ns::() -> ()", "ns::f::g() -> ()", "f(Tensor x...) -> ()", "f(..., int x) -> ()", "f(Tensor x) -> ...", "f(int 1x) -> ()", "f(int?[]? x) -> ()", "f(Tensor x); g() -> ()", "f(Tensor x) -> ()\ng() -> ()", "f(Dict(str) d) -> ()", "f(Dict d) -> ()", "f(Tensor(!) x) -> ()", "f(int x = 1 y) -> ()", "def f(Tensor x) -> ()", "f(Tensor x) # c", "f(int self) -> ()", "f(int x=1_000) -> ()", "f(float x=.5) -> ()", "f(Tensor x) -> Tensor | None", "f(int x=--1) -> ()",
)  # fmt: skip


def _describe(a):
    t = a.alias_info
    alias = None if t is None else (t.is_write, sorted(t.before_set), sorted(t.after_set))
    return (
        a.name,
        str(a.type),
        a.has_default_value(),
        str(a.default_value),
        a.kwarg_only,
        a.N,
        a.is_out,
        alias,
    )


def _explain(s, log, text):
    try:
        schema = s.C.parse_schema(text)
    except Exception as e:
        log(repr(text), "raises", type(e).__name__)
        return
    log(repr(text), "->", str(schema))
    log("  ", schema.name, repr(schema.overload_name), schema.is_mutable)
    for a in schema.arguments:
        log("   arg", _describe(a))
    for a in schema.returns:
        log("   ret", _describe(a))


def good_texts(s, log):
    for text in _GOOD:
        _explain(s, log, text)


def bad_texts(s, log):
    for text in _BAD:
        _explain(s, log, text)


def defining(s, log):
    lib = s.library.Library("sdef", "FRAGMENT")
    for i, text in enumerate((*_GOOD, *_BAD)):
        text = text.replace("f(", f"f{i}(", 1).replace("f.ov", f"f{i}.ov")
        log.attempt(repr(text), lib.define, text)


def schema_objects(s, log):
    P = s.C.parse_schema
    a, b = P("f(Tensor x, int y=1) -> Tensor"), P("f(Tensor x, int y=1) -> Tensor")
    log(a == b, a != b, a == P("f(Tensor x) -> Tensor"), hash(a) == hash(b))
    log.attempt(
        "backward",
        lambda: P("f(Tensor x, int y=1) -> Tensor").is_backward_compatible_with(
            P("f(Tensor x) -> Tensor")
        ),
    )
    log.attempt(
        "backward not",
        lambda: P("f(Tensor x, int y) -> Tensor").is_backward_compatible_with(
            P("f(Tensor x) -> Tensor")
        ),
    )
    log.attempt("not str", lambda: P(1))
    log.attempt("none", lambda: P(None))
    log.attempt(
        "type name",
        lambda: (
            type(a).__name__,
            type(a.arguments[0]).__name__,
            type(a.arguments).__name__,
            type(a.arguments[0].type).__name__,
        ),
    )
    log.attempt("str of arg", lambda: str(a.arguments[1].type))
    log.attempt(
        "annotation",
        lambda: [
            x.type.annotation_str
            for x in P(
                "f(Tensor a, int[] b, float? c, Tensor?[] d, str e, Scalar f, Dict(str, int) g, (int, str) h) -> ()"
            ).arguments
        ],
    )
    log.attempt(
        "kind",
        lambda: [
            x.type.kind()
            for x in P(
                "f(Tensor a, int[] b, float? c, str e, Scalar f, Dict(str, int) g, (int, str) h, Any i, bool j, Device k, ScalarType l, SymInt m) -> ()"
            ).arguments
        ],
    )
    log.attempt("elem", lambda: str(a.arguments[0].type))
    log.attempt(
        "isinstance",
        lambda: (
            isinstance(P("f(int[] x) -> ()").arguments[0].type, s.C.ListType),
            isinstance(a.arguments[0].type, s.C.TensorType),
            isinstance(P("f(int? x) -> ()").arguments[0].type, s.C.OptionalType),
        ),
    )
    log.attempt(
        "getElementType",
        lambda: str(P("f(int[] x, Tensor? y) -> ()").arguments[0].type.getElementType()),
    )
    log.attempt(
        "real_type",
        lambda: [str(x.real_type) for x in s.ops.aten.empty.memory_format._schema.arguments],
    )


def _parse(s, text):
    return s.C.parse_schema(text)


def round_trips(s, log):
    for t in (
        "f(Tensor x) -> Tensor",
        "ns::f(Tensor x, int y=1) -> (Tensor, int)",
        "f.o(Tensor(a!) x) -> Tensor(a!)",
        "f() -> ()",
        "f(Tensor? x=None, *, ScalarType? dtype=None) -> Tensor?",
        "f(int[3] x=[1,2,3]) -> int[]",
        "f(float x=1.5, bool y=True, str z='a') -> ()",
        'f(str z="b c") -> ()',
        "f(Tensor(a) x) -> Tensor(a)[]",
        "f(Tensor(a!)[] x) -> ()",
        "f(Tensor(a -> *) x) -> Tensor(*)",
        "f(int x=-1, float y=1e-5, float z=-2.) -> ()",
        "f(Tensor x, ...) -> ...",
        "f(SymInt[] x) -> SymInt",
        "f(MemoryFormat? m=None, Layout l=strided, int d=long) -> ()",
        "f(Device d='cpu') -> (Tensor out, Tensor)",
        "f(Scalar x=2, Scalar y=2.0) -> Scalar",
        "f(int[]? x=None, Tensor?[] y) -> (Tensor a, Tensor b)",
    ):
        log.attempt(t, lambda t=t: str(_parse(s, t)))


def bad_schemas(s, log):
    for t in (
        "",
        "f",
        "f(",
        "f(Tensor x)",
        "f(Tensor x) -> ",
        "f(Tensor) -> Tensor",
        "f(Tensr x) -> Tensor",
        "f(Tensor x, Tensor x) -> Tensor",
        "f(int x=) -> int",
        "1f() -> int",
        "f(*) -> int",
        "f(int x, *, *, int y) -> int",
        "f(int x) -> int junk",
        "a::b::c() -> int",
        "f.() -> int",
        "f(int x=1, int y) -> int",
        "f(int x, ..., int y) -> int",
        "f(Tensor(a x) -> ()",
        "f(int[a] x) -> ()",
        "f.default() -> ()",
        "f(bool x=true) -> ()",
    ):
        log.attempt(repr(t), lambda t=t: str(_parse(s, t)))


def schema_fields(s, log):
    c = _parse(
        s,
        "ns::f.over(Tensor(a!) self, int[2] k=3, *, float? g=None, Tensor(b!)[] o) -> (Tensor(a!) out, int)",
    )
    log(c.name, c.overload_name, c.is_mutable)
    for a in c.arguments:
        log(
            a.name,
            str(a.type),
            str(a.real_type),
            a.kwarg_only,
            a.N,
            a.is_out,
            a.has_default_value(),
            a.default_value,
        )
    for r in c.returns:
        log(repr(r.name), str(r.type), r.alias_info is not None)
    log(c.arguments[0].is_write)
    log(sorted(c.arguments[0].alias_info.before_set), c.arguments[0].alias_info.is_write)
    log(len(c.arguments), [a.name for a in c.arguments if a.kwarg_only])


def comparisons(s, log):
    a = _parse(s, "f(Tensor x, int y=1) -> Tensor")
    b = _parse(s, "f(Tensor x, int y=1) -> Tensor")
    c = _parse(s, "f(Tensor x, int y=1, int z=2) -> Tensor")
    log(a == b, a == c, a != c)
    log(c.is_backward_compatible_with(a), a.is_backward_compatible_with(c))
    log.attempt("forward", lambda: c.check_forward_compatible_with(a))
    log.attempt("forward", lambda: a.check_forward_compatible_with(c))
    log.attempt("hash", lambda: hash(a) == hash(b))
    log.attempt("eq other", lambda: a == "f")
    log.attempt("lt", lambda: a < b)


def printing(s, log):
    op = s.ops.aten.add.Tensor
    log(op._schema)
    log(op._schema.arguments[2].name, op._schema.arguments[2].default_value)
    for n in (
        "sum.dim_IntList",
        "conv2d.default",
        "empty.memory_format",
        "split.Tensor",
        "add_.Tensor",
        "max.dim",
        "index_put_.default",
        "to.dtype",
        "view.default",
        "topk.values",
        "_to_copy.default",
        "full.default",
        "native_layer_norm.default",
        "cat.out",
        "clamp.default",
    ):
        p, _, o = n.partition(".")
        log(getattr(getattr(s.ops.aten, p), o)._schema)


def argument_types(s, log):
    c = _parse(
        s,
        "f(Tensor a, Tensor? b, int c, int[] d, float[] e, bool f, str g, Scalar h, ScalarType i, "
        "Device j, Layout k, MemoryFormat l, Generator m, Tensor[] n, Tensor?[] o, SymInt p, SymInt[] q, "
        "int[2]? r, bool[3] s, complex x) -> ()",
    )
    for a in c.arguments:
        log(a.name, str(a.type), str(a.real_type), repr(a.N))
    log(
        type(c.arguments[0].type).__name__,
        type(c.arguments[1].type).__name__,
        c.arguments[3].type.kind(),
    )
    log(c.arguments[1].type.getElementType(), c.arguments[3].type.getElementType().kind())


def schemas_by_name(s, log):
    C = s.C
    log(len(C._jit_get_schemas_for_operator("aten::add")) > 3)
    log(C._jit_get_schemas_for_operator("nothing::here"))
    log(sorted(x.overload_name for x in C._jit_get_schemas_for_operator("aten::relu")))
    log(str(C._get_schema("aten::add", "Tensor")))
    log.attempt("missing", lambda: C._get_schema("aten::add", "nope"))
    log.attempt("missing op", lambda: C._get_schema("aten::nope", ""))
    op, names = C._jit_get_operation("aten::relu")
    log(names, callable(op))
    log.attempt("call", lambda: op(s.T.ones(1)))
    log(C._jit_get_operation("aten::nope"))
    r = C._get_operation_overload("aten::add", "Tensor")
    log(len(r), [type(x).__name__ for x in r][-1])
    log(C._get_operation_overload("aten::add", "zz"))


def schema_info(s, log):
    C = s.C
    i = C._SchemaInfo(s.ops.aten.add_.Tensor._schema)
    A, T = C._SchemaArgument, C._SchemaArgType
    log(
        i.is_mutable(),
        i.is_mutable("self"),
        i.is_mutable("other"),
        i.is_mutable(A(T.input, 0)),
        i.is_mutable(A(T.output, 0)),
    )
    v = C._SchemaInfo(s.ops.aten.view.default._schema)
    log(v.may_alias(A(T.input, 0), A(T.output, 0)), v.may_alias(A(T.input, 0), A(T.input, 1)))
    log(v.is_mutable(), v.has_argument("self"), v.has_argument("zz"))
    log(i.may_alias(A(T.input, 0), A(T.input, 1)))
    x = s.T.ones(1)
    i.add_argument_value("self", x)
    i.add_argument_value("other", x)
    log(i.may_alias(A(T.input, 0), A(T.input, 1)), i.is_mutable("other"))
    log.attempt("bad", lambda: i.is_mutable("zz"))
    log.attempt("bad arg", lambda: i.is_mutable(A(T.input, 7)))


def tags_of_ops(s, log):
    for n in (
        "aten.add.Tensor",
        "aten.relu.default",
        "aten.bernoulli.default",
        "aten.nonzero.default",
        "aten.view.default",
        "aten.add_.Tensor",
        "aten.rand.default",
        "aten.item.default",
        "aten.linear.default",
        "aten.cat.default",
    ):
        _, p, o = n.split(".")
        log(n, sorted(str(t) for t in getattr(getattr(s.ops.aten, p), o).tags))
    t = s.T.Tag
    log(repr(t.core), str(t.pointwise), t.core.name, t.core == t.core, t.core != t.pointwise)
    log(sorted(x for x in dir(t) if not x.startswith("_")))


def inferred(s, log):
    infer = s.library.infer_schema
    import typing

    T, O, L = s.Tensor, typing.Optional, typing.Sequence

    def a(x: T, y: int = 2, *, z: float = 1.5) -> T: ...
    def b(x: T, y: O[T], z: L[int]) -> tuple[T, int]: ...
    def c(x: T, y: O[int] = None) -> None: ...
    def d(x, y): ...
    def e(x: T, y: str = "a", z: bool = False, w: s.T.dtype = None) -> list[T]: ...
    def f(*x: T) -> T: ...
    def g(x: T, **k) -> T: ...
    def h(x: dict) -> T: ...
    def i(x: T, y: s.T.device, z: int | float) -> T: ...
    def j(x: list[T], y: list[O[T]], z: typing.List[float]) -> typing.Tuple[T, ...]: ...
    def k(x: T): ...
    def m(x: T | None, y: int | None = 3) -> int: ...

    for fn in (a, b, c, d, e, f, g, h, i, j, k, m):
        log.attempt(fn.__name__, lambda fn=fn: infer(fn, mutates_args=()))
    log.attempt("mutates", lambda: infer(a, mutates_args=("x",)))
    log.attempt("unknown", lambda: infer(a, mutates_args="unknown"))
    log.attempt("not there", lambda: infer(a, mutates_args=("q",)))
    log.attempt("int mutated", lambda: infer(a, mutates_args=("y",)))
    log.attempt("named", lambda: infer(a, mutates_args=(), op_name="ns::q"))
    log.attempt("no mutates", lambda: infer(a))


def define_from_schema(s, log):
    lib = s.library.Library("ms_def", "DEF")
    for t in (
        "a(Tensor(a!) x) -> Tensor(a!)",
        "b.x(Tensor x) -> (Tensor, Tensor)",
        "c(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
        "d(Tensor(a) x) -> Tensor(a)",
        "e(Tensor(a!)[] x) -> ()",
    ):
        log(lib.define(t))
    for n in "acde":
        op = getattr(s.ops.ms_def, n).default
        log(op._schema, op._schema.is_mutable, op.is_view, op.tags)
    log(s.ops.ms_def.b.x._schema, s.ops.ms_def.b.overloads())
    log(s.ops.ms_def.c.default._schema.arguments[1].is_out)


def packets_schemas(s, log):
    p = s.ops.aten.max
    log(sorted(p.overloads()))
    log(sorted(str(x) for x in p._schemas.values()) if hasattr(p._schemas, "values") else "list")
    log([str(r.name) for r in p.dim._schema.returns])
    log(p.dim._schema.arguments[1].name, p.dim._schema.arguments[2].default_value)
    log(
        type(p.dim._schema).__name__,
        type(p.dim._schema.arguments).__name__,
        type(p.dim._schema.arguments[0]).__name__,
    )
    log.attempt("set", lambda: setattr(p.dim._schema, "name", "q"))
    log.attempt("append", lambda: p.dim._schema.arguments.append(3))
    log(len(p.dim._schema.arguments))


def defaults_that_are_lists(s, log):
    for t in (
        "int[]", "int[]?", "int[2]", "float[]", "float[]?", "bool[]", "str[]", "Scalar[]", "Tensor[]",
        "Tensor?[]", "Tensor[]?", "SymInt[]", "complex[]", "ScalarType[]", "Device[]", "Dimname[]",
    ):  # fmt: skip
        log.attempt(t, lambda t=t: str(_parse(s, f"f({t} x=[]) -> ()")))
