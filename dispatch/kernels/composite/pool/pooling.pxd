"""Pools by other pools: compiled as it stands."""
