"""`torch.nn.utils.parametrizations`: weights that are orthogonal, of norm 1, or length times
direction, computed when they are read (`parametrize`)."""

from enum import Enum, auto
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch.as_torch.nn.functional import normalize
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parametrize import register_parametrization
from dispatch.as_torch.nn.utils.spectral_norm import as_matrix, rows_of

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _OrthMaps(Enum):
    """How an orthogonal matrix is made from any one."""

    matrix_exp = auto()
    cayley = auto()
    householder = auto()


def _diagonal(x: Tensor) -> Tensor:
    return x.diagonal(dim1=-2, dim2=-1)


def _is_orthogonal(q: Tensor) -> bool:
    one = dispatch.eye(q.size(-1), dtype=q.dtype, device=q.device)
    near = 10.0 * q.size(-2) * dispatch.finfo(q.dtype).eps
    return bool(dispatch.allclose(q.mH @ q, one, atol=near))


def _make_orthogonal(a: Tensor) -> Tensor:
    """Q of a = QR, where R's diagonal is not negative."""
    reflectors, tau = dispatch.geqrf(a)
    q = dispatch.linalg.householder_product(reflectors, tau)
    return q.mul_(_diagonal(reflectors).sgn().unsqueeze(-2))


class _Orthogonal(Module):
    base: Any

    def __init__(self, weight: Any, orthogonal_map: _OrthMaps, *, use_trivialization: bool) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        """An orthogonal matrix from `x`; of a wide one the rows are."""
        wide = x.size(-2) < x.size(-1)
        if wide:
            x = x.mT
        q = self._reflected(x) if self.orthogonal_map is _OrthMaps.householder else self._turned(x)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _turned(self, x: Tensor) -> Tensor:
        """By the skew part of a square matrix with `x` in its first columns."""
        n, k = x.size(-2), x.size(-1)
        x = x.tril()
        if n != k:
            rest = x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)
            x = dispatch.cat([x, rest], dim=-1)
        skew = x - x.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            q = dispatch.matrix_exp(skew)
        else:
            one = dispatch.eye(n, dtype=skew.dtype, device=skew.device)
            q = dispatch.linalg.solve(
                dispatch.add(one, skew, alpha=-0.5), dispatch.add(one, skew, alpha=0.5)
            )
        return q[..., :k] if n != k else q

    def _reflected(self, x: Tensor) -> Tensor:
        """By reflections, below the diagonal of `x`; the diagonal has signs."""
        a = x.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (a * a).sum(dim=-2))
        q = dispatch.linalg.householder_product(a, tau)
        return q * _diagonal(x).int().unsqueeze(-2)

    @dispatch.no_grad()
    def right_inverse(self, q: Tensor) -> Tensor:
        """What `forward` makes `q` of, or the orthogonal matrix next to it."""
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. "
                f"Got a tensor of shape {q.shape}."
            )
        wide = q.size(-2) < q.size(-1)
        tall = q.mT if wide else q
        if not hasattr(self, "base"):
            if self.orthogonal_map is not _OrthMaps.householder:
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            a, tau = dispatch.geqrf(tall)
            _diagonal(a).sign_()
            _diagonal(a)[tau == 0.0] *= -1
            return a.mT if wide else a
        n, k = tall.size(-2), tall.size(-1)
        if n != k:
            more = dispatch.randn(*tall.shape[:-2], n, n - k, dtype=q.dtype, device=q.device)
            tall = dispatch.cat([tall, more], dim=-1)
        done = n == k and _is_orthogonal(tall)
        self.base = tall.clone() if done else _make_orthogonal(tall)
        start = dispatch.zeros_like(q)
        _diagonal(start).fill_(-1.0)
        return start


def _weight(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *,
    use_trivialization: bool = True,
) -> Module:  # fmt: skip
    """Make a matrix (or each of many) orthogonal, or unitary if it is complex.

    Args: orthogonal_map, "matrix_exp", "cayley" or "householder" (None: the first for square or
    complex ones, the last for others); use_trivialization, with a matrix that it starts from.

    Raises: ValueError for no such tensor, less than two dimensions, an unknown map, or complex
    reflections.
    """
    weight = _weight(module, name)
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1) or weight.is_complex()
        orthogonal_map = "matrix_exp" if square else "householder"
    kind = _OrthMaps.__members__.get(orthogonal_map)
    if kind is None:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, kind, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """Length times direction."""
        return dispatch._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Length and direction."""
        return dispatch.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Compute a weight from its length, for each index of `dim` (None: of all), and direction.

    State dicts of the older `torch.nn.utils.weight_norm` are read too. Raises: ValueError for no
    such tensor.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(
        state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{i}"
                state_dict[new] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    _u: Any
    _v: Any

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            rows, columns = matrix.size()
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    @dispatch.no_grad()
    def _power_method(self, matrix: Tensor, steps: int) -> None:
        for _ in range(steps):
            u = dispatch.mv(matrix, self._v)
            self._u = normalize(u, dim=0, eps=self.eps, out=self._u)
            v = dispatch.mv(matrix.H, self._u)
            self._v = normalize(v, dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Tensor:
        """The weight over its norm."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = (x.clone(memory_format=dispatch.contiguous_format) for x in (self._u, self._v))
        return weight / dispatch.vdot(u, dispatch.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself: its norm is taken for 1."""
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
    dim: int | None = None,
) -> Module:  # fmt: skip
    """Divide a weight by its norm as a matrix, which a power iteration gives.

    Args: n_power_iterations, steps at each reading in training; eps, for vectors of no length; dim,
    the rows (None: those of the output).

    Raises: ValueError for no such tensor or no positive number of steps; IndexError for `dim`.
    """
    weight = _weight(module, name)
    made = _SpectralNorm(weight, n_power_iterations, rows_of(module, dim), eps)
    return register_parametrization(module, name, made)
