"""Bytes that programs write to a storage by number, and storages over files."""

import warnings

import pytest

import dispatch
from dispatch._C import advice
from dispatch.tensor.storage import UntypedStorage


@pytest.mark.parametrize(("value", "byte"), [(256, 0), (300, 44), (-1, 255), (True, 1)])
def test_a_byte_is_the_lowest_eight_bits_of_an_int(value: int, byte: int) -> None:
    storage = UntypedStorage(3)
    storage[0] = value
    storage[1:] = value
    assert storage.tolist() == [byte] * 3
    assert storage.fill_(value).tolist() == [byte] * 3
    assert UntypedStorage([value]).tolist() == [byte]


@pytest.mark.parametrize("value", [1.5, "a", None, dispatch.tensor(3)])
def test_what_is_no_int_is_no_byte_and_no_size(value: object) -> None:
    storage = UntypedStorage([1, 2, 3])
    for write in (
        lambda: storage.__setitem__(0, value),
        lambda: storage.__setitem__(slice(0, 2), value),
        lambda: storage.fill_(value),
    ):
        with pytest.raises(RuntimeError, match="a byte is an int"):
            write()
    assert storage.tolist() == [1, 2, 3]


def test_a_place_to_write_is_an_int_and_a_slice_has_no_step() -> None:
    storage = UntypedStorage([1, 2])
    for index in ("a", True, slice(0, 2, 2)):
        with pytest.raises(RuntimeError):
            storage[index] = 5
    assert storage.tolist() == [1, 2]


@pytest.mark.parametrize("size", [1.5, "a", None, True])
def test_a_storage_is_resized_by_an_int(size: object) -> None:
    storage = UntypedStorage(2)
    with pytest.raises(RuntimeError, match="expected an int"):
        storage.resize_(size)
    assert storage.nbytes() == 2


def test_a_storage_lies_over_a_file(tmp_path) -> None:
    path = tmp_path / "bytes"
    path.write_bytes(b"\1\2\3\4")
    assert UntypedStorage.from_file(str(path), False, 3).tolist() == [1, 2, 3]
    with pytest.raises(RuntimeError):
        UntypedStorage.from_file(str(path), False, 9)


def test_the_older_storage_is_warned_of_once(monkeypatch) -> None:
    monkeypatch.setattr(advice, "_told", set())
    with pytest.warns(UserWarning, match="deprecated"):
        dispatch.ones(2).storage()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dispatch.ones(2).storage()


def test_elements_are_cast_to_the_class_that_type_names() -> None:
    storage = dispatch.tensor([1.5, 2.0])._typed_storage()
    assert storage.type("torch.IntStorage").tolist() == [1, 2]
    assert storage.type(dispatch.float32) is storage
    with pytest.raises(RuntimeError):
        storage.type("torch.NoStorage")
