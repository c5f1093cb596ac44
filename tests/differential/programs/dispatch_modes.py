"""TorchDispatchMode: the stack and its helpers, order, exceptions, infra slots, what handlers see."""

import contextlib


def _mode(s, log, name="M", show=True):
    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if show:
                log("  ", name, func, len(args), sorted(kwargs), s.C._len_torch_dispatch_stack())
            return func(*args, **kwargs)

    return Mode()


def names_there_are(s, log):
    for name in (
        "BaseTorchDispatchMode", "TorchDispatchMode", "_detect_infra_mode", "_disable_current_modes", "_disable_infra_mode",
        "_get_current_dispatch_mode", "_get_current_dispatch_mode_stack", "_pop_mode", "_pop_mode_temporarily", "_push_mode",
        "_unset_infra_mode", "any_torch_dispatch_mode_on_stack", "autograd_would_have_decomposed", "is_in_torch_dispatch_mode",
        "is_in_any_mode_without_ignore_compile_internals", "is_traceable_wrapper_subclass", "return_and_correct_aliasing",
        "transform_subclass", "get_alias_info", "_correct_storage_aliasing", "_get_dispatch_stack_at", "_len_torch_dispatch_stack",
        "_pop_torch_dispatch_stack", "_push_on_torch_dispatch_stack", "TensorWithFlatten", "TraceableWrapperSubclass",
    ):  # fmt: skip
        log(name, hasattr(s.modes, name))


def nesting(s, log):
    x = s.T.ones(2)
    with _mode(s, log, "A"):
        with _mode(s, log, "B"), _mode(s, log, "C"):
            x + 1
            log(s.C._len_torch_dispatch_stack())
        x.neg()
    x.neg()


def factories(s, log):
    with _mode(s, log):
        s.T.zeros_like(s.T.tensor([1.0])), s.T.arange(3), s.T.full((2,), 3.0)


def queries(s, log):
    m = s.modes
    a, b = _mode(s, log, "A", False), _mode(s, log, "B", False)
    log(
        m.is_in_torch_dispatch_mode(),
        m.any_torch_dispatch_mode_on_stack(),
        m._get_current_dispatch_mode(),
        m._get_current_dispatch_mode_stack(),
    )
    with a:
        with b:
            log(
                m.is_in_torch_dispatch_mode(),
                m.is_in_torch_dispatch_mode(include_infra_modes=False),
                m.any_torch_dispatch_mode_on_stack(),
            )
            log(
                m._get_current_dispatch_mode() is b,
                [x is a for x in m._get_current_dispatch_mode_stack()],
            )
            log(m.is_in_any_mode_without_ignore_compile_internals())
            with m._pop_mode_temporarily() as popped:
                log(popped is b, m._get_current_dispatch_mode() is a, m.is_in_torch_dispatch_mode())
            with m._disable_current_modes() as modes:
                log(
                    [x is b for x in modes],
                    m._get_current_dispatch_mode(),
                    m.is_in_torch_dispatch_mode(),
                )
                s.T.ones(1)
            log(m._get_current_dispatch_mode() is b, s.C._len_torch_dispatch_stack())
        log(m._get_current_dispatch_mode() is a)
    log(m.is_in_torch_dispatch_mode(), s.C._len_torch_dispatch_stack())


def infra_flags(s, log):
    class Infra(s.modes.TorchDispatchMode):
        @classmethod
        def is_infra_mode(cls):
            return True

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class Quiet(Infra):
        @classmethod
        def is_infra_mode(cls):
            return False

        @classmethod
        def ignore_compile_internals(cls):
            return True

    m = s.modes
    for cls in (Infra, Quiet):
        with cls() as mode:
            log(
                m.is_in_torch_dispatch_mode(),
                m.is_in_torch_dispatch_mode(False),
                m.any_torch_dispatch_mode_on_stack(),
            )
            log(
                m.is_in_any_mode_without_ignore_compile_internals(),
                mode.is_infra_mode(),
                mode.ignore_compile_internals(),
            )
    log(
        s.modes.TorchDispatchMode.is_infra_mode(),
        s.modes.TorchDispatchMode.ignore_compile_internals(),
    )


def infra_slots(s, log):
    K = s.C._TorchDispatchModeKey
    m = s.modes

    class Proxy(s.modes.TorchDispatchMode):
        _mode_key = K.PROXY

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("proxy", func)
            return func(*args, **(kwargs or {}))

    p, user = Proxy(), _mode(s, log, "U")
    with user, p:
        log(
            m._get_current_dispatch_mode() is user,
            s.C._len_torch_dispatch_stack(),
            s.C._get_dispatch_mode(K.PROXY) is p,
        )
        s.T.ones(2).neg()
        log(m._detect_infra_mode(K.PROXY) is p, m._detect_infra_mode(K.FUNCTIONAL))
        with contextlib.contextmanager(m._disable_infra_mode)(K.PROXY) as off:
            log(off is p, m._detect_infra_mode(K.PROXY), s.C._len_torch_dispatch_stack())
        log(m._detect_infra_mode(K.PROXY) is p)
        log(m._unset_infra_mode(K.PROXY) is p, m._unset_infra_mode(K.PROXY))
        m._push_mode(p)
        log.attempt("twice", m._push_mode, p)
        log.attempt("fake key", m._detect_infra_mode, K.FAKE)
    log(s.C._len_torch_dispatch_stack())


def pushing_and_popping(s, log):
    m, C = s.modes, s.C
    a, b = _mode(s, log, "A", False), _mode(s, log, "B", False)
    m._push_mode(a)
    m._push_mode(b)
    log(C._len_torch_dispatch_stack(), m.is_in_torch_dispatch_mode())
    log(m._pop_mode() is b, m._pop_mode() is a)
    log.attempt("empty", m._pop_mode)
    log.attempt("empty proxy", m._pop_mode, C._TorchDispatchModeKey.PROXY)


def errors_restore(s, log):
    class E(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("no")

    e, x = E(), s.T.ones(2)
    with _mode(s, log, "outer"), e:
        log.attempt("call", lambda: x + 1)
        log(s.C._len_torch_dispatch_stack(), s.modes._get_current_dispatch_mode() is e)
        with s.modes._disable_current_modes():
            log(x + 1)
    try:
        with s.modes._disable_current_modes():
            raise ValueError
    except ValueError:
        log(s.C._len_torch_dispatch_stack())
    log.attempt("no handler", lambda: _enter(s.modes.TorchDispatchMode(), lambda: x.neg()))


def _enter(mode, call):
    with mode:
        return call()


def base_mode(s, log):
    with s.modes.BaseTorchDispatchMode() as m:
        log(s.T.ones(2) + 1, type(m).__name__)


def reentering_itself(s, log):
    class M(s.modes.TorchDispatchMode):
        depth = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("  " * self.depth, func)
            if self.depth < 1:
                self.depth += 1
                with self:
                    s.ops.aten.mul.Tensor(args[0], 2)
                self.depth -= 1
            return func(*args, **(kwargs or {}))

    x = s.T.ones(2)
    with M() as m:
        x.neg()
        with m:
            x.abs()


def would_have_decomposed(s, log):
    x = s.T.ones(2, 2)
    f = s.modes.autograd_would_have_decomposed
    log(
        f(s.ops.aten.add.Tensor, [x, 1]),
        f(s.ops.aten.matmul.default, [x, x]),
        f(s.ops.aten.linear.default, [1, x]),
        f(s.ops.aten.add.Tensor, []),
    )


def attributes_of_modes(s, log):
    m = _mode(s, log)
    log(m.supports_higher_order_operators, hasattr(m, "_dispatch_key"), hasattr(m, "_mode_key"))
    m.note = 1
    log(m.note, isinstance(m, s.modes.TorchDispatchMode))
    log(
        s.modes.TorchDispatchMode._should_skip_dynamo()
        if hasattr(s.modes.TorchDispatchMode, "_should_skip_dynamo")
        else True
    )
