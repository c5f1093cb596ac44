"""YAML files with the line of every value, and the one error that quotes file, line and operator.

`load` gives plain dicts, lists and scalars, except that a mapping is a `Mapping`: a dict that
knows its own line and the line of each of its keys. Everything that reads a file of `schemas/`
goes through here and reports mistakes with `SourceError`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

try:
    import yaml
except ImportError as error:
    raise ImportError(
        "generating code needs PyYAML and Jinja2: pip install 'tensor-dispatch[build]'"
    ) from error

__all__ = ["ErrorMaker", "Mapping", "SourceError", "load"]

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
        with open(path, "rb") as stream:
            loader = _Loader(stream)
            try:
                node = loader.get_single_node()
                return None if node is None else _construct(loader, node, path)
            finally:
                loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise SourceError(f"not valid YAML: {error.problem}", path, line) from error
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path, 1) from error


def _construct(loader: Any, node: Any, path: Path) -> Any:
    if isinstance(node, yaml.MappingNode):
        return _construct_mapping(loader, node, path)
    if isinstance(node, yaml.SequenceNode):
        return [_construct(loader, child, path) for child in node.value]
    if node.tag == "tag:yaml.org,2002:str":
        return node.value
    return loader.construct_object(node)


def _construct_mapping(loader: Any, node: Any, path: Path) -> Mapping:
    mapping = Mapping(path, node.start_mark.line + 1)
    for key_node, value_node in node.value:
        key = str(_construct(loader, key_node, path))
        line = key_node.start_mark.line + 1
        if key in mapping:
            raise SourceError(f"key {key!r} is given twice", path, line)
        mapping[key] = _construct(loader, value_node, path)
        mapping.lines[key] = line
    return mapping
