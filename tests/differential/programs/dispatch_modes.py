"""TorchDispatchMode: the stack and its helpers, order, exceptions, infra slots, what handlers see."""

import contextlib
from typing import Any

from tests.differential.helpers import logging_mode


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


def another_dtype_is_detached(s, log):
    """A view as another dtype is none to autograd, which PyTorch makes of it by a `detach`."""
    x = s.T.ones(2)
    with _mode(s, log):
        log(x.view(s.T.int32)._is_view(), x.view(s.T.float32) is x)


def divisions_of_a_cosine(s, log):
    seen = []

    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is s.ops.aten.div.Tensor:
                seen.append(args[0].tolist())
            return func(*args, **(kwargs or {}))

    with Mode():
        s.ops.aten.cosine_similarity(s.T.ones(1, 2), s.T.full((1, 2), 2.0))
    log(seen)


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


def arguments_that_a_mode_gets(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(4.0)
    with logging_mode(s, log):
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
    with logging_mode(s, log):
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
    with logging_mode(s, log):
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
    with logging_mode(s, log):
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
    with logging_mode(s, log):
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
        with logging_mode(s, log):
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
    with logging_mode(s, log, "outer"), logging_mode(s, log, "inner"):
        y = x.sin()
        log("stack", [type(m).__name__ for m in s.modes._get_current_dispatch_mode_stack()])
    log(y)


def mode_reentered(s: Any, log: Any) -> None:
    m = logging_mode(s, log)
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


def disable_current_modes(s: Any, log: Any) -> None:
    x = s.T.ones(1)
    m = s.modes
    with logging_mode(s, log, "a"), logging_mode(s, log, "b"):
        with m._disable_current_modes() as old:
            log(len(m._get_current_dispatch_mode_stack()), [type(o).__name__ for o in old])
            x.sin()
            with logging_mode(s, log, "c"):
                x.cos()
        log(len(m._get_current_dispatch_mode_stack()))
        x.neg()
    try:
        with logging_mode(s, log, "d"):
            with m._disable_current_modes():
                raise KeyError
    except KeyError:
        log(len(m._get_current_dispatch_mode_stack()))


def pop_mode_temporarily(s: Any, log: Any) -> None:
    m = s.modes
    x = s.T.ones(1)
    with logging_mode(s, log, "a"), logging_mode(s, log, "b") as b:
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
    with logging_mode(s, log):
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
        with logging_mode(s, log, "user"):
            x.sin()
            log(s.C._get_dispatch_mode(K.PROXY) is p, s.C._get_dispatch_mode(K.FUNCTIONAL))
        log.attempt("again", Proxy().__enter__)
        got = s.C._unset_dispatch_mode(K.PROXY)
        log(got is p, s.C._unset_dispatch_mode(K.PROXY), s.C._len_torch_dispatch_stack())
        s.C._set_dispatch_mode(p)
    log(s.C._len_torch_dispatch_stack(), [k.name for k in (K.FUNCTIONAL, K.PROXY, K.FAKE)])


def push_and_pop_by_hand(s: Any, log: Any) -> None:
    C = s.C
    a, b = logging_mode(s, log, "a"), logging_mode(s, log, "b")
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
    with logging_mode(s, log):
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
    with logging_mode(s, log):
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
    with logging_mode(s, log):
        log(m.is_in_torch_dispatch_mode())
        with s.fake.FakeTensorMode():
            log(
                m.is_in_torch_dispatch_mode(),
                m.is_in_torch_dispatch_mode(include_infra_modes=False),
            )
    with s.fake.FakeTensorMode():
        log(m.is_in_torch_dispatch_mode(), m.is_in_torch_dispatch_mode(include_infra_modes=False))
    log(m.is_in_torch_dispatch_mode())


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
    with logging_mode(s, log):
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


def custom_op_in_mode(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_modes_op", "DEF")
    lib.define("scale(Tensor x, float by=2.0, *, int[] sizes=[1, 2], bool flag=False) -> Tensor")
    lib.impl("scale", lambda x, by=2.0, *, sizes=(1, 2), flag=False: x * by, "CPU")
    op = s.ops.more_modes_op.scale
    x = T.ones(2)
    with logging_mode(s, log):
        op(x)
        op(x, 2.0)
        op(x, 2)
        op(x, by=3)
        op(x, sizes=[1, 2], flag=False)
        op(x, sizes=(1, 3), flag=True)
        log.attempt("bad", op, x, bad=1)
    log.attempt("none", op, None)


def deterministic_repr_of_modes(s: Any, log: Any) -> None:
    m = logging_mode(s, log)
    log(type(m).__mro__[1].__name__, [c.__name__ for c in type(m).__mro__[1:3]])
    log.attempt("exit", m.__exit__, None, None, None)
    log(s.C._len_torch_dispatch_stack())
    log(m.supports_higher_order_operators, m.ignore_compile_internals())


def generator_across_modes(s: Any, log: Any) -> None:
    x = s.T.ones(1)

    def gen():
        with logging_mode(s, log, "gen"):
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
        with logging_mode(s, log, "thread"):
            x.sin()

    with logging_mode(s, log, "main"):
        t = threading.Thread(target=work)
        t.start()
        t.join()
        x.cos()
    log(seen)
