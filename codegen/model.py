"""What the entries of `native_functions.yaml` mean: functions, groups, kernels.

`read_functions` turns the file, and those beside it called `NAME_functions.yaml`, into a
`Package`: every `NativeFunction` checked against the others, each with the kernels that it
registers. `tables` and `generate` only write down what stands here. Nothing is changed after it
is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from .encoding import OF, is_inplace_name, op_flags
from .keys import KeyTable
from .parser import SchemaError, parse_text
from .rooms import KernelRef, Rooms
from .schema import Argument, FunctionSchema
from .source import Mapping, SourceError, load

__all__ = [
    "Group",
    "Kernel",
    "NativeFunction",
    "Package",
    "operator_files",
    "read_functions",
    "symbol_of",
]

_DEFAULT_NAMESPACE = "aten"
_COMPLIANT = ("aten", "prims")
_ALLOWED = frozenset(
    {
        "func",
        "variants",
        "dispatch",
        "tags",
        "structured",
        "structured_delegate",
        "shape",
        "autogen_of",
        "alias_of",
        "number_of",
        "elsewhere",
        "formula",
    }
)
_STRUCTURED = ("structured", "structured_delegate", "shape")
FUNCTIONAL, INPLACE, OUT = 0, 1, 2
_FORMULAS_PER_MODULE = 32
_AUTOGEN_KEY = "CompositeExplicitAutograd"
_IMPLICIT_KEY = "CompositeImplicitAutograd"
_VIEW_KEY = "ADInplaceOrView"
_DEFAULT_KEY = "CompositeExplicitAutogradNonFunctional"
_SELECT_KEY = "BackendSelect"
_TENSOR_OPTIONS = frozenset(("dtype", "layout", "device", "pin_memory"))
# Instead of `module.function` under a key: a kernel that only passes on; the one that the
# composite key has; none, where the operator would have one; the one that operators usually have
# at `_MADE_KEYS`, where this one would have none.
_FALLTHROUGH, _SAME, _NONE, _USUAL = "fallthrough", "composite", "none", "usual"
_MADE_KEYS = (_VIEW_KEY, _SELECT_KEY, _DEFAULT_KEY)


def symbol_of(name: str) -> str:
    """The C identifier of an operator: `aten::add.Tensor` -> `aten_add_Tensor`."""
    return name.replace("::", "_").replace(".", "_")


class Kernel(NamedTuple):
    """One registration: `kind` is the name of an emitted.h KernelKind without `KK_`.

    A structured kernel has a shape function and maybe a body, a plain one only a body; `target` is
    the operator that one made from another calls, `number` the place of the argument that is a
    tensor there and a number here. A DEFAULT one calls `target` or `elsewhere` for tensors that
    are not on the CPU.
    """

    key: str
    kind: str
    variant: int = FUNCTIONAL
    n_out: int = 0
    shape: KernelRef | None = None
    body: KernelRef | None = None
    target: str | None = None
    number: int = 0
    elsewhere: KernelRef | None = None

    @property
    def is_cython(self) -> bool:
        """Whether it stands in a registration shard; else what it calls is imported by name."""
        if self.kind == "DEFAULT":
            return self.shape is not None and self.shape.is_cython
        return self.kind == "CYTHON"


@dataclass(frozen=True, eq=False)
class NativeFunction:
    """One entry of the file. `name` is `namespace::name.overload`."""

    schema: FunctionSchema
    source: Mapping
    is_function: bool
    is_method: bool
    dispatch: dict[str, str]
    tags: int
    structured: bool
    delegate: str | None
    shape: str | None
    autogen_of: str | None
    alias_of: str | None
    number_of: str | None
    elsewhere: str | None
    formula: Mapping | None

    @cached_property
    def name(self) -> str:
        """Qualified name, with the overload unless it is the default one."""
        overload = self.schema.overload_name
        return f"{self.schema.name}.{overload}" if overload else self.schema.name

    @property
    def base_name(self) -> str:
        """The name without namespace and overload."""
        return self.schema.name.rpartition("::")[2]

    @property
    def symbol(self) -> str:
        """Its C identifier."""
        return symbol_of(self.name)

    @cached_property
    def flags(self) -> int:
        """OpFlag bits."""
        bits = op_flags(self.schema)
        bits |= OF["FUNCTION"] if self.is_function else 0
        return bits | (OF["METHOD"] if self.is_method else 0)

    @cached_property
    def variant(self) -> int:
        """Functional, in-place or out."""
        if self.flags & OF["OUT"]:
            return OUT
        return INPLACE if self.flags & OF["INPLACE"] else FUNCTIONAL

    @cached_property
    def out_arguments(self) -> tuple[Argument, ...]:
        """The arguments that are written and given by keyword."""
        return tuple(a for a in self.schema.arguments if a.is_out)

    @cached_property
    def plain_arguments(self) -> tuple[Argument, ...]:
        """All others."""
        return tuple(a for a in self.schema.arguments if not a.is_out)

    def error(self, message: str, key: str = "func") -> SourceError:
        """A mistake in this entry."""
        return self.source.error(message, key, self.name)

    def kernel_error(self, message: str, key: str) -> SourceError:
        """A mistake in what stands under `dispatch` for a dispatch key."""
        lines = self.source["dispatch"]
        found = (names for names in lines if key in (name.strip() for name in names.split(",")))
        error: SourceError = lines.error(message, next(found, ""), self.name)
        return error


class Group(NamedTuple):
    """The variants that share a shape function and bodies; `leader` names both."""

    leader: NativeFunction
    members: tuple[NativeFunction, ...]

    @property
    def functional(self) -> NativeFunction:
        """The variant whose arguments the shape function takes (the leader, for want of one)."""
        found = (f for f in self.members if f.variant == FUNCTIONAL)
        return next(found, self.leader)

    @property
    def n_out(self) -> int:
        """How many outputs there are."""
        return len(self.leader.out_arguments) or len(self.leader.schema.returns)


@dataclass(frozen=True, eq=False)
class Package:
    """All functions of a package, sorted as the tables are, with their kernels."""

    keys: KeyTable
    tag_names: tuple[str, ...]
    rooms: Rooms
    functions: tuple[NativeFunction, ...]
    groups: tuple[Group, ...] = field(default=())

    @cached_property
    def by_name(self) -> dict[str, NativeFunction]:
        """Functions by qualified name."""
        return {f.name: f for f in self.functions}

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Place in the table of operators, by qualified name."""
        return {f.name: i for i, f in enumerate(self.functions)}

    @cached_property
    def out_variants(self) -> dict[str, list[NativeFunction]]:
        """Those that write to arguments, by the schema's name without the overload."""
        found: dict[str, list[NativeFunction]] = {}
        for f in self.functions:
            if f.variant == OUT:
                found.setdefault(f.schema.name, []).append(f)
        return found

    @cached_property
    def group_of(self) -> dict[str, Group]:
        """The structured group of a function, by qualified name."""
        return {f.name: group for group in self.groups for f in group.members}

    @cached_property
    def kernels(self) -> dict[str, tuple[Kernel, ...]]:
        """Kernels of each function, in the order of the keys' numbers."""
        values = self.keys.values
        return {
            f.name: tuple(sorted(self._kernels(f), key=lambda k: values[k.key]))
            for f in self.functions
        }

    def _kernels(self, f: NativeFunction) -> Iterator[Kernel]:
        group = self.group_of.get(f.name)
        own = dict(f.dispatch)
        said = {key: own.pop(key) for key in _MADE_KEYS if own.get(key) in (_NONE, _USUAL)}

        def has(key: str, usually: bool) -> bool:
            return said.get(key, _USUAL if usually else _NONE) == _USUAL

        if group is not None:
            usually = f.elsewhere is None and not any(map(_is_composite, own))
            default = has(_DEFAULT_KEY, usually)
            yield from self._structured_kernels(f, group, own, default)
        elif f.elsewhere is not None:
            raise f.error("elsewhere: expected a structured operator", "elsewhere")
        hidden = {key for key, text in own.items() if _is_composite(key) and text == _NONE}
        own = {key: text for key, text in own.items() if key not in hidden}
        composite = {k.key: k for k in self._composite_kernels(f, own)}
        yield from (kernel for key, kernel in composite.items() if key not in hidden)
        for key, text in own.items():
            if text == _SAME:
                yield self._same_kernel(f, key, composite)
            elif key not in composite:
                yield self._plain_kernel(f, key, text)
        if has(_VIEW_KEY, _has_view_kernel(f)):
            yield Kernel(_VIEW_KEY, "AD_INPLACE_OR_VIEW")
        if has(_SELECT_KEY, _selects_backend(f)):
            yield Kernel(_SELECT_KEY, "BACKEND_SELECT")

    def _composite_kernels(self, f: NativeFunction, own: dict[str, str]) -> Iterator[Kernel]:
        for key, text in own.items():
            if _is_composite(key):
                yield self._plain_kernel(f, key, text)
        if f.autogen_of is not None:
            yield self._autogen_kernel(f)
        if f.alias_of is not None:
            yield self._alias_kernel(f, f.alias_of)
        if f.number_of is not None:
            yield self._number_kernel(f, f.number_of)

    def _same_kernel(self, f: NativeFunction, key: str, composite: dict[str, Kernel]) -> Kernel:
        if len(composite) != 1 or key in composite:
            message = f"dispatch: {_SAME!r} needs one composite kernel beside it, to serve {key}"
            raise f.error(message, "dispatch")
        (kernel,) = composite.values()
        return kernel._replace(key=key)

    def _structured_kernels(
        self, f: NativeFunction, group: Group, own: dict[str, str], default: bool
    ) -> Iterator[Kernel]:
        leader = group.leader
        shape = self.rooms.kernel(leader.error, "Meta", leader.shape or "", "shape")
        bodies = {"Meta": None} | {
            key: self.rooms.kernel(leader.error, key, text, "dispatch")
            for key, text in leader.dispatch.items()
            if not _is_composite(key) and text not in (_FALLTHROUGH, _SAME, _NONE)
        }
        if leader.formula is not None:
            module = self.formula_module(leader)
            bodies["CPU"] = KernelRef(module, leader.symbol, shape.is_cython)
        _check_families(leader, shape, bodies)
        if f.elsewhere is not None:
            own.pop("CPU", None)
            yield self._elsewhere_kernel(f, group, shape, bodies.pop("CPU", None))
        elif default and leader.variant == OUT and f is not leader:
            yield Kernel(_DEFAULT_KEY, "DEFAULT", f.variant, group.n_out, shape, None, leader.name)
        for key, body in bodies.items():
            if own.get(key) == _NONE:
                del own[key]
                continue
            if f is leader:
                own.pop(key, None)
            elif key in own:
                continue
            python = not shape.is_cython and (body is None or not body.is_cython)
            kind = "STRUCTURED" if python else "CYTHON"
            yield Kernel(key, kind, f.variant, group.n_out, shape, body)

    def formula_module(self, leader: NativeFunction) -> str:
        """The dotted name of the emitted module that has a formula's loops."""
        family = _family_of(leader)
        count = sum(1 for g in self.groups if g.leader.formula and _family_of(g.leader) == family)
        n = 1 << max(0, (count // _FORMULAS_PER_MODULE).bit_length())
        return f"{self.rooms.emitted}.formulas_{family}_{crc32(leader.symbol.encode()) % n}"

    def _elsewhere_kernel(
        self, f: NativeFunction, group: Group, shape: KernelRef, body: KernelRef | None
    ) -> Kernel:
        text = f.elsewhere or ""
        kernel = Kernel(_AUTOGEN_KEY, "DEFAULT", f.variant, group.n_out, shape, body)
        if _qualified(text, f.schema.namespace) in self.by_name:
            return kernel._replace(target=_qualified(text, f.schema.namespace))
        ref = self.rooms.kernel(f.error, _AUTOGEN_KEY, text, "elsewhere")
        return kernel._replace(elsewhere=ref)

    def _plain_kernel(self, f: NativeFunction, key: str, text: str) -> Kernel:
        if text == _FALLTHROUGH:
            return Kernel(key, "FALLTHROUGH")
        ref = self.rooms.kernel(f.error, key, text, "dispatch")
        return Kernel(key, "CYTHON" if ref.is_cython else "PYTHON", body=ref)

    def _autogen_kernel(self, f: NativeFunction) -> Kernel:
        target = self._target(f, f.autogen_of or "", "autogen_of")
        made = "AUTOGEN_OUT" if f.variant == OUT else "AUTOGEN_FUNCTIONAL"
        return Kernel(_AUTOGEN_KEY, made, f.variant, len(f.out_arguments), target=target.name)

    def _alias_kernel(self, f: NativeFunction, text: str) -> Kernel:
        target = self._target(f, text, "alias_of")
        if target.alias_of is not None:
            raise f.error(f"alias_of: {text!r} is itself one of {target.alias_of!r}", "alias_of")
        same_returns = _types(f.schema.returns) == _types(target.schema.returns)
        if _differences(f, target) or not same_returns:
            raise f.error(f"alias_of: expected the types of {target.schema}", "alias_of")
        return Kernel(_IMPLICIT_KEY, "ALIAS", target=target.name)

    def _number_kernel(self, f: NativeFunction, text: str) -> Kernel:
        target = self._target(f, text, "number_of")
        different = _differences(f, target)
        if list(different.values()) != [("Scalar", "Tensor")]:
            message = f"number_of: expected {target.schema} with a Scalar for one Tensor"
            raise f.error(message, "number_of")
        return Kernel(_AUTOGEN_KEY, "NUMBER", target=target.name, number=next(iter(different)))

    def _target(self, f: NativeFunction, text: str, key: str) -> NativeFunction:
        name = _qualified(text, f.schema.namespace)
        if name not in self.by_name:
            raise f.error(f"{key}: expected an operator of the package, got {text!r}", key)
        return self.by_name[name]


def _family_of(leader: NativeFunction) -> str:
    return (leader.shape or "").partition(".")[0]


def _types(arguments: Iterable[Argument]) -> list[str]:
    return [a.real_type.text for a in arguments]


def _differences(f: NativeFunction, target: NativeFunction) -> dict[int, tuple[str, str]]:
    """Arguments of other types, by place; of one that only one of the two has, the type is ""."""
    mine, theirs = _types(f.schema.arguments), _types(target.schema.arguments)
    pairs = enumerate(zip_longest(mine, theirs, fillvalue=""))
    return {i: (a, b) for i, (a, b) in pairs if a != b}


def _has_view_kernel(f: NativeFunction) -> bool:
    """As torchgen decides: not for list operators, whose elements are written one by one."""
    if f.schema.namespace != _DEFAULT_NAMESPACE:
        return False
    if _IMPLICIT_KEY in f.dispatch or f.alias_of is not None:
        return False
    if f.base_name.startswith("_foreach_"):
        return False
    return bool(f.flags & (OF["MUTABLE"] | OF["ALIASING"]))


def _selects_backend(f: NativeFunction) -> bool:
    """Whether a device argument decides the backend (torchgen's needs_backend_select)."""
    if f.schema.namespace != _DEFAULT_NAMESPACE or f.base_name.startswith("new_"):
        return False
    return (
        not f.base_name.endswith("_like")
        and {a.name for a in f.schema.arguments} >= _TENSOR_OPTIONS
    )


def _is_composite(key: str) -> bool:
    return key.startswith("Composite")


def _qualified(text: str, namespace: str) -> str:
    return text if "::" in text else f"{namespace}::{text}"


# ---- reading


def read_functions(path: Path, keys: KeyTable, tags: Path, rooms: Rooms) -> Package:
    """All functions of the file `path` and of those beside it; raises for the first mistake.

    Raises:
        SourceError: with file, line and operator.
    """
    tag_names = _read_tags(tags)
    functions = [
        _read_function(entry, each, keys, tag_names)
        for each in operator_files(path)
        for entry in _entries(each)
    ]
    _check_names(functions)
    functions.sort(key=lambda f: f.schema.name.encode())  # stable: overloads keep their order
    package = Package(keys, tag_names, rooms, tuple(functions))
    groups = tuple(_groups(package))
    return Package(keys, tag_names, rooms, tuple(functions), groups)


def operator_files(path: Path) -> list[Path]:
    """`path`, native_functions.yaml, and then the other `NAME_functions.yaml` of its folder."""
    return [path, *sorted(other for other in path.parent.glob("*_functions.yaml") if other != path)]


def _entries(path: Path) -> list[object]:
    data = load(path)
    if not isinstance(data, list):
        raise SourceError("expected a list of entries, each '- func: ...'", path, 1)
    return data


def _read_tags(path: Path) -> tuple[str, ...]:
    return tuple(entry["tag"] for entry in load(path))


def _read_function(
    entry: object, path: Path, keys: KeyTable, tag_names: tuple[str, ...]
) -> NativeFunction:
    if not isinstance(entry, Mapping):
        raise SourceError(f"expected an entry '- func: ...', got {entry!r:.60}", path, 1)
    text = entry.get("func")
    if not isinstance(text, str):
        raise entry.error("expected a key 'func' with the operator's schema")
    schema = _read_schema(entry, text)
    subject = text.partition("(")[0]
    entry.check_keys(_ALLOWED, subject)
    is_function, is_method = _read_variants(entry, subject)
    if is_method and not any(a.name == "self" for a in schema.arguments):
        raise entry.error("variants: a method needs an argument 'self'", "variants", subject)
    _check_one_origin(entry, subject)
    return NativeFunction(
        schema=schema,
        source=entry,
        is_function=is_function,
        is_method=is_method,
        dispatch=_read_dispatch(entry, keys, subject),
        tags=_read_tag_bits(entry, schema, tag_names, subject),
        structured=_read_bool(entry, "structured", subject),
        delegate=_read_text(entry, "structured_delegate", subject),
        shape=_read_text(entry, "shape", subject),
        autogen_of=_read_text(entry, "autogen_of", subject),
        alias_of=_read_text(entry, "alias_of", subject),
        number_of=_read_text(entry, "number_of", subject),
        elsewhere=_read_text(entry, "elsewhere", subject),
        formula=_read_formula(entry, subject),
    )


def _read_schema(entry: Mapping, text: str) -> FunctionSchema:
    subject = text.partition("(")[0]
    try:
        schema = parse_text(_qualified(text, _DEFAULT_NAMESPACE))
    except SchemaError as error:
        message = f"expected {error.expected}: ...{text[-40:] if len(text) > 40 else text}"
        if error.column < len(error.text):
            message = f"expected {error.expected} before {error.text[error.column :][:30]!r}"
        raise entry.error(message, "func", subject) from error
    names = [a.name for a in schema.arguments]
    for name in names:
        if names.count(name) > 1:
            raise entry.error(f"expected different names, got {name!r} twice", "func", subject)
    return schema


def _check_one_origin(entry: Mapping, subject: str) -> None:
    """An operator that is another one has no kernels of other making."""
    given = [key for key in ("alias_of", "number_of", "autogen_of", *_STRUCTURED) if key in entry]
    if len(given) > 1 and given[0] in ("alias_of", "number_of"):
        raise entry.error(f"{given[0]}: not beside {given[1]!r}", given[0], subject)


def _is_unbound(entry: Mapping) -> bool:
    """PyTorch binds no operator that it generates, but for those of `view_copy`."""
    tags = entry.get("tags", [])
    words = tags if isinstance(tags, list) else [tags]
    return "view_copy" not in words and ("autogen_of" in entry or "generated" in words)


def _read_variants(entry: Mapping, subject: str) -> tuple[bool, bool]:
    text = entry.get("variants", "function")
    if text == "none" or _is_unbound(entry):
        return False, False
    words = [w.strip() for w in text.split(",")] if isinstance(text, str) else [repr(text)]
    for word in words:
        if word not in ("function", "method"):
            raise entry.error(
                f"variants: expected 'function', 'method' or both (none: 'none'), got {word!r}",
                "variants",
                subject,
            )
    return "function" in words, "method" in words


def _read_dispatch(entry: Mapping, keys: KeyTable, subject: str) -> dict[str, str]:
    given = entry.get("dispatch", {})
    if not isinstance(given, dict):
        message = "dispatch: expected a mapping 'KEY: module.function'"
        raise entry.error(message, "dispatch", subject)
    found: dict[str, str] = {}
    for names, kernel in given.items():
        line = given if isinstance(given, Mapping) else entry
        for key in (name.strip() for name in names.split(",")):
            if key not in keys.index_of and key not in keys.aliases:
                raise line.error(f"dispatch: {key!r} is no dispatch key", names, subject)
            if not isinstance(kernel, str):
                message = f"dispatch: expected 'module.function' for {key}, got {kernel!r}"
                raise line.error(message, names, subject)
            found[key] = kernel
    return found


def _read_tag_bits(
    entry: Mapping, schema: FunctionSchema, tag_names: tuple[str, ...], subject: str
) -> int:
    given = entry.get("tags", [])
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list):
        raise entry.error("tags: expected a list of tags", "tags", subject)
    for name in names:
        if str(name).removeprefix("-") not in tag_names:
            raise entry.error(f"tags: {name!r} is none of tags.yaml", "tags", subject)
    implied = {
        "generated": "autogen_of" in entry,
        "inplace": is_inplace_name(schema.name) and schema.is_mutable,
        "out": any(a.is_out for a in schema.arguments),
        "pt2_compliant_tag": schema.namespace in _COMPLIANT,
    }
    every = {*names, *(n for n, holds in implied.items() if holds and f"-{n}" not in names)}
    return sum(1 << i for i, name in enumerate(tag_names) if name in every)


def _read_bool(entry: Mapping, key: str, subject: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise entry.error(f"{key}: expected True or False, got {value!r}", key, subject)
    return value


def _read_text(entry: Mapping, key: str, subject: str) -> str | None:
    value = entry.get(key)
    if value is not None and not isinstance(value, str):
        raise entry.error(f"{key}: expected a name, got {value!r}", key, subject)
    return value


def _place(f: NativeFunction, seen_from: NativeFunction) -> str:
    line = f"line {f.source.line}"
    same_file = f.source.path == seen_from.source.path
    return line if same_file else f"{line} of {f.source.path.name}"


def _read_formula(entry: Mapping, subject: str) -> Mapping | None:
    given = entry.get("formula")
    if given is not None and not isinstance(given, Mapping):
        message = "formula: expected a mapping 'DTYPES: expression'"
        raise entry.error(message, "formula", subject)
    return given


def _check_names(functions: list[NativeFunction]) -> None:
    seen: dict[str, NativeFunction] = {}
    symbols: dict[str, NativeFunction] = {}
    for f in functions:
        if f.name in seen:
            raise f.error(f"is defined already, in {_place(seen[f.name], f)}")
        if f.symbol in symbols:
            raise f.error(f"has the same C name, {f.symbol}, as {symbols[f.symbol].name}")
        seen[f.name] = symbols[f.symbol] = f


# ---- groups


def _groups(package: Package) -> Iterator[Group]:
    members: dict[str, list[NativeFunction]] = {}
    for f in package.functions:
        if f.structured:
            _check_leader(f)
            members.setdefault(f.name, []).append(f)
        elif f.shape is not None:
            raise f.error("shape: expected 'structured: True' beside it", "shape")
        elif f.formula is not None:
            raise f.error("formula: expected 'structured: True' beside it", "formula")
        if f.delegate is not None:
            leader = package._target(f, f.delegate, "structured_delegate")
            if not leader.structured:
                raise f.error(
                    f"structured_delegate: expected a structured operator, got {f.delegate!r}",
                    "structured_delegate",
                )
            members.setdefault(leader.name, []).append(f)
    for name, functions in members.items():
        group = Group(package.by_name[name], tuple(functions))
        _check_group(group)
        yield group


def _check_leader(f: NativeFunction) -> None:
    if f.shape is None:
        raise f.error("structured: expected a key 'shape'", "structured")
    if f.delegate is not None:
        raise f.error("expected 'structured' or 'structured_delegate', not both", "structured")
    if f.formula is not None and "CPU" in f.dispatch:
        raise f.error("formula: it is the body for the CPU, expected no other", "formula")
    if f.variant == INPLACE:
        raise f.error("structured: expected the out variant or the functional one", "structured")


def _check_families(
    leader: NativeFunction, shape: KernelRef, bodies: dict[str, KernelRef | None]
) -> None:
    for key, body in bodies.items():
        if body is not None and body.family not in ("", shape.family):
            raise leader.kernel_error(
                f"dispatch: expected a body of the family {shape.family!r}, which its shape"
                f" function {shape.text} is of, got {body.text}",
                key,
            )


def _check_group(group: Group) -> None:
    wanted = [(a.name, a.real_type) for a in group.functional.plain_arguments]
    for f in group.members:
        got = [(a.name, a.real_type) for a in f.plain_arguments]
        if got != wanted:
            raise f.error(
                f"expected the arguments of {group.functional.name}, whose shape function it uses"
            )
        plain_first = all(a.is_out for a in f.schema.arguments[len(got) :])
        if not plain_first:
            raise f.error("expected the out arguments behind all others")
        n_out = len(f.out_arguments) or len(f.schema.returns)
        if n_out != group.n_out:
            raise f.error(f"expected {group.n_out} outputs, as {group.leader.name} has")
