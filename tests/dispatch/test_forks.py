"""Forks beside threads: the child has everything that its calls want to import."""

import subprocess
import sys

import pytest

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

DRAWS = """
import os, signal, sys, threading
import dispatch
from dispatch import pytree
threads, drawing = [], threading.Event()
def draw():
    while not drawing.wait(0):
        dispatch.empty(4_000_000).normal_()
for i in range(2):
    threads.append(threading.Thread(target=draw))
    threads[-1].start()
ended = []
for i in range(4):
    child = os.fork()
    if not child:
        signal.alarm(30)
        dispatch.randn(10)
        assert len(set(dispatch.rand(2000).tolist())) > 1900
        dispatch.manual_seed(3)
        os._exit(0 if dispatch.initial_seed() == 3 else 3)
    ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
drawing.set()
sys.exit(any(ended))
"""
REGISTERS = """
import os, signal, sys, threading
from dispatch import pytree
from dispatch.pytree import nodes
held, done = threading.Event(), threading.Event()
def hold():
    with nodes._lock:
        held.set()
        done.wait()
threading.Thread(target=hold).start()
held.wait()
child = os.fork()
if not child:
    signal.alarm(30)
    pytree.register_pytree_node(type("Node", (), {}), lambda x: ([], None), lambda xs, c: None)
    os._exit(0)
status = os.waitpid(child, 0)[1]
done.set()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run(thread: bool) -> tuple[int, bytes]:
    command = [sys.executable, "-W", "ignore", "-c", FORK.format(thread=thread)]
    done = subprocess.run(command, stderr=subprocess.PIPE)
    return done.returncode, done.stderr


def test_fork_beside_a_thread_imports_what_calls_import_first() -> None:
    assert run(thread=True) == (0, b"")


def test_fork_of_one_thread_imports_nothing() -> None:
    assert run(thread=False) == (0, b"")


@pytest.mark.parametrize("program", [DRAWS, REGISTERS], ids=["draws", "registers"])
def test_what_another_thread_holds_at_a_fork_is_free_in_the_child(program) -> None:
    command = [sys.executable, "-W", "ignore", "-c", program]
    assert subprocess.run(command, stderr=subprocess.PIPE).returncode == 0
