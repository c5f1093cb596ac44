"""`torch.version`: the release of PyTorch whose behaviour this package has (docs/porting.md)."""

__all__ = ["__version__", "cuda", "debug", "hip", "xpu"]

__version__ = "2.13.0"
cuda: str | None = None
hip: str | None = None
xpu: str | None = None
debug = False
