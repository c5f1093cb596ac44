"""Functions that programs import at their top, and that only some of them call.

Each says what is missing when it is called (NotImplementedError), so that the rest of the program
runs. `report` counts them as missing.
"""

from collections.abc import Callable
from typing import Any, NoReturn

__all__ = [
    "AotEagerAndRecordGraphs", "CompileCounter", "CompileCounterWithBackend",
    "EagerAndRecordGraphs", "FakeTensorProp", "_create_jit_fn",
    "aot_autograd_check", "aot_compile_joint_with_descriptors",
    "aot_export_joint_with_descriptors",
    "aot_export_module", "aot_function", "fresh_cache", "fresh_inductor_cache",
    "generate_opcheck_tests", "gradcheck", "gradgradcheck", "is_refused", "load",
    "load_inline", "make_fx", "make_fx_check",
    "register_functional_op", "reinplace",
]  # fmt: skip


def _refused(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        """NotImplementedError: this is not here."""
        from dispatch.as_torch.modules import missing_text  # it finds this module

        raise NotImplementedError(missing_text(name))

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.refused = True  # type: ignore[attr-defined]
    return refuse


def is_refused(found: Any) -> bool:
    """Whether this is one of these functions."""
    return callable(found) and getattr(found, "refused", False) is True


gradcheck = _refused("torch.autograd.gradcheck.gradcheck")
gradgradcheck = _refused("torch.autograd.gradcheck.gradgradcheck")
make_fx = _refused("torch.fx.experimental.proxy_tensor.make_fx")
load = _refused("torch.utils.cpp_extension.load")
load_inline = _refused("torch.utils.cpp_extension.load_inline")
_create_jit_fn = _refused("torch.cuda.jiterator._create_jit_fn")
register_functional_op = _refused("torch._custom_op.functional.register_functional_op")
_TESTING = "torch._dynamo.testing."
CompileCounter = _refused(_TESTING + "CompileCounter")
CompileCounterWithBackend = _refused(_TESTING + "CompileCounterWithBackend")
EagerAndRecordGraphs = _refused(_TESTING + "EagerAndRecordGraphs")
AotEagerAndRecordGraphs = _refused(_TESTING + "AotEagerAndRecordGraphs")
fresh_cache = _refused("torch._inductor.utils.fresh_cache")
fresh_inductor_cache = _refused("torch._inductor.utils.fresh_inductor_cache")
reinplace = _refused("torch.fx.passes.reinplace.reinplace")
FakeTensorProp = _refused("torch.fx.passes.fake_tensor_prop.FakeTensorProp")
_COMPILING = "torch._functorch.aot_autograd."
aot_function = _refused(_COMPILING + "aot_function")
aot_export_module = _refused(_COMPILING + "aot_export_module")
aot_export_joint_with_descriptors = _refused(_COMPILING + "aot_export_joint_with_descriptors")
aot_compile_joint_with_descriptors = _refused(_COMPILING + "aot_compile_joint_with_descriptors")
_CHECKING = "torch.testing._internal.optests."
aot_autograd_check = _refused(_CHECKING + "aot_autograd_check")
make_fx_check = _refused(_CHECKING + "make_fx_check")
generate_opcheck_tests = _refused(_CHECKING + "generate_opcheck_tests")
