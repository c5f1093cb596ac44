from collections.abc import Iterable
from types import ModuleType

from dispatch._C.keys import DispatchKey

def _schema_language() -> ModuleType: ...
def _should_allow_numbers_as_tensors(name: str) -> bool: ...
def _serving_key(
    registered_keys: Iterable[DispatchKey], key: DispatchKey
) -> DispatchKey | None: ...
