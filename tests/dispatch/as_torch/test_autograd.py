"""`torch.autograd` without an engine, modules called with other tensors, marks for compilers."""

import pytest

import dispatch
from dispatch.as_torch import autograd, markers, tensorlists
from dispatch.as_torch.nn.modules import Linear, Sequential
from dispatch.as_torch.nn.stateless import _reparametrize_module, functional_call


class Scaled(autograd.Function):
    @staticmethod
    def forward(ctx, x, y, k=2):
        assert not dispatch.is_grad_enabled()
        ctx.save_for_backward(x, y)
        ctx.k = k
        return x * y * k

    @staticmethod
    @autograd.once_differentiable
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * ctx.k, g * x * ctx.k, None


class Same(autograd.Function):
    """Gives its argument, a number, a copy that has no gradient; `ctx` is filled apart."""

    @staticmethod
    def forward(x):
        return x, 3, x.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_non_differentiable(output[2])
        ctx.inputs = inputs


class Written(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)


def test_a_function_computes_and_keeps_its_formula():
    x, y = dispatch.ones(2, requires_grad=True), dispatch.full((2,), 3.0)
    found = Scaled.apply(x, y, 4)
    assert (found.tolist(), found.requires_grad, found.is_leaf) == ([12, 12], True, False)
    node = found.grad_fn
    assert (node.name(), node.needs_input_grad) == ("ScaledBackward", (True, False, False))
    assert [g if g is None else g.tolist() for g in node.apply(y)] == [[36, 36], [12, 12], None]
    assert not Scaled.apply(y, y).requires_grad
    with dispatch.no_grad():
        assert not Scaled.apply(x, y).requires_grad


def test_arguments_come_back_as_views_unless_they_were_written():
    x = dispatch.ones(2, requires_grad=True)
    same, number, copy = Same.apply(x)
    assert same is not x and same._is_view() and same.requires_grad
    assert (number, copy.requires_grad, same.grad_fn.inputs) == (3, False, (x,))
    z = dispatch.ones(2)
    assert Written.apply(z) is z and z.tolist() == [2, 2]


def test_what_a_function_does_not_define():
    x = dispatch.ones(2, requires_grad=True)
    for call in (lambda: autograd.Function.apply(x), lambda: Written.backward(None, x)):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(NotImplementedError):
        autograd.Function.setup_context(None, (), x)


def test_a_module_is_called_with_other_tensors():
    module = Sequential(Linear(2, 2), Linear(2, 1))
    own = dict(module.named_parameters())
    other = {"0.weight": dispatch.eye(2), "0.bias": dispatch.zeros(2), "1.bias": dispatch.ones(1)}
    ones = {"1.weight": dispatch.ones(1, 2), "unknown": dispatch.ones(1)}
    assert functional_call(module, (other, ones), dispatch.ones(1, 2)).tolist() == [[3.0]]
    assert all(p is own[name] for name, p in module.named_parameters())
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'unknown'.\s+Missing"):
        functional_call(module, ones, dispatch.ones(1, 2), strict=True)
    with pytest.raises(ValueError, match="more than once"):
        functional_call(module, (ones, ones), dispatch.ones(1, 2))
    with pytest.raises(RuntimeError):
        functional_call(module, {"0.weight": dispatch.ones(3, 3)}, (dispatch.ones(1, 2),))
    assert module[0].weight is own["0.weight"]


def test_tied_weights_stay_tied():
    module = Sequential(Linear(2, 2, bias=False), Linear(2, 2, bias=False))
    module[1].weight = module[0].weight
    x, twice = dispatch.ones(1, 2), 2 * dispatch.eye(2)
    assert functional_call(module, {"0.weight": twice}, x).tolist() == [[4, 4]]
    first = functional_call(module, {"0.weight": twice}, x, tie_weights=False)
    assert first.equal(module[1](2 * x))
    with pytest.raises(ValueError, match="one tensor"):
        functional_call(module, {"0.weight": twice, "1.weight": dispatch.eye(2)}, x)


def test_a_module_inside_of_itself_is_called_with_other_tensors():
    module = Sequential(Linear(1, 1, bias=False))
    module[0].again = module
    given = {"0.again.0.weight": dispatch.tensor([[3.0]])}
    x = dispatch.ones(1, 1)
    module[0].weight.data.fill_(1.0)
    assert functional_call(module, given, x, tie_weights=False).tolist() == [[3.0]]
    assert module[0].weight.tolist() == [[1.0]]
    with pytest.raises(TypeError, match="3 is not an instance of"):
        functional_call(module, {"0.weight": 3}, x, tie_weights=False)


def test_what_a_module_puts_in_a_tensors_place_is_written_to_the_dict():
    module = Linear(1, 1)
    own, other, last = module.weight, dispatch.ones(1, 1), dispatch.zeros(1, 1)
    given = {"weight": other, "unknown": last}
    with _reparametrize_module(module, given):
        assert module.weight is other
        module._parameters["weight"] = last
    assert module.weight is own and given["weight"] is last
    with pytest.raises(RuntimeError, match="Unexpected key"), _reparametrize_module(
        module, given, strict=True
    ):
        pass


def test_marks_for_compilers_change_nothing():
    def f():
        return 3

    for mark in (markers.disable, markers.allow_in_graph, markers.assume_constant_result):
        assert mark(f) is f and mark(recursive=False)(f) is f
    assert markers.is_compiling() is markers.is_exporting() is False


@tensorlists.supports_tensorlist
class Listed(autograd.Function):
    """Takes a list, a number and a tensor; gives a list and a tensor."""

    returned = None

    @staticmethod
    def forward(ctx, xs, k, y):
        ctx.k, ctx.counted = k, len(xs)
        return [x * k for x in xs], y + 1

    @staticmethod
    def backward(ctx, gs, gy):
        ctx.needed = ctx.needs_input_grad
        return Listed.returned or ([g * ctx.k for g in gs], None, gy)


def test_lists_of_tensors_are_followed_one_by_one(monkeypatch):
    xs = [dispatch.ones(2, requires_grad=True), dispatch.ones(2)]
    ys, y = Listed.apply(xs, 3, dispatch.zeros(1))
    assert isinstance(ys, list) and [t.tolist() for t in ys] == [[3.0, 3.0]] * 2
    node = ys[1].grad_fn
    assert node is y.grad_fn and node.counted == 2
    one = dispatch.ones(1)
    *grads, gk, gy, last = node.apply(one, one, one)
    assert [g.tolist() for g in grads] == [[3.0]] * 2
    assert (gk, gy, last) == (None, one, None)
    assert node.needed == ([True, False], False, False)
    assert node.needs_input_grad == (True, False, False, False, False)
    monkeypatch.setattr(Listed, "returned", (one, None, one))
    with pytest.raises(RuntimeError, match="of the same structure as the inputs"):
        node.apply(one, one, one)
    monkeypatch.setattr(Listed, "returned", ([None, one], None, one))
    assert node.apply(one, one, one) == (None, one, None, one, None)


def test_a_mixed_list_is_no_list_of_tensors():
    ys, y = Listed.apply([2, dispatch.ones(1, requires_grad=True)], 2, dispatch.ones(1))
    assert (ys[0], y.requires_grad) == (4, False)


def test_methods_of_a_function_of_lists_are_not_called_directly():
    for method, name in ((Listed.forward, "forward"), (Listed.backward, "backward")):
        with pytest.raises(NotImplementedError, match=rf"Function\.{name} directly"):
            method(autograd.FunctionCtx(), dispatch.ones(1))

    @tensorlists.supports_tensorlist
    class Spoiled(autograd.Function):
        @staticmethod
        def forward(ctx, xs):
            ctx._pt_metadata = 1
            return xs[0] * 2

    with pytest.raises(RuntimeError, match="_pt_metadata"):
        Spoiled.apply([dispatch.ones(1)])


def test_a_function_of_lists_gives_one_value_or_calls_itself():
    @tensorlists.supports_tensorlist
    class Last(autograd.Function):
        @staticmethod
        def forward(ctx, xs):
            return Last.apply(xs[1:]) if len(xs) > 1 else xs[0] * 2

    assert Last.apply([dispatch.ones(1), dispatch.zeros(1), dispatch.ones(1) * 3]).item() == 6
