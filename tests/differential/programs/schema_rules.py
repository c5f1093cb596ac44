"""Schemas: nested optionals, defaults that are lists or devices, hashes, what is compared."""

from tests.differential.helpers import logging_operator


def nested_optionals_and_lists_as_defaults(s, log):
    parse = s.C.parse_schema
    for text in (
        "f(Tensor?? x) -> ()",
        "f(int??? x=None) -> ()",
        "f(Tensor[]?? x) -> ()",
        "f(float[2] x=1) -> ()",
        "f(bool[3] x=True) -> ()",
        "f(bool[3] x=1) -> ()",
        "f(str[2] x='a') -> ()",
        "f(Scalar[2] x=1) -> ()",
        "f(number x) -> ()",
        "f(DeviceIndex x) -> ()",
    ):
        log.attempt(text, lambda t=text: str(parse(t)))
        log.attempt("type", lambda t=text: str(parse(t).arguments[0].type))


def default_of_a_device(s, log):
    for text in ("f(Device x='cpu') -> ()", "f(Device x='cuda:1') -> ()"):
        schema = log.attempt(text, s.C.parse_schema, text)
        if schema is not None:
            log(schema.arguments[0].default_value == s.T.device(schema.arguments[0].default_value))
    optional = s.C.parse_schema("f(Device? x='cpu') -> ()")
    log(optional.arguments[0].default_value, optional)


def hashes_see_names_and_defaults(s, log):
    parse = s.C.parse_schema
    base = parse("f(Tensor x, int y=1) -> Tensor")
    for text in (
        "f(Tensor x, int y=1) -> Tensor",
        "f(Tensor x, int y=2) -> Tensor",
        "f(Tensor x, int z=1) -> Tensor",
        "f(Tensor x, *, int y=1) -> Tensor",
        "f(Tensor x, int y=1) -> Tensor(a)",
        "g(Tensor x, int y=1) -> Tensor",
    ):
        log(text, hash(base) == hash(parse(text)), base == parse(text))


def schemas_are_compared_with_schemas(s, log):
    schema = s.C.parse_schema("f(Tensor x) -> Tensor")
    for other in (3, None, "f(Tensor x) -> Tensor"):
        log.attempt("backward", schema.is_backward_compatible_with, other)
        log.attempt("forward", schema.check_forward_compatible_with, other)


def lone_numbers_for_lists(s, log):
    for at, type_ in enumerate(("float[2]", "float[2]?", "int[2]", "bool[2]")):
        lib, packet = logging_operator(s, log, f"lnl{at}", f"({type_} x) -> ()")
        for value in (1, True, 1.0, 2.5, [1, 2.0], None):
            log.attempt(f"{type_} {value}", packet.default, value)


def numbers_as_tensors_by_name(s, log):
    for name in ("add", "sub", "mul", "div", "true_divide", "floor_divide", "copy", "to", "pow"):
        log(name, *(s.C._should_allow_numbers_as_tensors(name + end) for end in ("", "_", "_out")))
