"""What arguments each overridable operator needs: `torch.testing._internal.generated`.

Programs that call every overridable function read here what to call it with. PyTorch generates
the table out of the same schemas; this one is made when it is first imported.
"""

import re
from typing import Any

from dispatch import _C
from dispatch._C.function import OpFunction, _find_function
from dispatch.modes.function import get_overridable_functions

__all__ = ["annotated_args"]

_TYPES = {
    "DeviceIndex": "DeviceIndex", "Tensor?[]": "c10::List<::std::optional<Tensor>>",
    "Tensor[]": "TensorList", "SymInt[]": "SymIntArrayRef", "int[]": "IntArrayRef",
    "Scalar[]": "ScalarList", "float[]": "ArrayRef<double>", "float": "double",
    "int": "int64_t", "str": "c10::string_view",
}  # fmt: skip


def _type_text(argument: Any) -> str:
    """The type as the schema has it, without aliases and lengths: `SymInt[]?`."""
    return re.sub(r"\(.*?\)|(?<=\[)\d+", "", str(argument)).partition(" ")[0]


def _row(argument: Any) -> dict[str, Any]:
    text = _type_text(argument)
    optional = "?" if text.endswith("?") else ""
    text = text.removesuffix("?")
    row = {
        "is_kwarg_only": str(bool(argument.kwarg_only)),
        "name": argument.name,
        "simple_type": _TYPES.get(text, text) + optional,
    }
    if argument.N is not None:
        row["size"] = argument.N
    return row


def _rows(schemas: list[Any], is_method: bool) -> list[dict[str, Any]] | None:
    """What the first overload with a tensor (a method's: `self`) needs; None if there is none.

    PyTorch's table has no storages, and no program that reads it makes one.
    """
    for schema in schemas:
        needed = [a for a in schema.arguments if not a.has_default_value()]
        tensors = [a.name for a in needed if _type_text(a).startswith("Tensor")]
        left_out = any(a.is_out or _type_text(a) == "Storage" for a in schema.arguments)
        if tensors and not left_out and (not is_method or "self" in tensors):
            return [_row(a) for a in needed]
    return None


def _made() -> dict[Any, list[dict[str, Any]]]:
    found = {}
    for functions in get_overridable_functions().values():
        for function in functions:
            name = getattr(function, "__name__", "")
            is_method = function is _find_function(name, True)
            if is_method or isinstance(function, OpFunction):
                schemas = _C._jit_get_schemas_for_operator(f"aten::{name}")
                rows = _rows(schemas, is_method)
                if rows is not None:
                    found[function] = rows
    return found


annotated_args = _made()
