"""A subclass that logs what its handler gets, in calls of many kinds."""

from typing import Any


def _logging_tensor(s: Any, log: Any) -> Any:
    """The LoggingTensor of PyTorch's tests: a wrapper that holds `elem`."""
    T, pytree = s.T, s.pytree

    class LoggingTensor(s.Tensor):
        @staticmethod
        def __new__(cls, elem, requires_grad=False):
            r = s.Tensor._make_wrapper_subclass(
                cls,
                elem.size(),
                strides=elem.stride(),
                storage_offset=elem.storage_offset(),
                dtype=elem.dtype,
                layout=elem.layout,
                device=elem.device,
                requires_grad=requires_grad or elem.requires_grad,
            )
            r.elem = elem.detach() if r.requires_grad else elem
            return r

        def __repr__(self):
            return f"LoggingTensor({self.elem.tolist()})"

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log(func, [t.__name__ for t in types], sorted(kwargs or {}))
            un = lambda x: x.elem if isinstance(x, cls) else x
            wrap = lambda x: cls(x) if isinstance(x, s.Tensor) else x
            return pytree.tree_map(
                wrap, func(*pytree.tree_map(un, args), **pytree.tree_map(un, kwargs or {}))
            )

    return LoggingTensor


def logging_tensor_arithmetic(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.arange(4.0))
    log(x + 1)
    log(1 - x)
    log(x.sum())
    log(s.T.add(s.T.ones(4), x, alpha=3).elem)
    log((x == x).elem)


def logging_tensor_views(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.arange(6.0).view(2, 3))
    y = x.t()
    log(y.shape, y.stride(), y._is_view(), y._base is x)
    z = x[0, 1:]
    log(z, z.storage_offset(), z._is_view())
    log(x.view(-1).shape, x.is_contiguous(), y.is_contiguous())


def logging_tensor_in_place(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.ones(2))
    y = x.add_(1)
    log(y is x, x._version, x.elem, x.elem._version)
    x += 1
    log(type(x).__name__, x)
    x.mul_(2)
    log(x, x._version)


def logging_tensor_lists(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.arange(4.0))
    log(s.T.cat([x, s.T.ones(1)]))
    log(x.split(2))
    log(s.T.stack([x, x]).shape)
    log([type(t).__name__ for t in x.unbind()])
    log(x.max(0))


def logging_tensor_requires_grad(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.ones(2), requires_grad=True)
    log(x.requires_grad, x.is_leaf)
    y = x * 2
    log(y.requires_grad, y.is_leaf, y.elem.requires_grad)
    log(y.detach().requires_grad)
    with s.T.no_grad():
        log((x * 2).requires_grad)


def subclass_under_mode(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", func, [t.__name__ for t in types])
            return func(*args, **(kwargs or {}))

    x = L(s.T.ones(2))
    with M():
        y = x.sin()
        z = s.T.ones(2).add(x)
    log(type(y).__name__, type(z).__name__, len(s.modes._get_current_dispatch_mode_stack()))


def composite_in_subclass(s: Any, log: Any) -> None:
    L = _logging_tensor(s, log)
    x = L(s.T.ones(2, 3))
    x.reshape(3, 2)
    s.T.matmul(x, x.t())
    s.T.square(x)
    x.flatten()
    x.to(s.T.float64)
    x.contiguous()
    x.expand(4, 2, 3)
    x.type_as(s.T.ones(1))


def custom_op_with_subclass(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_sub", "DEF")
    lib.define("f(Tensor x, Tensor? y=None, *, Tensor[]? zs=None, int n=0) -> (Tensor, int)")
    lib.impl("f", lambda x, y=None, *, zs=None, n=0: (x.clone(), n), "CPU")
    L = _logging_tensor(s, log)
    op = s.ops.more_sub.f
    x = L(T.ones(1))
    log(op(x))
    log(op(T.ones(1), x, n=3))
    log(op(T.ones(1), zs=[T.ones(1)]))
    log(op(T.ones(1), None, zs=[], n=0))


def subclass_deepcopy_and_pickle(s: Any, log: Any) -> None:
    import copy

    T = s.T

    class P(s.Tensor):
        pass

    x = T.ones(2).as_subclass(P)
    x.note = [1]
    log.attempt("deepcopy", copy.deepcopy, x)
    z = copy.copy(x)
    log(type(z).__name__, z.note is x.note, z is x)
    L = _logging_tensor(s, log)
    l = L(T.ones(1))
    log.attempt("deepcopy", lambda: type(copy.deepcopy(l)).__name__)


def subclass_repr(s: Any, log: Any) -> None:
    T = s.T

    class P(s.Tensor):
        pass

    log(repr(T.ones(2).as_subclass(P)))
    log(repr(T.ones(2, requires_grad=True).as_subclass(P)))
    log(repr(T.ones(2)[0].as_subclass(P)), str(T.ones(1).as_subclass(P)))
    L = _logging_tensor(s, log)
    log(repr(L(T.ones(1))), str(L(T.zeros(1))))


def saved_types_and_scalar(s: Any, log: Any) -> None:
    T = s.T
    L = _logging_tensor(s, log)
    x = L(T.tensor(3.0))
    log.attempt("item", x.item)
    log.attempt("float", float, x)
    log.attempt("bool", bool, x)
    log.attempt("tolist", x.tolist)
    log.attempt("numpy", lambda: x.numpy().shape)
    log.attempt("len", len, L(T.ones(3)))
    log.attempt("iter", lambda: [type(t).__name__ for t in L(T.ones(2))])
    log.attempt("equal", lambda: T.equal(x, x))


def enable_reentrant(s: Any, log: Any) -> None:
    T = s.T
    L = _logging_tensor(s, log)
    x = L(T.ones(1))

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", func, [t.__name__ for t in types])
            if func is s.ops.aten.sin.default:
                return L(T.zeros(1))
            return func(*args, **(kwargs or {}))

    with M():
        y = T.ones(1).sin()
        log(type(y).__name__)
        y.cos()
    with s.C._DisableTorchDispatch():
        log(s.C._len_torch_dispatch_stack())
    log(s.C._dispatch_isTensorSubclassLike(x), s.C._dispatch_isTensorSubclassLike(T.ones(1)))
