"""What of PyTorch is not here: names that programs import all the same, and why they are absent.

`REFUSED` can be imported and not used; `GAPS` says why a whole part of PyTorch is missing (the
longest prefix is told). `rows` reads this table and those of `aliases`.
"""

import re

__all__ = ["GAPS", "REFUSED", "rows"]

_REFUSED = """
functorch
    grad grad_and_value hessian jacfwd jacrev jvp make_functional make_functional_with_buffers vjp
    vmap
functorch.experimental              chunk_vmap hessian jacfwd jvp
torch.amp                           GradScaler
torch.cpu.amp                       GradScaler
torch.cuda.amp                      GradScaler
torch                               vmap
torch.func
    grad grad_and_value hessian jacfwd jacrev jvp linearize stack_module_state vjp vmap
torch.autograd                      gradcheck gradgradcheck
torch.autograd.graph
    GradientEdge allow_mutation_on_saved_tensors disable_saved_tensors_hooks
    get_gradient_edge register_multi_grad_hook save_on_cpu saved_tensors_hooks
torch.cuda                          CUDAGraph Event ExternalStream Stream StreamContext graph
torch.cuda.jiterator                _create_jit_fn
torch.distributions
    Bernoulli Beta Binomial Categorical Cauchy Chi2 Dirichlet Distribution Exponential
    ExponentialFamily Gamma Geometric Gumbel HalfCauchy HalfNormal Independent Laplace LogNormal
    LowRankMultivariateNormal MixtureSameFamily Multinomial MultivariateNormal NegativeBinomial
    Normal OneHotCategorical Pareto Poisson RelaxedBernoulli RelaxedOneHotCategorical StudentT
    Transform TransformedDistribution Uniform VonMises Weibull Wishart kl_divergence register_kl
torch.distributions.constraints     Constraint
torch.fx.passes.graph_drawer        FxGraphDrawer
torch.optim
    ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam Optimizer RAdam RMSprop
    Rprop SGD SparseAdam
torch.optim.adam                    Adam
torch.optim.adamw                   AdamW
torch.optim.lr_scheduler
    ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR
    ExponentialLR LRScheduler LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR
    PolynomialLR ReduceLROnPlateau SequentialLR StepLR _LRScheduler
torch.optim.optimizer               Optimizer
torch.nn.attention.flex_attention
    _DEFAULT_SPARSE_BLOCK_SIZE AuxOutput AuxRequest BlockMask and_masks create_block_mask
    create_mask create_nested_block_mask flex_attention noop_mask or_masks
torch.nn.parallel                   DistributedDataParallel
torch.nn.parallel.distributed       DistributedDataParallel
torch.optim.sgd                     SGD
torch.hub
    _get_torch_home download_url_to_file list load load_state_dict_from_url
torch.jit                           CompilationUnit Future _get_trace_graph fork load save wait
torch.utils.cpp_extension           load load_inline
torch.utils.data
    BatchSampler ConcatDataset DataLoader Dataset DistributedSampler IterableDataset
    RandomSampler Sampler SequentialSampler Subset SubsetRandomSampler TensorDataset
    WeightedRandomSampler default_collate random_split
torch.ao.quantization               FakeQuantizeBase ObserverBase
torch._custom_op.functional         register_functional_op
torch._dynamo._trace_wrapped_higher_order_op  TransformGetItemToIndex
torch._dynamo.testing
    AotEagerAndRecordGraphs CompileCounter CompileCounterWithBackend EagerAndRecordGraphs
    normalize_gm
torch._functorch.aot_autograd
    aot_compile_joint_with_descriptors aot_export_joint_with_descriptors aot_export_module
    aot_function aot_module make_boxed_func
torch._C._profiler                  gather_traceback
torch._export.serde.serialize
    ExportedProgramSerializer GraphModuleDeserializer GraphModuleSerializer deserialize serialize
torch._export.verifier              SpecViolationError Verifier
torch._functorch.eager_transforms   _wrap_functional_tensor grad_impl
torch._functorch.make_functional    functional_init functional_init_with_buffers
torch._functorch.pyfunctorch
    CInterpreter FuncTorchInterpreter retrieve_current_functorch_interpreter
    temporarily_clear_interpreter_stack temporarily_pop_interpreter_stack
    temporarily_restore_interpreter_stack
torch._higher_order_ops.base_hop    BaseHOP
torch._higher_order_ops.flex_attention  flex_attention flex_attention_backward
torch._higher_order_ops.foreach_map foreach_map
torch._higher_order_ops.run_const_graph run_const_graph
torch._higher_order_ops.schema      HopSchema HopSchemaGenerator find_hop_schema
torch._higher_order_ops.torchbind   call_torchbind enable_torchbind_tracing
torch._higher_order_ops.triton_kernel_wrap
    triton_kernel_wrapper_functional triton_kernel_wrapper_mutation
torch._higher_order_ops.utils
    UnsupportedAliasMutationException check_input_alias_and_mutation reenter_make_fx
    unique_graph_id validate_subgraph_args_types
torch._higher_order_ops.wrap
    TagActivationCheckpoint tag_activation_checkpoint wrap_activation_checkpoint
torch._inductor.compile_fx          compile_fx compile_fx_inner
torch._inductor.config              patch
torch._inductor.decomposition       fast_random_decomps select_decomp_table
torch._prims.context                NvfuserPrimsMode TorchRefsMode
torch._prims.debug_prims            load_tensor_reader
torch._prims.executor               execute make_traced
torch._prims.rng_prims              run_and_save_rng_state run_with_rng_state
torch._prims_common                 CUDARngStateHelper
torch._prims_common.wrappers
    _maybe_convert_to_dtype _maybe_remove_out_wrapper _maybe_resize_out _safe_copy_out
    elementwise_type_promotion_wrapper elementwise_unary_scalar_wrapper out_wrapper
torch._vmap_internals               vmap
torch._weights_only_unpickler       Unpickler load
torch.autograd.forward_ad
    UnpackedDualTensor dual_level enter_dual_level exit_dual_level make_dual unpack_dual
torch.autograd.functional           hessian hvp jacobian jvp vhp vjp
torch.autograd.gradcheck            GradcheckError gradcheck gradgradcheck
torch.backends.cuda                 SDPAParams can_use_efficient_attention can_use_flash_attention
torch.export
    AdditionalInputs Dim ShapesCollection dims draft_export export export_for_training
    register_dataclass save unflatten
torch.export._unlift                _check_input_constraints_pre_hook
torch.export.dynamic_shapes         _DimHint refine_dynamic_shapes_from_suggested_fixes
torch.export.exported_program       default_decompositions
torch.export.unflatten              FlatArgsAdapter InterpreterModule UnflattenedModule unflatten
torch.fx.experimental.accelerator_partitioner Partitioner
torch.fx.experimental.debug         set_trace
torch.fx.experimental.graph_gradual_typechecker GraphTypeChecker Refine broadcast_types
torch.fx.experimental.meta_tracer   MetaTracer symbolic_trace
torch.fx.experimental.migrate_gradual_types.constraint_generator ConstraintGenerator
torch.fx.experimental.migrate_gradual_types.constraint_transformation
    transform_constraint
torch.fx.experimental.migrate_gradual_types.transform_to_z3
    evaluate_conditional_with_constraints transform_all_constraints
torch.fx.experimental.partitioner_utils
    Device NodeLatency PartitionMode PartitionerConfig get_latency_of_partitioned_graph
    get_partition_to_latency_mapping
torch.fx.experimental.refinement_types Equality
torch.fx.experimental.unification   Var reify unify var variables
torch.fx.experimental.unify_refinements infer_symbolic_types unify_eq
torch.fx.passes._tensorify_python_scalars tensorify_python_scalars
torch.fx.passes.backends.cudagraphs partition_cudagraphs
torch.fx.passes.net_min_base
    FxNetMinimizerResultMismatchError FxNetMinimizerRunFuncError _MinimizerBase
    _MinimizerSettingBase
torch.fx.passes.regional_inductor   regional_inductor
torch.fx.passes.runtime_assert      insert_deferred_runtime_asserts
torch.fx.passes.splitter_base       FxNetSplitterInternalError _SplitterBase _SplitterSettingBase
torch.fx.passes.tests.test_pass_manager TestPassManager
torch.nested._internal.nested_tensor NestedTensor ViewNestedFromBuffer jagged_from_list
torch.nn.attention.bias             CausalBias CausalVariant causal_lower_right causal_upper_left
torch.nn.modules._functions         BackwardHookFunction
torch.nn.parallel._functions        Broadcast Gather Scatter
torch.onnx                          OnnxExporterError export
torch.onnx.symbolic_opset9          _prepare_onnx_paddings
torch.package                       PackageExporter PackageImporter
torch.quasirandom                   SobolEngine
torch.testing._comparison
    BooleanPair ErrorMeta NonePair NumberPair ObjectPair Pair TensorLikePair UnsupportedInputs
    default_tolerances get_tolerances not_close_error_metas originate_pairs
torch.testing._internal.autocast_test_lists AutocastCPUTestLists AutocastTestLists TestAutocast
torch.testing._internal.common_cuda _create_scaling_case _create_scaling_models_optimizers
torch.testing._internal.common_jit  JitCommonTestCase check_against_reference
torch.testing._internal.common_methods_invocations
    generate_elementwise_binary_broadcasting_tensors
    generate_elementwise_binary_extremal_value_tensors
    generate_elementwise_binary_large_value_tensors
    generate_elementwise_binary_small_value_tensors generate_elementwise_binary_tensors
    generate_elementwise_binary_with_scalar_and_type_promotion_samples
    generate_elementwise_binary_with_scalar_samples
    generate_elementwise_unary_extremal_value_tensors
    generate_elementwise_unary_large_value_tensors generate_elementwise_unary_small_value_tensors
    generate_elementwise_unary_tensors
torch.testing._internal.common_nn
    CriterionTest InputVariableMixin ModuleTest NNTestCase NewModuleTest _create_basic_net
    _test_bfloat16_ops _test_module_empty_input ctcloss_reference single_batch_reference_fn
torch.testing._internal.common_optimizers _get_optim_inputs_including_global_cliquey_kwargs
torch.testing._internal.composite_compliance
    check_all_permutations check_with_mode generate_cct generate_cct_and_mode
torch.testing._internal.data        network1 network2
torch.testing._internal.hypothesis_utils array_shapes qparams tensor tensor_conv
torch.testing._internal.opinfo.core
    _generate_reduction_inputs gradcheck_wrapper_hermitian_input sample_inputs_reduction
torch.testing._internal.opinfo.utils dtypes_dispatch_hint str_format_dynamic_dtype
torch.testing._internal.torchbind_impls init_torchbind_implementations
torch.utils.benchmark               Compare Fuzzer Timer
torch.utils.collect_env             get_pretty_env_info
torch.utils.data._utils.collate     default_collate
torch.utils.mkldnn                  MkldnnLinear to_mkldnn
torch.utils.mobile_optimizer        optimize_for_mobile
torch.utils.throughput_benchmark    ThroughputBenchmark
torch.utils                         ThroughputBenchmark
torch._inductor.utils               fresh_cache fresh_inductor_cache
torch.testing._internal.common_utils
    TestGradients _assertGradAndGradgradChecks download_file gradcheck gradgradcheck
"""

GAPS = {
    "torch._dynamo": "there is no compiler",
    "torch._inductor": "there is no compiler",
    "torch.ao": "there are operators and no modules",
    "torch.autograd": "there is no autograd engine",
    "torch.compile": "there is no compiler",
    "torch.compiler": "there is no compiler",
    "torch.cuda": "devices hold data only through kernels that somebody registers",
    "torch.distributions": "there are operators that draw numbers, and no distributions",
    "torch.distributed": "there is one process",
    "torch.export": "exported programs are read here, and made where PyTorch is",
    "torch.func": "there is no autograd engine, and no vmap",
    "torch.fx": "graphs and tracers are here, and not all passes over graphs",
    "torch.hub": "nothing is fetched from a network",
    "torch.jit": "there is no TorchScript compiler",
    "torch.nn": "there are functions, parameters, and most modules, which compute forwards",
    "torch.nn.functional": "not every function is here: `torch.ops.aten` has the operators",
    "torch.optim": "there is no autograd engine",
    "torch.profiler": "`dispatch.tools` has modes that count, log and track memory",
    "torch.quantization": "there are operators and no modules",
    "torch.sparse": "there are dense tensors only",
    "torch.testing._internal.common_utils.gradcheck": "there is no autograd engine",
    "torch.testing._internal.common_utils.gradgradcheck": "there is no autograd engine",
    "torch.utils.data": "there are operators and no modules",
    "torch.vmap": "there is no vmap",
}


def rows(text: str) -> dict[str, tuple[str, ...]]:
    """A row is a word at the start of a line and the words behind it, on further lines too."""
    found = (row.split() for row in re.split(r"\n(?=\S)", text.strip()))
    return {row[0]: tuple(row[1:]) for row in found}


REFUSED = {f"{module}.{name}" for module, names in rows(_REFUSED).items() for name in names}
