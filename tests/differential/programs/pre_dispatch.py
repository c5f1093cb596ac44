"""The stack of modes at PreDispatch."""

from typing import Any

from tests.differential.helpers import logging_mode


def _included(s):
    return s.C._dispatch_tls_is_dispatch_key_included(s.DispatchKey.PreDispatch)


def empty(s, log):
    o = s._ops
    log(
        o._len_torch_dispatch_stack_pre_dispatch(),
        o._get_current_dispatch_mode_pre_dispatch(),
        _included(s),
    )
    log.attempt("pop", o._pop_mode_from_pre_dispatch)
    P, F, K = (getattr(s.C._TorchDispatchModeKey, n) for n in ("PROXY", "FUNCTIONAL", "FAKE"))
    log(o._get_dispatch_mode_pre_dispatch(P), o._get_dispatch_mode_pre_dispatch(F))
    log.attempt("fake", o._get_dispatch_mode_pre_dispatch, K)
    log.attempt("unset", o.unset_mode_pre_dispatch, P)
    log.attempt("unset fake", o.unset_mode_pre_dispatch, K)
    log.attempt("unset none", o.unset_mode_pre_dispatch, None)
    log.attempt("unset check", o.unset_mode_pre_dispatch, None, schema_check=True)
    log.attempt("unset check", o.unset_mode_pre_dispatch, P, schema_check=True)


def state(s, log):
    o = s._ops
    st = o.mode_stack_state_for_pre_dispatch()
    log(
        type(st).__name__,
        st is o._mode_stack_state_for_pre_dispatch,
        st.count(),
        st.get(0),
        st.get(1),
    )
    log.attempt("get", st.get, 2)
    log.attempt("set", st.set, 2, None)
    st.set(0, "a")
    log(st.count(), o._get_current_dispatch_mode_pre_dispatch(), _included(s))
    st.set(1, "b")
    log(
        st.count(),
        o._get_current_dispatch_mode_pre_dispatch(),
        o._len_torch_dispatch_stack_pre_dispatch(),
    )
    log(o._pop_mode_from_pre_dispatch(), st.count(), o._pop_mode_from_pre_dispatch(), st.count())
    st._schema_check_mode = "c"
    log(
        st.count(),
        o._get_current_dispatch_mode_pre_dispatch(),
        o._pop_mode_from_pre_dispatch(),
        st.count(),
    )
    fresh = o._ModeStackStateForPreDispatch()
    fresh.set(1, 3)
    log(fresh.count(), st.count())


def other_modes_are_refused(s, log):
    class M(s.modes.TorchDispatchMode):
        pass

    log.attempt("set", s._ops._set_mode_pre_dispatch, M())
    log.attempt("set", s._ops._set_mode_pre_dispatch, None)
    log.attempt("enter", M(_dispatch_key=s.DispatchKey.PreDispatch).__enter__)
    log.attempt("enter", M(_dispatch_key=s.DispatchKey.CPU).__enter__)
    log(
        s._ops._len_torch_dispatch_stack_pre_dispatch(),
        s.C._len_torch_dispatch_stack(),
        _included(s),
    )


def unset_by_key(s, log):
    o = s._ops
    st = o.mode_stack_state_for_pre_dispatch()
    P, F = s.C._TorchDispatchModeKey.PROXY, s.C._TorchDispatchModeKey.FUNCTIONAL
    st.set(0, "p")
    st.set(1, "f")
    s.C._dispatch_tls_set_dispatch_key_included(s.DispatchKey.PreDispatch, True)
    log(o._get_dispatch_mode_pre_dispatch(P), o._get_dispatch_mode_pre_dispatch(F))
    log(o.unset_mode_pre_dispatch(F), _included(s), o.unset_mode_pre_dispatch(P), _included(s))


def calls(s, log):
    seen = []

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(
                (str(func), list(types), kwargs, s._ops._len_torch_dispatch_stack_pre_dispatch())
            )
            return func(*args, **(kwargs or {}))

    lib = s.library.Library("pre1", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CompositeImplicitAutograd")
    f = s.ops.pre1.f.default
    s._ops.mode_stack_state_for_pre_dispatch().set(0, M())
    s.C._dispatch_tls_set_dispatch_key_included(s.DispatchKey.PreDispatch, True)
    x = s.T.ones(2)
    log(f(x), seen)
    with s.C._EnablePythonDispatcher():
        log.attempt("call", f, x)
    log(seen, s._ops._len_torch_dispatch_stack_pre_dispatch(), _included(s))
    log(f(x), seen, f._dispatch_cache)


def python_excluded(s, log):
    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise ValueError("asked")

    lib = s.library.Library("pre2", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    f = s.ops.pre2.f.default
    st = s._ops.mode_stack_state_for_pre_dispatch()
    st.set(1, M())
    with s.C._EnablePythonDispatcher(), s.C._EnablePreDispatch():
        with s.C._ExcludeDispatchKeyGuard(s.DispatchKeySet(s.DispatchKey.Python)):
            log.attempt("excluded", f, s.T.ones(1))
        log.attempt("not excluded", f, s.T.ones(1))
    log(st.count(), _included(s))


def without_modes(s, log):
    lib = s.library.Library("pre3", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    f = s.ops.pre3.f.default
    with s.C._EnablePreDispatch():
        log(_included(s), f(s.T.ones(1)))
        with s.C._EnablePythonDispatcher():
            log(f(s.T.ones(1)), sorted(k.name for k in f._dispatch_cache))
    log(_included(s))


def kernels_at_the_key(s, log):
    seen = []
    lib = s.library.Library("pre4", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    f = s.ops.pre4.f.default

    @f.py_impl(s.DispatchKey.PreDispatch)
    def k(x):
        seen.append("pre")
        return x * 9

    x = s.T.ones(1)
    log(f(x))
    with s.C._EnablePreDispatch():
        log(f(x), seen)
        with s.C._EnablePythonDispatcher():
            log(f(x), seen)
    lib.impl("f", lambda x: x * 4, "PreDispatch")
    with s.C._EnablePreDispatch():
        log(f(x), seen)


def disable_current_modes(s, log):
    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with M() as m:
        with s.modes._disable_current_modes() as old:
            log(len(old), old[0] is m, s.C._len_torch_dispatch_stack())
        log(s.C._len_torch_dispatch_stack(), s._ops._len_torch_dispatch_stack_pre_dispatch())


def pre_dispatch_modes(s: Any, log: Any) -> None:
    o = s._ops
    T = s.T
    log(o._len_torch_dispatch_stack_pre_dispatch())
    log.attempt("empty", o._get_dispatch_mode_pre_dispatch, s.C._TorchDispatchModeKey.PROXY)
    log.attempt("fake", o._get_dispatch_mode_pre_dispatch, s.C._TorchDispatchModeKey.FAKE)
    log(o.mode_stack_state_for_pre_dispatch().count())
    log.attempt("pop", o._pop_mode_from_pre_dispatch)
    log(o.unset_mode_pre_dispatch(s.C._TorchDispatchModeKey.PROXY))
    log.attempt("set", o._set_mode_pre_dispatch, logging_mode(s, log))
    log(o._len_torch_dispatch_stack_pre_dispatch())
    log(s.C._dispatch_tls_is_dispatch_key_included("PreDispatch"))
