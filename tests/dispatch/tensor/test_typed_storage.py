"""Storages whose elements have a dtype, and what storages of bytes have in common with them."""

import copy

import pytest

import dispatch
from dispatch.tensor import storage_classes
from dispatch.tensor.storage import CASTS


@pytest.mark.parametrize("name", CASTS)
def test_casts_give_memory_of_their_own(name):
    for storage in (dispatch.TypedStorage([1, 2]), dispatch.UntypedStorage([1, 2])):
        found = getattr(storage, name)()
        assert isinstance(found, dispatch.TypedStorage) and found.dtype is CASTS[name]
        assert found.tolist() == dispatch.tensor([1, 2]).to(CASTS[name]).tolist()
        assert found.data_ptr() != storage.data_ptr()
    found = getattr(dispatch.TypedStorage(2, device="meta"), name)()
    assert (found.device.type, found.dtype, len(found)) == ("meta", CASTS[name], 2)


def test_storages_say_what_they_are():
    typed, untyped = dispatch.TypedStorage([1.0]), dispatch.UntypedStorage([1])
    assert typed.type() == "dispatch.FloatStorage" and typed.pickle_storage_type() == "FloatStorage"
    assert untyped.type() == "dispatch.storage.UntypedStorage"
    for storage in (typed, untyped):
        assert storage.resizable() and storage.get_device() is storage.filename is None
        assert not (storage.is_shared() or storage.is_pinned())
        assert not (storage.is_sparse or storage.is_hpu)
    assert (typed._size(), typed._nbytes(), typed._element_size()) == (1, 4, 4)
    assert typed._data_ptr() == typed.data_ptr()
    assert len(untyped.new()) == 0 and repr(untyped.new()).startswith(" \n[")


def test_storages_move_to_where_they_are():
    typed, untyped = dispatch.TypedStorage([1.0]), dispatch.UntypedStorage([1])
    assert untyped.cpu() is untyped and untyped.to(device="cpu") is untyped
    assert typed.cpu().data_ptr() == typed.to(device="cpu").data_ptr() == typed.data_ptr()
    for storage in (typed, untyped):
        away = storage.to(device="meta")
        assert away.device.type == "meta" and away.nbytes() == storage.nbytes()
        assert away.clone().nbytes() == away.nbytes()
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta"):
            away.cpu()
        with pytest.raises(RuntimeError, match="no memory on cuda"):
            storage.to(device="cuda")
    with pytest.raises(NotImplementedError, match="Not available for 'meta'"):
        typed.to(device="meta")[0]


def test_bytes_of_elements_are_turned_around():
    storage = dispatch.UntypedStorage([1, 2, 3, 4])
    storage.byteswap(dispatch.int16)
    assert storage.tolist() == [2, 1, 4, 3]
    storage = dispatch.UntypedStorage(list(range(8)))
    storage.byteswap(dispatch.complex64)
    assert storage.tolist() == [3, 2, 1, 0, 7, 6, 5, 4], "each part by itself"


def test_buffers_become_storages():
    content = dispatch.tensor([1.0, 2.0]).numpy().tobytes()
    assert dispatch.TypedStorage.from_buffer(content, "native").tolist() == [1, 2]
    assert storage_classes.FloatStorage.from_buffer(content, "native").tolist() == [1, 2]
    found = storage_classes.IntStorage.from_buffer(content, "native")
    assert found.dtype is dispatch.int32 and isinstance(found, storage_classes.IntStorage)


def test_classes_of_a_dtype_take_no_other():
    with pytest.raises(RuntimeError, match="Only child classes"):
        storage_classes._LegacyStorage()
    for name in ("dtype", "device"):
        with pytest.raises(RuntimeError, match=f"Keyword argument '{name}' cannot be specified"):
            storage_classes.FloatStorage(**{name: None})
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        storage_classes.FloatStorage(other=1)
    assert not isinstance(storage_classes.FloatStorage(1), storage_classes.DoubleStorage)


def test_tensors_over_a_storage_have_its_dtype_or_none():
    held = dispatch.TypedStorage([1, 2], dtype=dispatch.int32)
    of_class, new = dispatch.IntTensor(held), dispatch.IntTensor([0]).new(held)
    for made in (dispatch.tensor(held), of_class, new):
        assert made.tolist() == [1, 2] and made.data_ptr() == held.data_ptr()
    assert dispatch.tensor(held.untyped()).tolist() == [(2 << 32) + 1]
    for make in (dispatch.FloatTensor, dispatch.Tensor, dispatch.ones(1).new):
        with pytest.raises(RuntimeError, match="Expected a Storage of type"):
            make(held)
    with pytest.raises(RuntimeError, match="Expected a Storage of type"):
        dispatch.tensor(held, dtype=dispatch.float32)


def test_copies_of_a_storage_share_memory_with_copies_of_its_tensors():
    x = dispatch.ones(2)
    tensor, storage = copy.deepcopy([x, x._typed_storage()])
    tensor.add_(1)
    assert storage.tolist() == [2, 2] and x.tolist() == [1, 1]


def test_a_file_is_a_storage(tmp_path):
    name = str(tmp_path / "values")
    first = storage_classes.FloatStorage.from_file(name, True, 3)
    assert storage_classes.IntStorage.from_file(name, True, 1).dtype is dispatch.int32
    first.fill_(2)
    second = dispatch.TypedStorage.from_file(name, True, 3, dtype=dispatch.float32)
    assert second.tolist() == [2, 2, 2] and second.dtype is dispatch.float32
    assert second.__sizeof__() - dispatch.TypedStorage(0).__sizeof__() == 12


def test_a_storage_without_bytes_says_so():
    typed = dispatch.TypedStorage([1, 2], device="meta")
    assert len(typed) == 2 and dispatch.UntypedStorage([1, 2], device="meta").nbytes() == 2
    for ask in (typed.tolist, typed.untyped().tolist):
        with pytest.raises(NotImplementedError, match="Not available"):
            ask()
    for take in (typed.cpu, lambda: dispatch.TypedStorage(2).copy_(typed)):
        with pytest.raises(NotImplementedError, match="Cannot copy out"):
            take()
    for name in ("_share_fd_cpu_", "_share_filename_cpu_", "share_memory_", "_share_memory_"):
        with pytest.raises(RuntimeError, match="only available on CPU"):
            getattr(typed, name)()
