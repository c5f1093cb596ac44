from typing import Any

from dispatch.fake.settings import FakeState

CONSTANT_NUMEL_LIMIT: int

def drop_constant(mode: FakeState, t: Any) -> None: ...
