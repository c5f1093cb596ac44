"""Arguments of calls by name, containers that nobody changes, functions beside modules."""

import numbers
import pickle
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import dispatch
from dispatch import ops, pytree
from dispatch.as_torch.immutable import immutable_dict, immutable_list
from dispatch.as_torch.nn import modules
from dispatch.as_torch.operator_schemas import (
    create_type_hint,
    get_signature_for_torch_op,
    normalize_function,
    normalize_module,
    type_matches,
)  # fmt: skip

ROOT = Path(__file__).resolve().parents[3]


def test_arguments_get_names_and_defaults():
    """What was positional stays so unless names are asked for; `self` is `input`."""
    add, total = ops.aten.add.Tensor, ops.aten.sum.dim_IntList
    assert normalize_function(add, (1, 2)) == ((1, 2), {"alpha": 1})
    named = normalize_function(add, (1, 2), {}, normalize_to_only_use_kwargs=True)
    assert named == ((), {"input": 1, "other": 2, "alpha": 1})
    rest = {"dim": [0], "keepdim": False, "dtype": None}
    assert normalize_function(total, (1,), {"dim": [0]}) == ((1,), rest)
    assert normalize_function(ops.aten.cumsum.default, (1,)) is None


def test_a_default_may_stand_before_an_argument_without_one():
    """`div.Tensor_mode(self, other, *, rounding_mode)` and `normal_(self, mean=0, ...)` bind."""
    found = normalize_function(ops.aten.index_select.default, (1, 0, 2))
    assert found == ((1, 0, 2), {})
    assert normalize_function(ops.aten.normal_.default, (1,)).kwargs["std"] == 1.0


def test_functions_have_signatures_and_packets_several():
    def f(x, *, y=2):
        return x

    assert normalize_function(f, (1,)) == ((1,), {"y": 2})
    assert normalize_function(dispatch.relu, (1,)) == ((1,), {})
    with pytest.raises(RuntimeError, match="several overloads"):
        normalize_function(dispatch.add, (1, 2))
    with_types = normalize_function(dispatch.add, (1, 2), {}, (dispatch.Tensor, int))
    assert with_types == ((1, 2), {"alpha": 1})


def test_signatures_say_types():
    (found,) = get_signature_for_torch_op(ops.aten.sum.dim_IntList)
    assert str(found.parameters["dim"].annotation) == "typing.Optional[typing.List[int]]"
    assert found.parameters["dtype"].annotation == int | None
    assert found.return_annotation is dispatch.Tensor
    pair = get_signature_for_torch_op(dispatch.max)[2].return_annotation
    assert pair == (dispatch.Tensor, dispatch.Tensor)
    both = get_signature_for_torch_op(ops.aten.relu.default, return_schemas=True)
    assert both[1] == [ops.aten.relu.default._schema]


@pytest.mark.parametrize(
    ("wanted", "given", "answer"),
    [
        (int, dispatch.dtype, True), (numbers.Number, float, True), (list[int], int, True),
        (list[int], tuple[int, ...], True), (list[int], list[float], False),
        (dispatch.Tensor | None, dispatch.Tensor, True), (float, int, False),
    ],
)  # fmt: skip
def test_types_of_arguments_fit_those_of_signatures(wanted, given, answer):
    assert type_matches(wanted, given) is answer


def test_lists_of_types_have_the_type_that_all_derive_from():
    assert create_type_hint([bool, int]) == list[int]
    assert create_type_hint((int, str)) == tuple[Any, ...]
    assert create_type_hint(int) is int


def test_calls_of_modules_have_signatures_too():
    root = modules.Sequential(modules.Linear(2, 2), modules.Bilinear(2, 2, 2))
    assert normalize_module(root, "1", (1, 2), None, True) == ((), {"input1": 1, "input2": 2})
    with pytest.raises(RuntimeError, match="no module '7'"):
        normalize_module(root, "7", (1,))


@pytest.mark.parametrize("made", [immutable_list([1, 2]), immutable_dict(a=1)])
def test_immutable_containers_are_nodes_that_stay_as_they_are(made):
    leaves, spec = pytree.tree_flatten(made)
    again = pytree.tree_unflatten(leaves, spec)
    assert (again, type(again)) == (made, type(made))
    assert [leaf for _, leaf in pytree.tree_flatten_with_path(made)[0]] == leaves
    assert pytree.treespec_loads(pytree.treespec_dumps(spec)) == spec
    assert hash(made) == hash(pickle.loads(pickle.dumps(made)))
    for change in (made.clear, lambda: made.__setitem__(0, 1), lambda: made.__delitem__(0)):
        with pytest.raises(TypeError, match="does not support mutation"):
            change()


def test_functions_go_before_modules_of_the_same_name():
    """`torch._higher_order_ops.map` is a function, imports from the module work all the same."""
    program = dedent("""
        import dispatch.as_torch
        dispatch.as_torch.install()
        import torch
        import torch._higher_order_ops.cond
        from torch._higher_order_ops.map import MapImpl, map
        import torch._higher_order_ops as ops
        assert torch.utils._cxx_pytree.__all__ == torch.utils._pytree.__all__
        assert ops.cond is torch.cond and ops.map is map and callable(torch.cond)
        import torch._custom_ops, torch._custom_op.impl, torch.utils._cxx_pytree
        from torch._python_dispatcher import PythonDispatcher
        from torch.fx.immutable_collections import immutable_list
        assert torch._custom_op.impl.get_op("aten::relu") is torch.ops.aten.relu.default
        print(ops.effects.with_effects.name())
        """)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("with_effects", "")
