"""Side effects of operators, as far as they were declared (torch._library.effects)."""

from enum import Enum

from dispatch.registry.handles import RegistrationHandle

__all__ = ["EffectHolder", "EffectType"]


class EffectType(Enum):
    """The kinds of effects: ORDERED calls keep their order."""

    ORDERED = "Ordered"


class EffectHolder:
    """The effect of one operator; None when none was declared."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname
        self._effect: EffectType | None = None

    @property
    def effect(self) -> EffectType | None:
        """What was declared last."""
        return self._effect

    @effect.setter
    def effect(self, _: object) -> None:
        raise RuntimeError("effects are declared with register()")

    def register(self, effect: EffectType | None) -> RegistrationHandle:
        """Declare the effect, until the handle is destroyed."""
        self._effect = effect
        return RegistrationHandle(self._clear)

    def _clear(self) -> None:
        self._effect = None
