"""YAML files with the line of every value, and the one error that quotes file, line and operator.

`load` gives plain dicts, lists and scalars, except that a mapping is a `Mapping`: a dict that
knows its own line and the line of each of its keys. Any file ends in a value or in an error that
names its line, in time and memory that its size bounds. Everything that reads a file of `schemas/`
goes through here and reports mistakes with `SourceError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

try:
    import yaml
except ImportError as error:
    raise ImportError(
        "generating code needs PyYAML and Jinja2: pip install 'tensor-dispatch[build]'"
    ) from error

__all__ = ["ErrorMaker", "Mapping", "SourceError", "load"]

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_DEEPEST = 32
_MOST_ALIASED = 100_000
_LONGEST_NUMBER = 100
_LONGEST_SHOWN = 60
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


class SourceError(Exception):
    """A mistake in an input file. `str()` is `path:line: operator: what was expected`."""

    def __init__(self, message: str, path: Path | str, line: int, subject: str = "") -> None:
        self.message = message
        self.path = Path(path)
        self.line = line
        self.subject = subject
        place = f"{path}:{line}: " + (f"{subject}: " if subject else "")
        super().__init__(place + message)


# (message, the YAML key that it is about) -> the error, with file, line and operator
ErrorMaker = Callable[[str, str], SourceError]


class Mapping(dict[str, Any]):
    """A YAML mapping: `path` and `line` say where it starts, `lines` where each key stands."""

    def __init__(self, path: Path, line: int) -> None:
        super().__init__()
        self.path = path
        self.line = line
        self.lines: dict[str, int] = {}

    def error(self, message: str, key: str = "", subject: str = "") -> SourceError:
        """An error at the line of `key` (the mapping's own line when it has no such key)."""
        return SourceError(message, self.path, self.lines.get(key, self.line), subject)

    def check_keys(self, allowed: frozenset[str], subject: str = "") -> None:
        """Raise for the first key that is not in `allowed`."""
        for key in self:
            if key not in allowed:
                expected = ", ".join(sorted(allowed))
                raise self.error(f"unknown key {key!r}; expected one of {expected}", key, subject)


def load(path: Path) -> Any:
    """The value of the YAML document in `path`; raises `SourceError` for a malformed one."""
    try:
        text = _decoded(path.read_bytes(), path)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path, 1) from error
    loader = _Loader(text)
    try:
        return _Builder(loader, path).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise SourceError(f"not valid YAML: {error.problem}", path, line) from error
    except yaml.YAMLError as error:
        raise SourceError(f"not valid YAML: {error}", path, 1) from error
    finally:
        loader.dispose()


def _decoded(data: bytes, path: Path) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"not UTF-8: byte 0x{data[error.start]:02x}", path, line) from None
    _check_characters(text, path, 1)
    return text


def _check_characters(text: str, path: Path, line: int) -> None:
    """Whatever is read may be printed and emitted: no control characters but those of lines."""
    found = _UNPRINTABLE.search(text)
    if found is not None:
        line += text.count("\n", 0, found.start())
        raise SourceError(f"character U+{ord(found[0]):04X} is not allowed", path, line)


class _Open(NamedTuple):
    """A mapping or a sequence whose end is not reached, and the anchor that names it."""

    value: Mapping | list[Any]
    anchor: str | None
    size: list[int]  # one number: values in it, itself and those behind aliases included


class _Builder:
    """Values out of the parser's events, without recursion: any nesting ends in an error.

    An alias stands for the value of its anchor, once that is complete. `_MOST_ALIASED` bounds
    what all aliases together stand for, so that no short file is a huge value.
    """

    def __init__(self, loader: Any, path: Path) -> None:
        self._loader = loader
        self._path = path
        self._open: list[_Open] = []
        self._keys: list[str | None] = []  # for each open one: the key whose value comes next
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._aliased = 0
        self._root: Any = None

    def document(self) -> Any:
        """The value of the only document; None for an empty file."""
        documents = 0
        while self._loader.check_event():
            event = self._loader.get_event()
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise self._error("expected a single document", event)
            else:
                self._take(event)
        return self._root

    def _error(self, message: str, event: Any) -> SourceError:
        return SourceError(message, self._path, event.start_mark.line + 1)

    def _take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
            self._remember(event.anchor, value, 1)
            self._put(value, 1, event)
        elif isinstance(event, yaml.AliasEvent):
            self._put(*self._named(event), event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            value, anchor, size = self._open.pop()
            self._keys.pop()
            self._remember(anchor, value, size[0])
            self._put(value, size[0], event)

    def _begin(self, event: Any) -> None:
        if len(self._open) == _DEEPEST:
            raise self._error(f"more than {_DEEPEST} levels of nesting", event)
        if self._open and isinstance(self._open[-1].value, Mapping) and self._keys[-1] is None:
            raise self._error("a key must be a scalar", event)
        line = event.start_mark.line + 1
        is_mapping = isinstance(event, yaml.MappingStartEvent)
        value: Mapping | list[Any] = Mapping(self._path, line) if is_mapping else []
        self._open.append(_Open(value, event.anchor, [1]))
        self._keys.append(None)
        if event.anchor is not None:
            self._anchors.pop(event.anchor, None)  # until it is complete

    def _put(self, value: Any, size: int, event: Any) -> None:
        """Enter a complete value into the collection that is open."""
        if not self._open:
            self._root = value
            return
        self._open[-1].size[0] += size
        holder, key = self._open[-1].value, self._keys[-1]
        if isinstance(holder, list):
            holder.append(value)
        elif key is None:
            self._begin_key(holder, str(value), event)
        else:
            holder[key] = value
            self._keys[-1] = None

    def _begin_key(self, holder: Mapping, key: str, event: Any) -> None:
        if key in holder:
            raise self._error(f"key {_shown(key)} is given twice", event)
        holder.lines[key] = event.start_mark.line + 1
        self._keys[-1] = key

    def _remember(self, anchor: str | None, value: Any, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, size)

    def _named(self, event: Any) -> tuple[Any, int]:
        if event.anchor not in self._anchors:
            raise self._error(f"alias {_shown(event.anchor)} has no complete value here", event)
        value, size = self._anchors[event.anchor]
        self._aliased += size
        if self._aliased > _MOST_ALIASED:
            raise self._error(f"aliases stand for more than {_MOST_ALIASED} values", event)
        return value, size

    def _scalar(self, event: Any) -> Any:
        text = event.value
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._loader.resolve(yaml.ScalarNode, text, event.implicit)
        if tag == "tag:yaml.org,2002:str":
            if event.style == '"':  # the only one with escapes
                _check_characters(text, self._path, event.start_mark.line + 1)
            return text
        if len(text) > _LONGEST_NUMBER:
            raise self._error(f"a number or a date of {len(text)} characters", event)
        node = yaml.ScalarNode(tag, text, event.start_mark, event.end_mark)
        try:
            return self._loader.construct_object(node)
        except yaml.YAMLError:
            raise
        except Exception as error:  # PyYAML's constructors trust a tag that is written out
            raise self._error(f"{_shown(text)} is no value of {tag}", event) from error


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "...")
