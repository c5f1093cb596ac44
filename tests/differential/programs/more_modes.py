"""Modes: what dispatch and function modes see, in what order, and what is left after errors."""

from typing import Any


def _name(func: Any) -> str:
    return str(func) if type(func).__name__ in ("OpOverload", "OpOverloadPacket") else func.__name__


def _logging(s: Any, log: Any, tag: str = "") -> Any:
    class Logging(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(tag, func, list(types), args, kwargs or {})
            return func(*args, **(kwargs or {}))

    return Logging()


def arguments_that_a_mode_gets(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(4.0)
    with _logging(s, log):
        T.add(x, x, alpha=1)
        T.add(x, x, alpha=2)
        T.sum(x)
        T.sum(x, dim=0, keepdim=False)
        T.sum(x, 0, True, dtype=T.float64)
        x.view(2, 2).transpose(0, 1).contiguous()
        x.relu()
        x.softmax(0)
        T.clamp(x, max=2)


def factories_in_a_mode(s: Any, log: Any) -> None:
    T = s.T
    with _logging(s, log):
        T.empty(2, 3).shape
        T.zeros((2,), dtype=T.int32)
        T.ones(2, device="cpu")
        T.full((2,), 1.5)
        T.arange(3)
        T.arange(1, 3, dtype=T.float32)
        T.tensor([1, 2])
        T.zeros_like(T.ones(1))
        T.scalar_tensor(3)


def getitem_in_a_mode(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(12).view(3, 4)
    i = T.tensor([0, 2])
    with _logging(s, log):
        x[0]
        x[1:, ::2]
        x[..., -1]
        x[:, None]
        x[i]
        x[i, 1:]
        x[x > 4]
        x[0] = 5
        x[i] = 7


def operators_on_tensors_in_a_mode(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(3.0)
    with _logging(s, log):
        x + 1
        1 - x
        x / 2
        2**x
        x // 2
        -x
        x == x
        (x > 1) & (x < 3)
        x @ x
        x += 1


def item_and_bool_in_a_mode(s: Any, log: Any) -> None:
    T = s.T
    x = T.tensor(2.0)
    with _logging(s, log):
        log(x.item())
        log(bool(x))
        log(float(x), int(x))
        log(x.tolist())
        log(len(T.ones(3)))
        log([type(t).__name__ for t in T.ones(2)])


def mode_error_leaves_stack(s: Any, log: Any) -> None:
    class Bad(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise ValueError("no")

    x = s.T.ones(2)
    stack = s.modes._get_current_dispatch_mode_stack
    with Bad():
        log.attempt("add", lambda: x + 1)
        log("inside", len(stack()))
        with _logging(s, log):
            log.attempt("add", lambda: x + 1)
            log("inside", len(stack()))
    log("outside", len(stack()))
    try:
        with Bad():
            x * 2
    except ValueError as e:
        log(type(e).__name__, len(stack()), s.C._len_torch_dispatch_stack())


def nested_modes_order(s: Any, log: Any) -> None:
    x = s.T.ones(2)
    with _logging(s, log, "outer"), _logging(s, log, "inner"):
        y = x.sin()
        log("stack", [type(m).__name__ for m in s.modes._get_current_dispatch_mode_stack()])
    log(y)


def mode_reentered(s: Any, log: Any) -> None:
    m = _logging(s, log)
    x = s.T.ones(1)
    stack = s.modes._get_current_dispatch_mode_stack
    with m:
        with m:
            log(len(stack()))
            x.neg()
        log(len(stack()))
    log(len(stack()))
    with m as again:
        log(again is m)
        x.neg()


def mode_without_dispatch_method(s: Any, log: Any) -> None:
    M = s.modes.TorchDispatchMode

    class Empty(M):
        pass

    log.attempt("base", lambda: M.__torch_dispatch__(M(), None, ()))
    x = s.T.ones(1)

    def run():
        with Empty():
            return x + 1

    log.attempt("run", run)
    log(len(s.modes._get_current_dispatch_mode_stack()))


def mode_that_returns_not_implemented(s: Any, log: Any) -> None:
    class Shy(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("asked", func)
            return NotImplemented

    x = s.T.ones(1)
    with Shy():
        log.attempt("add", lambda: x + 1)
    with _logging(s, log, "outer"), Shy():
        log.attempt("add", lambda: x + 1)
    log(len(s.modes._get_current_dispatch_mode_stack()))


def mode_that_returns_wrong_things(s: Any, log: Any) -> None:
    class Says(s.modes.TorchDispatchMode):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return self.value

    T = s.T
    x = T.ones(3)
    for value in (None, 3, (T.ones(1),), T.zeros(1)):
        with Says(value):
            r = s.ops.aten.add.Tensor(x, x)
        log(f"add {type(value).__name__}", r)
    with Says((T.zeros(1), T.zeros(2))):
        r = T.max(x, 0), T.split(x, 1)
    log([type(v).__name__ for v in r], len(r[1]))
    with Says(T.zeros(1)):
        log.attempt("item", lambda: T.equal(x, x))


def disable_current_modes(s: Any, log: Any) -> None:
    x = s.T.ones(1)
    m = s.modes
    with _logging(s, log, "a"), _logging(s, log, "b"):
        with m._disable_current_modes() as old:
            log(len(m._get_current_dispatch_mode_stack()), [type(o).__name__ for o in old])
            x.sin()
            with _logging(s, log, "c"):
                x.cos()
        log(len(m._get_current_dispatch_mode_stack()))
        x.neg()
    try:
        with _logging(s, log, "d"):
            with m._disable_current_modes():
                raise KeyError
    except KeyError:
        log(len(m._get_current_dispatch_mode_stack()))


def pop_mode_temporarily(s: Any, log: Any) -> None:
    m = s.modes
    x = s.T.ones(1)
    with _logging(s, log, "a"), _logging(s, log, "b") as b:
        with m._pop_mode_temporarily() as p:
            log(p is b, len(m._get_current_dispatch_mode_stack()))
            x.sin()
        log(len(m._get_current_dispatch_mode_stack()))
        log(m._get_current_dispatch_mode() is b)
    log(m._get_current_dispatch_mode())
    log.attempt("pop", m._pop_mode)


def infra_modes_sit_below(s: Any, log: Any) -> None:
    m = s.modes
    names = lambda: [type(x).__name__ for x in m._get_current_dispatch_mode_stack()]
    fake = s.fake.FakeTensorMode()
    with _logging(s, log):
        with fake:
            log(names(), s.C._len_torch_dispatch_stack())
            log(s.C._get_dispatch_mode(s.C._TorchDispatchModeKey.FAKE) is fake)
            log(s.C._get_dispatch_stack_at(0) is fake)
            log(m._get_current_dispatch_mode() is fake)
            y = s.T.ones(2)
            log(y)
            log.attempt("second fake", lambda: type(s.fake.FakeTensorMode().__enter__()).__name__)
        log(s.C._get_dispatch_mode(s.C._TorchDispatchModeKey.FAKE))
    log.attempt("far", s.C._get_dispatch_stack_at, 3)


def own_infra_mode(s: Any, log: Any) -> None:
    K = s.C._TorchDispatchModeKey
    m = s.modes

    class Proxy(m.TorchDispatchMode):
        _mode_key = K.PROXY

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("proxy", func)
            return func(*args, **(kwargs or {}))

    x = s.T.ones(1)
    with Proxy() as p:
        with _logging(s, log, "user"):
            x.sin()
            log(s.C._get_dispatch_mode(K.PROXY) is p, s.C._get_dispatch_mode(K.FUNCTIONAL))
        log.attempt("again", Proxy().__enter__)
        got = s.C._unset_dispatch_mode(K.PROXY)
        log(got is p, s.C._unset_dispatch_mode(K.PROXY), s.C._len_torch_dispatch_stack())
        s.C._set_dispatch_mode(p)
    log(s.C._len_torch_dispatch_stack(), [k.name for k in (K.FUNCTIONAL, K.PROXY, K.FAKE)])


def push_and_pop_by_hand(s: Any, log: Any) -> None:
    C = s.C
    a, b = _logging(s, log, "a"), _logging(s, log, "b")
    s.modes._push_mode(a)
    C._push_on_torch_dispatch_stack(b)
    log(C._len_torch_dispatch_stack(), C._get_dispatch_stack_at(0) is a)
    s.T.ones(1)
    log(
        C._pop_torch_dispatch_stack(None) is b,
        s.modes._pop_mode() is a,
        C._len_torch_dispatch_stack(),
    )
    log.attempt("pop", C._pop_torch_dispatch_stack, None)
    log.attempt("push", C._push_on_torch_dispatch_stack, "x")
    log.attempt("none", C._push_on_torch_dispatch_stack, None)
    log(C._dispatch_tls_is_dispatch_key_included("Python"))


def mode_and_composite(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2, 3)
    with _logging(s, log):
        T.matmul(x, x.t())
        x.reshape(3, 2)
        T.flatten(x)
        x.expand_as(T.ones(2, 3))
        T.stack([x, x])
        x.chunk(2)
        T.square(x)
        x.to(T.float64)
        x.type_as(x)


def in_place_and_out_in_a_mode(s: Any, log: Any) -> None:
    T = s.T
    x, o = T.ones(2), T.zeros(2)
    with _logging(s, log):
        log(x.add_(1) is x)
        log(T.add(x, 1, out=o) is o)
        x.zero_()
        x.fill_(3)
        x.copy_(o)
        T.sum(x, dim=0, out=T.ones(()))
        x.clamp_(0, 1)
    log(x._version, o._version)


def mode_changes_arguments(s: Any, log: Any) -> None:
    T = s.T

    class Double(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            return out * 2 if isinstance(out, T.Tensor) else out

    with Double():
        log(T.ones(2))
        log(T.ones(2) + 1)
        with Double():
            log(T.ones(1))
    log(T.ones(1))


def function_mode_sees(s: Any, log: Any) -> None:
    T = s.T

    class F(s.modes.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log(_name(func), list(types), len(args), sorted(kwargs or {}))
            return func(*args, **(kwargs or {}))

    x = T.ones(2)
    with F():
        T.add(x, 1)
        x.add(1, alpha=2)
        x + 1
        T.ones(2, dtype=T.int64)
        x.shape
        x[0]
        x.size(0)
        x.sum(dim=0)
        x.requires_grad
        s.ops.aten.add.Tensor(x, x)
        s.ops.aten.add(x, x)


def function_mode_stack(s: Any, log: Any) -> None:
    T, m = s.T, s.modes

    class F(m.TorchFunctionMode):
        def __init__(self, tag):
            self.tag = tag

        def __torch_function__(self, func, types, args=(), kwargs=None):
            log(self.tag, _name(func), len(m._get_current_function_mode_stack()))
            return func(*args, **(kwargs or {}))

    with F("a"), F("b"):
        log(T.zeros(1) + 1)
    log(len(m._get_current_function_mode_stack()))

    class Bad(m.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise OSError

    with F("c"):
        with Bad():
            log.attempt("bad", T.ones, 1)
            log(len(m._get_current_function_mode_stack()))
    log(len(m._get_current_function_mode_stack()), s.C._len_torch_function_stack())


def function_mode_over_dispatch_mode(s: Any, log: Any) -> None:
    T = s.T

    class F(s.modes.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log("function", _name(func))
            return func(*args, **(kwargs or {}))

    x = T.ones(2)
    with F(), _logging(s, log, "dispatch"):
        x.mul(3)
        x.square()
        with s.C.DisableTorchFunction():
            x.neg()
        with s.C.DisableTorchFunctionSubclass():
            x.sin()
        x.abs_()


def function_mode_returns_anything(s: Any, log: Any) -> None:
    T = s.T

    class F(s.modes.TorchFunctionMode):
        def __init__(self, value):
            self.value = value

        def __torch_function__(self, func, types, args=(), kwargs=None):
            return self.value

    with F("hello"):
        log(T.ones(3))
    with F(NotImplemented):
        log.attempt("ones", T.ones, 3)
        log.attempt("add", T.add, T.__class__, 2)
    with F(None):
        log(T.zeros(2))


def device_context(s: Any, log: Any) -> None:
    T = s.T
    with T.device("meta"):
        log(T.ones(2).device, T.ones(2, device="cpu").device, T.tensor([1]).device)
        log(T.zeros_like(T.ones(1, device="cpu")).device)
        with T.device("cpu"):
            log(T.arange(2))
        log(T.empty(1).device, T.get_default_device())
    log(T.ones(1).device, T.get_default_device())
    T.set_default_device("meta")
    log(T.rand(1).device, T.full((1,), 2.0).device)
    T.set_default_device(None)
    log(T.rand(1).device)


def higher_order_modes_and_types(s: Any, log: Any) -> None:
    T = s.T

    class A(T.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("A", func, list(types))
            return NotImplemented

    class Peel(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", func, list(types), kwargs or {})
            return T.zeros(1)

    a = T.Tensor._make_subclass(A, T.ones(2))
    with Peel():
        log(T.add(a, T.ones(1)))
        log(a.neg())
    log.attempt("alone", lambda: a.neg())


def is_in_mode_queries(s: Any, log: Any) -> None:
    m = s.modes
    for name in ("is_in_torch_dispatch_mode", "is_in_any_mode_without_ignore_compile_internals"):
        log(name, hasattr(m, name))
    log(m.is_in_torch_dispatch_mode())
    with _logging(s, log):
        log(m.is_in_torch_dispatch_mode())
        with s.fake.FakeTensorMode():
            log(
                m.is_in_torch_dispatch_mode(),
                m.is_in_torch_dispatch_mode(include_infra_modes=False),
            )
    with s.fake.FakeTensorMode():
        log(m.is_in_torch_dispatch_mode(), m.is_in_torch_dispatch_mode(include_infra_modes=False))
    log(m.is_in_torch_dispatch_mode())


def pre_dispatch_modes(s: Any, log: Any) -> None:
    o = s._ops
    T = s.T
    log(o._len_torch_dispatch_stack_pre_dispatch())
    log.attempt("empty", o._get_dispatch_mode_pre_dispatch, s.C._TorchDispatchModeKey.PROXY)
    log.attempt("fake", o._get_dispatch_mode_pre_dispatch, s.C._TorchDispatchModeKey.FAKE)
    log(o.mode_stack_state_for_pre_dispatch().count())
    log.attempt("pop", o._pop_mode_from_pre_dispatch)
    log(o.unset_mode_pre_dispatch(s.C._TorchDispatchModeKey.PROXY))
    log.attempt("set", o._set_mode_pre_dispatch, _logging(s, log))
    log(o._len_torch_dispatch_stack_pre_dispatch())
    log(s.C._dispatch_tls_is_dispatch_key_included("PreDispatch"))


def grad_mode_seen_by_modes(s: Any, log: Any) -> None:
    T = s.T

    class G(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(
                func,
                T.is_grad_enabled(),
                [a.requires_grad for a in args if isinstance(a, T.Tensor)],
            )
            return func(*args, **(kwargs or {}))

    x = T.ones(2, requires_grad=True)
    with G():
        y = x * 2
        log(y.requires_grad)
        with T.no_grad():
            log((x * 2).requires_grad)
        log(y.detach().requires_grad)
        with T.inference_mode():
            log((x * 3).is_inference())


def keys_inside_a_mode(s: Any, log: Any) -> None:
    C = s.C

    class K(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(func)
            for key in ("Python", "PythonTLSSnapshot"):
                log(
                    key,
                    C._dispatch_tls_is_dispatch_key_included(key),
                    C._dispatch_tls_is_dispatch_key_excluded(key),
                )
            log("autograd", C._dispatch_tls_is_dispatch_key_excluded("AutogradCPU"))
            log(C._len_torch_dispatch_stack())
            return func(*args, **(kwargs or {}))

    with K():
        log(C._dispatch_tls_is_dispatch_key_included("Python"))
        s.T.ones(1)
    log(C._dispatch_tls_is_dispatch_key_included("Python"))


def constructor_and_data_in_mode(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2)
    with _logging(s, log):
        x.detach()
        x.clone()
        T.as_tensor(x)
        x.T
        x.real
        x.cpu()
        x.float()
        x.double()
        x.unbind()


def multiple_outputs_in_mode(s: Any, log: Any) -> None:
    T = s.T
    x = T.tensor([[3.0, 1.0], [2.0, 4.0]])

    class P(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            log(func, type(out).__name__)
            return out

    with P():
        log(type(x.max(0)).__name__, type(T.sort(x)).__name__)
        log(type(T.split(x, 1)).__name__, type(T.unbind(x)).__name__)
        log(type(T.var_mean(x)).__name__)
        log(type(x.topk(1)).__name__, T.topk(x, 1).indices)
        log(type(T.min(x, 0)).__name__)


def stock_modes_by_second_author(s: Any, log: Any) -> None:
    base = s.modes.BaseTorchDispatchMode if hasattr(s.modes, "BaseTorchDispatchMode") else None
    log(base is not None)
    x = s.T.ones(2)
    with base():
        log(x + 1)
        log(len(s.modes._get_current_dispatch_mode_stack()))
    log(issubclass(base, s.modes.TorchDispatchMode))
    F = s.overrides.BaseTorchFunctionMode
    with F():
        log(x.sum())
    log(F.inner if hasattr(F, "inner") else "no inner")
    log(hasattr(s.modes.TorchDispatchMode, "push"), s.modes.TorchDispatchMode.is_infra_mode())
    log(s.fake.FakeTensorMode.is_infra_mode())


def custom_op_in_mode(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_modes_op", "DEF")
    lib.define("scale(Tensor x, float by=2.0, *, int[] sizes=[1, 2], bool flag=False) -> Tensor")
    lib.impl("scale", lambda x, by=2.0, *, sizes=(1, 2), flag=False: x * by, "CPU")
    op = s.ops.more_modes_op.scale
    x = T.ones(2)
    with _logging(s, log):
        op(x)
        op(x, 2.0)
        op(x, 2)
        op(x, by=3)
        op(x, sizes=[1, 2], flag=False)
        op(x, sizes=(1, 3), flag=True)
        log.attempt("bad", op, x, bad=1)
    log.attempt("none", op, None)


def deterministic_repr_of_modes(s: Any, log: Any) -> None:
    m = _logging(s, log)
    log(type(m).__mro__[1].__name__, [c.__name__ for c in type(m).__mro__[1:3]])
    log.attempt("exit", m.__exit__, None, None, None)
    log(s.C._len_torch_dispatch_stack())
    log(m.supports_higher_order_operators, m.ignore_compile_internals())


def generator_across_modes(s: Any, log: Any) -> None:
    x = s.T.ones(1)

    def gen():
        with _logging(s, log, "gen"):
            yield x.sin()
            yield x.cos()

    g = gen()
    next(g)
    log("between", s.C._len_torch_dispatch_stack())
    x.neg()
    next(g)
    g.close()
    log("after", s.C._len_torch_dispatch_stack())


def threads_do_not_share_modes(s: Any, log: Any) -> None:
    import threading

    x = s.T.ones(1)
    seen = []

    def work():
        seen.append(s.C._len_torch_dispatch_stack())
        seen.append(s.C._len_torch_function_stack())
        with _logging(s, log, "thread"):
            x.sin()

    with _logging(s, log, "main"):
        t = threading.Thread(target=work)
        t.start()
        t.join()
        x.cos()
    log(seen)
