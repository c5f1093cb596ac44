from typing import TypeVar, overload

_E = TypeVar("_E", bound=Exception)

@overload
def refused(text: str) -> RuntimeError: ...
@overload
def refused(text: str, type: type[_E]) -> _E: ...

class LinAlgError(RuntimeError): ...
