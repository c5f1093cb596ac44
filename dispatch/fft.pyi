from dispatch._C.generated.functions_fft import *  # noqa: F403
