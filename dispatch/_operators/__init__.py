"""What operators do in Python, gathered under PyTorch's names by `dispatch._ops`.

`rules` is what overloads call when the Python dispatcher is on; `higher_order` operators are
dispatched in Python altogether; `pre_dispatch` is the stack of modes above autograd;
`script_objects` are the stand-ins that an operator of custom classes takes; `namespaces` is
`dispatch.ops` itself.
"""
