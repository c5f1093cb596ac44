"""Fake kernels by profiles: what they give, what comes back afterwards, files."""

import io

import pytest

import dispatch
from dispatch import FakeTensorMode, Tensor, library, ops
from dispatch.fake import UnsupportedOperatorException
from dispatch.library.fake_profiles import (
    MissingOpProfile,
    OpProfile,
    TensorMetadata,
    generate_yaml_from_profiles,
    load_op_profiles,
    read_profiles_from_yaml,
    save_op_profiles,
    unsafe_generate_fake_kernels,
)
from dispatch.symbolic import ShapeEnv

NS = "fake_profiles"


def matrix(dtype=dispatch.float32):
    return TensorMetadata(2, dtype, dispatch.device("cpu"), dispatch.strided)


def profiles(name, out=None):
    return {f"{NS}.{name}.default": {OpProfile((matrix(), None), out or matrix())}}


@pytest.fixture
def mode():
    return FakeTensorMode(shape_env=ShapeEnv())


@pytest.fixture
def lib():
    with library._scoped_library(NS, "FRAGMENT") as made:
        made.define("f(Tensor a, int n) -> Tensor")
        made.define("two(Tensor a, int n) -> Tensor[]")
        yield made


def test_outputs_have_the_profile_s_kind_and_sizes_of_their_own(lib, mode):
    x = mode.from_tensor(dispatch.ones(3, 4))
    with mode, unsafe_generate_fake_kernels(profiles("f", matrix(dispatch.int64))):
        out = ops.fake_profiles.f(x, 2)
    assert out.dtype == dispatch.int64 and out.dim() == 2
    assert not any(isinstance(n, int) for n in out.shape)
    assert out.stride()[0] == 1


def test_several_outputs_are_a_list(lib, mode):
    x = mode.from_tensor(dispatch.ones(3, 4))
    out = (matrix(), matrix(dispatch.bool))
    with mode, unsafe_generate_fake_kernels(profiles("two", out)):
        made = ops.fake_profiles.two(x, 2)
    assert [t.dtype for t in made] == [dispatch.float32, dispatch.bool]


def test_arguments_that_no_profile_fits_are_refused(lib, mode):
    lacking = pytest.raises(MissingOpProfile, match=f"{NS}::f")
    with mode, unsafe_generate_fake_kernels(profiles("f")), lacking:
        ops.fake_profiles.f(dispatch.ones(3), 2)


def test_afterwards_there_is_no_fake_kernel_again(lib, mode):
    x = mode.from_tensor(dispatch.ones(3, 4))
    lib.impl("f", lambda a, n: a + n, "CPU")
    for _ in range(2):
        with mode, pytest.raises(UnsupportedOperatorException):
            ops.fake_profiles.f(x, 2)
        with mode, unsafe_generate_fake_kernels(profiles("f")):
            ops.fake_profiles.f(x, 2)


def test_kernels_registered_before_come_back(lib, mode):
    x = mode.from_tensor(dispatch.ones(3, 4))
    library.register_fake(f"{NS}::f", lambda a, n: a.to(dispatch.bfloat16), lib=lib)

    @library.custom_op(f"{NS}::made", mutates_args=())
    def made(a: Tensor, n: int) -> Tensor:
        return a + n

    made.register_fake(lambda a, n: a.new_empty(a.shape, dtype=dispatch.bfloat16))
    both = profiles("f") | profiles("made")
    for op in (ops.fake_profiles.f, made):
        with mode, unsafe_generate_fake_kernels(both):
            assert op(x, 2).dtype == dispatch.float32
        with mode:
            assert op(x, 2).dtype == dispatch.bfloat16
    made._lib._destroy()


def test_profiles_go_through_files(tmp_path):
    kept = {"a.b.default": {OpProfile((matrix(),), (matrix(), matrix(dispatch.int8)))}}
    assert read_profiles_from_yaml(generate_yaml_from_profiles(kept)) == kept
    buffer = io.BytesIO()
    save_op_profiles(kept, buffer)
    buffer.seek(0)
    assert load_op_profiles(buffer) == kept
    for path in (tmp_path / "a.yaml", str(tmp_path / "b.yaml")):
        save_op_profiles(kept, path)
        assert load_op_profiles(path) == kept
    for use in (lambda: load_op_profiles(3), lambda: save_op_profiles(kept, 3)):
        with pytest.raises(ValueError, match="path or a BytesIO"):
            use()


def test_another_release_s_files_are_refused():
    text = generate_yaml_from_profiles({}).replace("2.13", "2.7")
    with pytest.raises(RuntimeError, match=r"Unable to load outdated profile.*2\.7"):
        read_profiles_from_yaml(text)
