"""Which kernel serves a key where dispatch is in Python: the table's rules, but for one."""

import itertools

import pytest

from dispatch import _C, DispatchKey, ops
from dispatch._ops import resolve_key

REASONS = {
    "CompositeImplicitAutograd": "math kernel",
    "CompositeImplicitAutogradNestedTensor": "nested kernel",
    "CompositeExplicitAutograd": "default backend kernel",
    "CompositeExplicitAutogradNonFunctional": "default backend kernel",
    "Autograd": "autograd kernel",
}
NESTED = "CompositeImplicitAutogradNestedTensor"
KEYS = [*REASONS, "CPU", "CUDA", "AutogradCPU", "AutogradOther", "SparseCPU"]
TABLE = [line.partition(":")[0] for line in _C._dispatch_dump_table("aten::linear").splitlines()]
RUNTIME = DispatchKey.__members__.keys() & TABLE


@pytest.mark.parametrize(
    ("registered", "asked", "want"),
    [
        (["CPU"], "CPU", "CPU"),
        (["CompositeExplicitAutograd"], "CPU", "CompositeExplicitAutograd"),
        (["CompositeImplicitAutograd"], "AutogradCPU", "CompositeImplicitAutograd"),
        (["CompositeImplicitAutograd", "CPU"], "AutogradCPU", "AutogradCPU"),
        (["Autograd"], "AutogradCPU", "Autograd"),
        ([NESTED], "AutogradNestedTensor", NESTED),
    ],
)
def test_resolve_key(library, registered, asked, want):
    lib = library("opns", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    for key in registered:
        lib.impl("f", lambda x: x, key)
    members = DispatchKey.__members__
    assert resolve_key(ops.opns.f.default, members[asked]) == members[want]


def test_resolve_key_without_a_kernel(library):
    library("opns", "DEF").define("f(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="CUDA"):
        resolve_key(ops.opns.f.default, DispatchKey.CUDA)


def test_kernels_of_backends_go_before_nested_ones(library):
    """Not so in the table: PyTorch's two differ here."""
    lib = library("opns", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x, NESTED)
    lib.impl("f", lambda x: x, "NestedTensorCPU")
    with pytest.raises(NotImplementedError, match="AutogradNestedTensor"):
        resolve_key(ops.opns.f.default, DispatchKey.AutogradNestedTensor)


def reasons_by_table(name):
    """Key -> why the computed table has what it has there, without fallbacks."""
    rows = (line.split(": ", 1) for line in _C._dispatch_dump_table(name).splitlines())
    reasons = ((key, row.rpartition("[")[2].rstrip("]")) for key, row in rows)
    return {key: why for key, why in reasons if why != "backend fallback"}


def reason_by_rules(op, key):
    """What `resolve_key` says, in the table's words; None where nothing or a fallback serves."""
    try:
        found = resolve_key(op, DispatchKey.__members__[key])
    except NotImplementedError:
        return None
    except RuntimeError:
        return "ambiguous autogradother"
    if found.name == key:
        return "kernel" if op.has_kernel_for_dispatch_key(found) else None
    return REASONS[found.name]


# PyTorch's two differ here, the Python one letting a backend's kernel go first; so do ours.
DIFFERING = {NESTED, "CompositeExplicitAutograd"}
COMBINATIONS = [c for n in (1, 2, 3) for c in itertools.combinations(KEYS, n)]


@pytest.mark.parametrize(
    "registered", [c for c in COMBINATIONS if not set(c) >= DIFFERING], ids="+".join
)
def test_answers_are_those_of_the_table(library, registered):
    lib = library("opns", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    for key in registered:
        lib.impl("f", lambda x: x, key)
    table = {k: v for k, v in reasons_by_table("opns::f").items() if k in RUNTIME}
    said = {key: reason_by_rules(ops.opns.f.default, key) for key in RUNTIME}
    assert {key: why for key, why in said.items() if why is not None} == table
