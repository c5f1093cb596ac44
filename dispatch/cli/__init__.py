"""The room of the command line. `commands` is the way in; a command is a module.

Installed as `dispatch`, and run by `python -m dispatch`. Nothing else imports it, so a program
that imports the package loads neither click nor rich.
"""

from dispatch.cli.commands import main

__all__ = ["main"]
