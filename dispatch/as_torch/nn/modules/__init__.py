"""`torch.nn.modules`: `Module` and the modules of PyTorch that need no gradients to be useful.

`module` has the base, `containers` and `parameters` what holds modules and parameters, `applied`,
`windows` and `losses` those that are one function, `weighted`, `conv`, `norms`, `recurrent`,
`adaptive`, `linear_loss`, `transformer` those with weights, `lazy` those that wait for their
input's sizes. Constructors, attributes, texts, names in `state_dict` and drawn weights are
PyTorch's.
"""

from dispatch.as_torch.nn.modules import (
    adaptive,
    applied,
    containers,
    conv,
    lazy,
    linear_loss,
    losses,
    module,
    norms,
    parameters,
    recurrent,
    transformer,
    weighted,
    windows,
)
from dispatch.as_torch.nn.modules.adaptive import *  # noqa: F403
from dispatch.as_torch.nn.modules.applied import *  # noqa: F403
from dispatch.as_torch.nn.modules.containers import *  # noqa: F403
from dispatch.as_torch.nn.modules.conv import *  # noqa: F403
from dispatch.as_torch.nn.modules.lazy import *  # noqa: F403
from dispatch.as_torch.nn.modules.linear_loss import *  # noqa: F403
from dispatch.as_torch.nn.modules.losses import *  # noqa: F403
from dispatch.as_torch.nn.modules.module import *  # noqa: F403
from dispatch.as_torch.nn.modules.norms import *  # noqa: F403
from dispatch.as_torch.nn.modules.parameters import *  # noqa: F403
from dispatch.as_torch.nn.modules.recurrent import *  # noqa: F403
from dispatch.as_torch.nn.modules.transformer import *  # noqa: F403
from dispatch.as_torch.nn.modules.weighted import *  # noqa: F403
from dispatch.as_torch.nn.modules.windows import *  # noqa: F403

__all__ = [
    *module.__all__, *containers.__all__, *adaptive.__all__, *applied.__all__, *lazy.__all__,
    *linear_loss.__all__, *losses.__all__, *conv.__all__, *norms.__all__, *parameters.__all__,
    *recurrent.__all__, *transformer.__all__, *weighted.__all__, *windows.__all__,
]  # fmt: skip
