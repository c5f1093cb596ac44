"""`make_fx`: a program traced at the dispatcher, as a graph of operators.

Source of the semantics: `torch/fx/experimental/proxy_tensor.py`.
"""

import contextlib
import functools
import inspect
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import dispatch
from dispatch import FakeTensor, OpOverload, SymBool, SymFloat, SymInt, Tensor, pytree
from dispatch._C import _get_dispatch_mode, _TorchDispatchModeKey
from dispatch._C.pre_dispatch import _get_dispatch_mode_pre_dispatch, register_pre_dispatch_mode
from dispatch._C.tags import Tag
from dispatch._ops.python_dispatcher import enable_python_dispatcher
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.interpreter import Interpreter
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node
from dispatch.as_torch.fx.proxy import GraphAppendingTracer, Proxy
from dispatch.as_torch.fx.remarks import PreDispatchTorchFunctionMode, within
from dispatch.as_torch.fx.shapes import _extract_tensor_metadata
from dispatch.as_torch.fx.tracer import PH, Tracer
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parameter import Parameter
from dispatch.as_torch.weak import WeakIdKeyDictionary
from dispatch.fake import FakeTensorMode, unset_fake_temporarily
from dispatch.modes import TorchDispatchMode
from dispatch.modes.stack import _push_mode, _unset_infra_mode, autograd_would_have_decomposed
from dispatch.symbolic import ShapeEnv, compute_unbacked_bindings
from dispatch.symbolic.numbers import watch
from dispatch.symbolic.sources import ConstantSource

__all__ = [
    "DecompositionInterpreter", "ProxyTorchDispatchMode", "PythonKeyTracer", "decompose",
    "disable_proxy_modes_tracing", "dispatch_trace", "extract_val", "fetch_sym_proxy",
    "get_innermost_proxy_mode", "get_isolated_graphmodule", "get_proxy_mode", "get_proxy_slot",
    "make_fx", "maybe_disable_fake_tensor_mode", "py_sym_types", "set_meta", "set_proxy_slot",
    "track_tensor", "track_tensor_tree", "wrapper_and_args_for_make_fx",
]  # fmt: skip

_aten = dispatch.ops.aten
py_sym_types = (SymInt, SymFloat, SymBool)
_CONSTANT_NUMEL = 1  # up to here values are kept, so that programs may ask for them


# ---- which node a value is of


class _Slot:
    """A tensor's proxy, and its value where that is known while tracing."""

    __slots__ = ("constant", "proxy")

    def __init__(self, proxy: Proxy, constant: Tensor | None) -> None:
        self.proxy, self.constant = proxy, constant


class _Later:
    """A proxy that is made when somebody asks for it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make: Callable[[], Any] | None = make
        self._made: Any = None

    def force(self) -> Any:
        """The proxy."""
        if self._make is not None:
            make, self._make = self._make, None
            self._made = make()
        return self._made


class _Trackers:
    """What a tracer knows: proxies of tensors, and of numbers by their expressions."""

    def _init_trackers(self) -> None:
        self.tensor_tracker = WeakIdKeyDictionary()
        self.symnode_tracker: dict[int, tuple[Any, _Later]] = {}  # by identity: nodes live with it
        self.symbol_tracker: dict[Any, _Later] = {}
        self.other_numbers: dict[Any, _Later] = {}  # strides and counts: where no size is known


def set_proxy_slot(obj: Any, tracer: Any, proxy: Any) -> None:
    """The value of `obj`, a tensor or symbolic number, is that of a proxy from now on."""
    if isinstance(obj, Tensor):
        tracer.tensor_tracker[obj] = proxy
    else:
        tracer.symnode_tracker.setdefault(id(obj.node), (obj.node, proxy))
        if obj.node.expr.is_symbol:
            tracer.symbol_tracker.setdefault(obj.node.expr, proxy)


_NONE = object()


def get_proxy_slot(
    obj: Any, tracer: Any, default: Any = _NONE, transform: Callable[[Any], Any] = lambda x: x
) -> Any:
    """What stands for a tensor or symbolic number, or `default`.

    Raises:
        RuntimeError: it is not tracked, and there is no default.
    """
    if isinstance(obj, Tensor):
        found = tracer.tensor_tracker.get(obj)
    else:
        _, found = tracer.symnode_tracker.get(id(obj.node)) or (None, None)
        if found is None:
            found = _of_expression(tracer, obj.node.expr)
    if found is not None:
        return transform(found)
    if default is _NONE:
        raise RuntimeError(f"{obj} ({type(obj)}) is not tracked with proxy for {tracer}")
    return default


def _in_turn(function: Any) -> Callable[..., Any]:
    return lambda *args: functools.reduce(function, args)


def _noted(function: Any) -> Callable[[Proxy], Proxy]:
    """A call of a function that asks its argument for a special method, which proxies lack."""
    return lambda given: given.tracer.create_proxy("call_function", function, (given,), {})


def _chosen(*cases: Any) -> Any:
    """`Piecewise`: values and conditions in turn, and the value where none of them holds."""
    *rest, otherwise = cases
    for i in range(len(rest) - 2, -1, -2):
        otherwise = dispatch.sym_ite(rest[i + 1], rest[i], otherwise)
    return otherwise


_OF_FUNCTION: dict[str, Callable[..., Any]] = {
    "Add": _in_turn(operator.add), "Mul": _in_turn(operator.mul), "Pow": operator.pow,
    "PowByNatural": operator.pow, "FloatPow": operator.pow, "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv, "Mod": operator.mod, "PythonMod": operator.mod,
    "Max": _in_turn(dispatch.sym_max), "Min": _in_turn(dispatch.sym_min),
    "ToFloat": dispatch.sym_float, "FloatTrueDiv": operator.truediv,
    "IntTrueDiv": operator.truediv, "Eq": operator.eq, "Ne": operator.ne, "Lt": operator.lt,
    "Le": operator.le, "Gt": operator.gt, "Ge": operator.ge, "And": _in_turn(operator.and_),
    "Or": _in_turn(operator.or_), "Not": dispatch.sym_not, "FloorToInt": _noted(math.floor),
    "CeilToInt": _noted(math.ceil), "TruncToInt": dispatch.sym_int, "RoundToInt": _noted(round),
    "Abs": operator.abs,
    "OpaqueUnaryFn_sqrt": dispatch._sym_sqrt, "Piecewise": _chosen,
}  # fmt: skip


def _of_expression(tracer: Any, expr: Any) -> _Later | None:
    """The proxy of an expression, written as operations on those of its parts."""
    found: _Later | None = tracer.symbol_tracker.get(expr)
    if found is not None:
        return found
    other: _Later | None = tracer.other_numbers.get(expr)
    if expr.is_symbol or expr.function not in _OF_FUNCTION:
        return other
    parts = [
        part.value if part.is_number or (part.is_Boolean and not part.args) else part
        for part in expr.args
    ]
    if expr.function in ("Add", "Mul"):
        parts.sort(key=lambda part: not isinstance(part, type(expr)))  # numbers come last
    made = [_of_expression(tracer, p) if isinstance(p, type(expr)) else p for p in parts]
    if any(part is None for part in made):
        return other
    later = tracer.symbol_tracker[expr] = _Later(functools.partial(_computed, expr, made))
    return later


def _computed(expr: Any, parts: list[Any]) -> Any:
    given = [part.force() if isinstance(part, _Later) else part for part in parts]
    return _OF_FUNCTION[expr.function](*given)


def fetch_sym_proxy(tracer: Any) -> Callable[[Any], Any]:
    """A function: the proxy of a symbolic number, or the number that it is known to be."""

    def fetch(value: Any) -> Any:
        node = value.node
        if node.constant is not None:
            return node.constant
        if node.expr.is_number or not node.is_symbolic():
            return value.node.pytype(node.expr.value)
        proxy = get_proxy_slot(value, tracer).force()
        return proxy if "val" in proxy.node.meta else set_meta(proxy, value)

    return fetch


# ---- operations on symbolic numbers

_OPERATORS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in (
        "add", "sub", "mul", "mod", "and_", "or_", "lshift", "rshift", "eq", "ne", "lt", "le", "gt",
        "ge", "neg", "abs",
    )},
    "int_floordiv": operator.floordiv, "int_truediv": operator.truediv,
    "float_truediv": operator.truediv, "pow_by_natural": operator.pow, "float_pow": operator.pow,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "ceil": math.ceil, "floor": math.floor, "trunc": math.trunc, "round": round,
    **{name: getattr(dispatch, name) for name in (
        "sym_min", "sym_max", "sym_not", "sym_float", "sym_ite",
    )},
    **{f"sym_{name}": getattr(dispatch, f"_sym_{name}") for name in (
        "sqrt", "cos", "cosh", "sin", "sinh", "tan", "tanh", "asin", "acos", "atan", "log2",
    )},
}  # fmt: skip


def _note_operation(name: str, operands: tuple[Any, ...], out: Any) -> None:
    """Write a node for what the program computed of symbolic numbers, where a mode is on."""
    mode = get_proxy_mode()
    if mode is None or not isinstance(out, py_sym_types) or id(out.node) in _nodes_of(operands):
        return
    if name == "mul" and any(type(value) is int and value == 1 for value in operands):
        return
    fetch = fetch_sym_proxy(mode.tracer)
    given = [fetch(value) if isinstance(value, py_sym_types) else value for value in operands]
    nodes = tuple(value.node if isinstance(value, Proxy) else value for value in given)
    made = mode.tracer.create_node("call_function", _OPERATORS[name], nodes, {})
    proxy = set_meta(Proxy(made, mode.tracer), out)
    later = _Later(lambda: proxy)
    set_proxy_slot(out, mode.tracer, later)
    mode.tracer.symbol_tracker.setdefault(out.node.expr, later)


def _nodes_of(operands: tuple[Any, ...]) -> set[int]:
    return {id(value.node) for value in operands if isinstance(value, py_sym_types)}


# ---- what nodes say of their values


def extract_val(val: Any, include_real: bool = False) -> Any:
    """A value as `meta["val"]` has it: tensors as fake ones, which share nothing."""
    if isinstance(val, FakeTensor):
        return val.detach()
    if isinstance(val, list | tuple):
        items = [extract_val(item) for item in val]
        return type(val)(*items) if hasattr(val, "_fields") else type(val)(items)
    if isinstance(val, dict):
        return {key: extract_val(item) for key, item in val.items()}
    if isinstance(val, Tensor):
        if val.layout is not dispatch.strided:
            return None
        with FakeTensorMode(allow_fallback_kernels=True):
            return dispatch.empty_strided(
                val.shape, val.stride(), device=val.device, dtype=val.dtype
            )
    return val if isinstance(val, (*py_sym_types, int, float, bool)) else None


def set_meta(proxy: Proxy, val: Any) -> Proxy:
    """Let the proxy's node say what its value is like."""
    proxy.node.meta["val"] = extract_val(val)
    if isinstance(val, Tensor) and val.layout is dispatch.strided:
        proxy.node.meta["tensor_meta"] = _extract_tensor_metadata(val)
    return proxy


def track_tensor(tensor: Tensor, proxy: Proxy, *, constant: Tensor | None, tracer: Any) -> None:
    """The tensor's value is the proxy's, and its symbolic sizes are questions to it."""
    sizes, others = tracer.symbol_tracker, tracer.other_numbers
    for dim, size in enumerate(tensor.size()):
        _track_number(size, tracer, sizes, _aten.sym_size.int, (proxy, dim))
    for dim, stride in enumerate(tensor.stride()):
        _track_number(stride, tracer, others, _aten.sym_stride.int, (proxy, dim))
    _track_number(tensor.numel(), tracer, others, _aten.sym_numel.default, (proxy,))
    offset = tensor.storage_offset()
    _track_number(offset, tracer, others, _aten.sym_storage_offset.default, (proxy,))
    set_proxy_slot(tensor, tracer, _Slot(proxy, constant))


def _track_number(
    number: Any, tracer: Any, known: dict[Any, _Later], question: Any, args: tuple[Any, ...]
) -> None:
    if isinstance(number, SymInt) and number.node.is_symbolic():

        def ask() -> Proxy:
            return set_meta(tracer.create_proxy("call_function", question, args, {}), number)

        known.setdefault(number.node.expr, _Later(ask))


def track_tensor_tree(inner_res: Any, proxy_res: Any, *, constant: Any, tracer: Any) -> Any:
    """The values of a nest are those of a proxy, item by item. Returns the nest."""
    if isinstance(proxy_res, Proxy):
        _set_unbacked_bindings(inner_res, proxy_res)
    _track(inner_res, proxy_res, constant, tracer)
    return inner_res


def _set_unbacked_bindings(value: Any, proxy: Proxy) -> None:
    """Let the node say where the symbols of data are that its call made."""
    mode = _get_dispatch_mode(_TorchDispatchModeKey.FAKE)
    found = compute_unbacked_bindings(mode.shape_env, value) if mode is not None else None
    if found:
        proxy.node.meta["unbacked_bindings"] = found


def _track(inner_res: Any, proxy_res: Any, constant: Any, tracer: Any) -> None:
    if isinstance(inner_res, Tensor):
        track_tensor(inner_res, proxy_res, constant=constant, tracer=tracer)
        set_meta(proxy_res, inner_res)
    elif isinstance(inner_res, py_sym_types):
        set_meta(proxy_res, inner_res)
        set_proxy_slot(inner_res, tracer, _Later(lambda: proxy_res))
    elif isinstance(inner_res, list | tuple | dict):
        if isinstance(proxy_res, Proxy):
            set_meta(proxy_res, inner_res)
        keys = inner_res if isinstance(inner_res, dict) else range(len(inner_res))
        for key in keys:
            known = None if constant is None else constant[key]
            _track(inner_res[key], proxy_res[key], known, tracer)


# ---- tracers


class PythonKeyTracer(_Trackers, Tracer):
    """The tracer of `make_fx`: modules are run, their parameters become attributes."""

    def __init__(self) -> None:
        super().__init__(autowrap_modules=())
        self._init_trackers()
        self.outer: Any = None  # the tracer of the program whose branch this one traces
        self.scope_root: Any = None  # the module in which nodes say where they are

    def call_module(self, m: Module, forward: Any, args: Any, kwargs: Any) -> Any:
        """What the module's `forward` does."""
        with within(self, m):
            return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Proxy]) -> Any:
        """The attribute itself."""
        return attr_val

    def create_arg(self, a: Any) -> Any:
        """As `Tracer.create_arg`; parameters become attributes too."""
        if isinstance(a, Parameter):
            known = (name for name, p in self.root.named_parameters() if p is a)
            name = next(known, None) or self._kept("_param_constant", a)
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, py_sym_types):
            return a.node.constant
        return super().create_arg(a)

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None,
        type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Write a node; attributes that are tensors say what they are like."""
        node = super().create_node(kind, target, args, kwargs, name, type_expr)
        if kind == "get_attr" and isinstance(found := getattr(self.root, target), Tensor):
            with disable_proxy_modes_tracing():
                node.meta["val"] = extract_val(found)
        return node

    def unwrap_proxy(self, e: Any) -> Any:
        """What stands for a value, or the value."""
        if isinstance(e, Tensor):
            return get_proxy_slot(e, self, e, lambda slot: slot.proxy)
        if isinstance(e, py_sym_types):
            return get_proxy_slot(e, self, e, lambda later: later.force())
        return e


class _Appending(_Trackers, GraphAppendingTracer):
    """Writes to the end of a graph that an interpreter makes."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._init_trackers()


# ---- the mode


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Writes each operator that reaches the mode as a node, and runs it.

    Args:
        tracer: who writes.
        tracing_mode: "real", "fake" or "symbolic"; kept.
        decomposition_table: functions that are run instead of operators.
    """

    def __init__(
        self, tracer: Any, tracing_mode: str, pre_dispatch: bool = False,
        _allow_fake_constant: bool = False, _error_on_data_dependent_ops: bool = True,
        decomposition_table: Mapping[Any, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(dispatch.DispatchKey.PreDispatch if pre_dispatch else None)
        self.tracer, self.tracing_mode, self.pre_dispatch = tracer, tracing_mode, pre_dispatch
        self._allow_fake_constant = _allow_fake_constant
        self._error_on_data_dependent_ops = _error_on_data_dependent_ops
        self._mode_key = _TorchDispatchModeKey.PROXY
        self.decomposition_table = decomposition_table or {}
        self.enter_stack: list[Any] = []

    @property
    def enable_tracing(self) -> bool:
        """True."""
        return True

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Programs' own modes come before it."""
        return True

    def __enter__(self) -> Any:
        self.enter_stack.append(
            (_unset_infra_mode(_TorchDispatchModeKey.PROXY), watch(_note_operation))
        )
        return super().__enter__()

    def __exit__(self, *error: Any) -> Any:
        found = super().__exit__(*error)
        before, told = self.enter_stack.pop()
        watch(told)
        if before is not None:
            _push_mode(before)
        return found

    @contextlib.contextmanager
    def enable_decompositions(self, decomposition_table: Mapping[Any, Any] | None) -> Iterator[Any]:
        """Run these functions instead of operators inside a `with`."""
        before, self.decomposition_table = self.decomposition_table, decomposition_table or {}
        try:
            yield self.decomposition_table
        finally:
            self.decomposition_table = before

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func == dispatch.ops.prim.device.default:
            return func(*args, **kwargs)
        return self._call(func, args, kwargs)

    def _call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        flat, spec = pytree.tree_flatten((args, kwargs))
        if not all(self._knows(value) for value in flat if isinstance(value, Tensor)):
            return NotImplemented
        instead = self._decomposed(func, args, kwargs, flat)
        if instead is not NotImplemented:
            return instead
        slots = [
            self.tracer.tensor_tracker.get(value) if isinstance(value, Tensor) else None
            for value in flat
        ]
        known = [slot.constant for slot in slots if slot is not None]
        constant = all(value is not None for value in known)
        constant = constant and not any(isinstance(value, py_sym_types) for value in flat)
        if Tag.data_dependent_output in func.tags:
            if constant:
                return _of_constants(func, flat, slots, spec)
            self._refuse_questions(func, flat)
        given, named = pytree.tree_unflatten(self._proxies(flat, slots), spec)
        if func is _aten.lift_fresh.default:
            func = _aten.lift_fresh_copy.default
        name = self.tracer.graph._target_to_str(func.overloadpacket.__name__)
        proxy = self.tracer.create_proxy("call_function", func, given, named, name=name)
        out = func(*args, **kwargs)
        value = None
        if func is _aten.lift_fresh_copy.default and out.numel() <= _CONSTANT_NUMEL:
            with unset_fake_temporarily():
                value = args[0].clone()
        elif constant and known and Tag.nondeterministic_seeded not in func.tags:
            leaves = pytree.tree_leaves(out)
            if all(t.numel() <= _CONSTANT_NUMEL for t in leaves if isinstance(t, Tensor)):
                value = _of_constants(func, flat, slots, spec)
        return track_tensor_tree(out, proxy, constant=value, tracer=self.tracer)

    def _knows(self, value: Tensor) -> bool:
        if value in self.tracer.tensor_tracker:
            return True
        outer = getattr(self.tracer, "outer", None)
        while outer is not None:
            if value in outer.tensor_tracker:
                raise RuntimeError("a branch uses a traced tensor that is not among its operands")
            outer = outer.outer
        return type(value) in (Tensor, Parameter, FakeTensor)

    def _decomposed(self, func: Any, args: Any, kwargs: Any, flat: list[Any]) -> Any:
        """What a table, or the operator itself, computes by others; they are traced."""
        if func in self.decomposition_table:
            with self:
                found = self.decomposition_table[func](*args, **kwargs)
            if found is not NotImplemented:
                return found
        if func is _aten.is_nonzero.default:
            with self:
                dispatch._check(args[0].numel() == 1, lambda: "only one value has a truth value")
                return (args[0] != 0).item()
        asked = func in (_aten.size.default, _aten.stride.default, _aten.storage_offset.default)
        if not self.pre_dispatch and not asked and autograd_would_have_decomposed(func, flat):
            with self:
                return func.decompose(*args, **kwargs)
        return NotImplemented

    def _refuse_questions(self, func: Any, flat: list[Any]) -> None:
        real = all(not isinstance(v, FakeTensor) for v in flat if isinstance(v, Tensor))
        if self._error_on_data_dependent_ops and real:
            raise RuntimeError(
                f"It appears that you're trying to get value out of a tracing tensor with {func} - "
                "erroring out! It's likely that this is caused by data-dependent control flow or "
                "similar: tracing_mode='symbolic' may help"
            )

    def _proxies(self, flat: list[Any], slots: list[Any]) -> list[Any]:
        number = fetch_sym_proxy(self.tracer)
        return [
            slot.proxy
            if slot is not None
            else number(value)
            if isinstance(value, py_sym_types)
            else value
            for value, slot in zip(flat, slots, strict=True)
        ]


register_pre_dispatch_mode(ProxyTorchDispatchMode, 0)


def _of_constants(func: Any, flat: list[Any], slots: list[Any], spec: Any) -> Any:
    """What an operator gives for values that are known."""
    values = [v if s is None else s.constant for v, s in zip(flat, slots, strict=True)]
    args, kwargs = pytree.tree_unflatten(values, spec)
    with unset_fake_temporarily(), disable_proxy_modes_tracing():
        return func(*args, **kwargs)


# ---- modes that are on


def get_proxy_mode() -> ProxyTorchDispatchMode | None:
    """The mode that is on."""
    key = _TorchDispatchModeKey.PROXY
    found: ProxyTorchDispatchMode | None = _get_dispatch_mode_pre_dispatch(key)
    return found or _get_dispatch_mode(key)


def get_innermost_proxy_mode() -> ProxyTorchDispatchMode | None:
    """The mode that is on."""
    return get_proxy_mode()


@contextlib.contextmanager
def disable_proxy_modes_tracing(enable_current: bool = False) -> Iterator[Any]:
    """Nothing is written inside a `with`, which gives the mode that is off."""
    mode = _unset_infra_mode(_TorchDispatchModeKey.PROXY)
    try:
        yield mode
    finally:
        if mode is not None:
            _push_mode(mode)


def maybe_disable_fake_tensor_mode() -> Any:
    """Fake modes are off inside a `with`."""
    return unset_fake_temporarily()


@contextlib.contextmanager
def decompose(decomposition_table: Mapping[Any, Any] | None) -> Iterator[Any]:
    """The mode that is on runs these functions instead of operators inside a `with`."""
    mode = get_proxy_mode()
    if mode is None:
        yield decomposition_table or {}
        return
    with mode.enable_decompositions(decomposition_table) as table:
        yield table


# ---- a trace


def dispatch_trace(
    root: Any, tracer: Tracer, concrete_args: tuple[Any, ...] | None = None
) -> GraphModule:
    """The module of what `tracer` writes while `root` runs; unused questions for sizes go."""
    graph = tracer.trace(root, concrete_args)
    graph.eliminate_dead_code(_stays)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


_ACCESSORS = frozenset(("sym_size", "sym_stride", "sym_storage_offset", "sym_numel"))


def _stays(node: Node) -> bool:
    """All but computations with numbers, whose order nobody sees."""
    if node.is_impure():
        return True
    target = node.target
    if isinstance(target, OpOverload) and target.overloadpacket.__name__ in _ACCESSORS:
        return False
    given = [arg.meta.get("val") for arg in node.args if isinstance(arg, Node)]
    return not all(isinstance(v, py_sym_types) for v in (node.meta.get("val"), *given))


class _Unnamed:
    """Makes a function with as many arguments as there are values."""

    def __init__(self, function: Any, count: int) -> None:
        names = ",".join(f"arg{i}" for i in range(count))
        self.function = eval(f"lambda {names}: fn({names})", {"fn": function})


def _traceable(f: Any, count: int) -> Any:
    code = getattr(inspect.unwrap(f), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARARGS:
        return _Unnamed(f, count).function
    return f


def _keyed(f: Any, given: tuple[Any, ...], tracer: PythonKeyTracer) -> Any:
    """`f` of `given`, whose values are those of the proxies that the tracer calls it with."""
    leaves = pytree.tree_leaves(given)

    @functools.wraps(f)
    def run(*proxies: Any) -> Any:
        with disable_proxy_modes_tracing():
            flat = pytree.tree_leaves(proxies)
            track_tensor_tree(leaves, flat, constant=None, tracer=tracer)
        return pytree.tree_map(tracer.unwrap_proxy, f(*given))

    return run


def make_fx(
    f: Any, decomposition_table: Mapping[Any, Any] | None = None, tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False, *, pre_dispatch: bool = False,
    record_module_stack: bool = False, _allow_fake_constant: bool = False,
    _error_on_data_dependent_ops: bool = True, **unused: Any,
) -> Callable[..., GraphModule]:  # fmt: skip
    """A function that gives, for example arguments, the graph of `f` in operators.

    Args:
        f: a function or module.
        decomposition_table: functions that are traced instead of operators.
        tracing_mode: "real" runs on the arguments, "fake" on fake tensors, "symbolic" on ones
            whose sizes are symbols.
        pre_dispatch: nodes are calls as the program makes them, before any is decomposed.
        record_module_stack: nodes say in `nn_module_stack` where in `f._orig_mod` they are.

    Raises:
        AssertionError: another tracing mode.
        RuntimeError: the program asks what is in a tensor.
    """
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f'tracing_mode should be "real", "fake" or "symbolic": {tracing_mode}')
    options: dict[str, Any] = {
        "pre_dispatch": pre_dispatch, "_allow_fake_constant": _allow_fake_constant,
        "_error_on_data_dependent_ops": _error_on_data_dependent_ops,
        "decomposition_table": decomposition_table,
    }  # fmt: skip

    @functools.wraps(f)
    def wrapped(*args: Any) -> GraphModule:
        fake = _fake_mode(args, tracing_mode, _allow_non_fake_inputs)
        given = args if fake is None else _faked(args, fake, tracing_mode)
        inputs = pytree.tree_map(lambda _: PH, args)
        tracer = PythonKeyTracer()
        tracer.scope_root = getattr(f, "_orig_mod", None) if record_module_stack else None
        mode = ProxyTorchDispatchMode(tracer, tracing_mode, **options)
        function = _traceable(f, len(args))
        with contextlib.ExitStack() as stack:
            stack.enter_context(fake or contextlib.nullcontext())
            if tracing_mode == "symbolic" or pre_dispatch:
                stack.enter_context(enable_python_dispatcher())
            stack.enter_context(mode)
            if pre_dispatch:
                stack.enter_context(PreDispatchTorchFunctionMode(tracer))
            made = dispatch_trace(_keyed(function, given, tracer), tracer, tuple(inputs))
        if tracing_mode == "symbolic" and fake is not None:
            made.shape_env = fake.shape_env
        return made

    return wrapped


def _fake_mode(args: Any, tracing_mode: str, allow_real: bool) -> FakeTensorMode | None:
    """The mode of the first fake argument, or a new one; None for real runs."""
    if tracing_mode == "real":
        return None
    for leaf in pytree.tree_leaves(args):
        if isinstance(leaf, FakeTensor):
            return leaf.fake_mode
    symbolic = tracing_mode == "symbolic"
    return FakeTensorMode(
        allow_fallback_kernels=not symbolic, allow_non_fake_inputs=allow_real,
        shape_env=ShapeEnv(), static_shapes=not symbolic,
    )  # fmt: skip


def _faked(args: Any, mode: FakeTensorMode, tracing_mode: str) -> Any:
    """The arguments as fake tensors; numbers as symbols, where sizes are."""
    count = 0

    def one(value: Any) -> Any:
        nonlocal count
        source = ConstantSource(f"input{count}")
        if isinstance(value, Tensor):
            count += 1
            return mode.from_tensor(value, source=source)
        if type(value) is int and tracing_mode == "symbolic":
            count += 1
            env = mode.shape_env
            assert env is not None
            symbol = env.create_symbol(value, source, positive=None)
            return env.create_symintnode(symbol, hint=value, source=source)
        return value

    return pytree.tree_map(one, args)


def get_isolated_graphmodule(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], tracing_mode: str = "real",
    decomposition_table: Mapping[Any, Any] | None = None,
) -> GraphModule:  # fmt: skip
    """The graph of a call that an outer trace does not see."""
    wrapped, leaves = wrapper_and_args_for_make_fx(func, args, kwargs)
    with disable_proxy_modes_tracing():
        return make_fx(wrapped, decomposition_table, tracing_mode)(leaves)


def wrapper_and_args_for_make_fx(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[[list[Any]], Any], list[Any]]:
    """A call as a function of one list, and that list."""
    leaves, spec = pytree.tree_flatten((args, kwargs))

    def wrapped(flat_args: list[Any]) -> Any:
        given, named = pytree.tree_unflatten(flat_args, spec)
        return func(*given, **named)

    return wrapped, leaves


class DecompositionInterpreter(Interpreter):
    """Runs a graph and writes another, with functions of a table instead of operators.

    Args:
        module: with the graph to run.
        new_graph: where nodes are written.
        decomposition_table: operators and functions.
    """

    def __init__(
        self, module: GraphModule, new_graph: Graph,
        decomposition_table: Mapping[Any, Any] | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__(module, **kwargs)
        self.new_graph = new_graph
        self.tracer = _Appending(new_graph)
        self.decomposition_table = decomposition_table or {}
        self.mode = ProxyTorchDispatchMode(
            self.tracer, "real", decomposition_table=self.decomposition_table
        )

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The input, which is one of the new graph too."""
        out = super().placeholder(target, args, kwargs)
        proxy = Proxy(self.new_graph.placeholder(target), self.tracer)
        return track_tensor_tree(out, proxy, constant=None, tracer=self.tracer)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The attribute, which the new graph reads too."""
        out = super().get_attr(target, args, kwargs)
        proxy = Proxy(self.new_graph.get_attr(target), self.tracer)
        return track_tensor_tree(out, proxy, constant=None, tracer=self.tracer)

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The result, which is the new graph's too."""
        out = super().output(target, args, kwargs)

        def node_of(value: Any) -> Any:
            if not isinstance(value, Tensor):
                return value
            return get_proxy_slot(value, self.tracer, value, lambda slot: slot.proxy.node)

        self.new_graph.output(pytree.tree_map(node_of, out))
        return out

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Run and write."""
        with self.mode:
            return super().run(*args, **kwargs)
