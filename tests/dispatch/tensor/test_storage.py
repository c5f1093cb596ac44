"""Storages as bytes."""

import weakref

import pytest

import dispatch


def test_bytes_are_read_and_written():
    tensor = dispatch.zeros(3, dtype=dispatch.uint8)
    storage = tensor.untyped_storage()
    storage[1] = 7
    assert storage.tolist() == [0, 7, 0]
    assert tensor.tolist() == list(storage) == [0, 7, 0]
    with pytest.raises(IndexError):
        storage[3]


def test_a_clone_has_memory_of_its_own():
    storage = dispatch.UntypedStorage([1, 2])
    copy = storage.clone().fill_(5)
    assert (storage.tolist(), copy.tolist()) == ([1, 2], [5, 5])


def test_a_storage_elsewhere_has_no_bytes_here():
    with pytest.raises(NotImplementedError, match="meta"):
        dispatch.ones(2, device="meta").untyped_storage().tolist()


def test_a_buffer_gives_no_bytes_to_a_fake_tensor():
    with dispatch.FakeTensorMode():
        storage = dispatch.UntypedStorage.from_buffer(b"1234", dtype=dispatch.uint8)
        made = dispatch.ByteTensor(storage)
    assert (storage.device.type, storage.nbytes()) == ("meta", 4)
    assert (type(made), made.device.type, made.shape) == (dispatch.FakeTensor, "cpu", (4,))


def test_a_tensor_is_made_over_a_storage():
    x = dispatch.arange(4.0)
    storage = x.untyped_storage()
    for make, dtype, n in (
        (dispatch.Tensor, dispatch.float32, 4),
        (dispatch.ByteTensor, dispatch.uint8, 16),
        (dispatch.DoubleTensor, dispatch.float64, 2),
    ):
        made = make(storage)
        assert (made.dtype, made.shape) == (dtype, (n,))
        assert made.data_ptr() == x.data_ptr()


@pytest.mark.parametrize(("data", "offset"), [(b"", 0), (b"abcd", 4)])
def test_a_buffer_without_a_rest_is_an_empty_storage(data, offset):
    made = dispatch.UntypedStorage.from_buffer(data, offset=offset, dtype=dispatch.int8)
    assert made.nbytes() == 0


def test_attributes_stay_for_as_long_as_the_storage_lives():
    class Note:
        pass

    note = Note()
    gone = weakref.ref(note)
    x = dispatch.ones(3)
    x.untyped_storage().note = note
    del note
    assert x.view(1, 3).untyped_storage().note is gone()
    assert list(x.untyped_storage().__dict__) == ["note"]
    assert not hasattr(dispatch.ones(3).untyped_storage(), "note")
    del x
    assert gone() is None


def test_attributes_are_taken_off_and_methods_are_not_replaced():
    s = dispatch.ones(3).untyped_storage()
    s.note = 1
    del s.note
    for name in ("note", "nbytes"):
        with pytest.raises(AttributeError, match=name):
            delattr(s, name)
    for name in ("nbytes", "tolist", "device"):
        with pytest.raises(AttributeError, match="read-only"):
            setattr(s, name, 1)
    assert s._fix_weakref() is None and s.nbytes() == 12


def test_methods_of_storages_are_found_on_their_class():
    storage = dispatch.UntypedStorage([1, 2])
    assert {"fill_", "nbytes", "byteswap"} <= set(dir(dispatch.UntypedStorage))
    assert dispatch.UntypedStorage.nbytes(storage) == 2
    dispatch.UntypedStorage.fill_(storage, 5)
    assert storage.tolist() == [5, 5]
    with pytest.raises(AttributeError):
        dispatch.UntypedStorage.nothing  # noqa: B018
