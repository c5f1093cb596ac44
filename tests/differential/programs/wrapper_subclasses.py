"""Wrapper subclasses: how they are made, and what their policies ask of `__torch_dispatch__`."""


def _name(func):
    return str(func)


def _short(s, v):
    if isinstance(v, s.Tensor):
        return type(v).__name__
    if isinstance(v, (list, tuple)):
        inner = ", ".join(_short(s, x) for x in v)
        return f"[{inner}]" if isinstance(v, list) else f"({inner})"
    return repr(v).replace("torch.", "").replace("dispatch.", "")


def _wrapper(s, calls, answers=None, policy=None, device=False, layout=False, **more):
    """A class whose handler logs what it is asked and answers from a table (func name -> value)."""
    answers = {} if answers is None else answers

    class Wrapper(s.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return s.Tensor._make_wrapper_subclass(
                cls,
                inner.size(),
                strides=inner.stride(),
                dtype=inner.dtype,
                device=inner.device,
                dispatch_sizes_strides_policy=policy,
                dispatch_device=device,
                dispatch_layout=layout,
                **more,
            )

        def __init__(self, inner):
            self.inner = inner

        def __repr__(self):
            return "Wrapper"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            calls.append(
                f"{_name(func)} {[t.__name__ for t in types]} {_short(s, args)} {_short(s, kwargs)}"
            )
            if _name(func) in answers:
                answer = answers[_name(func)]
                return answer() if callable(answer) else answer
            kwargs = kwargs or {}
            args = s.pytree.tree_map(lambda t: t.inner if isinstance(t, Wrapper) else t, args)
            return func(*args, **kwargs)

    return Wrapper


def _flush(log, calls):
    for c in calls:
        log("   ", c)
    calls.clear()


def _ask(s, log, calls, label, get):
    log.attempt(label, get)
    _flush(log, calls)


QUESTIONS = {
    "size()": lambda t: t.size(),
    "size(0)": lambda t: t.size(0),
    "size(-1)": lambda t: t.size(-1),
    "shape": lambda t: t.shape,
    "stride()": lambda t: t.stride(),
    "stride(1)": lambda t: t.stride(1),
    "dim": lambda t: t.dim(),
    "ndim": lambda t: t.ndim,
    "numel": lambda t: t.numel(),
    "nelement": lambda t: t.nelement(),
    "storage_offset": lambda t: t.storage_offset(),
    "is_contiguous": lambda t: t.is_contiguous(),
    "device": lambda t: str(t.device),
    "layout": lambda t: t.layout,
    "dtype": lambda t: t.dtype,
    "is_cpu": lambda t: t.is_cpu,
    "is_meta": lambda t: t.is_meta,
    "is_cuda": lambda t: t.is_cuda,
    "is_sparse": lambda t: t.is_sparse,
    "get_device": lambda t: t.get_device(),
    "len": lambda t: len(t),
    "nbytes": lambda t: t.nbytes,
    "itemsize": lambda t: t.itemsize,
    "element_size": lambda t: t.element_size(),
    "requires_grad": lambda t: t.requires_grad,
    "is_leaf": lambda t: t.is_leaf,
    "grad_fn": lambda t: t.grad_fn,
    "is_floating_point": lambda t: t.is_floating_point(),
    "is_inference": lambda t: t.is_inference(),
    "_version": lambda t: t._version,
}


def _ask_all(s, log, calls, t):
    for label, get in QUESTIONS.items():
        _ask(s, log, calls, label, lambda get=get: get(t))


def questions_without_policy(s, log):
    calls = []
    _ask_all(s, log, calls, _wrapper(s, calls)(s.T.ones(2, 3)))


def questions_with_strides(s, log):
    calls = []
    _ask_all(s, log, calls, _wrapper(s, calls, policy="strides")(s.T.ones(2, 3)))


def questions_with_sizes(s, log):
    calls = []
    _ask_all(s, log, calls, _wrapper(s, calls, policy="sizes")(s.T.ones(2, 3)))


def questions_with_device(s, log):
    calls = []
    _ask_all(s, log, calls, _wrapper(s, calls, device=True)(s.T.ones(2, 3)))


def questions_with_layout(s, log):
    calls = []
    _ask_all(s, log, calls, _wrapper(s, calls, layout=True)(s.T.ones(2, 3)))


def questions_with_everything(s, log):
    calls = []
    cls = _wrapper(s, calls, policy="sizes", device=True, layout=True)
    _ask_all(s, log, calls, cls(s.T.ones(2, 3)))


ANSWERS = (
    None,
    7,
    -1,
    (7,),
    [7, 8],
    (7, 8),
    (7, 8, 9, 1, 2, 3),
    "no",
    2.5,
    True,
    (1.5, 2),
    ("a",),
    {},
)


def _answer_with(s, log, op, policy, questions, **more):
    calls, answers = [], {}
    t = _wrapper(s, calls, answers, policy, **more)(s.T.ones(2, 3))
    for value in (*ANSWERS, NotImplemented):
        answers[op] = value
        for q in questions:
            log.attempt(f"{q} answered {value!r}", lambda q=q: QUESTIONS[q](t))
    calls.clear()


def answers_to_sym_size(s, log):
    _answer_with(s, log, "aten.sym_size.default", "sizes", ["size()", "shape", "size(0)", "len"])


def answers_to_size(s, log):
    _answer_with(s, log, "aten.size.default", "sizes", ["size()", "len", "ndim"])


def answers_to_sym_stride(s, log):
    _answer_with(s, log, "aten.sym_stride.default", "strides", ["stride()", "stride(1)"])


def answers_to_sym_numel(s, log):
    _answer_with(s, log, "aten.sym_numel.default", "sizes", ["numel", "nelement", "nbytes"])


def answers_to_dim(s, log):
    _answer_with(s, log, "aten.dim.default", "sizes", ["dim", "ndim"])


def answers_to_storage_offset(s, log):
    _answer_with(s, log, "aten.sym_storage_offset.default", "sizes", ["storage_offset"])


def answers_to_is_contiguous(s, log):
    _answer_with(s, log, "aten.is_contiguous.default", "strides", ["is_contiguous"])


def answers_to_device(s, log):
    calls, answers = [], {}
    t = _wrapper(s, calls, answers, device=True)(s.T.ones(2, 3))
    for value in ("meta", "cuda:1", "cpu"):
        answers["prim.device.default"] = s.T.device(value)
        log(str(t.device), t.is_cpu, t.is_meta, t.is_cuda)
        log.attempt("get_device", t.get_device)
    for value in (None, "meta", 3, NotImplemented, s.T.float32):
        answers["prim.device.default"] = value
        log.attempt(f"{value!r}".replace("torch", "dispatch"), lambda: str(t.device))


def answers_to_layout(s, log):
    calls, answers = [], {}
    t = _wrapper(s, calls, answers, layout=True)(s.T.ones(2, 3))
    for value in (s.T.strided, s.T.sparse_coo, s.T.sparse_csr, 0, 1):
        answers["prim.layout.default"] = value
        log.attempt("answer", lambda: t.layout)
        log.attempt("is_sparse", lambda: t.is_sparse)
    for value in (None, "strided", NotImplemented, 2.5):
        answers["prim.layout.default"] = value
        log.attempt(f"{value!r}", lambda: t.layout)


def is_contiguous_formats(s, log):
    calls = []
    for policy in (None, "strides", "sizes"):
        t = _wrapper(s, calls, policy=policy)(s.T.ones(2, 3, 4, 5))
        for f in ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format"):
            _ask(
                s,
                log,
                calls,
                f"{policy} {f}",
                lambda f=f: t.is_contiguous(memory_format=getattr(s.T, f)),
            )
        _ask(s, log, calls, "default", lambda: s.ops.aten.is_contiguous.default(t))
        _ask(
            s,
            log,
            calls,
            "memory_format",
            lambda: s.ops.aten.is_contiguous.memory_format(t, s.T.channels_last),
        )
        _ask(
            s,
            log,
            calls,
            "is_strides_like_format",
            lambda: s.ops.aten.is_strides_like_format.default(t, s.T.channels_last),
        )
        _ask(
            s,
            log,
            calls,
            "is_non_overlapping_and_dense",
            lambda: s.ops.aten.is_non_overlapping_and_dense.default(t),
        )


def metadata_operators_called(s, log):
    calls = []
    for policy in (None, "sizes"):
        t = _wrapper(s, calls, policy=policy)(s.T.ones(2, 3))
        for name in (
            "size.default",
            "size.int",
            "stride.default",
            "stride.int",
            "dim.default",
            "numel.default",
            "storage_offset.default",
            "sym_size.default",
            "sym_size.int",
            "sym_stride.default",
            "sym_stride.int",
            "sym_numel.default",
            "sym_storage_offset.default",
            "is_contiguous.default",
        ):
            packet, overload = name.split(".")
            op = getattr(getattr(s.ops.aten, packet), overload)
            args = (t, 1) if overload == "int" else (t,)
            _ask(s, log, calls, name, lambda op=op, args=args: op(*args))
    _ask(s, log, calls, "prim.device", lambda: str(s.ops.prim.device.default(t)))
    _ask(s, log, calls, "prim.layout", lambda: s.ops.prim.layout.default(t))


def metadata_operators_on_plain_tensors(s, log):
    x = s.T.ones(2, 3, 4).transpose(0, 1)
    for name in ("sym_size", "sym_stride", "size", "stride"):
        packet = getattr(s.ops.aten, name)
        log.attempt(name, packet.default, x)
        log.attempt(name + ".int", packet.int, x, -1)
        log.attempt(name + ".int too far", packet.int, x, 5)
        log(str(packet.default._schema), str(packet.int._schema))
    for name in (
        "sym_numel",
        "sym_storage_offset",
        "numel",
        "storage_offset",
        "dim",
        "is_contiguous",
        "is_non_overlapping_and_dense",
    ):
        op = getattr(s.ops.aten, name).default
        log.attempt(name, op, x)
        log(str(op._schema))
    log.attempt("device", lambda: str(s.ops.prim.device.default(x)))
    log.attempt("layout", lambda: s.ops.prim.layout.default(x))
    log(str(s.ops.prim.device.default._schema), str(s.ops.prim.layout.default._schema))
    log.attempt("like", s.ops.aten.is_strides_like_format.default, x, s.T.channels_last)
    log(str(s.ops.aten.is_strides_like_format.default._schema))


def made_with_arguments(s, log):
    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    make = s.Tensor._make_wrapper_subclass

    def show(label, *args, **kwargs):
        try:
            t = make(*args, **kwargs)
        except Exception as e:
            log(label, "raises", type(e).__name__)
            return
        log(
            label,
            type(t),
            t.dtype,
            tuple(t.shape),
            t.storage_offset(),
            str(t.device),
            t.requires_grad,
            t.is_leaf,
        )
        log.attempt("  stride", t.stride)
        log.attempt("  layout", lambda: t.layout)
        log.attempt("  is_contiguous", t.is_contiguous)
        log.attempt("  nbytes", lambda: t.untyped_storage().nbytes())
        log("  keys", s.C._dispatch_keys(t))

    show("sizes only", W, (2, 3))
    show("a list", W, [2, 3])
    show("a Size", W, s.T.Size([2, 3]))
    show("no dimension", W, ())
    show("a lone int", W, 4)
    show("strides", W, (2, 3), (1, 2))
    show("strides keyword", W, (2, 3), strides=[3, 1])
    show("strides of another length", W, (2, 3), (1,))
    show("negative size", W, (-2, 3))
    show("negative stride", W, (2, 3), (-1, 2))
    show("offset", W, (2, 3), None, 5)
    show("offset and strides", W, (2, 3), (3, 1), 5)
    show("memory format", W, (2, 3, 4, 5), memory_format=s.T.channels_last)
    show("memory format contiguous", W, (2, 3, 4, 5), memory_format=s.T.contiguous_format)
    show("memory format preserve", W, (2, 3, 4, 5), memory_format=s.T.preserve_format)
    show("memory format of two dims", W, (2, 3), memory_format=s.T.channels_last)
    show(
        "memory format and strides",
        W,
        (2, 3, 4, 5),
        (60, 20, 5, 1),
        memory_format=s.T.channels_last,
    )
    show("dtype", W, (2,), dtype=s.T.int64)
    show("no dtype", W, (2,), dtype=None)
    show("dtype of a string", W, (2,), dtype="float32")
    show("layout", W, (2, 3), layout=s.T.sparse_coo)
    show("layout jagged", W, (2, 3), layout=s.T.jagged)
    show("layout none", W, (2, 3), layout=None)
    show("device", W, (2, 3), device="meta")
    show("device cuda", W, (2, 3), device="cuda")
    show("device cuda:1", W, (2, 3), device=s.T.device("cuda:1"))
    show("device of nonsense", W, (2, 3), device="no")
    show("pin_memory", W, (2, 3), pin_memory=True)
    show("pin_memory off", W, (2, 3), pin_memory=False)
    show("requires_grad", W, (2, 3), requires_grad=True)
    show("requires_grad of ints", W, (2, 3), dtype=s.T.int64, requires_grad=True)
    show("policy strides", W, (2, 3), dispatch_sizes_strides_policy="strides_no")
    show("policy of an int", W, (2, 3), dispatch_sizes_strides_policy=1)
    show("extra keys", W, (2, 3), _extra_dispatch_keys=s.DispatchKeySet(s.DispatchKey.Conjugate))
    show("extra keys of a string", W, (2, 3), _extra_dispatch_keys="Conjugate")
    show("extra key alone", W, (2, 3), _extra_dispatch_keys=s.DispatchKey.Conjugate)
    show("storage size", W, (2, 3), storage_size=4)
    show("storage size big", W, (2, 3), storage_size=1000)
    show("storage size negative", W, (2, 3), storage_size=-8)
    show("no such argument", W, (2, 3), wrong=1)
    show("no size", W)
    show("no class")
    show("Tensor itself", s.Tensor, (2, 3))
    show("not a tensor class", int, (2, 3))
    show("not a class", 3, (2, 3))
    show("an instance", s.T.ones(2), (2, 3))
    show("all positional", W, (2, 3), (3, 1), 0, None, s.T.float64, s.T.strided, "cpu", False, True)
    show("strings for sizes", W, ("a", "b"))
    show("floats for sizes", W, (2.0, 3))
    show("too big", W, (2**40, 2**40))


def classes_that_cannot_be_wrappers(s, log):
    class Plain(s.Tensor):
        pass

    class Disabled(s.Tensor):
        __torch_dispatch__ = s.C._disabled_torch_dispatch_impl

    class FunctionOnly(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return 7

    class NoneDispatch(s.Tensor):
        __torch_dispatch__ = None

    for cls in (Plain, Disabled, FunctionOnly, NoneDispatch):
        log.attempt(cls.__name__, lambda cls=cls: type(s.Tensor._make_wrapper_subclass(cls, (2,))))
        log.attempt(cls.__name__, lambda cls=cls: type(s.Tensor._make_subclass(cls, s.T.ones(2))))


def make_subclass_arguments(s, log):
    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    make = s.Tensor._make_subclass
    x = s.T.arange(6.0).reshape(2, 3)

    def show(label, *args, **kwargs):
        try:
            t = make(*args, **kwargs)
        except Exception as e:
            log(label, "raises", type(e).__name__)
            return
        log(
            label,
            type(t),
            t.dtype,
            tuple(t.shape),
            t.stride(),
            str(t.device),
            t.requires_grad,
            t.is_leaf,
            s.C._dispatch_keys(t),
            t._version,
        )

    show("plain", W, x)
    show("grad", W, x, True)
    show("grad keyword", W, x, require_grad=True)
    show("grad of another name", W, x, requires_grad=True)
    show("grad of ints", W, s.T.ones(2, dtype=s.T.int64), True)
    show("policy strides", W, x, dispatch_sizes_strides_policy="strides_only")
    show("policy nonsense", W, x, dispatch_sizes_strides_policy="both")
    show("no data", W)
    show("data of a number", W, 3)
    show("data of None", W, None)
    show("not a class", 3, x)
    show("not a tensor class", int, x)
    show("Tensor itself", s.Tensor, x)
    show("of a view", W, x.t())
    show("of one that requires grad", W, x.clone().requires_grad_())
    show("of an instance", W, make(W, x))
    show("device_for_backend_keys", W, x, device_for_backend_keys=s.T.device("cuda"))
    show("device_for_backend_keys meta", W, x, device_for_backend_keys=s.T.device("meta"))
    x.add_(1)
    show("of a written one", W, x)


def make_subclass_shares(s, log):
    class W(s.Tensor):
        pass

    x = s.T.zeros(3)
    t = s.Tensor._make_subclass(W, x)
    log(t.untyped_storage().data_ptr() == x.untyped_storage().data_ptr(), t is x, t._is_view())
    x.add_(1)
    log(t.tolist(), x._version, t._version, t._base is None)
    u = x.as_subclass(W)
    log(type(u), u._version, u._is_view(), u._base is None, u.requires_grad)
    x.add_(1)
    log(u.tolist(), x._version, u._version)
    g = s.T.zeros(3).requires_grad_()
    v = g.as_subclass(W)
    log(v.requires_grad, v.is_leaf, v.grad_fn is None)
    log.attempt("int", x.as_subclass, int)
    log.attempt("Tensor", lambda: type(x.as_subclass(s.Tensor)))
    log.attempt("none", lambda: x.as_subclass(None))
    log.attempt("back", lambda: type(t.as_subclass(s.Tensor)))


def policies_of_make_subclass(s, log):
    calls = []

    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            calls.append(str(func))
            return {"aten.sym_size.default": (5, 6), "aten.sym_stride.default": (1, 1)}.get(
                str(func)
            )

    x = s.T.ones(2, 3)
    for policy in (None, "strides", "sizes"):
        t = s.Tensor._make_subclass(W, x, dispatch_sizes_strides_policy=policy)
        _ask(s, log, calls, f"{policy} size", lambda: t.size())
        _ask(s, log, calls, f"{policy} stride", lambda: t.stride())
        _ask(s, log, calls, f"{policy} contiguous", lambda: t.is_contiguous())
    t = s.Tensor._make_subclass(W, x, dispatch_device=True)
    _ask(s, log, calls, "device", lambda: t.device)
    t = s.Tensor._make_subclass(W, x, dispatch_layout=True)
    _ask(s, log, calls, "layout", lambda: t.layout)


def operators_see_answers(s, log):
    """Kernels below ask for the sizes that the class gives."""
    calls = []
    answers = {"aten.sym_size.default": (4, 5), "aten.size.default": (4, 5), "aten.dim.default": 2}
    t = _wrapper(s, calls, answers, policy="sizes")(s.T.ones(2, 3))
    log(tuple(t.shape), t.size(0), t.dim())
    _flush(log, calls)
    _ask(s, log, calls, "add", lambda: tuple((t + 1).shape))
    _ask(s, log, calls, "detach", lambda: type(t.detach()))


def attributes_and_repr(s, log):
    calls = []
    t = _wrapper(s, calls)(s.T.ones(2, 3))
    t.note = "n"
    log(t.note, sorted(t.__dict__), repr(t), str(t))
    log(isinstance(t, s.Tensor), type(t).__name__, hash(t) == hash(t))
    del t.note
    log.attempt("gone", lambda: t.note)
    log.attempt("data_ptr", lambda: t.data_ptr())
    log.attempt("storage", lambda: t.untyped_storage().nbytes())
    log.attempt("storage address", lambda: t.untyped_storage().data_ptr())
    log.attempt("numpy", lambda: t.numpy())
    log.attempt("tolist", lambda: t.tolist())
    calls.clear()
    log.attempt("item", lambda: t.item())
    _flush(log, calls)


def results_of_operators(s, log):
    calls = []
    cls = _wrapper(s, calls)
    t = cls(s.T.arange(6.0).reshape(2, 3))
    for label, f in {
        "add": lambda: t + 1,
        "radd": lambda: 1 + t,
        "mul_": lambda: t.mul_(2),
        "t": lambda: t.t(),
        "index": lambda: t[0],
        "sum": lambda: t.sum(),
        "cat": lambda: s.T.cat([t, t]),
        "clone": lambda: t.clone(),
        "max": lambda: t.max(1)[0],
        "detach": lambda: t.detach(),
        "split": lambda: t.split(1),
        "to": lambda: t.to(s.T.float64),
        "view": lambda: t.view(-1),
        "eq": lambda: t == t,
        "matmul": lambda: t @ t.t(),
        "alpha": lambda: s.T.add(t, t, alpha=2),
        "sum keepdim": lambda: t.sum(0, keepdim=True),
    }.items():
        _ask(s, log, calls, label, f)


def requires_grad_of_wrappers(s, log):
    calls = []
    for rg in (False, True):
        t = _wrapper(s, calls, requires_grad=rg)(s.T.ones(2, 3))
        log(t.requires_grad, t.is_leaf, t.grad_fn is None, t.grad)
        u = t + 1
        log(type(u), u.requires_grad, u.is_leaf, u.grad_fn is None)
        d = t.detach()
        log(type(d), d.requires_grad)
        _flush(log, calls)
    t = _wrapper(s, calls)(s.T.ones(2, 3))
    t.requires_grad_()
    log(t.requires_grad)
    t.requires_grad = False
    log(t.requires_grad)
    i = _wrapper(s, calls)(s.T.ones(2, 3, dtype=s.T.int64))
    log.attempt("ints", i.requires_grad_)


def wrapped_results_require_grad(s, log):
    """A handler that wraps again: the wrapper gets the flag, not what is inside."""

    class Two(s.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return s.Tensor._make_wrapper_subclass(cls, inner.size(), dtype=inner.dtype)

        def __init__(self, inner):
            self.inner = inner

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            unwrap = lambda t: t.inner if isinstance(t, Two) else t
            wrap = lambda t: Two(t) if isinstance(t, s.Tensor) else t
            args = s.pytree.tree_map(unwrap, args)
            return s.pytree.tree_map(wrap, func(*args, **(kwargs or {})))

    t = Two(s.T.ones(2)).requires_grad_()
    u = t * 2
    log(type(u), u.requires_grad, u.inner.requires_grad, u.is_leaf, u.grad_fn is None)
    with s.T.no_grad():
        v = t * 2
    log(v.requires_grad, v.is_leaf)
    w = u.detach()
    log(type(w), w.requires_grad, w.inner)
    c = t.clone()
    log(c.requires_grad, type(c), c.inner)
    a, b = t.split(1)
    log(type(a), a.requires_grad, b.inner)


def versions_of_wrappers(s, log):
    calls = []
    t = _wrapper(s, calls)(s.T.zeros(2, 3))
    log(t._version, t.inner._version)
    t.add_(1)
    log(t._version, t.inner._version, t.inner)
    r = t.mul_(2)
    log(type(r), r is t, t._version)
    v = t.view(-1)
    log(type(v), v._is_view())
    s.T.add(t.inner, 1, out=t.inner)
    log(t.inner._version)


def unknown_answers_raise(s, log):
    class Broken(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise KeyError(str(func))

    make = s.Tensor._make_wrapper_subclass
    t = make(
        Broken,
        (2, 3),
        dispatch_sizes_strides_policy="sizes",
        dispatch_device=True,
        dispatch_layout=True,
    )
    for name in (
        "size()",
        "shape",
        "size(0)",
        "stride()",
        "dim",
        "ndim",
        "numel",
        "storage_offset",
        "is_contiguous",
        "device",
        "layout",
        "len",
        "is_cpu",
    ):
        log.attempt(name, lambda name=name: QUESTIONS[name](t))
    log.attempt("detach", t.detach)
    log(s.C._len_torch_dispatch_stack())


def modes_see_metadata_questions(s, log):
    calls = []
    t = _wrapper(s, calls, policy="sizes", device=True, layout=True)(s.T.ones(2, 3))
    seen = []

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(f"{func} {[x.__name__ for x in types]}")
            return func(*args, **(kwargs or {}))

    with M():
        for name in (
            "size()",
            "stride()",
            "dim",
            "numel",
            "storage_offset",
            "is_contiguous",
            "device",
            "layout",
        ):
            log.attempt(name, lambda name=name: QUESTIONS[name](t))
            _flush(log, seen)
            _flush(log, calls)


def extra_dispatch_keys(s, log):
    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("python sees", str(func))
            return NotImplemented

    key = s.DispatchKey
    for extra in ("Conjugate", "Negative", "ZeroTensor", "AutocastCPU", "Sparse"):
        ks = s.DispatchKeySet(getattr(key, extra, key.Undefined))
        t = s.Tensor._make_wrapper_subclass(W, (2,), _extra_dispatch_keys=ks)
        log(extra, s.C._dispatch_keys(t), t.is_conj(), t.is_neg())
    plain = s.T.ones(2)
    log("", s.C._dispatch_keys(plain))


def keys_of_devices(s, log):
    class W(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    for device in ("cpu", "meta", "cuda", "xpu", "mps", "hpu"):
        t = s.Tensor._make_wrapper_subclass(W, (2,), device=device)
        log(device, s.C._dispatch_keys(t), str(t.device))
    for dtype in (s.T.float32, s.T.int64, s.T.complex64, s.T.bool):
        log(s.C._dispatch_keys(s.Tensor._make_wrapper_subclass(W, (2,), dtype=dtype)))
    with s.T.inference_mode():
        t = s.Tensor._make_wrapper_subclass(W, (2,))
        log(s.C._dispatch_keys(t), t.is_inference())
        u = s.Tensor._make_subclass(W, s.T.ones(2))
        log(s.C._dispatch_keys(u), u.is_inference())
    log.attempt("grad in inference", lambda: t.requires_grad_())
