"""What registers takes an operator's name, its overload and its definition, and is a decorator."""

import pytest

import dispatch
from dispatch import _C, FakeTensorMode, Tensor, TorchDispatchMode, library, ops
from dispatch.library import custom_ops
from dispatch.registry.entries import singleton

NS = "tests_of_ways_in"


@pytest.fixture
def lib():
    with library._scoped_library(NS, "FRAGMENT") as made:
        made.define("plain(Tensor x) -> Tensor")
        yield made


@pytest.fixture
def custom():
    @library.custom_op(f"{NS}::custom", mutates_args=(), device_types="cuda")
    def custom(x: Tensor) -> Tensor:
        return x * 2

    yield custom
    custom._lib._destroy()
    custom_ops.OPDEF_TO_LIB.pop(f"{NS}::custom", None)


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def on_cpu(f):
    return f(dispatch.ones(3)).tolist()


def under_mode(f):
    with Mode():
        return f(dispatch.ones(3)).tolist()


def on_fake(f):
    with FakeTensorMode():
        return f(dispatch.ones(3)).shape


def recorded(f):
    x = dispatch.ones(3, requires_grad=True)
    (found,) = [y for y in f(x).grad_fn.apply(dispatch.ones(3)) if y is not None]
    return found.tolist()


def under_autocast(f):
    with dispatch.autocast("cpu", dtype=dispatch.bfloat16):
        return f(dispatch.ones(3)).dtype


# the function, what is registered, how it shows, and what then comes
WAYS = {
    "kernel": (library.register_kernel, ("cpu",), lambda x: x + 4, on_cpu, [5.0] * 3),
    "kernel for all": (library.register_kernel, (None,), lambda x: x + 4, on_cpu, [5.0] * 3),
    "fake": (library.register_fake, (), lambda x: x.new_empty(4), on_fake, (4,)),
    "rule": (library.register_torch_dispatch, (Mode,),
             lambda mode, func, types, args, kwargs: args[0] + 8, under_mode, [9.0] * 3),
    "vmap": (library.register_vmap, (), lambda info, dims, x: (x, 0),
             lambda f: _C._dispatch_has_kernel_for_dispatch_key(f._name, "FuncTorchBatched"), True),
}  # fmt: skip
# those without a function to register
SAYINGS = {
    "formula": (library.register_autograd, (lambda ctx, grad: grad * 3,), recorded, [3.0] * 3),
    "casts": (library.register_autocast, ("cpu", dispatch.bfloat16), under_autocast,
              dispatch.bfloat16),
    "effect": (library._register_effectful_op, (library.EffectType.ORDERED,),
               lambda f: singleton.find(f._name).effect.effect, library.EffectType.ORDERED),
}  # fmt: skip
FORMS = ["name", "overload", "custom name", "custom overload", "definition"]


def operator_in(form, custom):
    """What is given to the function, and the overload that it means."""
    if form == "definition":
        return custom, custom._opoverload
    f = custom._opoverload if form.startswith("custom") else getattr(ops, NS).plain.default
    return (f._name if form.endswith("name") else f), f


def keep_while(lib, form):
    return {"lib": lib} if form in ("name", "overload") else {}


@pytest.mark.parametrize("decorated", [False, True])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", WAYS)
def test_functions_are_registered(lib, custom, way, form, decorated):
    register, settings, function, shown, expected = WAYS[way]
    given, f = operator_in(form, custom)
    kw = keep_while(lib, form)
    if shown is not on_cpu:
        library.register_kernel(f, "cpu", lambda x: x * 2, **kw)
    if decorated:
        register(given, *settings, **kw)(function)
    else:
        register(given, *settings, function, **kw)
    assert shown(f) == expected


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", SAYINGS)
def test_what_else_is_said_of_an_operator(lib, custom, way, form):
    register, settings, shown, expected = SAYINGS[way]
    given, f = operator_in(form, custom)
    kw = keep_while(lib, form)
    library.register_kernel(f, "cpu", lambda x: x * 2, **kw)
    register(given, *settings, **kw)
    assert shown(f) == expected
