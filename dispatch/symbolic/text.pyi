"""Expressions as text, as sympy prints them."""
