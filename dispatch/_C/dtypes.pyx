"""The value objects of tensor metadata: dtype, layout, memory_format, device.

Each value of the first three exists once and pickles by name; devices with a small index are
interned too. The rest of the core works on c10's integer codes and comes here for an object, a
name, an item size or a promotion. The tables by code are filled at import and never change after
it; only the default dtype and the caches of numpy descriptors and device strings do.
"""
cimport cython
from cpython.object cimport PyTypeObject
from libc.stdint cimport int8_t, uint8_t

from dispatch._C.keys cimport get_privateuse1_name

# The named values (float32, strided ...) are added at the end of this file.
__all__ = ["can_cast", "device", "dtype", "finfo", "get_default_dtype", "iinfo", "layout",
           "memory_format", "promote_types", "set_default_dtype"]

cdef extern from *:
    """
    /* Public classes report `dispatch` as their module, where users find and pickle them. */
    static void set_type_name(PyTypeObject *t, const char *name) {
        t->tp_name = name;
        PyType_Modified(t);
    }
    """
    void set_type_name(PyTypeObject* t, const char* name) noexcept

# code, name, bytes of an element, short name, other names
cdef tuple DTYPES = (
    (0, "uint8", 1, "u8", ()),
    (1, "int8", 1, "i8", ()),
    (2, "int16", 2, "i16", ("short",)),
    (3, "int32", 4, "i32", ("int",)),
    (4, "int64", 8, "i64", ("long",)),
    (5, "float16", 2, "f16", ("half",)),
    (6, "float32", 4, "f32", ("float",)),
    (7, "float64", 8, "f64", ("double",)),
    (8, "complex32", 4, "c32", ("chalf",)),
    (9, "complex64", 8, "c64", ("cfloat",)),
    (10, "complex128", 16, "c128", ("cdouble",)),
    (11, "bool", 1, "b8", ()),
    (12, "qint8", 1, "qint8", ()),
    (13, "quint8", 1, "quint8", ()),
    (14, "qint32", 4, "qint32", ()),
    (15, "bfloat16", 2, "bf16", ()),
    (16, "quint4x2", 1, "quint4x2", ()),
    (17, "quint2x4", 1, "quint2x4", ()),
    (18, "bits1x8", 1, "b1x8", ()),
    (19, "bits2x4", 1, "b2x4", ()),
    (20, "bits4x2", 1, "b4x2", ()),
    (21, "bits8", 1, "b8x1", ()),
    (22, "bits16", 2, "b16x1", ()),
    (23, "float8_e5m2", 1, "f8e5m2", ()),
    (24, "float8_e4m3fn", 1, "f8e4m3fn", ()),
    (25, "float8_e5m2fnuz", 1, "f8e5m2fnuz", ()),
    (26, "float8_e4m3fnuz", 1, "f8e4m3fnuz", ()),
    (27, "uint16", 2, "u16", ()),
    (28, "uint32", 4, "u32", ()),
    (29, "uint64", 8, "u64", ()),
    (30, "uint1", 1, "uint1", ("bit",)),
    (31, "uint2", 1, "uint2", ()),
    (32, "uint3", 1, "uint3", ()),
    (33, "uint4", 1, "uint4", ()),
    (34, "uint5", 1, "uint5", ()),
    (35, "uint6", 1, "uint6", ()),
    (36, "uint7", 1, "uint7", ()),
    (37, "int1", 1, "int1", ()),
    (38, "int2", 1, "int2", ()),
    (39, "int3", 1, "int3", ()),
    (40, "int4", 1, "int4", ()),
    (41, "int5", 1, "int5", ()),
    (42, "int6", 1, "int6", ()),
    (43, "int7", 1, "int7", ()),
    (44, "float8_e8m0fnu", 1, "f8e8m0fnu", ()),
    (45, "float4_e2m1fn_x2", 1, "f4e2m1fnx2", ()),
)
# The rest by position, which is the code.
cdef tuple LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "_mkldnn", "sparse_csc", "sparse_bsr",
                      "sparse_bsc", "jagged")
cdef tuple MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last",
                             "channels_last_3d")
cdef tuple DEVICES = ("cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia",
                      "xla", "vulkan", "metal", "xpu", "mps", "meta", "hpu", "ve", "lazy", "ipu",
                      "mtia", "privateuseone")

cdef enum:
    ST_float4 = 45
    INTERNED_INDICES = 16        # devices with an index below this exist once

cdef uint8_t ITEMSIZE[ST_COUNT]
cdef int8_t PROMOTE[ST_COUNT * ST_COUNT]
cdef int default_code = ST_float32
cdef bint sealed = False         # the singletons stand: from now on their classes make no instances
cdef list dtypes_by_code = [None] * ST_COUNT
cdef list layouts_by_code = []
cdef list formats_by_code = []
cdef list devices_by_code = []   # [devtype][index + 1]
cdef dict device_codes = {}      # name -> DeviceType
cdef dict devices_by_string = {} # only valid strings, so it stays small
cdef list descrs = [None] * ST_COUNT
cdef dict codes_by_descr = {}


cdef inline bint is_bare_unsigned(int c) noexcept nogil:
    """uint16, uint32, uint64 and uint1..7: they promote with floating types and themselves only."""
    return ST_uint16 <= c <= 36


cdef inline bint is_core_code(int c) noexcept nogil:
    """The thirteen types between which every promotion is defined."""
    return 0 <= c <= 11 or c == ST_bfloat16


cdef inline bint is_float_like(int c) noexcept nogil:
    return is_floating_code(c) or c == ST_float4


cdef int real_code(int c) noexcept nogil:
    return c - 3 if is_complex_code(c) else c


cdef int complex_code(int c) noexcept nogil:
    """The complex type whose parts hold `c`; -1: there is none."""
    if is_complex_code(c):
        return c
    if c == ST_bfloat16:
        return ST_complex64
    return c + 3 if ST_float16 <= c <= ST_float64 else -1


cdef int promote(int a, int b) noexcept nogil:
    """torch.promote_types for two codes; -1: not defined."""
    if a == b:
        return a
    if is_bare_unsigned(b):
        a, b = b, a
    if is_bare_unsigned(a):
        return b if ST_float16 <= b <= ST_float64 or b == ST_bfloat16 or b == ST_float4 else -1
    if not (is_core_code(a) and is_core_code(b)):
        return -1
    if category_of_code(b) > category_of_code(a):
        a, b = b, a
    if is_complex_code(a):
        return complex_code(promote(real_code(a), real_code(b)))
    if category_of_code(a) != category_of_code(b):
        return a
    if ITEMSIZE[a] == ITEMSIZE[b]:
        # float16 with bfloat16, uint8 with int8
        return ST_float32 if is_floating_code(a) else ST_int16
    return a if ITEMSIZE[a] > ITEMSIZE[b] else b


@cython.final
cdef class dtype:
    """The type of a tensor's elements: `dispatch.float32`, ... There is one object for each."""

    def __cinit__(self):
        if sealed:
            raise TypeError("cannot create 'dispatch.dtype' instances")

    @property
    def __module__(self):
        return "dispatch"

    @property
    def is_floating_point(self):
        return is_float_like(self.code)

    @property
    def is_complex(self):
        return is_complex_code(self.code)

    @property
    def is_signed(self):
        """Whether it has negative values. RuntimeError for quantized and bits types."""
        if 12 <= self.code <= 14 or 16 <= self.code <= 22:
            raise RuntimeError("dtype.is_signed: not defined for quantized and bits types, "
                               f"got {self!r}")
        return not (self.code == ST_uint8 or self.code == ST_bool or is_bare_unsigned(self.code)
                    or self.code == ST_float8_e8m0fnu)

    @property
    def abbr(self):
        return DTYPES[self.code][3]

    def to_real(self):
        """The dtype of the parts of a complex dtype; any other dtype as it is."""
        return dtypes_by_code[real_code(self.code)]

    def to_complex(self):
        """The complex dtype with parts of this dtype. RuntimeError when there is none."""
        cdef int c = complex_code(self.code)
        if c < 0:
            raise RuntimeError(f"dtype.to_complex: no complex dtype corresponds to {self!r}")
        return dtypes_by_code[c]

    def __repr__(self):
        return "dispatch." + self.name

    def __reduce__(self):
        return self.name


@cython.final
cdef class layout:
    """How a tensor's elements are stored: `dispatch.strided`, `dispatch.sparse_coo`, ..."""

    def __cinit__(self):
        if sealed:
            raise TypeError("cannot create 'dispatch.layout' instances")

    @property
    def __module__(self):
        return "dispatch"

    def __repr__(self):
        return "dispatch." + self.name

    def __reduce__(self):
        return self.name


@cython.final
cdef class memory_format:
    """The order of dimensions in memory: `dispatch.contiguous_format`, `.channels_last`, ..."""

    def __cinit__(self):
        if sealed:
            raise TypeError("cannot create 'dispatch.memory_format' instances")

    @property
    def __module__(self):
        return "dispatch"

    def __repr__(self):
        return "dispatch." + self.name

    def __reduce__(self):
        return self.name


cdef enum:
    BLANK = -128             # the index of a device that neither __init__ nor new_device filled: the CPU, then


@cython.final
cdef class device:
    """Where a tensor's memory is: `device("cuda:0")`, `device("cuda", 0)`, `device(0)`.

    A lone index is the accelerator's, cuda. RuntimeError for an unknown type, a malformed string or
    an index out of range; TypeError for other objects.
    """

    def __cinit__(self):
        self.devindex = BLANK

    def __init__(self, *args, **kwargs):
        if self.devindex != BLANK:
            raise TypeError("device(): a device is immutable")
        cdef device d = device_from_arguments(args, kwargs)
        self.devtype = d.devtype
        self.devindex = d.devindex

    @property
    def type(self):
        return device_type_name(self.devtype)

    @property
    def index(self):
        return None if self.devindex < 0 else self.devindex

    def __eq__(self, other):
        if type(other) is not device:
            return NotImplemented
        cdef device d = <device>other
        return self.devtype == d.devtype and self.devindex == d.devindex

    def __hash__(self):
        return (self.devtype << 16) | <uint8_t>self.devindex

    def __repr__(self):
        if self.devindex < 0:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.devindex})"

    def __str__(self):
        return self.type if self.devindex < 0 else f"{self.type}:{self.devindex}"

    def __reduce__(self):
        return device, ((self.type,) if self.devindex < 0 else (self.type, self.devindex))


cdef str DEVICE_CALLS = "device(device) or device(type, index=None)"


cdef device device_from_arguments(tuple args, dict kwargs):
    """What device(...) was asked for: (device), (index) or (type, index=None)."""
    cdef object kind, index
    if not kwargs and len(args) == 1:
        return device_of(args[0])
    if set(kwargs) == {"device"} and not args:
        return device_of(kwargs["device"])
    slots = dict(zip(("type", "index"), args))
    for name, value in kwargs.items():
        if name not in ("type", "index") or name in slots:
            raise TypeError(f"device(): unexpected argument '{name}'; expected {DEVICE_CALLS}")
        slots[name] = value
    if len(args) > 2 or "type" not in slots:
        raise TypeError(f"device(): expected {DEVICE_CALLS}")
    kind, index = slots["type"], slots.get("index")
    if not isinstance(kind, str):
        raise TypeError(f"device(): argument 'type' must be str, not {type(kind).__name__}")
    if index is None:
        return device_of(kind)
    if ":" in kind:
        raise RuntimeError(f"device(): argument 'type' is '{kind:.80}', and index={index} comes too")
    return indexed_device((<device>device_of(kind)).devtype, index)


cdef device indexed_device(int devtype, object index):
    if isinstance(index, bool) or not hasattr(index, "__index__"):
        raise TypeError(f"device(): argument 'index' must be int, not {type(index).__name__}")
    if not 0 <= index <= 127:
        raise RuntimeError(f"device(): expected an index between 0 and 127, got {index}")
    return new_device(devtype, index)


cdef device device_of(object o):
    if type(o) is device:
        return <device>o
    if isinstance(o, str):
        found = devices_by_string.get(o)
        return <device>found if found is not None else parse_device(o)
    if isinstance(o, bool) or not hasattr(o, "__index__"):
        raise TypeError(f"device(): expected a device, a str or an int, got {type(o).__name__}")
    return indexed_device(DEV_CUDA, o)


cdef device parse_device(str text):
    """The device that `text` names. RuntimeError when it names none."""
    kind, colon, digits = text.partition(":")
    if not text or not kind.isidentifier() or (colon and not is_index_text(digits)):
        raise RuntimeError(f"device(): expected 'TYPE' or 'TYPE:INDEX', got '{text:.80}'")
    code = DEV_PRIVATEUSE1 if kind == get_privateuse1_name() else device_codes.get(kind)
    if code is None:
        raise RuntimeError(f"device(): unknown device type '{kind:.80}' in '{text:.80}'; "
                           f"known types: {', '.join(device_codes)}")
    result = indexed_device(code, int(digits)) if colon else new_device(code, -1)
    devices_by_string[text] = result
    return result


cdef bint is_index_text(str digits):
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        return False
    return digits == "0" or digits[0] != "0"


cdef str device_type_name(int devtype):
    if devtype == DEV_PRIVATEUSE1:
        return get_privateuse1_name()        # `_rename_privateuse1_backend` may have changed it
    return <str>DEVICES[devtype]


cdef device new_device(int devtype, int devindex):
    if devices_by_code and devindex < INTERNED_INDICES:
        return <device>(<list>devices_by_code[devtype])[devindex + 1]
    cdef device d = device.__new__(device)
    d.devtype = devtype
    d.devindex = devindex
    return d


# ---- tables and objects by code ----------------------------------------------------------------

cdef uint8_t* itemsize_table() noexcept nogil:
    return ITEMSIZE


cdef int8_t* promote_table() noexcept nogil:
    return PROMOTE


cdef dtype get_dtype(int code):
    return <dtype>dtypes_by_code[code]


cdef layout get_layout(int code):
    return <layout>layouts_by_code[code]


cdef memory_format get_memory_format(int code):
    return <memory_format>formats_by_code[code]


cdef int dtype_code(object o) except -2:
    if type(o) is dtype:
        return (<dtype>o).code
    if o is float:
        return ST_float64
    if o is int:
        return ST_int64
    if o is bool:
        return ST_bool
    if o is complex:
        return ST_complex128
    raise TypeError(f"expected a dispatch.dtype, got {o!r:.80}" if isinstance(o, type) else
                    f"expected a dispatch.dtype, got an object of type {type(o).__name__}")


def promote_types(type1, type2):
    """The dtype to which operands of both are promoted. RuntimeError when none is defined.

    >>> promote_types(dispatch.uint8, dispatch.int8)
    dispatch.int16
    """
    cdef int a = dtype_code(type1), b = dtype_code(type2)
    cdef int result = PROMOTE[a * ST_COUNT + b]
    if result < 0:
        raise RuntimeError("promote_types: no promotion is defined between "
                           f"{get_dtype(a)!r} and {get_dtype(b)!r}")
    return dtypes_by_code[result]


def can_cast(from_, to):
    """Whether type promotion lets a result of dtype `from_` be written to dtype `to`."""
    return is_castable(dtype_code(from_), dtype_code(to))


cdef bint is_castable(int source, int target) noexcept nogil:
    if is_complex_code(source) and not is_complex_code(target):
        return False
    if is_float_like(source) and is_integral_code(target, False):
        return False
    return not (source != ST_bool and target == ST_bool)


# ---- the default dtype -------------------------------------------------------------------------

cdef int default_dtype_code() noexcept nogil:
    return default_code


def get_default_dtype():
    """The dtype of new tensors made from Python floats."""
    return dtypes_by_code[default_code]


def set_default_dtype(d):
    """Set the dtype of new tensors made from Python floats: one of the four common ones."""
    global default_code
    if type(d) is not dtype:
        raise TypeError(f"set_default_dtype: expected a floating-point dtype, got {d!r:.80}")
    cdef int code = (<dtype>d).code
    if not (ST_float16 <= code <= ST_float64 or code == ST_bfloat16):
        raise TypeError("set_default_dtype: expected float16, bfloat16, float32 or float64, "
                        f"got {d!r}")
    default_code = code


# ---- numpy descriptors -------------------------------------------------------------------------

cdef tuple ML_DTYPES = (ST_bfloat16, ST_float8_e5m2, ST_float8_e4m3fn, ST_float8_e5m2fnuz,
                        ST_float8_e4m3fnuz, ST_float8_e8m0fnu)


cdef int make_descr(int code) except -1:
    """Enter the descriptor for `code` into both tables."""
    import numpy                 # here and not above: `import dispatch` needs neither
    if code in ML_DTYPES:
        import ml_dtypes
        descr = numpy.dtype(getattr(ml_dtypes, DTYPES[code][1]))
    elif code <= ST_bool and code != ST_complex32 or ST_uint16 <= code <= ST_uint64:
        descr = numpy.dtype(DTYPES[code][1])
    else:
        raise TypeError(f"numpy has no dtype for {get_dtype(code)!r}")
    descrs[code] = descr
    codes_by_descr[descr] = code
    return 0


cdef object numpy_descr(int code):
    if descrs[code] is None:
        make_descr(code)
    return descrs[code]


cdef int code_of_numpy(object descr) except -2:
    found = codes_by_descr.get(descr)
    return found if found is not None else find_numpy_code(descr)


cdef int find_numpy_code(object descr) except -2:
    """code_of_numpy for a descriptor not met before: found by name, equal in byte order too."""
    import numpy
    cdef object d = numpy.dtype(descr)
    cdef dtype candidate
    for candidate in dtypes_by_code[:ST_COUNT - 2]:
        if candidate.name == d.name:
            if numpy_descr(candidate.code) == d:
                return candidate.code
            break
    raise TypeError(f"no dispatch.dtype corresponds to numpy's {d!r:.80}")


def _numpy_dtype(d):
    """The numpy dtype of a `dispatch.dtype`; TypeError when numpy has none."""
    return numpy_descr(dtype_code(d))


def _from_numpy_dtype(descr):
    """The `dispatch.dtype` of a numpy dtype; TypeError when there is none."""
    return get_dtype(code_of_numpy(descr))


# ---- limits of number types --------------------------------------------------------------------

# code -> bits; eps and smallest normal as exponents of 2; largest, lowest; digits of `resolution`
cdef dict FLOAT_LIMITS = {
    ST_float16: (16, -10, -14, 65504.0, -65504.0, 3),
    ST_bfloat16: (16, -7, -126, 255 * 2.0**120, -255 * 2.0**120, 2),
    ST_float32: (32, -23, -126, (2 - 2.0**-23) * 2.0**127, -(2 - 2.0**-23) * 2.0**127, 6),
    ST_float64: (64, -52, -1022, (2 - 2.0**-52) * 2.0**1023, -(2 - 2.0**-52) * 2.0**1023, 15),
    ST_float8_e5m2: (8, -2, -14, 57344.0, -57344.0, 0),
    ST_float8_e4m3fn: (8, -3, -6, 448.0, -448.0, 0),
    ST_float8_e5m2fnuz: (8, -3, -15, 57344.0, -57344.0, 0),      # PyTorch's eps; the step is 2**-2
    ST_float8_e4m3fnuz: (8, -3, -7, 240.0, -240.0, 0),
    ST_float8_e8m0fnu: (8, 0, -127, 2.0**127, 2.0**-127, 0),
}


cdef object NOT_GIVEN = object()


cdef class finfo:
    """Limits of a floating-point dtype (the default dtype), or of the parts of a complex one."""
    cdef readonly int bits
    cdef readonly double eps, max, min, smallest_normal, tiny, resolution
    cdef readonly str dtype

    def __init__(self, type=NOT_GIVEN):
        cdef int code = real_code(default_code if type is NOT_GIVEN else dtype_code(type))
        if code not in FLOAT_LIMITS:
            raise TypeError(f"finfo(): expected a floating-point dtype, got {get_dtype(code)!r}")
        self.dtype = get_dtype(code).name
        self.bits, eps, normal, self.max, self.min, digits = FLOAT_LIMITS[code]
        self.eps = 2.0**eps
        self.smallest_normal = self.tiny = 2.0**normal
        self.resolution = float(f"1e-{digits}")

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == (<finfo>other).dtype

    def __repr__(self):
        return (f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
                f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
                f"dtype={self.dtype})")


cdef class iinfo:
    """Limits of an integer dtype (not bool)."""
    cdef readonly int bits
    cdef readonly object max, min
    cdef readonly str dtype

    def __init__(self, type):
        cdef int code = dtype_code(type)
        if 12 <= code <= 14 or 16 <= code <= 17:
            raise NotImplementedError(f"iinfo(): not defined for the quantized {get_dtype(code)!r}")
        if not is_integral_code(code, False):
            raise TypeError(f"iinfo(): expected an integer dtype, got {get_dtype(code)!r}")
        self.dtype = get_dtype(code).name
        self.bits = 8 * ITEMSIZE[code]
        cdef object one = 1          # Python integers: uint64 does not fit C's
        signed = get_dtype(code).is_signed
        self.min = -(one << (self.bits - 1)) if signed else 0
        self.max = (one << (self.bits - signed)) - 1

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == (<iinfo>other).dtype

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


# ---- import: fill the tables -------------------------------------------------------------------

cdef int fill_tables() except -1:
    cdef int a, b
    for code, name, itemsize, abbr, others in DTYPES:
        ITEMSIZE[<int>code] = itemsize
    for a in range(ST_COUNT):
        for b in range(ST_COUNT):
            PROMOTE[a * ST_COUNT + b] = promote(a, b) if a < len(DTYPES) and b < len(DTYPES) else -1
    return 0


cdef object enter(dict names, str name, object value):
    names[name] = value
    __all__.append(name)


cdef int make_singletons(dict names) except -1:
    cdef dtype d
    cdef layout lay
    cdef memory_format fmt
    for code, name, itemsize, abbr, others in DTYPES:
        d = dtype.__new__(dtype)
        d.name, d.itemsize, d.code = name, itemsize, code
        dtypes_by_code[code] = d
        for alias in (name, *others):
            enter(names, alias, d)
    for name in LAYOUTS:
        lay = layout.__new__(layout)
        lay.name, lay.code = name, len(layouts_by_code)
        layouts_by_code.append(lay)
        enter(names, name, lay)
    for name in MEMORY_FORMATS:
        fmt = memory_format.__new__(memory_format)
        fmt.name, fmt.code = name, len(formats_by_code)
        formats_by_code.append(fmt)
        enter(names, name, fmt)
    enter(names, "legacy_contiguous_format", formats_by_code[MF_contiguous])
    return 0


cdef int make_devices() except -1:
    global devices_by_code
    devices_by_code = [[new_device(kind, index) for index in range(-1, INTERNED_INDICES)]
                       for kind in range(len(DEVICES))]
    for kind, name in enumerate(DEVICES):
        if name != "metal":          # a code without a device string, as in PyTorch
            device_codes[name] = kind
    return 0


cdef int name_types() except -1:
    set_type_name(<PyTypeObject*>dtype, b"dispatch.dtype")
    set_type_name(<PyTypeObject*>layout, b"dispatch.layout")
    set_type_name(<PyTypeObject*>memory_format, b"dispatch.memory_format")
    set_type_name(<PyTypeObject*>device, b"dispatch.device")
    set_type_name(<PyTypeObject*>finfo, b"dispatch.finfo")
    set_type_name(<PyTypeObject*>iinfo, b"dispatch.iinfo")
    return 0


fill_tables()
make_singletons(globals())
make_devices()
name_types()
__all__.sort()
sealed = True
