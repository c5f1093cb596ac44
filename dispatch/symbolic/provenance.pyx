# cython: nonecheck=True, boundscheck=True
"""Guards and runtime asserts as they are recorded: the condition, and the line of the program that asked.

`core` makes them; programs read them from `ShapeEnv.guards`. The line is that of the innermost frame outside this package.
"""
import sys
import threading
import traceback
from pathlib import Path

cimport cython

from dispatch.symbolic import errors
from dispatch.symbolic.expr cimport Expr

cdef str OURS = str(Path(errors.__file__).parents[1]) + "/"


class _Suppressed(threading.local):
    depth = 0


suppressed = _Suppressed()


@cython.freelist(16)
cdef class SLoc:
    """The line of a program that made a guard: of the innermost frame outside this package."""

    cdef readonly str filename, name
    cdef readonly object maybe_user_loc
    cdef object code                     # of the line, which is looked up when somebody asks; None: it is known
    cdef int place

    @property
    def lineno(self):
        if self.code is not None:
            self.place, self.code = line_of(self.code, self.place), None
        return self.place

    @property
    def framework_loc(self):
        return traceback.FrameSummary(self.filename, self.lineno, self.name) if self.filename else None

    def __str__(self):
        return f"({self.filename}:{self.lineno} in {self.name})" if self.filename else "(unknown)"

    def __reduce__(self):
        return _sloc, (self.filename, self.lineno, self.name)

    def __repr__(self):
        return f"SLoc(framework_loc={self.framework_loc}, maybe_user_loc={self.maybe_user_loc})"


def _sloc(filename, lineno, name):
    cdef SLoc found = SLoc.__new__(SLoc)
    found.filename, found.place, found.name = filename, lineno, name
    return found


cdef int line_of(object code, int place) except -1:
    """The line of an instruction, by its place in bytes; 0 when it has none."""
    for start, end, line in code.co_lines():
        if start <= place < end:
            return line or 0
    return 0


def here():
    """The SLoc of the program's line that is running."""
    cdef SLoc found = SLoc.__new__(SLoc)
    frame = sys._getframe()
    while frame is not None:
        code = frame.f_code
        name = code.co_filename
        if not name.startswith(OURS):
            found.filename, found.code, found.place, found.name = name, code, frame.f_lasti, code.co_name
            break
        frame = frame.f_back
    return found


@cython.freelist(16)
cdef class ShapeGuard:
    """A condition that a run of the program relied on, and the line that asked. Unpacks as (expr, sloc, size_oblivious)."""

    cdef readonly Expr expr
    cdef readonly object sloc
    cdef readonly bint size_oblivious

    def __init__(self, Expr expr not None, sloc, size_oblivious=False):
        self.expr, self.sloc, self.size_oblivious = expr, sloc, size_oblivious

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return (self.expr, self.sloc, self.size_oblivious)[index]

    def __repr__(self):
        return f"ShapeGuard(expr={self.expr}, sloc={self.sloc!r}, size_oblivious={self.size_oblivious})"


cdef class RuntimeAssert:
    """A condition on unbacked symbols that must be checked when the program runs."""

    cdef readonly Expr expr
    cdef readonly str msg
    cdef readonly object stack

    def __init__(self, Expr expr not None, msg, stack):
        self.expr, self.msg, self.stack = expr, msg, stack

    def __repr__(self):
        return f"RuntimeAssert(expr={self.expr})"
