"""How documents that tell a reader what to do are read and applied (`tests/walkthrough.py`)."""

from pathlib import Path

import pytest

from tests.walkthrough import FOLLOWED, ROOT, Command, Edit, apply, steps


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_followed_document_shows_what_is_printed(name: str) -> None:
    """One that only ran commands would prove little."""
    assert any(isinstance(s, Command) and s.printed for s in steps((ROOT / name).read_text()))


DOCUMENT = """\
Text.

```yaml append=a.txt
added
```

```python
read_only()
```

```text insert=a.txt
one
between
```

```text write=new/b.txt
b
```

```console in=new
$ cat b.txt ../a.txt
b
one
...
added
$ true
```
"""


def test_blocks_are_read_and_applied(tmp_path: Path) -> None:
    """Files first, then what the console prints."""
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    found = list(steps(DOCUMENT))
    assert found[0] == Edit("append", "a.txt", "added\n")
    assert found[-1] == Command("true", "", "new")
    apply(tmp_path, DOCUMENT)
    assert (tmp_path / "a.txt").read_text() == "one\nbetween\ntwo\nadded\n"


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("```text write=a.txt\nx\n```\n", "is there already"),
        ("```text insert=a.txt\nx\ny\n```\n", "not once in it: x"),
        ("```console\n$ false\n```\n", r"\$ false"),
        ("```console\n$ echo no\nyes\n```\n", r"\$ echo no\nno"),
    ],
)
def test_what_goes_otherwise_fails(tmp_path: Path, block: str, message: str) -> None:
    """Files that are there, lines that are not, commands that fail or print something else."""
    (tmp_path / "a.txt").write_text("one\n")
    with pytest.raises(AssertionError, match=message):
        apply(tmp_path, block)


def test_a_word_that_is_none_is_refused() -> None:
    """A misspelt word would leave its block out."""
    with pytest.raises(ValueError, match="expected write, append, insert"):
        list(steps("```text wrote=a.txt\nx\n```\n"))
