"""`reader`: typed records from JSON, errors with their place, limits on what a stranger sends."""

import tracemalloc
from typing import NamedTuple

import pytest

from dispatch.graph.errors import ModelFileError
from dispatch.graph.reader import MAX_DEPTH, Shape, place_of, read_json


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Tag(NamedTuple):
    tag: str
    value: object


INT, FLOAT = Shape("int", "a whole number"), Shape("float", "a number")
STR, BOOL = Shape("str", "a string"), Shape("bool", "true or false")
INTS = Shape("list", "a list", item=INT)
NOTE = Shape("note", "a string")
POINT = Shape("record", "an object (Point)", cls=Point)
POINT.define({"x": INT, "y": FLOAT}, {"y": 0.0})
UNION = Shape("union", "a Tag", cls=Tag)
UNION.define({"as_int": INT, "as_points": Shape("list", "a list", item=POINT)})


def read(text, shape):
    data = text if isinstance(text, bytes) else text.encode()
    return read_json(data, shape, "file.json", "member")


@pytest.mark.parametrize(
    ("text", "shape", "value"),
    [
        ("12", INT, 12),
        (" -9223372036854775808 ", INT, -(2**63)),
        ("18446744073709551615", INT, 2**64 - 1),
        ("1e-3", FLOAT, 0.001),
        ("3", FLOAT, 3.0),
        ('"-Infinity"', FLOAT, float("-inf")),
        ("Infinity", FLOAT, float("inf")),
        ("true", BOOL, True),
        (r'"a\u00e9\"b"', STR, 'a\u00e9"b'),
        (r'"\ud83d\ude00"', STR, "\U0001f600"),
        (r'"a\n\"\u00e9"', NOTE, rb"a\n\"\u00e9"),
        ("[ ]", INTS, ()),
        ("[1 , 2]", INTS, (1, 2)),
        ("null", Shape("optional", "x", item=INT), None),
        ('{"a": 1}', Shape("dict", "an object", item=INT), {"a": 1}),
        ('{"x": 1}', POINT, Point(1, 0.0)),
        ('{"y": 2, "unknown": [{"deep": null}, 1.5e3, "s"], "x": 1}', POINT, Point(1, 2.0)),
        ('{"as_points": [{"x": 3}]}', UNION, Tag("as_points", (Point(3),))),
    ],
)
def test_values(text, shape, value):
    result = read(text, shape)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "shape", "place", "problem"),
    [
        ("[1, 2.5]", INTS, "[1]", "expected a whole number"),
        ("[1, true]", INTS, "[1]", "expected a whole number, found 'true'"),
        ("[1, 99999999999999999999]", INTS, "[1]", "64 bits"),
        ("[1, ]", INTS, "", "expected a value"),
        ("[1 2]", INTS, "", "expected ',' or ']'"),
        ("[1", INTS, "", "the text ends here"),
        ('{"x": 1, "x": 2}', POINT, "x", "'x' occurs twice"),
        ('{"y": 1}', POINT, "", "'x' is missing"),
        ('{"as_points": [{"x": 1}, {"x": "1"}]}', UNION, "as_points[1].x", 'the string "1"'),
        ('{"as_points": [{"x": 1}, {"y": 1}]}', UNION, "as_points[1]", "'x' is missing"),
        ('{"as_what": 1}', UNION, "as_what", "'as_what' is not a known kind of a Tag"),
        ('{"as_int": 1, "as_points": []}', UNION, "as_points", "more than one key"),
        ("{}", UNION, "", "empty object"),
        ("7", Shape("enum", "dtype", values=(1, 2)), "", "7 is not a known dtype"),
        (r'"\ud800"', STR, "", "not a valid string"),
        (b'"\xff"', STR, "", "not a valid string"),
        ('"abc', STR, "", "without an end"),
        ("1 x", INT, "", "expected the end of the text"),
        ("", INT, "", "the text ends here"),
        ("\0", INT, "", "zero byte"),
    ],
)
def test_errors_name_file_member_and_place(text, shape, place, problem):
    with pytest.raises(ModelFileError) as caught:
        read(text, shape)
    assert str(caught.value).startswith(f"file.json: member: {place or 'byte '}")
    assert problem in str(caught.value)


def test_place_of_an_offset():
    data = b'{"a": [10, {"b": "text"}], "c": 1}'
    assert place_of(data, data.index(b"text")) == "a[1].b"
    assert place_of(data, data.index(b"10")) == "a[0]"
    assert place_of(data, len(data) - 2) == "c"
    assert place_of(b"[[[", 3) == "[0][0]"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"unknown":' * 100_000, '{"unknown":[' * 50_000])
def test_deep_nesting_is_refused(text):
    with pytest.raises(ModelFileError, match=f"deeper than {MAX_DEPTH}"):
        read(text, POINT if text[0] == "{" else Shape("list", "a list", item=POINT_LIST))


POINT_LIST = Shape("list", "a list")
POINT_LIST.item = POINT_LIST


@pytest.mark.parametrize("item", ["[]", "{}", "[7]", '"ab"', "1.5", "[1e1]"])
def test_memory_stays_in_proportion_to_the_text(item):
    """What costs most for its length: empty containers, short lists, strings and floats."""
    inner = Shape("list", "a list", item=INT) if item[0] == "[" else STR
    shapes = {"{": Shape("dict", "an object", item=INT), "1": FLOAT}
    inner = Shape("list", "a list", item=FLOAT) if item == "[1e1]" else shapes.get(item[0], inner)
    text = ("[" + ",".join([item] * 300_000) + "]").encode()
    tracemalloc.start()
    value = read(text, Shape("list", "a list", item=inner))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(value) == 300_000
    assert peak < 12 * len(text) + (8 << 20) * (item == "{}") * 4


def test_notes_that_recur_are_one_object():
    first, second = read('["line 1\\n", "line 1\\n"]', Shape("list", "a list", item=NOTE))
    assert first is second == rb"line 1\n"


@pytest.mark.parametrize("text", ["1", "null", '"no end', "[]"])
def test_a_note_is_a_string(text):
    with pytest.raises(ModelFileError):
        read(text, NOTE)
