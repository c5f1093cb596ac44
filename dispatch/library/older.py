"""The first API of custom operators (torch._custom_op.impl), which programs still use.

An operator is defined from a function's annotations or from a schema, then given its parts one by
one: kernels by device, an abstract implementation, what to save and how to go backward. Everything
is registered through one `Library` for each operator; `global_registry` keeps them alive. The
newer API is `custom_op` of this package; `dispatch._custom_ops` has the functions over names.
"""

import functools
import inspect
import sys
import warnings
import weakref
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

from dispatch import pytree
from dispatch._C.grad_mode import is_grad_enabled
from dispatch._C.guards import _AutoDispatchBelowAutograd
from dispatch._C.inspection import (
    _dispatch_find_schema_or_throw,
    _dispatch_has_computed_kernel_for_dispatch_key,
    _dispatch_has_kernel_for_dispatch_key,
    _dispatch_set_report_error_callback,
)
from dispatch._C.overload import OpOverload
from dispatch._C.tags import Tag
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.codegen.parser import parse_schema
from dispatch.codegen.schema import FunctionSchema
from dispatch.library.autograd import Info, make_autograd_impl
from dispatch.library.functions import get_ctx
from dispatch.library.library import Library
from dispatch.library.signatures import infer_schema
from dispatch.registry import fake_kernels, schemas

__all__ = [
    "RESERVED_NS",
    "SUPPORTED_DEVICE_TYPE_TO_KEY",
    "CustomOp",
    "FuncAndLocation",
    "custom_op",
    "custom_op_from_existing",
    "get_abstract_impl",
    "get_ctx",
    "get_op",
    "global_registry",
    "infer_schema",
    "parse_qualname",
    "report_error_callback",
    "validate_namespace",
    "validate_schema",
]

SUPPORTED_DEVICE_TYPE_TO_KEY = {"cpu": "CPU", "cuda": "CUDA"}
RESERVED_NS = {"prim", "prims", "aten", "at", "torch", "pytorch"}
_RETURN_TYPES = ("int", "SymInt", "bool", "float", "Tensor", "Tensor[]")
_Function = Callable[..., Any]


class FuncAndLocation(NamedTuple):
    """A part that was given, and where."""

    func: _Function
    location: str


# ---- names and schemas


def parse_qualname(qualname: str) -> tuple[str, str]:
    """(namespace, name) of "ns::name"; ValueError for anything else, overloads too."""
    namespace, found, name = qualname.partition("::")
    if not found:
        raise ValueError(f"expected a name with its namespace, such as ns::foo, got {qualname!r}")
    if "." in name:
        raise ValueError(f"this API takes no overloads: expected a name such as ns::foo, "
                         f"got {qualname!r}")  # fmt: skip
    return namespace, name


def validate_namespace(ns: str) -> None:
    """ValueError for a namespace that is no word, or this library's own."""
    if "." in ns:
        raise ValueError(f"custom_op: expected a namespace without dots, got {ns!r}")
    if ns in RESERVED_NS:
        raise ValueError(f"custom_op: {ns!r} is a reserved namespace: choose another one")


def validate_schema(schema: FunctionSchema) -> None:
    """ValueError for a schema that writes, returns views or nothing, or has a `self`."""
    if not schemas.is_functional_schema(schema):
        raise ValueError(
            "custom_op only supports functional operators, which write no arguments and return "
            f"something, but no views: got {schema}"
        )
    if any(a.name == "self" for a in schema.arguments):
        raise ValueError(f"custom_op: no argument may have the name 'self': got {schema}")


def _parsed(text: str) -> FunctionSchema:
    try:
        return parse_schema(text)
    except (RuntimeError, ValueError) as error:
        raise AssertionError(f"Invalid function schema: {text}: {error}") from error


def _check_signature(schema: FunctionSchema, func: _Function) -> None:
    """ValueError unless a function without annotations and defaults has the schema's names."""
    sig = inspect.signature(func)
    where = "custom_op(..., manual_schema)(func)"
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    given = list(sig.parameters.values())
    if any(p.kind not in kinds for p in given):
        raise ValueError(f"{where}: positional-only arguments, *args and **kwargs are not "
                         f"supported: got {sig}")  # fmt: skip
    empty = inspect.Parameter.empty
    if any(p.annotation is not empty for p in given) or sig.return_annotation is not empty:
        raise ValueError(f"{where}: with a schema of its own the function has no annotations: "
                         f"got {sig}")  # fmt: skip
    mine = [(p.name, p.kind is kinds[1]) for p in given]
    if mine != [(a.name, a.kwarg_only) for a in schema.arguments]:
        raise ValueError(f"{where}: expected func's signature to match the schema: func's "
                         f"signature: {sig}, manual_schema: {schema}")  # fmt: skip
    if any(p.default is not empty for p in given) or any(
        a.has_default_value() for a in schema.arguments
    ):
        raise ValueError(f"{where}: neither has default arguments: func's signature: {sig}, "
                         f"manual_schema: {schema}")  # fmt: skip


def get_op(qualname: str) -> OpOverload:
    """The overload without a name; ValueError: nobody has defined it."""
    namespace, name = parse_qualname(qualname)
    op = getattr(getattr(getattr(ops, namespace), name, None), "default", None)
    if op is None:
        raise ValueError(f"Could not find the operator {qualname}: it has to be registered first")
    return op


# ---- operators


def _warn_deprecated() -> None:
    warnings.warn(
        "torch._custom_op is deprecated: use the functions of torch.library",
        DeprecationWarning,
        stacklevel=3,
    )


class CustomOp:
    """An operator and what it was given; made by `custom_op`, never by hand."""

    def __init__(
        self, lib: Library, cpp_ns: str, schema: FunctionSchema, operator_name: str,
        ophandle: Any, *, _private_access: bool = False,
    ) -> None:  # fmt: skip
        _warn_deprecated()
        if not _private_access:
            raise RuntimeError("The CustomOp constructor is private: use custom_op(...)")
        self._schema = schema
        self._cpp_ns = cpp_ns
        self._lib = lib
        self._ophandle = ophandle
        self._opname = operator_name
        self._qualname = f"{cpp_ns}::{operator_name}"
        self._impls: dict[str, FuncAndLocation] = {}
        self._registered_autograd_kernel_indirection = False
        self._output_differentiability: list[bool] | None = None
        global_registry[self._qualname] = self

    def __repr__(self) -> str:
        return f'<CustomOp(op="{self._qualname}")>'

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return get_op(self._qualname)(*args, **kwargs)

    def _destroy(self) -> None:
        """Take the operator back."""
        self._lib._destroy()
        namespace = getattr(ops, self._cpp_ns)
        if hasattr(namespace, self._opname):
            delattr(namespace, self._opname)
        del global_registry[self._qualname]

    # ---- what was given

    def _has_impl(self, kind: str) -> bool:
        return kind in self._impls

    def _get_impl(self, kind: str) -> FuncAndLocation:
        return self._impls[kind]

    def _register_impl(self, kind: str, func: _Function, stacklevel: int = 2) -> None:
        """Note a part and the place `stacklevel` frames above; RuntimeError for a second one."""
        if kind in self._impls:
            raise RuntimeError(
                f"Attempting to register a {kind} impl for operator {self._qualname} that already "
                f"has a {kind} impl registered from Python at {self._impls[kind].location}"
            )
        frame = sys._getframe(stacklevel)
        location = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        self._impls[kind] = FuncAndLocation(func, location)

    # ---- kernels

    def impl(self, device_types: str | Iterable[str], _stacklevel: int = 2) -> Any:
        """Register a kernel for these devices: a decorator."""
        devices = {device_types} if isinstance(device_types, str) else set(device_types)
        for device in devices - SUPPORTED_DEVICE_TYPE_TO_KEY.keys():
            raise ValueError(f"CustomOp.impl: we only support device_type in "
                             f"{list(SUPPORTED_DEVICE_TYPE_TO_KEY)}, got {device!r}")  # fmt: skip

        def inner(f: _Function) -> _Function:
            for device in devices:
                key = SUPPORTED_DEVICE_TYPE_TO_KEY[device]
                there = _dispatch_has_computed_kernel_for_dispatch_key(self._qualname, key)
                if there and not self._has_impl(device):
                    self._refuse_other(f"impl(..., device_types={device})")
                self._register_impl(device, f, _stacklevel)
                self._lib.impl(self._opname, f, key)
            return f

        return inner

    def impl_factory(self) -> Any:
        """Register a kernel for calls without tensors: a decorator."""

        def inner(f: _Function) -> _Function:
            self._register_impl("factory", f)
            self._lib.impl(self._opname, f, "BackendSelect")
            return f

        return inner

    def impl_abstract(self, _stacklevel: int = 2) -> Any:
        """Register what stands for the operator on Meta tensors: a decorator."""

        def inner(f: _Function) -> _Function:
            self._check_no_meta_kernel()
            self._register_impl("abstract", f, _stacklevel)

            def no_ctx() -> NoReturn:
                raise RuntimeError(
                    f"get_ctx() was called for the meta implementation of {self._qualname}: there "
                    "is none of an operator whose output's shape depends on data (impl_abstract "
                    f"at {self._get_impl('abstract').location})"
                )

            @functools.wraps(f)
            def meta(*args: Any, **kwargs: Any) -> Any:
                with fake_kernels.set_ctx_getter(no_ctx):
                    return f(*args, **kwargs)

            self._lib.impl(self._opname, meta, "Meta")
            return f

        return inner

    def _has_kernel(self, key: str) -> bool:
        return _dispatch_has_kernel_for_dispatch_key(self._qualname, key)

    def _refuse_other(self, what: str, key: str = "") -> NoReturn:
        raise RuntimeError(
            f"{what}: the operator {self._qualname} already has an implementation"
            + (f" at {key}" if key else "")
            + " via a pre-existing torch.library or TORCH_LIBRARY registration"
        )

    def _check_no_meta_kernel(self) -> None:
        if self._has_impl("abstract"):
            return
        if self._has_kernel("CompositeExplicitAutograd") and not self._has_kernel("Meta"):
            return
        for key in ("CompositeImplicitAutograd", "Meta"):
            if self._has_kernel(key):
                self._refuse_other("impl_abstract(...)", key)

    # ---- gradients

    def impl_save_for_backward(self, _stacklevel: int = 2) -> Any:
        """Register what is kept for the gradient: `f(inputs, output)`, a decorator."""
        return self._gradient_part("save_for_backward", _stacklevel)

    def impl_backward(
        self, output_differentiability: list[bool] | None = None, _stacklevel: int = 2
    ) -> Any:
        """Register the gradient, `f(ctx, saved, *grads)` -> {argument: gradient}: a decorator."""
        said = output_differentiability
        if said is not None and (
            not isinstance(said, list)
            or not all(isinstance(one, bool) for one in said)
            or len(said) != len(self._schema.returns)
        ):
            raise RuntimeError(
                "impl_backward: expected output_differentiability to be a list of bools, one for "
                f"each of the {len(self._schema.returns)} outputs, got {said}"
            )
        return self._gradient_part("backward", _stacklevel, said)

    def _gradient_part(
        self, kind: str, stacklevel: int, differentiable: list[bool] | None = None
    ) -> Any:
        def inner(f: _Function) -> None:
            self._check_can_register_backward()
            if not self._registered_autograd_kernel_indirection:
                for key in ("CompositeImplicitAutograd", "Autograd", "AutogradCPU",
                            "AutogradCUDA"):  # fmt: skip
                    if self._has_kernel(key):
                        self._refuse_other("impl_backward/impl_save_for_backward", key)
                self._register_autograd_kernel_indirection()
            self._register_impl(kind, f, stacklevel)
            if kind == "backward":
                self._output_differentiability = differentiable
            if self._has_impl("backward") and self._has_impl("save_for_backward"):
                self._register_autograd_kernel()

        return inner

    def _check_can_register_backward(self) -> None:
        schema = self._schema
        if not schemas.is_functional_schema(schema):
            what = _why_not_functional(schema)
        else:
            wrong = [r.type.text for r in schema.returns if r.real_type.text not in _RETURN_TYPES]
            if not wrong:
                return
            what = f"operator with return not in {list(_RETURN_TYPES)} (got {wrong[0]})"
        raise RuntimeError(
            "Cannot use torch._custom_ops APIs to register backward formula for "
            f"{what}. Got operator {self._qualname} with schema: {schema}"
        )

    def _register_autograd_kernel_indirection(self) -> None:
        kernel = _without_formula(weakref.proxy(self))
        self._lib.impl(self._opname, kernel, "Autograd")
        self._registered_autograd_kernel_indirection = True

    def _register_autograd_kernel(self) -> None:
        info = _formula(self)
        kernel = make_autograd_impl(get_op(self._qualname), info)
        with _quietly():
            self._lib.impl(self._opname, kernel, "Autograd", allow_override=True)


def _why_not_functional(schema: Any) -> str:
    if schema.is_mutable:
        return "a non-functional operator: it writes to an argument"
    return "an operator that returns views" if schema.returns else "an operator with no returns"


@contextmanager
def _quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


global_registry: dict[str, CustomOp] = {}


def _without_formula(op: Any) -> _Function:
    """The Autograd kernel until both parts of a gradient are there."""

    def kernel(*args: Any, **kwargs: Any) -> Any:
        parts = {"backward", "save_for_backward"}
        given = [kind for kind in parts if op._has_impl(kind)]
        if given:
            (missing,) = parts - set(given)
            raise RuntimeError(
                f"We found a '{given[0]}' registration for {op!r} at "
                f"{op._get_impl(given[0]).location} but were unable to find a '{missing}' "
                "registration: a gradient needs both"
            )
        if is_grad_enabled() and pytree.tree_any(
            lambda x: isinstance(x, Tensor) and x.requires_grad, (args, kwargs)
        ):
            raise RuntimeError("Autograd has not been implemented for operator")
        with _AutoDispatchBelowAutograd():
            return op(*args, **kwargs)

    return kernel


# ---- gradients


def _formula(op: CustomOp) -> Info:
    """The two parts as the newer API has them."""
    save, backward = op._get_impl("save_for_backward").func, op._get_impl("backward").func
    names = [a.name for a in op._schema.arguments]
    inputs_class = namedtuple(f"{op._opname}_args", names)  # type: ignore[misc]
    tensors = {a.name for a in op._schema.arguments if _is_tensor_like(a.type)}

    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.saved = save(inputs_class(*inputs), output)
        ctx.classes = inputs_class(*pytree.tree_map(type, inputs))
        _mark_non_differentiable(ctx, output, op._output_differentiability)

    def formula(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        found = backward(object(), ctx.saved, *grads)
        _check_gradients(op, found, tensors, ctx.classes)
        nothing = pytree.tree_map(lambda _: None, ctx.classes)
        return tuple(found.get(name, getattr(nothing, name)) for name in names)

    return Info(formula, setup)


def _is_tensor_like(type_: Any) -> bool:
    return schemas.is_tensor_like_type(type_) or schemas.is_tensorlist_like_type(type_)


def _mark_non_differentiable(ctx: Any, output: Any, said: list[bool] | None) -> None:
    if said is None:
        return
    marked = []
    outputs = output if isinstance(output, tuple) else (output,)
    for place, (differentiable, out) in enumerate(zip(said, outputs, strict=True)):
        if not isinstance(out, Tensor | list) and differentiable:
            raise RuntimeError(
                f"output_differentiability={said}: output {place}, of {type(out)}, is not a Tensor"
            )
        if not differentiable:
            marked += out if isinstance(out, list) else [out]
    ctx.mark_non_differentiable(*marked)


def _check_gradients(op: CustomOp, grads: Any, tensors: set[str], classes: Any) -> None:
    """RuntimeError unless there is a gradient, or None, for each argument that may be a tensor."""
    place = op._get_impl("backward").location

    def fail(what: str) -> NoReturn:
        raise RuntimeError(f"In the backward function defined for {op!r} at {place}: {what}")

    if not isinstance(grads, dict):
        fail(f"expected the output of the backward function to be a dict but got {type(grads)}")
    if grads.keys() != tensors:
        fail(
            f"expected the returned grad_input dict to have keys {tensors} but got "
            f"{set(grads)}: one for each argument that may be a Tensor or a sequence of them; "
            "non-Tensor-like types have none"
        )
    for name, grad in grads.items():
        given = getattr(classes, name)
        if isinstance(given, list):
            _check_list(fail, name, grad, given)
        elif grad is not None and not isinstance(grad, Tensor):
            fail(f"got object of type {type(grad)} as the gradient for input '{name}', "
                 "but expected the gradient to be either None or a Tensor")  # fmt: skip
        elif grad is not None and not issubclass(given, Tensor):
            fail(f"got a Tensor as the gradient for input '{name}' but expected None, as the "
                 f"input was not a Tensor (it was type {given})")  # fmt: skip


def _check_list(fail: Callable[[str], NoReturn], name: str, grad: Any, given: list[type]) -> None:
    what = f"for input '{name}' expected the grad_input dict to hold a list of"
    if not isinstance(grad, tuple | list):
        fail(f"{what} gradients but got object of type {type(grad)}")
    if len(grad) != len(given):
        fail(f"{what} {len(given)} gradients but got {len(grad)}")
    for place, (one, cls) in enumerate(zip(grad, given, strict=True)):
        if one is not None and not isinstance(one, Tensor):
            fail(f"{what} None or Tensor gradients but got object of {type(one)} at index {place}")
        if one is not None and not issubclass(cls, Tensor):
            fail(f"for input '{name}', got a Tensor as the gradient for the {place}-th value, "
                 f"which was not a Tensor (it was type {cls})")  # fmt: skip


# ---- making them


def report_error_callback(custom_op: Any, key: str) -> NoReturn:
    """NotImplementedError for a call that found no kernel, saying what to register."""
    if key == "Undefined":
        what = "There were no Tensor inputs to this operator: a factory has CustomOp.impl_factory"
    elif key == "Meta":
        what = ("when running with device='Meta' tensors: there is no abstract impl registered "
                "for this CustomOp: CustomOp.impl_abstract registers one")  # fmt: skip
    elif key in ("CPU", "CUDA"):
        device = key.lower()
        what = (f"when running with device='{device}' tensors: there is no {device} impl "
                f"registered for this CustomOp: CustomOp.impl(device_type='{device}') "
                "registers one")  # fmt: skip
    else:
        what = f"No implementation for dispatch key {key}: Library registers one"
    raise NotImplementedError(f"{custom_op!r}: {what}")


def _new(qualname: str, schema: str, tags: tuple[Tag, ...]) -> CustomOp:
    """Define the operator and its CustomOp."""
    namespace, name = parse_qualname(qualname)
    parsed = _parsed(name + schema)
    validate_schema(parsed)
    lib = Library(namespace, "FRAGMENT")
    try:
        lib.define(name + schema, tags=tags)
    except RuntimeError:
        lib._destroy()
        raise
    handle = _dispatch_find_schema_or_throw(qualname, "")
    made = CustomOp(lib, namespace, parsed, name, handle, _private_access=True)
    made._register_autograd_kernel_indirection()
    callback = functools.partial(report_error_callback, weakref.proxy(made))
    _dispatch_set_report_error_callback(handle, callback)
    return made


def check_prototype(qualname: str, name: str, func: Any) -> None:
    """ValueError unless it is a function with the operator's name."""
    if not inspect.isfunction(func):
        raise ValueError(f"custom_op(...)(func): expected a Python function, got {type(func)}")
    if func.__name__ != name:
        raise ValueError(f"custom_op(qualname={qualname!r}, ...)(func): expected func to have "
                         f"name {name!r} but got {func.__name__!r}")  # fmt: skip


def custom_op(qualname: str, manual_schema: str | None = None) -> Any:
    """Define an operator after a function: a decorator, which gives the CustomOp.

    Raises:
        ValueError: a reserved namespace, another name than the function's, annotations or
            arguments that make no functional schema or are not the given one's.
    """
    _warn_deprecated()

    def inner(func: _Function) -> CustomOp:
        namespace, name = parse_qualname(qualname)
        validate_namespace(namespace)
        check_prototype(qualname, name, func)
        schema = infer_schema(func, mutates_args=()) if manual_schema is None else manual_schema
        parsed = _parsed(name + schema)
        validate_schema(parsed)
        if manual_schema is not None:
            _check_signature(parsed, func)
        return _new(qualname, schema, ())

    return inner


def _custom_op_with_schema(
    qualname: str, schema: str, needs_fixed_stride_order: bool = True
) -> OpOverload:
    _new(qualname, schema, (Tag.needs_fixed_stride_order,) if needs_fixed_stride_order else ())
    return get_op(qualname)


def custom_op_from_existing(op: OpOverload) -> CustomOp:
    """The CustomOp of an operator that a Library has defined."""
    name = op._schema.name.partition("::")[2]
    text = str(op._schema).partition("::")[2]
    lib = Library(op.namespace, "FRAGMENT")
    handle = _dispatch_find_schema_or_throw(op._schema.name, op._schema.overload_name)
    return CustomOp(lib, op.namespace, _parsed(text), name, handle, _private_access=True)


def _find_custom_op(qualname: str, also_check_torch_library: bool = False) -> CustomOp:
    if qualname in global_registry:
        return global_registry[qualname]
    if not also_check_torch_library:
        raise RuntimeError(
            f'Could not find custom op "{qualname}": it was not defined by custom_op'
        )
    return custom_op_from_existing(get_op(qualname))


def get_abstract_impl(qualname: str) -> _Function | None:
    """The abstract implementation of a CustomOp, if it has one."""
    op = global_registry.get(qualname)
    return op._get_impl("abstract").func if op is not None and op._has_impl("abstract") else None
