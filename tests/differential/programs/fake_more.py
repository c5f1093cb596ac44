"""Fake tensors as programs use them: models, loops, caches, views, custom operators, modes."""

import weakref


def small_model(s, log):
    def model(x, w, b):
        h = s.T.relu(x @ w + b)
        return s.T.softmax(h, dim=-1).sum(0)

    with s.fake.FakeTensorMode() as m:
        r = model(s.T.empty(8, 4), s.T.empty(4, 3), s.T.empty(3))
        log(r, r.fake_mode is m)
        r = model(
            s.T.empty(8, 4, device="cuda"),
            s.T.empty(4, 3, device="cuda"),
            s.T.empty(3, device="cuda"),
        )
        log(r)
    x, w, b = s.T.ones(2, 4), s.T.ones(4, 3), s.T.ones(3)
    log(model(*(m.from_tensor(t) for t in (x, w, b))))


def cache_counters(s, log):
    F = s.fake.FakeTensorMode
    F.cache_clear()
    with F() as m:
        x = s.T.empty(2, 3)
        F.cache_clear()
        x + x
        first = F.cache_info()
        x + x
        second = F.cache_info()
        log(first.hits, first.misses, second.hits, second.misses)
        m.cache_clear()
        log(m.cache_info().hits, m.cache_info().size)


def cached_results_are_new(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3)
        a, b = x + 1, x + 1
        log(a is b, a.untyped_storage()._cdata == b.untyped_storage()._cdata)
        v, w = x.view(6), x.view(6)
        log(v is w, v.untyped_storage()._cdata == w.untyped_storage()._cdata, w._base is x)
        log(x.add_(1) is x, x.add_(1) is x, x._version)


def changing_between_calls(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3)
        log(x + 1)
        x.resize_(4, 5)
        log(x + 1)
        x.t_()
        log(x + 1, x.is_contiguous())
        x.requires_grad_(True)
        log(x + 1)


def zero_dim_arguments(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, dtype=s.T.int64)
        log(x + 1.5, x + s.T.tensor(1.5), x * True, x + s.T.empty(()), 2 - x, x / 2)


def out_variants(s, log):
    with s.fake.FakeTensorMode():
        x, out = s.T.empty(2, 3), s.T.empty(0)
        r = s.T.add(x, x, out=out)
        log(r is out, out)
        log.attempt("other dtype", lambda: s.T.add(x, x, out=s.T.empty(2, 3, dtype=s.T.int64)))
        log.attempt("other device", lambda: s.T.add(x, x, out=s.T.empty(2, 3, device="cuda")))


def custom_operator(s, log):
    seen = []

    @s.library.custom_op("dfx1::scale", mutates_args=())
    def scale(x: s.Tensor, k: float) -> s.Tensor:
        seen.append("real")
        return x * k

    @scale.register_fake
    def _(x, k):
        seen.append(type(x).__name__)
        return s.T.empty_like(x)

    with s.fake.FakeTensorMode():
        log(scale(s.T.empty(2, device="cuda"), 2.0), seen)
    log(scale(s.T.ones(2), 3.0), seen)


def custom_operator_without_fake(s, log):
    @s.library.custom_op("dfx2::twice", mutates_args=())
    def twice(x: s.Tensor) -> s.Tensor:
        return x * 2

    with s.fake.FakeTensorMode():
        log.attempt("no fake", twice, s.T.empty(2))

    @s.library.custom_op("dfx2::write", mutates_args=("x",))
    def write(x: s.Tensor) -> None:
        x.zero_()

    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        log.attempt("mutable", write, x)
        log(x._version)


def fake_kernels_and_contexts(s, log):
    lib = s.library.Library("dfx3", "DEF")
    lib.define("pick(Tensor x) -> Tensor")
    lib.impl("pick", lambda x: x[x > 0], "CPU")

    def fake(x):
        ctx = s.library.get_ctx()
        return x.new_empty(ctx.new_dynamic_size())

    s.library.register_fake("dfx3::pick", fake, lib=lib)
    with s.fake.FakeTensorMode():
        log.attempt("dynamic", s.ops.dfx3.pick, s.T.empty(3))
    log.attempt("outside", s.library.get_ctx)


def fake_kernel_with_wrong_device(s, log):
    lib = s.library.Library("dfx4", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    s.library.register_fake("dfx4::f", lambda x: s.T.empty(2, device="cpu"), lib=lib)
    with s.fake.FakeTensorMode():
        log(s.ops.dfx4.f(s.T.empty(2, device="cuda")))


def fake_kernel_that_raises(s, log):
    lib = s.library.Library("dfx5", "DEF")
    lib.define("f(Tensor x) -> Tensor")

    def fake(x):
        raise KeyError("x")

    s.library.register_fake("dfx5::f", fake, lib=lib)
    with s.fake.FakeTensorMode() as m:
        log.attempt("call", s.ops.dfx5.f, s.T.empty(2))
        log(s.T.empty(1).fake_mode is m, len(s.modes._get_current_dispatch_mode_stack()))


def mode_order(s, log):
    class Log(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(func, type(args[0]).__name__ if args else None)
            r = func(*args, **(kwargs or {}))
            log(type(r).__name__)
            return r

    with Log(), s.fake.FakeTensorMode():
        s.T.empty(2) + 1
    with s.fake.FakeTensorMode(), Log():
        s.T.empty(2) + 1
    log([type(m).__name__ for m in s.modes._get_current_dispatch_mode_stack()])


def stack_of_modes(s, log):
    class Log(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with Log(), s.fake.FakeTensorMode(), Log():
        names = [type(m).__name__ for m in s.modes._get_current_dispatch_mode_stack()]
        log(names, type(s.modes._get_current_dispatch_mode()).__name__)
        with s.modes._disable_current_modes():
            log(type(s.T.empty(1)).__name__)
        log(type(s.T.empty(1)).__name__)


def subclass_over_fakes(s, log):
    class Wrap(s.Tensor):
        @staticmethod
        def __new__(cls, a):
            return s.Tensor._make_wrapper_subclass(cls, a.size(), dtype=a.dtype, device=a.device)

        def __init__(self, a):
            self.a = a

        def __repr__(self):
            return "Wrap"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log(func, sorted(t.__name__ for t in types))
            inner = [x.a if isinstance(x, Wrap) else x for x in args]
            return Wrap(func(*inner, **(kwargs or {})))

    with s.fake.FakeTensorMode():
        w = Wrap(s.T.empty(2, 3, device="cuda"))
        r = w + 1
        log(type(r), type(r.a), r.device, r.a)
    r = w * w
    log(type(r), r.a)
    log(s.fake.is_fake(r))


def returned_lists_and_none(s, log):
    lib = s.library.Library("dfx6", "DEF")
    lib.define("f(Tensor x) -> Tensor[]")
    lib.define("g(Tensor x) -> (Tensor, int)")
    lib.define("h(Tensor x) -> Tensor?")
    lib.impl("f", lambda x: [s.T.empty(1, device="meta"), s.T.empty(2, device="meta")], "Meta")
    lib.impl("g", lambda x: (s.T.empty(3, device="meta"), 7), "Meta")
    lib.impl("h", lambda x: None, "Meta")
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, device="cuda")
        log(s.ops.dfx6.f(x), s.ops.dfx6.g(x))
        log.attempt("None", s.ops.dfx6.h, x)


def operator_of_ints(s, log):
    lib = s.library.Library("dfx8", "DEF")
    lib.define("make(int n, *, Device? device=None) -> Tensor")
    lib.impl(
        "make", lambda n, device=None: s.T.empty(n, device=device), "CompositeExplicitAutograd"
    )
    lib.define("count(int n) -> int")
    lib.impl("count", lambda n: n + 1, "CompositeExplicitAutograd")
    with s.fake.FakeTensorMode():
        log.attempt("make", s.ops.dfx8.make, 3)
        log.attempt("make there", lambda: s.ops.dfx8.make(3, device="cuda"))
        log.attempt("count", s.ops.dfx8.count, 3)


def lifetimes(s, log):
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(2)
        v = x.view(2, 1)
        dead = weakref.ref(x)
        del x
        log(dead() is None, v._base is dead())
        del v
        log(dead() is None)
        y = s.T.empty(2) + 1
        dead = weakref.ref(y)
        del y
        log(dead() is None)
    log(len(m.enter_stack))


def to_and_from_real(s, log):
    m = s.fake.FakeTensorMode()
    state = {"w": s.T.ones(2, 3), "b": s.T.zeros(2)}
    state["tied"] = state["w"]
    fakes = {k: m.from_tensor(v) for k, v in state.items()}
    log(fakes["tied"] is fakes["w"], fakes)
    with m:
        r = s.ops.aten.addmm.default(fakes["b"], s.T.empty(5, 3), fakes["w"].t())
    log(r)


def autograd_flags(s, log):
    with s.fake.FakeTensorMode():
        w = s.T.empty(2, 2, requires_grad=True)
        y = (w * 2).sum()
        log(y.requires_grad, y.grad_fn is not None, y.is_leaf, w.grad)
        z = y.detach()
        log(z.requires_grad, z.is_leaf, z._version)
        with s.T.no_grad():
            w.add_(1)
        log(w._version, w.requires_grad)


def set_data_and_shares(s, log):
    with s.fake.FakeTensorMode():
        x, y = s.T.empty(4), s.T.empty(2, 2)
        y.set_(x.untyped_storage(), 1, (2,), (1,))
        log(
            y,
            y.storage_offset(),
            y.device,
            y.untyped_storage()._cdata == x.untyped_storage()._cdata,
        )
        x.untyped_storage().resize_(0)
        log(x.untyped_storage().nbytes(), x)


def fused_and_batched(s, log):
    with s.fake.FakeTensorMode():
        q = s.T.empty(2, 4, 8, 16)
        log(s.T.matmul(q, q.transpose(-1, -2)), s.T.bmm(q[0], q[0].transpose(1, 2)))
        log(
            s.ops.aten.convolution.default(
                s.T.empty(1, 3, 8, 8),
                s.T.empty(5, 3, 3, 3),
                None,
                [1, 1],
                [0, 0],
                [1, 1],
                False,
                [0, 0],
                1,
            )
        )
        log(s.T.layer_norm(q, (16,)), s.T.cat([q, q], 1), s.T.stack([q[0], q[1]]))


def tensor_methods(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3, device="cuda")
        log(x.size(), tuple(x.shape), x.numel(), x.nelement(), x.element_size())
        log(x.sum(), x.mean(dim=0), x.max(), x.argmax(1), x.std(), x.abs().sqrt())
        log(x.float(), x.half(), x.int(), x.bool(), x.clone().contiguous())
        log(x.unsqueeze(0).squeeze(0), x.permute(1, 0), x.repeat(2, 2), x.expand(4, 2, 3))
        log(x.type(s.T.float64) if hasattr(x, "type") else None, x.new_empty((1,)))


def inference_mode_operators(s, log):
    m = s.fake.FakeTensorMode()
    lib = s.library.Library("dfx9", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    seen = []

    def impl(x):
        seen.append((type(x).__name__, str(x.device)))
        return x + 1

    lib.impl("f", impl, "CompositeImplicitAutograd")
    with m, s.T.inference_mode():
        log(s.ops.dfx9.f(s.T.empty(2, device="cuda")), seen)
