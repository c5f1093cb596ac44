"""What the caches counted, in the log."""

import logging

import dispatch
from dispatch import FakeTensorMode
from dispatch.fake import dump_cache_stats


def test_hits_and_reasons_are_logged(caplog):
    with FakeTensorMode():
        x = dispatch.ones(3)
        for _ in range(3):
            x + x
        dispatch.tensor(2) + 1
    with caplog.at_level(logging.INFO, "dispatch.fake"):
        dump_cache_stats()
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "FakeTensor cache stats:"
    assert lines[1].startswith("  cache_hits: ") and int(lines[1].split()[-1]) >= 2
    assert lines[2].startswith("  cache_misses: ") and int(lines[2].split()[-1]) >= 1
    assert lines[3] == "  cache_bypasses:"
    counts = [int(line.split()[-1]) for line in lines[4:]]
    assert counts == sorted(counts, reverse=True) and counts


def test_nothing_is_logged_unless_the_program_asks(caplog):
    with caplog.at_level(logging.WARNING, "dispatch.fake"):
        dump_cache_stats()
    assert not caplog.records
