"""Fixtures for the tests of the compiled core."""

from collections.abc import Iterator

import pytest

from dispatch import _C
from dispatch._C import grad_mode, guards, tls


def thread_state() -> dict[str, object]:
    """What this thread's dispatch state is, as far as Python can see it."""
    return {
        "included": tls._dispatch_tls_local_include_set(),
        "excluded": tls._dispatch_tls_local_exclude_set(),
        "meta": tls._meta_in_tls_dispatch_include(),
        "grad": grad_mode.is_grad_enabled(),
        "inference": grad_mode.is_inference_mode_enabled(),
        "function": (_C._is_torch_function_enabled(), _C._is_torch_function_all_disabled()),
        "modes": [tls._get_dispatch_stack_at(i) for i in range(tls._len_torch_dispatch_stack())],
        "function_modes": _C._len_torch_function_stack(),
        "guards": guards._live_guards(),
    }


@pytest.fixture
def same_state_after() -> Iterator[None]:
    """The test leaves the thread's dispatch state as it found it."""
    before = thread_state()
    yield
    assert thread_state() == before
