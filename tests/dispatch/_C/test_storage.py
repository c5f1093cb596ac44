"""Storage: bytes that tensors share, resizing, memory of others."""

import numpy as np
import pytest

import dispatch
from dispatch import from_numpy, ops
from dispatch._C.storage import Storage, _new_storage

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


def test_storage_resize_leaves_numpy_views_on_the_old_memory():
    t = dispatch.ones(4)
    old = t.numpy()
    t.untyped_storage().resize_(1 << 16)
    t.untyped_storage().resize_(16)
    A.fill_.Scalar(t, 2)
    assert old.tolist() == [1.0] * 4
    assert t.tolist() == [2.0] * 4
    t.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError, match="storage"):
        t.numpy()
    assert old.tolist() == [1.0] * 4


def test_borrowed_memory_is_not_resizable():
    t = from_numpy(np.ones(3))
    assert not t.untyped_storage().resizable()
    with pytest.raises(RuntimeError, match="resiz"):
        t.untyped_storage().resize_(100)
    with pytest.raises(RuntimeError, match="negative"):
        dispatch.ones(1).untyped_storage().resize_(-1)


def test_storage_objects():
    t = dispatch.ones(4)
    s = t.untyped_storage()
    assert A.view.default(t, [2, 2]).untyped_storage() is s
    assert (s.nbytes(), len(s), s.size(), s.device.type) == (16, 16, 16, "cpu")
    with pytest.raises(TypeError):
        Storage()


@pytest.mark.parametrize("nbytes", [2**63 - 1, 2**63 - 40])
def test_more_bytes_than_there_are_is_an_error(nbytes):
    with pytest.raises(RuntimeError, match=str(nbytes)):
        _new_storage(nbytes)
    storage = dispatch.ones(2).untyped_storage()
    with pytest.raises(RuntimeError):
        storage.resize_(nbytes)
    assert storage.nbytes() == 8 and storage.tolist() == [0, 0, 128, 63] * 2


def test_a_storage_without_bytes_may_have_any_size():
    storage = _new_storage(2**63 - 1, "meta")
    storage.resize_(4)
    storage.resize_(2**63 - 2)
    assert storage.nbytes() == 2**63 - 2


def test_a_storage_of_another_device_is_refused():
    x, other = dispatch.ones(2), dispatch.ones(2, device="meta")
    for t, storage in ((x, other), (other, x)):
        with pytest.raises(RuntimeError, match="the storage is on"):
            t.set_(storage.untyped_storage(), 0, (1,), (1,))
        assert t.shape == (2,)


@pytest.mark.parametrize("n", [1, 64, 65])
def test_bytes_that_come_again_are_nobody_elses(n):
    kept = [dispatch.full((n,), i, dtype=dispatch.uint8) for i in range(200)]
    seen = [t.numpy() for t in kept[::2]]
    expected = [a.tolist() for a in seen]
    del kept
    more = [dispatch.full((n,), 255, dtype=dispatch.uint8) for _ in range(400)]
    assert [a.tolist() for a in seen] == expected
    assert len({t.data_ptr() for t in more}) == 400


def test_a_storage_that_grew_keeps_its_bytes_from_others():
    for grown in (8, 60, 64, 70, 64, 2000):
        t = dispatch.ones(4, dtype=dispatch.uint8)
        t.untyped_storage().resize_(grown)
        t.set_(t.untyped_storage(), 0, (grown,), (1,)).fill_(7)
        t.untyped_storage().resize_(1)
        del t
        others = [dispatch.zeros(64, dtype=dispatch.uint8) for _ in range(3)]
        others[0].fill_(9)
        assert [o.sum().item() for o in others] == [576, 0, 0]
