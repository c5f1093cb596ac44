"""A function and its graph compute the same, or a check says that they do not."""

import pytest

import dispatch
from dispatch.as_torch.testing.trace_checks import aot_autograd_check, make_fx_check

X = dispatch.tensor([1.0, 2.0, 3.0])


class Counts:
    """Gives something else at each call."""

    n = 0

    def __call__(self, x):
        self.n += 1
        return x + self.n


def writes(x, *, by):
    y = x.clone()
    y.add_(by)
    return y, y.sum() + dispatch.rand(())


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("gradients", [False, "auto"])
def test_functions_and_their_functional_graphs_agree(dynamic, gradients):
    x = X.clone().requires_grad_(True)
    aot_autograd_check(writes, (x,), {"by": 2}, dynamic, check_gradients=gradients)
    aot_autograd_check(
        writes, (x,), {"by": 2}, dynamic, check_gradients=False, disable_functionalization=True
    )


def test_a_function_of_something_else_than_its_arguments_is_found():
    with pytest.raises(AssertionError, match="different values"):
        aot_autograd_check(Counts(), (X,), {}, False, check_gradients=False)
    aot_autograd_check(
        Counts(), (X,), {}, False, check_gradients=False, skip_correctness_check=True
    )
    with pytest.raises(AssertionError, match="different values"):
        make_fx_check(Counts(), (X,), {}, "real")


def test_gradients_are_not_compared():
    with pytest.raises(NotImplementedError, match="no autograd engine"):
        aot_autograd_check(writes, (X,), {"by": 1}, False)


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_graphs_of_other_values_agree(mode):
    make_fx_check(writes, (X,), {"by": 1}, mode)
    make_fx_check(lambda x: x * 2, (X,), {}, mode, randomize_data=True)


def test_values_that_a_graph_took_in_are_found():
    def scaled(x):
        return x * float(x.detach().numpy()[0])

    make_fx_check(scaled, (X,), {}, "real")
    with pytest.raises(AssertionError, match="different values"):
        make_fx_check(scaled, (X,), {}, "real", randomize_data=True)
