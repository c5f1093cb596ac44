"""Which operators a mode sees below composite ones, in PyTorch's order."""

import pytest

import dispatch
from dispatch.as_torch.fx.proxies import make_fx
from dispatch.as_torch.nn import functional
from dispatch.modes import TorchDispatchMode

INTS, ONES = dispatch.tensor([1, 2]), dispatch.ones(3)


class Seen(TorchDispatchMode):
    """Names and first arguments' shapes."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        shape = tuple(args[0].shape) if isinstance(args[0], dispatch.Tensor) else None
        self.calls.append((str(func).removeprefix("aten."), shape))
        return func(*args, **(kwargs or {}))


def seen(call):
    with Seen() as mode:
        call()
    return mode.calls


def names(call):
    return [name for name, _ in seen(call)]


def test_closeness_of_integers_converts_one_of_them():
    assert names(lambda: dispatch.isclose(INTS, INTS)).count("_to_copy.default") == 1
    assert dispatch.isclose(INTS, dispatch.tensor([1, 3])).tolist() == [True, False]


@pytest.mark.parametrize(("correction", "subtracted"), [(0, 0), (1, 1)])
def test_covariance_without_a_correction_subtracts_none(correction, subtracted):
    x = dispatch.arange(6.0).reshape(2, 3)
    found = names(lambda: dispatch.cov(x, correction=correction, fweights=INTS.new_ones(3)))
    assert found.count("sub.Scalar") == subtracted


def test_cosine_similarity_expands_its_second_argument_first():
    x, y = dispatch.ones(2, 1, 3), dispatch.ones(1, 2, 3)
    first = seen(lambda: functional.cosine_similarity(x, y))[:2]
    assert first == [("expand.default", (1, 2, 3)), ("expand.default", (2, 1, 3))]


def test_stirlings_term_begins_with_its_root():
    call = lambda: functional.poisson_nll_loss(ONES, ONES, full=True)  # noqa: E731
    assert names(call)[3:7] == ["mul.Scalar", "log.default", "mul.Scalar", "log.default"]


def test_statistics_of_instances_are_repeated_before_the_view():
    x, one = dispatch.ones(2, 3, 4), dispatch.ones(3)
    mean = one.clone()
    found = names(lambda: functional.instance_norm(x, one, mean, one, one))
    assert found[:5] == ["repeat.default"] * 4 + ["view.default"]


def test_an_embeddings_rows_are_bounded_through_a_detached_weight():
    weight = dispatch.ones(3, 2, requires_grad=True)
    found = names(lambda: functional.embedding(INTS, weight, max_norm=1.0))
    assert found == ["detach.default", "embedding_renorm_.default", "embedding.default"]


def test_a_layers_weight_is_viewed_only_where_its_classes_have_places():
    weight, target = dispatch.ones(4, 3), dispatch.tensor(1)
    found = names(lambda: functional.linear_cross_entropy(ONES, weight, target))
    assert found[0] == "t.default"


def test_coordinates_lift_their_sizes_as_they_need_them():
    found = names(lambda: dispatch.unravel_index(INTS, (2, 3)))
    assert found[:4] == [
        "unsqueeze.default",
        "lift_fresh.default",
        "floor_divide.default",
        "lift_fresh.default",
    ]


def traced(call, *args):
    """Targets and arguments of a trace, a node a line."""
    graph = make_fx(call)(*args).graph
    return [f"{n.target} {n.args}" for n in graph.nodes if n.op == "call_function"]


X, Y = dispatch.ones(2, 3), dispatch.ones(3)


@pytest.mark.parametrize(
    ("call", "args", "expected"),
    [
        (
            lambda y: dispatch.trapezoid(y), (Y,),
            ["aten.select.int (y_1, -1, -1)", "aten.select.int (y_1, -1, 0)",
             "aten.add.Tensor (select_1, select)"],
        ),
        (
            lambda x: dispatch.adaptive_max_pool1d(x, 2), (X,),
            ["aten.squeeze.dim (getitem_1, -2)", "aten.squeeze.dim (getitem, -2)"],
        ),
        (
            lambda x: functional.pad(x, (1, 0), mode="circular"), (X,),
            ["aten.new_empty.default (x_1, [2, 4])", "aten.slice.Tensor (new_empty, 1, 1, 4)",
             "aten.copy_.default (slice_1, slice_2)", "aten.slice.Tensor (new_empty, 1, 0, 1)",
             "aten.slice.Tensor (new_empty, 1, 3, 4)", "aten.copy_.default (slice_3, slice_4)"],
        ),
        (
            lambda x: dispatch.stft(x, 2, 1, window=dispatch.ones(2), center=False,
                                    return_complex=True), (X,),
            ["aten.as_strided.default (x_1, [2, 2, 2], [3, 1, 1])"],
        ),
        (
            lambda x, y: dispatch.cdist(x, y, compute_mode="use_mm_for_euclid_dist"), (X, -X),
            ["aten.expand.default (x_1, [2, 3])", "aten.view.default (expand, [1, 2, 3])",
             "aten.expand.default (y_1, [2, 3])", "aten.view.default (expand_1, [1, 2, 3])",
             "aten._euclidean_dist.default (view, view_1)",
             "aten.view.default (_euclidean_dist, [2, 2])"],
        ),
        (
            lambda x, y: dispatch.tensordot(x, y, dims=([0, 1], [1, 0])), (X, X.T.contiguous()),
            ["aten.permute.default (x_1, [0, 1])", "aten.permute.default (y_1, [1, 0])",
             "aten.squeeze.default (permute_1,)", "aten.squeeze.default (permute,)",
             "aten.mul.Tensor (squeeze_1, squeeze)", "aten.sum.default (mul,)",
             "aten.view.default (sum_1, [])"],
        ),
        (
            lambda x, y: dispatch.tensordot(x, y, dims=([1], [0])), (X[:1], Y),
            ["aten.permute.default (x_1, [0, 1])", "aten.permute.default (y_1, [0])",
             "aten.view.default (permute, [3])", "aten.dot.default (view, permute_1)",
             "aten.view.default (dot, [1])"],
        ),
        (
            lambda x: dispatch.linalg.matrix_rank(x), (X[:0],),
            ["aten.empty.memory_format ([],)", "aten.zeros.default ([],)",
             "aten.fill_.Scalar (empty, 0)"],
        ),
        (
            lambda x, y: dispatch.linalg.matrix_rank(x, atol=y), (X, Y[0]),
            ["aten.zeros.default ([],)", "aten.gt.Scalar (y_1, 0)"],
        ),
        (
            lambda y: dispatch.gradient(y, spacing=(y,)), (Y,),
            ["aten.slice.Tensor (y_1, 0, 0, 1)", "aten.slice.Tensor (y_1, 0, 1, 2)"],
        ),
        (
            lambda x: functional.cosine_embedding_loss(x, x, dispatch.ones(2)), (X,),
            ["aten.add.Scalar (sum_2, 9.999999960041972e-13)"],
        ),
    ],
)  # fmt: skip
def test_what_is_traced_stands_in_pytorchs_order(call, args, expected):
    lines = iter(traced(call, *args))
    assert all(any(line == wanted for line in lines) for wanted in expected), traced(call, *args)
