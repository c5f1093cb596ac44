"""What PyTorch does with formulas of sizes, on sympy's objects and on expressions of this package.

`torch.utils._sympy`: meanings of their functions (`analyses`), their evaluation in one of these
(`interpreting`), bounds (`bounding`), conditions solved for a symbol (`solving`).
"""
