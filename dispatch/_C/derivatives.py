"""PyTorch's derivatives as far as a program sees them without an engine: names, and what they keep.

Asked by the autograd fallback when it marks a result. An operator that is not named here has the
name that is made of its own, with a 0 behind; several derivatives, in place or by overload, are
counted.
"""

__all__ = [
    "NOT_DIFFERENTIABLE", "OUTS_WITHOUT_FORMULA", "UNFOLLOWED", "WITHOUT_DERIVATIVE",
    "backward_name", "copied_for", "kept_arguments", "kept_results", "plain_results",
]

# Overloads by the number of their derivative.
_NUMBERED = {
    1: """
        _convolution _ctc_loss.Tensor _foreach_maximum.ScalarList _foreach_minimum.ScalarList
        _foreach_pow.ScalarList _native_batch_norm_legit.no_stats _to_sparse acosh_ add.Scalar
        add_.Scalar as_strided_ asinh_ atanh_ bernoulli_.Tensor celu_ clamp clamp_
        clamp_max.Tensor clamp_max_.Tensor clamp_min.Tensor clamp_min_.Tensor conj_physical_
        copysign.Scalar copysign_.Scalar div.Scalar div_.Scalar elu_ eq_.Tensor fill.Tensor
        fmod.Tensor fmod_.Tensor ge_.Tensor gt_.Tensor index_fill.int_Tensor
        index_fill_.int_Tensor le_.Tensor leaky_relu_ lerp.Tensor lerp_.Tensor lt_.Tensor
        masked_fill.Tensor masked_fill_.Tensor max mean.dim median.dim min mul.Scalar
        mul_.Scalar nanmedian.dim ne_.Tensor norm.ScalarOpt_dim normal.Tensor_float polygamma_
        pow.Tensor_Tensor pow_.Tensor prod.dim_int random_.to remainder.Tensor remainder_.Tensor
        round.decimals round_.decimals rrelu_with_noise_ rsub.Scalar scatter.value
        scatter_.value sort.stable special_xlog1py.self_scalar special_zeta.self_scalar
        squeeze.dim sub.Scalar sub_.Scalar sum.dim_IntList t_ threshold_ transpose_ unsqueeze_
        xlogy.Scalar_Self
        """,
    2: """
        _foreach_pow.ScalarAndTensor bernoulli_.float div.Tensor_mode div_.Tensor_mode
        fill_.Scalar norm.ScalarOpt_dtype normal.float_Tensor pow.Scalar random_
        special_xlog1py.other_scalar special_zeta.other_scalar squeeze.dims xlogy.Scalar_Other
        xlogy_.Scalar_Other
        """,
    3: """
        div.Scalar_mode div_.Scalar_mode fill_.Tensor norm.ScalarOpt_dim_dtype
        normal.Tensor_Tensor squeeze_
        """,
    4: """
        squeeze_.dim
        """,
    5: """
        squeeze_.dims
        """,
}
_UNKNOWN = """
    _chunk_cat _embedding_bag_per_sample_weights_backward _foreach_addcdiv.Tensor
    _foreach_addcdiv_.Tensor _foreach_addcmul.Tensor _foreach_addcmul_.Tensor _foreach_copy
    _foreach_copy_ _foreach_maximum_.Scalar _foreach_maximum_.ScalarList
    _foreach_minimum_.Scalar _foreach_minimum_.ScalarList _foreach_powsum.Scalar _foreach_zero
    _segment_reduce_backward bernoulli.p _histogramdd_bin_edges _histogramdd_from_bin_cts
    _histogramdd_from_bin_tensors floor_divide floor_divide.Scalar
    floor_divide_.Scalar floor_divide_.Tensor hardsigmoid_backward heaviside heaviside_
    histogram.bin_ct histogram.bins_tensor linalg_ldl_factor_ex linalg_ldl_solve
    linspace.Scalar_Tensor linspace.Tensor_Scalar linspace.Tensor_Tensor logspace.Scalar_Tensor
    logit_backward logspace.Tensor_Scalar logspace.Tensor_Tensor mish_backward
    multi_margin_loss_backward multilabel_margin_loss_backward native_group_norm_backward
    randint_like randint_like.low_dtype remainder.Scalar_Tensor scatter.reduce
    scatter.value_reduce scatter_.reduce scatter_.value_reduce set_ set_.source_Storage
    set_.source_Storage_storage_offset set_.source_Tensor silu_backward
    """
# Out variants without a derivative; those that are made from another operator have none either.
_OUTS = """
    _addmm_activation.out _chunk_cat.out _compute_linear_combination.out _logcumsumexp.out
    _slow_conv2d_backward.grad_input _stack.out adaptive_avg_pool2d.out adaptive_avg_pool3d.out
    adaptive_avg_pool3d_backward.grad_input conj_physical.out floor_divide.out
    hardsigmoid_backward.grad_input heaviside.out histogram.bin_ct_out
    histogram.bins_tensor_out linalg_eigvals.out linalg_ldl_factor_ex.out linalg_ldl_solve.out
    linspace.Scalar_Tensor_out linspace.Tensor_Scalar_out linspace.Tensor_Tensor_out
    log_softmax.int_out logit_backward.grad_input logspace.Scalar_Tensor_out
    logspace.Tensor_Scalar_out logspace.Tensor_Tensor_out multi_margin_loss_backward.grad_input
    multilabel_margin_loss_backward.grad_input scatter.reduce_out scatter.value_reduce_out
    silu_backward.grad_input softmax.int_out split_with_sizes_copy.out unbind_copy.int_out
    """
# Overloads of lists are differentiated as one element's, but for these.
_ELEMENT = {"List": "Tensor", "ScalarList": "Scalar"}
_OWN = {"div.List", "maximum.Scalar", "maximum.ScalarList", "minimum.Scalar", "minimum.ScalarList",
        "norm.Scalar", "pow.List", "pow.ScalarList", "pow.ScalarAndTensor"}
# Places of results of floating type that gradients do not reach.
_PLAIN = {
    (0,): "linalg_lu lu_unpack",
    (1,): """
        _ctc_loss _linalg_solve_ex _scaled_dot_product_flash_attention_for_cpu
        _thnn_fused_gru_cell _weight_norm_interface log_sigmoid_forward
        multilabel_margin_loss_forward nll_loss2d_forward nll_loss_forward
        rrelu_with_noise_functional
        """,
    (1, 2): """
        _batch_norm_no_update _batch_norm_with_update _linalg_det _native_batch_norm_legit
        _native_batch_norm_legit_no_training native_batch_norm native_layer_norm
        """,
    (2,): "_linalg_slogdet _thnn_fused_lstm_cell",
    (3,): "linalg_lstsq mkldnn_rnn_layer",
}
# Arguments that may not require grad.
_UNFOLLOWED = {
    "attn_mask": "_scaled_dot_product_flash_attention_for_cpu",
    "buffer": "log_sigmoid_backward",
    "noise": "rrelu_with_noise rrelu_with_noise_ rrelu_with_noise_backward",
    "output": "_standard_gamma_grad",
    "random_samples": "fractional_max_pool2d fractional_max_pool3d",
    "running_mean running_var": """
        _batch_norm_no_update _batch_norm_with_update _native_batch_norm_legit
        _native_batch_norm_legit_no_training batch_norm_backward native_batch_norm
        native_batch_norm_backward
        """,
    "target": "soft_margin_loss soft_margin_loss_backward",
    "weight": """
        binary_cross_entropy binary_cross_entropy_backward multi_margin_loss nll_loss2d_forward
        nll_loss_forward
        """,
    "weight pos_weight": "binary_cross_entropy_with_logits",
    "weight total_weight": "nll_loss2d_backward nll_loss_backward",
}
# What is kept for backward, of operators with several tensors.
_KEPT = {
    "A": "_linalg_solve_ex",
    "A self": "triangular_solve",
    "LU pivots": "linalg_lu_solve",
    "b self": "linalg_lstsq",
    "batch1 batch2": "addbmm baddbmm",
    "condition": "where",
    "exponent self": "pow",
    "grad_output output": "_softmax_backward_data _log_softmax_backward_data",
    "grid input": "grid_sampler_2d grid_sampler_3d",
    "i1 i2 i3": "_trilinear",
    "index": "gather index_add index_copy index_fill index_select put scatter scatter_add take",
    "index self source": "index_reduce",
    "index self src": "scatter_reduce",
    "indices": "embedding index index_put max_unpool2d max_unpool3d",
    "input tau": "linalg_householder_product",
    "input weight": "convolution native_group_norm native_layer_norm",
    "input2 input3 self": "ormqr",
    "input2 self": "cholesky_solve",
    "lengths": "segment_reduce",
    "mask": "masked_fill masked_scatter masked_select native_dropout_backward",
    "mat vec": "addmv",
    "mat1 mat2": "addmm",
    "mat2 self": "bmm mm",
    "max min self": "clamp",
    "max self": "clamp_max",
    "min self": "clamp_min",
    "other": "ldexp nextafter",
    "other self": """
        atan2 dist div fmax fmin linalg_cross logaddexp logaddexp2 maximum minimum mul
        special_xlog1py vdot xlogy
        """,
    "self": "fmod igamma igammac linalg_solve_triangular remainder special_zeta",
    "self target": """
        binary_cross_entropy binary_cross_entropy_with_logits huber_loss mse_loss
        smooth_l1_loss
        """,
    "self tensor": "dot",
    "self vec": "mv",
    "self weight": "_prelu_kernel lerp",
    "target targets": """
        _ctc_loss multi_margin_loss multilabel_margin_loss_forward nll_loss2d_forward
        nll_loss_forward
        """,
    "tensor1 tensor2": "addcdiv addcmul",
    "vec1 vec2": "addr",
    "x1 x2": "_cdist_forward",
}

_NO_VIEWS = ("_to_copy", "index_copy", "narrow_copy")
_numbers = {name: number for number, names in _NUMBERED.items() for name in names.split()}
_unknown = frozenset(_UNKNOWN.split())
_plain = {name: places for places, names in _PLAIN.items() for name in names.split()}
_kept = {name: tuple(kept.split()) for kept, names in _KEPT.items() for name in names.split()}
OUTS_WITHOUT_FORMULA = frozenset(f"aten::{name}" for name in _OUTS.split())
# By qualified name, as the fallback asks at every call that records gradients.
UNFOLLOWED = {
    f"aten::{name}": tuple(arguments.split())
    for arguments, names in _UNFOLLOWED.items() for name in names.split()
}
# Gradients do not reach what these return.
NOT_DIFFERENTIABLE = frozenset(f"aten::{name}" for name in (
    "eq", "ne", "lt", "le", "gt", "ge", "logical_not", "logical_and", "logical_or", "logical_xor",
    "detach", "detach_", "empty_like", "zeros_like", "ones_like", "full_like", "rand_like",
    "randn_like", "new_empty", "new_empty_strided", "new_zeros", "new_ones", "new_full", "histc",
    "special_airy_ai",
    *[f"special_{n}" for n in (
        "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0")],
    *[f"special_{s}modified_bessel_{n}" for s, n in (
        ("", "i0"), ("", "i1"), ("", "k0"), ("", "k1"), ("scaled_", "k0"), ("scaled_", "k1"))],
    *[f"special_{s}chebyshev_polynomial_{n}" for s in ("", "shifted_") for n in "tuvw"],
    *[f"special_{n}" for n in (
        "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
        "legendre_polynomial_p")],
))
# They have no derivative: leaves are written, and stay leaves.
WITHOUT_DERIVATIVE = frozenset(f"aten::logical_{n}_" for n in ("not", "and", "or", "xor"))


def backward_name(operator: str) -> str:
    """`AddBackward1` of `add.Scalar`, an overload of aten."""
    if operator in _unknown or _is_out(operator):
        return "torch::autograd::NotImplemented"
    name, _, overload = operator.partition(".")
    if name == "copy_":
        return "torch::autograd::CopyBackwards"
    kind = ""
    if name.startswith("_foreach_"):
        operator, kind = _of_element(name.removeprefix("_foreach_"), overload)
        if name.endswith("_"):
            name, kind = name.removeprefix("_foreach_"), ""  # as each would alone
    elif name.endswith("_copy") and name not in _NO_VIEWS:
        kind = "_copy"
        operator, name = operator.replace(kind, "", 1), name.removesuffix(kind)
    words = name.strip("_").split("_")
    made = "".join([word.title() for word in words]) + f"Backward{_numbers.get(operator, 0)}"
    return made.replace("ForwardBackward", "Backward") + kind


def _is_out(operator: str) -> bool:
    overload = operator.partition(".")[2]
    return overload.endswith("out") or overload == "grad_input"


def _of_element(name: str, overload: str) -> tuple[str, str]:
    """The overload of one element's operator that an overload of lists repeats, and the suffix of
    the derivative that is made for it: one with a derivative of its own has none."""
    if f"{name}.{overload}" in _OWN:
        return f"_foreach_{name}.{overload}", ""
    element = _ELEMENT.get(overload, overload)
    if name == "pow":
        element = f"Tensor_{element}"
    return f"{name}.{element}" if overload else name, overload


# Derivatives that read their operator's results, by the places of these; in place too.
_KEPT_RESULTS = {
    (): "pow_.Scalar",
    (0,): """
        _cdist_forward _euclidean_dist _foreach_exp _foreach_expm1 _foreach_max _foreach_norm.Scalar
        _foreach_pow.List _foreach_pow.ScalarAndTensor _foreach_reciprocal _foreach_rsqrt
        _foreach_sigmoid _foreach_sqrt _foreach_tan _foreach_tanh _linalg_det _linalg_slogdet
        _linalg_solve_ex _log_softmax _masked_softmax _pdist_forward _safe_softmax
        _scaled_dot_product_flash_attention_for_cpu _softmax _standard_gamma amax amin celu_
        cholesky cholesky_inverse cholesky_solve copysign.Scalar copysign.Tensor cumprod dist elu_
        exp exp2 expm1 hypot index_reduce ldexp.Tensor ldexp_ leaky_relu_ linalg_cholesky_ex
        linalg_householder_product linalg_inv_ex linalg_lstsq linalg_lu_factor_ex linalg_lu_solve
        linalg_pinv.atol_rtol_tensor linalg_solve_triangular linalg_vector_norm logcumsumexp
        logsumexp max median min nanmedian norm.Scalar norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype
        norm.ScalarOpt_dtype ormqr polar pow.Scalar pow.Tensor_Tensor pow_.Tensor prod prod.dim_int
        reciprocal relu rrelu_with_noise_ rsqrt scatter_reduce.two segment_reduce sgn sigmoid
        special_erfcx special_i0e special_i1 special_i1e special_log_ndtr special_ndtri sqrt
        std.correction std_mean.correction tan tanh triangular_solve
        """,
    (0, 1): "_linalg_eigh aminmax linalg_eig linalg_qr",
    (0, 1, 2): "_linalg_svd",
    (1,): "_fused_rms_norm _weight_norm_interface",
    (1, 2): "linalg_lu native_group_norm",
}
# Operators in place whose derivative reads what `self` was, by the argument whose gradient needs
# it; "": any.
_COPIED = {
    "": """
        _foreach_abs_ _foreach_acos_ _foreach_asin_ _foreach_atan_ _foreach_clamp_max_.List
        _foreach_clamp_max_.Scalar _foreach_clamp_max_.ScalarList _foreach_clamp_min_.List
        _foreach_clamp_min_.Scalar _foreach_clamp_min_.ScalarList _foreach_cos_ _foreach_cosh_
        _foreach_erf_ _foreach_erfc_ _foreach_lgamma_ _foreach_log10_ _foreach_log1p_ _foreach_log2_
        _foreach_log_ _foreach_maximum_.List _foreach_minimum_.List _foreach_pow_.List
        _foreach_pow_.Scalar _foreach_pow_.ScalarList _foreach_sin_ _foreach_sinh_ abs_ acos_ asin_
        atan2_ atan_ clamp_ clamp_.Tensor clamp_max_ clamp_max_.Tensor clamp_min_ clamp_min_.Tensor
        copysign_.Scalar cos_ cosh_ cumprod_ digamma_ erf_ erfc_ erfinv_ gelu_ hardsigmoid_
        hardswish_ hardtanh_ i0_ index_reduce_ lgamma_ log10_ log1p_ log2_ log_ logit_ mish_
        mvlgamma_ nan_to_num_ polygamma_ pow_.Scalar pow_.Tensor renorm_ scatter_reduce_.two sgn_
        silu_ sin_ sinc_ sinh_ threshold_ xlogy_.Scalar_Other xlogy_.Tensor
        """,
    "other": """
        _foreach_div_.List _foreach_div_.Tensor _foreach_mul_.List _foreach_mul_.Tensor div_.Tensor
        div_.Tensor_mode fmod_.Tensor igamma_ igammac_ mul_.Tensor remainder_.Tensor
        """,
    "self": "copysign_.Tensor hypot_ nextafter_",
    "weight": "_foreach_lerp_.List lerp_.Tensor",
}
_kept_results = {name: at for at, names in _KEPT_RESULTS.items() for name in names.split()}
_copied = {name: argument for argument, names in _COPIED.items() for name in names.split()}


def copied_for(name: str) -> str | None:
    """The argument whose gradient needs what the operator writes over, "" for any; or None."""
    return _copied.get(name)


def kept_results(name: str) -> tuple[int, ...]:
    """Places of the results that the derivative of an operator reads."""
    if name in _kept_results:
        return _kept_results[name]
    base, dot, overload = name.partition(".")
    return _kept_results.get(base.rstrip("_") + dot + overload, ())


def kept_arguments(name: str) -> tuple[str, ...]:
    """Names of what the derivative of an operator reads, if it has several tensors."""
    return _kept.get(name.rstrip("_"), ())


def plain_results(name: str) -> tuple[int, ...]:
    """Places of the results of an operator with several that do not require grad."""
    return _plain.get(name, ())
