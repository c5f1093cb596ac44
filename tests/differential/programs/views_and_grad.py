"""Views and what autograd knows of them: who requires grad, what may be written in place, versions."""


def _facts(t):
    """requires_grad, is_leaf, _is_view, version, whether there is a grad_fn; or what asking raises."""

    def ask(read):
        try:
            return read()
        except RuntimeError as error:
            return type(error).__name__

    return [
        ask(read)
        for read in (
            lambda: t.requires_grad, lambda: t.is_leaf, t._is_view, lambda: t._version,
            lambda: t.grad_fn is not None,
        )
    ]  # fmt: skip


def _tell(log, label, *tensors):
    log(label, [_facts(t) for t in tensors])


def a_view_requires_grad_when_its_base_does(s, log):
    T = s.T
    a = T.ones(4)
    v, w = a.view(2, 2), a[1:]
    a.requires_grad_()
    _tell(log, "later", a, v, w)
    log.attempt("v * 2", lambda: v * 2)
    log.attempt("v.add_", lambda: v.add_(1))
    _tell(log, "view of a view", v.view(4))
    with T.no_grad():
        q = a.view(2, 2)
    log.attempt("made under no_grad", lambda: q * 2)
    log.attempt("off on the view", lambda: q.requires_grad_(False).requires_grad)
    a.requires_grad_(False)
    _tell(log, "off on the base", a, v, q)
    v = T.ones(4).view(2, 2).requires_grad_()
    v._base.add_(1)
    _tell(log, "leaf view", v, v._base)
    log.attempt("write", lambda: v.add_(1))


def a_write_through_a_view_reaches_its_base(s, log):
    T = s.T
    base = T.ones(4)
    v, w = base.view(2, 2), base[:2]
    v.mul_(T.ones(2, 2, requires_grad=True))
    _tell(log, "through a view", base, v, w)
    base = T.ones(4)
    v, (p, q) = base.view(2, 2), base.split(2)
    base.mul_(T.ones(4, requires_grad=True))
    _tell(log, "to the base", base, v, p, q)


def writes_that_autograd_cannot_follow(s, log):
    T = s.T
    base = T.ones(4, 4)
    with T.no_grad():
        v = base.view(16)
    w = v.view(4, 4)
    for label, t in (("made under no_grad", v), ("view of it", w)):
        log.attempt(label, lambda t=t: t.mul_(T.ones(1, requires_grad=True)))
        log.attempt(label, lambda t=t: t.mul_(2))
    base.mul_(T.ones(4, 4, requires_grad=True))
    _tell(log, "base written", base, v, w)
    for name in ("split", "chunk", "tensor_split", "hsplit", "unsafe_split", "unsafe_chunk"):
        b = T.ones(4, 4, requires_grad=True) * 1
        first, second = getattr(T, name)(b, 2)
        log.attempt(name, lambda t=first: t.mul_(2))
        log.attempt(name, lambda t=second: t[0].mul_(2))
        with T.no_grad():
            log.attempt(name, lambda t=second: t.mul_(2))
        _tell(log, name, first, second)
        log.attempt(name, lambda t=first: t.detach_())
    log.attempt("unbind", lambda: (T.ones(4, requires_grad=True) * 1).unbind()[0].add_(1))
    log.attempt("plain split", lambda: T.ones(4).split(2)[0].add_(1))


def inference_mode_and_views(s, log):
    T = s.T
    n, r = T.ones(4), T.ones(4, requires_grad=True)
    with T.inference_mode():
        i = T.ones(4)
        nv, rv = n.view(2, 2), r.view(2, 2)
        _tell(log, "inside", i, nv, rv)
        log.attempt("rv.add_", lambda: rv.add_(1))
        c, d = n.split(2)
    _tell(log, "outside", i, nv, rv)
    for label, t in (("nv", nv), ("rv", rv), ("c", c)):
        log.attempt(label, lambda t=t: t.add_(1))
        log.attempt(label, lambda t=t: t.mul_(T.ones(1, requires_grad=True)))
    log.attempt("i.detach_", lambda: i.detach_())
    log.attempt("i.resize_", lambda: i.resize_(2))


def other_types_are_no_views(s, log):
    T = s.T
    for x, dtype in (
        (T.ones(4), T.int32), (T.ones(4), T.float32), (T.ones(4, dtype=T.int64), T.float64),
        (T.ones(4, requires_grad=True), T.float32),
    ):  # fmt: skip
        for on in (True, False):
            with T.set_grad_enabled(on):
                y = x.view(dtype)
            log(y._is_view(), y._base is None, y._version, y.requires_grad, y.is_leaf)
    x = T.ones(4)
    y = x.view(T.int32)
    x.add_(1)
    log(x._version, y._version)
    log(T.ones(4, dtype=T.int64).view(2, 2)._is_view(), T.view_as_complex(T.ones(4, 2))._is_view())


def versions(s, log):
    T = s.T
    a = T.ones(4)
    for label, write in (
        ("detach_", lambda: a.detach_()), ("resize_ same", lambda: a.resize_(4)),
        ("resize_ other", lambda: a.resize_(2, 2)), ("set_", lambda: a.set_(T.ones(4))),
        ("zero_", lambda: a.zero_()), ("data.add_", lambda: a.data.add_(1)),
        ("detach().add_", lambda: a.detach().add_(1)),
    ):  # fmt: skip
        write()
        log(label, a._version)
    log.attempt("detach_ of a view", lambda: T.ones(4).view(2, 2).detach_())
    log.attempt("set on a result", lambda: setattr(a.requires_grad_() * 1, "requires_grad", True))
    log.attempt("requires_grad_", lambda: (a * 1).requires_grad_().requires_grad)


def tensors_of_tensors(s, log):
    T = s.T

    class D(s.Tensor):
        pass

    for a in (T.ones(2), T.ones(2, requires_grad=True)):
        for made in (D(a), s.Tensor(a), a.as_subclass(D)):
            log(type(made), made._base is a, made is a)
            _tell(log, "made", made)
            with T.no_grad():
                a.add_(1)
            log(a._version, made._version)
