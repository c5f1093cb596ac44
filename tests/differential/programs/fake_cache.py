"""The dispatch cache of fake tensors: hits, misses, bypasses, and what keys tell apart."""

from typing import Any


def cache_counts(s: Any, log: Any) -> None:
    T = s.T
    F = s.fake.FakeTensorMode
    F.cache_clear()

    def info():
        i = F.cache_info()
        log(i.hits, i.misses, dict(i.bypasses), i.size)

    with s.fake.FakeTensorMode():
        x = T.ones(2, 3)
        info()
        x + 1
        info()
        x + 1
        info()
        x + 2
        x + x
        x.t()
        x.t()
        info()
        T.ones(2, 3) + x
        info()
        x.add_(1)
        x.mul_(2)
        info()
    F.cache_clear()
    info()


def cache_bypasses(s: Any, log: Any) -> None:
    T = s.T
    F = s.fake.FakeTensorMode
    lib = s.library.Library("more_fake_cache", "DEF")
    lib.define("own(Tensor x) -> Tensor")
    lib.impl("own", lambda x: x + 1, "CompositeExplicitAutograd")
    with s.fake.FakeTensorMode():
        x, f = T.ones(2), T.ones(4)
        calls = {
            "own": lambda: s.ops.more_fake_cache.own(x),
            "bernoulli": lambda: x.bernoulli(),
            "item": lambda: T.tensor(1.0).item(),
            "nonzero": lambda: x.nonzero(),
            "bad": lambda: x + T.ones(3),
            "max": lambda: f.max(0),
            "detach": lambda: x.detach(),
            "tensor": lambda: T.tensor([1.0]),
        }
        for name, call in calls.items():
            F.cache_clear()
            try:
                call()
                result = "ok"
            except Exception as e:
                result = type(e).__name__
            i = F.cache_info()
            log(name, result, i.hits, i.misses, dict(i.bypasses))


def cache_keys_tell_apart(s: Any, log: Any) -> None:
    T = s.T
    F = s.fake.FakeTensorMode
    with s.fake.FakeTensorMode():
        x = T.ones(2, 3)
        F.cache_clear()
        for call in (
            lambda: x.sum(0),
            lambda: x.sum(1),
            lambda: x.sum(0),
            lambda: x.sum(0, True),
            lambda: x.mul(2),
            lambda: x.mul(2.0),
            lambda: x.mul(True),
            lambda: x.mul(2),
            lambda: x.t().mul(2),
            lambda: x.mul(x),
            lambda: x.mul(x.t().t()),
            lambda: x.mul(-2),
        ):
            r = call()
            i = F.cache_info()
            log(r, i.hits, i.misses)


def cache_switched_off(s: Any, log: Any) -> None:
    T = s.T
    F = s.fake.FakeTensorMode
    m = s.fake.FakeTensorMode()
    log(m.cache_enabled)
    m.cache_enabled = False
    F.cache_clear()
    with m:
        x = T.ones(2)
        x + 1
        x + 1
    i = F.cache_info()
    log(i.hits, i.misses, dict(i.bypasses), type(i).__name__)
    log(repr(i))


def cache_counters(s, log):
    F = s.fake.FakeTensorMode
    F.cache_clear()
    with F() as m:
        x = s.T.empty(2, 3)
        F.cache_clear()
        x + x
        first = F.cache_info()
        x + x
        second = F.cache_info()
        log(first.hits, first.misses, second.hits, second.misses)
        m.cache_clear()
        log(m.cache_info().hits, m.cache_info().size)


def cached_results_are_new(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3)
        a, b = x + 1, x + 1
        log(a is b, a.untyped_storage()._cdata == b.untyped_storage()._cdata)
        v, w = x.view(6), x.view(6)
        log(v is w, v.untyped_storage()._cdata == w.untyped_storage()._cdata, w._base is x)
        log(x.add_(1) is x, x.add_(1) is x, x._version)


def changing_between_calls(s, log):
    with s.fake.FakeTensorMode():
        x = s.T.empty(2, 3)
        log(x + 1)
        x.resize_(4, 5)
        log(x + 1)
        x.t_()
        log(x + 1, x.is_contiguous())
        x.requires_grad_(True)
        log(x + 1)
