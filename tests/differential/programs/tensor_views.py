"""Views: bases, versions, errors, other dtypes."""

from typing import Any


def views_and_bases(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(12.0)
    v = x.view(3, 4)
    w = v[1:, ::2]
    log(v._is_view(), v._base is x, w._base is x, x._base, x._is_view())
    log(w, w.storage_offset(), w.stride(), w.is_contiguous())
    w.zero_()
    log(x._version, v._version, w._version, x)
    d = x.detach()
    log(d._is_view(), d._version, d.data_ptr() == x.data_ptr())
    d.add_(1)
    log(x._version, x.data._version, x.clone()._version)
    log(v.t()._base is x, v.reshape(12)._base is x, v.t().reshape(12)._base)
    log(v.expand(2, 3, 4).stride(), v.contiguous() is v, v.t().contiguous() is v)


def view_errors(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(6).view(2, 3)
    for name, call in {
        "view": lambda: x.view(4),
        "noncontiguous": lambda: x.t().view(6),
        "two -1": lambda: x.view(-1, -1),
        "-2": lambda: x.view(-2, 3),
        "zero": lambda: T.empty(0).view(-1, 0),
        "expand": lambda: x.expand(2, 4),
        "squeeze": lambda: x.squeeze(3),
        "transpose": lambda: x.transpose(0, 2),
        "permute": lambda: x.permute(0, 0),
        "select": lambda: x.select(0, 2),
        "narrow": lambda: x.narrow(1, 2, 2),
        "unflatten": lambda: x.unflatten(1, (2, 2)),
        "as_strided": lambda: x.as_strided((9,), (1,)),
        "split": lambda: x.split([1, 3]),
        "view dtype": lambda: x.view(T.float64).dtype,
        "view size": lambda: T.ones(3, dtype=T.int8).view(T.int32),
    }.items():
        log.attempt(name, call)


def reinterpreting_views(s: Any, log: Any) -> None:
    T = s.T
    x = T.tensor([1.0, 2.0])
    log(x.view(T.int32), x.view(T.uint8).shape, x.view(T.float64).shape)
    c = T.tensor([1 + 2j, 3 - 1j])
    log(T.view_as_real(c), c.real, c.imag, c.conj().is_conj(), c.conj()._is_view())
    c.imag.zero_()
    log(c, c._version)
    log(c.conj().resolve_conj().is_conj(), T.view_as_complex(T.ones(2, 2)))
    log(c.conj().imag.is_neg(), c.shape)
    log(c.view(T.float32).shape, x.unfold(0, 1, 1).shape)


def in_place_errors(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2, dtype=T.int64)
    log.attempt("float", lambda: x.add_(1.5))
    log.attempt("div", lambda: x.div_(2))
    log.attempt("float tensor", lambda: x.add_(T.ones(2)))
    log.attempt("shape", lambda: T.ones(1).add_(T.ones(3)))
    log.attempt("expanded", lambda: T.ones(1).expand(3).add_(1))
    log.attempt("overlap", lambda: (lambda y: y[1:].copy_(y[:-1]))(T.arange(4)))
    log.attempt("bool", lambda: T.ones(1, dtype=T.bool).add_(1))
    log.attempt("out dtype", lambda: T.add(T.ones(1), 1, out=T.ones(1, dtype=T.int64)))
    log.attempt("out shape", lambda: T.add(T.ones(2), 1, out=T.empty(0)))
    log(x, x._version)
    x.bitwise_or_(2).mul_(3)
    log(x, x._version)


def versions(s: Any, log: Any) -> None:
    T = s.T
    x = T.ones(2, 2)
    x.add_(1)
    x[0] = 1
    x.t_()
    log(x._version)
    x.data.add_(1)
    log(x._version)
    x.detach().add_(1)
    log(x._version)
    with T.no_grad():
        x.mul_(2)
    T.add(x, 1, out=x)
    log(x._version)
    x.copy_(T.zeros(2, 2))
    x.zero_().fill_(2)
    x.requires_grad_()
    log(x._version, x.requires_grad)
    with T.inference_mode():
        y = T.ones(2)
        log(y.is_inference())
        log.attempt("version", lambda: y._version)
    log.attempt("in place outside", lambda: y.add_(1))
    z = T.ones(1)
    log(z.view(1)._version >= 0)
