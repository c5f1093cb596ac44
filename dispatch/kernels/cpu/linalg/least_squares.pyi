from typing import Any, TypeAlias

_Array: TypeAlias = Any

def solve(
    driver: str, a: _Array, b: _Array, s: _Array, rank: _Array, rcond: float, info: _Array
) -> None: ...
