"""Small helpers: versions, futures, tracebacks, counters, ordered sets, devices of arguments."""

import pickle
import traceback
import types
import weakref

import pytest

import dispatch
from dispatch.as_torch import (
    checkpoint,
    cpu,
    futures,
    markers,
    module_tracker,
    tracebacks,
    unscripted,
    utilities,
    version,
    weak,
)
from dispatch.as_torch.nn.modules import Linear, Sequential
from dispatch.as_torch.testing.comparing import assert_allclose
from dispatch.tensor import text

Version = version.TorchVersion


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("2.13.0", "2.14"), ("2.13.0", (2, 13, 1)), ("2.13.0a0", "2.13"), ("1.9", (1, 10)),
        ("2.0rc1", "2.0"), ("2.0.dev3", "2.0a1"), ("2.0", "2.0+cpu"), ("2.0", "2.0.post1"),
    ],
)  # fmt: skip
def test_versions_compare_by_their_numbers(less, more):
    assert Version(less) < more and Version(less) <= more and Version(less) != more
    assert not Version(less) > more and not Version(less) >= more


def test_a_version_is_a_text():
    assert Version("2.13.0") == "2.13" == Version("2.13") and Version("parrot") == "parrot"
    assert version.__version__.startswith("2.13") and hash(Version("a")) == hash("a")


def test_what_follows_a_future_is_done_with_it():
    first = futures.Future()
    second = first.then(lambda f: f.value() + 1)
    assert not first.done()
    with pytest.raises(RuntimeError, match="not set"):
        first.value()
    first.set_result(1)
    assert second.wait() == 2 and futures.wait_all([first, second]) == [1, 2]
    with pytest.raises(RuntimeError, match="once"):
        first.set_result(2)


def test_errors_of_a_future_are_raised_by_those_who_wait():
    future = futures.Future()
    with pytest.raises(AssertionError, match="Exception"):
        future.set_exception("no")
    follower = future.then(lambda f: f.value())
    future.set_exception(KeyError("gone"))
    for one in (future, follower):
        with pytest.raises(KeyError, match="gone"):
            one.wait()
    assert futures.collect_all([]).wait() == []


def test_stacks_are_kept_without_their_source():
    captured = tracebacks.CapturedTraceback.extract()
    assert "test_stacks_are_kept_without_their_source" in captured.format()[-1]
    skipped = tracebacks.CapturedTraceback.extract(skip=1)
    assert "test_stacks_are_kept_without_their_source" not in "".join(skipped.format())
    assert pickle.loads(pickle.dumps(captured)).format() == []


def test_tracebacks_show_source_that_came_as_a_text():
    scope = {"__compile_source__": "def f():\n    raise ValueError  # here\n"}
    exec(scope["__compile_source__"], scope)
    with pytest.raises(ValueError) as raised, tracebacks.report_compile_source_on_error():
        scope["f"]()
    assert "# here" in "".join(traceback.format_tb(raised.value.__traceback__))
    short = tracebacks.format_traceback_short(raised.value.__traceback__)
    assert short.endswith("<string>:2 in f")


def test_calls_are_counted_and_values_made_once():
    @utilities.count
    def f():
        return object()

    thunk = utilities.Thunk(f)
    assert thunk.force() is thunk.force()
    assert utilities.simple_call_counter.pop(f.__qualname__) == 1
    with pytest.raises(TypeError):
        utilities.not_none(None)


def test_an_ordered_set_keeps_its_order():
    s = utilities.OrderedSet([3, 1, 3, 2])
    s.discard(1)
    s.add(1)
    assert list(s) == [3, 2, 1] and list(reversed(s)) == [1, 2, 3] and s == {1, 2, 3}
    assert list(s | [5]) == [3, 2, 1, 5] and list(s.intersection([1, 3])) == [3, 1]
    assert list(s.difference([3])) == [2, 1] and repr(s) == "OrderedSet([3, 2, 1])"


def test_calls_as_texts_name_sizes():
    shown = text.render_call(dispatch.sum, [dispatch.ones(100)], {"dim": 0})
    assert shown.endswith("sum(tensor([...], size=(100,)), dim=0)")
    assert repr(dispatch.ones(2)) == "tensor([1., 1.])"


def test_a_tracker_names_the_modules_that_run():
    seen = []
    model = Sequential(Linear(1, 1), Linear(1, 1))
    model[1].register_forward_pre_hook(lambda *_: seen.append(sorted(tracker.parents)))
    with module_tracker.ModuleTracker() as tracker:
        model(dispatch.ones(1))
    assert seen == [["Global", "Sequential", "Sequential.1"]] and tracker.parents == {"Global"}


def test_one_function_for_two_by_an_argument():
    def yes(x, flag=True):
        """Which."""
        return x

    def no(x, flag=False):
        return -x

    both = unscripted.boolean_dispatch("flag", 1, False, yes, no, "here", "both")
    assert [both(1), both(1, True), both(1, flag=True)] == [-1, 1, 1]
    assert (both.__name__, both.__module__, no.__doc__) == ("both", "here", "Which.")
    with pytest.raises(RuntimeError, match="docstring"):
        unscripted.boolean_dispatch("flag", 1, False, yes, no, None, None)


def test_a_deprecated_name_warns():
    module = types.ModuleType("shop")
    exec("def _sell(x): return x", vars(module))
    import sys

    sys.modules["shop"] = module
    try:
        markers.deprecated()(module._sell)
        with pytest.warns(UserWarning, match="sell is DEPRECATED"):
            assert module.sell(3) == 3
        with pytest.raises(RuntimeError, match="already"):
            markers.deprecated()(module._sell)
    finally:
        del sys.modules["shop"]


def test_the_device_of_a_checkpoint_is_that_of_its_arguments():
    assert checkpoint._infer_device_type(dispatch.ones(1)) == "cuda"
    assert checkpoint._infer_device_type([dispatch.ones(1, device="meta")]) == "meta"
    assert checkpoint.get_device_states(dispatch.ones(1), 3) == ([], [])
    assert cpu.is_available() and cpu.device_count() == 1


def test_references_compare_by_hash():
    class Same:
        def __hash__(self):
            return 7

    a, b = Same(), Same()
    assert weak._WeakHashRef(a) == weak._WeakHashRef(b) and weakref.ref(a) != weakref.ref(b)


def test_the_older_comparison_warns_and_takes_any_dtype():
    with pytest.warns(FutureWarning):
        assert_allclose(dispatch.ones(2), [1, 1 + 5e-5])
    with pytest.warns(FutureWarning), pytest.raises(AssertionError):
        assert_allclose(dispatch.ones(2), [1, 1 + 5e-4])
