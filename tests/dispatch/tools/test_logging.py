"""Calls as lines, with numbered tensors."""

import logging

import pytest

import dispatch
from dispatch import modes


def test_captured_logs_number_tensors():
    x = dispatch.ones(2)
    with modes.capture_logs_with_logging_tensor_mode() as lines:
        y = x + 1
        y.neg()
    assert lines == [
        "$1: f32[2] = dispatch._ops.aten.add.Tensor($0, 1)",
        "$2: f32[2] = dispatch._ops.aten.neg.default($1)",
    ]


def test_logging_leaves_the_logger_as_it_was():
    logger = logging.getLogger("LoggingTensor")
    before = logger.level, logger.propagate, list(logger.handlers)
    with pytest.raises(ValueError), modes.capture_logs():
        raise ValueError
    assert (logger.level, logger.propagate, list(logger.handlers)) == before
