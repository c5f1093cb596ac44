"""Exported models: read a `.pt2` archive or an exported program's JSON, run it, report what
happened.

`load` reads (`archive`, `program`, `weights`) and plans (`plan`); the loaded module runs the plan
(`executor`) and reports (`report`). Everything of it reaches operators through `dispatch.ops` only.
"""

from dispatch.graph.errors import MissingOperatorsError, ModelFileError
from dispatch.graph.fitting import Fit, fit
from dispatch.graph.module import GraphModule, load
from dispatch.graph.report import Report
from dispatch.tools.formulas import flop_formula

__all__ = [
    "Fit",
    "GraphModule",
    "MissingOperatorsError",
    "ModelFileError",
    "Report",
    "fit",
    "flop_formula",
    "load",
]
