"""What an operator gives on fake tensors: devices, constructors, kernels of others, outputs."""


def cpu_scalars(s, log):
    with s.fake.FakeTensorMode():
        a, zero = s.T.empty(2, device="cuda"), s.T.empty(())
        log(a + zero, zero + a, zero + zero, a.add_(zero))
        log.attempt("in place on a cpu scalar", zero.add_, a)
        log(s.T.empty((), device="cuda") + zero)


def numbers_only(s, log):
    with s.fake.FakeTensorMode():
        for op in (s.ops.aten.add.Tensor, s.ops.aten.mul.Tensor, s.ops.aten.div.Tensor):
            log(op(3, 2))
        log.attempt("relu", s.ops.aten.relu.default, 3)


def constructors(s, log):
    with s.fake.FakeTensorMode():
        log(s.T.empty(2), s.T.zeros(2, device="cuda"), s.T.ones(2, dtype=s.T.int64))
        log(s.T.arange(5), s.T.full((2,), 3), s.T.rand(2))
        log(s.T.empty_strided((2, 2), (1, 2)))
        log(s.T.arange(0, 3, 0.5, device="cuda:1"), s.T.randn(2), s.T.randint(3, (2,)))
        log(s.ops.aten.empty.memory_format([2, 3], device=s.T.device("xpu")))
        log(s.ops.aten.scalar_tensor.default(2.0))


def default_device(s, log):
    s.T.set_default_device("cuda")
    try:
        with s.fake.FakeTensorMode():
            x = s.T.empty(2)
            log(x, s.T.ones(2, device="cpu"), s.T.arange(3))
            log(s.T.tensor([1.0, 2.0]))
    finally:
        s.T.set_default_device(None)


def like_operators(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3, device="meta").t()
        like = (s.T.empty_like, s.T.zeros_like, s.T.ones_like, s.T.rand_like)
        for f in like:
            log(f(x), f(x, device="cpu"), f(x, dtype=s.T.float64))
        log(s.T.full_like(x, 2), x.new_empty(4), x.new_zeros(2, device="cpu"), x.new_ones(3))
        log(x.new_full((2,), 3))
        log(s.T.empty_like(x, memory_format=s.T.contiguous_format))


def moves(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3)
        y = x.to("meta")
        log(y, y.to("cpu"), x.to("cpu") is x, x.to(s.T.float64), y.cpu(), x.to(y))
        log(x.to("meta", s.T.float16), x.to("meta"))
        log(s.ops.aten._to_copy.default(x, device=s.T.device("meta")))
        log(x.to("meta", copy=True), x.double(), x.type_as(y))


def copies_between_devices(s, log):
    with s.fake.FakeTensorMode():
        a, b = s.T.empty(2, device="meta"), s.T.empty(2)
        log(a.copy_(b) is a, a, b.copy_(a) is b, b)
        log(s.ops.aten.copy.default(a, b), s.ops.aten.copy.default(b, a))
        log(s.ops.aten.slice_scatter.default(a, b))


def index_on_other_devices(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(4, 3, device="meta")
        i = s.T.empty(2, dtype=s.T.int64)
        log(x[i], x[i.to("meta")], x[:, i])
        x[i] = 0.0
        log(x._version)
        x[i] = s.T.empty((), device="cpu")
        log(x._version)
        log.attempt("values elsewhere", x.index_put_, (i,), s.T.empty(2, 3))
        log(s.ops.aten.index_put.default(x, [i], s.T.empty(2, 3, device="meta")))
        log.attempt("cpu self, cuda index", lambda: s.T.empty(4)[i.to("meta")])


def embeddings(s, log):
    with s.fake.FakeTensorMode():
        w, i = s.T.empty(10, 4, device="cuda"), s.T.empty(3, dtype=s.T.int64, device="cuda")
        log(s.ops.aten.embedding.default(w, i))
        log.attempt("elsewhere", s.ops.aten.embedding.default, w, i.to("cpu"))


def mixed_devices(s, log):
    with s.fake.FakeTensorMode():
        a, b, c = s.T.empty(2, device="cuda:0"), s.T.empty(2, device="cuda:1"), s.T.empty(2)
        for x, y in ((a, b), (a, c), (c, a)):
            log.attempt("add", s.ops.aten.add.Tensor, x, y)
        log.attempt("cat", s.T.cat, [a, c])
        log.attempt("where", s.T.where, a > 0, c, c)
        log.attempt("mm", s.T.mm, s.T.empty(2, 2), s.T.empty(2, 2, device="cuda"))
        log.attempt("add_", a.add_, c)
        log.attempt("add_ meta", a.add_, s.T.empty(2, device="meta"))
        log(a._version)


def foreach_devices(s, log):
    with s.fake.FakeTensorMode():
        xs = [s.T.empty(2, device="cuda"), s.T.empty(3)]
        log(s.ops.aten._foreach_mul.Scalar(xs, 2.0))
        log(s.ops.aten._foreach_add.List(xs, xs))


def several_outputs(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(4, 2, device="cuda")
        log(s.T.split(x, 2), type(s.T.split(x, 2)), s.ops.aten.split.Tensor(x, 3))
        log(tuple(s.T.max(x, 0)), s.T.unbind(x, 1), s.T.chunk(x, 2))
        log(s.ops.aten.var_mean.correction(x, [0]), s.T.topk(x, 1)[1])


def dynamic_shapes(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(3)
        for name, call in {
            "nonzero": lambda: x.nonzero(),
            "mask": lambda: x[x > 0],
            "repeat_interleave": lambda: s.ops.aten.repeat_interleave.Tensor(
                s.T.empty(3, dtype=s.T.int64)
            ),
            "with a size": lambda: s.ops.aten.repeat_interleave.Tensor(
                s.T.empty(3, dtype=s.T.int64), output_size=5
            ),
        }.items():
            log.attempt(name, call)


def data_dependent(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        log.attempt("item", x.sum().item)
        log.attempt("tensor as an int", lambda: s.T.empty(4).narrow(0, x.sum().long(), 1))


def _define(s, name, schema, **kernels):
    lib = s.library.Library(name, "DEF")
    lib.define(schema)
    op = schema.split("(")[0]
    for key, fn in kernels.items():
        lib.impl(op, fn, key)
    return lib, getattr(getattr(s.ops, name), op)


def without_meta_kernel(s, log):
    _lib, op = _define(s, "dfp1", "f(Tensor x) -> Tensor", CPU=lambda x: x.clone())
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        log.attempt("call", op, x)
        try:
            op(x)
        except Exception as e:
            log(type(e), e.func, e.func is op.default, e.__cause__ is None)
    with s.fake.FakeTensorMode(allow_fallback_kernels=False):
        log.attempt("no fallback", op, s.T.empty(2))


def with_meta_kernel(s, log):
    seen = []

    def meta(x):
        seen.append((str(x.device), type(x).__name__, x.fake_mode.in_kernel_invocation))
        return s.T.empty(5, device="meta")

    _lib, op = _define(s, "dfp2", "f(Tensor x) -> Tensor", Meta=meta)
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(2, device="cuda")
        r = op(x)
        log(r, r.fake_mode is m, seen)
        log(m.in_kernel_invocation)
    log(op(x))


def meta_kernel_returns_its_argument(s, log):
    _lib, op = _define(s, "dfp3", "f(Tensor(a) x) -> Tensor(a)", Meta=lambda x: x)
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, device="cuda")
        r = log.attempt("call", op, x)
        log(r is x)


def composite_of_others(s, log):
    seen = []

    def impl(x):
        seen.append((type(x).__name__, str(x.device)))
        return x.sin() + 1

    _lib, op = _define(s, "dfp4", "f(Tensor x) -> Tensor", CompositeImplicitAutograd=impl)
    with s.fake.FakeTensorMode():
        log(op(s.T.empty(2, device="cuda")), seen)
    _lib2, op2 = _define(s, "dfp5", "f(Tensor x) -> Tensor", CompositeExplicitAutograd=impl)
    with s.fake.FakeTensorMode():
        log(op2(s.T.empty(2, device="cuda")), seen)


def fake_kernels(s, log):
    lib, op = _define(s, "dfp6", "f(Tensor x, int n=2) -> Tensor", CPU=lambda x, n=2: x)
    seen = []

    def fake(x, n=2):
        seen.append((type(x).__name__, str(x.device), n))
        return x.new_empty(n)

    s.library.register_fake("dfp6::f", fake, lib=lib)
    with s.fake.FakeTensorMode() as m:
        r = op(s.T.empty(2, device="cuda"), 7)
        log(r, r.fake_mode is m, seen)
        log(op(s.T.empty(2)))
    log(op(s.T.empty(3, device="meta")), seen[-1])


def nothing_returned(s, log):
    _lib, op = _define(s, "dfp7", "f(Tensor(a!) x) -> ()", CPU=lambda x: None)
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        log(op(x), x._version)
    _lib, op = _define(s, "dfp8", "f(Tensor x) -> ()", CPU=lambda x: None)
    with s.fake.FakeTensorMode():
        log.attempt("nothing", op, x)


def data_dependent_tags(s, log):
    lib = s.library.Library("dfp9", "DEF")
    lib.define("f(Tensor x) -> Tensor", tags=(s.T.Tag.dynamic_output_shape,))
    lib.define("g(Tensor x) -> int", tags=(s.T.Tag.data_dependent_output,))
    lib.impl("f", lambda x: x.clone(), "Meta")
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        log.attempt("f", s.ops.dfp9.f, x)
        log.attempt("g", s.ops.dfp9.g, x)


def subclasses_take_their_calls(s, log):
    class Own(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("own", func, [t.__name__ for t in types])
            return "handled"

    o = s.Tensor._make_subclass(Own, s.T.ones(2))
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        log.attempt("size", s.ops.aten._local_scalar_dense.default, o)
        try:
            log(s.ops.aten.add.Tensor(x, o))
        except Exception as e:
            log("raised", type(e).__name__)


def check_for_subclass(s, log):
    class Own(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Plain(s.Tensor):
        pass

    m = s.fake.FakeTensorMode()
    f = m.from_tensor(s.T.ones(2))
    check = s.fake._check_for_subclass
    log(check([1, s.T.ones(2)]), check([f]), check([s.Tensor._make_subclass(Own, s.T.ones(1))]))
    log(check([s.T.ones(1).as_subclass(Plain)]), check([]), s.fake._check_for_subclass_arg(f))


def modes_on_top(s, log):
    class Log(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(func, [t.__name__ for t in types])
            return func(*args, **(kwargs or {}))

    with s.fake.FakeTensorMode(), Log():
        x = s.T.empty(2)
        y = x + 1
        s.T.addmm(s.T.empty(2), s.T.empty(2, 2), s.T.empty(2, 2))
    log(type(y))


def mode_below(s, log):
    class Log(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("saw", func)
            return func(*args, **(kwargs or {}))

    with Log(), s.fake.FakeTensorMode():
        x = s.T.empty(2)
        log(x + 1)


def requires_grad_of_results(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 2, requires_grad=True)
        y = x @ x
        log(y.requires_grad, y.grad_fn is None, y.is_leaf, y.detach().requires_grad)
        with s.T.no_grad():
            log((x * 2).requires_grad)
        log((x > 0).requires_grad, x.view(4).requires_grad)
        log.attempt("leaf", x.add_, 1)


def versions(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        x.add_(1)
        x.mul_(2)
        log(x._version)
        s.ops.aten.add.out(x, x, out=x)
        log(x._version, x.detach()._version)


def shapes_are_checked(s, log):
    with s.fake.FakeTensorMode():
        x, y = s.T.empty(2, 3), s.T.empty(4)
        log.attempt("add", lambda: x + y)
        log.attempt("mm", s.T.mm, x, x)
        log.attempt("view", x.view, 5)
        log.attempt("dim", s.T.sum, x, 7)
        log.attempt("argument", s.T.add, x, "no")
        log.attempt("overload", s.ops.aten.add.Tensor, x, "no")
        log(len(s.modes._get_current_dispatch_mode_stack()))


def sizes_as_operators(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3)[:, 1:]
        for op in (
            s.ops.aten.size.default,
            s.ops.aten.stride.default,
            s.ops.aten.sym_size.default,
            s.ops.aten.numel.default,
            s.ops.aten.sym_numel.default,
            s.ops.prim.device.default,
            s.ops.aten.storage_offset.default,
            s.ops.aten.is_contiguous.default,
            s.ops.aten.dim.default,
        ):
            log.attempt(str(op), op, x)


def resizing(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        x.resize_(4)
        log(x, x.untyped_storage().nbytes(), x._version)
        y = s.T.empty(2, 3)
        y.t_()
        log(y, y._version)
        z = s.T.empty(1, 3)
        z.squeeze_(0)
        log(z)
        w = s.T.empty(3)
        w.set_(x)
        log(w, w.untyped_storage()._cdata == x.untyped_storage()._cdata)


def inference(s, log):
    with s.fake.FakeTensorMode(), s.T.inference_mode():
        x = s.T.empty(2)
        y = x + 1
        log(y, y.is_inference(), x.view(2).is_inference(), x.add_(1) is x)


def views_of_views(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(4, 4)
        for v in (
            x[1],
            x.t(),
            x.unsqueeze(0),
            x.expand(2, 4, 4),
            x.diagonal(),
            x.as_strided((2,), (3,)),
            x.reshape(16),
            x.t().reshape(16),
            x.narrow(0, 1, 2),
            x.flatten(),
            x.squeeze(),
        ):
            log(v, v._is_view(), v._base is x, v.storage_offset())
