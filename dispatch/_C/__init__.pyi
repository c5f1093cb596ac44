from collections.abc import Callable, Iterable

from dispatch._C import (
    dispatcher as dispatcher,
    dtypes as dtypes,
    fallbacks as fallbacks,
    grad_mode as grad_mode,
    guards as guards,
    inspection as inspection,
    keys as keys,
    mode as mode,
    operator as operator,
    overload as overload,
    python_kernel as python_kernel,
    registration as registration,
    tags as tags,
    tensor as tensor,
    tls as tls,
    values as values,
)
from dispatch._C.arrays import (
    _dispatch_keys as _dispatch_keys,
    _new_strided as _new_strided,
    _numpy_view as _numpy_view,
    _set_conj as _set_conj,
    _set_neg as _set_neg,
    _set_throw_on_mutable_data_ptr as _set_throw_on_mutable_data_ptr,
    _set_warn_deprecated_on_mutable_data_ptr as _set_warn_deprecated_on_mutable_data_ptr,
)
from dispatch._C.disabled import (
    _disabled_torch_dispatch_impl as _disabled_torch_dispatch_impl,
    _disabled_torch_function_impl as _disabled_torch_function_impl,
)
from dispatch._C.dispatcher import _emitted_names as _emitted_names
from dispatch._C.dtypes import (
    _from_numpy_dtype as _from_numpy_dtype,
    _mkldnn as _mkldnn,
    _numpy_dtype as _numpy_dtype,
    device as device,
    dtype as dtype,
    layout as layout,
    memory_format as memory_format,
)
from dispatch._C.enums import (
    _SchemaArgType as _SchemaArgType,
    _TorchFunctionState as _TorchFunctionState,
)
from dispatch._C.fallbacks import (
    _any_output_is_alias_to_input_or_output as _any_output_is_alias_to_input_or_output,
    _any_requires_grad as _any_requires_grad,
    _get_autograd_fallback_mode as _get_autograd_fallback_mode,
    _set_autograd_fallback_mode as _set_autograd_fallback_mode,
)
from dispatch._C.function import _find_function as _find_function
from dispatch._C.grad_mode import (
    _InferenceMode as _InferenceMode,
    _set_grad_enabled as _set_grad_enabled,
)
from dispatch._C.guards import (
    DisableTorchFunction as DisableTorchFunction,
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
    ExcludeDispatchKeyGuard as ExcludeDispatchKeyGuard,
    _AutoDispatchBelowADInplaceOrView as _AutoDispatchBelowADInplaceOrView,
    _AutoDispatchBelowAutograd as _AutoDispatchBelowAutograd,
    _DisableAutocast as _DisableAutocast,
    _DisableFuncTorch as _DisableFuncTorch,
    _DisablePythonDispatcher as _DisablePythonDispatcher,
    _DisableTorchDispatch as _DisableTorchDispatch,
    _EnablePreDispatch as _EnablePreDispatch,
    _EnablePythonDispatcher as _EnablePythonDispatcher,
    _EnableTorchFunction as _EnableTorchFunction,
    _ExcludeDispatchKeyGuard as _ExcludeDispatchKeyGuard,
    _ForceDispatchKeyGuard as _ForceDispatchKeyGuard,
    _IncludeDispatchKeyGuard as _IncludeDispatchKeyGuard,
    _live_guards as _live_guards,
    _PreserveDispatchKeyGuard as _PreserveDispatchKeyGuard,
    _RestorePythonTLSSnapshot as _RestorePythonTLSSnapshot,
    _SetExcludeDispatchKeyGuard as _SetExcludeDispatchKeyGuard,
)
from dispatch._C.inspection import (
    _dispatch_call_boxed as _dispatch_call_boxed,
    _dispatch_check_all_invariants as _dispatch_check_all_invariants,
    _dispatch_check_invariants as _dispatch_check_invariants,
    _dispatch_dump as _dispatch_dump,
    _dispatch_dump_table as _dispatch_dump_table,
    _dispatch_find_dangling_impls as _dispatch_find_dangling_impls,
    _dispatch_find_schema_or_throw as _dispatch_find_schema_or_throw,
    _dispatch_get_all_op_names as _dispatch_get_all_op_names,
    _dispatch_get_computed_kernel_for_dispatch_key as _dispatch_get_computed_kernel_for_dispatch_key,
    _dispatch_get_registrations_for_dispatch_key as _dispatch_get_registrations_for_dispatch_key,
    _dispatch_has_backend_fallback as _dispatch_has_backend_fallback,
    _dispatch_has_computed_kernel_for_dispatch_key as _dispatch_has_computed_kernel_for_dispatch_key,
    _dispatch_has_kernel as _dispatch_has_kernel,
    _dispatch_has_kernel_for_any_dispatch_key as _dispatch_has_kernel_for_any_dispatch_key,
    _dispatch_has_kernel_for_dispatch_key as _dispatch_has_kernel_for_dispatch_key,
    _dispatch_isTensorSubclassLike as _dispatch_isTensorSubclassLike,
    _dispatch_kernel_for_dispatch_key_is_fallthrough as _dispatch_kernel_for_dispatch_key_is_fallthrough,
    _dispatch_key_set as _dispatch_key_set,
    _dispatch_print_registrations_for_dispatch_key as _dispatch_print_registrations_for_dispatch_key,
    _dispatch_set_report_error_callback as _dispatch_set_report_error_callback,
    _dispatch_table as _dispatch_table,
    _DispatchOperatorHandle as _DispatchOperatorHandle,
    _get_schema as _get_schema,
    _overload_names as _overload_names,
    _resolve_overload as _resolve_overload,
    _SafeKernelFunction as _SafeKernelFunction,
)
from dispatch._C.jit import (
    _get_operation_overload as _get_operation_overload,
    _jit_get_all_schemas as _jit_get_all_schemas,
    _jit_get_operation as _jit_get_operation,
    _jit_get_schemas_for_operator as _jit_get_schemas_for_operator,
    _jit_resolve_packet as _jit_resolve_packet,
)
from dispatch._C.keys import (
    DispatchKey as DispatchKey,
    DispatchKeySet as DispatchKeySet,
    _additional_keys_to_prop_for_wrapper_tensors as _additional_keys_to_prop_for_wrapper_tensors,
    _after_ADInplaceOrView_keyset as _after_ADInplaceOrView_keyset,
    _after_autograd_keyset as _after_autograd_keyset,
    _dispatch_autogradother_backends as _dispatch_autogradother_backends,
    _dispatch_get_backend_keyset_from_autograd as _dispatch_get_backend_keyset_from_autograd,
    _dispatch_is_alias_key as _dispatch_is_alias_key,
    _dispatch_is_included_in_alias as _dispatch_is_included_in_alias,
    _dispatch_key_for_device as _dispatch_key_for_device,
    _dispatch_key_name as _dispatch_key_name,
    _dispatch_key_parse as _dispatch_key_parse,
    _dispatch_keyset_full as _dispatch_keyset_full,
    _dispatch_keyset_full_after as _dispatch_keyset_full_after,
    _dispatch_keyset_to_string as _dispatch_keyset_to_string,
    _dispatch_num_backends as _dispatch_num_backends,
    _functionality_to_backend_keys as _functionality_to_backend_keys,
    _get_privateuse1_backend_name as _get_privateuse1_backend_name,
    _parse_dispatch_key as _parse_dispatch_key,
    _rename_privateuse1_backend as _rename_privateuse1_backend,
    _to_functionality_key as _to_functionality_key,
)
from dispatch._C.operator import (
    _should_allow_numbers_as_tensors as _should_allow_numbers_as_tensors,
)
from dispatch._C.overload import (
    OperatorBase as OperatorBase,
    OpOverload as OpOverload,
    OpOverloadPacket as OpOverloadPacket,
    _find_overload as _find_overload,
    _find_packet as _find_packet,
    _note_tags as _note_tags,
    _refresh_packet as _refresh_packet,
)
from dispatch._C.python_kernel import _torch_dispatch_rules as _torch_dispatch_rules
from dispatch._C.registration import (
    _dispatch_library as _dispatch_library,
    _dispatch_pystub as _dispatch_pystub,
    _DispatchModule as _DispatchModule,
    _Fallthrough as _Fallthrough,
    _on_registration_change as _on_registration_change,
)
from dispatch._C.schema_info import (
    _SchemaArgument as _SchemaArgument,
    _SchemaInfo as _SchemaInfo,
)
from dispatch._C.size import Size as Size
from dispatch._C.slots import (
    _install_tensor_attribute as _install_tensor_attribute,
    _set_slot_maker as _set_slot_maker,
    _set_tensor_hook as _set_tensor_hook,
)
from dispatch._C.storage import Storage as Storage, _new_storage as _new_storage
from dispatch._C.tensor import Tensor as Tensor
from dispatch._C.tls import (
    _are_functorch_transforms_active as _are_functorch_transforms_active,
    _dispatch_tls_is_dispatch_key_excluded as _dispatch_tls_is_dispatch_key_excluded,
    _dispatch_tls_is_dispatch_key_included as _dispatch_tls_is_dispatch_key_included,
    _dispatch_tls_local_exclude_set as _dispatch_tls_local_exclude_set,
    _dispatch_tls_local_include_set as _dispatch_tls_local_include_set,
    _dispatch_tls_set_dispatch_key_excluded as _dispatch_tls_set_dispatch_key_excluded,
    _dispatch_tls_set_dispatch_key_included as _dispatch_tls_set_dispatch_key_included,
    _get_dispatch_mode as _get_dispatch_mode,
    _get_dispatch_stack_at as _get_dispatch_stack_at,
    _get_obj_in_tls as _get_obj_in_tls,
    _get_torch_function_state as _get_torch_function_state,
    _is_key_in_tls as _is_key_in_tls,
    _is_torch_function_all_disabled as _is_torch_function_all_disabled,
    _is_torch_function_enabled as _is_torch_function_enabled,
    _is_torch_function_mode_enabled as _is_torch_function_mode_enabled,
    _len_torch_dispatch_stack as _len_torch_dispatch_stack,
    _meta_in_tls_dispatch_include as _meta_in_tls_dispatch_include,
    _pop_torch_dispatch_stack as _pop_torch_dispatch_stack,
    _push_on_torch_dispatch_stack as _push_on_torch_dispatch_stack,
    _remove_obj_from_tls as _remove_obj_from_tls,
    _set_dispatch_mode as _set_dispatch_mode,
    _set_meta_in_tls_dispatch_include as _set_meta_in_tls_dispatch_include,
    _set_torch_function_state as _set_torch_function_state,
    _stash_obj_in_tls as _stash_obj_in_tls,
    _TorchDispatchModeKey as _TorchDispatchModeKey,
    _unset_dispatch_mode as _unset_dispatch_mode,
)
from dispatch._C.torch_function import (
    _ask_torch_function as _ask_torch_function,
    _convert as _convert,
    _get_function_stack_at as _get_function_stack_at,
    _has_torch_function as _has_torch_function,
    _has_torch_function_unary as _has_torch_function_unary,
    _has_torch_function_variadic as _has_torch_function_variadic,
    _len_torch_function_stack as _len_torch_function_stack,
    _maybe_call_torch_function_for_op_packet as _maybe_call_torch_function_for_op_packet,
    _nowrap_functions as _nowrap_functions,
    _overloaded_arguments as _overloaded_arguments,
    _peek_should_skip_torch_function as _peek_should_skip_torch_function,
    _pop_torch_function_stack as _pop_torch_function_stack,
    _push_on_torch_function_stack as _push_on_torch_function_stack,
    _quiet as _quiet,
    _set_skip_next_torch_function as _set_skip_next_torch_function,
    _skip_one_hop_torch_function as _skip_one_hop_torch_function,
    _watch_function as _watch_function,
    _watch_slot as _watch_slot,
    _watch_tensor as _watch_tensor,
)
from dispatch.codegen.parser import parse_schema as parse_schema
from dispatch.codegen.schema import (
    AliasInfo as AliasInfo,
    Argument as Argument,
    FunctionSchema as FunctionSchema,
)
from dispatch.codegen.types import (
    AwaitType as AwaitType,
    ClassType as ClassType,
    DictType as DictType,
    FutureType as FutureType,
    ListType as ListType,
    OptionalType as OptionalType,
    RRefType as RRefType,
    TupleType as TupleType,
    Type as Type,
    UnionType as UnionType,
)
from dispatch.functional.wrappers import (
    _commit_update as _commit_update,
    _disable_functionalization as _disable_functionalization,
    _enable_functionalization as _enable_functionalization,
    _freeze_functional_tensor as _freeze_functional_tensor,
    _from_functional_tensor as _from_functional_tensor,
    _functionalization_reapply_views_tls as _functionalization_reapply_views_tls,
    _functionalize_are_all_mutations_hidden_from_autograd as _functionalize_are_all_mutations_hidden_from_autograd,
    _functionalize_are_all_mutations_under_no_grad_or_inference_mode as _functionalize_are_all_mutations_under_no_grad_or_inference_mode,
    _functionalize_commit_update as _functionalize_commit_update,
    _functionalize_enable_reapply_views as _functionalize_enable_reapply_views,
    _functionalize_get_storage_size as _functionalize_get_storage_size,
    _functionalize_has_data_mutation as _functionalize_has_data_mutation,
    _functionalize_has_metadata_mutation as _functionalize_has_metadata_mutation,
    _functionalize_inductor_storage_resized_counter as _functionalize_inductor_storage_resized_counter,
    _functionalize_is_multi_output_view as _functionalize_is_multi_output_view,
    _functionalize_is_symbolic as _functionalize_is_symbolic,
    _functionalize_mark_mutation_hidden_from_autograd as _functionalize_mark_mutation_hidden_from_autograd,
    _functionalize_mark_storage_changed as _functionalize_mark_storage_changed,
    _functionalize_mutation_counter as _functionalize_mutation_counter,
    _functionalize_replace as _functionalize_replace,
    _functionalize_storage_changed_counter as _functionalize_storage_changed_counter,
    _functionalize_sync as _functionalize_sync,
    _functionalize_unsafe_set as _functionalize_unsafe_set,
    _functionalize_was_inductor_storage_resized as _functionalize_was_inductor_storage_resized,
    _functionalize_was_storage_changed as _functionalize_was_storage_changed,
    _is_functional_tensor as _is_functional_tensor,
    _is_functional_tensor_base as _is_functional_tensor_base,
    _mirror_autograd_meta_to as _mirror_autograd_meta_to,
    _propagate_functional_input_mutation as _propagate_functional_input_mutation,
    _propagate_xla_data as _propagate_xla_data,
    _replace_ as _replace_,
    _sync as _sync,
    _to_functional_tensor as _to_functional_tensor,
    _unsafe_reset_storage as _unsafe_reset_storage,
    _wrap_functional_tensor as _wrap_functional_tensor,
)

def _offer(names: Iterable[str], find: Callable[[str], object]) -> None: ...

_LinAlgError: type[RuntimeError]

def _is_opaque_type_registered(type_name: str) -> bool: ...
def _register_opaque_type(type_name: str) -> None: ...
def _unregister_opaque_type(type_name: str) -> None: ...
