"""Numbers that a fake tensor remembers of itself: how many elements are not zero, its value.

One `SymNumberMemoDescriptor` for each quantity stands on the class `FakeTensor`
(torch._subclasses.fake_tensor.SymNumberMemoDescriptor).
"""

from typing import Any

__all__ = ["SymNumberMemoDescriptor"]


class SymNumberMemoDescriptor:
    """A number that holds for one version of a tensor, within one epoch of its mode.

    A nested int belongs to the tensor whatever its values are: it is kept across both.
    """

    def __init__(self, name: str = "", *, is_nested_int: bool = False) -> None:
        self._name = name
        self._is_nested_int = is_nested_int

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, obj: Any, objtype: type | None = None) -> Any:
        if obj is None:
            return self
        state = obj.__dict__
        value = state.get(f"_{self._name}")
        if value is None or self._is_nested_int or self._stamp(obj) == self._stamp_kept(state):
            return value
        state[f"_{self._name}"] = None
        return None

    def __set__(self, obj: Any, value: Any) -> None:
        state = obj.__dict__
        if value is not None and obj.is_inference() and not self._is_nested_int:
            return
        version, epoch = (None, None) if value is None or self._is_nested_int else self._stamp(obj)
        state[f"_{self._name}"] = value
        state[f"_{self._name}_vc"] = version
        state[f"_{self._name}_epoch"] = epoch

    def _stamp(self, obj: Any) -> tuple[Any, Any]:
        return obj._version, getattr(obj.fake_mode, "epoch", None)

    def _stamp_kept(self, state: dict[str, Any]) -> tuple[Any, Any]:
        return state.get(f"_{self._name}_vc"), state.get(f"_{self._name}_epoch")
