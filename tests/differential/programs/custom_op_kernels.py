"""Kernels of custom operators: by device, fake, by name, switched on and off."""

import logging

from tests.differential.helpers import doubling_op, multiplying_op


def kernels_by_device(s, log):
    op = multiplying_op(s, "co7::f", device_types="cpu")
    log(op._backend_fns.keys(), op(s.T.ones(1)))
    log.attempt("meta", op, s.T.ones(1, device="meta"))

    @op.register_kernel("cuda")
    def cuda(x, n=2):
        return x

    log(
        cuda.__name__,
        op._backend_fns.keys(),
        s.C._dispatch_has_kernel_for_dispatch_key("co7::f", "CUDA"),
    )
    op.register_kernel("cpu")(lambda x, n=2: x + 100)
    log(op(s.T.ones(1)))
    log(op.register_kernel(("cpu", "xpu"), lambda x, n=2: x + 200)(1), op(s.T.ones(1)))
    op.register_kernel(None, lambda x, n=2: x + 300)
    log(op(s.T.ones(1)), sorted(map(str, op._backend_fns)))
    log.attempt("wrong device", op.register_kernel, "nothing", lambda x, n=2: x)


def kernel_of_all_devices(s, log):
    op = multiplying_op(s, "co8::f")
    log(s.C._dispatch_has_kernel_for_dispatch_key("co8::f", "CompositeExplicitAutograd"))
    log(
        s.C._dispatch_has_kernel_for_dispatch_key("co8::f", "Autograd"),
        s.C._dispatch_has_kernel_for_dispatch_key("co8::f", "Meta"),
    )
    log(s.C._dispatch_has_kernel_for_dispatch_key("co8::f", "ADInplaceOrView"))
    s.library.register_kernel("co8::f", "cpu", lambda x, n=2: x + 100)
    log(op(s.T.ones(1)))
    s.library.register_kernel(op, "cpu", lambda x, n=2: x + 200)
    log(op(s.T.ones(1)))
    s.library.register_kernel(op._opoverload, None, lambda x, n=2: x + 300)
    log(op(s.T.ones(1)), op._lib._op_impls)


def switching_kernels(s, log):
    logging.getLogger("torch._library.custom_ops").disabled = True
    logging.getLogger("dispatch.library.custom_ops").disabled = True
    op = multiplying_op(s, "co9::f")
    op.register_kernel("cpu", lambda x, n=2: x + 100)
    x = s.T.ones(1)
    log(op(x))
    with op.set_kernel_enabled("cpu", enabled=False):
        log(op(x), op._disabled_kernel)
        with op.set_kernel_enabled("cpu"):
            log(op(x))
        log(op(x))
        with op.set_kernel_enabled("cpu", False):
            log(op(x))
        log(op(x))
    log(op(x), op._disabled_kernel)
    with op.set_kernel_enabled("cuda", False):
        log(op(x), op._disabled_kernel)
        op.register_kernel("cuda", lambda x, n=2: x)
    with op.set_kernel_enabled("cpu", True):
        log(op(x))
    log(op._disabled_kernel)


def factories(s, log):
    def make(n: int, device: s.T.device) -> s.Tensor:
        return s.T.ones(n)

    op = s.library.custom_op("co10::make", make, mutates_args=(), device_types="cpu")
    log(op._opoverload._schema)
    log.attempt("cpu", op, 3, s.T.device("cpu"))
    log.attempt("as text", op, 3, "cpu")
    log.attempt("cuda", op, 3, "cuda")
    log.attempt("by keyword", op, 3, device=s.T.device("cpu"))

    def plain(n: int) -> s.Tensor:
        return s.T.ones(n)

    op = s.library.custom_op("co10::plain", plain, mutates_args=())
    log.attempt("no device", op, 2)
    log.attempt("kernel by device", op.register_kernel, "cpu", plain)


def fake_kernels(s, log):
    op = multiplying_op(s, "co11::f")
    m = s.T.ones(2, device="meta")
    log.attempt("meta without", op, m)
    with s.fake.FakeTensorMode():
        log.attempt("fake without", op, s.T.ones(2))
    fn = op.register_fake(lambda x, n=2: x.new_empty(n))
    log(op._abstract_fn is fn, op(m), op(m, 5))
    with s.fake.FakeTensorMode() as mode:
        y = op(s.T.ones(2, device="cuda"), 7)
        log(y.shape, y.device, y.fake_mode is mode)
    s.library.register_fake(op, lambda x, n=2: x.new_empty(1))
    log(op(m))
    s.library.register_fake("co11::f", lambda x, n=2: x.new_empty(8))
    log(op(m), s.library.register_fake(op).__name__)
    op.register_fake(lambda x, n=2: x)
    log.attempt("an argument", op, m)


def device_types(s, log):
    f = doubling_op(s, "mc_d", device_types="cpu")
    log(f(s.T.ones(1)))
    log.attempt("meta", f, s.T.ones(1, device="meta"))

    @f.register_kernel("meta") if False else f.register_fake
    def _(x):
        return s.T.empty_like(x)

    log.attempt("meta", f, s.T.ones(1, device="meta"))
    log(
        [
            k
            for k in (
                "CPU",
                "CUDA",
                "Meta",
                "CompositeExplicitAutograd",
                "AutogradCPU",
                "Autograd",
                "ADInplaceOrView",
            )
            if s.C._dispatch_has_kernel_for_dispatch_key("mc_d::sin", k)
        ]
    )

    @f.register_kernel("cuda")
    def cu(x):
        return x

    log(s.C._dispatch_has_kernel_for_dispatch_key("mc_d::sin", "CUDA"), type(cu).__name__)
    log.attempt("bad device", lambda: f.register_kernel("gpuuu")(lambda x: x))
    log.attempt("override cpu", lambda: f.register_kernel("cpu")(lambda x: x + 7) and None)
    log(f(s.T.ones(1)))
    log.attempt("no tensors", lambda: _no_tensor(s))


def _no_tensor(s):
    @s.library.custom_op("mc_d::nt", mutates_args=(), device_types="cpu")
    def nt(x: int) -> int:
        return x

    return nt(3)


def fake_and_meta(s, log):
    f = doubling_op(s, "mc_e")
    mode = s.fake.FakeTensorMode()
    with mode:
        log.attempt("no fake", lambda: f(s.T.ones(3)))
    f.register_fake(lambda x: s.T.empty_like(x))
    with mode:
        r = f(s.T.ones(3))
        log(type(r).__name__, tuple(r.shape), r.device.type)
    log.attempt("meta", lambda: f(s.T.ones(3, device="meta")))
    log.attempt("twice", lambda: f.register_fake(lambda x: x) and None)
    log(s.C._dispatch_has_kernel_for_dispatch_key("mc_e::sin", "Meta"))


def register_fake_function(s, log):
    lib = s.library.Library("mc_f", "FRAGMENT")
    lib.define("f(Tensor x, int n) -> Tensor")
    lib.impl("f", lambda x, n: x.repeat(n), "CPU")
    r = s.library.register_fake("mc_f::f", lambda x, n: x.new_empty(x.shape[0] * n), lib=lib)
    log(callable(r) or r)
    with s.fake.FakeTensorMode():
        log.attempt("fake", lambda: tuple(s.ops.mc_f.f(s.T.ones(2), 3).shape))
    log.attempt("again", lambda: s.library.register_fake("mc_f::f", len, lib=lib))
    log.attempt(
        "override",
        lambda: (
            s.library.register_fake("mc_f::f", lambda x, n: x, lib=lib, allow_override=True)
            and None
        ),
    )
    log.attempt("bad name", lambda: s.library.register_fake("f", len))
    log.attempt(
        "no op yet", lambda: s.library.register_fake("mc_f::zz", lambda x: x, lib=lib) and None
    )
    log.attempt("int", lambda: s.library.register_fake(3, len))
    log.attempt("ctx", s.library.get_ctx)
    log.attempt("meta", lambda: s.ops.mc_f.f(s.T.ones(2, device="meta"), 3))


def composite_has_no_fake(s, log):
    lib = s.library.Library("mc_g", "FRAGMENT")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CompositeImplicitAutograd")
    log.attempt(
        "fake over composite",
        lambda: s.library.register_fake("mc_g::f", lambda x: x, lib=lib) and None,
    )
    lib.define("g(Tensor x) -> Tensor")
    lib.impl("g", lambda x: x + 1, "Meta")
    log.attempt(
        "fake over meta", lambda: s.library.register_fake("mc_g::g", lambda x: x, lib=lib) and None
    )
    with s.fake.FakeTensorMode():
        log.attempt("f", lambda: tuple(s.ops.mc_g.f(s.T.ones(2)).shape))
        log.attempt("g", lambda: tuple(s.ops.mc_g.g(s.T.ones(2)).shape))


def set_kernel_enabled(s, log):
    f = doubling_op(s, "mc_m")

    @f.register_kernel("cpu")
    def cpu(x):
        return x * 10

    x = s.T.ones(1)
    log(f(x))
    with f.set_kernel_enabled("cpu", enabled=False):
        log(f(x))
        with f.set_kernel_enabled("cpu", enabled=True):
            log(f(x))
        log(f(x))
    log(f(x))
    log(sorted(f._disabled_kernel))
    log.attempt("unknown", lambda: f.set_kernel_enabled("xpu").__enter__())


def impl_by_name(s, log):
    f = doubling_op(s, "mc_o", device_types="cuda")
    log.attempt("cpu", f, s.T.ones(1))
    s.library.register_kernel("mc_o::sin", "cpu", lambda x: x + 1)
    log.attempt("cpu", f, s.T.ones(1))
    s.library.register_kernel(f, None, lambda x: x + 2)
    log.attempt("cpu", f, s.T.ones(1))
    log.attempt("meta", f, s.T.ones(1, device="meta"))
    log.attempt(
        "overload",
        lambda: (
            s.library.register_kernel(s.ops.aten.add.Tensor, "xpu", lambda x, y, alpha=1: x)
            and None
        ),
    )
    log.attempt("packet", lambda: s.library.register_kernel(s.ops.aten.add, "cpu", len))
    log.attempt("unknown", lambda: s.library.register_kernel("mc_o::zz", "cpu", len))
    log.attempt("int", lambda: s.library.register_kernel(3, "cpu", len))


def registrations_of_custom(s, log):
    f = doubling_op(s, "mc_p")
    names = (
        "CPU",
        "CompositeExplicitAutograd",
        "CompositeImplicitAutograd",
        "Autograd",
        "AutogradCPU",
        "ADInplaceOrView",
        "Meta",
        "BackendSelect",
        "Python",
    )
    log([k for k in names if s.C._dispatch_has_kernel_for_dispatch_key("mc_p::sin", k)])
    g = doubling_op(s, "mc_p", "cos", device_types=("cpu", "cuda"))
    log([k for k in names if s.C._dispatch_has_kernel_for_dispatch_key("mc_p::cos", k)])
    log(f._opoverload.has_kernel_for_dispatch_key(s.DispatchKey.CompositeExplicitAutograd))
    log([x.split(":")[0] for x in s.C._dispatch_dump("mc_p::sin").splitlines()][:1])
    log(f._opoverload._defined_in_python, f._opoverload.is_view)
    lib = f._lib
    log(type(lib).__name__, lib.ns, lib.kind)
