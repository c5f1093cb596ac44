"""What a thread includes and excludes, and the guards."""

import threading


def _sets(s):
    return (s.C._dispatch_tls_local_include_set(), s.C._dispatch_tls_local_exclude_set())


def at_start(s, log):
    log(*_sets(s))
    log(*map(repr, _sets(s)))
    for name, key in sorted(s.DispatchKey.__members__.items()):
        log(
            name,
            s.C._dispatch_tls_is_dispatch_key_included(key),
            s.C._dispatch_tls_is_dispatch_key_excluded(key),
        )


def other_threads(s, log):
    got = []
    s.C._dispatch_tls_set_dispatch_key_included("CUDA", True)
    t = threading.Thread(target=lambda: got.append(_sets(s)))
    t.start()
    t.join()
    log(got, _sets(s))


def setting(s, log):
    C, K = s.C, s.DispatchKey
    for f in (C._dispatch_tls_set_dispatch_key_included, C._dispatch_tls_set_dispatch_key_excluded):
        for key in (
            "CPU",
            K.AutogradCPU,
            "Python",
            K.Undefined,
            "Autograd",
            "Nope",
            3,
            None,
            K.CUDA,
            "Dense",
        ):
            log.attempt(f"{key} on", f, key, True)
            log(*_sets(s))
        for key in ("CPU", K.CUDA, K.AutogradCPU, "Python"):
            log.attempt(f"{key} off", f, key, False)
            log(*_sets(s))
        log.attempt("state int", f, "CPU", 1)
        log.attempt("state None", f, "CPU", None)
        log.attempt("state str", f, "CPU", "x")
        log.attempt("one argument", f, "CPU")


def _guards(s):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    return {
        "_IncludeDispatchKeyGuard": lambda: C._IncludeDispatchKeyGuard(K.CUDA),
        "_ExcludeDispatchKeyGuard": lambda: C._ExcludeDispatchKeyGuard(S(K.CPU)),
        "_SetExcludeDispatchKeyGuard on": lambda: C._SetExcludeDispatchKeyGuard(K.Python, True),
        "_SetExcludeDispatchKeyGuard off": lambda: C._SetExcludeDispatchKeyGuard(
            K.AutocastCPU, False
        ),
        "_ForceDispatchKeyGuard": lambda: C._ForceDispatchKeyGuard(S(K.CPU), S(K.CUDA)),
        "_PreserveDispatchKeyGuard": lambda: C._PreserveDispatchKeyGuard(),
        "_AutoDispatchBelowAutograd": lambda: C._AutoDispatchBelowAutograd(),
        "_AutoDispatchBelowADInplaceOrView": lambda: C._AutoDispatchBelowADInplaceOrView(),
        "_DisableTorchDispatch": lambda: C._DisableTorchDispatch(),
        "_EnablePythonDispatcher": lambda: C._EnablePythonDispatcher(),
        "_DisablePythonDispatcher": lambda: C._DisablePythonDispatcher(),
        "_EnablePreDispatch": lambda: C._EnablePreDispatch(),
        "_InferenceMode": lambda: C._InferenceMode(True),
        "_DisableFuncTorch": lambda: C._DisableFuncTorch(),
        "_DisableAutocast": lambda: C._DisableAutocast(),
        "ExcludeDispatchKeyGuard": lambda: C.ExcludeDispatchKeyGuard(S(K.CPU)),
    }


def guards_around(s, log):
    for name, make in _guards(s).items():
        before = _sets(s)
        g = make()
        log(name, "made", *_sets(s))
        got = g.__enter__()
        log(name, "entered", got, *_sets(s))
        log(g.__exit__(None, None, None), _sets(s) == before)
        del g
        log(_sets(s) == before)


def guards_nested(s, log):
    for name, make in _guards(s).items():
        with make():
            one = _sets(s)
            with make():
                log(name, *_sets(s), _sets(s) == one)
            log(_sets(s) == one)
        log(*_sets(s))


def guards_and_errors(s, log):
    for name, make in _guards(s).items():
        try:
            with make():
                raise KeyError("x")
        except KeyError:
            log(name, *_sets(s))


def guards_undo_what_was_set_meanwhile(s, log):
    C = s.C
    for name, make in _guards(s).items():
        with make():
            C._dispatch_tls_set_dispatch_key_included("XLA", True)
            C._dispatch_tls_set_dispatch_key_excluded("FPGA", True)
        log(name, *_sets(s))
        C._dispatch_tls_set_dispatch_key_included("XLA", False)
        C._dispatch_tls_set_dispatch_key_excluded("FPGA", False)


def guard_arguments(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    ks = S(K.CPU)
    for name in (
        "_IncludeDispatchKeyGuard",
        "_ExcludeDispatchKeyGuard",
        "_SetExcludeDispatchKeyGuard",
        "_ForceDispatchKeyGuard",
        "_PreserveDispatchKeyGuard",
        "_AutoDispatchBelowAutograd",
        "_DisableTorchDispatch",
        "_EnablePythonDispatcher",
    ):
        for args in (
            (),
            ("CPU",),
            (K.CPU,),
            (ks,),
            (ks, ks),
            (K.CPU, True),
            ("CPU", True),
            (3,),
            (None,),
            (K.CPU, 1),
            (K.CPU, None),
            ("Nope",),
            (ks, K.CPU),
        ):
            log.attempt(
                f"{name} {len(args)}",
                lambda name=name, args=args: type(getattr(C, name)(*args)).__name__,
            )
    log(*_sets(s))


def exit_arguments(s, log):
    C, K = s.C, s.DispatchKey
    g = C._IncludeDispatchKeyGuard(K.CUDA)
    g.__enter__()
    log.attempt("no arguments", g.__exit__)
    log.attempt("three", g.__exit__, None, None, None)
    log(*_sets(s))
    log.attempt("exit again", g.__exit__, None, None, None)
    log(*_sets(s))


def preserve(s, log):
    C = s.C
    with C._PreserveDispatchKeyGuard():
        C._dispatch_tls_set_dispatch_key_included("CUDA", True)
        C._dispatch_tls_set_dispatch_key_excluded("CPU", True)
        log(*_sets(s))
    log(*_sets(s))


def force(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    with C._ForceDispatchKeyGuard(S(K.CPU) | S(K.Python), S(K.AutogradCPU)):
        log(*_sets(s))
        with C._ExcludeDispatchKeyGuard(S(K.CUDA)):
            log(*_sets(s))
        with C._IncludeDispatchKeyGuard(K.AutogradCUDA):
            log(*_sets(s))
        log(*_sets(s))
    log(*_sets(s))


def guards_steer_calls(s, log):
    m = s.library.Library("tlsg", "DEF")
    m.define("f(Tensor x) -> str")
    for key in (
        "CPU",
        "AutogradCPU",
        "CUDA",
        "Meta",
        "ADInplaceOrView",
        "AutocastCPU",
        "Conjugate",
    ):
        m.impl("f", lambda x, key=key: key, key)
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    x = s.T.ones(1)
    log(s.ops.tlsg.f(x))
    with C._AutoDispatchBelowAutograd():
        log(s.ops.tlsg.f(x))
    with C._AutoDispatchBelowADInplaceOrView():
        log(s.ops.tlsg.f(x))
    with C._IncludeDispatchKeyGuard(K.Conjugate):
        log(s.ops.tlsg.f(x))
    with C._IncludeDispatchKeyGuard(K.Meta), C._AutoDispatchBelowADInplaceOrView():
        log(s.ops.tlsg.f(x))
    with C._SetExcludeDispatchKeyGuard(K.AutocastCPU, False):
        log(s.ops.tlsg.f(x))
    with C._ExcludeDispatchKeyGuard(C._dispatch_keys(x)):
        log.attempt("nothing left", s.ops.tlsg.f, x)
    with C._ForceDispatchKeyGuard(S(K.CUDA), C._dispatch_keyset_full()):
        log.attempt("forced", s.ops.tlsg.f, x)


def inside_kernels(s, log):
    """What a Python kernel sees of the thread's sets, by key."""
    m = s.library.Library("tlsk", "DEF")
    m.define("f(Tensor x) -> Tensor")
    m.define("g(Tensor x) -> Tensor")
    m.define("h(Tensor x) -> Tensor")
    got = []

    def kernel(x):
        got.append(_sets(s))
        return x

    m.impl("f", kernel, "CPU")
    m.impl("g", kernel, "CompositeExplicitAutograd")
    m.impl("h", kernel, "CompositeImplicitAutograd")
    m.impl("f", kernel, "XLA")
    x = s.T.ones(1)
    s.ops.tlsk.f(x)
    s.ops.tlsk.g(x)
    s.ops.tlsk.h(x)
    s.ops.tlsk.f(s.T.ones(1, requires_grad=True))
    for one in got:
        log(*one)
    log(*_sets(s))


def inside_a_mode(s, log):
    got = []

    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            got.append((func, _sets(s)))
            return func(*args, **(kwargs or {}))

    x = s.T.ones(1)
    with Mode():
        log("in", *_sets(s))
        x + 1
        with s.T.no_grad():
            x + 1
        with s.C._ExcludeDispatchKeyGuard(s.DispatchKeySet(s.DispatchKey.ADInplaceOrView)):
            x * 2
        with Mode():
            x - 1
    for f, sets in got:
        log(f, *sets)
    log(*_sets(s))


def mode_that_raises(s, log):
    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("no")

    with Mode():
        log.attempt("call", lambda: s.T.ones(1))
        log(*_sets(s), s.C._len_torch_dispatch_stack())
    log(*_sets(s), s.C._len_torch_dispatch_stack())


def inside_a_subclass(s, log):
    got = []

    class Sub(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            got.append((func, _sets(s)))
            with s.C._DisableTorchDispatch():
                got.append(_sets(s))
                return func(*args, **(kwargs or {}))

    y = s.Tensor._make_subclass(Sub, s.T.ones(2))
    y + 1
    for one in got:
        log(one)
    log(*_sets(s))


def snapshot(s, log):
    """_RestorePythonTLSSnapshot inside a handler brings back the sets of the call's start."""
    got = []

    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            got.append(_sets(s))
            with s.C._RestorePythonTLSSnapshot():
                got.append(_sets(s))
            got.append(_sets(s))
            return func(*args, **(kwargs or {}))

    x = s.T.ones(1)
    with Mode():
        s.ops.aten.neg(x)
        with s.C._ExcludeDispatchKeyGuard(s.DispatchKeySet(s.DispatchKey.AutocastCUDA)):
            x + 1
    for one in got:
        log(one)
    log(*_sets(s))


def snapshot_of_a_subclass(s, log):
    got = []

    class Sub(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            got.append((func, _sets(s)))
            with s.C._RestorePythonTLSSnapshot():
                got.append(_sets(s))
            with s.C._DisableTorchDispatch():
                return func(*args, **(kwargs or {}))

    y = s.Tensor._make_subclass(Sub, s.T.ones(2))
    y + 1
    with s.T.no_grad():
        y * 1
    with s.C._AutoDispatchBelowAutograd():
        y - 1
    for one in got:
        log(one)
    log(*_sets(s))


def snapshot_nested(s, log):
    """A call inside a handler, with the snapshot restored, is handled again from the top."""
    got = []
    m = s.library.Library("tlsn", "DEF")
    m.define("f(Tensor x) -> Tensor")
    m.impl(
        "f",
        lambda x: (
            got.append("autograd"),
            s.ops.tlsn.f.default.redispatch(
                s.C._dispatch_keys(x) & s.C._after_ADInplaceOrView_keyset, x
            ),
        )[1],
        "AutogradCPU",
    )
    m.impl("f", lambda x: (got.append("cpu"), x)[1], "CPU")

    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            got.append(f"mode {func}")
            with s.C._RestorePythonTLSSnapshot():
                got.append(_sets(s))
                return func(*args, **(kwargs or {}))

    x = s.T.ones(1)
    with Mode():
        s.ops.tlsn.f(x)
    for one in got:
        log(one)
    log(*_sets(s))


def snapshot_outside(s, log):
    log.attempt("outside", lambda: s.C._RestorePythonTLSSnapshot().__enter__())
    log(*_sets(s))


def snapshot_twice(s, log):
    got = []

    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with s.C._RestorePythonTLSSnapshot():
                try:
                    with s.C._RestorePythonTLSSnapshot():
                        got.append(_sets(s))
                except RuntimeError as e:
                    got.append(type(e).__name__)
            try:
                with s.C._RestorePythonTLSSnapshot():
                    got.append(_sets(s))
            except RuntimeError as e:
                got.append(type(e).__name__)
            return func(*args, **(kwargs or {}))

    x = s.T.ones(1)
    with Mode():
        x + 1
    for one in got:
        log(one)


def meta_in_include(s, log):
    C = s.C
    log(C._meta_in_tls_dispatch_include())
    for value in (True, True, False, False):
        C._set_meta_in_tls_dispatch_include(value)
        log(C._meta_in_tls_dispatch_include(), *_sets(s))
    C._dispatch_tls_set_dispatch_key_included("CUDA", True)
    C._set_meta_in_tls_dispatch_include(True)
    C._set_meta_in_tls_dispatch_include(False)
    log(*_sets(s))
    log.attempt("int", C._set_meta_in_tls_dispatch_include, 1)
    log.attempt("None", C._set_meta_in_tls_dispatch_include, None)


def grad_and_inference(s, log):
    T = s.T
    with T.no_grad():
        log(*_sets(s))
    with T.inference_mode():
        log(*_sets(s))
        with T.inference_mode(False):
            log(*_sets(s))
    with s.C._InferenceMode(False):
        log(*_sets(s))
    log(*_sets(s))


def function_state(s, log):
    C = s.C
    log(
        C._is_torch_function_enabled(),
        C._is_torch_function_all_disabled(),
        C._is_torch_function_mode_enabled(),
    )
    for guard in (C.DisableTorchFunctionSubclass, C.DisableTorchFunction):
        with guard():
            log(C._is_torch_function_enabled(), C._is_torch_function_all_disabled())
            with C._EnableTorchFunction():
                log(C._is_torch_function_enabled(), C._is_torch_function_all_disabled())
        log(C._is_torch_function_enabled(), C._is_torch_function_all_disabled())
    log(C._get_torch_function_state() == C._TorchFunctionState.ENABLED)
    with C.DisableTorchFunctionSubclass():
        log(C._get_torch_function_state().name)
    with C.DisableTorchFunction():
        log(C._get_torch_function_state().name, C._get_torch_function_state())
    C._set_torch_function_state(C._TorchFunctionState.ALL_DISABLED)
    log(C._is_torch_function_all_disabled())
    C._set_torch_function_state(C._TorchFunctionState.ENABLED)
    log(
        sorted(C._TorchFunctionState.__members__),
        [m.value for m in C._TorchFunctionState.__members__.values()],
    )


def mode_key_enum(s, log):
    K = s.C._TorchDispatchModeKey
    log(
        list(K.__members__),
        [int(k) for k in K.__members__.values()],
        repr(K.FAKE),
        str(K.PROXY),
        K(0) == K.FAKE,
    )
    log.attempt("odd", K, "FAKE")
    log.attempt("bad", lambda: K(17).name)


def mode_functions(s, log):
    C, K = s.C, s.C._TorchDispatchModeKey

    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    a, b = Mode(), Mode()
    log(C._len_torch_dispatch_stack(), C._get_dispatch_mode(K.FAKE))
    C._push_on_torch_dispatch_stack(a)
    C._push_on_torch_dispatch_stack(b)
    log(
        C._len_torch_dispatch_stack(),
        C._get_dispatch_stack_at(0) is a,
        C._get_dispatch_stack_at(1) is b,
    )
    log(C._pop_torch_dispatch_stack(None) is b, C._pop_torch_dispatch_stack(None) is a)
    log.attempt("pop", C._pop_torch_dispatch_stack, None)
    log.attempt("pop FAKE", C._pop_torch_dispatch_stack, K.FAKE)
    log.attempt("unset", C._unset_dispatch_mode, K.FAKE)
    fm = s.fake.FakeTensorMode()
    log.attempt("set", C._set_dispatch_mode, fm)
    log(C._get_dispatch_mode(K.FAKE) is fm, C._len_torch_dispatch_stack(), *_sets(s))
    log(C._unset_dispatch_mode(K.FAKE) is fm, C._len_torch_dispatch_stack())
    log(C._len_torch_dispatch_stack(), *_sets(s))


def key_in_tls(s, log):
    C = s.C
    log.attempt("none", C._is_key_in_tls, "x")
    C._stash_obj_in_tls("x", [1])
    log(C._is_key_in_tls("x"), C._get_obj_in_tls("x"))
    C._remove_obj_from_tls("x") if hasattr(C, "_remove_obj_from_tls") else None
    log(C._is_key_in_tls("x"))


def functorch_active(s, log):
    log(s.C._are_functorch_transforms_active())
    with s.C._IncludeDispatchKeyGuard(s.DispatchKey.FuncTorchDynamicLayerFrontMode):
        log(s.C._are_functorch_transforms_active())


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
