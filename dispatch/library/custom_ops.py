"""Custom operators: a Python function under a schema (torch._library.custom_ops).

`custom_op` infers a schema, defines the operator in a library fragment of its own, and registers
at once what every such operator has: a fake kernel, an autograd kernel, version bumps where it
mutates. These look their functions up when they are called, so a later `register_*` only
replaces a function.
"""

import contextlib
import logging
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, cast, overload

from dispatch._C.dtypes import dtype as _dtype
from dispatch._C.guards import _ExcludeDispatchKeyGuard
from dispatch._C.inspection import _dispatch_has_kernel_for_dispatch_key
from dispatch._C.keys import DispatchKey, DispatchKeySet, _dispatch_key_for_device
from dispatch._C.naming import full_name, package_name
from dispatch._C.overload import OpOverload
from dispatch._C.tags import Tag
from dispatch.library import autograd
from dispatch.library.autocast import cast_eligible, check_autocast
from dispatch.library.kernels import new_backend_kernel, new_version_kernel
from dispatch.library.library import Library
from dispatch.library.operators import lookup_op
from dispatch.library.signatures import infer_schema
from dispatch.registry import schemas
from dispatch.registry.effects import EffectType
from dispatch.registry.entries import singleton
from dispatch.registry.fake_kernels import (
    can_generate_trivial_fake_impl,
    generate_trivial_fake_impl,
)

if TYPE_CHECKING:  # defaults, so that `CustomOpDef` may stand alone in annotations
    from typing_extensions import ParamSpec, TypeVar

    _P = ParamSpec("_P", default=...)
    _R = TypeVar("_R", default=Any)
else:
    from typing import ParamSpec, TypeVar

    _P = ParamSpec("_P")
    _R = TypeVar("_R")
_F = TypeVar("_F", bound=Callable[..., Any])

__all__ = ["CustomOpDef", "custom_op", "has_fake_kernel"]

device_types_t: TypeAlias = str | Sequence[str] | None
tags_t: TypeAlias = Tag | Sequence[Tag] | None


def _log() -> logging.Logger:
    """By the name under which a program finds this module."""
    is_own = package_name() == "dispatch"
    return logging.getLogger(__name__ if is_own else full_name("_library.custom_ops"))


def _normalize_tags(tags: tags_t) -> tuple[Tag, ...]:
    if tags is None:
        return ()
    return tuple(dict.fromkeys((tags,) if isinstance(tags, Tag) else tags))


@overload
def custom_op(
    name: str,
    fn: None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: device_types_t = None,
    schema: str | None = None,
    tags: tags_t = None,
) -> "Callable[[Callable[_P, _R]], CustomOpDef[_P, _R]]": ...
@overload
def custom_op(
    name: str,
    fn: Callable[_P, _R],
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: device_types_t = None,
    schema: str | None = None,
    tags: tags_t = None,
) -> "CustomOpDef[_P, _R]": ...
def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: device_types_t = None,
    schema: str | None = None,
    tags: tags_t = None,
) -> Any:
    """Make a function an operator; usable as a decorator.

    Args:
        name: "namespace::name".
        fn: the function, with type annotations unless `schema` is given.
        mutates_args: names of the arguments that it writes, or "unknown".
        device_types: the devices that it serves; None for all.
        schema: "(Tensor x) -> Tensor", instead of one inferred from the annotations.
        tags: tags of the operator; `Tag.pt2_compliant_tag` comes with every one.

    Returns:
        A CustomOpDef, which is called like the function.

    Raises:
        ValueError: no schema can be inferred; `schema` and `mutates_args` disagree; a name
            without a namespace; a device type for an operator without tensors and without an
            argument `device`.
        NotImplementedError: tensors among the keyword-only arguments, without `Tag.out`.

    Source of the semantics: torch.library.custom_op.
    """

    def inner(fn: Callable[..., Any]) -> CustomOpDef:
        listed = _normalize_tags(tags)
        text = schema
        if text is None:
            text = infer_schema(fn, mutates_args=mutates_args, tags=listed)
        namespace, opname = name.split("::")
        if not namespace:
            raise RuntimeError(f"custom_op: {name!r} has no namespace")
        made: CustomOpDef = CustomOpDef(namespace, opname, text, fn, listed)
        if schema is not None:
            arguments = made._opoverload._schema.arguments
            written = {a.name for a in arguments if a.is_write}
            if written != set(mutates_args):
                names = ", ".join(map(repr, sorted(written)))
                raise ValueError(
                    f"{name}: by its schema the op mutates {{{names}}}, but mutates_args is "
                    f"{mutates_args}\n  {schema}"
                )
        made.register_kernel(device_types)(fn)
        return made

    return inner if fn is None else inner(fn)


class CustomOpDef(Generic[_P, _R]):
    """An operator made by `custom_op`: called like its function, and where more is registered.

    `_opoverload` is the operator; the functions registered so far stand in `_backend_fns`
    (by device type), `_abstract_fn`, `_backward_fn`, `_setup_context_fn`, `_vmap_fn`,
    `_torch_dispatch_fns`. Source of the semantics: torch._library.custom_ops.CustomOpDef.
    """

    _opoverload: OpOverload

    def __init__(
        self,
        namespace: str,
        name: str,
        schema: str,
        fn: Callable[_P, _R],
        tags: tags_t = None,
    ) -> None:
        self._namespace = namespace
        self._name = name
        self._schema = schema
        self._tags = _normalize_tags(tags)
        self._init_fn = fn
        self._backend_fns: dict[str | None, Callable[..., Any]] = {}
        self._abstract_fn: Callable[..., Any] | None = None
        self._setup_context_fn: Callable[..., Any] | None = None
        self._backward_fn: Callable[..., Any] | None = None
        self._torch_dispatch_fns: dict[type, Callable[..., Any]] = {}
        self._vmap_fn: Callable[..., Any] | None = None
        self._autocast_dtype: dict[str, _dtype | None] = {}
        self._disabled_kernel: set[str | None] = set()
        self._lib = get_library_allowing_overwrite(namespace, name)
        self._define()
        self._is_inplace = schemas.is_inplace(self._opoverload)
        self._is_out = schemas.is_out(self._opoverload)
        written = schemas.mutated_args_kwargs(self._opoverload._schema)[1]
        self._out_kwarg_names = tuple(written) if self._is_out else ()
        self._lib._register_fake(name, self._run_fake, _stacklevel=3)
        kernel = autograd.make_autograd_impl(self._opoverload, self)
        self._lib.impl(name, kernel, "Autograd")
        self._register_versions()
        OPDEFS[self._qualname] = self

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return cast(_R, self._opoverload(*args, **kwargs))

    def _define(self) -> None:
        from dispatch.codegen.parser import parse_schema

        text = self._name + self._schema
        if schemas.has_kwarg_only_tensors(parse_schema(text)) and Tag.out not in self._tags:
            raise NotImplementedError(
                f"{self._qualname}: a custom operator has no kwarg-only Tensor args\n  {text}"
            )
        rest = (tag for tag in self._tags if tag is not Tag.pt2_compliant_tag)
        self._lib.define(text, tags=[Tag.pt2_compliant_tag, *rest])
        self._opoverload = lookup_op(self._qualname)

    def _run_fake(self, *args: Any, **kwargs: Any) -> Any:
        if self._abstract_fn is not None:
            return self._abstract_fn(*args, **kwargs)
        if can_generate_trivial_fake_impl(self._opoverload):
            return generate_trivial_fake_impl(self._opoverload, *args, **kwargs)
        raise RuntimeError(
            f"There was no fake impl registered for {self}: use "
            f"`{self._init_fn.__name__}.register_fake` to add one"
        )

    def _register_versions(self) -> None:
        schema = self._opoverload._schema
        if schema.is_mutable:
            kernel = new_version_kernel(self._opoverload)
            self._lib.impl(self._name, kernel, "ADInplaceOrView", with_keyset=True)
        elif schema._is_view_op():
            if any("SymInt" in a.real_type.text for a in schema.arguments):
                self._lib.impl(self._name, _refuse_symbolic_view, "ADInplaceOrView")
            else:
                self._lib._module().register_ad_inplace_or_view_fallback(self._name)

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Switch the kernel of a device type off, or on again, for the block.

        While it is off, the function that made the operator runs instead. A device type that
        has no kernel, or one that is in that state already, is only logged.
        """
        was_disabled = device_type in self._disabled_kernel
        verb = "enable" if enabled else "disable"
        if device_type not in self._backend_fns:
            _log().warning(
                "%s: cannot %s the kernel for %s: no kernel was registered for this device type",
                self._qualname, verb, device_type,
            )  # fmt: skip
        if enabled != was_disabled:
            text = "%s: the kernel for %s is already %sd"
            _log().warning(text, self._qualname, device_type, verb)
        (self._disabled_kernel.discard if enabled else self._disabled_kernel.add)(device_type)
        try:
            yield
        finally:
            restore = self._disabled_kernel.add if was_disabled else self._disabled_kernel.discard
            restore(device_type)

    @overload
    def register_kernel(
        self, device_types: device_types_t, fn: None = None, /
    ) -> Callable[[_F], _F]: ...
    @overload
    def register_kernel(self, device_types: device_types_t, fn: _F, /) -> _F: ...
    def register_kernel(
        self, device_types: device_types_t, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Register the function of a device type, or of several; None for all others.

        Raises:
            ValueError: the operator has neither tensors nor an argument `device`.
        """

        def inner(fn: Callable[..., Any]) -> Callable[..., Any]:
            one = device_types is None or isinstance(device_types, str)
            for device_type in [device_types] if one else list(device_types or ()):
                self._register_backend(device_type, fn)  # type: ignore[arg-type]
            return fn

        if device_types is not None and not schemas.has_tensor_arg(self._opoverload._schema):
            index = schemas.get_device_arg_index(self._opoverload._schema)
            if index is None:
                raise ValueError(
                    f"{self._qualname}: Functions without tensor inputs are required to have a "
                    f"`device: {full_name('device')}` argument to have kernels by device type"
                )
            self._register_backend_select(index)
        return inner if fn is None else inner(fn)

    def _register_backend(self, device_type: str | None, fn: Callable[..., Any]) -> None:
        if device_type not in self._backend_fns:
            key = "CompositeExplicitAutograd"
            if device_type is not None:
                key = _dispatch_key_for_device(device_type)
            kernel = new_backend_kernel(
                self._opoverload, self._backend_fns, self._disabled_kernel, self._init_fn,
                device_type, self._is_inplace, self._is_out, self._opoverload._schema._is_view_op(),
            )  # fmt: skip
            self._lib.impl(self._name, kernel, key)
        self._backend_fns[device_type] = fn

    def _register_backend_select(self, device_arg_index: int) -> None:
        def backend_select(keyset: DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
            device = args[device_arg_index].type
            if device not in self._backend_fns:
                raise RuntimeError(
                    f"{self._qualname} does not have a kernel registered for {device}; it has "
                    f"kernels for {sorted(map(str, self._backend_fns))}"
                )
            key = getattr(DispatchKey, _dispatch_key_for_device(device))
            return self._opoverload.redispatch(DispatchKeySet(key), *args, **kwargs)

        self._lib.impl(self._name, backend_select, "BackendSelect", with_keyset=True)

    def register_fake(self, fn: _F, /) -> _F:
        """Register what stands for the operator on fake and Meta tensors (a decorator)."""
        if self._is_inplace or self._is_out:
            warnings.warn(
                f"{self._qualname}: an operator tagged with {full_name('Tag')}."
                f"{'inplace' if self._is_inplace else 'out'} needs no fake kernel; the one given "
                "is used",
                stacklevel=2,
            )
        self._abstract_fn = fn
        return fn

    def register_effect(self, effect: EffectType | None) -> None:
        """Declare a side effect."""
        self._lib._register_effectful_op(self._qualname, effect)

    @overload
    def register_torch_dispatch(
        self, torch_dispatch_class: Any, fn: None = None, /
    ) -> Callable[[_F], _F]: ...
    @overload
    def register_torch_dispatch(self, torch_dispatch_class: Any, fn: _F, /) -> _F: ...
    def register_torch_dispatch(
        self, torch_dispatch_class: Any, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Register what a mode or tensor subclass runs instead of its `__torch_dispatch__`.

        A mode's rule is called with (mode, func, types, args, kwargs), a subclass's with the
        class in the mode's place.
        """

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            if torch_dispatch_class not in self._torch_dispatch_fns:

                def rule(*args: Any, **kwargs: Any) -> Any:
                    return self._torch_dispatch_fns[torch_dispatch_class](*args, **kwargs)

                self._lib._register_torch_dispatch_rule(self._name, torch_dispatch_class, rule)
            self._torch_dispatch_fns[torch_dispatch_class] = fn
            return fn

        return register if fn is None else register(fn)

    def register_autograd(
        self,
        backward: Callable[..., Any],
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
    ) -> None:
        """Register the gradient formula; there is no engine to run it (see `library.autograd`).

        Raises:
            RuntimeError: the operator writes or returns nothing, or fills out arguments.
        """
        op = self._opoverload
        refuse_autograd(op, schemas.is_functional_schema(op._schema, allow_valid_view=True))
        self._backward_fn = backward
        self._setup_context_fn = setup_context

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Register the batching rule; it is kept, and raises when it is reached."""

        def register(func: Callable[..., Any]) -> None:
            first = self._vmap_fn is None
            self._vmap_fn = func
            if first:
                kernel = vmap_kernel(self._opoverload)
                self._lib.impl(self._name, kernel, "FuncTorchBatched", with_keyset=True)

        return register if func is None else register(func)

    def register_autocast(self, device_type: str, cast_inputs: _dtype) -> Callable[..., Any]:
        """Cast floating-point tensors of a device type when autocast is on for it.

        Raises:
            ValueError: not a device type, or one without autocast.
        """
        if not isinstance(device_type, str):
            raise ValueError(f"device_type must be a str, got {type(device_type)}")
        check_autocast(device_type)
        first = self._autocast_dtype.get(device_type) is None
        if first:
            self._autocast_dtype[device_type] = cast_inputs
        key, kernel = autocast_kernel(self._opoverload, device_type, cast_inputs)
        if first:
            self._lib.impl(self._name, kernel, key, with_keyset=True)
        return kernel


def _refuse_symbolic_view(*args: Any, **kwargs: Any) -> None:
    raise RuntimeError("Custom ops that are views do not support SymInt. Use int in the schema")


def refuse_autograd(op: OpOverload, functional: bool) -> None:
    """RuntimeError when an operator cannot have a gradient formula."""
    if schemas.is_out(op):
        raise RuntimeError(f"{op}: Out variants do not support autograd")
    if not functional:
        raise RuntimeError(
            f"{op}: only an operator that writes nothing, returns something and no view can have "
            f"an autograd formula\n  {op._schema}"
        )


def vmap_kernel(op: OpOverload) -> Callable[..., Any]:
    """What stands at the batching key: there are no transforms that could use the rule."""

    def kernel(keyset: DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{op}: its vmap rule needs a function transform; there are none here")

    return kernel


def autocast_kernel(
    op: OpOverload, device_type: str, cast_inputs: _dtype
) -> tuple[str, Callable[..., Any]]:
    """The autocast key of a device type, and a kernel that casts and calls `op` below it."""
    key = check_autocast(device_type)
    keys = DispatchKeySet(getattr(DispatchKey, key))

    def kernel(_: DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise AssertionError(f"{op}: autocast takes no keyword-only arguments, got {[*kwargs]}")
        with _ExcludeDispatchKeyGuard(keys):
            return op(*cast_eligible(args, device_type, cast_inputs))

    return key, kernel


OPDEF_TO_LIB: dict[str, Library] = {}
OPDEFS: "weakref.WeakValueDictionary[str, CustomOpDef]" = weakref.WeakValueDictionary()


def get_library_allowing_overwrite(namespace: str, name: str) -> Library:
    """A library for one custom operator, after taking away an older operator of the name."""
    qualname = f"{namespace}::{name}"
    older = OPDEF_TO_LIB.pop(qualname, None)
    if older is not None:
        older._destroy()
    lib = OPDEF_TO_LIB[qualname] = Library(namespace, "FRAGMENT")
    return lib


def _maybe_get_opdef(op: Any) -> CustomOpDef | None:
    """The CustomOpDef of an operator or name; None when `custom_op` did not make it."""
    if isinstance(op, CustomOpDef):
        return op
    if isinstance(op, OpOverload):
        op = op._name
    if not isinstance(op, str):
        raise AssertionError(f"expected an operator or its name, got {type(op)}")
    return OPDEFS.get(op)


def has_fake_kernel(op: OpOverload) -> bool:
    """Whether the operator runs on fake tensors, as far as registrations tell."""
    name = op._name
    if can_generate_trivial_fake_impl(op):
        return True
    if _dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd"):
        return True
    opdef = _maybe_get_opdef(name)
    if opdef is not None:
        return opdef._abstract_fn is not None
    if singleton.find(name).fake_impl.kernel is not None:
        return True
    keys = ("CompositeExplicitAutograd", "Meta")
    return any(_dispatch_has_kernel_for_dispatch_key(name, key) for key in keys)
