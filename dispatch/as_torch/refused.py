"""Functions that programs import at their top, and that only some of them call.

Each says what is missing when it is called (NotImplementedError), so that the rest of the program
runs. `report` counts them as missing.
"""

from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["_create_jit_fn", "is_refused", "load", "load_inline", "make_fx",
           "register_functional_op"]  # fmt: skip


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        """NotImplementedError: this is not here."""
        from dispatch.as_torch.modules import missing_text  # it finds this module

        raise NotImplementedError(missing_text(name))

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.refused = True  # type: ignore[attr-defined]
    return refuse


def is_refused(found: Any) -> bool:
    """Whether this is one of these functions."""
    return callable(found) and getattr(found, "refused", False) is True


make_fx = _refused("torch.fx.experimental.proxy_tensor.make_fx")
load = _refused("torch.utils.cpp_extension.load")
load_inline = _refused("torch.utils.cpp_extension.load_inline")
_create_jit_fn = _refused("torch.cuda.jiterator._create_jit_fn")
register_functional_op = _refused("torch._custom_op.functional.register_functional_op")
