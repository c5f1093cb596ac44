"""scaled_dot_product_attention, which runs for every layer of a transformer."""
from dispatch._C.tensor cimport Tensor

cdef object scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor attn_mask,
                                         double dropout_p, bint is_causal, object scale,
                                         bint enable_gqa)
