"""C signatures: the C types of arguments in an unboxed call, and how each crosses.

A signature is spelled with one letter for each argument (`TTO`: two tensors and an object), which
names its adapters in the emitted modules. Operators whose arguments have the same letters share
the adapters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

from .encoding import AF, AK, arg_spec
from .schema import Argument

__all__ = ["Parameter", "Signature", "signature_of"]

# letter: C type, unboxed from args[i], boxed from a local of that C type
_CROSSINGS = {
    "T": ("Tensor", "unbox_tensor({a})", ""),
    "L": ("list", "<list>{a}", ""),
    "O": ("object", "<object>{a}", ""),
    "i": ("int64_t", "unbox_int({a})", "size_object({v})"),
    "d": ("double", "unbox_float({a})", "{v}"),
    "b": ("bint", "unbox_bool({a})", "{v}"),
    "I": ("IntArray", "unbox_ints({a}, {b})", "box_ints({v})"),
    "t": ("int", "unbox_dtype({a})", "box_dtype({v})"),
    "l": ("int", "unbox_layout({a})", "box_layout({v})"),
    "m": ("int", "unbox_memory_format({a})", "box_memory_format({v})"),
}
# ... and for a body that keeps it while other threads change what the caller has: whether that is
# long, and what is taken
_STEADY = {
    "T": ("is_long({v})", "new_steady({v})"),
    "L": ("has_long({v})", "steady_items({v})"),
    "O": ("is_long_any({a})", "steady_any({a})"),
}
_CODES = {AK["DTYPE"]: "t", AK["LAYOUT"]: "l", AK["MEMORY_FORMAT"]: "m"}
_NUMBERS = {AK["INT"]: "i", AK["FLOAT"]: "d", AK["BOOL"]: "b"}


class Parameter(NamedTuple):
    """One parameter: its C type and the expressions that cross to and from it."""

    letter: str
    ctype: str
    name: str
    unboxed: str
    is_long: str
    steady: str
    boxed: str
    boxed_name: str
    buffer: str


class Signature(NamedTuple):
    """The parameters of an unboxed kernel, as letters; "v" when there are none."""

    letters: str

    @property
    def name(self) -> str:
        """What its adapters are named after."""
        return self.letters or "v"

    @property
    def n_args(self) -> int:
        """How many parameters there are."""
        return len(self.letters)

    @property
    def parameters(self) -> list[Parameter]:
        """The parameters in order."""
        return [_parameter(letter, i) for i, letter in enumerate(self.letters)]

    def shard(self, n_shards: int) -> int:
        """Which emitted module has its adapters, whatever other signatures there are."""
        return crc32(self.letters.encode()) % n_shards


def _parameter(letter: str, i: int) -> Parameter:
    ctype, unboxed, boxed = _CROSSINGS[letter]
    is_long, steady = _STEADY.get(letter, ("", ""))
    places = {"a": f"args[{i}]", "b": f"ints{i}", "v": f"a{i}"}
    return Parameter(
        letter=letter,
        ctype=ctype,
        name=f"a{i}",
        unboxed=unboxed.format(**places),
        is_long=is_long.format(**places),
        steady=steady.format(**places),
        boxed=boxed.format(**places),
        boxed_name=f"o{i}" if boxed else f"a{i}",
        buffer=f"ints{i}" if letter == "I" else "",
    )


def signature_of(arguments: Sequence[Argument]) -> Signature:
    """The signature of a kernel with these arguments."""
    return Signature("".join(_letter(a) for a in arguments))


def _letter(argument: Argument) -> str:
    kind, flags, _, _ = arg_spec(argument)
    is_list, is_optional = flags & AF["LIST"], flags & AF["OPTIONAL"]
    if is_list:
        if is_optional or flags & AF["LIST2"]:
            return "O"
        return {AK["TENSOR"]: "L", AK["INT"]: "I"}.get(kind, "O")
    if kind == AK["TENSOR"]:
        return "T"
    if kind in _CODES:
        return _CODES[kind]
    return "O" if is_optional else _NUMBERS.get(kind, "O")
