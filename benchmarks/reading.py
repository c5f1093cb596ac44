"""Readers of exported programs and of weights, compared: `python -m benchmarks.reading MODELS`.

MODELS is a folder of `NAME.json.gz`. Each reader has a process of its own, which reads the text of
one model five times: the least processor time and the growth of peak memory are printed.

- `ours`: `graph.reader`, into the records of `graph.program`, every value checked
- `msgspec`: typed as well, into structs made from the same annotations. It does not bound the
  values of enums and checks no union for having one key; its errors name a place too
- `json`: the standard library's, into dicts, nothing checked

`safetensors`: the same 64 MB of weights through `graph.safetensors` and through the package, which
needs numpy to hand arrays over and knows no bfloat16 or float8 there. Packages that are not
installed are left out and named. `--keep` writes the table to `reading.txt` beside this file.
"""

import argparse
import gzip
import importlib.util
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
import typing
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from types import NoneType, UnionType
from typing import Any

__all__ = ["READERS"]

_ROUNDS = 5


def _ours() -> Callable[[bytes], object]:
    from dispatch.graph.program import read_program

    return lambda text: read_program(text, "model.json")


def _msgspec() -> Callable[[bytes], object]:
    import msgspec

    from dispatch.graph import program

    made: dict[Any, Any] = {}

    def typed(hint: Any) -> Any:
        if isinstance(hint, str):
            hint = eval(hint, vars(program))
        if isinstance(hint, typing.NewType):
            return str if hint.__supertype__ is bytes else int
        args = typing.get_args(hint)
        if isinstance(hint, UnionType) or typing.get_origin(hint) is typing.Union:
            return typed(args[0]) | None if NoneType in args else hint
        if args:
            inner = tuple(a if a is ... else typed(a) for a in args)
            return typing.get_origin(hint)[inner]
        return struct(hint) if hint not in (int, float, bool, str) else hint

    def struct(cls: Any) -> Any:
        if cls not in made:
            fields: list[tuple[Any, ...]]
            made[cls] = made[cls.__name__] = typing.ForwardRef(cls.__name__)
            if issubclass(cls, program.Tagged):
                fields = [(n, typed(h) | msgspec.UnsetType, msgspec.UNSET)
                          for n, h in cls.TAGS.items()]  # fmt: skip
            else:
                hints, defaults = typing.get_type_hints(cls), cls._field_defaults
                fields = [(n, typed(h)) for n, h in hints.items() if n not in defaults]
                fields += [(n, typed(hints[n]), d) for n, d in defaults.items()]
            made[cls] = msgspec.defstruct(cls.__name__, fields, namespace={}, module=__name__)
            globals()[cls.__name__] = made[cls]
        return made[cls]

    return msgspec.json.Decoder(struct(program.ExportedProgram)).decode


def _json() -> Callable[[bytes], object]:
    return json.loads


READERS: dict[str, Callable[[], Callable[[bytes], object]]] = {
    "ours": _ours,
    "msgspec": _msgspec,
    "json": _json,
}


def _weights(reader: str, path: str) -> Callable[[bytes], object]:
    if reader == "ours":
        from dispatch.graph.safetensors import read_tensors

        return lambda _: read_tensors(path)
    from safetensors.numpy import load_file

    return lambda _: load_file(path)


def _worker(reader: str, path: str) -> None:
    """In a process of its own: prints best seconds and MB of growth."""
    if path.endswith(".safetensors"):
        text, read = b"", _weights(reader, path)
    else:
        text, read = gzip.decompress(Path(path).read_bytes()), READERS[reader]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    taken = []
    for _ in range(_ROUNDS):
        started = time.process_time()
        read(text)
        taken.append(time.process_time() - started)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps([min(taken), grown / 1024]))


def _weights_file(folder: str) -> Path:
    """64 tensors of 1 MB."""
    size, path = 1 << 20, Path(folder, "weights.safetensors")
    entries = {
        f"layer.{i}.weight": {"dtype": "F32", "shape": [512, 512],
                              "data_offsets": [i * size, (i + 1) * size]}
        for i in range(64)
    }  # fmt: skip
    head = json.dumps(entries).encode()
    path.write_bytes(len(head).to_bytes(8, "little") + head + bytes(64 * size))
    return path


def _row(path: Path, readers: dict[str, str]) -> str:
    cells = []
    for reader, package in readers.items():
        if package and not importlib.util.find_spec(package):
            cells.append(f"{reader}: not installed")
            continue
        command = [sys.executable, "-m", "benchmarks.reading", "--worker", reader, str(path)]
        seconds, grown = json.loads(subprocess.check_output(command))
        cells.append(f"{reader}: {seconds * 1e3:.1f} ms, {grown:.1f} MB")
    return f"{path.name.partition('.')[0]:14}" + "".join(f"{cell:32}" for cell in cells).rstrip()


def _head() -> str:
    found = [f"{name} {version(name)}" for name in ("msgspec", "safetensors")
             if importlib.util.find_spec(name)]  # fmt: skip
    return ", ".join([f"Python {platform.python_version()}", platform.machine(), *found])


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading")
    parser.add_argument("models", type=Path, nargs="?")
    parser.add_argument("--worker", nargs=2)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    if options.worker:
        _worker(*options.worker)
        return
    rows = [_head()]
    for path in sorted(options.models.glob("*.aten.json.gz")) if options.models else []:
        rows.append(_row(path, {"ours": "", "msgspec": "msgspec", "json": ""}))
    with tempfile.TemporaryDirectory() as folder:
        rows.append(_row(_weights_file(folder), {"ours": "", "safetensors": "safetensors"}))
    print("\n".join(rows))
    if options.keep:
        Path(__file__).with_suffix(".txt").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    _main()
