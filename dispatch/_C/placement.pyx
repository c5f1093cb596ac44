"""Mixes of tensors on meta and elsewhere: which of them PyTorch's Meta kernels refuse.

Called by structured kernels and by out variants that are made from functional ones, when they only make metadata; by other kernels
with the tensors that they name. Fake tensors, which all lie on meta, are checked by their mode. What is written without values must
have none: nobody gets memory back as it was.
"""
from cpython.object cimport PyObject

from dispatch._C.dtypes cimport DEV_CPU, DEV_META
from dispatch._C.emitted cimport AK_TENSOR
from dispatch._C.errors cimport refused
from dispatch._C.operator cimport OperatorEntry
from dispatch._C.python_api cimport PyList_Check_, PyList_GET_ITEM_, PyList_GET_SIZE_, Py_TYPE_
from dispatch._C.tensor cimport TF_WRAPPED_NUMBER, Tensor
from dispatch._C.tls cimport tls
from dispatch._C.values cimport ArgSpec

# Which arguments are on one device: by the operator's name without the underscore of the in-place variant, or with the overload's,
# which goes before. Tensors without dimensions on the CPU pass, but for an argument with an `!`. Elementwise operators, whose shape
# functions ask it of all tensors, have no row.
cdef dict TOGETHER = {
    "_batch_norm_with_update": "input weight bias running_mean running_var",
    "_chunk_cat": "tensors!",
    "_linalg_solve_ex.result": "A B",
    "_log_softmax_backward_data": "grad_output output",
    "_native_batch_norm_legit": "input weight bias running_mean running_var",
    "_native_batch_norm_legit_functional": "input weight bias running_mean running_var",
    "_native_batch_norm_legit_no_training": "input weight bias running_mean running_var",
    "_prelu_kernel": "self weight",
    "_softmax_backward_data": "grad_output output",
    "_unsafe_masked_index": "self mask",
    "_unsafe_masked_index_put_accumulate": "mask values",
    "_weight_norm_interface": "v g",
    "adaptive_max_pool2d_backward.grad_input": "grad_output self",
    "adaptive_max_pool3d_backward.grad_input": "grad_output self",
    "addmm": "self mat1",
    "addmv": "self mat vec",
    "avg_pool2d_backward.grad_input": "self grad_input",
    "avg_pool3d_backward.grad_input": "grad_output self",
    "bmm.out": "self! mat2!",
    "bucketize.Tensor_out": "self! out!",
    "cat": "tensors!",
    "copysign": "self! other!",
    "dot": "self tensor",
    "floor_divide": "self! other",
    "fractional_max_pool2d_backward.grad_input": "self grad_input",
    "glu_backward": "grad_output self",
    "grid_sampler_2d": "input! grid!",
    "grid_sampler_3d": "input! grid!",
    "grid_sampler_3d_backward": "input! grid!",
    "huber_loss": "self target",
    "index_add": "self! index! source!",
    "index_copy": "self! index! source!",
    "index_reduce.out": "self! index! source!",
    "linalg_householder_product": "input! tau!",
    "linalg_ldl_solve": "LD! B!",
    "linalg_lu_solve.out": "LU B",
    "masked_fill.Scalar": "self mask",
    "masked_fill.Tensor": "self! mask value!",
    "masked_fill_.Scalar": "",
    "max_pool2d_with_indices_backward.grad_input": "grad_output self",
    "max_pool3d_with_indices_backward.grad_input": "grad_output self",
    "max_unpool2d": "self! indices!",
    "max_unpool3d": "self! indices!",
    "multi_margin_loss": "self! target! weight!",
    "multilabel_margin_loss_forward": "self! target!",
    "mv": "self vec",
    "native_batch_norm": "input weight bias running_mean running_var",
    "native_batch_norm_backward": "grad_out input weight running_mean running_var save_mean save_invstd",
    "native_group_norm": "input weight bias",
    "native_group_norm_backward": "grad_out input mean rstd weight",
    "native_layer_norm": "input weight bias",
    "native_layer_norm_backward": "grad_out input mean rstd weight",
    "nll_loss2d_backward": "grad_output self target weight total_weight",
    "nll_loss2d_forward": "self target weight",
    "nll_loss_backward": "grad_output self target weight total_weight",
    "nll_loss_forward": "self target weight",
    "ormqr": "self! input2! input3!",
    "reflection_pad1d_backward.grad_input": "grad_output self",
    "reflection_pad2d_backward.grad_input": "grad_output self",
    "reflection_pad3d_backward.grad_input": "grad_output self",
    "replication_pad1d_backward.grad_input": "grad_output self",
    "replication_pad2d_backward.grad_input": "grad_output self",
    "replication_pad3d_backward.grad_input": "grad_output self",
    "searchsorted.Tensor_out": "sorted_sequence! self!",
    "stack": "tensors!",
    "triangular_solve": "self! A!",
}


cdef inline int place_of(PyObject* o) noexcept:
    if not is_tensor(o):
        return 0
    return ON_META if (<Tensor>o).c_devtype == DEV_META else ELSEWHERE


cdef int places(OperatorEntry e, PyObject** args, int n) noexcept:
    cdef int i, found = 0
    cdef Py_ssize_t j
    for i in range(n):
        if e.sig.args[i].kind != AK_TENSOR:
            continue
        if PyList_Check_(args[i]):
            for j in range(PyList_GET_SIZE_(args[i])):
                found |= place_of(PyList_GET_ITEM_(args[i], j))
        else:
            found |= place_of(args[i])
    return found


cdef PyObject* first_listed(OperatorEntry e, PyObject** args, int n) noexcept:
    """The first tensor in a list among the arguments, borrowed; NULL."""
    cdef int i
    cdef Py_ssize_t j
    for i in range(n):
        if e.sig.args[i].kind == AK_TENSOR and PyList_Check_(args[i]):
            for j in range(PyList_GET_SIZE_(args[i])):
                if is_tensor(PyList_GET_ITEM_(args[i], j)):
                    return PyList_GET_ITEM_(args[i], j)
    return NULL


cdef PyObject* first_tensor(OperatorEntry e, PyObject** args, int n) noexcept:
    """The argument on whose device PyTorch's references make what they copy into `out`, borrowed; NULL."""
    cdef int i
    for i in range(n):
        if e.sig.args[i].kind == AK_TENSOR and is_tensor(args[i]) and not (<Tensor>args[i]).c_flags & TF_WRAPPED_NUMBER:
            return args[i]
    return first_listed(e, args, n)


cdef inline bint only_meta(OperatorEntry e, PyObject** args) noexcept:
    """What most calls are; False of lists and subclasses."""
    cdef int i, n = e.sig.n_args
    cdef const ArgSpec* spec = e.sig.args
    for i in range(n):
        if spec[i].kind == AK_TENSOR and args[i] != <PyObject*>None and (
                Py_TYPE_(args[i]) != <PyObject*>Tensor or (<Tensor>args[i]).c_devtype != DEV_META):
            return False
    return True


cdef int check_mix(OperatorEntry e, PyObject** args, int n_out, bint kept) except -1:
    cdef PyObject* like
    if only_meta(e, args) or tls().meta_in_include or places(e, args, e.sig.n_args) != ON_META | ELSEWHERE:
        return 0
    if kept:
        check_kept(<Tensor?>(<object>args[0]))
    like = first_tensor(e, args, e.sig.n_args - n_out) if n_out else NULL
    if like != NULL and (<Tensor>like).c_devtype != DEV_META and places(e, args, e.sig.n_args - n_out) & ON_META:
        refuse_out(args[e.sig.n_args - n_out], (<Tensor>like).device)
    name = e.name.partition("::")[2]
    base = name.removesuffix("_")
    for key in (f"{name}.{e.overload_name}", f"{base}.{e.overload_name}", base):
        if key in TOGETHER:
            return check_words(e, args, (<str>TOGETHER[key]).split())
    return 0


cdef int refuse_out(PyObject* out, device) except -1:
    """Given a list, it may be any of it."""
    if is_tensor(out) and (<Tensor>out).c_devtype != DEV_META:
        raise refused(f"Expected out tensor to have device meta, but got {(<Tensor>out).device} instead")
    raise refused(f"Expected out tensor to have device {device}, where the first argument is, but got meta instead")


cdef int check_words(OperatorEntry e, PyObject** args, list words) except -1:
    cdef int i
    cdef dict given = {}
    for i in range(e.sig.n_args):
        name = <object>e.sig.args[i].name
        if name in words or name + "!" in words:
            given[name] = [t for t in (<object>args[i] if PyList_Check_(args[i]) else (<object>args[i],)) if isinstance(t, Tensor)
                           and (name not in words or (<Tensor>t).c_ndim or (<Tensor>t).c_devtype != DEV_CPU)]
    return check_one_device(given)


cdef int check_one_device(dict given) except -1:
    cdef Tensor first = None, t
    for name, tensors in given.items():
        for t in tensors:
            if first is None:
                first, where = t, name
            elif t.c_devtype != first.c_devtype:
                raise refused(f"expected all tensors on one device, '{where}' is on {first.device} and '{name}' on {t.device}")
    return 0


def check_together(**tensors):
    """For kernels that are not structured. RuntimeError: these tensors, of which some may be None, are not on one device."""
    if not tls().meta_in_include:
        check_one_device({name: (t,) for name, t in tensors.items() if t is not None})


def check_kept(Tensor self not None):
    """For Meta kernels that write to self. RuntimeError: self has values, which nobody would write."""
    if self.c_devtype != DEV_META and not tls().meta_in_include:
        raise refused(f"the result of tensors on meta cannot be written to self on {self.device}")
