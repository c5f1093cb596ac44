"""The dtype of an operation on real tensors and complex numbers or tensors."""


def result_types(s, log):
    T = s.T
    kinds = (T.bool, T.int64, T.float16, T.bfloat16, T.float32, T.float64)
    others = {
        "1j": 1j, "0-d c64": T.tensor(1j), "0-d c128": T.tensor(1j, dtype=T.complex128),
        "c64": T.ones(1, dtype=T.complex64), "2.5": 2.5, "0-d f64": T.ones((), dtype=T.float64),
    }  # fmt: skip
    for kind in kinds:
        for size in ((), (2,)):
            x = T.ones(size, dtype=kind)
            log(kind, size, *(T.result_type(x, o) for o in others.values()))
            log(*(T.result_type(o, x) for o in others.values()))
