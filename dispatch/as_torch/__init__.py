"""Programs written for PyTorch, unchanged: `import torch` gives this package's modules.

    python -m dispatch.as_torch SCRIPT [ARGS]        run a program so
    python -m dispatch.as_torch -m MODULE [ARGS]
    python -m dispatch.as_torch --report FILE ...    what it uses and this package lacks

or `dispatch.as_torch.install()` before the first `import torch`. Nothing installs itself. One table
(`aliases`) says which module stands for which; `docs/porting.md` what is equal, what differs and
what is missing.
"""

import sys

import dispatch
from dispatch._C import naming
from dispatch._C.named_results import made_classes
from dispatch._C.storage import Storage
from dispatch.as_torch import devices
from dispatch.as_torch.aliases import FUNCTIONS, MODULES
from dispatch.as_torch.modules import Finder, Missing, Stand, claim, claim_homes, stand_for
from dispatch.as_torch.report import Report, Use, report
from dispatch.modes import function

__all__ = ["Report", "Use", "install", "report"]


def install() -> None:
    """From now on `import torch` and its submodules give this package's modules.

    Reprs, error texts and pickles then say `torch.`, also for what was made before. A second call
    does nothing. Raises RuntimeError when `torch` is imported already and is not this package.
    """
    there = sys.modules.get("torch")
    if isinstance(there, Stand):
        return
    if there is not None:
        place = getattr(there, "__file__", None)
        raise RuntimeError(
            "dispatch.as_torch.install: torch is imported already"
            + (f", from {place}" if place else "")
            + "; install before the first `import torch`"
        )
    finder = Finder()
    sys.meta_path.insert(0, finder)
    sys.meta_path.append(Missing())
    naming.set_package_name("torch")
    naming.open_type(dispatch.Tensor)
    torch = sys.modules["torch"] = stand_for("torch")
    torch.__spec__ = finder.find_spec("torch", None)
    function._set_package(torch, function._written, FUNCTIONS)
    devices.install()
    _rename_what_was_made()
    claim_homes()
    for module, sources in MODULES.items():
        if sources[0] in sys.modules:
            claim(module)
    claim("torch._utils")


def _rename_what_was_made() -> None:
    """Names that objects keep, because Python itself reads them there."""
    ops = dispatch.ops
    for named in (ops, ops.higher_order, *(vars(ops)[name] for name in ops)):
        named.__name__ = "torch" + named.__name__.removeprefix("dispatch")
    for space in (ops.higher_order, *(vars(ops)[name] for name in ops)):
        space.__file__ = naming.full_name("ops")
    for op in dispatch._ops._higher_order_ops.values():
        op.__module__ = naming.full_name("ops.higher_order")
    naming.name_type(Storage, naming.full_name(f"storage.{Storage.__name__}"))
    for cls in made_classes():
        cls.__module__ = naming.full_name("return_types")
