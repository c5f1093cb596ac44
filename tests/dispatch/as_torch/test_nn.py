"""`torch.nn.functional` and parameters: what handlers see, what comes out, what is refused."""

import copy
import inspect
import math
import pickle

import pytest

import dispatch
from dispatch import TorchFunctionMode
from dispatch.as_torch import autograd
from dispatch.as_torch.nn import Buffer, Parameter, functional as F, layers, losses, resampling
from dispatch.as_torch.nn.parsing import _parse_to

FUNCTIONS = sorted({*layers.__all__, *losses.__all__, *resampling.__all__})


class Seen(TorchFunctionMode):
    """What handlers are asked, in order; nothing runs that `answer` stands for."""

    def __init__(self, answer=None):
        self.calls, self.answer = [], answer

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls.append((func, args, kwargs or {}))
        return func(*args, **(kwargs or {})) if self.answer is None else self.answer


def picture(*shape):
    return dispatch.arange(math.prod(shape), dtype=dispatch.float32).reshape(shape)


def test_defaults_are_given_by_keyword_to_handlers():
    x = picture(2, 3)
    with Seen() as seen:
        F.softmax(x, 1)
    function, args, kwargs = seen.calls[0]
    assert function is F.softmax and args == (x,)
    assert kwargs == {"dim": 1, "_stacklevel": 3, "dtype": None}


def test_a_pool_with_indices_is_another_function_to_handlers():
    x = picture(1, 1, 4, 4)
    with Seen() as seen:
        values, places = F.max_pool2d(x, 2, return_indices=True)
    assert [call[0] for call in seen.calls] == [F.max_pool2d_with_indices]
    assert values.tolist() == [[[[5.0, 7.0], [13.0, 15.0]]]]
    assert places.tolist() == [[[[5, 7], [13, 15]]]]
    assert F.max_pool2d(x, 2).equal(values)


def test_optional_tensors_are_asked_too():
    class Weight:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__, types, sorted(kwargs)

    x = picture(2, 3)
    answer = F.layer_norm(x, (3,), weight=Weight())
    assert answer == ("layer_norm", (dispatch.Tensor, Weight), ["bias", "eps", "weight"])
    assert F.mse_loss(x, x, weight=Weight())[0] == "mse_loss"
    assert F.multi_margin_loss(x, x, weight=Weight())[0] == "multi_margin_loss"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_a_text_and_asks(name):
    function = getattr(F, name)
    assert function.__doc__
    deprecated = ("upsample", "upsample_bilinear", "upsample_nearest")
    if name not in ("sigmoid", "tanh", *deprecated):  # these call another that asks
        parameters = inspect.signature(function).parameters.values()
        needed = sum(p.default is p.empty for p in parameters)
        seen = Seen(answer="taken")
        given = [picture(2, 2)] * needed
        with seen:
            assert function(*given) == "taken"
        assert [call[0] for call in seen.calls] == [function]


def test_functions_that_are_operators_are_found_under_their_names():
    x, w = picture(2, 3), picture(4, 3)
    assert F.linear(x, w).equal(x @ w.t())
    assert F.logsigmoid(x).equal(dispatch.ops.aten.log_sigmoid(x))
    assert {"conv2d", "gelu", "relu"} <= set(dir(F))
    with pytest.raises(AttributeError, match="no_such"):
        getattr(F, "no_such")  # noqa: B009


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("nearest", [0.0, 0.0, 1.0, 1.0]),
        ("nearest-exact", [0.0, 0.0, 1.0, 1.0]),
        ("linear", [0.0, 0.25, 0.75, 1.0]),
        ("area", [0.0, 0.0, 1.0, 1.0]),
    ],
)
def test_interpolate_modes(mode, expected):
    x = picture(1, 1, 2)
    assert F.interpolate(x, size=4, mode=mode).flatten().tolist() == expected
    assert F.interpolate(x, scale_factor=2.0, mode=mode).flatten().tolist() == expected


def test_fold_puts_back_what_unfold_took():
    x = picture(1, 2, 4, 4)
    columns = F.unfold(x, 2, stride=2)
    assert tuple(columns.shape) == (1, 8, 4)
    assert F.fold(columns, (4, 4), 2, stride=2).equal(x)


def test_unpooling_puts_values_at_their_places():
    x = picture(1, 1, 4)
    values, places = F.max_pool1d(x, 2, return_indices=True)
    assert F.max_unpool1d(values, places, 2).flatten().tolist() == [0.0, 1.0, 0.0, 3.0]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x, y: F.mse_loss(x, y), 2.0),
        (lambda x, y: F.mse_loss(x, y, reduction="sum"), 4.0),
        (lambda x, y: F.mse_loss(x, y, weight=dispatch.tensor([1.0, 3.0])), 3.0),
        (lambda x, y: F.l1_loss(x, y), 1.0),
        (lambda x, y: F.huber_loss(x, y), 0.75),
        (lambda x, y: F.smooth_l1_loss(x, y, beta=0.0), 1.0),
        (lambda x, y: F.gaussian_nll_loss(x, y, 1.0), 1.0),
    ],
)
def test_losses(call, expected):
    x, y = dispatch.tensor([1.0, 2.0]), dispatch.tensor([1.0, 4.0])
    assert call(x, y).item() == expected


def test_gumbel_softmax_says_that_eps_has_no_effect():
    with pytest.warns(UserWarning, match="gumbel_softmax: eps") as told:
        F.gumbel_softmax(picture(2, 5), eps=1.0)
    assert [w.filename for w in told] == [__file__]


def test_gumbel_softmax_hard_is_one_hot():
    dispatch.manual_seed(0)
    assert F.gumbel_softmax(picture(2, 5), hard=True).sum(1).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: F.dropout(x, 2.0), ValueError, "dropout: .*between 0 and 1"),
        (lambda x: F.mse_loss(x, x, reduction="most"), ValueError, "mse_loss: most is not"),
        (lambda x: F.interpolate(x), ValueError, "either size or scale_factor"),
        (lambda x: F.interpolate(x, size=2, mode="bilinear"), NotImplementedError, "bilinear"),
        (lambda x: F.grid_sample(x, x, mode="odd"), ValueError, "'odd'"),
        (lambda x: F.hardtanh(x, 2.0, 1.0), ValueError, "min_val cannot be greater"),
        (lambda x: F.batch_norm(x[:1, :, :1], None, None, training=True), ValueError, "1 value"),
        (lambda x: F.embedding(x, x, padding_idx=9), AssertionError, "Padding_idx"),
        (lambda x: F.binary_cross_entropy(x, x[0]), ValueError, "Using a target size"),
        (
            lambda x: F.triplet_margin_loss(x, x, x, margin=0),
            ValueError,
            "triplet_margin_loss: margin must be greater",
        ),
    ],
)
def test_mistakes_name_the_function(call, error, text):
    with pytest.raises(error, match=text):
        call(picture(2, 3, 4))


def test_old_softmax_says_that_it_guesses_the_dimension():
    with pytest.warns(UserWarning, match="say which dimension"):
        found = F.softmax(picture(2, 3))
    assert found.equal(picture(2, 3).softmax(1))


# ---- parameters


def test_a_parameter_shares_memory_and_requires_grad():
    x = picture(2)
    p = Parameter(x)
    assert type(p) is Parameter and p.requires_grad and not x.requires_grad
    assert p.data_ptr() == x.data_ptr()
    assert repr(p).startswith("Parameter containing:\n")
    assert not Parameter(x, requires_grad=False).requires_grad
    assert type(p + 1) is dispatch.Tensor and not isinstance(x, Parameter)


def test_a_parameter_of_a_subclass_stays_of_its_class():
    class Tagged(dispatch.Tensor):
        pass

    x = picture(2).as_subclass(Tagged)
    p = Parameter(x, requires_grad=False)
    assert type(p) is Tagged and isinstance(p, Parameter) and not isinstance(x, Parameter)
    assert isinstance(Buffer(picture(2)), Buffer) and not isinstance(Buffer(x), Parameter)


def test_parameters_are_copied_and_pickled_as_such():
    p = Parameter(picture(2))
    for other in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert type(other) is Parameter and other.requires_grad
        assert other.tolist() == p.tolist() and other.data_ptr() != p.data_ptr()


def test_a_subclass_may_have_a_metaclass():
    class Meta(type):
        pass

    class Made(dispatch.Tensor, metaclass=Meta):
        pass

    assert type(picture(2).as_subclass(Made)) is Made
    assert type(dispatch.Tensor._make_subclass(Made, picture(2))) is Made


def test_the_fake_counterpart_of_a_parameter_is_one():
    mode = dispatch.FakeTensorMode()
    made = Parameter(dispatch.ones(2))
    view = made.view(2)
    assert isinstance(mode.from_tensor(made), Parameter)
    assert not isinstance(mode.from_tensor(view), Parameter)
    assert not isinstance(mode.from_tensor(dispatch.ones(2)), Parameter)


def test_handlers_of_l1_loss_do_not_hear_of_weights():
    seen = []

    class Names(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((func, len(args), sorted(kwargs)))
            return 3

    x = dispatch.ones(2)
    with Names():
        assert F.l1_loss(x, x, weight=x) == 3
    assert seen == [(F.l1_loss, 2, ["reduce", "reduction", "size_average"])]
    assert F.l1_loss(x, 3 * x, weight=x * 2) == 2


@pytest.mark.parametrize("shape", [(3,), (4, 3)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear_cross_entropy_is_both_at_once(shape, bias):
    dispatch.manual_seed(0)
    x, matrix, biases = (dispatch.randn(*s) for s in (shape, (5, 3), (5,)))
    target = dispatch.tensor([1, 4, 0, 2])[: shape[0]] if len(shape) > 1 else dispatch.tensor(2)
    biases = biases if bias else None
    whole = F.linear_cross_entropy(x, matrix, target, linear_bias=biases, label_smoothing=0.1)
    apart = F.cross_entropy(F.linear(x, matrix, biases), target, label_smoothing=0.1)
    assert whole.equal(apart)
    images = dispatch.randn(5, 2, 3)
    places = F.linear_cross_entropy(x[None] if x.dim() == 1 else x, images,
                                    dispatch.ones(len(x) if x.dim() > 1 else 1, 2).long(),
                                    reduction="none")  # fmt: skip
    assert places.shape[1] == 2


def test_linear_cross_entropy_refuses_what_does_not_fit():
    x, matrix, target = dispatch.ones(4, 3), dispatch.ones(5, 3), dispatch.zeros(4).long()
    for args, options in (
        ((dispatch.ones(2, 4, 3), matrix, target), {}),
        ((x, matrix[:, :2], target), {}),
        ((x, matrix, target), {"linear_bias": dispatch.ones(3)}),
        ((x[0], dispatch.ones(5, 2, 3), target), {}),
        ((x, matrix, dispatch.ones(4, 5)), {"ignore_index": 1}),
    ):
        with pytest.raises(RuntimeError, match="linear_cross_entropy"):
            F.linear_cross_entropy(*args, **options)


def test_what_modules_are_moved_to_is_parsed():
    f16, last = dispatch.float16, dispatch.channels_last
    cpu = dispatch.device("cpu")
    for args, options, found in (
        (("cpu", f16, True), {}, (cpu, f16, True, None)),
        ((f16,), {"memory_format": last}, (None, f16, False, last)),
        ((f16, True), {}, (None, f16, True, None)),
        ((dispatch.ones(2).half(),), {}, (cpu, f16, False, None)),
        ((), {}, (None, None, False, None)),
    ):
        assert _parse_to(*args, **options) == found
    for args, options in (([[]], {}), ([3.0], {}), (["cpu"], {"device": "cpu"}), (["cpu", 3], {})):
        with pytest.raises(TypeError, match=r"to\(\)"):
            _parse_to(*args, **options)
    with pytest.raises(RuntimeError, match="copy"):
        _parse_to("cpu", copy=True)
    with Seen(answer=5):
        assert _parse_to("cpu") == 5


def test_handlers_are_asked_for_gradients():
    class Asked:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return args

    asked = Asked()
    assert autograd.grad(asked, [asked]) == ((asked,), (asked,))
    x = dispatch.ones(2, requires_grad=True)
    for call in (lambda: autograd.grad(x, x), lambda: autograd.backward(x)):
        with pytest.raises(RuntimeError, match="no autograd engine"):
            call()
    with pytest.raises(RuntimeError, match="does not require grad"):
        autograd.backward(dispatch.ones(2))


def test_a_pool_gives_indices_whichever_way_they_are_asked_for():
    x = picture(1, 1, 4, 4)
    by_place = F.max_pool2d(x, 2, None, 0, 1, False, True)
    for values, places in (by_place, F.max_pool2d(x, 2, return_indices=True)):
        assert values.shape == places.shape == (1, 1, 2, 2)
    assert F.max_pool2d(x, 2, return_indices=False).shape == (1, 1, 2, 2)


@pytest.mark.parametrize("place", ["positional", "keyword", "list"])
def test_functions_ask_arguments_wherever_they_stand(place):
    class Answers:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    x, answers = picture(2, 3), Answers()
    if place == "positional":
        assert F.layer_norm(x, (3,), answers) == "layer_norm"
    elif place == "keyword":
        assert F.layer_norm(x, (3,), bias=answers) == "layer_norm"
    else:
        assert dispatch.block_diag(x, answers) == "block_diag"
