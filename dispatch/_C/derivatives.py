"""PyTorch's derivatives as far as a program sees them without an engine: names, and what they keep.

Asked by the autograd fallback when it marks a result. An operator that is not named here has the
name that is made of its own, with a 0 behind; several derivatives, in place or by overload, are
counted.
"""

__all__ = ["backward_name", "kept_arguments"]

# Overloads by the number of their derivative.
_NUMBERED = {
    1: """
        _ctc_loss.Tensor _to_sparse acosh_ add.Scalar add_.Scalar as_strided_ asinh_ atanh_
        celu_ clamp clamp_ clamp_max.Tensor clamp_max_.Tensor clamp_min.Tensor
        clamp_min_.Tensor conj_physical_ div.Scalar div_.Scalar elu_ eq_.Tensor fmod.Tensor
        fmod_.Tensor ge_.Tensor gt_.Tensor index_fill.int_Tensor index_fill_.int_Tensor
        le_.Tensor leaky_relu_ lerp.Tensor lerp_.Tensor lt_.Tensor masked_fill.Tensor
        masked_fill_.Tensor max mean.dim median.dim min mul.Scalar mul_.Scalar nanmedian.dim
        ne_.Tensor norm.ScalarOpt_dim normal.Tensor_float polygamma_ pow.Tensor_Tensor
        pow_.Tensor prod.dim_int remainder.Tensor remainder_.Tensor round.decimals
        round_.decimals rsub.Scalar scatter.value scatter_.value sort.stable squeeze.dim
        sub.Scalar sub_.Scalar sum.dim_IntList t_ threshold_ transpose_ unsqueeze_
        """,
    2: """
        bernoulli_.float div.Tensor_mode div_.Tensor_mode fill_.Scalar normal.float_Tensor
        pow.Scalar squeeze.dims
        """,
    3: "fill_.Tensor normal.Tensor_Tensor squeeze_",
    4: "squeeze_.dim",
    5: "squeeze_.dims",
}
_UNKNOWN = """
    _chunk_cat bernoulli.p _histogramdd_bin_edges _histogramdd_from_bin_cts
    _histogramdd_from_bin_tensors floor_divide floor_divide_.Tensor heaviside heaviside_
    histogram.bin_ct histogram.bins_tensor linalg_ldl_factor_ex linalg_ldl_solve
    linspace.Scalar_Tensor linspace.Tensor_Scalar linspace.Tensor_Tensor logspace.Scalar_Tensor
    logspace.Tensor_Scalar logspace.Tensor_Tensor set_ set_.source_Storage
    set_.source_Storage_storage_offset set_.source_Tensor randint_like randint_like.low_dtype
    scatter.reduce scatter_.reduce
    """
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
_kept = {name: tuple(kept.split()) for kept, names in _KEPT.items() for name in names.split()}


def backward_name(operator: str) -> str:
    """`AddBackward1` of `add.Scalar`, an overload of aten."""
    if operator in _unknown:
        return "torch::autograd::NotImplemented"
    name, _, overload = operator.partition(".")
    if name == "copy_":
        return "torch::autograd::CopyBackwards"
    kind = ""
    if name.startswith("_foreach_"):
        operator = operator.removeprefix("_foreach_")
        if name.endswith("_"):
            name = name.removeprefix("_foreach_")  # each tensor has what it would have alone
        elif operator in _numbers:
            kind = overload
    elif name.endswith("_copy") and name not in _NO_VIEWS:
        kind = "_copy"
        operator, name = operator.replace(kind, "", 1), name.removesuffix(kind)
    words = name.strip("_").split("_")
    made = "".join([word.title() for word in words]) + f"Backward{_numbers.get(operator, 0)}"
    return made.replace("ForwardBackward", "Backward") + kind


def kept_arguments(name: str) -> tuple[str, ...]:
    """Names of what the derivative of an operator reads, if it has several tensors."""
    return _kept.get(name.rstrip("_"), ())
