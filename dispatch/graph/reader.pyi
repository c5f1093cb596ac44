from typing import Any

__all__ = ["Shape", "place_of", "read_json"]

MAX_DEPTH: int

class Shape:
    cls: Any
    label: str
    item: Shape | None
    values: Any
    fields: Any
    defaults: Any
    def __init__(
        self,
        kind: str,
        label: str,
        *,
        cls: Any = None,
        item: Shape | None = None,
        values: Any = None,
    ) -> None: ...
    def define(self, fields: Any, defaults: Any = None) -> Any: ...

def place_of(data: bytes, offset: int) -> Any: ...
def read_json(data: bytes, shape: Shape, path: str, member: str = "") -> Any: ...
