"""`torch.testing._internal.common_utils`: what tests of PyTorch's kind are written with.

`TestCase.assertEqual` compares nests of tensors and numbers (`equality`); `parametrize` makes
a method for each value, which `instantiate_parametrized_tests` enters into the class.
"""

import contextlib
import gc
import itertools
import re
import unittest
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

import dispatch
from dispatch._C import advice
from dispatch.as_torch.testing.equality import Equality
from dispatch.as_torch.testing.marks import dtype_name, torch_to_numpy_dtype_dict

__all__ = [
    "TestCase",
    "disable_gc",
    "instantiate_parametrized_tests",
    "parametrize",
    "reparametrize",
    "run_tests",
    "subtest",
]

Method = Callable[..., Any]
Case = tuple[str, str, dict[str, Any], list[Any]]


class subtest:
    """One value of `parametrize` with a `name` or `decorators` of its own."""

    def __init__(
        self, arg_values: Any, name: str | None = None, decorators: Sequence[Any] = ()
    ) -> None:
        self.arg_values, self.name, self.decorators = arg_values, name, list(decorators)


class parametrize:
    """A decorator: the test runs for each of `arg_values`; several make all combinations.

    Args: arg_str, names of arguments with commas; arg_values, a value each, or tuples of them;
    name_fn, which gives a value its name.
    """

    def __init__(
        self, arg_str: str, arg_values: Any, name_fn: Callable[..., str] | None = None
    ) -> None:
        self.names = [name.strip() for name in arg_str.split(",") if name.strip()]
        self.values, self.name_fn = list(arg_values), name_fn

    def __call__(self, function: Method) -> Method:
        function._parameters = [*getattr(function, "_parameters", ()), self]  # type: ignore[attr-defined]
        return function

    def cases(self) -> Iterator[Case]:
        """(the name, what follows the device's name, the arguments, decorators) of each value."""
        for place, value in enumerate(self.values):
            name, decorators = None, []
            if isinstance(value, subtest):
                value, name, decorators = value.arg_values, value.name, value.decorators
            values = list(value) if len(self.names) > 1 else [value]
            if name is None and self.name_fn is not None:
                name = self.name_fn(*values)
            if name is None:
                named = zip(self.names, values, strict=True)
                name = "_".join(_short(place, n, v) for n, v in named)
            yield name, "", dict(zip(self.names, values, strict=True)), decorators


class reparametrize(parametrize):
    """A decorator: another's tests, each as `adapter_fn(name, arguments)` gives it, or gives some.

    It yields names with arguments; None leaves the test out.
    """

    def __init__(self, parametrizer: parametrize, adapter_fn: Callable[..., Any]) -> None:
        self.parametrizer, self.adapter_fn = parametrizer, adapter_fn

    def cases(self) -> Iterator[Case]:
        for name, last, arguments, decorators in self.parametrizer.cases():
            for changed in self.adapter_fn(name, arguments) or ():
                if changed is not None:
                    yield changed[0], last, changed[1], decorators


def _short(place: int, name: str, value: Any) -> str:
    """What the value adds to the name of its test: itself, or the place that it has in the list."""
    if isinstance(value, dispatch.dtype):
        return dtype_name(value)
    if isinstance(value, dispatch.device):
        return str(value)
    if isinstance(value, int | float | str):
        return f"{name}_{str(value).replace('.', '_')}"
    return getattr(value, "formatted_name", f"{name}{place}")


def instantiate_parametrized_tests(generic_cls: type) -> type:
    """Replace each method that `parametrize` marked by one for each combination of values."""
    for name, function in list(vars(generic_cls).items()):
        marks = getattr(function, "_parameters", None)
        if not marks:
            continue
        delattr(generic_cls, name)
        stem, *device = getattr(function, "_stem_and_device", (name,))
        for combination in itertools.product(*(mark.cases() for mark in reversed(marks))):
            shorts, lasts, values, decorators = zip(*combination, strict=True)
            arguments = {k: v for each in values for k, v in each.items()}
            whole = "_".join(filter(None, (stem, *shorts, *device, *lasts)))
            method = _bound(function, arguments, whole)
            own = getattr(function, "_decorated_if", ())
            chosen = [decorator for decorator, holds in own if holds(arguments)]
            for decorate in itertools.chain(*decorators, chosen):
                method = decorate(method)
            setattr(generic_cls, whole, method)
    return generic_cls


def _bound(function: Method, arguments: dict[str, Any], name: str) -> Method:
    def method(self: Any) -> Any:
        return function(self, **arguments)

    method.__name__ = name
    method.__doc__ = function.__doc__
    return method


class TestCase(unittest.TestCase):
    """unittest's, with `assertEqual` for tensors and seeds that are set before each test."""

    __test__ = False
    precision: float = 0.0
    rel_tol: float = 0.0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    def setUp(self) -> None:
        dispatch.manual_seed(1234)

    def assertEqual(
        self,
        x: Any,
        y: Any,
        msg: Any = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool = True,
        exact_device: bool = False,
        exact_layout: bool = False,
        exact_stride: bool = False,
        exact_is_coalesced: bool = False,
    ) -> None:
        """Equal, or as near as the tolerances allow (`equality`); NaN equals NaN.

        `msg` is the text, or a function of it. The least tolerances are `rel_tol` and `precision`.
        """
        equality = Equality(
            rtol, atol, (self.rel_tol, self.precision), equal_nan, check_dtype=exact_dtype,
            check_device=exact_device, check_layout=exact_layout, check_stride=exact_stride,
        )  # fmt: skip
        try:
            equality.compare(x, y)
        except AssertionError as e:
            if msg is None:
                raise
            text = msg(str(e)) if callable(msg) else f"{e}\n{msg}"
            raise AssertionError(text) from None

    def assertNotEqual(  # type: ignore[override]
        self, x: Any, y: Any, msg: Any = None, **tolerances: Any
    ) -> None:
        """The opposite of `assertEqual`."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, **tolerances)

    def compare_with_numpy(
        self, torch_fn: Method, np_fn: Method, tensor_like: Any, device: Any = None,
        dtype: Any = None, **tolerances: Any,
    ) -> None:  # fmt: skip
        """Both functions give the same for a tensor, or for nested numbers of this dtype."""
        if isinstance(tensor_like, dispatch.Tensor):
            given = tensor_like
            plain = given.detach().cpu()
            array = (plain.float() if plain.dtype is dispatch.bfloat16 else plain).numpy()
        else:
            given = dispatch.tensor(tensor_like, device=device, dtype=dtype)
            array = numpy.array(tensor_like, dtype=torch_to_numpy_dtype_dict[dtype])
        expected, result = np_fn(array), torch_fn(given).cpu()
        if isinstance(expected, numpy.ndarray):
            expected = dispatch.from_numpy(expected.copy())
            if expected.dtype is dispatch.float32 and result.dtype is dispatch.bfloat16:
                result = result.float()
        self.assertEqual(expected, result, **tolerances)

    def assertNotWarn(self, callable: Method, msg: Any = "") -> None:
        """The call warns of nothing."""
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            callable()
        self.assertEqual([str(warning.message) for warning in seen], [], msg)

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category: type[Warning], regex: str = "") -> Iterator[None]:
        """The block warns with such a text, of what is told once in a process too."""
        before = advice.is_warn_always_enabled()
        advice.set_warn_always(True)
        try:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                yield
        finally:
            advice.set_warn_always(before)
        told = [str(warning.message) for warning in seen if issubclass(warning.category, category)]
        if not any(re.search(regex, text) for text in told):
            self.fail(f"no {category.__name__} with {regex!r} among {told}")

    def assertGreaterAlmostEqual(
        self, first: Any, second: Any, places: Any = None, msg: Any = None,
        delta: Any = None,
    ) -> None:  # fmt: skip
        """Greater, or almost equal."""
        if not first >= second:
            self.assertAlmostEqual(first, second, places, msg, delta)

    def assertExpectedInline(self, actual: Any, expect: str, skip: int = 0) -> None:
        """The text of `actual` is `expect`."""
        self.assertMultiLineEqual(str(actual), expect)

    def assertExpectedRaisesInline(
        self, exc_type: Any, callable: Method, expect: str, *args: Any, **kwargs: Any
    ) -> None:
        """The call raises, with this text."""
        with self.assertRaises(exc_type) as raised:
            callable(*args, **kwargs)
        self.assertExpectedInline(str(raised.exception), expect)


def run_tests(argv: list[str] | None = None) -> None:
    """Run the tests of the program that calls it; the exit status says how they went."""
    unittest.main(argv=argv)


@contextlib.contextmanager
def disable_gc() -> Iterator[None]:
    """No garbage collection in the block."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
