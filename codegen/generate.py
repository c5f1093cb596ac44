"""What is emitted, file by file: the views that the templates fill in, and the run over them all.

Called by `python -m codegen` and by the build. Each `_emit_*` turns the model into one template's
context; no text is made here, only numbers, names and rows of them, and the same input always
gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from .families import Layout
from .formulas import Formula, read
from .keys import KeyTable, read_keys
from .loops import module_view
from .model import Package, operator_files, read_functions
from .output import Output, c_string, rows_of
from .rooms import Rooms
from .stubs import (
    MODULES,
    functions_view,
    methods_view,
    namespace_views,
    prefixed_view,
    results_view,
)
from .tables import Tables
from .tensor_types import TypeTable, read_types

__all__ = ["Job", "generate"]

_OWN = "dispatch"
# By suffix: a build in place puts compiled modules of the same stems beside what is emitted.
_OURS = (
    "adapters_*.pyx", "adapters_*.pxd", "kernels_*.pyx", "ops_*.pyi", "calls.pxd",
    "functions_*.pyi", "formulas_*.pyx", "formulas_*.pxd", "formulas_*.h",
)  # fmt: skip


class Job(NamedTuple):
    """One run: where the YAML is, where the files go, and for which package."""

    schemas: Path
    out: Path
    package: str = "dispatch"
    check: bool = False


def generate(job: Job) -> Output:
    """Emit all files of `job`; raises `SourceError` for a mistake in the input."""
    output = Output(job.out, job.check)
    keys = read_keys(_schema_file(job, "dispatch_keys.yaml"))
    folder = _package_folder(job)
    functions = job.schemas / "native_functions.yaml"
    package = read_functions(
        functions,
        keys,
        _schema_file(job, "tags.yaml"),
        Rooms(folder, job.package, _emitted_module(job, folder)),
    )
    layout = Layout(package, package.rooms.emitted)
    head = _Head(job, operator_files(functions))
    types = read_types(_schema_file(job, "types.yaml"))
    if job.package == _OWN:
        _emit_types(output, head, types)
        _emit_keys(output, head, keys, types)
        tags = [{"name": name, "bit": bit} for bit, name in enumerate(package.tag_names)]
        output.render("tags.h", "tags.h.j2", head=head("tags.h", "tags.yaml"), tags=tags)
        _emit_enums(output, head, keys, package)
    _emit_tables(output, head, package, layout)
    _emit_modules(output, head, layout)
    _emit_formulas(output, head, package, types)
    _emit_stubs(output, head, package)
    if job.package != _OWN:
        name = "operators.pyx"
        output.render(name, "operators.pyx.j2", head=head(name), package=job.package)
    output.remove_others(_OURS)
    return output


def _schema_file(job: Job, name: str) -> Path:
    # a package of operators has no keys and tags of its own: they are those of `dispatch`
    own = job.schemas / name
    return own if own.is_file() else Path(__file__).parent.parent / "schemas" / name


def _package_folder(job: Job) -> Path:
    name = job.package.rpartition(".")[2]
    for folder in job.out.absolute().parents:
        if folder.name == name:
            return folder
    return job.schemas.absolute().parent / Path(*job.package.split("."))


def _emitted_module(job: Job, folder: Path) -> str:
    out = job.out.absolute()
    inside = out.relative_to(folder).parts if out.is_relative_to(folder) else ("generated",)
    return ".".join((job.package, *inside))


class _Head:
    """What stands at the head of every emitted file."""

    def __init__(self, job: Job, functions: list[Path]) -> None:
        self._package = job.package
        names = [path.name.removesuffix("_functions.yaml") for path in functions]
        stem = names[0] if len(names) == 1 else f"{{{','.join(names)}}}"
        self._functions = f"{stem}_functions.yaml"

    def __call__(self, file: str, source: str = "") -> dict[str, str]:
        command = "python -m codegen"
        if self._package != _OWN:
            command = f"dispatch-codegen --package {self._package}"
        guard = f"{self._package}_{file}".upper().replace(".", "_")
        sources = f"schemas/{source or self._functions}"
        return {"sources": sources, "command": command, "guard": guard}


def _emit_tables(output: Output, head: _Head, package: Package, layout: Layout) -> None:
    output.render("ops.h", "ops.h.j2", head=head("ops.h"), ops=Tables(package, layout).view())
    ops = [{"symbol": f.symbol, "index": i} for i, f in enumerate(package.functions)]
    output.render("op_ids.h", "op_ids.h.j2", head=head("op_ids.h"), ops=ops, count=len(ops))


def _emit_modules(output: Output, head: _Head, layout: Layout) -> None:
    if layout.families:
        for i in range(layout.n_adapter_modules):
            view = layout.adapter_view(i)
            for suffix in ("pxd", "pyx"):
                name = f"adapters_{i}.{suffix}"
                output.render(name, f"adapters.{suffix}.j2", head=head(name), shard=view)
        imports = layout.caller_imports()
        output.render("calls.pxd", "calls.pxd.j2", head=head("calls.pxd"), imports=imports)
    for family in layout.families:
        name = f"kernels_{family}.pyx"
        output.render(name, "kernels.pyx.j2", head=head(name), shard=layout.kernel_view(family))


def _emit_formulas(output: Output, head: _Head, package: Package, types: TypeTable) -> None:
    modules: dict[str, list[tuple[Formula, bool]]] = {}
    rooms = package.rooms
    for group in package.groups:
        leader = group.leader
        if leader.formula is not None:
            name = package.formula_module(leader).rpartition(".")[2]
            shape = rooms.kernel(leader.error, "Meta", leader.shape or "", "shape")
            formula = read(leader, types, rooms)
            modules.setdefault(name, []).append((formula, shape.is_cython))
    for name, formulas in sorted(modules.items()):
        view = module_view(name, formulas, types, rooms.folder, output.folder)
        for file, template in (
            (f"{name}.h", "formulas.h.j2"),
            (f"{name}_loops.h", "formulas_loops.h.j2"),
            (f"{name}.pxd", "formulas.pxd.j2"),
            (f"{name}.pyx", "formulas.pyx.j2"),
        ):
            output.render(file, template, head=head(file), module=view)


def _hex(raw: int) -> str:
    return f"0x{raw:016X}ULL" if raw else "0"


def _emit_stubs(output: Output, head: _Head, package: Package) -> None:
    for namespace, packets in namespace_views(package):
        name = f"ops_{namespace}.pyi"
        view = {"name": namespace, "class_name": f"{namespace.title()}Ops", "packets": packets}
        output.render(name, "namespace.pyi.j2", head=head(name), namespace=view)
    if package.rooms.name == _OWN:
        for name, functions in (
            ("functions.pyi", functions_view(package)),
            ("tensor_methods.pyi", methods_view(package)),
            ("results.pyi", results_view(package)),
        ):
            output.render(name, f"{name}.j2", head=head(name), functions=functions, of="")
        for module in MODULES:
            name, functions = f"functions_{module}.pyi", prefixed_view(package, module)
            output.render(name, "functions.pyi.j2", head=head(name), functions=functions, of=module)


def _emit_types(output: Output, head: _Head, types: TypeTable) -> None:
    view, sets, tables = types.view(), types.set_view(), types.names_view()
    names = sorted(constant["name"] for constant in view["constants"])
    for name in ("types.h", "types.pxd", "types.pyi"):
        context = {"head": head(name, "types.yaml"), "types": view, "names": names}
        output.render(name, f"{name}.j2", **context)
    for name, found in (("dtype_sets.py", sets), ("type_names.py", tables)):
        names = sorted(each["name"] for each in found)
        context = {"head": head(name, "types.yaml"), "tables": found, "names": names}
        output.render(name, f"{name}.j2", **context)


def _emit_keys(output: Output, head: _Head, keys: KeyTable, types: TypeTable) -> None:
    keys_head = head("keys.h", "{dispatch_keys,types}.yaml")
    output.render("keys.h", "keys.h.j2", head=keys_head, keys=_keys_view(keys, types))


def _emit_enums(output: Output, head: _Head, keys: KeyTable, package: Package) -> None:
    output.render(
        "enums.pyi",
        "enums.pyi.j2",
        head=head("enums.pyi", "{dispatch_keys,tags}.yaml"),
        keys=[name for name, _ in keys.python_members()],
        tags=sorted(package.tag_names),
    )


def _keys_view(keys: KeyTable, types: TypeTable) -> dict[str, Any]:
    n_functionalities = keys.end_of_functionalities
    first: dict[int, int] = {}
    for key in keys.runtime:
        first.setdefault(key.functionality, key.place)
    per_backend = {f.value for f in keys.functionalities if f.prefix is not None}
    by_value = [keys.name_of.get(v) for v in range(keys.n_values)]
    fallbacks = keys.backend_fallbacks()
    members = list(keys.python_members())
    autograd = keys.aliases["Autograd"] & ~0xFFFF
    index = {key.value: key.place for key in keys.runtime}
    return {
        "n_backends": len(keys.backends),
        "n_functionalities": n_functionalities,
        "n_runtime": len(keys.runtime),
        "n_values": keys.n_values,
        "enum_values": [{"name": name, "value": value} for name, value in keys.values.items()],
        "full_backends": _hex((1 << len(keys.backends)) - 1),
        "autograd": _hex(autograd),
        "named_sets": [
            {"name": "DEFAULT_INCLUDE", "raw": _hex(keys.thread_default("include"))},
            {"name": "DEFAULT_EXCLUDE", "raw": _hex(keys.thread_default("exclude"))},
            *({"name": name, "raw": _hex(keys.named_set(name.lower()))} for name in _NAMED_SETS),
        ],
        "raw_sets": [
            {"name": name, "raw": _hex(keys.raw(name))}
            for name in keys.values
            if keys.raw(name) and not name.startswith(("StartOf", "EndOf"))
        ],
        "func_offset": rows_of(first.get(f, 0) for f in range(n_functionalities)),
        "func_mask": rows_of(
            "0xFFFF" if f in per_backend else "0" for f in range(n_functionalities)
        ),
        "name_by_value": rows_of(c_string(name) for name in by_value),
        "set_by_value": rows_of(_hex(keys.raw(name)) if name else "0" for name in by_value),
        "alias_by_value": rows_of(_hex(keys.aliases.get(name or "", 0)) for name in by_value),
        "index_by_value": rows_of(index.get(v, -1) for v in range(keys.n_values)),
        "value_by_index": rows_of(key.value for key in keys.runtime),
        "autograd_backends": rows_of(_hex(keys.autograd_backends(key)) for key in keys.runtime),
        "from_autograd": rows_of(
            _hex(keys.redispatch_set(keys.runtime[index[v]]) if v in index else 0)
            for v in range(keys.n_values)
        ),
        "func_first_key": rows_of(
            keys.runtime[first[f]].value if f in per_backend else 0
            for f in range(n_functionalities)
        ),
        "fallbacks": rows_of(
            1 + fallbacks[key.name] if key.name in fallbacks else 0 for key in keys.runtime
        ),
        "devices": [
            {"name": device.name, "raw": _hex(keys.tensor_set(device.key))}
            for device in types.devices
        ],
        "device_keys": rows_of(
            -1 if device.key is None else keys.values[device.key] for device in types.devices
        ),
        "n_members": len(members),
        "member_names": rows_of(c_string(name) for name, _ in members),
        "member_values": rows_of(value for _, value in members),
    }


_NAMED_SETS = (
    "AUTOGRADOTHER_BACKENDS",
    "NESTED_TENSOR_BACKENDS",
    "ADDITIONAL_KEYS_TO_PROP_FOR_WRAPPER_TENSORS",
)
