"""Functions that call operators, and the older names of operators on Tensor."""

from inspect import signature

import pytest

import dispatch
from dispatch import Tensor
from dispatch._C import advice
from dispatch.modes.function import TorchFunctionMode, get_testing_overrides, resolve_name

t = dispatch.tensor


def seen_by_a_mode(call):
    names = []

    class Names(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append(resolve_name(func))
            return 7

    with Names():
        assert call() == 7
    return names


EYE = dispatch.eye(2)
SIGNAL, PLACES = dispatch.ones(8), t([3])
ASKING = {
    "dispatch.cdist": lambda: dispatch.cdist(EYE, EYE),
    "dispatch.chain_matmul": lambda: dispatch.chain_matmul(EYE, EYE),
    "dispatch.stft": lambda: dispatch.stft(SIGNAL, 4),
    "dispatch.unravel_index": lambda: dispatch.unravel_index(PLACES, (2, 2)),
    "dispatch.dsmm": lambda: dispatch.dsmm(EYE, EYE),
    "dispatch.hsmm": lambda: dispatch.hsmm(EYE, EYE),
    "dispatch.saddmm": lambda: dispatch.saddmm(EYE, EYE, EYE),
    "dispatch.lobpcg": lambda: dispatch.lobpcg(EYE),
    "dispatch.lu": lambda: dispatch.lu(EYE),
    "dispatch.pca_lowrank": lambda: dispatch.pca_lowrank(EYE),
    "dispatch.svd_lowrank": lambda: dispatch.svd_lowrank(EYE),
    "dispatch.sym_float": lambda: dispatch.sym_float(EYE),
    "dispatch.Tensor.__div__": lambda: EYE.__div__(2),
    "dispatch.Tensor.__long__": lambda: EYE.__long__(),
    "dispatch.Tensor.lu": lambda: EYE.lu(),
    "dispatch.Tensor.index": lambda: EYE.index([0], []),
    "dispatch.Tensor.const_data_ptr": lambda: EYE.const_data_ptr(),
    "dispatch.Tensor.__cuda_array_interface__.__get__": lambda: EYE.__cuda_array_interface__,
    "dispatch.Tensor.__reduce_ex__": lambda: EYE.__reduce_ex__(2),
    "dispatch.Tensor.__setstate__": lambda: EYE.__setstate__({}),
    "dispatch.Tensor.retain_grad": lambda: EYE.retain_grad(),
}


@pytest.mark.filterwarnings("ignore:(lu|chain_matmul). deprecated")
@pytest.mark.parametrize("name", ASKING)
def test_modes_see_the_function_itself(name):
    assert seen_by_a_mode(ASKING[name])[:1] == [name]
    assert name in {resolve_name(f) for f in get_testing_overrides()}


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("storage", "(self)"), ("__dlpack_device__", "(self)"),
        ("__dlpack__", "(self, *, stream=-1, max_version=None, dl_device=None, copy=None)"),
        ("norm", "(self, p='fro', dim=None, keepdim=False, dtype=None)"),
    ],
)  # fmt: skip
def test_stand_ins_of_what_is_loaded_later_have_its_arguments(method: str, arguments: str) -> None:
    assert str(signature(get_testing_overrides()[getattr(Tensor, method)])) == arguments


def test_distances_by_every_way_to_compute_them():
    x, y = t([[0.0, 0.0]]), t([[3.0, 4.0], [0.0, 1.0]])
    for mode in ("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"):
        assert dispatch.cdist(x, y, compute_mode=mode).tolist() == [[5.0, 1.0]]
    assert dispatch.cdist(x, y, 1.0).tolist() == [[7.0, 1.0]]
    with pytest.raises(ValueError, match="other is not a valid value"):
        dispatch.cdist(x, y, compute_mode="other")


@pytest.mark.filterwarnings("ignore:chain_matmul. deprecated")
def test_products_of_several_matrices_go_into_out():
    a, b, c = dispatch.ones(2, 3), dispatch.ones(3, 4), dispatch.ones(4, 1)
    out = dispatch.empty(2, 1)
    assert dispatch.chain_matmul(a, b, c, out=out) is out
    assert out.tolist() == [[12.0], [12.0]] == dispatch.chain_matmul(a, b, c).tolist()


def test_signals_are_padded_around_their_windows():
    x, window = dispatch.arange(8.0), dispatch.ones(4)
    centred = dispatch.stft(x, 4, 2, window=window, return_complex=True)
    plain = dispatch.stft(x, 4, 2, window=window, center=False, return_complex=True)
    assert centred.shape == (3, 5) and plain.shape == (3, 3)
    assert centred[:, 1:4].tolist() == plain.tolist()
    assert dispatch.stft(x.expand(2, 8), 4, window=window, return_complex=True).shape == (2, 3, 9)
    constant = dispatch.stft(x, 4, 2, window=window, pad_mode="constant", return_complex=True)
    assert constant[0, 0] == 1 and centred[0, 0] == 4
    with pytest.raises(RuntimeError, match="align_to_window"):
        dispatch.stft(x, 4, window=window, align_to_window=True, return_complex=True)


def test_places_in_a_flat_array_have_coordinates():
    rows, columns = dispatch.unravel_index(t([[5, 7]], dtype=dispatch.uint8), (2, 4))
    assert rows.tolist() == [[1, 1]] and columns.tolist() == [[1, 3]]
    assert rows.dtype == dispatch.int64
    assert [c.tolist() for c in dispatch.unravel_index(t([5]), 3)] == [[2]]
    assert dispatch.unravel_index(t([5]), ()) == ()


@pytest.mark.parametrize(
    ("indices", "shape", "error"),
    [
        (t([5.0]), (2,), TypeError),
        (t([True]), (2,), TypeError),
        (t([5]), "ab", TypeError),
        (t([5]), 2.0, TypeError),
        (t([5]), (2, -1), ValueError),
    ],
)
def test_places_and_shapes_that_are_none_are_refused(indices, shape, error):
    with pytest.raises(error, match=r"expected|negative"):
        dispatch.unravel_index(indices, shape)


@pytest.mark.filterwarnings("ignore:lu. deprecated")
def test_factors_with_and_without_infos():
    a = t([[0.0, 2.0], [4.0, 2.0]])
    factors, pivots = dispatch.lu(a)
    assert factors.tolist() == [[4.0, 2.0], [0.0, 2.0]] and pivots.tolist() == [2, 2]
    assert len(a.lu(get_infos=True)) == 3
    out = (dispatch.empty(0), dispatch.empty(0, dtype=dispatch.int32))
    assert dispatch.lu(a, out=out) is out and out[0].tolist() == factors.tolist()
    with pytest.raises(TypeError, match="tuple of 2"):
        dispatch.lu(a, out=(a,))


@pytest.mark.parametrize("sizes", [(6, 3, 5), (5, 2, 9)])
def test_a_matrix_of_low_rank_is_its_factors_product(sizes):
    m, rank, n = sizes
    a = dispatch.randn(m, rank, dtype=dispatch.float64)
    a = a @ dispatch.randn(rank, n, dtype=dispatch.float64)
    u, s, v = dispatch.svd_lowrank(a, rank + 1)
    assert u.shape == (m, rank + 1) and v.shape == (n, rank + 1)
    assert dispatch.allclose(u @ dispatch.diag(s) @ v.mT, a)
    mean = a.mean(dim=0, keepdim=True)
    u, s, v = dispatch.pca_lowrank(a, rank + 1)
    assert dispatch.allclose(u @ dispatch.diag(s) @ v.mT, a - mean)
    assert dispatch.allclose(dispatch.svd_lowrank(a, rank + 1, 2, mean.expand(m, n))[1], s)
    for wrong in ({"q": 7}, {"niter": -1}):
        with pytest.raises(ValueError, match=r"q|niter"):
            dispatch.pca_lowrank(a, **wrong)


def test_components_of_complex_rows():
    a = dispatch.randn(5, 3, dtype=dispatch.complex128)
    u, s, v = dispatch.pca_lowrank(a)
    assert s.dtype is dispatch.float64 and u.dtype is v.dtype is dispatch.complex128
    assert dispatch.allclose(u * s @ v.mH, a - a.mean(dim=0, keepdim=True))


def test_older_names_of_operators():
    x = t([3.0])
    assert Tensor.__div__(x, 2).tolist() == [1.5] and Tensor.__idiv__(x, 2) is x
    assert x.__long__() == 1 and x.__nonzero__() is True


class Number:
    def __init__(self, value):
        self.value = value

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__

    def __index__(self):
        return self.value


@pytest.mark.parametrize(
    "index",
    [Number(0), [Number(0)], (0, Number(0)), (0, [Number(0)]), (0, (Number(0), 1)), [[Number(0)]]],
    ids=range(6),
)
def test_handlers_within_lists_of_an_index_are_asked(index):
    assert dispatch.ones(3, 3)[index] == "__getitem__"
    assert dispatch.ones(3, 3)[0, [0, 1]].shape == (2,)


def test_function_modes_answer_for_devices():
    """Of every form of the call; what they answer is a device, and other threads see nothing."""
    asked = []

    class Renamed(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            asked.append((func, args, kwargs))
            if func is dispatch.device and isinstance(args[0], int):
                args = ("xla", *args)
            return func(*args, **(kwargs or {}))

    with Renamed():
        assert dispatch.device(1) == dispatch.device("xla", 1)
        assert asked[0] == (dispatch.device, (1,), None)
    asked.clear()
    assert (dispatch.device("cpu").type, asked) == ("cpu", [])

    class Three(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return 3

    with Three(), pytest.raises(TypeError):
        dispatch.device("cpu")


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("general", [True, False])
def test_lobpcg_finds_the_outermost_eigenvalues(largest, general):
    dispatch.manual_seed(0)
    a, b = (m @ m.mT + dispatch.eye(9) for m in dispatch.randn(2, 4, 9, 9, dtype=dispatch.float64))
    b = b if general else None
    values, vectors = dispatch.lobpcg(a, 2, b, largest=largest)
    assert (values.shape, vectors.shape) == ((4, 2), (4, 9, 2))
    right = vectors * values.unsqueeze(-2)
    assert dispatch.allclose(a @ vectors, right if b is None else b @ right)
    assert bool((values[:, 0] > values[:, 1]).all()) is largest
    assert dispatch.lobpcg(a, X=a[..., :3])[0].shape == (4, 3)


def test_lobpcg_refuses_what_does_not_fit():
    a = dispatch.eye(8)
    with pytest.raises(ValueError, match="too few"):
        dispatch.lobpcg(a, 3)
    for wrong in ((a[:4], 1), (a, 1, dispatch.eye(3))):
        with pytest.raises(RuntimeError, match="lobpcg: expected"):
            dispatch.lobpcg(*wrong)


def test_meshgrid_without_indexing_warns_once(monkeypatch):
    monkeypatch.setattr(advice, "_told", set())
    with pytest.warns(UserWarning, match="meshgrid: it will be required to pass the") as seen:
        first, second = (dispatch.meshgrid(t([1, 2]), t([3])) for _ in range(2))
    assert [w.filename for w in seen] == [__file__]
    assert all(a.equal(b) for a, b in zip(first, second, strict=True))
    assert dispatch.meshgrid(t([1, 2]), t([3]), indexing="ij")[0].equal(first[0])


@pytest.mark.parametrize(
    "name",
    [
        "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors",
        "cartesian_prod", "chain_matmul", "lu", "meshgrid", "unique", "unique_consecutive",
    ],
)  # fmt: skip
def test_a_number_is_no_tensor_for_functions_in_python(name):
    """As other functions refuse it; the operators below raise RuntimeErrors."""
    with pytest.raises(TypeError, match=name):
        getattr(dispatch, name)(3)


def test_einsum_reads_lists_of_numbers():
    """Numbers are letters: 0 is A, 26 is a."""
    a, b = t([[1.0, 2.0], [3.0, 4.0]]), t([[0.0, 1.0], [1.0, 0.0]])
    assert dispatch.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist() == (a @ b).tolist()
    assert dispatch.einsum(a, [..., 27]).tolist() == a.tolist()
    assert dispatch.einsum(a, [26, 1], [1, 26]).tolist() == a.t().tolist()


@pytest.mark.parametrize("n", [-1, 52])
def test_einsum_refuses_numbers_that_are_no_letters(n):
    with pytest.raises(ValueError, match=r"einsum.* not within the valid range \[0, 52\)"):
        dispatch.einsum(dispatch.ones(2), [n])


@pytest.mark.parametrize("args", [(), ("a",), ("", []), (dispatch.ones(2),)])
def test_einsum_refuses_an_equation_without_operands(args):
    with pytest.raises(ValueError, match="at least one operand"):
        dispatch.einsum(*args)


def test_a_handler_of_einsum_gets_the_equation_and_the_operands():
    class Seen(dispatch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            assert func is dispatch.einsum and not kwargs
            return [a if isinstance(a, str) else "operand" for a in args]

    x = dispatch.ones(2, 2).as_subclass(Seen)
    assert dispatch.einsum(x, [0, 1], x, [1, 2]) == ["AB,BC", "operand", "operand"]
    assert dispatch.einsum("ij->ji", [x]) == ["ij->ji", "operand"]
