"""Stand-ins for objects of custom classes (torch._library.fake_class_registry)."""

import contextlib
from typing import Any

__all__ = ["FakeScriptObject", "ScriptObject", "maybe_unwrap_fake_script_object"]


class ScriptObject:
    """An object of a custom class, as the schema language names it.

    Args:
        qualified_name: `__torch__.torch.classes.namespace.Name`.
    """

    def __init__(self, qualified_name: str) -> None:
        self._qualified_name = qualified_name

    def _type(self) -> Any:
        """The class, as a type of the schema language."""
        from dispatch.codegen.types import ClassType

        return ClassType(self._qualified_name, self._qualified_name)


class FakeScriptObject:
    """Stands for an object of a custom class in calls that never reach a kernel.

    Args:
        wrapped_obj: what a fake kernel works with.
        script_class_name: `__torch__.torch.classes.namespace.Name`.
        x: the object; a deep copy is kept where there can be one, and of an opaque type itself.

    Attributes are fixed: setting one is an AttributeError, as is reading one that there is not.
    """

    wrapped_obj: Any
    script_class_name: str
    real_obj: Any

    def __init__(self, wrapped_obj: Any, script_class_name: str, x: Any) -> None:
        import copy  # for these objects alone

        from dispatch.registry.opaque_types import get_opaque_obj_info

        real = x
        if get_opaque_obj_info(type(x)) is None:
            with contextlib.suppress(RuntimeError, TypeError):
                real = copy.deepcopy(x)
        own = {"wrapped_obj": wrapped_obj, "script_class_name": script_class_name, "real_obj": real}
        vars(self).update(own)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"Tried to call __getattr__ with attr '{name}' on a FakeScriptObject: it stands for an "
            "object and has its methods, or the members that register_opaque_type names, alone"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"Tried to call __setattr__ with attr '{name}' on a FakeScriptObject, which cannot be "
            "changed: a fake kernel must not depend on what its object holds"
        )

    def __getitem__(self, key: Any) -> Any:
        return self.real_obj[key]

    def __eq__(self, other: object) -> bool:
        theirs = other.real_obj if isinstance(other, FakeScriptObject) else other
        return self is other or self.real_obj is theirs or bool(self.real_obj == theirs)

    def __hash__(self) -> int:
        try:
            return hash(self.real_obj)
        except TypeError:
            return id(self.real_obj)

    def __deepcopy__(self, memo: dict[int, Any]) -> "FakeScriptObject":
        import copy

        made = FakeScriptObject.__new__(FakeScriptObject)
        memo[id(self)] = made
        vars(made).update(copy.deepcopy(vars(self), memo))
        return made


def maybe_unwrap_fake_script_object(obj: Any) -> Any:
    """The object that a FakeScriptObject stands for; anything else as it is."""
    return obj.real_obj if isinstance(obj, FakeScriptObject) else obj
