"""FakeTensorMode: runs operators on metadata (torch._subclasses.fake_tensor.FakeTensorMode).

The Python-key handler enters `handle` through the slot that this module fills in, so a call makes no Python frame: a cached call
copies metadata; a fresh one goes to `propagate`.
"""
import sys
from _thread import get_ident
from types import MethodType

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from dispatch._C cimport dtypes
from dispatch._C.mode cimport count_entry, count_exit
from dispatch._C.operator cimport OperatorEntry
from dispatch._C.overload cimport OpOverload
from dispatch._C.python_kernel cimport get_overload, set_mode_handler
from dispatch._C.references cimport give, take
from dispatch._C.tags cimport TAG_data_dependent_output, TAG_dynamic_output_shape, TAG_inplace_view
from dispatch._C.storage cimport Storage
from dispatch._C.tensor cimport Tensor
from dispatch._C.tls cimport ThreadState, tls
from dispatch._C.values cimport Frame, match_given, release_frame
from dispatch.fake.cache cimport (
    BY_DATA_DEPENDENT, BY_DYNAMIC_SHAPE, BY_FUNCTION, BY_INPLACE_VIEW, BY_METADATA_CHANGED, BY_NONE, BY_NOT_BUILTIN, DispatchCache,
    Entry, Key, build_key, drop_entry, new_bypass, new_entry_of, new_outputs,
)
from dispatch.fake.constants cimport may_be_constant
from dispatch.fake.converter cimport FakeTensorConverter
from dispatch.fake.cross_check cimport checked_outputs
from dispatch.fake.fake_tensor cimport FakeTensor
from dispatch.fake.propagate cimport fresh, is_dynamic

from dispatch._C.tls import _get_dispatch_mode, _set_dispatch_mode, _TorchDispatchModeKey, _unset_dispatch_mode
from dispatch.fake import by_hand, config
from dispatch.fake.cache import DispatchCacheInfo, clear_all, total_info
from dispatch.fake.exceptions import UnsupportedOperatorException


# ---- the handler -----------------------------------------------------------------------------------------------------

cdef uint64_t settings_of(FakeTensorMode mode, ThreadState* ts) noexcept:
    """What outside of the arguments a result may depend on."""
    cdef uint64_t s = <uint64_t>dtypes.default_dtype_code() | <uint64_t>(ts.inference_mode != 0) << 8
    cdef dtypes.device dev
    if ts.default_device != NULL:
        dev = <dtypes.device>(<object>ts.default_device)
        s |= <uint64_t>1 << 9 | <uint64_t><unsigned char>dev.devtype << 16 | <uint64_t><unsigned char>dev.devindex << 24
    return s | <uint64_t>mode.allow_non_fake_inputs << 10 | <uint64_t>mode.allow_meta << 11


cdef int operator_bypass(FakeTensorMode mode, OperatorEntry e, PyObject** args) except -1:
    """Why a call that ran is not cached; BY_NONE when it may be."""
    if e.tags & TAG_data_dependent_output:
        return BY_DATA_DEPENDENT
    if e.tags & TAG_dynamic_output_shape and is_dynamic(e, args):
        return BY_DYNAMIC_SHAPE
    if e.emitted == NULL and not allowed_by_policy(mode, e):
        return BY_NOT_BUILTIN
    return BY_NONE


cdef bint allowed_by_policy(FakeTensorMode mode, OperatorEntry e) except -1:
    """Operators of others are cached when the mode's policy says so."""
    if mode.c_policy is None:
        return False
    answer = mode.policy_answers.get(e.id)
    if answer is None:
        answer = mode.policy_answers[e.id] = bool(mode.c_policy(get_overload(e)))
    return answer


cdef PyObject* handle(PyObject* self, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """One call under the mode, which is off the stack meanwhile."""
    cdef FakeTensorMode mode = <FakeTensorMode>self
    cdef OperatorEntry e = <OperatorEntry>op
    cdef DispatchCache cache = mode.c_cache
    cdef ThreadState* ts = tls()
    cdef Key key
    cdef Entry* entry
    cdef int why
    if cache is None or not mode.cache_enabled:
        return give(fresh(mode, e, args, ts))
    why = build_key(&key, mode, settings_of(mode, ts), e, args)
    if why != BY_NONE:
        cache.bypasses[why] += 1
        return give(fresh(mode, e, args, ts))
    entry = cache.find(&key)
    if entry == NULL:
        return give(fresh_cached(mode, e, args, ts, &key))
    if entry.why != BY_NONE:
        cache.bypasses[entry.why] += 1
        return give(fresh(mode, e, args, ts))
    cache.hits += 1
    entry.refs += 1
    try:
        if mode.cache_crosscheck_enabled:
            return give(checked_outputs(entry, mode, e, args, ts, key.env))
        return give(new_outputs(entry, mode, e, args, key.env))
    finally:
        drop_entry(entry)


cdef object suppressed = None            # what `dispatch.symbolic` counts blocks of `suppress_guards` in


cdef bint guards_are_off() except -1:
    global suppressed
    if suppressed is None:
        from dispatch.symbolic.core import suppressed as found     # loaded by whoever made the ShapeEnv

        suppressed = found
    return suppressed.depth != 0


cdef object fresh_cached(FakeTensorMode mode, OperatorEntry e, PyObject** args, ThreadState* ts, Key* key):
    """A fresh run whose outputs are remembered, or why they are not."""
    cdef Key after
    cdef Entry* entry = NULL
    cdef int why
    cdef object storage = None
    cdef int64_t nbytes = 0, unbacked = mode.unbacked_made
    cdef bint reshapes = e.tags & TAG_inplace_view != 0
    if reshapes:
        storage = (<Tensor>args[0]).c_storage
        nbytes = (<Storage>storage).c_nbytes
    result = fresh(mode, e, args, ts)
    why = operator_bypass(mode, e, args)
    if why == BY_NONE and mode.unbacked_made != unbacked:
        why = BY_DYNAMIC_SHAPE
    elif key.env != NULL and guards_are_off():        # a hit would not record what this run relied on
        return result
    if why == BY_NONE and reshapes:
        if (<Tensor>args[0]).c_storage is not storage or (<Storage>storage).c_nbytes != nbytes:
            why = BY_INPLACE_VIEW
    elif why == BY_NONE and (build_key(&after, mode, key.words[1], e, args) != BY_NONE or after.hash != key.hash
                             or after.n != key.n):
        why = BY_METADATA_CHANGED
    if why == BY_NONE:
        entry = new_entry_of(key, e, args, result, &why)
    if entry != NULL:
        mode.c_cache.misses += 1
    else:
        mode.c_cache.bypasses[why] += 1
        entry = new_bypass(key, why)
    mode.c_cache.insert(entry)
    return result


# ---- counters --------------------------------------------------------------------------------------------------------

def own_info(FakeTensorMode mode not None):
    return mode.c_cache.info() if mode.c_cache is not None else DispatchCacheInfo(0, 0, {}, 0)


def note_function_argument(FakeTensorMode mode not None):
    """A call of a higher-order operator, which no cache holds, is counted."""
    if mode.c_cache is not None and mode.cache_enabled:
        mode.c_cache.bypasses[BY_FUNCTION] += 1


def own_clear(FakeTensorMode mode not None):
    if mode.c_cache is not None:
        mode.c_cache.clear()


class OfModeOrAll:
    """A method that answers for one mode, and, as PyTorch's class method of the name, for all when it is called on the class."""

    def __init__(self, of_mode, of_all, doc):
        self.of_mode = of_mode
        self.of_all = of_all
        self.__doc__ = doc

    def __get__(self, mode, owner=None):
        return self.of_all if mode is None else MethodType(self.of_mode, mode)


# ---- the mode --------------------------------------------------------------------------------------------------------

cdef class FakeTensorMode(FakeState):
    """In its block every operator runs on metadata: results are `FakeTensor` objects, devices need not exist.

    Args:
        allow_fallback_kernels: an operator of ours without a Meta kernel runs its real kernel on zeros, for the shapes.
        allow_non_fake_inputs: real tensors among the arguments are made fake.
        shape_env: a `dispatch.symbolic.ShapeEnv`: sizes of converted tensors become symbols of it, and what depends on values
            gives unbacked ones. None: no symbols.
        static_shapes: whether sizes stay numbers (default: without a `shape_env`).
        export: kept for programs that read it.
        cache: True for a cache of the mode's own, None or False for none, or a `DispatchCache` to share.
        cache_policy: `policy(op) -> bool`: which operators of other packages may be cached (default: none).

    Source of the semantics: torch._subclasses.fake_tensor.FakeTensorMode.

    Example:
        >>> import dispatch
        >>> with dispatch.FakeTensorMode():
        ...     dispatch.empty(2, 3, device="cuda").shape
        dispatch.Size([2, 3])
    """

    _mode_key = _TorchDispatchModeKey.FAKE
    avoid_device_init = True                # there is no accelerator whose start could be avoided
    nt_tensor_id_initial_count = 0
    nt_tensor_id_counter = 0
    _allow_unsafe_data_ptr_access = True
    _can_run_unsafe_fallback_allowed_namespaces = by_hand.FALLBACK_NAMESPACES

    def __cinit__(self, *args, **kwargs):
        self.c_converter = FakeTensorConverter()
        self.policy_answers = {}
        self.enter_stack = []
        self.made_at = []
        self.epoch = 0

    def __init__(self, *, bint allow_fallback_kernels=True, bint allow_non_fake_inputs=False, shape_env=None,
                 static_shapes=None, bint export=False, cache=True, cache_policy=None):
        self.allow_fallback_kernels = allow_fallback_kernels
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self.shape_env = shape_env
        self.static_shapes = shape_env is None if static_shapes is None else bool(static_shapes)
        self.export = export
        self.allow_meta = config.fake_tensor_allow_meta
        self.propagate_real_tensors = config.fake_tensor_propagate_real_tensors
        self.c_policy = cache_policy
        self.c_converter = FakeTensorConverter(copy_data=self.propagate_real_tensors, export=export)
        self.made_at = frames_of_caller()
        self.cache_enabled = config.fake_tensor_cache_enabled and not self.propagate_real_tensors
        self.cache_crosscheck_enabled = config.fake_tensor_cache_crosscheck_enabled
        if isinstance(cache, DispatchCache):
            self.c_cache = cache
        elif cache:
            self.c_cache = DispatchCache()

    @classmethod
    def is_infra_mode(cls):
        return True

    def __enter__(self):
        previous = _get_dispatch_mode(self._mode_key)
        if previous is not self:
            count_entry(self)            # may be an error, where no more of the stack is left: before anything changes
        self.enter_stack.append((get_ident(), previous))
        _unset_dispatch_mode(self._mode_key)
        _set_dispatch_mode(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        previous = self.left()
        _unset_dispatch_mode(self._mode_key)
        if previous is not self:
            count_exit(self)
        if previous is not None:
            _set_dispatch_mode(previous)

    def left(self):
        """Take this thread's newest entry off the stack of entries; the mode that was active before, or None."""
        cdef int i
        cdef object me = get_ident()
        for i in range(<int>len(self.enter_stack) - 1, -1, -1):
            thread, previous = self.enter_stack[i]
            if type(thread) is int and thread == me:
                self.enter_stack.pop(i)
                return previous
        raise IndexError("FakeTensorMode: left in a thread that did not enter it")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Handle one call; a subclass may override this and call it. AssertionError while a fake mode is active."""
        if _get_dispatch_mode(self._mode_key) is not None:
            raise AssertionError(f"{func}: a fake mode handles a call while a fake mode is active")
        return self.dispatch(func, types, args, kwargs)

    def dispatch(self, func, types, args=(), kwargs=None):
        """Run `func` on fake tensors, as the compiled handler does."""
        cdef Frame f
        cdef OpOverload op
        if not isinstance(func, OpOverload):
            raise UnsupportedOperatorException(func)
        op = <OpOverload>func
        args, kwargs = tuple(args), dict(kwargs or ())        # ours: a conversion may run code that changes the caller's
        match_given(&op.entry.sig, args, kwargs, &f)
        try:
            return take(handle(<PyObject*>self, <PyObject*>op.entry, 0, f.args))
        finally:
            release_frame(&f)

    def __reduce_ex__(self, protocol):
        """A copy has the same settings and attributes, and a memo and a cache of its own."""
        settings = {name: getattr(self, name) for name in SETTINGS}
        return copy_of, (type(self), settings, self.c_cache is not None, self.c_policy), dict(vars(self)) or None

    def __setstate__(self, dict state):
        vars(self).update(state)

    @property
    def fake_tensor_converter(self):
        """The FakeTensorConverter that makes real tensors fake, and its memo."""
        return self.c_converter

    @fake_tensor_converter.setter
    def fake_tensor_converter(self, FakeTensorConverter value not None):
        self.c_converter = value

    @property
    def cache(self):
        """The DispatchCache in use, or None."""
        return self.c_cache

    cache_info = OfModeOrAll(own_info, total_info, "The counters: of a mode's cache, or, on the class, of all caches together.")
    cache_clear = OfModeOrAll(own_clear, clear_all, "Empty a mode's cache and its counters; on the class, those of all caches.")

    def is_our_fake(self, t):
        """Whether `t` is a FakeTensor of this mode."""
        return isinstance(t, FakeTensor) and (<FakeTensor>t).c_mode is self

    def from_tensor(self, tensor, *, static_shapes=None, source=None, symbolic_context=None, trace=True):
        """The fake counterpart of a tensor: the same object as long as it lives, aliases stay aliases.

        Raises:
            UnsupportedFakeTensorException: a kind of tensor that has no fake counterpart.
            AssertionError: a symbolic context for static shapes.

        `symbolic_context` says which sizes become symbols of the mode's `shape_env` (by default all become symbols, equal sizes
        the same one); `source` is what guards call the tensor.
        """
        cdef object env = self.shape_env
        if not isinstance(tensor, Tensor):
            raise TypeError(f"from_tensor: expected a Tensor, got {type(tensor).__name__}")
        if self.static_shapes if static_shapes is None else static_shapes:
            if symbolic_context is not None:
                raise AssertionError("from_tensor: static_shapes and symbolic_context exclude each other")
            env = None
        return (<FakeTensorConverter>self.c_converter).convert(self, <Tensor>tensor, False, env, source, symbolic_context)

    # -- the parts of a call, for programs that run them by hand
    def may_turn_const(self, t):
        """Whether a real tensor is small enough to be kept as a value."""
        return may_be_constant(t)

    can_run_unsafe_fallback = by_hand.can_run_unsafe_fallback
    cpp_meta_supports_symint = by_hand.cpp_meta_supports_symint
    create_symbolic_nested_int = by_hand.create_symbolic_nested_int
    invalidate_written_to_constants = by_hand.invalidate_written_to_constants
    lift_fns = property(by_hand.lift_fns)
    reset_nt_tensor_id_counter = by_hand.reset_nt_tensor_id_counter
    validate_and_convert_non_fake_tensors = by_hand.validate_and_convert_non_fake_tensors
    wrap_meta_outputs_with_default_device_logic = by_hand.wrap_meta_outputs_with_default_device_logic

    def _cache_key(self, state, func, args, kwargs):
        """What a result of the call depends on, as a value; programs compare them."""
        from dispatch.fake.cache_keys import cache_key       # the cache has keys of its own

        return cache_key(self, state, func, args, kwargs)

    def _dispatch_impl(self, func, types, args, kwargs):
        """`dispatch` without the cache."""
        kept = self.cache_enabled
        self.cache_enabled = False
        try:
            return self.dispatch(func, types, args, kwargs)
        finally:
            self.cache_enabled = kept

    def _cached_dispatch_impl(self, func, types, args, kwargs):
        """`dispatch`."""
        return self.dispatch(func, types, args, kwargs)

    @property
    def stack(self):
        """Where the mode was made, as a traceback shows it."""
        import traceback                     # dear at import, and rarely asked for

        return "".join(traceback.StackSummary.from_list(self.made_at).format())


SETTINGS = ("allow_fallback_kernels", "allow_non_fake_inputs", "allow_meta", "static_shapes", "export", "cache_enabled",
            "cache_crosscheck_enabled", "propagate_real_tensors", "allow_scalar_outputs", "shape_env")


def copy_of(cls, dict settings, bint cached, policy):
    """What copies and pickles of a mode are made with."""
    cdef FakeTensorMode made = cls.__new__(cls)
    FakeTensorMode.__init__(made, cache=cached, cache_policy=policy)
    for name, value in settings.items():
        setattr(made, name, value)
    made.c_converter = FakeTensorConverter(copy_data=made.propagate_real_tensors, export=made.export)
    return made


cdef list frames_of_caller():
    """(file, line, function, None) of the frames that run, the outermost first."""
    cdef list found = []
    frame = sys._getframe()
    while frame is not None:
        found.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, None))
        frame = frame.f_back
    found.reverse()
    return found


set_mode_handler(FakeTensorMode, handle)
