"""Short programs run here and, where PyTorch is at hand, there: what they log must be equal.

`programs/AREA.py` holds functions `program(side, log)`; `recorded/AREA.json` what PyTorch 2.13
logged for each. `python -m tests.differential --record AREA` in an environment with torch writes
the recording, `--side dispatch AREA` shows our own log, `--compare` both side by side.
"""
