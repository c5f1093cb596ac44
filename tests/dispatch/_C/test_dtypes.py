"""dtype, layout, memory_format and device: names, printing, pickling, promotion, limits.

The tables are recorded from PyTorch 2.13.
"""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import dispatch
from dispatch._C import dtypes

# Rows and columns in one order; an entry is the abbreviation of the promoted dtype.
PROMOTION = """
b8   b8   u8   i8   i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128
u8   u8   u8   i16  i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128
i8   i8   i16  i8   i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128
i16  i16  i16  i16  i16  i32  i64  f16  bf16 f32  f64  c32  c64  c128
i32  i32  i32  i32  i32  i32  i64  f16  bf16 f32  f64  c32  c64  c128
i64  i64  i64  i64  i64  i64  i64  f16  bf16 f32  f64  c32  c64  c128
f16  f16  f16  f16  f16  f16  f16  f16  f32  f32  f64  c32  c64  c128
bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32  bf16 f32  f64  c64  c64  c128
f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c64  c128
f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128 c128
c32  c32  c32  c32  c32  c32  c32  c32  c64  c64  c128 c32  c64  c128
c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c128 c64  c64  c128
c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
"""
ROWS = [line.split() for line in PROMOTION.strip().splitlines()]
DTYPES = list(
    {getattr(dtypes, n): n for n in dtypes.__all__ if isinstance(getattr(dtypes, n), dtypes.dtype)}
)
BY_ABBR = {d.abbr: d for d in DTYPES}
BARE_UNSIGNED = ["uint16", "uint32", "uint64", *(f"uint{n}" for n in range(1, 8))]
WITH_BARE = {"float16", "bfloat16", "float32", "float64", "float4_e2m1fn_x2"}
ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "chalf": "complex32",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "bit": "uint1",
}


def outcome(a: dtypes.dtype, b: dtypes.dtype) -> str | None:
    try:
        return dtypes.promote_types(a, b).abbr
    except RuntimeError:
        return None


@pytest.fixture
def default_dtype() -> Iterator[None]:
    before = dtypes.get_default_dtype()
    yield
    dtypes.set_default_dtype(before)


def test_there_are_all_46_dtypes() -> None:
    assert len(DTYPES) == 46


@pytest.mark.parametrize("alias, name", ALIASES.items())
def test_alias_is_the_same_object(alias: str, name: str) -> None:
    assert getattr(dtypes, alias) is getattr(dtypes, name)


def test_named_values_are_found_at_the_top_level() -> None:
    assert all(getattr(dispatch, n) is getattr(dtypes, n) for n in dtypes.__all__)


def test_repr_and_str_name_the_package() -> None:
    assert repr(dtypes.half) == str(dtypes.half) == "dispatch.float16"
    assert repr(dtypes.strided) == "dispatch.strided"
    assert repr(dtypes.legacy_contiguous_format) == "dispatch.contiguous_format"
    assert repr(dtypes.dtype) == "<class 'dispatch.dtype'>"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_values_pickle_to_the_same_object(protocol: int) -> None:
    values = [*DTYPES, dtypes.strided, dtypes._mkldnn, dtypes.channels_last_3d]
    assert all(pickle.loads(pickle.dumps(v, protocol)) is v for v in values)


def test_copies_are_the_same_object() -> None:
    assert copy.copy(dtypes.float32) is copy.deepcopy(dtypes.float32) is dtypes.float32


@pytest.mark.parametrize("cls", [dtypes.dtype, dtypes.layout, dtypes.memory_format])
def test_value_classes_make_no_instances_and_no_subclasses(cls: type) -> None:
    with pytest.raises(TypeError, match=cls.__name__):
        cls()
    with pytest.raises(TypeError, match=cls.__name__):
        cls.__new__(cls)
    with pytest.raises(TypeError):
        type("Sub", (cls,), {})


def test_values_have_no_attributes_to_set() -> None:
    with pytest.raises(AttributeError):
        dtypes.float32.mine = 1
    with pytest.raises(AttributeError):
        dtypes.float32.itemsize = 1


@pytest.mark.parametrize(
    "name, size, floating, is_complex, signed",
    [
        ("bool", 1, False, False, False),
        ("uint8", 1, False, False, False),
        ("int8", 1, False, False, True),
        ("uint64", 8, False, False, False),
        ("uint4", 1, False, False, False),
        ("int4", 1, False, False, True),
        ("bfloat16", 2, True, False, True),
        ("float64", 8, True, False, True),
        ("float8_e5m2", 1, True, False, True),
        ("float8_e8m0fnu", 1, True, False, False),
        ("float4_e2m1fn_x2", 1, True, False, True),
        ("complex32", 4, False, True, True),
        ("complex128", 16, False, True, True),
    ],
)
def test_dtype_attributes(
    name: str, size: int, floating: bool, is_complex: bool, signed: bool
) -> None:
    d = getattr(dtypes, name)
    assert (d.itemsize, d.is_floating_point, d.is_complex, d.is_signed) == (
        size,
        floating,
        is_complex,
        signed,
    )


@pytest.mark.parametrize("name", ["qint8", "quint4x2", "bits1x8", "bits16"])
def test_signedness_of_quantized_and_bits_types_is_an_error(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"is_signed.*{name}"):
        _ = getattr(dtypes, name).is_signed


@pytest.mark.parametrize(
    "name, expected",
    [
        ("float16", "complex32"),
        ("bfloat16", "complex64"),
        ("float32", "complex64"),
        ("float64", "complex128"),
        ("complex64", "complex64"),
    ],
)
def test_to_complex(name: str, expected: str) -> None:
    assert getattr(dtypes, name).to_complex() is getattr(dtypes, expected)


@pytest.mark.parametrize("name", ["int32", "bool", "float8_e5m2"])
def test_to_complex_without_a_counterpart_is_an_error(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"to_complex.*{name}"):
        getattr(dtypes, name).to_complex()


def test_to_real() -> None:
    assert dtypes.complex32.to_real() is dtypes.float16
    assert dtypes.int8.to_real() is dtypes.int8


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_promotion_of_common_dtypes(row: list[str]) -> None:
    assert row[1:] == [outcome(BY_ABBR[row[0]], BY_ABBR[column[0]]) for column in ROWS]


def test_promotion_of_other_dtypes_is_undefined_unless_bare_unsigned_meets_floating() -> None:
    common = {BY_ABBR[row[0]] for row in ROWS}
    for a in DTYPES:
        for b in DTYPES:
            if a is b or (a in common and b in common):
                continue
            bare, other = (a, b) if a.name in BARE_UNSIGNED else (b, a)
            defined = bare.name in BARE_UNSIGNED and other.name in WITH_BARE
            assert outcome(a, b) == (other.abbr if defined else None), (a, b)


def test_every_dtype_promotes_with_itself() -> None:
    assert all(dtypes.promote_types(d, d) is d for d in DTYPES)


def test_promotion_error_names_both_dtypes() -> None:
    with pytest.raises(RuntimeError, match=r"uint16.*int8"):
        dtypes.promote_types(dtypes.uint16, dtypes.int8)


def test_promotion_takes_python_types_and_refuses_other_objects() -> None:
    assert dtypes.promote_types(float, dtypes.int8) is dtypes.float64
    with pytest.raises(TypeError, match="str"):
        dtypes.promote_types("float32", dtypes.int8)


@pytest.mark.parametrize(
    "source, target, castable",
    [
        ("float32", "int32", False),
        ("int32", "float16", True),
        ("complex64", "float32", False),
        ("float64", "float16", True),
        ("int8", "bool", False),
        ("bool", "int8", True),
        ("int64", "uint8", True),
        ("float32", "qint8", True),
    ],
)
def test_can_cast(source: str, target: str, castable: bool) -> None:
    assert dtypes.can_cast(getattr(dtypes, source), getattr(dtypes, target)) is castable


# ---- the default dtype


def test_default_dtype_is_set_and_read(default_dtype: None) -> None:
    assert dtypes.get_default_dtype() is dtypes.float32
    dtypes.set_default_dtype(dtypes.bfloat16)
    assert dtypes.get_default_dtype() is dtypes.bfloat16


@pytest.mark.parametrize("value", [dtypes.int32, dtypes.complex64, dtypes.float8_e5m2, float, None])
def test_other_default_dtypes_are_refused(value: object, default_dtype: None) -> None:
    with pytest.raises(TypeError, match="set_default_dtype"):
        dtypes.set_default_dtype(value)
    assert dtypes.get_default_dtype() is dtypes.float32


# ---- numpy


@pytest.mark.parametrize("name", ["bool", "int64", "uint16", "float16", "complex128"])
def test_numpy_dtype_and_back(name: str) -> None:
    d = getattr(dtypes, name)
    assert dtypes._numpy_dtype(d) == np.dtype(name)
    assert dtypes._from_numpy_dtype(np.dtype(name)) is d


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e8m0fnu"])
def test_small_floats_are_those_of_ml_dtypes(name: str) -> None:
    descr = dtypes._numpy_dtype(getattr(dtypes, name))
    assert descr.name == name
    assert dtypes._from_numpy_dtype(descr) is getattr(dtypes, name)


@pytest.mark.parametrize("name", ["complex32", "qint8", "bits8", "int4", "float4_e2m1fn_x2"])
def test_dtypes_that_numpy_lacks_are_an_error(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        dtypes._numpy_dtype(getattr(dtypes, name))


@pytest.mark.parametrize("descr", [">f4", "U3", "O", "datetime64[s]"])
def test_numpy_dtypes_that_we_lack_are_an_error(descr: str) -> None:
    with pytest.raises(TypeError, match="numpy"):
        dtypes._from_numpy_dtype(np.dtype(descr))


def test_importing_the_module_does_not_import_ml_dtypes() -> None:
    code = "import sys, dispatch._C.dtypes; assert 'ml_dtypes' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# ---- finfo, iinfo


@pytest.mark.parametrize(
    "name, text",
    [
        (
            "float16",
            "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
            "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)",
        ),
        (
            "bfloat16",
            "finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, "
            "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=bfloat16)",
        ),
        (
            "float8_e8m0fnu",
            "finfo(resolution=1, min=5.87747e-39, max=1.70141e+38, eps=1, "
            "smallest_normal=5.87747e-39, tiny=5.87747e-39, dtype=float8_e8m0fnu)",
        ),
        (
            "float8_e5m2fnuz",
            "finfo(resolution=1, min=-57344, max=57344, eps=0.125, "
            "smallest_normal=3.05176e-05, tiny=3.05176e-05, dtype=float8_e5m2fnuz)",
        ),
    ],
)
def test_finfo_prints_like_pytorch(name: str, text: str) -> None:
    assert repr(dtypes.finfo(getattr(dtypes, name))) == text


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo_agrees_with_numpy(name: str) -> None:
    ours, theirs = dtypes.finfo(getattr(dtypes, name)), np.finfo(name)
    assert (ours.bits, ours.eps, ours.max, ours.min, ours.tiny) == (
        theirs.bits,
        theirs.eps,
        theirs.max,
        theirs.min,
        theirs.tiny,
    )


def test_finfo_of_nothing_is_the_default_dtypes(default_dtype: None) -> None:
    dtypes.set_default_dtype(dtypes.float64)
    assert dtypes.finfo() == dtypes.finfo(dtypes.float64)


def test_finfo_of_a_complex_dtype_is_that_of_its_parts() -> None:
    assert dtypes.finfo(dtypes.complex64).dtype == "float32"


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "int64", "uint64"])
def test_iinfo_agrees_with_numpy(name: str) -> None:
    ours, theirs = dtypes.iinfo(getattr(dtypes, name)), np.iinfo(name)
    assert (ours.bits, ours.max, ours.min) == (theirs.bits, theirs.max, theirs.min)


def test_iinfo_prints_like_pytorch() -> None:
    text = "iinfo(min=-2.14748e+09, max=2.14748e+09, dtype=int32)"
    assert repr(dtypes.iinfo(dtypes.int32)) == text


@pytest.mark.parametrize(
    "info, value, error",
    [
        (dtypes.finfo, dtypes.int32, TypeError),
        (dtypes.finfo, dtypes.qint8, TypeError),
        (dtypes.finfo, None, TypeError),
        (dtypes.iinfo, dtypes.bool, TypeError),
        (dtypes.iinfo, dtypes.float32, TypeError),
        (dtypes.iinfo, dtypes.qint8, NotImplementedError),
    ],
)
def test_limits_of_other_types_are_an_error(
    info: type, value: object, error: type[Exception]
) -> None:
    with pytest.raises(error):
        info(value)


def test_limits_are_not_hashable() -> None:
    with pytest.raises(TypeError):
        hash(dtypes.finfo())


# ---- devices


@pytest.mark.parametrize(
    "args, kwargs, text",
    [
        (("cpu",), {}, "device(type='cpu')"),
        (("cuda:0",), {}, "device(type='cuda', index=0)"),
        (("cuda", 1), {}, "device(type='cuda', index=1)"),
        (("cuda", None), {}, "device(type='cuda')"),
        ((3,), {}, "device(type='cuda', index=3)"),
        ((), {"type": "xpu", "index": 2}, "device(type='xpu', index=2)"),
        ((), {"device": "meta"}, "device(type='meta')"),
        (("privateuseone:127",), {}, "device(type='privateuseone', index=127)"),
    ],
)
def test_device_is_made_from(args: tuple, kwargs: dict, text: str) -> None:
    assert repr(dtypes.device(*args, **kwargs)) == text


def test_device_is_taken_as_it_is() -> None:
    d = dtypes.device("cuda:1")
    assert dtypes.device(d) == d


def test_device_type_index_and_str() -> None:
    d = dtypes.device("mps", 1)
    assert (d.type, d.index, str(d)) == ("mps", 1, "mps:1")
    assert (dtypes.device("mps").index, str(dtypes.device("mps"))) == (None, "mps")


@pytest.mark.parametrize(
    "text", ["", "foo", "CPU", "cuda:", "cuda:01", "cuda:-1", "cuda:1:2", ":0", "cuda 0", "metal"]
)
def test_malformed_device_string_is_an_error(text: str) -> None:
    said = "unknown device type" if text.isalpha() else f"Invalid device string: '{text}'"
    with pytest.raises(RuntimeError, match=rf"device\(\): {said}"):
        dtypes.device(text)


def test_unknown_device_type_error_lists_the_known_ones() -> None:
    with pytest.raises(RuntimeError, match=r"'gpu'.*cpu, cuda"):
        dtypes.device("gpu:0")


@pytest.mark.parametrize(
    "args, error",
    [
        ((), TypeError),
        ((None,), TypeError),
        ((1.5,), TypeError),
        ((True,), TypeError),
        (("cuda", 1.0), TypeError),
        (("cuda", True), TypeError),
        (("cuda", 1, 2), TypeError),
        (("cuda:0", 1), RuntimeError),
        (("cuda", -1), RuntimeError),
        (("cuda", 128), RuntimeError),
        (("cuda:128",), RuntimeError),
        ((-1,), RuntimeError),
        ((10**30,), RuntimeError),
    ],
)
def test_wrong_device_arguments(args: tuple, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"device\(\)"):
        dtypes.device(*args)


def test_devices_compare_by_type_and_index() -> None:
    assert dtypes.device("cuda:99") == dtypes.device("cuda", 99)
    assert dtypes.device("cuda") != dtypes.device("cuda:0")
    assert dtypes.device("cuda") != "cuda"
    assert len({dtypes.device("cuda:99"), dtypes.device("cuda", 99)}) == 1
    with pytest.raises(TypeError):
        _ = dtypes.device("cpu") < dtypes.device("cuda")


def test_device_is_immutable() -> None:
    d = dtypes.device("cuda:1")
    with pytest.raises(AttributeError):
        d.type = "cpu"
    with pytest.raises(TypeError, match="immutable"):
        d.__init__("cpu")
    assert str(d) == "cuda:1"


@pytest.mark.parametrize("text", ["cpu", "cuda:0", "cuda:99"])
def test_device_pickles_to_an_equal_one(text: str) -> None:
    d = dtypes.device(text)
    assert pickle.loads(pickle.dumps(d)) == copy.deepcopy(d) == d


def test_renaming_privateuseone() -> None:
    """The name is the process's, so this happens in another one."""
    code = """if True:
        import pytest
        from dispatch._C import dtypes, keys
        for wrong in ("cuda", 3, "a b"):
            with pytest.raises(RuntimeError, match="_rename_privateuse1_backend"):
                keys._rename_privateuse1_backend(wrong)
        assert keys._get_privateuse1_backend_name() == "privateuseone"
        keys._rename_privateuse1_backend("npu")
        keys._rename_privateuse1_backend("npu")
        with pytest.raises(RuntimeError, match="npu"):
            keys._rename_privateuse1_backend("other")
        assert str(dtypes.device("privateuseone:1")) == str(dtypes.device("npu:1")) == "npu:1"
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
