"""What stands behind `dispatch.library`: custom operators, fake kernels, schemas from signatures.

The counterpart of torch._library. `utils` and `fake_impl` load with the package, for fake tensors
consult them; the rest when a program first asks for it.
"""
