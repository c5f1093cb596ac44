from dispatch._C.generated.functions_special import *  # noqa: F403
