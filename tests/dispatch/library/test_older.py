"""The first API of custom operators: `dispatch._custom_ops`, and `CustomOp` behind it."""

from collections.abc import Sequence

import pytest

import dispatch
from dispatch import Tensor, _custom_ops as custom_ops, ops
from dispatch.library import older

pytestmark = pytest.mark.filterwarnings("ignore:torch._custom_op is deprecated")
NAME = "older_ops::f"


@pytest.fixture(autouse=True)
def take_back():
    yield
    for name in [name for name in older.global_registry if name.startswith("older_ops::")]:
        custom_ops._destroy(name)


def define(function=None):
    def f(x: Tensor) -> Tensor:
        raise NotImplementedError

    custom_ops.custom_op(NAME, function or f)
    return older.get_op(NAME)


def grad_of(save, backward, differentiable=None):
    op = define()
    custom_ops.impl(NAME, func=lambda x: x.sin())
    custom_ops.impl_save_for_backward(NAME, func=save)
    custom_ops.impl_backward(NAME, differentiable, func=backward)
    return op(dispatch.ones(2, requires_grad=True)).grad_fn


@pytest.mark.parametrize("schema", ["(Tensor(a!) x) -> Tensor", "(Tensor(a) x) -> Tensor(a)",
                                    "(Tensor x) -> ()"])  # fmt: skip
def test_operators_are_functional(schema):
    with pytest.raises(ValueError, match="only supports functional"):
        custom_ops.custom_op(NAME, schema)
    assert NAME not in older.global_registry


@pytest.mark.parametrize(
    ("name", "schema", "error", "text"),
    [
        (NAME, "(", AssertionError, "Invalid function schema: f"),
        (NAME + ".out", "(Tensor x) -> Tensor", ValueError, "overload"),
        (NAME, "(Tensor self) -> Tensor", ValueError, "'self'"),
        ("aten::f", "(Tensor x) -> Tensor", ValueError, "is a reserved namespace"),
        ("a.b::f", "(Tensor x) -> Tensor", ValueError, "without dots"),
        ("f", "(Tensor x) -> Tensor", ValueError, "namespace"),
    ],
)
def test_names_and_schemas_are_checked(name, schema, error, text):
    with pytest.raises(error, match=text):
        custom_ops.custom_op(name, schema)


def test_it_says_that_it_is_old():
    with pytest.warns(DeprecationWarning, match="torch.library"):
        define()


def test_a_prototype_has_the_name_of_the_operator():
    with pytest.raises(ValueError, match="to have name"):
        custom_ops.custom_op("older_ops::g")(lambda x: x)


@pytest.mark.parametrize(
    ("schema", "func", "text"),
    [
        ("(Tensor y) -> Tensor", lambda x: x, "signature to match"),
        ("(Tensor x, *, Tensor y) -> Tensor", lambda x, y: x, "signature to match"),
        ("(Tensor x) -> Tensor", lambda *x: x, "not supported"),
        ("(Tensor x) -> Tensor", lambda x=1: x, "default arguments"),
    ],
)
def test_a_function_beside_a_schema_has_its_arguments(schema, func, text):
    func.__name__ = "f"
    with pytest.raises(ValueError, match=text):
        older.custom_op(NAME, schema)(func)


def test_kernels_are_registered_by_device():
    op = define()
    with pytest.raises(NotImplementedError, match="no cpu impl registered"):
        op(dispatch.ones(2))
    with pytest.raises(ValueError, match="we only support device_type"):
        custom_ops.impl(NAME, device_types=["cpu", "hip"])(lambda x: x)
    custom_ops.impl(NAME, device_types="cpu")(lambda x: x + 1)
    assert op(dispatch.ones(2)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match=r"a cpu impl registered .*test_older.py:\d+"):
        custom_ops.impl(NAME, device_types="cpu")(lambda x: x)


def test_a_second_definition_is_refused_until_the_first_is_destroyed():
    define()
    with pytest.raises(RuntimeError, match="multiple times"):
        define()
    custom_ops._destroy(NAME)
    define()
    with pytest.raises(RuntimeError, match="Could not find custom op"):
        custom_ops._destroy("older_ops::nobody")


def test_without_a_gradient_arguments_may_not_require_grad():
    def f(xs: Sequence[Tensor]) -> Tensor:
        raise NotImplementedError

    op = define(f)
    custom_ops.impl(NAME)(lambda xs: xs[1] * 2)
    given = [dispatch.ones(2), dispatch.ones(2, requires_grad=True)]
    with pytest.raises(RuntimeError, match="Autograd has not been implemented"):
        op(given)
    with dispatch.no_grad():
        assert op(given).tolist() == [2, 2]


def test_half_a_gradient_says_what_is_missing():
    op = define()
    custom_ops.impl_backward(NAME)(lambda ctx, saved, grad: {"x": grad})
    with pytest.raises(RuntimeError, match="unable to find a 'save_for_backward'"):
        op(dispatch.ones(2))


def test_a_gradient_is_named_by_arguments():
    node = grad_of(lambda inputs, out: inputs.x, lambda ctx, x, grad: {"x": grad * x.cos()})
    (found, *_) = node.apply(dispatch.ones(2))
    assert dispatch.allclose(found, dispatch.ones(2).cos())


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (None, "to be a dict"),
        ({}, "to have keys {'x'}"),
        ({"x": None, "y": None}, "non-Tensor-like types"),
        ({"x": (1,)}, "either None or a Tensor"),
    ],
)
def test_gradients_of_another_form_are_refused(result, text):
    node = grad_of(lambda inputs, out: None, lambda ctx, saved, grad: result)
    with pytest.raises(RuntimeError, match=text):
        node.apply(dispatch.ones(2))


@pytest.mark.parametrize(
    ("result", "text"),
    [(None, "list of gradients"), ([None], "2 gradients but got 1"), ([1, 2], "None or Tensor")],
)
def test_gradients_of_a_list_are_a_list(result, text):
    def f(xs: Sequence[Tensor]) -> Tensor:
        raise NotImplementedError

    op = define(f)
    custom_ops.impl(NAME)(lambda xs: xs[0].sin())
    custom_ops.impl_save_for_backward(NAME)(lambda inputs, out: None)
    custom_ops.impl_backward(NAME)(lambda ctx, saved, grad: {"xs": result})
    node = op([dispatch.ones(2, requires_grad=True) for _ in range(2)]).grad_fn
    with pytest.raises(RuntimeError, match=text):
        node.apply(dispatch.ones(2))


def test_outputs_that_are_not_differentiable_do_not_require_grad():
    def f(x: Tensor) -> tuple[list[Tensor], Tensor]:
        raise NotImplementedError

    op = define(f)
    custom_ops.impl(NAME)(lambda x: ([x.clone()], x.clone()))
    custom_ops.impl_save_for_backward(NAME)(lambda inputs, out: None)
    with pytest.raises(RuntimeError, match="output_differentiability"):
        custom_ops.impl_backward(NAME, [True])(lambda ctx, saved, a, b: {"x": b})
    custom_ops.impl_backward(NAME, [False, True])(lambda ctx, saved, a, b: {"x": b})
    (first,), second = op(dispatch.ones(2, requires_grad=True))
    assert (first.requires_grad, second.requires_grad) == (False, True)


def test_a_number_is_never_differentiable():
    def f(x: Tensor) -> tuple[Tensor, int]:
        raise NotImplementedError

    op = define(f)
    custom_ops.impl(NAME)(lambda x: (x.clone(), 3))
    custom_ops.impl_save_for_backward(NAME)(lambda inputs, out: None)
    custom_ops.impl_backward(NAME, [True, True])(lambda ctx, saved, a, b: {"x": a})
    with pytest.raises(RuntimeError, match="is not a Tensor"):
        op(dispatch.ones(2, requires_grad=True))


def test_an_operator_of_a_library_takes_parts_too(library):
    lib = library("older_ops", "FRAGMENT")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    with pytest.raises(RuntimeError, match="already has an implementation"):
        custom_ops.impl(NAME, device_types="cpu")(lambda x: x)
    custom_ops.impl(NAME, device_types="cuda")(lambda x: x)
    assert repr(older.global_registry[NAME]) == f'<CustomOp(op="{NAME}")>'


def test_an_abstract_implementation_serves_meta_tensors():
    @older.custom_op(NAME)
    def f(x: Tensor) -> Tensor: ...

    made = f.impl_abstract()(lambda x: x.new_empty(7))
    assert f(dispatch.ones(2, device="meta")).shape == (7,)
    assert older.get_abstract_impl(NAME) is made
    with pytest.raises(RuntimeError, match="The CustomOp constructor is private"):
        older.CustomOp(None, None, None, None, None)


def test_a_context_is_asked_for_in_vain_on_meta_tensors():
    @older.custom_op(NAME)
    def f(x: Tensor) -> Tensor: ...

    f.impl_abstract()(lambda x: x.new_empty(older.get_ctx().new_dynamic_size()))
    with pytest.raises(RuntimeError, match="get_ctx"):
        f(dispatch.ones(2, device="meta"))


@pytest.mark.parametrize(
    ("key", "text"),
    [("Undefined", "no Tensor inputs"), ("Meta", "no abstract impl"), ("CUDA", "no cuda impl"),
     ("XPU", "dispatch key XPU")],
)  # fmt: skip
def test_a_missing_kernel_is_told_with_what_registers_it(key, text):
    with pytest.raises(NotImplementedError, match=f"<op>.*{text}"):
        older.report_error_callback(type("Op", (), {"__repr__": lambda self: "<op>"})(), key)


def test_a_factory_has_a_kernel_of_its_own():
    @older.custom_op(NAME)
    def f(xs: Sequence[Tensor]) -> Tensor: ...

    with pytest.raises(NotImplementedError, match="no Tensor inputs"):
        f([])
    f.impl_factory()(lambda xs: dispatch.ones(2))
    assert f([]).tolist() == [1, 1]
    assert hasattr(ops.older_ops, "f")
