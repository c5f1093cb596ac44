"""`generate_opcheck_tests`: the tests that a library has, run again with every check of `opcheck`.

For each test of a class and each check there is one test more, `test_schema__test_name`: within
`OpCheckMode` each call of an operator in the named namespaces is checked on copies of its
arguments. What is known to fail stands in a file (`opcheck_failures`).
"""

import datetime
import functools
import os
import sys
import tempfile
import threading
import unittest
from collections.abc import Callable, Sequence
from typing import Any

from dispatch._C.overload import OpOverload, OpOverloadPacket
from dispatch._C.tags import Tag
from dispatch.as_torch import serialization
from dispatch.as_torch.testing.opcheck_failures import (
    TEST_OPTIONS,
    FailuresDict,
    should_update_failures_dict,
    validate_failures_dict_formatting,
    validate_failures_dict_structure,
)
from dispatch.fake import UnsupportedFakeTensorException, config
from dispatch.library import checks, lookup_op
from dispatch.modes import TorchFunctionMode

__all__ = [
    "ALL_TEST_UTILS", "DEFAULT_TEST_UTILS", "DEPRECATED_DEFAULT_TEST_UTILS", "TEST_OPTIONS",
    "FailuresDict", "OpCheckMode", "deepcopy_tensors", "dontGenerateOpCheckTests",
    "generate_opcheck_tests", "generate_repro", "is_inside_opcheck_mode",
    "should_print_better_repro", "should_update_failures_dict",
    "validate_failures_dict_formatting", "validate_failures_dict_structure",
]  # fmt: skip

deepcopy_tensors = checks._copies


def _run(
    name: str,
    op: OpOverload,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    copy_inputs: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    if checks._has_values((args, kwargs)):
        if copy_inputs:
            args, kwargs = deepcopy_tensors((args, kwargs))
        checks._CHECKS[name](op, args, kwargs, rtol=rtol, atol=atol)


# name -> check(op, args, kwargs, *, copy_inputs=True, rtol=None, atol=None)
ALL_TEST_UTILS = {name: functools.partial(_run, name) for name in checks._CHECKS}
DEFAULT_TEST_UTILS = list(checks._OPCHECK_DEFAULT_UTILS)
DEPRECATED_DEFAULT_TEST_UTILS = [*DEFAULT_TEST_UTILS, "test_aot_dispatch_static"]

_inside = threading.local()


def is_inside_opcheck_mode() -> bool:
    """Whether a generated test runs in this thread."""
    return getattr(_inside, "value", False)


def should_print_better_repro() -> bool:
    """Whether the environment asks for arguments of failed checks to be kept in a file."""
    return os.environ.get("PYTORCH_OPCHECK_PRINT_BETTER_REPRO") == "1"


def dontGenerateOpCheckTests(reason: str) -> Callable[[Any], Any]:
    """A mark of tests that are not to be run again with every check."""

    def mark(test: Any) -> Any:
        test._torch_dont_generate_opcheck_tests = True
        return test

    return mark


class OpCheckMode(TorchFunctionMode):
    """Runs `test_util` on every call of an operator in `namespaces`; failures are raised at exit.

    Args:
        test_util_name: the check's name, for the script that a failure shows.
        test_util: called with the operator, copies of its arguments and `copy_inputs=False`.
        failures_dict: what is expected of each operator in this test, `test_name`.
        failures_dict_path: where that stands, for messages.

    Raises (at exit):
        OpCheckError: a check failed, or one that must fail did not.
    """

    def __init__(
        self,
        namespaces: Sequence[str],
        test_util_name: str,
        test_util: Callable[..., Any],
        failures_dict: FailuresDict,
        test_name: str,
        failures_dict_path: str,
    ) -> None:
        super().__init__()
        self.namespaces = namespaces
        self.test_util_name, self.test_util = test_util_name, test_util
        self.failures_dict, self.failures_dict_path = failures_dict, failures_dict_path
        self.test_name = test_name
        # operator -> what its checks raised, with the operator and its arguments
        self.seen_ops_to_errors: dict[str, list[tuple[Exception, OpOverload, Any, Any]]] = {}

    def __enter__(self) -> "OpCheckMode":
        self._before = is_inside_opcheck_mode(), config.check_custom_op_aliasing
        _inside.value, config.check_custom_op_aliasing = True, False
        super().__enter__()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        super().__exit__(exc_type, exc_value, traceback)
        _inside.value, config.check_custom_op_aliasing = self._before
        self.maybe_raise_errors_on_exit()
        if should_update_failures_dict():
            self.failures_dict.save()

    def __torch_function__(
        self, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, (OpOverload, OpOverloadPacket)):
            return func(*args, **kwargs)
        packet = func if isinstance(func, OpOverloadPacket) else func.overloadpacket
        if packet._qualified_op_name.split("::")[0] not in self.namespaces:
            return func(*args, **kwargs)
        op = checks._one_overload(func) if isinstance(func, OpOverloadPacket) else func
        qualname = op.name()
        copies, copied = deepcopy_tensors((args, kwargs))
        result = op(*args, **kwargs)
        if self.failures_dict.get_status(qualname, self.test_name) != "skip":
            errors = self.seen_ops_to_errors.setdefault(qualname, [])
            try:
                self.run_test_util(op, copies, copied)
            except Exception as error:
                kept = (args, kwargs) if should_print_better_repro() else (None, None)
                errors.append((error, op, *kept))
        return result

    def run_test_util(self, op: OpOverload, args: Any, kwargs: Any) -> None:
        """One check; arguments that no fake tensor can stand for pass."""
        try:
            self.test_util(op, args, kwargs, copy_inputs=False)
        except UnsupportedFakeTensorException:
            return

    def maybe_raise_errors_on_exit(self) -> None:
        """OpCheckError unless what was seen is what is expected; or expect it from now on."""
        failed = []
        for qualname, errors in self.seen_ops_to_errors.items():
            wanted = self.failures_dict.get_status(qualname, self.test_name)
            if should_update_failures_dict():
                if not errors or wanted == "xsuccess":
                    status = "xfail" if errors else "xsuccess"
                    self.failures_dict.set_status(qualname, self.test_name, status)
            elif not errors and wanted == "xfail":
                raise checks.OpCheckError(
                    f"generate_opcheck_tests: Unexpected success for operator {qualname} on test "
                    f"{self.test_name}: remove its row in {self.failures_dict_path}, or run with "
                    "PYTORCH_OPCHECK_ACCEPT=1, which does"
                )
            elif errors and wanted == "xsuccess":
                failed.append(qualname)
        if not failed:
            return
        error, op, args, kwargs = self.seen_ops_to_errors[failed[0]][0]
        script = generate_repro(
            self.test_util_name, op, args, kwargs, save_data=should_print_better_repro()
        )
        raise checks.OpCheckError(
            f"Test generated by `generate_opcheck_tests`, {self.test_name}, failed on operators "
            f"{failed}: {error}\nWith PYTORCH_OPCHECK_PRINT_BETTER_REPRO=1 the arguments are kept "
            f"for this script:\n{script}"
        ) from error


def generate_opcheck_tests(
    testcase: Any,
    namespaces: Sequence[str],
    failures_dict_path: str | None = None,
    additional_decorators: dict[str, Sequence[Callable[[Any], Any]]] | None = None,
    test_utils: Sequence[str] = DEFAULT_TEST_UTILS,
) -> None:
    """Enter into `testcase`, for each of its tests and each check, a test that runs both.

    Args:
        namespaces: of the operators that are checked.
        failures_dict_path: the file of known failures; default failures_dict.json beside the
            caller's file.
        additional_decorators: by the name of the new test.
        test_utils: names of checks (`dispatch.library.opcheck`).

    Raises:
        RuntimeError: the file's rows name no test; a name that is to be entered is taken.
    """
    if failures_dict_path is None:
        folder = os.path.dirname(sys._getframe(1).f_code.co_filename)
        failures_dict_path = os.path.join(folder, "failures_dict.json")
    decorators = additional_decorators or {}
    failures = FailuresDict.load(failures_dict_path, create_file=should_update_failures_dict())
    validate_failures_dict_structure(failures, test_utils, testcase)
    validate_failures_dict_formatting(failures_dict_path)
    tests = [n for n in dir(testcase) if n.startswith("test_") and callable(getattr(testcase, n))]
    for test in tests:
        method = getattr(testcase, test)
        if getattr(method, "_torch_dont_generate_opcheck_tests", False):
            continue
        for check in test_utils:
            name = f"{check}__{test}"
            mode = functools.partial(
                OpCheckMode, namespaces, check, ALL_TEST_UTILS[check], failures,
                f"{testcase.__name__}.{name}", failures_dict_path,
            )  # fmt: skip
            _enter(testcase, name, _with_fewer_values(_within(mode, method)), decorators)
    for qualname, rows in failures.data.items():
        name = f"test_pt2_compliant_tag_{qualname.replace('::', '_').replace('.', '_')}"
        _enter(testcase, name, _tag_test(qualname, rows), decorators)


def _within(mode: Callable[[], OpCheckMode], method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def test(*args: Any, **kwargs: Any) -> Any:
        with mode():
            return method(*args, **kwargs)

    return test


def _with_fewer_values(test: Any) -> Any:
    """With pytest's mark `opcheck_only_one`: the first value of each parameter; all devices."""
    marks = test.__dict__.get("pytestmark", [])
    if any(mark.name == "opcheck_only_one" for mark in marks):
        test.pytestmark = [_first_value(mark) for mark in marks]
    return test


def _first_value(mark: Any) -> Any:
    if mark.name != "parametrize" or mark.args[0] == "device":
        return mark
    import pytest  # who has marked tests has it

    names, values = mark.args
    return pytest.mark.parametrize(names, [next(iter(values))]).mark


def _enter(testcase: Any, name: str, test: Any, decorators: dict[str, Any]) -> None:
    for decorator in decorators.get(name, ()):
        test = decorator(test)
    if hasattr(testcase, name):
        raise RuntimeError(f"generate_opcheck_tests: {testcase} already has method named {name}")
    setattr(testcase, name, test)


def _tag_test(qualname: str, rows: dict[str, dict[str, str]]) -> Callable[[Any], None]:
    """A test that an operator with known failures has not the tag that says it has none."""
    failing = [
        name
        for name, row in rows.items()
        if row["status"] == "xfail" and "test_aot_dispatch_static" not in name
    ]

    def test(self: Any) -> None:
        try:
            op = lookup_op(qualname)
        except AttributeError as e:
            raise unittest.SkipTest(f"Can't import operator {qualname}") from e
        if failing and Tag.pt2_compliant_tag in op.tags:
            raise AssertionError(
                f"op '{qualname}' was tagged with pt2_compliant_tag, but is known to fail {failing}"
            )

    return test


def generate_repro(
    test: str,
    op: OpOverload,
    args: tuple[Any, ...] | None,
    kwargs: dict[str, Any] | None,
    *,
    save_data: bool,
    dry_run: bool = False,
) -> str:
    """A program that runs a check again; with `save_data` its arguments are put into a file.

    With `dry_run` that file is only named.
    """
    given = (
        "# If you rerun your test with PYTORCH_OPCHECK_PRINT_BETTER_REPRO=1\n"
        "# we will fill them in same (args, kwargs) as in your test\n"
        "args = ()  # args to the operator\n"
        "kwargs = {}  # kwargs to the operator"
    )
    if save_data:
        folder = os.path.join(tempfile.gettempdir(), "pytorch_opcheck_safe_to_delete")
        file = os.path.join(folder, f"repro_{datetime.datetime.now().timestamp() * 100000}.pt")
        if not dry_run:
            os.makedirs(folder, exist_ok=True)
            serialization.save((args, kwargs), file)
        given = f'args, kwargs = torch.load("{file}")'
    bar = f"# {'=' * 57}"
    return f"""\
{bar}
# BEGIN REPRO SCRIPT
{bar}
import torch
from torch.testing._internal.optests import opcheck

# Make sure you have loaded the library that contains the op
# via an import or torch.ops.load_library(...)
op = torch.ops.{op.namespace}.{op._packet_name()}.{op._overloadname}

{given}
opcheck(op, args, kwargs, test_utils="{test}")
{bar}
# END REPRO SCRIPT
{bar}
"""
