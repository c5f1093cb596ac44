"""Attributes, numbers, conversions, copying: what a tensor is in Python."""

import copy
import pickle

import numpy as np


def attributes(s, log):
    T = s.T
    for t in (
        T.ones(2, 3),
        T.tensor(1),
        T.zeros(0),
        T.ones(2, dtype=T.complex64),
        T.ones(2, 3, device="meta"),
        T.ones(2, requires_grad=True),
    ):
        for name in (
            "shape", "dtype", "device", "layout", "ndim", "is_leaf", "requires_grad", "grad", "grad_fn", "itemsize", "nbytes",
            "is_cuda", "is_cpu", "is_meta", "is_sparse", "is_quantized", "is_mkldnn", "is_nested", "is_mps", "is_xpu", "is_xla", "is_ipu",
            "is_vulkan", "is_mtia", "is_maia", "_version", "_base", "retains_grad", "names", "output_nr", "is_sparse_csr",
        ):  # fmt: skip
            log.attempt(name, lambda: getattr(t, name))
        for name in (
            "size", "stride", "storage_offset", "dim", "ndimension", "numel", "nelement", "element_size", "is_contiguous", "is_floating_point",
            "is_complex", "is_signed", "is_conj", "is_neg", "is_inference", "get_device", "_is_view", "is_pinned", "is_shared", "has_names",
            "is_distributed", "is_nonzero", "_is_zerotensor", "type", "dense_dim", "sparse_dim", "dim_order",
        ):  # fmt: skip
            log.attempt(
                name + "()",
                lambda: str(getattr(t, name)()).replace("torch.", "").replace("dispatch.", ""),
            )


def functions_on_tensors(s, log):
    T = s.T
    x = T.ones(2, 3)
    c = T.ones(2, dtype=T.complex64)
    for label, call in (
        ("is_tensor", lambda: (T.is_tensor(x), T.is_tensor(1))),
        ("is_floating_point", lambda: (T.is_floating_point(x), T.is_floating_point(T.tensor(1)))),
        ("is_complex", lambda: (T.is_complex(x), T.is_complex(c))),
        ("is_signed", lambda: T.is_signed(x)),
        ("is_conj", lambda: (T.is_conj(c), T.is_conj(c.conj()))),
        ("is_neg", lambda: T.is_neg(x)),
        ("is_inference", lambda: T.is_inference(x)),
        ("is_nonzero", lambda: T.is_nonzero(T.tensor(1))),
        ("is_storage", lambda: (T.is_storage(x), T.is_storage(x.untyped_storage()))),
        ("is_same_size", lambda: T.is_same_size(x, x)),
        ("numel", lambda: T.numel(x)),
        ("get_device", lambda: T.get_device(x)),
        ("typename", lambda: T.typename(1)),
        ("typename t", lambda: T.typename(x).rpartition(".")[2]),
        ("result_type", lambda: (T.result_type(x, 1), T.result_type(T.tensor(1), 1.5), T.result_type(1, 2), T.result_type(1, T.tensor(1.5)))),
        ("promote_types", lambda: T.promote_types(T.int32, T.float16)),
        ("can_cast", lambda: (T.can_cast(T.float32, T.int64), T.can_cast(T.int64, T.float32))),
        ("equal", lambda: (T.equal(x, x), T.equal(x, x + 1), T.equal(x, T.ones(3)))),
        ("allclose", lambda: (T.allclose(x, x + 1e-9), T.allclose(x, x + 1))),
        ("isclose", lambda: T.isclose(x, x + 1e-9)),
        ("broadcast_shapes", lambda: T.broadcast_shapes((2, 1), (1, 3), 3)),
        ("broadcast_shapes bad", lambda: T.broadcast_shapes((2,), (3,))),
        ("broadcast_tensors", lambda: T.broadcast_tensors(T.ones(2, 1), T.ones(3))),
        ("broadcast_to", lambda: T.broadcast_to(T.ones(1), (2,))),
        ("numel method", lambda: x.numel()),
        ("x.equal", lambda: x.equal(x)),
        ("x.allclose", lambda: x.allclose(x)),
        ("x.is_same_size", lambda: x.is_same_size(x)),
        ("x.is_set_to", lambda: (x.is_set_to(x), x.is_set_to(x.clone()))),
        ("default dtype", lambda: T.get_default_dtype()),
        ("default device", lambda: T.get_default_device()),
        ("version", lambda: type(T.__version__).__mro__[-2:]),
        ("pi", lambda: (T.pi, T.e, T.inf, T.nan, T.newaxis)),




        ("movedim", lambda: (T.movedim(x, 0, 1).shape, x.swapaxes(0, 1).shape, x.swapdims(0, 1).shape, x.moveaxis(0, 1).shape)),
        ("ravel", lambda: (x.ravel().shape, T.ravel(x).shape)),
        ("seeds", lambda: (T.initial_seed() is not None, type(T.seed()))),

















        ("narrow", lambda: x.narrow(1, 0, 2)),

        ("unfold", lambda: T.arange(4).unfold(0, 2, 1)),






        ("tile", lambda: T.tile(T.ones(1), (2,))),

        ("_assert", lambda: T._assert(True, "x")),
        ("check", lambda: T._check(True)),
        ("check false", lambda: T._check(False)),
        ("get_file_path", lambda: T.is_grad_enabled()),
        ("is_autocast_enabled", lambda: T.is_autocast_enabled()),
        ("num threads", lambda: T.get_num_threads() > 0),
        ("frombuffer", lambda: T.frombuffer(bytearray(b"\x01\x02"), dtype=T.uint8)),
        ("view_as_real", lambda: T.view_as_real(c)),
        ("scalar_tensor", lambda: T.scalar_tensor(3)),



        ("square_", lambda: T.square(T.tensor(3))),





        ("positive", lambda: x.positive() is x),
    ):  # fmt: skip
        log.attempt(label, call)


def numbers_of(s, log):
    T = s.T
    for t in (T.tensor(3), T.tensor(2.7), T.tensor(-2.7), T.tensor(True), T.tensor([4]), T.tensor([[1.5]]), T.tensor(1 + 2j), T.tensor(2 + 0j),
              T.ones(2), T.zeros(0), T.tensor(float("nan")), T.tensor(float("inf")), T.tensor(255, dtype=T.uint8), T.tensor(1.5, dtype=T.bfloat16),
              T.ones(1, device="meta")):  # fmt: skip
        for f in (int, float, bool, complex, len, list, hex, round, abs, hash):
            log.attempt(f.__name__, lambda: f(t) if f is not hash else isinstance(f(t), int))
        log.attempt("item", lambda: t.item())
        log.attempt("tolist", lambda: t.tolist())
        log.attempt("index", lambda: range(10)[t])
        log.attempt("format", lambda: f"{t}")
        log.attempt("format spec", lambda: f"{t:.2f}")
        log.attempt("in list", lambda: [0, 1, 2, 3, 4][t])
        log.attempt("is_nonzero", lambda: t.is_nonzero())
        log.attempt("iter", lambda: [x.item() for x in t])
        log.attempt("reversed", lambda: list(reversed(t)))
        log.attempt("not", lambda: not t)


def operators(s, log):
    T = s.T
    import operator as o

    pairs = {
        "int, int": (T.tensor([7, -7]), T.tensor([2, 3])), "int, 2": (T.tensor([7, -7]), 2), "2, int": (2, T.tensor([3, 5])),
        "float, 2": (T.tensor([7.0, -7.0]), 2), "2, float": (2, T.tensor([3.0, 5.0])), "int, 2.5": (T.tensor([7, -7]), 2.5), "2.5, int": (2.5, T.tensor([7, 1])),
        "bool, bool": (T.tensor([True, False]), T.tensor([True, True])), "bool, 1": (T.tensor([True, False]), 1), "True, int": (True, T.tensor([1, 2])),
        "u8, 300": (T.tensor([7], dtype=T.uint8), 300), "int, 1j": (T.tensor([1]), 1j), "float, str": (T.ones(1), "a"), "str, float": ("a", T.ones(1)),
        "float, None": (T.ones(1), None), "float, list": (T.ones(2), [1, 2]), "list, float": ([1, 2], T.ones(2)), "np scalar": (np.float64(2), T.ones(2)), "float, np scalar": (T.ones(2), np.float64(2)), "np int": (T.tensor([3]), np.int64(2)),
        "i32, i64 0-d": (T.tensor([1], dtype=T.int32), T.tensor(2)), "i32, f64 0-d": (T.tensor([1], dtype=T.int32), T.tensor(2.0, dtype=T.float64)), "f16, f32": (T.ones(1, dtype=T.float16), T.ones(1)),
        "shapes": (T.ones(2), T.ones(3)),
    }  # fmt: skip
    for label, (a, b) in pairs.items():
        for f in (
            o.add,
            o.sub,
            o.mul,
            o.truediv,
            o.floordiv,
            o.mod,
            o.pow,
            o.matmul,
            o.and_,
            o.or_,
            o.xor,
            o.eq,
            o.ne,
            o.lt,
            o.le,
            o.gt,
            o.ge,
            divmod,
        ):
            log.attempt(f"{label} {f.__name__}", f, a, b)


def inplace_operators(s, log):
    T = s.T
    import operator as o

    for label, make, b in (

        ("str", lambda: T.ones(2), "s"),
    ):  # fmt: skip
        for f in (
            o.iadd,
            o.isub,
            o.imul,
            o.itruediv,
            o.ifloordiv,
            o.imod,
            o.ipow,
            o.iand,
            o.ior,
            o.ixor,
            o.ilshift,
            o.irshift,
            o.imatmul,
        ):
            x = make()
            r = log.attempt(f"{label} {f.__name__}", f, x, b)
            log(r is x, x._version)


def unary_operators(s, log):
    T = s.T
    for t in (
        T.tensor([1, -2]),
        T.tensor([1.5]),
        T.tensor([True]),
        T.tensor([1j]),
        T.tensor([1], dtype=T.uint8),
    ):
        for label, f in (("neg", lambda: -t), ("pos", lambda: +t), ("abs", lambda: abs(t)), ("invert", lambda: ~t), ("pos is", lambda: +t is t), ("round", lambda: round(t)),
                         ("floor", lambda: __import__("math").floor(t)), ("trunc", lambda: __import__("math").trunc(t))):  # fmt: skip
            log.attempt(label, f)


def promotion_with_scalars(s, log):
    T = s.T
    for dt in (
        T.bool,
        T.uint8,
        T.int8,
        T.int32,
        T.int64,
        T.bfloat16,
        T.float32,
        T.float64,
        T.complex64,
    ):
        t = T.ones(1, dtype=dt)
        for v in (True, 2, 1.5, 1j):
            for name in ("add", "mul", "div", "sub", "pow", "eq"):
                log.attempt(
                    f"{dt} {v} {name}".replace("torch.", "").replace("dispatch.", ""),
                    lambda: getattr(t, name)(v).dtype,
                )
        for other in (
            T.tensor(1, dtype=T.int64),
            T.tensor(1.0),
            T.tensor(1.0, dtype=T.float64),
            T.tensor(True),
        ):
            log.attempt("0-d", lambda: ((t + other).dtype, (other * t).dtype))


def equality_and_hash(s, log):
    x, y = s.T.ones(2), s.T.ones(2)
    log(x == y, x != y, x is x, hash(x) == hash(x), hash(x) == id(x), x == None, x != None)
    log.attempt("str", lambda: x == "a")
    log.attempt("obj", lambda: x == object())
    log.attempt("list", lambda: x == [1, 1])
    log.attempt("in", lambda: x in [x])
    log.attempt("in list of other", lambda: x in [y])
    log.attempt("contains", lambda: (1 in x, 2 in x, s.T.tensor(1.0) in x))
    log.attempt("contains str", lambda: "a" in x)
    log.attempt("dict key", lambda: {x: 1}[x])
    log.attempt("truth", lambda: bool(x == y))


def to_in_all_forms(s, log):
    T = s.T
    x = T.ones(2, 3)
    for label, call in (
        ("dtype", lambda: x.to(T.float64)), ("same", lambda: x.to(T.float32) is x), ("device", lambda: x.to("cpu") is x), ("device meta", lambda: x.to("meta")),
        ("device obj", lambda: x.to(T.device("cpu")) is x), ("device dtype", lambda: x.to("cpu", T.int32)), ("other", lambda: x.to(T.ones(1, dtype=T.int8))), ("copy", lambda: x.to(T.float32, copy=True) is x),
        ("kw dtype", lambda: x.to(dtype=T.float16)), ("kw device", lambda: x.to(device="meta")), ("kw both", lambda: x.to(device="cpu", dtype=T.int64)), ("nothing", lambda: x.to()), ("None", lambda: x.to(None) is x),
        ("None dtype", lambda: x.to(None, T.float64)), ("memory_format", lambda: x.to(memory_format=T.contiguous_format) is x), ("channels_last", lambda: T.ones(1, 2, 2, 2).to(memory_format=T.channels_last)),
        ("dtype non_blocking", lambda: x.to(T.float64, True)), ("dtype non_blocking copy", lambda: x.to(T.float32, False, True) is x), ("other=", lambda: x.to(other=T.ones(1, dtype=T.int8))), ("layout", lambda: x.to(T.strided)),
        ("float", lambda: x.to(float)), ("int", lambda: x.to(int)), ("bool", lambda: x.to(bool)), ("str dtype", lambda: x.to("float64")), ("bad kw", lambda: x.to(T.float32, foo=1)),
        ("bad flag", lambda: x.to(T.float32, copy=1)), ("list", lambda: x.to([1])), ("two dtypes", lambda: x.to(T.float32, dtype=T.float64)), ("tensor dtype", lambda: x.to(x, T.float64)),
        ("meta to cpu", lambda: T.ones(2, device="meta").to("cpu")), ("cpu()", lambda: x.cpu() is x), ("double", lambda: x.double()), ("half", lambda: x.half().dtype),
        ("bfloat16", lambda: x.bfloat16().dtype), ("int", lambda: x.int()), ("long", lambda: x.long()), ("short", lambda: x.short()), ("char", lambda: x.char()), ("byte", lambda: x.byte()), ("bool", lambda: x.bool()), ("cfloat", lambda: x.cfloat()),
        ("cdouble", lambda: x.cdouble().dtype), ("chalf", lambda: x.chalf().dtype), ("float same", lambda: x.float() is x), ("type", lambda: x.type(T.int32)), ("type_as", lambda: x.type_as(T.ones(1, dtype=T.int8))), ("to mf bad", lambda: x.to(memory_format=T.channels_last)),
        ("type str", lambda: x.type(x.type()) is x), ("type name", lambda: x.type().rpartition(".")[2]), ("float kw", lambda: x.float(memory_format=T.preserve_format) is x),
        ("kw copy only", lambda: x.to(copy=True) is x), ("non_blocking only", lambda: x.to(non_blocking=True) is x), ("requires", lambda: T.ones(1, requires_grad=True).to(T.float64).requires_grad),
    ):  # fmt: skip
        log.attempt(label, call)


def copying(s, log):
    T = s.T
    x = T.ones(2, 3)
    x.tag = [1]
    y = copy.copy(x)
    log(y, y.data_ptr() == x.data_ptr(), getattr(y, "tag", None), y is x)
    z = copy.deepcopy(x)
    log(z, z.data_ptr() == x.data_ptr(), getattr(z, "tag", None), z.tag is x.tag)
    a = x[0]
    m = copy.deepcopy([x, a, x])
    log(m[0] is m[2], m[0].data_ptr() == m[1].data_ptr(), m[1]._base is None)
    for t in (
        T.ones(2),
        T.ones(2, 3).t(),
        T.arange(6)[2:],
        T.ones(2, requires_grad=True),
        T.ones(2, dtype=T.bfloat16),
        T.tensor(1),
        T.zeros(0),
        T.ones(2, dtype=T.complex64).conj(),
        T.ones(2, 3, device="meta"),
    ):
        log.attempt("pickle", lambda: pickle.loads(pickle.dumps(t)))
        log.attempt("deepcopy", lambda: copy.deepcopy(t))
    log.attempt("deepcopy nonleaf", lambda: copy.deepcopy(T.ones(1, requires_grad=True) + 1))
    log(
        pickle.loads(
            pickle.dumps(
                [T.float32, T.strided, T.contiguous_format, T.device("cpu"), T.Size([1, 2])]
            )
        )
    )
    log(
        copy.deepcopy(T.float32) is T.float32,
        copy.deepcopy(T.device("cpu")) == T.device("cpu"),
        copy.copy(T.Size([1])),
    )


def numpy_interop(s, log):
    T = s.T
    x = T.ones(2, 3)
    n = x.numpy()
    n[0, 0] = 5
    log(x[0, 0], n.dtype.name, n.shape, n.strides)
    a = np.arange(4, dtype=np.int32)
    t = T.from_numpy(a)
    a[0] = 9
    log(t, t.numpy() is a)
    for v in (
        np.array(1.5),
        np.array([True]),
        np.ones((2, 2), np.float16),
        np.array(["a"]),
        np.array([1], dtype=np.uint16),
        np.arange(6)[::2],
        np.arange(3)[::-1],
        np.array([1j]),
        [1],
        3,
        np.array([1], dtype=">i4"),
        np.array([None]),
    ):
        log.attempt("from_numpy", T.from_numpy, v)
        log.attempt("as_tensor", T.as_tensor, v)
    log.attempt("asarray", lambda: np.asarray(x).tolist())
    log.attempt("array dtype", lambda: np.array(x, dtype=np.int64).tolist())
    log.attempt("np.add", lambda: type(np.add(x, 1)).__name__)
    log.attempt
    log.attempt("np.sqrt", lambda: np.sqrt(x))
    log.attempt("grad", lambda: T.ones(1, requires_grad=True).numpy())
    log.attempt("grad force", lambda: T.ones(1, requires_grad=True).numpy(force=True).tolist())
    log.attempt("conj", lambda: T.ones(1, dtype=T.complex64).conj().numpy())
    log.attempt(
        "conj force", lambda: T.ones(1, dtype=T.complex64).conj().numpy(force=True).tolist()
    )
    log.attempt("meta", lambda: T.ones(1, device="meta").numpy())
    log.attempt("0-d", lambda: T.tensor(3).numpy().shape)
    log.attempt("view", lambda: T.arange(6).view(2, 3).t().numpy().strides)
    log.attempt("readonly", lambda: T.from_numpy(np.broadcast_to(np.ones(1), (3,))))


def dlpack(s, log):
    T = s.T
    x = T.arange(4)
    y = T.from_dlpack(x)
    y[0] = 7
    log(x, x.__dlpack_device__()[1], type(x.__dlpack__()).__name__)
    log(np.from_dlpack(x).tolist())
    log.attempt("numpy", lambda: T.from_dlpack(np.arange(3)))
    log.attempt("bool", lambda: T.from_dlpack(T.tensor([True])))
    log.attempt("grad", lambda: T.from_dlpack(T.ones(1, requires_grad=True)))
    log.attempt("conj", lambda: T.from_dlpack(T.ones(1, dtype=T.complex64).conj()))
    log.attempt("strided", lambda: T.from_dlpack(T.arange(6).view(2, 3).t()))
    log.attempt("bad", lambda: T.from_dlpack(3))
    log.attempt("meta", lambda: T.ones(1, device="meta").__dlpack__())
    log.attempt


def storages(s, log):
    T = s.T
    x = T.arange(6)
    st = x.untyped_storage()
    log(
        st.nbytes(),
        len(st),
        st.size(),
        st.device,
        st.data_ptr() == x.data_ptr(),
        st.resizable(),
    )
    log(
        x[2:].untyped_storage().data_ptr() == st.data_ptr(),
        x[2:].storage_offset(),
        x[2:].data_ptr() - x.data_ptr(),
    )
    log(x.clone().untyped_storage().data_ptr() == st.data_ptr())
    log.attempt("resize", st.resize_, 16)
    log(st.nbytes())
    log.attempt("resize bad", st.resize_, -1)
    log.attempt("item", lambda: st[0])
    log.attempt("tolist", lambda: T.ones(1, dtype=T.uint8).untyped_storage().tolist())
    log.attempt("fill", lambda: T.ones(1, dtype=T.uint8).untyped_storage().fill_(3).tolist())
    log.attempt("setitem", lambda: T.ones(2, dtype=T.uint8).untyped_storage().__setitem__(0, 4))
    log.attempt("copy", lambda: T.ones(2, dtype=T.uint8).untyped_storage().clone().tolist())
    log.attempt("element_size", lambda: st.element_size())
    log.attempt("is_cuda", lambda: (st.is_cuda, st.is_shared(), st.is_pinned()))
    log.attempt("new", lambda: T.UntypedStorage(4).nbytes())
    log.attempt("new meta", lambda: T.UntypedStorage(4, device="meta").device)
    log.attempt("set_", lambda: T.empty(0).set_(T.ones(4).untyped_storage()))
    log.attempt(
        "set_ sizes", lambda: T.empty(0).set_(T.arange(6.0).untyped_storage(), 1, (2, 2), (2, 1))
    )
    log.attempt("set_ tensor", lambda: T.empty(0).set_(T.arange(3.0)))
    log.attempt("set_ nothing", lambda: T.ones(3).set_())
    log.attempt("set_ dtype", lambda: T.ones(3).set_(T.arange(3)))
    log.attempt("_cdata", lambda: st._cdata == x.untyped_storage()._cdata)
    log.attempt("x._cdata", lambda: x._cdata == x._cdata)
    log.attempt("eq", lambda: st == x.untyped_storage())
    log.attempt("is", lambda: st is x.untyped_storage())
    log.attempt("meta", lambda: T.ones(3, device="meta").untyped_storage().nbytes())
    log.attempt("meta ptr", lambda: T.ones(3, device="meta").untyped_storage().data_ptr())
    log.attempt("meta data_ptr", lambda: T.ones(3, device="meta").data_ptr())
    log.attempt("empty data_ptr", lambda: T.ones(0).data_ptr())
    log.attempt
    log.attempt("resize_ tensor", lambda: T.arange(2).resize_(1))
    log.attempt("resize_ same", lambda: T.arange(4).resize_(2, 2))
    log.attempt("resize_ grows", lambda: T.arange(2).resize_(3).shape)
    log.attempt("resize_ view", lambda: T.arange(4)[1:3].resize_(2, 1))
    log.attempt
    log.attempt("resize_ neg", lambda: T.arange(4).resize_(-1))
    log.attempt("resize_ grad", lambda: T.ones(4, requires_grad=True).resize_(2))
    log.attempt("share", lambda: x.is_set_to(x.view(6)))
    log.attempt("hash", lambda: isinstance(hash(st), int))
    log.attempt("too big", lambda: T.as_strided(T.ones(2), (3,), (1,)))
    log.attempt("copy_", lambda: st.copy_(st) is st)
    log.attempt("bool", lambda: bool(st))


def generators(s, log):
    T = s.T
    g = T.Generator()
    log(g.device, g.initial_seed(), type(g).__name__)
    log(g.manual_seed(3) is g, g.initial_seed())
    a = T.rand(3, generator=g)
    g.manual_seed(3)
    log(T.equal(a, T.rand(3, generator=g)))
    st = g.get_state()
    b = T.rand(2, generator=g)
    log.attempt("set_state", lambda: g.set_state(st) is g)
    log(T.equal(b, T.rand(2, generator=g)))
    log(T.is_tensor(st), getattr(st, "dtype", None))
    log.attempt("clone_state", lambda: g.clone_state() is g)
    log.attempt("seed", lambda: isinstance(g.seed(), int))
    log.attempt("neg", lambda: g.manual_seed(-1).initial_seed())
    log.attempt("big", lambda: g.manual_seed(2**64))
    log.attempt("bad", lambda: g.manual_seed("a"))
    log.attempt("float", lambda: g.manual_seed(1.5))
    log.attempt("dev", lambda: T.Generator(device="cpu").device)
    log.attempt("dev bad", lambda: T.Generator("nope"))
    log.attempt("T.manual_seed", lambda: T.manual_seed(5).initial_seed())
    log.attempt("T.initial_seed", lambda: T.initial_seed())
    log.attempt("T.get_rng_state", lambda: T.is_tensor(T.get_rng_state()))
    st = T.get_rng_state()
    a = T.rand(2)
    T.set_rng_state(st)
    log(T.equal(a, T.rand(2)), T.default_generator.initial_seed())
    log.attempt
    log.attempt("set bad", lambda: g.set_state(T.ones(3)))
    log.attempt("set bad type", lambda: g.set_state(3))


def sizes(s, log):
    T = s.T
    z = T.Size([2, 3])
    log(
        z, z.numel(), z[0], z[:1], type(z[:1]), z + (1,), type(z + (1,)), z * 2, type(z * 2), len(z)
    )
    log.attempt(
        "eq", lambda: (z == (2, 3), z == [2, 3], hash(z) == hash((2, 3)), isinstance(z, tuple))
    )
    log.attempt("radd", lambda: ((1,) + z, type((1,) + z)))
    log.attempt("add list", lambda: z + [1])
    log.attempt("rmul", lambda: type(2 * z))
    log.attempt("empty", lambda: (T.Size(), T.Size().numel(), T.Size([])))
    log.attempt("bad", lambda: T.Size([1.5]))
    log.attempt("bad str", lambda: T.Size(["a"]))
    log.attempt("ints", lambda: T.Size(3))
    log.attempt("tensor", lambda: T.Size([T.tensor(2)]))
    log.attempt("np", lambda: T.Size([np.int64(2)]))
    log.attempt("bools", lambda: T.Size([True]))
    log.attempt("neg", lambda: T.Size([-1]))
    log.attempt("unpack", lambda: (lambda a, b: (a, b))(*z))
    log.attempt(
        "index", lambda: (z.index(3), z.count(2), 2 in z, list(z), tuple(z), type(tuple(z)))
    )
    log.attempt(
        "shape type",
        lambda: (
            type(T.ones(2, 3).shape),
            type(T.ones(2).size()),
            type(T.ones(2).stride()),
            T.ones(2, 3).size(-1),
            T.ones(2, 3).stride(0),
        ),
    )
    log.attempt("size bad", lambda: T.ones(2).size(3))
    log.attempt("size None", lambda: T.ones(2).size(None))
    log.attempt("size kw", lambda: T.ones(2, 3).size(dim=1))
    log.attempt("stride kw", lambda: T.ones(2, 3).stride(dim=1))
    log.attempt("size str", lambda: T.ones(2).size("a"))
    log.attempt("0-d size", lambda: (T.tensor(1).size(), T.tensor(1).shape, T.tensor(1).size(0)))
    log.attempt("len 0-d", lambda: len(T.tensor(1)))
    log.attempt("json", lambda: __import__("json").dumps(z))
    log.attempt("max", lambda: (max(z), sum(z), sorted(z, reverse=True)))


def gradients_without_an_engine(s, log):
    T = s.T
    x = T.ones(2, requires_grad=True)
    log(x.is_leaf, x.grad, x.grad_fn, x.requires_grad)
    y = x * 2
    log(y.is_leaf, y.requires_grad, y.grad_fn is not None)
    log.attempt("name", lambda: y.grad_fn.name())
    log.attempt
    log.attempt("in place on a leaf", lambda: x.add_(1))
    log.attempt("view of leaf in place", lambda: x[0].fill_(1))
    log.attempt("out= leaf", lambda: T.add(x, 1, out=x))
    log.attempt("out requires grad", lambda: T.add(T.ones(2), 1, out=T.ones(2, requires_grad=True)))
    log.attempt("int", lambda: T.ones(2, dtype=T.int64, requires_grad=True))
    log.attempt("requires_grad_ int", lambda: T.tensor([1]).requires_grad_())
    log.attempt("requires_grad_ off nonleaf", lambda: y.requires_grad_(False))
    log.attempt("requires_grad set", lambda: setattr(y, "requires_grad", False))
    log(
        y.detach().requires_grad,
        y.detach().is_leaf,
        y.detach()._is_view(),
        y.data.requires_grad,
        y.detach().grad_fn,
    )
    with T.no_grad():
        z = x * 2
        log(z.requires_grad, T.is_grad_enabled())
        log.attempt("in place under no_grad", lambda: x.add_(1))
    log(x._version)
    with T.no_grad(), T.enable_grad():
        log((x * 2).requires_grad)
    with T.set_grad_enabled(False):
        log(T.is_grad_enabled())
    log.attempt("comparison", lambda: (x > 1).requires_grad)
    log.attempt("argmax", lambda: x.argmax().requires_grad)
    log.attempt("long", lambda: x.long().requires_grad)
    log.attempt("clone", lambda: x.clone().requires_grad)
    log.attempt("detach_", lambda: (x * 2).detach_().requires_grad)
    log.attempt("zeros_like", lambda: T.zeros_like(x).requires_grad)
    log.attempt("retain_grad", lambda: y.retain_grad())
    log.attempt("item", lambda: x.sum().item())
    log.attempt("float", lambda: float(x.sum()))
    log.attempt("tolist", lambda: x.tolist())
    log.attempt("new_tensor", lambda: x.new_tensor([1.0]).requires_grad)
    log.attempt("x.data", lambda: (x.data.data_ptr() == x.data_ptr(), x.data._version))
    log.attempt("set data", lambda: setattr(x, "data", T.zeros(3)))
    log(x)
    log.attempt("set data dtype", lambda: setattr(x, "data", T.zeros(3, dtype=T.int32)))
    log.attempt
    log(x.grad)
    log.attempt("set grad none", lambda: setattr(x, "grad", None))
    log.attempt("set grad shape", lambda: setattr(x, "grad", T.ones(4)))
    log.attempt

    @T.no_grad()
    def f():
        return T.is_grad_enabled()

    @T.inference_mode()
    def g():
        return T.is_inference_mode_enabled()

    @T.no_grad
    def h():
        return T.is_grad_enabled()

    @T.no_grad()
    def gen():
        yield T.is_grad_enabled()
        yield T.is_grad_enabled()

    log(f(), g(), h(), list(gen()), T.is_grad_enabled(), f.__name__)


def inference_tensors(s, log):
    T = s.T
    with T.inference_mode():
        x = T.ones(2)
        log(x.is_inference(), x.requires_grad, T.is_inference_mode_enabled(), T.is_grad_enabled())
        log.attempt("version", lambda: x._version)
        x.add_(1)
        y = x.view(2)
        log(y.is_inference(), y._is_view())
        log.attempt("requires", lambda: x.requires_grad_())
    n = T.ones(2)
    with T.inference_mode():
        v = n.view(2)
        log(v.is_inference(), v._is_view(), v._base is n)
        n.add_(1)
        log(n._version, n.is_inference())
        with T.inference_mode(False):
            log(T.ones(1).is_inference())
    log.attempt("in place outside", lambda: x.add_(1))
    log.attempt("op outside", lambda: (x + 1).is_inference())
    log.attempt("view outside", lambda: x.view(2).is_inference())
    log.attempt("clone", lambda: x.clone().is_inference())
    log.attempt("requires_grad", lambda: x.requires_grad_())
    log.attempt("out", lambda: T.add(n, n, out=x))
    log.attempt("mix", lambda: n.add_(x))
    log.attempt("version", lambda: x._version)
    log.attempt
    log.attempt("is_inference_mode", lambda: T.is_inference_mode_enabled())


def settings(s, log):
    T = s.T
    log(T.get_default_dtype())
    T.set_default_dtype(T.float64)
    log(
        T.ones(1).dtype,
        T.tensor(1.5).dtype,
        T.tensor(1j).dtype,
        (T.tensor(1) / 2).dtype,
        T.arange(0.0, 1.0).dtype,
        T.full((1,), 1.5).dtype,
    )
    log.attempt("int", T.set_default_dtype, T.int32)
    log.attempt("str", T.set_default_dtype, "float32")
    log.attempt("float", T.set_default_dtype, float)
    T.set_default_dtype(T.float32)
    T.set_default_device("meta")
    log(
        T.ones(1).device,
        T.tensor([1]).device,
        T.get_default_device(),
        T.zeros_like(T.ones(1)).device,
        T.arange(2).device,
    )
    log.attempt("as_tensor", lambda: T.as_tensor([1]).device)
    log.attempt("from_numpy", lambda: T.from_numpy(np.ones(1)).device)
    log.attempt("explicit", lambda: T.ones(1, device="cpu").device)
    log.attempt
    T.set_default_device("cpu")
    log(T.ones(1).device)
    T.set_default_device(None)
    with T.device("meta"):
        log(T.ones(1).device, T.tensor(1).device, T.randn(2).device, T.empty(2).device)
        with T.device("cpu"):
            log(T.ones(1).device)
        log(T.get_default_device())
    log(T.ones(1).device, T.get_default_device())


def attributes_of_users(s, log):
    T = s.T
    x = T.ones(2)
    x.note = "a"
    log(x.note, x.__dict__, hasattr(x, "nope"))
    del x.note
    log.attempt("gone", lambda: x.note)
    log.attempt("set shape", lambda: setattr(x, "shape", (1, 2)))
    log.attempt("set dtype", lambda: setattr(x, "dtype", T.int32))
    log.attempt("set device", lambda: setattr(x, "device", "meta"))
    log.attempt("set grad_fn", lambda: setattr(x, "grad_fn", None))
    import weakref

    w = weakref.ref(x)
    log(w() is x)
    log.attempt("call", lambda: x())
    log.attempt
    log.attempt("new", lambda: T.Tensor([1, 2]))
    log.attempt("new sizes", lambda: T.Tensor(2, 3).shape)
    log.attempt("new none", lambda: T.Tensor())
    log.attempt("new str", lambda: T.Tensor("a"))
    log.attempt("FloatTensor", lambda: T.FloatTensor([1]))
    log.attempt("LongTensor", lambda: T.LongTensor([1]))
    log.attempt("x.new", lambda: x.new([1, 2]))
    log.attempt("isinstance", lambda: (isinstance(x, T.FloatTensor), isinstance(x, T.LongTensor)))


def casting_a_pointer(s, log):
    T = s.T
    log.attempt("view dtype", lambda: T.ones(2).view(T.int32))
    log.attempt("view dtype smaller", lambda: T.ones(2).view(T.int16).shape)
    log.attempt("view dtype bigger", lambda: T.ones(4).view(T.float64).shape)
    log.attempt("view dtype bad", lambda: T.ones(3).view(T.float64).shape)
    log.attempt("view dtype 0-d", lambda: T.tensor(1.0).view(T.int8))
    log.attempt("view_as", lambda: T.ones(4).view_as(T.ones(2, 2)))
    log.attempt("expand_as", lambda: T.ones(1).expand_as(T.ones(2, 2)))
    log.attempt("reshape_as", lambda: T.ones(4).reshape_as(T.ones(2, 2)))
    log.attempt("view bad", lambda: T.ones(2, 3).t().view(6))
    log.attempt("view -1 twice", lambda: T.ones(4).view(-1, -1))
    log.attempt("view size", lambda: T.ones(4).view(3))
    log.attempt("view empty", lambda: T.ones(1).view([]))
    log.attempt("view none", lambda: T.ones(1).view())
    log.attempt("view 0 -1", lambda: T.ones(0).view(0, -1))
    log.attempt("as_strided", lambda: T.arange(6).as_strided((2, 2), (2, 1), 1))
    log.attempt("as_strided neg", lambda: T.arange(6).as_strided((2,), (-1,)))
    log.attempt("unflatten", lambda: T.arange(6).unflatten(0, (2, 3)))
    log.attempt("real", lambda: T.ones(2, dtype=T.complex64).real)
    log.attempt("imag", lambda: T.ones(2).imag)
    log.attempt("real of real", lambda: T.ones(2).real)
    x = T.zeros(2, dtype=T.complex64)
    x.real = 3
    x.imag = T.ones(2)
    log(x, x.conj(), x.conj().is_conj(), x.resolve_conj() is x, x.mH.shape if x.ndim == 2 else None)
    log.attempt("H", lambda: T.ones(2, 2, dtype=T.complex64).H.is_conj())
    log.attempt("mT", lambda: T.ones(2, 3, 4).mT.shape)
    log.attempt("T 3-d", lambda: T.ones(2, 3, 4).T.shape)
    log.attempt("adjoint", lambda: T.ones(2, 3).adjoint().shape)
    log.attempt("t 3-d", lambda: T.ones(2, 3, 4).t())


def memory_formats(s, log):
    T = s.T
    x = T.ones(2, 3, 4, 5)
    c = x.contiguous(memory_format=T.channels_last)
    log(
        c,
        c.is_contiguous(),
        c.is_contiguous(memory_format=T.channels_last),
        x.is_contiguous(memory_format=T.channels_last),
    )
    log(
        (c + 1).stride(),
        (c + x).stride(),
        (x + c).stride(),
        c.clone().stride(),
        c.clone(memory_format=T.contiguous_format).stride(),
        T.empty_like(c).stride(),
        T.zeros_like(c, memory_format=T.contiguous_format).stride(),
    )
    log(
        c.contiguous() is c,
        x.contiguous() is x,
        c.to(memory_format=T.preserve_format) is c,
        c.to(T.float64).stride(),
        c.permute(0, 2, 3, 1).is_contiguous(),
    )
    log.attempt(
        "3d", lambda: T.ones(1, 2, 3, 4, 5).contiguous(memory_format=T.channels_last_3d).stride()
    )
    log.attempt("3d of 4", lambda: x.contiguous(memory_format=T.channels_last_3d))
    log.attempt("preserve", lambda: x.contiguous(memory_format=T.preserve_format))
    log.attempt("str", lambda: x.contiguous(memory_format="channels_last"))
    log.attempt("empty", lambda: T.empty(1, 2, 3, 4, memory_format=T.channels_last).stride())
    log.attempt("is_contiguous pos", lambda: x.is_contiguous(T.contiguous_format))
    log.attempt
    log.attempt("expanded clone", lambda: T.ones(1, 3).expand(2, 3).clone().stride())
    log.attempt("permuted add", lambda: (T.ones(2, 3).t() + 1).stride())
    log.attempt("gap", lambda: (T.ones(4, 4)[:, :2] + 1).stride())
    log.attempt(
        "1 sized", lambda: T.ones(2, 1, 4, 1).contiguous(memory_format=T.channels_last).stride()
    )
