"""`torch.jit` without TorchScript, `torch.compile` without a compiler, names to import."""

from collections.abc import Sequence
from typing import Dict, List, Optional, Tuple, Union  # noqa: UP035

import pytest

import dispatch
from dispatch.as_torch import markers, unscripted
from dispatch.as_torch.modules import find, is_refused, refused
from dispatch.as_torch.nn import modules


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ((1, 2), Tuple[int, int], True),  # noqa: UP006
        ((1, 2), tuple[int], False),
        ((1, "a"), tuple[int, int], False),
        ([], list[int], True),
        ([1, "a"], list[int], False),
        ([1], Sequence[int], False),
        ({"a": 1}, Dict[str, int], True),  # noqa: UP006
        ({"a": "b"}, dict[str, int], False),
        ({1: 1}, dict[str, int], False),
        ({}, dict[str, int], True),
        ({1: [2]}, dict[int, list[int]], True),
        ({1: ["a"]}, dict[int, list[int]], False),
        (None, Union[int, None], True),  # noqa: UP007
        ("a", Optional[int], False),  # noqa: UP045
        (["a"], Optional[List[int]], False),  # noqa: UP006, UP045
        ("a", int | str, True),
        (3, (str, int), True),
        (3, (str, list[int]), False),
        ([dispatch.ones(1)], list[dispatch.Tensor], True),
        ([1], list[dispatch.Tensor], False),
    ],
)
def test_containers_are_of_what_they_hold(value, kind, expected):
    assert unscripted.isinstance(value, kind) is expected


@pytest.mark.parametrize("kind", [[int], list, dict, tuple, List, Optional, list[list]])  # noqa: UP006
def test_a_container_type_without_its_contents_is_refused(kind):
    with pytest.raises(RuntimeError, match=r"torch\.jit\.isinstance"):
        unscripted.isinstance([[1]], kind)


def test_functions_and_modules_come_back_as_they_are():
    def f(x):
        return x

    module = modules.Linear(2, 2)
    for given in (f, module, modules.Linear):
        assert unscripted.script(given, optimize=True) is given
        assert unscripted.trace(given, dispatch.ones(2), check_trace=False) is given
    assert unscripted.trace_module(module, {}) is module
    assert unscripted.script_method(f) is unscripted.script_if_tracing(f) is f
    assert unscripted._overload_method(f) is f
    assert unscripted.annotate(int, 3) == unscripted.Attribute(3, int) == 3
    assert unscripted.is_scripting() is unscripted.is_tracing() is False
    assert not isinstance(module, unscripted.ScriptModule | unscripted.ScriptFunction)
    with unscripted.optimized_execution(True):
        pass
    for needs_a_script in (unscripted.freeze, unscripted.optimize_for_inference):
        with pytest.raises(RuntimeError, match="ScriptModule"):
            needs_a_script(module)


def test_a_script_module_is_a_module():
    class Own(unscripted.ScriptModule):
        def __init__(self):
            super().__init__()
            self.inner = modules.ReLU()

        @unscripted.script_method
        def forward(self, x):
            return self.inner(x)

    assert Own()(dispatch.tensor([-1.0, 1.0])).tolist() == [0, 1]


def _mark_of(function):
    return function._torchscript_modifier.split()[0]


def test_marks_say_what_a_compiler_would_do():
    def fresh():
        return lambda: None

    assert _mark_of(unscripted.export(fresh())) == "export"
    assert _mark_of(unscripted.unused(fresh())) == "unused"
    assert _mark_of(unscripted.ignore(fresh())) == "ignore"
    assert _mark_of(unscripted.ignore()(fresh())) == "ignore"
    assert _mark_of(unscripted.ignore(drop=True)(fresh())) == "unused"
    assert _mark_of(unscripted.ignore(drop_on_export=True)(fresh())) == "unused"
    both = unscripted.unused(property(fresh(), fresh()))
    assert _mark_of(both.fget) == _mark_of(both.fset) == "unused"
    assert unscripted.unused(property(fresh())).fset is None
    with pytest.raises(RuntimeError, match="drop must be"):
        unscripted.ignore("yes")


def test_an_interface_is_a_class_without_bases():
    class Plain:
        pass

    class Derived(Plain):
        pass

    assert unscripted.interface(Plain) is Plain
    for wrong in (Derived, 3):
        with pytest.raises(RuntimeError, match="interface"):
            unscripted.interface(wrong)


def test_compile_gives_the_model_back():
    module = modules.Linear(2, 2)
    assert markers.compile(module, mode="max-autotune", dynamic=True) is module
    assert markers.compile(fullgraph=True)(module) is module
    assert markers.compile(module, options={}) is module
    with pytest.raises(RuntimeError, match="not both"):
        markers.compile(module, mode="default", options={})
    own = lambda graph, inputs: graph  # noqa: E731
    with pytest.raises(NotImplementedError, match=r"torch\.compile is not here"):
        markers.compile(module, backend=own)
    assert markers.compile(module, backend=own, disable=True) is module


def test_a_compiler_s_marks_leave_functions():
    def f():
        return 3

    x = dispatch.ones(2)
    for mark in (markers.mark_dynamic, markers.mark_static, markers.mark_unbacked):
        assert mark(x, 0) is None
    assert markers.reset() is markers.cudagraph_mark_step_begin() is markers.graph_break() is None
    assert markers.forbid_in_graph(f) is f


def test_what_is_refused_can_be_derived_from_and_asked_about():
    optimizer = find("torch.optim", "Optimizer")
    assert is_refused(optimizer) and optimizer.__module__ == "torch.optim"

    class Own(optimizer):
        pass

    assert is_refused(Own) and not isinstance(dispatch.ones(1), optimizer)
    for kind in (optimizer, Own):
        with pytest.raises(NotImplementedError, match=r"torch\.optim\.Optimizer is not here"):
            kind([], lr=1)
    assert refused("torch.a.b") is refused("torch.a.b") is not refused("torch.b.b")


def test_a_module_s_batches_go_to_the_module():
    parallel = find("torch.nn.parallel", "DataParallel")(modules.Linear(2, 1), [0, 1], dim=1)
    assert list(parallel.state_dict()) == ["module.weight", "module.bias"]
    x = dispatch.ones(3, 2)
    assert parallel(x).equal(parallel.module(x)) and parallel.device_ids == []
    assert find("torch.nn", "DataParallel") is type(parallel)
    once = find("torch.nn.parallel", "data_parallel")
    assert once(parallel.module, x).equal(once(parallel.module, (), module_kwargs={"input": x}))


@pytest.mark.parametrize(
    ("module", "base", "derived"),
    [
        ("conv", "_ConvNd", "Conv2d ConvTranspose3d LazyConv1d"),
        ("conv", "_ConvTransposeNd", "ConvTranspose1d ConvTranspose2d"),
        ("batchnorm", "_BatchNorm", "BatchNorm1d SyncBatchNorm"),
        ("batchnorm", "_NormBase", "BatchNorm3d InstanceNorm2d"),
        ("instancenorm", "_InstanceNorm", "InstanceNorm1d"),
        ("dropout", "_DropoutNd", "Dropout Dropout2d AlphaDropout FeatureAlphaDropout"),
        ("pooling", "_MaxPoolNd", "MaxPool1d MaxPool3d"),
        ("pooling", "_AvgPoolNd", "AvgPool1d AvgPool2d"),
        ("pooling", "_LPPoolNd", "LPPool2d"),
        ("pooling", "_AdaptiveAvgPoolNd", "AdaptiveAvgPool2d"),
        ("pooling", "_AdaptiveMaxPoolNd", "AdaptiveMaxPool2d"),
        ("pooling", "_MaxUnpoolNd", "MaxUnpool2d"),
        ("padding", "_ConstantPadNd", "ConstantPad2d ZeroPad2d"),
        ("padding", "_ReflectionPadNd", "ReflectionPad2d"),
        ("padding", "_ReplicationPadNd", "ReplicationPad2d"),
        ("padding", "_CircularPadNd", "CircularPad2d"),
        ("loss", "_Loss", "MSELoss CrossEntropyLoss"),
        ("loss", "_WeightedLoss", "BCELoss NLLLoss CrossEntropyLoss MultiMarginLoss"),
        ("rnn", "RNNBase", "LSTM GRU"),
    ],
)
def test_modules_derive_from_pytorch_s_bases(module, base, derived):
    base = find(f"torch.nn.modules.{module}", base)
    for name in derived.split():
        assert issubclass(find("torch.nn", name), base), name
    assert not issubclass(modules.Linear, base)


def test_annotations_of_a_program_s_module_are_its_own():
    class Own(modules.AvgPool2d):
        extra: int

        def __init__(self, extra: int, *args) -> None:
            super().__init__(*args)
            self.extra = extra

    own = Own(5, 2)
    assert own.extra == 5 and own.kernel_size == 2
    assert own(dispatch.ones(1, 4, 4)).shape == (1, 2, 2)


def test_containers_have_pytorch_s_private_functions():
    from dispatch.pytree import tree_flatten

    value = {"b": 1, "a": [2]}
    flatten = find("torch.utils._pytree", "_dict_flatten")
    unflatten = find("torch.utils._pytree", "_dict_unflatten")
    children, context = flatten(value)
    assert unflatten(children, context) == value
    assert sorted(map(str, children)) == ["1", "[2]"] and len(tree_flatten(value)[0]) == 2
    assert find("torch.utils._pytree", "_list_flatten")([1, 2]) == ([1, 2], None)
    assert find("torch.utils._pytree", "_tuple_unflatten")([1, 2], None) == (1, 2)
