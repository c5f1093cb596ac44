"""`checks`: what `--assert` takes, and what it says."""

import pytest

from dispatch.graph.checks import read_check

REPORT = {
    "peak_bytes": 2_000_000, "parameters": 7, "parameter_bytes": 28, "flops": 3_000_000_000,
    "calls": [{"new_bytes": 5}, {"new_bytes": 6}], "operators": [1], "modules": [], "wall_ns": 9,
    "unregistered": [], "alive_at_peak": [
        {"kind": "activation", "bytes": 4}, {"kind": "gradient", "bytes": 6},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("peak_bytes < 16GB", True),
        ("peak_bytes<2MB", False),
        ("peak_bytes <= 2 MB", True),
        ("peak_bytes < 2MiB", True),
        ("peak_bytes > 1.9e6", True),
        ("peak_bytes == 2_000_000", True),
        ("flops >= 3G", True),
        ("calls != 2", False),
        ("new_bytes == 11", True),
        ("unregistered == 0", True),
        ("activation_bytes == 4 B", True),
        ("gradient_bytes == 6 B", True),
        ("parameters == 7", True),
    ],
)
def test_a_check_holds_or_not(text, holds):
    assert read_check(text).holds(REPORT) is holds


def test_a_failure_says_what_was_found():
    assert read_check("peak_bytes < 1MB").failure(REPORT) == (
        "peak_bytes < 1MB: peak_bytes is 2,000,000 (2.0 MB)"
    )
    assert read_check("calls < 1").failure({"calls": [1, 2]}) == "calls < 1: calls is 2"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("peak < 3", "no 'peak': there are peak_bytes"),
        ("peak_bytes < 3 parsecs", "no unit 'parsecs'"),
        ("peak_bytes = 3", "expected a check like"),
        ("__import__('os')", "expected a check like"),
        ("", "expected a check like"),
    ],
)
def test_a_typing_error_says_what_is_expected(text, words):
    with pytest.raises(ValueError, match="--assert") as caught:
        read_check(text)
    assert words in str(caught.value)
