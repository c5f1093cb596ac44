"""Passes over graphs: what splits, orders, fuses and rewrites `GraphModule`s (torch.fx.passes).

Each module has one kind; the table of `aliases` says which of PyTorch's modules it stands for.
"""
