"""Questions about schemas: answers, and what has none refused with PyTorch's type of error."""

import itertools

import pytest

from dispatch import Tag, ops
from dispatch.registry.schemas import (
    fill_defaults,
    get_device_arg_index,
    get_layout_constraint_tag,
    has_kwarg_only_args,
    has_kwarg_only_tensors,
    has_tensor_arg,
    is_builtin,
    is_functional_schema,
    is_tensor_like_type,
    is_tensorlist_like_type,
    mutated_args_kwargs,
    mutates_and_returns_first_arg,
    zip_schema,
)
from tests.dispatch.refused import A, check_refused


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: is_builtin(3), "op must be an OpOverload, got <class 'int'>"),
        (lambda: is_functional_schema(3), "schema must be a FunctionSchema, got <class 'int'>"),
        (
            lambda: list(zip_schema(A.add.Tensor._schema, (1, 2, 3, 4), {"alpha": 1})),
            "has 3 arguments, got 4 positional ones and 1 by keyword",
        ),
    ],
)
def test_what_has_no_such_schema_is_refused(call, text):
    check_refused(call, AssertionError, text)


# schema, what it is and has (f: functional, v: so if the view is allowed, k: keyword-only
# arguments, t: keyword-only tensors, a: a tensor argument, 1: its first is one, l: or a list),
# where the device is, what is written
SCHEMAS = [
    ("(Tensor x) -> Tensor", "fva1", None, ([], [])),
    ("(Tensor(a) x) -> Tensor(a)", "va1", None, ([], [])),
    ("(Tensor(a!) x) -> Tensor(a!)", "a1", None, ([0], [])),
    ("(Tensor(a!) x) -> ()", "a1", None, ([0], [])),
    ("(Tensor x) -> ()", "a1", None, ([], [])),
    ("(Tensor(a) x, Tensor y) -> Tensor(a)", "a1", None, ([], [])),
    ("(Tensor(a) x) -> (Tensor(a), Tensor)", "a1", None, ([], [])),
    ("(Tensor(a) x) -> Tensor(a)[]", "a1", None, ([], [])),
    ("(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)", "a1", None, ([0, 1], [])),
    ("(Tensor x, Tensor(a!) y) -> Tensor(a!)", "a1", None, ([1], [])),
    ("(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "kta1", None, ([], ["out"])),
    ("(Tensor x, *, Tensor? y=None) -> Tensor", "fvkta1", None, ([], [])),
    ("(Tensor x, *, int y=1) -> Tensor", "fvka1", None, ([], [])),
    ("(Tensor x, *, Tensor[] y) -> Tensor", "fvkta1", None, ([], [])),
    ("(int x) -> int", "fv", None, ([], [])),
    ("(int n, *, Device? device=None) -> Tensor", "fvk", None, ([], [])),
    ("(int n, *, Device device) -> Tensor", "fvk", 1, ([], [])),
    ("(int device) -> Tensor", "fv", None, ([], [])),
    ("(Device dev) -> Tensor", "fv", None, ([], [])),
    ("(Tensor?[] xs) -> Tensor", "fval", None, ([], [])),
    ("(Tensor[]? xs) -> Tensor", "fval", None, ([], [])),
    ("(Tensor(a!)[] xs) -> ()", "al", None, ([0], [])),
]


@pytest.mark.parametrize(("text", "facts", "device", "written"), SCHEMAS, ids=lambda v: str(v))
def test_what_a_schema_is_and_has(library, text, facts, device, written):
    library("reg_schemas").define("f" + text)
    op = ops.reg_schemas.f.default
    schema, first = op._schema, op._schema.arguments[0].type
    found = {
        "f": is_functional_schema(schema),
        "v": is_functional_schema(schema, allow_valid_view=True),
        "k": has_kwarg_only_args(schema),
        "t": has_kwarg_only_tensors(schema),
        "a": has_tensor_arg(schema),
        "1": is_tensor_like_type(first),
        "l": is_tensorlist_like_type(first),
    }
    assert found == {letter: letter in facts for letter in "fvkta1l"}
    assert get_device_arg_index(schema) == device
    assert mutated_args_kwargs(schema) == written
    assert not mutates_and_returns_first_arg(op) and not is_builtin(op)
    assert is_functional_schema(f"f{text}") == ("f" in facts)


def test_operators_of_aten_that_write_and_return_their_first_argument_alone():
    yes = (A.add_.Tensor, A.relu_.default, A.set_.source_Tensor, A.transpose_.default)
    no = (A.add.Tensor, A.add.out, A.split.Tensor, A.view.default, A._foreach_add_.Scalar)
    no += (A.batch_norm_update_stats.default, A.frexp.Tensor_out, A._fused_adam_.default)
    assert all(map(mutates_and_returns_first_arg, yes))
    assert not any(map(mutates_and_returns_first_arg, no))


def test_the_namespaces_of_the_package():
    assert is_builtin(A.add.Tensor) and is_builtin(ops.prim.device.default)
    assert is_builtin(ops.prims.add.default)


def test_the_strictest_tag_of_a_layout_counts(library):
    lib = library("reg_schemas")
    by_rank = (Tag.needs_exact_strides, Tag.needs_contiguous_strides, Tag.needs_fixed_stride_order,
               Tag.flexible_layout)  # fmt: skip
    for i, j in itertools.combinations_with_replacement(range(4), 2):
        lib.define(f"t{i}{j}(Tensor x) -> Tensor", tags={by_rank[j], by_rank[i]})
        assert get_layout_constraint_tag(getattr(ops.reg_schemas, f"t{i}{j}").default) is by_rank[i]
    lib.define("plain(Tensor x) -> Tensor")
    for op, default in ((ops.reg_schemas.plain.default, by_rank[0]), (A.add.Tensor, by_rank[3])):
        assert get_layout_constraint_tag(op) is default
        assert get_layout_constraint_tag(op, with_default=False) is None


def test_arguments_that_were_given_come_with_their_values():
    schema = A.add.Tensor._schema
    named = [(a.name, value) for a, value in zip_schema(schema, (1, 2), {"alpha": 3})]
    assert named == [("self", 1), ("other", 2), ("alpha", 3)]
    assert [a.name for a, _ in zip_schema(schema, (), {"other": 2})] == ["other"]
    assert fill_defaults(schema, (1, 2), {}) == ((1, 2), {"alpha": 1})
    assert fill_defaults(A.sum.dim_IntList._schema, (1, 2), {"dtype": 5}) == (
        (1, 2, False),
        {"dtype": 5},
    )
