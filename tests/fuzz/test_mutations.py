"""The mutations reach what they are meant to: expressions, and calls on sizes."""

import json
import random

import pytest

from tests.dispatch.graph import programs
from tests.fuzz import mutations

TEXT = json.dumps(programs.add_relu()).encode()


def test_expressions_stand_where_the_inputs_sizes_were():
    changed = json.loads(mutations._expression(random.Random("1"), TEXT))
    sizes = changed["graph_module"]["graph"]["tensor_values"]["x"]["sizes"]
    kinds = {kind for size in sizes for kind in size}
    assert "as_expr" in kinds
    hints = [size["as_expr"]["hint"]["as_int"] for size in sizes if "as_expr" in size]
    assert set(hints) <= {2, 3}


@pytest.mark.parametrize("seed", range(3))
def test_calls_on_sizes_stand_before_the_others(seed):
    changed = json.loads(mutations._arithmetic(random.Random(str(seed)), TEXT))
    nodes = changed["graph_module"]["graph"]["nodes"]
    assert len(nodes) > 3
    assert nodes[0]["inputs"][0]["arg"]["as_int"]
    assert [node["target"] for node in nodes[-3:]][1] == "torch.ops.aten.relu.default"
