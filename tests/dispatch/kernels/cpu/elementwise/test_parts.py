"""Complex numbers from two parts: broadcast, into memory that a part lies in."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten


def test_parts_are_broadcast():
    real, imag = dispatch.tensor([[1.0], [2.0]]), dispatch.tensor([3.0, 4.0, 5.0])
    want = [[1 + 3j, 1 + 4j, 1 + 5j], [2 + 3j, 2 + 4j, 2 + 5j]]
    assert aten.complex(real, imag).tolist() == want
    out = dispatch.zeros(3, 2, dtype=dispatch.complex64).t()
    assert aten.complex.out(real, imag, out=out).tolist() == want
    assert out.stride() == (1, 2)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("n", [1, 7, 33, 70001])
def test_parts_without_gaps_are_written_in_turn(dtype, n):
    real, imag = dispatch.arange(2 * n).to(getattr(dispatch, dtype)).chunk(2)
    got = dispatch.view_as_real(aten.complex(real, imag))
    assert got[:, 0].equal(real) and got[:, 1].equal(imag)


@pytest.mark.parametrize("which", [0, 1])
def test_a_part_that_lies_in_the_front_of_out_is_read_before_it_is_written(which):
    out = dispatch.zeros(4, dtype=dispatch.complex64)
    inside, other = dispatch.view_as_real(out).view(8)[:4], dispatch.tensor([5.0, 6.0, 7.0, 8.0])
    inside.copy_(dispatch.tensor([1.0, 2.0, 3.0, 4.0]))
    parts = (other, inside) if which else (inside, other)
    aten.complex.out(*parts, out=out)
    written = (out.imag, out.real) if which else (out.real, out.imag)
    assert written[0].tolist() == [1, 2, 3, 4] and written[1].equal(other)


def test_parts_that_are_the_outputs_own():
    out = dispatch.tensor([1 + 2j, 3 + 4j])
    parts = dispatch.view_as_real(out)
    aten.complex.out(parts[:, 1], parts[:, 0], out=out)
    assert out.tolist() == [2 + 1j, 4 + 3j]


def test_lengths_and_angles():
    size, angle = np.array([1.0, 2.0]), np.array([0.5, -2.0])
    got = aten.polar(dispatch.from_numpy(size), dispatch.from_numpy(angle))
    np.testing.assert_allclose(got.numpy(), size * np.exp(1j * angle))
    with pytest.raises(NotImplementedError, match=r"polar.*float16"):
        aten.polar(dispatch.ones(1, dtype=dispatch.half), dispatch.ones(1, dtype=dispatch.half))


def test_parts_of_two_dtypes():
    with pytest.raises(RuntimeError, match=r"complex.*Double"):
        aten.complex(dispatch.ones(1), dispatch.ones(1, dtype=dispatch.float64))


@pytest.mark.parametrize("name", ["complex", "polar"])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_result_lies_in_memory_as_its_parts_do(name, device):
    first = dispatch.ones(6, device=device).as_strided((3, 1, 2), (2, 6, 1))
    second = dispatch.ones(2, 3, device=device).t()
    assert getattr(aten, name)(first, second).stride() == (6, 1, 3)


def test_glu_backward_jvp_starts_from_the_gradient_that_it_is_given():
    grad_x, grad, x, d_grad, d_x = (
        dispatch.tensor([row])
        for row in (
            [3.0, 1.0, 2.0, -1.0], [1.0, 2.0], [0.5, -1.0, 0.0, 2.0], [0.5, 0.25],
            [1.0, 2.0, -1.0, 0.5],
        )
    )  # fmt: skip
    found = dispatch.ops.aten.glu_backward_jvp(grad_x, grad, x, d_grad, d_x, 1)
    assert found[0].tolist() == pytest.approx([-1.25, 0.27980074, 1.5625, 0.25754967])


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_outputs_of_another_dtype(device):
    part = dispatch.ones(2, device=device)
    wide, real = (dispatch.zeros(2, dtype=d, device=device)
                  for d in (dispatch.complex128, dispatch.float32))  # fmt: skip
    for op in (aten.complex.out, aten.polar.out):
        with pytest.raises(RuntimeError, match=r"^aten::\w+\.out: "):
            op(part, part, out=real)
    with pytest.raises(RuntimeError, match=r"^aten::polar\.out: "):
        aten.polar.out(part, part, out=wide)
    if device == "meta":  # PyTorch's shape function converts between complex dtypes
        assert aten.complex.out(part, part, out=wide) is wide
        with pytest.raises(AssertionError, match="bool"):
            aten.polar.out(part, part.bool(), out=wide)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_glu_of_any_dimension_and_order(dtype, dim):
    kind = getattr(dispatch, dtype)
    rtol = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-6, "float64": 1e-14}[dtype]
    for order in ((0, 1, 2), (2, 0, 1)):
        x = dispatch.randn(6, 40, 34).permute(order).to(kind)
        grad = dispatch.randn(aten.glu(x, dim).shape).to(kind)
        first, second = np.split(x.double().numpy(), 2, dim)
        gate, given = 1 / (1 + np.exp(-second)), grad.double().numpy()
        slopes = np.concatenate([given * gate, given * first * gate * (1 - gate)], dim)
        for found, wanted in (
            (aten.glu(x, dim), first * gate),
            (aten.glu_backward(grad, x, dim), slopes),
        ):
            np.testing.assert_allclose(found.double().numpy(), wanted, rtol=rtol, atol=rtol)


def test_glu_into_another_dtype_and_into_what_it_reads():
    x = dispatch.randn(8, 6)
    wanted = aten.glu(x, 1)
    assert aten.glu.out(x, 1, out=dispatch.empty(8, 3, dtype=dispatch.float64)).tolist() == (
        wanted.double().tolist()
    )
    with pytest.raises(NotImplementedError, match=r"glu.*int64"):
        aten.glu(dispatch.ones(4, dtype=dispatch.int64))
    assert aten.glu(dispatch.ones(0, 4)).shape == (0, 2)
    assert aten.glu.out(x, 1, out=x[:, 1:4]).tolist() == wanted.tolist()


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_glu_lies_as_its_half_does(device):
    x = dispatch.ones(4, 5, 6, device=device).permute(2, 0, 1)
    assert dispatch.ops.aten.glu(x, 0).stride() == (1, 15, 3)
    assert dispatch.ops.aten.glu(x, 1).stride() == (1, 30, 6)
    last = dispatch.ones(2, 4, 6, 8, device=device).to(memory_format=dispatch.channels_last)
    assert dispatch.ops.aten.glu(last, 1).stride() == (96, 1, 16, 2)
