"""A functional graph made to write where nobody reads afterwards (torch.fx.passes.reinplace).

`b = add(a, 1)` becomes `b = add_(a, 1)` if no later node uses `a` or what shares its memory, and a
`*_scatter`, which puts a part back into a tensor, a view and a `copy_`, or nothing where the part
was written in its place. The graph is run on fake tensors to see what shares memory; its inputs are
never written to.
"""

import operator
from collections.abc import Iterable
from typing import Any

import dispatch
from dispatch import FakeTensorMode, OpOverload, Tensor, ops, pytree
from dispatch.as_torch.fx.interpreter import Interpreter
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node
from dispatch.tensor.sharing import StorageWeakRef

__all__ = ["reinplace"]

_aten = ops.aten
_VIEW_OF_SCATTER: dict[Any, OpOverload] = {
    _aten.diagonal_scatter.default: _aten.diagonal.default,
    _aten.select_scatter.default: _aten.select.int,
    _aten.slice_scatter.default: _aten.slice.Tensor,
    _aten.as_strided_scatter.default: _aten.as_strided.default,
}
_NOWHERE = -1  # the place of nodes that the pass has made: they count as uses of nothing


# ---- what shares memory


class _MetadataProp(Interpreter):
    """Gives nodes their fake results, places, and what they are views of (`view_of`)."""

    places = _NOWHERE

    def run_node(self, n: Node) -> Any:
        """Run it, and keep what came out."""
        result = super().run_node(n)
        n.meta["fake_result"] = result
        n.meta["node_idx"] = self.places = self.places + 1
        if n.op == "call_function" and n.args and isinstance(n.args[0], Node):
            if _is_view(n.target):
                several = "*" in n.target._schema.arguments[0].alias_info.after_set
                n.meta["parts_of" if several else "view_of"] = n.args[0]
            elif n.target is operator.getitem and "parts_of" in n.args[0].meta:
                n.meta["view_of"] = n.args[0].meta["parts_of"]
        return result

    def propagate(self, *args: Any) -> None:
        """Run the graph with these arguments as fake tensors."""
        self.places = _NOWHERE
        with FakeTensorMode() as mode:
            self.run(*(mode.from_tensor(a) if isinstance(a, Tensor) else a for a in args))


def _is_view(target: Any) -> bool:
    if not isinstance(target, OpOverload) or not target._schema.arguments:
        return False
    info = target._schema.arguments[0].alias_info
    return info is not None and not info.is_write


def _storages(node: Node) -> set[StorageWeakRef]:
    results = pytree.tree_leaves(node.meta["fake_result"])
    return {StorageWeakRef(t.untyped_storage()) for t in results if isinstance(t, Tensor)}


class _Sharing:
    """Nodes by the memory of their results; a node that writes into another's joins the two."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._sets: dict[StorageWeakRef, set[Node]] = {}
        for node in nodes:
            for storage in _storages(node):
                self._sets.setdefault(storage, set()).add(node)

    def of(self, node: Node) -> set[Node]:
        """The nodes whose results share memory with this one's."""
        return set().union(*(self._sets[storage] for storage in _storages(node)))

    def join(self, a: Node, b: Node) -> None:
        """From now on both nodes' results share memory."""
        together = self.of(a) | self.of(b)
        for member in together:
            for storage in _storages(member):
                self._sets[storage] = together


# ---- what may be written


def _may_be_written(node: Node) -> bool:
    """Whether a node calls an operator of a tensor whose result fits that tensor's memory."""
    if node.op != "call_function" or not isinstance(node.target, OpOverload):
        return False
    arguments = node.target._schema.arguments
    if not arguments or arguments[0].type.kind() != "TensorType":
        return False
    if not node.args or not isinstance(node.args[0], Node) or node.args.count(node.args[0]) > 1:
        return False
    if node.target == _aten.resize.default:
        return True
    given, results = (pytree.tree_leaves(n.meta["fake_result"]) for n in (node.args[0], node))
    return len(given) != len(results) or all(map(_fits, given, results))


def _fits(given: Tensor, result: Tensor) -> bool:
    same = given.numel() == result.numel() and given.dtype == result.dtype
    return same and dispatch._debug_has_internal_overlap(given) != 1


def _inplace_overload(op: OpOverload) -> OpOverload | None:
    """The overload that writes the result of `op` into its first argument."""
    packet = getattr(getattr(ops, op.namespace), f"{op.overloadpacket.__name__}_", None)
    if packet is None or _is_view(op):
        return None
    wanted = [a.type for a in op._schema.arguments]
    for name in packet.overloads():
        found: OpOverload = getattr(packet, name)
        if [a.type for a in found._schema.arguments] == wanted:
            return found
    return None


def _later_uses(aliases: set[Node], place: int) -> list[Node]:
    """Nodes behind a place that use one of `aliases`, in order; views count where they are used."""
    uses = {n for alias in aliases for n in alias.users if n.meta.get("node_idx", _NOWHERE) > place}
    views = {n for n in uses & aliases if isinstance(n.target, OpOverload)}
    views |= {n for n in uses & aliases if n.target is operator.getitem}
    return sorted(uses - views, key=lambda n: n.meta["node_idx"])


def _puts_back(scatter: Node, aliases: set[Node]) -> bool:
    """Whether a node only puts one of `aliases`, a view, back into what it is a view of."""
    view = _VIEW_OF_SCATTER.get(scatter.target)
    if view is None:
        return False
    base = scatter.args[0].meta["fake_result"]
    for alias in aliases:
        if "view_of" not in alias.meta:
            continue
        viewed = alias.meta["view_of"].meta["fake_result"]
        if not _same_geometry(viewed, base):
            continue
        try:
            again = view(viewed, *scatter.args[2:], **scatter.kwargs)
        except Exception:  # arguments of the scatter that the view's base does not admit
            continue
        if _same_geometry(again, alias.meta["fake_result"]):
            return True
    return False


def _same_geometry(a: Tensor, b: Tensor) -> bool:
    mine, theirs = ((t.size(), t.stride(), t.storage_offset()) for t in (a, b))
    return mine == theirs


# ---- the pass


def reinplace(gm: GraphModule, *sample_args: Any) -> GraphModule:
    """Let calls of a functional graph write where nobody reads afterwards. Returns the module.

    Args:
        gm: the module, whose graph has calls of operators that write nothing.
        sample_args: arguments like those that it will get: what shares memory is seen on them.
    """
    _MetadataProp(gm).propagate(*sample_args)
    nodes = list(gm.graph.nodes)
    sharing = _Sharing(nodes)
    inputs = {storage for n in nodes if n.op == "placeholder" for storage in _storages(n)}
    gone: dict[Node, None] = {}
    for node in filter(_may_be_written, nodes):
        given = node.args[0]
        if _storages(given) & inputs:
            continue
        aliases = sharing.of(given)
        later = _later_uses(aliases, node.meta["node_idx"])
        undone = [n for n in later if _puts_back(n, aliases)]
        if len(undone) < len(later):
            continue
        if node.target in _VIEW_OF_SCATTER and node not in gone:
            _write_part(gm, node)
            gone[node] = None
        elif (written := _inplace_overload(node.target)) is not None:
            node.target = written
        else:
            continue
        sharing.join(given, node)
        gone.update(dict.fromkeys(undone))
        for old in (node, *undone):
            _redirect(old, node.meta["node_idx"], sharing)
    for node in gone:
        gm.graph.erase_node(node)
    gm.recompile()
    return gm


def _write_part(gm: GraphModule, scatter: Node) -> None:
    """Before a scatter, a view of its base and a copy of the part into it."""
    base, part, *rest = scatter.args
    with gm.graph.inserting_before(scatter):
        view = _VIEW_OF_SCATTER[scatter.target]
        place = gm.graph.create_node("call_function", view, (base, *rest), scatter.kwargs)
        gm.graph.create_node("call_function", _aten.copy_.default, (place, part), {})


def _redirect(old: Node, place: int, sharing: _Sharing) -> None:
    """Let nodes behind a place use the first argument of `old` instead of `old`."""
    new = old.args[0]
    for user in [n for n in old.users if n.meta.get("node_idx", _NOWHERE) > place]:
        user.replace_input_with(old, new)
        if len(_storages(user)) == 1 and _storages(user) == _storages(old):
            sharing.join(user, new)  # a view of the one is now of the other
