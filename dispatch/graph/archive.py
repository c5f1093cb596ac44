"""A model file as named records: a `.pt2` zip, or the JSON of an exported program alone.

`open_archive` reads the table of contents and nothing else; a record is read when it is asked for.
Nothing is unpacked to disk, so member names are only keys. The sizes in the file are claims of
whoever wrote it: a record is read only after its claimed size has passed the limits here, and never
beyond it. Only files are opened: a pipe or a device would be waited for, except a pipe that the
process was started with (`/dev/stdin`), which is read once, to its end.
"""

import errno
import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, BinaryIO

from dispatch.graph.errors import ModelFileError
from dispatch.graph.recognise import HEAD, kind_of_head, kind_of_members

__all__ = [
    "ZIP_ERRORS",
    "Archive",
    "JsonFile",
    "fill",
    "open_archive",
    "open_regular",
    "opened_zip",
    "shown_name",
]

MAX_JSON_BYTES = 512 << 20
MAX_RATIO = 200  # compressed graphs reach 40:1
MAX_PIPED_BYTES = 2 << 30  # of an archive, which is kept in memory
_RATIO_SLACK = 1 << 20  # small records may compress better
_MAX_DIRECTORY = 4 << 20  # bytes of a zip's table of contents, and a 64th of the file
_CHUNK = 1 << 20
_END_RECORD = struct.Struct("<4s4H2LH")
_END_RECORD_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_ENCRYPTED = 1

# A mistake inside the zip reaches us as any of these.
ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, OverflowError,
    RuntimeError, struct.error, UnicodeError, ValueError,
)  # fmt: skip
Opener = Callable[[str], BinaryIO]


def open_regular(path: str) -> BinaryIO:
    """The file at `path`; `OSError` for what is no file, without waiting for anybody."""
    return open(path, "rb", opener=_only_regular)


def _only_regular(path: str, flags: int) -> int:
    handle = os.open(path, flags | os.O_NONBLOCK)
    mode = os.fstat(handle).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # open() has its own error for a folder
        os.close(handle)
        raise OSError(errno.EINVAL, "not a file, but a pipe or a device", path)
    return handle


def _shown_name(path: str) -> str:
    """The file's name as text, whatever encoding the locale has for names."""
    return os.fsencode(os.path.basename(path)).decode("utf-8", "replace")


class JsonFile:
    """The JSON of an exported program without weights, plain or gzipped."""

    def __init__(self, path: str, opener: Opener = open_regular) -> None:
        self.path = path
        self.place = ""
        self._opener = opener

    @property
    def model_name(self) -> str:
        return _shown_name(self.path)

    def read_model(self) -> bytes:
        """The program's JSON."""
        with self._opener(self.path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            if file.read(2) == b"\x1f\x8b":
                file.seek(0)
                return self._decompress(file, size)
            check_json_size(self.path, "", size, size)
            file.seek(0)
            return file.read(MAX_JSON_BYTES + 1)

    def _decompress(self, file: BinaryIO, size: int) -> bytes:
        inflater, parts, total = zlib.decompressobj(31), [], 0
        try:
            while chunk := file.read(_CHUNK):
                while chunk:
                    parts.append(inflater.decompress(chunk, _CHUNK))
                    total += len(parts[-1])
                    check_json_size(self.path, "", total, size)
                    chunk = inflater.unconsumed_tail
                    if inflater.eof:
                        return b"".join(parts)
        except zlib.error as error:
            raise ModelFileError(self.path, "", f"broken gzip data ({error})") from None
        raise ModelFileError(self.path, "", "the gzip data ends too early")


class Archive:
    """A `.pt2` zip; records are named without the root folder (`models/model.json`)."""

    def __init__(self, path: str, opener: Opener = open_regular) -> None:
        self.path = path
        self._opener = opener
        with opened_zip(path, opener, "the table of contents") as archive:
            self._members = {info.filename: info for info in archive.infolist()}
            self._file_size = archive.fp.seek(0, os.SEEK_END) if archive.fp else 0
        if sum(info.compress_size for info in self._members.values()) > self._file_size:
            raise ModelFileError(path, "", "members that overlap or reach past the file's end")
        self.root = self._find_root()
        self.place = self._find_model()

    @property
    def model_name(self) -> str:
        return _shown_name(self.path)

    def _find_root(self) -> str:
        """The root folder is the file's name when it was saved, so it is taken from the first
        member."""
        first = next(iter(self._members), None)
        if first is None:
            raise ModelFileError(self.path, "", "an archive without members")
        root, slash, _ = first.partition("/")
        if not slash:
            known = kind_of_members(self._members)
            if known is not None:
                raise ModelFileError(self.path, "", known)
            raise ModelFileError(self.path, shown_name(first), "a member outside the root folder")
        return root + "/"

    def _find_model(self) -> str:
        if self.has("models/model.json"):
            return "models/model.json"
        models = [n for n in self.names("models/") if n.endswith(".json")]
        if len(models) != 1:
            known = kind_of_members(self._members) if not models else None
            if known is not None:
                raise ModelFileError(self.path, "", known)
            found = "none" if not models else ", ".join(shown_name(n) for n in models[:5])
            raise ModelFileError(self.path, "models/", f"expected one program, found {found}")
        return models[0]

    @property
    def name_in_package(self) -> str:
        """`model` of `models/model.json`; the weights' config carries it too."""
        return self.place.removeprefix("models/").removesuffix(".json")

    def names(self, prefix: str = "") -> Iterator[str]:
        """The records' names that start with `prefix`."""
        start = len(self.root)
        return (n[start:] for n in self._members if n.startswith(self.root + prefix))

    def has(self, name: str) -> bool:
        """Whether there is a record `name`."""
        return self.root + name in self._members

    def size(self, name: str) -> int:
        """Bytes of record `name`; raises when it is not there, or the file cannot hold what it
        claims."""
        return self._checked_info(name).file_size

    def _checked_info(self, name: str) -> zipfile.ZipInfo:
        info = self._members.get(self.root + name)
        if info is None:
            raise ModelFileError(self.path, shown_name(name), "no such record in the archive")
        if info.flag_bits & _ENCRYPTED:
            raise ModelFileError(self.path, shown_name(name), "an encrypted record")
        if info.compress_type == zipfile.ZIP_STORED and info.compress_size != info.file_size:
            raise ModelFileError(self.path, shown_name(name), "a stored record with two sizes")
        if info.file_size > info.compress_size * MAX_RATIO + _RATIO_SLACK:
            problem = f"compressed more than {MAX_RATIO}:1"
            raise ModelFileError(self.path, shown_name(name), problem)
        if info.header_offset + info.compress_size > self._file_size:
            raise ModelFileError(
                self.path, shown_name(name), "the record reaches past the file's end"
            )
        return info

    def read_model(self) -> bytes:
        """The program's JSON."""
        return self.read_json(self.place)

    def read_json(self, name: str) -> bytes:
        """Record `name`, refused when it is larger than any real JSON is."""
        info = self._checked_info(name)
        check_json_size(self.path, name, info.file_size, max(info.compress_size, 1))
        buffer = bytearray(info.file_size)
        self.read_into({name: memoryview(buffer)})
        return bytes(buffer)

    def read_into(self, buffers: Mapping[str, memoryview]) -> None:
        """Fill each buffer with the record of its name, which has exactly its size; checksums are
        checked."""
        with opened_zip(self.path, self._opener) as archive:
            for name, buffer in buffers.items():
                info = self._checked_info(name)
                try:
                    with archive.open(info) as record:
                        fill(record, buffer)
                except ZIP_ERRORS as error:
                    problem = f"broken zip data ({error})"
                    raise ModelFileError(self.path, shown_name(name), problem) from None


@contextmanager
def opened_zip(path: str, opener: Opener, place: str = "") -> Iterator[zipfile.ZipFile]:
    """The zip at `path`, its table of contents checked; what is wrong with it is an error at
    `place`."""
    with opener(path) as file:
        try:
            check_directory(path, file)
            with zipfile.ZipFile(file) as archive:
                yield archive
        except ModelFileError:
            raise
        except ZIP_ERRORS as error:
            raise ModelFileError(path, place, f"broken zip data ({error})") from None


def fill(record: IO[bytes], buffer: memoryview) -> None:
    done = 0
    read_into: Callable[[memoryview], int] = record.readinto  # type: ignore[attr-defined]
    while done < len(buffer) and (n := read_into(buffer[done:])):
        done += n
    if done != len(buffer) or record.read(1):
        raise zipfile.BadZipFile(f"{done} bytes where {len(buffer)} were promised")


def shown_name(name: str) -> str:
    """A member's name as it may be printed: a stranger wrote it."""
    return name if name.isprintable() and len(name) <= 120 else ascii(name[:120])


def check_json_size(path: str, place: str, size: int, packed: int) -> None:
    """Refuse JSON that no real model has."""
    if size > MAX_JSON_BYTES:
        problem = f"JSON of more than {MAX_JSON_BYTES >> 20} MiB is refused"
        raise ModelFileError(path, place, problem)
    if size > packed * MAX_RATIO:
        raise ModelFileError(path, place, f"JSON compressed more than {MAX_RATIO}:1 is refused")


def check_directory(path: str, file: BinaryIO) -> None:
    """Refuse a table of contents that is out of proportion: zipfile would read all of it into
    memory."""
    end = file.seek(0, os.SEEK_END)
    tail_at = max(0, end - _LOCATOR_64.size - _END_RECORD.size)
    file.seek(tail_at)
    tail = file.read()
    if not tail.startswith(b"PK\x05\x06", len(tail) - _END_RECORD.size):  # a comment follows it
        tail_at = max(0, tail_at - (1 << 16))
        file.seek(tail_at)
        tail = file.read()
    found = tail.rfind(b"PK\x05\x06")
    if found < 0 or len(tail) - found < _END_RECORD.size:
        raise ModelFileError(path, "", "not a zip archive (no end record)")
    size = _END_RECORD.unpack_from(tail, found)[5]
    locator = found - _LOCATOR_64.size
    if locator >= 0 and tail.startswith(b"PK\x06\x07", locator):
        size = max(size, _directory_size_64(path, file, tail, locator, tail_at + locator))
    if size > _MAX_DIRECTORY + end // 64:
        raise ModelFileError(path, "", f"a table of contents of {size} bytes")


def _directory_size_64(
    path: str, file: BinaryIO, tail: bytes, locator: int, locator_at: int
) -> int:
    """The size that the zip64 end record claims; zipfile looks for it right before the locator."""
    at = locator_at - _END_RECORD_64.size
    if at < 0 or _LOCATOR_64.unpack_from(tail, locator)[3] > 1:
        raise ModelFileError(path, "", "a broken zip64 end record")
    file.seek(at)
    record = file.read(_END_RECORD_64.size)
    if not record.startswith(b"PK\x06\x06"):
        return 0
    size: int = _END_RECORD_64.unpack(record)[8]
    return size


def open_archive(path: str | os.PathLike[str], opener: Opener = open_regular) -> Archive | JsonFile:
    """The model file at `path`, told apart by its first bytes; `OSError` when it cannot open."""
    try:
        text = os.fspath(path)
    except TypeError:
        raise TypeError(f"expected the path of a model, got {type(path).__name__}") from None
    handle = _handle_of_pipe(text)
    if handle is not None:
        data = _all_of_pipe(text, handle)
        return _kind_of(text, data[:HEAD])(text, lambda _: io.BytesIO(data))
    with opener(text) as file:
        head = file.read(HEAD)
    return _kind_of(text, head)(text, opener)


def _kind_of(path: str, head: bytes) -> type[Archive] | type[JsonFile]:
    if head.startswith(b"PK"):
        return Archive
    if head.startswith(b"\x1f\x8b") or head.lstrip(b" \t\r\n\xef\xbb\xbf").startswith(b"{"):
        return JsonFile
    problem = kind_of_head(head) or "neither a .pt2 archive nor the JSON of an exported program"
    raise ModelFileError(path, "", problem if head else "an empty file")


def _handle_of_pipe(path: str) -> int | None:
    """The handle that `/dev/stdin` or `/dev/fd/N` names, if a pipe or a socket is behind it."""
    folder, _, number = ("/dev/fd/0" if path == "/dev/stdin" else path).rpartition("/")
    if folder not in ("/dev/fd", "/proc/self/fd") or not (number.isdecimal() and len(number) < 9):
        return None
    try:
        mode = os.fstat(int(number)).st_mode
    except OSError:
        return None
    return int(number) if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else None


def _all_of_pipe(path: str, handle: int) -> bytes:
    """What a pipe gives up to its end; refused at its head when it is no model file."""
    with open(handle, "rb", closefd=False) as pipe:
        data = bytearray(pipe.read(HEAD))
        most = MAX_PIPED_BYTES if _kind_of(path, bytes(data)) is Archive else MAX_JSON_BYTES
        while chunk := pipe.read(_CHUNK):
            data += chunk
            if len(data) > most:
                problem = f"more than {most >> 20} MiB through a pipe: give the file's path instead"
                raise ModelFileError(path, "", problem)
    return bytes(data)
