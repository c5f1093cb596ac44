# cython: nonecheck=True, boundscheck=True
"""Nodes of expressions, each once in its table, and the normal form of sums and products.

The lowest of what knows symbols: `rules` brings the functions to normal form, `numbers` gives them to programs as SymInt,
`guards` learns from what they ask. Invariant: a node in a table is in normal form under what never changes (the assumptions),
so that whatever a guard teaches can only make its range narrower and never its form wrong.
"""
from cpython.long cimport PyLong_AsLongAndOverflow
from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free, realloc

cimport cython

from dispatch._C.stack cimport check_depth
from dispatch.symbolic.bounds cimport bounds_of, intersection
from dispatch.symbolic.operations cimport *

import math

cdef enum:
    DEEPEST = 2000                       # nodes below each other; what is deeper ends in RecursionError where it is made
    PAGE = 256
    FIRST_SMALL = -8
    SMALL = 136
cdef double INF = math.inf
cdef tuple NO_BOUNDS = (-INF, INF)

# The process's handles: a directory of pages of borrowed nodes. A page of a table that is gone is NULL, and is never taken again.
cdef PyObject*** directory = NULL
cdef int64_t pages_made = 0
cdef int64_t pages_room = 0

cdef Expr get_node(int64_t handle):
    cdef int64_t index = handle - FIRST_HANDLE
    cdef int64_t page = index // PAGE
    if index < 0 or page >= pages_made or directory[page] == NULL or directory[page][index % PAGE] == NULL:
        raise RuntimeError("a symbolic size is used after its ShapeEnv is gone")
    return <Expr>directory[page][index % PAGE]


cdef int64_t new_page() except -1:
    """The number of a fresh page of handles."""
    global directory, pages_made, pages_room
    cdef PyObject*** grown
    if pages_made == pages_room:
        grown = <PyObject***>realloc(directory, (2 * pages_room + 64) * sizeof(void*))
        if grown == NULL:
            raise MemoryError
        directory, pages_room = grown, 2 * pages_room + 64
    directory[pages_made] = <PyObject**>calloc(PAGE, sizeof(void*))
    if directory[pages_made] == NULL:
        raise MemoryError
    pages_made += 1
    return pages_made - 1


def count_pages():
    """Pages of handles in use: for tests of what a dead ShapeEnv leaves behind."""
    cdef int64_t i
    return sum([1 for i in range(pages_made) if directory[i] != NULL])


@cython.trashcan(True)
cdef class Expr:
    """An expression over the symbols of one ShapeEnv. It prints as sympy prints it; `sympy()` makes it a sympy object."""

    def __init__(self):
        raise TypeError("expressions are made by a ShapeEnv")

    def __dealloc__(self):
        cdef int64_t index = self.handle - FIRST_HANDLE
        if self.handle < 0 and directory[index // PAGE] != NULL:
            directory[index // PAGE][index % PAGE] = NULL

    def __hash__(self):
        return self.hashed

    def __eq__(self, other):
        if self is other:
            return True
        if isinstance(other, Expr):
            return (<Expr>other).table is not self.table and hooks["same"](self, other)
        if self.op == OP_NUMBER or self.op == OP_BOOL:
            return self.value == other
        return NotImplemented

    def __repr__(self):
        return str(self)

    def __str__(self):
        if self.text is None:
            self.text = hooks["text"](self)
        return self.text

    def __bool__(self):
        if self.op == OP_BOOL or self.op == OP_NUMBER:
            return bool(self.value)
        if is_relation(self.op):
            raise TypeError("cannot determine truth value of Relational")
        return True

    def __int__(self):
        return int(self._number("int"))

    def __index__(self):
        if self.kind != K_INT:
            raise TypeError(f"{self} is not an integer")
        return self._number("int")

    def __float__(self):
        return float(self._number("float"))

    def _number(self, wanted):
        if self.op != OP_NUMBER and self.op != OP_BOOL:
            raise TypeError(f"cannot convert expression {self} to {wanted}")
        return self.value

    def __reduce__(self):
        return hooks["pickle"](self)

    @property
    def name(self):
        if self.op != OP_SYMBOL:
            raise AttributeError(f"{self} has no name: it is no symbol")
        return self.value

    is_symbol = is_Symbol = property(lambda self: (<Expr>self).op == OP_SYMBOL)
    is_number = is_Number = property(lambda self: (<Expr>self).op == OP_NUMBER)
    is_Boolean = property(lambda self: (<Expr>self).kind == K_BOOL)
    is_integer = property(lambda self: (<Expr>self).kind == K_INT)
    is_Integer = property(lambda self: (<Expr>self).op == OP_NUMBER and (<Expr>self).kind == K_INT)
    is_positive = property(lambda self: True if always(<Expr>self)[0] > 0 else False if always(<Expr>self)[1] <= 0 else None)
    is_nonnegative = property(lambda self: True if always(<Expr>self)[0] >= 0 else False if always(<Expr>self)[1] < 0 else None)
    is_Add = property(lambda self: (<Expr>self).op == OP_ADD)
    is_Mul = property(lambda self: (<Expr>self).op == OP_MUL)
    is_Relational = property(lambda self: is_relation((<Expr>self).op))

    @property
    def lhs(self):
        if not is_relation(self.op):
            raise AttributeError(f"{self} has no sides")
        return self.args[0]

    @property
    def rhs(self):
        if not is_relation(self.op):
            raise AttributeError(f"{self} has no sides")
        return self.args[1]

    @property
    def function(self):
        """The name of what stands at the root: "Add", "FloorDiv", ...; "Symbol" or "Number" for a leaf."""
        return NAMES.get(self.op, "Symbol" if self.op == OP_SYMBOL else "Number")

    def atoms(self):
        """Every node below this one, itself included."""
        found, todo = {}, [self]
        while todo:
            e = todo.pop()
            if e not in found:
                found[e] = None
                todo.extend((<Expr>e).args)
        return list(found)

    def has(self, *what):
        """Whether a node is one of these expressions, or has one of these function names at its root."""
        return any([e in what or e.function in what for e in self.atoms()])

    def xreplace(self, rule):
        """With other expressions or numbers in place of some."""
        return substituted(self, {old: sympify(self.table, new) for old, new in rule.items()}, {})

    subs = xreplace

    def evaluate(self, values):
        """The number it is when each symbol has a value: {symbol or name: number}."""
        return value_at(self, {str(k): v for k, v in values.items()}, {})

    def sympy(self):
        """As a sympy expression, with PyTorch's functions where sympy has none. Imports sympy."""
        return hooks["sympy"](self)

    _sympy_ = sympy

    def __add__(self, other):
        return self.table.binary(OP_ADD, self, sympify(self.table, other))

    def __radd__(self, other):
        return self.table.binary(OP_ADD, sympify(self.table, other), self)

    def __sub__(self, other):
        return self.table.binary(OP_SUB, self, sympify(self.table, other))

    def __rsub__(self, other):
        return self.table.binary(OP_SUB, sympify(self.table, other), self)

    def __mul__(self, other):
        return self.table.binary(OP_MUL, self, sympify(self.table, other))

    def __rmul__(self, other):
        return self.table.binary(OP_MUL, sympify(self.table, other), self)

    def __floordiv__(self, other):
        return self.table.binary(OP_FLOORDIV, self, sympify(self.table, other))

    def __rfloordiv__(self, other):
        return self.table.binary(OP_FLOORDIV, sympify(self.table, other), self)

    def __mod__(self, other):
        return self.table.binary(OP_REMAINDER, self, sympify(self.table, other))

    def __rmod__(self, other):
        return self.table.binary(OP_REMAINDER, sympify(self.table, other), self)

    def __pow__(self, other):
        return self.table.binary(OP_POWBYNATURAL, self, sympify(self.table, other))

    def __neg__(self):
        return self.table.scaled(self, -1)

    def __invert__(self):
        return self.table.negate(self)

    def __and__(self, other):
        return self.table.binary(OP_AND, self, sympify(self.table, other))

    def __or__(self, other):
        return self.table.binary(OP_OR, self, sympify(self.table, other))

    def __lt__(self, other):
        return self.table.binary(OP_LT, self, sympify(self.table, other))

    def __le__(self, other):
        return self.table.binary(OP_LE, self, sympify(self.table, other))

    def __gt__(self, other):
        return self.table.binary(OP_GT, self, sympify(self.table, other))

    def __ge__(self, other):
        return self.table.binary(OP_GE, self, sympify(self.table, other))


# What upper modules do for a node: "text" prints it, "sympy" converts it, "parse" reads it, "pickle" reduces it, "foreign" takes
# other objects in.
hooks = {}


def hook(str name, function):
    """Enters what an upper module does."""
    hooks[name] = function


def build(Table table not None, name, list args not None):
    """The expression of this operation ("Add", "FloorDiv", ...) on arguments of the table. NameError: there is none."""
    cdef int op
    if name not in OPS:
        raise NameError(f"name {name!r} is not defined")
    op = OPS[name]
    args = [sympify(table, a) for a in args]
    if not takes(op, len(args)):
        raise TypeError(f"{name} of {len(args)} arguments")
    if op == OP_POW and (<Expr>args[1]).op != OP_NUMBER:
        op = OP_POWBYNATURAL
    return table.build(op, args)


def leaf(Table table not None, value):
    """A number, a truth value, or (of a name) the table's symbol; a name that it does not know becomes a symbol without a hint."""
    if isinstance(value, str):
        found = table.symbols.get(value)
        return table.symbol(value, K_FLOAT if value.startswith("z") else K_INT, S_OTHER, False) if found is None else found
    return sympify(table, value)


cdef bint is_positive(Expr symbol) noexcept:
    return symbol.assumed is not None and symbol.assumed[0] == 1


cdef Expr sympify(Table table, object o):
    """A number, or a node of any table, as a node of this one."""
    if isinstance(o, Expr):
        return <Expr>o if (<Expr>o).table is table else imported(table, <Expr>o, {})
    if o is True or o is False:
        return table.boolean(o)
    if isinstance(o, (int, float)):
        return table.number(o)
    return hooks["foreign"](table, o)


cdef Expr imported(Table table, Expr e, dict done):
    cdef Expr found = done.get(e)
    if found is not None:
        return found
    if e.op == OP_NUMBER:
        return table.number(e.value)
    if e.op == OP_BOOL:
        return table.boolean(e.value)
    if e.op == OP_SYMBOL:
        return table.symbol(e.value, e.kind, e.symbol_type, is_positive(e))
    check_depth(" while an expression is taken in")
    found = done[e] = table.build(e.op, [imported(table, a, done) for a in e.args])
    return found


cdef tuple always(Expr e):
    """The bounds that no state changes: those of symbols made positive. As in sympy, a size that became a float has none:
    where sizes 0 and 1 are symbols too, a positive symbol can be 0."""
    if e.assumed is None:
        check_depth(" in an expression")
        e.assumed = NO_BOUNDS if e.op == OP_TOFLOAT else bounds_of(e.op, [always(<Expr>a) for a in e.args], e.kind == K_INT)
    return e.assumed


cdef tuple range_of(Expr e):
    """What it can be, as far as is known now."""
    cdef tuple found
    cdef Table table = e.table
    if e.bounds_state == table.state or e.op == OP_NUMBER or e.op == OP_BOOL:
        return e.bounds
    if e.target is not None and e.op == OP_SYMBOL:
        found = intersection(range_of(e.target), e.bounds)
    elif e.op == OP_SYMBOL:
        found = e.bounds
    else:
        check_depth(" in an expression")
        found = bounds_of(e.op, [range_of(<Expr>a) for a in e.args], e.kind == K_INT)
    if e.lower is not None:
        found = (e.lower if e.lower > found[0] else found[0], e.upper if e.upper < found[1] else found[1])
    if e.excluded is not None:
        found = without(found, e.excluded)
    e.bounds = found
    e.bounds_state = table.state
    return found


cdef tuple without(tuple bounds, set excluded):
    """Ends that are excluded move inwards."""
    low, high = bounds
    while low in excluded and low < high:
        low = low + 1
    while high in excluded and low < high:
        high = high - 1
    return (low, high)


cdef object hint_of(Expr e):
    """The value in the program's own run. Raises what the operation raises on the hints."""
    if e.hinted == H_UNASKED:
        if e.unbacked:
            for s in e.free_symbols:
                if (<Expr>s).hinted != H_KNOWN and (<Expr>s).target is not None and hint_of((<Expr>s).target) is None:
                    return None
                if (<Expr>s).hinted != H_KNOWN and (<Expr>s).target is None:
                    return None
        check_depth(" in an expression")
        if e.op == OP_MUL and not e.unbacked and e.kind == K_INT:
            product = 1
            for a in e.args:
                product = product * hint_of(<Expr>a)
            e.hint = product
        else:
            values = [hint_of(<Expr>a) for a in e.args]
            if None in values:
                return None
            e.hint = value_of(e.op, values)
        e.hinted = H_KNOWN
    elif e.hinted == H_NONE and e.target is not None:
        return hint_of(e.target)
    return e.hint


cdef object value_at(Expr e, dict values, dict done):
    if e.op == OP_NUMBER or e.op == OP_BOOL:
        return e.value
    if e.op == OP_SYMBOL:
        return values[e.value]
    found = done.get(e, done)
    if found is done:
        check_depth(" in an expression")
        found = done[e] = value_of(e.op, [value_at(<Expr>a, values, done) for a in e.args])
    return found


cdef Expr substituted(Expr e, dict rule, dict done):
    """Built anew with nodes of `rule` replaced; `done` remembers within one replacement."""
    cdef Expr found = rule.get(e)
    cdef list args
    if found is not None:
        return found
    if not e.args:
        return e
    found = done.get(e)
    if found is None:
        check_depth(" in an expression")
        args = [substituted(<Expr>a, rule, done) for a in e.args]
        found = e if all([x is y for x, y in zip(args, e.args)]) else e.table.build(e.op, args)
        done[e] = found
    return found


cdef Expr product_of_two(Table table, Expr a, Expr b):
    """Of whole numbers: a number and something, or two that have no factor twice and no number; None for others."""
    cdef Expr f
    cdef tuple of_a, of_b
    if a.kind != K_INT or b.kind != K_INT:
        return None
    if a.op == OP_NUMBER or b.op == OP_NUMBER:
        return table.scaled(b, a.value) if a.op == OP_NUMBER else table.scaled(a, b.value)
    if a.rest is not None or b.rest is not None:
        return None
    of_a, of_b = (a.args if a.op == OP_MUL else (a,)), (b.args if b.op == OP_MUL else (b,))
    for f in of_a:
        if f.op == OP_POW or f.op == OP_NUMBER or f in of_b:
            return None
    for f in of_b:
        if f.op == OP_POW or f.op == OP_NUMBER:
            return None
    return table.intern(OP_MUL, tuple(ordered([*of_a, *of_b])), K_INT, a.free_symbols | b.free_symbols)


cdef inline bint is_number(Expr e, int small):
    """Whether it is this whole number."""
    return e.op == OP_NUMBER and e.kind == K_INT and e.value == small


cdef list ordered(list nodes):
    """By age: the order that makes a sum the same whichever way it was written."""
    cdef Py_ssize_t i, j
    cdef Expr e
    if len(nodes) > 64:
        nodes.sort(key=age_of)
        return nodes
    for i in range(1, len(nodes)):
        e = nodes[i]
        j = i - 1
        while j >= 0 and (<Expr>nodes[j]).handle > e.handle:
            nodes[j + 1] = nodes[j]
            j -= 1
        nodes[j + 1] = e
    return nodes


def age_of(Expr e not None):
    return e.handle


cdef frozenset symbols_of(tuple nodes):
    """The symbols in any of them."""
    cdef Expr e
    cdef frozenset found = None
    for e in nodes:
        if found is None or not found:
            found = e.free_symbols
        elif e.free_symbols is not found and e.free_symbols:
            found = found | e.free_symbols
    return found


cdef Py_hash_t unordered_hash(int op, tuple nodes):
    """The same in whatever order they stand; no part of it is a handle, for tables differ in these."""
    cdef Expr e
    cdef uint64_t found = op
    for e in nodes:
        found += mixed(<uint64_t>e.hashed, op, 0)
    return <Py_hash_t>found


cdef inline uint64_t mixed(uint64_t a, uint64_t b, uint64_t operation) noexcept:
    """Where to look for an operation on two nodes."""
    cdef uint64_t at = (a * 0x9E3779B97F4A7C15ULL) ^ (b * 0xC2B2AE3D27D4EB4FULL) ^ (operation * 0x165667B19E3779F9ULL)
    return at ^ (at >> 29)


@cython.no_gc_clear                      # the pages are needed to the end
cdef class Table:
    def __cinit__(self):
        self.nodes, self.ints, self.floats, self.symbols = {}, {}, {}, {}
        self.state = 1
        self.memo_mask = 1023
        self.memo = <MemoEntry*>calloc(1024, sizeof(MemoEntry))
        if self.memo == NULL:
            raise MemoryError
        self.true = self._constant(OP_BOOL, True, K_BOOL)
        self.false = self._constant(OP_BOOL, False, K_BOOL)
        self.small = [None] * SMALL

    def __dealloc__(self):
        free(self.memo)
        self._free_pages()

    cdef close(self):
        """The ShapeEnv is gone: handles end, and nodes live only as long as somebody holds them."""
        self.owner = NULL
        self._free_pages()
        self._empty_memo(1024)
        self.nodes = {}

    cdef void _free_pages(self) noexcept:
        cdef Py_ssize_t i
        for i in range(self.page_count):
            free(directory[self.pages[i]])
            directory[self.pages[i]] = NULL
        free(self.pages)
        self.pages = NULL
        self.page_count = self.next_slot = self.last_slot = 0

    cdef int _empty_memo(self, uint64_t room) except -1:
        cdef MemoEntry* fresh = <MemoEntry*>calloc(room, sizeof(MemoEntry))
        if fresh == NULL:
            raise MemoryError
        free(self.memo)
        self.memo, self.memo_mask, self.memo_used = fresh, room - 1, 0
        return 0

    cdef int64_t _new_handle(self, Expr e) except 0:
        cdef int64_t page, slot
        cdef int64_t* grown
        if self.next_slot == self.last_slot:
            grown = <int64_t*>realloc(self.pages, (self.page_count + 1) * sizeof(int64_t))
            if grown == NULL:
                raise MemoryError
            self.pages = grown
            page = new_page()
            self.pages[self.page_count] = page
            self.page_count += 1
            self.next_slot, self.last_slot = page * PAGE, (page + 1) * PAGE
        slot = self.next_slot
        self.next_slot += 1
        directory[slot // PAGE][slot % PAGE] = <PyObject*>e
        return FIRST_HANDLE + slot

    cdef Expr _node(self, int op, tuple args, object value, int kind):
        cdef Expr e = Expr.__new__(Expr)
        e.table, e.op, e.args, e.value, e.kind = self, op, args, value, kind
        e.coeff = 1
        e.answer = e.static_answer = -1
        e.handle = self._new_handle(e)
        return e

    cdef Expr _constant(self, int op, object value, int kind):
        cdef Expr e = self._node(op, (), value, kind)
        e.hint, e.hinted = value, H_KNOWN
        e.bounds = e.assumed = (value, value) if value == value else NO_BOUNDS
        e.free_symbols = frozenset()
        e.hashed = hash(value)
        return e

    cdef Expr number(self, object value):
        cdef Expr found
        cdef dict known
        cdef Py_ssize_t small
        cdef int overflow
        if type(value) is int:
            small = PyLong_AsLongAndOverflow(value, &overflow) - FIRST_SMALL
            if 0 <= small < SMALL and not overflow:
                found = <Expr>self.small[small]
                if found is None:
                    found = self.small[small] = self._constant(OP_NUMBER, value, K_INT)
                return found
            known, key = self.ints, value
        elif isinstance(value, float):
            value = float(value)
            known, key = self.floats, repr(value)
        else:
            return self.number(int(value))
        found = known.get(key)
        if found is None:
            found = known[key] = self._constant(OP_NUMBER, value, K_FLOAT if known is self.floats else K_INT)
        return found

    cdef Expr boolean(self, bint value):
        return self.true if value else self.false

    cdef Expr symbol(self, str name, int kind, int symbol_type, bint positive):
        cdef Expr e = self.symbols.get(name)
        if e is None:
            e = self.symbols.setdefault(name, self._node(OP_SYMBOL, (), name, kind))
            e.symbol_type = symbol_type
            e.assumed = (1, INF) if positive else NO_BOUNDS
            e.bounds = e.assumed
            e.hashed = hash(name)
            e.free_symbols = frozenset((e,))
            e.hinted = H_NONE
            e.unbacked = True
        return e

    cdef Expr intern(self, int op, tuple args, int kind, frozenset symbols=None):
        """The node of this operation on these arguments, as they are. `symbols`: those in them, of whom knows."""
        cdef Expr e
        cdef Expr a
        cdef int deepest = 0
        key = (op,) + args
        e = self.nodes.get(key)
        if e is None:
            for a in args:
                if a.table is not self:
                    raise AssertionError("expressions of two ShapeEnvs meet")
                deepest = a.depth if a.depth > deepest else deepest
            if deepest == DEEPEST:
                raise RecursionError(f"an expression is nested more than {DEEPEST} deep")
            e = self._node(op, args, None, kind)
            e.depth = deepest + 1
            e.hashed = hash(args) ^ op if op not in (OP_ADD, OP_MUL, OP_AND, OP_OR, OP_MIN, OP_MAX) else unordered_hash(op, args)
            for a in args:
                e.unbacked |= a.unbacked
            e.free_symbols = symbols_of(args) if symbols is None else symbols
            e = self.nodes.setdefault(key, e)        # what runs meanwhile may have made it too
        return e

    # --- sums and products

    cdef Expr sum_of(self, list parts):
        """Terms of the same rest become one; the number comes first."""
        cdef dict terms = {}
        cdef object constant = 0
        cdef bint floats = False
        cdef Expr p, q, rest
        cdef list found = []
        for p in parts:
            floats |= p.kind == K_FLOAT
            for q in (p.args if p.op == OP_ADD else (p,)):
                if q.op == OP_NUMBER:
                    constant = constant + q.value
                else:
                    rest = q if q.rest is None else q.rest
                    terms[rest] = terms.get(rest, 0) + q.coeff
        for rest, by in terms.items():
            if by != 0:
                found.append(rest if by == 1 and type(by) is int else self.scaled(rest, by))
        if floats:
            constant = float(constant)
        if not found:
            return self.number(constant)
        ordered(found)
        if constant != 0:
            found.insert(0, self.number(constant))
        if len(found) == 1:
            return found[0]
        return self.intern(OP_ADD, tuple(found), K_FLOAT if floats else K_INT)

    cdef Expr scaled(self, Expr e, object by):
        """by * e, the number multiplied into a sum's terms."""
        cdef Expr product, rest
        if e.op == OP_NUMBER:
            return self.number(by * e.value)
        if e.op == OP_ADD:
            return self.sum_of([self.scaled(<Expr>a, by) for a in e.args])
        by = by * e.coeff
        rest = e if e.rest is None else e.rest
        if by == 1 and type(by) is int:
            return rest
        if by == 0:
            return self.number(by)
        product = self.intern(OP_MUL, (self.number(by), *rest.args) if rest.op == OP_MUL else (self.number(by), rest),
                              K_FLOAT if e.kind == K_FLOAT or type(by) is float else K_INT, rest.free_symbols)
        product.coeff, product.rest = by, rest
        return product

    cdef Expr product_of(self, list parts):
        """Equal factors become a power; the number comes first."""
        cdef object by = 1
        cdef dict powers
        cdef Expr p, f, base, rest
        cdef list found
        cdef bint floats = False
        if len(parts) == 2:
            rest = product_of_two(self, <Expr>parts[0], <Expr>parts[1])
            if rest is not None:
                return rest
        powers, found = {}, []
        for p in parts:
            floats |= p.kind == K_FLOAT
            if p.op == OP_NUMBER:
                by = by * p.value
                continue
            by = by * p.coeff
            rest = p if p.rest is None else p.rest
            for f in (rest.args if rest.op == OP_MUL else (rest,)):
                if f.op == OP_POW:
                    base = f.args[0]
                    powers[base] = powers.get(base, 0) + (<Expr>f.args[1]).value
                else:
                    powers[f] = powers.get(f, 0) + 1
        if by == 0:
            return self.number(float(by) if floats else by)
        for base, exponent in powers.items():
            found.append(base if exponent == 1 else self.intern(OP_POW, (base, self.number(exponent)), base.kind))
        if not found:
            return self.number(by)
        ordered(found)
        rest = found[0] if len(found) == 1 else self.intern(OP_MUL, tuple(found), K_FLOAT if floats else K_INT)
        return rest if by == 1 and type(by) is int else self.scaled(rest, by)

    cdef Expr power(self, Expr base, object exponent):
        """By a whole number that is not negative."""
        if exponent == 0:
            return self.number(1)
        if exponent == 1:
            return base
        if base.op == OP_NUMBER:
            return self.number(value_of(OP_POW, [base.value, exponent]))
        if base.op == OP_MUL:
            return self.product_of([self.power(<Expr>f, exponent) for f in base.args])
        if base.op == OP_POW:
            return self.power(base.args[0], exponent * (<Expr>base.args[1]).value)
        return self.intern(OP_POW, (base, self.number(exponent)), base.kind)

    # --- everything

    cdef Expr build(self, int op, list args):
        if op == OP_ADD:
            return self.sum_of(args)
        if op == OP_MUL:
            return self.product_of(args)
        if op == OP_SUB:
            return self.sum_of([args[0], self.scaled(args[1], -1)])
        if op == OP_NEG:
            return self.scaled(args[0], -1)
        return rules(self, op, args)

    cdef Expr negate(self, Expr condition):
        return self.binary(OP_NOT, condition, condition)

    cdef Expr binary(self, int op, Expr a, Expr b):
        """`build` on two arguments (or one, given twice), remembered. Raises what the operation raises on the hints."""
        cdef Expr made
        if op == OP_MUL or op == OP_ADD:
            if a.handle > b.handle:
                a, b = b, a                  # the arguments' order does not matter: one entry
            if b.table is self and is_number(a, op == OP_MUL):
                return b
            if a.table is self and is_number(b, op == OP_MUL):
                return a
        made = self._known(op, a, b)
        if made is not None:
            return made
        if a.table is not self or b.table is not self:
            raise AssertionError("expressions of two ShapeEnvs meet")
        if (op in (OP_FLOORDIV, OP_MOD, OP_PYTHONMOD, OP_REMAINDER)) and b.op != OP_NUMBER and not b.unbacked and hint_of(b) == 0:
            raise ZeroDivisionError(f"{b} is 0 in this run")
        if (op == OP_LSHIFT or op == OP_RSHIFT) and not b.unbacked and hint_of(b) < 0:
            raise ValueError("negative shift count")
        made = self.build(op, [a] if is_unary(op) else [a, b])
        if not made.unbacked and made.hinted == H_UNASKED:
            hint_of(made)
        self._remember(op, a, b, made)
        return made

    cdef Expr difference(self, Expr a, Expr b):
        cdef Expr made = a if b.op == OP_NUMBER and b.value == 0 else self._known(OP_SUB, a, b)
        if made is None:
            made = self.sum_of([a, self.scaled(b, -1)])
            self._remember(OP_SUB, a, b, made)
        return made

    cdef Expr _known(self, int op, Expr a, Expr b):
        """What `_remember` has; None."""
        cdef MemoEntry* entry
        cdef uint64_t at = mixed(a.handle, b.handle, op) & self.memo_mask
        while self.memo[at].node != NULL:
            entry = &self.memo[at]
            if entry.a == a.handle and entry.b == b.handle and entry.operation == <uint64_t>op:
                return <Expr>entry.node
            at = (at + 1) & self.memo_mask
        return None

    cdef int _remember(self, int op, Expr a, Expr b, Expr made) except -1:
        cdef MemoEntry* old = self.memo
        cdef uint64_t i, room = self.memo_mask + 1
        if self.owner == NULL:
            return 0                     # nothing keeps the node
        if 2 * self.memo_used >= room:
            self.memo = NULL
            try:
                self._empty_memo(2 * room)
            except MemoryError:
                self.memo = old
                raise
            for i in range(room):
                if old[i].node != NULL:
                    self._enter(old[i])
            free(old)
        self._enter(MemoEntry(<uint64_t>op, a.handle, b.handle, <void*>made))
        return 0

    cdef void _enter(self, MemoEntry entry) noexcept:
        cdef MemoEntry* memo = self.memo
        cdef uint64_t at = mixed(entry.a, entry.b, entry.operation) & self.memo_mask
        while memo[at].node != NULL:
            at = (at + 1) & self.memo_mask
        memo[at] = entry
        self.memo_used += 1
