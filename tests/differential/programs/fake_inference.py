"""Inference mode and fake tensors: which results are inference tensors, views, leaves; versions; whole layers."""


def _facts(log, label, t):
    log(label, t, t.is_inference(), t._is_view(), t._base is None, t.is_leaf, t.requires_grad)


def views_of_normal_fakes(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.ones(4)
        p = s.T.ones(2, 3)
    for again in range(2):
        log("round", again)
        with s.T.inference_mode():
            _facts(log, "view", x.view(2, 2))
            _facts(log, "detach", x.detach())
            _facts(log, "reshape", x.reshape(2, 2))
            _facts(log, "slice", x[1:])
            _facts(log, "t", p.t())
            _facts(log, "expand", x.expand(3, 4))
            for part in x.split(2):
                _facts(log, "split", part)
            for part in p.unbind(0):
                _facts(log, "unbind", part)
            _facts(log, "alias", s.ops.aten.alias.default(x))
            _facts(log, "as_strided", x.as_strided((2,), (2,)))
            _facts(log, "view_as", x.view_as(x))
            _facts(log, "contiguous", x.contiguous())
            _facts(log, "to", x.to(s.T.float32))
            _facts(log, "to f64", x.to(s.T.float64))
            _facts(log, "clone", x.clone())
            _facts(log, "add", x + 1)


def views_under_both(s, log):
    with s.fake.FakeTensorMode() as m, s.T.inference_mode():
        for again in range(2):
            log("round", again)
            x = s.T.ones(4)
            _facts(log, "made", x)
            _facts(log, "view", x.view(2, 2))
            _facts(log, "detach", x.detach())
            _facts(log, "reshape", x.reshape(2, 2))
            _facts(log, "add_", x.add_(1))
            _facts(log, "alias", s.ops.aten.alias.default(x))
            y = m.from_tensor(s.T.ones(2, 2))
            _facts(log, "converted", y)
            _facts(log, "its view", y.t())


def inference_fakes_outside(s, log):
    with s.fake.FakeTensorMode(), s.T.inference_mode():
        x = s.T.ones(4)
    for again in range(2):
        log("round", again)
        _facts(log, "view", x.view(2, 2))
        _facts(log, "detach", x.detach())
        _facts(log, "reshape", x.reshape(2, 2))
        _facts(log, "clone", x.clone())
        _facts(log, "add", x + 1)
        _facts(log, "alias", s.ops.aten.alias.default(x))
        log.attempt("in place", x.add_, 1)
        log.attempt("version", lambda: x._version)
        log.attempt("requires grad", x.requires_grad_)


def converted_in_inference_mode(s, log):
    m = s.fake.FakeTensorMode()
    real = s.T.ones(4)
    with s.T.inference_mode():
        made = s.T.ones(4)
    _facts(log, "normal", m.from_tensor(real))
    _facts(log, "inference", m.from_tensor(made))
    with s.T.inference_mode():
        n = s.fake.FakeTensorMode()
        _facts(log, "normal", n.from_tensor(real))
        _facts(log, "inference", n.from_tensor(made))
        _facts(log, "view of inference", n.from_tensor(made.view(2, 2)))
        _facts(log, "view of normal", n.from_tensor(real.view(2, 2)))


def in_place_on_normal_fakes(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.ones(4)
        v = x.view(2, 2)
    for again in range(2):
        with s.T.inference_mode():
            _facts(log, "add_", x.add_(1))
            _facts(log, "view's", v.mul_(2))
            w = x[1:]
            _facts(log, "view", w)
            _facts(log, "of view", w.zero_())
            _facts(log, "out", s.T.add(x, 1, out=x))
        log("versions", x._version, v._version, w._version)
    log.attempt("view after", w.add_, 1)
    _facts(log, "w", w)


def layers(s, log):
    with s.fake.FakeTensorMode():
        x, w, b = (
            s.T.ones(2, 3, 4),
            s.T.ones(5, 4, requires_grad=True),
            s.T.ones(5, requires_grad=True),
        )
    for again in range(2):
        with s.T.inference_mode():
            y = s.ops.aten.linear.default(x, w, b)
            _facts(log, "linear", y)
            z = s.ops.aten.matmul.default(y, w)
            _facts(log, "matmul", z)
            _facts(log, "transpose", y.transpose(1, 2))
            _facts(log, "flatten", y.flatten(1))
            _facts(log, "softmax", y.softmax(-1))
            q = y.view(2, 3, 1, 5).transpose(1, 2)
            _facts(log, "heads", q)
            _facts(log, "attention", s.ops.aten.scaled_dot_product_attention.default(q, q, q))
            _facts(log, "layer_norm", s.ops.aten.layer_norm.default(x, [4]))


def functionalized_views(s, log):
    F = s.functional.functionalize

    def f(x):
        y = x.view(2, 2)
        _facts(log, "view", y)
        y.add_(1)
        _facts(log, "written", y)
        _facts(log, "view of the written", y.t())
        return x * y.reshape(4)

    x = s.T.ones(4)
    with s.T.inference_mode():
        for remove in ("mutations", "mutations_and_views"):
            log.attempt(remove, F(f, remove=remove), x.clone())
            log.attempt(remove + " of a normal one", F(f, remove=remove), x)
    log(x)


def functionalized_fakes(s, log):
    F = s.functional.functionalize

    def f(x):
        y = x.view(2, 2)
        y.add_(1)
        return y.t(), x.detach()

    with s.fake.FakeTensorMode():
        x = s.T.ones(4)
        for remove in ("mutations", "mutations_and_views"):
            log.attempt(remove, F(f, remove=remove), x)
            with s.T.inference_mode():
                log.attempt("inference " + remove, F(f, remove=remove), x)


def wrappers_and_modes(s, log):
    class Echo(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with s.fake.FakeTensorMode():
        x = s.T.ones(4)
        with s.T.inference_mode(), Echo():
            _facts(log, "view", x.view(2, 2))
            _facts(log, "add", x + 1)
            _facts(log, "detach", x.detach())
    r = s.T.ones(4)
    with s.T.inference_mode(), Echo():
        _facts(log, "real view", r.view(2, 2))
        _facts(log, "real detach", r.detach())
        _facts(log, "real add", r + 1)
        _facts(log, "real as_strided", r.as_strided((2,), (2,)))


def normal_mode_within(s, log):
    with s.fake.FakeTensorMode(), s.T.inference_mode():
        x = s.T.ones(4)
        with s.T.inference_mode(False):
            y = s.T.ones(4)
            _facts(log, "normal", y)
            _facts(log, "view", y.view(2, 2))
            _facts(log, "inference", x.view(2, 2))
            _facts(log, "sum of both", x + y)
        _facts(log, "later", y.view(2, 2))


def deep_copies_and_data(s, log):
    import copy

    with s.fake.FakeTensorMode():
        x = s.T.ones(4)
        with s.T.inference_mode():
            _facts(log, "data", x.data)
            _facts(log, "deep", copy.deepcopy(x))


def keys(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.ones(4)
    with s.T.inference_mode():
        log(s.C._dispatch_keys(x.view(2, 2)))
        log(s.C._dispatch_keys(x.detach()))
        log(s.C._dispatch_keys(x + 1))
        log(s.C._dispatch_keys((x + 1).view(2, 2)))
        log(s.C._dispatch_keys(x.data))
