from typing import Any

from dispatch.fake.converter import FakeTensorConverter
from dispatch.fake.settings import FakeState

def as_fake(
    mode: FakeState, converter: FakeTensorConverter, caller: Any, changes_metadata: bool, value: Any
) -> Any: ...
