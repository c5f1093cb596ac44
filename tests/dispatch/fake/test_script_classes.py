"""Fake objects of custom classes: registration, flattening, methods."""

from collections.abc import Iterator
from typing import Any

import pytest

import dispatch
from dispatch.fake import FakeTensor, FakeTensorMode
from dispatch.fake.script_classes import (
    FakeScriptMethod,
    deregister_fake_class,
    find_fake_class,
    has_fake_class,
    maybe_to_fake_obj,
    register_fake_class,
)
from dispatch.registry.script_classes import FakeScriptObject, ScriptObject

FULL_NAME = "__torch__.torch.classes.shop.Stack"


class Stack(ScriptObject):
    """A real object: a list of tensors."""

    def __init__(self, flat: Any = None) -> None:
        super().__init__(FULL_NAME)
        self.items = [dispatch.ones(2, 3)]
        self.flat = flat

    def __obj_flatten__(self) -> Any:
        return self.flat or (("items", self.items),)

    def _method_names(self) -> list[str]:
        return ["push", "size", "__obj_flatten__"]

    def push(self, x: Any) -> None:
        self.items.append(x)

    def size(self) -> int:
        return len(self.items)


class FakeStack:
    def __init__(self, items: list[Any]) -> None:
        self.items = items

    @classmethod
    def __obj_unflatten__(cls, flat: Any) -> "FakeStack":
        return cls(**dict(flat))

    def push(self, x: Any) -> None:
        self.items.append(x)

    def size(self) -> int:
        return len(self.items)


@pytest.fixture
def registered() -> Iterator[None]:
    register_fake_class("shop::Stack", FakeStack)
    yield
    deregister_fake_class("shop::Stack")


@pytest.mark.usefixtures("registered")
def test_object_becomes_fake_with_its_tensors_and_methods() -> None:
    real = Stack()
    mode = FakeTensorMode()
    fake = maybe_to_fake_obj(mode, real)
    assert isinstance(fake, FakeScriptObject) and fake.script_class_name == FULL_NAME
    (tensor,) = fake.wrapped_obj.items
    assert isinstance(tensor, FakeTensor) and tensor.shape == (2, 3) and tensor.fake_mode is mode
    assert isinstance(fake.push, FakeScriptMethod) and fake.push.method_name == "push"
    fake.push(tensor)
    assert fake.size() == 2 and real.size() == 1


def test_class_is_found_until_it_is_deregistered() -> None:
    decorated = register_fake_class("shop::Other")(FakeStack)
    name = "__torch__.torch.classes.shop.Other"
    assert decorated is FakeStack and find_fake_class(name) is FakeStack
    assert deregister_fake_class("shop::Other") is FakeStack
    assert not has_fake_class(name) and find_fake_class(name) is None
    assert deregister_fake_class("shop::Other") is None


def test_object_without_a_fake_class_is_refused() -> None:
    with pytest.raises(RuntimeError, match="no fake class is registered"):
        maybe_to_fake_obj(FakeTensorMode(), Stack())


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("flat", [[("items", [])], ("items",), (("items", 1, 2),), ((1, 2),)])
def test_flattened_object_is_checked(flat: Any) -> None:
    with pytest.raises(RuntimeError, match="__obj_flatten__"):
        maybe_to_fake_obj(FakeTensorMode(), Stack(flat))


def test_unflattening_must_be_a_classmethod_of_its_own() -> None:
    class WithoutIt:
        pass

    class Plain:
        def __obj_unflatten__(self, flat: Any) -> None: ...

    for cls in (WithoutIt, Plain, type("Inherits", (FakeStack,), {})):
        with pytest.raises(RuntimeError, match="classmethod"):
            register_fake_class("shop::Wrong", cls)
    assert not has_fake_class("__torch__.torch.classes.shop.Wrong")


@pytest.mark.parametrize(("mode", "stays"), [("real", True), ("fake", False)])
@pytest.mark.usefixtures("registered")
def test_object_may_ask_to_stay_real(mode: str, stays: bool) -> None:
    real = Stack()
    real.tracing_mode = lambda: mode  # type: ignore[attr-defined]
    assert (maybe_to_fake_obj(FakeTensorMode(), real) is real) == stays
