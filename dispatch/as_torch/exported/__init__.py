"""`torch.export.load` and what it gives: a program to look at, and a module to call.

Over `dispatch.graph.GraphModule`, which reads, plans and computes: `nodes` shows its graph as
PyTorch's nodes, `signature` what it takes and gives, `module` is what can be called. All are made
when somebody asks.
"""

from dispatch.as_torch.exported.program import ExportedProgram, load
from dispatch.as_torch.exported.signature import ExportGraphSignature

__all__ = ["ExportGraphSignature", "ExportedProgram", "load"]
