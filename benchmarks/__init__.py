"""The call paths, timed: `python -m benchmarks` (`make bench`) prints the table of README.md.

`rows` says what a row is; `ours` and `theirs` hold the same rows for the two systems, each of
which runs in a process of its own (`worker`); `report` makes the table, the JSON and README's
copy. No figure in a document is typed by hand.
"""
