"""What there is to override by `__torch_function__`, and what handlers of any object are shown."""

import inspect
from typing import Any

_FUNCTIONS = (
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "cartesian_prod",
    "einsum", "get_device", "is_complex", "is_conj", "is_floating_point", "is_inference", "is_neg",
    "is_nonzero", "is_same_size", "is_signed", "meshgrid", "nonzero", "norm", "numel", "split",
    "tensordot", "unique", "unique_consecutive", "add", "cat", "max", "where", "softmax", "matmul",
    "as_strided", "rand_like", "tensor", "zeros", "is_tensor", "result_type",
)  # fmt: skip
_PROPERTIES = ("shape", "dtype", "requires_grad", "data", "T", "_base", "grad_fn")


def the_programs_own_functions(s, log):
    known = s.overrides.get_testing_overrides()
    listed = {f for group in s.overrides.get_overridable_functions().values() for f in group}
    for name in _FUNCTIONS:
        function = getattr(s.T, name)
        log(name, function in known, function in listed)
        if function in known:
            spec = inspect.getfullargspec(known[function])
            log("   needs", len(spec.args) - len(spec.defaults or ()), spec.varargs is not None)
            log("   stands for it", known[function](*[0] * len(spec.args)))


def properties_and_slots(s, log):
    known = s.overrides.get_testing_overrides()
    for name in _PROPERTIES:
        asked = getattr(s.Tensor, name).__get__
        log(name, asked in known, asked.__name__, asked.__self__.__qualname__.split(".")[-1])
        log("   ", inspect.getfullargspec(known[asked]).args)
    for name in ("__bool__", "__contains__", "__len__", "__getitem__", "add", "split", "size"):
        log(name, getattr(s.Tensor, name) in known)


class _Seen:
    """An object that is no tensor and answers -1."""

    log: Any = None

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        words = "none" if kwargs is None else sorted(kwargs)
        cls.log("   ", func.__name__, [t.__name__ for t in types], len(args), words)
        return -1


def foreign_objects_are_asked(s, log):
    T, f = s.T, _Seen()
    _Seen.log = log
    a = T.ones(2)
    for name, args in (
        ("split", (f, 2)), ("norm", (f,)), ("unique", (f,)), ("unique_consecutive", (f,)),
        ("meshgrid", (f, a)), ("broadcast_tensors", (a, f)), ("atleast_1d", (f,)),
        ("atleast_2d", (f, a)), ("atleast_3d", (f,)), ("tensordot", (a, f)), ("einsum", ("i", f)),
        ("cartesian_prod", (f,)), ("block_diag", (f,)), ("numel", (f,)), ("is_complex", (f,)),
        ("is_floating_point", (f,)), ("is_conj", (f,)), ("is_neg", (f,)), ("is_signed", (f,)),
        ("is_nonzero", (f,)), ("is_same_size", (a, f)), ("is_inference", (f,)), ("nonzero", (f,)),
        ("get_device", (f,)), ("result_type", (f, a)), ("result_type", (a, 1)),
    ):  # fmt: skip
        function = getattr(T, name)
        log.attempt(name, lambda f=function, a=args: f(*a))
    log.attempt("keywords", lambda: T.split(tensor=f, split_size_or_sections=1, dim=1))
    log.attempt("numel by keyword", lambda: T.numel(input=f))
    log.attempt("too few", lambda: T.tensordot(f))


def modes_see_them_by_name(s, log):
    T = s.T

    class Names(s.modes.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log("   ", func.__name__, len(types), len(args), sorted(kwargs or {}))
            return func(*args, **(kwargs or {}))

    a = T.ones(2)
    with Names():
        for name, args in (
            ("split", (a, 1)), ("norm", (a,)), ("unique", (a,)), ("meshgrid", (a, a)),
            ("broadcast_tensors", (a, a)), ("atleast_1d", (a,)), ("tensordot", (a, a, 1)),
            ("einsum", ("i,i->", a, a)), ("numel", (a,)), ("is_complex", (a,)),
            ("result_type", (a, 1)), ("promote_types", (T.float32, T.int32)),
            ("can_cast", (T.int32, T.float32)), ("is_inference", (a,)), ("get_device", (a,)),
        ):  # fmt: skip
            getattr(T, name)(*args)
        a._is_view()


def slots_that_answer_anything(s, log):
    class Minus(s.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log("   ", func.__name__, len(args), "none" if kwargs is None else sorted(kwargs))
            return -1

    x = s.T.ones(1).as_subclass(Minus)
    log.attempt("__bool__", lambda: s.Tensor.__bool__(x))
    log.attempt("bool", lambda: bool(x))
    log.attempt("__contains__", lambda: s.Tensor.__contains__(x, 1))
    log.attempt("in", lambda: 1 in x)
