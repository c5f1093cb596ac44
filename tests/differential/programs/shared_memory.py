"""Which values share memory, and storages whose elements have a dtype."""

import copy
import warnings


def aliases(s, log):
    T, C = s.T, s.C
    x, o = T.arange(12.0).reshape(3, 4), T.ones(3)
    values = {
        "x": x, "row": x[0], "t": x.t(), "o": o, "detached": x.detach(), "meta": x.to("meta"),
        "empty": T.ones(0), "list": [o, x], "none": None, "int": 3, "nested": ([o], {"a": x}),
    }  # fmt: skip
    for name, a in values.items():
        for other, b in values.items():
            log(name, other, C._is_alias_of(a, b) if name != other else "", C._overlaps(a, b))


def lifting(s, log):
    log(s.C._only_lift_cpu_tensors())
    for value in (True, False, 3, "x"):
        log.attempt("set", s.C._set_only_lift_cpu_tensors, value)
        log(s.C._only_lift_cpu_tensors())


def storages_with_a_dtype(s, log):
    T = s.T
    x = T.arange(4.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        st = x.storage()
    log([w.category for w in caught])
    warnings.simplefilter("ignore")
    log(type(st).__name__, len(st), st.size(), st.nbytes(), st.element_size(), st.dtype, st.device)
    log(st.tolist(), list(st), st[1], st[-1], st.data_ptr() == x.data_ptr(), st.is_cuda)
    log(st)
    for index in (10, "a", slice(0, 2), -5):
        log.attempt("index", lambda i=index: st[i])
    st[0] = 9
    log(x, st.clone().fill_(3).tolist(), x)
    log(st.copy_(T.ones(4).storage()).tolist(), x)
    log(st.resize_(6), st.size())
    log(copy.deepcopy(st).size(), copy.copy(st).dtype, type(st.untyped()).__name__)
    log(T.is_storage(st), T.is_storage(x), T.is_storage(x.untyped_storage()))
    log(x._typed_storage().size(), isinstance(st, T.TypedStorage))


def typed_storages_made(s, log):
    T = s.T
    warnings.simplefilter("ignore")
    made = T.TypedStorage
    log.attempt("list", lambda: made([1, 2, 3]).tolist())
    log.attempt("ints", lambda: made([1, 2, 3], dtype=T.int64).tolist())
    log.attempt("size", lambda: made(3, dtype=T.int32).size())
    log.attempt("empty", lambda: (made().size(), made().dtype))
    below = T.ones(2).untyped_storage()
    log.attempt("wrapped", lambda: made(wrap_storage=below, dtype=T.float32).tolist())
    log.attempt("other dtype", lambda: made(wrap_storage=below, dtype=T.int32).tolist())
    log.attempt("no dtype", lambda: made(wrap_storage=below))
    log.attempt("size too", lambda: made(2, wrap_storage=below, dtype=T.float32))
    log.attempt("no storage", lambda: made(wrap_storage=T.ones(1), dtype=T.float32))


def storages_from_buffers(s, log):
    T, make = s.T, s.T.UntypedStorage.from_buffer
    data = bytearray(b"abcdefgh")
    for given, options in (
        ((data,), {"dtype": T.uint8}),
        ((b"ab",), {"dtype": T.uint8}),
        ((data, "little"), {"dtype": T.float32}),
        ((data, "big"), {"dtype": T.float32}),
        ((data, "native"), {"dtype": T.int16}),
        ((data,), {"dtype": T.int16}),
        ((data, "foo"), {"dtype": T.int16}),
        ((data,), {"dtype": T.uint8, "offset": 2, "count": 3}),
        ((data,), {"dtype": T.uint8, "offset": 9}),
        ((data,), {"dtype": T.uint8, "offset": -1}),
        ((data,), {"dtype": T.uint8, "count": 30}),
        ((bytearray(b"abc"), "little"), {"dtype": T.int16}),
        ((data,), {}),
        ((3,), {"dtype": T.uint8}),
        ((data,), {"dtype": T.bool}),
        ((bytearray([0, 1]),), {"dtype": T.bool}),
        ((bytearray([0, 2]), "little"), {"dtype": T.bool}),
    ):
        log.attempt(str((len(given), sorted(options))), lambda g=given, o=options: make(*g, **o).tolist())
