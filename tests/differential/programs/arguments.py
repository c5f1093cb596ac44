"""Calls: what callers may give, defaults, numbers for tensors, what comes back."""

import numpy as np

from tests.differential.helpers import MyInt, logging_operator, seen


def shapes_of_calls(s, log):
    lib, packet = logging_operator(
        s,
        log,
        "shc",
        '(Tensor a, int b, float c=1.0, *, bool d=False, int[] e=[1, 2], str f="s") -> ()',
    )
    f = packet.default
    x = s.T.ones(2)
    for label, args, kwargs in (
        ("two", (x, 1), {}), ("three", (x, 1, 2), {}), ("default given", (x, 1, 1.0), {}),
        ("int for default", (x, 1, 1), {}), ("by name", (), {"a": x, "b": 2}),
        ("mixed", (x,), {"b": 2, "d": True}), ("kwonly default", (x, 1), {"d": False}),
        ("list default", (x, 1), {"e": [1, 2]}), ("tuple default", (x, 1), {"e": (1, 2)}),
        ("other list", (x, 1), {"e": [2]}), ("str default", (x, 1), {"f": "s"}),
        ("str", (x, 1), {"f": "t"}), ("c by name", (x, 1), {"c": 3}),
        ("c default by name", (x, 1), {"c": 1.0}), ("all names", (), dict(f="q", e=[], d=True, c=0, b=1, a=x)),
        ("too many", (x, 1, 2.0, True), {}), ("missing", (x,), {}), ("none", (), {}),
        ("twice", (x, 1), {"b": 1}), ("unknown", (x, 1), {"z": 1}), ("twice and unknown", (x, 1), {"b": 1, "z": 2}),
        ("self", (x, 1), {"self": x}), ("bad kwonly", (x, 1), {"d": "no"}), ("d None", (x, 1), {"d": None}),
        ("e None", (x, 1), {"e": None}), ("c None", (x, 1, None), {}), ("b None", (x, None), {}), ("a None", (None, 1), {}),
        ("a number", (2, 1), {}),
    ):  # fmt: skip
        log.attempt(label, lambda: f(*args, **kwargs))
        log.attempt(label + " packet", lambda: packet(*args, **kwargs))


def trailing_defaults(s, log):
    lib, packet = logging_operator(
        s, log, "trd", "(Tensor a, int b=2, int c=3, int? d=None, *, int e=5) -> ()"
    )
    x = s.T.ones(1)
    f = packet.default
    for args, kwargs in (
        ((x,), {}), ((x, 2), {}), ((x, 2, 3), {}), ((x, 2, 4), {}), ((x, 9, 3), {}), ((x, 9, 3, None), {}),
        ((x, 2, 3, None), {"e": 5}), ((x, 2, 3, 1), {"e": 6}), ((x,), {"c": 3}), ((x,), {"c": 4}), ((x,), {"d": 1}),
        ((x, True, 3), {}), ((x,), {"e": True}), ((x, MyInt(2)), {}), ((x,), {"e": MyInt(5)}),
    ):  # fmt: skip
        log.attempt(f"{len(args)} {kwargs}", f, *args, **kwargs)


def default_objects(s, log):
    lib, packet = logging_operator(
        s, log, "dob",
        "(Tensor a, *, float p=2, Scalar q=1, Scalar r=1.5, int[2] u=0, int[] v=[], bool w=True, ScalarType? dt=None,"
        " Device? de=None, str m='mean', float[] fl=[1.0], int? o=4, MemoryFormat mf=contiguous_format, SymInt si=3) -> ()",
    )  # fmt: skip
    x = s.T.ones(1)
    f = packet.default
    log.attempt("nothing", f, x)
    for name, value in (
        ("p", 2.0), ("p", 2), ("p", True), ("q", 1), ("q", 1.0), ("q", True), ("r", 1.5), ("u", 0), ("u", [0, 0]), ("u", (0, 0)),
        ("u", [0]), ("v", ()), ("v", [1]), ("w", True), ("w", 1), ("m", "mean"), ("m", "sum"), ("fl", [1.0]), ("fl", [1]),
        ("o", 4), ("o", None), ("mf", s.T.contiguous_format), ("mf", s.T.channels_last), ("dt", None), ("dt", s.T.float32),
        ("de", "cpu"), ("de", s.T.device("cpu")), ("de", 0), ("si", 3), ("si", 4), ("dt", 6), ("mf", 0),
    ):  # fmt: skip
        log.attempt(f"{name} {seen(value)}", f, x, **{name: value})
    for a in f._schema.arguments:
        log(a.name, str(a.type), a.kwarg_only, a.has_default_value(), seen(a.default_value))


def schema_defaults_of_aten(s, log):
    for op in (
        s.ops.aten.add.Tensor,
        s.ops.aten.sum.dim_IntList,
        s.ops.aten.convolution.default,
        s.ops.aten.div.Tensor_mode,
    ):
        log(str(op._schema))
        for a in op._schema.arguments:
            log(
                a.name,
                str(a.type),
                a.kwarg_only,
                a.has_default_value(),
                seen(a.default_value),
                a.N,
            )


def lists_are_fresh(s, log):
    lib = s.library.Library("laf", "FRAGMENT")
    lib.define("f(int[] x, Tensor[] y) -> ()")
    seen = []
    lib.impl("f", lambda x, y: seen.append((x, y)), "CompositeExplicitAutograd")
    a, b = [1, 2], [s.T.ones(1)]
    s.ops.laf.f(a, b)
    log(seen[0][0] is a, seen[0][1] is b, seen[0][1][0] is b[0])
    seen[0][0].append(9)
    log(a)
    t = (1, 2)
    s.ops.laf.f(t, tuple(b))
    log(type(seen[1][0]), type(seen[1][1]))


def identity_of_tensors(s, log):
    lib = s.library.Library("iot", "FRAGMENT")
    lib.define("f(Tensor x, Tensor? y=None) -> Tensor")
    lib.impl("f", lambda x, y=None: x if y is None else y, "CompositeExplicitAutograd")
    x, y = s.T.ones(1), s.T.ones(1)
    log(s.ops.iot.f(x) is x, s.ops.iot.f(x, y) is y, s.ops.iot.f(x, None) is x)


def numbers_for_tensors(s, log):
    x = s.T.ones(2)
    o = s.ops.aten
    for label, call in (
        ("add.Tensor(x, 1)", lambda: o.add.Tensor(x, 1)),
        ("add.Tensor(1, x)", lambda: o.add.Tensor(1, x)),
        ("add.Tensor(x, 1.5)", lambda: o.add.Tensor(x, 1.5)),
        ("add.Tensor(x, True)", lambda: o.add.Tensor(x, True)),
        ("add.Tensor(x, 1j)", lambda: o.add.Tensor(x, 1j)),
        ("add.Tensor(1, 2)", lambda: o.add.Tensor(1, 2)),
        ("add(1, 2)", lambda: o.add(1, 2)),
        ("add.Tensor(x, np)", lambda: o.add.Tensor(x, np.float64(2.0))),
        ("add.Tensor(x, np.int64)", lambda: o.add.Tensor(x, np.int64(2))),
        ("add.Tensor(x, np array)", lambda: o.add.Tensor(x, np.array(2.0))),
        ("add.Tensor(x, None)", lambda: o.add.Tensor(x, None)),
        ("mul.Tensor(2, x)", lambda: o.mul.Tensor(2, x)),
        ("sub.Tensor(2, x)", lambda: o.sub.Tensor(2, x)),
        ("div.Tensor(2, x)", lambda: o.div.Tensor(2, x)),
        ("maximum(x, 1)", lambda: o.maximum.default(x, 1)),
        ("eq.Tensor(x, 1)", lambda: o.eq.Tensor(x, 1)),
        ("matmul(x, 1)", lambda: o.matmul.default(x, 1)),
        ("add_.Tensor(x, 1)", lambda: o.add_.Tensor(x.clone(), 1)),
        ("atan2(x, 1)", lambda: o.atan2.default(x, 1)),
        ("pow.Tensor_Tensor(x, 2)", lambda: o.pow.Tensor_Tensor(x, 2)),
        ("pow(2, x)", lambda: o.pow(2, x)),
        ("T.pow(2, x)", lambda: s.T.pow(2, x)),
        ("bitwise_and", lambda: o.bitwise_and(s.T.tensor([3]), 1)),
        ("floor_divide(x, 2)", lambda: o.floor_divide.default(x, 2)),
        ("floor_divide packet", lambda: o.floor_divide(x, 2)),
        ("where(c, 1, 2)", lambda: o.where(x > 0, 1, 2)),
        ("where.self numbers", lambda: o.where.self(x > 0, 1, 2)),
        ("copy_(x, 2)", lambda: o.copy_.default(x.clone(), 2)),
        ("x.copy_(2)", lambda: x.clone().copy_(2)),
        ("fill_.Tensor(x, 2)", lambda: o.fill_.Tensor(x.clone(), 2)),
        ("T.add(1, x)", lambda: s.T.add(1, x)),
        ("T.add(1, 2)", lambda: s.T.add(1, 2)),
        ("T.mul(2, x)", lambda: s.T.mul(2, x)),
        ("T.sub(2, x)", lambda: s.T.sub(2, x)),
        ("T.rsub(x, 2)", lambda: s.T.rsub(x, 2)),
        ("T.maximum(x, 1)", lambda: s.T.maximum(x, 1)),
        ("T.eq(x, 1)", lambda: s.T.eq(x, 1)),
        ("T.eq(1, x)", lambda: s.T.eq(1, x)),
        ("T.div(1, x)", lambda: s.T.div(1, x)),
        ("T.where(c, 1, 2)", lambda: s.T.where(x > 0, 1, 2)),
        ("x.add('1')", lambda: x.add("1")),
        ("T.sum(1)", lambda: s.T.sum(1)),
        ("T.cat([1, 2])", lambda: s.T.cat([1, 2])),
        ("T.true relu(1)", lambda: s.T.relu(1)),
    ):  # fmt: skip
        log.attempt(label, call)


def entries_and_error_types(s, log):
    x = s.T.ones(2, 3)
    o = s.ops.aten
    for label, args, kwargs in (
        ("str", (x, "1"), {}), ("none", (), {}), ("missing", (x,), {}), ("many", (x, x, x, x), {}), ("unknown", (x, x), {"beta": 1}),
        ("twice", (x, x), {"other": x}), ("bad alpha", (x, x), {"alpha": "1"}), ("alpha none", (x, x), {"alpha": None}),
        ("shape", (x, s.T.ones(5)), {}), ("list", (x, [1]), {}),
    ):  # fmt: skip
        log.attempt(label + " overload", o.add.Tensor, *args, **kwargs)
        log.attempt(label + " packet", o.add, *args, **kwargs)
        log.attempt(label + " function", s.T.add, *args, **kwargs)
        log.attempt(label + " method", lambda: args[0].add(*args[1:], **kwargs))


def function_argument_names(s, log):
    x = s.T.ones(2, 3)
    T = s.T
    for label, call in (
        ("input=", lambda: T.add(input=x, other=1)),
        ("self=", lambda: T.add(self=x, other=1)),
        ("dim=", lambda: T.sum(x, dim=1)),
        ("axis=", lambda: T.sum(x, axis=1)),
        ("keepdims=", lambda: T.sum(x, dim=1, keepdims=True)),
        ("x1, x2", lambda: T.add(x1=x, x2=x)),
        ("x=", lambda: T.sum(x=x)),
        ("method axis", lambda: x.sum(axis=0)),
        ("ops input=", lambda: s.ops.aten.add.Tensor(input=x, other=1)),
        ("ops self=", lambda: s.ops.aten.add.Tensor(self=x, other=1)),
        ("ops all by name", lambda: s.ops.aten.add.Tensor(other=x, self=x, alpha=2)),
        ("tensors=", lambda: T.cat(tensors=[x, x])),
        ("cat axis", lambda: T.cat([x, x], axis=1)),
        ("view size", lambda: x.view(size=(3, 2))),
        ("view ints", lambda: x.view(3, 2)),
        ("view -1", lambda: x.view(-1)),
        ("view mixed", lambda: x.view(3, s.T.tensor(2))),
        ("view float", lambda: x.view(3.0, 2)),
        ("view dtype", lambda: x.view(T.int32)),
        ("reshape tuple", lambda: T.reshape(x, (6,))),
        ("reshape ints", lambda: T.reshape(x, 6)),
        ("reshape method shape=", lambda: x.reshape(shape=(6,))),
        ("permute ints", lambda: x.permute(1, 0)),
        ("permute dims=", lambda: x.permute(dims=(1, 0))),
        ("T.permute", lambda: T.permute(x, (1, 0))),
        ("T.permute ints", lambda: T.permute(x, 1, 0)),
        ("sum ints", lambda: x.sum(0, 1)),
        ("sum tuple", lambda: x.sum((0, 1))),
        ("sum int keepdim", lambda: x.sum(0, True)),
        ("sum dtype", lambda: x.sum(dtype=T.float64)),
        ("sum python dtype", lambda: x.sum(dtype=float)),
        ("mean", lambda: x.mean(0)),
        ("T.mean list", lambda: T.mean(x, [0, 1])),
        ("transpose", lambda: T.transpose(x, 0, 1)),
        ("transpose names", lambda: T.transpose(x, dim0=0, dim1=1)),
        ("expand", lambda: T.ones(1, 3).expand(2, -1)),
        ("repeat", lambda: x.repeat(2, 1)),
        ("squeeze", lambda: x.unsqueeze(0).squeeze((0,))),
        ("flatten", lambda: x.flatten(0, -1)),
        ("split", lambda: x.split(2, 1)),
        ("split list", lambda: x.split([1, 2], dim=1)),
        ("chunk", lambda: x.chunk(2)),
        ("T.split", lambda: T.split(x, 1)),
        ("unbind", lambda: x.unbind()),
        ("max", lambda: tuple(x.max(0))),
        ("max all", lambda: x.max()),
        ("max other", lambda: T.max(x, x)),
        ("argmax", lambda: x.argmax(1)),
        ("clamp", lambda: x.clamp(min=2)),
        ("clamp none", lambda: x.clamp()),
        ("clamp tensors", lambda: x.clamp(x, x)),
        ("new_zeros ints", lambda: x.new_zeros(2, 2)),
        ("new_zeros tuple", lambda: x.new_zeros((2, 2), dtype=T.int32)),
        ("new_full", lambda: x.new_full((2,), 3)),
        ("new_empty", lambda: x.new_empty(2).shape),
        ("new_ones kw", lambda: x.new_ones(size=(1,))),
        ("tile dims", lambda: x.flip(0)),
        ("flip tuple", lambda: T.flip(x, (0, 1))),
        ("roll", lambda: T.roll(x, 1, 0)),
        ("std", lambda: x.std(unbiased=False)),
        ("all", lambda: x.all()),
        ("any dim", lambda: x.any(1)),
    ):  # fmt: skip
        log.attempt(label, call)


def boxed_calls(s, log):
    C = s.C
    h = C._dispatch_find_schema_or_throw("aten::add", "Tensor")
    x = s.T.ones(2)
    log.attempt("boxed", C._dispatch_call_boxed, h, x, x)
    log.attempt("kw", C._dispatch_call_boxed, h, x, x, alpha=2)
    log.attempt("bad", C._dispatch_call_boxed, h, x)
    log.attempt("bad type", C._dispatch_call_boxed, h, x, "s")
    log.attempt("unknown", C._dispatch_find_schema_or_throw, "aten::nope", "")
    log.attempt("redispatch", h.redispatch_boxed, s.DispatchKeySet(s.DispatchKey.CPU), x, x)
    ks = s.DispatchKeySet(s.DispatchKey.CPU)
    log.attempt("op redispatch bad", s.ops.aten.add.Tensor.redispatch, ks, x)
    log.attempt("op redispatch no ks", s.ops.aten.add.Tensor.redispatch, x, x)
    log.attempt("op redispatch none", s.ops.aten.add.Tensor.redispatch, None, x, x)


def overloads_of_a_packet(s, log):
    lib = s.library.Library("oop", "FRAGMENT")
    for o, schema in (
        ("a", "(int x) -> str"), ("b", "(float x) -> str"), ("c", "(Tensor x) -> str"), ("d", "(str x) -> str"),
        ("e", "(int[] x) -> str"), ("g", "(Tensor[] x) -> str"), ("h", "(Scalar x, int y) -> str"), ("i", "(bool x, *, int k) -> str"),
    ):  # fmt: skip
        lib.define(f"f.{o}{schema}")
        lib.impl(f"f.{o}", lambda *args, _o=o, **kw: _o, "CompositeExplicitAutograd")
    f = s.ops.oop.f
    log(f.overloads())
    for label, args, kw in (
        ("int", (1,), {}), ("bool", (True,), {}), ("float", (1.5,), {}), ("tensor", (s.T.ones(1),), {}), ("0-d", (s.T.tensor(2),), {}),
        ("str", ("s",), {}), ("ints", ([1, 2],), {}), ("tensors", ([s.T.ones(1)],), {}), ("empty", ([],), {}), ("two", (1.5, 2), {}),
        ("k", (True,), {"k": 1}), ("none", (None,), {}), ("x=", (), {"x": 1}), ("np", (np.int64(3),), {}), ("np.float", (np.float32(3),), {}),
    ):  # fmt: skip
        log.attempt(label, f, *args, **kw)


def packet_order_is_definition_order(s, log):
    lib = s.library.Library("pod", "FRAGMENT")
    for o, schema in (
        ("z", "(Scalar x) -> str"),
        ("a", "(int x) -> str"),
        ("m", "(float x) -> str"),
    ):
        lib.define(f"f.{o}{schema}")
        lib.impl(f"f.{o}", lambda *args, _o=o: _o, "CompositeExplicitAutograd")
    f = s.ops.pod.f
    log(f.overloads(), f(1), f(1.0), f(True))
    lib.define("f(str x) -> str")
    lib.impl("f", lambda x: "default", "CompositeExplicitAutograd")
    log.attempt("late", f, "s")
    log(s.ops.pod.f.overloads())


def returns_of_python_kernels(s, log):
    T = s.T
    cases = {
        "Tensor": [T.ones(1)], "int": [1, True, 1.0, "s", np.int64(3), MyInt(4)],
        "float": [1.5, 1, True, "s", np.float64(2.0)], "bool": [True, 0, 1, "s", np.bool_(True)],
        "str": ["s", 1], "Scalar": [1, 1.5, True, 1j, "s"], "SymInt": [3, True, 1.5],
        "int[]": [[1, 2], (1, 2), [], 1, [1.5], T.Size([1]), ["a"]],
        "float[]": [[1.0], [1], (2.5,)], "Tensor[]": [[T.ones(1)], (T.ones(1), T.ones(1)), [], [1]],
        "Tensor?": [T.ones(1), None], "int?": [1, None, 1.5], "()": [None, 1, T.ones(1)],
        "(Tensor, Tensor)": [(T.ones(1), T.ones(1)), [T.ones(1), T.ones(1)], T.ones(2), None],
        "(Tensor, int)": [(T.ones(1), 1), (T.ones(1), 1.5), (T.ones(1), True)],
        "(int, float, bool, str)": [(1, 1.0, True, "s"), (1, 1, 1, "s")],
    }  # fmt: skip
    lib = s.library.Library("rpk", "FRAGMENT")
    value = None
    for i, (returns, values) in enumerate(cases.items()):
        lib.define(f"f{i}() -> {returns}")
        lib.impl(f"f{i}", lambda: value, "CompositeExplicitAutograd")
        for value in values:
            label = f"{returns} <- {seen(value)}"
            try:
                r = getattr(s.ops.rpk, f"f{i}").default()
            except Exception as error:
                log(label, "raises", type(error).__name__)
            else:
                log(label, "->", seen(r))


def returns_of_handlers(s, log):
    """What __torch_dispatch__ may return for operators of other types."""
    lib = s.library.Library("roh", "FRAGMENT")
    cases = {
        "int": [1, True, 1.5, None, "s"], "float": [1, 2.5, None], "bool": [True, 1, None], "Scalar": [1, True, "s"],
        "Tensor": [None, 1, "s"], "Tensor[]": [(), [1], None], "(Tensor, Tensor)": [None, (1,), 3], "()": [None, 3],
        "int[]": [(1, 2), [1], 3, None], "str": ["s", 2],
    }  # fmt: skip
    value = None

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return value

    for i, (returns, values) in enumerate(cases.items()):
        lib.define(f"f{i}(Tensor x) -> {returns}")
        for value in values:
            label = f"{returns} <- {seen(value)}"
            with M():
                try:
                    r = getattr(s.ops.roh, f"f{i}").default(s.T.ones(1))
                except Exception as error:
                    log(label, "raises", type(error).__name__)
                else:
                    log(label, "->", seen(r))


def modes_see_converted_arguments(s, log):
    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kw = ", ".join(f"{k}={seen(v)}" for k, v in sorted((kwargs or {}).items()))
            log(str(func), ", ".join(map(seen, args)), "|", kw)
            return func(*args, **(kwargs or {}))

    T, o = s.T, s.ops.aten
    x = T.ones(2, 3)
    with M():
        x + 1
        x + 1.0
        1 + x

        2 - x
        2 / x
        x / 2
        x // 2
        2 // x
        x**2
        2**x
        x % 2
        x @ T.ones(3, 1)
        -x
        abs(x)
        x == 1
        x > x
        x < 2
        x.sum()
        x.sum(1)
        x.sum((0, 1), keepdim=True)
        x.mean(dim=0, dtype=T.float64)
        T.zeros(2)
        T.zeros(2, 3, dtype=T.int32)
        T.ones((2,), device="cpu")
        T.full((2,), 3)
        T.empty(2)
        T.arange(3)
        T.arange(1, 4, 2)
        T.arange(0, 1, 0.5)
        x.view(3, 2)
        x.reshape(6)
        x.reshape(3, 2)
        x.t()
        x.T
        x.transpose(0, 1)
        x.permute(1, 0)
        x[0]
        x[0, 1]
        x[:, 1:2]
        x[None]
        x[...]
        x[[0, 1]]
        x[x > 0]
        x[0] = 1
        x[:, 0] = T.zeros(2)
        x.to(T.float64)
        x.to("cpu")
        x.double()
        x.float()
        x.clone()
        x.contiguous()
        x.t().contiguous()
        x.detach()
        x.new_zeros(2)
        x.new_ones((2,), dtype=T.int64)
        T.zeros_like(x)
        T.empty_like(x, dtype=T.float64)
        T.cat([x, x])
        T.stack([x, x], 1)
        x.split(1)
        x.chunk(2, 1)
        x.unbind(0)
        x.expand(2, 2, 3)
        x.add_(1)
        x.add_(x, alpha=2)
        x.mul_(2)
        x += 1
        x *= 2
        T.add(x, x, out=T.empty(2, 3))
        x.max(1)
        x.max()
        x.item() if x.numel() == 1 else None
        x[0, 0].item()
        bool(x[0, 0])
        float(x[0, 0])
        int(x[0, 0])
        T.tensor([1, 2])
        T.tensor(1.0)
        T.softmax(x, 0)
        x.softmax(-1)
        T.where(x > 0, x, 0)
        T.clamp(x, 0, 1)
        x.clamp(min=0)
        x.fill_(1)
        x.zero_()
        x.copy_(x)
        o.add.Tensor(x, 1, alpha=1)
        o.add.Tensor(x, 1, alpha=2)
        o.sum.dim_IntList(x, [0], False)
        o.sum.dim_IntList(x, [0], True)
        T.manual_seed(0)
        T.rand(2)
        T.randn(2, 2)
        T.randint(5, (2,))
        T.randperm(3)
        x.squeeze(0)
        x.unsqueeze(0)
        x.flatten()
        x.repeat(1, 2)
        x.type(T.int32)
        x.type_as(T.ones(1, dtype=T.float64))
        x.masked_fill(x > 0, 1.0)
        x.tolist()
        x.numpy()
        len(x)
        list(x)
        T.equal(x, x)
        T.allclose(x, x)
        x.all()
        str(x)


def _logger(s, log):
    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(str(func), len(args), kwargs, [a for a in args if not isinstance(a, s.Tensor)])
            return func(*args, **(kwargs or {}))

    return M()


def defaults_left_out(s, log):
    x = s.T.ones(2, 2)
    with _logger(s, log):
        s.T.add(x, x)
        s.T.add(x, x, alpha=1)
        s.T.add(x, x, alpha=2)
        s.T.add(x, x, alpha=1.0)
        s.T.sum(x, 0, False)
        s.T.sum(x, 0, True)
        s.T.sum(x, 0)
        s.T.sum(x, dim=[0], dtype=s.T.float32)
        x.flatten()
        s.T.clamp(x, None, 1)


def calls_that_do_not_fit(s, log):
    x = s.T.ones(2)
    op, fn = s.ops.aten.add.Tensor, s.T.add
    for label, call in (
        ("op none", lambda: op()),
        ("fn none", lambda: fn()),
        ("method none", lambda: x.add()),
        ("op many", lambda: op(x, x, 1, 2)),
        ("fn many", lambda: fn(x, x, x, x)),
        ("op kw", lambda: op(x, x, beta=1)),
        ("fn kw", lambda: fn(x, x, beta=1)),
        ("method kw", lambda: x.add(x, beta=1)),
        ("op twice", lambda: op(x, x, self=x)),
        ("fn twice", lambda: fn(x, x, input=x)),
        ("op str", lambda: op(x, "a")),
        ("fn str", lambda: fn(x, "a")),
        ("packet str", lambda: s.ops.aten.add(x, "a")),
        ("packet none", lambda: s.ops.aten.add()),
        ("op alpha", lambda: op(x, x, alpha="a")),
        ("fn alpha", lambda: fn(x, x, alpha="a")),
        ("op None", lambda: op(None, x)),
        ("fn None", lambda: fn(None, x)),
        ("op shape", lambda: op(x, s.T.ones(3))),
        ("fn shape", lambda: fn(x, s.T.ones(3))),
        ("sum dim", lambda: s.T.sum(x, 5)),
        ("op sum dim", lambda: s.ops.aten.sum.dim_IntList(x, [5])),
        ("iadd", lambda: x.add_(s.T.ones(3))),
        ("plus str", lambda: x + "a"),
        ("plus none", lambda: x + None),
    ):
        log.attempt(label, lambda call=call: (call(), "fine")[1])


def names_of_arguments(s, log):
    x = s.T.ones(2)
    log.attempt("input", lambda: s.T.add(input=x, other=1))
    log.attempt("self", lambda: s.T.add(self=x, other=1))
    log.attempt("op self", lambda: s.ops.aten.add.Tensor(self=x, other=x))
    log.attempt("op input", lambda: s.ops.aten.add.Tensor(input=x, other=x))
    log.attempt("method", lambda: x.add(other=2))
    log.attempt("mul mixed", lambda: s.ops.aten.mul.Tensor(x, other=3))
    log.attempt("dim axis", lambda: s.T.sum(x, axis=0))
    log.attempt("op axis", lambda: s.ops.aten.sum.dim_IntList(x, axis=[0]))
    log.attempt("keepdims", lambda: s.T.sum(x, dim=0, keepdims=True))
    log.attempt("x", lambda: s.T.add(x=x, y=x))
    log.attempt("kwonly", lambda: s.ops.aten.add.Tensor(x, x, 2))
    log.attempt("ns kw order", lambda: s.ops.aten.sub.Tensor(other=x, self=x + 1))


def numbers_as_tensors(s, log):
    x = s.T.ones(2)
    log.attempt("op", lambda: s.ops.aten.add.Tensor(x, 2))
    log.attempt("op first", lambda: s.ops.aten.add.Tensor(2, x))
    log.attempt("both", lambda: s.ops.aten.add.Tensor(2, 3))
    log.attempt("fn first", lambda: s.T.add(2, x))
    log.attempt("packet", lambda: s.ops.aten.add(2, 3))
    log.attempt("mul", lambda: s.ops.aten.mul.Tensor(2, 3))
    log.attempt("matmul", lambda: s.ops.aten.matmul.default(x, 2))
    log.attempt("eq", lambda: s.ops.aten.eq.Tensor(x, 1))
    log.attempt("float", lambda: s.ops.aten.mul.Tensor(s.T.ones(1, dtype=s.T.int64), 1.5))
    with _logger(s, log):
        s.ops.aten.add.Tensor(x, 2)
        s.T.add(x, 2)
        x * 2.5
        2 - x


def returns_from_kernels(s, log):
    lib = s.library.Library("ma_ret", "DEF")
    for i, (sig, v) in enumerate(
        (
            ("() -> int", 3),
            ("() -> int", 3.5),
            ("() -> float", 3),
            ("() -> ()", None),
            ("() -> ()", 4),
            ("() -> (int, int)", (1, 2)),
            ("() -> (int, int)", [1, 2]),
            ("() -> (int, int)", (1,)),
            ("() -> int[]", [1]),
            ("() -> int[]", (1, 2)),
            ("() -> str", "a"),
            ("() -> str", 1),
            ("() -> bool", 1),
            ("() -> bool", True),
            ("() -> Scalar", 1.5),
            ("() -> Tensor", 3),
            ("() -> Tensor", None),
            ("() -> Tensor?", None),
            ("() -> int", None),
            ("() -> Tensor[]", []),
            ("() -> (int a, str b)", (1, "x")),
            ("() -> int?", None),
            ("() -> ScalarType", s.T.float32),
            ("() -> Device", s.T.device("cpu")),
        )
    ):
        lib.define(f"f{i}{sig}")
        lib.impl(f"f{i}", lambda v=v: v, "CompositeExplicitAutograd")
        log.attempt(sig + " " + type(v).__name__, getattr(s.ops.ma_ret, f"f{i}").default)


def modes_return_numbers(s, log):
    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return 7

    x = s.T.ones(2)
    with M():
        log.attempt("op", lambda: s.ops.aten.add.Tensor(x, x))
        log.attempt("packet", lambda: s.ops.aten.add(x, x))
        log.attempt("fn", lambda: s.T.add(x, x))
        log.attempt("method", lambda: x.add(x))
        log.attempt("relu", lambda: s.ops.aten.relu.default(x))
        log.attempt("item", lambda: x.sum().item())
        log.attempt("plus", lambda: x + x)
        log.attempt("mul", lambda: s.ops.aten.mul.Tensor(x, 2))


def modes_return_oddities(s, log):
    box = [None]

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return box[0]

    x = s.T.ones(2)
    for v in (None, "a", [x], (x,), x, object):
        box[0] = v
        with M():
            log.attempt("relu", lambda: type(s.ops.aten.relu.default(x)))
            log.attempt("topk", lambda: type(s.ops.aten.topk.default(x, 1)))
            log.attempt("unbind", lambda: type(s.ops.aten.unbind.int(x)))


def aliasing_of_lists(s, log):
    lib = s.library.Library("ma_al", "DEF")
    lib.define("f(int[] x, Tensor[] t) -> int")
    kept = []

    def kernel(x, t):
        kept.append((x, t))
        x.append(9)
        return len(x)

    lib.impl("f", kernel, "CompositeExplicitAutograd")
    mine, ts = [1, 2], [s.T.ones(1)]
    log(s.ops.ma_al.f(mine, ts), mine)
    log(kept[0][0] is mine, kept[0][1] is ts, kept[0][1][0] is ts[0])
    log(s.ops.ma_al.f(mine, ts), len(mine))


def default_values_are_fresh(s, log):
    lib = s.library.Library("ma_fresh", "DEF")
    lib.define("f(int[] x=[1, 2]) -> int[]")

    def kernel(x=None):
        log("kernel", x)
        return [3] if x is None else x

    lib.impl("f", kernel, "CompositeExplicitAutograd")
    log(s.ops.ma_fresh.f(), s.ops.ma_fresh.f([1, 2]), s.ops.ma_fresh.f([2]))
    log(s.ops.ma_fresh.f.default._schema.arguments[0].default_value)


def subclass_sees(s, log):
    class Sub(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log(str(func), [t.__name__ for t in types], len(args), kwargs)
            with s.C._DisableTorchDispatch() if False else s.T.no_grad():
                return s.T.zeros(1)

    x = s.T.ones(2).as_subclass(Sub)
    y = s.T.ones(2)
    s.ops.aten.add.Tensor(x, y, alpha=1)
    s.ops.aten.add.Tensor(y, x, alpha=2)
    s.T.cat([y, x])
    s.T.sum(x, dim=0, keepdim=True)
    s.ops.aten.clone.default(x, memory_format=None)
    s.ops.aten._to_copy.default(x, dtype=s.T.float64)


def views_answered_with_what_is_there(s, log):
    box = [None]

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return box[0]

    x, a = s.T.ones(4), s.ops.aten
    view, grad = x.view(4), s.T.ones(4, requires_grad=True)
    with s.T.inference_mode():
        inference = s.T.ones(4)
    for label, base, out in (
        ("itself", x, x), ("its base", view, x), ("a view", x, view), ("needs grad", x, grad),
        ("inference", x, inference), ("of inference", inference, inference), ("new", x, s.T.ones(4)),
    ):  # fmt: skip
        box[0] = out
        with M():
            log.attempt(label, lambda: a.alias.default(base) is out)  # noqa: B023
            log.attempt("custom", lambda: a.relu.default(base) is out)  # noqa: B023
    box[0] = grad
    with M():
        log(x.detach() is grad)
    log(grad.requires_grad)
    box[0] = view
    with M():
        log(x.detach() is view)
    log(view._is_view(), view._base is None)
