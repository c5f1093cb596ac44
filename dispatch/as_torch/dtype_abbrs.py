"""Short names of dtypes (torch.utils._dtype_abbrs): `float32` is `f32`; and their sizes."""

from dispatch._C import dtypes

__all__ = ["dtype_abbrs"]

dtype_abbrs = {
    found: found.abbr for found in vars(dtypes).values() if isinstance(found, dtypes.dtype)
}


def _element_size(dtype: dtypes.dtype) -> int:
    """The bytes of one element (torch._utils)."""
    return dtype.itemsize
