"""Strange arguments to everything end in an exception; `python -m tests.fuzz.api` tries many."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dispatch
from tests.fuzz.api import attempt, targets

# Each is a program of its own: the interpreter ends with what it left alive.
_PREFACE = """
import dispatch
from dispatch import _C, Tensor, library, ops
from dispatch.fake import FakeTensorMode
from dispatch.modes import TorchDispatchMode
own = library.Library("ends", "DEF")
own.define("f(Tensor x, int[] y=[]) -> Tensor")
x = dispatch.ones(2)
"""
_PROGRAMS = {
    "an operator as its own kernel": """
        own.impl("f", ops.ends.f.default, "CPU")
        try:
            ops.ends.f(x)
        except RecursionError:
            print("RecursionError", end="")
    """,
    "a packet as its own kernel": """
        own.impl("f", ops.ends.f, "CPU")
        try:
            ops.ends.f(x)
        except RecursionError:
            print("RecursionError", end="")
    """,
    "a kernel that destroys its library": """
        own.impl("f", lambda x, y=(): (own._destroy(), x)[1], "CPU")
        ops.ends.f(x)
    """,
    "an argument that destroys the library and empties its list": """
        class Index:
            def __index__(self):
                items.clear()
                own._destroy()
                return 1
        items = [Index(), Index()]
        own.impl("f", lambda x, y=(): x, "CPU")
        try:
            ops.ends.f(x, items)
        except (RuntimeError, AttributeError):
            pass
    """,
    "a mode that leaves the stack while it runs": """
        class Gone(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                _C._pop_torch_dispatch_stack()
                return func(*args)
        try:
            with Gone():
                x + 1
        except Exception:
            pass
    """,
    "a class that loses its handler while it runs": """
        class Forgetful(Tensor):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                del cls.__torch_dispatch__
                with _C._DisableTorchDispatch():
                    return func(*args)
        x.as_subclass(Forgetful) + 1
    """,
    "an end with modes entered and wrappers alive": """
        mode = FakeTensorMode().__enter__()
        fake = dispatch.ones(3)
        kept = [fake, fake.t() if fake.dim() == 2 else fake]
        guard = _C._ExcludeDispatchKeyGuard(_C.DispatchKeySet(_C.DispatchKey.CPU))
        guard.__enter__()
    """,
    "a finalizer that registers at the end": """
        class Late:
            def __del__(self):
                late = library.Library("late", "DEF")
                late.define("f(Tensor x) -> Tensor")
        import builtins
        builtins.late = Late()
    """,
    "an operator that two threads call first": """
        import sys, threading, time
        class Slow:
            def find_spec(self, name, path=None, target=None):
                if name.endswith("copy.backends"):
                    time.sleep(0.5)
        sys.meta_path.insert(0, Slow())
        threads = [threading.Thread(target=x.clone) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert x.clone().tolist() == [1, 1]
    """,
    "an item that empties its lists when it is asked for a handler": """
        class Thief:
            def __getattr__(self, name):
                for items in lists:
                    items.clear()
                raise AttributeError(name)
        for nested in (False, True):
            for i in range(50):
                items = [1.5, Thief(), *map(float, range(i))]
                lists = [items, [items, 2.5]]
                try:
                    x.long().__ixor__(lists[nested])
                except TypeError:
                    pass
    """,
    "helpers of classes that are given something else": """
        from dispatch._ops.namespaces import _instance_first
        for cls in (None, Tensor, type(ops)):
            try:
                _instance_first(cls)
            except TypeError:
                pass
        assert ops.aten.add is ops.aten.add
        try:
            ops.nothing_of_this_name.f
        except AttributeError:
            pass
        info = vars(FakeTensorMode)["cache_info"]
        info.__init__(info, info, "")
        try:
            info.__get__(FakeTensorMode(), None)()
        except TypeError:
            pass
    """,
    "structures that nobody filled": """
        from dispatch.pytree import LeafSpec, TreeSpec
        for cls in (TreeSpec, LeafSpec):
            spec = cls.__new__(cls)
            for call in (lambda: spec.unflatten([]), lambda: spec.flatten_up_to([1]),
                         lambda: TreeSpec(list, None, [None]).unflatten([])):
                try:
                    call()
                except (IndexError, TypeError, ValueError, AttributeError):
                    pass
    """,
    "a wrapper that has -1 dimensions": """
        class Liar(Tensor):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                return -1
        liar = Tensor._make_wrapper_subclass(Liar, (2, 3), dispatch_sizes_strides_policy="sizes")
        for call in (lambda: liar[0], lambda: x[liar], lambda: liar.__setitem__(0, 1)):
            try:
                call()
            except SystemError:
                raise
            except Exception:
                pass
    """,
    "a thread that ends with a mode entered": """
        import threading
        thread = threading.Thread(target=lambda: FakeTensorMode().__enter__())
        thread.start()
        thread.join()
        x + 1
    """,
}


@pytest.mark.parametrize("name", _PROGRAMS)
def test_a_program_ends_without_a_signal(name):
    text = _PREFACE + textwrap.dedent(_PROGRAMS[name])
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if "its own kernel" in name:
        assert done.stdout == "RecursionError"


def test_no_call_ends_the_process():
    everything = targets()
    assert len(everything) > 300
    for seed in range(12):
        assert attempt(f"suite {seed}", everything) is None


def _typed_parameters(text):
    """(function, parameter) of what takes an instance of a compiled class, as it is declared."""
    for found in re.finditer(r"^ *def (\w+)\(((?:[^()]|\([^()]*\))*)\)", text, re.MULTILINE):
        for parameter in found[2].split(","):
            if re.match(r"([a-z]+\.[a-z]\w*|[A-Z][A-Za-z]+) \w+", parameter.strip()):
                yield found[1], parameter.strip()


def test_none_for_a_compiled_class_is_refused_by_its_declaration():
    """Cython takes None for any class, and then reads its fields."""
    open_to_none = [
        (path.name, function, parameter)
        for path in Path(dispatch.__file__).parent.rglob("*.pyx")
        if "generated" not in path.parts
        for function, parameter in _typed_parameters(path.read_text())
        if not any(word in parameter for word in ("not None", "or None", "=", "Py_ssize_t"))
    ]
    assert not open_to_none
