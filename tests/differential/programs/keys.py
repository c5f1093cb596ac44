"""`DispatchKey`, `DispatchKeySet` and the questions one may ask about them."""

import copy
import pickle


def _some(s):
    K = s.DispatchKey
    return (
        K.CPU,
        K.CUDA,
        K.AutogradCPU,
        K.SparseCPU,
        K.Python,
        K.Undefined,
        K.Autograd,
        K.CompositeImplicitAutograd,
        K.Meta,
        K.BackendSelect,
        K.Dense,
        K.AutogradFunctionality,
        K.PythonTLSSnapshot,
        K.NestedTensorCUDA,
        K.AutogradOther,
    )


def members(s, log):
    for name, key in sorted(s.DispatchKey.__members__.items()):
        log(name, key.value, key.name, repr(key), str(key))


def order_of_members(s, log):
    log(list(s.DispatchKey.__members__))
    log(type(s.DispatchKey.__members__).__name__)


def enum_behaviour(s, log):
    K = s.DispatchKey
    log(int(K.CPU), hash(K.CPU) == int(K.CPU), [0, 1][K.Undefined], K(K.CPU.value) == K.CPU)
    log(K.CPU.value == K.CPU, K.CPU.value != K.CPU, K.CPU == "CPU", K.CPU != "CPU", K.CPU == None)
    log(K(0), K(23).name, repr(K(23)), str(K(1000)), repr(K(1000)))
    log.attempt("less", lambda: K.CPU < K.CUDA)
    log.attempt("and", lambda: K.CPU & K.CUDA)
    log.attempt("or", lambda: K.CPU | K.CUDA)
    log.attempt("add", lambda: K.CPU + 1)
    log.attempt("negative", K, -1)
    log.attempt("large", K, 70000)
    log.attempt("float", K, 1.0)
    log.attempt("str", K, "CPU")
    log.attempt("none", K, None)
    log.attempt("bool", K, True)
    log.attempt("nothing", K)
    log.attempt("by value keyword", lambda: K(value=3))
    log.attempt("unknown", lambda: K.Nope)
    log.attempt("write name", setattr, K.CPU, "name", "x")
    log.attempt("write value", setattr, K.CPU, "value", 3)
    log.attempt("write attribute", setattr, K.CPU, "other", 3)
    log.attempt("iterate", iter, K)
    log.attempt("index", lambda: K["CPU"])
    log(
        K.CPU is K.CPU,
        isinstance(K.CPU, int),
        len({K.CPU, K(K.CPU.value)}),
        type(K.CPU.name).__name__,
    )
    log(K.CPU.CUDA)


def copies(s, log):
    for key in _some(s):
        again = pickle.loads(pickle.dumps(key))
        log(
            key,
            again == key,
            type(again).__name__,
            copy.copy(key) == key,
            copy.deepcopy(key) == key,
        )
        log(key.__getstate__())
    ks = s.DispatchKeySet(s.DispatchKey.CPU) | s.DispatchKeySet(s.DispatchKey.AutogradCPU)
    log(pickle.loads(pickle.dumps(ks)), copy.copy(ks), copy.deepcopy(ks) == ks, ks.__getstate__())


def sets_of_one_key(s, log):
    for name, key in sorted(s.DispatchKey.__members__.items()):
        ks = s.DispatchKeySet(key)
        log(name, ks, repr(ks), ks.highestPriorityTypeId(), ks.has(key))


def set_of(s, log):
    K, S = s.DispatchKey, s.DispatchKeySet
    for arg in ("CPU", 49, None, 1.5, S(K.CPU), [K.CPU], "Nope"):
        log.attempt(f"of {type(arg).__name__} {arg}", S, arg)
    log.attempt("of two", S, K.CPU, K.CUDA)
    log.attempt("of nothing", S)
    log.attempt("raw", S.from_raw_repr, 0x10001)
    log.attempt("raw max", S.from_raw_repr, 2**64 - 1)
    log.attempt("raw too large", S.from_raw_repr, 2**64)
    log.attempt("raw negative", S.from_raw_repr, -1)
    log.attempt("raw str", S.from_raw_repr, "1")
    log.attempt("raw float", S.from_raw_repr, 1.0)
    log.attempt("raw bool", S.from_raw_repr, True)
    log.attempt("raw none", S.from_raw_repr, None)


def algebra(s, log):
    _K, S = s.DispatchKey, s.DispatchKeySet
    sets = [S(k) for k in _some(s)] + [s.C._dispatch_keyset_full(), S.from_raw_repr(0)]
    for a in sets:
        for b in sets:
            log(a | b, a & b, a - b, a == b, a != b)


def membership(s, log):
    sets = [s.DispatchKeySet(k) for k in _some(s)]
    sets += [
        s.C._dispatch_keyset_full(),
        s.DispatchKeySet.from_raw_repr(0),
        sets[0] | sets[2] | sets[3],
    ]
    for ks in sets:
        log(ks, [ks.has(k) for k in _some(s)])
        log([ks.add(k) for k in _some(s)])
        log([ks.remove(k) for k in _some(s)], ks.highestPriorityTypeId())
        log(repr(ks), str(ks), s.C._dispatch_keyset_to_string(ks))


def set_behaviour(s, log):
    K, S = s.DispatchKey, s.DispatchKeySet
    a = S(K.CPU)
    log.attempt("hash", hash, a)
    log.attempt("in a set", lambda: {a})
    log.attempt("in", lambda: K.CPU in a)
    log.attempt("iterate", lambda: list(a))
    log.attempt("len", len, a)
    log.attempt("bool", bool, S.from_raw_repr(0))
    log.attempt("or key", lambda: a | K.CUDA)
    log.attempt("and int", lambda: a & 1)
    log.attempt("minus str", lambda: a - "CPU")
    log.attempt("xor", lambda: a ^ a)
    log.attempt("invert", lambda: ~a)
    log.attempt("less", lambda: a < a)
    log.attempt("== key", lambda: a == K.CPU)
    log.attempt("== None", lambda: a == None)
    log.attempt("!= int", lambda: a != 3)
    log.attempt("dunder or", lambda: a.__or__(3))
    log.attempt("dunder or", lambda: a.__or__(a))
    log.attempt("dunder eq", lambda: a.__eq__(3))
    log.attempt("has str", a.has, "CPU")
    log.attempt("has int", a.has, 3)
    log.attempt("has set", a.has, a)
    log.attempt("has None", a.has, None)
    log.attempt("add str", a.add, "CUDA")
    log.attempt("remove str", a.remove, "CPU")
    log.attempt("add bad", a.add, "Nope")
    log.attempt("add None", a.add, None)
    log.attempt("attribute", setattr, a, "x", 1)
    log(a, sorted(n for n in dir(a) if not n.startswith("_")))


def names(s, log):
    K, C = s.DispatchKey, s.C
    for f in (
        "_dispatch_key_name",
        "_dispatch_key_parse",
        "_to_functionality_key",
        "_functionality_to_backend_keys",
        "_dispatch_is_alias_key",
        "_dispatch_get_backend_keyset_from_autograd",
        "_dispatch_keyset_full_after",
        "_dispatch_has_backend_fallback",
        "_parse_dispatch_key",
    ):
        for arg in (
            "CPU",
            K.CPU,
            K.Autograd,
            "Nope",
            3,
            None,
            "AutogradCPU",
            K.AutogradCPU,
            K.Undefined,
            "cpu",
            "",
            b"CPU",
            K(23),
            "Tracer",
            "Dense",
            "AutogradOther",
            K.Sparse,
            "StartOfDenseBackends",
            "EndOfDenseBackends",
        ):
            log.attempt(f"{f} {arg}", getattr(C, f), arg)


def every_key_parsed(s, log):
    for name, key in sorted(s.DispatchKey.__members__.items()):
        log.attempt(name, s.C._dispatch_key_parse, name)
        log(s.C._dispatch_key_name(key), s.C._parse_dispatch_key(name))
    for value in range(160):
        log(value, s.C._dispatch_key_name(s.DispatchKey(value)))


def every_key_asked(s, log):
    C = s.C
    for name, key in sorted(s.DispatchKey.__members__.items()):
        log(
            name,
            C._dispatch_is_alias_key(key),
            C._to_functionality_key(key),
            C._functionality_to_backend_keys(key),
        )
        log(C._dispatch_get_backend_keyset_from_autograd(key), C._dispatch_keyset_full_after(key))


def in_alias(s, log):
    C = s.C
    keys = [k for _, k in sorted(s.DispatchKey.__members__.items())]
    for alias in keys:
        if C._dispatch_is_alias_key(alias):
            log(alias, [k for k in keys if C._dispatch_is_included_in_alias(k, alias)])
    K = s.DispatchKey
    log.attempt("not an alias", C._dispatch_is_included_in_alias, K.CPU, K.CUDA)
    log.attempt("itself", C._dispatch_is_included_in_alias, K.CPU, K.CPU)
    log.attempt("strings", C._dispatch_is_included_in_alias, "CPU", "Autograd")
    log.attempt(
        "Undefined", C._dispatch_is_included_in_alias, K.Undefined, K.CompositeImplicitAutograd
    )


def constants(s, log):
    C = s.C
    for name in (
        "_dispatch_autogradother_backends",
        "_additional_keys_to_prop_for_wrapper_tensors",
        "_after_autograd_keyset",
        "_after_ADInplaceOrView_keyset",
    ):
        log(name, getattr(C, name), repr(getattr(C, name)))
    log(C._dispatch_keyset_full(), C._dispatch_num_backends())


def devices(s, log):
    for name in (
        "cpu",
        "cuda",
        "meta",
        "mps",
        "xpu",
        "hpu",
        "xla",
        "vulkan",
        "privateuseone",
        "mtia",
        "maia",
        "lazy",
        "ipu",
        "ve",
        "fpga",
        "hip",
        "mkldnn",
        "opengl",
        "opencl",
        "ideep",
        "metal",
        "cpu:0",
        "cuda:1",
        "nope",
        "",
        "CPU",
        None,
        3,
    ):
        log.attempt(f"{name}", s.C._dispatch_key_for_device, name)


def of_tensors(s, log):
    T = s.T
    for x in (
        T.ones(2),
        T.empty(2, device="meta"),
        T.ones(2, requires_grad=True),
        T.ones(2, dtype=T.complex64).conj(),
        T.ones(2).view(1, 2),
        T.ones(2, dtype=T.complex64).conj().imag,
    ):
        log(s.C._dispatch_keys(x), s.C._dispatch_key_set(x))
    with T.inference_mode():
        log(s.C._dispatch_keys(T.ones(2)))
    with s.fake.FakeTensorMode() as m:
        log(s.C._dispatch_keys(T.ones(2)), s.C._dispatch_keys(T.empty(2, device="cuda")))
        log(s.C._dispatch_keys(m.from_tensor(T.ones(1))))


def renamed_backend(s, log):
    C = s.C
    log(C._get_privateuse1_backend_name())
    log.attempt("rename", C._rename_privateuse1_backend, "mine")
    log(C._get_privateuse1_backend_name())
    log.attempt("same", C._rename_privateuse1_backend, "mine")
    log.attempt("other", C._rename_privateuse1_backend, "other")
    for name in ("mine", "privateuseone"):
        log.attempt(name, C._dispatch_key_for_device, name)
        log.attempt(name, lambda name=name: str(s.T.device(name)))
        log.attempt(name, lambda name=name: s.T.device(name).type)
    for name in (
        "PrivateUse1",
        "MINE",
        "AutogradMINE",
        "AutogradPrivateUse1",
        "SparseMINE",
        "AutocastMINE",
        "Mine",
    ):
        log.attempt(name, C._dispatch_key_parse, name)
    log(repr(s.DispatchKey.PrivateUse1), str(s.DispatchKeySet(s.DispatchKey.PrivateUse1)))
    log(
        C._dispatch_key_name(s.DispatchKey.PrivateUse1),
        C._dispatch_key_name(s.DispatchKey.AutogradPrivateUse1),
    )


def rename_refused(s, log):
    for name in ("cuda", None, 3, "cpu"):
        log.attempt(f"{name}", s.C._rename_privateuse1_backend, name)
    log(s.C._get_privateuse1_backend_name())


def top_level(s, log):
    log(s.T.DispatchKey is s.DispatchKey if hasattr(s.T, "DispatchKey") else True)
    log(s._ops.DispatchKey is s.DispatchKey, s.DispatchKey.__name__, s.DispatchKeySet.__name__)
    log(type(s.DispatchKey.CPU).__qualname__, s.DispatchKey.__doc__ is None)


def set_algebra(s, log):
    K, S = s.DispatchKey, s.DispatchKeySet
    a = S(K.CPU) | S(K.CUDA)
    b = S(K.CPU) | S(K.AutogradCPU)
    log(a | b)
    log(a & b)
    log(a - b)
    log(a - a, (a - a).raw_repr() != 0)
    log(S(K.CPU) - S(K.CPU))
    log(repr(S(K.CPU) - S(K.CPU)))
    log(S(K.Dense) | S(K.CPU), S(K.Dense).raw_repr() == S(K.CPU).raw_repr())
    log(a == b, a != b, a == (S(K.CUDA) | S(K.CPU)))
    log(a.has(K.CPU), a.has(K.CUDA), a.has(K.AutogradCPU), a.has(K.Meta))


def set_add_and_remove(s, log):
    K, S = s.DispatchKey, s.DispatchKeySet
    x = S(K.CPU)
    y = x.add(K.Python)
    log(x, y)
    log(y.remove(K.Python), y.remove(K.CPU), y.remove(K.Meta))
    log(y.add(K.CPU) == y)
    log.attempt("add str", lambda: x.add("CPU"))
    log.attempt("or key", lambda: x | K.CPU)
    log.attempt("remove undefined", lambda: x.remove(K.Undefined))
    log.attempt("add undefined", lambda: x.add(K.Undefined))
    log.attempt("has undefined", lambda: x.has(K.Undefined))


def set_construct(s, log):
    K, S = s.DispatchKey, s.DispatchKeySet
    log.attempt("none", lambda: S())
    log.attempt("int", lambda: S(3))
    log.attempt("two", lambda: S(K.CPU, K.CUDA))
    log.attempt("str", lambda: S("CPU"))
    log.attempt("undefined", lambda: S(K.Undefined))
    log.attempt("alias", lambda: S(K.CompositeImplicitAutograd))
    log.attempt("autograd", lambda: S(K.Autograd))
    log.attempt("raw", lambda: S.from_raw_repr(1))
    log.attempt("raw neg", lambda: S.from_raw_repr(-1))
    log.attempt("raw big", lambda: S.from_raw_repr(2**64))
    log.attempt("raw none", lambda: S.from_raw_repr(None))


def set_repr(s, log):
    K, S = s.DispatchKey, s.DispatchKeySet
    for k in (
        K.CPU,
        K.AutogradCPU,
        K.Python,
        K.AutocastCPU,
        K.BackendSelect,
        K.SparseCUDA,
        K.QuantizedCPU,
        K.Functionalize,
        K.ADInplaceOrView,
        K.FuncTorchBatched,
    ):
        log(k.name, repr(S(k)), str(S(k)))
    log(repr(S(K.CPU) | S(K.CUDA) | S(K.AutogradCPU)))
    log(repr(S.from_raw_repr(0)))


def set_highest(s, log):
    K, S = s.DispatchKey, s.DispatchKeySet
    log(S(K.CPU).highestPriorityTypeId())
    log((S(K.CPU) | S(K.AutogradCPU)).highestPriorityTypeId())
    log((S(K.CPU) | S(K.CUDA)).highestPriorityTypeId())
    log((S(K.CPU) | S(K.Python) | S(K.AutogradCPU)).highestPriorityTypeId())
    log((S(K.Meta) | S(K.BackendSelect)).highestPriorityTypeId())
    log(S.from_raw_repr(0).highestPriorityTypeId())
    log((S(K.CPU) - S(K.CPU)).highestPriorityTypeId())
    log((S(K.PythonTLSSnapshot) | S(K.PythonDispatcher)).highestPriorityTypeId())
    log((S(K.AutogradCUDA) | S(K.CPU)).highestPriorityTypeId())
    log((S(K.SparseCPU) | S(K.AutogradCUDA) | S(K.PrivateUse1)).highestPriorityTypeId())


def set_hash_and_order(s, log):
    K, S = s.DispatchKey, s.DispatchKeySet
    a, b = S(K.CPU), S(K.CPU)
    log(a == b, a is b)
    log.attempt("hash", lambda: hash(a) == hash(b))
    log.attempt("lt", lambda: a < b)
    log.attempt("iter", lambda: list(a))
    log.attempt("len", lambda: len(a))
    log.attempt("in", lambda: K.CPU in a)
    log.attempt("bool", lambda: bool(S.from_raw_repr(0)))
    log.attempt("eq other", lambda: a == 3)
    log.attempt("ne none", lambda: a != None)  # noqa: E711
    log.attempt("sub key", lambda: a - K.CPU)
    log.attempt("invert", lambda: ~a)
    log.attempt("xor", lambda: a ^ b)


def key_enum(s, log):
    K = s.DispatchKey
    log(K.CPU.name, int(K.CPU) == K.CPU.value, K.CPU == K.CPU, K.CPU == K.CUDA)
    log(repr(K.CPU), str(K.CPU))
    log(repr(K.CompositeExplicitAutograd), str(K.AutogradCPU))
    log.attempt("from int", lambda: K(0))
    log.attempt("from str", lambda: K("CPU"))
    log.attempt("getitem", lambda: K["CPU"])
    log.attempt("missing", lambda: K.NoSuchKey)
    log.attempt("members", lambda: "CPU" in K.__members__)
    log.attempt("hash", lambda: len({K.CPU, K.CPU, K.CUDA}))
    log.attempt("cmp", lambda: K.CPU < K.CUDA)
    log.attempt("eq int", lambda: K.Undefined == 0)
    log(K.Autograd.name, K.Undefined.name)
    log(type(K.CPU).__name__)


def key_parse(s, log):
    C, K = s.C, s.DispatchKey
    for n in (
        "CPU",
        "AutogradCPU",
        "CompositeImplicitAutograd",
        "Meta",
        "PythonDispatcher",
        "Autograd",
        "Conjugate",
        "XLA",
        "PrivateUse1",
        "AutogradPrivateUse1",
        "DefaultBackend",
        "Undefined",
        "CatchAll",
        "Dense",
        "Negative",
        "ZeroTensor",
    ):
        log.attempt(n, C._dispatch_key_parse, n)
    log.attempt("bad", C._dispatch_key_parse, "cpu")
    log.attempt("bad2", C._parse_dispatch_key, "cpu")
    log.attempt("good2", C._parse_dispatch_key, "CPU")
    log.attempt("int", C._dispatch_key_parse, 3)
    log.attempt("name", C._dispatch_key_name, K.CPU)
    log.attempt("name str", C._dispatch_key_name, "CPU")


def key_names_by_value(s, log):
    C, K = s.C, s.DispatchKey
    for n in (
        "Dense",
        "Quantized",
        "Sparse",
        "SparseCsr",
        "NestedTensor",
        "AutogradFunctionality",
        "AutogradOther",
        "AutogradNestedTensor",
        "EndOfFunctionalityKeys",
        "ORT",
        "IPU",
        "MAIA",
        "Vulkan",
        "Metal",
        "MkldnnCPU",
        "CustomRNGKeyId",
        "Tracer",
        "VmapMode",
        "Batched",
        "TESTING_ONLY_GenericMode",
        "PreDispatch",
        "FuncTorchDynamicLayerFrontMode",
        "PythonTLSSnapshot",
        "Named",
        "DeferredInit",
    ):
        log.attempt(n, lambda n=n: C._dispatch_key_name(getattr(K, n)))


def keys_for_device(s, log):
    C = s.C
    for d in (
        "cpu",
        "cuda",
        "meta",
        "mps",
        "xla",
        "xpu",
        "privateuseone",
        "mkldnn",
        "hpu",
        "ipu",
        "mtia",
        "lazy",
        "vulkan",
        "maia",
        "nonsense",
        "CPU",
        "cuda:0",
    ):
        log.attempt(d, C._dispatch_key_for_device, d)


def alias_keys(s, log):
    C, K = s.C, s.DispatchKey
    for k in (
        K.Autograd,
        K.CompositeImplicitAutograd,
        K.CompositeExplicitAutograd,
        K.CompositeExplicitAutogradNonFunctional,
        K.CompositeImplicitAutogradNestedTensor,
        K.FuncTorchBatchedDecomposition,
        K.CPU,
        K.AutogradCPU,
        K.Undefined,
    ):
        log(k.name, C._dispatch_is_alias_key(k))
    for k in (
        K.CPU,
        K.AutogradCPU,
        K.AutogradOther,
        K.Meta,
        K.QuantizedCPU,
        K.SparseCPU,
        K.NestedTensorCPU,
        K.FuncTorchBatched,
        K.Python,
        K.ADInplaceOrView,
        K.Undefined,
    ):
        log(
            k.name,
            [
                C._dispatch_is_included_in_alias(k, a)
                for a in (
                    K.Autograd,
                    K.CompositeImplicitAutograd,
                    K.CompositeExplicitAutograd,
                    K.CompositeExplicitAutogradNonFunctional,
                    K.CompositeImplicitAutogradNestedTensor,
                    K.FuncTorchBatchedDecomposition,
                )
            ],
        )


def sets_of_core(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    log(C._dispatch_keyset_full())
    for k in (
        K.CPU,
        K.AutogradCPU,
        K.ADInplaceOrView,
        K.Python,
        K.AutogradFunctionality,
        K.BackendSelect,
        K.Functionalize,
        K.PythonTLSSnapshot,
        K.Undefined,
    ):
        log.attempt("after " + k.name, C._dispatch_keyset_full_after, k)
    log(C._after_autograd_keyset)
    log(C._after_ADInplaceOrView_keyset)
    log(C._additional_keys_to_prop_for_wrapper_tensors)
    log(C._dispatch_autogradother_backends)
    log(C._dispatch_num_backends())


def set_strings(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    x = s.T.ones(2)
    log(C._dispatch_keyset_to_string(C._dispatch_keys(x)))
    log(repr(C._dispatch_keys(x)))
    log(C._dispatch_key_set(x))
    log(C._dispatch_keys(x.requires_grad_()))
    log(C._dispatch_keys(s.T.empty(2, device="meta")))
    log(C._dispatch_keyset_to_string(C._dispatch_keyset_full_after(K.Dense)))
    log.attempt("not a tensor", C._dispatch_keys, 3)
    log.attempt("not a set", C._dispatch_keyset_to_string, K.CPU)
    with s.T.inference_mode():
        log(C._dispatch_keys(s.T.ones(2)))
    log(C._dispatch_keys(s.T.ones(2, dtype=s.T.complex64).conj()))


def functionality_of_keys(s, log):
    C, K = s.C, s.DispatchKey
    for k in (
        K.CPU,
        K.CUDA,
        K.AutogradCPU,
        K.SparseCPU,
        K.QuantizedMeta,
        K.NestedTensorCUDA,
        K.Python,
        K.Undefined,
        K.AutogradOther,
        K.Functionalize,
    ):
        log.attempt(k.name, C._to_functionality_key, k)
    for k in (K.Dense, K.AutogradFunctionality, K.Sparse, K.Python):
        log.attempt(k.name, lambda k=k: [x.name for x in C._functionality_to_backend_keys(k)][:4])
    for k in (
        K.AutogradCPU,
        K.AutogradOther,
        K.AutogradCUDA,
        K.AutogradMeta,
        K.AutogradNestedTensor,
        K.AutogradFunctionality,
    ):
        log.attempt(k.name, C._dispatch_get_backend_keyset_from_autograd, k)
    log.attempt("cpu", C._dispatch_get_backend_keyset_from_autograd, K.CPU)
