from typing import Any, TypeAlias

import numpy as np

_Rows: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

def order(keys: _Rows, positions: _Rows) -> None: ...
def first(keys: _Rows, positions: _Rows, in_order: bool) -> None: ...
