"""The value objects of tensor metadata: dtype, layout, memory_format, device.

Each value of the first three exists once and pickles by name; devices with a small index are
interned too. The rest of the core works on c10's integer codes and comes here for an object, a
name, an item size or a promotion. The tables by code are filled at import and never change after
it; only the default dtype and the caches of numpy descriptors and device strings do.
"""
cimport cython
from libc.stdint cimport int8_t, uint8_t

from dispatch._C.keys cimport get_privateuse1_name
from dispatch._C.naming cimport full_name, name_type, package_name

# The named values (float32, strided ...) are added at the end of this file.
__all__ = ["device", "dtype", "finfo", "get_default_dtype", "iinfo", "layout", "memory_format", "set_default_dtype"]

cdef enum:
    INTERNED_INDICES = 16        # devices with an index below this exist once

cdef uint8_t ITEMSIZE[ST_COUNT]
cdef int8_t PROMOTE[ST_COUNT * ST_COUNT]
cdef int default_code = ST_float32
cdef bint sealed = False         # the singletons stand: from now on their classes make no instances
cdef list dtypes_by_code = []
cdef list layouts_by_code = []
cdef list formats_by_code = []
cdef list devices_by_code = []   # [devtype][index + 1]
cdef list device_names = []      # by code
cdef dict device_codes = {}      # name -> DEV_, of those that are device strings
cdef dict devices_by_string = {} # only valid strings, so it stays small
cdef list descrs = [None] * ST_COUNT
cdef dict codes_by_descr = {}


cdef int real_code(int c) noexcept nogil:
    """The type of the parts of a complex type, which is the first one that it holds."""
    cdef int part
    if is_complex_code(c):
        for part in range(ST_COUNT):
            if DTYPES[part].complex_code == c:
                return part
    return c


cdef int complex_code(int c) noexcept nogil:
    """The complex type whose parts hold `c`; -1: there is none."""
    return c if is_complex_code(c) else DTYPES[c].complex_code


cdef int promote(int a, int b) noexcept nogil:
    """torch.promote_types for two codes; -1: not defined."""
    if a == b:
        return a
    if is_in(DTYPES_PROMOTES_floating, b):
        a, b = b, a
    if is_in(DTYPES_PROMOTES_floating, a):
        return b if is_in(DTYPES_FLOATING, b) or b == ST_float4_e2m1fn_x2 else -1
    if not is_in(DTYPES_PROMOTES_any, a) or not is_in(DTYPES_PROMOTES_any, b):
        return -1
    if category_of_code(b) > category_of_code(a):
        a, b = b, a
    if is_complex_code(a):
        return complex_code(promote(real_code(a), real_code(b)))
    if category_of_code(a) != category_of_code(b):
        return a
    if DTYPES[a].size == DTYPES[b].size:
        # float16 with bfloat16, uint8 with int8
        return ST_float32 if is_floating_code(a) else ST_int16
    return a if DTYPES[a].size > DTYPES[b].size else b


cdef class Singleton:
    """A value of one of the tables: there is one object for each number, made when this module is imported."""

    def __cinit__(self):
        if sealed:
            raise TypeError(f"cannot create '{full_name(type(self).__name__)}' instances")

    @property
    def __module__(self):
        return package_name()

    def __repr__(self):
        return full_name(self.name)

    def __reduce__(self):
        return self.name


@cython.final
cdef class dtype(Singleton):
    """The type of a tensor's elements: `dispatch.float32`, ... There is one object for each."""

    @property
    def is_floating_point(self):
        return is_in(DTYPES_KIND_floating, self.code)

    @property
    def is_complex(self):
        return is_complex_code(self.code)

    @property
    def is_signed(self):
        """Whether it has negative values. RuntimeError for quantized and bits types."""
        if is_in(DTYPES_KIND_quantized | DTYPES_KIND_bits, self.code):
            raise RuntimeError(f"dtype.is_signed: not supported for quantized types and bits, got {self!r}")
        return not is_in(DTYPES_KIND_bool | DTYPES_KIND_unsigned | DTYPES_NEVER_NEGATIVE, self.code)

    @property
    def abbr(self):
        return DTYPES[self.code].abbr.decode()

    def to_real(self):
        """The dtype of the parts of a complex dtype; any other dtype as it is."""
        return dtypes_by_code[real_code(self.code)]

    def to_complex(self):
        """The complex dtype with parts of this dtype. RuntimeError when there is none."""
        cdef int c = complex_code(self.code)
        if c < 0:
            raise RuntimeError(f"dtype.to_complex: no complex dtype corresponds to {self!r}")
        return dtypes_by_code[c]


@cython.final
cdef class layout(Singleton):
    """How a tensor's elements are stored: `dispatch.strided`, `dispatch.sparse_coo`, ..."""


@cython.final
cdef class memory_format(Singleton):
    """The order of dimensions in memory: `dispatch.contiguous_format`, `.channels_last`, ..."""


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
        cdef object answer = None if device_watch is None else device_watch(args, kwargs)
        cdef device d = device_from_arguments(args, kwargs) if answer is None else <device?>answer
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


cdef object device_watch = None          # asks function modes; None until there was one


def _watch_devices(watch):
    """Call `watch(args, kwargs)` for every `device(...)`: it answers with a device, or with None for what is asked for."""
    global device_watch
    device_watch = watch


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
        raise RuntimeError(f"device(): Invalid device string: '{text:.80}', expected 'TYPE' or 'TYPE:INDEX'")
    code = DEV_PRIVATEUSEONE if kind == get_privateuse1_name() else device_codes.get(kind)
    if code is None:
        is_dtype = kind in [(<dtype>d).name for d in dtypes_by_code if d is not None]
        raise RuntimeError(f"device(): unknown device type '{kind:.80}' in '{text:.80}'. "
                           f"Expected one of {', '.join(device_codes)}"
                           + (f"; for a dtype write {full_name(kind)}" if is_dtype else ""))
    result = indexed_device(code, int(digits)) if colon else new_device(code, -1)
    devices_by_string[text] = result
    return result


cdef bint is_index_text(str digits):
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        return False
    return digits == "0" or digits[0] != "0"


cdef str device_type_name(int devtype):
    if devtype == DEV_PRIVATEUSEONE:
        return get_privateuse1_name()        # `_rename_privateuse1_backend` may have changed it
    return <str>device_names[devtype]


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
    raise TypeError(f"expected a {full_name('dtype')}, got {o!r:.80}" if isinstance(o, type) else
                    f"expected a {full_name('dtype')}, got an object of type {type(o).__name__}")


def promote_types(type1, type2):
    """The dtype to which operands of both are promoted. RuntimeError when none is defined.

    >>> promote_types(dispatch.uint8, dispatch.int8)
    dispatch.int16
    """
    cdef int a = dtype_code(type1), b = dtype_code(type2)
    cdef int result = PROMOTE[a * ST_COUNT + b]
    if result < 0:
        pair = f"{get_dtype(a)!r} and {get_dtype(b)!r}"
        kinds = "Float8 Types" if "float8" in pair else "uint16, uint32, uint64 types" if "uint" in pair else "these types"
        raise RuntimeError(f"promote_types: Promotion for {kinds} is not supported: {pair}")
    return dtypes_by_code[result]


def can_cast(from_, to):
    """Whether type promotion lets a result of dtype `from_` be written to dtype `to`."""
    return is_castable(dtype_code(from_), dtype_code(to))


cdef bint is_castable(int source, int target) noexcept nogil:
    if is_complex_code(source) and not is_complex_code(target):
        return False
    if is_in(DTYPES_KIND_floating, source) and is_integral_code(target, False):
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
    if not is_in(DTYPES_FLOATING, code):
        raise TypeError("set_default_dtype: expected float16, bfloat16, float32 or float64, "
                        f"got {d!r}")
    default_code = code


# ---- numpy descriptors -------------------------------------------------------------------------

cdef int make_descr(int code) except -1:
    """Enter the descriptor for `code` into both tables."""
    import numpy                 # here and not above: `import dispatch` needs neither
    if DTYPES[code].numpy == NULL:
        raise TypeError(f"numpy has no dtype for {get_dtype(code)!r}")
    module, name = __import__(DTYPES[code].numpy.decode()), DTYPES[code].name.decode()
    descr = numpy.dtype(name if module is numpy else getattr(module, name))       # numpy 1 has no numpy.bool
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
    for candidate in dtypes_by_code:
        if candidate.name == d.name:
            if numpy_descr(candidate.code) == d:
                return candidate.code
            break
    raise TypeError(f"no {full_name('dtype')} corresponds to numpy's {d!r:.80}")


def _numpy_dtype(d):
    """The numpy dtype of a `dispatch.dtype`; TypeError when numpy has none."""
    return numpy_descr(dtype_code(d))


def _from_numpy_dtype(descr):
    """The `dispatch.dtype` of a numpy dtype; TypeError when there is none."""
    return get_dtype(code_of_numpy(descr))


# ---- limits of number types --------------------------------------------------------------------

cdef object NOT_GIVEN = object()


cdef class finfo:
    """Limits of a floating-point dtype (the default dtype), or of the parts of a complex one."""
    cdef readonly int bits
    cdef readonly double eps, max, min, smallest_normal, tiny, resolution
    cdef readonly str dtype

    def __init__(self, type=NOT_GIVEN):
        cdef int code = real_code(default_code if type is NOT_GIVEN else dtype_code(type))
        cdef const float_limits* limits = FLOAT_LIMITS
        while limits.code != code:
            if limits.code == ST_NONE:
                raise TypeError(f"finfo(): expected a floating-point dtype, got {get_dtype(code)!r}")
            limits += 1
        self.dtype = get_dtype(code).name
        self.bits = 8 * DTYPES[code].size
        self.max, self.min = limits.max, limits.min
        self.eps = 2.0**limits.eps
        self.smallest_normal = self.tiny = 2.0**limits.normal
        self.resolution = float(f"1e-{limits.digits}")

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
        if is_in(DTYPES_KIND_quantized, code):
            raise NotImplementedError(f"iinfo(): not defined for the quantized {get_dtype(code)!r}")
        if not is_integral_code(code, False):
            raise TypeError(f"iinfo(): expected an integer dtype, got {get_dtype(code)!r}")
        self.dtype = get_dtype(code).name
        self.bits = 8 * DTYPES[code].size
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
    for a in range(ST_COUNT):
        ITEMSIZE[a] = DTYPES[a].size
        for b in range(ST_COUNT):
            PROMOTE[a * ST_COUNT + b] = promote(a, b)
    return 0


cdef int enter(dict names, str name, const char* aliases, object value) except -1:
    for each in (name, *aliases.decode().split()):
        names[each] = value
        __all__.append(each)
    return 0


cdef int make_singleton(dict names, list by_code, Singleton made, const char* name, const char* aliases) except -1:
    """The next one of a table: its code is its place."""
    made.name, made.code = name.decode(), <int>len(by_code)
    by_code.append(made)
    return enter(names, made.name, aliases, made)


cdef int make_singletons(dict names) except -1:
    cdef dtype d
    cdef int code
    for code in range(ST_COUNT):
        d = dtype.__new__(dtype)
        d.itemsize = DTYPES[code].size
        make_singleton(names, dtypes_by_code, d, DTYPES[code].name, DTYPES[code].aliases)
    for code in range(LAYOUT_COUNT):
        make_singleton(names, layouts_by_code, layout.__new__(layout), LAYOUTS[code].name, LAYOUTS[code].aliases)
    for code in range(MF_COUNT):
        make_singleton(names, formats_by_code, memory_format.__new__(memory_format), MEMORY_FORMATS[code].name,
                       MEMORY_FORMATS[code].aliases)
    return 0


cdef int make_devices() except -1:
    global devices_by_code
    cdef int kind
    devices_by_code = [[new_device(kind, index) for index in range(-1, INTERNED_INDICES)]
                       for kind in range(DEV_COUNT)]
    for kind in range(DEV_COUNT):
        device_names.append(DEVICES[kind].name.decode())
        if DEVICES[kind].is_string:
            device_codes[device_names[kind]] = kind
    return 0


cdef int name_types() except -1:
    for cls in (dtype, layout, memory_format, device, finfo, iinfo):
        name_type(cls, full_name(cls.__name__))        # where users find and pickle them
    return 0


fill_tables()
make_singletons(globals())
make_devices()
name_types()
__all__.sort()
sealed = True
