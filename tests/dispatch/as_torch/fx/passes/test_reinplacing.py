"""A functional graph writes in place where nobody reads afterwards."""

import dispatch
from dispatch.as_torch.fx.passes.reinplacing import reinplace
from dispatch.as_torch.fx.proxies import make_fx
from dispatch.functional import functionalize


def reinplaced(program, *args):
    """What the rewritten program calls, having checked that it computes the same."""
    module = reinplace(make_fx(program)(*args), *args)
    assert all(map(dispatch.equal, flat(module(*args)), flat(program(*args))))
    calls = [n.target for n in module.graph.nodes if n.op == "call_function"]
    return [str(t).removeprefix("aten.") for t in calls]


def flat(result):
    return result if isinstance(result, tuple) else (result,)


def test_a_value_that_nobody_reads_again_is_written_to():
    def program(x):
        y = x.clone()
        return y.add(1).mul(2)

    found = reinplaced(program, dispatch.ones(2))
    assert found == ["clone.default", "add_.Tensor", "mul_.Tensor"]


def test_inputs_and_their_views_are_not_written_to():
    x = dispatch.ones(2)
    assert reinplaced(lambda x: x.view(2).add(1), x) == ["view.default", "add.Tensor"]
    assert x.tolist() == [1, 1]


def test_what_is_read_later_through_a_view_is_kept():
    def program(x):
        y = x.clone()
        view = y.view(-1)
        return y.add(1), view.add(2)

    found = reinplaced(program, dispatch.ones(2, 2))
    assert found == ["clone.default", "view.default", "add.Tensor", "add_.Tensor"]


def test_a_result_that_does_not_fit_is_made_anew():
    def program(x):
        y = x.clone()
        return (y > 0), y.expand(4, 4).add(1)

    assert not any("_." in name for name in reinplaced(program, dispatch.ones(1)))

    def twice(x):
        y = x + 1
        return y * y

    assert reinplaced(twice, dispatch.ones(2)) == ["add.Tensor", "mul.Tensor"]


def test_a_part_written_in_its_place_is_not_put_back():
    def program(x):
        y = x.clone()
        y[1].add_(1)
        return y

    found = reinplaced(functionalize(program), dispatch.ones(2, 2))
    assert "add_.Tensor" in found and not any("scatter" in name for name in found)


def test_another_part_is_copied_to_its_place():
    def program(x):
        y = x.clone()
        part = y.diagonal().add(1)
        return dispatch.select_scatter(y, part, 0, 1)

    found = reinplaced(program, dispatch.ones(2, 2))
    assert found[-2:] == ["select.int", "copy_.default"]


def test_parts_of_a_split_are_views_of_what_was_split():
    def program(x):
        y = x.clone()
        first, _ = y.split(2)
        return first.add(1), y.mul(2)

    found = reinplaced(program, dispatch.ones(4))
    assert found[-2:] == ["add.Tensor", "mul_.Tensor"]
