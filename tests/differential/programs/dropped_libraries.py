"""What is registered through a module object lasts as long as the object; modes of a wrong make."""

import gc


def a_dropped_module_deregisters(s, log):
    C = s.C
    defs = C._dispatch_library("DEF", "dropped", "", "f.py", 1)
    defs.def_("f(Tensor x) -> Tensor")
    impl = C._dispatch_library("IMPL", "dropped", "CPU", "f.py", 2)
    impl.impl_t_t("f")
    fallback = C._dispatch_library("IMPL", "_", "PrivateUse3", "f.py", 3)
    fallback.fallback_fallthrough()

    def tell():
        gc.collect()
        log(
            C._dispatch_has_kernel("dropped::f"),
            C._dispatch_has_kernel_for_dispatch_key("dropped::f", "CPU")
            if C._dispatch_has_kernel("dropped::f") else "-",
            C._dispatch_has_backend_fallback(s.DispatchKey.PrivateUse3),
        )  # fmt: skip

    tell()
    del impl
    tell()
    del fallback
    tell()
    del defs
    tell()
    log.attempt("find", lambda: C._dispatch_find_schema_or_throw("dropped::f", ""))
    again = C._dispatch_library("DEF", "dropped", "", "f.py", 4)
    again.def_("f(Tensor x) -> Tensor")
    tell()


def a_mode_is_no_class(s, log):
    class OfTheClass(s.modes.TorchDispatchMode):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    def run():
        with OfTheClass():
            return s.T.ones(2) + 1

    log.attempt("classmethod", run)
    log(s.C._len_torch_dispatch_stack())


def packets_ask_handlers(s, log):
    ask = s.C._maybe_call_torch_function_for_op_packet

    class Answers(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return str(func), len(args), sorted(kwargs)

    x = s.T.ones(2).as_subclass(Answers)
    log.attempt("plain", lambda: ask(s.ops.aten.add, s.T.ones(2), 1, alpha=2))
    log.attempt("asked", lambda: ask(s.ops.aten.add, x, 1, alpha=2))
    log.attempt("nothing", lambda: ask())
