"""Dispatch keys and key sets as Python sees them, and the questions one may ask about keys.

A key is a number with a name, a set is one uint64; both are thin objects around what `keys.pxd`
does inline. All facts (names, order, alias members, sets by device) come from
`schemas/dispatch_keys.yaml`, `types.yaml` by way of `generated/keys.h`, `types.h`. Registration and the call path use the
`.pxd`, Python tools this module's functions. Invariant: a `DispatchKeySet` never changes, and every
name in `DispatchKey.__members__` is one object for the life of the process.
"""
cimport cython
from cpython.object cimport Py_EQ, Py_NE, PyObject, PyTypeObject
from cpython.type cimport PyType_Modified

from dispatch._C.generated.types cimport DEV_COUNT, DEV_PRIVATEUSEONE, DEVICES

__all__ = [
    "DispatchKey",
    "DispatchKeySet",
    "_additional_keys_to_prop_for_wrapper_tensors",
    "_after_ADInplaceOrView_keyset",
    "_after_autograd_keyset",
    "_dispatch_autogradother_backends",
    "_dispatch_get_backend_keyset_from_autograd",
    "_dispatch_is_alias_key",
    "_dispatch_is_included_in_alias",
    "_dispatch_key_for_device",
    "_dispatch_key_name",
    "_dispatch_key_parse",
    "_dispatch_keyset_full",
    "_dispatch_keyset_full_after",
    "_dispatch_keyset_to_string",
    "_dispatch_num_backends",
    "_functionality_to_backend_keys",
    "_get_privateuse1_backend_name",
    "_parse_dispatch_key",
    "_rename_privateuse1_backend",
    "_to_functionality_key",
]

cdef enum:
    MAX_VALUE = 0xFFFF           # the enum is a uint16

cdef list keys_by_value = []     # DispatchKey or None, by enum value
cdef dict member_names = {}      # enum value -> the first of its names in __members__
cdef dict value_by_name = {}     # names that _dispatch_key_parse takes -> enum value
cdef str privateuse1_name = "privateuseone"


# --- numbers

cdef inline uint64_t ks_of(int value) noexcept nogil:
    """Raw DispatchKeySet(key); 0 for alias keys and numbers that no key has."""
    return KS_BY_VALUE[value] if 0 <= value < DK_NUM_VALUES else 0


cdef uint64_t alias_runtime_set(int value) noexcept nogil:
    return KS_ALIAS_BY_VALUE[value] if 0 <= value < DK_NUM_VALUES else 0


cdef bint is_alias_value(int value) noexcept nogil:
    return alias_runtime_set(value) != 0


cdef bint in_alias(int key, int alias) noexcept nogil:
    cdef uint64_t ks = ks_of(key)
    if key == alias:
        return True
    return key != 0 and is_alias_value(alias) and (alias_runtime_set(alias) & ks) == ks


cdef inline bint is_per_backend(int functionality) noexcept nogil:
    return functionality < DK_NUM_FUNCTIONALITIES and DK_FUNC_FIRST_KEY[functionality] != 0


cdef inline int functionality_of(int value) noexcept nogil:
    """Enum value of the functionality that a key belongs to; 0 for alias keys."""
    return value if value <= DK_NUM_FUNCTIONALITIES else ks_highest_functionality(ks_of(value))


cdef inline int highest_value(uint64_t ks) noexcept nogil:
    """Enum value of the highest key; the StartOf marker of a functionality without its backend."""
    cdef int functionality = ks_highest_functionality(ks)
    if functionality >= DK_NUM_FUNCTIONALITIES:
        return functionality
    if is_per_backend(functionality) and ks & KS_FULL_BACKENDS == 0:
        return DK_FUNC_FIRST_KEY[functionality] - 1
    return DK_VALUE_BY_INDEX[ks_index(ks)]


cdef inline uint64_t full_after(int value) noexcept nogil:
    """All below the key's functionality, and PythonDispatcher, which may come at any time."""
    return ((<uint64_t>1 << (15 + functionality_of(value))) - 1) | KS_PythonDispatcher


# --- one key

@cython.final
cdef class DispatchKey:
    """A dispatch key: `DispatchKey.CPU`, or `DispatchKey(49)` by number; equal by number.

    Some keys have no attribute and no name here, as in PyTorch (`DispatchKey(23)` is the tracer's).
    """

    def __init__(self, value):
        cdef long number = as_key_number(value)
        self.value = <int>number
        self.name = member_names.get(self.value, "???")

    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __hash__(self):
        return self.value

    def __richcmp__(self, other, int op):
        if op != Py_EQ and op != Py_NE:
            return NotImplemented
        if not isinstance(other, DispatchKey):
            return op == Py_NE
        return (self.value == (<DispatchKey>other).value) == (op == Py_EQ)

    def __repr__(self):
        return f"<DispatchKey.{self.name}: {self.value}>"

    def __str__(self):
        return f"DispatchKey.{self.name}"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __getstate__(self):
        return self.value

    def __reduce__(self):
        return restore_key, (self.value,)


def restore_key(value):
    """Unpickles a key: the member itself, so that identity survives."""
    return get_key(value)


cdef long as_key_number(object value) except -1:
    """A key's number from what has __index__; TypeError, as PyTorch has it, for anything else."""
    cdef object number
    if hasattr(type(value), "__index__"):
        number = value.__index__()
        if 0 <= number <= MAX_VALUE:
            return number
    raise TypeError(f"DispatchKey: value: expected an int from 0 to {MAX_VALUE}, got {value!r}")


cdef str name_of(int value):
    """A key's name as PyTorch's C++ prints it: a marker is its functionality without a backend."""
    if not 0 <= value < DK_NUM_VALUES or DK_NAME_BY_VALUE[value] == NULL:
        return "UnknownUnknown"
    name = DK_NAME_BY_VALUE[value].decode()
    if name.startswith("StartOf"):
        prefix = name[len("StartOf"):-len("Backends")].removesuffix("Functionality")
        return ("" if prefix == "Dense" else prefix) + "Undefined"
    return name


cdef DispatchKey get_key(int value):
    cdef object key = keys_by_value[value] if 0 <= value < DK_NUM_VALUES else None
    return DispatchKey(value) if key is None else <DispatchKey>key


cdef int key_value(object key) except -1:
    if type(key) is DispatchKey:
        return (<DispatchKey>key).value
    if not isinstance(key, str):
        raise TypeError(
            f"expected a DispatchKey or the name of one, got {key!r} ({type(key).__name__})")
    value = value_by_name.get(key)
    if value is None:
        raise RuntimeError(f"could not parse dispatch key: {key}")
    return value


# --- a set of keys

@cython.final
@cython.freelist(64)
cdef class DispatchKeySet:
    """An immutable set of dispatch keys, stored as in PyTorch: backend bits, functionality bits.

    They combine: a set with Dense, Sparse and the backends CPU and CUDA holds four keys. For the
    same reason `-` and `remove` take functionalities away and leave the backends.
    """

    def __init__(self, key):
        self.ks = key_bits(key)

    @staticmethod
    def from_raw_repr(raw_repr):
        """The set with this 64-bit value; TypeError for what is no such number."""
        if hasattr(type(raw_repr), "__index__"):
            try:
                return new_key_set(raw_repr.__index__())
            except OverflowError:
                pass
        raise TypeError(
            f"DispatchKeySet.from_raw_repr: expected an int from 0 to 2**64 - 1, got {raw_repr!r}")

    def raw_repr(self):
        """The 64-bit value."""
        return self.ks

    def __or__(self, other):
        return new_key_set(self.ks | as_key_set(other))

    def __and__(self, other):
        return new_key_set(self.ks & as_key_set(other))

    def __sub__(self, other):
        return new_key_set(ks_remove(self.ks, as_key_set(other)))

    def add(self, key):
        """This set and `key`."""
        return new_key_set(self.ks | key_bits(key))

    def remove(self, key):
        """This set without `key`'s functionality; backend bits stay."""
        return new_key_set(ks_remove(self.ks, key_bits(key)))

    def has(self, key):
        """Whether every bit of `key` is here (so every set has Undefined and the alias keys)."""
        cdef uint64_t ks = key_bits(key)
        return (self.ks & ks) == ks

    def highestPriorityTypeId(self):
        """The key that a call with this set goes to first."""
        return get_key(highest_value(self.ks))

    def __richcmp__(self, other, int op):
        # comparing with anything else is a TypeError, and there is no hash: both as in PyTorch
        if op != Py_EQ and op != Py_NE:
            return NotImplemented
        return (self.ks == as_key_set(other)) == (op == Py_EQ)

    def __repr__(self):
        return key_set_text(self.ks)

    def _repr_html_(self):
        """For notebooks: the runtime keys, the one that a call goes to first on top."""
        from dispatch._C.markup import table

        rows = [(value, get_key(value).name) for value in reversed(values_of(self.ks))]
        return table(f"DispatchKeySet, {self.ks:#x}", ("value", "key"), rows)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __getstate__(self):
        return (self.ks,)

    def __reduce__(self):
        return restore_key_set, (self.ks,)


def restore_key_set(raw_repr):
    """Unpickles a key set."""
    return DispatchKeySet.from_raw_repr(raw_repr)


cdef DispatchKeySet new_key_set(uint64_t ks):
    cdef DispatchKeySet result = DispatchKeySet.__new__(DispatchKeySet)
    result.ks = ks
    return result


cdef list values_of(uint64_t ks):
    """Enum values of the runtime keys in a set, lowest priority first."""
    cdef int index, value
    cdef list values = []
    for index in range(1, DK_NUM_RUNTIME):
        value = DK_VALUE_BY_INDEX[index]
        if (KS_BY_VALUE[value] & ks) == KS_BY_VALUE[value]:
            values.append(value)
    return values


cdef uint64_t key_bits(object key) except? 0:
    return ks_of(key_value(key))


cdef str key_set_text(uint64_t ks):
    return f"DispatchKeySet({', '.join([name_of(value) for value in values_of(ks)])})"


cdef uint64_t as_key_set(object keys) except? 0:
    if type(keys) is not DispatchKeySet:
        raise TypeError(f"expected a DispatchKeySet, got {keys!r} ({type(keys).__name__})")
    return (<DispatchKeySet>keys).ks


# --- names

def _dispatch_key_name(key):
    """The key's name."""
    cdef int value = key_value(key)
    return name_of(value)


def _dispatch_key_parse(key):
    """The key of that name (a key passes through); RuntimeError when there is none."""
    return get_key(key_value(key))


def _parse_dispatch_key(name):
    """The key of that name (bytes will do), or None; RuntimeError for None, TypeError for else."""
    if name is None:
        raise RuntimeError("_parse_dispatch_key: expected a name, got None")
    if isinstance(name, bytes):
        name = (<bytes>name).decode("utf-8", "replace")
    if not isinstance(name, str):
        raise TypeError(f"_parse_dispatch_key: expected a str, got {name!r}")
    value = value_by_name.get(name)
    return None if value is None else get_key(value)


def _dispatch_key_for_device(device_type):
    """Name of a device type's key ("cuda" -> "CUDA"); RuntimeError for a type without tensors."""
    if not isinstance(device_type, str):
        raise TypeError(
            f"_dispatch_key_for_device: expected the name of a device type, got {device_type!r}"
        )
    if ":" in device_type:
        raise RuntimeError(
            f"_dispatch_key_for_device: expected a type without an index, got {device_type!r}")
    cdef int code = device_code_of(device_type)
    if DK_BY_DEVICE_TYPE[code] < 0:
        raise RuntimeError(f"_dispatch_key_for_device: {device_type!r} has no tensors and no key")
    return name_of(DK_BY_DEVICE_TYPE[code])


cdef int device_code_of(str device_type) except -1:
    cdef int code
    if device_type == privateuse1_name:
        return DEV_PRIVATEUSEONE
    for code in range(DEV_COUNT):
        if DEVICES[code].is_string and DEVICES[code].name.decode() == device_type:
            return code
    names = ", ".join([DEVICES[code].name.decode() for code in range(DEV_COUNT) if DEVICES[code].is_string])
    raise RuntimeError(
        f"_dispatch_key_for_device: Invalid device string: {device_type!r}. Expected one of {names} device type")


# --- PrivateUse1 under another name

def _get_privateuse1_backend_name():
    """What device type "privateuseone" is called."""
    return privateuse1_name


def _rename_privateuse1_backend(name):
    """Calls the backend PrivateUse1 `name`: a device type and, in capitals, a part of key names.

    Printing keeps PrivateUse1, as in PyTorch. Once only (the same name again does nothing);
    RuntimeError for another name, for that of a common device type, and for what is no name.
    """
    global privateuse1_name
    if not isinstance(name, str) or not name.isidentifier():
        raise RuntimeError(f"_rename_privateuse1_backend: expected a name (str), got {name!r}")
    if name == privateuse1_name:
        return
    if privateuse1_name != "privateuseone":
        raise RuntimeError(
            f"_rename_privateuse1_backend: its name has already been set, to {privateuse1_name!r}, and is not {name!r}")
    if name in ("cpu", "cuda", "hip", "mps", "mtia", "xpu"):
        raise RuntimeError(f"_rename_privateuse1_backend: there is a device of the library's own called {name!r}")
    privateuse1_name = name
    for key in [key for key in value_by_name if key.endswith("PrivateUse1")]:
        value_by_name[key.replace("PrivateUse1", name.upper())] = value_by_name[key]


cdef str get_privateuse1_name():
    return privateuse1_name


# --- questions

def _dispatch_num_backends():
    """How many backends a per-backend functionality has."""
    return DK_NUM_BACKENDS


def _dispatch_is_alias_key(key):
    """Whether registering under `key` means registering under several runtime keys."""
    return is_alias_value(key_value(key))


def _dispatch_is_included_in_alias(key, alias):
    """Whether the alias key covers `key`; RuntimeError for Undefined as the alias."""
    cdef int value = key_value(key), alias_value = key_value(alias)
    if alias_value == 0 and value != 0:
        raise RuntimeError("_dispatch_is_included_in_alias: alias: Undefined stands for no keys")
    return in_alias(value, alias_value)


def _dispatch_keyset_full():
    """The set of all runtime keys."""
    return new_key_set((<uint64_t>1 << (15 + DK_NUM_FUNCTIONALITIES)) - 1)


def _dispatch_keyset_full_after(key):
    """The set of the keys that come after `key`, and PythonDispatcher: a mask for redispatching."""
    return new_key_set(full_after(key_value(key)))


def _dispatch_keyset_to_string(keys):
    """The set's repr."""
    return key_set_text(as_key_set(keys))


def _dispatch_get_backend_keyset_from_autograd(key):
    """The backend keys below an autograd key; empty for other keys."""
    cdef int value = key_value(key)
    return new_key_set(KS_FROM_AUTOGRAD_BY_VALUE[value] if value < DK_NUM_VALUES else 0)


def _to_functionality_key(key):
    """`SparseCPU` -> `Sparse`; a key that is not per backend: itself; an alias key: Undefined."""
    return get_key(functionality_of(key_value(key)))


def _functionality_to_backend_keys(key):
    """`Sparse` -> [SparseCPU, SparseCUDA, ...]; any other key gives a list of itself."""
    cdef int value = key_value(key)
    if not is_per_backend(value):
        return [get_key(value)]
    return [get_key(DK_FUNC_FIRST_KEY[value] + backend) for backend in range(DK_NUM_BACKENDS)]


# --- filling the tables at import

cdef object add_class_attribute(type cls, str name, object value):
    (<dict>(<PyTypeObject*>cls).tp_dict)[name] = value


cdef class MemberTable:
    """`DispatchKey.__members__`: a dict of one's own at every look, as pybind's enums give it."""
    cdef dict members

    def __cinit__(self):
        self.members = {}

    def __get__(self, instance, owner):
        return dict(self.members)


# Keys that PyTorch's parser has no name for, besides the markers: a registration cannot name them.
cdef dict NAMELESS = {
    "Quantized": "HIP XLA MPS IPU HPU VE Lazy MTIA MAIA PrivateUse2 PrivateUse3 Meta",
    "Sparse": "XLA IPU HPU Lazy MTIA MAIA PrivateUse2 PrivateUse3",
    "SparseCsr": "XLA IPU HPU Lazy MTIA MAIA PrivateUse2 PrivateUse3",
    "NestedTensor": "HIP XLA MPS IPU VE Lazy MTIA MAIA PrivateUse2 PrivateUse3",
    "Autograd": "HIP VE MTIA MAIA",
}


cdef object init_members():
    """One object for each number; attributes and names where Python and the parser have them."""
    cdef int value, i
    cdef MemberTable table = MemberTable.__new__(MemberTable)
    nameless = {prefix + backend for prefix, names in NAMELESS.items() for backend in names.split()}
    for i in range(DK_NUM_MEMBERS):
        member_names.setdefault(DK_MEMBER_VALUE[i], DK_MEMBER_NAME[i].decode())
    for value in range(DK_NUM_VALUES):
        keys_by_value.append(DispatchKey(value) if DK_NAME_BY_VALUE[value] != NULL else None)
    for i in range(DK_NUM_MEMBERS):
        table.members[DK_MEMBER_NAME[i].decode()] = keys_by_value[DK_MEMBER_VALUE[i]]
        add_class_attribute(DispatchKey, DK_MEMBER_NAME[i].decode(), keys_by_value[DK_MEMBER_VALUE[i]])
    add_class_attribute(DispatchKey, "__members__", table)
    PyType_Modified(DispatchKey)
    for value in range(DK_NUM_VALUES):
        if DK_NAME_BY_VALUE[value] != NULL:
            name = DK_NAME_BY_VALUE[value].decode()
            if not name.startswith("StartOf") and name not in nameless:
                value_by_name[name] = value


init_members()
_dispatch_autogradother_backends = new_key_set(KS_AUTOGRADOTHER_BACKENDS)
_additional_keys_to_prop_for_wrapper_tensors = new_key_set(
    KS_ADDITIONAL_KEYS_TO_PROP_FOR_WRAPPER_TENSORS)
_after_autograd_keyset = _dispatch_keyset_full_after("AutogradOther")
_after_ADInplaceOrView_keyset = _dispatch_keyset_full_after("ADInplaceOrView")
