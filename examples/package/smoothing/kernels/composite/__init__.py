"""Operators written with operators."""
