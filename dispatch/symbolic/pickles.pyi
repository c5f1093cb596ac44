"""Expressions as rows of plain values: `pickle` comes here through `expr.hooks`."""
