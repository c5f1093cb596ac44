"""Fake kernels out of what calls were seen to give (torch._library.fake_profile).

A profile says of one kind of call which rank, dtype, device and layout the tensors that came in and
went out had. Within `unsafe_generate_fake_kernels`, an operator's fake kernel looks for the profile
that its arguments fit and gives outputs of that kind, whose sizes nobody knows. Profiles are kept
in YAML, which is read with PyYAML (the extra `build` installs it).
"""

import contextlib
import io
import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dispatch._C import dtypes
from dispatch._C.dtypes import device, dtype, layout
from dispatch._C.generated.type_names import EXPORTED_DTYPES, EXPORTED_LAYOUTS
from dispatch._C.naming import full_name, package_name
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.library.custom_ops import CustomOpDef, _maybe_get_opdef
from dispatch.library.functions import get_ctx, register_fake
from dispatch.library.library import Library

__all__ = [
    "MissingOpProfile",
    "OpProfile",
    "TensorMetadata",
    "generate_yaml_from_profiles",
    "load_op_profiles",
    "read_profiles_from_yaml",
    "save_op_profiles",
    "unsafe_generate_fake_kernels",
]

_File = str | os.PathLike[str] | io.BytesIO
_RELEASE = "2.13"  # of PyTorch, whose numbers of dtypes and layouts the files have


class MissingOpProfile(RuntimeError):
    """No profile fits a call's arguments."""


@dataclass(frozen=True)
class TensorMetadata:
    """What a profile says of a tensor."""

    rank: int
    dtype: dtype
    device: device
    layout: layout

    @staticmethod
    def maybe_from_tensor(t: Any) -> "TensorMetadata | None":
        """Of a tensor; None for anything else."""
        if not isinstance(t, Tensor):
            return None
        return TensorMetadata(t.dim(), t.dtype, t.device, t.layout)


@dataclass(frozen=True)
class OpProfile:
    """One kind of call: each argument's metadata, None for those that are no tensors."""

    args_profile: tuple[TensorMetadata | None, ...]
    out_profile: TensorMetadata | tuple[TensorMetadata, ...]


def _output(kind: TensorMetadata) -> Tensor:
    """A tensor of this kind with sizes that nobody knows."""
    ctx = get_ctx()
    sizes = [ctx.new_dynamic_size() for _ in range(kind.rank)]
    strides: list[Any] = []
    step: Any = 1
    for size in sizes:
        strides.append(step)
        step = step * size
    made: Tensor = ops.aten.empty_strided(
        sizes, strides, dtype=kind.dtype, device=kind.device, layout=kind.layout
    )
    return made


def _fake_kernel(name: str, profiles: set[OpProfile]) -> Callable[..., Any]:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        found = [TensorMetadata.maybe_from_tensor(a) for a in (*args, *kwargs.values())]
        for profile in profiles:
            if list(profile.args_profile[: len(found)]) == found:
                out = profile.out_profile
                return _output(out) if isinstance(out, TensorMetadata) else [*map(_output, out)]
        raise MissingOpProfile(f"{name}: none of its profiles fits the arguments {args}, {kwargs}")

    return kernel


@contextlib.contextmanager
def unsafe_generate_fake_kernels(
    op_profiles: dict[str, set[OpProfile]],
) -> Iterator[list[Library]]:
    """In the block, operators ("ns.name.overload") have fake kernels by their profiles.

    They take the place of the fake kernels there are, which come back afterwards. Unsafe: a profile
    knows one rank for each kind of arguments, and an operator may give others.
    """
    own = package_name() == "dispatch"
    log = logging.getLogger(__name__ if own else full_name("_library.fake_profile"))
    libs: list[Library] = []
    before: list[tuple[CustomOpDef, Callable[..., Any] | None]] = []
    try:
        for op_name, profiles in op_profiles.items():
            log.warning("%s: fake kernels by profiles replace the one registered", op_name)
            namespace, short = op_name.split(".")[:2]
            name = f"{namespace}::{short}"
            kernel = _fake_kernel(name, profiles)
            opdef = _maybe_get_opdef(name)
            if opdef is not None:
                before.append((opdef, opdef._abstract_fn))
                opdef._abstract_fn = kernel
            else:
                libs.append(Library(namespace, "FRAGMENT"))
                register_fake(name, kernel, lib=libs[-1], allow_override=True)
        yield libs
    finally:
        for lib in libs:
            lib._destroy()
        for opdef, function in before:
            opdef._abstract_fn = function


# ---- files


_DTYPES = {number: getattr(dtypes, name) for number, name in EXPORTED_DTYPES.items()}
_LAYOUTS = {number: getattr(dtypes, name) for number, name in EXPORTED_LAYOUTS.items()}


def _number(table: dict[int, Any], value: Any) -> int:
    return next(number for number, found in table.items() if found == value)


def _written(t: TensorMetadata) -> dict[str, Any]:
    return {
        "rank": t.rank,
        "dtype": _number(_DTYPES, t.dtype),
        "device": str(t.device),
        "layout": _number(_LAYOUTS, t.layout),
    }


def _read(data: dict[str, Any]) -> TensorMetadata:
    return TensorMetadata(
        data["rank"], _DTYPES[data["dtype"]], device(data["device"]), _LAYOUTS[data["layout"]]
    )


def _written_profile(profile: OpProfile) -> dict[str, Any]:
    out = profile.out_profile
    return {
        "args_profile": [_written(a) for a in profile.args_profile if a is not None],
        "out_profile": _written(out) if isinstance(out, TensorMetadata) else [*map(_written, out)],
    }


def _read_profile(data: dict[str, Any]) -> OpProfile:
    out = data["out_profile"]
    return OpProfile(
        tuple(map(_read, data["args_profile"])),
        tuple(map(_read, out)) if isinstance(out, list) else _read(out),
    )


def generate_yaml_from_profiles(op_profiles: dict[str, set[OpProfile]]) -> str:
    """The profiles as YAML."""
    import yaml

    operators = {name: [*map(_written_profile, found)] for name, found in op_profiles.items()}
    text: str = yaml.dump({"torch_version": _RELEASE, "operators": operators}, sort_keys=False)
    return text


def read_profiles_from_yaml(yaml_str: str) -> dict[str, set[OpProfile]]:
    """What `generate_yaml_from_profiles` wrote; RuntimeError for another release's."""
    import yaml

    data = yaml.safe_load(yaml_str)
    if data["torch_version"] != _RELEASE:
        raise RuntimeError(
            f"Unable to load outdated profile: its release is {data['torch_version']}, "
            f"not {_RELEASE}"
        )
    return {name: set(map(_read_profile, found)) for name, found in data["operators"].items()}


def save_op_profiles(op_profiles: dict[str, set[OpProfile]], f: _File) -> None:
    """Write profiles to a path or a BytesIO; ValueError for anything else."""
    text = generate_yaml_from_profiles(op_profiles)
    if isinstance(f, io.BytesIO):
        f.write(text.encode("utf-8"))
        return
    with open(_path(f), "w", encoding="utf-8") as file:
        file.write(text)


def load_op_profiles(f: _File) -> dict[str, set[OpProfile]]:
    """Read what `save_op_profiles` wrote."""
    if isinstance(f, io.BytesIO):
        return read_profiles_from_yaml(f.read().decode("utf-8"))
    with open(_path(f), encoding="utf-8") as file:
        return read_profiles_from_yaml(file.read())


def _path(f: Any) -> str:
    if not isinstance(f, (str, os.PathLike)):
        raise ValueError(f"expected a path or a BytesIO, got {type(f)}")
    return os.fspath(f)
