"""Views, versions, in-place writes, out=, overlapping memory."""


def versions(s, log):
    T = s.T
    x = T.zeros(4)
    log(x._version)
    x.add_(1)
    log(x._version)
    v = x[:2]
    v.mul_(2)
    log(x._version, v._version, x)
    d = x.detach()
    d.add_(1)
    log(x._version, d._version, x)
    w = x.data
    w.add_(1)
    log(x._version, w._version, x)
    T.add(x, 1, out=x)
    log(x._version)
    x.copy_(T.ones(4))
    x.fill_(2)
    x.zero_()
    x[0] = 1
    x[:] = 2
    log(x._version)
    with T.no_grad():
        x.add_(1)
        log(x._version, x.view(4)._version)
    x += 1
    log(x._version)
    log.attempt("failed", lambda: x.add_(T.ones(7)))
    log(x._version)
    log.attempt("set", lambda: setattr(x, "_version", 3))
    y = x.clone()
    log(y._version)
    x.t_() if x.ndim == 2 else x.unsqueeze_(0)
    log(x._version, x.shape)
    x.squeeze_()
    log(x._version, x.shape)


def bases(s, log):
    T = s.T
    x = T.zeros(2, 3)
    v = x.view(3, 2)
    w = v[0]
    log(x._base is None, v._base is x, w._base is x, x._is_view(), v._is_view(), w._is_view())
    for label, f in (
        ("t", lambda: x.t()), ("transpose", lambda: x.transpose(0, 1)), ("slice", lambda: x[0:1]), ("select", lambda: x[0]), ("expand", lambda: x.expand(2, 2, 3)), ("unsqueeze", lambda: x.unsqueeze(0)), ("squeeze", lambda: x.squeeze()),
        ("reshape", lambda: x.reshape(6)), ("reshape copy", lambda: x.t().reshape(6)), ("flatten", lambda: x.flatten()), ("contiguous", lambda: x.contiguous()), ("detach", lambda: x.detach()), ("alias", lambda: s.ops.aten.alias(x)),
        ("clone", lambda: x.clone()), ("to", lambda: x.to(T.float32)), ("chunk", lambda: x.chunk(2)[0]), ("split", lambda: x.split(1)[1]), ("unbind", lambda: x.unbind()[0]), ("diagonal", lambda: x.diagonal()),
        ("as_strided", lambda: x.as_strided((2,), (1,))), ("narrow", lambda: x.narrow(0, 0, 1)), ("permute", lambda: x.permute(1, 0)), ("index", lambda: x[[0]]), ("ellipsis", lambda: x[...]), ("colon", lambda: x[:]), ("None", lambda: x[None]),
        ("data", lambda: x.data), ("T", lambda: x.T), ("real", lambda: x.real), ("view_as", lambda: x.view_as(x)), ("movedim", lambda: x.movedim(0, 1)), ("expand_as", lambda: x.expand_as(x)), ("swapaxes", lambda: x.swapaxes(0, 1)), ("ravel", lambda: x.ravel()), ("_unsafe_view", lambda: s.ops.aten._unsafe_view(x, [6])),
        ("unfold", lambda: x.unfold(0, 1, 1)), ("reshape same", lambda: x.reshape(2, 3)), ("squeeze dim", lambda: x.squeeze(0)), ("positive", lambda: +x), ("mT", lambda: x.mT), ("conj", lambda: x.conj()),
    ):  # fmt: skip
        r = log.attempt(label, f)
        if r is not None:
            log(label, r is x, r._is_view(), r._base is x, r.data_ptr() == x.data_ptr(), r._version)


def views_share_writes(s, log):
    T = s.T
    x = T.arange(6).view(2, 3)
    a, b = x.t(), x[:, 1]
    a[0, 0] = 10
    b.fill_(7)
    log(x, a, b, x._version, x._base is not None)
    c = x.chunk(3, 1)
    c[0].zero_()
    log(x, [v._version for v in c])
    u = x.unbind()
    u[1].add_(1)
    log(x)
    with T.no_grad():
        n = x[0]
    log(n._is_view(), n._base is x._base)
    n.add_(1)
    log(x._version, n._version)


def in_place_on_views_below_autograd(s, log):
    T = s.T
    x = T.zeros(4)
    with s.C._AutoDispatchBelowADInplaceOrView():
        v = x.view(2, 2)
        v.add_(1)
        log(v._is_view(), v._base is None, x._version, v._version)
    v.add_(1)
    log(x, x._version, v._version)
    with s.C._AutoDispatchBelowAutograd():
        w = x.view(2, 2)
        w.add_(1)
        log(w._is_view(), x._version)


def out_arguments(s, log):
    T = s.T
    a, b = T.ones(2, 3), T.full((2, 3), 2.0)
    o = T.zeros(2, 3)
    log(T.add(a, b, out=o) is o, o, o._version)
    import warnings

    for label, make in (
        ("empty", lambda: T.empty(0)), ("other size", lambda: T.zeros(5)), ("same numel", lambda: T.zeros(6)), ("float64", lambda: T.zeros(2, 3, dtype=T.float64)), ("complex", lambda: T.zeros(2, 3, dtype=T.complex64)),
        ("strided", lambda: T.zeros(3, 2).t()), ("view", lambda: T.zeros(3, 3)[1:]), ("expanded", lambda: T.zeros(1, 3).expand(2, 3)), ("none", lambda: None), ("list", lambda: [1]), ("tuple", lambda: (T.zeros(2, 3),)), ("half", lambda: T.zeros(2, 3, dtype=T.float16)),
        ("transposed size", lambda: T.zeros(3, 2)), ("bigger", lambda: T.zeros(3, 3)),
    ):  # fmt: skip
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            log.attempt(label, lambda: T.add(a, b, out=make()))
            log.attempt(label + " ops", lambda: s.ops.aten.add.out(a, b, out=make()))
            log.attempt(label + " sum", lambda: T.sum(a, 1, out=make()))
            log.attempt(label + " mm", lambda: T.mm(a, b.t(), out=make()))
            log.attempt(label + " cat", lambda: T.cat([a, b], out=make()))
            log.attempt(label + " eq", lambda: T.eq(a, b, out=make()))


def out_of_several(s, log):
    T = s.T
    x = T.tensor([[3.0, 1.0], [2.0, 5.0]])
    v, i = T.empty(0), T.empty(0, dtype=T.int64)
    r = T.max(x, 1, out=(v, i))
    log(r[0] is v, r[1] is i, v, i, type(r).__name__)
    log.attempt("wrong dtype", lambda: tuple(T.max(x, 1, out=(T.empty(0), T.empty(0)))))
    log.attempt("one", lambda: tuple(T.max(x, 1, out=v)))
    log.attempt("list", lambda: tuple(T.max(x, 1, out=[v, i])))
    log.attempt("ops", lambda: tuple(s.ops.aten.max.dim_max(x, 1, max=v, max_values=i)))
    log.attempt("sort", lambda: tuple(T.sort(x, out=(T.empty(0), T.empty(0, dtype=T.int64)))))
    log.attempt("topk", lambda: tuple(T.topk(x, 1, out=(T.empty(0), T.empty(0, dtype=T.int64)))))
    log.attempt("named", lambda: (x.max(1).values, x.max(1).indices, x.sort().indices, x.max(1)[0]))
    log.attempt("named repr", lambda: str(x.max(1)).replace("torch", "dispatch").replace("\n", ""))
    log.attempt(
        "type",
        lambda: (
            type(x.max(1)).__name__,
            type(s.ops.aten.max.dim(x, 1)).__name__,
            isinstance(x.max(1), tuple),
        ),
    )


def overlapping_writes(s, log):
    T = s.T
    for label, f in (
        ("expanded add_", lambda: T.zeros(1).expand(3).add_(1)), ("expanded fill_", lambda: T.zeros(1).expand(3).fill_(1)), ("expanded copy_", lambda: T.zeros(1).expand(3).copy_(T.ones(3))), ("expanded zero_", lambda: T.ones(1).expand(3).zero_()), ("expanded mul_", lambda: T.ones(1).expand(3).mul_(2)), ("expanded abs_", lambda: T.ones(1).expand(3).abs_()),
        ("expanded setitem", lambda: T.ones(1).expand(3).__setitem__(0, 2.0)), ("expanded masked", lambda: T.ones(1).expand(3).masked_fill_(T.tensor([True, False, True]), 2)), ("expanded index_put", lambda: T.ones(1).expand(3).index_put_((T.tensor([0]),), T.tensor(2.0))),
        ("overlapping strides", lambda: T.zeros(4).as_strided((3, 2), (1, 1)).add_(1)), ("overlapping strides copy", lambda: T.zeros(4).as_strided((3, 2), (1, 1)).copy_(T.ones(3, 2))), ("expanded clamp_", lambda: T.ones(1).expand(2).clamp_(0, 1)), ("expanded relu_", lambda: T.ones(1).expand(2).relu_()), ("expanded uniform_", lambda: T.ones(1).expand(2).uniform_()),
        ("expanded scatter_", lambda: T.ones(1).expand(2).scatter_(0, T.tensor([0]), 1.0)), ("expanded bool", lambda: T.ones(1).expand(2).logical_not_()), ("expanded lt_", lambda: T.ones(1).expand(2).lt_(1)), ("expanded div_", lambda: T.ones(1).expand(2).div_(1)), ("expanded pow_", lambda: T.ones(1).expand(2).pow_(2)),
        ("expanded size 1", lambda: T.zeros(1).expand(1).add_(1)), ("expanded 0", lambda: T.zeros(1).expand(0).add_(1)),
    ):  # fmt: skip
        log.attempt(label, f)


def partly_overlapping_arguments(s, log):
    T = s.T

    def x():
        return T.arange(6.0)

    def run(f):
        t = x()
        r = f(t)
        return r, t

    for label, f in (
        ("add shifted out", lambda t: T.add(t[:-1], 1, out=t[1:])), ("add self out", lambda t: T.add(t, 1, out=t)), ("add_ shifted", lambda t: t[1:].add_(t[:-1])), ("add_ same view", lambda t: t[1:].add_(t[1:])), ("add_ self", lambda t: t.add_(t)), ("mul_ shifted", lambda t: t[1:].mul_(t[:-1])),
        ("add_ apart", lambda t: t[3:].add_(t[:3])), ("copy_ shifted", lambda t: t[1:].copy_(t[:-1])), ("copy_ same", lambda t: t.copy_(t)), ("setitem shifted", lambda t: t.__setitem__(slice(1, None), t[:-1])),
        ("out is other", lambda t: T.sub(T.ones(6), t, out=t)), ("neg self", lambda t: T.neg(t, out=t)), ("transposed add_", lambda t: t[:4].view(2, 2).add_(t[:4].view(2, 2).t())), ("transposed out", lambda t: T.add(t[:4].view(2, 2).t(), 0, out=t[:4].view(2, 2))),
        ("reshaped add_", lambda t: t.view(2, 3).add_(t.view(2, 3))), ("broadcast 0-d", lambda t: t.add_(t[0])), ("broadcast row", lambda t: t.view(2, 3).add_(t[:3])), ("cat out", lambda t: T.cat([t[:3], t[:3]], out=t)),
        ("where out", lambda t: T.where(t[:-1] > 1, t[:-1], 0, out=t[1:])), ("addcmul_", lambda t: t[1:].addcmul_(t[:-1], t[:-1])), ("lt out", lambda t: T.lt(t[:-1], 3, out=t[1:])), ("cumsum out", lambda t: T.cumsum(t, 0, out=t)), ("index out", lambda t: T.index_select(t, 0, T.tensor([1, 0]), out=t[:2])),
        ("masked_fill_", lambda t: t.masked_fill_(t > 2, 0)), ("maximum out", lambda t: T.maximum(t[:-1], t[1:], out=t[1:])), ("float into int view", lambda t: t.view(T.int32)[1:].add_(t.view(T.int32)[:-1])), ("relu_ ", lambda t: t[1:].relu_()), ("div_ shifted", lambda t: t[1:].div_(t[:-1])), ("sqrt out shifted", lambda t: T.sqrt(t[:-1], out=t[1:])),
        ("eq_ shifted", lambda t: t[1:].eq_(t[:-1])), ("pow_ shifted", lambda t: t[1:].pow_(t[:-1])), ("fmod shifted", lambda t: t[1:].remainder_(t[:-1])), ("gather out", lambda t: T.gather(t, 0, T.tensor([1, 0]), out=t[:2])), ("softmax out", lambda t: T.softmax(t, 0, out=t)),
    ):  # fmt: skip
        log.attempt(label, run, f)


def in_place_types(s, log):
    T = s.T
    for label, f in (
        ("int add_ float", lambda: T.tensor([1]).add_(1.5)), ("int div_ int", lambda: T.tensor([4]).div_(2)), ("int div_ floor", lambda: T.tensor([5]).div_(2, rounding_mode="floor")), ("bool add_ int", lambda: T.tensor([True]).add_(1)), ("u8 add_ 300", lambda: T.tensor([1], dtype=T.uint8).add_(300)), ("f32 add_ f64", lambda: T.ones(1).add_(T.ones(1, dtype=T.float64))),
        ("f16 add_ complex", lambda: T.ones(1).add_(1j)), ("int lt_", lambda: T.tensor([1]).lt_(2)), ("int copy_ float", lambda: T.tensor([1]).copy_(T.tensor([2.7]))), ("bool copy_", lambda: T.tensor([True]).copy_(T.tensor([0.0]))), ("broadcast bad", lambda: T.ones(2).add_(T.ones(3, 2))), ("broadcast ok", lambda: T.ones(3, 2).add_(T.ones(2))), ("copy_ broadcast", lambda: T.ones(3, 2).copy_(T.zeros(2))),
        ("copy_ bad", lambda: T.ones(3).copy_(T.zeros(2))), ("fill_ tensor", lambda: T.ones(3).fill_(T.tensor(2))), ("fill_ 1-elem", lambda: T.ones(3).fill_(T.tensor([2]))), ("int fill_ float", lambda: T.tensor([1]).fill_(2.7)), ("sqrt_ int", lambda: T.tensor([4]).sqrt_()), ("abs_ complex", lambda: T.ones(1, dtype=T.complex64).abs_()), ("neg_ bool", lambda: T.tensor([True]).neg_()), ("bitwise_not_", lambda: T.tensor([True]).bitwise_not_()), ("copy_ complex to real", lambda: T.ones(1).copy_(T.ones(1, dtype=T.complex64))),
        ("add_ alpha float int", lambda: T.tensor([1]).add_(1, alpha=1.5)), ("add alpha bool", lambda: T.tensor([True]).add(True, alpha=2)), ("sub bool", lambda: T.tensor([True]) - T.tensor([True])), ("neg bool", lambda: -T.tensor([True])), ("meta copy_", lambda: T.ones(1).copy_(T.ones(1, device="meta"))),
    ):  # fmt: skip
        log.attempt(label, f)


def view_and_mutation_schemas(s, log):
    for op in (
        s.ops.aten.view.default,
        s.ops.aten.add_.Tensor,
        s.ops.aten.add.out,
        s.ops.aten.add.Tensor,
        s.ops.aten.detach.default,
        s.ops.aten.reshape.default,
        s.ops.aten.split.Tensor,
        s.ops.aten.contiguous.default,
        s.ops.aten.clone.default,
        s.ops.aten.alias.default,
        s.ops.aten.expand.default,
    ):
        log(
            str(op),
            op._schema.is_mutable,
            op.is_view,
            [t.name for t in op.tags]
            if hasattr(op.tags[0] if op.tags else None, "name")
            else len(op.tags),
        )
