"""Kernels by what they compute."""
