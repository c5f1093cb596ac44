"""`torch.nn.Module` as programs for PyTorch find it: tensors by name, modules in modules."""

import pytest

import dispatch
from dispatch.as_torch.nn import modules
from dispatch.as_torch.nn.parameter import Parameter


class Pair(modules.Module):
    def __init__(self):
        super().__init__()
        self.first = modules.Linear(2, 3)
        self.bias = Parameter(dispatch.zeros(3))
        self.register_buffer("steps", dispatch.zeros(1), persistent=False)
        self.shared = self.first

    def forward(self, x):
        return self.first(x) + self.bias


def test_a_module_knows_its_tensors_by_name():
    pair = Pair()
    names = [name for name, _ in pair.named_parameters()]
    assert names == ["bias", "first.weight", "first.bias"]
    assert [name for name, _ in pair.named_buffers()] == ["steps"]
    assert "steps" not in pair.state_dict()
    assert pair(dispatch.ones(4, 2)).shape == (4, 3)


def test_all_tensors_of_a_module_change_together():
    pair = Pair()
    assert pair.double().bias.dtype == dispatch.float64
    assert type(pair.bias) is Parameter
    assert not pair.eval().first.training
    other = Pair().double()
    other.load_state_dict(pair.state_dict())
    assert other.first.weight.tolist() == pair.first.weight.tolist()
    with pytest.raises(RuntimeError, match="Missing key"):
        other.load_state_dict({})


def test_names_are_for_what_they_were_made_for():
    pair = Pair()
    with pytest.raises(TypeError, match="cannot assign"):
        pair.bias = dispatch.ones(3)
    with pytest.raises(TypeError, match="as child module"):
        pair.first = 3
    with pytest.raises(KeyError, match="already exists"):
        pair.register_buffer("training", dispatch.ones(1))
    with pytest.raises(AttributeError, match="before Module"):
        object.__new__(Pair).bias = Parameter(dispatch.ones(1))
    with pytest.raises(NotImplementedError, match="forward"):
        modules.Module()(1)
    del pair.bias
    with pytest.raises(AttributeError, match="no attribute 'bias'"):
        _ = pair.bias


def test_modules_run_on_fake_tensors():
    with dispatch.FakeTensorMode():
        model = modules.Sequential(modules.Linear(4, 3), modules.ReLU())
        assert isinstance(model[0].weight, Parameter)
        assert model(dispatch.ones(2, 4)).shape == (2, 3)
    assert repr(model).startswith("Sequential(\n  (0): Linear(in_features=4, out_features=3")


def test_lists_and_hooks():
    seen = []
    items = modules.ModuleList([modules.Identity(), modules.ReLU()])
    handle = items[1].register_forward_hook(lambda module, args, out: seen.append(out))
    items[1](dispatch.tensor([-1.0]))
    handle.remove()
    items[1](dispatch.tensor([1.0]))
    assert [t.tolist() for t in seen] == [[0.0]]
    assert len(items) == 2 and len(items[:1]) == 1
