"""Faults put into the sources on purpose, one at a time: `make mutants` shows which the tests miss.

`catalog` reads the kept list, `data/*.yaml`; `trial` makes one fault in a copy of the tree and
runs the tests there; `__main__` goes through the list. The work tree is never written to, but for
the results in `build/mutants`.
"""
