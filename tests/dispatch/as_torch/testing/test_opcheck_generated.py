"""Tests that `generate_opcheck_tests` makes: what they find, and what a file may expect of them."""

import re
import types
import unittest

import pytest

import dispatch
from dispatch import fake, ops
from dispatch.as_torch.testing import opcheck_failures as failures, opcheck_generated as generated
from dispatch.fake import config
from dispatch.library import checks

BAD = "toc::alias"
FAILS = "Case.test_schema__test_alias"


def row(status: str, comment: str = "") -> dict[str, str]:
    return {"status": status, "comment": comment}


def write(x):
    x.add_(1)


@pytest.fixture(autouse=True)
def operators(monkeypatch):
    monkeypatch.delenv("PYTORCH_OPCHECK_ACCEPT", raising=False)
    with dispatch.library._scoped_library("toc", "DEF") as lib:
        lib.define("alias(Tensor x) -> Tensor")  # its schema should say Tensor(a)
        lib.impl("alias", lambda x: x[:], "CompositeExplicitAutograd")
        lib.define("write(Tensor(a!) x) -> ()", tags=dispatch.Tag.pt2_compliant_tag)
        lib.impl("write", write, "CompositeExplicitAutograd")
        yield


def case():
    class Case(unittest.TestCase):
        seen = ()

        def test_alias(self):
            ops.toc.alias(dispatch.ones(2))

        def test_write(self):
            x = dispatch.zeros(2)
            ops.toc.write(x)
            ops.aten.add(x, x)
            Case.seen = (*Case.seen, generated.is_inside_opcheck_mode())
            self.assertEqual(x.tolist(), [1.0, 1.0])

        @generated.dontGenerateOpCheckTests("it says so")
        def test_by_itself(self):
            pass

    return Case


def outcome(made):
    """The texts of the tests that failed, by name."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(made).run(result)
    return {test._testMethodName: text for test, text in result.failures + result.errors}


def generate(path, data=None, **settings):
    made = case()
    if data is not None:
        failures.FailuresDict(str(path), data).save()
    generated.generate_opcheck_tests(made, ["toc"], str(path), **settings)
    return made


def test_each_test_runs_with_each_check(tmp_path):
    made = generate(tmp_path / "f.json", {})
    names = [name for name in dir(made) if "__test_" in name]
    assert len(names) == 2 * len(generated.DEFAULT_TEST_UTILS)
    failed = outcome(made)
    assert list(failed) == ["test_schema__test_alias"]
    text = failed["test_schema__test_alias"]
    assert f"failed on operators ['{BAD}']" in text
    assert "is not defined to alias output" in text
    assert "op = torch.ops.toc.alias.default\n" in text
    assert made.seen.count(True) == 4
    assert made.seen.count(False) == 1
    assert not generated.is_inside_opcheck_mode()
    assert config.check_custom_op_aliasing


def test_a_named_failure_is_expected_or_left_out(tmp_path):
    for status in ("xfail", "skip"):
        made = generate(tmp_path / "f.json", {BAD: {FAILS: row(status)}})
        assert outcome(made) == {}


def test_an_expected_failure_that_does_not_come_fails(tmp_path):
    data = {"toc::write": {"Case.test_schema__test_write": row("xfail")}}
    failed = outcome(generate(tmp_path / "f.json", data))
    assert "Unexpected success for operator toc::write" in failed["test_schema__test_write"]
    # and the tag promises that there is none
    assert "pt2_compliant_tag" in failed["test_pt2_compliant_tag_toc_write"]


def test_an_operator_that_is_not_here_has_no_tag_to_test(tmp_path):
    made = generate(tmp_path / "f.json", {"toc::gone": {FAILS: row("xfail")}})
    result = unittest.TestResult()
    made("test_pt2_compliant_tag_toc_gone").run(result)
    assert [reason for _, reason in result.skipped] == ["Can't import operator toc::gone"]


def test_the_file_is_written_when_asked(tmp_path, monkeypatch):
    path = tmp_path / "f.json"
    monkeypatch.setenv("PYTORCH_OPCHECK_ACCEPT", "1")
    assert outcome(generate(path)) == {}  # a file that is not there is made
    held = failures.FailuresDict.load(str(path))
    assert held.data[BAD] == {FAILS: row("xfail")}
    held.set_status("toc::write", "Case.test_schema__test_write", "xfail", comment="no")
    held.save()
    made = generate(path)
    monkeypatch.delenv("PYTORCH_OPCHECK_ACCEPT")
    assert "test_schema__test_write" in outcome(made)
    monkeypatch.setenv("PYTORCH_OPCHECK_ACCEPT", "1")
    outcome(made)
    assert failures.FailuresDict.load(str(path)).data["toc::write"] == {}


@pytest.mark.parametrize(
    ("name", "status", "text"),
    [
        (FAILS, "success", "got status=success"),
        ("Case.test_other__test_alias", "xfail", "should begin with one of"),
        ("Case.test_schema__test_none", "xfail", "does not exist on the TestCase"),
        ("Case", "xfail", "should begin with one of"),
        (f"{FAILS}[a-b]", "xfail", None),
        ("Other.test_schema__test_none", "xfail", None),
    ],
)
def test_rows_that_name_no_test_are_refused(tmp_path, name, status, text):
    data = {BAD: {name: row(status)}}
    if text is None:
        generate(tmp_path / "f.json", data)
        return
    with pytest.raises(RuntimeError, match=text):
        generate(tmp_path / "f.json", data)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ('{"_version": 1, "data": {}}', RuntimeError, r"(?s)formatted.*_description"),
        ('{"_version": 1}', AssertionError, "'data'"),
        ('{"_version": 2, "data": {}}', AssertionError, "'_version'"),
        ("[]", AssertionError, "'data'"),
        ("", RuntimeError, "formatted"),
        ('{"_version": 1, "data": {"a": {"b": {}}}}', RuntimeError, "'comment' and 'status'"),
    ],
)
def test_files_that_are_not_as_written_are_refused(tmp_path, text, error, said, monkeypatch):
    path = tmp_path / "f.json"
    path.write_text(text)
    with pytest.raises(error, match=said):
        generate(path)
    if "formatted" in said:
        monkeypatch.setenv("PYTORCH_OPCHECK_ACCEPT", "1")
        generate(path)
        assert '"_description"' in path.read_text()


def test_a_taken_name_is_refused(tmp_path):
    made = generate(tmp_path / "f.json", {}, test_utils=["test_schema"])
    with pytest.raises(RuntimeError, match="already has method named test_schema__test_alias"):
        generated.generate_opcheck_tests(
            made, ["toc"], str(tmp_path / "f.json"), test_utils=["test_schema"]
        )


def test_new_tests_can_be_decorated(tmp_path):
    more = {"test_schema__test_alias": [unittest.expectedFailure]}
    assert outcome(generate(tmp_path / "f.json", {}, additional_decorators=more)) == {}


def mode_with(check, data=None):
    return generated.OpCheckMode(
        ["toc"], "mine", check, failures.FailuresDict("", data or {}), "t", "f"
    )


def test_marked_tests_run_with_the_first_of_their_values(tmp_path):
    class Case:
        @pytest.mark.parametrize("device", ["cpu", "meta"])
        @pytest.mark.parametrize(("x", "y"), [(1, 2), (3, 4)], ids=str)
        def test_few(self, device, x, y):
            pass

        @pytest.mark.parametrize("x", [1, 2])
        def test_all(self, x):
            pass

    failures.FailuresDict(str(tmp_path / "f.json"), {}).save()
    # as pytest.mark.opcheck_only_one, which a library's own settings make known
    Case.test_few.pytestmark.append(types.SimpleNamespace(name="opcheck_only_one"))
    before = list(Case.test_few.pytestmark)
    generated.generate_opcheck_tests(
        Case,
        ["toc"],
        str(tmp_path / "f.json"),
        additional_decorators=[],
        test_utils=["test_schema"],
    )

    def values(test):
        return [mark.args[1] for mark in test.pytestmark if mark.name == "parametrize"]

    assert values(Case.test_schema__test_few) == [[(1, 2)], ["cpu", "meta"]]
    assert values(Case.test_schema__test_all) == [[1, 2]]
    assert Case.test_few.pytestmark == before


def test_a_mode_checks_the_arguments_from_before_the_call():
    seen = []
    with mode_with(lambda op, a, kw, copy_inputs: seen.append((str(op), a[0].tolist()))):
        ops.toc.write(dispatch.zeros(1))
        ops.toc.write.default(dispatch.ones(1))
        ops.aten.sin(dispatch.ones(1))
    assert seen == [("toc.write.default", [0.0]), ("toc.write.default", [1.0])]


def test_a_mode_leaves_out_what_is_to_be_skipped():
    seen = []
    with mode_with(lambda *a, **k: seen.append(a), {"toc::write": {"t": row("skip")}}):
        ops.toc.write(dispatch.zeros(1))
    assert seen == []


def test_arguments_that_no_fake_stands_for_pass():
    def check(*args, **kwargs):
        raise fake.UnsupportedFakeTensorException("sparse")

    with mode_with(check):
        ops.toc.write(dispatch.zeros(1))


def test_the_file_stands_beside_the_tests_if_none_is_named(tmp_path):
    failures.FailuresDict(str(tmp_path / "failures_dict.json"), {BAD: {FAILS: row("xfail")}}).save()
    made = case()
    program = "generate(made, ['toc'], test_utils=['test_schema'])"
    names = {"generate": generated.generate_opcheck_tests, "made": made}
    exec(compile(program, str(tmp_path / "tests.py"), "exec"), names)
    assert outcome(made) == {}


def test_the_tag_says_nothing_of_static_sizes(tmp_path):
    checked = ["test_aot_dispatch_static"]
    data = {"toc::write": {"Case.test_aot_dispatch_static__test_write": row("xfail")}}
    made = generate(tmp_path / "f.json", data, test_utils=checked)
    assert list(outcome(made)) == ["test_aot_dispatch_static__test_write"]  # it passes


def test_checks_by_name_pass_over_fakes():
    run = generated.ALL_TEST_UTILS["test_schema"]
    run(ops.toc.alias.default, (dispatch.ones(2, device="meta"),), {})
    x = dispatch.zeros(1)
    run(ops.toc.write.default, (x,), {})
    assert x.item() == 0
    run(ops.toc.write.default, (x,), {}, copy_inputs=False)
    assert x.item() == 1
    with pytest.raises(RuntimeError, match="alias"):
        run(ops.toc.alias.default, (dispatch.ones(2),), {})


def test_a_program_that_runs_a_check_again(tmp_path, monkeypatch):
    monkeypatch.setattr(generated.tempfile, "gettempdir", lambda: str(tmp_path))
    op, args = ops.aten.sin.default, (dispatch.ones(2),)
    assert "args = ()" in generated.generate_repro("test_schema", op, None, None, save_data=False)
    for dry_run in (True, False):
        text = generated.generate_repro(
            "test_schema", op, args, {}, save_data=True, dry_run=dry_run
        )
        (file,) = re.findall(r'torch.load\("(.*)"\)', text)
        assert dry_run is not (tmp_path / file).exists()
    assert generated.serialization.load(file)[0][0].tolist() == [1.0, 1.0]


def test_arguments_of_a_failure_are_kept_when_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(generated.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("PYTORCH_OPCHECK_PRINT_BETTER_REPRO", "1")
    failed = outcome(generate(tmp_path / "f.json", {}))
    assert str(tmp_path) in failed["test_schema__test_alias"]
    assert len(list((tmp_path / "pytorch_opcheck_safe_to_delete").iterdir())) == 1


def test_the_error_is_opchecks():
    with pytest.raises(checks.OpCheckError, match="alias"):
        checks.opcheck(ops.toc.alias.default, (dispatch.ones(2),))
