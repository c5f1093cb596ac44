from typing import Any

import numpy as np

def first(
    keys: np.ndarray[Any, np.dtype[np.int64]],
    positions: np.ndarray[Any, np.dtype[np.int64]],
    in_order: bool,
) -> None: ...
