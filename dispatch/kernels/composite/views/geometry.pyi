def check_results(n: int) -> None:
    """RuntimeError before the first of so many views is made, if there can be no memory for all."""
