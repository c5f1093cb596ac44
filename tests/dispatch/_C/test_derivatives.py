"""What programs see of derivatives: names, outputs, what may not be kept or followed."""

import pytest

import dispatch
from dispatch._C.derivatives import backward_name
from dispatch.as_torch.autograd import increment_version

A = dispatch.ops.aten


def leaf(*sizes):
    return dispatch.ones(*(sizes or (2, 2)), requires_grad=True)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda x: x + x, "AddBackward0"),
        (lambda x: A.add.Scalar(x, 1), "AddBackward1"),
        (lambda x: A.div.Tensor_mode(x, x, rounding_mode="floor"), "DivBackward2"),
        (lambda x: x.max(), "MaxBackward1"),
        (lambda x: (x * 1).unsqueeze_(0), "UnsqueezeBackward1"),
        (lambda x: A.diagonal_copy(x), "DiagonalBackward0_copy"),
        (lambda x: x.index_copy(0, dispatch.tensor([0]), x[:1]), "IndexCopyBackward0"),
        (lambda x: x // 2, "torch::autograd::NotImplemented"),
        (lambda x: dispatch.zeros(2, 2).copy_(x), "torch::autograd::CopyBackwards"),
        (lambda x: dispatch._foreach_add([x], 1)[0], "ForeachAddBackward1Scalar"),
    ],
)
def test_a_node_has_the_name_of_its_derivative(call, name):
    node = call(leaf()).grad_fn
    assert node.name() == name
    assert type(node).__name__ == name.rpartition(":")[2]
    assert repr(node).startswith(f"<{type(node).__name__} object at")


def test_names_are_made_of_the_operator():
    assert backward_name("nll_loss2d_forward") == "NllLoss2DBackward0"
    assert backward_name("_to_copy") == "ToCopyBackward0"
    assert backward_name("_foreach_add_.Scalar") == "AddBackward1"


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("_foreach_add.List", "ForeachAddBackward0List"),
        ("_foreach_mul.ScalarList", "ForeachMulBackward1ScalarList"),
        ("_foreach_lerp_.List", "LerpBackward1"),
        ("_foreach_pow.Scalar", "ForeachPowBackward0Scalar"),
        ("_foreach_pow_.List", "PowBackward1"),
        ("_foreach_pow.ScalarList", "ForeachPowBackward1"),
        ("_foreach_div.List", "ForeachDivBackward0"),
        ("_foreach_max", "ForeachMaxBackward1"),
        ("_foreach_maximum_.Scalar", "torch::autograd::NotImplemented"),
        ("special_zeta.other_scalar", "SpecialZetaBackward2"),
        ("div.Scalar_mode", "DivBackward3"),
    ],
)
def test_overloads_of_lists_are_named_by_the_overload_of_their_element(name, made):
    assert backward_name(name) == made


@pytest.mark.parametrize(
    ("call", "followed"),
    [
        (lambda x: A.native_layer_norm(x, [2], None, None, 1e-5), [True, False, False]),
        (lambda x: A.log_sigmoid_forward(x), [True, False]),
        (lambda x: A.nll_loss_forward(x, dispatch.tensor([0, 1]), None, 1, -100), [True, False]),
        (lambda x: A.linalg_lu(x), [False, True, True]),
        (lambda x: A._linalg_solve_ex(x, x)[:3], [True, False, False]),
        (lambda x: A.native_group_norm(x[None], None, None, 1, 2, 2, 1, 1e-5), [True] * 3),
    ],
)
def test_results_that_gradients_do_not_reach(call, followed):
    assert [t.requires_grad for t in call(dispatch.eye(2).requires_grad_())] == followed


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda x: A.nll_loss_forward(dispatch.ones(2, 2), dispatch.tensor([0, 1]), x[0], 1, -100),
         "weight"),
        (lambda x: A.soft_margin_loss(dispatch.ones(2, 2), x), "target"),
        (lambda x: A.native_batch_norm(dispatch.ones(2, 2), None, None, x[0], x[0], True, 0, 1e-5),
         "running_mean"),
    ],
)  # fmt: skip
def test_arguments_without_a_derivative_are_refused(call, argument):
    with pytest.raises(RuntimeError, match=f"not differentiable .* argument '{argument}'"):
        call(leaf())
    with dispatch.no_grad():
        call(leaf())


def test_lists_that_are_written_are_outputs_and_leaves_among_them_are_refused():
    x = leaf()
    with pytest.raises(RuntimeError, match="a leaf Variable"):
        dispatch._foreach_add_([x], 1)
    assert x.tolist() == [[1, 1], [1, 1]]
    y = dispatch.ones(2)
    dispatch._foreach_mul_([y], [leaf(2)])
    assert y.grad_fn.name() == "MulBackward0"
    one, two = leaf(2) * 1, dispatch.ones(2)
    dispatch._foreach_exp_([one, two])
    assert one.grad_fn.name() == "ExpBackward0" and not two.requires_grad
    dispatch._foreach_lerp_([two, dispatch.ones(2)], [one, two.clone()], 0.5)
    assert two.grad_fn.name() == "LerpBackward0"


def test_a_view_that_is_written_is_made_anew():
    base = dispatch.ones(4)
    view = base[:2]
    view.mul_(leaf(2))
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert view.grad_fn.name() == "AsStridedBackward0"


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: x * i,
        lambda x, i: i * x,
        lambda x, i: x @ i,
        lambda x, i: A.linear(i, x),
        lambda x, i: (x * 1).mul_(i),
    ],
)
def test_what_inference_mode_made_is_not_kept(call):
    with dispatch.inference_mode():
        made = dispatch.ones(2, 2)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        call(leaf(), made)


@pytest.mark.parametrize("call", [lambda x, m: dispatch.where(m, x, x), lambda x, m: x[m]])
def test_nor_is_a_mask_of_it(call):
    with dispatch.inference_mode():
        mask = dispatch.ones(2, 2, dtype=dispatch.bool)
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        call(leaf(), mask)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: x + i,
        lambda x, i: dispatch.cat([x, i]),
        lambda x, i: dispatch.zeros(2, 2).copy_(i) + x,
        lambda x, i: A.addmm(x, i, i),
        lambda x, i: A.div(i, 2) + x,
    ],
)
def test_what_no_derivative_keeps_may_be_of_inference_mode(call):
    with dispatch.inference_mode():
        made = dispatch.ones(2, 2)
    assert call(leaf(), made).requires_grad


def test_a_view_whose_derivative_is_unknown_is_not_read():
    base = leaf(4) * 1
    first, _ = base.split(2)
    base.add_(1)
    for call in (
        lambda: first + 1,
        first.sum,
        lambda: dispatch.cat([first]),
        lambda: first.view(2),
    ):
        with pytest.raises(RuntimeError, match="no gradient is known"):
            call()
    assert first.detach().tolist() == [2, 2] and (first > 0).all()
    assert repr(first).endswith("grad_fn=<Invalid>)")


def test_detach_in_place_is_seen_by_nobody_and_does_nothing_in_inference_mode():
    x = leaf()
    with dispatch.inference_mode():
        assert x.detach_().requires_grad
    assert not x.detach_().requires_grad


def test_inference_mode_resizes_what_requires_grad():
    x = leaf()
    with dispatch.inference_mode():
        assert x.resize_(1).shape == (1,)
    with pytest.raises(RuntimeError, match="cannot resize"):
        x.resize_(2)


def test_versions_may_be_counted_by_hand_and_python_loops_do_not_count():
    x = dispatch.ones(2)
    increment_version(x)
    increment_version([x, x])
    assert x._version == 3
    x.apply_(lambda v: v + 1)
    assert x._version == 3 and x.tolist() == [2, 2]


class Logging(dispatch.modes.TorchDispatchMode):
    """Notes the names of operators."""

    def __init__(self):
        super().__init__()
        self.log = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.log.append(func._overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        (lambda x: x.exp(), ["exp", "detach"]),
        (lambda x: (x * 1).relu_(), ["mul", "relu_", "detach"]),
        (lambda x: dispatch.linalg.svd(x), ["_linalg_svd", "detach", "detach", "detach"]),
        (lambda x: x.max(0), ["max"]),
        (lambda x: x.max(), ["max", "detach"]),
        (lambda x: x.sin(), ["sin"]),
        (lambda x: x.detach().exp(), ["detach", "exp"]),
        (lambda x: x.aminmax(), ["aminmax", "detach", "detach"]),
        (lambda x: A.pow(x, x.detach()), ["detach", "pow", "detach"]),
        (lambda x: (x * 1).pow_(2), ["mul", "clone", "pow_"]),
        (lambda x: (x * 1).sin_(), ["mul", "clone", "sin_"]),
        (lambda x: (x * 1).mul_(3), ["mul", "mul_"]),
        (lambda x: (x * 1).mul_(x), ["mul", "clone", "mul_"]),
        (lambda x: dispatch._foreach_exp([x, x]), ["_foreach_exp", "detach", "detach"]),
        (lambda x: dispatch._foreach_tanh_([x * 1]), ["mul", "_foreach_tanh_", "detach"]),
        (lambda x: dispatch._foreach_mul_([x * 1, dispatch.ones(2, 2)], [dispatch.ones(2), x]),
         ["mul", "ones", "ones", "clone", "_foreach_mul_"]),
    ],
)
def test_a_mode_sees_that_results_are_kept_for_derivatives(call, seen):
    x = dispatch.ones(2, 2, requires_grad=True)
    with Logging() as mode:
        call(x)
    assert mode.log == seen
    with Logging() as mode, dispatch.no_grad():
        call(x)
    kept = ("detach", "clone")
    assert [n for n in mode.log if n not in kept] == [n for n in seen if n not in kept]
    assert mode.log.count("detach") == (seen[0] == "detach") and "clone" not in mode.log


def test_a_kept_result_and_data_are_detached_with_their_class_among_the_types():
    seen = []

    class Types(Logging):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((func._overloadpacket.__name__, types))
            return super().__torch_dispatch__(func, types, args, kwargs)

    x = leaf()
    with Types():
        x.exp()
        x.data  # noqa: B018
        x.detach()
    plain = (dispatch.Tensor,)
    assert seen == [("exp", ()), ("detach", plain), ("detach", plain), ("detach", ())]


def test_a_subclass_sees_that_results_are_kept_and_a_fake_tensor_does_not():
    seen = []

    class Seeing(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            seen.append(func._overloadpacket.__name__)
            return dispatch.zeros(2).as_subclass(cls)

    x = dispatch.Tensor._make_wrapper_subclass(Seeing, (2,), requires_grad=True)
    x.exp()
    assert seen == ["exp", "detach"]
    fake = dispatch.FakeTensorMode()
    y = fake.from_tensor(dispatch.ones(2, requires_grad=True))
    assert y.exp().requires_grad
    with fake:
        assert y.exp().requires_grad
    assert fake.cache_info().misses + fake.cache_info().hits == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: A.clone.out(x, out=out),
        lambda x, out: A.add.Scalar_out(x, 1, out=out),
        lambda x, out: A.heaviside.out(x, x, out=out),
    ],
)
def test_an_out_variant_without_a_derivative_marks_what_it_writes(call):
    out = call(leaf(), dispatch.zeros(2, 2))
    assert out.grad_fn.name() == "torch::autograd::NotImplemented"
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        call(dispatch.ones(2, 2), leaf())


@pytest.mark.parametrize(
    "call",
    [
        lambda x, out: A.histc.out(x, 2, out=out),
        lambda x, out: A.eq.Tensor_out(x, x, out=out),
        lambda x, out: A._foreach_abs.out([x], out=[out]),
        lambda x, out: A.split_with_sizes_copy.out(x, [2], out=[out]),
    ],
)
def test_an_out_variant_that_gradients_do_not_reach_leaves_leaves(call):
    out = dispatch.zeros(2)
    call(leaf(2), out)
    assert not out.requires_grad
    out = leaf(2)
    call(leaf(2), out)
    assert out.is_leaf and out.requires_grad


def test_an_out_variant_with_a_derivative_is_refused():
    for x, out in ((leaf(), dispatch.zeros(2, 2)), (dispatch.ones(2, 2), leaf())):
        with pytest.raises(RuntimeError, match=r"abs\.out.*automatic differentiation"):
            A.abs.out(x, out=out)
