"""Values that become the schema's types on their way to a kernel."""


def _lib(s, ns, schema, log, name=None):
    lib = s.library.Library(ns, "DEF")
    lib.define(schema)
    name = name or schema.partition("(")[0]

    def kernel(*args, **kwargs):
        log("got", args, kwargs, [type(a).__name__ for a in args])
        return 0

    lib.impl(name, kernel, "CompositeExplicitAutograd")
    return lib, getattr(getattr(s.ops, ns), name.partition(".")[0])


def defaults_to_kernels(s, log):
    lib, f = _lib(
        s,
        "ma_def",
        "f(Tensor x, int a=1, float b=2.0, str c='q', bool d=False, int[] e=[1,2], "
        "*, int? k=None, float g=0.5) -> int",
        log,
    )
    x = s.T.ones(1)
    f(x)
    f(x, 1)
    f(x, 1, 2.0, "q", False, [1, 2])
    f(x, 1, 2.0, "q", True)
    f(x, d=True)
    f(x, 2, 2)
    f(x, k=None, g=0.5)
    f(x, k=3, g=1)
    f(x, e=(1, 2))
    f(x, e=[1, 3])
    log.attempt("true for int", f, x, True)


def int_conversions(s, log):
    lib, f = _lib(s, "ma_int", "f(int x, int? y=None) -> int", log)
    for v in (
        1,
        True,
        s.T.tensor(3),
        s.T.tensor([4]),
        s.T.tensor(2.5),
        1.0,
        "1",
        None,
        2**70,
        [1],
        s.T.tensor(True),
        s.T.ones(2),
    ):
        log.attempt("int", f, v)


def float_conversions(s, log):
    lib, f = _lib(s, "ma_float", "f(float x) -> int", log)
    for v in (
        1,
        True,
        1.5,
        s.T.tensor(3),
        s.T.tensor([4.5]),
        1j,
        "1",
        None,
        s.T.ones(2),
        10**400,
        float("nan"),
    ):
        log.attempt("float", f, v)


def bool_conversions(s, log):
    lib, f = _lib(s, "ma_bool", "f(bool x) -> int", log)
    for v in (True, 0, 1.0, s.T.tensor(True), None, "x", [True]):
        log.attempt("bool", f, v)


def scalar_conversions(s, log):
    lib, f = _lib(s, "ma_scalar", "f(Scalar x, Scalar? y=None) -> int", log)
    for v in (1, True, 1.5, 2j, s.T.tensor(3), s.T.tensor([4.5]), "1", None, s.T.ones(2)):
        log.attempt("scalar", f, v)
    log.attempt("both", f, 1, 2)


def string_and_device(s, log):
    lib, f = _lib(
        s,
        "ma_str",
        "f(str x, Device? d=None, ScalarType? t=None, Layout? l=None, MemoryFormat? m=None) -> int",
        log,
    )
    log.attempt("str", f, "a")
    log.attempt("int", f, 1)
    log.attempt("bytes", f, b"a")
    log.attempt("device str", f, "a", "cpu")
    log.attempt("device", f, "a", s.T.device("cuda:1"))
    log.attempt("device bad", f, "a", "nonsense")
    log.attempt("device int", f, "a", 0)
    log.attempt("dtype", f, "a", None, s.T.float16)
    log.attempt("dtype int", f, "a", None, 3)
    log.attempt("dtype type", f, "a", None, float)
    log.attempt("layout", f, "a", None, None, s.T.strided)
    log.attempt("format", f, "a", m=s.T.channels_last)
    log.attempt("format as layout", f, "a", l=s.T.channels_last)


def int_lists(s, log):
    lib, f = _lib(s, "ma_ints", "f(int[] x, int[2] y=1, int[]? z=None) -> int", log)
    for v in (
        [1, 2],
        (1, 2),
        [],
        3,
        s.T.Size([2, 3]),
        [1.5],
        ["a"],
        None,
        [s.T.tensor(3)],
        range(3),
        [True],
        {1},
    ):
        log.attempt("ints", f, v)
    log.attempt("fixed int", f, [1], 2)
    log.attempt("fixed list", f, [1], [2, 3])
    log.attempt("fixed wrong", f, [1], [2, 3, 4])
    log.attempt("optional", f, [1], z=[1])
    log.attempt("optional int", f, [1], z=4)


def tensor_lists(s, log):
    lib, f = _lib(s, "ma_ts", "f(Tensor[] x, Tensor?[]? y=None) -> int", log)
    a = s.T.ones(1)
    for v in ([a], (a, a), [], a, [None], [1], None, [a, None], [[a]]):
        log.attempt("tensors", f, v)
    log.attempt("opt", f, [a], [None, a])
    log.attempt("opt none", f, [a], [None])
    log.attempt("opt int", f, [a], [1])


def other_lists(s, log):
    lib, f = _lib(
        s, "ma_ol", "f(float[] a=[], bool[] b=[], str[]? c=None, Scalar[]? d=None) -> int", log
    )
    log.attempt("floats", f, [1, 2.5])
    log.attempt("float", f, 2.5)
    log.attempt("bools", f, b=[True, False])
    log.attempt("bools int", f, b=[1, 0])
    log.attempt("strs", f, c=["a"])
    log.attempt("str", f, c="ab")
    log.attempt("scalars", f, d=[1, 2.5, True])
    log.attempt("scalar", f, d=1)
    log.attempt("tuple", f, (1.0,), (True,), ("x",))


def tensors_and_numbers(s, log):
    lib, f = _lib(s, "ma_t", "f(Tensor x, Tensor? y=None) -> int", log)
    a = s.T.ones(1)
    for v in (
        a,
        1,
        1.5,
        True,
        None,
        "a",
        [a],
        a.numpy() if hasattr(a, "numpy") else 1,
        a.requires_grad_(),
    ):
        log.attempt("tensor", f, v)
    log.attempt("opt", f, a, None)
    log.attempt("opt int", f, a, 3)


def callables_and_objects(s, log):
    lib, f = _lib(s, "ma_any", "f(Any x) -> int", log) if False else (None, None)
    lib = s.library.Library("ma_any2", "DEF")
    log.attempt("any", lambda: lib.define("f(Any x) -> int"))
    log.attempt("dict", lambda: lib.define("g(Dict(str, int) x) -> int"))
    log.attempt("tuple", lambda: lib.define("h((int, int) x) -> int"))
    log.attempt("symint", lambda: lib.define("i(SymInt x, SymInt[] y) -> SymInt"))
    log.attempt("generator", lambda: lib.define("j(Generator? g=None) -> int"))
    log.attempt("storage", lambda: lib.define("k(Storage g) -> int"))
    log.attempt("stream", lambda: lib.define("l(Stream g) -> int"))
    lib.impl("i", lambda x, y: x, "CompositeExplicitAutograd")
    log.attempt("sym", lambda: s.ops.ma_any2.i(4, [1]))
    log(s.ops.ma_any2.i.default._schema)
    lib.impl("j", lambda g=None: 1, "CompositeExplicitAutograd")
    log.attempt("gen", lambda: s.ops.ma_any2.j(s.T.Generator()))
    log.attempt("gen bad", lambda: s.ops.ma_any2.j(3))
