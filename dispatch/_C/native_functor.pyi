from typing import Any

from dispatch._C.keys import DispatchKeySet

class NativeFunctor:
    def __call__(self, keyset: DispatchKeySet, *args: Any, **kwargs: Any) -> Any: ...
