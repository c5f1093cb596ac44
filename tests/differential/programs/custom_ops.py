"""Custom operators: what `custom_op` makes and what may be registered on it."""

import typing
import warnings

from tests.differential.helpers import doubling_op, multiplying_op


def making_one(s, log):
    @s.library.custom_op("co1::f", mutates_args=())
    def f(x: s.Tensor, n: int = 2) -> s.Tensor:
        return x * n

    log(
        f,
        type(f).__name__,
        f._opoverload,
        f._opoverload._schema,
        f._qualname,
        f._namespace,
        f._name,
    )
    log(f(s.T.ones(2)), f(s.T.ones(2), 3), f(x=s.T.ones(2), n=4), s.ops.co1.f(s.T.ones(2)))
    log([t.name for t in f._opoverload.tags], f._schema)
    log(isinstance(f, s.library.CustomOpDef), f._backend_fns.keys(), f._abstract_fn, f._backward_fn)
    for args in ((), (3,), (s.T.ones(1), "x"), (s.T.ones(1), 1, 2)):
        log.attempt(str(len(args)), f, *args)
    log.attempt("keyword", f, s.T.ones(1), m=3)


def refused(s, log):
    op = s.library.custom_op
    Tn = s.Tensor

    def f(x: Tn) -> Tn:
        return x.clone()

    def kwonly(x: Tn, *, y: Tn) -> Tn:
        return x.clone()

    def untyped(x):
        return x

    def no_tensor(n: int) -> Tn:
        return s.T.ones(n)

    log.attempt("no namespace", op, "f", f, mutates_args=())
    log.attempt("two", op, "a::b::c", f, mutates_args=())
    log.attempt("keyword-only tensor", op, "co2::f", kwonly, mutates_args=())
    log.attempt("untyped", op, "co2::f", untyped, mutates_args=())
    log.attempt(
        "no tensor and a device", op, "co2::f", no_tensor, mutates_args=(), device_types="cpu"
    )
    log.attempt("mutates nothing there", op, "co2::f", f, mutates_args=("y",))
    log.attempt("no mutates_args", op, "co2::f", f)
    log.attempt("wrong device", op, "co2::g", f, mutates_args=(), device_types="nothing")
    log.attempt(
        "schema and mutates_args",
        op,
        "co2::h",
        f,
        mutates_args=(),
        schema="(Tensor(a!) x) -> Tensor",
    )
    log.attempt("bad schema", op, "co2::i", f, mutates_args=(), schema="(Tensr x) -> Tensor")
    log.attempt("no function", op, "co2::j", 3, mutates_args=())
    log.attempt("reserved", op, "prim::j", f, mutates_args=())


def given_schema(s, log):
    f = s.library.custom_op(
        "co3::f",
        lambda x, *, k: (x * k, x + k),
        mutates_args=(),
        schema="(Tensor x, *, float k) -> (Tensor, Tensor)",
    )
    log(f._opoverload._schema, f._schema)
    log(f(s.T.ones(2), k=3.0))
    g = s.library.custom_op(
        "co3::g", lambda x: x.add_(1), mutates_args={"x"}, schema="(Tensor(a!) x) -> ()"
    )
    log.attempt("returns something", g, s.T.ones(2))
    v = s.library.custom_op(
        "co3::v", lambda x: x.view(-1), mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)"
    )
    x = s.T.ones(2, 2)
    y = v(x)
    log(y, y._base is x, v._opoverload.is_view)


def results_may_not_alias(s, log):
    Tn = s.Tensor

    def same(x: Tn) -> Tn:
        return x

    def view(x: Tn) -> Tn:
        return x[:1]

    def twice(x: Tn) -> tuple[Tn, Tn]:
        y = x.clone()
        return y, y

    def listed(x: Tn) -> list[Tn]:
        return [x.clone(), x]

    def of_list(xs: list[Tn]) -> Tn:
        return xs[1]

    def fine(x: Tn) -> tuple[Tn, Tn]:
        return x.clone(), x + 1

    x = s.T.ones(3)
    for f in (same, view, twice, listed, fine):
        log.attempt(f.__name__, s.library.custom_op(f"co4::{f.__name__}", f, mutates_args=()), x)
    log.attempt(
        "of_list", s.library.custom_op("co4::of_list", of_list, mutates_args=()), [x, x + 1]
    )
    log.attempt("empty", s.ops.co4.same, s.T.empty(0))
    log.attempt(
        "wrong type",
        s.library.custom_op(
            "co4::w", lambda x: 3, mutates_args=(), schema="(Tensor x) -> Tensor[]"
        ),
        x,
    )


def mutation(s, log):
    def f(x: s.Tensor, y: s.Tensor) -> None:
        log("version inside", x._version)
        x.add_(y)

    op = s.library.custom_op("co5::f", f, mutates_args={"x"})
    x = s.T.ones(2)
    log(op._opoverload._schema, op(x, s.T.ones(2)), x, x._version)
    view = x[:1]
    op(view, s.T.ones(1))
    log(x, x._version, view._version)
    with s.fake.FakeTensorMode():
        a = s.T.ones(2)
        log.attempt("fake", op, a, a)
        log(a._version)
    leaf = s.T.ones(2, requires_grad=True)
    log.attempt("leaf", op, leaf, s.T.ones(2))
    log(leaf._version)


def unknown_mutation(s, log):
    def f(x: s.Tensor, ys: list[s.Tensor], n: int) -> s.Tensor:
        return x + n

    op = s.library.custom_op("co6::f", f, mutates_args="unknown")
    x, y = s.T.ones(1), s.T.ones(1)
    log(op._opoverload._schema, op(x, [y], 3), x._version, y._version)
    log(op._opoverload._schema.is_mutable)


def defined_again(s, log):
    a = multiplying_op(s, "co18::f")
    log(a(s.T.ones(1)))

    def f(x: s.Tensor) -> s.Tensor:
        return x + 10

    b = s.library.custom_op("co18::f", f, mutates_args=())
    log(b(s.T.ones(1)), s.ops.co18.f(s.T.ones(1)), s.ops.co18.f.default._schema)
    log.attempt("with the old argument", a, s.T.ones(1), 3)
    log(a._opoverload is b._opoverload)


def inplace_tag(s, log):
    def f(x: s.Tensor) -> s.Tensor:
        x.add_(1)
        return x

    op = s.library.custom_op("co19::f_", f, mutates_args={"x"}, tags=s.T.Tag.inplace)
    x = s.T.ones(2)
    log(
        op._opoverload._schema,
        sorted(t.name for t in op._opoverload.tags),
        op(x) is x,
        x,
        x._version,
    )
    bad = s.library.custom_op(
        "co19::bad_",
        lambda x: x.clone(),
        mutates_args={"x"},
        tags=s.T.Tag.inplace,
        schema="(Tensor(a!) x) -> Tensor(a!)",
    )
    log.attempt("another tensor", bad, x)
    with s.fake.FakeTensorMode():
        y = s.T.ones(2)
        log(op(y) is y)
    m = s.T.ones(2, device="meta")
    log.attempt("meta", lambda: op(m) is m)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        op.register_fake(lambda x: x)
    log([w.category.__name__ for w in seen])
    log.attempt("autograd", op.register_autograd, lambda ctx, g: g)


def out_tag(s, log):
    def f(x: s.Tensor, *, out: s.Tensor) -> s.Tensor:
        out.copy_(x * 2)
        return out

    op = s.library.custom_op("co20::f", f, mutates_args={"out"}, tags=s.T.Tag.out)
    x, out = s.T.ones(2), s.T.zeros(2)
    log(op._opoverload._schema, op(x, out=out) is out, out, out._version, op._out_kwarg_names)
    bad = s.library.custom_op(
        "co20::bad",
        lambda x, *, out: x.clone(),
        mutates_args={"out"},
        tags=s.T.Tag.out,
        schema="(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    )
    log.attempt("another tensor", bad, x, out=out)
    with s.fake.FakeTensorMode():
        o = s.T.ones(2)
        log(op(s.T.ones(2), out=o) is o)
    log.attempt("requires grad", op, s.T.ones(2, requires_grad=True), out=out)
    log.attempt("formula", op.register_autograd, lambda ctx, g: g)

    def two(x: s.Tensor, *, a: s.Tensor, b: s.Tensor) -> tuple[s.Tensor, s.Tensor]:
        return a, b

    op = s.library.custom_op("co20::two", two, mutates_args=("a", "b"), tags=(s.T.Tag.out,))
    r = op(x, a=out, b=x)
    log(r[0] is out, r[1] is x)


def sizes_and_scalars(s, log):
    def f(
        x: s.Tensor,
        ints: list[int],
        number: float,
        flag: bool,
        text: str,
        maybe: s.Tensor | None = None,
    ) -> tuple[s.Tensor, int, float, bool]:
        log(type(ints).__name__, ints, number, flag, text, maybe is None)
        return x.clone(), len(ints), number, flag

    op = s.library.custom_op("co27::f", f, mutates_args=())
    log(op._opoverload._schema)
    log(op(s.T.ones(1), (1, 2), 3, True, "hi"))
    log(op(s.T.ones(1), [], 2.5, False, "", s.T.ones(1)))
    log.attempt("float for int", op, s.T.ones(1), [1.5], 1.0, True, "")
    log.attempt("number for bool", op, s.T.ones(1), [1], 1.0, 1, "")
    log.attempt("None for text", op, s.T.ones(1), [1], 1.0, True, None)


def helpers(s, log):
    utils = s._library.utils
    parse = s.C.parse_schema
    for text in (
        "a::f(Tensor x) -> Tensor",
        "a::f(Tensor(a!) x) -> ()",
        "a::f(Tensor(a) x) -> Tensor(a)",
        "a::f(Tensor x) -> ()",
        "a::f(Tensor(a) x, Tensor y) -> Tensor(a)",
    ):
        log(
            text,
            utils.is_functional_schema(parse(text)),
            utils.is_functional_schema(parse(text), allow_valid_view=True),
        )
    log(
        [
            utils.mutates_and_returns_first_arg(op)
            for op in (
                s.ops.aten.add_.Tensor,
                s.ops.aten.add.Tensor,
                s.ops.aten.add.out,
                s.ops.aten.t_.default,
            )
        ]
    )
    schema = parse("a::f(Tensor x, int n=3, *, float k=1.5, Tensor? y=None) -> Tensor")
    log(utils.fill_defaults(schema, (1,), {}), utils.fill_defaults(schema, (1, 2), {"y": 5}))
    log([(a.name, v) for a, v in utils.zip_schema(schema, (1,), {"k": 2, "n": 4})])
    log(
        utils.has_kwarg_only_args(schema),
        utils.has_kwarg_only_tensors(schema),
        utils.has_tensor_arg(schema),
        utils.get_device_arg_index(schema),
    )
    log(
        utils.get_device_arg_index(parse("a::f(int n, Device device) -> Tensor")),
        utils.mutated_args_kwargs(parse("a::f(Tensor x, Tensor(a!) y, *, Tensor(b!) z) -> ()")),
    )
    log(
        utils.parse_namespace("a::b"),
        utils.lookup_op("aten::add.Tensor"),
        utils.lookup_op("aten::sin"),
    )
    log.attempt("parse", utils.parse_namespace, "a")
    log.attempt("lookup", utils.lookup_op, "aten::nothing_there")
    log(
        [
            utils.is_tensor_like_type(a.type)
            for a in parse("a::f(Tensor x, Tensor? y, Tensor[] z, int n) -> ()").arguments
        ]
    )
    log(
        [
            utils.is_tensorlist_like_type(a.type)
            for a in parse(
                "a::f(Tensor x, Tensor[] y, Tensor?[] z, Tensor[]? w, int[] n) -> ()"
            ).arguments
        ]
    )
    log(utils.is_builtin(s.ops.aten.sin.default), utils.requires_set_python_module())
    log(utils.get_layout_constraint_tag(s.ops.aten.sin.default).name)


def many_arguments(s, log):
    def f(
        x: s.Tensor,
        a: int = 1,
        b: float = 2.0,
        c: bool = False,
        d: str = "d",
        *,
        e: int = 5,
        g: float = 6.0,
    ) -> s.Tensor:
        log(a, b, c, d, e, g)
        return x.clone()

    op = s.library.custom_op("co32::f", f, mutates_args=())
    x = s.T.ones(1)
    op(x)
    op(x, 1, 2.0, False, "d", e=5, g=6.0)
    op(x, 3, e=7)
    op(x, d="other", g=1)
    op(x, c=True)
    for bad in ((x, 1, 2, 3, 4), (x, 1.5), (x, 1, "b"), (x, 1, 2, True, 5)):
        log.attempt("bad", op, *bad)
    log.attempt("positional e", op, x, 1, 2.0, False, "d", 5)


def weak_names(s, log):
    custom_ops = s._library.custom_ops
    op = multiplying_op(s, "co34::f")
    log(custom_ops._maybe_get_opdef("co34::f") is op, custom_ops._maybe_get_opdef(op) is op)
    log(
        custom_ops._maybe_get_opdef(op._opoverload) is op,
        custom_ops._maybe_get_opdef("co34::nothing"),
    )
    log("co34::f" in custom_ops.OPDEFS, custom_ops.OPDEF_TO_LIB["co34::f"] is op._lib)
    log.attempt("number", custom_ops._maybe_get_opdef, 3)
    log(
        op._is_inplace,
        op._is_out,
        op._tags,
        op._disabled_kernel,
        op._torch_dispatch_fns,
        op._vmap_fn,
        op._autocast_dtype,
    )


def arguments_that_are_returned(s, log):
    def f(x: s.Tensor) -> s.Tensor:
        x.add_(1)
        return x

    op = s.library.custom_op("co35::f_", f, mutates_args={"x"}, tags=s.T.Tag.inplace)
    leaf = s.T.ones(2, requires_grad=True)
    y = op(leaf)
    log(y is leaf, y.requires_grad, y.grad_fn.name(), leaf.is_leaf, leaf.grad_fn)
    log(leaf._version, y._version, y._base is leaf, y._is_view())
    inner = s.T.ones(2, requires_grad=True) * 2
    y = op(inner)
    log(y is inner, y._base is inner, y.grad_fn is inner.grad_fn)
    with s.T.no_grad():
        log(op(leaf) is leaf)
    v = s.library.custom_op(
        "co35::v", lambda x: x.view(-1), mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)"
    )
    y = v(leaf)
    log(y.requires_grad, y._is_view(), y._base is leaf)


def basic(s, log):
    f = doubling_op(s, "mc_a")
    log(type(f).__name__, f(s.T.ones(2)), f._name, f._qualname, f._opoverload)
    log(repr(f))
    log(f._opoverload._schema, f._opoverload.tags)
    log(s.ops.mc_a.sin(s.T.ones(1)), s.ops.mc_a.sin.default is f._opoverload)
    log.attempt("str", f, "a")
    log.attempt("two", f, s.T.ones(1), 2)
    log.attempt("kw", lambda: f(x=s.T.ones(1)))
    log.attempt("bad kw", lambda: f(y=s.T.ones(1)))
    log.attempt("none", f)


def schema_given(s, log):
    op = s.library.custom_op

    @op("mc_b::f", mutates_args={"x"}, schema="(Tensor(a!) x, int y) -> ()")
    def f(x, y):
        x.add_(y)

    x = s.T.zeros(1)
    log(f(x, 3), x, x._version)
    log(f._opoverload._schema, f._opoverload._schema.is_mutable)
    log.attempt("no annot", lambda: op("mc_b::g", mutates_args=())(lambda x: x))
    log.attempt("no name", lambda: op("g", mutates_args=()))
    log.attempt("no mutates", lambda: op("mc_b::h"))
    log.attempt(
        "alias out",
        lambda: op("mc_b::i", mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)")(len),
    )
    log.attempt(
        "schema name", lambda: op("mc_b::j", mutates_args=(), schema="j(Tensor x) -> Tensor")(len)
    )
    log.attempt(
        "mutates wrong",
        lambda: op("mc_b::k", mutates_args=("z",), schema="(Tensor x) -> Tensor")(len),
    )


def direct_form(s, log):
    def g(x: s.Tensor, y: float = 1.0) -> s.Tensor:
        return x * y

    f = s.library.custom_op("mc_c::g", g, mutates_args=())
    log(type(f).__name__, f(s.T.ones(1), 3.0), f(s.T.ones(1)))
    log(f._opoverload._schema)
    log(f._init_fn is g, f.__name__ if hasattr(f, "__name__") else "no name")
    log.attempt("redefine", lambda: s.library.custom_op("mc_c::g", g, mutates_args=()) and "made")
    log.attempt(
        "tags",
        lambda: (
            s.library.custom_op(
                "mc_c::t", g, mutates_args=(), tags=(s.T.Tag.pointwise,)
            )._opoverload.tags
        ),
    )


def mutating_ops(s, log):
    @s.library.custom_op("mc_i::f", mutates_args=("x", "zs"))
    def f(x: s.Tensor, y: s.Tensor, zs: typing.Sequence[s.Tensor]) -> None:
        x.add_(1)
        for z in zs:
            z.mul_(2)

    a, b, c = s.T.ones(1), s.T.ones(1), s.T.ones(1)
    log(f._opoverload._schema)
    log(f(a, b, [c]), a, c)
    log(a._version, b._version, c._version)
    view = s.T.ones(4)[:2]
    f(view, b, [])
    log(view._version, view._base._version)

    @s.library.custom_op("mc_i::u", mutates_args="unknown")
    def u(x: s.Tensor, y: int) -> s.Tensor:
        return x + y

    log(u._opoverload._schema)
    log.attempt("returns input", lambda: _returns(s, "mc_i::r")(a))


def _returns(s, name):
    @s.library.custom_op(name, mutates_args=())
    def r(x: s.Tensor) -> s.Tensor:
        return x

    return r


def aliasing_checked(s, log):
    x = s.T.ones(2)
    log.attempt("same", lambda: _returns(s, "mc_j::r")(x))

    @s.library.custom_op("mc_j::v", mutates_args=())
    def v(x: s.Tensor) -> s.Tensor:
        return x.view(-1)

    @s.library.custom_op("mc_j::w", mutates_args=())
    def w(x: s.Tensor) -> tuple[s.Tensor, s.Tensor]:
        y = x + 1
        return y, y

    @s.library.custom_op("mc_j::l", mutates_args=())
    def lst(x: s.Tensor) -> list[s.Tensor]:
        return [x + 1, x]

    log.attempt("view", v, x)
    log.attempt("pair", w, x)
    log.attempt("list", lst, x)


def many_types(s, log):
    @s.library.custom_op("mc_k::f", mutates_args=())
    def f(
        x: s.Tensor,
        a: int,
        b: float = 2.0,
        c: bool = True,
        d: str = "q",
        e: typing.Optional[int] = None,
        g: typing.Optional[typing.Sequence[int]] = None,
        h: typing.Optional[s.Tensor] = None,
    ) -> s.Tensor:
        log(a, b, c, d, e, g, h is None)
        return x.clone()

    x = s.T.ones(1)
    log(f._opoverload._schema)
    f(x, 1)
    f(x, 1, 3, False, "z", 5, [4])
    f(x, a=2, h=x)
    f(x, True)
    log.attempt("float as int", f, x, 1.5)
    log.attempt("none", f, x, None)
    log.attempt("str", f, x, "1")
    log.attempt("all positional", lambda: f(x, 1, 2.0, True, "q", None, [1], x))


def return_types(s, log):
    def make(i, ann, value):
        def fn(x):
            return value() if callable(value) else value

        fn.__annotations__ = {"x": s.Tensor, "return": ann}
        return s.library.custom_op(f"mc_l::f{i}", fn, mutates_args=())

    T = s.Tensor
    x = s.T.ones(1)
    for i, (ann, v) in enumerate(
        (
            (int, 3),
            (float, 2.5),
            (bool, True),
            (None, None),
            (tuple[T, T], lambda: (s.T.ones(1), s.T.zeros(1))),
            (list[T], lambda: [s.T.ones(1)]),
            (T, 3),
            (int, "a"),
            (None, 4),
            (tuple[T, int], lambda: [s.T.ones(1), 2]),
        )
    ):
        log.attempt(
            str(i),
            lambda i=i, ann=ann, v=v: (lambda op: (str(op._opoverload._schema), op(x)))(
                make(i, ann, v)
            ),
        )


def infer_and_opcheck(s, log):
    f = doubling_op(s, "mc_n")
    f.register_fake(lambda x: s.T.empty_like(x))
    r = s.library.opcheck(f, (s.T.ones(3),), test_utils=("test_schema", "test_faketensor"))
    log(r)
    bad = doubling_op(s, "mc_n", "bad")
    bad.register_fake(lambda x: x.new_empty(7))
    log(
        s.library.opcheck(
            bad, (s.T.ones(3),), test_utils="test_faketensor", raise_exception=False
        ).keys()
    )
    log.attempt(
        "raises", lambda: s.library.opcheck(bad, (s.T.ones(3),), test_utils="test_faketensor")
    )
    log.attempt("schema", lambda: s.library.opcheck(bad, (s.T.ones(3),), test_utils="test_schema"))
    log.attempt("junk", lambda: s.library.opcheck(bad, (s.T.ones(3),), test_utils="junk"))
    log.attempt("not an op", lambda: s.library.opcheck(len, (s.T.ones(3),)))


def decorators_on_define(s, log):
    L = s.library
    lib = L.Library("mc_s", "FRAGMENT")
    L.define("mc_s::f", "(Tensor x) -> Tensor", lib=lib, tags=(s.T.Tag.needs_fixed_stride_order,))
    log([str(t) for t in s.ops.mc_s.f.default.tags])

    @L.impl("mc_s::f", "default", lib=lib)
    def f(x):
        return x + 1

    @L.register_fake("mc_s::f", lib=lib)
    def g(x):
        return s.T.empty_like(x)

    log(s.ops.mc_s.f(s.T.ones(1)), g is not None)
    log.attempt("impl_abstract", lambda: L.impl_abstract)
    with s.fake.FakeTensorMode():
        log(type(s.ops.mc_s.f(s.T.ones(1))).__name__)
    log(
        L.opcheck(
            s.ops.mc_s.f.default, (s.T.ones(2),), test_utils=("test_schema", "test_faketensor")
        )
    )
