"""What a PyTorch without devices answers: `torch.cuda.is_available()` and its like.

Any device is known by name, has its keys and can be faked; none has memory of its own.
"""

__all__ = ["device_count", "is_available", "is_built", "is_initialized"]


def is_available() -> bool:
    """False: there is no device of this kind."""
    return False


def is_built() -> bool:
    """False: no kernels for this kind of device are built in."""
    return False


def is_initialized() -> bool:
    """False: nothing was initialised."""
    return False


def device_count() -> int:
    """0."""
    return 0
