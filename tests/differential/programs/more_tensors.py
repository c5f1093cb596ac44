"""Tensor basics: views, versions, in-place, promotion, indexing, factories, printing, storage."""

from typing import Any


def views_and_bases(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(12.0)
    v = x.view(3, 4)
    w = v[1:, ::2]
    log(v._is_view(), v._base is x, w._base is x, x._base, x._is_view())
    log(w, w.storage_offset(), w.stride(), w.is_contiguous())
    w.zero_()
    log(x._version, v._version, w._version, x)
    d = x.detach()
    log(d._is_view(), d._version, d.data_ptr() == x.data_ptr())
    d.add_(1)
    log(x._version, x.data._version, x.clone()._version)
    log(v.t()._base is x, v.reshape(12)._base is x, v.t().reshape(12)._base)
    log(v.expand(2, 3, 4).stride(), v.contiguous() is v, v.t().contiguous() is v)


def view_errors(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(6).view(2, 3)
    for name, call in {
        "view": lambda: x.view(4),
        "noncontiguous": lambda: x.t().view(6),
        "two -1": lambda: x.view(-1, -1),
        "-2": lambda: x.view(-2, 3),
        "zero": lambda: T.empty(0).view(-1, 0),
        "expand": lambda: x.expand(2, 4),
        "squeeze": lambda: x.squeeze(3),
        "transpose": lambda: x.transpose(0, 2),
        "permute": lambda: x.permute(0, 0),
        "select": lambda: x.select(0, 2),
        "narrow": lambda: x.narrow(1, 2, 2),
        "unflatten": lambda: x.unflatten(1, (2, 2)),
        "as_strided": lambda: x.as_strided((9,), (1,)),
        "split": lambda: x.split([1, 3]),
        "view dtype": lambda: x.view(T.float64).dtype,
        "view size": lambda: T.ones(3, dtype=T.int8).view(T.int32),
    }.items():
        log.attempt(name, call)


def reinterpreting_views(s: Any, log: Any) -> None:
    T = s.T
    x = T.tensor([1.0, 2.0])
    log(x.view(T.int32), x.view(T.uint8).shape, x.view(T.float64).shape)
    c = T.tensor([1 + 2j, 3 - 1j])
    log(T.view_as_real(c), c.real, c.imag, c.conj().is_conj(), c.conj()._is_view())
    c.imag.zero_()
    log(c, c._version)
    log(c.conj().resolve_conj().is_conj(), T.view_as_complex(T.ones(2, 2)))
    log(c.conj().imag.is_neg(), c.shape)
    log(c.view(T.float32).shape, x.unfold(0, 1, 1).shape)


def in_place_errors(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2, dtype=T.int64)
    log.attempt("float", lambda: x.add_(1.5))
    log.attempt("div", lambda: x.div_(2))
    log.attempt("float tensor", lambda: x.add_(T.ones(2)))
    log.attempt("shape", lambda: T.ones(1).add_(T.ones(3)))
    log.attempt("expanded", lambda: T.ones(1).expand(3).add_(1))
    log.attempt("overlap", lambda: (lambda y: y[1:].copy_(y[:-1]))(T.arange(4)))
    log.attempt("bool", lambda: T.ones(1, dtype=T.bool).add_(1))
    log.attempt("out dtype", lambda: T.add(T.ones(1), 1, out=T.ones(1, dtype=T.int64)))
    log.attempt("out shape", lambda: T.add(T.ones(2), 1, out=T.empty(0)))
    log(x, x._version)
    x.bitwise_or_(2).mul_(3)
    log(x, x._version)


def promotion_table(s: Any, log: Any) -> None:
    T = s.T
    kinds = [
        T.bool,
        T.uint8,
        T.int8,
        T.int16,
        T.int32,
        T.int64,
        T.float16,
        T.bfloat16,
        T.float32,
        T.float64,
        T.complex64,
    ]
    for a in kinds:
        log(a, " ".join(str(T.promote_types(a, b)).rpartition(".")[2] for b in kinds))
    log(
        T.result_type(T.ones(1, dtype=T.int32), 1.0),
        T.result_type(T.ones((), dtype=T.float64), T.ones(1)),
    )
    log(T.can_cast(T.float32, T.int32), T.can_cast(T.int32, T.float32), T.can_cast(T.bool, T.uint8))


def promotion_in_operators(s: Any, log: Any) -> None:
    T = s.T
    i, f, b = T.arange(3), T.ones(3), T.tensor([True, False, True])
    log(i + f, i + 1.0, (i + 1) / 2)
    log(b + b, b + 1, b * 1.5, b | b, ~b)
    log(i**2, 2**i, i**2.0, (i + 1) ** -1.0)
    log.attempt("int ** -1", lambda: i**-1)
    log.attempt("bool - bool", lambda: b - b)
    log.attempt("-bool", lambda: -b)
    log(i // 2, i % 2, -i // 2, -i % 2, T.tensor(7.5) // -2)
    log(f + T.tensor(1.0, dtype=T.float64), f + T.tensor([1.0], dtype=T.float64))
    log(i.float().mean(), b.sum(), i.prod(), T.tensor([1, 2], dtype=T.int8).sum().dtype)
    log.attempt("mean int", i.mean)
    log(i.sqrt(), T.sin(b), i.abs().dtype, T.exp(T.ones(1, dtype=T.float16)).dtype)
    log(1 + 2j + f, T.ones(1, dtype=T.uint8) + T.ones(1, dtype=T.int8))


def division_kinds(s: Any, log: Any) -> None:
    T = s.T
    a, b = T.tensor([7, -7, 5]), T.tensor([2, 2, -3])
    log(a / b, a // b, a % b, T.fmod(a, b))
    log(T.div(a, b, rounding_mode="trunc"), T.div(a, b, rounding_mode="floor"))
    log.attempt("mode", T.div, a, b, rounding_mode="up")
    log.attempt("zero", lambda: a // 0)
    log(T.tensor([1.0, -1.0, 0.0]) / 0, a.float() // 0)
    log(T.remainder(T.tensor(5.5), 2), T.floor_divide(a, 2))
    log(1 / T.tensor(4), 5 // T.tensor(2), 5 % T.tensor(3), 2.0 ** T.tensor(3))
    log(divmod(7, 2), T.tensor(3).__rdiv__(6), T.tensor(3).__rsub__(6))


def comparisons_and_bools(s: Any, log: Any) -> None:
    T = s.T
    x = T.tensor([1.0, float("nan"), 3.0])
    log(x == x, x != x, x > 2, x.isnan(), T.isfinite(x) if hasattr(T, "isfinite") else "")
    log(T.equal(x, x), T.equal(T.ones(2), T.ones(2)), T.equal(T.ones(2), T.ones(3)))
    log(T.allclose(T.ones(2), T.ones(2) + 1e-9), (T.tensor([1]) == 1).item())
    log.attempt("bool many", bool, x)
    log.attempt("bool empty", bool, T.empty(0))
    log(bool(T.tensor(0)), bool(T.tensor([[2]])), T.tensor(3) in [T.tensor(3)])
    log(3.0 in x, x == None, x is None)
    log.attempt("eq str", lambda: x == "a")
    log.attempt("lt None", lambda: x < None)
    log(T.tensor(1) < 2, 1 < T.tensor(2), x.any(), x.all(), T.tensor([True]).all())
    log(hash(x) == id(x), x.eq(1).sum().item())


def scalars_out(s: Any, log: Any) -> None:
    T = s.T
    log(
        T.tensor(3).item(), T.tensor([[2.5]]).item(), T.tensor(True).item(), T.tensor(1 + 2j).item()
    )
    log.attempt("many", T.ones(2).item)
    log.attempt("empty", T.empty(0).item)
    log(int(T.tensor(2.7)), float(T.tensor(2)), complex(T.tensor(1.0)))
    log.attempt("int complex", int, T.tensor(1j))
    log.attempt("index", lambda: [1, 2, 3][T.tensor(1)])
    log.attempt("index float", lambda: [1, 2, 3][T.tensor(1.0)])
    log(list(range(T.tensor(3))), "abc" * T.tensor(2))
    log(f"{T.tensor(1.5)}", f"{T.tensor(1.23456):.2f}", f"{T.tensor(7):d}")
    log.attempt("format many", lambda: f"{T.ones(2):.2f}")
    log(T.round(T.tensor(2.567)), abs(T.tensor(-1)))
    log(
        T.tensor([1, 2]).tolist(),
        T.tensor(5).tolist(),
        T.empty(0, 2).tolist(),
        T.empty(2, 0).tolist(),
    )


def indexing_basics(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(12).view(3, 4)
    log(x[1], x[-1, -1], x[:, 1], x[..., 0])
    log(x[::2, 1:3], x[None].shape, x[:, None, :, None].shape, x[()].shape)
    log(x[True].shape, x[False].shape, x[T.tensor(1)], x[T.tensor(1), 2])
    log(x[[0, 2]], x[[0, 2], [1, 3]], x[:, [0, 1]].shape)
    log(x[x % 2 == 0], x[T.tensor([True, False, True])].shape)
    log(x[0]._is_view(), x[[0]]._is_view(), x[...]._is_view(), x[:] is x, x[...] is x)
    for name, i in {
        "out": 3,
        "too many": (0, 0, 0),
        "step": slice(None, None, -1),
        "float": 1.0,
        "str": "a",
        "mask": T.tensor([True]),
    }.items():
        log.attempt(name, lambda i=i: x[i])
    log.attempt("zero step", lambda: x[::0])
    log.attempt("float tensor", lambda: x[T.tensor([1.0])])
    log.attempt("scalar", lambda: T.tensor(1)[0])
    log.attempt("out list", lambda: x[[5]])


def indexing_assignment(s: Any, log: Any) -> None:
    T = s.T
    x = T.zeros(3, 3)
    x[0] = 1
    x[1, :2] = T.tensor([2.0, 3.0])
    x[:, 2] += 5
    log(x, x._version)
    x[x > 5] = -1
    x[[0, 2], [0, 0]] = T.tensor([7.0, 8.0])
    log(x, x._version)
    x[...] = 0
    x[T.tensor(1)] = True
    x[2, 2] = T.tensor(4)
    log(x, x._version)
    log.attempt("shape", lambda: x.__setitem__(0, T.ones(2)))
    log.attempt("bigger", lambda: x.__setitem__(0, T.ones(1, 1, 3)))
    log.attempt("nothing", lambda: x.__setitem__(slice(3, 3), 1))
    log.attempt("del", lambda: x.__delitem__(0))
    log.attempt("str", lambda: x.__setitem__(0, "a"))
    log.attempt("dtype", lambda: x.__setitem__(0, 1j))
    log(x._version)


def advanced_indexing_shapes(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(120).view(2, 3, 4, 5)
    i, j = T.tensor([0, 1]), T.tensor([[0], [1]])
    log(x[:, i].shape, x[i, j].shape, x[i, :, i].shape, x[:, i, j].shape)
    log(x[0, :, i].shape, x[i, None].shape, x[..., i].shape, x[j, ..., i].shape)
    m = T.ones(2, 3, dtype=T.bool)
    log(x[m].shape, x[m, 0].shape, x[:, m[0]].shape)
    log.attempt("not broadcast", lambda: x[T.tensor([0, 1]), T.tensor([0, 1, 2])])
    log(
        x.index_select(1, i).shape,
        T.take(x, T.tensor([3, 5])),
        x[0, 0].gather(1, T.zeros(4, 1, dtype=T.int64)).shape,
    )
    y = T.zeros(4)
    y.index_put_((T.tensor([0, 0, 1]),), T.ones(3), accumulate=True)
    log(y, y.scatter(0, T.tensor([2]), 5.0), y.index_fill(0, T.tensor([3]), 9))
    log(
        T.zeros(3).index_add_(0, T.tensor([0, 0]), T.ones(2)),
        T.zeros(2).masked_fill(T.tensor([True, False]), 3),
    )


def factories(s: Any, log: Any) -> None:
    T = s.T
    log(T.arange(0, 1, 0.25), T.arange(5, 0, -2), T.arange(3.0), T.arange(1))
    log(T.full((2,), 7), T.full((2,), 1.5), T.full((1,), True), T.full((), 2j))
    log(T.zeros(2, 0).shape, T.ones([2, 1]), T.zeros(()).shape, T.empty(T.Size([2])).shape)
    log(
        T.zeros_like(T.ones(2, dtype=T.int8)),
        T.full_like(T.ones(1), 4),
        T.ones(2).new_zeros(3, dtype=T.bool),
    )
    log(T.ones(1).new_tensor([1, 2]), T.ones(1).new_full((2,), 3), T.scalar_tensor(2))
    for name, call in {
        "negative": lambda: T.ones(-1),
        "float": lambda: T.ones(1.5),
        "none": lambda: T.ones(None),
        "dtype": lambda: T.ones(1, dtype=int),
        "bad dtype": lambda: T.ones(1, dtype="float32"),
        "step": lambda: T.arange(0, 1, -1),
        "zero": lambda: T.arange(0, 1, 0),
        "device": lambda: T.ones(1, device="nowhere"),
        "keyword": lambda: T.ones(1, foo=2),
        "full": lambda: T.full((2,)),
        "out": lambda: T.zeros(2, out=T.empty(0)),
    }.items():
        log.attempt(name, call)


def tensor_from_data(s: Any, log: Any) -> None:
    T = s.T
    log(
        T.tensor([1, 2.5]),
        T.tensor([True, 2]),
        T.tensor([[1], [2]]),
        T.tensor([]),
        T.tensor([1j, 1]),
    )
    log(T.tensor(3).dtype, T.tensor(3.0).dtype, T.tensor(True).dtype, T.tensor([[]]).shape)
    log(T.tensor((1, [2][0])), T.tensor(range(3)), T.tensor([T.tensor(1), T.tensor(2)]))
    log(T.tensor([1.7, -1.7], dtype=T.int64), T.tensor([256], dtype=T.float16), T.tensor(2**40))
    log.attempt("ragged", T.tensor, [[1], [2, 3]])
    log.attempt("str", T.tensor, "a")
    log.attempt("none", T.tensor, None)
    log.attempt("list none", T.tensor, [None])
    log.attempt("big", T.tensor, 2**63)
    log.attempt("uint8", lambda: T.tensor(300, dtype=T.uint8))
    log.attempt("object", T.tensor, object())
    x = T.ones(2)
    log(T.as_tensor(x) is x, T.as_tensor(x, dtype=T.float64).dtype, T.asarray([1, 2]))
    log(T.tensor([1.0], requires_grad=True).requires_grad, T.tensor(1.0, device="meta").device)


def conversions(s: Any, log: Any) -> None:
    T = s.T
    x = T.tensor([1.9, -1.9, 300.0])
    log(x.int(), x.long(), x.bool(), x.half(), x.double(), x.short())
    log(
        x.to(T.float32) is x,
        x.to("cpu") is x,
        x.to(x) is x,
        x.float() is x,
        x.to(T.float32, copy=True) is x,
    )
    log(
        x.to(T.int64),
        x.to(dtype=T.float64).dtype,
        x.to("cpu", T.float16).dtype,
        x.type(T.int32).dtype,
    )
    log(x.type().split(".")[1], x.type_as(T.ones(1, dtype=T.int8)).dtype)
    log(
        x.is_floating_point(),
        T.is_complex(x),
        x.element_size(),
        x.itemsize,
        x.nbytes,
        T.is_tensor(x),
    )
    log(x.to(device="meta"), x.cpu() is x, x.to(memory_format=T.contiguous_format) is x)
    log.attempt("bad", lambda: x.to("nowhere"))
    log(x.numpy().dtype.name, T.from_numpy(x.numpy()).data_ptr() == x.data_ptr())
    log(x.char(), T.tensor([1.5], dtype=T.bfloat16).float())


def printing(s: Any, log: Any) -> None:
    T = s.T
    p = lambda x: log(repr(x).replace("torch.", "").replace("dispatch.", ""))
    p(T.tensor([1.0, 2.5, -3.0]))
    p(T.tensor([1e-5, 1.0, 1e5]))
    p(T.tensor([1e10, 1.0]))
    p(T.tensor([float("inf"), float("nan"), 1.0]))
    p(T.arange(6).view(2, 3))
    p(T.tensor([[True], [False]]))
    p(T.tensor([1 + 2j, 3.5 - 1j]))
    p(T.empty(0, 3))
    p(T.tensor(3))
    p(T.tensor([0.1], requires_grad=True))
    p(T.ones(2, device="meta"))
    p(T.arange(2000))
    p(T.zeros(2, 2, 2))
    p(T.tensor([1.5], dtype=T.bfloat16))
    p(T.Size([2, 3]))
    p(T.tensor([[0.001234, 123456.0]]))


def printing_names(s: Any, log: Any) -> None:
    T = s.T
    log(T.device("cuda", 1), T.device("cpu"), str(T.device("cuda:0")), T.device(type="meta"))
    log(T.float32, T.bool, str(T.int64).rpartition(".")[2], T.strided, T.channels_last)
    log(
        T.Size([1, 2]) + (3,),
        type(T.Size([1, 2]) + (3,)).__name__,
        T.Size([2, 3]).numel(),
        T.Size([1, 2])[1:],
    )
    log(T.device("cuda:1").index, T.device("cpu").index, T.device("cuda") == T.device("cuda:0"))
    log(
        T.float32.is_floating_point,
        T.int8.is_signed,
        T.float16.itemsize,
        T.complex64.is_complex,
        T.float32.to_complex(),
    )
    log.attempt("device", T.device, "foo")
    log.attempt("index", T.device, "cpu:x")
    log.attempt("negative", T.device, "cuda", -1)
    log(T.device("cuda:0") in {T.device("cuda", 0)}, repr(T.device("cuda", 0)))
    log(T.finfo(T.float16).max, T.iinfo(T.int8).min, T.finfo(T.float32).eps)


def contiguity_and_formats(s: Any, log: Any) -> None:
    T = s.T
    x = T.empty(2, 3, 4, 5).contiguous(memory_format=T.channels_last)
    log(x.stride(), x.is_contiguous(), x.is_contiguous(memory_format=T.channels_last))
    log((x + 1).stride(), x.clone().stride(), x.clone(memory_format=T.contiguous_format).stride())
    log(T.empty_like(x).stride(), T.zeros_like(x.permute(1, 0, 2, 3)).stride())
    y = T.ones(2, 3).t()
    log(
        y.is_contiguous(),
        (y + 1).stride(),
        (y + T.ones(3, 2)).stride(),
        y.clone().stride(),
        y.sum(0).stride(),
    )
    log(
        T.ones(1, 3).t().is_contiguous(),
        T.empty(0, 3).t().is_contiguous(),
        T.ones(2, 1).expand(2, 3).is_contiguous(),
    )
    log(T.ones(2, 3).expand(4, 2, 3).clone().stride(), (T.ones(1).expand(3) + 1).stride())
    log(
        T.cat([y, y]).stride(),
        T.stack([y, y]).stride(),
        T.empty(2, 2, memory_format=T.contiguous_format).stride(),
    )
    log.attempt("3d", lambda: T.ones(2, 3, 4).contiguous(memory_format=T.channels_last))
    log.attempt("preserve", lambda: T.ones(2).contiguous(memory_format=T.preserve_format))
    log(
        T.empty(2, 3, 4, 5).to(memory_format=T.channels_last).stride(),
        T.ones(2, 3).dim_order() if hasattr(T.Tensor, "dim_order") else "",
    )


def storages(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(4, dtype=T.int32)
    st = x.untyped_storage()
    log(
        type(st).__name__, len(st), st.nbytes(), st.size() if hasattr(st, "size") else "", st.device
    )
    log(
        list(st)[:5],
        st[0],
        st.data_ptr() == x.data_ptr(),
        x[1:].untyped_storage().data_ptr() == st.data_ptr(),
    )
    st[0] = 9
    log(x)
    st.resize_(8)
    log(st.nbytes(), x.shape)
    y = T.empty(0, dtype=T.int32).set_(st, 0, (2,), (1,))
    log(y, y.data_ptr() == x.data_ptr(), y._is_view())
    c = st.clone()
    log(c.data_ptr() == st.data_ptr(), c.nbytes())
    log(
        T.ones(2).storage_offset(),
        T.ones(3)[1:].storage_offset(),
        T.ones(2).untyped_storage()._cdata == 0,
    )
    z = T.ones(2)
    z.data = T.zeros(3)
    log(z, z._version)


def pickling_and_copies(s: Any, log: Any) -> None:
    import copy
    import pickle

    T = s.T
    x = T.arange(6.0).view(2, 3)
    y = pickle.loads(pickle.dumps(x.t()))
    log(y, y.stride(), y.is_contiguous())
    a, b = pickle.loads(pickle.dumps([x, x[0]]))
    log(a.data_ptr() == b.data_ptr())
    g = T.ones(2, requires_grad=True)
    log(pickle.loads(pickle.dumps(g)).requires_grad, copy.deepcopy(g).requires_grad)
    c = copy.deepcopy({"x": x, "v": x[1], "same": x})
    log(
        c["x"] is c["same"],
        c["v"].data_ptr() - c["x"].data_ptr(),
        c["x"]._version,
        c["v"]._is_view(),
    )
    log(copy.copy(x) is x, copy.copy(x).data_ptr() == x.data_ptr())
    log(
        pickle.loads(pickle.dumps(T.float32)) is T.float32,
        pickle.loads(pickle.dumps(T.device("cuda:1"))),
        pickle.loads(pickle.dumps(T.Size([1]))),
    )
    log(pickle.loads(pickle.dumps(T.strided)) is T.strided, copy.deepcopy(T.bfloat16) is T.bfloat16)
    log(
        pickle.loads(pickle.dumps(T.tensor([True]))),
        pickle.loads(pickle.dumps(T.tensor(2, dtype=T.bfloat16))),
    )
    log.attempt("non-leaf", lambda: copy.deepcopy(g * 2))
    log(copy.deepcopy(T.ones(2, device="meta")))


def versions(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2, 2)
    x.add_(1)
    x[0] = 1
    x.t_()
    log(x._version)
    x.data.add_(1)
    log(x._version)
    x.detach().add_(1)
    log(x._version)
    with T.no_grad():
        x.mul_(2)
    T.add(x, 1, out=x)
    log(x._version)
    x.copy_(T.zeros(2, 2))
    x.zero_().fill_(2)
    x.requires_grad_()
    log(x._version, x.requires_grad)
    with T.inference_mode():
        y = T.ones(2)
        log(y.is_inference())
        log.attempt("version", lambda: y._version)
    log.attempt("in place outside", lambda: y.add_(1))
    z = T.ones(1)
    log(z.view(1)._version >= 0)


def grad_flags(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2, requires_grad=True)
    y = x * 2
    log(x.is_leaf, y.is_leaf, y.requires_grad, y.grad_fn is None, x.grad_fn, x.grad)
    log((x > 1).requires_grad, x.detach().requires_grad, x.sum().requires_grad)
    log.attempt("leaf", lambda: x.add_(1))
    log.attempt("view of leaf", lambda: x[0].add_(1))
    log.attempt("int", lambda: T.ones(2, dtype=T.int64).requires_grad_())
    log.attempt("turn off", lambda: setattr(y, "requires_grad", False))
    log.attempt("numpy", y.numpy)
    with T.no_grad():
        x.add_(1)
        log((x * 2).requires_grad, T.is_grad_enabled())
    log(x, T.is_grad_enabled(), y.detach_().requires_grad, y.is_leaf)
    log(T.ones(1, requires_grad=True).to(T.float64).requires_grad)


def reductions(s: Any, log: Any) -> None:
    T = s.T
    x = T.tensor([[3.0, 1.0], [2.0, 4.0]])
    log(x.sum(), x.sum(0), x.sum((0, 1), keepdim=True), x.mean(1), x.prod(0))
    log(x.max(), x.max(1), x.min(0).values, x.argmax(), x.argmin(1, keepdim=True))
    log(x.std(), x.var(0), x.amax(0), x.cumsum(0))
    log(T.empty(0).sum(), T.empty(0, 2).sum(0), T.empty(0).prod(), T.empty(0).mean())
    log.attempt("empty max", T.empty(0).max)
    log.attempt("empty argmax", T.empty(0).argmax)
    log.attempt("dims", lambda: x.sum((0, 0)))
    log.attempt("dim", lambda: x.max(2))
    r = x.max(1)
    log(
        type(r).__name__,
        r.values is r[0],
        r._fields if hasattr(r, "_fields") else "",
        len(r),
        r.indices,
    )
    log(x.sort(descending=True)[1], x.topk(1, 0).values, x.any(), x.logsumexp(0))
    log(
        T.tensor([1, 2], dtype=T.int8).sum(),
        x.sum(dtype=T.int64),
        x.nansum() if hasattr(x, "nansum") else "",
    )


def shapes_and_joins(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(6).view(2, 3)
    log(T.cat([x, x], 1).shape, T.cat([x, T.empty(0)]).dtype, T.stack([x, x], -1).shape)
    log([t.shape for t in x.split(2, 1)], [t.shape for t in x.chunk(5, 1)])
    log(
        x.flatten(),
        x.unsqueeze(-1).shape,
        x.squeeze(),
        x[None].squeeze(0).shape,
        x.repeat(2, 1).shape,
    )
    log(x.flip(0), x.roll(1, 1), T.tril(x), x.diagonal())
    log(
        x.movedim(0, 1).shape if hasattr(x, "movedim") else "",
        x.swapaxes(0, 1).shape if hasattr(x, "swapaxes") else "",
    )
    log(
        T.broadcast_tensors(T.ones(1, 3), T.ones(2, 1))[0].stride(),
        T.broadcast_to(T.ones(1), (2,)).stride(),
    )
    log.attempt("cat dims", T.cat, [x, T.ones(3)])
    log.attempt("cat empty", T.cat, [])
    log.attempt("stack", T.stack, [x, x.t()])
    log(x.T.shape, x.mT.shape, x.size(-1), x.size(), x.ndim, len(x), x.stride(0), x.nelement())


def tensor_attributes(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2, 3)
    for name in (
        "is_cuda",
        "is_meta",
        "is_sparse",
        "is_quantized",
        "is_leaf",
        "is_mkldnn",
        "is_nested",
        "layout",
        "ndim",
        "itemsize",
        "nbytes",
        "output_nr",
        "retains_grad",
        "name",
        "names",
        "is_xpu",
        "is_cpu",
    ):
        log.attempt(name, getattr, x, name)
    log.attempt("missing", getattr, x, "nothing")
    log.attempt("set shape", setattr, x, "shape", (6,))
    log(
        x.size(1),
        x.stride(1),
        x.get_device(),
        T.is_tensor(3),
        isinstance(x, s.Tensor),
        x.is_set_to(x),
    )
    log(
        x.has_names() if hasattr(x, "has_names") else "",
        x.is_complex(),
        x.is_signed(),
        x.is_same_size(x),
        x.is_nonzero() if x.numel() == 1 else "",
    )


def resizing(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(4)
    log(x.resize_(2, 1), x._version, x.untyped_storage().nbytes())
    log(x.resize_(4))
    log.attempt("negative", lambda: x.resize_(-1))
    log.attempt("view", lambda: T.ones(4).view(2, 2).resize_(1).shape)
    y = T.ones(2, 3)
    y.unsqueeze_(0).squeeze_(0).transpose_(0, 1)
    log(y.shape, y.stride(), y._version)
    y.swapdims_(0, 1) if hasattr(y, "swapdims_") else y.t_()
    log(y.shape)
    log.attempt("out", lambda: T.add(T.ones(2), 1, out=T.ones(3)))
    log(T.ones(3).as_strided_((2,), (2,)), T.ones(2).set_(T.zeros(3)))


def meta_device(s: Any, log: Any) -> None:
    T = s.T
    x = T.empty(2, 3, device="meta")
    log(x + 1, x.t(), x.sum(0), x @ x.t())
    log.attempt("mixed", lambda: x + T.ones(3))
    log(x * T.tensor(2.0), x.to(T.float64))
    log.attempt("item", T.empty((), device="meta").item)
    log.attempt("tolist", x.tolist)
    log.attempt("cpu", x.cpu)
    log.attempt("numpy", x.numpy)
    log.attempt("bool", bool, T.empty((), device="meta"))
    log.attempt("nonzero", x.nonzero)
    log.attempt("to cpu", lambda: T.ones(2, 3).copy_(x))
    log(
        x.copy_(T.ones(2, 3)),
        x.add_(1)._version,
        x.data_ptr(),
        T.zeros_like(x, device="cpu").device,
    )
    log.attempt("equal", T.equal, x, x)


def functions_called_wrongly(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2)
    for name, call in {
        "none": lambda: T.add(x),
        "str": lambda: T.add(x, "a"),
        "self": lambda: T.sum(),
        "too many": lambda: T.neg(x, x, x),
        "unknown": lambda: T.neg(x, foo=1),
        "twice": lambda: T.neg(x, input=x),
        "input": lambda: T.neg(input=x),
        "self kw": lambda: T.neg(self=x),
        "other kw": lambda: T.add(x, other=2),
        "alpha": lambda: T.add(x, 1, alpha="a"),
        "op": lambda: s.ops.aten.add.Tensor(x),
        "op kw": lambda: s.ops.aten.add.Tensor(x, x, beta=1),
        "packet": lambda: s.ops.aten.add(x, "a"),
        "dim": lambda: x.sum("a"),
        "list": lambda: T.cat(x),
        "axis": lambda: x.sum(axis=0),
        "keepdims": lambda: x.sum(dim=0, keepdims=True),
        "method": lambda: x.add(),
        "operator": lambda: x + "a",
        "rmatmul": lambda: 2 @ x,
    }.items():
        log.attempt(name, call)


def default_dtype(s: Any, log: Any) -> None:
    T = s.T
    log(T.get_default_dtype())
    T.set_default_dtype(T.float64)
    log(
        T.tensor(1.0).dtype,
        T.ones(1).dtype,
        T.tensor(1j).dtype,
        (T.arange(2) / 1).dtype,
        T.arange(2.0).dtype,
    )
    log((T.ones(1, dtype=T.float32) + 1.0).dtype, T.full((1,), 2.0).dtype, T.tensor(2).sqrt().dtype)
    log.attempt("int", T.set_default_dtype, T.int64)
    log.attempt("str", T.set_default_dtype, "float32")
    T.set_default_dtype(T.float16)
    log(T.tensor(1.5).dtype, repr(T.ones(1, dtype=T.float16)))
    T.set_default_dtype(T.float32)
    log(T.get_default_dtype(), repr(T.ones(1)))


def functionalized(s: Any, log: Any) -> None:
    T = s.T

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(func)
            return func(*args, **(kwargs or {}))

    def f(x):
        y = x.view(4)
        y.add_(1)
        z = x.t()
        z[0] = 5
        return y, x

    x = T.zeros(2, 2)
    with M():
        out = s.functional.functionalize(f)(x)
    log(out[0], out[1], x)
    log(out[0]._is_view(), x._version)
    g = s.functional.functionalize(f, remove="mutations_and_views")
    log(g(T.ones(2, 2))[0])
    t = T._to_functional_tensor(T.ones(2))
    log(
        T._is_functional_tensor(t),
        T._is_functional_tensor(T.ones(1)),
        type(T._from_functional_tensor(t)).__name__,
    )
