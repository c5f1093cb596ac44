"""The core's functions refuse what they cannot take: PyTorch's type of error, and why."""

import functools

import pytest

import dispatch
from dispatch import _C, library
from tests.dispatch.refused import (
    A,
    check_refused,
    i64,
    o,
    z,
)  # fmt: skip

# A kernel that there is, and nothing to run.
fallthrough = functools.partial(
    _C._dispatch_get_computed_kernel_for_dispatch_key, "aten::relu", "ADInplaceOrView"
)

CALLS = [
    (
        lambda: dispatch.device(type="cpu", wrong=1),
        TypeError,
        "device(): unexpected argument 'wrong'; expected",
    ),
    (
        lambda: dispatch.device("cpu", type="cpu"),
        TypeError,
        "device(): unexpected argument 'type'; expected device(device)",
    ),
    (lambda: dispatch.device(type=3), TypeError, "device(): argument 'type' must be str, not int"),
    (
        lambda: dispatch.device(index=3),
        TypeError,
        "device(): expected device(device) or device(type, index=None)",
    ),
    (
        lambda: dispatch.Generator().graphsafe_get_state(),
        NotImplementedError,
        "graphsafe_get_state: a generator on cpu has no state of",
    ),
    (
        lambda: dispatch.Generator().get_offset(),
        RuntimeError,
        "get_offset: a generator on cpu has no offset",
    ),
    (
        lambda: dispatch.Generator().set_offset(0),
        RuntimeError,
        "set_offset: a generator on cpu has no offset",
    ),
    (
        lambda: dispatch._C._set_autograd_fallback_mode("odd"),
        RuntimeError,
        "autograd fallback mode 'odd': expected 'warn' or 'nothing'",
    ),
    (
        lambda: dispatch._C._jit_get_operation(3),
        TypeError,
        "_jit_get_operation: expected an operator's name, got 3",
    ),
    (
        lambda: dispatch._C._jit_get_operation("add"),
        RuntimeError,
        "_jit_get_operation: 'add' has no namespace",
    ),
    (
        lambda: dispatch._C._jit_resolve_packet("aten::nonesuch"),
        RuntimeError,
        "_jit_resolve_packet: no operator aten::nonesuch",
    ),
    (
        lambda: dispatch._C._jit_resolve_packet(3),
        TypeError,
        "_jit_resolve_packet: expected an operator's name, got 3",
    ),
    (
        lambda: dispatch._C._parse_dispatch_key(None),
        RuntimeError,
        "_parse_dispatch_key: expected a name, got None",
    ),
    (
        lambda: dispatch._C._dispatch_has_kernel(None),
        RuntimeError,
        "an operator's name: expected a text, got None",
    ),
    (
        lambda: dispatch._C._dispatch_has_kernel(3),
        TypeError,
        "an operator's name: expected a str, got 3 (int)",
    ),
    (
        lambda: dispatch._C._dispatch_find_schema_or_throw(None, ""),
        RuntimeError,
        "an operator's name: expected a text, got None",
    ),
    (
        lambda: dispatch._C._dispatch_has_kernel("aten::"),
        RuntimeError,
        "'aten::' is no operator's name: expected namespace::name or",
    ),
    (
        lambda: dispatch._C._dispatch_has_kernel("aten::add."),
        RuntimeError,
        "'aten::add.' is no operator's name: expected namespace::name",
    ),
    (
        lambda: dispatch._C._dispatch_has_kernel("aten::add.b.c"),
        RuntimeError,
        "'aten::add.b.c' is no operator's name: expected",
    ),
    (
        lambda: dispatch._C._SchemaArgument(3, 0),
        TypeError,
        "_SchemaArgument: type: expected a _SchemaArgType, got 3",
    ),
    (
        lambda: dispatch._C._SchemaArgument(dispatch._C._SchemaArgType.input, -1),
        TypeError,
        "_SchemaArgument: index: expected an int from 0, got -1",
    ),
    (
        lambda: dispatch._C._SchemaArgument(dispatch._C._SchemaArgType.input, "a"),
        TypeError,
        "_SchemaArgument: index: expected an int from 0, got 'a'",
    ),
    (
        lambda: dispatch._C._SchemaInfo(3),
        TypeError,
        "_SchemaInfo: expected a FunctionSchema, got 3",
    ),
    (
        lambda: dispatch._C._SchemaInfo(A.add.Tensor._schema).is_mutable(3),
        TypeError,
        "_SchemaInfo: expected a _SchemaArgument, got 3",
    ),
    (
        lambda: dispatch._C._dispatch_library("IMPL", "aten", "").define("f(Tensor x) -> Tensor"),
        RuntimeError,
        "f(Tensor x) -> Tensor: an IMPL library (at /dev/null:0)",
    ),
    (
        lambda: dispatch._C._dispatch_library("FRAGMENT", "_", ""),
        RuntimeError,
        'a FRAGMENT library cannot have the namespace "_", which is',
    ),
    (
        lambda: dispatch._C._dispatch_library("DEF", "_", ""),
        RuntimeError,
        'a DEF library cannot have the namespace "_", which is for',
    ),
    (
        lambda: dispatch._C._dispatch_library("FRAGMENT", "refused", "").define(
            "f(Tensor x) -> Tensor", "odd"
        ),
        RuntimeError,
        "f(Tensor x) -> Tensor: alias analysis 'odd': expected one of",
    ),
    (
        lambda: dispatch._C._dispatch_library("FRAGMENT", "refused", "").define(
            "f(Tensor x) -> Tensor", "", [3]
        ),
        TypeError,
        "f(Tensor x) -> Tensor: expected tags, got 3 (int)",
    ),
    (
        lambda: dispatch._C._dispatch_library("IMPL", "_", "").fallback("", lambda *a: 1),
        RuntimeError,
        "a fallback needs a key, at /dev/null:0",
    ),
    (
        lambda: dispatch._C._get_obj_in_tls("nonesuch"),
        RuntimeError,
        "_get_obj_in_tls: this thread keeps nothing as 'nonesuch'",
    ),
    (
        lambda: dispatch._C._set_torch_function_state(3),
        TypeError,
        "_set_torch_function_state: expected a _TorchFunctionState",
    ),
    (
        lambda: dispatch._C._set_torch_function_state("ENABLED"),
        TypeError,
        "_set_torch_function_state: expected a _TorchFunctionState",
    ),
    (
        lambda: o(2).backward(),
        RuntimeError,
        "element 0 of tensors does not require grad and does not have",
    ),
    (
        lambda: o(2).requires_grad_().backward(),
        RuntimeError,
        "backward() is not possible: this library has no autograd",
    ),
    (lambda: setattr(o(2), "data", 3), TypeError, "Tensor.data: expected a tensor, got int"),
    (
        lambda: setattr(o(2, requires_grad=True), "data", z(2, dtype=i64)),
        RuntimeError,
        "Tensor.data: dispatch.int64 cannot stand in a tensor that",
    ),
    (
        lambda: A.add.Tensor.py_impl(3)(lambda: 1),
        AssertionError,
        "aten.add.Tensor: a rule is for a DispatchKey, a mode or",
    ),
    (
        lambda: A.add.Tensor.py_impl(dispatch._C.DispatchKey.Python)(lambda: 1),
        AssertionError,
        "aten.add.Tensor: the key Python has no kernel of its own",
    ),
    (
        lambda: delattr(A.add.Tensor, "nonesuch"),
        AttributeError,
        "'OpOverload' object has no attribute 'nonesuch'",
    ),
    (
        lambda: dispatch.from_dlpack(3),
        RuntimeError,
        "from_dlpack: expected an array with __dlpack__ or a capsule",
    ),
    (
        lambda: o(2, device="meta").__dlpack__(),
        BufferError,
        "__dlpack__: a tensor on meta has no memory here",
    ),
    (
        lambda: dispatch.Generator().graphsafe_set_state(None),
        TypeError,
        "graphsafe_set_state: expected a Generator, got NoneType",
    ),
    (
        lambda: dispatch.Generator().graphsafe_set_state(dispatch.Generator()),
        NotImplementedError,
        "graphsafe_set_state: a generator on cpu has no state of",
    ),
    (lambda: o([1] * 65), RuntimeError, "expected at most 64 integers in a list, got 65"),
    (
        lambda: A.unfold(o([1] * 64), 0, 1, 1).numpy(),
        ValueError,
        "numpy arrays have at most 64 dimensions, the tensor has 65",
    ),
    (
        lambda: A.unfold(o([1] * 64), 0, 1, 1).add(1),
        RuntimeError,
        "only tensors with up to 64 dims are supported",
    ),
    (
        lambda: _C._dispatch_has_kernel("aten::add."),
        RuntimeError,
        "'aten::add.' is no operator's name",
    ),
    (
        lambda: _C._dispatch_has_kernel("aten::add.a.b"),
        RuntimeError,
        "'aten::add.a.b' is no operator's name",
    ),
    (lambda: _C._dispatch_has_kernel("aten::"), RuntimeError, "'aten::' is no operator's name"),
    (
        lambda: _C._dispatch_has_kernel_for_dispatch_key("aten::odd", "CPU"),
        RuntimeError,
        "operator aten::odd does not exist",
    ),
    (
        lambda: _C._dispatch_kernel_for_dispatch_key_is_fallthrough("aten::add.Tensor", "XLA"),
        RuntimeError,
        "aten::add.Tensor: no kernel is registered for XLA",
    ),
    (
        lambda: _C._dispatch_has_computed_kernel_for_dispatch_key("aten::add.Tensor", "Autograd"),
        RuntimeError,
        "Autograd is an alias key: a computed kernel is that of one",
    ),
    (
        lambda: _C._dispatch_get_computed_kernel_for_dispatch_key("aten::add.Tensor", "Autograd"),
        RuntimeError,
        "Autograd is an alias key: a computed kernel is that of one",
    ),
    (
        lambda: _C._dispatch_get_computed_kernel_for_dispatch_key("aten::nonzero", "XLA"),
        RuntimeError,
        "no kernel for XLA for aten::nonzero",
    ),
    (
        lambda: _C._DispatchOperatorHandle(),
        TypeError,
        "handles come from _dispatch_find_schema_or_throw",
    ),
    (
        lambda: _C._SafeKernelFunction(),
        TypeError,
        "kernels come from _dispatch_get_computed_kernel_for_dispatch",
    ),
    (lambda: _C._resolve_overload("aten::odd", (), {}), RuntimeError, "there is no such operator"),
    (
        lambda: fallthrough().call_boxed(dispatch.DispatchKeySet(dispatch.DispatchKey.CPU), o(2)),
        RuntimeError,
        "the kernel of ADInplaceOrView is a fallthrough: there is nothing",
    ),
    (
        lambda: _C._get_dispatch_mode(3),
        RuntimeError,
        "_get_dispatch_mode: expected a _TorchDispatchModeKey, got 3 (int)",
    ),
    (
        lambda: _C._set_dispatch_mode(3),
        RuntimeError,
        "mode._mode_key: expected a _TorchDispatchModeKey, got None",
    ),
    (lambda: _C._pop_torch_dispatch_stack(), RuntimeError, "cannot pop a mode: the stack is empty"),
    (lambda: _C._pop_torch_function_stack(), RuntimeError, "cannot pop a mode: the stack is empty"),
    (
        lambda: _C._pop_torch_dispatch_stack(_C._TorchDispatchModeKey.FAKE),
        RuntimeError,
        "cannot pop the FakeTensorMode: none is active",
    ),
    (lambda: _C._get_dispatch_stack_at(0), RuntimeError, "no dispatch mode at 0: there are 0"),
    (lambda: _C._get_function_stack_at(0), RuntimeError, "no function mode at 0: there are 0"),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)


def test_a_second_rule_is_refused_and_the_first_stays():
    with library._scoped_library("refused_rules", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        op = dispatch.ops.refused_rules.f.default
        for key, error, text in [
            (dispatch.DispatchKey.CPU, RuntimeError, "trying to override the Python kernel"),
            (dispatch.Tensor, AssertionError, "has a rule already"),
            (dispatch._C._functorch.TransformType.Vmap, AssertionError, "has a rule already"),
        ]:
            first = op.py_impl(key)(lambda *args, **kwargs: None)
            check_refused(lambda key=key: op.py_impl(key)(print), error, text)
            found = {**op.py_kernels, **op.python_key_table, **op.functorch_table}
            assert found[key] is first


def test_an_operator_without_a_library_says_so():
    with library._scoped_library("refused_calls", "DEF") as lib:
        lib.define("f(Tensor x) -> Tensor")
        lib.impl("f", lambda x: x, "CPU")
        op = dispatch.ops.refused_calls.f.default
        assert op(o(2)).tolist() == [1, 1]
    check_refused(lambda: op(o(2)), RuntimeError, "its library was destroyed")
