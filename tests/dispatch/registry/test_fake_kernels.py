"""Fake kernels: order, contexts, modules, taking back."""

import threading

import pytest

import dispatch
from dispatch import FakeTensorMode, library as L, ops
from dispatch.fake import DynamicOutputShapeException, UnsupportedOperatorException
from dispatch.registry.fake_kernels import fake_kernels
from dispatch.registry.handles import get_source

pytestmark = pytest.mark.usefixtures("same_state_after")

META = dispatch.ones(2, device="meta")


@pytest.fixture
def lib(library):
    made = library("tfi", "DEF")
    made.define("f(Tensor x) -> Tensor")
    return made


def test_fake_kernel_runs_under_its_mode_before_a_meta_kernel(lib):
    lib.impl("f", lambda x: x.new_empty(1), "Meta")
    L.register_fake("tfi::f", lambda x: x.new_empty(2), lib=lib)
    with FakeTensorMode() as mode:
        y = ops.tfi.f(dispatch.ones(3, device="cuda"))
    assert y.shape == (2,) and y.device.type == "cuda" and y.fake_mode is mode
    assert ops.tfi.f(META).shape == (2,)


def test_registering_outdates_cached_results(lib):
    with FakeTensorMode(cache_policy=lambda op: True):
        x = dispatch.ones(3)
        for n in (1, 2):
            L.register_fake("tfi::f", lambda x, n=n: x.new_empty(n), lib=lib)
            assert ops.tfi.f(x).shape == ops.tfi.f(x).shape == (n,)


def test_context_belongs_to_the_call_and_the_thread(lib):
    others = []

    @L.register_fake("tfi::f", lib=lib)
    def fake(x):
        thread = threading.Thread(target=lambda: others.append(L.get_ctx()))
        thread.start()
        thread.join()
        with pytest.raises(DynamicOutputShapeException):
            L.get_ctx().new_dynamic_size()
        return x.new_empty(1)

    with FakeTensorMode():
        ops.tfi.f(dispatch.ones(1))
    assert others == [None] and L.get_ctx() is None
    with pytest.raises(RuntimeError, match="get_ctx"):
        ops.tfi.f(META)


def test_registrations_are_taken_back(lib, library):
    more = library("tfi")
    L.register_fake("tfi::f", lambda x: x.new_empty(1), lib=lib)
    L.register_fake("tfi::f", lambda x: x.new_empty(2), lib=more)
    more._destroy()
    assert ops.tfi.f(META).shape == (1,)
    lib._destroy()
    assert "tfi::f" not in fake_kernels


def test_failed_registration_leaves_nothing(lib):
    with pytest.raises(RuntimeError, match="does not exist"):
        L.register_fake("tfi::nothing", lambda x: x, lib=lib)
    lib.impl("f", lambda x: x)
    with pytest.raises(RuntimeError, match="decomposes"):
        L.register_fake("tfi::f", lambda x: x, lib=lib)
    assert not {"tfi::nothing", "tfi::f"} & set(fake_kernels)


def test_what_returns_nothing_needs_no_kernel(lib):
    lib.define("w(Tensor(a!) x) -> ()")
    lib.define("i(Tensor(a!) x) -> Tensor(a!)", tags=dispatch.Tag.inplace)
    with FakeTensorMode():
        x = dispatch.ones(1)
        assert ops.tfi.w(x) is None
        assert ops.tfi.i(x) is x
        with pytest.raises(UnsupportedOperatorException):
            ops.tfi.f(x)


def test_definitions_may_name_the_module_of_their_kernels(library):
    lib = library("tfm", "DEF")
    lib.m.set_python_module("somewhere.kernels", "//the:context")
    lib.define("f(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match=r"import somewhere\.kernels"):
        ops.tfm.f(META)
    L.register_fake("tfm::f", lambda x: x, lib=lib)
    with pytest.raises(RuntimeError, match=r"names the module somewhere\.kernels"):
        ops.tfm.f(META)


def test_source_is_the_caller_s_line(lib):
    L.register_fake("tfi::f", lambda x: x, lib=lib)
    assert fake_kernels["tfi::f"].kernel.source.startswith(__file__ + ":")

    @L.register_fake("tfi::f", lib=lib)
    def fake(x):
        return x

    assert fake_kernels["tfi::f"].kernel.source.startswith(__file__ + ":")
    assert get_source(1).startswith(__file__)


@pytest.mark.parametrize(
    ("key", "may_once", "may_override"),
    [("CPU", True, True), ("CompositeExplicitAutograd", True, True), ("Meta", False, True),
     ("CompositeImplicitAutograd", False, False)],
)  # fmt: skip
def test_what_stands_in_the_way_of_a_fake_kernel(lib, key, may_once, may_override):
    lib.impl("f", lambda x: x.new_empty(3), key)

    def register(size, override):
        fake = lambda x: x.new_empty(size)  # noqa: E731
        L.register_fake("tfi::f", fake, lib=lib, allow_override=override)
        return ops.tfi.f(META).shape

    if may_once:
        assert register(4, False) == (4,)
    with pytest.raises(RuntimeError, match="fake impl" if may_once else key):
        register(5, False)
    if may_override:
        assert register(6, True) == (6,)
    else:
        with pytest.raises(RuntimeError, match="decomposes"):
            register(6, True)
    assert ops.tfi.f(META).shape == ((6,) if may_override else (3,))


def test_what_the_schema_says_of_results_is_known_without_a_kernel(lib):
    lib.define("one(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", tags=dispatch.Tag.out)
    two = "two(Tensor x, *, Tensor(a!) o, Tensor(b!) p) -> (Tensor(a!), Tensor(b!))"
    lib.define(two, tags=dispatch.Tag.out)
    lib.define("i(Tensor(a!) x, Tensor y) -> Tensor(a!)", tags=dispatch.Tag.inplace)
    lib.define("new(Tensor(a!) x) -> Tensor")
    lib.define("nothing(Tensor x) -> ()")
    with FakeTensorMode():
        x, y, z = (dispatch.ones(n) for n in (1, 2, 3))
        assert ops.tfi.one(x, out=y) is y
        o, p = ops.tfi.two(x, p=z, o=y)
        assert o is y and p is z
        assert ops.tfi.i(x, y) is x
        for op in (ops.tfi.new, ops.tfi.nothing):
            with pytest.raises(UnsupportedOperatorException):
                op(x)


def test_a_context_ends_with_its_call_after_an_error_too(lib):
    @L.register_fake("tfi::f", lib=lib)
    def fake(x):
        assert L.get_ctx() is not None
        raise KeyError("mine")

    with FakeTensorMode(), pytest.raises(KeyError, match="mine"):
        ops.tfi.f(dispatch.ones(1))
    assert L.get_ctx() is None
