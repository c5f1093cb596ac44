"""What is known of operators beside their dispatch tables, as Python sees it (torch._library).

`schemas` answers questions about an operator's schema and tags; `entries` keeps what is registered
for an operator and stands in no table: fake kernels, effects, rules of modes and classes, arguments
in symmetric memory. `script_classes` are the stand-ins for objects of custom classes,
`opaque_types` the Python classes whose objects operators take. The room `library` writes here,
calls and fake tensors read.
"""
