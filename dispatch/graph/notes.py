"""A node's notes as text: strings that the reader kept as they stand in the JSON, and the lines of
Python in a recorded stack.

`modules` asks where a call comes from, `printing` shows the line. Notes are a stranger's text: what
cannot be read is as if it were not there.
"""

import json
import re
from typing import NamedTuple

__all__ = ["Frame", "frames_of", "innermost", "text_of"]

_FRAME = re.compile(r'File "([^"\n]*)", line (\d+), in (\S+)(?:\n[ \t]*([^\n]*))?')


class Frame(NamedTuple):
    """One line of a recorded stack, outermost first; `code` is its text."""

    file: str
    line: str
    function: str
    code: str


def text_of(note: bytes | None) -> str:
    """The text of a string that was kept with its escapes; "" for none."""
    if not note:
        return ""
    try:
        text = json.loads(b'"%s"' % note)
    except ValueError:
        return ""
    return text if isinstance(text, str) else ""


def frames_of(note: bytes | None) -> list[Frame]:
    """The frames of a stack trace."""
    return [Frame(*found) for found in _FRAME.findall(text_of(note))]


def innermost(frames: list[Frame]) -> Frame | None:
    """The innermost frame outside PyTorch itself, if there is one, else the innermost."""
    own = [f for f in frames if "/torch/" not in f.file and "\\torch\\" not in f.file]
    return (own or frames)[-1] if frames else None
