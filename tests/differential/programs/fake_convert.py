"""Real tensors made fake: identity, aliases, views, what is kept and what is refused."""

import gc
import weakref
from typing import Any


def same_fake_for_same_tensor(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2, 3)
    f = m.from_tensor(x)
    log(f, f is m.from_tensor(x), m.from_tensor(s.T.ones(2, 3)) is f)
    log(len(m.fake_tensor_converter.tensor_memo))
    with m:
        log(m.from_tensor(x) is f)


def of_a_fake(s, log):
    m = s.fake.FakeTensorMode()
    f = m.from_tensor(s.T.ones(2))
    g = log.attempt("own", m.from_tensor, f)
    log(g is f, g is not None and g.fake_mode is m)


def of_another_modes_fake(s, log):
    a, b = s.fake.FakeTensorMode(), s.fake.FakeTensorMode()
    f = a.from_tensor(s.T.ones(2, 3, requires_grad=True))
    g = log.attempt("convert", b.from_tensor, f)
    log(g is f, g is not None and g.fake_mode is b, g is not None and b.from_tensor(f) is g)
    with a:
        c = s.T.empty(2, device="cuda")
    log.attempt("cuda", b.from_tensor, c)


def metadata_is_kept(s, log):
    m = s.fake.FakeTensorMode()
    for t in (
        s.T.ones(2, 3).t(),
        s.T.ones(4, 4)[1:, 2],
        s.T.ones(2, 3, 4, 5).to(memory_format=s.T.channels_last),
        s.T.ones(1).expand(3, 2),
        s.T.ones(0, 3),
        s.T.ones((), dtype=s.T.int64),
        s.T.ones(2, dtype=s.T.bfloat16),
        s.T.empty(2, device="meta"),
        s.T.ones(1, 1, 1, 1, 1, 1, 2),
    ):
        f = m.from_tensor(t)
        log(f, f.storage_offset(), f.untyped_storage().nbytes(), f._is_view(), f.is_contiguous())


def aliases_stay_aliases(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(4)
    y = x.view(2, 2)
    z = x.detach()
    fx, fy, fz = m.from_tensor(x), m.from_tensor(y), m.from_tensor(z)
    c = [t.untyped_storage()._cdata for t in (fx, fy, fz)]
    log(c[0] == c[1], c[0] == c[2])
    log(fy._is_view(), fy._base is fx, fz._is_view(), fx._is_view())
    log(m.from_tensor(s.T.ones(4)).untyped_storage()._cdata == c[0])
    fy.add_(1)
    log(fx._version, fy._version, fz._version)


def view_before_its_base(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(4)
    y = x[1:3]
    fy = m.from_tensor(y)
    log(fy, fy._is_view(), fy._base, fy.storage_offset(), fy.untyped_storage().nbytes())
    log(m.from_tensor(x) is fy._base)


def view_of_a_view(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(4, 4)
    y = x[1:]
    z = y[:, 2:]
    fz = m.from_tensor(z)
    log(fz, fz._base, fz.storage_offset(), fz._base is m.from_tensor(x))
    fy = m.from_tensor(y)
    log(fy, fy._base is fz._base)


def views_of_other_dtypes(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(4, dtype=s.T.complex64)
    v = s.T.view_as_real(x)
    fv = m.from_tensor(v)
    log(fv, fv._is_view(), fv._base)


def conj_and_neg(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2, dtype=s.T.complex64)
    c = m.from_tensor(x.conj())
    log(c, c.is_conj(), c._is_view())
    n = m.from_tensor(x.conj().imag)
    log(n, n.is_neg(), n.dtype)
    with m:
        log((c * 2).is_conj(), c.resolve_conj().is_conj(), c.clone().is_conj())


def requires_grad_and_leaves(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2, requires_grad=True)
    f = m.from_tensor(x)
    log(f.requires_grad, f.is_leaf, f.grad_fn, f.grad)
    y = x * 2
    g = m.from_tensor(y)
    log(g.requires_grad, g.is_leaf, g.grad_fn is None)
    v = m.from_tensor(x.view(1, 2))
    log(v.requires_grad, v.is_leaf, v._is_view(), v._base is f)
    d = m.from_tensor(x.detach())
    log(d.requires_grad, d.is_leaf, d._is_view())


def leaf_view_that_requires_grad(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.zeros(4)
    y = x.view(1, 4)
    y.requires_grad = True
    f = m.from_tensor(y)
    log(f.requires_grad, f.is_leaf, f._is_view(), f._base.requires_grad)
    z = y.view(2, 2)
    g = m.from_tensor(z)
    log(g.requires_grad, g.is_leaf, g._is_view(), g._base.requires_grad, g._base is f._base)


def inference_tensors(s, log):
    m = s.fake.FakeTensorMode()
    with s.T.inference_mode():
        x = s.T.ones(2)
        f = m.from_tensor(x)
        log(f.is_inference(), x.is_inference())
    y = s.T.ones(2)
    with s.T.inference_mode():
        g = m.from_tensor(y)
        log(g.is_inference())
    h = m.from_tensor(s.T.ones(2))
    log(h.is_inference())
    k = m.from_tensor(x)
    log(k is f)


def inference_tensor_outside(s, log):
    m = s.fake.FakeTensorMode()
    with s.T.inference_mode():
        x = s.T.ones(2)
        v = x.view(1, 2)
    f = m.from_tensor(x)
    log(f, f.is_inference())
    g = m.from_tensor(v)
    log(g, g.is_inference())


def memo_is_weak(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2)
    f = m.from_tensor(x)
    dead = weakref.ref(f)
    memo = m.fake_tensor_converter.tensor_memo
    log(len(memo))
    del f
    gc.collect()
    log(dead() is None, len(memo), x.shape)
    f = m.from_tensor(x)
    alive = weakref.ref(x)
    del x
    gc.collect()
    log(alive() is None, len(memo), f)
    del f
    gc.collect()
    log(len(memo))


def no_cycle_with_the_mode(s, log):
    gc.collect()
    gc.disable()
    try:
        x = s.T.ones(4)
        m = s.fake.FakeTensorMode()
        f = m.from_tensor(x)
        fake = weakref.ref(f)
        del m
        del f
        log(fake() is None)
    finally:
        gc.enable()


def storage_outlives_its_fake(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2, 2)
    y = x[0]
    fx = m.from_tensor(x)
    storage = fx.untyped_storage()
    del fx
    fy = m.from_tensor(y)
    log(storage._cdata == fy.untyped_storage()._cdata)


def converter_by_itself(s, log):
    m = s.fake.FakeTensorMode()
    c = s.fake.FakeTensorConverter()
    x = s.T.ones(2, 2)
    f = c.from_real_tensor(m, x)
    log(f, f.fake_mode is m, c.from_real_tensor(m, x) is f, len(c.tensor_memo))
    log(m.from_tensor(x) is f, len(m.fake_tensor_converter.tensor_memo))
    log(type(c), type(m.fake_tensor_converter), len(c.constant_storage_mapping))
    log(type(c.meta_converter).__name__, c.export)
    log(c.meta_converter.successful(), c.meta_converter.hit, c.meta_converter.miss)


def constants_of_the_converter(s, log):
    m = s.fake.FakeTensorMode()
    c = m.fake_tensor_converter
    x = s.T.ones(())
    f = c.from_real_tensor(m, x, make_constant=True)
    log(f.constant is x, len(c.constant_storage_mapping))
    c.invalidate_constant_aliases(x)
    log(f.constant, len(c.constant_storage_mapping))
    c.invalidate_constant_aliases(x)
    log.attempt("of a fake", c.invalidate_constant_aliases, f)
    log.attempt("no constant", c.add_constant_storage_mapping, f)


def from_meta_and_device(s, log):
    m = s.fake.FakeTensorMode()
    c = m.fake_tensor_converter
    meta = s.T.empty(2, 3, device="meta")
    f = c.from_meta_and_device(m, meta, s.T.device("cuda"))
    log(f, f.fake_mode is m)
    log(c.from_meta_and_device(m, meta, s.T.device("cuda")) is f)
    log.attempt("real", c.from_meta_and_device, m, s.T.ones(2), s.T.device("cpu"))


def set_tensor_memo(s, log):
    m = s.fake.FakeTensorMode()
    c = m.fake_tensor_converter
    x, y = s.T.ones(2), s.T.ones(3)
    f = m.from_tensor(y)
    c.set_tensor_memo(x, f)
    log(m.from_tensor(x) is f, m.from_tensor(x))


def empty_storages(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2, 3)
    x.untyped_storage().resize_(0)
    f = m.from_tensor(x)
    log(f, f.untyped_storage().nbytes(), f.untyped_storage().size())
    y = s.T.ones(4)
    y.untyped_storage().resize_(64)
    log(m.from_tensor(y).untyped_storage().nbytes())


def wrong_arguments(s, log):
    m = s.fake.FakeTensorMode()
    for value in (3, None, [1.0], "x"):
        log.attempt(str(value), m.from_tensor, value)


def wrapper_subclass(s, log):
    class Two(s.Tensor):
        @staticmethod
        def __new__(cls, a, b):
            return s.Tensor._make_wrapper_subclass(
                cls, a.size(), strides=a.stride(), dtype=a.dtype, device=a.device
            )

        def __init__(self, a, b):
            self.a, self.b = a, b

        def __tensor_flatten__(self):
            return ["a", "b"], None

        @staticmethod
        def __tensor_unflatten__(inner, meta, outer_size, outer_stride):
            return Two(inner["a"], inner["b"])

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise NotImplementedError

    m = s.fake.FakeTensorMode()
    t = Two(s.T.ones(2, 3), s.T.zeros(2, 3))
    f = m.from_tensor(t)
    log(type(f), type(f.a), type(f.b), f.a.fake_mode is m)
    log(f.shape, f.stride(), f.device, f.a, m.from_tensor(t) is f)
    log(s.fake.is_fake(f), s.fake.is_fake(t), s.fake.maybe_get_fake_mode(f) is m)
    log(m.from_tensor(t.a) is f.a)
    log(s.fake.get_plain_tensors(t, out=[]))


def other_subclasses(s, log):
    class Plain(s.Tensor):
        pass

    class Own(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    m = s.fake.FakeTensorMode()
    p = s.T.ones(2).as_subclass(Plain)
    log.attempt("plain", m.from_tensor, p)
    o = s.Tensor._make_subclass(Own, s.T.ones(2))
    log.attempt("own", m.from_tensor, o)


def versions(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2)
    x.add_(1)
    f = m.from_tensor(x)
    log(x._version, f._version)
    x.add_(1)
    log(x._version, f._version)


def fake_of_real_in_operators(s, log):
    m = s.fake.FakeTensorMode(allow_non_fake_inputs=True)
    x = s.T.ones(2)
    with m:
        r = s.ops.aten.add.Tensor(x, x)
        log(r, r.fake_mode is m)
        f = m.from_tensor(x)
        log(s.ops.aten.add_.Tensor(f, x) is f, f._version)


def numpy_in_the_mode(s, log):
    import numpy as np

    a = np.ones((2, 3), dtype=np.float32)
    with s.fake.FakeTensorMode():
        t = s.T.from_numpy(a)
        log(type(t), t.shape, t.dtype)
        u = s.T.as_tensor(a)
        log(type(u), u.shape)
        v = s.T.tensor(a)
        log(type(v), v.shape)


def converted_under_another_mode(s, log):
    a, b = s.fake.FakeTensorMode(), s.fake.FakeTensorMode()
    x = s.T.ones(2)
    with a:
        f = b.from_tensor(x)
        log(f.fake_mode is b, f)
        x.view(2, 1)
    log(b.from_tensor(x) is f)


def gradients(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2, requires_grad=True)
    log(m.from_tensor(x).grad)


def from_real_tensors(s: Any, log: Any) -> None:
    T = s.T
    m = s.fake.FakeTensorMode()
    x = T.arange(6.0).view(2, 3)
    f = m.from_tensor(x)
    log(f, f.fake_mode is m, m.from_tensor(x) is f, f._is_view(), f._version)
    log(m.fake_tensor_converter.from_real_tensor(m, x) is f)
    log(m.from_tensor(x[0]).storage_offset(), m.from_tensor(x[1]).storage_offset())
    log(m.from_tensor(x.t()).stride(), m.from_tensor(T.ones(2, requires_grad=True)).requires_grad)
    y = m.from_tensor(x[1])
    log(y.untyped_storage()._cdata == f.untyped_storage()._cdata, y._base is f)
    log(m.from_tensor(f) is f)
    log.attempt("other mode", s.fake.FakeTensorMode().from_tensor, f)
    with m:
        log(f + 1)
    log(f + 1, type(f.sin()).__name__)


def real_inputs_not_allowed(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2)
    m = s.fake.FakeTensorMode()
    log(m.allow_non_fake_inputs)
    with m:
        log.attempt("add", lambda: x + 1)
        log.attempt("both", lambda: T.ones(2) + x)
        log.attempt("view", lambda: x.view(2))
        log.attempt("detach", lambda: x.detach())
        log.attempt("in place", lambda: x.zero_())
        log(x.shape, x.device)
    with s.fake.FakeTensorMode(allow_non_fake_inputs=True):
        log(x + 1, T.ones(2) + x)
    log(x)


def two_modes_do_not_mix(s: Any, log: Any) -> None:
    T = s.T
    a, b = s.fake.FakeTensorMode(), s.fake.FakeTensorMode()
    with a:
        x = T.ones(2)
    with b:
        y = T.ones(2)
    log.attempt("outside", lambda: x + y)
    with a:
        log.attempt("in a", lambda: x + y)
        log.attempt("y in a", lambda: y + 1)
    log(x + 1, (x + 1).fake_mode is a)
    log(len(s.modes._get_current_dispatch_mode_stack()))


def deepcopy_of_fakes(s: Any, log: Any) -> None:
    import copy

    T = s.T
    m = s.fake.FakeTensorMode()
    with m:
        x = T.ones(2, 3)
        y = x.view(6)
    c = copy.deepcopy([x, y, x])
    log(c[0] is c[2], c[0] is x, c[0])
    log(c[1], c[0].untyped_storage()._cdata == c[1].untyped_storage()._cdata)
    r = T.ones(2)
    with m:
        log.attempt("real in mode", copy.deepcopy, r)
    log(copy.copy(x) is x, type(copy.copy(x)).__name__)
    n = copy.deepcopy(m)
    log(type(n).__name__, n is m)


def memo_forgets_the_dead(s: Any, log: Any) -> None:
    import gc
    import weakref

    T = s.T
    m = s.fake.FakeTensorMode()
    x = T.ones(2)
    f = m.from_tensor(x)
    ref, rx = weakref.ref(f), weakref.ref(x)
    del f
    gc.collect()
    log(ref() is None)
    f = m.from_tensor(x)
    log(m.from_tensor(x) is f)
    del x
    gc.collect()
    log(rx() is None, ref() is None, f)
    log(
        len(m.fake_tensor_converter.tensor_memo)
        if hasattr(m.fake_tensor_converter, "tensor_memo")
        else 0
    )
