"""A lower room never imports a higher one, and no modules form a circle (`tests/floors.py`)."""

from pathlib import Path

import pytest

from tests.floors import (
    EXCEPTIONS,
    Arrow,
    arrows,
    circles,
    floor_of,
    modules,
    offences,
    unknown,
)


def test_every_module_stands_on_a_floor() -> None:
    """A new room, or a new module of `_C`, gets its row in `HOUSE`."""
    assert unknown() == []


def test_no_arrow_goes_up_and_no_modules_form_a_circle() -> None:
    """Imports inside functions count; a room that must call up has a hook."""
    wrong = offences(arrows())
    assert not wrong, "\n".join(f"{name}: {row}" for name, rows in wrong.items() for row in rows)


def test_exceptions_exist_and_say_why() -> None:
    """An exception without an arrow goes, and each has a reason."""
    found = {(arrow.who, arrow.whom) for arrow in arrows()}
    assert EXCEPTIONS.keys() <= found
    assert all(len(reason) > 20 for reason in EXCEPTIONS.values())


# One import each, as a line of the module `dispatch.fake.a`; what it reaches.
READ = {
    "import dispatch.fake.b": "b",
    "import numpy, dispatch.fake.b as c": "b",
    "from dispatch.fake import b": "b",
    "from dispatch.fake.b import x": "b",
    "from dispatch.fake.b import (\n    x,\n    y,\n)": "b",
    "from . import b": "b",
    "from .b import x": "b",
    "from ..fake.b import x": "b",
    "if TYPE_CHECKING:\n    from dispatch.fake.b import x": "b",
    "def f():\n    from dispatch.fake.b import x": "b",
    'module = importlib.import_module("dispatch.fake.b")': "b",
    "from numpy import b": "",
    "# from dispatch.fake.b import x": "",
    '"""Text.\n\nfrom dispatch.fake.b import x\n"""': "",
}


@pytest.mark.parametrize("line", READ)
def test_imports_are_read_wherever_they_stand(line: str, tmp_path: Path) -> None:
    """At the top, inside functions, relative, under TYPE_CHECKING; not in texts and comments."""
    room = tmp_path / "dispatch/fake"
    room.mkdir(parents=True)
    (room / "a.py").write_text(line + "\n")
    (room / "b.py").write_text("")
    reached = [arrow.whom for arrow in arrows(tmp_path)]
    assert reached == ([f"dispatch.fake.{READ[line]}"] if READ[line] else [])


def test_cimports_of_a_face_and_of_a_mind_are_the_modules_own(tmp_path: Path) -> None:
    """`.pxd` and `.pyx` of one stem are one module."""
    room = tmp_path / "dispatch/fake"
    room.mkdir(parents=True)
    (room / "a.pxd").write_text("from dispatch.fake.b cimport x\n")
    (room / "b.pyx").write_text("cimport dispatch.fake.a\n")
    assert set(modules(tmp_path)) == {"dispatch.fake.a", "dispatch.fake.b"}
    assert circles(arrows(tmp_path)) == [["dispatch.fake.a", "dispatch.fake.b"]]


def test_an_arrow_upwards_is_found() -> None:
    """Named by its rooms, with its place."""
    assert floor_of("dispatch._C.keys") < floor_of("dispatch._C.tensor") < floor_of("dispatch.fake")
    arrow = Arrow("dispatch._C.keys", "dispatch.fake.mode", "dispatch/_C/keys.pyx", 3)
    assert offences([arrow]) == {
        "_C types -> fake": ["dispatch._C.keys -> dispatch.fake.mode   dispatch/_C/keys.pyx:3"]
    }
