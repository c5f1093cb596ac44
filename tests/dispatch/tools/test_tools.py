"""The room: its names, and where else they are found."""

import pytest

from dispatch import modes, tools


def test_stock_modes_are_found_in_the_package():
    for name in ("FlopCounterMode", "LoggingTensorMode", "MemoryTrackerMode", "SchemaCheckMode"):
        assert getattr(modes, name) is getattr(tools, name)
        assert name in modes.__all__ and name in dir(modes)
    with pytest.raises(AttributeError):
        _ = modes.no_such_mode
