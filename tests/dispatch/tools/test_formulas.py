"""`flops`: the numbers that torch.utils.flop_counter 2.13 gives for the same call."""

import pytest

from dispatch.tools.formulas import FlopCall, count_flops, flop_formula, has_formula

CONV = {"input": (2, 4, 8, 8), "weight": (6, 4, 3, 3)}
GRAD = {"grad_output": (2, 6, 6, 6), **CONV, "transposed": False, "output_mask": [True, True]}
ATTENTION = {"query": (2, 4, 5, 8), "key": (2, 4, 7, 8), "value": (2, 4, 7, 6)}
EINSUM = "aten::einsum"
BOTH_WAYS = [(20, 6), (20, 5), (20,), (20,)] * 2


@pytest.mark.parametrize(
    ("op", "args", "outputs", "flops"),
    [
        ("aten::mm", {"self": (2, 3), "mat2": (3, 4)}, [(2, 4)], 48),
        ("aten::mm.out", {"self": (2, 3), "mat2": (3, 4)}, [(2, 4)], 48),
        ("aten::addmm", {"mat1": (2, 3), "mat2": (3, 4)}, [(2, 4)], 48),
        ("aten::bmm", {"self": (5, 2, 3), "mat2": (5, 3, 4)}, [(5, 2, 4)], 240),
        ("aten::baddbmm", {"batch1": (5, 2, 3), "batch2": (5, 3, 4)}, [(5, 2, 4)], 240),
        ("aten::linear", {"input": (7, 2, 3), "weight": (4, 3)}, [(7, 2, 4)], 336),
        ("aten::linear", {"input": (2, 3), "weight": (3,)}, [(2,)], 0),
        ("aten::matmul", {"self": (3,), "other": (3, 4)}, [(4,)], 24),
        ("aten::matmul", {"self": (2, 3), "other": (3,)}, [(2,)], 0),
        ("aten::matmul", {"self": (6, 1, 2, 3), "other": (5, 3, 4)}, [(6, 5, 2, 4)], 1440),
        ("aten::conv2d", CONV, [(2, 6, 6, 6)], 31104),
        ("aten::conv2d", {"input": (4, 8, 8), "weight": (6, 4, 3, 3)}, [(6, 6, 6)], 15552),
        ("aten::convolution", {**CONV, "transposed": False}, [(2, 6, 6, 6)], 31104),
        (
            "aten::conv_transpose2d.input",
            {"input": (2, 4, 8, 8), "weight": (4, 6, 3, 3), "output_padding": None},
            [(2, 6, 17, 17)],
            55296,
        ),
        ("aten::convolution_backward", GRAD, [(2, 4, 8, 8), (6, 4, 3, 3)], 62208),
        ("aten::scaled_dot_product_attention", ATTENTION, [(2, 4, 5, 6)], 7840),
        ("aten::lstm.input", {"input": (3, 20, 6), "params": BOTH_WAYS}, [], 52800),
        ("aten::gru.data", {"data": (7, 6), "params": [(15, 6), (15, 5)]}, [], 2310),
        ("aten::lstm_cell", {"input": (3, 6), "w_ih": (20, 6), "w_hh": (20, 5)}, [], 1320),
        (EINSUM, {"equation": "ij,kj->ik", "tensors": [(3, 4), (5, 4)]}, [], 120),
        (EINSUM, {"equation": "i,j->ij", "tensors": [(3,), (4,)]}, [], 0),
        (EINSUM, {"equation": "ij,jk,kl->il", "tensors": [(2, 3), (3, 4), (4, 5)]}, [], 128),
        (EINSUM, {"equation": "...ij,...jk", "tensors": [(2, 3, 4), (2, 4, 5)]}, [], 240),
        (EINSUM, {"equation": "ij,kl->ik", "tensors": [(2, 3), (4, 5)]}, [], 0),
    ],
)
def test_counts(op, args, outputs, flops):
    assert has_formula(op)
    assert count_flops(op, FlopCall(args, outputs)) == flops


def test_arguments_that_do_not_fit_count_nothing():
    assert count_flops("aten::mm", FlopCall({"self": None, "mat2": (3, 4)}, [])) == 0
    assert count_flops("aten::mm", FlopCall({}, [])) == 0


def test_a_package_adds_a_formula():
    @flop_formula("testlib::double")
    def double(call):
        return 2 * call.outputs[0][0]

    assert has_formula("testlib::double.out")
    assert count_flops("testlib::double", FlopCall({}, [(7,)])) == 14
