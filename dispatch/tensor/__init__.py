"""What Tensor does in Python, over the compiled core: a module for each subject.

`methods` enters all of it into the type when `dispatch` is imported; what is called rarely is
imported at its first call. `dispatch.tensor` is the function that makes tensors, also after a
module of this room has been imported: `dispatch/__init__.py` binds it once the room stands in
`sys.modules`. So import from here by name (`from dispatch.tensor.data import as_tensor`).
"""
