"""What programs look for in the texts of refusals at registration: phrases that PyTorch has too."""

import collections
import logging
import typing
import warnings

import pytest

import dispatch
from dispatch import Tag, Tensor, _custom_ops, library
from dispatch._C import _jit_resolve_packet, advice
from dispatch.library import infer_schema
from dispatch.library.signatures import tuple_to_list

NS = "refusals_of_registration"


@pytest.fixture
def lib():
    with library._scoped_library(NS, "FRAGMENT") as made:
        yield made


def varargs(*args): ...
def varkwargs(**kwargs): ...
def nameless(x): ...
def without_return(x: Tensor): ...
def elsewhere(x: Tensor) -> "list[Nowhere]": ...  # noqa: F821
def pairs(x: Tensor, y: tuple[int, int]) -> Tensor: ...
def mixed(x: Tensor, y: tuple[int, float]) -> Tensor: ...
def number(x: Tensor, y: int) -> Tensor: ...
def keyword(*, x: Tensor) -> Tensor: ...
def int_first(x: int, y: Tensor) -> Tensor: ...
def nothing(x: Tensor) -> None: ...
def outs(x: Tensor, *, out: Tensor) -> Tensor: ...
def positional_out(x: Tensor, out: Tensor) -> Tensor: ...
def list_out(x: Tensor, *, out: list[Tensor]) -> Tensor: ...
def ellipsis(x: Tensor) -> tuple[Tensor, ...]: ...


@pytest.mark.parametrize(
    ("function", "mutates", "tags", "phrase"),
    [
        (varargs, (), (), "varargs"),
        (varkwargs, (), (), "varkwargs"),
        (nameless, (), (), "must have a type annotation"),
        (without_return, (), (), r"No return type annotation was provided\. Please add one\."),
        (elsewhere, (), (), r"Unsupported type annotation list\[Nowhere\]\. It is not a type\."),
        (pairs, (), (), r"unsupported type.*For example, list\[int\]"),
        (ellipsis, (), (), "unsupported"),
        (number, {"y"}, (), "can be mutated"),
        (number, {"z"}, (), "{'z'} in mutates_args were not found"),
        (keyword, {"x"}, Tag.inplace, r"dispatch\.Tag\.inplace: the first positional argument"),
        (int_first, {"y"}, Tag.inplace, "first positional argument"),
        (number, (), Tag.inplace, "mutates_args"),
        (nothing, {"x"}, Tag.inplace, "return annotation"),
        (positional_out, {"out"}, Tag.out, "keyword-only"),
        (outs, (), Tag.out, "at least one"),
        (list_out, {"out"}, Tag.out, "only supports Tensor"),
    ],
)
def test_what_a_function_lacks_is_said(function, mutates, tags, phrase):
    with pytest.raises(ValueError, match=phrase):
        infer_schema(function, mutates_args=mutates, tags=tags)


def test_a_tuple_of_several_types_has_no_example():
    with pytest.raises(ValueError, match="unsupported type") as caught:
        infer_schema(mixed, mutates_args=())
    assert "For example" not in str(caught.value)
    assert tuple_to_list(tuple[int, float]) == list[typing.Union[int, float]]  # noqa: UP007
    assert tuple_to_list(tuple[int, ...]) == list[int]
    assert tuple_to_list(tuple) is list


def test_two_tags_exclude_each_other():
    with pytest.raises(AssertionError, match="mutually exclusive"):
        infer_schema(outs, mutates_args={"x", "out"}, tags=[Tag.inplace, Tag.out])


@pytest.mark.parametrize(
    ("schema", "phrase"),
    [
        ("f(asdf a) -> Tensor", "unknown type specifier"),
        ("f(int64_t a) -> Tensor", "Use `SymInt` or `int`"),
        ("f(double a) -> Tensor", "Use `float`"),
        ("f(PyObject a) -> Tensor", "unknown type specifier"),
    ],
)
def test_an_unknown_type_is_named_so(lib, schema, phrase):
    with pytest.raises(RuntimeError, match=phrase):
        lib.define(schema)


def test_a_second_kernel_is_refused_where_none_may_be_replaced(lib):
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", abs, "CPU")
    with pytest.raises(RuntimeError, match="already a kernel registered from python"):
        lib.impl("f", abs, "CPU", allow_override=False)
    library.register_fake(f"{NS}::f", abs, lib=lib)
    with pytest.raises(RuntimeError, match="already has a fake impl"):
        library.register_fake(f"{NS}::f", abs, lib=lib, allow_override=False)
    lib.define("g(Tensor x) -> Tensor")
    lib.impl("g", abs, "Meta")
    with pytest.raises(RuntimeError, match=r"already has .*Meta implementation"):
        library.register_fake(f"{NS}::g", abs, lib=lib, allow_override=False)


def test_only_a_kernel_that_is_there_is_told_to_be_replaced():
    advice.set_warn_always(True)
    try:
        with library._scoped_library("aten", "IMPL") as aten:
            for name, key in [("no_such_operator", "CPU"), ("sin", "XPU")]:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    aten.impl(name, abs, key)
            with pytest.warns(UserWarning, match="sin has a kernel at CPU already"):
                aten.impl("sin", abs, "CPU")
    finally:
        advice.set_warn_always(False)


def test_names_that_are_none_are_refused(lib):
    with pytest.raises(ValueError, match="expected schema to look like"):
        library.define(f"{NS}::h", "h(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        library.impl(f"{NS}::h", "somewhere")
    with pytest.raises(RuntimeError, match="failed to match any schema"):
        _jit_resolve_packet("aten::sum", *[dispatch.ones(1)] * 3)


def test_fake_kernels_that_ask_for_sizes_need_fake_tensors(lib):
    made = library.custom_op(f"{NS}::sizes", abs, mutates_args=(), schema="(Tensor x) -> Tensor")
    made.register_fake(lambda x: x.new_empty(library.get_ctx().new_dynamic_size()))
    with pytest.raises(RuntimeError, match="data-dependent shape"):
        made(dispatch.ones(1, device="meta"))


def test_what_a_custom_operator_lacks_is_said(caplog):
    @library.custom_op(f"{NS}::plain", mutates_args=())
    def plain(x: Tensor) -> Tensor:
        return x

    with pytest.raises(RuntimeError, match="may not alias"):
        plain(dispatch.ones(1))
    lacking = pytest.raises(RuntimeError, match="There was no fake impl registered for <CustomOp")
    with dispatch.FakeTensorMode(), lacking:
        plain(dispatch.ones(1))
    with caplog.at_level(logging.WARNING), plain.set_kernel_enabled("gpu", enabled=False):
        pass
    assert "no kernel was registered for this device type" in caplog.text

    @library.custom_op(f"{NS}::made", mutates_args=(), device_types="cpu")
    def made(device: dispatch.device) -> Tensor:
        return dispatch.ones(1)

    with pytest.raises(RuntimeError, match="does not have a kernel registered for cuda"):
        made("cuda")
    with pytest.raises(ValueError, match="Functions without tensor inputs are required to have"):
        library.custom_op(
            f"{NS}::bare", abs, mutates_args=(), schema="() -> Tensor", device_types="cpu"
        )


def test_out_operators_have_no_autograd_and_need_no_fake_kernel():
    def f(x: Tensor, *, out: Tensor) -> Tensor:
        return out.copy_(x)

    made = library.custom_op(f"{NS}::out", f, mutates_args={"out"}, tags=Tag.out)
    with pytest.raises(RuntimeError, match="Out variants do not support autograd"):
        made.register_autograd(lambda ctx, grad: grad)
    with pytest.warns(UserWarning, match=r"dispatch\.Tag\.out"):
        made.register_fake(lambda x, *, out: out)


def test_named_tuples_are_no_parameters():
    point = collections.namedtuple("point", ["x", "y"])

    def f(x: Tensor, y: point) -> Tensor: ...

    with pytest.raises(ValueError, match="unsupported type"):
        infer_schema(f, mutates_args=())


def test_keyword_only_tensors_are_named_so(lib):
    def f(x: Tensor, *, y: Tensor) -> Tensor: ...

    lib.define("g(Tensor x, *, Tensor y) -> Tensor")
    for register in (
        lambda: library.custom_op(f"{NS}::f", f, mutates_args=()),
        lambda: library.register_autograd(f"{NS}::g", abs),
        lambda: library.register_vmap(f"{NS}::g", abs),
    ):
        with pytest.raises(NotImplementedError, match="kwarg-only Tensor args"):
            register()


def test_a_schema_that_writes_more_than_is_said_is_refused():
    with pytest.raises(ValueError, match=r"the op mutates \{'x'\}, but mutates_args is"):
        library.custom_op(f"{NS}::w", abs, mutates_args=(), schema="(Tensor(a!) x) -> ()")


def test_a_kernel_that_is_gone_or_was_never_there_is_named_so():
    with library._scoped_library("refusals_kernels", "DEF") as made:
        made.define("f(Tensor x) -> Tensor")
        made.impl("f", abs, "CPU")
        kernel = library.get_kernel("refusals_kernels::f", "CPU")
        with pytest.raises(RuntimeError, match="no kernel for CUDA for refusals_kernels::f"):
            library.get_kernel("refusals_kernels::f", "CUDA")
    keys = dispatch.DispatchKeySet(dispatch.DispatchKey.CPU)
    with pytest.raises(RuntimeError, match="has been invalidated"):
        kernel.call_boxed(keys, dispatch.ones(1))


@pytest.mark.parametrize(
    ("schema", "phrase"),
    [
        ("(Tensor(a) x) -> Tensor(a)", "operator that returns views"),
        ("(Tensor(a!) x) -> Tensor", "non-functional"),
        ("(Tensor x) -> ()", "no returns"),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_gradients_of_what_is_not_functional_are_refused(lib, schema, phrase):
    name = "h" + str(len(phrase))
    lib.define(name + schema)
    for register in (_custom_ops.impl_backward, _custom_ops.impl_save_for_backward):
        with pytest.raises(RuntimeError, match=phrase):
            register(f"{NS}::{name}")(abs)


def test_opcheck_says_what_it_takes():
    x = (dispatch.ones(1),)
    with pytest.raises(ValueError, match="OpOverload"):
        library.opcheck(dispatch.sin, x)
    with pytest.raises(ValueError, match="test_utils to be subset of"):
        library.opcheck(dispatch.ops.aten.sin.default, x, test_utils="other")


@pytest.mark.parametrize("schema", ["(Tensor(a!) x) -> ()", "(Tensor(a) x) -> Tensor(a)"])
def test_an_operator_known_by_name_that_writes_or_views_has_no_formula(schema):
    defining = library.Library("formulas", "FRAGMENT")
    defining.define("f" + schema)
    with pytest.raises(RuntimeError, match="can have an autograd formula"):
        library.register_autograd("formulas::f", lambda ctx, grad: grad, lib=defining)
    defining._destroy()
