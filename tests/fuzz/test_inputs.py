import pytest

from tests.fuzz.inputs import KINDS, attempt


@pytest.mark.parametrize("name", KINDS)
def test_what_comes_from_elsewhere_may_lie(name):
    assert attempt(name, [f"ci {i}" for i in range(60)]) == []
