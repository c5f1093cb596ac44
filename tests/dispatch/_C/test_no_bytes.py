"""Tensors with elements and without bytes: kernels that would read them raise, whoever calls."""

import pytest

import dispatch
from dispatch import _C, Tensor, ops
from dispatch._C import DispatchKey, DispatchKeySet
from dispatch.fake import FakeTensorMode

_CPU = DispatchKeySet(DispatchKey.CPU)
_ABOVE = DispatchKeySet(DispatchKey.Python) | DispatchKeySet(DispatchKey.Functionalize)


class _Wrapper(Tensor):
    @staticmethod
    def __new__(cls):
        return Tensor._make_wrapper_subclass(cls, (2, 2), dtype=dispatch.float32)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


_MADE = {
    "wrapper": _Wrapper,
    "functional": lambda: _C._to_functional_tensor(dispatch.ones(2, 2)),
    "fake": lambda: FakeTensorMode().from_tensor(dispatch.ones(2, 2)),
}


def _redispatched(op, args):
    return op.redispatch(_CPU, *args)


def _below(op, args):
    with _C._DisableTorchDispatch(), _C._ExcludeDispatchKeyGuard(_ABOVE):
        return op(*args)


def _forced(op, args):
    excluded = _ABOVE | _C._dispatch_tls_local_exclude_set()  # autocast's keys among them
    with _C._ForceDispatchKeyGuard(DispatchKeySet(DispatchKey.Undefined), excluded):
        return op(*args)


def _handle(op, args):
    schema = op._schema
    handle = _C._dispatch_find_schema_or_throw(schema.name, schema.overload_name)
    return handle.redispatch_boxed(_CPU, *args)


def _computed(op, args):
    name = op._schema.name + ("." + op._schema.overload_name if op._schema.overload_name else "")
    kernel = _C._dispatch_get_computed_kernel_for_dispatch_key(name, DispatchKey.CPU)
    return kernel.call_boxed(_CPU, *args)


_CALLS = {
    "add": lambda t: (ops.aten.add.Tensor, (t, 1)),
    "add in place": lambda t: (ops.aten.add_.Tensor, (t, dispatch.ones(2, 2))),
    "copy": lambda t: (ops.aten.copy_.default, (dispatch.ones(2, 2), t)),
    "fill": lambda t: (ops.aten.fill_.Scalar, (t, 3)),
    "zero": lambda t: (ops.aten.zero_.default, (t,)),
    "mm": lambda t: (ops.aten.mm.default, (t, t)),
    "sum": lambda t: (ops.aten.sum.default, (t,)),
    "cat": lambda t: (ops.aten.cat.default, ([t, t],)),
}


@pytest.mark.parametrize("way", [_redispatched, _below, _forced, _handle, _computed])
@pytest.mark.parametrize("call", _CALLS)
@pytest.mark.parametrize("kind", _MADE)
def test_error_names_the_operator_and_its_schema(kind, call, way):
    op, args = _CALLS[call](_MADE[kind]())
    with pytest.raises(RuntimeError) as caught:
        way(op, args)
    assert type(caught.value) is RuntimeError
    assert "no bytes" in str(caught.value)
    assert str(op._schema) in str(caught.value)
    assert str(caught.value).count("no bytes") == 1


def test_python_kernel_that_redispatches_meets_the_same_error():
    library = dispatch.library.Library("nobytes", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: ops.aten.mul.Tensor.redispatch(_CPU, x, 2), "CPU")
    with pytest.raises(RuntimeError, match=r"aten::mul\.Tensor.*no bytes"):
        ops.nobytes.twice.default.redispatch(_CPU, _Wrapper())
    library._destroy()


def test_metadata_of_a_tensor_without_bytes_may_be_used():
    with _C._DisableTorchDispatch():
        assert ops.aten.view.default(_Wrapper(), [4]).shape == (4,)


def test_empty_tensor_needs_no_bytes():
    t = dispatch.empty(0, 3)
    assert ops.aten.add.Tensor.redispatch(_CPU, t, 1).shape == (0, 3)
    assert ops.aten.zero_.default.redispatch(_CPU, t) is t


@pytest.mark.parametrize("sizes", [(0,), (4, 16), (0, 4, 8, 100_000)])
def test_storage_that_shrank_and_grew_holds_what_tensors_over_it_reach(sizes):
    t = dispatch.ones(10_000)
    for nbytes in sizes:
        t.untyped_storage().resize_(nbytes)
        (t + 1).clone()
        t.fill_(2)
    assert t.untyped_storage().nbytes() == sizes[-1]


@pytest.mark.parametrize("name", ["_SafeKernelFunction", "_DispatchOperatorHandle"])
def test_class_that_only_c_makes_has_no_blank_instance(name):
    cls = getattr(_C, name)
    for make in (cls, lambda: cls.__new__(cls), lambda: object.__new__(cls)):
        with pytest.raises(TypeError):
            make()


def test_blank_device_is_harmless():
    blank = dispatch.device.__new__(dispatch.device)
    assert str(blank) == "cpu"
    assert dispatch.empty(1, device=blank).device.type == "cpu"
