"""Methods with their argument forms, on small values: functions and methods take what the parser takes."""

from typing import Any

import numpy as np


def _forms(s):
    T = s.T
    return {"True": True, "1": 1, "1.0": 1.0, "1j": 1j, "None": None, "'1'": "1", "np.int64": np.int64(1), "np.int32": np.int32(1), "np.float64": np.float64(1), "np.float32": np.float32(1), "np.bool": np.bool_(True), "0-d": T.tensor(1), "0-d f": T.tensor(1.0), "0-d bool": T.tensor(True), "1-elem": T.tensor([1]), "0-d grad": T.tensor(1.0, requires_grad=True), "[1]": [1], "(1,)": (1,), "[1.0]": [1.0], "[True]": [True], "[]": [], "[t]": [T.tensor(1)], "np arr": np.array([1]), "np 0-d": np.array(1), "range": range(1, 2), "2**63": 2**63, "size": T.Size([1]), "dtype": T.float64, "float": float, "set": {1}, "obj": object(), "[None]": [None]}  # fmt: skip


def _each(s, log, name, f, without=()):
    for label, v in _forms(s).items():
        if label not in without:
            log.attempt(f"{name} {label}", f, v)


def int_arguments(s, log):
    x = s.T.ones(2, 3)
    _each(s, log, "transpose", lambda v: s.T.transpose(x, v, 0).shape)
    _each(s, log, "unsqueeze", lambda v: x.unsqueeze(v).shape)
    _each(s, log, "select", lambda v: x.select(0, v), without=["0-d bool", "1-elem", "np 0-d"])
    _each(s, log, "cumsum", lambda v: x.cumsum(v))


def int_list_arguments(s, log):
    x = s.T.arange(6.0).view(2, 3)
    _each(s, log, "sum", lambda v: x.sum(v), without=["0-d", "0-d bool", "1-elem", "np 0-d"])
    _each(s, log, "flip", lambda v: x.flip(v), without=["0-d bool", "1-elem", "np 0-d"])
    _each(s, log, "mean", lambda v: s.T.mean(x, v), without=["0-d", "0-d bool", "1-elem", "np 0-d"])
    _each(s, log, "view", lambda v: s.T.ones(1).view(v), without=["0-d bool", "1-elem", "np 0-d"])
    _each(
        s,
        log,
        "permute",
        lambda v: s.T.ones(1, 2).permute(0, v).shape,
        without=["True", "0-d bool", "1-elem", "np 0-d"],
    )
    _each(s, log, "reshape", lambda v: s.T.reshape(s.T.ones(1), v))
    _each(s, log, "zeros", lambda v: s.T.zeros(v).shape, without=["0-d bool", "1-elem", "np 0-d"])
    _each(
        s, log, "expand", lambda v: s.T.ones(1).expand(v), without=["0-d bool", "1-elem", "np 0-d"]
    )


def bool_arguments(s, log):
    x = s.T.arange(6.0).view(2, 3)
    _each(s, log, "keepdim", lambda v: x.sum(0, keepdim=v).shape)
    _each(s, log, "std", lambda v: x.std(unbiased=v))
    _each(s, log, "sort", lambda v: x.sort(descending=v)[0][0])


def scalar_arguments(s, log):
    x = s.T.ones(2)
    _each(s, log, "add", lambda v: x.add(v), without=["2**63"])
    _each(s, log, "alpha", lambda v: x.add(x, alpha=v), without=["np.bool"])
    _each(s, log, "clamp", lambda v: x.clamp(min=v))
    _each(s, log, "full", lambda v: s.T.full((1,), v), without=["np.bool", "2**63"])
    _each(s, log, "pow", lambda v: x.pow(v))
    _each(s, log, "fill_", lambda v: s.T.ones(1).fill_(v))
    _each(s, log, "arange", lambda v: s.T.arange(v), without=["np.bool"])
    _each(s, log, "lerp", lambda v: s.T.div(x, v), without=["2**63"])


def float_arguments(s, log):
    x = s.T.ones(2)
    _each(s, log, "uniform_", lambda v: s.T.ones(2).uniform_(1, v), without=["2**63"])
    _each(s, log, "dropout", lambda v: s.T.dropout(x, v, False))
    _each(s, log, "nan_to_num", lambda v: x.nan_to_num(v))


def tensor_arguments(s, log):
    x = s.T.ones(2)
    _each(s, log, "mm", lambda v: s.T.dot(x, v))
    _each(s, log, "relu", lambda v: s.T.relu(v))
    _each(s, log, "maximum", lambda v: s.T.maximum(x, v))
    _each(s, log, "cat", lambda v: s.T.cat(v))
    _each(s, log, "stack", lambda v: s.T.stack([x, v]))
    _each(s, log, "copy_", lambda v: s.T.ones(2).copy_(v), without=["2**63"])
    _each(s, log, "eq", lambda v: x.eq(v), without=["2**63"])
    _each(s, log, "where", lambda v: s.T.where(x > 0, x, v))


def dtype_arguments(s, log):
    x = s.T.ones(2)
    _each(s, log, "sum", lambda v: x.sum(dtype=v))
    _each(s, log, "zeros", lambda v: s.T.zeros(1, dtype=v))
    _each(
        s,
        log,
        "to",
        lambda v: x.to(v).dtype,
        without=[
            "True",
            "1",
            "1.0",
            "1j",
            "np.int64",
            "np.int32",
            "np.float64",
            "np.float32",
            "np.bool",
            "2**63",
        ],
    )


def string_arguments(s, log):
    x = s.T.ones(2)
    _each(s, log, "div", lambda v: x.div(2, rounding_mode=v))
    log.attempt("trunc", lambda: x.div(2, rounding_mode="trunc"))
    log.attempt("floor", lambda: s.T.div(x, 2, rounding_mode="floor"))
    log.attempt("bad", lambda: x.div(2, rounding_mode="foo"))
    log.attempt("einsum", lambda: s.T.einsum("i,i->", x, x))
    log.attempt("einsum list", lambda: s.T.einsum("i,i->", [x, x]))


def bound_methods(s, log):
    x = s.T.ones(2)
    f = x.add
    log(f(1), f.__name__, f.__self__ is x)
    log.attempt("class", lambda: s.Tensor.add(x, 1))
    log.attempt("class of number", lambda: s.Tensor.add(1, x))
    log.attempt("class no self", lambda: s.Tensor.add())
    log.attempt(
        "getattr",
        lambda: hasattr(x, "add_") and hasattr(s.Tensor, "add_") and not hasattr(x, "nope"),
    )
    log.attempt
    log.attempt("missing", lambda: x.nope)
    log.attempt("missing T", lambda: s.T.nope)
    log.attempt(
        "callable",
        lambda: (
            callable(s.T.add),
            s.T.add.__name__,
            callable(s.Tensor.add),
            s.Tensor.add.__name__,
        ),
    )
    log.attempt("partial", lambda: __import__("functools").partial(s.T.add, x)(2))
    log.attempt("map", lambda: list(map(s.T.neg, [x])))
    log.attempt("doc", lambda: isinstance(s.T.add.__doc__, str))


def keyword_names(s, log):
    T = s.T
    x = T.arange(6.0).view(2, 3)
    for label, f in (
        ("dim/axis", lambda: (x.sum(axis=1), x.argmax(axis=0), x.cumsum(axis=0), T.squeeze(x, axis=0).shape)), ("unsqueeze axis", lambda: x.unsqueeze(axis=0).shape), ("softmax axis", lambda: T.softmax(x, axis=0)), ("keepdims", lambda: x.max(dim=1, keepdims=True)[0]), ("both", lambda: x.sum(dim=0, axis=1)), ("a=", lambda: T.neg(a=x)), ("x=", lambda: T.neg(x=x)), ("input=", lambda: T.neg(input=x)), ("x2=", lambda: T.add(x, x2=x)), ("method input=", lambda: x.add(input=x)), ("method other=", lambda: x.add(other=x)), ("method self=", lambda: T.Tensor.add(self=x, other=x)),
        ("stack axis", lambda: T.stack([x, x], axis=1).shape), ("tensors=", lambda: T.stack(tensors=[x])), ("mm mat2", lambda: T.mm(x, mat2=x.t())), ("input mat2", lambda: T.mm(input=x, mat2=x.t())), ("where input", lambda: T.where(condition=x > 0, input=x, other=x)), ("where self", lambda: T.where(x > 0, self=x, other=x)), ("index_select", lambda: T.index_select(input=x, dim=0, index=T.tensor([0]))), ("pow exponent", lambda: T.pow(input=x, exponent=2)), ("clamp", lambda: T.clamp(input=x, min=1, max=2)), ("full", lambda: T.full(size=(1,), fill_value=1)), ("dims", lambda: T.flip(x, dims=[0])), ("split", lambda: T.split(x, split_size_or_sections=1)[0]), ("tensor.split", lambda: x.split(split_size=1)[0]), ("reshape shape", lambda: T.reshape(x, shape=(6,))), ("view shape=", lambda: x.view(shape=(6,))), ("expand size", lambda: T.ones(1).expand(size=(2,))), ("permute", lambda: T.permute(input=x, dims=(1, 0)).shape), ("matmul", lambda: T.matmul(input=x, other=x.t())), ("eq", lambda: T.eq(input=x, other=0)), ("lt both", lambda: T.lt(x, other=1)), ("chunk", lambda: T.chunk(input=x, chunks=2)[0]), ("addmm", lambda: T.addmm(input=T.zeros(2, 2), mat1=x, mat2=x.t())), ("sum input dim", lambda: T.sum(input=x, dim=0)), ("div input", lambda: T.div(input=x, other=2)), ("clone input", lambda: T.clone(input=x)), ("cat", lambda: T.cat(tensors=(x, x), dim=-1)), ("repeat", lambda: x.repeat(repeats=(1, 2))), ("relu input", lambda: T.relu(input=x)), ("zeros_like input", lambda: T.zeros_like(input=x)),
    ):  # fmt: skip
        log.attempt(label, f)


def variadic_sizes(s, log):
    T = s.T
    x = T.arange(6).view(2, 3)
    for label, f in (
        ("view", lambda: x.view(3, 2).shape), ("reshape", lambda: x.reshape(3, 2).shape), ("expand", lambda: x.expand(2, 2, 3).shape), ("repeat", lambda: x.repeat(2, 1).shape), ("permute", lambda: x.permute(1, 0).shape), ("flip", lambda: x.flip(0, 1).shape), ("tile", lambda: x.tile(2, 1).shape), ("new_zeros", lambda: x.new_zeros(2, 3).shape), ("new_empty", lambda: x.new_empty(2, 3).shape), ("resize_", lambda: x.clone().resize_(3, 2).shape), ("T.view", lambda: T.flip(x, 0)), ("T.tile", lambda: T.tile(x, 2, 1)), ("sum 0 1", lambda: x.sum(0, 1)), ("squeeze 0 1", lambda: x.squeeze(0, 1)), ("mean 0 1", lambda: x.float().mean(0, 1)), ("zeros", lambda: T.zeros(2, 3).shape), ("randn", lambda: T.randn(2, 3).shape), ("view kw", lambda: x.view(3, 2, dtype=T.int32)), ("view mixed", lambda: x.view((3,), 2)), ("view float", lambda: x.view(3, 2.0)), ("view bool", lambda: x.view(True, 6)), ("view t", lambda: x.view(T.tensor(3), 2).shape), ("view np", lambda: x.view(np.int64(3), 2).shape), ("expand -1", lambda: x.expand(-1, -1).shape), ("roll", lambda: x.roll(1, 0)), ("roll tuple", lambda: x.roll((1, 1), (0, 1))), ("amax", lambda: x.amax((0, 1))), ("amax ints", lambda: x.amax(0, 1)), ("unflatten", lambda: x.unflatten(1, (3, 1)).shape), ("broadcast_to", lambda: x.broadcast_to(2, 2, 3).shape), ("split", lambda: [t.shape for t in x.split([1, 2], 1)]), ("split ints", lambda: x.split(1, 2)), ("T.permute", lambda: T.permute(x, 1, 0)), ("T.reshape", lambda: T.reshape(x, 3, 2)), ("as_strided", lambda: x.as_strided((2,), (1,))), ("as_strided ints", lambda: x.as_strided(2, 1)), ("movedim", lambda: x.movedim((0, 1), (1, 0)).shape), ("rot90", lambda: x.unsqueeze(0).shape), ("new_ones t", lambda: x.new_ones(T.tensor(2)).shape),
    ):  # fmt: skip
        log.attempt(label, f)


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
