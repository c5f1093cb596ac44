"""opcheck: which checks an operator passes."""


def _results(log, found):
    log({k: v if isinstance(v, str) else type(v).__name__ for k, v in found.items()})


def _good(s, ns):
    def f(x: s.Tensor, n: float = 2.0) -> s.Tensor:
        return x * n

    op = s.library.custom_op(f"{ns}::f", f, mutates_args=())
    op.register_fake(lambda x, n=2.0: s.T.empty_like(x))
    return op


def good_operator(s, log):
    op = _good(s, "oc1")
    _results(log, s.library.opcheck(op, (s.T.ones(3),)))
    _results(log, s.library.opcheck(op._opoverload, (s.T.ones(3), 4.0)))
    _results(log, s.library.opcheck(s.ops.oc1.f, (s.T.ones(3),), {"n": 5.0}))
    _results(log, s.library.opcheck(op, (s.T.ones(3),), test_utils="test_schema"))
    _results(
        log, s.library.opcheck(op, (s.T.ones(3),), test_utils=["test_faketensor", "test_schema"])
    )
    _results(log, s.library.opcheck(op, (s.T.ones(3),), atol=1.0, rtol=1.0))
    _results(log, s.library.opcheck(op, (s.T.ones(3, device="meta"),)))


def wrong_calls(s, log):
    op, x = _good(s, "oc2"), s.T.ones(2)
    check = s.library.opcheck
    log.attempt("unknown check", check, op, (x,), test_utils="test_nothing")
    log.attempt("unknown checks", check, op, (x,), test_utils=("test_schema", "nothing"))
    log.attempt("a set", check, op, (x,), test_utils={"test_schema"})
    log.attempt("atol alone", check, op, (x,), atol=1.0)
    log.attempt("number", check, 3, (x,))
    log.attempt("function", check, s.T.add, (x, x))
    log.attempt("packet with overloads", check, s.ops.aten.add, (x, x))
    log(op(x))


def no_fake_kernel(s, log):
    def f(x: s.Tensor) -> s.Tensor:
        return x.clone()

    op = s.library.custom_op("oc3::f", f, mutates_args=())
    x = s.T.ones(2)
    _results(log, s.library.opcheck(op, (x,), raise_exception=False))
    log.attempt("raised", s.library.opcheck, op, (x,))
    log.attempt("only schema", s.library.opcheck, op, (x,), test_utils="test_schema")


def wrong_fake_kernel(s, log):
    def f(x: s.Tensor) -> s.Tensor:
        return x.clone()

    for i, fake in enumerate((
        lambda x: x.new_empty(7), lambda x: s.T.empty_like(x, dtype=s.T.float64), lambda x: x.new_empty((3, 2)).t(), lambda x: x,
    )):  # fmt: skip
        op = s.library.custom_op(f"oc4::f{i}", f, mutates_args=())
        op.register_fake(fake)
        found = s.library.opcheck(op, (s.T.ones(2, 3),), raise_exception=False)
        log(
            {
                k: "ok" if isinstance(v, str) else "failed"
                for k, v in found.items()
                if k in ("test_faketensor", "test_schema")
            }
        )


def undeclared_mutation(s, log):
    def f(x: s.Tensor) -> s.Tensor:
        x.add_(1)
        return x.clone()

    op = s.library.custom_op("oc5::f", f, mutates_args=())
    op.register_fake(lambda x: s.T.empty_like(x))
    x = s.T.ones(2)
    found = s.library.opcheck(
        op, (x,), raise_exception=False, test_utils=("test_schema", "test_faketensor")
    )
    _results(log, found)
    log(x)


def declared_mutation(s, log):
    def f(x: s.Tensor, y: s.Tensor) -> None:
        x.add_(y)

    op = s.library.custom_op("oc6::f", f, mutates_args={"x"})
    x = s.T.ones(2)
    _results(log, s.library.opcheck(op, (x, s.T.ones(2))))
    log(x)


def plain_library_operator(s, log):
    lib = s.library.Library("oc7", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x.clone(), "CPU")
    names = ("test_schema", "test_autograd_registration", "test_faketensor")
    _results(
        log, s.library.opcheck(s.ops.oc7.f, (s.T.ones(2),), test_utils=names, raise_exception=False)
    )
    _results(
        log,
        s.library.opcheck(
            s.ops.oc7.f, (s.T.ones(2, requires_grad=True),), test_utils=names, raise_exception=False
        ),
    )
    lib.impl("f", lambda x: x.new_empty(x.shape), "Meta")
    _results(log, s.library.opcheck(s.ops.oc7.f, (s.T.ones(2),), test_utils=names))
    lib.impl("f", lambda x: x, "CPU")
    _results(
        log, s.library.opcheck(s.ops.oc7.f, (s.T.ones(2),), test_utils=names, raise_exception=False)
    )


def autograd_registration(s, log):
    lib = s.library.Library("oc8", "DEF")
    for n in "fgh":
        lib.define(f"{n}(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x.detach().clone(), "CPU")
    lib.impl("g", lambda x: x.clone(), "CPU")
    lib.impl("h", lambda x: x.clone())
    x = s.T.ones(2, requires_grad=True)
    for n in "fgh":
        _results(
            log,
            s.library.opcheck(
                getattr(s.ops.oc8, n),
                (x,),
                test_utils="test_autograd_registration",
                raise_exception=False,
            ),
        )
    lib.impl("g", s.library.fallthrough_kernel, "Autograd")
    _results(
        log,
        s.library.opcheck(
            s.ops.oc8.g, (x,), test_utils="test_autograd_registration", raise_exception=False
        ),
    )


def formula(s, log):
    op = _good(s, "oc9")
    op.register_autograd(
        lambda ctx, g: (g * ctx.n, None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "n", inputs[1]),
    )
    _results(log, s.library.opcheck(op, (s.T.ones(3, requires_grad=True),)))
    _results(log, s.library.opcheck(op, (s.T.ones(3),)))


def no_formula(s, log):
    op = _good(s, "oc10")
    x = s.T.ones(3, requires_grad=True)
    found = s.library.opcheck(op, (x,), raise_exception=False)
    _results(log, found)


def builtin_operator(s, log):
    _results(log, s.library.opcheck(s.ops.aten.sin.default, (s.T.ones(2),)))
    _results(
        log, s.library.opcheck(s.ops.aten.add.Tensor, (s.T.ones(2), s.T.ones(2)), {"alpha": 2})
    )


def broken_kernel(s, log):
    def f(x: s.Tensor) -> s.Tensor:
        raise KeyError("mine")

    op = s.library.custom_op("oc11::f", f, mutates_args=())
    op.register_fake(lambda x: s.T.empty_like(x))
    found = s.library.opcheck(op, (s.T.ones(2),), raise_exception=False)
    _results(log, found)
    try:
        s.library.opcheck(op, (s.T.ones(2),))
    except Exception as error:
        log(type(error).__name__, type(error.__cause__).__name__)
    log(len(s.modes._get_current_dispatch_mode_stack()))


def lists_and_devices(s, log):
    def f(xs: list[s.Tensor], scale: float) -> list[s.Tensor]:
        return [x * scale for x in xs]

    op = s.library.custom_op("oc12::f", f, mutates_args=())
    op.register_fake(lambda xs, scale: [s.T.empty_like(x) for x in xs])
    _results(log, s.library.opcheck(op, ([s.T.ones(2), s.T.ones(3)], 2.0)))

    def make(n: int, device: s.T.device) -> s.Tensor:
        return s.T.ones(n, device=device)

    op = s.library.custom_op("oc12::make", make, mutates_args=(), device_types="cpu")
    op.register_fake(lambda n, device: s.T.empty(n, device=device))
    _results(log, s.library.opcheck(op, (3, s.T.device("cpu"))))
