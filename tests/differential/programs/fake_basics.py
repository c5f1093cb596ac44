"""FakeTensor itself: metadata, devices, keys, values that are refused, texts, copies."""

import copy
import pickle
from typing import Any


def metadata(s, log):
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(2, 3, dtype=s.T.float16, device="cuda")
    log(x, type(x), isinstance(x, s.Tensor), issubclass(s.fake.FakeTensor, s.Tensor))
    log(x.shape, x.stride(), x.storage_offset(), x.numel(), x.dim(), x.ndim, x.element_size())
    log(x.dtype, x.layout, x.device, x.fake_device, x.is_contiguous(), x.requires_grad)
    log(x.fake_mode is m, x.constant, x.real_tensor, x.is_leaf, x.grad_fn, x.grad)
    log(x.is_cuda, x.is_cpu, x.is_meta, x.is_sparse, x.is_quantized, x.is_floating_point())
    log(x.size(0), x.size(-1), x.nbytes, x.itemsize, x._version, x._is_view(), x._base)
    log.attempt("dim out of range", x.size, 5)


def devices(s, log):
    with s.fake.FakeTensorMode():
        for d in ("cpu", "cuda", "cuda:1", "meta", "xpu", "mps", "cuda:0", "cpu:0"):
            x = s.T.empty(1, device=d)
            log(d, x.device, x.fake_device, x.device.index, x.get_device() if d != "mps" else None)


def device_properties_are_read_only(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(1, device="cuda")

    def set_device():
        x.device = s.T.device("cpu")

    def set_mode():
        x.fake_mode = None

    log.attempt("device", set_device)
    x.fake_device = s.T.device("cuda")
    log(x.fake_device, x.device)
    x.fake_device = s.T.device("cpu")
    log(x.fake_device, x.device)


def keys_of_fakes(s, log):
    with s.fake.FakeTensorMode() as m:
        for d in ("cpu", "cuda", "meta", "xpu", "mps"):
            log(d, s.C._dispatch_keys(s.T.empty(1, device=d)))
        log("bool", s.C._dispatch_keys(s.T.empty(1, dtype=s.T.bool)))
    log("converted", s.C._dispatch_keys(m.from_tensor(s.T.ones(2))))
    log("conj", s.C._dispatch_keys(m.from_tensor(s.T.ones(2, dtype=s.T.complex64).conj())))


def keys_in_inference_mode(s, log):
    with s.fake.FakeTensorMode() as m, s.T.inference_mode():
        x = s.T.empty(1)
        log(s.C._dispatch_keys(x), x.is_inference())
    y = m.from_tensor(s.T.ones(1))
    log(s.C._dispatch_keys(y), y.is_inference())


def made_by_hand(s, log):
    m = s.fake.FakeTensorMode()
    meta = s.T.empty(2, 3, device="meta")
    x = s.fake.FakeTensor(m, meta, s.T.device("cuda"))
    log(x, x.fake_mode is m, x.fake_device, s.C._dispatch_keys(x))
    y = s.fake.FakeTensor(m, meta, "cuda:2")
    log(y, y.device)
    z = s.fake.FakeTensor(m, s.T.empty(4, 3, device="meta").t(), s.T.device("cpu"))
    log(z, z.is_contiguous())
    log(s.fake.FakeTensor(m, s.T.empty(0, device="meta"), s.T.device("cpu")))
    log("after", s.ops.aten.add.Tensor(x, x))


def made_by_keywords(s, log):
    m = s.fake.FakeTensorMode()
    meta = s.T.empty(2, device="meta")
    F = s.fake.FakeTensor
    log(F(meta, fake_mode=m, device="cpu"))
    log(F(meta, fake_mode=m, fake_device="cuda"))
    log(F(m, meta, "cpu", requires_grad=True))
    log(F(m, meta, device="cpu", fake_device="cpu"))
    log.attempt("conflict", F, m, meta, device="cpu", fake_device="cuda")
    log.attempt("no device", F, m, meta)
    log.attempt("no elem", F, m)
    log.attempt("no mode", F, meta, device="cpu")
    log.attempt("nothing", F)
    log.attempt("unknown keyword", F, m, meta, "cpu", colour=1)
    log.attempt("not a mode", F, 3, meta, "cpu")
    log.attempt("real elem", F, m, s.T.ones(2), "cpu")
    log.attempt("bad device", F, m, meta, "nowhere")


def constructor_with_more(s, log):
    m = s.fake.FakeTensorMode()
    meta = s.T.empty(2, device="meta")
    c = s.T.ones(2)
    F = s.fake.FakeTensor
    x = F(m, meta, "cpu", constant=c)
    log(x.constant is c, x.real_tensor)
    y = F(m, meta, "cpu", real_tensor=c)
    log(y.real_tensor is c, y.constant)
    log.attempt("fake real tensor", F, m, meta, "cpu", real_tensor=x)
    z = F(m, meta, "cpu", None, None, s.T.nn.Parameter if hasattr(s.T, "nn") else s.Tensor)
    log(z.dispatch_keys, z.pytype is None)
    log(F(m, meta, "cpu").pytype, F(m, meta, "cpu").dispatch_keys)


def meta_not_allowed(s, log):
    m = s.fake.FakeTensorMode()
    log(m.allow_meta)
    m.allow_meta = False
    meta = s.T.empty(2, device="meta")
    log.attempt("meta", s.fake.FakeTensor, m, meta, s.T.device("meta"))
    log.attempt("cpu", s.fake.FakeTensor, m, meta, s.T.device("cpu"))
    with m:
        log.attempt("factory", s.T.empty, 2, device="meta")


def texts(s, log):
    with s.fake.FakeTensorMode():
        for t in (
            s.T.empty(2, 3),
            s.T.empty(2, 3, device="cuda"),
            s.T.empty(()),
            s.T.empty(0),
            s.T.empty(2, dtype=s.T.int64),
            s.T.empty(2, dtype=s.T.bool, device="cuda:1"),
            s.T.empty(2, dtype=s.T.float64),
            s.T.empty(2, 3, requires_grad=True),
            s.T.empty(2, device="meta"),
            s.T.empty(2, dtype=s.T.complex64),
        ):
            log(repr(t).replace("torch.", "").replace("dispatch.", ""))
            log(str(t).replace("torch.", "").replace("dispatch.", ""))


def texts_of_results(s, log):
    def show(t):
        log(repr(t).replace("torch.", "").replace("dispatch.", ""))

    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(2, 3, requires_grad=True)
        show(x * 2)
        show(x.t())
        show(s.T.tensor(3.5))
        show(s.T.tensor([1, 2]))
    show(x)
    show(m.from_tensor(s.T.ones(3)))
    log(f"{x.shape} {x.dtype}".replace("torch.", "").replace("dispatch.", ""))
    log(repr([m.from_tensor(s.T.ones(1))]))


def values_are_refused(s, log):
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(3)
        one = s.T.ones(())
    for where in (m, None):

        def run():
            log.attempt("item", one.item)
            log.attempt("bool", bool, one)
            log.attempt("int", int, one)
            log.attempt("float", float, one)
            log.attempt("tolist", x.tolist)
            log.attempt("tolist 0-d", one.tolist)
            log.attempt("numpy", x.numpy)
            log.attempt("index", [1, 2, 3].__getitem__, s.ops.aten.ones.default([]))

        if where is None:
            run()
        else:
            with where:
                run()
        log(where is None)


def tolist_of_empty(s, log):
    with s.fake.FakeTensorMode():
        log(s.T.empty(0).tolist(), s.T.empty(2, 0).tolist(), s.T.empty(0, 3).tolist())
        log(s.T.tensor(5).tolist())
        log.attempt("one element", s.T.ones(1).tolist)


def pointers(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(3)
    log.attempt("data_ptr", x.data_ptr)
    log.attempt("storage data_ptr", x.untyped_storage().data_ptr)
    log(x.untyped_storage().nbytes(), x.untyped_storage().device)
    log.attempt("numpy", x.numpy)


def named_tensors(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(3)
    log.attempt("names", lambda: x.names)


def copies(s, log):
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(2, 3, device="cuda", requires_grad=True)
    y = copy.copy(x)
    log(type(y), y.shape, y is x)
    with m:
        z = copy.deepcopy(x)
        log(z, z is x, z.requires_grad)
    w = copy.deepcopy(x)
    log(w, w is x, w.requires_grad, w.device)


def deep_copies_share(s, log):
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(4)
    with m:
        a, b, c = copy.deepcopy([x, x, x.view(2, 2)])
    log(a is b, a.untyped_storage()._cdata == c.untyped_storage()._cdata, a, c)
    log(a.untyped_storage()._cdata == x.untyped_storage()._cdata)


def pickling(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)

    def dumps():
        try:
            pickle.dumps(x)
        except Exception:
            return "refused"
        return "taken"

    log(dumps())


def attributes(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
    x.mine = 3
    log(x.mine, "mine" in x.__dict__, x.__dict__["mine"])
    del x.mine
    log(hasattr(x, "mine"))
    log.attempt("gone", getattr, x, "mine")


def memos(s, log):
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(2)
        names = (
            "nonzero_memo",
            "item_memo",
            "unique_memo",
            "unique_consecutive_memo",
            "nested_int_memo",
        )
        log([getattr(x, n) for n in names])
        x.item_memo = 5
        log(x.item_memo, x.nonzero_memo)
        x.add_(1)
        log("after a write", x.item_memo)
        x.unique_memo = 2
        m.epoch += 1
        log("next epoch", x.unique_memo)
        x.nested_int_memo = 7
        x.add_(1)
        m.epoch += 1
        log("kept", x.nested_int_memo)
        x.item_memo = None
        log(x.item_memo)


def item_uses_the_memo(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.ones((), dtype=s.T.int64)
        x.item_memo = 5
        log.attempt("item", x.item)
        log.attempt("int", int, x)
        x.add_(1)
        log.attempt("after a write", x.item)


def common_device(s, log):
    F = s.fake.FakeTensor
    add = s.ops.aten.add.Tensor
    with s.fake.FakeTensorMode():
        a, b = s.T.empty(2, device="cuda"), s.T.empty(2)
        zero = s.T.empty(())
        log(F._find_common_device(add, [a, a]))
        log(F._find_common_device(add, [a, zero]))
        log(F._find_common_device(add, [zero, a]))
        log(F._find_common_device(add, [zero, 2]))
        log(F._find_common_device(add, [1, 2]))
        log.attempt("mixed", F._find_common_device, add, [a, b])
        log.attempt("none", F._find_common_device, s.ops.aten.relu.default, [1])


def from_tensor_of_the_class(s, log):
    m = s.fake.FakeTensorMode()
    x = s.T.ones(2)
    f = s.fake.FakeTensor.from_tensor(x, m)
    log(f, f is m.from_tensor(x), f.fake_mode is m)


def data_and_detach(s, log):
    with s.fake.FakeTensorMode() as m:
        x = s.T.empty(2, requires_grad=True)
        d = x.detach()
        log(d, type(d), d.requires_grad, d.fake_mode is m)
        log(d.untyped_storage()._cdata == x.untyped_storage()._cdata)
        e = x.data
        log(e, type(e), e.requires_grad)
        log(e.untyped_storage()._cdata == x.untyped_storage()._cdata)
    log(x.detach(), x.data.fake_mode is m)


def iteration_and_indexing(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(3, 2)
        log(len(x), list(x), x[0], x[1:], x[..., 0], x[None].shape)
        x[0] = 1.0
        log(x._version)
        log.attempt("out of range", lambda: x[5])
        log.attempt("mask", lambda: x[x > 0])
        log(x[s.T.tensor([0, 2])])
        log.attempt("in", lambda: 3 in x)


def hash_and_identity(s, log):
    with s.fake.FakeTensorMode():
        x, y = s.T.empty(2), s.T.empty(2)
        log(len({x, y, x}), x is x, hash(x) == hash(x))
        log(x == y, type(x == y))


def storage_is_shared_by_views(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(4, device="meta")
        v = x.view(2, 2)
        log(v._is_view(), v._base is x, x._is_view())
        log(v.untyped_storage()._cdata == x.untyped_storage()._cdata)
        log(v[1].storage_offset(), v.t().stride(), v[1]._base is x)
        v.add_(1)
        log(x._version, v._version)
        log(x.untyped_storage().nbytes())


def creation_inside(s: Any, log: Any) -> None:
    T = s.T
    with s.fake.FakeTensorMode() as m:
        for x in (
            T.ones(2, 3),
            T.empty(2, device="cuda"),
            T.arange(5),
            T.zeros((), dtype=T.bool),
            T.full((2,), 1),
        ):
            log(x, x.fake_device, x.fake_mode is m)
        log(T.tensor([1, 2]), T.tensor(3.5))
        log(type(T.ones(1)).__name__, isinstance(T.ones(1), s.fake.FakeTensor))
    log(x.device, x.is_cuda, x.is_cpu, x.is_meta)


def arithmetic_and_promotion(s: Any, log: Any) -> None:
    T = s.T
    with s.fake.FakeTensorMode():
        a, b = T.ones(3, 1), T.ones(4, dtype=T.float64)
        log(a + b)
        log(T.ones(2, dtype=T.int32) + 1.5)
        log(T.ones(2, dtype=T.int32) / 2)
        log(a.sum(), T.ones(2, dtype=T.int32).sum(), T.ones(2, dtype=T.bool).sum())
        log(a > 0, a.argmax(), a.max(0))
        log(T.ones(2, 3) @ T.ones(3, 4))
        log(T.cat([T.ones(1, 2), T.ones(3, 2)]), T.stack([T.ones(2), T.ones(2)]))
        log(T.where(a > 0, a, 0.0), T.bmm(T.ones(2, 3, 4), T.ones(2, 4, 5)))
        log.attempt("bad", lambda: T.ones(2) + T.ones(3))
        log.attempt("bad mm", lambda: T.ones(2, 3) @ T.ones(2, 3))


def devices_in_the_mode(s: Any, log: Any) -> None:
    T = s.T
    with s.fake.FakeTensorMode():
        c, p = T.ones(2, device="cuda"), T.ones(2)
        log(c + 1, c + T.ones((), dtype=T.float64))
        log.attempt("mixed", lambda: c + p)
        log(T.tensor(2.0) + c, c * T.ones(()))
        log(c.cpu(), c.to(p.device))
        log(T.zeros_like(c), c.new_ones(3), c.new_empty(1, device="cpu"))
        log(p.copy_(c), c.to("meta"))
        log.attempt("cat", T.cat, [c, p])
        log(c.index_select(0, T.zeros(1, dtype=T.int64, device="cuda")))
        log(T.ones(2, device="cuda:1").device)


def in_place_and_views(s: Any, log: Any) -> None:
    T = s.T
    with s.fake.FakeTensorMode():
        x = T.ones(2, 3)
        y = x.t()
        log(y, y._is_view(), y._base is x)
        log(x.add_(1) is x, x._version, y._version)
        x.t_()
        log(x, x._version)
        x.resize_(4)
        log(x)
        x.unsqueeze_(0)
        log(x, x.storage_offset())
        log.attempt("broadcast", lambda: T.ones(1).add_(T.ones(3)))
        log.attempt("type", lambda: T.ones(1, dtype=T.int64).add_(1.5))
        o = T.empty(0)
        log(T.add(T.ones(2), 1, out=o) is o, o)
        x[0, 1] = 3
        log(x._version)


def metadata_calls(s: Any, log: Any) -> None:
    T = s.T
    with s.fake.FakeTensorMode():
        x = T.empty(2, 3, 4, 5, memory_format=T.channels_last)
    log(x.stride(), x.is_contiguous(), x.is_contiguous(memory_format=T.channels_last))
    log(x.numel(), x.dim(), x.element_size(), x.nbytes, x.untyped_storage().nbytes())
    log.attempt("data_ptr", x.data_ptr)
    log.attempt("numpy", x.numpy)
    log.attempt("storage ptr", x.untyped_storage().data_ptr)
    log(x.contiguous().stride(), x.permute(0, 2, 3, 1).is_contiguous())
    log(x.untyped_storage().device, x.layout, x.dtype, x.is_floating_point())
    log(T.empty_like(x).stride(), (x + 1).stride(), x.clone().stride())
    log(x.mean((2, 3)).stride())


def reprs(s: Any, log: Any) -> None:
    T = s.T
    plain = lambda x: repr(x).replace("torch.", "").replace("dispatch.", "")
    with s.fake.FakeTensorMode():
        x = T.ones(2, 3)
        log(plain(x), plain(T.ones((), dtype=T.int64)))
        log(plain(T.empty(2, device="cuda")), plain(T.ones(1, requires_grad=True)))
        log(plain(T.tensor([1, 2])))
        log(plain(x.view(6)), plain((T.ones(1, requires_grad=True)).requires_grad))
        log(plain([x]), plain(T.empty(0)))
    log(plain(x))


def fake_grad(s: Any, log: Any) -> None:
    T = s.T
    with s.fake.FakeTensorMode():
        x = T.ones(2, requires_grad=True)
        y = x * 2
        log(y.requires_grad, y.is_leaf, x.is_leaf, y.detach().requires_grad)
        with T.no_grad():
            log((x * 2).requires_grad)
        log.attempt("leaf in place", lambda: x.add_(1))
        log(y.data.requires_grad, type(y.data).__name__)
        log.attempt("numpy", y.numpy)
        x.requires_grad_(False)
        log((x * 2).requires_grad)
    with T.inference_mode(), s.fake.FakeTensorMode():
        log(T.ones(1).is_inference())


def meta_tensors_and_fakes(s: Any, log: Any) -> None:
    T = s.T
    m = s.fake.FakeTensorMode()
    with m:
        log(T.empty(2, device="meta"))
        f = T.empty(2, device="meta")
        log(f.device, f.is_meta, f + 1)
        log.attempt("with cpu", lambda: f + T.ones(2))
    r = T.ones(2, device="meta")
    log(m.from_tensor(r).device)
    with m:
        log.attempt("real meta", lambda: r + 1)


def storages_of_fakes(s: Any, log: Any) -> None:
    T = s.T
    with s.fake.FakeTensorMode():
        x = T.ones(4)
        y = x[2:]
        log(x.untyped_storage().nbytes(), y.untyped_storage().nbytes(), y.storage_offset())
        log(x.untyped_storage()._cdata == y.untyped_storage()._cdata)
        x.untyped_storage().resize_(0)
        log(x.untyped_storage().nbytes(), x.shape)
        z = T.empty(0).set_(y)
        log(z.shape, z.untyped_storage()._cdata == y.untyped_storage()._cdata)
        log(T.as_strided(T.ones(6), (2, 2), (3, 1), 1))
        log(T.empty_strided((2, 2), (1, 2)))
