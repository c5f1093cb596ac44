"""What README.md shows is what happens: its example is run and its output compared."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)


def test_example_prints_what_follows_it(capsys):
    (language, example), (_, output) = BLOCKS[:2]
    assert language == "python"
    assert len(example.splitlines()) <= 15
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out == output


def test_other_python_blocks_run():
    rest = [text for language, text in BLOCKS[2:] if language == "python"]
    assert rest
    for text in rest:
        exec(compile(text, "README.md", "exec"), {"__name__": "readme"})
