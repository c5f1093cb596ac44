"""Fake mode: decompositions and implementations that are registered, data that is set, copies."""

import copy
import pickle


def py_impl_decomposition(s, log):
    op = s.ops.aten.linear.default
    lib = s.library.Library("m3a", "FRAGMENT")
    lib.define("twice(Tensor x) -> Tensor")

    def twice(x):
        log("decomposed", type(x).__name__)
        return x + x

    lib.impl("twice", twice, "CompositeImplicitAutograd")
    with s.fake.FakeTensorMode():
        x = s.T.ones(2)
        log.attempt("lib", s.ops.m3a.twice.default, x)

    def lin(x, w, b=None):
        log("linear by hand")
        return s.ops.aten.mm.default(x, w.t())

    op.py_impl(s.DispatchKey.CompositeImplicitAutograd)(lin)
    with s.fake.FakeTensorMode():
        a, w = s.T.ones(2, 3), s.T.ones(4, 3)
        log.attempt("linear", op, a, w)
    log.attempt("real", op, s.T.ones(2, 3), s.T.ones(4, 3))


def py_impl_on_custom(s, log):
    lib = s.library.Library("m3b", "FRAGMENT")
    lib.define("f(Tensor x) -> Tensor")
    op = s.ops.m3b.f.default

    def f(x):
        log("decomposed", type(x).__name__)
        return x * 2

    op.py_impl(s.DispatchKey.CompositeImplicitAutograd)(f)
    with s.fake.FakeTensorMode():
        log.attempt("f", op, s.T.ones(2))
    lib.define("g(Tensor x) -> Tensor")
    g = s.ops.m3b.g.default

    def g_meta(x):
        log("meta", x.device)
        return s.T.empty(5, device="meta")

    g.py_impl(s.DispatchKey.Meta)(g_meta)
    with s.fake.FakeTensorMode():
        log.attempt("g", g, s.T.ones(2))


def op_impls(s, log):
    if s.name == "torch":
        from torch._subclasses.fake_impls import register_op_impl as reg
    else:
        from dispatch.fake import register_op_impl as reg

    @reg(s.ops.aten.sin.default)
    def _(mode, func, *args, **kwargs):
        log("asked", func, len(args), sorted(kwargs))
        return NotImplemented

    @reg([s.ops.aten.tan.default])
    def _(mode, func, *args, **kwargs):
        log("tan", func)
        with mode:
            return s.T.empty(7)

    @reg(lambda f: f is s.ops.aten.cosh.default)
    def _(mode, func, *args, **kwargs):
        log("by check", func)
        with mode:
            return s.T.empty(9)

    with s.fake.FakeTensorMode():
        x = s.T.ones(2)
        for i in range(2):
            log.attempt("sin", s.T.sin, x)
            log.attempt("tan", s.T.tan, x)
            log.attempt("cosh", s.T.cosh, x)


def copy_data(s, log):
    m = s.fake.FakeTensorMode()
    c = s.fake.FakeTensorConverter(copy_data=True)
    x = s.T.arange(4.0)
    f = c.from_real_tensor(m, x)
    log(f, f.real_tensor is not None)
    log.attempt("real", lambda: f.real_tensor)
    log.attempt("is x", lambda: f.real_tensor is x)
    x.add_(1)
    log.attempt("real after", lambda: f.real_tensor)
    v = c.from_real_tensor(m, x.view(2, 2))
    log(v, v.real_tensor)


def data_ptr(s, log):
    m = s.fake.FakeTensorMode()
    log(m._allow_unsafe_data_ptr_access)
    with m:
        x = s.T.ones(2)
    log(x.data_ptr(), x[1:].data_ptr())
    m._allow_unsafe_data_ptr_access = False
    with m:
        y = s.T.ones(2)
        log.attempt("new", y.data_ptr)
        log.attempt("view", y.view(2, 1).data_ptr)
        log.attempt("from", m.from_tensor(s.T.ones(3)).data_ptr)


def set_data(s, log):
    with s.fake.FakeTensorMode() as m:
        x, y = s.T.ones(2), s.T.ones(3, 4)

        def go(a, b):
            a.data = b

        log.attempt("set", go, x, y)
        log(
            x,
            x._version,
            x.untyped_storage()._cdata == y.untyped_storage()._cdata,
            x.fake_mode is m,
        )
        log(x + x)
        log.attempt("dtype", go, x, s.T.ones(2, dtype=s.T.int64))
        log.attempt("device", go, x, s.T.ones(2, device="cuda"))
        log(x.device, x.fake_device)


def tensor_constructor(s, log):
    with s.fake.FakeTensorMode():
        log.attempt("list", s.Tensor, [1.0])
        log.attempt("sizes", s.Tensor, 2, 3)
        log.attempt("none", s.Tensor)
        log.attempt("size", s.Tensor, s.T.Size([2]))
        log.attempt("nested", s.Tensor, [[1, 2], [3, 4]])
        log.attempt("tensor", s.T.tensor, [1.0, 2.0])
        log.attempt("as_tensor", s.T.as_tensor, [1.0, 2.0])
        log.attempt("other", lambda: s.Tensor(s.T.ones(2)))
        log.attempt("new", lambda: s.T.ones(1).new(2, 2))
        log.attempt("new list", lambda: s.T.ones(1).new([2.0, 2.0]))
        log.attempt("new_tensor", lambda: s.T.ones(1).new_tensor([2.0, 2.0]))
        log.attempt("FloatTensor", s.T.FloatTensor, [1.0])


def deepcopies(s, log):
    with s.fake.FakeTensorMode() as m:
        x = s.T.ones(8)
        a = x[2:4]
        b = x.view(2, 4)[1]
    for where in ("in", "out"):
        if where == "in":
            with m:
                c, d, e = copy.deepcopy([x, a, b])
        else:
            c, d, e = copy.deepcopy([x, a, b])
        for t in (c, d, e):
            log(where, t, t.storage_offset(), t.untyped_storage().nbytes(), t._is_view())
        log(
            c.untyped_storage()._cdata == d.untyped_storage()._cdata,
            d.untyped_storage()._cdata == e.untyped_storage()._cdata,
        )
        with m:
            f = copy.deepcopy(a)
        log(f, f.storage_offset(), f.untyped_storage().nbytes())
    with m:
        g = copy.deepcopy(s.T.ones(2, requires_grad=True))
        log(g, g.is_leaf)
        g2 = copy.deepcopy(s.T.ones(2, device="cuda"))
        log(g2)
        t = s.T.ones(2, 3).t()
        log(copy.deepcopy(t))
    r = s.T.ones(8)
    with m:
        log.attempt("real in mode", copy.deepcopy, r)
        log.attempt("real view", lambda: copy.deepcopy([r, r[2:4]]))


def unpickling(s, log):
    x = s.T.arange(6.0).view(2, 3)
    text = pickle.dumps([x, x[1], x.t()])
    with s.fake.FakeTensorMode() as m:
        try:
            a, b, c = pickle.loads(text)
        except Exception as e:
            log("raises", type(e).__name__)
            return
        log(a, b, c)
        log(b.storage_offset(), b.untyped_storage().nbytes())
        log(a.untyped_storage()._cdata == b.untyped_storage()._cdata)
        log(a + 1, a.fake_mode is m)
