"""Warnings of layers and losses: the occasion, and the line that is named."""

import pytest

import dispatch
from dispatch.as_torch.nn import functional as F, init, modules

X, Y = dispatch.tensor([[1.0, 2.0]]), dispatch.tensor([[1.0, 4.0]])
BATCHES = [dispatch.ones((1,) * n) for n in range(7)]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: F.mse_loss(X, Y, size_average=False), "reduction='sum'"),
        (lambda: F.l1_loss(X, Y, reduce=False), "reduction='none'"),
        (lambda: modules.MSELoss(size_average=True), "reduction='mean'"),
        (lambda: F.l1_loss(X, Y, reduction="elementwise_mean"), "use 'mean'"),
        (lambda: F.mse_loss(X, Y[0]), "mse_loss: input of shape"),
        (lambda: F.smooth_l1_loss(X, Y[0]), "smooth_l1_loss: input of shape"),
        (lambda: F.softmax(X), "softmax: say which dimension"),
        (lambda: F.dropout2d(BATCHES[3]), "dropout2d: expected 4 dimensions, got 3"),
        (lambda: F.dropout3d(BATCHES[6]), "dropout3d: expected 4 or 5 dimensions, got 6"),
        (lambda: modules.Dropout2d()(BATCHES[5]), "dropout2d: expected 4 dimensions, got 5"),
        (lambda: modules.LSTM(2, 2, dropout=0.5), "LSTM: dropout=0.5"),
        (lambda: init.kaiming_uniform_(dispatch.ones(0, 3)), "without elements"),
        (lambda: init.kaiming_normal_(dispatch.ones(0, 3)), "without elements"),
        (lambda: modules.Linear(0, 3), "without elements"),
        (lambda: modules.Linear(2, 2).to(dispatch.complex64), "Module.to: .*complex64"),
        (lambda: F.affine_grid(BATCHES[3].expand(1, 2, 3), [1, 1, 1, 2], True), "affine_grid: a"),
    ],
)
def test_what_is_seldom_meant_warns_at_the_callers_line(call, text):
    with pytest.warns(UserWarning, match=text) as seen:
        call()
    assert [w.filename for w in seen] == [__file__]


def test_old_flags_win_over_the_name():
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert F.mse_loss(X, Y, size_average=False, reduction="none").item() == 4.0


def test_usual_ranks_and_layers_do_not_warn():
    assert F.dropout2d(BATCHES[4], p=0.0).equal(BATCHES[4])
    assert F.dropout3d(BATCHES[4], p=0.0).equal(BATCHES[4])
    assert F.dropout3d(BATCHES[5], p=0.0).equal(BATCHES[5])
    assert modules.LSTM(2, 2, num_layers=2, dropout=0.5).dropout == 0.5


def test_positional_arguments_of_state_dict_warn():
    with pytest.warns(FutureWarning, match="state_dict") as seen:
        assert list(modules.Linear(2, 2).state_dict({}, "a.")) == ["a.weight", "a.bias"]
    assert seen[0].filename == __file__


def test_dropout3d_without_a_batch_drops_whole_channels():
    dropped = F.dropout3d(dispatch.ones(64, 4, 2, 2))
    assert dropped.flatten(1).amax(1).equal(dropped.flatten(1).amin(1))
    assert 0 < dropped.count_nonzero().item() < 1024
    given = dispatch.ones(8, 2, 2, 2)
    assert F.dropout3d(given, p=1.0, inplace=True) is given
    assert given.equal(dispatch.zeros(8, 2, 2, 2))
