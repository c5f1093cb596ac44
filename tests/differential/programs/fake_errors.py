"""Exceptions of fake tensors: constructors, attributes, who raises them, the state after them."""

import dataclasses
from typing import Any

NAMES = (
    "UnsupportedFakeTensorException",
    "DynamicOutputShapeException",
    "DataDependentOutputException",
    "UnsupportedOperatorException",
    "UnsupportedMutationAliasingException",
    "MetadataMismatchError",
    "FakeTensorDeviceMismatchError",
)


def bases(s, log):
    for name in NAMES:
        e = getattr(s.fake, name)
        log(name, [c.__name__ for c in e.__mro__], dataclasses.is_dataclass(e))


def made_by_hand(s, log):
    f = s.fake
    op = s.ops.aten.add.Tensor
    a = f.UnsupportedFakeTensorException("why")
    log(a.reason, a.args, str(a), repr(a))
    b = f.DynamicOutputShapeException(op)
    log(b.func is op, b.args, str(b))
    c = f.DataDependentOutputException(func=op)
    log(c.func is op, c.args)
    d = f.UnsupportedOperatorException(op)
    log(d.func is op, d == f.UnsupportedOperatorException(op), d == b)
    e = f.MetadataMismatchError("x")
    log(e.reason, e == f.MetadataMismatchError("x"), e == f.MetadataMismatchError("y"))
    log(f.UnsupportedMutationAliasingException("r").reason)
    log.attempt("no argument", f.DynamicOutputShapeException)
    log.attempt("two", f.UnsupportedFakeTensorException, "a", "b")


def hashing(s, log):
    e = s.fake.MetadataMismatchError("x")
    log.attempt("hash", lambda: hash(e) == 0)


def device_mismatch(s, log):
    E = s.fake.FakeTensorDeviceMismatchError
    e = E(s.ops.aten.add.Tensor, s.T.device("cpu"), s.T.device("cuda:0"))
    log(e.func, e.common_device, e.device, isinstance(e, RuntimeError))
    with s.fake.FakeTensorMode():
        try:
            s.T.empty(2) + s.T.empty(2, device="cuda")
        except RuntimeError as e:
            log(type(e), e.func, e.common_device, e.device)


def attributes_when_raised(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        for call in (
            lambda: x.nonzero(),
            lambda: x[x > 0],
            lambda: x.sum().item(),
            lambda: bool(x.sum()),
        ):
            try:
                call()
            except Exception as e:
                log(type(e), e.func)


def caught_as_runtime_errors(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        try:
            x.nonzero()
        except RuntimeError as e:
            log("caught", type(e))
        try:
            x.sum().item()
        except RuntimeError as e:
            log("caught", type(e))


def real_tensors(s, log):
    x = s.T.ones(2)
    with s.fake.FakeTensorMode() as m:
        log.attempt("add", lambda: x + x)
        log.attempt("view", x.view, 2)
        log.attempt("in place", x.add_, 1)
        log.attempt("t_", x.t_)
        log(x._version, m.in_kernel_invocation)
        log.attempt("fake and real", lambda: m.from_tensor(s.T.ones(2)) + x) if False else None
    f = m.from_tensor(s.T.ones(2))
    log.attempt("outside", s.ops.aten.add.Tensor, f, x)
    log.attempt("outside, real first", s.ops.aten.add.Tensor, x, f)
    with m:
        log.attempt("inside", s.ops.aten.add.Tensor, f, x)
        log.attempt("in a list", s.ops.aten.cat.default, [f, x])


def real_scalars(s, log):
    m = s.fake.FakeTensorMode()
    f, zero = m.from_tensor(s.T.ones(2)), s.T.ones(())
    log.attempt("0-d", s.ops.aten.add.Tensor, f, zero)
    with m:
        log.attempt("0-d inside", s.ops.aten.add.Tensor, f, zero)


def inplace_view_of_real(s, log):
    x = s.T.ones(2, 3)
    with s.fake.FakeTensorMode(allow_non_fake_inputs=True):
        log.attempt("t_", s.ops.aten.t_.default, x)
        log.attempt("squeeze_", s.ops.aten.squeeze_.default, x)
    log(x.shape)


def mixing_modes(s, log):
    a, b = s.fake.FakeTensorMode(), s.fake.FakeTensorMode()
    x, y = a.from_tensor(s.T.ones(2)), b.from_tensor(s.T.ones(2))
    log.attempt("outside", s.ops.aten.add.Tensor, x, y)
    with a:
        log.attempt("in the first", s.ops.aten.add.Tensor, x, y)
        log.attempt("only the other's", s.ops.aten.relu.default, y)
    with b:
        log.attempt("in the second", s.ops.aten.add.Tensor, x, y)
    log(len(s.modes._get_current_dispatch_mode_stack()))


def mixing_when_allowed(s, log):
    a = s.fake.FakeTensorMode(allow_non_fake_inputs=True)
    b = s.fake.FakeTensorMode()
    y = b.from_tensor(s.T.ones(2))
    with a:
        r = log.attempt("relu", s.ops.aten.relu.default, y)
        log(r is not None and r.fake_mode is a)


def override_of_the_thread(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2)
    tls = s.fake.fake_tensor_tls
    log(tls.allow_non_fake_inputs_override)
    tls.allow_non_fake_inputs_override = True
    try:
        with m:
            log.attempt("allowed", s.ops.aten.relu.default, x)
    finally:
        tls.allow_non_fake_inputs_override = None
    with m:
        log.attempt("refused", s.ops.aten.relu.default, x)
    n = s.fake.FakeTensorMode(allow_non_fake_inputs=True)
    tls.allow_non_fake_inputs_override = False
    try:
        with n:
            log.attempt("refused", s.ops.aten.relu.default, x)
    finally:
        tls.allow_non_fake_inputs_override = None


def state_after_errors(s, log):
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(2, 3)
        before = (s.C._dispatch_tls_local_include_set(), s.C._dispatch_tls_local_exclude_set())
        for call in (lambda: s.T.mm(x, x), lambda: x.nonzero(), lambda: x.sum().item()):
            log.attempt("call", call)
            now = (s.C._dispatch_tls_local_include_set(), s.C._dispatch_tls_local_exclude_set())
            log(before == now, m.in_kernel_invocation, s.C._meta_in_tls_dispatch_include())
            log(len(s.modes._get_current_dispatch_mode_stack()))
        log(x + 1)


def kernel_that_raises(s, log):
    lib = s.library.Library("dfe1", "DEF")
    lib.define("f(Tensor x) -> Tensor")

    def meta(x):
        raise ZeroDivisionError

    lib.impl("f", meta, "Meta")
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(2)
        log.attempt("call", s.ops.dfe1.f, x)
        log(m.in_kernel_invocation, s.C._meta_in_tls_dispatch_include(), x.device)


def kernel_not_implemented(s, log):
    lib = s.library.Library("dfe2", "DEF")
    lib.define("f(Tensor x) -> Tensor")

    def meta(x):
        raise NotImplementedError("later")

    lib.impl("f", meta, "Meta")
    with s.fake.FakeTensorMode():
        log.attempt("call", s.ops.dfe2.f, s.T.empty(2))


def constant_division(s, log):
    with s.fake.FakeTensorMode():
        log.attempt("integers", lambda: s.T.tensor(1) // s.T.tensor(0))


def higher_errors(s, log):
    m = s.fake.FakeTensorMode()
    log.attempt(
        "set while dispatching",
        lambda: m.__torch_dispatch__(
            s.ops.aten.relu.default, (), (m.from_tensor(s.T.ones(2)),), {}
        ),
    )
    with m:
        log.attempt(
            "active",
            m.__torch_dispatch__,
            s.ops.aten.relu.default,
            (),
            (m.from_tensor(s.T.ones(2)),),
            {},
        )
    log.attempt("exit without enter", m.__exit__, None, None, None)


def dynamic_outputs(s: Any, log: Any) -> None:
    T = s.T
    f = s.fake
    with s.fake.FakeTensorMode() as m:
        x = T.ones(4)
        for name in ("nonzero", "item", "tolist"):
            log.attempt(name, getattr(x, name))
        log.attempt("mask", lambda: x[x > 0])
        log.attempt("equal", T.equal, x, x)
        log.attempt("repeat_interleave", T.repeat_interleave, T.ones(2, dtype=T.int64))
        log.attempt("if", lambda: 1 if x.sum() > 0 else 0)
        log(m.shape_env)
    for name in (
        "DynamicOutputShapeException",
        "DataDependentOutputException",
        "UnsupportedFakeTensorException",
    ):
        log(
            name,
            issubclass(getattr(f, name), RuntimeError),
            getattr(f, name)(s.ops.aten.nonzero.default).func if "Unsup" not in name else "",
        )


def errors_leave_state(s: Any, log: Any) -> None:
    T = s.T
    key = s.C._TorchDispatchModeKey.FAKE
    try:
        with s.fake.FakeTensorMode():
            T.ones(2) + T.ones(3)
    except RuntimeError as e:
        log(type(e).__name__)
    log(s.C._get_dispatch_mode(key), s.C._len_torch_dispatch_stack())
    log(type(T.ones(1)).__name__)
    with s.fake.FakeTensorMode() as m:
        x = T.ones(2)
        log.attempt("kw", lambda: x.sum(dmi=0))
        log.attempt("op", lambda: s.ops.aten.add.Tensor(x))
        log.attempt("dim", lambda: x.sum(3))
        log.attempt("view", lambda: x.view(3))
        log.attempt("dtype", lambda: x.bitwise_and(x))
        log(s.C._get_dispatch_mode(key) is m, x._version)
