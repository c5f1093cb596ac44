"""Copies and pickles of storages, weak references, and addresses that nobody may have."""

import copy
import gc
import pickle
import warnings
from typing import Any

import pytest

import dispatch
from dispatch._C import (
    _set_throw_on_mutable_data_ptr,
    _set_warn_deprecated_on_mutable_data_ptr,
)
from dispatch.tensor.sharing import StorageWeakRef


def pickled(storage: Any) -> Any:
    return pickle.loads(pickle.dumps(storage))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_copy_of_a_storage_has_its_bytes_and_memory_of_its_own(copied) -> None:
    storage = dispatch.arange(4, dtype=dispatch.uint8).untyped_storage()
    made = copied(storage)
    assert made.tolist() == [0, 1, 2, 3]
    made.fill_(7)
    assert storage.tolist() == [0, 1, 2, 3]


def test_storage_that_is_met_twice_is_copied_once() -> None:
    storage = dispatch.ones(2).untyped_storage()
    for first, second in (
        copy.deepcopy([storage, storage]),
        pickle.loads(pickle.dumps([storage, storage])),
    ):
        assert first is second


def test_typed_storage_is_pickled() -> None:
    typed = dispatch.TypedStorage([1.0, 2.0])
    assert pickle.loads(pickle.dumps(typed)).tolist() == [1.0, 2.0]


def test_weak_reference_expires_with_the_last_tensor() -> None:
    x = dispatch.ones(3)
    y = x[1:]
    ref, again = StorageWeakRef(x.untyped_storage()), StorageWeakRef(y.untyped_storage())
    assert ref == again and hash(ref) == hash(again) and len({ref, again}) == 1
    assert ref != StorageWeakRef(dispatch.ones(3).untyped_storage())
    del x
    gc.collect()
    assert not ref.expired()
    del y
    gc.collect()
    assert ref.expired()


def test_address_that_is_refused_is_refused_for_every_tensor_of_the_storage() -> None:
    x = dispatch.ones(3)
    _set_throw_on_mutable_data_ptr(x)
    for ask in (
        x.data_ptr, x[1:].data_ptr, x.untyped_storage().data_ptr, x.numpy,
        lambda: x.add_(1), lambda: dispatch.neg(dispatch.ones(3), out=x),
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match="must not be written"):
            ask()
    assert (x + 1).tolist() == [2.0, 2.0, 2.0]


def test_address_that_is_deprecated_warns_once() -> None:
    x = dispatch.ones(3)
    _set_warn_deprecated_on_mutable_data_ptr(x)
    with pytest.warns(UserWarning, match="deprecated"):
        x.data_ptr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.data_ptr()
