"""What a PyTorch without devices, in one process, answers: `torch.cuda.is_available()`.

Any device is known by name, has its keys and can be faked; none has memory of its own.
"""

__all__ = ["device_count", "is_available", "is_built", "is_initialized"]


def is_available() -> bool:
    """False: there is no device of this kind, and no other process."""
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
