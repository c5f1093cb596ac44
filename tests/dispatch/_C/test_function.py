"""Functions and methods: which overload a call chooses, and what it gives back."""

import pickle
import warnings

import numpy
import pytest

import dispatch
from dispatch._C.advice import set_warn_always
from dispatch.modes import TorchDispatchMode, TorchFunctionMode


class Names(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def seen_by(call):
    with Names() as mode:
        call()
    return mode.seen


X = dispatch.tensor([[1.0, 2.0], [4.0, 3.0]])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: X.std(), "aten.std.correction"),
        (lambda: X.add(1), "aten.add.Tensor"),
        (lambda: dispatch.add(X, 1), "aten.add.Tensor"),
        (lambda: X.max(1), "aten.max.dim"),
        (lambda: X.clamp(0), "aten.clamp.default"),
        (lambda: X.masked_fill(X > 1, 0), "aten.masked_fill.Scalar"),
        (lambda: X.masked_fill(X > 1, dispatch.tensor(0.0)), "aten.masked_fill.Tensor"),
    ],
)
def test_overloads_are_tried_in_the_order_of_pytorch(call, name):
    assert seen_by(call)[-1] == name


def test_a_number_of_a_tensor_is_read_once():
    assert seen_by(lambda: dispatch.full((2,), dispatch.tensor(2.0))) == [
        "aten.lift_fresh.default",
        "aten._local_scalar_dense.default",
        "aten.full.default",
    ]


def test_generated_overloads_are_no_functions():
    with pytest.raises(TypeError, match="aten::sum"):
        dispatch.sum(X, out=dispatch.empty(0))
    with pytest.raises(TypeError, match="aten::empty_like"):
        dispatch.empty_like(X, out=dispatch.empty(0))


def test_self_is_where_the_schema_has_it():
    condition, other = X > 1, dispatch.zeros(2, 2)
    expected = dispatch.where(condition, X, other)
    assert X.where(condition, other).equal(expected)
    assert X.where(condition=condition, other=other).equal(expected)
    assert X.where(condition, other=other).equal(expected)
    with pytest.raises(TypeError):
        X.where(condition)


def test_numbers_before_tensors_are_deprecated():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert dispatch.add(X, 2, X).equal(X * 3)
        assert X.addmm(2, X, X).equal(X.addmm(X, X, beta=2))
        assert dispatch.addmm(2, X, 3, X, X).equal(X.addmm(X, X, beta=2, alpha=3))
    with pytest.raises(TypeError, match="aten::add"):
        dispatch.add(X, 2, X, X)


def test_numbers_before_tensors_are_told_each_time_when_that_is_asked():
    set_warn_always(True)
    try:
        for _ in range(2):
            with pytest.warns(UserWarning, match="This overload of addcdiv is deprecated"):
                assert X.addcdiv(2, X, X).equal(X + 2)
    finally:
        set_warn_always(False)


def test_requires_grad_is_a_bool():
    assert dispatch.ones(2, requires_grad=True).requires_grad
    assert not dispatch.ones(2, requires_grad=None).requires_grad
    with pytest.raises(TypeError):
        dispatch.ones(2, requires_grad=1)


def test_named_results_are_struct_sequences():
    found = X.max(1)
    assert type(found) is dispatch.return_types.max
    assert (found.values is found[0], found.indices is found[1]) == (True, True)
    assert (type(found).n_fields, type(found).__match_args__) == (2, ("values", "indices"))
    assert repr(found).startswith("dispatch.return_types.max(\nvalues=tensor([2., 4.]),\n")
    assert type(pickle.loads(pickle.dumps(found))) is type(found)
    with pytest.raises(TypeError):
        dispatch.return_types.max((1,))


def test_a_list_among_several_results_is_a_tuple_of_functions_alone():
    assert type(dispatch.histogramdd(X, [2, 2]).bin_edges) is tuple
    assert type(dispatch.ops.aten.histogramdd(X, [2, 2])[1]) is list


def test_out_names_the_class_only_when_given():
    out = (dispatch.empty(0), dispatch.empty(0, dtype=dispatch.int64))
    assert type(dispatch.max(X, 1, out=out)).__name__ == "max_out"
    assert type(dispatch.max(X, 1, out=None)).__name__ == "max"


def test_a_function_in_a_class_is_given_no_instance():
    """As PyTorch's, which are built in; methods of Tensor are."""

    class Layer:
        plus, complex_ = dispatch.add, dispatch.is_complex

        def run(self, x):
            return self.plus(x, x), self.complex_(x)

    for _ in range(20):             # an interpreter that specialises calls does it after some
        total, is_complex = Layer().run(X)
        assert dispatch.equal(total, 2 * X) and is_complex is False
        assert dispatch.equal(X.add(X), total) and X.is_complex() is False
    assert Layer.plus is dispatch.add


def test_copies_of_views_have_an_out():
    """PyTorch binds what it generates of `view_copy`, and nothing else that it generates."""
    out = dispatch.empty(0)
    assert dispatch.permute_copy(dispatch.ones(2, 1), (1, 0), out=out) is out
    assert out.shape == (1, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda **options: dispatch.zeros(2, **options),
        lambda **options: dispatch.arange(3, **options),
        lambda **options: dispatch.full((2,), 1, **options),
        lambda **options: dispatch.randn((2,), **options, generator=None),
    ],
)
def test_options_beside_out_say_what_it_is(call):
    out = dispatch.empty(0)
    same = {"dtype": dispatch.float32, "device": "cpu", "layout": None, "pin_memory": False}
    assert call(out=out, **same) is out
    for wrong in ({"dtype": dispatch.int64}, {"device": "meta"}):
        with pytest.raises(RuntimeError, match=next(iter(wrong))):
            call(out=out, **wrong)
    with pytest.raises(TypeError, match="dtype"):
        call(out=out, dtype="float")


def test_none_stands_for_the_empty_default_of_functions():
    """PyTorch's functions declare `int[] dim=[]` as `dim=None`; its operators do not."""
    x = dispatch.ones(1, 2, 4)
    assert x.amax(None) == dispatch.amax(x, dim=None) == 1
    assert dispatch.avg_pool1d(x, 2, None).shape == (1, 2, 2)
    with pytest.raises(RuntimeError, match="dim"):
        dispatch.ops.aten.amax(x, None)
    with pytest.raises(TypeError, match="dims"):
        x.permute(None)


def test_methods_have_texts_of_their_own():
    methods = [getattr(dispatch.Tensor, name) for name in dir(dispatch.Tensor)]
    kinds = {type(method) for method in methods if type(method).__name__.endswith("Method")}
    assert len(kinds) == 2
    texts = [str(m.__doc__) for m in methods if type(m) in kinds]
    assert not [text for text in texts if text.startswith("A method")]
    assert dispatch.Tensor.tolist.__doc__ == dispatch.Tensor.tolist.__wrapped__.__doc__
    assert dispatch.Tensor.add.__doc__.startswith("aten::add.Tensor(")


class Answers:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, len(args)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (lambda x: x.view(3, 2), (3, 2)),
        (lambda x: x.view(*[numpy.int64(3), 2]), (3, 2)),
        (lambda x: x.view(6, True), (6, 1)),
        (lambda x: x.view([6, True]), (6, 1)),
        (lambda x: x.expand(2, 2, 3), (2, 2, 3)),
        (lambda x: x.flip(0, 1), (2, 3)),
        (lambda x: x.squeeze(0, 1), (2, 3)),
        (lambda x: dispatch.zeros(2, 1), (2, 1)),
        (lambda x: dispatch.zeros(2, 1, dtype=dispatch.int8), (2, 1)),
        (lambda x: x.sum(0), (3,)),
        (lambda x: x.std(0), (3,)),
    ],
)
def test_ints_are_spelled_out_where_a_list_of_any_length_is_taken(call, wanted):
    assert tuple(call(dispatch.ones(2, 3)).shape) == wanted


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.view(True, 6),
        lambda x: x.view([True, 6]),
        lambda x: x.view(6, 1.0),
        lambda x: x.view(6, "1"),
        lambda x: x.view(2**64),
        lambda x: x.sum(0, 1),
        lambda x: x.std(0, 1),
        lambda x: dispatch.zeros(2, None),
    ],
)
def test_what_spells_out_no_list_of_ints_is_refused(call):
    with pytest.raises(TypeError):
        call(dispatch.ones(2, 3))


def test_handlers_answer_for_any_int_that_is_spelled_out():
    x = dispatch.ones(2, 3)
    assert x.view(2, Answers()) == ("view", 3)
    assert x.view(Answers(), 2) == ("view", 3)
    assert dispatch.zeros(2, Answers()) == ("zeros", 2)


def test_a_mode_of_functions_sees_ints_that_the_call_then_refuses():
    seen = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((func.__name__, args))
            return func(*args, **(kwargs or {}))

    with Watch(), pytest.raises(TypeError):
        dispatch.zeros(2, 3.0)
    assert seen == [("zeros", (2, 3.0))]


def test_methods_are_looked_up_as_any_attribute():
    """A `__getattr__` would make a bound method for each call."""
    assert not hasattr(dispatch.Tensor, "__getattr__")
    with pytest.raises(AttributeError, match="Tensor' object has no attribute 'nonesuch'"):
        _ = dispatch.ones(2).nonesuch
