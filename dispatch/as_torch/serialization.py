"""`torch.save` and `torch.load`: values as pickles, tensors with their bytes.

A file of this package is no file of PyTorch, and neither reads the other's. `load` makes nothing
but tensors, what describes them, plain containers, and classes that were named as safe, unless it
is told `weights_only=False`.
"""

import contextlib
import io
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NoReturn

from dispatch._C import dtypes
from dispatch._C.size import Size
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _get_dispatch_mode, _TorchDispatchModeKey
from dispatch.as_torch.nn import parameter
from dispatch.tensor import copy, typed_storage

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals",
           "save"]  # fmt: skip

File = str | os.PathLike[str] | IO[bytes]
_safe: dict[tuple[str, str], Any] = {}
# What pickles of tensors call (`reduce` in `tensor/copy`), and what they hold beside numbers.
_REBUILDING = frozenset(
    ("_rebuilt", "_rebuilt_from", "_rebuilt_wrapper", "_restored", "_restored_storage",
     "_same_storage")
)  # fmt: skip
_IMMUTABLE = 1 << 8  # of a type's flags: nobody sets its attributes
_CLASSES = {"Size": Size, "Tensor": Tensor, "device": dtypes.device}
_CONTAINERS = {
    "builtins": ("bytearray", "complex", "frozenset", "set", "slice"),
    "collections": ("Counter", "OrderedDict"),
}


def save(
    obj: Any,
    f: File,
    pickle_module: Any = pickle,
    pickle_protocol: int = 4,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write a value to a file, given as a path or open for writing.

    Tensors that share memory share it when they are loaded, unlike those of a plain pickle. The
    last two arguments choose among formats of PyTorch, and change nothing here.

    Raises AttributeError for what has no `write`.
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError(f"save: expected a path or an open file, got {type(f).__name__}")
    writer: Any = type("_Writer", (_Sharing, pickle_module.Pickler), {})
    with _opened(f, "wb") as file:
        writer(file, protocol=pickle_protocol).dump(obj)
        if hasattr(file, "flush"):
            file.flush()


def load(
    f: File,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool = True,
    mmap: bool | None = None,
) -> Any:
    """Read what `save` wrote.

    Args:
        map_location: the device that takes the tensors, or a dict from devices to devices, or a
            function of a storage and its device that gives a storage, or None for the one given.
        pickle_module: whose `Unpickler` reads, with `weights_only=False` alone.
        weights_only: only tensors, containers and classes named by `add_safe_globals`.

    Raises:
        pickle.UnpicklingError: anything else in the file.
        RuntimeError: a `pickle_module` beside `weights_only`.
        AttributeError: a file that cannot be sought.
    """
    if weights_only and pickle_module is not None:
        raise RuntimeError(
            "load: Can not safely load weights when explicit pickle_module is specified"
        )
    readers: Any = _Reader if pickle_module is None else _reader_of(pickle_module)
    with _opened(f, "rb") as file:
        if not hasattr(file, "seek") or not hasattr(file, "tell"):
            raise AttributeError(
                "load: You can only torch.load from a file that is seekable. Please pre-load the "
                "data into a buffer like io.BytesIO and try to load from it instead."
            )
        reader = readers(io.BytesIO(file.read()), map_location, weights_only)
        try:
            return reader.load()
        except OverflowError as error:  # a length beyond 64 bits
            raise pickle.UnpicklingError(f"load: {error}") from None


@contextlib.contextmanager
def _opened(f: File, mode: str) -> Iterator[IO[bytes]]:
    if isinstance(f, (str, os.PathLike)):
        with open(f, mode) as file:
            yield file
    else:
        yield f


class _Sharing:
    """A pickler that writes each storage once."""

    def reducer_override(self, value: Any) -> Any:
        if type(value) is copy._OwnStorage:
            return copy._same_storage, (value.storage,)
        return NotImplemented


class _Call:
    """What a file may call and do nothing else to: BUILD would set attributes of a class."""

    __slots__ = ("_made",)
    _made: Callable[..., Any]

    def __init__(self, made: Callable[..., Any]) -> None:
        object.__setattr__(self, "_made", made)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self._made(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise pickle.UnpicklingError(f"load: a file sets the attribute {name!r} of {self._made!r}")


class _Reading:
    """What is ours of an unpickler; the rest is the `Unpickler` of some module."""

    def __init__(self, file: IO[bytes], places: Any, checked: bool) -> None:
        super().__init__(file)  # type: ignore[call-arg]
        self.places = places
        self.checked = checked

    def find_class(self, module: str, name: str) -> Any:
        found = self._found(module, name)
        if not self.checked or (module, name) in _safe or not callable(found):
            return found
        if isinstance(found, type) and (found is Tensor or found.__flags__ & _IMMUTABLE):
            return found
        return _Call(found)

    def _found(self, module: str, name: str) -> Any:
        if module in ("torch._utils", copy.__name__) and name in _REBUILDING:
            own = {"_restored_storage": self._storage, "_rebuilt": self._tensor}
            return own.get(name) or getattr(copy, name)
        if module in ("torch.nn.parameter", parameter.__name__) and name == "_parameter":
            return parameter._parameter
        if module in ("torch.storage", typed_storage.__name__) and name == "_typed_storage":
            return typed_storage._typed_storage
        if not self.checked:
            return super().find_class(module, name)  # type: ignore[misc]
        if (module, name) in _safe:
            return _safe[module, name]
        if name in _CONTAINERS.get(module, ()):
            return super().find_class(module, name)  # type: ignore[misc]
        if module.partition(".")[0] in ("torch", "dispatch"):
            found = _CLASSES.get(name, getattr(dtypes, name, None))
            kinds = (dtypes.dtype, dtypes.layout, dtypes.memory_format)
            if name in _CLASSES or isinstance(found, kinds):
                return found
        raise pickle.UnpicklingError(
            f"load: Weights only load failed: {module}.{name} is not among what it makes: "
            "name its class with add_safe_globals, or trust the file with weights_only=False"
        )

    def _storage(self, content: bytes | int, device: str) -> Any:
        place = self.places
        if callable(place):
            made = copy._restored_storage(content, device)
            given = place(made, device)
            return made if given is None else given
        if isinstance(place, dict):
            place = place.get(device, device)
        target = str(dtypes.device(place)) if place is not None else device
        if target.partition(":")[0] != "cpu" and isinstance(content, bytes):
            content = len(content)
        return copy._restored_storage(content, target)

    def _tensor(self, storage: Any, dtype: str, geometry: Any, bits: Any) -> Any:
        if _get_dispatch_mode(_TorchDispatchModeKey.FAKE) is None:
            return copy._rebuilt(storage, dtype, geometry, bits)
        kind = getattr(dtypes, dtype)  # the device is kept, unlike that of a plain pickle
        shown = copy._shown_strided(storage, kind, *geometry, device=storage.device)
        return copy._with_bits(shown, *bits)


class _Reader(_Reading, pickle.Unpickler):
    """The usual one."""


def _reader_of(module: Any) -> type:
    return type("_Reader", (_Reading, module.Unpickler), {})


def _named(classes: Sequence[Any]) -> dict[tuple[str, str], Any]:
    return {(c.__module__, c.__qualname__): c for c in classes}


def add_safe_globals(safe_globals: Sequence[Any]) -> None:
    """Classes and functions that `load` may use from now on."""
    _safe.update(_named(safe_globals))


def get_safe_globals() -> list[Any]:
    """What was named as safe."""
    return list(_safe.values())


def clear_safe_globals() -> None:
    """Nothing is safe any more."""
    _safe.clear()


@contextlib.contextmanager
def safe_globals(safe_globals: Sequence[Any]) -> Iterator[None]:
    """Classes and functions that `load` may use in a block."""
    before = dict(_safe)
    add_safe_globals(safe_globals)
    try:
        yield
    finally:
        _safe.clear()
        _safe.update(before)
