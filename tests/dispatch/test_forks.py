"""Forks beside threads: the child has everything that its calls want to import."""

import subprocess
import sys

FORK = """
import os, sys, threading
import dispatch
late = "dispatch.kernels.cpu.loss.losses"
assert late not in sys.modules
released = threading.Event()
if {thread}:
    threading.Thread(target=released.wait, daemon=True).start()
child = os.fork()
if not child:
    os._exit(0 if (late in sys.modules) == {thread} else 3)
released.set()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def run(thread: bool) -> tuple[int, bytes]:
    command = [sys.executable, "-W", "ignore", "-c", FORK.format(thread=thread)]
    done = subprocess.run(command, stderr=subprocess.PIPE)
    return done.returncode, done.stderr


def test_fork_beside_a_thread_imports_what_calls_import_first() -> None:
    assert run(thread=True) == (0, b"")


def test_fork_of_one_thread_imports_nothing() -> None:
    assert run(thread=False) == (0, b"")
