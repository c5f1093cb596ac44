"""Calls without end raise RecursionError, also where Python would go on: the C stack ends first."""

import subprocess
import sys
import textwrap

import pytest

LIBRARY = """
    lib = dispatch.Library("deep", "FRAGMENT")
    lib.define("f(Tensor x) -> Tensor")
    f = dispatch.ops.deep.f.default
    x = dispatch.ones(2)
"""
ENDLESS = {
    "a function as kernel": """
        lib.impl("f", lambda x: f(x), "CPU")
        call = f
    """,
    "an operator as its own kernel": """
        lib.impl("f", f, "CPU")
        call = f
    """,
    "a subclass": """
        class Endless(dispatch.Tensor):
            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                return func(*args)

        x = dispatch.Tensor._make_subclass(Endless, x)
        call = dispatch.relu
    """,
    "a mode": """
        class Endless(dispatch.TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                with self:
                    return func(*args)

        def call(x):
            with Endless():
                return dispatch.relu(x)
    """,
    "a handler of functions": """
        class Endless:
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                return func(*args)

        x = Endless()
        call = dispatch.relu
    """,
    "a wrapper of itself": """
        class Endless(dispatch.Tensor):
            def __tensor_flatten__(self):
                return ["inner"], None

            @staticmethod
            def __tensor_unflatten__(inner, context, size, stride):
                raise NotImplementedError

            @classmethod
            def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
                raise NotImplementedError

        x = dispatch.Tensor._make_wrapper_subclass(Endless, [2])
        x.inner = x
        call = dispatch.FakeTensorMode().from_tensor
    """,
}
PROGRAM = """
    import sys, threading
    import dispatch
    sys.setrecursionlimit(1 << 30)
    {library}
    {case}
    def run():
        try:
            call(x)
        except RecursionError as error:
            print("refused:", error)
    run()
    threading.stack_size(1 << 20)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    print(dispatch.ones(2).sum().item())
"""


@pytest.mark.parametrize("case", ENDLESS)
def test_calls_without_end_raise_before_the_stack_ends(case):
    program = textwrap.dedent(PROGRAM).format(
        library=textwrap.dedent(LIBRARY), case=textwrap.dedent(ENDLESS[case])
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-400:]
    refused = "refused: maximum recursion depth exceeded"
    main, thread, value = done.stdout.splitlines()
    assert main.startswith(refused) and thread.startswith(refused) and value == "2.0"
    assert "C stack" in thread or sys.version_info >= (3, 14)
