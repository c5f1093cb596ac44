"""`torch.nn.utils`: vectors, clipped gradients, norms of weights, fused modules."""

import warnings

import pytest

import dispatch
from dispatch.as_torch.nn import modules, parametrize, utils
from dispatch.as_torch.nn.parameter import Parameter
from dispatch.as_torch.nn.utils import parametrizations
from dispatch.as_torch.nn.utils.weight_norm import WeightNorm

X = dispatch.arange(8.0).reshape(2, 4)


def names(module):
    return [name for name, _ in module.named_parameters()]


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def with_gradients():
    first, second = Parameter(dispatch.ones(3)), Parameter(dispatch.ones(2, 2))
    first.grad, second.grad = dispatch.tensor([3.0, -4.0, 0.0]), dispatch.full((2, 2), 6.0)
    return [first, Parameter(dispatch.ones(1)), second]


@pytest.mark.parametrize(("order", "norm"), [(2, 13.0), (1, 31.0), ("inf", 6.0)])
def test_gradients_are_scaled_by_their_common_norm(order, norm):
    given = with_gradients()
    assert utils.clip_grad_norm_(given, 1.0, order).item() == norm
    clipped = utils.get_total_norm([p.grad for p in given if p.grad is not None], order)
    assert abs(clipped.item() - 1.0) < 1e-5
    assert utils.clip_grad_norm_(given, 100.0, order).item() == clipped.item()
    assert utils.clip_grad_norm_([], 1.0).item() == 0.0


def test_a_norm_that_is_no_number_is_an_error_when_asked():
    given = with_gradients()
    given[0].grad[0] = float("nan")
    with pytest.raises(RuntimeError, match="is non-finite: nan"):
        utils.clip_grad_norm_(given, 1.0, error_if_nonfinite=True)
    assert given[0].grad[1].item() == -4.0


def test_gradients_are_clipped_by_value():
    given = with_gradients()
    utils.clip_grad_value_(given, 3.5)
    assert given[0].grad.tolist() == [3.0, -3.5, 0.0] and given[2].grad.max() == 3.5
    utils.clip_grads_with_norm_(given, 1.0, dispatch.tensor(0.5))
    assert given[2].grad.max() == 3.5, "never up"


def test_parameters_are_a_vector_and_views_on_one():
    layer = modules.Linear(2, 2)
    vector = utils.parameters_to_vector(layer.parameters())
    assert vector[:4].tolist() == layer.weight.flatten().tolist()
    given = dispatch.arange(6.0)
    utils.vector_to_parameters(given, layer.parameters())
    assert layer.weight.tolist() == [[0.0, 1.0], [2.0, 3.0]] and layer.bias.tolist() == [4.0, 5.0]
    given.zero_()
    assert layer.weight.abs().sum() == 0
    with pytest.raises(TypeError, match="expected torch"):
        utils.vector_to_parameters([1.0], layer.parameters())
    apart = [Parameter(dispatch.ones(1)), Parameter(dispatch.ones(1, device="meta"))]
    with pytest.raises(TypeError, match="different devices"):
        utils.parameters_to_vector(apart)


def test_a_module_is_made_without_values():
    layer = utils.skip_init(modules.Linear, 3, 2, dtype=dispatch.float64)
    assert layer.weight.shape == (2, 3) and str(layer.weight.device) == "cpu"
    for wrong, text in [(dict, "Expected a Module"), (modules.ReLU, "'device'")]:
        with pytest.raises(RuntimeError, match=text):
            utils.skip_init(wrong)


def test_weights_of_convolutions_change_their_memory_format():
    net = modules.Sequential(modules.Conv2d(2, 3, 2), modules.Linear(2, 2))
    made = utils.convert_conv2d_weight_memory_format(net, dispatch.channels_last)
    assert made is net and net[0].weight.is_contiguous(memory_format=dispatch.channels_last)


# ---- weight norm


@pytest.mark.parametrize(("dim", "shape"), [(0, (3, 1)), (1, (1, 4)), (None, ())])
def test_a_weight_is_length_times_direction(dim, shape):
    layer = modules.Linear(4, 3)
    before = layer.weight.detach().clone()
    assert utils.weight_norm(layer, dim=dim) is layer
    assert names(layer) == ["bias", "weight_g", "weight_v"] and layer.weight_g.shape == shape
    assert dispatch.allclose(layer.weight, before)
    with dispatch.no_grad():
        layer.weight_g.mul_(2)
        layer.weight_v.mul_(5)
    layer(X)
    assert dispatch.allclose(layer.weight, before * 2)
    with pytest.raises(RuntimeError, match="two weight_norm hooks"):
        WeightNorm.apply(layer, "weight", 0)
    utils.remove_weight_norm(layer)
    assert names(layer) == ["bias", "weight"] and not layer._forward_pre_hooks
    assert dispatch.allclose(layer.weight, before * 2)
    with pytest.raises(ValueError, match="not found"):
        utils.remove_weight_norm(layer)


def test_a_parametrized_weight_norm_reads_older_states():
    old, new = utils.weight_norm(modules.Linear(4, 3)), modules.Linear(4, 3)
    parametrizations.weight_norm(new)
    new.load_state_dict(old.state_dict())
    assert dispatch.equal(new(X), old(X))


# ---- spectral norm


def largest(weight):
    return dispatch.linalg.matrix_norm(weight.detach(), 2).item()


@pytest.mark.parametrize("make", [utils.spectral_norm, parametrizations.spectral_norm])
def test_a_weight_has_norm_one_after_some_steps(make):
    layer = make(modules.Linear(4, 3), n_power_iterations=30)
    layer(X)
    assert abs(largest(layer.weight) - 1) < 1e-3
    kept = layer.eval()(X)
    assert dispatch.equal(layer(X), kept), "no steps outside training"
    with pytest.raises(ValueError, match="n_power_iterations to be positive"):
        make(modules.Linear(2, 2), n_power_iterations=0)


def test_a_spectral_norm_goes_with_its_hooks():
    layer = utils.spectral_norm(modules.Linear(4, 3))
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    assert layer.state_dict()._metadata[""]["spectral_norm"] == {"weight.version": 1}
    result = layer.eval()(X)
    assert utils.remove_spectral_norm(layer) is layer
    rooms = layer._forward_pre_hooks, layer._state_dict_hooks, layer._load_state_dict_pre_hooks
    assert not any(rooms) and names(layer) == ["bias", "weight"]
    assert dispatch.allclose(layer(X), result)
    with pytest.raises(ValueError, match="not found"):
        utils.remove_spectral_norm(layer)


def test_older_states_of_a_spectral_norm_are_completed():
    layer = utils.spectral_norm(modules.Linear(3, 3), n_power_iterations=50)
    layer(dispatch.ones(1, 3))
    state = layer.state_dict()
    v = state.pop("weight_v").clone()
    state["weight"] = layer.weight.detach().clone()
    del state._metadata
    layer.load_state_dict(state)
    assert dispatch.allclose(layer.weight_v, v, atol=1e-3)


def test_a_vector_is_divided_by_its_length():
    layer = parametrizations.spectral_norm(modules.Linear(2, 3), "bias")
    assert abs(layer.bias.norm().item() - 1) < 1e-6
    with pytest.raises(IndexError, match="Dimension out of range"):
        parametrizations.spectral_norm(modules.Linear(2, 2), dim=2)
    with pytest.raises(ValueError, match="no parameter or buffer"):
        parametrizations.spectral_norm(modules.Linear(2, 2), "none")


# ---- orthogonal


@pytest.mark.parametrize("how", [None, "matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("sizes", [(3, 3), (2, 5), (5, 2)])
def test_a_weight_is_orthogonal_and_stays_so(sizes, how):
    layer = parametrizations.orthogonal(modules.Linear(*sizes), orthogonal_map=how)
    for _ in range(2):
        tall = layer.weight if sizes[0] <= sizes[1] else layer.weight.mT
        product = tall.mT @ tall
        assert dispatch.allclose(product, dispatch.eye(len(product)), atol=1e-5)
        with dispatch.no_grad():
            layer.parametrizations.weight.original.mul_(1.5).tril_()
    layer = parametrizations.orthogonal(modules.Linear(*sizes), orthogonal_map=how)
    layer.weight = dispatch.eye(sizes[1], sizes[0])
    assert dispatch.allclose(layer.weight, dispatch.eye(sizes[1], sizes[0]), atol=1e-5)


def test_a_map_without_a_start_cannot_be_set():
    layer = parametrizations.orthogonal(
        modules.Linear(2, 2), orthogonal_map="cayley", use_trivialization=False
    )
    with pytest.raises(NotImplementedError, match="use_trivialization=False"):
        layer.weight = dispatch.eye(2)
    tall = parametrizations.orthogonal(modules.Linear(2, 4), use_trivialization=False)
    tall.weight = dispatch.eye(4, 2)
    assert dispatch.allclose(tall.weight, dispatch.eye(4, 2), atol=1e-6)


def test_what_cannot_be_orthogonal_is_told():
    for args, text in [
        (("bias",), "Got a tensor of 1 dimensions"),
        (("none",), "no parameter or buffer"),
        (("weight", "other"), "has to be one of"),
    ]:
        with pytest.raises(ValueError, match=text):
            parametrizations.orthogonal(modules.Linear(2, 2), *args)
    layer = modules.Linear(2, 2, dtype=dispatch.complex64)
    with pytest.raises(ValueError, match="complex"):
        parametrizations.orthogonal(layer, orthogonal_map="householder")
    made = parametrizations.orthogonal(layer).weight
    assert dispatch.allclose(made.mH @ made, dispatch.eye(2, dtype=made.dtype), atol=1e-5)
    assert parametrize.is_parametrized(layer)


# ---- fusion


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_a_fused_convolution_does_both(turned, bias):
    kind = modules.ConvTranspose2d if turned else modules.Conv2d
    layer, norm = kind(2, 3, 2, bias=bias), modules.BatchNorm2d(3)
    norm.running_mean.copy_(dispatch.tensor([1.0, -1.0, 2.0]))
    norm.running_var.copy_(dispatch.tensor([2.0, 3.0, 0.5]))
    with pytest.raises(AssertionError, match="only for eval"):
        utils.fuse_conv_bn_eval(layer, norm)
    fused = utils.fuse_conv_bn_eval(layer.eval(), norm.eval(), turned)
    x = dispatch.arange(32.0).reshape(1, 2, 4, 4)
    assert dispatch.allclose(fused(x), norm(layer(x)), atol=1e-4)
    assert type(fused.bias) is Parameter and (layer.bias is not None) == bias


def test_a_fused_linear_layer_does_both():
    layer, norm = modules.Linear(4, 3).eval(), modules.BatchNorm1d(3).eval()
    norm.running_mean.fill_(2)
    fused = utils.fuse_linear_bn_eval(layer, norm)
    assert dispatch.allclose(fused(X), norm(layer(X)), atol=1e-5)
    with pytest.raises(AssertionError, match="3 features"):
        utils.fuse_linear_bn_eval(layer, modules.BatchNorm1d(2).eval())
