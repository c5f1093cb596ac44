"""Type promotion, numbers among tensors, comparisons."""

from typing import Any


def promotion_table(s: Any, log: Any) -> None:
    T = s.T
    kinds = [
        T.bool,
        T.uint8,
        T.int8,
        T.int16,
        T.int32,
        T.int64,
        T.float16,
        T.bfloat16,
        T.float32,
        T.float64,
        T.complex64,
    ]
    for a in kinds:
        log(a, " ".join(str(T.promote_types(a, b)).rpartition(".")[2] for b in kinds))
    log(
        T.result_type(T.ones(1, dtype=T.int32), 1.0),
        T.result_type(T.ones((), dtype=T.float64), T.ones(1)),
    )
    log(T.can_cast(T.float32, T.int32), T.can_cast(T.int32, T.float32), T.can_cast(T.bool, T.uint8))


def promotion_in_operators(s: Any, log: Any) -> None:
    T = s.T
    i, f, b = T.arange(3), T.ones(3), T.tensor([True, False, True])
    log(i + f, i + 1.0, (i + 1) / 2)
    log(b + b, b + 1, b * 1.5, b | b, ~b)
    log(i**2, 2**i, i**2.0, (i + 1) ** -1.0)
    log.attempt("int ** -1", lambda: i**-1)
    log.attempt("bool - bool", lambda: b - b)
    log.attempt("-bool", lambda: -b)
    log(i // 2, i % 2, -i // 2, -i % 2, T.tensor(7.5) // -2)
    log(f + T.tensor(1.0, dtype=T.float64), f + T.tensor([1.0], dtype=T.float64))
    log(i.float().mean(), b.sum(), i.prod(), T.tensor([1, 2], dtype=T.int8).sum().dtype)
    log.attempt("mean int", i.mean)
    log(i.sqrt(), T.sin(b), i.abs().dtype, T.exp(T.ones(1, dtype=T.float16)).dtype)
    log(1 + 2j + f, T.ones(1, dtype=T.uint8) + T.ones(1, dtype=T.int8))


def division_kinds(s: Any, log: Any) -> None:
    T = s.T
    a, b = T.tensor([7, -7, 5]), T.tensor([2, 2, -3])
    log(a / b, a // b, a % b, T.fmod(a, b))
    log(T.div(a, b, rounding_mode="trunc"), T.div(a, b, rounding_mode="floor"))
    log.attempt("mode", T.div, a, b, rounding_mode="up")
    log.attempt("zero", lambda: a // 0)
    log(T.tensor([1.0, -1.0, 0.0]) / 0, a.float() // 0)
    log(T.remainder(T.tensor(5.5), 2), T.floor_divide(a, 2))
    log(1 / T.tensor(4), 5 // T.tensor(2), 5 % T.tensor(3), 2.0 ** T.tensor(3))
    log(divmod(7, 2), T.tensor(3).__rdiv__(6), T.tensor(3).__rsub__(6))


def comparisons_and_bools(s: Any, log: Any) -> None:
    T = s.T
    x = T.tensor([1.0, float("nan"), 3.0])
    log(x == x, x != x, x > 2, x.isnan(), T.isfinite(x) if hasattr(T, "isfinite") else "")
    log(T.equal(x, x), T.equal(T.ones(2), T.ones(2)), T.equal(T.ones(2), T.ones(3)))
    log(T.allclose(T.ones(2), T.ones(2) + 1e-9), (T.tensor([1]) == 1).item())
    log.attempt("bool many", bool, x)
    log.attempt("bool empty", bool, T.empty(0))
    log(bool(T.tensor(0)), bool(T.tensor([[2]])), T.tensor(3) in [T.tensor(3)])
    log(3.0 in x, x == None, x is None)
    log.attempt("eq str", lambda: x == "a")
    log.attempt("lt None", lambda: x < None)
    log(T.tensor(1) < 2, 1 < T.tensor(2), x.any(), x.all(), T.tensor([True]).all())
    log(hash(x) == id(x), x.eq(1).sum().item())


def scalars_out(s: Any, log: Any) -> None:
    T = s.T
    log(
        T.tensor(3).item(), T.tensor([[2.5]]).item(), T.tensor(True).item(), T.tensor(1 + 2j).item()
    )
    log.attempt("many", T.ones(2).item)
    log.attempt("empty", T.empty(0).item)
    log(int(T.tensor(2.7)), float(T.tensor(2)), complex(T.tensor(1.0)))
    log.attempt("int complex", int, T.tensor(1j))
    log.attempt("index", lambda: [1, 2, 3][T.tensor(1)])
    log.attempt("index float", lambda: [1, 2, 3][T.tensor(1.0)])
    log(list(range(T.tensor(3))), "abc" * T.tensor(2))
    log(f"{T.tensor(1.5)}", f"{T.tensor(1.23456):.2f}", f"{T.tensor(7):d}")
    log.attempt("format many", lambda: f"{T.ones(2):.2f}")
    log(T.round(T.tensor(2.567)), abs(T.tensor(-1)))
    log(
        T.tensor([1, 2]).tolist(),
        T.tensor(5).tolist(),
        T.empty(0, 2).tolist(),
        T.empty(2, 0).tolist(),
    )


def reductions(s: Any, log: Any) -> None:
    T = s.T
    x = T.tensor([[3.0, 1.0], [2.0, 4.0]])
    log(x.sum(), x.sum(0), x.sum((0, 1), keepdim=True), x.mean(1), x.prod(0))
    log(x.max(), x.max(1), x.min(0).values, x.argmax(), x.argmin(1, keepdim=True))
    log(x.std(), x.var(0), x.amax(0), x.cumsum(0))
    log(T.empty(0).sum(), T.empty(0, 2).sum(0), T.empty(0).prod(), T.empty(0).mean())
    log.attempt("empty max", T.empty(0).max)
    log.attempt("empty argmax", T.empty(0).argmax)
    log.attempt("dims", lambda: x.sum((0, 0)))
    log.attempt("dim", lambda: x.max(2))
    r = x.max(1)
    log(
        type(r).__name__,
        r.values is r[0],
        r._fields if hasattr(r, "_fields") else "",
        len(r),
        r.indices,
    )
    log(x.sort(descending=True)[1], x.topk(1, 0).values, x.any(), x.logsumexp(0))
    log(
        T.tensor([1, 2], dtype=T.int8).sum(),
        x.sum(dtype=T.int64),
        x.nansum() if hasattr(x, "nansum") else "",
    )


def shapes_and_joins(s: Any, log: Any) -> None:
    T = s.T
    x = T.arange(6).view(2, 3)
    log(T.cat([x, x], 1).shape, T.cat([x, T.empty(0)]).dtype, T.stack([x, x], -1).shape)
    log([t.shape for t in x.split(2, 1)], [t.shape for t in x.chunk(5, 1)])
    log(
        x.flatten(),
        x.unsqueeze(-1).shape,
        x.squeeze(),
        x[None].squeeze(0).shape,
        x.repeat(2, 1).shape,
    )
    log(x.flip(0), x.roll(1, 1), T.tril(x), x.diagonal())
    log(
        x.movedim(0, 1).shape if hasattr(x, "movedim") else "",
        x.swapaxes(0, 1).shape if hasattr(x, "swapaxes") else "",
    )
    log(
        T.broadcast_tensors(T.ones(1, 3), T.ones(2, 1))[0].stride(),
        T.broadcast_to(T.ones(1), (2,)).stride(),
    )
    log.attempt("cat dims", T.cat, [x, T.ones(3)])
    log.attempt("cat empty", T.cat, [])
    log.attempt("stack", T.stack, [x, x.t()])
    log(x.T.shape, x.mT.shape, x.size(-1), x.size(), x.ndim, len(x), x.stride(0), x.nelement())
