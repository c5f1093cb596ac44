"""The hot loop: a plan's steps run in order, each operator called through the dispatcher.

An `Executable` is a plan with its constants in place, as flat C arrays; it is never written after
it is made, so one may run in several threads or within itself. A run owns its slots. What a run
leaves behind is a `RunLog`: flat integers copied from the outputs' metadata, for `report` to read
later, so that no tensor outlives its last use.
"""
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.string cimport memcpy, memset
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from dispatch._C.dtypes cimport get_dtype, new_device
from dispatch._C.python_api cimport PY_VECTORCALL_ARGUMENTS_OFFSET, PyObject_Vectorcall_
from dispatch._C.references cimport take
from dispatch._C.symbolic cimport is_symbolic, size_object
from dispatch._C.tensor cimport Tensor

import dispatch
from dispatch.graph.errors import plain
from dispatch.graph.plan import Body, Const, DeviceConst, Items, Slot

__all__ = ["Executable", "RunLog"]

cdef enum:
    MAX_ARGS = 128
    SIGNAL_STEPS = 256         # steps between looks at pending signals
    PROGRESS_STEPS = 64

cdef enum RefKind:
    REF_SLOT, REF_CONST, REF_ITEMS, REF_BODY

cdef enum OutputMode:
    OUT_NONE, OUT_ONE, OUT_FLAT, OUT_NESTED

# Words of a RunLog. An event is one of these and its fields; a call is followed by one record for
# each leaf of its result.
cdef enum LogWord:
    EV_CALL = 1                # plan number, step, ns (-1: not timed), number of records
    EV_ENTER = 2               # plan number; a branch begins
    EV_EXIT = 3                # plan number
    REC_NONE = 4               # slot
    REC_OTHER = 5              # slot; a number
    REC_TENSOR = 6             # slot, and nine or more words (see `RunLog.record`)

cdef struct CRef:
    int32_t kind               # RefKind
    int32_t index              # slot, number of the template in `templates`, or of the branch
    PyObject* value            # REF_CONST: borrowed from `keep`

cdef struct CStep:
    PyObject* callee           # borrowed from `keep`; NULL: `run_branch` or `run_loop`
    PyObject* kwnames          # borrowed from `keep`; NULL: no keyword arguments
    int32_t first_ref          # into refs
    int32_t n_args             # positional and keyword ones
    int32_t n_pos
    int32_t out_mode           # OutputMode
    int32_t first_out          # into slots
    int32_t n_out
    int32_t first_free         # into slots
    int32_t n_free


cdef inline int64_t now_ns() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return t.tv_sec * <int64_t>1000000000 + t.tv_nsec


cdef class RunLog:
    """What a run leaves behind; `events()` gives it as Python objects."""
    cdef int64_t* words
    cdef Py_ssize_t size, capacity
    cdef public bint timed
    cdef public bint fake                # branches cannot look at data: both run
    cdef list plans                      # by plan number
    cdef dict plan_numbers               # id(plan) -> number
    cdef readonly object env             # the ShapeEnv of a symbolic run, whose life is that of the words; else None
    cdef readonly list learnt            # of a symbolic run: (guards, numbers of data) that are known after each call

    def __cinit__(self, *, bint timed=False, bint fake=False, Py_ssize_t capacity=1024, env=None):
        self.timed = timed
        self.fake = fake
        self.env = env
        self.learnt = []
        self.plans = []
        self.plan_numbers = {}
        self.capacity = max(capacity, 64)
        self.words = <int64_t*>PyMem_Malloc(self.capacity * sizeof(int64_t))
        if self.words == NULL:
            raise MemoryError

    def __dealloc__(self):
        PyMem_Free(self.words)

    def __len__(self):
        return self.size

    cdef int number_of(self, object plan) except -1:
        number = self.plan_numbers.get(id(plan))
        if number is None:
            number = self.plan_numbers[id(plan)] = len(self.plans)
            self.plans.append(plan)
        return number

    cdef inline int64_t* room(self, Py_ssize_t n) except NULL:
        """Space for `n` more words, counted as written."""
        if self.size + n > self.capacity:
            self.grow(n)
        self.size += n
        return self.words + self.size - n

    cdef int grow(self, Py_ssize_t n) except -1:
        cdef Py_ssize_t capacity = 2 * self.capacity + n
        cdef int64_t* words = <int64_t*>PyMem_Realloc(self.words, capacity * sizeof(int64_t))
        if words == NULL:
            raise MemoryError
        self.words = words
        self.capacity = capacity
        return 0

    cdef int mark(self, int64_t word, int64_t plan) except -1:
        cdef int64_t* p = self.room(2)
        p[0] = word
        p[1] = plan
        return 0

    cdef int record(self, PyObject* value, int64_t slot) except -1:
        """One leaf of a result."""
        cdef int64_t* p
        cdef Tensor t
        cdef int n
        if not isinstance(<object>value, Tensor):
            p = self.room(2)
            p[0] = REC_NONE if value == <PyObject*>None else REC_OTHER
            p[1] = slot
            return 0
        t = <Tensor>value
        n = t.c_ndim
        p = self.room(9 + 2 * n)
        p[0] = REC_TENSOR
        p[1] = slot
        p[2] = <int64_t><uintptr_t><PyObject*>t.c_storage
        p[3] = t.c_storage.c_nbytes if t.c_storage is not None else 0
        p[4] = t.c_dtype
        p[5] = t.c_devtype
        p[6] = t.c_devindex
        p[7] = t.c_offset
        p[8] = n
        memcpy(p + 9, t.c_sizes, n * sizeof(int64_t))
        memcpy(p + 9 + n, t.c_strides, n * sizeof(int64_t))
        return 0

    cdef int record_nest(self, object value, object template, int* count) except -1:
        """All leaves of a result, with the slots that `template` gives them."""
        if isinstance(value, (list, tuple)):
            for i, item in enumerate(value):
                inner = template[i] if isinstance(template, tuple) and i < len(template) else -1
                self.record_nest(item, inner, count)
            return 0
        count[0] += 1
        return self.record(<PyObject*>value, template if isinstance(template, int) else -1)

    def add_inputs(self, plan, values):
        """Record the values of a plan's inputs, as if a call (number -1) had given them."""
        cdef int count = 0
        cdef int64_t plan_number = self.number_of(plan)
        cdef Py_ssize_t start = self.size
        self.room(5)
        for slot, value in enumerate(values):
            self.record_nest(value, slot, &count)
        self.finish_call(start, plan_number, -1, -1, count)

    cdef void finish_call(
        self, Py_ssize_t start, int64_t plan, int64_t step, int64_t ns, int count
    ) noexcept:
        cdef int64_t* p = self.words + start
        p[0] = EV_CALL
        p[1] = plan
        p[2] = step
        p[3] = ns
        p[4] = count

    cdef int note(self) except -1:
        """What the ShapeEnv has learnt up to the end of a call."""
        self.learnt.append((len(self.env.guards), self.env.unbacked_symint_counter))
        return 0

    def events(self, numbers=None):
        """Yields ("call", plan, step, ns or None, records), ("enter", plan), ("exit", plan).

        A record is (slot, None) for None, (slot, ...) for a number, else
        (slot, storage, storage bytes, dtype, device, offset, sizes, strides). `numbers`: of a
        symbolic run, what stands for each of its `handles`.
        """
        cdef Py_ssize_t at = 0
        cdef int64_t word
        while at < self.size:
            word = self.words[at]
            if word == EV_CALL:
                at, event = self._call_event(at, numbers)
                yield event
            else:
                yield ("enter" if word == EV_ENTER else "exit"), self.plans[self.words[at + 1]]
                at += 2

    def handles(self):
        """The sizes of a symbolic run that are expressions: each handle in the words, with what it stands for."""
        cdef dict found = {}
        cdef Py_ssize_t i
        for i in range(self.size):
            if is_symbolic(self.words[i]) and self.words[i] not in found:
                found[self.words[i]] = size_object(self.words[i])
        return found

    def _call_event(self, Py_ssize_t at, dict numbers):
        cdef int64_t* p = self.words + at
        plan, step, ns = self.plans[p[1]], p[2], p[3]
        records = []
        at += 5
        for _ in range(p[4]):
            at = self._read_record(at, records, numbers)
        return at, ("call", plan, step, ns if ns >= 0 else None, records)

    cdef Py_ssize_t _read_record(self, Py_ssize_t at, list records, dict numbers) except -1:
        cdef int64_t* p = self.words + at
        cdef int n, i
        if p[0] != REC_TENSOR:
            records.append((p[1], None if p[0] == REC_NONE else ...))
            return at + 2
        n = <int>p[8]
        sizes = tuple([number_at(p + 9 + i, numbers) for i in range(n)])
        strides = tuple([number_at(p + 9 + n + i, numbers) for i in range(n)])
        device = str(new_device(<int>p[5], <int>p[6]))
        dtype = get_dtype(<int>p[4]).name.rpartition(".")[2]
        nbytes, offset = number_at(p + 3, numbers), number_at(p + 7, numbers)
        records.append((p[1], p[2], nbytes, dtype, device, offset, sizes, strides))
        return at + 9 + 2 * n


cdef object number_at(int64_t* p, dict numbers):
    """The number in a word; of a symbolic run, what stands for the expression there."""
    return p[0] if numbers is None or not is_symbolic(p[0]) else numbers[p[0]]


cdef class _ItemsTemplate:
    """A list or dict to be made anew for each call."""
    cdef CRef* refs
    cdef int n
    cdef tuple keys

    def __dealloc__(self):
        PyMem_Free(self.refs)


cdef class Executable:
    """A plan on a device (None: the devices that were recorded)."""
    cdef readonly object plan
    cdef readonly object path
    cdef CStep* steps
    cdef CRef* refs
    cdef int32_t* slots          # outputs and frees of all steps
    cdef int n_steps, n_slots, n_inputs
    cdef list keep               # what the borrowed pointers point at
    cdef list templates          # _ItemsTemplate by number
    cdef list nests              # OUT_NESTED: the template by step
    cdef list branches           # by step: a list of Executables
    cdef list outputs            # references of the graph's outputs

    def __init__(self, plan, device, str path):
        self.plan = plan
        self.path = path
        self.n_steps = len(plan.steps)
        self.n_slots = len(plan.slot_names)
        self.n_inputs = plan.n_inputs
        self.keep = []
        self.templates = []
        self.nests = [None] * self.n_steps
        self.branches = [
            [Executable(branch, device, path) for branch in step.branches] for step in plan.steps
        ]
        self.outputs = list(plan.outputs)
        self.fill(plan, device)

    def __dealloc__(self):
        PyMem_Free(self.steps)
        PyMem_Free(self.refs)
        PyMem_Free(self.slots)

    cdef int fill(self, plan, device) except -1:
        cdef int n_refs = 0, n_slots = 0, i
        flat = [flatten(s.outputs) for s in plan.steps]
        n_ref_total = sum(len(s.args) for s in plan.steps)
        n_slot_total = sum(len(f) + len(s.frees) for f, s in zip(flat, plan.steps))
        self.steps = <CStep*>allocate(self.n_steps, sizeof(CStep))
        self.refs = <CRef*>allocate(n_ref_total, sizeof(CRef))
        self.slots = <int32_t*>allocate(n_slot_total, sizeof(int32_t))
        for i, step in enumerate(plan.steps):
            self.fill_step(&self.steps[i], i, step, n_refs, n_slots)
            for ref in step.args:
                self.fill_ref(&self.refs[n_refs], ref, device)
                n_refs += 1
            for slot in flat[i] + list(step.frees):
                self.slots[n_slots] = slot
                n_slots += 1
        return 0

    cdef int fill_step(self, CStep* c, int i, step, int first_ref, int first_slot) except -1:
        n_args = len(step.args)
        if n_args > MAX_ARGS:
            raise ValueError(f"{plain(self.path)}: {plain(step.node)}: {n_args} arguments, at most {MAX_ARGS}")
        c.callee = self.keep_object(step.callee) if step.callee is not None or not step.branches else NULL
        c.kwnames = self.keep_object(tuple(step.kwnames)) if step.kwnames else NULL
        c.first_ref = first_ref
        c.n_args = n_args
        c.n_pos = n_args - len(step.kwnames)
        c.n_out = len(flatten(step.outputs))
        c.first_out = first_slot
        c.first_free = first_slot + c.n_out
        c.n_free = len(step.frees)
        c.out_mode = output_mode(step.outputs)
        if c.out_mode == OUT_NESTED:
            self.nests[i] = step.outputs
        return 0

    cdef PyObject* keep_object(self, object value) except NULL:
        self.keep.append(value)
        return <PyObject*>value

    cdef int fill_ref(self, CRef* c, ref, device) except -1:
        cdef _ItemsTemplate template
        c.value = NULL
        c.index = 0
        if isinstance(ref, Slot):
            c.kind = REF_SLOT
            c.index = ref.number
        elif isinstance(ref, Items):
            template = _ItemsTemplate()
            template.n = len(ref.refs)
            template.keys = ref.keys
            template.refs = <CRef*>allocate(template.n, sizeof(CRef))
            for i, item in enumerate(ref.refs):
                self.fill_ref(&template.refs[i], item, device)
            c.kind = REF_ITEMS
            c.index = len(self.templates)
            self.templates.append(template)
        elif isinstance(ref, Body):
            c.kind = REF_BODY
            c.index = ref.number
        else:
            c.kind = REF_CONST
            c.value = self.keep_object(constant_of(ref, device))
        return 0

    # -- running ------------------------------------------------------------------------------

    def run(self, list inputs not None, RunLog log not None, progress=None):
        """The graph's outputs, as a list, from as many inputs as it has; `progress(steps done)` is
        called now and then."""
        cdef PyObject** values
        cdef int i
        if len(inputs) != self.n_inputs:
            raise RuntimeError(f"{plain(self.path)}: {len(inputs)} inputs, expected {self.n_inputs}")
        values = <PyObject**>allocate(self.n_slots, sizeof(PyObject*))
        try:
            for i in range(self.n_inputs):
                Py_INCREF(inputs[i])
                values[i] = <PyObject*>inputs[i]
            self.run_steps(values, log, progress)
            return [self.value_of(ref, values) for ref in self.outputs]
        finally:
            for i in range(self.n_slots):
                Py_XDECREF(values[i])
            PyMem_Free(values)

    cdef int run_steps(self, PyObject** values, RunLog log, progress) except -1:
        cdef int i = 0
        cdef int64_t plan_number = log.number_of(self.plan)
        try:
            while i < self.n_steps:
                self.run_step(i, values, log, plan_number)
                i += 1
                if i % SIGNAL_STEPS == 0:
                    PyErr_CheckSignals()
                if progress is not None and i % PROGRESS_STEPS == 0:
                    progress(i)
        except Exception as error:
            step = self.plan.steps[i]
            raise explained(error, self.path, step.node, step.op) from error.__cause__
        return 0

    cdef int run_step(self, int i, PyObject** values, RunLog log, int64_t plan_number) except -1:
        cdef CStep* s = &self.steps[i]
        cdef PyObject* args[MAX_ARGS + 1]
        cdef CRef* ref = self.refs + s.first_ref
        cdef int k, n_made = 0, count = 0
        cdef int64_t ns = -1
        cdef Py_ssize_t start
        cdef int32_t* frees = self.slots + s.first_free
        cdef PyObject* dead
        cdef list made = None
        for k in range(s.n_args):
            if ref.kind == REF_SLOT:
                args[k + 1] = values[ref.index]
            elif ref.kind == REF_CONST:
                args[k + 1] = ref.value
            else:
                if made is None:
                    made = []
                if ref.kind == REF_BODY:
                    item = body_of((<list>self.branches[i])[ref.index], log)
                else:
                    item = self.make_items(<_ItemsTemplate>self.templates[ref.index], values)
                made.append(item)
                args[k + 1] = <PyObject*>item
            ref += 1
        if log.timed:
            ns = now_ns()
        if s.callee != NULL:
            result = take(PyObject_Vectorcall_(
                s.callee, args + 1, s.n_pos | PY_VECTORCALL_ARGUMENTS_OFFSET, s.kwnames
            ))
        else:
            if self.plan.steps[i].is_loop:
                result = self.run_loop(i, <object>args[1], <object>args[2], log)
            else:
                result = self.run_branch(i, <object>args[1], <object>args[2], log)
        if log.timed:
            ns = now_ns() - ns
        start = log.size
        log.room(5)
        self.store(i, s, result, values, log, &count)
        log.finish_call(start, plan_number, i, ns, count)
        if log.env is not None:
            log.note()
        for k in range(s.n_free):
            dead = values[frees[k]]
            values[frees[k]] = NULL
            Py_XDECREF(dead)
        return 0

    cdef int store(
        self, int i, CStep* s, object result, PyObject** values, RunLog log, int* count
    ) except -1:
        """Put the result where its names say, and log its metadata."""
        cdef int k
        cdef int32_t slot
        if s.out_mode == OUT_ONE:
            slot = self.slots[s.first_out]
            if slot >= 0:
                Py_INCREF(result)
                values[slot] = <PyObject*>result
            count[0] = 1
            return log.record(<PyObject*>result, slot)
        if s.out_mode == OUT_NONE:
            return log.record_nest(result, -1, count) if result is not None else 0
        if s.out_mode == OUT_NESTED:
            store_nest(result, self.nests[i], values)
            return log.record_nest(result, self.nests[i], count)
        if not isinstance(result, (tuple, list)) or len(result) != s.n_out:
            raise RuntimeError(f"expected {s.n_out} results, got {describe(result)}")
        for k in range(s.n_out):
            slot = self.slots[s.first_out + k]
            item = result[k]
            if slot >= 0:
                Py_INCREF(item)
                values[slot] = <PyObject*>item
            log.record(<PyObject*>item, slot)
        count[0] = s.n_out
        return 0

    cdef object make_items(self, _ItemsTemplate template, PyObject** values):
        cdef int k
        cdef CRef* ref
        cdef list items = []
        for k in range(template.n):
            ref = &template.refs[k]
            if ref.kind == REF_SLOT:
                items.append(<object>values[ref.index])
            elif ref.kind == REF_CONST:
                items.append(<object>ref.value)
            else:
                inner = <_ItemsTemplate>self.templates[ref.index]
                items.append(self.make_items(inner, values))
        return items if template.keys is None else dict(zip(template.keys, items))

    cdef object value_of(self, ref, PyObject** values):
        """The value of one of the graph's outputs."""
        if isinstance(ref, Slot):
            return <object>values[<int>ref.number]
        if isinstance(ref, Items):
            return [self.value_of(item, values) for item in ref.refs]
        return constant_of(ref, None)

    cdef object run_branch(self, int i, predicate, operands, RunLog log):
        """cond: the branch that the predicate names; on fake tensors both, whose results must
        agree."""
        cdef Executable then, otherwise
        then, otherwise = self.branches[i]
        if not log.fake or isinstance(predicate, (bool, int)):
            return tuple(enter_branch(then if predicate else otherwise, list(operands), log))
        second = enter_branch(otherwise, list(operands), log)
        first = enter_branch(then, list(operands), log)
        check_agreement(first, second, "cond: the branches")
        return tuple(first)

    cdef object run_loop(self, int i, carried, additional, RunLog log):
        """while_loop: a branch on its own results while the other is true of them; without a round,
        copies of what was given. On fake tensors one round, whose results must be like that."""
        cdef Executable test, body
        cdef list given = list(carried), values = given, rest = list(additional)
        test, body = self.branches[i]
        while True:
            said = enter_branch(test, values + rest, log)
            if len(said) != 1:
                raise RuntimeError(f"while_loop: the condition gives {len(said)} results")
            if not log.fake and not said[0]:
                return tuple([v.clone() for v in values] if values is given else values)
            values = enter_branch(body, values + rest, log)
            check_agreement(given, values, "while_loop: what is carried and a round")
            if log.fake:
                return tuple(values)


cdef class _Body:
    """A branch as a function, for a higher-order operator."""
    cdef Executable branch
    cdef RunLog log

    def __call__(self, *operands):
        if self.branch is None:
            raise RuntimeError("_Body: made by a graph's run only")
        return tuple(enter_branch(self.branch, list(operands), self.log))


cdef _Body body_of(Executable branch, RunLog log):
    cdef _Body body = _Body.__new__(_Body)
    body.branch = branch
    body.log = log
    return body


cdef object enter_branch(Executable branch, list operands, RunLog log):
    cdef int64_t number = log.number_of(branch.plan)
    if len(operands) != branch.n_inputs:
        raise RuntimeError(f"graph {plain(branch.plan.name)} takes {branch.n_inputs} operands, given {len(operands)}")
    log.mark(EV_ENTER, number)
    log.add_inputs(branch.plan, operands)
    results = branch.run(operands, log)
    log.mark(EV_EXIT, number)
    return results


cdef void* allocate(Py_ssize_t n, size_t item) except NULL:
    """Zeroed memory for `n` items, never NULL."""
    cdef void* p = PyMem_Malloc(max(n, 1) * item)
    if p == NULL:
        raise MemoryError
    memset(p, 0, max(n, 1) * item)
    return p


cdef list flatten(template):
    if template is None:
        return []
    if isinstance(template, int):
        return [template]
    return [slot for item in template for slot in flatten(item)]


cdef int output_mode(template):
    if template is None:
        return OUT_NONE
    if isinstance(template, int):
        return OUT_ONE
    return OUT_FLAT if all(isinstance(item, int) for item in template) else OUT_NESTED


cdef object constant_of(ref, device):
    if isinstance(ref, DeviceConst):
        name = device if device is not None else ref.recorded
        return dispatch.device(name) if name is not None else None
    assert isinstance(ref, Const)
    return ref.value


cdef int store_nest(result, template, PyObject** values) except -1:
    if isinstance(template, int):
        if template >= 0:
            Py_INCREF(result)
            values[<int>template] = <PyObject*>result
        return 0
    if not isinstance(result, (tuple, list)) or len(result) != len(template):
        raise RuntimeError(f"expected {len(template)} results, got {describe(result)}")
    for item, inner in zip(result, template):
        store_nest(item, inner, values)
    return 0


cdef str describe(value):
    return f"{len(value)}" if isinstance(value, (tuple, list)) else f"a {type(value).__name__}"


cdef int check_agreement(list first, list second, str who) except -1:
    """What must be alike is: as many, of the same shapes, dtypes and devices."""
    if len(first) != len(second):
        raise RuntimeError(f"{who} give {len(first)} and {len(second)} results")
    for i, (a, b) in enumerate(zip(first, second)):
        ours, theirs = summary(a), summary(b)
        if ours != theirs:
            raise RuntimeError(f"{who} differ in result {i}: {ours} and {theirs}")
    return 0


cdef str summary(value):
    if isinstance(value, Tensor):
        return f"{value.dtype} {list(value.shape)} on {value.device}"
    return type(value).__name__


cdef object explained(error, str path, str node, str op):
    """The error with its text saying which call of which file raised it; its type stays.

    An error that is no single text gets a note, or is made anew where its type is Python's own.
    """
    where = plain(f"{path}: {node} ({op})")
    text = plain(str(error), "\n")          # a kernel may quote what the file gave it
    if text.startswith(plain(path) + ": "):
        return error                       # from a branch, which knows better
    if len(error.args) == 1 and type(error.args[0]) is str:
        error.args = (f"{where}: " + plain(error.args[0], "\n").removeprefix(plain(op) + ": "),)
        return error
    kind = next(t for t in type(error).__mro__ if t.__module__ == "builtins")
    if type(error).__module__.partition(".")[0] in ("builtins", "numpy") and kind in _PLAIN_ERRORS:
        return kind(f"{where}: {text}")
    error.add_note(f"in {where}")
    return error


cdef tuple _PLAIN_ERRORS = (
    ArithmeticError, AttributeError, FloatingPointError, IndexError, KeyError, MemoryError,
    NotImplementedError, OverflowError, RuntimeError, TypeError, ValueError, ZeroDivisionError,
)
