"""The examples run as they are, and print what their texts promise; documents are followed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.walkthrough import FOLLOWED, LONG, apply, copy_of_the_tree

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"

PRINTED = {
    "counting.py": """\
Module            FLOP    % Total
-----------  ---------  ---------
Global       1649.267B    100.00%
 - aten.mm   1649.267B    100.00%
 layer0       549.756B     33.33%
  - aten.mm   549.756B     33.33%
 layer1       549.756B     33.33%
  - aten.mm   549.756B     33.33%
 layer2       549.756B     33.33%
  - aten.mm   549.756B     33.33%
peak: 1280 MiB, {'weights': 805306368, 'input': 134217728, 'result': 402653184}
""",
    "device.py": """\
toy:0 (4, 8)
equal to the CPU's: True
  2 add on the device
  1 aten._softmax.out on the host
  1 aten.div.out on the host
  2 aten.native_batch_norm.default on the host
  1 aten.relu.default on the host
  7 mm on the device
24 allocations, 5376 bytes; 1 are alive
""",
    "logging_mode.py": """\
aten.t.default           [[3, 2]]
aten.mm.default          [[2, 2]]
aten.relu.default        [[2, 2]]
aten.sum.default         [[]]
""",
    "subclass.py": """\
[6.0, 8.0] m
[6.0, 20.0] m*s
14.0 m
ValueError: aten.add.Tensor: units differ: m and s
""",
    "custom_op.py": """\
example::clipped(Tensor x, float low, float high=1.) -> Tensor
[-1.0, 0.5, 1.0] GeneratedBackwardFor_example_clipped_defaultBackward
[[0.0, 1.0, 0.0], None, None, None]
FakeTensor(..., device='cuda:0', size=(1000000000,))
{'test_faketensor': 'SUCCESS'}
""",
    "functionalize.py": """\
mutations
    aten.unbind.int
    aten.mean.default
    aten.sub.Tensor
    aten.select_scatter.default
    aten.unbind.int
    aten.unbind.int
    aten.mean.default
    aten.sub.Tensor
    aten.select_scatter.default
    aten.unbind.int
    aten.t.default
    aten.t.default
    aten.copy_.default
[[-1.0, -2.0], [1.0, 2.0]]
mutations_and_views
    aten.unbind_copy.int
    aten.mean.default
    aten.sub.Tensor
    aten.select_scatter.default
    aten.unbind_copy.int
    aten.unbind_copy.int
    aten.mean.default
    aten.sub.Tensor
    aten.select_scatter.default
    aten.unbind_copy.int
    aten.t_copy.default
    aten.t_copy.default
    aten.copy_.default
[[-1.0, -2.0], [1.0, 2.0]]
""",
    "library.py": """\
[[0.0, 1.0, 2.0], [2.0, 3.0, 4.0]]
FakeTensor(..., device='cuda:0', size=(9999991, 1000))
RuntimeError: example::windows: argument 'size' (position 1) must be int, got str '3'
""",
    "package/demo.py": """\
[[0.0, 2.0, 1.0, 4.5], [1.0, 1.0, 1.0, 1.0]]
dispatch.Size([4])
[[[0.0, 4.0], [0.0, 8.0]], [[1.0, 1.0], [1.0, 1.0]]]
[0.0, 2.0, 1.0, 4.5]
[4.0, 5.0, 4.5, 6.25]
dispatch.Size([1024, 1000000]) dispatch.Size([1024, 3905, 512])
""",
}


def run(folder, *command):
    """Standard output of a Python command in `folder`, with warnings as errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", *command],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}/src"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_example_is_run_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == {n for n in PRINTED if "/" not in n}


@pytest.mark.parametrize("name", sorted(name for name in PRINTED if "/" not in name))
def test_example_prints(name):
    assert run(ROOT, str(EXAMPLES / name)) == PRINTED[name]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The operator package, built in a copy of its folder by its own `setup.py`."""
    if not shutil.which("gcc"):
        pytest.skip("needs gcc")
    folder = tmp_path_factory.mktemp("package")
    unmade = shutil.ignore_patterns("build", "*.so", "*.egg-info", "__pycache__")
    shutil.copytree(EXAMPLES / "package", folder, dirs_exist_ok=True, ignore=unmade)
    subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=True,
    )
    return folder


def test_package_of_operators_prints(package):
    assert run(package, "demo.py") == PRINTED["package/demo.py"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("ema(x, 2.0)", "expected 'decay' in [0, 1)"),
        ("ema(x.long(), 0.5)", "expected a floating-point 'self'"),
        ("windows(x, 9)", "no window of 9"),
    ],
)
def test_package_refuses(package, call, message):
    program = f"""
import dispatch, smoothing
x = dispatch.ones(4)
try:
    smoothing.{call}
except RuntimeError as error:
    print(error)
"""
    assert message in run(package, "-c", program)


def test_package_has_stubs(package):
    stub = (package / "src" / "smoothing" / "generated" / "ops_smoothing.pyi").read_text()
    assert "class Packet_ema" in stub


@pytest.mark.skipif(
    not shutil.which("gcc") or not shutil.which("make") or sys.prefix == sys.base_prefix,
    reason="needs gcc, make and a virtual environment",
)
@pytest.mark.parametrize("name", FOLLOWED)
def test_who_follows_a_document_gets_what_it_says(name, tmp_path):
    """Word for word, in a copy of the tree with a build of its own."""
    if name in LONG and os.environ.get("CI") != "true":
        pytest.skip("compiles nearly everything again: set CI=true")
    apply(copy_of_the_tree(tmp_path), (ROOT / name).read_text())
