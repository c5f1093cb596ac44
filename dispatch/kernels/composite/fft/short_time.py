"""Transforms of short, overlapping pieces of a signal, and their inverse."""

from __future__ import annotations

import warnings
from typing import Any

from dispatch._C.advice import advise_once
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.composite.reduction.correlation import holds
from dispatch.kernels.meta import rules

__all__ = ["istft", "stft", "stft_center"]

_aten = ops.aten
_NONE, _BY_ROOT, _BY_COUNT = 0, 1, 2


def _check_devices(self: Tensor, window: Tensor | None) -> None:
    if window is not None and window.device != self.device:
        raise refused(f"expected window on {self.device}, where self is, got {window.device}")


def _check_window(window: Tensor | None, win_length: int) -> None:
    if window is not None and (window.ndim != 1 or window.shape[0] != win_length):
        raise refused(
            "Invalid window shape: expected a 1D window tensor of size equal to win_length="
            f"{win_length}, but got window with size {list(window.shape)}"
        )


def _centred(
    self: Tensor, window: Tensor | None, n_fft: int, win_length: int
) -> Tensor | None:
    """A window of `n_fft` points, zero on both sides of the one that is given."""
    if win_length >= n_fft:
        return window
    options = window if window is not None else self
    wide = _aten.zeros([n_fft], dtype=options.dtype, device=options.device)
    left = (n_fft - win_length) // 2
    part = _aten.narrow(wide, 0, left, win_length)
    if window is None:
        _aten.fill_.Scalar(part, 1)
    else:
        _aten.copy_(part, window)
    return wide


def _pieces(
    self: Tensor,
    input: Tensor,
    n_fft: int,
    hop_length: int,
    win_length: int,
    window: Tensor | None,
    align: bool,
) -> Tensor:
    """The windowed pieces of a batch of signals, a row for each."""
    if input.ndim == 1:
        input = _aten.unsqueeze(input, 0)
    length = input.shape[1]
    if n_fft <= 0 or n_fft > length:
        raise refused(f"expected 0 < n_fft <= {length}, but got n_fft={n_fft}")
    if hop_length <= 0:
        raise refused(f"expected hop_length > 0, but got hop_length={hop_length}")
    if win_length <= 0 or win_length > n_fft:
        raise refused(f"expected 0 < win_length <= n_fft, but got win_length={win_length}")
    _check_window(window, win_length)
    wide = _centred(self, window, n_fft, win_length)
    count = 1 + (length - n_fft) // hop_length
    if align:
        count = 1 + (length - win_length) // hop_length
        around = (n_fft - win_length) // 2
        input = _aten.constant_pad_nd(input, [around, n_fft - win_length - around], 0.0)
    step = input.stride(1)
    input = _aten.as_strided(
        input,
        [input.shape[0], count, n_fft],
        [input.stride(0), hop_length * step, step],
    )
    return input if wide is None else _aten.mul.Tensor(input, wide)


def stft_center(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The transform of each piece of `n_fft` points, frequencies by pieces.

    With `center` the signal is padded so that a piece's middle is its place.
    """
    if window is None:
        advise_once("stft", "a rectangular window, which is applied, leaks between frequencies")
    _check_devices(self, window)
    if center and align_to_window is not None:
        raise refused("expected align_to_window to be None with center=True")
    hop = n_fft >> 2 if hop_length is None else hop_length
    wide = n_fft if win_length is None else win_length
    if not (self.dtype.is_floating_point or self.dtype.is_complex) or self.ndim not in (1, 2):
        raise refused(
            "expected a 1D or 2D tensor of floating point or complex values, got "
            f"{self.dtype} of {list(self.shape)}"
        )
    input = self
    if center:
        extra = max(3, self.ndim) - self.ndim
        input = _aten.view(input, [1] * extra + list(self.shape))
        input = _aten.pad(input, [n_fft // 2, n_fft // 2], pad_mode)
        input = _aten.view(input, list(input.shape[extra:]))
    any_complex = self.dtype.is_complex or (window is not None and window.dtype.is_complex)
    as_complex = any_complex if return_complex is None else return_complex
    if not as_complex:
        if return_complex is None:
            raise refused("stft requires the return_complex parameter be given for real inputs")
        advise_once("stft with return_complex=False", "it is deprecated")
    pieces = _pieces(self, input, n_fft, hop, wide, window, bool(align_to_window) and not center)
    half = not pieces.dtype.is_complex if onesided is None else onesided
    norm = _BY_ROOT if normalized else _NONE
    if pieces.dtype.is_complex:
        if half:
            raise refused("Cannot have onesided output if window or input is complex")
        out = _aten._fft_c2c(pieces, [2], norm, True)
    else:
        out = _aten._fft_r2c(pieces, [2], norm, half)
    out = _aten.transpose_(out, 1, 2)
    if self.ndim == 1:
        out = _aten.squeeze_.dim(out, 0)
    return out if as_complex else _aten.view_as_real(out)


def stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The same without padding."""
    return stft_center(
        self,
        n_fft,
        hop_length,
        win_length,
        window,
        False,
        "constant",
        normalized,
        onesided,
        return_complex,
        align_to_window,
    )


def _check_spectrum(self: Tensor, input: Tensor, n_fft: int, onesided: bool) -> None:
    if input.numel() == 0:
        raise refused("input tensor cannot be empty.")
    if input.ndim not in (3, 4):
        raise refused(f"expected self of 2 or 3 dimensions, got {list(self.shape)}")
    rows, formula = (n_fft // 2 + 1, "n_fft / 2 + 1") if onesided else (n_fft, "n_fft")
    if input.shape[-3] != rows:
        raise refused(
            "expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{formula} when onesided={onesided}, {rows}, but got {input.shape[-3]}"
        )


def _real_or_complex(
    input: Tensor, n_fft: int, norm: int, onesided: bool, window: Tensor | None, as_complex: bool
) -> Tensor:
    """The pieces, transformed back."""
    if as_complex:
        if onesided:
            raise refused("cannot have onesided input with return_complex=True")
        return _aten._fft_c2c(input, [2], norm, False)
    if window is not None and window.dtype.is_complex:
        raise refused(f"expected a real window for a real result, got {window.dtype}")
    if not onesided:
        input = _aten.slice(input, -1, 0, n_fft // 2 + 1)
    return _aten._fft_c2r(input, [2], norm, n_fft)


def istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose pieces have these transforms: pieces added up, divided by the windows."""
    if window is None:
        advise_once("istft", "a rectangular window, which is applied, leaks between frequencies")
    _check_devices(self, window)
    hop = n_fft >> 2 if hop_length is None else hop_length
    wide = n_fft if win_length is None else win_length
    if not self.dtype.is_complex:
        raise refused(f"istft requires a complex-valued input tensor, got {self.dtype}")
    known = rules.are_numbers(self.shape)
    input = _aten.view_as_real(_aten.resolve_conj(self))
    ndim = input.ndim
    half = input.size(-3) != n_fft if onesided is None else onesided
    _check_spectrum(self, input, n_fft, half)
    if not 0 < hop <= wide:
        raise refused(f"expected 0 < hop_length <= win_length, got {hop} and {wide}")
    if not 0 < wide <= n_fft:
        raise refused(f"expected 0 < win_length <= n_fft, got {wide} and {n_fft}")
    _check_window(window, wide)
    count = input.shape[-2]
    total = n_fft + hop * (count - 1)
    weights: Any = window
    if weights is None:
        weights = _aten.ones([wide], dtype=input.dtype, device=input.device)
    if wide != n_fft:
        left = (n_fft - wide) // 2
        weights = _aten.constant_pad_nd(weights, [left, n_fft - wide - left], 0)
    if ndim == 3:
        input = _aten.unsqueeze(input, 0)
    pieces = _aten.view_as_complex(_aten.transpose.int(input, 1, 2))
    norm = _BY_ROOT if normalized else _BY_COUNT
    pieces = _real_or_complex(pieces, n_fft, norm, half, window, return_complex)
    pieces = _aten.mul.Tensor(pieces, _aten.view(weights, [1, 1, n_fft]))
    y = _aten.unfold_backward(pieces, [pieces.shape[0], total], 1, n_fft, hop)
    squares = _aten.expand(_aten.pow.Tensor_Scalar(weights, 2), [1, count, n_fft])
    envelope = _aten.unfold_backward(squares, [1, total], 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = -(n_fft // 2) if center else total
    if length is not None:
        end = start + length
    y, envelope = (_aten.slice(t, 1, start, end) for t in (y, envelope))
    if not known:
        rules.need_tracing("whether the windows add up to zero is in values, which are not there")
    elif holds(_aten.lt.Scalar(_aten.min(_aten.abs(envelope)), 1e-11)):
        raise refused("window overlap add min: 1, the windows add up to zero at some place")
    y = _aten.div.Tensor(y, envelope)
    if ndim == 3:
        y = _aten.squeeze.dim(y, 0)
    if end > total:
        warnings.warn(
            f"istft: length {length} is more than the pieces cover; the rest is 0",
            UserWarning,
            stacklevel=2,
        )
        y = _aten.constant_pad_nd(y, [0, end - total], 0)
    return y
