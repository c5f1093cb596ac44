"""Short names of dtypes (torch.utils._dtype_abbrs): `float32` is `f32`."""

from dispatch._C import dtypes

__all__ = ["dtype_abbrs"]

dtype_abbrs = {
    found: found.abbr for found in vars(dtypes).values() if isinstance(found, dtypes.dtype)
}
