"""What operators say of themselves, to `help`, editors and the reference."""

import inspect
import pydoc

import dispatch
from dispatch import ops


def lines(subject):
    return subject.__doc__.splitlines()


def test_an_overload_says_its_arguments_and_its_kernels():
    assert lines(ops.aten.add.Tensor) == [
        "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "",
        "Args:",
        "    self: Tensor",
        "    other: Tensor",
        "    alpha: number = 1 (by keyword)",
        "Returns: Tensor",
        "Called as: dispatch.add(...), Tensor.add(...)",
        "Kernels: CPU, Meta, CompositeExplicitAutogradNonFunctional",
        "Tags: core, pointwise, pt2_compliant_tag",
        "Other overloads: Scalar, out, Scalar_out",
        "See also: dispatch.ops.aten.add_, dispatch.ops.aten._foreach_add, "
        "dispatch.ops.aten._foreach_add_",
    ]


def test_writes_and_views_are_told():
    assert "    self: Tensor (written to)" in lines(ops.aten.add_.Tensor)
    assert "Memory: the result is self" in lines(ops.aten.add_.Tensor)
    assert "Memory: the result is a view of self" in lines(ops.aten.view.default)
    assert "Returns: values: Tensor, indices: Tensor" in lines(ops.aten.max.dim)


def test_packets_functions_and_methods_say_all_schemas():
    assert lines(ops.aten.relu)[:2] == [
        "aten::relu(Tensor self) -> Tensor",
        "aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    ]
    assert dispatch.relu.__doc__ == dispatch.Tensor.relu.__doc__ == ops.aten.relu.__doc__
    assert "Called as: dispatch.linalg.det(...)" in ops.aten.linalg_det.__doc__.replace(
        "dispatch.linalg_det(...), ", ""
    )


def test_operators_of_a_program_say_what_it_registered():
    library = dispatch.Library("described", "DEF")
    library.define("f(Tensor x, int n, str mode='a') -> ()")
    text = ops.described.f.default.__doc__
    assert "Kernels: none here" in text and "    mode: str = 'a'" in text
    library.impl("f", lambda x, n, mode="a": None, "PrivateUse1")
    assert "Kernels: PrivateUse1\n" in ops.described.f.default.__doc__ + "\n"


def test_signatures_are_those_of_the_schemas():
    assert str(inspect.signature(ops.aten.add.Tensor)) == (
        "(self: 'Tensor', other: 'Tensor', *, alpha: 'number' = 1) -> 'Tensor'"
    )
    assert list(inspect.signature(dispatch.Tensor.view).parameters) == ["self", "size"]
    assert "alpha" in pydoc.render_doc(dispatch.add)


def test_every_operator_has_a_text_and_a_signature():
    names = {name.partition(".")[0] for name in dispatch._C._dispatch_get_all_op_names()}
    for name in sorted(n for n in names if n.startswith("aten::")):
        packet = getattr(ops.aten, name.removeprefix("aten::"))
        assert packet.__doc__.startswith(name), name
        assert len(inspect.signature(packet).parameters) == len(
            getattr(packet, packet.overloads()[0])._schema.arguments
        ), name


def test_classes_keep_their_own_text():
    assert "One operator overload" in dispatch.OpOverload.__doc__
    assert "All overloads" in dispatch.OpOverloadPacket.__doc__
