"""What instances of wrapper classes refuse, take over and are asked."""

import pytest

import dispatch


class Wrapper(dispatch.Tensor):
    """Wraps a tensor, and wraps what operators return."""

    @staticmethod
    def __new__(cls, inner):
        made = dispatch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args = [x.inner if isinstance(x, Wrapper) else x for x in args]
        found = func(*args, **(kwargs or {}))
        return Wrapper(found) if isinstance(found, dispatch.Tensor) else found


class Plain(dispatch.Tensor):
    """A class without a handler."""


@pytest.mark.parametrize(
    "make",
    [
        lambda x: dispatch.Tensor._make_subclass(Plain, x),
        lambda x: x.as_subclass(Plain),
        Plain,
    ],
    ids=["_make_subclass", "as_subclass", "constructor"],
)
def test_what_a_handler_made_does_not_change_its_class(make):
    """The object belongs to the program whose handler made it."""
    with pytest.raises(RuntimeError, match="python object of type Wrapper"):
        make(Wrapper(dispatch.ones(2)))
    assert type(make(dispatch.ones(2))) is Plain


def test_what_a_handler_made_is_taken_as_it_is_where_its_class_fits():
    wrapped = Wrapper(dispatch.ones(2))
    for cls in (Wrapper, dispatch.Tensor):
        assert type(dispatch.Tensor._make_subclass(cls, wrapped)) is Wrapper
        assert type(wrapped.as_subclass(cls)) is Wrapper


def test_data_of_a_wrapper_has_a_version_of_its_own():
    wrapped = Wrapper(dispatch.ones(2))
    alias = wrapped.data
    alias.add_(1)
    assert (wrapped._version, alias._version) == (0, 1)
    wrapped.detach().add_(1)
    assert wrapped._version == 1


def test_a_wrapper_takes_over_the_memory_of_a_plain_tensor():
    wrapped = Wrapper(dispatch.ones(2))
    wrapped.data = dispatch.zeros(3)
    assert type(wrapped) is Wrapper
    assert wrapped.shape == (3,)
    plain = dispatch.ones(2)
    with pytest.raises(RuntimeError, match="cannot take the place"):
        plain.data = wrapped
    assert plain.tolist() == [1, 1]


def test_the_address_asks_a_class_that_answers_sizes():
    asked = []

    class Sized(dispatch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return dispatch.Tensor._make_subclass(
                cls, inner, dispatch_sizes_strides_policy="sizes"
            )

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            asked.append(func)
            return 1 if func.overloadpacket is dispatch.ops.aten.dim else None

    Sized(dispatch.ones(2)).data_ptr()
    assert dispatch.ops.aten.numel.default in asked


def test_contiguous_asks_a_class_that_answers_strides():
    class Strided(dispatch.Tensor):
        contiguous_here = True

        @staticmethod
        def __new__(cls, inner):
            return dispatch.Tensor._make_subclass(
                cls, inner, dispatch_sizes_strides_policy="strides"
            )

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            if "is_contiguous" in str(func):
                return cls.contiguous_here
            return NotImplemented

    x = Strided(dispatch.ones(2))
    assert x.contiguous() is x
    Strided.contiguous_here = False
    with pytest.raises(TypeError, match="clone"):
        x.contiguous()


def test_the_class_is_told_the_memory_format():
    class Told(dispatch.Tensor):
        asked = []

        @staticmethod
        def __new__(cls):
            return dispatch.Tensor._make_wrapper_subclass(
                cls, (1, 1, 1, 1), dispatch_sizes_strides_policy="strides"
            )

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            cls.asked.append((str(func), *args[1:]))
            return True

    assert Told().is_contiguous(memory_format=dispatch.channels_last)
    assert Told.asked == [("aten.is_contiguous.memory_format", dispatch.channels_last)]


def test_any_tensor_is_like_a_subclass_under_a_mode():
    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    is_like, x = dispatch._C._dispatch_isTensorSubclassLike, dispatch.ones(1)
    with Mode():
        assert is_like(x)
        with dispatch.modes.no_dispatch():
            assert not is_like(x)
    assert not is_like(x)


def test_a_handler_calls_plain_tensors_again_when_the_modes_are_its_callers():
    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class Again(Wrapper):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            with dispatch.modes.enable_reentrant_dispatch():
                return func(args[0].inner)

    with Mode():
        found = Again(dispatch.ones(2)).clone()
    assert type(found) is dispatch.Tensor
    assert found.tolist() == [1, 1]


def test_one_value_for_several_is_an_error_of_the_entry():
    class One(dispatch.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return dispatch.Tensor._make_subclass(cls, inner)

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return 3

    x = One(dispatch.ones(2))
    with pytest.raises(RuntimeError, match="2 values"):
        dispatch.max(x, 0)
    with pytest.raises(TypeError, match="2 values"):
        dispatch.ops.aten.max.dim(x, 0)


@pytest.mark.parametrize("question", [lambda x: x.shape, lambda x: x.stride()])
def test_an_answer_beyond_64_bits_is_refused(question):
    class Far(Wrapper):
        @staticmethod
        def __new__(cls, inner):
            return dispatch.Tensor._make_wrapper_subclass(
                cls, inner.shape, dispatch_sizes_strides_policy="sizes"
            )

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return (1 << 70,)

    with pytest.raises(ValueError, match="64 bits"):
        question(Far(dispatch.ones(2)))


@pytest.mark.parametrize(
    "flag", ["requires_grad", "pin_memory", "dispatch_device", "dispatch_layout"]
)
@pytest.mark.parametrize("value", [None, 1, "no"])
def test_flags_of_a_wrapper_are_bools(flag, value):
    with pytest.raises(TypeError, match=flag):
        dispatch.Tensor._make_wrapper_subclass(Wrapper, (2,), **{flag: value})


@pytest.mark.parametrize("flag", ["require_grad", "dispatch_device", "dispatch_layout"])
def test_flags_of_an_instance_are_bools(flag):
    with pytest.raises(TypeError, match=flag):
        dispatch.Tensor._make_subclass(Wrapper, dispatch.ones(2), **{flag: 1})
