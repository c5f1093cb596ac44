"""Modules of parameters, hooks of modules, counters that hear of them, small modules for tests."""

import inspect
import io
import subprocess
import sys
import textwrap

import pytest

import dispatch
from dispatch.as_torch import markers
from dispatch.as_torch.dtype_abbrs import dtype_abbrs
from dispatch.as_torch.nn import Parameter, modules
from dispatch.as_torch.nn.modules import (
    Identity,
    ParameterDict,
    ParameterList,
    ReLU,
    Sequential,
    Tanh,
)
from dispatch.as_torch.testing import making
from dispatch.tools.flops import FlopCounterMode, register_flop_formula

ones = dispatch.ones


def test_a_list_s_tensors_are_parameters():
    held = ParameterList([ones(2), Parameter(ones(3)), "word"])
    held.append(ones(4))
    held += [ones(1)]
    assert [*held.state_dict()] == ["0", "1", "3", "4"] and len(held) == 5
    assert isinstance(held[0], Parameter) and held[2] == "word" and held[-1] is held[4]
    assert len(held[1:3]) == 2 and [len(p) for p in held[3:]] == [4, 1]
    held[0] = ones(7)
    assert held[0].shape == (7,) and isinstance(held[0], Parameter)
    assert "(2): Object of type: str" in repr(held)
    assert "0" not in dir(held)
    for use, error in ((lambda: held[5], IndexError), (held, RuntimeError)):
        with pytest.raises(error):
            use()
    for wrong in (3, ones(2)):
        with pytest.raises(TypeError):
            held.extend(wrong)


def test_a_dict_s_tensors_are_parameters():
    held = ParameterDict({"a": ones(2)})
    held["b"] = ones(3)
    held.update([("c", 1)])
    assert [*held.keys()] == ["a", "b", "c"] and [*held.state_dict()] == ["a", "b"]
    assert isinstance(held["b"], Parameter) and held.get("d") is None and "c" in held
    assert held.setdefault("d", ones(1)) is held["d"] and held.pop("c") == 1
    del held["a"]
    assert [name for name, _ in held.items()] == ["b", "d"] == [*held] and len(held.values()) == 2
    assert [*reversed(held)] == ["d", "b"] and "(b): Parameter" in repr(held)
    held.clear()
    assert len(held) == 0 and not held.state_dict()
    with pytest.raises(KeyError):
        held["a"]
    with pytest.raises(TypeError):
        held[3] = 1
    with pytest.raises(RuntimeError):
        held(3)


def test_hooks_before_a_call_change_its_arguments():
    layer, seen = modules.ReLU(), []
    handles = [
        layer.register_forward_pre_hook(lambda module, args: -args[0]),
        modules.register_module_forward_pre_hook(lambda module, args: seen.append("before")),
        modules.register_module_forward_hook(lambda module, args, out: seen.append("after")),
    ]
    assert layer(ones(2)).tolist() == [0.0, 0.0]
    assert seen == ["before", "after"]
    for handle in handles:
        handle.remove()
    assert layer(ones(2)).tolist() == [1.0, 1.0] and len(seen) == 2


class Net(modules.Module):
    def __init__(self):
        super().__init__()
        self.first = modules.Linear(3, 4)
        self.second = modules.Sequential(modules.Linear(4, 2))

    def forward(self, x):
        return self.second(self.first(x))


def test_counters_hear_of_modules():
    net = Net()
    with FlopCounterMode(display=False) as counter:
        net(ones(5, 3))
        dispatch.mm(ones(1, 1), ones(1, 1))
    totals = {name: sum(found.values()) for name, found in counter.flop_counts.items()}
    assert totals == {
        "Net": 200, "Net.first": 120, "Net.second": 80, "Net.second.0": 80, "Global": 202,
    }  # fmt: skip
    assert not modules.module._global_forward_hooks
    assert not modules.module._global_forward_pre_hooks
    with pytest.warns(UserWarning, match="not needed"):
        FlopCounterMode(net)
    with pytest.raises(ValueError, match="expected each target to be OpOverloadPacket"):
        register_flop_formula(3)(int)
    with pytest.raises(RuntimeError, match=r"duplicate registrations for aten\.mm"):
        register_flop_formula(dispatch.ops.aten.mm)(int)


class Tagged(dispatch.Tensor): ...


def test_parameters_say_so_in_their_text():
    assert repr(Parameter(ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"
    tagged = Parameter(ones(1).as_subclass(Tagged))
    assert repr(tagged) == "Parameter(Tagged([1.], requires_grad=True))"
    assert repr(ones(1).as_subclass(Tagged)) == "Tagged([1.])"


def test_a_storage_is_written_with_its_size_before_it():
    storage = dispatch.tensor([1, 2], dtype=dispatch.int16).untyped_storage()
    file = io.BytesIO()
    storage._write_file(file, False, True, 2)
    assert file.getvalue() == bytes([2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0])


BOUNDS = [
    (dispatch.bool, None, None, 0, 1),
    (dispatch.int8, None, None, -9, 9),
    (dispatch.uint8, None, None, 0, 9),
    (dispatch.int32, 3, 5, 3, 4),
    (dispatch.float16, None, None, -9, 9),
    (dispatch.float64, 2.0, 2.5, 2.0, 2.5),
    (dispatch.float8_e5m2, None, None, -10, 10),
]


@pytest.mark.parametrize(("dtype", "low", "high", "least", "most"), BOUNDS)
def test_made_values_lie_in_their_interval(dtype, low, high, least, most):
    t = making.make_tensor(20, 30, dtype=dtype, device="cpu", low=low, high=high)
    values = t.to(dispatch.float64)
    assert t.dtype == dtype and t.shape == (20, 30)
    assert least <= values.min() and values.max() <= most
    assert values.min() != values.max()


def test_made_tensors_may_be_strided_and_without_zeros():
    make = making.make_tensor
    t = make((3, 4), dtype=dispatch.float32, device="cpu", noncontiguous=True, requires_grad=True)
    assert t.stride() == (8, 2) and t.storage_offset() == 1 and t.requires_grad
    t = make(
        1, 2, 3, 4, dtype=dispatch.complex64, device="cpu", memory_format=dispatch.channels_last
    )
    assert t.stride() == (24, 1, 8, 2)
    t = make(500, dtype=dispatch.int64, device="cpu", low=0, high=2, exclude_zero=True)
    assert t.min() == 1
    wide = make(50, dtype=dispatch.float32, device="cpu", low=float("-inf"), high=float("inf"))
    assert dispatch.isfinite(wide).all()


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": dispatch.int64, "requires_grad": True},
        {"dtype": dispatch.int64, "low": 3, "high": 3},
        {"dtype": dispatch.float32, "low": float("nan")},
        {"dtype": dispatch.uint8, "low": -5, "high": -1},
        {
            "dtype": dispatch.float32,
            "noncontiguous": True,
            "memory_format": dispatch.channels_last,
        },
    ],
)
def test_intervals_that_are_none_are_refused(options):
    with pytest.raises(ValueError, match="make_tensor"):
        making.make_tensor(2, device="cpu", **options)


def test_markers_change_nothing_but_what_they_say():
    @markers.exposed_in("somewhere")
    def f(): ...

    assert f.__module__ == "somewhere" and markers._disable_dynamo(f) is f
    assert markers._disable_dynamo(recursive=False)(f) is f
    init = Net.__init__
    assert markers.mark_subclass_constructor_exportable_experimental(init) is init
    with pytest.raises(RuntimeError, match="__init__"):
        markers.mark_subclass_constructor_exportable_experimental(f)
    assert markers.get_file_path_2("a", "b") == "a/b"
    assert dtype_abbrs[dispatch.bfloat16] == "bf16" and inspect.isfunction(f)


def test_names_of_overridable_functions_lead_to_them():
    program = """
        import dispatch.as_torch
        dispatch.as_torch.install()
        import torch
        from torch.overrides import get_overridable_functions, resolve_name

        groups = get_overridable_functions().values()
        print([f for group in groups for f in group if eval(resolve_name(f)) != f])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True
    )
    assert done.stdout == "[]\n", done.stderr


def test_sequentials_are_joined_and_repeated():
    one, other = Sequential(ReLU(), Tanh()), Sequential(Identity())
    kinds = [type(m).__name__ for m in one + other * 2]
    assert kinds == ["ReLU", "Tanh", "Identity", "Identity"]
    assert (one + other)[0] is one[0], "the same modules"
    one += other
    one *= 2
    assert len(one) == 6 and len(2 * other) == 2
    for wrong, kind in [
        (lambda: one + ReLU(), ValueError),
        (lambda: one * 0, ValueError),
        (lambda: one * 1.5, TypeError),
    ]:
        with pytest.raises(kind, match="a Sequential is"):
            wrong()


def test_dicts_of_parameters_are_joined():
    one = ParameterDict({"a": ones(1), "b": ones(2)})
    other = ParameterDict({"b": ones(3), "c": ones(4)})
    joined = one | other
    assert list(joined) == ["a", "b", "c"] and joined["b"].shape == (3,)
    assert one.popitem()[0] == "b" and list(one) == ["a"]
    one |= other
    assert list(one.copy()) == ["a", "b", "c"]
    assert one.fromkeys(["x"], 1)["x"] == 1
    with pytest.raises(KeyError, match="empty"):
        ParameterDict().popitem()
