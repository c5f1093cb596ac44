"""A call on its way: order of keys, fallthroughs, missing kernels, redispatch, fallbacks, and
changes while it runs."""

import contextlib
import gc
import threading

import pytest

import dispatch
from dispatch import _C, DispatchKey, DispatchKeySet, ops
from dispatch.library import fallthrough_kernel

pytestmark = pytest.mark.usefixtures("same_state_after")

T = dispatch.ones(2)
UNUSED = "AutocastHPU"  # a key without a fallback


@contextlib.contextmanager
def unused_key_included():
    with _C._SetExcludeDispatchKeyGuard(UNUSED, False), _C._IncludeDispatchKeyGuard(UNUSED):
        yield


@pytest.fixture
def lib(library):
    return library("way", "DEF")


def define(lib, name="f", schema="(Tensor x) -> str"):
    lib.define(name + schema)
    return getattr(ops.way, name)


def test_highest_key_runs_first_and_redispatch_goes_down(lib):
    f = define(lib)
    order = []

    def at(key):
        def kernel(keys, x):
            order.append(key)
            below = keys & _C._dispatch_keyset_full_after(key)
            return f.default.redispatch(below, x)

        return kernel

    for key in ("AutogradCPU", "ADInplaceOrView", UNUSED):
        lib.impl("f", at(key), key, with_keyset=True)
    lib.impl("f", lambda x: "bottom", "CPU")
    with unused_key_included():
        assert f(T) == "bottom"
    assert order == [UNUSED, "AutogradCPU", "ADInplaceOrView"]


def test_keyset_given_to_a_kernel_starts_at_its_key(lib):
    f = define(lib)
    got = []
    lib.impl("f", lambda keys, x: got.append(keys) or "cpu", "CPU", with_keyset=True)
    f(T)
    assert got[0].highestPriorityTypeId() == DispatchKey.CPU
    assert got[0].has(DispatchKey.CPU)


def test_fallthrough_key_is_skipped(lib):
    f = define(lib)
    lib.impl("f", fallthrough_kernel, "AutogradCPU")
    lib.impl("f", lambda x: "cpu", "CPU")
    assert f(T) == "cpu"
    assert f(dispatch.ones(2, requires_grad=True)) == "cpu"


def test_fallthrough_at_one_backend_does_not_hide_another(lib):
    f = define(lib)
    lib.impl("f", fallthrough_kernel, "AutogradCPU")
    lib.impl("f", lambda x: "autograd meta", "AutogradMeta")
    lib.impl("f", lambda x: "cpu", "CPU")
    assert f(T) == "cpu"
    assert f(dispatch.ones(2, device="meta")) == "autograd meta"


def test_fallthrough_at_one_backend_does_not_hide_the_fallback_of_another(lib, library):
    f = define(lib)
    lib.impl("f", fallthrough_kernel, "CPU")
    library("_", "IMPL").fallback(lambda op, *args: "fallback", "PrivateUse1")
    with _C._IncludeDispatchKeyGuard("PrivateUse1"):
        assert f(T) == "fallback"


def test_missing_kernel_names_operator_key_and_keys_that_have_one(lib):
    f = define(lib)
    lib.impl("f", lambda x: "meta", "Meta")
    lib.impl("f", fallthrough_kernel, "AutogradXLA")
    with pytest.raises(NotImplementedError) as caught:
        f(T)
    text = str(caught.value)
    assert "way::f" in text and "key CPU" in text and "Meta" in text
    assert "way::f(Tensor x) -> str" in text
    assert "AutogradXLA" not in text


def test_no_tensor_and_no_kernel_for_that(lib):
    f = define(lib, schema="(int x) -> int")
    with pytest.raises(NotImplementedError, match="no tensor arguments"):
        f(1)
    lib.impl("f", lambda x: x + 1, "CompositeExplicitAutograd")
    assert f(1) == 2


@pytest.mark.parametrize("key", ["CompositeImplicitAutograd", "CompositeExplicitAutograd"])
def test_only_fallthroughs_are_no_kernel(lib, key):
    f = define(lib, schema="(int n, *, Device? device=None) -> Tensor")
    lib.impl("f", fallthrough_kernel, key)
    with pytest.raises(RuntimeError, match="way::f"):
        f(1)


def test_device_argument_chooses_the_backend(lib):
    f = define(lib, schema="(int n, *, Device? device=None) -> str")
    lib.impl("f", lambda n, device=None: "cpu", "CPU")
    lib.impl("f", lambda n, device=None: "meta", "Meta")
    assert f(1) == "cpu"
    assert f(1, device="meta") == "meta"
    with pytest.raises(NotImplementedError, match="CUDA"):
        f(1, device="cuda")


def test_excluding_every_key_of_a_factory_is_no_kernel():
    with _C._ExcludeDispatchKeyGuard(DispatchKeySet("CPU")), pytest.raises(NotImplementedError):
        ops.aten.empty.memory_format([2])


def test_the_device_of_a_factory_does_not_bring_autograd(library):
    make, seen, lib = ops.aten.empty.memory_format, [], library("aten", "IMPL")
    for key in ("AutogradCPU", "ADInplaceOrView"):

        def kernel(keys, *args, key=key, **kwargs):
            seen.append(key)
            return make.redispatch(keys & _C._after_ADInplaceOrView_keyset, *args, **kwargs)

        lib.impl("empty.memory_format", kernel, key, with_keyset=True)
    assert make([2]).shape == (2,)
    with _C._ExcludeDispatchKeyGuard(DispatchKeySet("ADInplaceOrView")):
        make([2])
    assert seen == ["ADInplaceOrView"]
    with _C._IncludeDispatchKeyGuard(_C.DispatchKey.AutogradCPU):
        make([3])
    assert seen == ["ADInplaceOrView", "AutogradCPU"]


@pytest.mark.parametrize("key", ["Autograd", "AutogradCUDA"])
def test_what_serves_all_autograd_keys_is_told_as_one(lib, key):
    f = define(lib)
    lib.impl("f", lambda x: "gradient", key)
    told = pytest.raises(NotImplementedError, match=f"kernels exist for: {key}\n")
    with _C._ExcludeDispatchKeyGuard(DispatchKeySet("AutogradCPU")), told:
        f(T)


def test_ambiguous_autograd_other(lib):
    f = define(lib)
    lib.impl("f", lambda x: "math", "CompositeImplicitAutograd")
    lib.impl("f", lambda x: "fpga", "FPGA")
    keys = DispatchKeySet("AutogradOther")
    with pytest.raises(RuntimeError, match="ambiguous"):
        f.default.redispatch(keys, T)
    assert f(T) == "math"
    without = _C._ExcludeDispatchKeyGuard(DispatchKeySet("AutogradCPU"))
    with _C._IncludeDispatchKeyGuard(_C.DispatchKey.AutogradOther), without:
        assert not T.requires_grad  # no reason to skip what has no answer
        with pytest.raises(RuntimeError, match="ambiguous"):
            f(T)


def test_include_and_exclude_sets_take_part(lib):
    f = define(lib)
    lib.impl("f", lambda x: "cpu", "CPU")
    lib.impl("f", lambda x: "tracer", UNUSED)
    assert f(T) == "cpu"
    with unused_key_included():
        assert f(T) == "tracer"
        with _C._ExcludeDispatchKeyGuard(DispatchKeySet(UNUSED)):
            assert f(T) == "cpu"


def test_keys_come_from_tensor_lists_too(lib):
    f = define(lib, schema="(Tensor?[] x) -> str")
    lib.impl("f", lambda x: "meta", "Meta")
    lib.impl("f", lambda x: "cpu", "CPU")
    assert f([None, dispatch.ones(1, device="meta")]) == "meta"
    assert f([None, T]) == "cpu"


def test_fallback_serves_operators_without_a_kernel_of_their_own(lib, library):
    f = define(lib)
    lib.define("g(Tensor x) -> str")
    lib.impl("g", lambda x: "own", UNUSED)
    seen = []
    back = library("_", "IMPL")
    back.fallback(lambda op, *a, **k: seen.append(op) or "fallback", UNUSED)
    with unused_key_included():
        assert f(T) == "fallback"
        assert ops.way.g(T) == "own"
        back._destroy()
        with pytest.raises(NotImplementedError):
            f(T)
    assert seen == [ops.way.f.default]


def test_second_fallback_for_a_key_is_refused(lib, library):
    f = define(lib)
    lib.impl("f", lambda x: "cpu", "CPU")
    first, second = library("_", "IMPL"), library("_", "IMPL")
    before = _C._dispatch_dump_table("way::f")
    first.fallback(lambda op, x: "first", UNUSED)
    with pytest.raises(RuntimeError, match=UNUSED):
        second.fallback(lambda op, x: "second", UNUSED)
    with unused_key_included():
        second._destroy()
        assert f(T) == "first"
        first._destroy()
    assert f(T) == "cpu"
    assert _C._dispatch_dump_table("way::f") == before


def test_fallback_with_keyset_redispatches(lib, library):
    f = define(lib)
    lib.impl("f", lambda x: "cpu", "CPU")
    back = library("_", "IMPL")

    def down(keys, op, *args, **kwargs):
        after = _C._dispatch_keyset_full_after(UNUSED)
        return "via " + op.redispatch(keys & after, *args, **kwargs)

    back.fallback(down, UNUSED, with_keyset=True)
    with unused_key_included():
        assert f(T) == "via cpu"


def test_fallthrough_fallback_is_skipped(lib, library):
    f = define(lib)
    lib.impl("f", lambda x: "cpu", "CPU")
    library("_", "IMPL").fallback(fallthrough_kernel, UNUSED)
    with unused_key_included():
        assert f(T) == "cpu"


def test_fallback_for_an_alias_key_is_one_for_each_of_its_keys(library):
    with pytest.raises(RuntimeError, match="fallbacks for the same dispatch key Meta"):
        library("_", "IMPL").fallback(lambda op: None, "CompositeImplicitAutograd")


def test_operator_may_be_unregistered_while_it_runs(lib, library):
    other = library("way", "FRAGMENT")
    other.define("gone(Tensor x, int n=2, *, int k=3) -> str")

    def kernel(x, n=2, *, k=3):
        other._destroy()
        return f"{n} {k} {x.shape}"

    other.impl("gone", kernel, "CPU")
    held = ops.way.gone.default
    assert held(T, 5) == "5 3 dispatch.Size([2])"
    with pytest.raises(RuntimeError, match="way::gone"):
        held(T)


def test_kernel_may_replace_itself_while_it_runs(lib, library):
    f = define(lib)
    other = library("way", "IMPL")
    newer = library("way", "IMPL")

    def kernel(x):
        other._destroy()
        newer.impl("f", lambda x: "new", "CPU")
        return "old"

    other.impl("f", kernel, "CPU")
    assert f(T) == "old"
    assert f(T) == "new"


def test_exceptions_pass_through_unchanged(lib):
    f = define(lib)

    class Mine(Exception):
        pass

    error = Mine("x")

    def kernel(x):
        raise error

    lib.impl("f", kernel, "CPU")
    with pytest.raises(Mine) as caught:
        f(T)
    assert caught.value is error


def test_deep_recursion_is_an_error_and_not_a_crash(lib):
    f = define(lib)
    lib.impl("f", lambda x: f(x), "CPU")
    gc.collect()  # finalizers of what other tests left would find no room down there
    with pytest.raises(RecursionError):
        f(T)


def test_other_threads_have_their_own_key_sets(lib):
    f = define(lib)
    lib.impl("f", lambda x: "cpu", "CPU")
    lib.impl("f", lambda x: "tracer", UNUSED)
    got = []
    with unused_key_included():
        thread = threading.Thread(target=lambda: got.append(f(T)))
        thread.start()
        thread.join()
    assert got == ["cpu"]


def test_dispatched_calls_leave_no_references(lib, library, grown_blocks):
    lib.define("id(Tensor x, int n=1, *, int k=1) -> Tensor")
    lib.impl("id", lambda keys, x, *a, **k: x, "CPU", with_keyset=True)
    library("_", "IMPL").fallback(lambda op, *a, **k: T, UNUSED)
    f = ops.way.id
    assert grown_blocks(lambda: f(T)) < 200
    assert grown_blocks(lambda: f(T, 2, k=3)) < 200
    with unused_key_included():
        assert grown_blocks(lambda: f(T, 2, k=3)) < 200

    def fails():
        with pytest.raises(NotImplementedError):
            f(dispatch.ones(1, device="meta"))

    assert grown_blocks(fails, 200) < 100
