"""The structured kernel: shape function, then outputs, then body.

Called by the generated adapters (Cython kernels) and, for kernels written in Python, by the dispatcher's loader below.
"""
import warnings

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcmp, memcpy

from dispatch._C cimport dtypes
from dispatch._C.dispatcher cimport call_boxed, import_reference, need_entry, set_loader
from dispatch._C.dtypes cimport DEV_CPU, DEV_META, category_of_code
from dispatch._C.emitted cimport (
    AF_LIST, AK_TENSOR, KK_DEFAULT, KK_STRUCTURED, SV_FUNCTIONAL, SV_INPLACE, SV_OUT,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import scalar_type
from dispatch._C.keys cimport key_value
from dispatch._C.operator cimport Kernel, KernelObject, OperatorEntry, boxed_fn, qualified_name
from dispatch._C.placement cimport ON_META, check_mix, first_listed, is_tensor, places
from dispatch._C.python_api cimport (
    PyGC_Disable, PyGC_Enable, PyList_Check_, PyList_GET_ITEM_, PyList_GET_SIZE_, PyObject_TypeCheck_, PyObject_Vectorcall_,
    Py_TYPE_,
)
from dispatch._C.references cimport give, take
from dispatch._C.geometry cimport TF_NON_OVERLAPPING_DENSE, check_within, reach_of, read_ints
from dispatch._C.returned cimport items_of
from dispatch._C.size cimport new_size
from dispatch._C.storage cimport check_pointer, check_resizable, grow_storage, has_bytes
from dispatch._C.steady cimport is_long, new_steady
from dispatch._C.symbolic cimport gt, ne
from dispatch._C.tensor cimport TF_FAKE, TF_FUNCTIONAL, TF_SYMBOLIC, Tensor, needs_grad, new_empty, set_geometry
from dispatch._C.tls cimport tls
from dispatch._C.unboxing cimport steady_any

from dispatch._C.advice import advise

cdef enum:
    MAX_OUTPUTS = 8
    MAX_HANDED = 8

META_KEY = key_value("Meta")
cdef dict CASTS = {None: CAST_EXACT, "safe": CAST_SAFE, "any": CAST_ANY}
cdef dict OVERLAPS = {None: 0, "any": OVERLAP_ANY, "self": OVERLAP_SELF, "none": OVERLAP_NONE}


cdef class TensorSpec:
    """What a shape function written in Python says of an output.

    Args:
        sizes: the output's sizes.
        dtype: a dtype.
        strides: None for contiguous.
        device: None for that of the first tensor argument.
        cast: which dtypes a given output may have: None, the result's; "safe", one that the result can be cast to; "any", any
            (it decides the result's).
        overlap: what memory a given output may share: "any" (no check), "self" (none, but all of the first argument's), "none";
            None: with `cast`, it must not overlap itself.
        copied: PyTorch's Meta kernel of the out variant runs the functional one and copies: there a given output may be of any
            dtype that the result casts to, and is contiguous when it is resized. With `cast="any"` every kernel does so.
        restride: a given output that has the sizes takes the strides too.
    """
    cdef readonly object sizes, strides, dtype, device, cast, overlap
    cdef readonly bint copied, restride
    cdef int flags                           # CAST_* | OVERLAP_*, of `cast` and `overlap`

    def __init__(self, sizes, dtype, strides=None, *, device=None, cast=None, overlap=None, bint copied=False,
                 bint restride=False):
        try:
            self.flags = <int>CASTS[cast] | <int>OVERLAPS[overlap]
        except KeyError:
            raise ValueError(f"TensorSpec: expected cast to be one of {list(CASTS)} and overlap one of {list(OVERLAPS)}, "
                             f"got {cast!r} and {overlap!r}") from None
        self.sizes = tuple(sizes)
        self.dtype = dtype
        self.strides = None if strides is None else tuple(strides)
        self.device = device
        self.cast = cast
        self.overlap = overlap
        self.copied = copied
        self.restride = restride

    def __repr__(self):
        return (f"TensorSpec({self.sizes}, {self.dtype}, {self.strides}, device={self.device}, cast={self.cast!r}, "
                f"overlap={self.overlap!r}, copied={self.copied}, restride={self.restride})")

    def __eq__(self, other):
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return fields_of(self) == fields_of(<TensorSpec>other)


cdef tuple fields_of(TensorSpec t):
    return t.sizes, t.dtype, t.strides, t.device, t.cast, t.overlap, t.copied, t.restride


cdef class Shaped:
    """What a shape function returns that has worked out more than the outputs: the body gets it after the schema's arguments.

    Args:
        specs: what it would have returned alone: a TensorSpec, or a tuple of them for several outputs.
        handed: what the body gets, at most `MAX_HANDED` objects. Where no body runs (Meta, fake tensors) nobody reads them.
    """
    cdef readonly object specs
    cdef readonly tuple handed

    def __init__(self, specs, *handed):
        if len(handed) > MAX_HANDED:
            raise ValueError(f"Shaped: expected at most {<int>MAX_HANDED} objects to hand over, got {len(handed)}")
        self.specs = specs
        self.handed = handed

    def __repr__(self):
        return f"Shaped({self.specs!r}, {', '.join(map(repr, self.handed))})"


cdef int fill_spec(Spec* s, Kernel* k, object given) except -1:
    """A TensorSpec (or None: no output) as a Spec."""
    cdef dtypes.device dev
    cdef TensorSpec t
    init_spec(s)
    if given is None:
        s.absent = True
        return 0
    if not isinstance(given, TensorSpec):
        raise refused(f"the shape function returned {type(given).__name__}, expected a TensorSpec")
    t = <TensorSpec>given
    s.ndim = read_ints(t.sizes, s.sizes, "sizes")
    if t.strides is not None:
        if read_ints(t.strides, s.strides, "strides") != s.ndim:
            raise AssertionError(f"strides and sizes of {t!r} differ in length")
        s.has_strides = True
    s.dtype = dtypes.dtype_code(t.dtype)
    s.cast = t.flags
    if t.restride:
        s.cast |= RESTRIDE
    if t.copied:
        s.cast |= COPIED
    if t.device is not None:
        dev = dtypes.device_of(t.device)
        s.devtype = dev.devtype
        s.devindex = dev.devindex
    return 0


# ---- outputs ---------------------------------------------------------------------------------------------------------

cdef bint can_cast_codes(int from_, int to) noexcept:
    """Whether a result of one dtype may be written to an output of another (torch.can_cast)."""
    cdef int a = category_of_code(from_), b = category_of_code(to)
    if a == 3 and b != 3:
        return False
    if a == 2 and b < 2:
        return False
    return not (a != 0 and b == 0)


cdef PyObject* device_tensor(OperatorEntry e, PyObject** args, int n) noexcept:
    cdef int i
    cdef PyObject* first = NULL
    for i in range(n):
        if e.sig.args[i].kind != AK_TENSOR or e.sig.args[i].flags & AF_LIST or not is_tensor(args[i]):
            continue
        if (<Tensor>args[i]).c_ndim > 0 or (<Tensor>args[i]).c_devtype != DEV_CPU:
            return args[i]
        if first == NULL:
            first = args[i]
    return first if first != NULL else first_listed(e, args, n)


cdef bint is_meta(Kernel* k) noexcept:
    return k.owner != NULL and (<KernelObject>k.owner).key == META_KEY or tls().meta_in_include


cdef Tensor dispatched_empty(Spec* s, int devtype, int devindex):
    """A new tensor of a device whose memory another package has: its `empty` or `empty_strided` (at::native::create_out)."""
    cdef OperatorEntry e
    cdef PyObject* args[7]
    cdef int i = 1
    sizes = list(new_size(s.ndim, s.sizes))
    strides = list(new_size(s.ndim, s.strides)) if s.has_strides else None
    dtype, device = dtypes.get_dtype(s.dtype), dtypes.new_device(devtype, devindex)
    e = need_entry("aten::empty", "memory_format") if strides is None else need_entry("aten::empty_strided", "")
    args[0] = <PyObject*>sizes
    if strides is not None:
        args[1] = <PyObject*>strides
        i = 2
    args[i] = <PyObject*>dtype
    args[i + 1] = <PyObject*>None       # layout
    args[i + 2] = <PyObject*>device
    args[i + 3] = <PyObject*>None       # pin_memory
    args[i + 4] = <PyObject*>None       # memory_format
    return <Tensor?>take(call_boxed(e, args))


cdef Tensor new_output(Kernel* k, OperatorEntry e, Spec* s, PyObject** args):
    cdef PyObject* like
    cdef int devtype = s.devtype, devindex = s.devindex
    if is_meta(k):
        devtype = DEV_META
        devindex = -1
    elif devtype == DEVICE_OF_ARGUMENTS:
        like = device_tensor(e, args, e.sig.n_args)
        devtype = (<Tensor>like).c_devtype if like != NULL else DEV_CPU
        devindex = (<Tensor>like).c_devindex if like != NULL else -1
    if devtype != DEV_CPU and devtype != DEV_META and (<KernelObject>k.owner).kind == KK_DEFAULT:
        return dispatched_empty(s, devtype, devindex)
    return new_empty(s.dtype, devtype, devindex, s.ndim, s.sizes, s.strides if s.has_strides else NULL)


cdef bint same_sizes(Spec* s, Tensor t) except -1:
    cdef int i
    if s.ndim != t.c_ndim:
        return False
    for i in range(s.ndim):
        if ne(s.sizes[i], t.c_sizes[i]):
            return False
    return True


cdef inline bint holds_values(Tensor t) noexcept:
    return t.c_devtype != DEV_META and not tls().meta_in_include


cdef bint overlaps_itself(Tensor t) except -1:
    """Whether some stride is 0 over more than one element: two indices name one element for sure."""
    cdef int i
    if not t.c_flags & TF_SYMBOLIC and t.c_numel == 0:
        return False
    for i in range(t.c_ndim):
        if t.c_strides[i] == 0 and gt(t.c_sizes[i], 1):
            return True
    return False


cdef int raise_overlap(str what) except -1:
    raise refused(f"unsupported operation: {what}; clone() it before the operation")


cdef int raise_shared(str what) except -1:
    raise_overlap(f"some elements of the input tensor and the written-to tensor refer to a single memory location: {what}")


cdef bint share_memory(Tensor a, Tensor b) noexcept:
    """Whether two tensors surely share elements (at::get_overlap_status); those with gaps count as apart, and so do those with
    symbolic sizes that are not one tensor."""
    cdef int64_t a_start, a_end, b_start, b_end
    if a is b:
        return a.c_numel != 0
    if a.c_storage is not b.c_storage or not a.c_numel or not b.c_numel or (a.c_flags | b.c_flags) & TF_SYMBOLIC:
        return False
    if not a.c_flags & b.c_flags & TF_NON_OVERLAPPING_DENSE:
        return False
    a_start = a.c_offset * dtypes.itemsize_table()[a.c_dtype]
    b_start = b.c_offset * dtypes.itemsize_table()[b.c_dtype]
    a_end = a_start + a.c_numel * dtypes.itemsize_table()[a.c_dtype]
    b_end = b_start + b.c_numel * dtypes.itemsize_table()[b.c_dtype]
    return a_start < b_end and b_start < a_end


cdef bint overlaps_partly(Tensor out, Tensor t) noexcept:
    """Whether both share memory without being the same view of it (at::get_overlap_status)."""
    cdef int i
    if out is t or not share_memory(out, t):
        return False
    if out.c_offset * dtypes.itemsize_table()[out.c_dtype] != t.c_offset * dtypes.itemsize_table()[t.c_dtype] \
            or out.c_numel != t.c_numel or out.c_ndim != t.c_ndim:
        return True
    for i in range(out.c_ndim):
        if out.c_strides[i] != t.c_strides[i]:
            return True
    return False


cdef int check_iterated(OperatorEntry e, Spec* s, Tensor out, PyObject** args, int n) except -1:
    """For operators that go element by element: an argument is the output, the same view of it, or apart from it."""
    cdef int i
    cdef Tensor t
    if not s.cast & CAST_MASK or s.cast & OVERLAP_ANY:
        return 0
    for i in range(n):
        if e.sig.args[i].kind != AK_TENSOR or e.sig.args[i].flags & AF_LIST or args[i] == <PyObject*>out:
            continue
        if not isinstance(<object>args[i], Tensor):
            continue
        t = <Tensor>args[i]
        if t.c_storage is out.c_storage and overlaps_partly(out, t):
            raise_shared(f"the written-to tensor and the argument '{<object>e.sig.args[i].name}' share some elements")
    return 0


cdef int check_apart(OperatorEntry e, int first, Tensor out, PyObject** args, int n) except -1:
    """For operators that read arguments while they write: `out` must not overlap itself, nor what `check_unread` says."""
    if overlaps_itself(out):
        raise_overlap("more than one element of the written-to tensor refers to a single memory location")
    return check_unread(e, first, out, args, n)


cdef int check_unread(OperatorEntry e, int first, Tensor out, PyObject** args, int n) except -1:
    """`out` must not overlap arguments from `first` on; those before it only as a whole."""
    cdef int i
    for i in range(n):
        for t in (<object>args[i] if isinstance(<object>args[i], list) else (<object>args[i],)):
            if not isinstance(t, Tensor):
                continue
            if overlaps_partly(out, <Tensor>t) if i < first else share_memory(out, <Tensor>t):
                what = "some elements" if i < first else "memory"
                raise_shared(f"the written-to tensor and the argument '{<object>e.sig.args[i].name}' share {what}")
    return 0


cdef int check_out_device(int devtype, int devindex, Tensor out) except -1:
    """Results are written where they are computed. Fake tensors, which all lie on meta, are checked by their mode."""
    if out.c_devtype == devtype and (out.c_devindex == devindex or out.c_devindex < 0 or devindex < 0) or tls().meta_in_include:
        return 0
    raise refused(f"Expected out tensor to have device {dtypes.new_device(devtype, devindex)}, but got {out.device} instead")


cdef bint fit_output(OperatorEntry e, Spec* s, Tensor out, bint may_resize) except -1:
    """dtype, size, room, overlap with itself. True: `move_outputs` has to give it the result's sizes and strides."""
    if s.dtype != out.c_dtype:
        if s.cast & CAST_MASK == CAST_EXACT or s.cast & CAST_MASK == CAST_MASK:
            raise refused(f"Expected out tensor to have dtype {dtypes.get_dtype(s.dtype)}, but got {out.dtype} instead")
        if s.cast & CAST_MASK == CAST_SAFE and not can_cast_codes(s.dtype, out.c_dtype):
            raise refused(
                f"result type {scalar_type(dtypes.get_dtype(s.dtype))} can't be cast to the desired output type "
                f"{scalar_type(out.dtype)}",
                TypeError if out.c_devtype == dtypes.DEV_CPU and e.name in ("aten::cat", "aten::stack") else RuntimeError)
    if same_sizes(s, out):
        if s.cast & CAST_MASK and not s.cast & OVERLAP_ANY and overlaps_itself(out):
            raise_overlap("more than one element of the written-to tensor refers to a single memory location")
        if s.cast & RESTRIDE and may_resize:
            check_within(out.c_storage.c_nbytes, dtypes.itemsize_table()[out.c_dtype], s.ndim, s.sizes, steps_of(s), out.c_offset)
            return True
        return False
    if not may_resize:
        raise_shape(s, out)
    if s.cast & CAST_MASK and not s.cast & RESTRIDE and (out.c_devtype == DEV_META or tls().meta_in_include):
        s.has_strides = False    # PyTorch's Meta kernels of TensorIterator's operators resize to contiguous
    check_resize(e, s, out)
    return True


cdef int check_output(OperatorEntry e, Spec* s, Tensor out, bint may_resize) except -1:
    moved = fit_output(e, s, out, may_resize)
    cdef PyObject* outs = <PyObject*>out
    warn_all_resized(e, s, &outs, 0, 1, &moved)
    return move_outputs(s, &outs, 1, &moved)


cdef int raise_shape(Spec* s, Tensor out) except -1:
    raise refused(f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(new_size(s.ndim, s.sizes))}")


cdef int check_resize(OperatorEntry e, Spec* s, Tensor out) except -1:
    """Whether an out argument may take the result's sizes."""
    need_room(out, s)
    if e.emitted == NULL and needs_grad(out) and tls().grad_mode:
        raise refused("cannot resize variables that require grad")
    return 0


cdef int warn_resized(OperatorEntry e, Spec* s, Tensor out) except -1:
    warnings.warn(f"{qualified_name(e)}: An output with one or more elements was resized since it had shape "
                  f"{list(out.shape)}, which does not match the required output shape {list(new_size(s.ndim, s.sizes))}",
                  UserWarning, stacklevel=2)
    return 0


cdef inline bint is_changed(Tensor t, Tensor before) noexcept:
    cdef size_t n = t.c_ndim * sizeof(int64_t)
    return (t.c_storage is not before.c_storage or t.c_dtype != before.c_dtype or t.c_offset != before.c_offset
            or t.c_ndim != before.c_ndim or memcmp(t.c_sizes, before.c_sizes, n) or memcmp(t.c_strides, before.c_strides, n))


cdef int warn_all_resized(OperatorEntry e, Spec* specs, PyObject** args, int first, int n, const bint* moved) except -1:
    """Who shows a warning may do anything: the checks hold for the arguments as they were."""
    cdef list tensors = None, before = None
    cdef int i
    for i in range(n):
        if moved[i] and (<Tensor>args[first + i]).c_numel and not same_sizes(&specs[i], <Tensor>args[first + i]):
            if tensors is None:
                tensors = listed_tensors(args, first + n)
                before = [new_steady(<Tensor>t) for t in tensors]
            warn_resized(e, &specs[i], <Tensor>args[first + i])
    return 0 if tensors is None else check_unchanged(tensors, before)


cdef int warn_shared(OperatorEntry e, Tensor out, PyObject** args) except -1:
    """In place, with several indices for an element: at other places too it shows what is written."""
    cdef list tensors, before
    if not overlaps_itself(out):
        return 0
    tensors = listed_tensors(args, e.sig.n_args)
    before = [new_steady(<Tensor>t) for t in tensors]
    advise_shared(out, qualified_name(e))
    return check_unchanged(tensors, before)


cdef int check_unchanged(list tensors, list before) except -1:
    cdef int i
    for i in range(<int>len(tensors)):
        if is_changed(<Tensor>tensors[i], <Tensor>before[i]):
            raise refused("an argument was given other sizes or memory while a warning was shown")
    return 0


cdef list listed_tensors(PyObject** args, int n):
    cdef list found = []
    cdef int i
    for i in range(n):
        if is_tensor(args[i]):
            found.append(<object>args[i])
        elif PyList_Check_(args[i]):
            found.extend([t for t in <list>args[i] if isinstance(t, Tensor)])
    return found


cdef inline const int64_t* steps_of(Spec* s) noexcept:
    return s.strides if s.has_strides else NULL


cdef int64_t need_room(Tensor out, Spec* s) except -1:
    """Bytes that the storage must have for the result; RuntimeError when it cannot grow to that."""
    cdef int64_t reach = reach_of(dtypes.itemsize_table()[out.c_dtype], s.ndim, s.sizes, steps_of(s), out.c_offset)
    if reach > out.c_storage.c_nbytes and has_bytes(out.c_storage):
        check_resizable(out.c_storage)
    return reach


cdef Tensor planned(Tensor out, Spec* s):
    """What `out` will be, for the checks of overlap: it stays as it is until all of them are done."""
    cdef Tensor t = Tensor.__new__(Tensor)
    t.c_dtype = out.c_dtype
    t.c_devtype = out.c_devtype
    t.c_storage = out.c_storage
    t.c_flags = out.c_flags & (TF_FAKE | TF_FUNCTIONAL)
    set_geometry(t, s.ndim, s.sizes, steps_of(s), out.c_offset)
    return t


cdef int move_outputs(Spec* specs, PyObject** args, int n, const bint* moved) except -1:
    """After all checks of all outputs: memory first, which there may not be, then the geometry."""
    cdef Tensor out
    cdef int i
    for i in range(n):
        if moved[i]:
            out = <Tensor>args[i]
            reach = need_room(out, &specs[i])
            if out.c_storage.c_resizable:
                grow_storage(out.c_storage, reach)
    for i in range(n):
        if moved[i]:
            out = <Tensor>args[i]
            set_geometry(out, specs[i].ndim, specs[i].sizes, steps_of(&specs[i]), out.c_offset)
    return 0


cdef tuple new_outputs(Kernel* k, OperatorEntry e, Spec* specs, PyObject** args, int n):
    """No finalizer runs on the way: what was checked of the arguments holds."""
    cdef bint collects = PyGC_Disable()
    try:
        return tuple([None if specs[i].absent else new_output(k, e, &specs[i], args) for i in range(n)])
    finally:
        if collects:
            PyGC_Enable()


cdef object prepare_outputs(Kernel* k, PyObject* op, Spec* specs, PyObject** args):
    cdef OperatorEntry e = <OperatorEntry>op
    cdef int i, j, n = k.n_out, first
    cdef bint moved[MAX_OUTPUTS]
    cdef list outs
    if k.body == NULL:
        check_mix(e, args, n if k.variant == SV_OUT else 0,
                  k.variant == SV_INPLACE and specs.cast & CAST_MASK == CAST_SAFE)
    if k.variant == SV_FUNCTIONAL:
        if n == 1:
            return new_output(k, e, specs, args)
        return new_outputs(k, e, specs, args, n)
    if k.variant == SV_INPLACE:
        if specs.cast & (OVERLAP_NONE | OVERLAP_SELF | OVERLAP_TOLD) and not is_meta(k):
            if specs.cast & OVERLAP_TOLD:                                     # PyTorch's in-place Meta kernels do not look
                warn_shared(e, <Tensor?>(<object>args[0]), args)
                if specs.cast & OVERLAP_NONE:
                    check_unread(e, 1, <Tensor>args[0], args, e.sig.n_args)
                elif specs.cast & OVERLAP_SELF:                               # a mask may be the tensor itself
                    check_unread(e, 2, <Tensor>args[0], args, 2)
            else:
                check_apart(e, 1, <Tensor?>(<object>args[0]), args, e.sig.n_args)
        fit_output(e, specs, <Tensor?>(<object>args[0]), False)
        if not is_meta(k):
            check_iterated(e, specs, <Tensor>args[0], args, e.sig.n_args)
        check_pointer((<Tensor>args[0]).c_storage)
        return <object>args[0]
    first = e.sig.n_args - n
    for i in range(n):
        if not specs[i].absent:
            check_pointer((<Tensor?>(<object>args[first + i])).c_storage)
        for j in range(i):
            check_one_output(specs, args + first, j, i)
        if specs[i].cast & OVERLAP_TOLD:
            specs[i].cast = specs[i].cast & ~(OVERLAP_NONE | OVERLAP_SELF)
        if specs[i].cast & COPIED and (specs[i].cast & CAST_ANY or is_meta(k)):
            if not specs[i].cast & CAST_ANY:
                specs[i].cast |= CAST_SAFE
            if is_meta(k):
                specs[i].cast = specs[i].cast & ~(OVERLAP_NONE | OVERLAP_SELF) | OVERLAP_ANY
            specs[i].has_strides = False
        moved[i] = not specs[i].absent and check_out(e, &specs[i], args, first, i, k.body != NULL)
    warn_all_resized(e, specs, args, first, n, moved)
    move_outputs(specs, args + first, n, moved)
    if n == 1:
        return <object>args[first]
    outs = []
    for i in range(n):
        outs.append(<object>args[first + i])
    return tuple(outs)


cdef bint check_out(OperatorEntry e, Spec* s, PyObject** args, int first, int i, bint has_body) except -1:
    """The i-th out argument: itself, then the memory that it is going to have (it may grow into an argument's).

    True: it has to be moved. OVERLAP_NONE and OVERLAP_SELF together: it must not overlap itself before it is resized either.
    Where there are values it never may: PyTorch asks most operators for that, of the others it keeps what is written last.
    """
    cdef PyObject* like
    cdef Tensor moving, out = <Tensor?>(<object>args[first + i])
    cdef bint iterated, moved
    if s.cast & OVERLAP_NONE and s.cast & OVERLAP_SELF and overlaps_itself(out):
        raise_overlap("more than one element of the written-to tensor refers to a single memory location")
    if s.devtype != DEVICE_OF_ARGUMENTS:
        check_out_device(s.devtype, s.devindex, out)
    else:
        like = device_tensor(e, args, first)
        if like != NULL:
            check_out_device((<Tensor>like).c_devtype, (<Tensor>like).c_devindex, out)
    if out.c_devtype != DEV_META and not tls().meta_in_include and places(e, args, first) & ON_META:
        check_out_device(DEV_META, -1, out)         # nobody would write it
    iterated = s.cast & CAST_MASK == CAST_SAFE and not s.cast & OVERLAP_ANY
    moved = fit_output(e, s, out, not (iterated and is_argument(out, args, first)))
    if not moved and holds_values(out) and overlaps_itself(out):
        raise_overlap("more than one element of the written-to tensor refers to a single memory location")
    if moved:
        if has_body and not same_sizes(s, out):
            check_not_read(e, args, first, first + i)
        moving = planned(out, s)
        if (out.c_numel or moving.c_numel) and s.cast & OVERLAP_NONE and is_listed(out, args, first):
            raise_shared("the written-to tensor is one of those that are read")       # by their sizes, which would be the result's
        out = moving
    check_iterated(e, s, out, args, first)
    if s.cast & (OVERLAP_NONE | OVERLAP_SELF):
        check_apart(e, 0 if s.cast & OVERLAP_NONE else 1, out, args, first)
    return moved


cdef int check_not_read(OperatorEntry e, PyObject** args, int n, int out) except -1:
    """An output that is going to have other sizes is no argument: the body would read that by its new sizes."""
    cdef int i
    for i in range(n):
        if args[i] == args[out]:
            raise_overlap(f"the written-to tensor is the argument '{<object>e.sig.args[i].name}' and would take the result's sizes")
    return 0


cdef int check_one_output(const Spec* specs, PyObject** outs, int i, int j) except -1:
    """One tensor is not given for two results that differ in size."""
    if outs[i] != outs[j] or specs[i].absent or specs[j].absent:
        return 0
    if specs[i].ndim != specs[j].ndim or memcmp(specs[i].sizes, specs[j].sizes, specs[i].ndim * sizeof(int64_t)):
        raise_overlap("one tensor is given for two results of different sizes")
    return 0


cdef bint any_long(object outputs) noexcept:
    for output in <tuple>outputs:
        if is_long(<Tensor>output):
            return True
    return False


cdef Tensor steady_output(object output, PyObject** args, tuple taken):
    cdef Py_ssize_t i
    for i in range(len(taken)):
        if isinstance(taken[i], Tensor) and args[i] == <PyObject*>output:
            return <Tensor>taken[i]
    return new_steady(<Tensor>output)


cdef object new_steady_outputs(Kernel* k, object outputs, PyObject** args, tuple taken):
    if k.variant == SV_FUNCTIONAL:       # nobody else has them yet
        return outputs
    if isinstance(outputs, Tensor):
        return steady_output(outputs, args, taken)
    return tuple([steady_output(output, args, taken) for output in <tuple>outputs])


cdef bint is_argument(Tensor t, PyObject** args, int n) noexcept:
    cdef int i
    for i in range(n):
        if args[i] == <PyObject*>t:
            return True
    return False


cdef bint is_listed(Tensor t, PyObject** args, int n) noexcept:
    """Whether it stands in a list among the arguments."""
    cdef int i
    cdef Py_ssize_t j
    for i in range(n):
        if PyList_Check_(args[i]):
            for j in range(PyList_GET_SIZE_(args[i])):
                if PyList_GET_ITEM_(args[i], j) == <PyObject*>t:
                    return True
    return False


def check_written(Tensor out not None, *read):
    """For bodies that read tensors while they write: `out` must not overlap itself, nor any of `read` (at::assert_no_overlap)."""
    if overlaps_itself(out):
        raise_overlap("more than one element of the written-to tensor refers to a single memory location")
    check_read(out, *read)


def check_read(Tensor out not None, *read):
    """The same of an output that may overlap itself."""
    for t in read:
        if share_memory(out, t):
            raise_shared("the written-to tensor and a tensor that is read share memory")


def advise_shared(Tensor out not None, name):
    """`out` is written in part, and shows what is written in other places too: an expanded one."""
    if overlaps_itself(out):
        advise(f"{name} on expanded tensors is deprecated: their elements share memory, clone() it first")


def check_placed(Tensor like not None, *outs):
    """For composites: results of tensors on the device of `like` are written there. RuntimeError: an output is elsewhere."""
    for t in outs:
        check_out_device(like.c_devtype, like.c_devindex, <Tensor?>t)


# ---- kernels written in Python ---------------------------------------------------------------------------------------

cdef PyObject* call_structured(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """A shape function and, where there is one, a body, both in Python."""
    cdef OperatorEntry e = <OperatorEntry>op
    cdef Spec specs[MAX_OUTPUTS]
    cdef KernelObject owner = <KernelObject>k.owner
    cdef int i, n = e.sig.n_args, n_out = k.n_out
    cdef object given, outputs, shape = (<tuple>owner.functor)[0], body = None if k.body == NULL else (<tuple>owner.functor)[1]
    cdef tuple handed = None
    cdef PyObject* own[64]
    cdef PyObject** read = args
    cdef tuple taken = ()
    if k.variant == SV_OUT:
        n -= n_out
    if body is not None:
        taken = steady_arguments(args, own, n)
        read = own
    given = take(PyObject_Vectorcall_(<PyObject*>shape, read, <size_t>n, NULL))
    if type(given) is Shaped:
        handed = (<Shaped>given).handed
        given = (<Shaped>given).specs
    if n_out == 1:
        fill_spec(specs, k, given)
    else:
        given = items_of(given, n_out, f"{qualified_name(e)}: the shape function", RuntimeError)
        for i in range(n_out):
            fill_spec(&specs[i], k, (<tuple>given)[i])
    outputs = prepare_outputs(k, op, specs, args)
    if body is not None:
        fill_outputs(body, new_steady_outputs(k, outputs, args, taken), n_out, read, n, handed)
    return give(outputs)


cdef tuple steady_arguments(PyObject** args, PyObject** own, int n):
    """What the body reads; `own` borrows it."""
    cdef list taken = []
    cdef int i
    for i in range(n):
        taken.append(new_steady(<Tensor>args[i]) if is_tensor(args[i]) else steady_any(args[i]))
        own[i] = PyList_GET_ITEM_(<PyObject*>taken, i)
    return tuple(taken)


cdef int fill_outputs(object body, object outputs, int n_out, PyObject** args, int n, tuple handed) except -1:
    """body(*outputs, *args, *handed)"""
    cdef PyObject* vec[MAX_OUTPUTS + 64 + MAX_HANDED]
    cdef int i
    if n_out == 1:
        vec[0] = <PyObject*>outputs
    else:
        for i in range(n_out):
            vec[i] = <PyObject*>(<tuple>outputs)[i]
    memcpy(&vec[n_out], args, n * sizeof(PyObject*))
    n += n_out
    if handed is not None:
        for i in range(<int>len(handed)):
            vec[n] = <PyObject*>handed[i]
            n += 1
    take(PyObject_Vectorcall_(<PyObject*>body, vec, <size_t>n, NULL))
    return 0


cdef int load_structured(OperatorEntry e, KernelObject k) except -1:
    body = import_reference(k.ref2) if k.ref2 is not None else None
    k.functor = (import_reference(k.ref), body)
    k.k.functor = <PyObject*>k.functor
    k.k.body = NULL if body is None else <void*>body
    k.k.call = <boxed_fn>call_structured
    return 0


set_loader(KK_STRUCTURED, load_structured)
