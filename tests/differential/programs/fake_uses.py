"""Small uses of fake tensors: constants written through aliases, conversions, printing."""

import pickle


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
