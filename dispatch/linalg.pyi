from dispatch._C.errors import LinAlgError as LinAlgError
from dispatch._C.generated.functions_linalg import *  # noqa: F403
