"""Lazy modules: no sizes until the first input, an ordinary module from then on."""

import copy

import pytest

import dispatch
from dispatch.as_torch.nn import modules
from dispatch.as_torch.nn.modules.lazy import LazyModuleMixin
from dispatch.as_torch.nn.parameter import (
    Buffer,
    Parameter,
    UninitializedBuffer,
    UninitializedParameter,
    is_lazy,
)


def test_an_uninitialized_parameter_has_a_dtype_and_no_sizes():
    p = UninitializedParameter(dtype=dispatch.float64)
    assert (p.dtype, repr(p), is_lazy(p)) == (dispatch.float64, "<UninitializedParameter>", True)
    assert isinstance(p, Parameter)
    with pytest.raises(RuntimeError, match="Can't access the shape"):
        _ = p.shape
    for call in (lambda: p + 1, lambda: dispatch.add(p, 1), p.numel, p.detach):
        with pytest.raises(ValueError, match="uninitialized parameter"):
            call()
    p.materialize((2, 3))
    assert (type(p), p.shape, p.dtype) == (Parameter, (2, 3), dispatch.float64)


def test_a_buffer_becomes_whole():
    b = UninitializedBuffer()
    b.materialize((2,), dtype=dispatch.int32)
    assert (type(b), b.shape, b.dtype) == (Buffer, (2,), dispatch.int32)
    assert type(b + 1) is dispatch.Tensor


@pytest.mark.parametrize(
    ("kind", "args", "sizes", "weight"),
    [
        (modules.LazyLinear, (4,), (2, 3), (4, 3)),
        (modules.LazyConv1d, (4, 2), (2, 3, 7), (4, 3, 2)),
        (modules.LazyConv2d, (4, 3, 2, 1, 1, 1, False), (3, 7, 7), (4, 3, 3, 3)),
        (modules.LazyConvTranspose2d, (4, 3, 2, 1, 1), (2, 3, 5, 5), (3, 4, 3, 3)),
        (modules.LazyBatchNorm2d, (1e-3, None), (4, 3, 2, 2), (3,)),
        (modules.LazyInstanceNorm1d, (), (4, 3, 5), (3,)),
    ],
)
def test_the_first_input_says_the_sizes(kind, args, sizes, weight):
    module = kind(*args)
    names = list(module.state_dict())
    assert module.has_uninitialized_params()
    assert is_lazy(copy.deepcopy(module.weight))
    found = module(dispatch.ones(sizes))
    assert type(module) is kind.cls_to_become
    assert module.weight.shape == weight
    assert list(module.state_dict()) == names
    assert dispatch.equal(module(dispatch.ones(sizes)), found) or module.training


def test_a_state_dict_says_the_sizes_too():
    whole, lazy = modules.Linear(3, 4), modules.LazyLinear(4).double()
    lazy.load_state_dict(whole.state_dict())
    assert type(lazy.weight) is Parameter
    assert lazy.weight.dtype == dispatch.float64
    wanted = whole(dispatch.ones(2, 3)).double()
    assert dispatch.allclose(lazy(dispatch.ones(2, 3).double()), wanted, atol=1e-6)
    assert repr(lazy) == "Linear(in_features=3, out_features=4, bias=True)"
    with pytest.raises(RuntimeError, match="load_state_dict"):
        whole.load_state_dict(modules.LazyLinear(4).state_dict())


def test_wrong_inputs_are_refused():
    with pytest.raises(RuntimeError, match="3D"):
        modules.LazyConv2d(4, 2)(dispatch.ones(2, 2))
    with pytest.raises(ValueError, match="divisible"):
        modules.LazyConv2d(4, 2, groups=2)(dispatch.ones(1, 3, 4, 4))


def test_a_module_of_ones_own_is_asked_once():
    class Mine(LazyModuleMixin, modules.Module):
        def __init__(self, done):
            super().__init__()
            self.weight, self.done, self.asked = UninitializedParameter(), done, []

        def initialize_parameters(self, x, *, scale):
            self.asked.append(scale)
            if self.done:
                self.weight.materialize(x.shape)

        def forward(self, x, *, scale):
            return x * self.weight.numel() * scale

    mine = Mine(True)
    assert mine(dispatch.ones(3), scale=2).tolist() == mine(dispatch.ones(3), scale=2).tolist()
    assert mine.asked == [2]
    with pytest.raises(RuntimeError, match="not been fully initialized"):
        Mine(False)(dispatch.ones(3), scale=1)
    with pytest.raises(NotImplementedError):
        LazyModuleMixin.initialize_parameters(mine)
