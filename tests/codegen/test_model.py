"""native_functions.yaml: what an entry means, and what is said about one that means nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dispatch.codegen.families import Layout
from dispatch.codegen.keys import read_keys
from dispatch.codegen.model import Kernel, read_functions
from dispatch.codegen.rooms import KernelRef, Rooms
from dispatch.codegen.source import SourceError
from tests.codegen.helpers import KEYS, SCHEMAS, TAGS, make_package, read_package

GROUP = """\
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: add.out
  variants: function, method
- func: add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
  structured_delegate: add.out
- func: add.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  shape: binary.add
  dispatch: {CPU: binary.add}
"""


def _kinds(kernels: tuple[Kernel, ...]) -> list[tuple[str, str]]:
    return [(kernel.key, kernel.kind) for kernel in kernels]


def test_every_variant_of_a_group_gets_the_shape_function_and_the_body(tmp_path: Path) -> None:
    package = read_package(tmp_path, GROUP)
    structured = [("CPU", "STRUCTURED"), ("Meta", "STRUCTURED")]
    everywhere = [("CompositeExplicitAutogradNonFunctional", "DEFAULT")]
    assert _kinds(package.kernels["aten::add.Tensor"]) == structured + everywhere
    view = [("ADInplaceOrView", "AD_INPLACE_OR_VIEW")]
    assert _kinds(package.kernels["aten::add.out"]) == view + structured
    cpu, meta, default = package.kernels["aten::add.Tensor"]
    assert (default.shape, default.body, default.target) == (cpu.shape, None, "aten::add.out")
    assert cpu.shape == KernelRef("mylib.kernels.meta.binary", "add", False)
    assert cpu.body == KernelRef("mylib.kernels.cpu.binary", "add", False)
    assert (meta.body, meta.n_out) == (None, 1)
    variants = [
        package.kernels[f"aten::add{x}"][-1].variant for x in (".Tensor", "_.Tensor", ".out")
    ]
    assert variants == [0, 1, 2]


@pytest.mark.parametrize("last", ["const int64_t* handed", "const int64_t *handed", "int64_t dim"])
def test_a_body_takes_what_was_handed_over_if_its_face_says_so(tmp_path: Path, last: str) -> None:
    parameters = f"Tensor out, Tensor self,\n             Tensor other, {last}"
    for room, text in (("meta", "Spec* s"), ("cpu", parameters)):
        face = tmp_path / "mylib" / "kernels" / room / "binary.pxd"
        face.parent.mkdir(parents=True)
        face.write_text(f"cdef int add({text}) except -1\n")
    package = read_package(tmp_path, GROUP)
    cpu, meta, _ = package.kernels["aten::add.Tensor"]
    assert cpu.body is not None
    assert cpu.body.takes_handed == last.endswith("handed")
    adapters = Layout(package, "mylib.generated").adapters
    assert [a.name for a in adapters] == ["TT_1", "TT_1_handed"][: len(adapters)]
    assert len(adapters) == 1 + cpu.body.takes_handed
    assert meta.body is None


MADE = """\
- func: act(Tensor self) -> Tensor
  structured_delegate: act.out
  dispatch: {CompositeImplicitAutograd: binary.act%s}
- func: act.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  shape: binary.add
  dispatch: {CPU: binary.add, ADInplaceOrView: none, Meta: none}
- func: token() -> Tensor
  dispatch: {CompositeExplicitAutograd: binary.token%s}
- func: number(Scalar self) -> Tensor
  number_of: act
  dispatch: {CPU: composite, CompositeExplicitAutograd: none}
"""


def test_kernels_that_are_made_can_be_asked_for_and_refused(tmp_path: Path) -> None:
    """`usual` where there would be none, `none` where there would be one, in both directions."""
    default = ("CompositeExplicitAutogradNonFunctional", "DEFAULT")
    plain = read_package(tmp_path, MADE % ("", "")).kernels
    assert default not in _kinds(plain["aten::act"])
    assert _kinds(plain["aten::act.out"]) == [("CPU", "STRUCTURED")]
    assert [key for key, _ in _kinds(plain["aten::token"])] == ["CompositeExplicitAutograd"]
    assert _kinds(plain["aten::number"]) == [("CPU", "NUMBER")]
    words = (", CompositeExplicitAutogradNonFunctional: usual", ", BackendSelect: usual")
    asked = read_package(tmp_path, MADE % words).kernels
    assert default in _kinds(asked["aten::act"])
    assert ("BackendSelect", "BACKEND_SELECT") in _kinds(asked["aten::token"])


def test_a_function_that_the_pxd_declares_is_a_cython_kernel(tmp_path: Path) -> None:
    package = read_package(
        tmp_path, GROUP, meta_binary="cdef int add(Spec* out, Tensor a, Tensor b) except -1\n"
    )
    cpu, meta, default = package.kernels["aten::add.Tensor"]
    assert (cpu.kind, meta.kind) == ("CYTHON", "CYTHON")
    assert default.is_cython
    assert cpu.shape.is_cython
    assert not cpu.body.is_cython


@pytest.mark.parametrize("body", ["elementwise.loops.add", "elementwise.add", "other.place:add"])
def test_a_body_may_stand_in_another_module_of_its_family(tmp_path: Path, body: str) -> None:
    """What is in no room has no family."""
    text = GROUP.replace("shape: binary", "shape: elementwise.binary").replace(
        "binary.add}", f"{body}}}"
    )
    cpu = read_package(tmp_path, text).kernels["aten::add.out"][1]
    assert cpu.shape.family == "elementwise"
    assert cpu.body.text.replace(":", ".").endswith(body.replace(":", "."))


@pytest.mark.parametrize("body", ["matrix.binary.add", "add.add", "mylib.kernels.cpu.matrix:add"])
def test_a_body_of_another_family_than_its_shape_function_is_refused(
    tmp_path: Path, body: str
) -> None:
    text = GROUP.replace("{CPU: binary.add}", f"\n    CUDA, CPU: {body}")
    package = read_package(tmp_path, text)
    with pytest.raises(SourceError, match="expected a body of the family 'binary'") as caught:
        package.kernels  # noqa: B018
    assert caught.value.line == 10
    assert caught.value.subject == "aten::add.out"
    assert "mylib.kernels.meta.binary:add" in caught.value.message


def test_the_room_follows_from_the_key(tmp_path: Path) -> None:
    package = read_package(
        tmp_path,
        """\
        - func: f(Tensor x) -> Tensor
          dispatch:
            CPU, CUDA: a.f
            Meta: a.f
            CompositeImplicitAutograd: b.f
            Autograd: special.place:g
            Python: fallthrough
        """,
    )
    refs = {k.key: k.body.text if k.body else k.kind for k in package.kernels["aten::f"]}
    assert refs == {
        "CPU": "mylib.kernels.cpu.a:f",
        "CUDA": "mylib.kernels.cpu.a:f",
        "Meta": "mylib.kernels.meta.a:f",
        "CompositeImplicitAutograd": "mylib.kernels.composite.b:f",
        "Autograd": "special.place:g",
        "Python": "FALLTHROUGH",
    }


@pytest.mark.parametrize(
    ("func", "key", "has_view_kernel"),
    [
        ("f_(Tensor(a!) x) -> Tensor(a!)", "CPU", True),
        ("f(Tensor(a) x) -> Tensor(a)", "CompositeExplicitAutograd", True),
        ("f(Tensor(a) x) -> Tensor(a)", "CompositeImplicitAutograd", False),
        ("f(Tensor x) -> Tensor", "CPU", False),
        ("other::f_(Tensor(a!) x) -> Tensor(a!)", "CPU", False),
    ],
)
def test_what_mutates_or_aliases_gets_the_view_kernel(tmp_path, func, key, has_view_kernel) -> None:
    package = read_package(tmp_path, f"- func: {func}\n  dispatch: {{{key}: a.f}}\n")
    (kernels,) = package.kernels.values()
    assert ("ADInplaceOrView", "AD_INPLACE_OR_VIEW") in _kinds(kernels) or not has_view_kernel
    assert len(kernels) == 1 + has_view_kernel


def test_an_autogenerated_variant_calls_its_target(tmp_path: Path) -> None:
    package = read_package(
        tmp_path,
        """\
        - func: f(Tensor x) -> Tensor
          dispatch: {CPU: a.f}
        - func: f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
          autogen_of: f
        """,
    )
    kernel = package.kernels["aten::f.out"][-1]
    assert kernel[:2] == ("CompositeExplicitAutograd", "AUTOGEN_OUT")
    assert kernel.target == "aten::f"


SECOND_NAMES = """\
- func: f.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  dispatch: {CPU: a.f}
- func: g.Tensor(Tensor x, Tensor y, *, Scalar alpha=1) -> Tensor
  alias_of: f.Tensor
- func: f.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor
  number_of: f.Tensor
- func: f.Scalar_Tensor(Scalar self, Tensor other, Scalar alpha=1) -> Tensor
  number_of: f.Tensor
- func: f_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
  dispatch: {CPU: a.f}
- func: f_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)
  number_of: f_.Tensor
- func: g_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
  alias_of: f_.Tensor
"""


def test_a_second_name_and_a_number_call_the_operator_that_is_meant(tmp_path: Path) -> None:
    """A second name decomposes, before autograd sees it; a number is a kernel below autograd."""
    kernels = read_package(tmp_path, SECOND_NAMES).kernels
    names = ("g.Tensor", "f.Scalar", "f.Scalar_Tensor")
    alias, number, turned = (kernels[f"aten::{name}"] for name in names)
    assert _kinds(alias) == [("CompositeImplicitAutograd", "ALIAS")]
    assert _kinds(number) == [("CompositeExplicitAutograd", "NUMBER")]
    assert [k[0].target for k in (alias, number, turned)] == ["aten::f.Tensor"] * 3
    assert (number[0].number, turned[0].number) == (1, 0)
    assert _kinds(kernels["aten::g_.Tensor"]) == [("CompositeImplicitAutograd", "ALIAS")]
    assert ("ADInplaceOrView", "AD_INPLACE_OR_VIEW") in _kinds(kernels["aten::f_.Scalar"])


@pytest.mark.parametrize(
    ("entry", "key", "text"),
    [
        ("h(Tensor self, Tensor other) -> Tensor", "alias_of: f.Tensor", "expected the types of"),
        ("h(Tensor a, Tensor b, *, Scalar c=1) -> ()", "alias_of: f.Tensor", "expected the types"),
        ("h(Tensor a, Tensor b, Scalar c) -> Tensor", "alias_of: g.Tensor", "is itself one of 'f"),
        ("h(Tensor self) -> Tensor", "alias_of: missing", "expected an operator of the package"),
        ("h(Scalar a, Scalar b) -> Tensor", "number_of: f_.Tensor", "a Scalar for one Tensor"),
        ("h(Tensor a, Tensor b) -> Tensor", "number_of: f_.Tensor", "a Scalar for one Tensor"),
        ("h(Tensor a, int b) -> Tensor", "number_of: f_.Tensor", "a Scalar for one Tensor"),
        ("h(Tensor a, Scalar b, int c) -> Tensor", "number_of: f_.Tensor", "a Scalar for one"),
    ],
)
def test_what_does_not_fit_the_operator_that_is_meant_is_refused(
    tmp_path: Path, entry: str, key: str, text: str
) -> None:
    package = read_package(tmp_path, f"{SECOND_NAMES}- func: {entry}\n  {key}\n")
    with pytest.raises(SourceError, match=text) as caught:
        package.kernels  # noqa: B018
    assert caught.value.line == SECOND_NAMES.count("\n") + 2
    assert caught.value.subject == "aten::h"


@pytest.mark.parametrize("key", ["alias_of", "number_of"])
@pytest.mark.parametrize("other", ["structured: True", "structured_delegate: f", "autogen_of: f"])
def test_an_operator_that_is_another_one_is_made_in_no_other_way(
    tmp_path: Path, key: str, other: str
) -> None:
    with pytest.raises(SourceError, match=f"{key}: not beside '{other.partition(':')[0]}'"):
        read_package(tmp_path, f"- func: h(Tensor x) -> Tensor\n  {key}: f\n  {other}\n")


def test_tags_that_follow_from_the_schema_are_added(tmp_path: Path) -> None:
    package = read_package(
        tmp_path,
        """\
        - func: f_(Tensor(a!) x) -> Tensor(a!)
          tags: [pointwise]
        - func: lib::g.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
        """,
    )
    names = [
        {t for i, t in enumerate(package.tag_names) if f.tags >> i & 1} for f in package.functions
    ]
    assert names == [{"pointwise", "inplace", "pt2_compliant_tag"}, {"out"}]


def test_a_tag_that_the_rules_give_can_be_taken_back(tmp_path: Path) -> None:
    package = read_package(
        tmp_path, "- func: f_(Tensor(a!) x) -> Tensor(a!)\n  tags: [-pt2_compliant_tag, core]\n"
    )
    (f,) = package.functions
    assert {n for i, n in enumerate(package.tag_names) if f.tags >> i & 1} == {"inplace", "core"}


def test_operators_are_sorted_and_overloads_keep_their_order(tmp_path: Path) -> None:
    package = read_package(
        tmp_path, "".join(f"- func: {n}(Tensor x) -> Tensor\n" for n in ("b.z", "a", "b.c", "Z"))
    )
    assert list(package.by_name) == ["aten::Z", "aten::a", "aten::b.z", "aten::b.c"]


@pytest.mark.parametrize(
    ("yaml", "line", "text"),
    [
        ("- fun: f() -> ()\n", 1, "expected a key 'func'"),
        ("- func: f() -> ()\n  dispach: {}\n", 2, "f: unknown key 'dispach'; expected one of"),
        ("\n- func: f(Tenso x) -> ()\n", 2, "f: expected a type .* before 'Tenso x"),
        ("- func: f(int x, int x) -> ()\n", 1, "expected different names, got 'x' twice"),
        ("- func: f() -> ()\n- func: f() -> ()\n", 2, "aten::f: is defined already, in line 1"),
        ("- func: f() -> ()\n  variants: methods\n", 2, "expected 'function', 'method' or both"),
        ("- func: f() -> ()\n  variants: method\n", 2, "a method needs an argument 'self'"),
        ("- func: f() -> ()\n  tags: [cor]\n", 2, "tags: 'cor' is none of tags.yaml"),
        ("- func: f() -> ()\n  dispatch:\n    CPUs: a.b\n", 3, "'CPUs' is no dispatch key"),
        ("- func: f() -> ()\n  dispatch:\n    CPU: [a]\n", 3, "expected 'module.function' for CPU"),
        ("- func: f() -> ()\n  dispatch: {CPU: f}\n", 2, "expected 'module.function', got 'f'"),
        ("- func: f() -> ()\n  dispatch: CPU\n", 2, "expected a mapping 'KEY: module.function'"),
        ("- func: f() -> ()\n  structured: yep\n", 2, "structured: expected True or False"),
        ("- func: f() -> ()\n  structured: True\n", 2, "structured: expected a key 'shape'"),
        ("- func: f() -> ()\n  shape: a.b\n", 2, "shape: expected 'structured: True' beside it"),
        ("- func: f() -> ()\n  structured_delegate: g\n", 2, "expected an operator of the package"),
        (
            "- func: f() -> ()\n  autogen_of: g.x\n",
            2,
            "expected an operator of the package, got 'g.x'",
        ),
        ("- func: f() -> ()\n  func: f() -> ()\n", 2, "key 'func' is given twice"),
        ("- func: [\n", 2, "not valid YAML"),
        ("func: f() -> ()\n", 1, "expected a list of entries"),
        ("- func: f() -> ()\n  tags: 3\n", 2, "tags: expected a list of tags"),
        ("- 3\n", 1, "expected an entry '- func: ...', got 3"),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_operator(tmp_path, yaml, line, text) -> None:
    path = make_package(tmp_path, yaml)
    with pytest.raises(SourceError) as caught:
        read_functions(path, KEYS, TAGS, Rooms(tmp_path / "mylib", "mylib")).kernels  # noqa: B018
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert re.search(text, str(caught.value))


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (("add_.Tensor(Tensor(a!) self, Tensor other)", "add_.Tensor(Tensor(a!) self, Tensor x)"),
         r"aten::add_.Tensor: expected the arguments of aten::add.Tensor"),
        (("  structured: True\n  shape: binary.add\n", ""), "expected a structured operator"),
        (("-> Tensor\n", "-> (Tensor, Tensor)\n"), "expected 1 outputs, as aten::add.out has"),
        (
            ("  structured: True\n", "  structured: True\n  structured_delegate: add.Tensor\n"),
            "expected 'structured' or 'structured_delegate', not both",
        ),
        (
            ("add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)\n"
             "  structured_delegate: add.out",
             "add_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)\n"
             "  structured: True\n  shape: binary.add"),
            "structured: expected the out variant or the functional one",
        ),
        (("add_.Tensor(", "add_Tensor("), "has the same C name"),
    ],
)  # fmt: skip
def test_a_group_that_does_not_fit_together_is_an_error(tmp_path, edit, text) -> None:
    with pytest.raises(SourceError, match=text):
        read_package(tmp_path, GROUP.replace(*edit))


def test_the_example_at_the_head_of_the_file_is_right(tmp_path: Path) -> None:
    """The comment that explains the format is read by the same rules."""
    head = (SCHEMAS / "native_functions.yaml").read_text().split("\n\n")[0]
    lines = [line[3:] for line in head.splitlines() if line.startswith("#   ")]
    example = "\n".join(lines).replace("mul.Scalar", "add.Scalar")
    example = example.replace("Scalar other, *,", "Scalar other, Scalar alpha=1, *,")
    package = read_package(tmp_path, example)
    assert len(package.functions) == 9
    assert all(package.kernels.values())


def test_the_projects_own_file_is_right() -> None:
    keys = read_keys(SCHEMAS / "dispatch_keys.yaml")
    rooms = Rooms(SCHEMAS.parent / "dispatch", "dispatch")
    package = read_functions(SCHEMAS / "native_functions.yaml", keys, TAGS, rooms)
    without = [
        f.name
        for f in package.functions
        if not package.kernels[f.name] and f.source.path.name != "hardware_functions.yaml"
    ]
    assert len(package.functions) > 700
    assert {"aten::_copy_from", "aten::_copy_from_and_resize"} <= set(without)  # backends own them


def test_files_beside_it_belong_to_the_package(tmp_path: Path) -> None:
    path = make_package(tmp_path, "- func: f(Tensor x) -> Tensor\n  dispatch: {CPU: a.f}\n")
    more = path.with_name("more_functions.yaml")
    more.write_text("- func: f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n  autogen_of: f\n")
    path.with_name("notes.yaml").write_text("- what is no operator\n")
    package = read_functions(path, KEYS, TAGS, Rooms(tmp_path / "mylib", "mylib"))
    assert [f.name for f in package.functions] == ["aten::f", "aten::f.out"]
    assert "aten::f" in [kernel.target for kernel in package.kernels["aten::f.out"]]
    more.write_text("\n- func: f(Tensor x) -> Tensor\n")
    with pytest.raises(SourceError) as caught:
        read_functions(path, KEYS, TAGS, Rooms(tmp_path / "mylib", "mylib"))
    place = "aten::f: is defined already, in line 1 of native_functions.yaml"
    assert str(caught.value) == f"{more}:2: {place}"


EVERY_BACKEND = """
- func: neg(Tensor self) -> Tensor
  structured_delegate: neg.out
  elsewhere: neg.out
- func: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  shape: unary.neg
  elsewhere: unary.neg_of_others
  dispatch: {CPU: unary.neg, Meta: none}
- func: copied(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: unary.copied
    Meta: composite
- func: seen(Tensor(a) self) -> Tensor(a)
  dispatch:
    CPU, Meta: composite.unary.seen
    Conjugate: fallthrough
    ADInplaceOrView: none
"""


def test_a_kernel_for_every_backend_has_the_body_of_the_cpu_and_what_serves_elsewhere(
    tmp_path: Path,
) -> None:
    kernels = read_package(tmp_path, EVERY_BACKEND).kernels
    explicit = ("CompositeExplicitAutograd", "DEFAULT")
    assert _kinds(kernels["aten::neg"]) == [("Meta", "STRUCTURED"), explicit]
    default = kernels["aten::neg"][-1]
    assert default.body == KernelRef("mylib.kernels.cpu.unary", "neg", False)
    assert (default.target, default.elsewhere) == ("aten::neg.out", None)
    (other,) = (k for k in kernels["aten::neg.out"] if k.kind == "DEFAULT")
    assert other.elsewhere == KernelRef("mylib.kernels.composite.unary", "neg_of_others", False)
    assert "Meta" not in [k.key for k in kernels["aten::neg.out"]]


def test_words_in_the_place_of_a_kernel(tmp_path: Path) -> None:
    kernels = read_package(tmp_path, EVERY_BACKEND).kernels
    meta, composite = kernels["aten::copied"]
    assert (meta.key, meta.body) == ("Meta", composite.body)
    assert _kinds(kernels["aten::seen"]) == [
        ("Conjugate", "FALLTHROUGH"),
        ("CPU", "PYTHON"),
        ("Meta", "PYTHON"),
    ]
    assert kernels["aten::seen"][1].body.module == "mylib.kernels.composite.unary"


def test_composite_needs_the_kernel_that_it_means(tmp_path: Path) -> None:
    text = "- func: lone(Tensor self) -> Tensor\n  dispatch: {Meta: composite}\n"
    with pytest.raises(SourceError, match="lone: dispatch: 'composite' needs one composite kernel"):
        read_package(tmp_path, text).kernels["aten::lone"]


def test_elsewhere_is_for_structured_operators(tmp_path: Path) -> None:
    text = "- func: lone(Tensor self) -> Tensor\n  elsewhere: lone\n"
    with pytest.raises(SourceError, match="lone: elsewhere: expected a structured operator"):
        read_package(tmp_path, text).kernels["aten::lone"]
