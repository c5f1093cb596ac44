"""`weights`: tensors on raw records: shared, strided, offset, absent, and checked at load."""

import struct

import numpy as np
import pytest

from dispatch.graph.archive import open_archive
from dispatch.graph.errors import ModelFileError
from dispatch.graph.weights import WeightStore, resolve_weights
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import meta, payload


@pytest.fixture
def store(tmp_path):
    """Builds a store from weights config and records."""

    def build(weights, records):
        path = programs.write_archive(tmp_path / "m.pt2", {}, weights, records)
        archive = open_archive(path)
        return WeightStore(archive, resolve_weights(archive))

    return build


FLOATS = struct.pack("<12f", *range(12))


def test_strides_and_offset(store):
    found = store(
        {
            "plain": payload("r", meta([3, 4])),
            "transposed": payload("r", meta([4, 3], strides=[1, 4])),
            "part": payload("r", meta([2, 2], strides=[4, 1], offset=5)),
            "repeated": payload("r", meta([3, 2], strides=[0, 1])),
        },
        {"r": FLOATS},
    )
    base = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert (found["plain"].numpy() == base).all()
    assert (found["transposed"].numpy() == base.T).all()
    assert (found["part"].numpy() == base[1:, 1:3]).all()
    assert (found["repeated"].numpy() == base[[0, 0, 0], :2]).all()


def test_names_on_one_record_share_memory(store):
    found = store({"a": payload("r", meta([12])), "b": payload("r", meta([3, 4]))}, {"r": FLOATS})
    assert found["a"].untyped_storage().data_ptr() == found["b"].untyped_storage().data_ptr()
    found["a"].numpy()[5] = 99
    assert found["b"].numpy()[1, 1] == 99


@pytest.mark.parametrize(
    ("number", "name", "raw", "values"),
    [
        (1, "uint8", b"\x01\xff", [1, 255]),
        (4, "int32", struct.pack("<2i", -1, 7), [-1, 7]),
        (5, "int64", struct.pack("<2q", -1, 2**40), [-1, 2**40]),
        (6, "float16", struct.pack("<2e", 0.5, -2), [0.5, -2]),
        (8, "float64", struct.pack("<2d", 0.1, 3), [0.1, 3]),
        (10, "complex64", struct.pack("<4f", 1, 2, 3, 4), [1 + 2j, 3 + 4j]),
        (12, "bool", b"\x01\x00", [True, False]),
        (13, "bfloat16", b"\x80\x3f\x00\xc0", [1.0, -2.0]),
        (34, "uint32", struct.pack("<2I", 1, 2**32 - 1), [1, 2**32 - 1]),
    ],
)
def test_dtypes(store, number, name, raw, values):
    found = store({"w": payload("r", meta([2], dtype=number))}, {"r": raw})["w"]
    assert str(found.dtype).endswith(name)
    assert found.numpy().tolist() == values


def test_a_record_without_bytes_is_metadata_only(store):
    found = store({"w": payload("r", meta([3, 4])), "e": payload("r", meta([0, 3]))}, {"r": b""})
    assert found.without_data() == ["w"]
    assert str(found["w"].device) == "meta"
    assert tuple(found["w"].shape) == (3, 4)
    assert tuple(found["e"].numpy().shape) == (0, 3)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (payload("r", meta([3, 5])), "has 48 bytes, the tensor needs 60"),
        (payload("r", meta([2], offset=11)), "has 48 bytes, the tensor needs 52"),
        (payload("r", meta([2, 2], strides=[1 << 61, 1])), "a tensor of 9223372036854775816 bytes"),
        (payload("r", meta([1 << 62, 1 << 62], strides=[0, 0])), "a tensor of 4 bytes"),
        (payload("r", meta([-1], strides=[1])), "-1 cannot be a size"),
        (payload("r", meta([2], strides=[-1])), "-1 cannot be a size"),
        (payload("r", meta([2], strides=[1, 1])), "1 sizes and 2 strides"),
        (payload("other", meta([2])), "data/weights/other: no such record"),
        (payload("../../etc/passwd", meta([2])), "no such record"),
        (payload("r", meta([2]), use_pickle=True), "never unpickled"),
        (payload("r", None), "no tensor_meta"),
        (payload("r", {**meta([2]), "layout": 1}), "only strided"),
    ],
)
def test_a_weight_that_does_not_fit_is_refused_at_load(store, entry, problem):
    with pytest.raises(ModelFileError) as caught:
        store({"w": entry}, {"r": FLOATS})
    assert problem in str(caught.value)
    assert "m.pt2: data/weights/" in str(caught.value)


def test_assign_checks_shape_and_dtype(store):
    found = store({"w": payload("r", meta([12]))}, {"r": FLOATS})
    before = found["w"]
    with pytest.raises(RuntimeError, match=r"w: expected float32 \[12\], got float64 \[12\]"):
        found.assign("w", np.zeros(12))
    assert found["w"] is before


def ordered(path, byteorder):
    weights = {"w": payload("r", meta([2]))}
    records = {"r": struct.pack("<2f", 1, 2)}
    archive = open_archive(programs.write_archive(path, {}, weights, records, byteorder=byteorder))
    return WeightStore(archive, resolve_weights(archive))


@pytest.mark.parametrize("byteorder", ["little", "little\n", " little ", None])
def test_numbers_are_little_endian(tmp_path, byteorder):
    assert ordered(tmp_path / "m.pt2", byteorder)["w"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("byteorder", ["big", "BIG", "", "Little", "unknown"])
def test_an_archive_of_other_numbers_is_refused(tmp_path, byteorder):
    with pytest.raises(ModelFileError, match=r"byteorder.*only little is read"):
        ordered(tmp_path / "m.pt2", byteorder)
