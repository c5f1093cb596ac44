"""What `torch._C` says of how it was built: which libraries kernels may call."""

__all__ = ["has_cuda", "has_cudnn", "has_lapack", "has_mkl", "has_mkldnn", "has_mps", "has_openmp",
           "has_spectral", "has_xpu"]  # fmt: skip

has_lapack = has_spectral = True
has_cuda = has_cudnn = has_mkl = has_mkldnn = has_mps = has_openmp = has_xpu = False
