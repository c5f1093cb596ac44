"""Fourier transforms under PyTorch's names: `dispatch.fft.rfft` is the operator `fft_rfft`."""

from dispatch._C.prefixed import OperatorModule

__getattr__, __dir__ = OperatorModule(__name__, "fft_").protocol()
