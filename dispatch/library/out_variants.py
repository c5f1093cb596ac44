"""Which overload of an operator fills tensors that it is given (torch._library._out_variant).

The out variant of a functional operator is an overload of the same packet with the tag `out`. It
takes the same arguments, in order and with the same defaults, and beside them a written tensor for
each of the operator's results. One that is called otherwise can be registered by hand.
"""

from typing import Any

from dispatch._C.overload import OpOverload
from dispatch._C.tags import Tag

__all__ = [
    "check_out_variant",
    "get_out_arg_names",
    "lookup_manual_out_variant",
    "register_out_variant",
    "to_out_variant",
]

_registered: dict[OpOverload, OpOverload] = {}


def register_out_variant(functional_op: OpOverload, out_op: OpOverload) -> None:
    """Say by hand which operator is the out variant of another."""
    _registered[functional_op] = out_op


def lookup_manual_out_variant(op: OpOverload) -> OpOverload | None:
    """What was registered by hand; None when nothing was."""
    return _registered.get(op)


def _is_out(argument: Any) -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def _inputs(op: OpOverload) -> list[tuple[str, str, Any]]:
    given = [a for a in op._schema.arguments if not _is_out(a)]
    return [(a.name, str(a.type), a.default_value) for a in given]


def _tagged(op: OpOverload) -> list[OpOverload]:
    return [found for found in op.overloadpacket.op_overloads() if Tag.out in found.tags]


def get_out_arg_names(out_op: OpOverload) -> list[str]:
    """The names of the arguments that an out variant writes."""
    return [a.name for a in out_op._schema.arguments if _is_out(a)]


def to_out_variant(op: OpOverload) -> OpOverload | None:
    """The out variant among the overloads of a functional operator; None when there is none.

    Raises:
        RuntimeError: the operator writes an argument, or its name says so.
    """
    schema = op._schema
    if op._packet_name().endswith("_") or any(a.is_write for a in schema.arguments):
        raise RuntimeError(f"{op} can have no out variant: its schema is not functional: {schema}")
    wanted = _inputs(op)
    for found in _tagged(op):
        written = [a for a in found._schema.arguments if _is_out(a)]
        if _inputs(found) == wanted and len(written) == len(schema.returns):
            return found
    return None


def check_out_variant(functional_op: OpOverload, expected_out_op: OpOverload) -> None:
    """AssertionError unless an operator's out variant is found, and is the expected one."""
    found = to_out_variant(functional_op)
    if found is None:
        tagged = [str(op._schema) for op in _tagged(functional_op)] or ["none"]
        raise AssertionError(
            f"We did not find an out variant for {functional_op}: an overload with the tag `out`, "
            f"the same arguments, and a written one for each result. With the tag: {tagged}"
        )
    if found != expected_out_op:
        raise AssertionError(f"{functional_op}: expected {expected_out_op}, found {found}")
