"""JSON straight into typed records: one pass over the bytes, driven by a table of shapes.

`program` and `weights` describe their records as `Shape`s and call `read_json`; what no shape asks
for (70 % of an exported program is notes for debuggers) is skipped without making an object. The
reader trusts nothing: every value has the type that its shape says, numbers fit 64 bits, nesting is
bounded, an empty sequence costs no memory. An error carries only a byte offset until it is raised;
`place_of` then walks the text once more to name the place
(`graph_module.graph.nodes[3].inputs[1]`).

Kept beside msgspec, which takes a third to three quarters of the time: it needs a half more memory for the same
program, checks neither numbers of enums nor that a union has one key, and would be one more dependency for
milliseconds a model (`python -m benchmarks.reading`, `benchmarks/reading.txt`).
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t
from libc.string cimport memchr, memcmp

import json

from dispatch.graph.errors import ModelFileError

__all__ = ["Shape", "place_of", "read_json"]

MAX_DEPTH = 200            # real programs nest 12 deep, 6 more for each branch in a branch
cdef int _MAX_DEPTH = MAX_DEPTH
cdef int _MAX_SHARED = 65536   # strings, and inner lists, of which one object is kept

cdef enum Kind:
    K_INT, K_FLOAT, K_BOOL, K_STR, K_ENUM, K_OPTIONAL, K_LIST, K_DICT, K_RECORD, K_UNION, K_NOTE

cdef dict _KINDS = {
    "int": K_INT, "float": K_FLOAT, "bool": K_BOOL, "str": K_STR, "enum": K_ENUM,
    "optional": K_OPTIONAL, "list": K_LIST, "dict": K_DICT, "record": K_RECORD, "union": K_UNION,
    "note": K_NOTE,
}
cdef dict _FLOAT_WORDS = {
    "Infinity": float("inf"), "-Infinity": float("-inf"), "NaN": float("nan"),
}
cdef object _NOTHING = object()
cdef object _new_tuple = tuple.__new__


cdef class Shape:
    """What a JSON value must be, and what it becomes.

    `kind` is one of int, float, bool, str, enum (an int among `values`), optional, list (a tuple),
    dict, record (a named tuple `cls` with a shape for each field of `fields`; missing fields take
    `defaults`), union (an object with one key among `fields`: `cls(tag, value)`), note (a string of
    which the bytes between the quotes are kept as they stand: few readers want it as text). `item`
    is the element's shape of optional, list and dict.
    """
    cdef int kind
    cdef public object cls
    cdef public str label
    cdef public Shape item
    cdef public object values
    cdef public object fields
    cdef public object defaults
    cdef dict positions          # field name -> index
    cdef list shapes             # by index
    cdef list initial            # by index; _NOTHING: required

    def __init__(self, str kind, str label, *, cls=None, Shape item=None, values=None):
        self.kind = _KINDS[kind]
        self.label = label
        self.cls = cls
        self.item = item
        self.values = frozenset(values) if values is not None else None
        self.define({})

    def define(self, fields, defaults=None):
        """Give a record or union its fields, possibly after it was made: shapes may refer to each
        other."""
        self.fields = fields
        self.defaults = defaults or {}
        self.positions = {name: i for i, name in enumerate(fields)}
        self.shapes = list(fields.values())
        self.initial = [self.defaults.get(name, _NOTHING) for name in fields]


cdef object share(dict known, object value):
    """The object equal to `value` that is kept already, while there are not too many; a new
    reference."""
    if len(known) < _MAX_SHARED:
        return known.setdefault(value, value)
    return known.get(value, value)


cdef class _Failure(Exception):
    cdef public Py_ssize_t offset
    cdef public str problem

    def __init__(self, Py_ssize_t offset, str problem):
        self.offset = offset
        self.problem = problem


cdef class _Reader:
    cdef bytes data              # keeps `text` alive
    cdef const char* text
    cdef Py_ssize_t size
    cdef Py_ssize_t at
    cdef int depth
    cdef dict strings            # each distinct string once: names recur
    cdef dict inner              # each distinct list of numbers within a list once
    cdef dict notes              # each distinct note once: layers share their source lines

    def __init__(self, bytes data):
        self.data = data
        self.text = PyBytes_AS_STRING(data)
        self.size = PyBytes_GET_SIZE(data)
        self.strings = {}
        self.inner = {}
        self.notes = {}

    # -- tokens -------------------------------------------------------------------------------

    cdef inline int peek(self) except -1:
        """The next byte that is not white space, not consumed."""
        cdef char c
        while self.at < self.size:
            c = self.text[self.at]
            if c == 32 or c == 10 or c == 13 or c == 9:
                self.at += 1
            else:
                return <unsigned char>c if c != 0 else self.fail_here("a zero byte")
        raise _Failure(self.at, "the text ends here")

    cdef int fail_here(self, str problem) except -1:
        raise _Failure(self.at, problem)

    cdef int fail_expected(self, Py_ssize_t start, str expected) except -1:
        raise _Failure(start, f"expected {expected}, found {self.describe(start)}")

    cdef str describe(self, Py_ssize_t start):
        """The value at `start` in a few words, for an error."""
        cdef bytes head = self.data[start:start + 24]
        if not head:
            return "the end of the text"
        if head[:1] == b"{":
            return "an object"
        if head[:1] == b"[":
            return "a list"
        text = head.decode("ascii", "replace")
        stop = len(text)
        if head[:1] == b'"':
            end = text.find('"', 1)
            return "the string " + (text[:end + 1] if end > 0 else text + '..."')
        for mark in ",]}\n ":
            found = text.find(mark)
            if 0 <= found < stop:
                stop = found
        return repr(text[:stop]) if stop else repr(text[:1])

    cdef int expect(self, char c, str expected) except -1:
        if self.peek() != c:
            self.fail_expected(self.at, expected)
        self.at += 1
        return 0

    cdef bint next_item(self, char close, bint first) except -1:
        """Step over "," before an item; False (consumed) at `close`."""
        cdef int c = self.peek()
        if c == close:
            self.at += 1
            return False
        if first:
            return True
        if c != 44:
            self.fail_expected(self.at, f"',' or '{chr(close)}'")
        self.at += 1
        if self.peek() == close:
            self.fail_expected(self.at, "a value")
        return True

    cdef int enter(self) except -1:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _Failure(self.at, f"nested deeper than {_MAX_DEPTH} levels")
        return 0

    cdef Py_ssize_t end_of_string(self, bint* escaped) except -1:
        """Offset of the closing quote of the string whose opening quote is at `self.at`."""
        cdef const char* p = self.text + self.at + 1
        cdef const char* stop = self.text + self.size
        cdef const char* quote
        cdef const char* slash
        escaped[0] = False
        while True:
            quote = <const char*>memchr(p, 34, stop - p)
            if quote == NULL:
                self.fail_here("a string without an end")
            slash = <const char*>memchr(p, 92, quote - p)
            if slash == NULL:
                return quote - self.text
            escaped[0] = True
            p = slash + 2
            if p > stop:
                self.fail_here("a string without an end")

    cdef str read_string(self, str expected):
        cdef bint escaped
        cdef Py_ssize_t start, end
        if self.peek() != 34:
            self.fail_expected(self.at, expected)
        start = self.at
        end = self.end_of_string(&escaped)
        self.at = end + 1
        try:
            if escaped:
                text = json.loads(self.data[start:end + 1])
                text.encode()
            else:
                text = PyUnicode_DecodeUTF8(self.text + start + 1, end - start - 1, NULL)
        except ValueError as error:
            raise _Failure(start, f"not a valid string ({type(error).__name__})") from None
        return <str>share(self.strings, text)

    cdef bytes read_note(self, str expected):
        cdef bint escaped
        cdef Py_ssize_t start
        if self.peek() != 34:
            self.fail_expected(self.at, expected)
        start = self.at + 1
        self.at = self.end_of_string(&escaped) + 1
        return <bytes>share(self.notes, self.data[start:self.at - 1])

    cdef int skip_string(self) except -1:
        cdef bint escaped
        self.at = self.end_of_string(&escaped) + 1
        return 0

    cdef Py_ssize_t end_of_number(self) noexcept:
        cdef Py_ssize_t i = self.at
        cdef char c
        while i < self.size:
            c = self.text[i]
            if not (48 <= c <= 57 or c == 43 or c == 45 or c == 46 or c == 69 or c == 101):
                break
            i += 1
        return i

    cdef bint take_word(self, const char* word, Py_ssize_t n) noexcept:
        if self.size - self.at >= n and memcmp(self.text + self.at, word, n) == 0:
            self.at += n
            return True
        return False

    # -- values -------------------------------------------------------------------------------

    cdef object read(self, Shape shape):
        cdef object value
        cdef int kind = shape.kind
        if kind == K_OPTIONAL:
            self.peek()
            if self.take_word(b"null", 4):
                return None
            return self.read(shape.item)
        if kind == K_STR:
            return self.read_string(shape.label)
        if kind == K_INT:
            return self.read_int(shape)
        if kind == K_BOOL:
            return self.read_bool(shape)
        if kind == K_FLOAT:
            return self.read_float(shape)
        if kind == K_ENUM:
            return self.read_enum(shape)
        if kind == K_NOTE:
            return self.read_note(shape.label)
        self.enter()
        if kind == K_LIST:
            value = self.read_list(shape)
        elif kind == K_RECORD:
            value = self.read_record(shape)
        elif kind == K_UNION:
            value = self.read_union(shape)
        else:
            value = self.read_dict(shape)
        self.depth -= 1
        return value

    cdef object read_int(self, Shape shape):
        cdef Py_ssize_t start, i, end
        cdef int64_t total = 0
        cdef bint negative
        self.peek()
        start = i = self.at
        end = self.end_of_number()
        negative = i < end and self.text[i] == 45
        if negative:
            i += 1
        if i == end or end - i > 20 or (self.text[i] == 48 and end - i > 1):
            self.fail_expected(start, shape.label)
        if end - i == 20 or end - i == 19:
            return self.read_long_int(shape, start, end)
        while i < end:
            if not 48 <= self.text[i] <= 57:
                self.fail_expected(start, shape.label)
            total = total * 10 + (self.text[i] - 48)
            i += 1
        self.at = end
        return -total if negative else total

    cdef object read_long_int(self, Shape shape, Py_ssize_t start, Py_ssize_t end):
        try:
            value = int(self.data[start:end])
        except ValueError:
            self.fail_expected(start, shape.label)
        if not -2**63 <= value < 2**64:
            raise _Failure(start, f"{value} does not fit 64 bits")
        self.at = end
        return value

    cdef object read_bool(self, Shape shape):
        self.peek()
        if self.take_word(b"true", 4):
            return True
        if self.take_word(b"false", 5):
            return False
        self.fail_expected(self.at, shape.label)

    cdef object read_float(self, Shape shape):
        cdef Py_ssize_t start, end
        cdef int c = self.peek()
        start = self.at
        if c == 34:
            value = _FLOAT_WORDS.get(self.read_string(shape.label), _NOTHING)
            if value is _NOTHING:
                self.fail_expected(start, shape.label)
            return value
        for word, value in _FLOAT_WORDS.items():
            raw = word.encode()
            if self.take_word(raw, len(raw)):
                return value
        end = self.end_of_number()
        if end - start > 400:
            raise _Failure(start, f"a number of {end - start} characters")
        try:
            value = float(self.data[start:end])
        except ValueError:
            self.fail_expected(start, shape.label)
        self.at = end
        return value

    cdef object read_enum(self, Shape shape):
        cdef Py_ssize_t start
        self.peek()
        start = self.at
        value = self.read_int(shape)
        if value not in shape.values:
            raise _Failure(start, f"{value} is not a known {shape.label}")
        return value

    cdef object read_list(self, Shape shape):
        cdef list items = None
        cdef bint nested = shape.item.kind == K_LIST
        self.expect(91, shape.label)
        while self.next_item(93, items is None):
            if items is None:
                items = []
            item = self.read(shape.item)
            items.append(share(self.inner, item) if nested else item)
        return tuple(items) if items is not None else ()

    cdef object read_dict(self, Shape shape):
        cdef dict items = {}
        cdef Py_ssize_t start
        self.expect(123, shape.label)
        while self.next_item(125, not items):
            self.peek()
            start = self.at
            key = self.read_key()
            if key in items:
                raise _Failure(start, f"{key!r} occurs twice")
            items[key] = self.read(shape.item)
        return items

    cdef str read_key(self):
        cdef str key = self.read_string("a name in double quotes")
        self.expect(58, "':'")
        return key

    cdef object read_record(self, Shape shape):
        cdef Py_ssize_t start, key_start
        cdef list found
        cdef object position
        cdef bint first = True
        self.peek()
        start = self.at
        self.expect(123, shape.label)
        found = shape.initial.copy()
        seen = 0
        while self.next_item(125, first):
            first = False
            self.peek()
            key_start = self.at
            position = shape.positions.get(self.read_key())
            if position is None:
                self.skip()
                continue
            if seen >> position & 1:
                raise _Failure(key_start, f"{list(shape.fields)[position]!r} occurs twice")
            seen |= 1 << position
            found[position] = self.read(<Shape>shape.shapes[position])
        for position, value in enumerate(found):
            if value is _NOTHING:
                raise _Failure(start, f"{list(shape.fields)[position]!r} is missing")
        return _new_tuple(shape.cls, found)

    cdef object read_union(self, Shape shape):
        cdef Py_ssize_t start, key_start
        self.peek()
        start = self.at
        self.expect(123, shape.label)
        if not self.next_item(125, True):
            raise _Failure(start, f"expected {shape.label}, found an empty object")
        key_start = self.at
        tag = self.read_key()
        position = shape.positions.get(tag)
        if position is None:
            raise _Failure(key_start, f"{tag[:60]!r} is not a known kind of {shape.label}")
        value = self.read(<Shape>shape.shapes[position])
        if self.next_item(125, False):
            raise _Failure(self.at, f"{shape.label} has more than one key")
        return _new_tuple(shape.cls, (tag, value))

    cdef int skip(self) except -1:
        """Step over any value; its syntax is checked, nothing is kept."""
        cdef int c = self.peek()
        cdef Py_ssize_t start = self.at, end
        if c == 34:
            return self.skip_string()
        if c == 123 or c == 91:
            return self.skip_container(c)
        if self.take_word(b"null", 4) or self.take_word(b"true", 4) or self.take_word(b"false", 5):
            return 0
        end = self.end_of_number()
        if end == start:
            self.fail_expected(start, "a value")
        self.at = end
        return 0

    cdef int skip_container(self, int opening) except -1:
        cdef bint first = True
        cdef char close = 125 if opening == 123 else 93
        self.enter()
        self.at += 1
        while self.next_item(close, first):
            first = False
            if close == 125:
                if self.peek() != 34:
                    self.fail_expected(self.at, "a name in double quotes")
                self.skip_string()
                self.expect(58, "':'")
            self.skip()
        self.depth -= 1
        return 0

    cdef object read_document(self, Shape shape):
        value = self.read(shape)
        while self.at < self.size and self.text[self.at] in b" \t\r\n":
            self.at += 1
        if self.at != self.size:
            self.fail_expected(self.at, "the end of the text")
        return value


def read_json(bytes data, Shape shape not None, str path, str member=""):
    """The value that `data` holds, as `shape` says; `ModelFileError` naming `path`, `member` and
    the place otherwise."""
    cdef _Reader reader = _Reader(data)
    cdef Py_ssize_t offset
    try:
        return reader.read_document(shape)
    except _Failure as failure:
        offset = failure.offset
        problem = failure.problem
    place = place_of(data, offset)
    parts = [part for part in (member, place or f"byte {offset}") if part]
    raise ModelFileError(path, ": ".join(parts), problem)


def place_of(bytes data, Py_ssize_t offset):
    """The JSON path of the value that contains `offset`, as far as the text before it is well
    formed."""
    cdef _Reader reader = _Reader(data)
    cdef list steps = []
    try:
        _walk(reader, offset, steps)
    except _Failure:
        pass
    place = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in steps)
    return place.removeprefix(".")


cdef bint _walk(_Reader reader, Py_ssize_t offset, list steps) except -1:
    """Step through the value at the reader; True, with `steps` filled, when it contains `offset`.
    """
    cdef int c = reader.peek()
    cdef bint first = True
    cdef Py_ssize_t index = 0, start = reader.at
    cdef char close
    if c != 123 and c != 91:
        reader.skip()
        return start <= offset < reader.at
    if start == offset:
        return True
    close = 125 if c == 123 else 93
    reader.enter()
    reader.at += 1
    while reader.next_item(close, first):
        first = False
        if reader.at > offset:
            return True
        steps.append(reader.read_key()[:80] if close == 125 else index)
        reader.peek()
        if reader.at > offset or _walk(reader, offset, steps):
            return True
        steps.pop()
        index += 1
    reader.depth -= 1
    return reader.at > offset
