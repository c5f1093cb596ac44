"""Small uses of fake tensors: constants written through aliases, conversions, printing."""

import pickle
from typing import Any


def _const(x):
    return x.constant is not None


def constant_aliases(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.tensor([1])
        y = x.expand([4])
        log(_const(x), _const(y))
        y[0] = 1
        log(_const(x), _const(y))
        a = s.T.tensor([4.0])
        b = a[:]
        log(_const(a), _const(b))
        a.add_(s.T.rand([1]))
        log(_const(a), _const(b))


def constants_written_by_random(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.tensor(1.0)
        y = x[None]
        log(_const(x), _const(y))
        x.normal_()
        log(_const(x), _const(y))
        z = s.T.tensor([1.0])
        z.resize_([4])
        log(z, _const(z))


def constants_in_functions(s, log):
    with s.fake.FakeTensorMode():
        y = s.T.tensor(4) // 4
        log(_const(y), y.item())
        x = s.T.tensor([1.0])
        r = s.T.add(x, x, alpha=3)
        log(_const(r), r.item())
        log(_const(s.T.sum(s.T.tensor([2.0]))), s.T.sum(s.T.tensor([2.0])).item())


def int_lists(s, log):
    with s.fake.FakeTensorMode():
        n = s.T.tensor(3)
        log.attempt("view", lambda: s.T.empty(6).view(n, 2))
        log.attempt("size", lambda: s.T.empty(n))
        log.attempt("zeros", lambda: s.T.zeros([n, 2]))


def printing(s, log):
    with s.fake.FakeTensorMode():
        log(str(s.T.rand(2)).startswith("FakeTensor("), str(s.T.empty(1)), f"{s.T.empty(1)}")
        log.attempt("number format", lambda: f"{s.T.empty(()):.2f}")
        log.attempt("known", lambda: f"{s.T.tensor(2.5):.2f}")


def real_printing_in_the_mode(s, log):
    x = s.T.ones(2)
    with s.fake.FakeTensorMode():
        log.attempt("repr", repr, x)


def pickling_reals_in_the_mode(s, log):
    x = s.T.ones(3)
    data = pickle.dumps(x)
    with s.fake.FakeTensorMode(), s.fake.unset_fake_temporarily():
        log(pickle.loads(data))


def converting_back(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2)
    f = m.from_tensor(x)
    with m:
        log.attempt("clone", f.clone)
        log.attempt("cpu", f.cpu)
        log(f.to("cpu") is f, f.detach() is f)


def comparing(s, log):
    with s.fake.FakeTensorMode():
        a, b = s.T.empty(2), s.T.empty(2)
        log(a == b, a < b, (a == 1).dtype)
        log.attempt("truth", bool, a == b)
        log.attempt("in a list", lambda: a in [b])
        log(a in [a])


def numpy_functions(s, log):
    import numpy as np

    with s.fake.FakeTensorMode():
        a = s.T.empty(2)
        log.attempt("asarray", np.asarray, a)
        log.attempt("numpy", a.numpy)
        log.attempt("float", float, s.T.tensor(2.0))


def reduction_keywords(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3, 4)
        log(x.sum(1), x.sum((0, 2), keepdim=True), x.mean(-1, dtype=s.T.float64), x.amax((1,)))
        log(x.argmax(), x.all(), x.any(0), x.prod(2), x.cumsum(1))


def type_promotion(s, log):
    with s.fake.FakeTensorMode():
        i, h, f = s.T.empty(2, dtype=s.T.int32), s.T.empty(2, dtype=s.T.float16), s.T.empty(2)
        log(i + h, i + f, h + f, i / 2, i + 2.5, h + 2.5, i * True, s.T.add(i, 1j))
        log(f + s.T.empty((), dtype=s.T.float64), i + s.T.empty((), dtype=s.T.float64))


def broadcasting(s, log):
    with s.fake.FakeTensorMode():
        a, b = s.T.empty(3, 1, 4), s.T.empty(2, 1)
        log(a + b, s.T.where(a > 0, a, b), a.expand_as(s.T.empty(3, 2, 4)), s.T.maximum(a, b))
        log.attempt("in place", a.add_, b)


def strides_of_results(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3, 4, 5).to(memory_format=s.T.channels_last)
        log(x, x + 1, x.clone(), s.T.empty_like(x), x.contiguous(), x.mul(x.contiguous()))
        t = s.T.empty(3, 4).t()
        log(t + 1, t.clone(), s.T.relu(t), t + s.T.empty(4, 1), t.reshape(12))


def dead_modes(s, log):
    import gc
    import weakref

    m = s.fake.FakeTensorMode()
    x = m.from_tensor(s.T.ones(2))
    ref = weakref.ref(m)
    del m
    gc.collect()
    log(ref() is x.fake_mode, ref() is not None)
    y = x + 1
    log(y.fake_mode is x.fake_mode)
    del x, y
    gc.collect()
    log(ref() is None)


def entering_from_a_tensor(s, log):
    m = s.fake.FakeTensorMode()
    x = m.from_tensor(s.T.ones(2))
    with x.fake_mode:
        log(s.T.empty(3).fake_mode is m)


def private_device_field(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, device="cuda")
    log(x._fake_device, x._nonzero_memo, x._item_memo, x._nested_int_memo)


def factories_with_real_sizes(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3)
        log(s.T.zeros(x.shape), s.T.ones(x.size(0)), s.T.empty((x.shape[1],)), s.T.full(x.shape, 2))
        log(x.new_zeros(x.shape), s.T.arange(x.shape[0]), s.T.zeros(0), s.T.ones(()))


def conversions_of_lists(s, log):
    m = s.fake.FakeTensorMode()
    xs = [s.T.ones(2), s.T.zeros(3)]
    fs = s.pytree.tree_map_only(s.Tensor, m.from_tensor, {"a": xs, "b": (1, xs[0])})
    log(fs["a"][0] is fs["b"][1], fs["b"][0], fs["a"])


def huge_tensors(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(1 << 20, 1 << 20, device="cuda")
        log(x, (x @ x).shape, x.numel(), x.untyped_storage().nbytes())
        log.attempt("too large", s.T.empty, 1 << 40, 1 << 40)
        log.attempt("negative", s.T.empty, -1)


def decorators(s, log):
    m = s.fake.FakeTensorMode()

    def f(x):
        with m:
            return x + s.T.ones(2)

    log(f(m.from_tensor(s.T.ones(2))))
    log(type(s.T.ones(1)))


def fake_and_subclass(s: Any, log: Any) -> None:
    T = s.T

    class W(s.Tensor):
        @staticmethod
        def __new__(cls, inner):
            r = s.Tensor._make_wrapper_subclass(
                cls, inner.shape, dtype=inner.dtype, device=inner.device
            )
            r.inner = inner
            return r

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log(func, [t.__name__ for t in types])
            un = lambda x: x.inner if isinstance(x, cls) else x
            r = func(*s.pytree.tree_map(un, args), **(kwargs or {}))
            return s.pytree.tree_map(lambda x: cls(x) if isinstance(x, s.Tensor) else x, r)

    m = s.fake.FakeTensorMode()
    with m:
        w = W(T.ones(2))
        y = w + 1
        log(type(y).__name__, type(y.inner).__name__)
    log(s.fake.is_fake(y.inner), s.fake.is_fake(T.ones(1)), s.fake.is_fake(y))
    z = y + y.inner
    log(type(z).__name__, type(z.inner).__name__)


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
