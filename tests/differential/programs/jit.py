"""Schemas and operators by name: the functions that PyTorch keeps in its JIT."""


def operations(s, log):
    m = s.library.Library("jita", "DEF")
    m.define("f(Tensor x, int k=1) -> Tensor")
    m.define("f.two(Tensor x, Tensor y) -> Tensor")
    m.impl("f", lambda x, k=1: x * k, "CPU")
    m.impl("f.two", lambda x, y: x + y, "CPU")
    got = s.C._jit_get_operation("jita::f")
    log(type(got).__name__, len(got), got[1])
    x = s.T.ones(2)
    log(got[0](x), got[0](x, 3), got[0](x, x), got[0](x, k=4))
    log.attempt("wrong", got[0], "x")
    log.attempt("unknown", s.C._jit_get_operation, "jita::nothing")
    log.attempt("no namespace", s.C._jit_get_operation, "nothing")
    log.attempt("number", s.C._jit_get_operation, 3)
    log(s.C._jit_get_operation("aten::sub_")[1], s.C._jit_get_operation("aten::relu")[1])
    log(s.C._jit_get_operation(qualified_name="aten::relu")[0](-x))


def operation_overloads(s, log):
    m = s.library.Library("jitb", "DEF")
    m.define("f(Tensor x, int k=1) -> Tensor", tags=[s.T.Tag.core])
    m.define("f.two(Tensor x, *, Tensor y) -> Tensor")
    m.impl("f", lambda x, k=1: x * k, "CPU")
    x = s.T.ones(2)
    got = s.C._get_operation_overload("jitb::f", "")
    log(type(got).__name__, len(got), got[2])
    log(got[0](x, 3), got[0](x=x))
    log(got[1](s.DispatchKey.CPU, x, 5))
    log.attempt("no key", got[1], x)
    log.attempt("wrong", got[0], "x")
    log.attempt("unknown", s.C._get_operation_overload, "jitb::nothing", "")
    log.attempt("unknown overload", s.C._get_operation_overload, "jitb::f", "no")
    log.attempt("one argument", s.C._get_operation_overload, "jitb::f")
    add = s.C._get_operation_overload("aten::add", "Tensor")
    log(add[0](x, x, alpha=2), sorted(map(str, add[2])))


def schemas_by_name(s, log):
    m = s.library.Library("jitc", "DEF")
    m.define("f(Tensor x, int k=1) -> Tensor")
    m.define("f.two(Tensor x, Tensor y) -> Tensor")
    got = s.C._jit_get_schemas_for_operator("jitc::f")
    log(type(got).__name__, [str(x) for x in got], [type(x).__name__ for x in got])
    log(s.C._jit_get_schemas_for_operator("jitc::nothing"))
    log([str(x) for x in s.C._jit_get_schemas_for_operator("aten::relu")])
    log([x.overload_name for x in s.C._jit_get_schemas_for_operator("aten::sub")][:2])
    every = s.C._jit_get_all_schemas()
    log(
        type(every).__name__,
        len(every) > 500,
        "aten::relu(Tensor self) -> Tensor" in {str(x) for x in every},
    )
    log(sorted(str(x) for x in every if x.name == "jitc::f"))
    log(s.C._get_schema("jitc::f", "two"), s.C._get_schema("aten::relu", ""))
    log.attempt("unknown", s.C._get_schema, "jitc::f", "no")
    log.attempt("unknown", s.C._get_schema, "jitc::g", "")
    log.attempt("number", s.C._get_schema, 3, "")


def resolving(s, log):
    m = s.library.Library("jitd", "DEF")
    m.define("f(Tensor x) -> Tensor")
    m.define("f.int(Tensor x, int y) -> Tensor")
    m.define("f.tensor(Tensor x, Tensor y) -> Tensor")
    m.define("f.kw(Tensor x, *, str s) -> Tensor")
    x = s.T.ones(2)
    r = s.C._jit_resolve_packet
    log(
        r("jitd::f", x),
        r("jitd::f", x, 1),
        r("jitd::f", x, x),
        r("jitd::f", x, s="a"),
        r("jitd::f", x=x, y=x),
    )
    log.attempt("nothing fits", r, "jitd::f", "a", "b")
    log.attempt("unknown", r, "jitd::nothing", x)
    log(r("aten::add", x, x), r("aten::add", x, 1), r("aten::sum", x), r("aten::sum", x, [0]))
    log.attempt("no arguments", r, "aten::relu")


def resolution_does_not_call(s, log):
    m = s.library.Library("jite", "DEF")
    m.define("f(Tensor x) -> Tensor")
    seen = []
    m.impl("f", lambda x: (seen.append(1), x)[1], "CPU")
    log(s.C._jit_resolve_packet("jite::f", s.T.ones(1)), seen)


def numbers_as_tensors(s, log):
    for name in (
        "aten::add",
        "add",
        "aten::relu",
        "mul",
        "prims::x",
        "aten::copy_",
        "sub",
        "rsub",
        "true_divide",
        "pow",
    ):
        log.attempt(name, s.C._should_allow_numbers_as_tensors, name)


def top_level(s, log):
    log(s.C.parse_schema is not None, s.C.FunctionSchema.__name__, s.C.Argument.__name__)
    log(s.T.FunctionSchema.__name__)
    f = s.ops.aten.add.Tensor
    log(type(f._schema).__name__, f._schema.name, f._schema.overload_name, str(f._schema))
    log(
        f._schema == s.C.parse_schema(str(f._schema)),
        hash(f._schema) == hash(s.C.parse_schema(str(f._schema))),
    )


def type_objects(s, log):
    C = s.C
    for name in (
        "TensorType",
        "IntType",
        "FloatType",
        "BoolType",
        "StringType",
        "NumberType",
        "ComplexType",
        "NoneType",
        "AnyType",
        "DeviceObjType",
        "StreamObjType",
        "SymIntType",
        "SymBoolType",
        "PyObjectType",
    ):
        t = getattr(C, name).get()
        log(
            name,
            str(t),
            repr(t),
            t.kind(),
            t.annotation_str,
            t.str(),
            type(t).__name__,
            isinstance(t, getattr(C, name)),
        )
        log(isinstance(t, C.Type), t == getattr(C, name).get())


def composed_types(s, log):
    C = s.C
    i, t, st = C.IntType.get(), C.TensorType.get(), C.StringType.get()
    made = [
        C.ListType(i),
        C.OptionalType(t),
        C.DictType(st, t),
        C.TupleType([i, t]),
        C.ListType(C.OptionalType(t)),
        C.FutureType(t),
        C.RRefType(t),
        C.UnionType([i, st]),
        C.ListType.ofInts(),
        C.ListType.ofTensors(),
        C.ListType.ofFloats(),
        C.ListType.ofBools(),
        C.ListType.ofStrings(),
        C.ListType.ofComplexDoubles(),
        C.OptionalType.ofTensor(),
        C.AwaitType(i),
        C.OptionalType(C.ListType(i)),
    ]
    for x in made:
        log(
            str(x),
            repr(x),
            x.kind(),
            x.annotation_str,
            x.str(),
            type(x).__name__,
            [str(y) for y in x.containedTypes()],
        )
    log(
        str(made[0].getElementType()),
        str(made[1].getElementType()),
        str(made[2].getKeyType()),
        str(made[2].getValueType()),
    )
    log(
        [str(x) for x in made[3].elements()],
        made[0] == C.ListType(i),
        made[0] == C.ListType(t),
        made[0] == made[8],
    )
    log(isinstance(made[0], C.ListType), isinstance(made[0], C.OptionalType))
    log.attempt("element of an int", lambda: i.getElementType())
    log.attempt("list of nothing", C.ListType)
    log.attempt("list of int", C.ListType, int)
    log.attempt("== int", lambda: i == 3)


def subtypes(s, log):
    C = s.C
    i, t, f, st, n, a, none = (
        getattr(C, x + "Type").get()
        for x in ("Int", "Tensor", "Float", "String", "Number", "Any", "None")
    )
    types = [
        i,
        t,
        f,
        st,
        n,
        a,
        none,
        C.OptionalType(i),
        C.ListType(i),
        C.ListType(t),
        C.OptionalType(t),
        C.TupleType([i, t]),
        C.OptionalType(C.ListType(i)),
        C.BoolType.get(),
        C.ComplexType.get(),
        C.ListType(C.OptionalType(t)),
    ]
    for x in types:
        log(str(x), [str(y) for y in types if x.isSubtypeOf(y)])


def types_of_arguments(s, log):
    schema = s.C.parse_schema(
        "a::f(Tensor a, Tensor? b, int c, int[] d, int[2] e, SymInt g, SymInt[] h, float i, float? j, bool k, bool[3] l, Scalar m, "
        "ScalarType n, ScalarType? o, Layout p, Device q, MemoryFormat r, str u, Generator? v, Tensor[] w, Tensor?[] x, Dict(str, int) y, "
        "(int, float) z, complex aa, Stream bb, Any ee, "
        "Tensor[]? kk) -> Tensor"
    )
    for a in schema.arguments:
        log(
            a.name,
            str(a.type),
            repr(a.type),
            a.type.kind(),
            a.type.annotation_str,
            str(a.real_type),
            a.real_type.kind(),
            a.N,
        )
        log(
            type(a.type).__name__,
            a.type.str(),
            isinstance(a.type, s.C.OptionalType),
            isinstance(a.type, s.C.TensorType),
        )


def isinstance_by_class(s, log):
    C = s.C
    schema = C.parse_schema(
        "a::f(Tensor a, Tensor? b, int[] c, SymInt d, str e, bool f, Tensor[] g, ScalarType h, Scalar i) -> ()"
    )
    classes = (
        "TensorType",
        "OptionalType",
        "ListType",
        "IntType",
        "SymIntType",
        "StringType",
        "BoolType",
        "NumberType",
        "FloatType",
        "AnyType",
    )
    for a in schema.arguments:
        log(
            a.name,
            [n for n in classes if isinstance(a.type, getattr(C, n))],
            [n for n in classes if isinstance(a.real_type, getattr(C, n))],
        )
    log(
        schema.arguments[0].type == C.TensorType.get(),
        schema.arguments[2].type == C.ListType(C.IntType.get()),
    )
    log(
        schema.arguments[2].type.getElementType() == C.IntType.get(),
        schema.arguments[1].type.isSubtypeOf(C.OptionalType(C.TensorType.get())),
    )
    log(
        schema.arguments[0].type.isSubtypeOf(C.TensorType.get()),
        schema.arguments[6].type.isSubtypeOf(C.ListType.ofTensors()),
    )
