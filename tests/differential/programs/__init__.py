"""The programs: one file for each area, one function for each program."""
