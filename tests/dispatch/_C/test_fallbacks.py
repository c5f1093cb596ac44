"""The dispatcher's own fallbacks: versions, views, autograd flags, conjugate and negative bits."""

import subprocess
import sys
import textwrap
import warnings

import pytest

import dispatch
from dispatch import _C, ops
from dispatch._C.arrays import _set_conj, _set_neg
from dispatch.modes import TorchDispatchMode

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


def leaf():
    return dispatch.ones(2, requires_grad=True)


# ---- versions and views


def test_in_place_and_out_bump_the_version():
    x = dispatch.ones(2)
    assert x._version == 0
    A.add_.Tensor(x, 1)
    A.mul.out(dispatch.ones(2), x, out=x)
    assert x._version == 2
    A.add.Tensor(x, 1)
    assert x._version == 2


def resized():
    x = dispatch.ones(4)
    return [x.resize_(sizes)._version for sizes in ([4], [2, 3], [2, 3])]


def reinterpreted():
    x = dispatch.ones(4)
    y = x.view(dispatch.int32)
    y.add_(1)
    versions = [x._version, y._version, y._is_view()]
    x.add_(1)
    return [*versions, y._version]


def listed():
    xs = [dispatch.ones(2), dispatch.ones(3)]
    dispatch._foreach_add_(xs, 1)
    return [x._version for x in xs]


def detached():
    x = leaf().clone()
    y = x.detach()
    y.add_(1)
    return [x._version, y._version, y.requires_grad, y._is_view()]


def viewed_in_inference_mode():
    x = dispatch.ones(4)
    with dispatch.inference_mode():
        y = x.view(2, 2)
    return [y.is_inference(), y._is_view(), y._base is x, y.view(4)._base is x]


def of_inference_mode():
    with dispatch.inference_mode():
        x = dispatch.ones(3)
        x.add_(1)
    y = x.view(3)
    return [y.is_inference(), y._is_view()]


def marked():
    x = leaf()
    made = (dispatch._foreach_add([x], 1)[0], dispatch.cat([dispatch.ones(2), x]),
            dispatch.empty_like(x), x.new_zeros(2))  # fmt: skip
    return [t.requires_grad for t in made]


# name: what PyTorch answers
ANSWERS = {
    resized: [0, 1, 1],
    reinterpreted: [1, 1, False, 2],
    listed: [1, 1],
    detached: [1, 1, False, False],
    viewed_in_inference_mode: [False, True, True, True],
    of_inference_mode: [True, False],
    marked: [True, True, False, False],
}


@pytest.mark.parametrize("program", ANSWERS)
def test_versions_and_marks_are_those_of_pytorch(program):
    assert program() == ANSWERS[program]


def of_many():
    return leaf().clone().split(1)[0]


def of_many_viewed():
    return of_many().view(1)


def of_inference():
    x = leaf().clone()
    with dispatch.inference_mode():
        return x.view(2)


def of_no_grad_viewed():
    x = leaf().clone()
    with dispatch.no_grad():
        y = x.view(2)
    return y.view(2)


def of_many_in_no_grad():
    y = of_many()
    with dispatch.no_grad():
        return y.view(1)


def of_no_grad_split():
    return of_no_grad_viewed().split(1)[0]


@pytest.mark.parametrize(
    ("view", "what"),
    [
        (of_many_in_no_grad, "created in no_grad mode"),
        (of_no_grad_split, "returns several views"),
        (of_many, "returns several views"),
        (of_many_viewed, "returns several views"),
        (of_inference, "created in inference mode and is being modified"),
        (of_no_grad_viewed, "created in no_grad mode"),
    ],
)
def test_views_that_gradients_cannot_follow_are_not_written(view, what):
    x = view()
    with pytest.raises(RuntimeError, match=what):
        x.add_(1)
    with dispatch.no_grad():
        x.add_(1)


class Answers(TorchDispatchMode):
    """Answers every operator with one tensor."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self.answer


def made_in_inference_mode():
    with dispatch.inference_mode():
        return dispatch.ones(2)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (lambda base, x: x, "same as the input base tensor"),
        (lambda base, x: base, "same as the input base tensor"),
        (lambda base, x: dispatch.ones(2).view(2), "is a view already"),
        (lambda base, x: leaf(), "requires grad already"),
        (lambda base, x: made_in_inference_mode(), "is an inference tensor"),
    ],
)
def test_answers_of_view_operators_must_be_new(answer, what):
    base = dispatch.ones(2)
    x = base.view(2)
    with Answers(answer(base, x)), pytest.raises(RuntimeError, match=what):
        A.view.default(x, [2])
    plain = dispatch.ones(2)
    with Answers(plain):
        assert A.view.default(x, [2]) is plain
    assert plain._base is base


def test_failing_write_does_not_bump():
    x = dispatch.ones(2)
    with pytest.raises(RuntimeError):
        A.add_.Tensor(x, dispatch.ones(3))
    assert x._version == 0


def test_views_share_the_version_of_their_base():
    x = dispatch.ones(2, 2)
    v = A.view.default(x, [4])
    w = A.select.int(v, 0, 0)
    A.add_.Tensor(w, 1)
    assert (x._version, v._version, w._version) == (1, 1, 1)
    assert x.tolist() == [[2.0, 1.0], [1.0, 1.0]]


def test_view_of_a_view_has_the_first_base():
    x = dispatch.ones(2, 2)
    w = A.select.int(A.view.default(x, [4]), 0, 0)
    assert w._base is x
    assert w._is_view()
    assert not x._is_view() and x._base is None


def test_every_output_of_a_view_list_is_related():
    x = dispatch.ones(4)
    for part in A.split.Tensor(x, 2):
        assert part._base is x
    for part in A.unbind.int(x):
        assert part._base is x


def test_detach_shares_the_version_and_has_no_base():
    x = dispatch.ones(2)
    d = A.detach.default(x)
    assert d._base is None and not d._is_view()
    A.add_.Tensor(d, 1)
    assert x._version == 1


def test_data_has_a_version_of_its_own():
    x = dispatch.ones(2)
    A.add_.Tensor(x, 1)
    d = x.data
    assert d._version == 0
    A.add_.Tensor(d, 1)
    assert (x._version, d._version) == (1, 1)


def test_below_adinplaceorview_nothing_is_related():
    x = dispatch.ones(2)
    with _C._AutoDispatchBelowADInplaceOrView():
        v = A.view.default(x, [2, 1])
        A.add_.Tensor(x, 1)
    assert v._base is None and x._version == 0


def test_base_lives_as_long_as_its_view():
    v = A.view.default(dispatch.ones(4), [2, 2])
    assert v._base.shape == (4,)
    assert A.add.Tensor(v, 1).tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_inference_tensors_have_no_version_and_no_base():
    with dispatch.inference_mode():
        z = dispatch.ones(2)
        v = A.view.default(z, [2, 1])
        A.add_.Tensor(z, 1)
    assert z.is_inference() and v.is_inference()
    assert v._base is None
    with pytest.raises(RuntimeError, match="version"):
        _ = z._version


def test_views_of_normal_tensors_in_inference_mode_are_related():
    x = dispatch.ones(2)
    with dispatch.inference_mode():
        v = A.view.default(x, [2, 1])
        A.add_.Tensor(x, 1)
    assert v._base is x and not v.is_inference()
    assert x._version == 1


def test_writing_to_an_inference_tensor_outside_of_its_mode_is_refused():
    with dispatch.inference_mode():
        z = dispatch.ones(2)
    with pytest.raises(RuntimeError, match=r"[Ii]nference"):
        A.add_.Tensor(z, 1)
    assert z.tolist() == [1.0, 1.0]
    assert not A.add.Tensor(z, 1).is_inference()


# ---- autograd's flags


def test_outputs_require_grad_when_an_input_does():
    r = A.mul.Tensor(leaf(), 2)
    assert r.requires_grad and not r.is_leaf
    assert r.grad_fn.name() == "MulBackward0"
    assert not A.mul.Tensor(dispatch.ones(2), 2).requires_grad


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("NllLoss", (A.nll_loss_forward.default, (2, 3), dispatch.tensor([0, 1]), None, 1, -100)),
        ("MaxPool2DWithIndices", (A.max_pool2d_with_indices.default, (1, 4, 4), [2])),
        ("Softmax", (A._softmax.default, (2, 3), 0, False)),
    ],
)
def test_backward_functions_have_the_names_of_their_operators(name, args):
    """Words of the name, without "forward", as PyTorch's generator makes them."""
    op, sizes, *rest = args
    found = op(dispatch.ones(sizes, requires_grad=True), *rest)
    first = found[0] if isinstance(found, tuple) else found
    assert first.grad_fn.name() == f"{name}Backward0"


def test_integer_and_boolean_outputs_never_require_grad():
    assert not A.gt.Scalar(leaf(), 0).requires_grad


def test_no_grad_records_nothing():
    with dispatch.no_grad():
        r = A.mul.Tensor(leaf(), 2)
    assert not r.requires_grad and r.grad_fn is None


def test_detach_requires_no_grad():
    assert not A.detach.default(A.mul.Tensor(leaf(), 2)).requires_grad


def test_inputs_in_lists_count(library):
    lib = library("fb", "DEF")
    lib.define("l(Tensor[] x) -> Tensor")
    lib.impl("l", lambda x: A.add.Tensor(x[0], x[1]), "CPU")
    assert ops.fb.l([dispatch.ones(2), leaf()]).requires_grad


def test_backward_says_that_there_is_no_engine():
    r = A.sum.default(leaf())
    with pytest.raises(RuntimeError, match="no autograd engine"):
        r.backward()
    with pytest.raises(RuntimeError, match="no autograd engine"):
        r.grad_fn(1)


def test_write_to_a_leaf_is_refused_and_leaves_it():
    x = leaf()
    with pytest.raises(RuntimeError, match=r"aten::add_\.Tensor: a leaf Variable"):
        A.add_.Tensor(x, 1)
    assert x.tolist() == [1.0, 1.0] and x._version == 0
    with dispatch.no_grad():
        A.add_.Tensor(x, 1)
    assert x.is_leaf and x._version == 1


@pytest.mark.parametrize("out", [lambda: leaf(), lambda: leaf()[:], lambda: leaf() * 2])
def test_results_in_out_are_refused_where_gradients_are_recorded(out):
    t, plain, place = out(), dispatch.ones(2), dispatch.ones((), dtype=dispatch.int64)
    with pytest.raises(RuntimeError, match=r"add\.out: functions with out=\.\.\. arguments"):
        A.add.out(plain, 1, out=t)
    with pytest.raises(RuntimeError, match=r"functions with out=\.\.\. arguments"):
        A.max.dim_max(t, 0, max=dispatch.ones(()), max_values=place)
    assert A.argmax.out(t, out=place).item() == 0
    assert A.eq.Tensor_out(t, plain, out=plain > 3).dtype is dispatch.bool
    with dispatch.no_grad():
        assert A.add.out(plain, 1, out=t) is t


@pytest.mark.parametrize("make", [lambda x: x, lambda x: x[:1], lambda x: x * 2])
def test_what_requires_grad_is_not_resized(make):
    for call in (lambda x: x.resize_(5), lambda x: x.resize_as_(dispatch.ones(3))):
        with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
            call(make(leaf()))


@pytest.mark.parametrize("name", ["logical_not_", "logical_and_", "logical_or_", "logical_xor_"])
def test_what_has_no_derivative_is_written_into_a_leaf(name):
    x = dispatch.ones(2, requires_grad=True)
    assert getattr(x, name)(*[dispatch.ones(2)][name == "logical_not_" :]) is x
    assert x.is_leaf and x.requires_grad and x.grad_fn is None


def test_write_to_a_view_of_a_leaf_is_refused():
    with pytest.raises(RuntimeError, match="leaf"):
        A.add_.Tensor(A.select.int(leaf(), 0, 0), 1)


def test_out_variants_refuse_inputs_that_require_grad():
    with pytest.raises(RuntimeError, match="out"):
        A.add.out(leaf(), 1, out=dispatch.empty(2))


def test_in_place_result_of_a_plain_tensor_requires_grad():
    o = dispatch.zeros(2)
    A.add_.Tensor(o, leaf())
    assert o.requires_grad and o.grad_fn.name() == "AddBackward0"


def test_requires_grad_of_a_result_cannot_be_taken_away():
    r = A.mul.Tensor(leaf(), 2)
    with pytest.raises(RuntimeError, match="leaf"):
        r.requires_grad = False
    with pytest.raises(RuntimeError, match="floating point"):
        dispatch.ones(2, dtype=dispatch.int64).requires_grad_()


def test_custom_operators_pass_requires_grad_on(library):
    lib = library("fb", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: A.mul.Tensor(x, 2), "CompositeExplicitAutograd")
    assert ops.fb.f(leaf()).requires_grad
    with dispatch.no_grad():
        assert not ops.fb.f(leaf()).requires_grad


def test_autograd_kernel_of_a_library_is_used(library):
    lib = library("fb", "DEF")
    lib.define("f(Tensor x) -> str")
    lib.impl("f", lambda x: "autograd", "Autograd")
    lib.impl("f", lambda x: "cpu", "CPU")
    assert ops.fb.f(leaf()) == "autograd"
    assert ops.fb.f(dispatch.ones(1)) == "autograd"
    with _C._AutoDispatchBelowAutograd():
        assert ops.fb.f(leaf()) == "cpu"


# ---- conjugate and negative bits


def conj_tensor():
    x = dispatch.tensor([1 + 2j, 3 - 1j])
    return x, A._conj.default(x)


def test_conjugate_view_shares_memory_and_reads_conjugated():
    x, c = conj_tensor()
    assert c.is_conj() and not x.is_conj()
    assert c._base is x and c.data_ptr() == x.data_ptr()
    assert c.tolist() == [1 - 2j, 3 + 1j]
    assert A._conj.default(c).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("change", "shape"),
    [
        (lambda t: t.squeeze_(0), (2, 1)), (lambda t: t.squeeze_((0, 2)), (2,)),
        (lambda t: t.unsqueeze_(0), (1, 1, 2, 1)), (lambda t: t.transpose_(0, 1), (2, 1, 1)),
        (lambda t: t.as_strided_((1,), (1,)), (1,)), (lambda t: t.resize_(1, 1), (1, 1)),
    ],
)  # fmt: skip
def test_views_in_place_keep_the_bits(change, shape):
    x, c = conj_tensor()
    c = c.view(1, 2, 1)
    n = dispatch._neg_view(x.real.clone()).view(1, 2, 1)
    assert change(c) is c and c.shape == shape and c.is_conj()
    assert c.flatten()[0].item() == x[0].item().conjugate()
    assert change(n) is n and n.shape == shape and n.is_neg()
    assert n.flatten()[0].item() == -x[0].item().real


def test_operators_see_conjugated_values():
    _x, c = conj_tensor()
    r = A.mul.Tensor(c, 2)
    assert not r.is_conj() and r.tolist() == [2 - 4j, 6 + 2j]
    r = A.add.Tensor(c, c)
    assert r.tolist() == [2 - 4j, 6 + 2j]


def test_views_of_a_conjugated_tensor_keep_the_bit():
    _x, c = conj_tensor()
    v = A.select.int(c, 0, 0)
    assert v.is_conj() and v.item() == 1 - 2j


def test_an_output_with_the_bit_is_resized_and_returned_itself():
    out = dispatch._neg_view(dispatch.empty(0))
    assert dispatch.sin(dispatch.zeros(3), out=out) is out and out.tolist() == [0, 0, 0]
    places = dispatch.empty(0, dtype=dispatch.int64)
    values = dispatch._neg_view(dispatch.empty(0))
    found = A.max.dim_max(dispatch.ones(2, 3), 1, max=values, max_values=places)
    assert found[0] is values and found[1] is places and values.tolist() == [1, 1]


def test_in_place_on_a_conjugated_view_writes_the_base():
    x, c = conj_tensor()
    assert A.mul_.Tensor(c, 1j) is c
    assert c.tolist() == [2 + 1j, -1 + 3j]
    assert x.tolist() == [2 - 1j, -1 - 3j]


def test_resolving_and_cloning_materialise():
    _x, c = conj_tensor()
    for r in (A.resolve_conj.default(c), A.clone.default(c)):
        assert not r.is_conj() and r.tolist() == [1 - 2j, 3 + 1j]
    plain = dispatch.ones(2)
    assert A.resolve_conj.default(plain) is plain


@pytest.mark.parametrize("name", ["conj_physical", "_conj_physical", "conj_physical_"])
@pytest.mark.parametrize("kind", ["conjugated", "negated", "both"])
def test_physical_conjugates_of_tensors_with_bits(name, kind):
    plain = dispatch.tensor([1 + 2j, 3 - 1j])
    x = plain.clone() if kind == "negated" else A._conj.default(dispatch.tensor([1 - 2j, 3 + 1j]))
    x = x if kind == "conjugated" else A._neg_view.default(A._neg_view.default(x).clone())
    assert x.tolist() == plain.tolist()
    r = getattr(A, name).default(x)
    assert r.tolist() == [1 - 2j, 3 + 1j]
    assert (r is x) == name.endswith("_")


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_outputs_with_bits_are_resized_and_hold_the_values(size):
    negated = A._neg_view.default(dispatch.zeros(size))
    conjugated = A._conj.default(dispatch.zeros(size, dtype=dispatch.complex64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert A.add.out(dispatch.ones(2), 1, out=negated) is negated
        A.amax.out(dispatch.ones(2), [0], out=(empty := A._neg_view.default(dispatch.zeros(0))))
        dispatch.fft.ifft(dispatch.tensor([1.0, 3.0]), out=conjugated)
    assert negated.is_neg() and negated.tolist() == [2.0, 2.0]
    assert empty.shape == () and empty.item() == 1.0
    assert conjugated.is_conj() and conjugated.tolist() == [2, -1]


def test_negative_bit():
    x = dispatch.tensor([1.0, -2.0])
    n = A._neg_view.default(x)
    assert n.is_neg() and n.tolist() == [-1.0, 2.0]
    assert A.add.Tensor(n, 1).tolist() == [0.0, 3.0]
    assert A.resolve_neg.default(n).tolist() == [-1.0, 2.0]
    A.add_.Tensor(n, 1)
    assert x.tolist() == [0.0, -3.0]


def test_bits_can_be_set_by_hand():
    x = dispatch.tensor([1 + 1j])
    _set_conj(x, True)
    assert x.is_conj() and x.tolist() == [1 - 1j]
    _set_conj(x, False)
    _set_neg(x, True)
    assert x.is_neg() and x.tolist() == [-1 - 1j]
    _set_neg(x, False)
    assert x.tolist() == [1 + 1j]


# ---- the others


def test_meta_tensors_without_a_meta_kernel(library):
    lib = library("fb", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x, "CPU")
    with pytest.raises(NotImplementedError, match=r"fb::f.*Meta"):
        ops.fb.f(dispatch.ones(1, device="meta"))


def test_transform_keys_refuse():
    x = dispatch.ones(1)
    with (
        _C._IncludeDispatchKeyGuard("FuncTorchDynamicLayerFrontMode"),
        pytest.raises(NotImplementedError, match=r"aten::relu.*FuncTorchDynamicLayerFrontMode"),
    ):
        A.relu.default(x)


def negative(*values):
    return A._neg_view.default(dispatch.tensor([-v for v in values]))


def test_lists_written_in_place_see_the_bits():
    first, second = dispatch.tensor([1 + 1j]), conj_tensor()[1]
    kept = second.resolve_conj().clone()
    assert A._foreach_mul_.Scalar([first, second], 2j) is None
    assert first.tolist() == [-2 + 2j]
    assert second.is_conj() and second.tolist() == (kept * 2j).tolist()
    mine = [negative(1.0, 4.0), dispatch.tensor([9.0])]
    A._foreach_sqrt_.default(mine)
    assert [t.tolist() for t in mine] == [[1.0, 2.0], [3.0]]
    assert mine[0].is_neg() and not mine[1].is_neg()


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_lists_of_negated_tensors_compute_as_plain_ones(name):
    plain, negated = [dispatch.tensor([1.0, 2.0])], [negative(1.0, 2.0)]
    for mine in (plain, negated):
        getattr(A, f"_foreach_{name}_").List(mine, [dispatch.tensor([3.0, 5.0])])
        getattr(A, f"_foreach_{name}_").List([dispatch.ones(2)], mine)
    assert plain[0].tolist() == negated[0].tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda x=dispatch.ones(2): A.add_.Tensor(x, 0),
        lambda x=dispatch.ones(2): A.view.default(A.view.default(x, [2, 1]), [1, 2]),
        lambda x=dispatch.ones(4): A.split.Tensor(x, 2),
        lambda x=leaf(): A.mul.Tensor(x, 2),
        lambda x=conj_tensor()[1]: A.mul.Tensor(x, 2),
        lambda x=conj_tensor()[1]: A.mul_.Tensor(x, 1),
    ],
)
def test_fallbacks_leave_no_references(grown_blocks, call):
    assert grown_blocks(call) < 200


def test_a_loader_that_loads_nothing_is_refused():
    program = """
        import dispatch
        from dispatch._C import fallbacks

        def load():
            try:
                op.redispatch(keys, x)
            except RecursionError:
                pass

        fallbacks._set_functionalize_loader(load)
        x, op = dispatch.ones(1), dispatch.ops.aten.sin.default
        keys = dispatch._C.DispatchKeySet(dispatch._C.DispatchKey.Functionalize)
        try:
            op.redispatch(keys, x)
        except RuntimeError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True
    )
    assert "functionalization was not loaded" in done.stdout, done.stderr


def test_a_view_has_another_node_once_its_base_was_written_to():
    base = dispatch.ones(3, requires_grad=True) * 2
    view = base[:2]
    node = view.grad_fn
    assert view.grad_fn is node
    base.mul_(2)
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert view.grad_fn is not node


def test_a_detached_tensor_has_forgotten_all_of_autograd():
    base = dispatch.ones(3, requires_grad=True)
    for made in (base * 2, dispatch.ones(3).requires_grad_()):
        made.detach_()
        assert (made.requires_grad, made.grad_fn, made._base) == (False, None, None)
        assert not (made + 1).requires_grad


def test_decompositions_run_above_autograd_and_kernels_below():
    x = dispatch.ones(2, 2, requires_grad=True)
    assert ops.aten.matmul(x, x).grad_fn.name() == "MmBackward0"
    assert ops.aten.mm(x, x).grad_fn.name() == "MmBackward0"


class DetachesAs(TorchDispatchMode):
    def __init__(self, make):
        super().__init__()
        self.make = make

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is not A.detach.default:
            return func(*args, **(kwargs or {}))
        with dispatch.enable_grad():
            return self.make()


@pytest.mark.parametrize("make", [leaf, of_many, of_no_grad_viewed])
def test_a_handlers_answer_to_detach_has_no_history_left(make):
    with DetachesAs(make):
        y = dispatch.ones(2).detach()
    assert not y.requires_grad and not y._is_view()
    y.mul_(leaf().sum())
    y.view(-1).mul_(2)  # none of its views has a mark


def test_a_node_has_a_class_of_its_name_and_one_call_one_node():
    x = dispatch.ones(4, requires_grad=True)
    first, second = x.split(2)
    assert first.grad_fn is second.grad_fn
    assert type(first.grad_fn).__name__ == "SplitBackward0"
    assert type((x * 2).grad_fn) is type((x * 3).grad_fn)
    assert isinstance(x.exp().grad_fn, type(first.grad_fn).__mro__[1])
    assert repr((x * 2).grad_fn).startswith("<MulBackward0 object at 0x")


def test_a_view_that_was_written_to_views_what_its_base_became():
    base = dispatch.ones(4, requires_grad=True) * 2
    view = base[:2]
    view.mul_(3)
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert view.grad_fn.name() == "AsStridedBackward0"


def test_a_resize_that_is_refused_is_seen_by_no_mode():
    seen = []

    class Sees(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with Sees():
        x = dispatch.ones(3).requires_grad_()
        for resize in (lambda: x.resize_(1), lambda: x.resize_as_(dispatch.ones(2))):
            with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
                resize()
    assert {f.name() for f in seen} == {"aten::ones"}


@pytest.mark.parametrize("requires_grad", [True, False])
def test_a_view_is_not_detached_in_place(requires_grad):
    view = (dispatch.ones(2, requires_grad=requires_grad) * 1).view(2, 1)
    with pytest.raises(RuntimeError, match=r"aten::detach_: a view cannot be detached in place"):
        view.detach_()
    assert view.requires_grad is requires_grad and view._base is not None
