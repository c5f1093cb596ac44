"""Which operators a mode sees below composite ones, in PyTorch's order."""

import pytest

import dispatch
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
