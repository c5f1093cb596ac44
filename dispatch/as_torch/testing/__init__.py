"""`torch.testing`: what programs compare results with, and what PyTorch's own tests are written in.

`dispatch.as_torch.aliases` names each module here for PyTorch's; nothing outside imports them.
"""
