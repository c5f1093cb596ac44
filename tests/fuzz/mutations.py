"""Broken copies of a model file: bytes changed, JSON changed, members changed.

`mutated(rng, data)` takes the bytes of a `.pt2` archive or of a program's JSON and gives the name
of what was done, and the bytes after it. The same seed gives the same file.
"""

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from typing import Any

__all__ = ["mutated"]

Members = dict[str, bytes]
_VALUES = [
    None, True, False, -1, 0, 1, 2**31, 2**40, 2**62, 2**63 - 1, 2**64, 10**30, 1e308, -1e308,
    float("inf"), float("nan"), "", "x", "../../etc/passwd", "\ud800", "\x00", "as_int", [], {},
    [[]], [{}], {"as_int": 2**62}, {"as_int": -1}, {"as_tensor": {"name": "nobody"}}, "9" * 5000,
]  # fmt: skip


def mutated(rng: random.Random, data: bytes) -> tuple[str, bytes]:
    """A broken copy of a model file."""
    if rng.random() < 0.3:
        return "bytes", _bytes(rng, data)
    if not data.startswith(b"PK"):
        text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        name, text = _json(rng, text)
        return name, gzip.compress(text, 1) if data.startswith(b"\x1f\x8b") else text
    members = _read(data)
    names = [n for n in members if n.endswith(".json")]
    if rng.random() < 0.7:
        chosen = rng.choice(names)
        name, members[chosen] = _json(rng, members[chosen])
        return f"{chosen}: {name}", _written(members, rng)
    change = rng.choice(_ARCHIVE)
    return change.__name__.strip("_"), change(rng, members)


# -- bytes ------------------------------------------------------------------------------------


def _bytes(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(changed)) if changed else 0
        if rng.random() < 0.4:
            at = max(0, len(changed) - rng.randint(1, 4000))  # the table of contents
        kind = rng.randrange(6)
        if kind == 0:
            changed[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del changed[at : at + rng.randint(1, 200)]
        elif kind == 2:
            changed[at:at] = changed[at : at + rng.randint(1, 200)]
        elif kind == 3:
            changed[at : at + 4] = rng.choice([b"\xff" * 4, bytes(4), rng.randbytes(4)])
        elif kind == 4:
            changed[at : at + 8] = b"\xff" * 8
        elif rng.random() < 0.3:
            del changed[at:]
    return bytes(changed)


# -- JSON -------------------------------------------------------------------------------------


def _json(rng: random.Random, text: bytes) -> tuple[str, bytes]:
    change = rng.choice(_JSON)
    return change.__name__.strip("_"), change(rng, text)


def _place(rng: random.Random, value: Any) -> tuple[Any, Any] | None:
    """A container within `value`, and a key of it."""
    found = None
    while isinstance(value, dict | list) and value and (found is None or rng.random() < 0.92):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        keys = [k for k in keys if k != "metadata"] or keys
        key = rng.choice(keys)
        found = value, key
        value = value[key]
    return found


def _replaced(rng: random.Random, text: bytes) -> bytes:
    content = json.loads(text)
    for _ in range(rng.randint(1, 2)):
        found = _place(rng, content)
        if found is not None:
            parent, key = found
            if rng.random() < 0.25:
                del parent[key]
            else:
                parent[key] = rng.choice(_VALUES)
    return json.dumps(content).encode()


def _swapped(rng: random.Random, text: bytes) -> bytes:
    """One part of the program in the place of another: cycles of names, wrong shapes."""
    content = json.loads(text)
    one, other = _place(rng, content), _place(rng, content)
    if one is not None and other is not None:
        copy = json.dumps(other[0][other[1]])
        one[0][one[1]] = json.loads(copy)
    return json.dumps(content).encode()


def _cut(rng: random.Random, text: bytes) -> bytes:
    return text[: rng.randrange(len(text))]


def _nested(rng: random.Random, text: bytes) -> bytes:
    at = text.find(rng.choice([b"[", b"{", b":"]), rng.randrange(len(text))) + 1
    deep = rng.choice([300, 5000, 200_000])
    opening, closing = rng.choice([(b"[", b"]"), (b'{"a":', b"}")])
    return text[:at] + opening * deep + b"0" + closing * deep + b"," + text[at:]


def _repeated(rng: random.Random, text: bytes) -> bytes:
    """A long list where a short one was."""
    at = text.find(b"[", rng.randrange(len(text))) + 1
    item = rng.choice([b"1,", b'{"as_int":2},', b"[],", b'{"as_tensor":{"name":"x"}},', b"{},"])
    return text[:at] + item * rng.choice([70, 10_000, 300_000]) + text[at:]


def _expression(rng: random.Random, text: bytes) -> bytes:
    """Sizes that are expressions which cost much, if they are computed at all."""
    content, costly = json.loads(text), _costly(rng)
    sizes = [s for meta in _found(content, "sizes") if isinstance(meta, list) for s in meta]
    for size in sizes:
        if isinstance(size, dict) and "as_int" in size and rng.random() < 0.5:
            size["as_expr"] = {"expr_str": costly, "hint": {"as_int": size.pop("as_int")}}
    return json.dumps(content).encode()


def _found(value: Any, key: str) -> list[Any]:
    """What stands under `key`, anywhere in a JSON value."""
    if isinstance(value, dict):
        here = [value[key]] if key in value else []
        return here + [found for item in value.values() for found in _found(item, key)]
    return [found for item in value for found in _found(item, key)] if type(value) is list else []


def _costly(rng: random.Random) -> str:
    """A size expression from a few huge, wrong or deep parts."""
    if rng.random() < 0.2:
        return rng.choice(["Add(", "(", "-", "[", "Mul(2,", "not "]) * rng.choice([60, 300, 4000])
    terms = [
        "6000000000", "'x'", "'%6000000000d'", "9" * 4000, "1e308", "Symbol('s0')", "Float('1e9')",
        "Integer(2)", "[0]", "b'x'", "{1: 2}", "0x" + "f" * 1000, "1j", "Symbol()", "*'xy'",
    ]  # fmt: skip
    names = ["Mul", "Add", "Mod", "Pow", "PowByNatural", "Max", "FloorDiv", "Float", "Integer",
             "Rational", "ToFloat", "CeilToInt", "Symbol", "eval", "__import__"]  # fmt: skip
    made = rng.choice(terms)
    for _ in range(rng.randint(1, 8)):
        made = f"{rng.choice(names)}({made}, {rng.choice(terms)})"
    return made


def _arithmetic(rng: random.Random, text: bytes) -> bytes:
    """Calls on sizes before everything else, each of the one before: numbers that grow."""
    content = json.loads(text)
    operators = ["mul", "pow", "lshift", "add", "mod", "floordiv", "truediv", "neg"]
    targets = [f"_operator.{name}" for name in operators] + ["round", "torch.sym_max", "math.trunc"]
    nodes, last = [], {"as_int": rng.choice([2, 2**62])}
    for i in range(rng.randint(1, 30)):
        given = [last, rng.choice([{"as_int": n} for n in (-(2**62), -1, 0, 2, 64, 2**62)])]
        inputs = [{"name": "", "arg": argument, "kind": 1} for argument in given]
        last = {"as_sym_int": {"as_name": f"number_{i}"}}
        target = rng.choice(targets)
        nodes.append({"target": target, "inputs": inputs, "outputs": [last], "metadata": {}})
    for graph_nodes in _found(content, "nodes")[:1]:
        graph_nodes[:0] = nodes
    return json.dumps(content).encode()


_JSON: list[Callable[[random.Random, bytes], bytes]] = [
    _replaced, _replaced, _replaced, _swapped, _cut, _nested, _repeated, _expression, _arithmetic,
]  # fmt: skip


# -- archives ---------------------------------------------------------------------------------


def _read(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def _written(members: Members, rng: random.Random | None = None) -> bytes:
    target = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if rng is not None and rng.random() < 0.3 else zipfile.ZIP_STORED
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target.getvalue()


def _records(members: Members) -> list[str]:
    return [n for n in members if "/data/" in n and not n.endswith(".json")] or list(members)


def _missing_record(rng: random.Random, members: Members) -> bytes:
    del members[rng.choice(_records(members))]
    return _written(members)


def _short_record(rng: random.Random, members: Members) -> bytes:
    name = rng.choice(_records(members))
    members[name] = members[name][: rng.randrange(len(members[name]) + 1)]
    return _written(members)


def _missing_member(rng: random.Random, members: Members) -> bytes:
    del members[rng.choice(list(members))]
    return _written(members)


def _moved_member(rng: random.Random, members: Members) -> bytes:
    name = rng.choice(list(members))
    places = ["../../x", "/etc/passwd", "/", "a\x01b", "x" * 60_000, "\u202ename", "C:\\x"]
    moved = rng.choice(places)
    return _written({(moved if n == name else n): data for n, data in members.items()})


def _bomb(rng: random.Random, members: Members) -> bytes:
    """A member that unpacks to much more than its size."""
    name = rng.choice([n for n in members if n.endswith(".json")] + _records(members)[:3])
    filler = rng.choice([b" ", b"[", b"0", b"\x00"])
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(member, data if member != name else data + filler * (64 << 20))
    return target.getvalue()


def _lying_sizes(rng: random.Random, members: Members) -> bytes:
    """The table of contents claims other sizes than the members have."""
    data = bytearray(_written(members))
    places = [i for i in range(len(data) - 46) if data[i : i + 4] == b"PK\x01\x02"]
    at = rng.choice(places) + rng.choice([8, 10, 16, 20, 24, 28, 30, 32, 42])
    data[at : at + 4] = rng.choice([b"\xff" * 4, b"\xff\xff\xff\x7f", bytes(4), rng.randbytes(4)])
    return bytes(data)


def _many_members(rng: random.Random, members: Members) -> bytes:
    root = next(iter(members)).partition("/")[0]
    members.update((f"{root}/{i}", b"") for i in range(rng.choice([1000, 20_000])))
    return _written(members)


_ARCHIVE: list[Callable[[random.Random, Members], bytes]] = [
    _missing_record, _short_record, _missing_member, _moved_member, _bomb, _lying_sizes,
    _many_members,
]  # fmt: skip
