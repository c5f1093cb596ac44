"""Key sets, alias keys and thread-local state, by a second author."""

import threading


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


def include_exclude_by_hand(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    log(C._dispatch_tls_local_include_set(), C._dispatch_tls_local_exclude_set())
    log(C._dispatch_tls_is_dispatch_key_excluded(K.ADInplaceOrView))
    C._dispatch_tls_set_dispatch_key_excluded(K.AutocastCPU, False)
    log(C._dispatch_tls_local_exclude_set())
    C._dispatch_tls_set_dispatch_key_excluded(K.AutocastCPU, True)
    C._dispatch_tls_set_dispatch_key_included(K.Negative, True)
    C._dispatch_tls_set_dispatch_key_included(K.Negative, True)
    log(C._dispatch_tls_is_dispatch_key_included(K.Negative), C._dispatch_tls_local_include_set())
    C._dispatch_tls_set_dispatch_key_included(K.Negative, False)
    log(C._dispatch_tls_is_dispatch_key_included(K.Negative), C._dispatch_tls_local_include_set())
    C._dispatch_tls_set_dispatch_key_excluded(K.CPU, True)
    log(C._dispatch_tls_local_exclude_set(), C._dispatch_tls_is_dispatch_key_excluded(K.CUDA))
    C._dispatch_tls_set_dispatch_key_excluded(K.CPU, False)
    log(C._dispatch_tls_local_exclude_set())
    log.attempt("no args", lambda: C._dispatch_tls_set_dispatch_key_included(K.CPU))
    log.attempt("set", lambda: C._dispatch_tls_is_dispatch_key_included(S(K.CPU)))


def guards_only_inside_with(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    g = C._ExcludeDispatchKeyGuard(S(K.Negative))
    log(C._dispatch_tls_is_dispatch_key_excluded(K.Negative))
    with g:
        log(C._dispatch_tls_is_dispatch_key_excluded(K.Negative))
    log(C._dispatch_tls_is_dispatch_key_excluded(K.Negative))
    i = C._IncludeDispatchKeyGuard(K.Negative)
    log(C._dispatch_tls_is_dispatch_key_included(K.Negative))
    with i as v:
        log(type(v).__name__, C._dispatch_tls_is_dispatch_key_included(K.Negative))
    log(C._dispatch_tls_is_dispatch_key_included(K.Negative))
    log.attempt("include takes key only", lambda: C._IncludeDispatchKeyGuard(S(K.Negative)))
    log.attempt("exclude takes set only", lambda: C._ExcludeDispatchKeyGuard(K.Negative))


def disable_torch_dispatch_guard(s, log):
    C, K = s.C, s.DispatchKey
    log(C._dispatch_tls_is_dispatch_key_excluded(K.Python))
    g = C._DisableTorchDispatch()
    log(
        C._dispatch_tls_is_dispatch_key_excluded(K.Python),
        C._dispatch_tls_is_dispatch_key_excluded(K.PythonTLSSnapshot),
    )
    del g
    log(C._dispatch_tls_is_dispatch_key_excluded(K.Python))
    log.attempt("with", lambda: C._DisableTorchDispatch().__enter__())
    g = C._AutoDispatchBelowAutograd()
    log(
        C._dispatch_tls_is_dispatch_key_excluded(K.AutogradCPU),
        C._dispatch_tls_is_dispatch_key_excluded(K.ADInplaceOrView),
    )
    with g:
        log(
            C._dispatch_tls_is_dispatch_key_excluded(K.AutogradCPU),
            C._dispatch_tls_is_dispatch_key_excluded(K.ADInplaceOrView),
        )
    log(C._dispatch_tls_is_dispatch_key_excluded(K.AutogradCPU))
    g = C._AutoDispatchBelowADInplaceOrView()
    with g:
        log(C._dispatch_tls_is_dispatch_key_excluded(K.ADInplaceOrView))
    log(C._dispatch_tls_is_dispatch_key_excluded(K.ADInplaceOrView))


def force_and_preserve(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    inc, exc = C._dispatch_tls_local_include_set(), C._dispatch_tls_local_exclude_set()
    with C._ForceDispatchKeyGuard(S(K.Negative), S(K.Conjugate)):
        log(C._dispatch_tls_local_include_set(), C._dispatch_tls_local_exclude_set())
        with C._PreserveDispatchKeyGuard():
            C._dispatch_tls_set_dispatch_key_included(K.ZeroTensor, True)
            log(C._dispatch_tls_local_include_set())
        log(C._dispatch_tls_local_include_set())
    log(C._dispatch_tls_local_include_set() == inc, C._dispatch_tls_local_exclude_set() == exc)
    with C._SetExcludeDispatchKeyGuard(K.Negative, True):
        log(C._dispatch_tls_is_dispatch_key_excluded(K.Negative))
        with C._SetExcludeDispatchKeyGuard(K.Negative, False):
            log(C._dispatch_tls_is_dispatch_key_excluded(K.Negative))
        log(C._dispatch_tls_is_dispatch_key_excluded(K.Negative))
    log(C._dispatch_tls_is_dispatch_key_excluded(K.Negative))
    log.attempt("force none", lambda: C._ForceDispatchKeyGuard())


def guards_nest_and_survive_errors(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    try:
        with C._ExcludeDispatchKeyGuard(S(K.Negative)), C._IncludeDispatchKeyGuard(K.Conjugate):
            log(C._dispatch_tls_is_dispatch_key_included(K.Conjugate))
            raise KeyError
    except KeyError:
        log("caught")
    log(
        C._dispatch_tls_is_dispatch_key_included(K.Conjugate),
        C._dispatch_tls_is_dispatch_key_excluded(K.Negative),
    )
    with C._ExcludeDispatchKeyGuard(S(K.Negative)):
        with C._ExcludeDispatchKeyGuard(S(K.Negative)):
            pass
        log(C._dispatch_tls_is_dispatch_key_excluded(K.Negative))
    log(C._dispatch_tls_is_dispatch_key_excluded(K.Negative))


def threads_have_their_own(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    seen = []

    def look():
        seen.append(C._dispatch_tls_is_dispatch_key_excluded(K.Negative))
        seen.append(C._len_torch_dispatch_stack())
        C._dispatch_tls_set_dispatch_key_included(K.Conjugate, True)

    with C._ExcludeDispatchKeyGuard(S(K.Negative)):
        t = threading.Thread(target=look)
        t.start()
        t.join()
    log(seen, C._dispatch_tls_is_dispatch_key_included(K.Conjugate))


def kernels_see_state(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    lib = s.library.Library("mk_state", "DEF")
    lib.define("f(Tensor x) -> Tensor")

    def cpu(x):
        log(
            "cpu",
            C._dispatch_tls_is_dispatch_key_excluded(K.AutogradCPU),
            C._dispatch_tls_is_dispatch_key_included(K.CPU),
        )
        return x.clone()

    def auto(x):
        log("autograd", C._dispatch_tls_is_dispatch_key_excluded(K.AutogradCPU))
        with C._AutoDispatchBelowAutograd():
            return s.ops.mk_state.f(x)

    lib.impl("f", cpu, "CPU")
    s.ops.mk_state.f(s.T.ones(1))
    lib.impl("f", auto, "AutogradCPU")
    s.ops.mk_state.f(s.T.ones(1))
    with C._ExcludeDispatchKeyGuard(S(K.AutogradCPU)):
        s.ops.mk_state.f(s.T.ones(1))
    log(C._dispatch_tls_is_dispatch_key_excluded(K.AutogradCPU))


def included_key_reaches_kernel(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    lib = s.library.Library("mk_incl", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.define("g() -> int")
    lib.impl("f", lambda x: x + 1, "CPU")
    lib.impl("g", lambda: 1, "CompositeExplicitAutograd")
    lib.impl("g", lambda: 2, "Negative")

    def neg(x):
        log("neg")
        with C._ExcludeDispatchKeyGuard(S(K.Negative)):
            return s.ops.mk_incl.f(x)

    lib.impl("f", neg, "Negative")
    x = s.T.zeros(1)
    log(s.ops.mk_incl.f(x))
    with C._IncludeDispatchKeyGuard(K.Negative):
        log(s.ops.mk_incl.f(x))
        log(s.ops.mk_incl.g())
    log(s.ops.mk_incl.g())
    with C._ExcludeDispatchKeyGuard(S(K.CPU)):
        log.attempt("no backend", s.ops.mk_incl.f, x)


def python_dispatcher_state(s, log):
    C, K = s.C, s.DispatchKey
    log(C._dispatch_tls_is_dispatch_key_included(K.PythonDispatcher))
    g = C._EnablePythonDispatcher()
    log(C._dispatch_tls_is_dispatch_key_included(K.PythonDispatcher))
    h = C._DisablePythonDispatcher()
    log(C._dispatch_tls_is_dispatch_key_included(K.PythonDispatcher))
    del h
    log(C._dispatch_tls_is_dispatch_key_included(K.PythonDispatcher))
    del g
    log(C._dispatch_tls_is_dispatch_key_included(K.PythonDispatcher))
    log(C._meta_in_tls_dispatch_include())
    C._set_meta_in_tls_dispatch_include(True)
    log(C._meta_in_tls_dispatch_include(), C._dispatch_tls_local_include_set())
    C._set_meta_in_tls_dispatch_include(False)
    log(C._meta_in_tls_dispatch_include(), C._dispatch_tls_local_include_set())
