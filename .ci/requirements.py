"""Print what the project and the named extras require, one line of words for `pip install`.

`pip install .[dev]` would build the project to learn this; `pyproject.toml` has it as it stands.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]


def requirements(extra: str) -> Iterator[str]:
    """The requirements of an extra, those of the extras that it names included."""
    for line in PROJECT["optional-dependencies"][extra]:
        nested = re.fullmatch(re.escape(PROJECT["name"]) + r"\[(\w+)\]", line)
        if nested:
            yield from requirements(nested[1])
        else:
            yield line


if __name__ == "__main__":
    wanted = {*PROJECT["dependencies"], *(r for extra in sys.argv[1:] for r in requirements(extra))}
    print(*sorted(wanted))
