"""FunctionSchema and its parts, compatibility, `_SchemaInfo`."""


def attributes(s, log):
    f = s.C.parse_schema(
        "a::f.over(Tensor(a!) self, int[2] k=1, *, float? x=None, Tensor(b!) out) -> (Tensor(a!), Tensor(b!) y)"
    )
    log(
        f.name,
        f.overload_name,
        type(f.arguments).__name__,
        type(f.returns).__name__,
        len(f.arguments),
        f.is_mutable,
        f._is_view_op(),
    )
    for a in list(f.arguments) + list(f.returns):
        log(
            a.name,
            str(a.type),
            a.N,
            a.has_default_value(),
            a.default_value,
            a.kwarg_only,
            a.is_out,
            a.is_write,
            a.alias_info is None,
        )
        if a.alias_info is not None:
            log(
                a.alias_info.is_write,
                a.alias_info.before_set,
                a.alias_info.after_set,
                type(a.alias_info.before_set).__name__,
            )
    log(str(f), repr(f))


def defaults(s, log):
    for text in (
        "int x=3",
        "float x=3",
        "float x=1e-5",
        "bool x=True",
        "bool? x=None",
        "int[] x=[1, 2]",
        "int[2] x=1",
        "str x='a\"b'",
        "ScalarType x=float32",
        "ScalarType? x=None",
        "Layout x=strided",
        "MemoryFormat? x=contiguous_format",
        "Tensor? x=None",
        "Scalar x=1",
        "Scalar x=1.5",
        "Scalar? x=None",
        "bool[3] x=[True, False, True]",
        "float[] x=[1., 2.]",
        "int x=-1",
        "SymInt x=4",
        "SymInt[2] x=[1, 2]",
        "SymInt? x=3",
        "str? x=None",
        "complex x=2j",
        "Device? x=None",
        "Tensor x=1",
        "int[] x=1",
        "int[2] x=[1]",
        "float? x=1",
        "int[]? x=None",
        "Scalar x=True",
        "Generator? g=None",
        "int[] x=[]",
        "int? x=2",
        "bool x=False",
        "float x=.5",
        "float x=5.",
    ):
        try:
            f = s.C.parse_schema(f"a::f({text}) -> ()")
        except RuntimeError as e:
            log(text, "raises", type(e).__name__)
            continue
        a = f.arguments[0]
        log(
            text,
            "|",
            str(f),
            "|",
            a.default_value,
            type(a.default_value).__name__,
            a.has_default_value(),
        )


def parse_errors(s, log):
    for text in (
        "",
        "f",
        "f(",
        "f()",
        "f() ->",
        "f() -> Tensor",
        "f(Tensor) -> Tensor",
        "f(Tensor x,) -> Tensor",
        "f(Tensor x) Tensor",
        "f(Foo x) -> Tensor",
        "f(Tensor x) -> Foo",
        "f(Tensor x, *) -> Tensor",
        "f(*, Tensor x) -> Tensor",
        "a::b::f(Tensor x) -> Tensor",
        "f(Tensor x) -> Tensor extra",
        "f(Tensor(a) x) -> Tensor(a)",
        "f(Tensor(a!) x) -> ()",
        "f(Tensor(a x) -> ()",
        "f(Tensor x=) -> ()",
        "f.default(Tensor x) -> Tensor",
        "f.__iter(Tensor x) -> ()",
        "f. (Tensor x) -> ()",
        "1f(Tensor x) -> ()",
        "f(Tensor 1x) -> ()",
        "f(Tensor x, Tensor x) -> ()",
        "f(int[ x) -> ()",
        "f(int[a] x) -> ()",
        "f(int[3 x) -> ()",
        "f(Tensor? x) -> Tensor?",
        "f(...) -> ...",
        "f(Tensor x, ...) -> Tensor",
        "f(..., Tensor x) -> Tensor",
        "f(int x=1, int y) -> ()",
        "f(int x=1, *, int y) -> ()",
        "f(Tensor x) -> (Tensor",
        "f(Tensor x) -> (Tensor, Tensor)",
        "f(Tensor x) -> (Tensor a, Tensor b)",
        "f(Tensor x) -> Tensor[]",
        "f(Tensor x) -> Tensor(a!)[]",
        "f(Tensor x) -> ()",
        "  f ( Tensor x )->Tensor",
        "f(Tensor x) -> Tensor;",
        "f(int x='a) -> ()",
        "f(Tensor$ x) -> ()",
        "f(Tensor(a -> *) x) -> Tensor(*)",
        "f(Tensor(*) x) -> ()",
        "f(t x) -> t",
        "f(Tensor x, int k=NaN) -> ()",
        "f(Dict(int, Tensor) d) -> ()",
        "f(Dict(int) d) -> ()",
        "f(Optional(int) d) -> ()",
        "f(Tensor from) -> Tensor",
        "f(Tensor self, *, *, int a) -> ()",
        "f(*, *) -> ()",
        "f(NoneType x) -> NoneType",
    ):
        try:
            log(text, "->", str(s.C.parse_schema(text)))
        except Exception as e:
            log(text, "raises", type(e).__name__)
    log.attempt("None", s.C.parse_schema, None)
    log.attempt("number", s.C.parse_schema, 3)
    log.attempt("bytes", s.C.parse_schema, b"f(Tensor x) -> Tensor")
    log.attempt("no type variables", s.C.parse_schema, "f(t x) -> t", False)
    log.attempt(
        "no type variables",
        lambda: s.C.parse_schema(schema="f(int x) -> int", allow_typevars=False),
    )


def compatibility(s, log):
    p = s.C.parse_schema
    old = p("a::f(Tensor x, int k=1, *, Tensor(a!) out) -> Tensor(a!)")
    for text in (
        "a::f(Tensor x, int k=1, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor x, int k=2, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor x, int k=1, int j=2, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor x, int j=2, int k=1, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor x, int k=1, int j, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor x, int k, *, Tensor(a!) out) -> Tensor(a!)",
        "a::g(Tensor x, int k=1, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f.o(Tensor x, int k=1, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor y, int k=1, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor? x, int k=1, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor x, int k=1, *, Tensor(b!) out) -> Tensor(b!)",
        "a::f(Tensor x, int k=1, *, int z=1, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor x, int k=1, *, Tensor(a!) out, int z=1) -> Tensor(a!)",
        "a::f(Tensor x, int? k=1, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor x, float k=1, *, Tensor(a!) out) -> Tensor(a!)",
        "a::f(Tensor x, int k=1, *, Tensor(a!) out) -> Tensor",
        "a::f(Tensor x, int k=1, *, Tensor(a!) out) -> (Tensor(a!), int)",
    ):
        try:
            new = p(text)
        except RuntimeError as e:
            log(text, type(e).__name__)
            continue
        log(text, new.is_backward_compatible_with(old), old.is_backward_compatible_with(new))
        ok, why = new.check_forward_compatible_with(old)
        log(ok, type(why).__name__, (why == "") == ok)
        log(
            old.check_forward_compatible_with(new)[0],
            new == old,
            hash(new) == hash(old) if new == old else None,
        )


def more_compatibility(s, log):
    p = s.C.parse_schema
    pairs = (
        ("f(Tensor x) -> Tensor", "f(Tensor x) -> Tensor?"),
        ("f(Tensor x) -> Tensor?", "f(Tensor x) -> Tensor"),
        ("f(int x) -> ()", "f(int? x) -> ()"),
        ("f(int x) -> ()", "f(Scalar x) -> ()"),
        ("f(Tensor[] x) -> ()", "f(Tensor?[] x) -> ()"),
        ("f(Tensor x, *, int a, int b) -> ()", "f(Tensor x, *, int b, int a) -> ()"),
        ("f(Tensor x, int a) -> ()", "f(Tensor x, *, int a) -> ()"),
        ("f(Tensor x, *, int a) -> ()", "f(Tensor x, int a) -> ()"),
        ("f(Tensor x) -> Tensor", "f(Tensor x) -> Tensor y"),
        ("f(Tensor x) -> (Tensor, int)", "f(Tensor x) -> (Tensor, int?)"),
        ("f(Tensor x, ...) -> ()", "f(Tensor x) -> ()"),
        ("f(Tensor x, int[] a=[1]) -> ()", "f(Tensor x) -> ()"),
        ("f(Tensor x, *, int[] a=[1]) -> ()", "f(Tensor x) -> ()"),
        ("f(Tensor(a) x) -> Tensor(a)", "f(Tensor x) -> Tensor"),
        ("f(Tensor x, SymInt a) -> ()", "f(Tensor x, int a) -> ()"),
        ("f(Tensor x, SymInt[] a) -> ()", "f(Tensor x, int[] a) -> ()"),
        ("f(int[2] x) -> ()", "f(int[] x) -> ()"),
    )
    for a, b in pairs:
        x, y = p(a), p(b)
        log(a, "|", b, x.is_backward_compatible_with(y), y.is_backward_compatible_with(x))
        log(x.check_forward_compatible_with(y)[0], y.check_forward_compatible_with(x)[0], x == y)


def equality(s, log):
    p = s.C.parse_schema
    f = p("a::f(Tensor x, int k=1) -> Tensor")
    for text in (
        "a::f(Tensor x, int k=1) -> Tensor",
        "a::f(Tensor x, int k=2) -> Tensor",
        "a::f(Tensor x, int k) -> Tensor",
        "a::g(Tensor x, int k=1) -> Tensor",
        "a::f(Tensor x, *, int k=1) -> Tensor",
        "a::f(Tensor(a) x, int k=1) -> Tensor(a)",
        "a::f(Tensor x, SymInt k=1) -> Tensor",
    ):
        log(text, f == p(text), f != p(text))
    log.attempt("str", lambda: f == "a")
    log.attempt("None", lambda: f == None)
    log(len({f, p(str(f))}), len({f: 1, p(str(f)): 2}))
    log.attempt("less", lambda: f < f)


def pickled(s, log):
    import copy
    import pickle

    f = s.C.parse_schema("a::f(Tensor(a!) x, int k=1, *, str s='a') -> Tensor(a!)")
    log(
        pickle.loads(pickle.dumps(f)) == f,
        copy.copy(f) == f,
        copy.deepcopy(f) == f,
        f.__getstate__(),
    )


def made_by_hand(s, log):
    C = s.C
    t = C.TensorType.get()
    a = C.Argument("x", t, None, None, False, None)
    b = C.Argument("k", C.IntType.get(), None, 3, True, None)
    c = C.Argument("y", t, None, None, False, C._AliasInfo(True, {"alias::a"}, {"alias::a"}))
    f = C.FunctionSchema("a::f", "ov", [a, b], [c], False, False)
    log(
        str(f),
        f.name,
        f.overload_name,
        f.arguments[1].default_value,
        f.arguments[1].has_default_value(),
        f.returns[0].alias_info.is_write,
    )
    log(f.arguments[1].kwarg_only, f.arguments[0].N)
    i = C._AliasInfo(False, {"alias::a", "alias::b"}, set())
    log(i.is_write, i.before_set, i.after_set)
    log.attempt("bad", C.FunctionSchema, "a::f", "ov", [3], [], False, False)
    log.attempt("few", C.FunctionSchema, "a::f")


def _info(s, text):
    return s.C._SchemaInfo(s.C.parse_schema(text))


def info_mutable(s, log):
    C = s.C
    A, IN, OUT = C._SchemaArgument, C._SchemaArgType.input, C._SchemaArgType.output
    i = _info(s, "a::f(Tensor(a!) x, Tensor y, int k, *, Tensor(b!)[] out) -> (Tensor(a!), Tensor)")
    log(
        i.is_mutable(),
        i.is_mutable("x"),
        i.is_mutable("y"),
        i.is_mutable("out"),
        i.is_mutable(A(IN, 0)),
        i.is_mutable(A(IN, 1)),
    )
    log(i.is_mutable(A(OUT, 0)), i.is_mutable(A(OUT, 1)))
    log.attempt("no such name", i.is_mutable, "z")
    log.attempt("no such index", i.is_mutable, A(IN, 9))
    log.attempt("a number", i.is_mutable, 0)
    log(i.has_argument("x"), i.has_argument("z"), i.has_argument(""))
    log(_info(s, "a::f(Tensor x) -> Tensor").is_mutable())
    for name in (
        "aten::add_.Tensor",
        "aten::relu",
        "aten::dropout",
        "aten::batch_norm",
        "aten::native_batch_norm",
        "aten::rand",
    ):
        base, _, over = name.partition(".")
        j = C._SchemaInfo(C._get_schema(base, over))
        log(
            name,
            j.is_mutable(),
            [a.name for a in C._get_schema(base, over).arguments if j.is_mutable(a.name)],
        )


def info_aliases(s, log):
    C = s.C
    A, IN, OUT = C._SchemaArgument, C._SchemaArgType.input, C._SchemaArgType.output
    for text in (
        "a::f(Tensor(a) x, Tensor y) -> Tensor(a)",
        "a::f(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
        "a::f(Tensor x, Tensor y) -> Tensor",
        "a::f(Tensor(a)[] x, Tensor y) -> Tensor(a)",
        "a::f(Tensor(a -> *) x, Tensor(b -> *) y) -> Tensor(*)",
        "a::f(Tensor(a)[](b) x, Tensor(a) y) -> Tensor(a)[]",
        "a::f(Tensor(a) x, int k) -> (Tensor(a), int)",
        "a::f(Tensor(a|b) x, Tensor(b) y) -> Tensor(a)",
        "a::f(Tensor(*) x, Tensor y) -> Tensor(*)",
    ):
        f = C.parse_schema(text)
        i = C._SchemaInfo(f)
        args = [A(IN, n) for n in range(len(f.arguments))] + [
            A(OUT, n) for n in range(len(f.returns))
        ]
        log(text)
        log([[i.may_alias(a, b) for b in args] for a in args])
        log([[i.may_contain_alias(a, b) for b in args] for a in args])
    log.attempt("index", i.may_alias, A(IN, 7), A(OUT, 0))
    log.attempt("numbers", i.may_alias, 0, 1)


def info_of_operators(s, log):
    C = s.C
    A, IN, OUT = C._SchemaArgument, C._SchemaArgType.input, C._SchemaArgType.output
    for name in (
        "aten::view",
        "aten::split.Tensor",
        "aten::unbind.int",
        "aten::add.out",
        "aten::reshape",
        "aten::contiguous",
        "aten::cat",
        "aten::chunk",
        "aten::expand",
        "aten::to.dtype",
        "aten::detach",
        "aten::select.int",
        "aten::sum",
    ):
        base, _, over = name.partition(".")
        f = C._get_schema(base, over)
        i = C._SchemaInfo(f)
        log(
            name,
            [
                [i.may_alias(A(IN, a), A(OUT, b)) for b in range(len(f.returns))]
                for a in range(len(f.arguments))
            ],
        )
        log(
            [
                [i.may_contain_alias(A(IN, a), A(OUT, b)) for b in range(len(f.returns))]
                for a in range(len(f.arguments))
            ],
            f._is_view_op(),
        )


def info_values(s, log):
    """Argument values refine the answers: the same tensor at two places, training flags."""
    C, T = s.C, s.T
    A, IN, OUT = C._SchemaArgument, C._SchemaArgType.input, C._SchemaArgType.output
    x, y = T.ones(2), T.ones(2)
    i = _info(s, "a::f(Tensor(a!) x, Tensor y) -> Tensor(a!)")
    log(i.may_alias(A(IN, 0), A(IN, 1)), i.is_mutable("y"))
    i.add_argument_value("x", x)
    i.add_argument_value("y", x)
    log(i.may_alias(A(IN, 0), A(IN, 1)), i.is_mutable("y"), i.may_alias(A(IN, 1), A(OUT, 0)))
    i = _info(s, "a::f(Tensor(a!) x, Tensor y) -> Tensor(a!)")
    i.add_argument_values({"x": x, "y": x.view(2)})
    log(i.may_alias(A(IN, 0), A(IN, 1)), i.is_mutable("y"))
    i = _info(s, "a::f(Tensor(a!) x, Tensor y) -> Tensor(a!)")
    i.add_argument_values({"x": x, "y": y})
    log(i.may_alias(A(IN, 0), A(IN, 1)), i.is_mutable("y"))
    log.attempt("unknown", i.add_argument_value, "z", x)
    log.attempt("unknown in dict", i.add_argument_values, {"z": x})
    log.attempt("None", i.add_argument_value, "x", None)
    for training in (True, False):
        j = C._SchemaInfo(C._get_schema("aten::batch_norm", ""))
        j.add_argument_value("training", training)
        log(training, j.is_mutable(), j.is_mutable("running_mean"), j.is_mutable("input"))
    j = C._SchemaInfo(C._get_schema("aten::batch_norm", ""))
    log(j.is_mutable("running_mean"))
    j.add_argument_values({"training": False, "running_mean": x})
    log(j.is_mutable("running_mean"))


def schema_arguments(s, log):
    C = s.C
    a = C._SchemaArgument(C._SchemaArgType.input, 2)
    log(
        a.type,
        a.index,
        repr(C._SchemaArgType.output),
        C._SchemaArgType.output.value,
        list(C._SchemaArgType.__members__),
    )
    log.attempt("swapped", C._SchemaArgument, 2, C._SchemaArgType.input)
    log.attempt("negative", C._SchemaArgument, C._SchemaArgType.input, -1)
    log.attempt("None", C._SchemaInfo, None)
    log.attempt("text", C._SchemaInfo, "a::f() -> ()")
    log.attempt("set index", setattr, a, "index", 5)


def view_ops(s, log):
    for name in (
        "view",
        "relu",
        "add_.Tensor",
        "detach",
        "reshape",
        "split.Tensor",
        "contiguous",
        "add.out",
        "t",
        "t_",
        "unsqueeze",
        "as_strided",
    ):
        base, _, over = name.partition(".")
        log(
            name,
            s.C._get_schema("aten::" + base, over)._is_view_op(),
            s.C._get_schema("aten::" + base, over).is_mutable,
        )


def every_schema_round_trips(s, log):
    names = (
        "aten::conv2d",
        "aten::add.Tensor",
        "aten::_to_copy",
        "aten::split.sizes",
        "aten::max_pool2d",
        "aten::index_put_",
        "aten::empty.memory_format",
        "aten::native_layer_norm",
        "aten::full",
        "aten::arange.start_step",
    )
    for name in names:
        base, _, over = name.partition(".")
        f = s.C._get_schema(base, over)
        log(
            str(f),
            s.C.parse_schema(str(f)) == f,
            len(f.arguments),
            [a.name for a in f.arguments if a.kwarg_only],
        )
