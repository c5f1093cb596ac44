"""Custom operators: making them, and what is registered on them."""

import gc
import weakref

import pytest

import dispatch
from dispatch import _C, FakeTensorMode, Tag, Tensor, TorchDispatchMode, ops
from dispatch.library import custom_op, custom_ops, register_autograd, register_torch_dispatch

pytestmark = pytest.mark.usefixtures("same_state_after")


@pytest.fixture
def scaled():
    """doc: x * n, in a namespace that goes away."""

    @custom_op("tco::scaled", mutates_args=())
    def scaled(x: Tensor, n: int = 2) -> Tensor:
        return x * n

    yield scaled
    scaled._lib._destroy()
    custom_ops.OPDEF_TO_LIB.pop("tco::scaled", None)


def make(name, fn, **kw):
    kw.setdefault("mutates_args", ())
    return custom_op(f"tco::{name}", fn, **kw)


def test_a_call_reaches_the_function(scaled):
    x = dispatch.ones(2)
    assert scaled(x).tolist() == ops.tco.scaled(x, 2).tolist() == [2.0, 2.0]
    assert str(scaled._opoverload._schema) == "tco::scaled(Tensor x, SymInt n=2) -> Tensor"
    assert scaled._opoverload.tags == [Tag.pt2_compliant_tag]


@pytest.mark.parametrize(
    ("schema", "fn"),
    [
        ("(Tensor x) -> Tensor", lambda x: x),
        ("(Tensor x) -> Tensor", lambda x: x[:1]),
        ("(Tensor x) -> (Tensor, Tensor)", lambda x: (x.clone(),) * 2),
        ("(Tensor x) -> Tensor[]", lambda x: [x]),
        ("(Tensor[] x) -> Tensor", lambda x: x[0]),
    ],
)
def test_results_may_not_share_memory(schema, fn):
    op = make("shares", fn, schema=schema)
    x = dispatch.ones(2)
    with pytest.raises(RuntimeError, match=r"tco::shares .*memory"):
        op([x] if "[] x" in schema else x)


@pytest.mark.parametrize("given", [0, 1])
def test_too_few_results_are_refused(given):
    x = dispatch.ones(2)
    schema = "(Tensor x) -> (Tensor, Tensor)"
    op = make(f"few{given}", lambda x: (x.clone(),) * given, schema=schema)
    with pytest.raises(TypeError, match=rf"tco::few{given} .*must return 2 values, got {given}"):
        op(x)


def test_versions_are_bumped_before_the_kernel_runs():
    seen = []
    op = make("w", lambda x: seen.append(x._version), schema="(Tensor(a!) x) -> ()",
              mutates_args={"x"})  # fmt: skip
    x = dispatch.ones(2)
    op(x)
    assert seen == [1] and x._version == 1


def test_context_reaches_the_formula(scaled):
    def setup(ctx, inputs, output):
        assert not dispatch.is_grad_enabled() and not output.requires_grad
        ctx.n = inputs[1]
        ctx.save_for_backward(inputs[0])
        assert ctx.saved_tensors == ()

    scaled.register_autograd(lambda ctx, g: (g * ctx.n, None), setup_context=setup)
    x = dispatch.ones(2, requires_grad=True)
    y = scaled(x, 5)
    assert y.grad_fn.saved_tensors == (x,)
    grad, *rest = y.grad_fn.apply(dispatch.ones(2))
    assert grad.tolist() == [5.0, 5.0] and rest == [None, None]
    with pytest.raises(RuntimeError, match="no autograd engine"):
        y.sum().backward()


def test_formula_of_lists_gets_and_gives_lists():
    op = make(
        "lists", lambda xs, y: [x * 2 for x in xs], schema="(Tensor[] xs, Tensor y) -> Tensor[]"
    )
    needs = []
    op.register_autograd(
        lambda ctx, gs: (needs.append(ctx.needs_input_grad), ([g * 2 for g in gs], None))[1]
    )
    x = dispatch.ones(1, requires_grad=True)
    a, _ = op([x, dispatch.ones(1)], x)
    grads = a.grad_fn.apply(dispatch.ones(1), dispatch.ones(1))
    assert [g and g.tolist() for g in grads] == [[2.0], [2.0], None, None, None]
    assert needs[0][:2] == ([True, False], True)
    op.register_autograd(lambda ctx, gs: (gs[0], None))
    with pytest.raises(RuntimeError, match="structure"):
        op([x], x)[0].grad_fn.apply(dispatch.ones(1))


def test_a_context_says_what_is_kept_and_what_has_no_gradient():
    two = "(Tensor x, *, int n=3) -> (Tensor, Tensor)"
    op = make("kept", lambda x, n=3: (x + n, x - n), schema=two)
    seen = []

    def setup(ctx, inputs, keyword_only_inputs, output):
        ctx.save_for_backward(None, inputs[0])
        ctx.mark_non_differentiable(output[1])
        seen.append(keyword_only_inputs)

    op.register_autograd(lambda ctx, *grads: grads[0], setup_context=setup)
    x = dispatch.ones(2, requires_grad=True)
    a, b = op(x)
    op(x, n=5)
    assert a.requires_grad and a.grad_fn.saved_tensors == (None, x)
    assert not b.requires_grad and b.grad_fn is None
    assert seen == [{"n": 3}, {"n": 5}]
    op.register_autograd(
        lambda ctx, *grads: grads[0],
        setup_context=lambda ctx, inputs, keyword_only_inputs, output: ctx.save_for_backward(x, 3),
    )
    with pytest.raises(TypeError, match="argument 1 is a int"):
        op(x)


def test_inputs_of_lists_are_counted_one_by_one():
    x, y = dispatch.ones(2, requires_grad=True), dispatch.ones(2)
    one = make("one", lambda a, b: a + b, schema="(Tensor a, Tensor b) -> Tensor")
    many = make("many", lambda a, b: a[0] + b, schema="(Tensor[] a, Tensor b) -> Tensor")
    for op in (one, many):
        op.register_autograd(lambda ctx, g: (g, g))
    assert one(x, y).grad_fn.needs_input_grad == (True, False, False)
    assert many([x, y], y).grad_fn.needs_input_grad == (True, False, False, False, False)


def test_error_in_setup_leaves_the_thread_as_it_was(scaled):
    def setup(ctx, inputs, output):
        raise KeyError

    scaled.register_autograd(lambda ctx, g: g, setup_context=setup)
    with pytest.raises(KeyError):
        scaled(dispatch.ones(1, requires_grad=True))
    assert dispatch.is_grad_enabled()


def test_a_rule_serves_exactly_its_class(scaled):
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return "handler"

    class Derived(Mode):
        pass

    seen = []

    def rule(mode, func, types, args, kwargs):
        seen.append((type(mode), func, types, args[1:], kwargs))
        return func(*args, **kwargs)

    scaled.register_torch_dispatch(Mode, rule)
    x = dispatch.ones(1)
    with Mode():
        assert scaled(x, 3).tolist() == [3.0]
    assert seen == [(Mode, ops.tco.scaled.default, (), (3,), {})]
    with Derived(), pytest.raises(RuntimeError):
        scaled(x)
    scaled._lib._destroy()
    assert "tco::scaled" not in _C._torch_dispatch_rules


def test_a_library_operator_takes_one_rule_for_a_class(library):
    lib = library("tcl", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    register_torch_dispatch("tcl::f", TorchDispatchMode, lambda *args: None, lib=lib)
    with pytest.raises(RuntimeError, match="already"):
        register_torch_dispatch("tcl::f", TorchDispatchMode, lambda *args: None, lib=lib)
    lib._destroy()
    assert "tcl::f" not in _C._torch_dispatch_rules


def test_fake_mode_takes_a_rule_too(scaled):
    scaled.register_fake(lambda x, n=2: x.new_empty(1))
    scaled.register_torch_dispatch(
        FakeTensorMode, lambda mode, func, types, args, kwargs: args[0].new_empty(7)
    )
    with FakeTensorMode():
        x = dispatch.ones(1)
        with pytest.raises(RuntimeError):
            scaled("no tensor")
        assert scaled(x).shape == (7,)


def test_switched_off_kernels_come_back_after_an_error(scaled):
    scaled.register_kernel("cpu", lambda x, n=2: x + 100)
    x = dispatch.ones(1)
    with pytest.raises(KeyError), scaled.set_kernel_enabled("cpu", False):
        assert scaled(x).tolist() == [2.0]
        raise KeyError
    assert scaled(x).tolist() == [101.0]


def test_the_newest_definition_of_a_name_serves():
    old = make("again", lambda x: x * 2, schema="(Tensor x) -> Tensor")
    new = make("again", lambda x: x * 3, schema="(Tensor x) -> Tensor")
    assert ops.tco.again(dispatch.ones(1)).tolist() == [3.0]
    assert custom_ops._maybe_get_opdef("tco::again") is new
    with pytest.raises(RuntimeError):
        old(dispatch.ones(1))


def test_kernels_may_be_called_by_themselves(scaled):
    kernel = scaled._lib._op_impls and custom_ops.new_version_kernel(scaled._opoverload)
    x = dispatch.ones(1)
    assert kernel(_C._dispatch_keys(x), x, 3).tolist() == [3.0]
    for args in ((), (None,), (_C._dispatch_keys(x), "no tensor")):
        with pytest.raises((TypeError, RuntimeError)):
            kernel(*args)
    with pytest.raises(TypeError):
        type(kernel)()
    empty = type(kernel).__new__(type(kernel))
    with pytest.raises(TypeError):
        empty(_C._dispatch_keys(x), x)
    with pytest.raises(TypeError):
        scaled._lib.impl("scaled", empty, "CPU")


def test_calls_leave_nothing_behind(scaled, grown_blocks):
    x = dispatch.ones(2)
    assert grown_blocks(lambda: scaled(x, 3)) < 100
    scaled.register_autograd(lambda ctx, g: g, setup_context=lambda ctx, inputs, output: None)
    leaf = dispatch.ones(2, requires_grad=True)
    assert grown_blocks(lambda: scaled(leaf)) < 100


def test_an_operator_that_was_taken_away_is_collected():
    op = make("gone", lambda x: x * 2, schema="(Tensor x) -> Tensor")
    op(dispatch.ones(1))
    custom_ops.OPDEF_TO_LIB.pop("tco::gone")._destroy()
    there = weakref.ref(op)
    del op
    gc.collect()
    assert there() is None


def test_formulas_of_library_operators_are_taken_back(library):
    lib = library("tcl", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x * 2, "CPU")
    more = library("tcl")
    register_autograd("tcl::f", lambda ctx, g: g * 2, lib=more)
    x = dispatch.ones(1, requires_grad=True)
    node = ops.tcl.f(x).grad_fn
    assert node.name().startswith("GeneratedBackwardFor_tcl_f")
    assert repr(node).startswith("<dispatch.autograd.function.GeneratedBackwardFor_tcl_f")
    more._destroy()
    assert not ops.tcl.f(x).grad_fn.name().startswith("Generated")


def test_a_pure_view_may_be_written_through():
    op = make("pure", None, schema="(Tensor(a) x) -> Tensor(a)")(lambda x: x.view(-1))

    def setup(ctx, inputs, output):
        ctx._is_pure_view = pure

    op.register_autograd(lambda ctx, grad: grad, setup_context=setup)
    base = dispatch.ones(2, 2, requires_grad=True).clone()
    pure = True
    view = op(base)
    assert view._is_view() and view._base is base and view.requires_grad
    view.mul_(2)
    assert base.tolist() == [[2.0, 2.0], [2.0, 2.0]]
    pure = False
    with pytest.raises(RuntimeError, match="modified inplace"):
        op(base).mul_(2)
    op._lib._destroy()


@pytest.mark.parametrize("kind", ["SymInt", "SymInt[]"])
def test_views_take_no_symbolic_numbers(kind):
    op = make("symbolic", None, schema=f"(Tensor(a) x, {kind} n) -> Tensor(a)")(lambda x, n: x[:])
    with pytest.raises(RuntimeError, match="views do not support SymInt"):
        op(dispatch.ones(2), 1 if kind == "SymInt" else [1])
    op._lib._destroy()


def test_lists_of_arguments_are_looked_into_for_gradients():
    plain, grad = dispatch.ones(1), dispatch.ones(1, requires_grad=True)
    requires = _C._any_requires_grad
    assert requires(plain, grad) and requires([plain, grad]) and requires(plain, a=grad)
    assert (
        not requires(plain, [plain], a=plain) and not requires([[grad]]) and not requires((grad,))
    )


def test_results_that_share_storage_are_found():
    x, y = dispatch.ones(2, 2), dispatch.ones(2)
    shares = _C._any_output_is_alias_to_input_or_output
    assert shares((x,), {}, (x.t(),)) and shares((), {"a": x}, (x,)) and shares((), {}, (y, y[1:]))
    assert shares(([[1, x], 2],), {}, ([x.view(-1)], y))
    assert not shares((x,), None, (y, x + 1)) and not shares((x,), {"a": x}, ())
    assert not shares((x,), {}, [x])


def test_a_kernel_that_was_off_outside_stays_off_after_an_inner_block(scaled):
    scaled.register_kernel("cpu", lambda x, n=2: x + 100)
    x = dispatch.ones(1)
    with scaled.set_kernel_enabled("cpu", False):
        with scaled.set_kernel_enabled("cpu", False):
            pass
        assert scaled(x).tolist() == [2.0]
    assert scaled(x).tolist() == [101.0]


def test_a_formula_sees_the_same_needs_each_time_it_runs(scaled):
    needs = []

    def backward(ctx, grad):
        needs.append(ctx.needs_input_grad)
        return grad, None

    scaled.register_autograd(backward)
    node = scaled(dispatch.ones(1, requires_grad=True)).grad_fn
    for _ in range(2):
        node.apply(dispatch.ones(1))
    assert needs == [(True,)] * 2


def test_a_list_of_tensors_counts_as_its_elements_and_one_of_numbers_as_one(library):
    lib, seen = library("tcol", "DEF"), []
    lib.define("f(Tensor[] xs, int[] dims, Tensor[] none, Tensor y) -> (Tensor, Tensor[])")
    lib.impl(
        "f", lambda xs, dims, none, y: (y * 2, [x * 3 for x in xs]), "CompositeExplicitAutograd"
    )

    def backward(ctx, first, others):
        seen.append((ctx.needs_input_grad, type(first), len(others)))
        return others, None, [], first

    setup = {"setup_context": lambda ctx, inputs, output: None}
    dispatch.library.register_autograd("tcol::f", backward, **setup, lib=lib)
    x, y = (dispatch.ones(2, requires_grad=True) for _ in range(2))
    found, others = dispatch.ops.tcol.f([x, dispatch.ones(2)], [7, 8, 9], [], y)
    assert all(t.requires_grad for t in (found, *others))
    grads = [dispatch.ones(n) for n in (2, 3, 4)]
    back = found.grad_fn.apply(*grads)
    assert back[:2] == (grads[1], grads[2]) and back[2] is None and back[3] is grads[0]
    assert seen == [(([True, False], False, [], True), Tensor, 2)]


def test_setup_context_gets_keyword_only_inputs_by_name():
    seen = []
    op = make("kw", lambda x, *, n=3: x * n, schema="(Tensor x, *, int n=3) -> Tensor")

    def setup_context(ctx, inputs, keyword_only_inputs, output):
        seen.append((len(inputs), keyword_only_inputs))

    op.register_autograd(lambda ctx, grad: grad, setup_context=setup_context)
    op(dispatch.ones(1, requires_grad=True))
    op(dispatch.ones(1, requires_grad=True), n=5)
    assert seen == [(1, {"n": 3}), (1, {"n": 5})]


def test_the_first_autocast_dtype_of_a_device_stays(scaled):
    for dtype in (dispatch.bfloat16, dispatch.float16):
        scaled.register_autocast("cpu", dtype)
    with dispatch.autocast("cpu"):
        assert scaled(dispatch.ones(1)).dtype is dispatch.bfloat16


def test_the_newest_rule_of_a_class_serves(scaled):
    class Mode(TorchDispatchMode):
        pass

    for n in (1, 2):
        scaled.register_torch_dispatch(
            Mode, lambda mode, func, types, args, kwargs, n=n: args[0] * n
        )
    x = dispatch.ones(1)
    with Mode():
        assert scaled(x).tolist() == [2.0]


def test_an_argument_that_was_marked_dirty_comes_back_itself():
    lib = dispatch.library.Library("tcod", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x, "CPU")

    def setup(ctx, inputs, output):
        ctx.mark_dirty(inputs[0])

    register_autograd("tcod::f", lambda ctx, grad: grad, setup_context=setup, lib=lib)
    x = dispatch.ones(1, requires_grad=True).clone()
    assert ops.tcod.f(x) is x
    lib._destroy()


def test_tags_are_listed_once():
    op = make(
        "tagged", lambda x: x * 2, schema="(Tensor x) -> Tensor", tags=[Tag.pt2_compliant_tag]
    )
    assert op._opoverload.tags == [Tag.pt2_compliant_tag]
