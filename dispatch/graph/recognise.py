"""What a file is that is no exported program: told by its content, with what to do about it.

`archive` asks when a file's head or a zip's members are not those of a `.pt2`, `module` when JSON
has no program in it. The answer is a line for an error: what the file is, and how to get what is
read here.
"""

import re
from collections.abc import Callable, Iterable

__all__ = ["HEAD", "json_kind", "kind_of_head", "kind_of_members"]

HEAD = 64  # bytes that `kind_of_head` wants
_EXPORT = "load it where torch is, then torch.export.export and torch.export.save"
_WEIGHTS = (
    "weights without a program: export the model (torch.export.export, torch.export.save); "
    "load_safetensors reads such weights into it"
)
_PAGE = " (docs/exporting.md)"


def kind_of_head(head: bytes) -> str | None:
    """What a file starts like, and what to do; None when nothing is known."""
    found = next((answer for answer, fits in _HEADS if fits(head)), None)
    return found + _PAGE if found is not None else None


def _starts(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(marks)


def _is_safetensors(head: bytes) -> bool:
    """A length of eight bytes, then JSON."""
    return len(head) > 9 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 32


def _is_pickle(head: bytes) -> bool:
    return len(head) > 1 and head[0] == 0x80 and 2 <= head[1] <= 5


def _is_onnx(head: bytes) -> bool:
    """A protocol buffer: the version of the format (field 1), then the producer or the like."""
    return head[:1] == b"\x08" and b"\x01" <= head[1:2] <= b"\x14" and head[2:3] in _ONNX_FIELDS


_ONNX_FIELDS = (b"\x12", b"\x1a", b"\x22", b"\x3a", b"\x42")
_IF_TORCH = f"{_EXPORT}, if there is a PyTorch model"
_HEADS: tuple[tuple[str, Callable[[bytes], bool]], ...] = (
    (f"a GGUF model of llama.cpp: {_WEIGHTS}", _starts(b"GGUF", b"GGML", b"ggjt", b"lmgg")),
    (f"a safetensors file: {_WEIGHTS}", _is_safetensors),
    (
        "a Git LFS pointer, not the file that it stands for: run git lfs pull",
        _starts(b"version https://git-lfs"),
    ),
    (f"a pickle (torch.save), which is never unpickled here: {_EXPORT}", _is_pickle),
    (f"a TensorFlow Lite model: {_IF_TORCH}", lambda head: head[4:8] == b"TFL3"),
    (f"an HDF5 file (Keras?): {_IF_TORCH}", _starts(b"\x89HDF")),
    (
        "an array of numpy: weights or an input, not a program (inputs: --inputs FILE.npz)",
        _starts(b"\x93NUMPY"),
    ),
    (f"an ONNX model: {_EXPORT} for the PyTorch model that it was made from", _is_onnx),
    (
        "a web page: was a download answered by a login?",
        _starts(b"<!DOCTYPE", b"<!doctype", b"<html"),
    ),
    (
        "a packed archive (7z, xz, bzip2 or zstd): unpack it first",
        _starts(b"7z\xbc\xaf", b"\xfd7zXZ", b"BZh", b"\x28\xb5\x2f\xfd"),
    ),
)


def kind_of_members(names: Iterable[str]) -> str | None:
    """What a zip without a program is by its members, and what to do."""
    found = {name.partition("/")[2] or name for name in names}
    if "constants.pkl" in found or any(name.startswith("code/") for name in found):
        return f"a TorchScript program: {_EXPORT}{_PAGE}"
    if "data.pkl" in found:
        return (
            "a pickle (torch.save: weights or a whole module), which is never unpickled here: "
            f"{_EXPORT}{_PAGE}"
        )
    if any(name.startswith("serialized_exported_program") for name in found):
        return f"an exported program of before PyTorch 2.7: save it anew with a newer one{_PAGE}"
    if any(name.startswith("data/aotinductor") for name in found):
        return f"a package that is compiled already (AOTInductor): save the program itself{_PAGE}"
    if found and all(name.endswith(".npy") for name in found):
        return "numpy's arrays: weights or inputs, not a program (inputs: --inputs FILE.npz)"
    return None


_KEYS = re.compile(rb'"(weight_map|architectures|model_type|during_bytes|model_max_length)"\s*:')
_JSON = {
    b"weight_map": f"the index of a model in safetensors files: {_WEIGHTS}",
    b"architectures": f"the configuration of a model: {_EXPORT}",
    b"model_type": f"the configuration of a model: {_EXPORT}",
    b"model_max_length": f"the configuration of a tokenizer: {_EXPORT}",
    b"during_bytes": "a report of dispatch inspect, not the model that it is about",
}


def json_kind(data: bytes, problem: str) -> str | None:
    """What JSON without a program is, as far as its first keys say; `problem` is what the reader
    of programs found wrong."""
    found = _KEYS.search(data, 0, 1 << 16) if b'"graph_module"' not in data else None
    if found is not None:
        return _JSON[found[1]] + _PAGE
    without = problem == "'graph_module' is missing"
    return f"JSON, but no exported program ({problem}){_PAGE}" if without else None
