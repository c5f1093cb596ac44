"""Files as tensors: written through when shared, private else, never read beyond their end."""

import pytest

import dispatch


def test_shared_memory_is_the_files(tmp_path):
    path = tmp_path / "numbers"
    x = dispatch.from_file(str(path), True, 3, dtype=dispatch.int32)
    x.copy_(dispatch.tensor([1, 2, 3]))
    del x
    assert path.stat().st_size == 12
    y = dispatch.from_file(str(path), False, 2, dtype=dispatch.int32)
    assert y.fill_(9).tolist() == [9, 9]
    assert dispatch.from_file(str(path), False, 3, dtype=dispatch.int32).tolist() == [1, 2, 3]


def test_a_file_that_is_missing_or_too_short(tmp_path):
    path = tmp_path / "short"
    path.write_bytes(b"1234")
    for name in (path, tmp_path / "none"):
        with pytest.raises(RuntimeError, match="fewer than 8 bytes"):
            dispatch.from_file(str(name), False, 2)
