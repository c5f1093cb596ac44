"""Broken model files (`python -m tests.fuzz FILE...`), strange calls
(`... tests.fuzz.api`), hostile numbers (`... tests.fuzz.hostile`), random calls of every operator
(`... tests.fuzz.operators`)."""
