"""A custom operator: a function with type annotations, under a schema, with what tools need.

The function runs on data. The fake kernel stands for it on metadata, the formula is what an
autograd engine would run, and `opcheck` compares what was promised with what happens.
"""

import numpy as np

import dispatch
from dispatch import FakeTensorMode, Tensor
from dispatch.library import custom_op, opcheck


@custom_op("example::clipped", mutates_args=())
def clipped(x: Tensor, low: float, high: float = 1.0) -> Tensor:
    """The values, none below `low` or above `high`."""
    return dispatch.from_numpy(np.clip(x.detach().numpy(), low, high))


@clipped.register_fake
def clipped_fake(x, low, high=1.0):
    """The metadata alone."""
    return dispatch.empty_like(x)


def keep_mask(ctx, inputs, output):
    """What the formula needs: where nothing was cut off."""
    x, low, high = inputs
    ctx.save_for_backward((x >= low) & (x <= high))


clipped.register_autograd(
    lambda ctx, grad: (grad * ctx.saved_tensors[0], None, None), setup_context=keep_mask
)


def main():
    x = dispatch.tensor([-2.0, 0.5, 3.0], requires_grad=True)
    y = clipped(x, -1.0)
    print(clipped._opoverload._schema)
    print(y.tolist(), y.grad_fn.name())
    print([g if g is None else g.tolist() for g in y.grad_fn.apply(dispatch.ones(3))])
    with FakeTensorMode():
        print(clipped(dispatch.empty(1_000_000_000, device="cuda"), 0.0))
    print(opcheck(clipped, (dispatch.ones(3), 0.0), test_utils="test_faketensor"))


if __name__ == "__main__":
    main()
