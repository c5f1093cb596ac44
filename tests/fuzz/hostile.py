"""Sizes, dimensions and numbers that nobody should pass, to every operator: whose words answer?

`python -m tests.fuzz.hostile [--seed S] [--rounds N]` calls each operator of `ops.aten` on small
tensors with hostile values in its other arguments, and prints the errors whose words are those of
numpy, Cython or CPython (`FOREIGN`): a user must be told of a shape, a size or a dtype of ours in
our words. Memory is limited, so that what allocates without looking fails here.
"""

import argparse
import random
import re
import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import dispatch
from dispatch import ops
from tests.fuzz.trial import limit_memory

__all__ = ["FOREIGN", "Found", "foreign", "offences"]

_ADDRESS_SPACE = 4 << 30
_SECONDS = 0.3  # of one call
_INTS = (0, 1, 2, -1, -2, 3, 64, -65, 2**31, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63), 2**63)
_FLOATS = (0.0, -1.0, 1.5, 1e308, float("inf"), float("nan"), -0.0)
_DTYPES = ("float32", "int64", "bool", "complex64", "bfloat16", "uint8", "float8_e5m2")
# Words of others: each is a text that numpy, Cython or CPython makes on its own.
FOREIGN = re.compile(
    r"array is too big|Maximum allowed (size|dimension)|Unable to allocate|too large to convert"
    r"|too big to convert|can't convert negative|cannot fit|out of bounds for axis|AxisError"
    r"|Cannot convert \w+ to dispatch|an integer is required|must be real number"
    r"|object cannot be interpreted as an integer|index out of range|indices must be integers"
    r"|cannot reshape array|could not broadcast|operands could not be"
    r"|shapes? mismatch(?!: (value|indexing) tensor)"
    r"|object has no attribute|object is not (subscriptable|iterable|callable)"
    r"|not supported between"
    r"|unsupported operand type|division by zero|math (range|domain) error|ufunc|numpy"
    r"|Discarding the imaginary|overflow encountered|invalid value encountered|divide by zero"
    r"|required positional argument|unexpected keyword|zero-size array|not enough values to unpack"
    r"|too many values to unpack|negative dimensions|cannot convert float"
)


class _TooLong(BaseException):
    """The call's time is over."""


def _end_call(*_: Any) -> None:
    raise _TooLong


class Found(NamedTuple):
    """A call and the foreign words that it ended in."""

    operator: str
    kind: str
    text: str
    call: str


def foreign(error: BaseException | Warning) -> bool:
    """Whether the words of an error are not ours."""
    text = str(error)
    if isinstance(error, (MemoryError, Warning)) and not text:
        return True
    if not isinstance(error, (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError,
                              MemoryError, UserWarning)):  # fmt: skip
        return True
    return not text or FOREIGN.search(text) is not None


def _tensor(rng: random.Random) -> Any:
    shape = rng.choice([(), (0,), (3,), (2, 3), (2, 2), (1, 2, 3), (1, 2, 3, 3), (2, 0, 3)])
    return dispatch.ones(shape, dtype=getattr(dispatch, rng.choice(_DTYPES[: rng.choice([1, 8])])))


def _value(rng: random.Random, type_: Any) -> Any:
    """A value of a schema's type, hostile where that is possible."""
    kind = str(type_)
    if kind.startswith("Optional["):
        return None if rng.random() < 0.3 else _value(rng, type_.getElementType())
    if kind.startswith("List["):
        return [
            _value(rng, type_.getElementType()) for _ in range(rng.choice([0, 1, 2, 2, 3, 4, 65]))
        ]
    if kind == "Tensor":
        return _tensor(rng)
    if kind in ("int", "SymInt"):
        return rng.choice(_INTS)
    if kind in ("float", "number", "Scalar"):
        return rng.choice(_FLOATS if rng.random() < 0.6 else _INTS)
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "str":
        return rng.choice(["", "mean", "nonsense", "floor"])
    if kind == "ScalarType":
        return getattr(dispatch, rng.choice(_DTYPES))
    return None


def _calls(seed: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    for name in sorted(dispatch._C._dispatch_get_all_op_names()):
        full, _, overload = name.partition(".")
        namespace, _, packet = full.partition("::")
        if namespace != "aten":
            continue
        rng = random.Random(f"{seed} {name}")  # other operators change nothing
        op = getattr(getattr(ops.aten, packet), overload or "default")
        given = {}
        for argument in op._schema.arguments:
            if argument.has_default_value() and rng.random() < 0.5:
                continue
            given[argument.name] = _value(rng, argument.type)
        yield op, given


def _shown(value: Any) -> str:
    if isinstance(value, dispatch.Tensor):
        return f"{value.dtype}{list(value.shape)}"
    return f"[{', '.join(map(_shown, value))}]" if isinstance(value, list) else repr(value)


def _ending(op: Any, given: dict[str, Any]) -> Exception | None:
    """What the call raises, warnings included; None: nothing, or its time was over."""
    try:
        signal.setitimer(signal.ITIMER_REAL, _SECONDS)
        try:
            op(**given)
        except Exception as error:
            return error
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _TooLong:
        pass  # what makes much takes long: a split into millions of parts
    return None


def offences(seed: str) -> list[Found]:
    """One round over all operators."""
    found = []
    signal.signal(signal.SIGALRM, _end_call)
    for op, given in _calls(seed):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            error = _ending(op, given)
        if error is not None and foreign(error):
            call = ", ".join(f"{k}={_shown(v)}" for k, v in given.items())
            found.append(Found(str(op), type(error).__name__, str(error)[:200], call[:300]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.hostile", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", default="0")
    options = parser.parse_args()
    limit_memory(_ADDRESS_SPACE)
    total = 0
    for i in range(options.rounds):
        for each in offences(f"{options.seed} {i}"):
            total += 1
            print(f"{each.operator}: {each.kind}: {each.text}\n    {each.call}", flush=True)
    print(f"{'failed' if total else 'passed'}: {options.rounds} rounds, {total} foreign texts")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
