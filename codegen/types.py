"""The types of the schema language: what stands before an argument's name.

Plain values: compared and hashed by their text, shared by all schemas that mention them, never
changed after they are made. `text` is how a schema spells the type, `str()` how Python would
(`Optional[List[int]]`), as PyTorch's type objects do.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

__all__ = [
    "BASE_TYPES",
    "CLASSES",
    "AwaitType",
    "BaseType",
    "ClassType",
    "DictType",
    "FutureType",
    "HolderType",
    "ListType",
    "OptionalType",
    "RRefType",
    "TupleType",
    "Type",
    "UnionType",
    "VarType",
]


class _Spelled:
    """`str`, apart from the class where that is the name of a type."""

    __slots__ = ()
    text: builtins.str

    def str(self) -> builtins.str:
        """How a schema spells the type."""
        return self.text


class Type(_Spelled):
    """Base of all types. `text`: its spelling in a schema, without alias annotations."""

    __slots__ = ("annotation_str", "text")

    def __init__(self, text: str, annotation_str: str) -> None:
        self.text = text
        self.annotation_str = annotation_str

    def kind(self) -> str:
        """The name of PyTorch's class for such a type, "IntType" for `int`."""
        raise NotImplementedError

    def erased(self) -> Type:
        """The type with `SymInt`, `ScalarType` and their like as the `int` that they travel as."""
        return self

    def isSubtypeOf(self, other: Type) -> bool:
        """Whether every value of this type is one of `other`."""
        if self == other or other.kind() == "AnyType":
            return True
        if isinstance(other, OptionalType):
            inner = self.element if isinstance(self, OptionalType) else self
            return self.kind() == "NoneType" or inner.isSubtypeOf(other.element)
        if isinstance(self, TupleType) and isinstance(other, TupleType):
            return len(self.elements()) == len(other.elements()) and all(
                mine.isSubtypeOf(theirs)
                for mine, theirs in zip(self.elements(), other.elements(), strict=True)
            )
        return other.kind() == "NumberType" and self.kind() in _NUMBERS

    def containedTypes(self) -> list[Type]:
        """The types that it is made of."""
        return []

    def __str__(self) -> str:
        return self.annotation_str

    def __repr__(self) -> str:
        return self.annotation_str

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Type):
            raise TypeError(f"a type is compared with types, not with {other!r}")
        # by what the type is: the N of int[N] is the argument's business
        return self is other or (self.annotation_str, self.kind()) == (
            other.annotation_str,
            other.kind(),
        )

    def __hash__(self) -> int:
        return hash(self.annotation_str)


_NUMBERS = frozenset({"IntType", "FloatType", "ComplexType"})


def _check_types(owner: str, *types: object) -> None:
    for type_ in types:
        if not isinstance(type_, Type):
            raise TypeError(f"{owner}: expected a type, got {type_!r}")


class BaseType(Type):
    """A type that is one word: `Tensor`, `SymInt`, `ScalarType`."""

    __slots__ = ("_kind", "_sent_as")

    def __init__(self, text: str, annotation: str, kind: str, sent_as: str | None) -> None:
        super().__init__(text, annotation)
        self._kind = kind
        self._sent_as = sent_as

    def kind(self) -> str:
        """PyTorch's name of the type's class."""
        return self._kind

    def erased(self) -> Type:
        """`int` for the types that are integers below."""
        return BASE_TYPES[self._sent_as] if self._sent_as else self

    @classmethod
    def get(cls) -> BaseType:
        """The one type of this class."""
        return next(t for t in BASE_TYPES.values() if type(t) is cls)


class OptionalType(Type):
    """`T?`."""

    __slots__ = ("element",)

    def __init__(self, element: Type) -> None:
        _check_types("OptionalType", element)
        super().__init__(f"{element.text}?", f"Optional[{element}]")
        self.element = element

    @staticmethod
    def ofTensor() -> OptionalType:
        """`Tensor?`."""
        return OptionalType(BASE_TYPES["Tensor"])

    def str(self) -> builtins.str:
        """The element and a question mark."""
        return f"{self.element.str()}?"

    def kind(self) -> builtins.str:
        """OptionalType."""
        return "OptionalType"

    def erased(self) -> Type:
        """The same of the erased element."""
        below = self.element.erased()
        return self if below is self.element else OptionalType(below)

    def getElementType(self) -> Type:
        """T."""
        return self.element

    def containedTypes(self) -> list[Type]:
        """T alone."""
        return [self.element]


class ListType(Type):
    """`T[]`, or `T[N]` where a lone T is taken for N of them (`size`; None for `T[]`)."""

    __slots__ = ("element", "size")

    def __init__(self, element: Type, size: int | None = None) -> None:
        _check_types("ListType", element)
        number = "" if size is None else str(size)
        super().__init__(f"{element.text}[{number}]", f"List[{element}]")
        self.element = element
        self.size = size

    @staticmethod
    def ofInts() -> ListType:
        """`int[]`."""
        return ListType(BASE_TYPES["int"])

    @staticmethod
    def ofTensors() -> ListType:
        """`Tensor[]`."""
        return ListType(BASE_TYPES["Tensor"])

    @staticmethod
    def ofFloats() -> ListType:
        """`float[]`."""
        return ListType(BASE_TYPES["float"])

    @staticmethod
    def ofComplexDoubles() -> ListType:
        """`complex[]`."""
        return ListType(BASE_TYPES["complex"])

    @staticmethod
    def ofBools() -> ListType:
        """`bool[]`."""
        return ListType(BASE_TYPES["bool"])

    @staticmethod
    def ofStrings() -> ListType:
        """`str[]`."""
        return ListType(BASE_TYPES["str"])

    def str(self) -> builtins.str:
        """The element and brackets: N is the argument's business."""
        return f"{self.element.str()}[]"

    def kind(self) -> builtins.str:
        """ListType."""
        return "ListType"

    def erased(self) -> Type:
        """The same of the erased element."""
        below = self.element.erased()
        return self if below is self.element else ListType(below, self.size)

    def getElementType(self) -> Type:
        """T."""
        return self.element

    def containedTypes(self) -> list[Type]:
        """T alone."""
        return [self.element]


class _Composed(Type):
    """A type made of several in parentheses."""

    __slots__ = ("_elements",)
    _annotation = ""

    def __init__(self, elements: Sequence[Type]) -> None:
        _check_types(type(self).__name__, *elements)
        inside = ", ".join(e.text for e in elements)
        shown = ", ".join(str(e) for e in elements)
        super().__init__(f"{self._spelling()}({inside})", f"{self._annotation}[{shown}]")
        self._elements = tuple(elements)

    def _spelling(self) -> str:
        return self._annotation

    def erased(self) -> Type:
        """The same of the erased elements."""
        return type(self)([e.erased() for e in self._elements])

    def containedTypes(self) -> list[Type]:
        """The elements in order."""
        return list(self._elements)


class TupleType(_Composed):
    """`(a, b)`."""

    __slots__ = ()
    _annotation = "Tuple"

    def _spelling(self) -> str:
        return ""

    def kind(self) -> str:
        """TupleType."""
        return "TupleType"

    def elements(self) -> list[Type]:
        """The types in order."""
        return self.containedTypes()


class DictType(_Composed):
    """`Dict(key, value)`."""

    __slots__ = ()
    _annotation = "Dict"

    def __init__(self, key: Type, value: Type) -> None:
        super().__init__((key, value))

    def erased(self) -> Type:
        """The same of the erased key and value."""
        return DictType(self._elements[0].erased(), self._elements[1].erased())

    def kind(self) -> str:
        """DictType."""
        return "DictType"

    def getKeyType(self) -> Type:
        """The type of the keys."""
        return self._elements[0]

    def getValueType(self) -> Type:
        """The type of the values."""
        return self._elements[1]


class UnionType(_Composed):
    """`Union(A, B)`."""

    __slots__ = ()
    _annotation = "Union"

    def kind(self) -> str:
        """UnionType."""
        return "UnionType"


class HolderType(_Composed):
    """`Future(T)` and its like: something that will hold a T, or does elsewhere."""

    __slots__ = ()

    def __init__(self, element: Type) -> None:
        super().__init__((element,))

    def erased(self) -> Type:
        """The same of the erased T."""
        return type(self)(self._elements[0].erased())

    def kind(self) -> str:
        """FutureType and so on."""
        return f"{self._annotation}Type"

    def getElementType(self) -> Type:
        """T."""
        return self._elements[0]


class FutureType(HolderType):
    """`Future(T)`."""

    __slots__ = ()
    _annotation = "Future"

    def str(self) -> builtins.str:
        """In brackets, as PyTorch prints it."""
        return self.annotation_str


class RRefType(HolderType):
    """`RRef(T)`."""

    __slots__ = ()
    _annotation = "RRef"

    def str(self) -> builtins.str:
        """In brackets, as PyTorch prints it."""
        return self.annotation_str


class AwaitType(HolderType):
    """`Await(T)`."""

    __slots__ = ()
    _annotation = "Await"


class ClassType(Type):
    """A custom class, `__torch__.torch.classes.namespace.Name`."""

    __slots__ = ()

    def kind(self) -> str:
        """ClassType."""
        return "ClassType"

    def qualified_name(self) -> str:
        """The whole dotted name."""
        return self.text


class VarType(Type):
    """A type variable: a name in lower case that starts with `t`."""

    __slots__ = ()

    def kind(self) -> str:
        """VarType."""
        return "VarType"


def _base_types() -> dict[str, BaseType]:
    same = {
        "Tensor": "TensorType",
        "int": "IntType",
        "float": "FloatType",
        "bool": "BoolType",
        "complex": "ComplexType",
        "str": "StringType",
        "Device": "DeviceObjType",
        "Generator": "GeneratorType",
        "Storage": "StorageType",
        "Stream": "StreamObjType",
        "QScheme": "QSchemeType",
        "Quantizer": "QuantizerType",
        "Dimname": "StringType",
        "Capsule": "CapsuleType",
        "NoneType": "NoneType",
        "Any": "AnyType",
        "AnyClassType": "AnyClassType",
        "AnyEnumType": "AnyEnumType",
        "PyObject": "PyObjectType",
    }
    types = {name: _base_type(name, name, kind, None) for name, kind in same.items()}
    types["None"] = types["NoneType"]
    types["DeviceIndex"] = types["int"]
    for name in ("Scalar", "number"):
        types[name] = _base_type(name, "number", "NumberType", None)
    for name in ("ScalarType", "Layout", "MemoryFormat"):
        types[name] = _base_type(name, name, f"{name}Type", "int")
    types["SymInt"] = _base_type("SymInt", "int", "SymIntType", "int")
    types["SymBool"] = _base_type("SymBool", "bool", "SymBoolType", None)
    types["SymFloat"] = _base_type("SymFloat", "float", "SymFloatType", None)
    return types


def _base_type(text: str, annotation: str, kind: str, sent_as: str | None) -> BaseType:
    """A type of its kind's own class, which is made when first needed."""
    if kind not in CLASSES:
        CLASSES[kind] = type(kind, (BaseType,), {"__slots__": (), "__module__": __name__})
    return CLASSES[kind](text, annotation, kind, sent_as)


CLASSES: dict[str, type[BaseType]] = {}


BASE_TYPES: dict[str, BaseType] = _base_types()
