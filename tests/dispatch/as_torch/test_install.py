"""`import torch` without PyTorch. What installs does so for a process: each has one of its own."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from dispatch import as_torch
from dispatch.as_torch.aliases import MODULES, NAMES
from dispatch.as_torch.modules import find
from dispatch.as_torch.report import table

ROOT = Path(__file__).resolve().parents[3]


def run(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments, *(["-c", dedent(text)] if text else [])],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )


def said(text: str) -> str:
    """What a program prints after `install()`."""
    done = run("import dispatch.as_torch\ndispatch.as_torch.install()\n" + dedent(text))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_every_row_of_the_table_is_found():
    later = {"dispatch.symbolic"}
    for module, sources in MODULES.items():
        for source in set(sources) - later:
            __import__(source)
        assert sources, module
    for name in NAMES:
        module, _, last = name.rpartition(".")
        assert find(module, last) is not None


def test_namespaces_of_operators_say_torch():
    assert said("""
        import torch
        torch.library.Library("shop", "DEF")
        print(torch.ops.aten, torch.ops.shop, torch.ops.higher_order)
    """) == " ".join(
        f"<module 'torch.ops.{name}' from 'torch.ops'>" for name in ("aten", "shop", "higher_order")
    )


def test_imports_give_this_package():
    assert said("""
        import torch, dispatch
        import torch._C as C
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.utils._python_dispatch import TorchDispatchMode
        from torch.utils import _pytree
        import torch.utils._pytree as again
        assert torch.ops is dispatch.ops and torch.Tensor is dispatch.Tensor
        assert FakeTensorMode is dispatch.FakeTensorMode
        assert TorchDispatchMode is dispatch.TorchDispatchMode
        assert _pytree is again and _pytree.tree_map is dispatch.pytree.tree_map
        assert _pytree.FlattenFunc is _pytree.FlattenFn
        assert C._len_torch_dispatch_stack() == 0
        print(torch.add(torch.ones(2), 1))
        """) == "tensor([2., 2.])"


def test_nothing_is_changed_before_it_is_installed():
    done = run("""
        import sys, dispatch, dispatch.as_torch
        print(dispatch.float32, dispatch.Tensor.__module__, "torch" in sys.modules)
        """)
    assert done.stdout.split() == ["dispatch.float32", "dispatch._C.tensor", "False"]


def test_a_torch_that_is_there_is_refused():
    done = run("""
        import sys, types
        sys.modules["torch"] = types.ModuleType("torch")
        from dispatch import as_torch
        n = len(sys.meta_path)
        try:
            as_torch.install()
        except RuntimeError as error:
            import dispatch
            print(error, len(sys.meta_path) - n, dispatch.float32)
        """)
    assert "torch is imported already" in done.stdout, done.stderr
    assert done.stdout.split()[-2:] == ["0", "dispatch.float32"]


def test_what_is_missing_says_so_and_names_what_is_near():
    lines = said("""
        import torch
        for name in ("profiler", "FakeTensorMode", "tenzor"):
            try:
                getattr(torch, name)
            except AttributeError as error:
                print(error)
        for text in ("import torch.sparse", "from torch.utils._pytree import tree_mop"):
            try:
                exec(text)
            except ImportError as error:
                print(error)
        print(hasattr(torch, "sparse"), getattr(torch, "sparse", None))
        """).splitlines()
    assert [line.split()[0] for line in lines[:5]] == [
        "torch.profiler", "torch.FakeTensorMode", "torch.tenzor", "torch.sparse",
        "torch.utils._pytree.tree_mop",
    ]  # fmt: skip
    assert all("is not here" in line and "docs/porting.md" in line for line in lines[:5])
    assert "modes that count, log and track memory" in lines[0]
    assert "Nearest: torch._subclasses.fake_tensor.FakeTensorMode" in lines[1]
    assert "Nearest: torch.tensor" in lines[2]
    assert "Nearest: torch.utils._pytree.tree_map" in lines[4]
    assert lines[5] == "False None"


def test_modules_that_a_program_brings_are_found():
    assert said("""
        import sys, types
        import torch
        brought = sys.modules["torch.testing._internal.common_utils"] = types.ModuleType("x")
        brought.run_tests = 7
        from torch.testing._internal.common_utils import run_tests
        print(run_tests)
        """) == "7"


def test_reprs_texts_and_pickles_say_torch():
    assert said("""
        import pickle, pickletools
        import torch
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.overrides import resolve_name
        made = [torch.ones(2), torch.int8, torch.Tensor, torch.Size([1]), FakeTensorMode,
                torch.DispatchKey.CPU, torch.DispatchKeySet(torch.DispatchKey.CPU), torch.Tag.core,
                torch.add, torch.Tensor.add, torch.ones(2).untyped_storage(), torch.strided]
        text = pickle.dumps(made)
        assert not [a for _, a, _ in pickletools.genops(text) if "dispatch" in str(a).split(".")]
        again = pickle.loads(text)
        assert again[1:3] == made[1:3] and again[0].equal(made[0])
        shown = (made[3], torch.Tensor, FakeTensorMode, torch.ops.aten.add.Tensor.__module__,
                 resolve_name(torch.add), torch.ones(1).type(), torch.max(torch.ones(1, 1), 1))
        print(*map(repr, shown))
        print(resolve_name(torch.result_type), torch.ones(0).untyped_storage())
        try:
            torch.dtype()
        except TypeError as error:
            print(error)
        """).split() == [
        "torch.Size([1])",
        "<class", "'torch.Tensor'>",
        "<class", "'torch._subclasses.fake_tensor.FakeTensorMode'>",
        "'torch._ops.aten'", "'torch.add'", "'torch.FloatTensor'",
        "torch.return_types.max(", "values=tensor([1.]),", "indices=tensor([0]))",
        "torch.result_type", "[torch.storage.UntypedStorage(device=cpu)", "of", "size", "0]",
        "cannot", "create", "'torch.dtype'", "instances",
    ]  # fmt: skip


def test_settings_and_factories_are_not_overridden():
    assert said("""
        import torch
        from torch.overrides import get_ignored_functions, get_testing_overrides
        ignored, overridden = get_ignored_functions(), get_testing_overrides()
        print({torch.tensor, torch.device, torch.save, torch.nn.functional.upsample} - ignored)
        print(ignored & set(overridden), torch.nn.functional.relu in overridden)
        """).split("\n") == ["set()", "set() True"]


def test_symbolic_sizes_are_of_torch():
    assert said("""
        import sys, torch
        print("dispatch.symbolic" in sys.modules)
        from torch.fx.experimental.symbolic_shapes import ShapeEnv
        print(torch.SymInt, ShapeEnv.__module__)
        """).split() == [
        "False", "<class", "'torch.SymInt'>", "torch.fx.experimental.symbolic_shapes",
    ]  # fmt: skip


def test_classes_say_where_pytorch_has_them_and_are_found_there():
    assert said("""
        import importlib, pickle, torch
        from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode
        for thing in (torch.no_grad, torch.enable_grad, torch.set_grad_enabled,
                      torch.inference_mode, torch.autocast, torch.autograd.Function,
                      torch.library.custom_op, torch.UntypedStorage, torch.TypedStorage,
                      torch._C.DispatchKey, torch._C.DispatchKeySet, torch.Tag, torch.cond,
                      FunctionalTensor, FunctionalTensorMode, torch.is_tensor, torch.save,
                      torch.is_grad_enabled, torch.set_default_device, torch.library.define,
                      torch.library.opcheck, torch.library.infer_schema, torch.Stream,
                      torch.testing.assert_close, torch.func.functionalize,
                      torch.overrides.handle_torch_function, torch._C.FunctionSchema):
            home = importlib.import_module(thing.__module__)
            assert getattr(home, thing.__name__) is thing is pickle.loads(pickle.dumps(thing))
            print(thing.__module__)
        print(type(torch.ones(1).untyped_storage()).__module__)
        """).split() == [
        *["torch.autograd.grad_mode"] * 4, "torch.amp.autocast_mode", "torch.autograd.function",
        "torch.library", *["torch.storage"] * 2, *["torch"] * 4,
        *["torch._subclasses.functional_tensor"] * 2, "torch", "torch.serialization",
        *["torch"] * 2, *["torch.library"] * 3, "torch", "torch.testing._comparison",
        "torch.func", "torch.overrides", "torch", "torch.storage",
    ]  # fmt: skip


def test_what_was_found_once_is_found_as_in_any_module():
    """No function of the class, which Python would ask for names that are there as well."""
    assert said("""
        import types, torch
        torch.add, torch.default_generator, torch.nn.functional.relu
        for module in (torch, torch.nn.functional):
            print(type(module).__getattribute__ is types.ModuleType.__getattribute__,
                  hasattr(type(module), "__getattr__"),
                  sorted({"add", "default_generator", "relu"} & set(vars(module))))
        """) == "True False ['add', 'default_generator']\nTrue False ['relu']"


def test_what_is_patched_is_patched_in_the_package():
    assert said("""
        import dispatch, torch
        import torch.utils._pytree as pytree
        pytree.tree_map = 5
        print(dispatch.pytree.tree_map, pytree.tree_map)
        """) == "5 5"


def test_what_is_patched_for_a_block_is_put_back():
    assert said("""
        from unittest.mock import patch
        import dispatch, torch
        import torch._functorch.config as config
        import torch.utils._pytree as pytree
        from torch._subclasses.fake_tensor import FakeTensorMode
        before = pytree.tree_map
        with patch.object(config, "fake_tensor_allow_meta", False):
            print(FakeTensorMode().allow_meta)
        with patch.object(pytree, "tree_map", 5):
            print(dispatch.pytree.tree_map, pytree.tree_map)
        print(FakeTensorMode().allow_meta, dispatch.pytree.tree_map is pytree.tree_map is before)
        torch.something_new = 3
        print(torch.something_new, hasattr(dispatch, "something_new"))
        del torch.something_new
        print(hasattr(torch, "something_new"))
        """).split() == ["False", "5", "5", "True", "True", "3", "False", "False"]


def test_scripts_and_modules_run_with_their_arguments(tmp_path: Path):
    (tmp_path / "beside.py").write_text("value = 3\n")
    script = tmp_path / "program.py"
    script.write_text(
        "import sys, torch, beside\nprint(__name__, sys.argv[1:], torch.ones(1) + beside.value)\n"
    )
    done = run("", "-m", "dispatch.as_torch", str(script), "-m", "x")
    assert done.stdout.strip() == "__main__ ['-m', 'x'] tensor([4.])", done.stderr
    done = run("", "-m", "dispatch.as_torch", "-m", "timeit", "-n", "1", "import torch")
    assert "1 loop" in done.stdout, done.stderr
    assert run("", "-m", "dispatch.as_torch").returncode == 2


def test_a_report_lists_what_a_program_lacks(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(
        dedent("""
        import torch
        import torch.optim.lr_scheduler as F
        from torch.utils._pytree import tree_map, tree_mop
        x = torch.ones(2).frobnicate()
        y = F.StepLR(torch.ops.mine.op(x)) + torch.ops.aten.nothing(x)
        z = torch.Tensor._make_wrapper_subclass
        """)
    )
    found = as_torch.report(program)
    assert [(use.name, use.line) for use in found.missing] == [
        ("torch.utils._pytree.tree_mop", 4),
        ("torch.optim.lr_scheduler.StepLR", 6),
        ("torch.ops.aten.nothing", 6),
    ]
    assert "torch.Tensor._make_wrapper_subclass" in {use.name for use in found.used}
    assert "docs/porting.md" in str(found)
    done = run("", "-m", "dispatch.as_torch", "--report", str(program))
    assert done.returncode == 1
    assert done.stdout.strip() == str(found)


def test_the_page_has_the_table():
    page = (ROOT / "docs" / "porting.md").read_text()
    assert page.partition("<!-- table -->\n")[2].partition("\n<!-- end")[0] == table()


@pytest.mark.parametrize(
    ("a", "b", "close"),
    [
        ("1.0", "1.0 + 1e-7", True),
        ("1.0", "1.1", False),
        ("[dispatch.ones(2)]", "[dispatch.ones(2)]", True),
        ("[dispatch.ones(2)]", "[dispatch.ones(3)]", False),
        ("dispatch.ones(2)", "dispatch.ones(2, dtype=dispatch.float64)", False),
        ("{'a': dispatch.ones(2)}", "{'a': dispatch.zeros(2)}", False),
        ("dispatch.tensor([True])", "dispatch.tensor([True])", True),
        ("dispatch.tensor([float('nan')])", "dispatch.tensor([float('nan')])", False),
    ],
)
def test_assert_close_compares_shape_dtype_and_values(a: str, b: str, close: bool):
    import dispatch
    from dispatch.as_torch.testing.comparing import assert_close

    pair = (eval(a, {"dispatch": dispatch}), eval(b, {"dispatch": dispatch}))
    if close:
        assert_close(*pair)
    else:
        with pytest.raises(AssertionError):
            assert_close(*pair)


def test_functions_name_the_module_that_a_program_finds_them_in():
    assert said("""
        import torch
        from torch.overrides import get_testing_overrides, resolve_name
        for f in (torch.split, torch.nn.functional.relu, torch.fft.fft, torch.add):
            print(f.__module__, f.__name__, end="; ")
        print({f.__module__ for f in get_testing_overrides() if f.__name__ == "dropout1d"})
        assert eval(resolve_name(torch.Tensor.__and__)) == torch.Tensor.__and__
        assert resolve_name(torch.Tensor.__rdiv__) == "torch.Tensor.__rtruediv__"
        assert torch._conj_copy in get_testing_overrides()
        assert torch.Tensor.to in get_testing_overrides()
        """) == (
        "torch.functional split; torch.nn.functional relu; torch._C._fft fft_fft; torch add; "
        "{'torch.nn.functional'}"
    )


def test_what_is_not_there_says_that_it_is_not():
    assert said("""
        import torch
        from torch import distributed as dist
        print(dist.is_available(), torch.cuda.is_available(), hasattr(dist, "all_reduce"))
        """) == "False False False"


def test_all_names_of_torch_are_imported_at_once():
    found = said("from torch import *\nprint(ones(2).sum().item(), 'cli' in globals())")
    assert found == "2.0 False"


def test_functorch_is_there_too():
    assert said("""
        import functorch
        import torch
        from functorch import make_fx, vmap
        from functorch.experimental import control_flow, functionalize
        from functorch.experimental.control_flow import cond
        print(cond is torch.cond, control_flow.map is torch._higher_order_ops.map)
        print(functionalize is torch.func.functionalize, callable(make_fx), isinstance(vmap, type))
        try:
            import functorch.compile
        except ModuleNotFoundError as error:
            print("functorch.compile is not here" in str(error))
        """).split() == ["True"] * 6


def test_untyped_storages_are_of_the_base_of_storages():
    assert said("""
        import torch
        from torch.storage import _StorageBase
        storage = torch.ones(1).untyped_storage()
        print(isinstance(storage, torch._C.StorageBase), isinstance(storage, _StorageBase))
        """) == "True True"
