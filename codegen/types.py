"""The types of the schema language: what stands before an argument's name.

Plain values: compared and hashed by their text, shared by all schemas that mention them, never
changed after they are made. `text` is how a schema spells the type, `str()` how Python would
(`Optional[List[int]]`), as PyTorch's type objects do.
"""

from __future__ import annotations

__all__ = [
    "BASE_TYPES",
    "BaseType",
    "ClassType",
    "DictType",
    "GenericType",
    "ListType",
    "OptionalType",
    "TupleType",
    "Type",
    "VarType",
]


class Type:
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

    def getElementType(self) -> Type:
        """The type of an element; RuntimeError for a type that has none."""
        raise RuntimeError(f"type {self.text} has no element type")

    def containedTypes(self) -> list[Type]:
        """The types that it is made of."""
        return []

    def __str__(self) -> str:
        return self.annotation_str

    def __repr__(self) -> str:
        return self.annotation_str

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Type) and self.text == other.text)

    def __hash__(self) -> int:
        return hash(self.text)


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


class OptionalType(Type):
    """`T?`."""

    __slots__ = ("element",)

    def __init__(self, element: Type) -> None:
        super().__init__(f"{element.text}?", f"Optional[{element}]")
        self.element = element

    def kind(self) -> str:
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
        number = "" if size is None else str(size)
        super().__init__(f"{element.text}[{number}]", f"List[{element}]")
        self.element = element
        self.size = size

    def kind(self) -> str:
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

    __slots__ = ("elements",)
    _annotation = ""

    def __init__(self, elements: tuple[Type, ...]) -> None:
        inside = ", ".join(e.text for e in elements)
        shown = ", ".join(str(e) for e in elements)
        super().__init__(f"{self._spelling()}({inside})", f"{self._annotation}[{shown}]")
        self.elements = elements

    def _spelling(self) -> str:
        return self._annotation

    def erased(self) -> Type:
        """The same of the erased elements."""
        return type(self)(tuple(e.erased() for e in self.elements))

    def containedTypes(self) -> list[Type]:
        """The elements in order."""
        return list(self.elements)


class TupleType(_Composed):
    """`(a, b)`."""

    __slots__ = ()
    _annotation = "Tuple"

    def _spelling(self) -> str:
        return ""

    def kind(self) -> str:
        """TupleType."""
        return "TupleType"


class DictType(_Composed):
    """`Dict(key, value)`."""

    __slots__ = ()
    _annotation = "Dict"

    def kind(self) -> str:
        """DictType."""
        return "DictType"


class GenericType(Type):
    """`Future(T)`, `RRef(T)`, `Await(T)`, `Union(A, B)`."""

    __slots__ = ("elements", "name")

    def __init__(self, name: str, elements: tuple[Type, ...]) -> None:
        inside = ", ".join(e.text for e in elements)
        shown = ", ".join(str(e) for e in elements)
        super().__init__(f"{name}({inside})", f"{name}[{shown}]")
        self.name = name
        self.elements = elements

    def kind(self) -> str:
        """FutureType and so on."""
        return f"{self.name}Type"

    def containedTypes(self) -> list[Type]:
        """What stands in the parentheses."""
        return list(self.elements)


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
        "number": "NumberType",
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
        "SymFloat": "SymFloatType",
        "SymBool": "SymBoolType",
        "DeviceIndex": "IntType",
    }
    types = {name: BaseType(name, name, kind, None) for name, kind in same.items()}
    types["None"] = types["NoneType"]
    types["Scalar"] = BaseType("Scalar", "number", "NumberType", None)
    for name in ("ScalarType", "Layout", "MemoryFormat"):
        types[name] = BaseType(name, name, f"{name}Type", "int")
    types["SymInt"] = BaseType("SymInt", "int", "SymIntType", "int")
    return types


BASE_TYPES: dict[str, BaseType] = _base_types()
