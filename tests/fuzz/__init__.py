"""Model files as a stranger would break them; `python -m tests.fuzz FILE...` tries many."""
