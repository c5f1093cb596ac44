from typing import Any

__all__ = ["named"]

def named(name: str, fields: tuple[str, ...]) -> Any: ...
