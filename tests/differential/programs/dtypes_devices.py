"""dtype, device, layout and memory format objects."""

import copy
import pickle


def _dtypes(s):
    names = [
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "float16",
        "float32",
        "float64",
        "complex32",
        "complex64",
        "complex128",
        "bool",
        "bfloat16",
        "float8_e4m3fn",
        "float8_e5m2",
        "uint16",
        "uint32",
        "uint64",
        "quint8",
        "qint8",
        "qint32",
        "bits8",
        "uint4",
        "int4",
        "float8_e8m0fnu",
        "float4_e2m1fn_x2",
    ]
    return {n: getattr(s.T, n) for n in names}


def attributes_of_dtypes(s, log):
    for name, d in _dtypes(s).items():
        for a in ("is_floating_point", "is_complex", "is_signed", "itemsize"):
            log.attempt(f"{name} {a}", lambda: getattr(d, a))
        log.attempt("to_real", lambda: d.to_real())
        log.attempt("to_complex", lambda: d.to_complex())
        log(
            d,
            str(d).rpartition(".")[2],
            d.__reduce__(),
            hash(d) == hash(d),
            d == d,
            d == name,
            pickle.loads(pickle.dumps(d)) is d,
            copy.deepcopy(d) is d,
        )


def aliases(s, log):
    T = s.T
    log(
        T.float is T.float32,
        T.double is T.float64,
        T.half is T.float16,
        T.int is T.int32,
        T.long is T.int64,
        T.short is T.int16,
        T.cfloat is T.complex64,
        T.cdouble is T.complex128,
        T.chalf is T.complex32,
    )
    log(
        isinstance(T.float32, T.dtype),
        type(T.float32),
        T.dtype.__name__,
        T.dtype.__module__ in ("torch", "dispatch"),
    )
    log.attempt("call", lambda: T.dtype())
    log.attempt("lt", lambda: T.float32 < T.float64)
    log.attempt("set", lambda: setattr(T.float32, "x", 1))
    log({T.float32: 1}[T.float], T.float32 in (T.float32,), T.float32 != T.float64)
    log.attempt(
        "layout",
        lambda: (
            T.strided,
            T.sparse_coo,
            T.sparse_csr,
            T.jagged,
            T._mkldnn,
            T.layout.__name__,
            isinstance(T.strided, T.layout),
        ),
    )
    log.attempt(
        "mf",
        lambda: (
            T.contiguous_format,
            T.preserve_format,
            T.channels_last,
            T.channels_last_3d,
            T.memory_format.__name__,
        ),
    )
    log.attempt(
        "pickle", lambda: [pickle.loads(pickle.dumps(v)) is v for v in (T.strided, T.channels_last)]
    )
    log.attempt


def infos(s, log):
    T = s.T
    for d in (
        T.float16,
        T.bfloat16,
        T.float32,
        T.float64,
        T.complex64,
        T.float8_e4m3fn,
        T.float8_e5m2,
    ):
        f = T.finfo(d)
        log(f.bits, f.max, f.min, f.eps, f.tiny, f.smallest_normal, f.resolution, f.dtype, repr(f))
    for d in (T.uint8, T.int8, T.int16, T.int32, T.int64, T.uint16, T.bool):
        log.attempt(
            "iinfo",
            lambda: (
                T.iinfo(d).bits,
                T.iinfo(d).max,
                T.iinfo(d).min,
                T.iinfo(d).dtype,
                repr(T.iinfo(d)),
            ),
        )
    log.attempt("finfo int", lambda: T.finfo(T.int32))
    log.attempt("iinfo float", lambda: T.iinfo(T.float32))
    log.attempt("finfo()", lambda: T.finfo().dtype)
    log.attempt("iinfo()", lambda: T.iinfo())
    log.attempt(
        "eq",
        lambda: (
            T.finfo(T.float32) == T.finfo(T.float32),
            T.finfo(T.float32) == T.finfo(T.float64),
        ),
    )


def promotions(s, log):
    T = s.T
    ds = _dtypes(s)
    for a in ds:
        row = []
        for b in ds:
            try:
                row.append(str(T.promote_types(ds[a], ds[b])).rpartition(".")[2])
            except Exception as e:
                row.append(type(e).__name__)
        log(a, *row)
    for a in ds:
        log(a, *[str(T.can_cast(ds[a], ds[b])) for b in ds])
    log.attempt("bad", lambda: T.promote_types(T.float32, "x"))


def devices(s, log):
    T = s.T
    for args in (
        ("cpu",),
        ("cuda",),
        ("cuda:1",),
        ("cuda", 2),
        ("meta",),
        ("meta:0",),
        ("cpu:0",),
        ("mps",),
        ("xpu:3",),
        ("privateuseone",),
        ("xla",),
        ("hpu",),
        ("ipu",),
        ("lazy",),
        ("mtia",),
        ("vulkan",),
        ("foo",),
        ("",),
        ("cuda:",),
        ("cuda:-1",),
        ("cuda:a",),
        ("cuda:01",),
        ("cuda", -1),
        ("cuda", "1"),
        ("cuda:0", 1),
        (None,),
        (1.5,),
        (),
        ("cpu", 0, 1),
        ("CPU",),
        (" cpu",),
        ("cuda", None),
        (True,),
    ):
        log.attempt(str(args), lambda: T.device(*args))
    d = T.device("cuda:1")
    log(
        d.type,
        d.index,
        str(d),
        repr(d),
        d == T.device("cuda", 1),
        d != T.device("cuda"),
        hash(d) == hash(T.device("cuda:1")),
        d == "cuda:1",
        T.device(d) == d,
    )
    log(
        pickle.loads(pickle.dumps(d)) == d,
        copy.deepcopy(d),
        T.device("cpu").index,
        T.device("cpu") == T.device("cpu:0"),
        T.device(type="cuda", index=1),
        isinstance(d, T.device),
    )
    log.attempt("device=", lambda: T.device(device="cpu"))
    log.attempt("type=", lambda: T.device(type="cpu"))
    log.attempt("index=", lambda: T.device("cuda", index=3))
    log.attempt("set", lambda: setattr(d, "type", "cpu"))
    log.attempt("lt", lambda: d < d)
    log.attempt("reduce", lambda: d.__reduce__()[1])
    log.attempt("ctx", lambda: hasattr(d, "__enter__"))

    @T.no_grad()
    def f():
        return T.ones(1).device

    log.attempt("decorator", f)


def default_dtype_and_scalars(s, log):
    T = s.T
    log.attempt(
        "result_type",
        lambda: [
            T.result_type(a, b)
            for a, b in (
                (T.ones(1), 1),
                (T.ones(1, dtype=T.int32), 1.5),
                (T.tensor(1), T.ones(1, dtype=T.float16)),
                (T.tensor(1.0, dtype=T.float64), T.ones(1, dtype=T.float16)),
                (1, 1.5),
                (True, 1),
                (1j, T.ones(1)),
            )
        ],
    )
    log.attempt("result_type bad", lambda: T.result_type("a", 1))
    log.attempt(
        "tensor is_*",
        lambda: (
            T.ones(1).is_floating_point(),
            T.ones(1).dtype.is_floating_point,
            T.ones(1).is_complex(),
            T.ones(1).is_signed(),
        ),
    )
