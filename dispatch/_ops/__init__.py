"""Operators as Python objects, under the names of torch._ops.

The callable classes are compiled (`_C/overload`); what is written in Python stands here, by
concept: `namespaces` is `dispatch.ops` itself, `resolution` says which kernel serves a key,
`python_dispatcher` what runs when that dispatcher is on; `higher_order` operators are dispatched in
Python altogether; `script_objects` are the stand-ins that an operator of custom classes takes. This
file gathers.
"""

from typing import Any

from dispatch._C._functorch import TransformType
from dispatch._C.keys import DispatchKey
from dispatch._C.mode import TorchDispatchMode
from dispatch._C.overload import (
    OperatorBase,
    OpOverload,
    OpOverloadPacket,
    _refresh_packet as _look_again,
)
from dispatch._C.pre_dispatch import (
    _get_current_dispatch_mode_pre_dispatch,
    _get_dispatch_mode_pre_dispatch,
    _len_torch_dispatch_stack_pre_dispatch,
    _mode_stack_state_for_pre_dispatch,
    _ModeStackStateForPreDispatch,
    _pop_mode_from_pre_dispatch,
    _set_mode_pre_dispatch,
    mode_stack_state_for_pre_dispatch,
    register_pre_dispatch_mode,
    unset_mode_pre_dispatch,
)
from dispatch._ops.higher_order import (
    _HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS,
    HigherOrderOperator,
    _higher_order_ops,
)
from dispatch._ops.keysets import (
    _compute_keyset,
    _get_tensors,
    _to_flat_tuple,
    key_extractor,
)
from dispatch._ops.namespaces import (
    _SET_GLOBAL_FLAGS,
    _HigherOrderNamespace,
    _OpNamespace,
    _Ops,
    dl_open_guard,
    find_overload,
    ops,
    refresh,
)
from dispatch._ops.python_dispatcher import (
    add_cached_op,
    cached_ops,
    enable_python_dispatcher,
    get_cached_ops,
    no_python_dispatcher,
    reset_cached_ops,
)
from dispatch._ops.resolution import is_included_in_alias, resolve_key
from dispatch._ops.script_objects import (
    TorchBindOpOverload,
    _call_overload_packet_from_python,
    _contains_fake_script_object,
    _has_script_object_arg,
    _must_dispatch_in_python,
)

__all__ = [
    "_HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS",
    "_SET_GLOBAL_FLAGS",
    "DispatchKey",
    "HigherOrderOperator",
    "OpOverload",
    "OpOverloadPacket",
    "OperatorBase",
    "TorchBindOpOverload",
    "TorchDispatchMode",
    "TransformType",
    "_HigherOrderNamespace",
    "_ModeStackStateForPreDispatch",
    "_OpNamespace",
    "_Ops",
    "_call_overload_packet_from_python",
    "_compute_keyset",
    "_contains_fake_script_object",
    "_get_current_dispatch_mode_pre_dispatch",
    "_get_dispatch_mode_pre_dispatch",
    "_get_packet",
    "_get_tensors",
    "_has_script_object_arg",
    "_higher_order_ops",
    "_len_torch_dispatch_stack_pre_dispatch",
    "_mode_stack_state_for_pre_dispatch",
    "_must_dispatch_in_python",
    "_pop_mode_from_pre_dispatch",
    "_refresh_packet",
    "_set_mode_pre_dispatch",
    "_to_flat_tuple",
    "add_cached_op",
    "cached_ops",
    "dl_open_guard",
    "enable_python_dispatcher",
    "find_overload",
    "get_cached_ops",
    "is_included_in_alias",
    "key_extractor",
    "mode_stack_state_for_pre_dispatch",
    "no_python_dispatcher",
    "ops",
    "refresh",
    "register_pre_dispatch_mode",
    "reset_cached_ops",
    "resolve_key",
    "unset_mode_pre_dispatch",
]


def _get_packet(qualname: str, op_module: str) -> tuple[Any, list[str] | None]:
    """(the packet's call, the overloads' names) of `namespace::name`; (None, None): no such one."""
    namespace, _, name = qualname.partition("::")
    packet = getattr(getattr(ops, namespace), name, None)
    return (None, None) if packet is None else (packet._op, packet._overload_names)


def _refresh_packet(packet: OpOverloadPacket) -> None:
    """Let a packet see overloads that were defined since; AssertionError when none is left."""
    _look_again(packet._qualified_op_name)
    if not packet._overload_names:
        raise AssertionError(f"{packet}: no overload is defined any more")
