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
