"""`torch.nn.Module` as programs for PyTorch find it: tensors by name, modules in modules."""

import math

import pytest

import dispatch
from dispatch.as_torch.nn import init, modules
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


def test_tensors_are_filled_within_their_bounds():
    weight = Parameter(dispatch.empty(4, 6, 3))
    assert init.kaiming_uniform_(weight, a=math.sqrt(5)) is weight
    assert 0 < weight.abs().max().item() <= math.sqrt(1 / 18)
    init.kaiming_uniform_(weight, mode="fan_out", nonlinearity="relu")
    assert math.sqrt(1 / 18) < weight.abs().max().item() <= math.sqrt(6 / 12)
    init.xavier_uniform_(weight)
    assert weight.abs().max().item() <= math.sqrt(6 / 30)
    assert init.uniform_(weight, 2.0, 3.0).min().item() >= 2.0
    assert init.constant_(weight, 7.0).unique().tolist() == [7.0]
    assert init.zeros_(weight).sum().item() == 0 and init.ones_(weight).sum().item() == 72
    assert abs(init.normal_(Parameter(dispatch.empty(1000)), 5.0).mean().item() - 5) < 0.5
    assert init.calculate_gain("leaky_relu", 1) == 1.0 and init.calculate_gain("conv2d") == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: init.kaiming_uniform_(dispatch.ones(3)),
        lambda: init.kaiming_uniform_(dispatch.ones(3, 3), mode="fan"),
        lambda: init.calculate_gain("softer"),
        lambda: init.calculate_gain("leaky_relu", True),
    ],
)
def test_what_cannot_be_filled_so_is_refused(call):
    with pytest.raises(ValueError, match=r"not|Unsupported"):
        call()


def test_what_is_computed_from_others_is_no_parameter():
    class Tagged(dispatch.Tensor):
        pass

    computed = dispatch.ones(2, requires_grad=True).as_subclass(Tagged) * 2
    computed._is_param = True
    with pytest.raises(ValueError, match="non-leaf tensor to parameter 'weight'"):
        modules.Module().register_parameter("weight", computed)
    with pytest.raises(ValueError, match="non-leaf tensor to parameter 'weight'"):
        modules.Module().weight = computed
