"""Which module of this package stands for which of PyTorch: the one table.

`MODULES` gives each module of PyTorch its sources here; a name is looked up in them in order.
`NAMES` has what is called otherwise, `HOMES` where classes say they are from, `HIDDEN` what
`dispatch` has at its top and `torch` has not; `refusals` has what is not here. A module over these
(`torch.utils` over `torch.utils._pytree`) needs no row. Sources are imported when somebody asks.
"""

from dispatch.as_torch.refusals import rows

__all__ = [
    "CALLED", "FUNCTIONS", "HIDDEN", "HOMES", "LATE_HOMES", "MODULES", "NAMES",
]  # fmt: skip

_MODULES = """
torch                                       dispatch
torch._ops                                  dispatch._ops
torch._C                                    dispatch._C dispatch dispatch.library.autocast
                                            dispatch.as_torch.builds
torch._C._acc                               dispatch.as_torch.backends
torch._C._autograd                          dispatch._C.versions
torch._C._functorch                         dispatch._C._functorch dispatch._C
                                            dispatch.as_torch.functorch
torch._C._fft                               dispatch.fft
torch._C._linalg                            dispatch.linalg
torch._C._nn                                dispatch._C._nn dispatch.as_torch.nn.parsing
torch._C._special                           dispatch.special
torch._C._VariableFunctions                 dispatch._C._variable_functions
torch._VF                                   dispatch._C._variable_functions
torch._tensor                               dispatch
torch._environment                          dispatch.as_torch.utilities
torch._utils                                dispatch.tensor.copy dispatch._C.keys dispatch._C.tags
                                            dispatch.as_torch.utilities
torch._tensor_str                           dispatch.tensor.text
torch.library                               dispatch.library
torch._library                              dispatch.library dispatch.registry
torch._library.autograd                     dispatch.library.autograd dispatch.as_torch.tensorlists
torch._library.custom_ops                   dispatch.library.custom_ops dispatch.library
torch._library.effects                      dispatch.registry.effects
torch._library.fake_class_registry          dispatch.fake.script_classes
                                            dispatch.registry.script_classes
torch._library.fake_profile                 dispatch.library.fake_profiles
torch._library.opaque_object                dispatch.library.opaque
torch._library._out_variant                 dispatch.library.out_variants
torch._library.triton                       dispatch.library.triton
torch._opaque_base                          dispatch.library.opaque
torch._library.fake_impl                    dispatch.registry.fake_kernels dispatch.library
torch._library.infer_schema                 dispatch.library.signatures
torch._library.simple_registry              dispatch.registry.entries
torch._library.utils                        dispatch.registry.schemas dispatch.registry.handles
                                            dispatch._ops
torch._custom_op                            dispatch.library
torch._custom_op.impl                       dispatch.library.older
torch._custom_ops                           dispatch._custom_ops
torch._subclasses.fake_tensor               dispatch.fake
torch._subclasses                           dispatch.fake
torch._subclasses.fake_impls                dispatch.fake.implementations dispatch.fake
torch._subclasses.fake_utils                dispatch.fake.cross_ref dispatch.fake.copy_mode
                                            dispatch.fake
torch._subclasses.functional_tensor         dispatch.functional
torch._subclasses.meta_utils                dispatch.fake.converter dispatch.fake
torch._subclasses.schema_check_mode         dispatch.tools
torch.amp                                   dispatch.library.autocast dispatch.as_torch.amp
torch.amp.autocast_mode                     dispatch.library.autocast dispatch.as_torch.amp
torch.cuda.amp                              dispatch.as_torch.cuda_amp
torch.cuda.amp.autocast_mode                dispatch.as_torch.cuda_amp
torch.cpu                                   dispatch.as_torch.cpu
torch.cpu.amp                               dispatch.library.autocast
torch.utils._python_dispatch                dispatch.modes.stack dispatch.modes.subclasses
                                            dispatch.modes.aliasing dispatch.modes
torch.utils._mode_utils                     dispatch.modes
torch.utils._pytree                         dispatch.pytree dispatch.pytree.nodes
torch.utils._cxx_pytree                     dispatch.pytree dispatch.pytree.nodes
torch.utils.deterministic                   dispatch.as_torch.deterministic
torch.utils.flop_counter                    dispatch.tools.flops dispatch.tools
torch.utils.dlpack                          dispatch.as_torch.dlpack
torch.overrides                             dispatch.modes.function dispatch.modes
torch._dynamo.config                        dispatch.fake.config
torch._functorch.config                     dispatch.fake.config
torch._dispatch.python                      dispatch._ops.python_dispatcher dispatch.functional
                                            dispatch.functional.cross_ref dispatch._ops
torch._python_dispatcher                    dispatch.tools.tables
torch._meta_registrations                   dispatch.fake.meta_registrations
torch._higher_order_ops                     dispatch._higher_order_ops
functorch.experimental.control_flow         dispatch._higher_order_ops
torch._higher_order_ops.associative_scan    dispatch._higher_order_ops.associative_scan
torch._higher_order_ops.auto_functionalize  dispatch._higher_order_ops.auto_functionalize
torch._higher_order_ops.cond                dispatch._higher_order_ops.cond
torch._higher_order_ops.effects             dispatch._higher_order_ops.effects
torch._higher_order_ops.hints_wrap          dispatch._higher_order_ops.wrappers
torch._higher_order_ops.invoke_subgraph     dispatch._higher_order_ops.invoke_subgraph
torch._higher_order_ops.map                 dispatch._higher_order_ops.map
torch._higher_order_ops.out_dtype           dispatch._higher_order_ops.out_dtype
torch._higher_order_ops.print               dispatch._higher_order_ops.print
torch._higher_order_ops.scan                dispatch._higher_order_ops.scan
torch._higher_order_ops.strict_mode         dispatch._higher_order_ops.wrappers
torch._higher_order_ops.while_loop          dispatch._higher_order_ops.while_loop
torch._higher_order_ops.wrap                dispatch.library.wrap
torch._higher_order_ops.utils               dispatch._higher_order_ops.rules
torch.fx                                    dispatch.as_torch.fx
torch.fx._pytree                            dispatch.as_torch.fx.flat
torch.fx._symbolic_trace                    dispatch.as_torch.fx.tracer
torch.fx.graph                              dispatch.as_torch.fx.graph
                                            dispatch.as_torch.fx.code
                                            dispatch.as_torch.fx.names
                                            dispatch.as_torch.fx.node
torch.fx.graph_module                       dispatch.as_torch.fx.module
torch.fx.interpreter                        dispatch.as_torch.fx.interpreter
torch.fx.node                               dispatch.as_torch.fx.node
                                            dispatch.as_torch.fx.names
torch.fx.proxy                              dispatch.as_torch.fx.proxy
torch.fx.subgraph_rewriter                  dispatch.as_torch.fx.patterns
torch.fx.passes.utils.matcher_utils         dispatch.as_torch.fx.patterns
torch.fx.tensor_type                        dispatch.as_torch.fx.tensor_types
torch.fx.traceback                          dispatch.as_torch.fx.traceback
torch.fx.immutable_collections              dispatch.as_torch.immutable
torch.fx.operator_schemas                   dispatch.as_torch.operator_schemas
torch.fx.experimental.proxy_tensor          dispatch.as_torch.fx.proxies
                                            dispatch.as_torch.fx.remarks
torch.fx.passes.fake_tensor_prop            dispatch.as_torch.fx.shapes
torch.fx.passes.shape_prop                  dispatch.as_torch.fx.shapes
torch.fx._compatibility                     dispatch.as_torch.fx.marks
torch.fx._lazy_graph_module                 dispatch.as_torch.fx.marks
torch.fx._utils                             dispatch.as_torch.fx.marks
torch.fx.annotate                           dispatch.as_torch.fx.passes.rewriting
torch.fx.passes.annotate_getitem_nodes      dispatch.as_torch.fx.marks
torch.fx.passes.dialect.common.cse_pass     dispatch.as_torch.fx.passes.same
torch.fx.passes.graph_manipulation          dispatch.as_torch.fx.passes.sizes
torch.fx.passes.graph_transform_observer    dispatch.as_torch.fx.passes.managers
torch.fx.passes.infra.partitioner           dispatch.as_torch.fx.passes.partitions
torch.fx.passes.infra.pass_base             dispatch.as_torch.fx.passes.managers
torch.fx.passes.infra.pass_manager          dispatch.as_torch.fx.passes.managers
torch.fx.passes.operator_support            dispatch.as_torch.fx.passes.support
torch.fx.passes.param_fetch                 dispatch.as_torch.fx.passes.lowering
torch.fx.passes.pass_manager                dispatch.as_torch.fx.passes.older
torch.fx.passes.reinplace                   dispatch.as_torch.fx.passes.reinplacing
torch.fx.passes.split_module                dispatch.as_torch.fx.passes.splits
torch.fx.passes.split_utils                 dispatch.as_torch.fx.passes.tags
torch.fx.passes.tools_common                dispatch.as_torch.fx.passes.order
torch.fx.passes.utils.common                dispatch.as_torch.fx.passes.tags
torch.fx.passes.utils.fuser_utils           dispatch.as_torch.fx.passes.fusing
torch.fx.passes.utils.matcher_with_name_node_map_utils dispatch.as_torch.fx.patterns
torch.fx.passes.utils.source_matcher_utils  dispatch.as_torch.fx.passes.sources
torch.fx.experimental.const_fold            dispatch.as_torch.fx.passes.folding
torch.fx.experimental.merge_matmul          dispatch.as_torch.fx.passes.lowering
torch.fx.experimental.schema_type_annotation dispatch.as_torch.fx.passes.lowering
torch.fx.experimental.normalize             dispatch.as_torch.fx.passes.normalizing
torch.fx.experimental.optimization          dispatch.as_torch.fx.passes.optimizing
torch.fx.experimental.rewriter              dispatch.as_torch.fx.passes.rewriting
torch.fx.experimental._config               dispatch.symbolic.config
torch.fx.experimental.symbolic_shapes       dispatch.symbolic dispatch.as_torch.fx.shapes
torch.fx.experimental.recording             dispatch.symbolic.recording
torch.fx.experimental.sym_node              dispatch.symbolic.methods dispatch.symbolic
torch.utils._sympy.functions                dispatch.symbolic.functions
torch.utils._sympy.interp                   dispatch.as_torch.formulas.interpreting
torch.utils._sympy.numbers                  dispatch.symbolic.ranges
torch.utils._sympy.reference                dispatch.as_torch.formulas.analyses
torch.utils._sympy.singleton_int            dispatch.as_torch.formulas.atoms
torch.utils._sympy.solve                    dispatch.as_torch.formulas.solving
torch.utils._sympy.symbol                   dispatch.symbolic.symbol_kinds
torch.utils._sympy.value_ranges             dispatch.symbolic dispatch.symbolic.functions
torch._dynamo.source                        dispatch.symbolic.sources
torch.export                                dispatch.as_torch.exported
torch.export.exported_program               dispatch.as_torch.exported.program
torch.export.graph_signature                dispatch.as_torch.exported.signature
torch.autograd                              dispatch._C.grad_mode dispatch.as_torch.autograd
torch.autograd.function                     dispatch.as_torch.autograd
torch.autograd.grad_mode                    dispatch._C.grad_mode
torch.func                                  dispatch.functional
torch._lobpcg                               dispatch.tensor.lobpcg
torch._lowrank                              dispatch.tensor.lowrank
torch.functional                            dispatch.tensor.functions dispatch
torch.fft                                   dispatch.fft
torch.linalg                                dispatch.linalg
torch.special                               dispatch.special
torch.multiprocessing.reductions            dispatch.tensor.sharing
torch.random                                dispatch.tensor.random dispatch.as_torch.random
                                            dispatch
torch.return_types                          dispatch.return_types
torch.serialization                         dispatch.as_torch.serialization
torch.storage                               dispatch.tensor.typed_storage
                                            dispatch.tensor.storage_classes dispatch
torch.types                                 dispatch.types
torch.cuda                                  dispatch.as_torch.absent
torch.distributed                           dispatch.as_torch.absent
torch.mps                                   dispatch.as_torch.absent
torch.xpu                                   dispatch.as_torch.absent
torch.backends.mps                          dispatch.as_torch.absent
torch.backends.cuda                         dispatch.as_torch.absent
torch.backends.cudnn                        dispatch.as_torch.absent
torch.backends.mkl                          dispatch.as_torch.absent
torch.backends.mkldnn                       dispatch.as_torch.absent
torch.backends.openmp                       dispatch.as_torch.absent
torch.backends.quantized                    dispatch.as_torch.absent
torch.backends.xnnpack                      dispatch.as_torch.absent
torch.futures                               dispatch.as_torch.futures
torch.torch_version                         dispatch.as_torch.version
torch.version                               dispatch.as_torch.version
torch.signal.windows                        dispatch.as_torch.windows
torch.testing                               dispatch.as_torch.testing.comparing
                                            dispatch.as_torch.testing.making
torch.testing._comparison                   dispatch.as_torch.testing.comparing
torch.testing._creation                     dispatch.as_torch.testing.making
torch._export.wrappers                      dispatch.as_torch.markers
torch._dynamo                               dispatch.as_torch.markers
torch.compiler                              dispatch.as_torch.markers
torch.jit                                   dispatch.as_torch.unscripted
torch.jit._script                           dispatch.as_torch.unscripted
torch.jit._trace                            dispatch.as_torch.unscripted
torch._jit_internal                         dispatch.as_torch.unscripted
torch.nn.utils                              dispatch.as_torch.nn.utils
torch.nn.utils.clip_grad                    dispatch.as_torch.nn.utils.gradients
torch.nn.utils.convert_parameters           dispatch.as_torch.nn.utils.vectors
torch.nn.utils.fusion                       dispatch.as_torch.nn.utils.fusion
torch.nn.utils.init                         dispatch.as_torch.nn.utils.vectors
torch.nn.utils.memory_format                dispatch.as_torch.nn.utils.vectors
torch.nn.utils.parametrizations             dispatch.as_torch.nn.utils.parametrizations
torch.nn.utils.parametrize                  dispatch.as_torch.nn.parametrize
torch.nn.utils.prune                        dispatch.as_torch.nn.utils.prune
torch.nn.utils.spectral_norm                dispatch.as_torch.nn.utils.spectral_norm
torch.nn.utils.weight_norm                  dispatch.as_torch.nn.utils.weight_norm
torch.nn.utils.rnn                          dispatch.as_torch.nn.packed
torch.nn.utils.stateless                    dispatch.as_torch.nn.stateless
torch._utils_internal                       dispatch.as_torch.markers
torch.utils._contextlib                     dispatch.as_torch.contexts
torch.utils._functools                      dispatch.as_torch.utilities
torch.utils._helion                         dispatch.as_torch.utilities
torch.utils._import_utils                   dispatch.as_torch.utilities
torch.utils._ordered_set                    dispatch.as_torch.utilities
torch.utils._stats                          dispatch.as_torch.utilities
torch.utils._thunk                          dispatch.as_torch.utilities
torch.utils._traceback                      dispatch.as_torch.tracebacks
torch.utils._triton                         dispatch.as_torch.utilities
torch.utils._typing_utils                   dispatch.as_torch.utilities
torch.utils.module_tracker                  dispatch.as_torch.module_tracker
torch.utils._device                         dispatch.as_torch.devices
torch.utils._exposed_in                     dispatch.as_torch.markers
torch.utils._dtype_abbrs                    dispatch.as_torch.dtype_abbrs
torch.testing._internal.logging_tensor      dispatch.tools.logging dispatch.modes
torch._guards                               dispatch.as_torch.guards
torch._decomp                               dispatch.as_torch.decompositions
torch._refs                                 dispatch.as_torch.refs
torch._refs.fft                             dispatch.as_torch.refs.fft
torch._refs.linalg                          dispatch.as_torch.refs.linalg
torch._refs.nn.functional                   dispatch.as_torch.refs.nn.functional
torch._refs.special                         dispatch.as_torch.refs.special
torch._prims                                dispatch.as_torch.prims
torch._prims_common                         dispatch.as_torch.prims_common
                                            dispatch.as_torch.prims_dtypes
                                            dispatch.as_torch.prims_shapes
torch._prims.utils                          dispatch.as_torch.prims_common
                                            dispatch.as_torch.prims_dtypes
                                            dispatch.as_torch.prims_shapes
torch.nn                                    dispatch.as_torch.nn dispatch.as_torch.nn.modules
                                            dispatch.as_torch.nn.parallel
torch.nn._reduction                         dispatch.as_torch.nn.reductions
torch.nn.attention                          dispatch.as_torch.nn.backends
torch.nn.grad                               dispatch.as_torch.nn.grad
torch.nn.init                               dispatch.as_torch.nn.init
torch.nn.modules                            dispatch.as_torch.nn.modules
torch.nn.modules.activation                 dispatch.as_torch.nn.modules
torch.nn.modules.batchnorm                  dispatch.as_torch.nn.modules
                                            dispatch.as_torch.nn.modules.norms
torch.nn.modules.container                  dispatch.as_torch.nn.modules
torch.nn.modules.conv                       dispatch.as_torch.nn.modules
                                            dispatch.as_torch.nn.modules.conv
torch.nn.modules.dropout                    dispatch.as_torch.nn.modules
                                            dispatch.as_torch.nn.modules.applied
torch.nn.modules.adaptive                   dispatch.as_torch.nn.modules.adaptive
torch.nn.modules.lazy                       dispatch.as_torch.nn.modules.lazy
torch.nn.modules.channelshuffle             dispatch.as_torch.nn.modules
torch.nn.modules.distance                   dispatch.as_torch.nn.modules
torch.nn.modules.flatten                    dispatch.as_torch.nn.modules
torch.nn.modules.fold                       dispatch.as_torch.nn.modules
torch.nn.modules.instancenorm               dispatch.as_torch.nn.modules
                                            dispatch.as_torch.nn.modules.norms
torch.nn.modules.linear                     dispatch.as_torch.nn.modules
torch.nn.modules.loss                       dispatch.as_torch.nn.modules
                                            dispatch.as_torch.nn.modules.losses
torch.nn.modules.module                     dispatch.as_torch.nn.modules.module
torch.nn.modules.normalization              dispatch.as_torch.nn.modules
torch.nn.modules.padding                    dispatch.as_torch.nn.modules
                                            dispatch.as_torch.nn.modules.windows
torch.nn.modules.pixelshuffle               dispatch.as_torch.nn.modules
torch.nn.modules.pooling                    dispatch.as_torch.nn.modules
                                            dispatch.as_torch.nn.modules.windows
torch.nn.modules.rnn                        dispatch.as_torch.nn.modules
torch.nn.modules.sparse                     dispatch.as_torch.nn.modules
torch.nn.modules.transformer                dispatch.as_torch.nn.modules
torch.nn.modules.upsampling                 dispatch.as_torch.nn.modules
torch.nn.modules.utils                      dispatch.as_torch.nn.modules.utils
torch.nn.functional                         dispatch.as_torch.nn.functional
torch.nn.parallel                           dispatch.as_torch.nn.parallel
torch.nn.parallel.data_parallel             dispatch.as_torch.nn.parallel
torch.nn.parameter                          dispatch.as_torch.nn.parameter
torch.testing._internal.autograd_function_db dispatch.as_torch.testing.absent
torch.testing._internal.common_cuda         dispatch.as_torch.testing.absent
                                            dispatch.as_torch.testing.hardware
torch.testing._internal.common_device_type  dispatch.as_torch.testing.devices
                                            dispatch.as_torch.testing.hardware
                                            dispatch.as_torch.testing.marks
torch.testing._internal.common_dtype        dispatch.as_torch.testing.dtype_lists
torch.testing._internal.common_jit          dispatch.as_torch.testing.absent
torch.testing._internal.common_methods_invocations dispatch.as_torch.testing.absent
                                            dispatch.as_torch.testing.opinfo
torch.testing._internal.common_mkldnn       dispatch.as_torch.testing.hardware
torch.testing._internal.common_modules      dispatch.as_torch.testing.samples
                                            dispatch.as_torch.testing.absent
torch.testing._internal.common_nn           dispatch.as_torch.testing.absent
torch.testing._internal.common_optimizers   dispatch.as_torch.testing.samples
                                            dispatch.as_torch.testing.absent
torch.testing._internal.common_quantization dispatch.as_torch.testing.hardware
torch.testing._internal.common_utils        dispatch.as_torch.testing.case
                                            dispatch.as_torch.testing.marks
                                            dispatch.as_torch.testing.helpers
                                            dispatch.as_torch.testing.hardware
                                            dispatch.as_torch.testing.matrices
                                            dispatch.as_torch.testing.making
                                            dispatch.as_torch.dtype_abbrs
torch.testing._internal.common_subclass     dispatch.as_torch.testing.subclasses
torch.testing._internal.custom_op_db        dispatch.as_torch.testing.numpy_ops
                                            dispatch.as_torch.testing.custom_op_db
torch.testing._internal.generated.annotated_fn_args dispatch.as_torch.testing.annotated_args
torch.testing._internal.hop_db              dispatch.as_torch.testing.absent
torch.testing._internal.inductor_utils      dispatch.as_torch.testing.absent
                                            dispatch.as_torch.testing.hardware
torch.testing._internal.jit_utils           dispatch.as_torch.testing.absent
torch.testing._internal.logging_utils       dispatch.as_torch.logs
torch.testing._internal.opinfo              dispatch.as_torch.testing.opinfo
torch.testing._internal.opinfo.core         dispatch.as_torch.testing.opinfo
torch.testing._internal.opinfo.refs         dispatch.as_torch.testing.opinfo
torch.testing._internal.triton_utils        dispatch.as_torch.testing.hardware
torch.testing._internal.optests             dispatch.library.checks
                                            dispatch.as_torch.testing.opcheck_tests
                                            dispatch.as_torch.testing.opcheck_generated
                                            dispatch.as_torch.testing.trace_checks
torch.testing._internal.two_tensor          dispatch.as_torch.testing.two_tensor
torch.testing._internal.optests.aot_autograd  dispatch.as_torch.testing.opcheck_tests
                                            dispatch.as_torch.testing.trace_checks
torch.testing._internal.optests.make_fx     dispatch.as_torch.testing.trace_checks
torch.testing._internal.optests.generate_tests
                                            dispatch.library.checks
                                            dispatch.as_torch.testing.opcheck_generated
torch._dynamo.test_case                     dispatch.as_torch.testing.patched
torch._dynamo.testing                       dispatch.as_torch.testing.patched
torch._logging                              dispatch.as_torch.logs
torch.accelerator                           dispatch.as_torch.accelerator
torch.__config__                            dispatch.as_torch.settings
torch.utils.hooks                           dispatch.as_torch.nn.modules.hooks
torch.utils.weak                            dispatch.as_torch.weak
torch.utils.checkpoint                      dispatch.as_torch.checkpoint
torch.utils.backend_registration            dispatch.as_torch.backends
"""

_NAMES = """
torch.__version__                           dispatch.as_torch.version.__version__
torch.autocast                              dispatch.as_torch.backends.autocast
torch.amp.autocast                          dispatch.as_torch.backends.autocast
torch.amp.autocast_mode.autocast            dispatch.as_torch.backends.autocast
torch.backends.cuda.cudnn_sdp_enabled       dispatch.as_torch.nn.backends.cudnn_sdp_enabled
torch.backends.cuda.enable_cudnn_sdp        dispatch.as_torch.nn.backends.enable_cudnn_sdp
torch._C._get_cudnn_sdp_enabled             dispatch.as_torch.nn.backends.cudnn_sdp_enabled
torch._C._set_sdp_use_cudnn                 dispatch.as_torch.nn.backends.enable_cudnn_sdp
torch.backends.cuda.flash_sdp_enabled       dispatch.as_torch.nn.backends.flash_sdp_enabled
torch.backends.cuda.enable_flash_sdp        dispatch.as_torch.nn.backends.enable_flash_sdp
torch._C._get_flash_sdp_enabled             dispatch.as_torch.nn.backends.flash_sdp_enabled
torch._C._set_sdp_use_flash                 dispatch.as_torch.nn.backends.enable_flash_sdp
torch.backends.cuda.math_sdp_enabled        dispatch.as_torch.nn.backends.math_sdp_enabled
torch.backends.cuda.enable_math_sdp         dispatch.as_torch.nn.backends.enable_math_sdp
torch._C._get_math_sdp_enabled              dispatch.as_torch.nn.backends.math_sdp_enabled
torch._C._set_sdp_use_math                  dispatch.as_torch.nn.backends.enable_math_sdp
torch.backends.cuda.enable_mem_efficient_sdp
    dispatch.as_torch.nn.backends.enable_mem_efficient_sdp
torch.backends.cuda.mem_efficient_sdp_enabled
    dispatch.as_torch.nn.backends.mem_efficient_sdp_enabled
torch._C._get_mem_efficient_sdp_enabled     dispatch.as_torch.nn.backends.mem_efficient_sdp_enabled
torch._C._set_sdp_use_mem_efficient         dispatch.as_torch.nn.backends.enable_mem_efficient_sdp
torch.backends.cuda.sdp_kernel              dispatch.as_torch.nn.backends.sdp_kernel
torch.to_dlpack                             dispatch.as_torch.dlpack.to_dlpack
torch._C._to_dlpack                         dispatch.as_torch.dlpack.to_dlpack
torch._C._from_dlpack                       dispatch.from_dlpack
torch._C.StorageBase                        dispatch.tensor.storage.UntypedStorage
torch.storage._StorageBase                  dispatch.tensor.storage.UntypedStorage
torch.Storage                               dispatch.tensor.storage_classes.FloatStorage
torch.Type                                  dispatch._C.Type
torch.AnyType                               dispatch._C.AnyType
torch.BoolType                              dispatch._C.BoolType
torch.DeviceObjType                         dispatch._C.DeviceObjType
torch.DictType                              dispatch._C.DictType
torch.FloatType                             dispatch._C.FloatType
torch.IntType                               dispatch._C.IntType
torch.ListType                              dispatch._C.ListType
torch.NoneType                              dispatch._C.NoneType
torch.NumberType                            dispatch._C.NumberType
torch.OptionalType                          dispatch._C.OptionalType
torch.StringType                            dispatch._C.StringType
torch.TensorType                            dispatch._C.TensorType
torch.TupleType                             dispatch._C.TupleType
torch.fx.node._get_qualified_name           dispatch.as_torch.fx.names.qualified_name
torch.fx.graph._get_qualified_name          dispatch.as_torch.fx.names.qualified_name
torch.fx.node._type_repr                    dispatch.as_torch.fx.names.type_text
torch.fx.node._format_arg                   dispatch.as_torch.fx.node._shown
torch.fx.graph._Namespace                   dispatch.as_torch.fx.names.Names
torch.fx.graph._format_target               dispatch.as_torch.fx.code._reached
torch.fx.graph._snake_case                  dispatch.as_torch.fx.names.snake_case
torch.fx.graph_module._get_attr             dispatch.as_torch.fx.passes.splits._attribute
torch.fx._symbolic_trace.is_fx_symbolic_tracing dispatch.as_torch.fx.tracer.is_fx_tracing
torch.load                                  dispatch.as_torch.serialization.load
torch.save                                  dispatch.as_torch.serialization.save
torch.DisableTorchFunction                  dispatch._C.DisableTorchFunction
torch.DisableTorchFunctionSubclass          dispatch._C.DisableTorchFunctionSubclass
torch._C.Generator                          dispatch.Generator
torch._C.Tag                                dispatch.Tag
torch._C._is_autocast_available              dispatch.library.autocast.is_autocast_available
torch._C.TensorBase                         dispatch.Tensor
torch._C._TensorBase                        dispatch.Tensor
torch._C._VariableFunctionsClass            dispatch._C.function.OpFunction
torch._C._TensorMeta                        builtins.type
torch._C._get_constant_bool_symnode         dispatch.symbolic._get_constant_bool_symnode
torch._C._get_nested_int                    dispatch.symbolic._get_nested_int
torch._C._get_tensor_methods                dispatch.modes._get_tensor_methods
torch._C._set_default_dtype                 dispatch.set_default_dtype
torch._C._storage_id                        dispatch.tensor.sharing.storage_id
torch._dispatch.python.no_python_dispatcher  dispatch._ops.no_python_dispatcher
torch.utils._sympy.functions.Identity        dispatch.as_torch.formulas.atoms.Identity
torch.utils._sympy.functions.simple_floordiv_gcd
    dispatch.as_torch.formulas.atoms.simple_floordiv_gcd
torch.utils._sympy.value_ranges.SymPyValueRangeAnalysis
    dispatch.as_torch.formulas.bounding.SymPyValueRangeAnalysis
torch.utils._pytree._list_flatten           dispatch.pytree.nodes._in_order
torch.utils._pytree._list_flatten_with_keys dispatch.pytree.nodes._in_order_with_keys
torch.utils._pytree._tuple_flatten          dispatch.pytree.nodes._in_order
torch.utils._pytree._tuple_flatten_with_keys dispatch.pytree.nodes._in_order_with_keys
torch.utils._pytree._ordereddict_flatten    dispatch.pytree.nodes._dict_flatten
torch.utils._pytree._ordereddict_flatten_with_keys dispatch.pytree.nodes._dict_flatten_with_keys
torch.utils._pytree._list_unflatten         dispatch.pytree.nodes._list
torch.utils._pytree._tuple_unflatten        dispatch.pytree.nodes._tuple
torch.utils._pytree._dict_unflatten         dispatch.pytree.nodes._dict
torch.utils._pytree._ordereddict_unflatten  dispatch.pytree.nodes._ordered_dict
torch.utils._pytree._defaultdict_unflatten  dispatch.pytree.nodes._defaultdict
torch.utils._pytree._deque_unflatten        dispatch.pytree.nodes._deque
torch.utils._pytree._namedtuple_unflatten   dispatch.pytree.nodes._namedtuple
torch.utils._pytree._defaultdict_serialize  dispatch.pytree.nodes._defaultdict_written
torch.utils._pytree._defaultdict_deserialize dispatch.pytree.nodes._defaultdict_read
torch.utils._pytree._namedtuple_serialize   dispatch.pytree.nodes._namedtuple_written
torch.utils._pytree._namedtuple_deserialize dispatch.pytree.nodes._namedtuple_read
torch.utils._pytree._is_leaf                dispatch.pytree.tree_is_leaf
torch.utils._pytree._is_namedtuple_instance dispatch.pytree.is_namedtuple_instance
torch.utils._pytree.FlattenFunc             dispatch.pytree.FlattenFn
torch.utils._pytree.UnflattenFunc           dispatch.pytree.UnflattenFn
torch.utils._pytree.FlattenWithKeysFunc     dispatch.pytree.FlattenWithKeysFn
torch._disable_dynamo                       dispatch.as_torch.markers._disable_dynamo
torch._utils._get_device_index               dispatch.as_torch.backends.get_device_index
torch._C._non_sym_sizes                     dispatch.tensor.questions._non_sym_sizes
torch._utils._element_size                  dispatch.as_torch.dtype_abbrs._element_size
torch._utils.render_call                     dispatch.tensor.text.render_call
torch._utils.is_compiling                   dispatch.as_torch.markers.is_compiling
torch.autograd.Variable                     dispatch.Tensor
torch.compile                               dispatch.as_torch.markers.compile
torch.func.functional_call                  dispatch.as_torch.nn.stateless.functional_call
torch._library.infer_schema._TestTensor     dispatch.Tensor
torch._library.utils.lookup_op              dispatch.library.lookup_op
torch._library.utils.has_fake_kernel        dispatch.library.custom_ops.has_fake_kernel
torch._register_device_module               dispatch.as_torch.backends.register_device_module
torch.get_default_device                    dispatch.as_torch.devices.get_default_device
torch.set_default_device                    dispatch.as_torch.devices.set_default_device
torch.get_device_module                     dispatch.as_torch.backends.get_device_module
torch.use_deterministic_algorithms
    dispatch.as_torch.deterministic.use_deterministic_algorithms
torch.are_deterministic_algorithms_enabled
    dispatch.as_torch.deterministic.are_deterministic_algorithms_enabled
torch.is_deterministic_algorithms_warn_only_enabled
    dispatch.as_torch.deterministic.is_deterministic_algorithms_warn_only_enabled
torch.set_deterministic_debug_mode
    dispatch.as_torch.deterministic.set_deterministic_debug_mode
torch.get_deterministic_debug_mode
    dispatch.as_torch.deterministic.get_deterministic_debug_mode
torch.cpu.amp.autocast                      dispatch.as_torch.amp.cpu_autocast
torch.cpu.amp.autocast_mode.autocast        dispatch.as_torch.amp.cpu_autocast
torch.autocast_decrement_nesting            dispatch.library.autocast.autocast_decrement_nesting
torch.autocast_increment_nesting            dispatch.library.autocast.autocast_increment_nesting
torch.clear_autocast_cache                  dispatch.library.autocast.clear_autocast_cache
torch.get_autocast_dtype                    dispatch.library.autocast.get_autocast_dtype
torch.is_autocast_cache_enabled             dispatch.library.autocast.is_autocast_cache_enabled
torch.is_autocast_enabled                   dispatch.library.autocast.is_autocast_enabled
torch.set_autocast_cache_enabled            dispatch.library.autocast.set_autocast_cache_enabled
torch.set_autocast_dtype                    dispatch.library.autocast.set_autocast_dtype
torch.set_autocast_enabled                  dispatch.library.autocast.set_autocast_enabled
torch.get_autocast_cpu_dtype                dispatch.as_torch.amp.get_autocast_cpu_dtype
torch.get_autocast_gpu_dtype                dispatch.as_torch.amp.get_autocast_gpu_dtype
torch.is_autocast_cpu_enabled               dispatch.as_torch.amp.is_autocast_cpu_enabled
torch.set_autocast_cpu_dtype                dispatch.as_torch.amp.set_autocast_cpu_dtype
torch.set_autocast_cpu_enabled              dispatch.as_torch.amp.set_autocast_cpu_enabled
torch.set_autocast_gpu_dtype                dispatch.as_torch.amp.set_autocast_gpu_dtype
torch.nn.functional._Reduction              dispatch.as_torch.nn.reductions
torch._constrain_as_size                    dispatch.as_torch.guards._constrain_as_size
torch.set_warn_always                       dispatch._C.advice.set_warn_always
torch.is_warn_always_enabled                dispatch._C.advice.is_warn_always_enabled
torch.compiled_with_cxx11_abi               dispatch.as_torch.settings.compiled_with_cxx11_abi
torch.get_float32_matmul_precision          dispatch.as_torch.settings.get_float32_matmul_precision
torch.get_num_interop_threads               dispatch.as_torch.settings.get_num_interop_threads
torch.set_default_tensor_type               dispatch.as_torch.settings.set_default_tensor_type
torch.set_float32_matmul_precision          dispatch.as_torch.settings.set_float32_matmul_precision
torch.set_flush_denormal                    dispatch.as_torch.settings.set_flush_denormal
torch.set_num_interop_threads               dispatch.as_torch.settings.set_num_interop_threads
torch.BFloat16Storage                       dispatch.tensor.storage_classes.BFloat16Storage
torch.BoolStorage                           dispatch.tensor.storage_classes.BoolStorage
torch.ByteStorage                           dispatch.tensor.storage_classes.ByteStorage
torch.CharStorage                           dispatch.tensor.storage_classes.CharStorage
torch.ComplexDoubleStorage                  dispatch.tensor.storage_classes.ComplexDoubleStorage
torch.ComplexFloatStorage                   dispatch.tensor.storage_classes.ComplexFloatStorage
torch.DoubleStorage                         dispatch.tensor.storage_classes.DoubleStorage
torch.FloatStorage                          dispatch.tensor.storage_classes.FloatStorage
torch.HalfStorage                           dispatch.tensor.storage_classes.HalfStorage
torch.IntStorage                            dispatch.tensor.storage_classes.IntStorage
torch.LongStorage                           dispatch.tensor.storage_classes.LongStorage
torch.ShortStorage                          dispatch.tensor.storage_classes.ShortStorage
torch._segment_reduce                       dispatch.segment_reduce
torch.utils.rename_privateuse1_backend      dispatch.as_torch.backends.rename_privateuse1_backend
torch.utils.generate_methods_for_privateuse1_backend
    dispatch.as_torch.backends.generate_methods_for_privateuse1_backend
torch._tensor._rebuild_from_type_v2         dispatch.tensor.copy._rebuilt
torch.AcceleratorError                      dispatch.as_torch.anomalies.AcceleratorError
torch.OutOfMemoryError                      dispatch.as_torch.anomalies.OutOfMemoryError
torch._C.OutOfMemoryError                   dispatch.as_torch.anomalies.OutOfMemoryError
torch.cuda.OutOfMemoryError                 dispatch.as_torch.anomalies.OutOfMemoryError
torch.autograd.detect_anomaly               dispatch.as_torch.anomalies.detect_anomaly
torch.autograd.set_detect_anomaly           dispatch.as_torch.anomalies.set_detect_anomaly
torch.is_anomaly_enabled                    dispatch.as_torch.anomalies.is_anomaly_enabled
torch.is_anomaly_check_nan_enabled          dispatch.as_torch.anomalies.is_anomaly_check_nan_enabled
torch.set_anomaly_enabled                   dispatch.as_torch.anomalies.set_anomaly_enabled
torch.functional.handle_torch_function      dispatch.modes.handle_torch_function
torch.functional.has_torch_function         dispatch.modes.has_torch_function
torch.functional.has_torch_function_unary   dispatch.modes.has_torch_function_unary
torch.functional.has_torch_function_variadic dispatch.modes.has_torch_function_variadic
torch.nn.functional.handle_torch_function   dispatch.modes.handle_torch_function
torch.nn.functional.has_torch_function      dispatch.modes.has_torch_function
torch.nn.functional.has_torch_function_unary dispatch.modes.has_torch_function_unary
torch.nn.functional.has_torch_function_variadic dispatch.modes.has_torch_function_variadic
torch.overrides._is_torch_function_mode_enabled dispatch._C._is_torch_function_mode_enabled
torch.func.functionalize                    dispatch.functional.functionalize
functorch.make_fx                           dispatch.as_torch.fx.proxies.make_fx
functorch.experimental.functionalize        dispatch.functional.functionalize
torch._C._increment_version                 dispatch._C.versions._increment_version
torch.autograd._unsafe_preserve_version_counter
    dispatch.as_torch.autograd._unsafe_preserve_version_counter
torch.autograd.grad_mode._unsafe_preserve_version_counter
    dispatch.as_torch.autograd._unsafe_preserve_version_counter
torch.autograd.graph.increment_version      dispatch.as_torch.autograd.increment_version
torch.autograd.graph.Node                   dispatch._C.fallbacks.Node
"""

MODULES = rows(_MODULES)
NAMES = {name: source for name, (source,) in rows(_NAMES).items()}
# Packages whose functions go before their modules of the same name, as PyTorch imports them there.
CALLED = frozenset(
    ("torch._higher_order_ops", "torch.autograd", "torch.nn.parallel", "torch.nn.utils")
)
# Where classes say they are from that several modules have; others are of the first that has them.
HOMES = {
    "torch": """
        DispatchKey DispatchKeySet Size Tag Tensor _assert device dtype finfo iinfo layout
        memory_format BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage
        ComplexFloatStorage DoubleStorage FloatStorage HalfStorage IntStorage LongStorage
        ShortStorage
        """,
    "torch._C": "Generator",
    "torch._ops": "HigherOrderOperator OpOverload OpOverloadPacket OperatorBase",
    "torch._subclasses.fake_tensor": "FakeTensor FakeTensorMode",
    "torch.overrides": "TorchFunctionMode",
    "torch.storage": "TypedStorage UntypedStorage",
    "torch.utils._python_dispatch": "TorchDispatchMode",
}
# The same of modules that are imported late.
_OF_TORCH = """
AwaitType Argument ClassType ComplexType ExcludeDispatchKeyGuard FutureType PyObjectType RRefType
StreamObjType FunctionSchema parse_schema
are_deterministic_algorithms_enabled autocast_decrement_nesting autocast_increment_nesting
clear_autocast_cache compiled_with_cxx11_abi cond dsmm get_autocast_cpu_dtype get_autocast_dtype
get_autocast_gpu_dtype get_default_device get_deterministic_debug_mode get_device_module
get_float32_matmul_precision get_num_interop_threads hsmm is_autocast_cache_enabled
is_autocast_cpu_enabled is_autocast_enabled is_deterministic_algorithms_warn_only_enabled
is_grad_enabled is_inference_mode_enabled saddmm set_autocast_cache_enabled set_autocast_cpu_dtype
set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype
set_default_device set_default_tensor_type set_deterministic_debug_mode
set_float32_matmul_precision set_flush_denormal set_num_interop_threads SymBool SymFloat SymInt
sym_fresh_size use_deterministic_algorithms _from_functional_tensor _is_functional_tensor
"""
_OF_ITS_PARTS = {
    "Function": "torch.autograd.function",
    "FunctionalTensor": "torch._subclasses.functional_tensor",
    "FunctionalTensorMode": "torch._subclasses.functional_tensor",
    "assert_allclose": "torch.testing._comparison",
    "assert_close": "torch.testing._comparison",
    "autocast": "torch.amp.autocast_mode",
    "backward": "torch.autograd",
    "broadcast_shapes": "torch.functional",
    "custom_op": "torch.library",
    "enable_grad": "torch.autograd.grad_mode",
    "from_dlpack": "torch.utils.dlpack",
    "FakeTensorConverter": "torch._subclasses.fake_tensor",
    "functional_call": "torch.func",
    "get_cached_ops": "torch._ops",
    "grad": "torch.autograd",
    "infer_schema": "torch.library",
    "inference_mode": "torch.autograd.grad_mode",
    "make_tensor": "torch.testing._creation",
    "no_grad": "torch.autograd.grad_mode",
    "opcheck": "torch.library",
    "set_grad_enabled": "torch.autograd.grad_mode",
    "triton_op": "torch.library",
    "_unsafe_preserve_version_counter": "torch.autograd.grad_mode",
    "vmap": "torch.func",
    "wrap_triton": "torch.library",
}
# Where PyTorch has the classes of `torch.nn`: what `repr` of a class shows.
_OF_NN = {
    "torch.nn.modules.activation": """
        CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid
        LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax
        Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold
        """,
    "torch.nn.modules.adaptive": "AdaptiveLogSoftmaxWithLoss",
    "torch.nn.modules.batchnorm": """
        BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d
        """,
    "torch.nn.modules.channelshuffle": "ChannelShuffle",
    "torch.nn.modules.container": """
        ModuleDict ModuleList ParameterDict ParameterList Sequential
        """,
    "torch.nn.modules.conv": """
        Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d
        LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d
        """,
    "torch.nn.modules.distance": "CosineSimilarity PairwiseDistance",
    "torch.nn.modules.dropout": """
        AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout
        """,
    "torch.nn.modules.flatten": "Flatten Unflatten",
    "torch.nn.modules.fold": "Fold Unfold",
    "torch.nn.modules.instancenorm": """
        InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d
        LazyInstanceNorm3d
        """,
    "torch.nn.modules.lazy": "LazyModuleMixin",
    "torch.nn.modules.linear": "Bilinear Identity LazyLinear Linear",
    "torch.nn.modules.loss": """
        BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss
        HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss
        MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss
        NLLLoss2d PoissonNLLLoss
        SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss
        """,
    "torch.nn.modules.linear_cross_entropy_options": "LinearCrossEntropyOptions",
    "torch.nn.modules.module": "Module",
    "torch.nn.modules.normalization": """
        CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm
        """,
    "torch.nn.modules.padding": """
        CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d
        ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d
        ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d
        """,
    "torch.nn.modules.pixelshuffle": "PixelShuffle PixelUnshuffle",
    "torch.nn.modules.pooling": """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
        AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d
        FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d
        MaxUnpool2d MaxUnpool3d
        """,
    "torch.nn.modules.rnn": "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase",
    "torch.nn.modules.sparse": "Embedding EmbeddingBag",
    "torch.nn.modules.transformer": """
        Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
        TransformerEncoderLayer
        """,
    "torch.nn.modules.upsampling": "Upsample UpsamplingBilinear2d UpsamplingNearest2d",
    "torch.nn.parameter": "Buffer Parameter UninitializedBuffer UninitializedParameter",
    "torch.nn.utils.rnn": "PackedSequence PackedSequence_",
}
_OF_GRAPHS = {
    "CodeGen": "torch.fx.graph",
    "Graph": "torch.fx.graph",
    "PythonCode": "torch.fx.graph",
    "GraphModule": "torch.fx.graph_module",
    "Interpreter": "torch.fx.interpreter",
    "Transformer": "torch.fx.interpreter",
    "Node": "torch.fx.node",
    "Attribute": "torch.fx.proxy",
    "GraphAppendingTracer": "torch.fx.proxy",
    "ParameterProxy": "torch.fx.proxy",
    "Proxy": "torch.fx.proxy",
    "TraceError": "torch.fx.proxy",
    "TracerBase": "torch.fx.proxy",
    "ProxyableClassMeta": "torch.fx._symbolic_trace",
    "Tracer": "torch.fx._symbolic_trace",
    "symbolic_trace": "torch.fx._symbolic_trace",
    "wrap": "torch.fx._symbolic_trace",
    "_assert_is_none": "torch.fx._symbolic_trace",
    "immutable_dict": "torch.fx.immutable_collections",
    "immutable_list": "torch.fx.immutable_collections",
    "ExportGraphSignature": "torch.export.graph_signature",
    "ExportedProgram": "torch.export.exported_program",
}
LATE_HOMES = (
    dict.fromkeys(_OF_TORCH.split(), "torch")
    | _OF_ITS_PARTS
    | _OF_GRAPHS
    | {name: module for module, names in _OF_NN.items() for name in names.split()}
)
_FUNCTIONAL = (
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "cartesian_prod",
    "cdist", "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "split", "stft",
    "tensordot", "unique", "unique_consecutive", "unravel_index",
)  # fmt: skip
# Modules whose functions in Python handlers see under their names; None: all of `__all__`.
FUNCTIONS: dict[str, tuple[str, ...] | None] = {
    "functional": _FUNCTIONAL,
    "nn.functional": None,
    "nn.init": ("constant_", "kaiming_uniform_", "normal_", "uniform_"),
}
# The functions of `torch._C._nn` are none of `torch` either.
_HIDDEN = """
FakeTensor FakeTensorMode HigherOrderOperator Library OpOverload OpOverloadPacket
TorchDispatchMode TorchFunctionMode
Any _LATER _ROOMS _WRITTEN _can_cast _find_function _import_before_forks _offer_operators
_operator_names _promote_types _watch_function
_adaptive_avg_pool2d_backward _cdist_forward _constrain_range_for_size _foreach_copy
_local_scalar_dense _pdist_forward _reshape_alias _to_copy _unsafe_view
alias avg_pool2d_backward convolution_backward convolution_backward_overrideable
convolution_overrideable copy embedding_dense_backward index lift lift_fresh lift_fresh_copy
linalg_vector_norm max_pool2d_with_indices_backward native_group_norm_backward
native_layer_norm_backward normal_functional slice sym_is_contiguous sym_numel sym_size
sym_storage_offset sym_stride unfold_backward unique_dim
"""
HIDDEN = frozenset(_HIDDEN.split())
