"""`torch.nn.Module` as programs for PyTorch find it: tensors by name, modules in modules."""

import inspect
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


def test_modules_in_rows_are_put_in_and_taken_out():
    row = modules.ModuleList([modules.Tanh(), modules.ReLU()])
    row.insert(0, modules.Identity())
    row.append(modules.GELU())
    assert [type(m).__name__ for m in row] == ["Identity", "Tanh", "ReLU", "GELU"]
    assert type(row.pop(1)).__name__ == "Tanh" and list(row._modules) == ["0", "1", "2"]
    del row[-1]
    row[0] = modules.Sigmoid()
    assert repr(row) == "ModuleList(\n  (0): Sigmoid()\n  (1): ReLU()\n)"
    with pytest.raises(IndexError, match="2 is out of range"):
        row[2]
    with pytest.raises(AssertionError, match="should be of type"):
        row.insert(0, 3)
    assert len(row.__add__([modules.Tanh()])) == 3 and len(row) == 2


def test_parameters_in_lists_and_dicts_are_the_modules():
    rows = modules.ParameterList([dispatch.ones(2), 3])
    rows += [dispatch.zeros(1)]
    assert isinstance(rows[0], Parameter) and rows[1] == 3 and len(rows) == 3
    assert [name for name, _ in rows.named_parameters()] == ["0", "2"]
    named = modules.ParameterDict({"a": dispatch.ones(2)})
    named["b"] = dispatch.zeros(1)
    assert list(named) == ["a", "b"] and named.pop("a").tolist() == [1.0, 1.0]
    assert list(named.state_dict()) == ["b"]
    with pytest.raises(KeyError, match="a"):
        named["a"]
    with pytest.raises(RuntimeError, match="should not be called"):
        named(1)


def test_hooks_see_keywords_in_their_order_and_go():
    layer, seen = modules.Linear(2, 2), []

    def before(module, args, kwargs):
        seen.append(("before", sorted(kwargs)))
        return (args[0] * 0,), {}

    with layer.register_forward_pre_hook(before, with_kwargs=True):
        layer.register_forward_pre_hook(lambda m, a: seen.append("first"), prepend=True)
        layer.register_forward_hook(lambda m, a, k, out: out * 0 + 7, with_kwargs=True)
        assert layer(dispatch.ones(1, 2)).tolist() == [[7.0, 7.0]]
        assert seen == ["first", ("before", [])]
    layer(dispatch.ones(1, 2))
    assert seen == ["first", ("before", []), "first"]


def test_a_state_that_does_not_fit_changes_nothing():
    layer = modules.Linear(2, 2)
    layer.load_state_dict({"weight": dispatch.ones(2, 2), "bias": dispatch.ones(2)})
    wrong = {"weight": dispatch.zeros(2, 2), "bias": dispatch.zeros(3)}
    with pytest.raises(RuntimeError, match=r"size mismatch for bias: .*\[3\].*\[2\]"):
        layer.load_state_dict(wrong, strict=False)
    with pytest.raises(RuntimeError, match=r'(?s)Missing key.*"bias".*Unexpected key.*"more"'):
        layer.load_state_dict({"weight": dispatch.zeros(2, 2), "more": 3})
    assert layer.weight.sum() == 4.0
    found = layer.load_state_dict({"weight": dispatch.zeros(2, 2)}, strict=False)
    assert found == (["bias"], []) and layer.weight.sum() == 0.0
    given = Parameter(dispatch.ones(2, 2))
    layer.load_state_dict({"weight": given}, strict=False, assign=True)
    assert layer.weight is given


def test_casts_keep_the_parameter_that_others_hold():
    layer = modules.Linear(2, 2)
    held = layer.weight
    assert layer.double().weight is held and held.dtype == dispatch.float64


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: modules.Conv2d(3, 4, 1, groups=2), ValueError),
        (lambda: modules.Conv2d(2, 2, 3, stride=2, padding="same"), ValueError),
        (lambda: modules.Conv1d(2, 2, 3, padding="full"), ValueError),
        (lambda: modules.ConvTranspose2d(2, 2, 3, padding_mode="reflect"), ValueError),
        (lambda: modules.GroupNorm(3, 4), ValueError),
        (lambda: modules.Dropout(1.5), ValueError),
        (lambda: modules.MaxPool2d(), TypeError),
        (lambda: modules.GELU(3, 4), TypeError),
        (lambda: modules.GaussianNLLLoss(True), TypeError),
        (lambda: modules.FractionalMaxPool2d(2), ValueError),
        (lambda: modules.Embedding(3, 2, padding_idx=3), AssertionError),
        (lambda: modules.Embedding.from_pretrained(dispatch.ones(3)), AssertionError),
        (lambda: modules.LSTM(3, 2, proj_size=2), ValueError),
        (lambda: modules.GRU(3, 2, proj_size=1), ValueError),
        (lambda: modules.RNN(3, 2, nonlinearity="sine"), ValueError),
        (lambda: modules.MultiheadAttention(4, 3), AssertionError),
        (lambda: modules.BatchNorm2d(3)(dispatch.ones(2, 3)), ValueError),
        (lambda: modules.LSTM(3, 2)(dispatch.ones(1, 2, 3, 3)), ValueError),
        (lambda: modules.GRU(3, 2)(dispatch.ones(1, 2, 4)), RuntimeError),
        (lambda: modules.GRU(3, 2)(dispatch.ones(1, 2, 4).half()), ValueError),
        (lambda: modules.GRU(3, 2)(dispatch.ones(1, 2, 3), dispatch.ones(1, 1, 2)), RuntimeError),
        (lambda: modules.Softmax2d()(dispatch.ones(2, 2)), ValueError),
    ],
)
def test_what_does_not_fit_is_refused_as_pytorch_refuses_it(make, error):
    with pytest.raises(error):
        make()


def test_modules_move_under_a_fake_mode():
    layer = modules.Linear(2, 2)
    with dispatch.FakeTensorMode(allow_non_fake_inputs=True):
        layer.to("cuda:0")
        made = modules.Linear(2, 2)
        made.to("cuda")
    for tensor in (*layer.parameters(), *made.parameters()):
        assert str(tensor.device) == "cuda:0" and isinstance(tensor, Parameter)
        assert tensor.requires_grad


def test_a_module_moves_to_a_device_without_memory():
    linear = modules.Linear(2, 3).to("meta")
    assert linear.weight.device.type == "meta"
    assert type(linear.weight) is Parameter


class Doubled(dispatch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return dispatch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    def __tensor_flatten__(self):
        return ["inner"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        return Doubled(inner["inner"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        SEEN.append(func)
        return cls(func(args[0].inner, *args[1:], **(kwargs or {})))


SEEN = []


def test_what_a_parameter_wraps_is_converted_with_it():
    linear = modules.Linear(2, 3)
    linear.weight = Parameter(Doubled(dispatch.ones(3, 2)))
    weight = linear.weight
    SEEN.clear()
    linear.to(dispatch.bfloat16)
    assert linear.weight is weight
    assert [dispatch.ops.aten._to_copy.default, dispatch.ops.aten.detach.default] == SEEN
    assert weight.dtype == weight.inner.dtype == dispatch.bfloat16


def test_the_head_of_an_adaptive_softmax_leads_to_its_tails():
    softmax = modules.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10, 15], div_value=2.0)
    x, target = dispatch.randn(5, 16), dispatch.tensor([0, 3, 8, 19, 12])
    everything = softmax.log_prob(x)
    assert dispatch.allclose(everything.exp().sum(1), dispatch.ones(5), atol=1e-5)
    found = softmax(x, target)
    wanted = everything.gather(1, target.unsqueeze(1)).squeeze(1)
    assert dispatch.allclose(found.output, wanted, atol=1e-5)
    assert math.isclose(found.loss.item(), -wanted.mean().item(), rel_tol=1e-5)
    assert softmax(x[0], target[0]).output.shape == ()
    assert softmax.predict(x).tolist() == everything.argmax(1).tolist()
    for inputs in ((x, target + 1), (x[:2], target), (x, target[0])):
        with pytest.raises(RuntimeError):
            softmax(*inputs)
    for cutoffs in ([], [2, 1], [20], [0]):
        with pytest.raises(ValueError, match="cutoffs"):
            modules.AdaptiveLogSoftmaxWithLoss(16, 20, cutoffs)


def test_channels_are_normalised_by_those_around():
    """The first channel's square is never taken out of the sum again, as in PyTorch."""
    x = dispatch.arange(1.0, 6.0).view(1, 5, 1, 1)
    found = modules.CrossMapLRN2d(3, alpha=3, beta=1, k=0)(x).flatten().tolist()
    sums = [1 + 4, 1 + 4 + 9, 4 + 9 + 16 + 1, 9 + 16 + 25 + 1, 16 + 25 + 1]
    assert found == pytest.approx([v / s for v, s in zip(range(1, 6), sums, strict=True)])
    with pytest.raises(ValueError, match="4D"):
        modules.CrossMapLRN2d(3)(dispatch.ones(2, 3))


def test_batch_norms_are_converted_to_synchronised_ones():
    """Inner ones too, with the same tensors; there is one process, whose batch is normed."""
    inner = modules.BatchNorm1d(3, affine=False, momentum=None).eval()
    net = modules.Sequential(modules.BatchNorm2d(3), modules.ReLU(), modules.Sequential(inner))
    found = modules.SyncBatchNorm.convert_sync_batchnorm(net, "group")
    assert found is net and net[0].process_group == "group"
    made = net[2][0]
    assert isinstance(made, modules.SyncBatchNorm) and made.running_var is inner.running_var
    assert (made.affine, made.momentum, made.training) == (False, None, False)
    x = dispatch.arange(24.0).view(2, 3, 4)
    new, old = modules.SyncBatchNorm(3), modules.BatchNorm1d(3)
    assert new(x).tolist() == old(x).tolist()
    assert new.running_mean.tolist() == old.running_mean.tolist()
    single = modules.SyncBatchNorm.convert_sync_batchnorm(old)
    assert single is not old and single.weight is old.weight
    for size in ((3,), (2, 0)):
        with pytest.raises(ValueError, match=r"at least 2D input \(got 1D|must not be zero"):
            new(dispatch.ones(size))


def test_handlers_get_all_of_an_initialiser_by_keyword():
    class Asked(dispatch.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func is init.uniform_ or func is init.kaiming_uniform_:
                seen.append((args, sorted(kwargs)))
            return func(*args, **(kwargs or {}))

    seen = []
    weight = dispatch.zeros(3, 3)
    with Asked():
        assert init.uniform_(weight, 1.0, b=2.0) is weight
        init.kaiming_uniform_(tensor=weight)
    keywords = ["a", "generator", "mode", "nonlinearity", "tensor"]
    assert seen == [((), ["a", "b", "generator", "tensor"]), ((), keywords)]


def test_parameters_and_buffers_are_told_from_what_is_not_there():
    module = modules.BatchNorm1d(2)
    with pytest.raises(AttributeError, match="BatchNorm1d has no attribute `w`"):
        module.get_parameter("w")
    with pytest.raises(AttributeError, match="`weight` is not a buffer of BatchNorm1d"):
        module.get_buffer("weight")


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (modules.ReLU(), ["input"]),
        (modules.Softmax2d(), ["input"]),
        (modules.MSELoss(), ["input", "target"]),
        (modules.MarginRankingLoss(), ["input1", "input2", "target"]),
        (modules.PoissonNLLLoss(), ["log_input", "target"]),
        (modules.GaussianNLLLoss(), ["input", "target", "var"]),
        (modules.TripletMarginLoss(), ["anchor", "positive", "negative"]),
        (modules.CTCLoss(), ["log_probs", "targets", "input_lengths", "target_lengths"]),
        (modules.CosineSimilarity(), ["x1", "x2"]),
        (modules.MaxUnpool1d(2), ["input", "indices", "output_size"]),
        (modules.RMSNorm(2), ["x"]),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, modules.Module) else "",
)
def test_inputs_of_a_module_have_names(module, names):
    assert list(inspect.signature(module.forward).parameters) == names


def test_a_decoder_takes_its_masks_by_place_too():
    decoder = modules.TransformerDecoder(modules.TransformerDecoderLayer(4, 2, 8, 0.0), 1).eval()
    target, memory = dispatch.randn(3, 1, 4), dispatch.randn(2, 1, 4)
    mask = dispatch.ones(3, 3, dtype=dispatch.bool).triu(1)
    assert decoder(target, memory, mask).equal(decoder(target, memory, tgt_mask=mask))
