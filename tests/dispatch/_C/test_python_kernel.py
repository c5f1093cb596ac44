"""What Python callees get and may return: kernels, modes, subclasses with `__torch_dispatch__`."""

import contextlib
import gc
import weakref

import pytest

import dispatch
from dispatch import ops
from dispatch.modes import TorchDispatchMode

pytestmark = pytest.mark.usefixtures("same_state_after")

T = dispatch.ones(2)


@pytest.fixture
def got(library):
    """`got(*args, **kwargs)`: the arguments that a Python kernel of `pk::f` sees for this call."""
    lib = library("pk", "DEF")
    lib.define("f(Tensor x, int n=1, float p=1., *, Scalar alpha=1, str? s=None, int[2] k=1) -> ()")
    calls = []
    lib.impl("f", lambda *a, **k: calls.append((a[1:], k)), "CPU")

    def call(*args, **kwargs):
        ops.pk.f(T, *args, **kwargs)
        return calls[-1]

    return call


@pytest.mark.parametrize(
    ("args", "kwargs", "want"),
    [
        ((), {}, ((), {})),
        ((1,), {}, ((), {})),
        ((2,), {}, ((2,), {})),
        ((1, 2.0), {}, ((1, 2.0), {})),
        ((2, 1), {}, ((2,), {})),
        ((), {"p": 3}, ((1, 3.0), {})),
        ((), {"n": 1, "alpha": 1}, ((), {})),
        ((), {"alpha": True}, ((), {"alpha": True})),
        ((), {"alpha": 1.0}, ((), {"alpha": 1.0})),
        ((), {"s": None}, ((), {})),
        ((), {"s": "a"}, ((), {"s": "a"})),
        ((), {"k": 1}, ((), {})),
        ((), {"k": [1, 2]}, ((), {"k": [1, 2]})),
    ],
)
def test_arguments_equal_to_their_defaults_are_left_out(got, args, kwargs, want):
    seen = got(*args, **kwargs)
    assert seen == want
    assert [type(v) for v in seen[1].values()] == [type(v) for v in want[1].values()]


@pytest.mark.parametrize(
    ("returns", "result", "want"),
    [
        ("()", None, None),
        ("Tensor", T, T),
        ("(Tensor, int)", (T, 1), (T, 1)),
        ("(Tensor, int)", [T, 1], (T, 1)),
        ("Tensor[]", (T, T), [T, T]),
        ("int", 3, 3),
        ("float", 3, 3.0),
        ("bool", 3, True),
        ("(Tensor, int)", (T,), T),
        ("bool", True, True),
        ("Scalar", 2.5, 2.5),
        ("Scalar", 1j, 1j),
        ("Tensor?", None, None),
        ("str", "a", "a"),
    ],
)
def test_returned_values(library, returns, result, want):
    lib = library("pk", "DEF")
    lib.define(f"r(Tensor x) -> {returns}")
    lib.impl("r", lambda x: result, "CPU")
    got = ops.pk.r(T)
    assert type(got) is type(want)
    if isinstance(want, (list, tuple)):
        assert [a is b or a == b for a, b in zip(got, want, strict=True)] == [True, True]
    else:
        assert got is want or got == want


@pytest.mark.parametrize(
    ("returns", "result"),
    [
        ("()", T),
        ("Tensor", "a"),
        ("Tensor", [T]),
        ("(Tensor, int)", (T, 1, 2)),
        ("(Tensor, int)", (T, "a")),
        ("Tensor[]", T),
        ("Tensor[]", None),
        ("int", 2.5),
        ("int", None),
        ("float", "a"),
        ("bool", "a"),
    ],
)
def test_wrong_results_are_errors_that_name_the_schema(library, returns, result):
    lib = library("pk", "DEF")
    lib.define(f"r(Tensor x) -> {returns}")
    lib.impl("r", lambda x: result, "CPU")
    with pytest.raises(RuntimeError, match=r"pk::r\(Tensor x\) -> "):
        ops.pk.r(T)


class Sub(dispatch.Tensor):
    """Wraps a tensor; notes the calls that it handles."""

    seen = []

    @staticmethod
    def __new__(cls, elem):
        return dispatch.Tensor._make_wrapper_subclass(
            cls, elem.shape, dtype=elem.dtype, device=elem.device
        )

    def __init__(self, elem):
        self.elem = elem

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        Sub.seen.append((cls, func, types, args, kwargs))

        def inner(v):
            if isinstance(v, list):
                return [inner(x) for x in v]
            return v.elem if isinstance(v, Sub) else v

        r = func(*[inner(a) for a in args], **{k: inner(v) for k, v in (kwargs or {}).items()})
        return cls(r) if isinstance(r, dispatch.Tensor) else r


class Deeper(Sub):
    pass


class Declines(dispatch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


@pytest.fixture
def seen():
    Sub.seen.clear()
    return Sub.seen


def declines():
    return dispatch.Tensor._make_wrapper_subclass(Declines, [2])


def test_one_value_where_several_are_due_is_a_type_error(library):
    lib = library("pk", "DEF")
    lib.define("r(Tensor x) -> (Tensor, int)")
    lib.impl("r", lambda x: T, "CPU")
    with pytest.raises(TypeError, match=r"pk::r\(Tensor x\) -> "):
        ops.pk.r(T)


def test_numbers_are_answers_of_operators_but_not_of_functions():
    class Three(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return 3

    with Three():
        assert ops.aten.add.Tensor(T, 1) == 3
        with pytest.raises(RuntimeError, match="number"):
            dispatch.add(T, 1)
        with pytest.raises(RuntimeError, match="neg"):
            ops.aten.neg.default(T)


def test_written_arguments_come_back_whatever_a_mode_answers():
    class Other(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return None

    x, out = dispatch.ones(2), dispatch.zeros(2)
    with Other():
        assert x.add_(1) is x
        assert ops.aten.add_.Tensor(x, 1) is x
        assert dispatch.add(x, 1, out=out) is out


def test_a_hundred_modes_and_endless_recursion():
    class Pass(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class Again(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(Pass())
        assert ops.aten.neg.default(T).tolist() == [-1.0, -1.0]
    with pytest.raises(RecursionError):
        ops.aten.neg.default(dispatch.Tensor._make_subclass(Again, dispatch.ones(1)))


def test_handler_of_tensor_runs_the_operator_with_handlers_off():
    class Up(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return super().__torch_dispatch__(func, types, args, kwargs)

    t = dispatch.Tensor._make_subclass(Up, dispatch.ones(2))
    assert ops.aten.neg.default(t).shape == (2,)


def test_subclass_handles_calls(seen):
    r = ops.aten.add.Tensor(Sub(T), 1, alpha=2)
    assert type(r) is Sub and r.elem.tolist() == [3.0, 3.0]
    ((cls, func, types, args, kwargs),) = seen
    assert (cls, func, types, kwargs) == (Sub, ops.aten.add.Tensor, (Sub,), {"alpha": 2})
    assert args[1] == 1


def test_operators_methods_and_functions_reach_the_subclass(seen):
    assert type(Sub(T) + Sub(T)) is Sub
    assert type(Sub(T).mul(2)) is Sub
    assert type(dispatch.add(Sub(T), 1)) is Sub


def test_deepest_subclass_handles_first(seen):
    ops.aten.add.Tensor(Sub(T), Deeper(T))
    assert seen[0][0] is Deeper
    assert seen[0][2] == (Deeper, Sub)


def test_subclasses_in_lists_are_found(seen, library):
    lib = library("pk", "DEF")
    lib.define("l(Tensor[] x) -> Tensor")
    lib.impl("l", lambda x: x[0], "CPU")
    assert type(ops.pk.l([T, Sub(T)])) is Sub
    assert seen[0][2] == (Sub,)


def test_class_that_declines_lets_the_next_one_try():
    class Answers(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log.append(types)
            return T

    log = []
    answers = dispatch.Tensor._make_wrapper_subclass(Answers, [2])
    assert ops.aten.add.Tensor(declines(), answers) is T
    assert log == [(Declines, Answers)]


def test_all_declining_is_a_type_error():
    with pytest.raises(TypeError, match=r"aten\.add\.Tensor.*Declines"):
        ops.aten.add.Tensor(declines(), T)


def test_wrong_result_of_a_subclass_is_an_error():
    class Wrong(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return "a"

    with pytest.raises(RuntimeError, match=r"aten::relu"):
        ops.aten.relu.default(dispatch.Tensor._make_wrapper_subclass(Wrong, [2]))


def test_exception_in_a_handler_passes_through():
    class Raises(dispatch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ops.aten.relu.default(dispatch.Tensor._make_wrapper_subclass(Raises, [2]))


def test_subclass_without_a_handler_is_an_ordinary_tensor():
    class Plain(dispatch.Tensor):
        pass

    t = dispatch.ones(2).as_subclass(Plain)
    assert type(t) is Plain
    assert not dispatch._C._dispatch_keys(t).has(dispatch.DispatchKey.Python)
    assert ops.aten.add.Tensor(t, 1).tolist() == [2.0, 2.0]


def test_disabled_dispatch_is_no_handler():
    class Off(dispatch.Tensor):
        __torch_dispatch__ = dispatch._C._disabled_torch_dispatch_impl

    t = dispatch.Tensor._make_subclass(Off, dispatch.ones(2))
    assert ops.aten.add.Tensor(t, 1).tolist() == [2.0, 2.0]


def test_mode_comes_before_subclasses_and_may_decline(seen):
    class Declining(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(types)
            return NotImplemented

    log = []
    with Declining(), pytest.raises(TypeError, match="Declining"):
        ops.aten.add.Tensor(Sub(T), 1)
    assert log == [(Sub,), ()]  # the mode is on again while the subclass handles the call
    assert seen[0][0] is Sub


def test_mode_that_declines_plain_tensors_is_a_type_error():
    class Declining(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    with Declining(), pytest.raises(TypeError, match="Declining"):
        ops.aten.add.Tensor(T, 1)


def test_handlers_leave_no_references(grown_blocks, seen):
    class Pass(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    sub = Sub(T)

    def call():
        ops.aten.add.Tensor(sub, 1, alpha=2)
        seen.clear()

    assert grown_blocks(call) < 200
    with Pass():
        assert grown_blocks(lambda: ops.aten.add.Tensor(T, 1, alpha=2)) < 200


def test_kernel_and_its_objects_die_with_the_library(library):
    class Kernel:
        def __call__(self, x):
            return x

    lib = library("pk", "DEF")
    lib.define("w(Tensor x) -> Tensor")
    kernel = Kernel()
    watched = weakref.ref(kernel)
    lib.impl("w", kernel, "CPU")
    del kernel
    assert ops.pk.w(T) is T
    lib._destroy()
    gc.collect()
    assert watched() is None
