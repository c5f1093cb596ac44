"""Calls with large tensors: a million elements, and the sizes of ResNet-50 and GPT-2.

Each row is a statement over `T` (the package), `aten` (its operators) and the inputs below, of
which a row makes those that it names.
"""

import re
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

from .rows import Row

__all__ = ["FAMILIES", "rows"]

INPUTS = {
    "x": "T.randn(1000, 1000)",
    "y": "T.randn(1000, 1000)",
    "out": "T.empty(1000, 1000)",
    "row": "T.randn(1000)",
    "p": "T.rand(1000, 1000)",
    "v": "T.randn(1000000)",
    "k": "T.randint(0, 1000, (1000000,))",
    "m": "T.randn(1000, 1000) > 0",
    "h": "T.randn(1000, 1000).to(T.float16)",
    "b": "T.randn(1000, 1000).to(T.bfloat16)",
    "b_row": "T.randn(1000).to(T.bfloat16)",
    "rows_": "T.randint(0, 1000, (1000,))",
    "places": "T.randint(0, 1000, (1000, 1000))",
    "table": "T.randn(50257, 768)",
    "tokens": "T.randint(0, 50257, (1024,))",
    "s": "T.randn(512, 512)",
    "sb": "T.randn(512, 512).to(T.bfloat16)",
    "batch": "T.randn(12, 128, 64)",
    "batch_t": "T.randn(12, 128, 64).transpose(1, 2)",
    "hidden": "T.randn(128, 768)",
    "wide": "T.randn(128, 3072)",
    "w768": "T.randn(768)",
    "b2304": "T.randn(2304)",
    "b3072": "T.randn(3072)",
    "w_qkv": "T.randn(768, 2304)",
    "w_up": "T.randn(768, 3072)",
    "w_down": "T.randn(3072, 768)",
    "q": "T.randn(1, 12, 128, 64)",
    "scores": "T.randn(1, 12, 128, 128)",
    "image": "T.randn(1, 3, 224, 224)",
    "w_stem": "T.randn(64, 3, 7, 7)",
    "c112": "T.randn(1, 64, 112, 112)",
    "c56": "T.randn(1, 64, 56, 56)",
    "c28": "T.randn(1, 128, 28, 28)",
    "c14": "T.randn(1, 256, 14, 14)",
    "c7": "T.randn(1, 512, 7, 7)",
    "w_1x1": "T.randn(256, 64, 1, 1)",
    "w56": "T.randn(64, 64, 3, 3)",
    "w28": "T.randn(128, 128, 3, 3)",
    "w14": "T.randn(256, 256, 3, 3)",
    "w7": "T.randn(512, 512, 3, 3)",
    "w_deep": "T.randn(64, 1, 3, 3)",
    "n64": "T.ones(64)",
    "z64": "T.zeros(64)",
    "g": "T.randn(8, 64, 28, 28)",
    "features": "T.randn(1, 2048)",
    "w_class": "T.randn(1000, 2048)",
    "classes": "T.randint(0, 1000, (1000,))",
}

FAMILIES = {
    "elementwise": [
        "aten.add(x, y)", "aten.add(x, row)", "aten.add(x, y, out=out)", "aten.mul(x, 2.0)",
        "aten.div(x, y)", "aten.maximum(x, y)", "aten.lt(x, y)", "aten.where(m, x, y)",
        "aten.clamp(x, -1, 1)", "aten.pow(x, 3)", "aten.addcmul(x, y, p)", "aten.relu(x)",
        "aten.exp(x)", "aten.log(p)", "aten.sqrt(p)", "aten.sin(x)", "aten.tanh(x)",
        "aten.sigmoid(x)", "aten.erf(x)", "aten.gelu(x)", "aten.silu(x)", "aten.add(k, k)",
        "aten.eq(k, 3)", "aten.bitwise_and(k, 7)",
    ],
    "16 bits": [
        "aten.add(b, b)", "aten.mul(b, b)", "aten.exp(b)", "aten.gelu(b)", "aten.tanh(b)",
        "aten.sum(b)", "aten.softmax(b, -1)", "aten.layer_norm(b, [1000], b_row, b_row)",
        "aten.mm(sb, sb)", "b.to(T.float32)", "x.to(T.bfloat16)", "aten.add(h, h)",
        "aten.mul(h, h)", "aten.exp(h)", "aten.sum(h, [1])", "x.to(T.float16)",
    ],
    "reductions": [
        "aten.sum(x)", "aten.sum(x, [0])", "aten.sum(x, [1])", "aten.mean(x, [1])", "aten.max(x)",
        "aten.max(x, 1)", "aten.amax(x, [0])", "aten.argmax(x, 1)", "aten.var(x, [1])",
        "aten.norm(x)", "aten.linalg_vector_norm(x, 2, [1])", "aten.prod(x, 1)", "aten.any(m)",
        "aten.logsumexp(x, [1])", "aten.cumsum(x, 0)", "aten.cumsum(x, 1)", "aten.cummax(x, 1)",
        "aten.sum(k)",
    ],
    "copies": [
        "x.t().contiguous()", "x.clone()", "x.to(T.float64)", "x.to(T.int64)", "aten.cat([x, y])",
        "aten.cat([x, y], 1)", "aten.stack([x, y])", "aten.stack([x, y], -1)",
        "g.permute(0, 2, 3, 1).contiguous()", "x[:, ::2].contiguous()", "aten.flip(x, [1])",
        "aten.roll(x, [7], [1])", "aten.tril(x)", "aten.repeat(x, [2, 1])",
        "aten.constant_pad_nd(x, [1, 1, 1, 1])", "T.arange(1000000)", "T.zeros(1000, 1000)",
        "T.full((1000, 1000), 1.5)",
    ],
    "index": [
        "aten.index_select(x, 0, rows_)", "aten.index_select(x, 1, rows_)", "x[rows_]", "x[m]",
        "aten.gather(x, 1, places)", "aten.scatter(x, 1, places, y)",
        "aten.scatter_add(x, 1, places, y)", "aten.index_add(x, 0, rows_, y)",
        "aten.index_put(x, [rows_], y)", "aten.index_put(x, [rows_], y, True)",
        "aten.masked_fill(x, m, 0.0)", "aten.take(x, k)", "aten.nonzero(m)",
        "aten.embedding(table, tokens)",
    ],
    "order": [
        "aten.sort(v)", "aten.sort(x, 1)", "aten.argsort(x, 0)", "aten.topk(v, 10)",
        "aten.topk(x, 5)", "aten.kthvalue(x, 500)", "aten.median(x, 1)", "aten._unique2(k)",
        "aten.bincount(k)", "aten.searchsorted(row.sort()[0], v)",
    ],
    "random": [
        "T.rand(1000, 1000)", "T.randn(1000, 1000)", "T.randint(0, 10, (1000000,))",
        "T.randperm(1000000)", "aten.bernoulli(p)", "aten.native_dropout(x, 0.5, True)",
        "aten.uniform_(out)", "aten.normal_(out)", "aten.exponential_(out)",
    ],
    "matrix": [
        "aten.mm(s, s)", "aten.mm(s, s.t())", "aten.mv(x, row)", "aten.bmm(batch, batch_t)",
        "aten.addmm(b2304, hidden, w_qkv)", "aten.addmm(b3072, hidden, w_up)",
        "aten.addmm(w768, wide, w_down)", "aten.linear(features, w_class)",
        "aten.matmul(q, q.transpose(2, 3))", "aten.mm(hidden, table.t())",
    ],
    "convolution": [
        "aten.conv2d(image, w_stem, None, [2, 2], [3, 3])", "aten.conv2d(c56, w_1x1)",
        "aten.conv2d(c56, w56, None, [1, 1], [1, 1])",
        "aten.conv2d(c28, w28, None, [1, 1], [1, 1])",
        "aten.conv2d(c14, w14, None, [1, 1], [1, 1])", "aten.conv2d(c7, w7, None, [1, 1], [1, 1])",
        "aten.conv2d(c112, w_deep, None, [1, 1], [1, 1], [1, 1], 64)",
        "aten.max_pool2d(c112, [3, 3], [2, 2], [1, 1])", "aten.avg_pool2d(c112, [2, 2])",
        "aten.adaptive_avg_pool2d(c7, [1, 1])",
        "aten.upsample_bilinear2d(c56, [112, 112], False)",
    ],
    "norms and softmax": [
        "aten.softmax(x, 1)", "aten.softmax(x, 0)", "aten.log_softmax(x, 1)",
        "aten.softmax(scores, -1)", "aten.layer_norm(hidden, [768], w768, w768)",
        "aten.layer_norm(x, [1000], row, row)", "aten.group_norm(g, 8, n64, z64)",
        "aten.batch_norm(c112, n64, z64, z64, n64, False, 0.1, 1e-5, True)",
        "aten.batch_norm(g, n64, z64, None, None, True, 0.1, 1e-5, True)",
        "aten.cross_entropy_loss(x, classes)", "aten.mse_loss(x, y)",
    ],
    "attention": [
        "aten.scaled_dot_product_attention(q, q, q)",
        "aten.scaled_dot_product_attention(q, q, q, None, 0.0, True)",
    ],
}  # fmt: skip


def rows(api: SimpleNamespace) -> dict[str, Callable[[], Row]]:
    """Statement -> what sets its row up."""
    return {text: partial(_row, api, text) for texts in FAMILIES.values() for text in texts}


def _row(api: SimpleNamespace, statement: str) -> Row:
    api.T.manual_seed(0)
    words = set(re.findall(r"\b[a-z]\w*\b", statement))
    names = {name: eval(text, {"T": api.T}) for name, text in INPUTS.items() if name in words}
    return Row(statement, {"T": api.T, "aten": api.ops.aten, **names})
