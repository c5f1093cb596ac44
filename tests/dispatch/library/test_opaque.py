"""Objects that operators take without looking into them."""

import copy
import enum

import pytest

import dispatch
from dispatch import _C, FakeTensorMode, Tensor, library, ops, pytree
from dispatch.fake.script_classes import maybe_to_fake_obj
from dispatch.library import opaque
from dispatch.registry.script_classes import FakeScriptObject
from dispatch.symbolic import ShapeEnv


class Counter(metaclass=opaque.OpaqueBaseMeta):
    n = 0


class Below(Counter): ...


class Level:
    def __init__(self, n):
        self.n = n

    def __eq__(self, other):
        return self.n == other.n

    def __hash__(self):
        return self.n

    def __fx_repr__(self):
        return f"Level({self.n})", {"Level": Level}


NAME = f"{__name__}.Counter"


@pytest.fixture
def registered():
    members = {"n": opaque.MemberType.USE_REAL}
    opaque.register_opaque_type(Counter, typ="reference", members=members)
    opaque.register_opaque_type(Level, typ="value", hoist=True)
    yield
    for cls in (Counter, Level):
        _C._unregister_opaque_type(f"{__name__}.{cls.__qualname__}")
        del opaque._OPAQUE_TYPES[cls]


def test_an_operator_takes_the_object_itself(registered):
    @library.custom_op("opaque_ops::count", mutates_args=())
    def count(x: Tensor, counter: Counter) -> Tensor:
        counter.n += 1
        return x.clone()

    count.register_fake(lambda x, counter: x.new_empty(counter.n))
    counter = Below()
    ops.opaque_ops.count(dispatch.ones(2), counter)
    assert counter.n == 1
    with FakeTensorMode():
        assert ops.opaque_ops.count(dispatch.ones(2), counter).shape == (1,)
    kinds = [a.type.kind() for a in count._opoverload._schema.arguments]
    assert kinds == ["TensorType", "PyObjectType"]
    count._lib._destroy()


def test_a_name_is_a_type_while_it_is_registered(registered):
    text = f"f({NAME} a, {NAME}? b, {NAME}[] c) -> {NAME}"
    schema = _C.parse_schema(text)
    assert str(schema) == "f(PyObject a, PyObject? b, PyObject[] c) -> PyObject"
    _C._unregister_opaque_type(NAME)
    assert not _C._is_opaque_type_registered(NAME) and not opaque.is_opaque_type(Counter)
    with pytest.raises(RuntimeError):
        _C.parse_schema(text, False)
    with pytest.raises(RuntimeError, match="unknown type specifier"):
        _C.parse_schema("f(PyObject a) -> ()")


def test_what_was_registered_is_told(registered):
    assert opaque.is_opaque_reference_type(Below) and not opaque.is_opaque_value_type(Below)
    assert opaque.is_opaque_value_type(Level) and opaque.is_opaque_type(NAME)
    assert not opaque.is_opaque_type(int) and not opaque.is_opaque_type(3)
    assert opaque.get_opaque_type_name(Below) == NAME
    assert opaque.should_hoist(Level) and not opaque.should_hoist(Counter)
    assert opaque.has_members(Counter) and not opaque.has_members(Level)
    assert opaque.get_member_type(Counter, "n") is opaque.MemberType.USE_REAL
    assert opaque.get_member_type(Counter, "m") is None
    assert opaque.get_opaque_obj_info(dict) is None
    assert not opaque.has_members(dict) and not opaque.should_hoist(dict)
    with pytest.raises(ValueError, match="is not registered"):
        opaque.get_opaque_type_name(dict)


def test_stand_ins_count_as_instances(registered):
    stand_in = FakeScriptObject(None, NAME, Counter())
    assert isinstance(stand_in, Counter) and not isinstance(stand_in, Below)
    assert isinstance(stand_in, opaque.OpaqueBase) and isinstance(Level(1), opaque.OpaqueBase)
    assert not isinstance(3, opaque.OpaqueBase)


def test_values_have_texts(registered):
    class Color(enum.Enum):
        RED = 1

    assert opaque.get_opaque_obj_repr(Level(2)) == ("Level(2)", {"Level": Level})
    assert opaque.get_opaque_obj_repr(Color.RED) == ("Color.RED", {"Color": Color})
    assert opaque.is_opaque_value(Color.RED)
    with pytest.raises(TypeError, match="__fx_repr__"):
        opaque.get_opaque_obj_repr(Counter())


class NoEquality:
    def __fx_repr__(self): ...


class NoHash(Level):
    __hash__ = None


class NoText:
    __eq__ = Level.__eq__
    __hash__ = Level.__hash__


@pytest.mark.parametrize(
    ("cls", "options", "error", "phrase"),
    [
        (int, {"typ": "value"}, ValueError, "built-in type"),
        (Tensor, {"typ": "value"}, ValueError, "built-in type"),
        (Level, {"typ": "reference"}, TypeError, "must subclass"),
        (Counter, {"typ": "other"}, AssertionError, "either 'reference' or 'value'"),
        (NoEquality, {"typ": "value"}, TypeError, "`__eq__`"),
        (NoHash, {"typ": "value"}, TypeError, "`__hash__`"),
        (NoText, {"typ": "value"}, TypeError, "`__fx_repr__`"),
        (Level, {"typ": "value", "guard_fn": list}, TypeError, "`guard_fn`"),
    ],
)
def test_classes_that_lack_something_are_refused(cls, options, error, phrase):
    with pytest.raises(error, match=phrase):
        opaque.register_opaque_type(cls, **options)
    assert cls not in opaque._OPAQUE_TYPES


def test_a_container_of_pytree_is_not_opaque():
    class Container:
        pass

    pytree.register_pytree_node(Container, lambda c: ([], None), lambda values, _: Container())
    with pytest.raises(ValueError, match="registered as an opaque object as it has been"):
        opaque.register_opaque_type(Container, typ="value")


def test_an_opaque_class_is_no_container_of_pytree(registered):
    class Color(enum.Enum):
        RED = 1

    def register(cls):
        pytree.register_pytree_node(cls, lambda c: ([], None), lambda values, _: cls())

    for cls in (Counter, Below):
        with pytest.raises(ValueError, match="as a pytree as it has been registered as an opaque"):
            register(cls)
        assert cls not in pytree.SUPPORTED_NODES
    register(Color)  # an enumeration may be both
    pytree.nodes.deregister(Color)


def test_a_stand_in_has_the_registered_members_alone(registered):
    x = Counter()
    x.n, x.hidden = [4], 5
    stand_in = maybe_to_fake_obj(FakeTensorMode(), x)
    assert isinstance(stand_in, Counter)
    assert (stand_in.real_obj, stand_in.n) == (x, x.n)
    assert stand_in.real_obj is x and stand_in.n is x.n
    with pytest.raises(AttributeError, match="call __getattr__ with attr 'hidden'"):
        stand_in.hidden  # noqa: B018
    with pytest.raises(AttributeError, match="call __setattr__ with attr 'n'"):
        stand_in.n = 3
    again = copy.deepcopy(stand_in)
    assert again.n == [4] and again.n is not x.n
    assert again.real_obj.n is again.n


def test_a_stand_in_of_an_object_without_a_member_is_refused(registered):
    opaque._OPAQUE_TYPES[Counter].members["gone"] = opaque.MemberType.INLINED
    with pytest.raises(TypeError, match=f"type '{NAME}' was specified to have member 'gone'"):
        maybe_to_fake_obj(FakeTensorMode(), Counter())


def test_fake_kernels_work_with_stand_ins(registered):
    with library._scoped_library("topaque", "DEF") as lib:
        lib.define(f"size({NAME} c) -> SymInt")
        lib.impl("size", lambda c: c.n, "CompositeExplicitAutograd")
        library.register_fake(
            "topaque::size", lambda c: library.get_ctx().new_dynamic_size(), lib=lib
        )
        mode = FakeTensorMode(shape_env=ShapeEnv())
        with mode:
            size = ops.topaque.size(maybe_to_fake_obj(mode, Counter()))
        assert isinstance(size, dispatch.SymInt)
        assert ops.topaque.size(Counter()) == 0


def test_a_name_with_an_empty_part_is_no_type(registered):
    with (
        library._scoped_library("topaque", "DEF") as lib,
        pytest.raises(RuntimeError, match="unknown type specifier"),
    ):
        lib.define("f(a..B c) -> Tensor")
