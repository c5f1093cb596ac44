"""Hooks of modules: in any case, of registrations, and the handles that take them away."""

import copy
import io
from collections import OrderedDict

import pytest

import dispatch
from dispatch.as_torch import serialization
from dispatch.as_torch.nn import modules
from dispatch.as_torch.nn.modules import module as of_modules
from dispatch.as_torch.nn.modules.hooks import RemovableHandle
from dispatch.as_torch.nn.parameter import Parameter


class Failing(modules.Module):
    def forward(self, x):
        raise ValueError("no")


def test_a_hook_may_be_called_in_any_case():
    """Those that were called before the exception are not called again."""
    seen, layer = [], Failing()
    layer.register_forward_hook(lambda m, a, out: seen.append("never"))
    layer.register_forward_hook(lambda m, a, out: seen.append(out), always_call=True)
    with pytest.raises(ValueError, match="no"):
        layer(1)
    assert seen == [None]
    layer, seen = modules.Identity(), []
    layer.register_forward_hook(lambda m, a, out: seen.append("once"), always_call=True)
    layer.register_forward_hook(lambda m, a, out: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        layer(1)
    assert seen == ["once"]


def test_an_exception_of_such_a_hook_is_a_warning():
    layer = Failing()
    layer.register_forward_hook(lambda m, a, out: 1 / 0, always_call=True)
    warned = pytest.warns(UserWarning, match="ZeroDivisionError")
    with warned, pytest.raises(ValueError, match="no"):
        layer(1)


def test_hooks_stand_in_dicts_where_programs_look():
    layer = modules.Identity()
    handle = layer.register_forward_pre_hook(print, with_kwargs=True)
    assert list(layer._forward_pre_hooks.values()) == [print]
    assert layer._forward_pre_hooks_with_kwargs == {handle.id: True}
    handle.remove()
    handle.remove()
    assert not layer._forward_pre_hooks and not layer._forward_pre_hooks_with_kwargs


def test_a_hook_with_keywords_gives_two_things_or_none():
    layer = modules.Identity()
    layer.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"None or \(args, kwargs\)"):
        layer(1)


def test_a_handle_works_for_any_dict_and_in_a_block():
    hooks, more = OrderedDict(), OrderedDict()
    with RemovableHandle(hooks, extra_dict=more) as handle:
        hooks[handle.id] = more[handle.id] = 1
    assert not hooks and not more


def test_registrations_are_seen_and_may_be_changed():
    seen = []

    def double(module, name, value):
        seen.append(name)
        return Parameter(value * 2)

    with (
        of_modules.register_module_parameter_registration_hook(double),
        of_modules.register_module_module_registration_hook(lambda m, n, v: seen.append(n)),
        of_modules.register_module_buffer_registration_hook(lambda m, n, v: seen.append(n)),
    ):
        layer = modules.Module()
        layer.weight = Parameter(dispatch.ones(2))
        layer.register_buffer("steps", dispatch.ones(1))
        layer.inner = modules.Identity()
    layer.other = Parameter(dispatch.ones(1))
    assert seen == ["weight", "steps", "inner"]
    assert layer.weight.tolist() == [2.0, 2.0] and layer.other.tolist() == [1.0]


# ---- state dicts


class Counted(modules.Linear):
    """With state beside its tensors, and a form of its own of what it saves."""

    def __init__(self):
        super().__init__(2, 2)
        self.calls = 3

    def get_extra_state(self):
        return {"calls": self.calls}

    def set_extra_state(self, state):
        self.calls = state["calls"]


def test_extra_state_is_saved_and_taken():
    one, other = Counted(), Counted()
    one.calls = 7
    state = one.state_dict()
    assert state["_extra_state"] == {"calls": 7}
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other.calls == 7
    del state["_extra_state"]
    with pytest.raises(RuntimeError, match=r'Missing key.*"_extra_state"'):
        other.load_state_dict(state)
    with pytest.raises(RuntimeError, match=r'Unexpected key.*"_extra_state"'):
        modules.Linear(2, 2).load_state_dict(one.state_dict())


def test_hooks_change_what_is_saved_and_what_is_read():
    net = modules.Sequential(modules.Linear(2, 2))
    order = []
    net.register_state_dict_pre_hook(lambda m, prefix, keep: order.append("pre"))
    net.register_state_dict_post_hook(lambda m, state, prefix, notes: order.append(prefix))
    net[0]._register_state_dict_hook(lambda m, state, prefix, notes: notes.update(own=1))
    state = net.state_dict()
    assert order == ["pre", ""]
    assert state._metadata == {"": {"version": 1}, "0": {"version": 1, "own": 1}}

    def old_name(module, state, prefix, *rest):
        state[prefix + "weight"] = state.pop(prefix + "kernel")

    state["0.kernel"] = state.pop("0.weight") * 0
    net[0].register_load_state_dict_pre_hook(old_name)
    net.register_load_state_dict_post_hook(lambda m, keys: order.append(keys.missing_keys))
    net.load_state_dict(state)
    assert order[2:] == [[]] and net[0].weight.abs().sum() == 0
    assert "0.kernel" in state, "the caller's dict is not changed"


def test_a_hook_after_reading_may_forgive():
    net = modules.Linear(2, 2)
    net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    net.load_state_dict({"weight": dispatch.zeros(2, 2)})
    assert net.weight.abs().sum() == 0
    net.register_load_state_dict_post_hook(lambda m, keys: keys)
    with pytest.raises(RuntimeError, match="return None"):
        net.load_state_dict(net.state_dict())


def test_a_class_reads_old_states_its_own_way():
    class Old(modules.Linear):
        _version = 2

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            if local_metadata.get("version", 1) < 2:
                state_dict[prefix + "bias"] = dispatch.full((2,), 5.0)
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    net = modules.Sequential(Old(2, 2))
    net.load_state_dict({"0.weight": dispatch.zeros(2, 2)})
    assert net[0].bias.tolist() == [5.0, 5.0]
    state = net.state_dict()
    state["0.bias"] = dispatch.ones(2)
    net.load_state_dict(state)
    assert net[0].bias.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("given", "kind"), [(3, TypeError), ({"weight": 3}, RuntimeError)])
def test_what_is_no_state_is_told(given, kind):
    with pytest.raises(kind, match="expected a"):
        modules.Linear(2, 2, bias=False).load_state_dict(given)


def test_a_saved_state_keeps_its_notes():
    state, file = modules.Linear(2, 2).state_dict(), io.BytesIO()
    serialization.save(state, file)
    file.seek(0)
    read = serialization.load(file)
    assert list(read) == ["weight", "bias"]
    assert copy.deepcopy(state)._metadata == state._metadata


def test_a_module_is_put_at_a_dotted_name():
    net = modules.Sequential(modules.Sequential(modules.Identity()))
    net.set_submodule("0.0", modules.ReLU())
    net.set_submodule("0.new", modules.Tanh())
    assert [type(m).__name__ for m in net[0]] == ["ReLU", "Tanh"]
    for target, module, strict, kind in [
        ("", modules.ReLU(), False, ValueError),
        ("0.0", 3, False, ValueError),
        ("1.0", modules.ReLU(), False, AttributeError),
        ("0.none", modules.ReLU(), True, AttributeError),
    ]:
        with pytest.raises(kind):
            net.set_submodule(target, module, strict)


def test_modules_have_floating_dtypes():
    with pytest.raises(TypeError, match="only accepts floating point or complex"):
        modules.Linear(2, 2).to(dispatch.int32)


def test_hooks_of_gradients_are_kept_and_of_one_kind():
    """Nothing calls them, for there is no backward; programs enter and remove them all the same."""
    layer, never = modules.Linear(2, 2), []
    second = layer.register_full_backward_hook(lambda *a: never.append(a))
    first = layer.register_full_backward_hook(lambda *a: never.append(a), prepend=True)
    before = layer.register_full_backward_pre_hook(lambda *a: never.append(a))
    assert list(layer._backward_hooks) == [first.id, second.id]
    assert list(layer._backward_pre_hooks) == [before.id]
    with pytest.raises(RuntimeError, match="regular backward hooks and full backward hooks"):
        layer.register_backward_hook(print)
    layer(dispatch.ones(1, 2))
    for handle in (first, second, before):
        handle.remove()
    assert not (layer._backward_hooks or layer._backward_pre_hooks or never)
    older = modules.Identity()
    older.register_backward_hook(print)
    assert older._is_full_backward_hook is False
    with pytest.raises(RuntimeError, match="on a single Module"):
        older.register_full_backward_hook(print)


def test_hooks_of_all_modules_gradients(monkeypatch):
    monkeypatch.setattr(of_modules, "_global_is_full_backward_hook", None)
    with of_modules.register_module_full_backward_hook(print) as handle:
        assert list(of_modules._global_backward_hooks) == [handle.id]
        with pytest.raises(RuntimeError, match="on all modules"):
            of_modules.register_module_backward_hook(print)
    with of_modules.register_module_full_backward_pre_hook(print) as handle:
        assert list(of_modules._global_backward_pre_hooks) == [handle.id]
    assert not of_modules._global_backward_hooks
