"""`torch.nn.utils.prune`: masks, alone, one after the other, over several parameters."""

import pytest

import dispatch
from dispatch.as_torch.nn import modules
from dispatch.as_torch.nn.utils import prune


def linear():
    layer = modules.Linear(3, 2)
    with dispatch.no_grad():
        layer.weight.copy_(dispatch.tensor([[1.0, -6.0, 2.0], [-3.0, 5.0, 4.0]]))
    return layer


def mask_of(layer):
    return layer.weight_mask.int().tolist()


def test_the_smallest_values_go():
    layer = linear()
    assert prune.l1_unstructured(layer, "weight", 0.5) is layer
    assert mask_of(layer) == [[0, 1, 0], [0, 1, 1]]
    assert [n for n, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    assert layer.weight.tolist() == [[0.0, -6.0, 0.0], [0.0, 5.0, 4.0]]
    with dispatch.no_grad():
        layer.weight_orig.mul_(2)
    layer(dispatch.ones(1, 3))
    assert layer.weight[1, 2].item() == 8.0, "before each call"


@pytest.mark.parametrize(
    ("order", "dim", "expected"),
    [
        (2, 0, [[0, 0, 0], [1, 1, 1]]),
        (1, 1, [[0, 1, 1], [0, 1, 1]]),
        (2, -1, [[0, 1, 1], [0, 1, 1]]),
    ],
)
def test_the_smallest_slices_go(order, dim, expected):
    layer = linear()
    prune.ln_structured(layer, "weight", 1, order, dim)
    assert mask_of(layer) == expected


def test_chance_takes_as_many_as_told():
    layer = prune.random_unstructured(linear(), "weight", 4)
    assert layer.weight_mask.sum() == 2
    layer = prune.random_structured(linear(), "weight", 2, dim=1)
    assert sorted(layer.weight_mask[0].tolist()) == [0.0, 0.0, 1.0]
    assert mask_of(prune.identity(linear(), "weight")) == [[1] * 3] * 2


def test_one_after_the_other_takes_from_what_is_left():
    layer = linear()
    prune.l1_unstructured(layer, "weight", 2)
    prune.l1_unstructured(layer, "weight", 2)
    assert mask_of(layer) == [[0, 1, 0], [0, 1, 0]]
    (hook,) = layer._forward_pre_hooks.values()
    assert isinstance(hook, prune.PruningContainer) and len(hook) == 2
    prune.random_structured(layer, "weight", 1, dim=0)
    assert layer.weight_mask.sum() == 1 and len(next(iter(layer._forward_pre_hooks.values()))) == 3


def test_what_is_left_becomes_the_parameter():
    layer = prune.l1_unstructured(linear(), "weight", 5)
    assert prune.is_pruned(modules.Sequential(layer))
    prune.remove(layer, "weight")
    assert [n for n, _ in layer.named_parameters()] == ["bias", "weight"]
    assert layer.weight.tolist() == [[0.0, -6.0, 0.0], [0.0, 0.0, 0.0]]
    assert not prune.is_pruned(layer) and not dict(layer.named_buffers())
    with pytest.raises(ValueError, match="has to be pruned"):
        prune.remove(layer, "weight")


def test_several_parameters_are_one():
    net = modules.Sequential(linear(), linear())
    places = [(net[0], "weight"), (net[1], "weight")]
    with dispatch.no_grad():
        net[1].weight.mul_(10)
    prune.global_unstructured(places, prune.L1Unstructured, amount=6)
    assert net[0].weight_mask.sum() == 0 and net[1].weight_mask.sum() == 6
    for parameters, method, kwargs in [
        (3, prune.L1Unstructured, {}),
        (places, prune.L1Unstructured, {"importance_scores": 3}),
        (places, prune.LnStructured, {"n": 2}),
    ]:
        with pytest.raises(TypeError, match="global_unstructured"):
            prune.global_unstructured(parameters, method, amount=1, **kwargs)


def test_scores_decide_instead_of_values():
    scores = dispatch.tensor([[9.0, 0.0, 8.0], [7.0, 6.0, 5.0]])
    layer = prune.l1_unstructured(linear(), "weight", 1, importance_scores=scores)
    assert mask_of(layer) == [[1, 0, 1], [1, 1, 1]]
    assert prune.L1Unstructured(1).prune(dispatch.tensor([1.0, 2.0])).tolist() == [0.0, 2.0]
    with pytest.raises(AssertionError, match="importance_scores"):
        prune.L1Unstructured(1).prune(dispatch.ones(2), importance_scores=dispatch.ones(3))


@pytest.mark.parametrize(
    ("amount", "kind"), [(-1, ValueError), (1.5, ValueError), ("a", TypeError), (7, ValueError)]
)
def test_a_wrong_amount_changes_nothing(amount, kind):
    layer = linear()
    with pytest.raises(kind, match="amount"):
        prune.l1_unstructured(layer, "weight", amount)
    assert [n for n, _ in layer.named_parameters()] == ["weight", "bias"]
    assert not layer._forward_pre_hooks and not dict(layer.named_buffers())


def test_a_failure_on_a_pruned_parameter_changes_nothing():
    layer = prune.l1_unstructured(linear(), "weight", 1)
    (hook,) = layer._forward_pre_hooks.values()
    with pytest.raises(IndexError, match="Invalid index 5"):
        prune.ln_structured(layer, "weight", 1, 2, dim=5)
    assert list(layer._forward_pre_hooks.values()) == [hook] and layer.weight_mask.sum() == 5
    with pytest.raises(ValueError, match="two dimensions"):
        prune.random_structured(linear(), "bias", 1, dim=0)


def test_methods_of_a_program():
    class EverySecond(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    layer = linear()
    EverySecond.apply(layer, "weight")
    assert mask_of(layer) == [[0, 1, 0], [1, 0, 1]]
    given = prune.custom_from_mask(linear(), "bias", mask=dispatch.tensor([0, 1]))
    assert given.bias_mask.tolist() == [0.0, 1.0]
    container = prune.PruningContainer()
    with pytest.raises(TypeError, match="BasePruningMethod"):
        container.add_pruning_method(3)
    method = prune.Identity()
    method._tensor_name = "other"
    with pytest.raises(ValueError, match="'other'"):
        container.add_pruning_method(method)
