"""Custom operators over numpy, and opcheck of the library's own operators, on tensors that require grad."""

import numpy as np


def numpy_custom_op(s, log):
    @s.library.custom_op("m3d::sinh", mutates_args=())
    def f(x: s.Tensor) -> s.Tensor:
        return s.T.from_numpy(np.sin(x.numpy()))

    x = s.T.ones(2, requires_grad=True)
    log.attempt("call", f, x.detach())

    def setup(ctx, inputs, output):
        pass

    def back(ctx, g):
        return g

    f.register_autograd(back, setup_context=setup)
    y = log.attempt("call grad", f, x)
    with s.T.no_grad():
        log.attempt("numpy", lambda: x.numpy().tolist())
        log.attempt("asarray", lambda: np.asarray(x).tolist())
    log.attempt("numpy grad", x.numpy)
    log.attempt("force", lambda: x.numpy(force=True).tolist())
    with s.T.inference_mode():
        log.attempt("numpy inf", lambda: x.numpy().tolist())


def opcheck(s, log):
    x = s.T.ones(3, requires_grad=True)
    log.attempt("sin", s.library.opcheck, s.ops.aten.sin.default, (x,))
    log.attempt("sin no grad", s.library.opcheck, s.ops.aten.sin.default, (s.T.ones(3),))
    log.attempt("add", s.library.opcheck, s.ops.aten.add.Tensor, (x, x))
