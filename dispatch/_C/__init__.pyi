from dispatch._C import dispatcher as dispatcher
from dispatch._C import dtypes as dtypes
from dispatch._C import fallbacks as fallbacks
from dispatch._C import grad_mode as grad_mode
from dispatch._C import guards as guards
from dispatch._C import keys as keys
from dispatch._C import mode as mode
from dispatch._C import operator as operator
from dispatch._C import overload as overload
from dispatch._C import python_kernel as python_kernel
from dispatch._C import registration as registration
from dispatch._C import tags as tags
from dispatch._C import tensor as tensor
from dispatch._C import tls as tls
from dispatch._C import values as values
from dispatch._C.dispatcher import _emitted_names as _emitted_names
from dispatch._C.dtypes import _from_numpy_dtype as _from_numpy_dtype
from dispatch._C.dtypes import _mkldnn as _mkldnn
from dispatch._C.dtypes import _numpy_dtype as _numpy_dtype
from dispatch._C.dtypes import device as device
from dispatch._C.dtypes import dtype as dtype
from dispatch._C.dtypes import layout as layout
from dispatch._C.dtypes import memory_format as memory_format
from dispatch._C.grad_mode import _InferenceMode as _InferenceMode
from dispatch._C.grad_mode import _set_grad_enabled as _set_grad_enabled
from dispatch._C.guards import DisableTorchFunction as DisableTorchFunction
from dispatch._C.guards import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from dispatch._C.guards import (
    _AutoDispatchBelowADInplaceOrView as _AutoDispatchBelowADInplaceOrView,
)
from dispatch._C.guards import _AutoDispatchBelowAutograd as _AutoDispatchBelowAutograd
from dispatch._C.guards import _DisablePythonDispatcher as _DisablePythonDispatcher
from dispatch._C.guards import _DisableTorchDispatch as _DisableTorchDispatch
from dispatch._C.guards import _EnablePreDispatch as _EnablePreDispatch
from dispatch._C.guards import _EnablePythonDispatcher as _EnablePythonDispatcher
from dispatch._C.guards import _EnableTorchFunction as _EnableTorchFunction
from dispatch._C.guards import _ExcludeDispatchKeyGuard as _ExcludeDispatchKeyGuard
from dispatch._C.guards import _ForceDispatchKeyGuard as _ForceDispatchKeyGuard
from dispatch._C.guards import _IncludeDispatchKeyGuard as _IncludeDispatchKeyGuard
from dispatch._C.guards import _live_guards as _live_guards
from dispatch._C.guards import _PreserveDispatchKeyGuard as _PreserveDispatchKeyGuard
from dispatch._C.guards import _RestorePythonTLSSnapshot as _RestorePythonTLSSnapshot
from dispatch._C.guards import _SetExcludeDispatchKeyGuard as _SetExcludeDispatchKeyGuard
from dispatch._C.keys import DispatchKey as DispatchKey
from dispatch._C.keys import DispatchKeySet as DispatchKeySet
from dispatch._C.keys import (
    _additional_keys_to_prop_for_wrapper_tensors as _additional_keys_to_prop_for_wrapper_tensors,
)
from dispatch._C.keys import _after_ADInplaceOrView_keyset as _after_ADInplaceOrView_keyset
from dispatch._C.keys import _after_autograd_keyset as _after_autograd_keyset
from dispatch._C.keys import _dispatch_autogradother_backends as _dispatch_autogradother_backends
from dispatch._C.keys import (
    _dispatch_get_backend_keyset_from_autograd as _dispatch_get_backend_keyset_from_autograd,
)
from dispatch._C.keys import _dispatch_is_alias_key as _dispatch_is_alias_key
from dispatch._C.keys import _dispatch_is_included_in_alias as _dispatch_is_included_in_alias
from dispatch._C.keys import _dispatch_key_for_device as _dispatch_key_for_device
from dispatch._C.keys import _dispatch_key_name as _dispatch_key_name
from dispatch._C.keys import _dispatch_key_parse as _dispatch_key_parse
from dispatch._C.keys import _dispatch_keyset_full as _dispatch_keyset_full
from dispatch._C.keys import _dispatch_keyset_full_after as _dispatch_keyset_full_after
from dispatch._C.keys import _dispatch_keyset_to_string as _dispatch_keyset_to_string
from dispatch._C.keys import _dispatch_num_backends as _dispatch_num_backends
from dispatch._C.keys import _functionality_to_backend_keys as _functionality_to_backend_keys
from dispatch._C.keys import _get_privateuse1_backend_name as _get_privateuse1_backend_name
from dispatch._C.keys import _parse_dispatch_key as _parse_dispatch_key
from dispatch._C.keys import _rename_privateuse1_backend as _rename_privateuse1_backend
from dispatch._C.keys import _to_functionality_key as _to_functionality_key
from dispatch._C.operator import (
    _should_allow_numbers_as_tensors as _should_allow_numbers_as_tensors,
)
from dispatch._C.overload import OperatorBase as OperatorBase
from dispatch._C.overload import OpOverload as OpOverload
from dispatch._C.overload import OpOverloadPacket as OpOverloadPacket
from dispatch._C.overload import _find_function as _find_function
from dispatch._C.overload import _find_overload as _find_overload
from dispatch._C.overload import _find_packet as _find_packet
from dispatch._C.overload import _refresh_packet as _refresh_packet
from dispatch._C.overload import _set_tag_maker as _set_tag_maker
from dispatch._C.registration import _dispatch_call_boxed as _dispatch_call_boxed
from dispatch._C.registration import (
    _dispatch_check_all_invariants as _dispatch_check_all_invariants,
)
from dispatch._C.registration import _dispatch_check_invariants as _dispatch_check_invariants
from dispatch._C.registration import _dispatch_dump as _dispatch_dump
from dispatch._C.registration import _dispatch_dump_table as _dispatch_dump_table
from dispatch._C.registration import _dispatch_find_dangling_impls as _dispatch_find_dangling_impls
from dispatch._C.registration import (
    _dispatch_find_schema_or_throw as _dispatch_find_schema_or_throw,
)
from dispatch._C.registration import _dispatch_get_all_op_names as _dispatch_get_all_op_names
from dispatch._C.registration import (
    _dispatch_get_registrations_for_dispatch_key as _dispatch_get_registrations_for_dispatch_key,
)
from dispatch._C.registration import (
    _dispatch_has_backend_fallback as _dispatch_has_backend_fallback,
)
from dispatch._C.registration import (
    _dispatch_has_computed_kernel_for_dispatch_key as _dispatch_has_computed_kernel_for_dispatch_key,
)
from dispatch._C.registration import _dispatch_has_kernel as _dispatch_has_kernel
from dispatch._C.registration import (
    _dispatch_has_kernel_for_any_dispatch_key as _dispatch_has_kernel_for_any_dispatch_key,
)
from dispatch._C.registration import (
    _dispatch_has_kernel_for_dispatch_key as _dispatch_has_kernel_for_dispatch_key,
)
from dispatch._C.registration import (
    _dispatch_kernel_for_dispatch_key_is_fallthrough as _dispatch_kernel_for_dispatch_key_is_fallthrough,
)
from dispatch._C.registration import _dispatch_library as _dispatch_library
from dispatch._C.registration import (
    _dispatch_print_registrations_for_dispatch_key as _dispatch_print_registrations_for_dispatch_key,
)
from dispatch._C.registration import _dispatch_table as _dispatch_table
from dispatch._C.registration import _Fallthrough as _Fallthrough
from dispatch._C.registration import _get_schema as _get_schema
from dispatch._C.registration import _on_registration_change as _on_registration_change
from dispatch._C.tensor import Size as Size
from dispatch._C.tensor import Storage as Storage
from dispatch._C.tensor import Tensor as Tensor
from dispatch._C.tensor import _disabled_torch_dispatch_impl as _disabled_torch_dispatch_impl
from dispatch._C.tensor import _dispatch_keys as _dispatch_keys
from dispatch._C.tensor import _install_tensor_attribute as _install_tensor_attribute
from dispatch._C.tensor import _new_storage as _new_storage
from dispatch._C.tensor import _new_strided as _new_strided
from dispatch._C.tensor import _numpy_view as _numpy_view
from dispatch._C.tensor import _set_conj as _set_conj
from dispatch._C.tensor import _set_neg as _set_neg
from dispatch._C.tensor import _set_tensor_hook as _set_tensor_hook
from dispatch._C.tls import (
    _dispatch_tls_is_dispatch_key_excluded as _dispatch_tls_is_dispatch_key_excluded,
)
from dispatch._C.tls import (
    _dispatch_tls_is_dispatch_key_included as _dispatch_tls_is_dispatch_key_included,
)
from dispatch._C.tls import _dispatch_tls_local_exclude_set as _dispatch_tls_local_exclude_set
from dispatch._C.tls import _dispatch_tls_local_include_set as _dispatch_tls_local_include_set
from dispatch._C.tls import (
    _dispatch_tls_set_dispatch_key_excluded as _dispatch_tls_set_dispatch_key_excluded,
)
from dispatch._C.tls import (
    _dispatch_tls_set_dispatch_key_included as _dispatch_tls_set_dispatch_key_included,
)
from dispatch._C.tls import _get_dispatch_mode as _get_dispatch_mode
from dispatch._C.tls import _get_dispatch_stack_at as _get_dispatch_stack_at
from dispatch._C.tls import _get_function_stack_at as _get_function_stack_at
from dispatch._C.tls import _is_torch_function_all_disabled as _is_torch_function_all_disabled
from dispatch._C.tls import _is_torch_function_enabled as _is_torch_function_enabled
from dispatch._C.tls import _is_torch_function_mode_enabled as _is_torch_function_mode_enabled
from dispatch._C.tls import _len_torch_dispatch_stack as _len_torch_dispatch_stack
from dispatch._C.tls import _len_torch_function_stack as _len_torch_function_stack
from dispatch._C.tls import _meta_in_tls_dispatch_include as _meta_in_tls_dispatch_include
from dispatch._C.tls import _pop_torch_dispatch_stack as _pop_torch_dispatch_stack
from dispatch._C.tls import _pop_torch_function_stack as _pop_torch_function_stack
from dispatch._C.tls import _push_on_torch_dispatch_stack as _push_on_torch_dispatch_stack
from dispatch._C.tls import _push_on_torch_function_stack as _push_on_torch_function_stack
from dispatch._C.tls import _set_dispatch_mode as _set_dispatch_mode
from dispatch._C.tls import _set_meta_in_tls_dispatch_include as _set_meta_in_tls_dispatch_include
from dispatch._C.tls import _TorchDispatchModeKey as _TorchDispatchModeKey
from dispatch._C.tls import _unset_dispatch_mode as _unset_dispatch_mode
from dispatch._C.values import _set_generator_type as _set_generator_type
from dispatch.codegen.schema import AliasInfo as AliasInfo
from dispatch.codegen.schema import Argument as Argument
from dispatch.codegen.schema import FunctionSchema as FunctionSchema
from dispatch.codegen.schema import parse_schema as parse_schema
