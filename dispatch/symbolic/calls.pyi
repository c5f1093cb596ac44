"""Fills in what shape functions in C ask of sizes that are expressions."""
