"""`torch.testing`: comparing results, and looking for lines of texts (`FileCheck`).

`assert_close` compares tensors, numbers, sequences and mappings, in shape, dtype, device and
value, within tolerances by dtype (torch.testing.assert_close). What differs is named by its place
in the nest.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dispatch
from dispatch.library.checks import TOLERANCES

__all__ = ["FileCheck", "assert_allclose", "assert_close"]


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless both are alike; ValueError for one tolerance without the other."""
    if (rtol is None) != (atol is None):
        raise ValueError("assert_close: give both rtol and atol, or neither")
    checks = [
        name
        for name, wanted in (
            ("device", check_device),
            ("dtype", check_dtype),
            ("layout", check_layout),
        )
        if wanted
    ]

    def fail(place: str, text: str) -> None:
        text = f"{text}, at {place}" if place else text
        raise AssertionError(msg(text) if callable(msg) else msg or text)

    def compare(a: Any, b: Any, place: str) -> None:
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            if a.keys() != b.keys():
                fail(place, f"the keys differ: {sorted(map(str, a.keys() ^ b.keys()))}")
            for key in a:
                compare(a[key], b[key], f"{place}[{key!r}]")
        elif _is_sequence(a) and _is_sequence(b):
            if len(a) != len(b):
                fail(place, f"the lengths differ: {len(a)} and {len(b)}")
            for at, pair in enumerate(zip(a, b, strict=True)):
                compare(*pair, f"{place}[{at}]")
        elif a is None or b is None:
            if a is not b:
                fail(place, f"None is not close to {b if a is None else a!r}")
        elif isinstance(a, dispatch.Tensor) != isinstance(b, dispatch.Tensor):
            raise TypeError(f"assert_close: no pair to compare: {type(a)} and {type(b)}")
        elif not allow_subclasses and type(a) is not type(b):
            raise TypeError(f"assert_close: {type(a)} and {type(b)} are not of one class")
        else:
            compare_tensors(dispatch.as_tensor(a), dispatch.as_tensor(b), place)

    def compare_tensors(a: Any, b: Any, place: str) -> None:
        if a.shape != b.shape:
            fail(place, f"the shapes differ: {tuple(a.shape)} and {tuple(b.shape)}")
        for name in checks:
            if getattr(a, name) != getattr(b, name):
                pair = f"{getattr(a, name)} and {getattr(b, name)}"
                fail(place, f"the attributes {name!r} differ: {pair}")
        if check_stride and a.stride() != b.stride():
            fail(place, f"the strides differ: {a.stride()} and {b.stride()}")
        relative, absolute = _tolerance(a, b)
        if rtol is not None and atol is not None:
            relative, absolute = rtol, atol
        common = dispatch.promote_types(a.dtype, b.dtype)
        a, b = a.detach().to("cpu", common), b.detach().to("cpu", common)
        if not common.is_floating_point and not common.is_complex:
            a, b = a.to(dispatch.int64), b.to(dispatch.int64)
        close = dispatch.isclose(a, b, rtol=relative, atol=absolute, equal_nan=equal_nan)
        if not bool(close.all()):
            wrong = int((~close).sum())
            fail(place, f"the values are not close: {wrong} of {close.numel()} differ "
                        f"(rtol={relative}, atol={absolute})")  # fmt: skip

    compare(actual, expected, "")


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _tolerance(a: Any, b: Any) -> tuple[float, float]:
    pairs = [TOLERANCES.get(str(t.dtype).rpartition(".")[2], (0.0, 0.0)) for t in (a, b)]
    return max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)


_OF_ALLCLOSE = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = True, msg: str = "",
) -> None:  # fmt: skip
    """The older `assert_close`, which tells no dtypes apart and warns of itself."""
    warnings.warn("assert_allclose is deprecated: use assert_close", FutureWarning, 2)
    if not isinstance(actual, dispatch.Tensor):
        actual = dispatch.tensor(actual)
    if not isinstance(expected, dispatch.Tensor):
        expected = dispatch.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        known = {**TOLERANCES, **_OF_ALLCLOSE}
        pairs = [known.get(t.dtype.name, (0.0, 0.0)) for t in (actual, expected)]
        rtol, atol = (max(each) for each in zip(*pairs, strict=True))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False,
        msg=msg or None,
    )  # fmt: skip


class FileCheck:
    """What a text must have, in order (torch.testing.FileCheck).

    `FileCheck().check("a").check("b").run(text)`: each check looks behind what the one before
    found. `run` raises RuntimeError for the first that fails.
    """

    def __init__(self) -> None:
        self._steps: list[tuple[str, str, int]] = []

    def _add(self, kind: str, text: str, count: int = 0) -> "FileCheck":
        self._steps.append((kind, text, count))
        return self

    def check(self, text: str) -> "FileCheck":
        """`text` comes next, with anything before it."""
        return self._add("check", text)

    def check_not(self, text: str) -> "FileCheck":
        """`text` does not come before what the next check finds, or the end."""
        return self._add("check_not", text)

    def check_same(self, text: str) -> "FileCheck":
        """`text` comes in the line of the last find."""
        return self._add("check_same", text)

    def check_next(self, text: str) -> "FileCheck":
        """`text` comes in the line behind that of the last find."""
        return self._add("check_next", text)

    def check_count(self, text: str, count: int, exactly: bool = False) -> "FileCheck":
        """`text` comes `count` times; `exactly`: and not once more."""
        self._add("check_count", text, count)
        return self._add("check_not", text) if exactly else self

    def run(self, text: Any) -> None:
        """Look at `str(text)`."""
        text, at = str(text), 0
        absent: list[str] = []

        def fail(kind: str, wanted: str) -> None:
            raise RuntimeError(f"FileCheck: {kind} {wanted!r} failed from here on:\n{text[at:]}")

        def find(kind: str, wanted: str, end: int) -> int:
            place = text.find(wanted, at, end)
            if place < 0:
                fail(kind, wanted)
            for other in absent:
                if other in text[at:place]:
                    fail("check_not", other)
            absent.clear()
            return place + len(wanted)

        for kind, wanted, count in self._steps:
            line_end = text.find("\n", at) % (len(text) + 1)
            if kind == "check_not":
                absent.append(wanted)
            elif kind == "check_same":
                at = find(kind, wanted, line_end)
            elif kind == "check_next":
                at = min(line_end + 1, len(text))
                at = find(kind, wanted, text.find("\n", at) % (len(text) + 1))
            else:
                for _ in range(count if kind == "check_count" else 1):
                    at = find(kind, wanted, len(text))
        for other in absent:
            if other in text[at:]:
                fail("check_not", other)
