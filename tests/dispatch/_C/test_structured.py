"""What shape functions return; that bodies get what is handed over stands in `test_crossing`."""

import subprocess
import sys

import numpy as np
import pytest

import dispatch
from dispatch import from_numpy, ops
from dispatch._C.structured import Shaped, TensorSpec


def _spec(**given):
    return TensorSpec((2,), dispatch.float32, **given)


def test_specs_are_equal_when_all_they_say_is():
    assert _spec(cast="safe", overlap="any") == _spec(cast="safe", overlap="any")
    assert _spec() != _spec(cast="safe")
    assert _spec() != _spec(device=dispatch.device("meta"))
    assert _spec() != ((2,), dispatch.float32)


@pytest.mark.parametrize("given", [{"cast": 1}, {"cast": "unsafe"}, {"overlap": "all"}])
def test_unknown_words_are_refused(given):
    with pytest.raises(ValueError, match="expected cast to be one of"):
        _spec(**given)


def test_no_more_is_handed_over_than_there_is_room_for():
    assert Shaped(_spec(), *range(8)).handed == tuple(range(8))
    with pytest.raises(ValueError, match="at most 8"):
        Shaped(_spec(), *range(9))


A = ops.aten


def _of_numpy(n, dtype=np.float32):
    return from_numpy(np.ones(n, dtype))


@pytest.mark.parametrize(
    "call",
    [
        lambda out: A.add.out(dispatch.ones(1000), 1, out=out),
        lambda out: A.sin.out(dispatch.ones(1000), out=out),
        lambda out: A.cat.out([dispatch.ones(500)] * 2, out=out),
        lambda out: A.sum.IntList_out(dispatch.ones(2, 1000), [0], out=out),
        lambda out: A.arange.start_out(0, 1000, out=out),
        lambda out: A.resize_.default(out, [1000]),
        lambda out: A.sort.values(
            dispatch.ones(1000), values=out, indices=dispatch.empty(0, dtype=dispatch.int64)
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*(was|will be) resized")
def test_an_output_over_memory_that_cannot_grow_stays_as_it_was(call):
    out = _of_numpy(2)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        call(out)
    assert out.shape == (2,) and out.tolist() == [1.0, 1.0]


@pytest.mark.filterwarnings("ignore:.*was resized")
def test_no_output_changes_when_one_of_them_is_refused():
    values, indices = dispatch.ones(2), _of_numpy(2, np.int64)
    with pytest.raises(RuntimeError, match="not resizable"):
        A.sort.values(dispatch.ones(1000), values=values, indices=indices)
    assert values.shape == (2,) and values.untyped_storage().nbytes() == 8


@pytest.mark.filterwarnings("error:.*was resized")
def test_a_warning_that_is_an_error_leaves_the_output():
    out = dispatch.ones(2)
    with pytest.raises(UserWarning, match="An output with one or more elements was resized"):
        A.add.out(dispatch.ones(3), 1, out=out)
    assert out.shape == (2,)


def test_an_operand_that_would_be_resized_is_refused():
    x = dispatch.ones(3)
    with pytest.raises(RuntimeError, match=r"shape \[3\] doesn't match the broadcast shape"):
        A.add.out(x, dispatch.ones(2, 3), out=x)
    assert x.shape == (3,)


# ---- out arguments on another device than the result's


def _out(device, dtype=dispatch.float32):
    return dispatch.empty(0, dtype=dtype, device=device)


OUT_CALLS = {
    "add": lambda x, i, o: dispatch.add(x, 1, out=_out(o)),
    "add of 0-d": lambda x, i, o: dispatch.add(x[0, 0], 1, out=_out(o)),
    "neg": lambda x, i, o: dispatch.neg(x, out=_out(o)),
    "mm": lambda x, i, o: dispatch.mm(x, x, out=_out(o)),
    "cat": lambda x, i, o: dispatch.cat([x, x], out=_out(o)),
    "index_select": lambda x, i, o: dispatch.index_select(x, 0, i, out=_out(o)),
    "max": lambda x, i, o: dispatch.max(x, 0, out=(_out(o), _out(o, dispatch.int64))),
    "sum": lambda x, i, o: dispatch.sum(x, 0, out=_out(o)),
    "cumsum": lambda x, i, o: dispatch.cumsum(x, 0, out=_out(o)),
    "sort": lambda x, i, o: dispatch.sort(x, out=(_out(o), _out(o, dispatch.int64))),
    "where": lambda x, i, o: dispatch.where(x > 0, x, x, out=_out(o)),
    "softmax": lambda x, i, o: dispatch.softmax(x, 0, out=_out(o)),
    "gather": lambda x, i, o: dispatch.gather(x, 0, i[None], out=_out(o)),
    "view_copy": lambda x, i, o: A.view_copy.out(x, [4], out=_out(o)),
    "var": lambda x, i, o: dispatch.var(x, 0, out=_out(o)),
    "dot": lambda x, i, o: dispatch.dot(x[0], x[0], out=_out(o)),
    "kron": lambda x, i, o: dispatch.kron(x, x, out=_out(o)),
    "cummax": lambda x, i, o: dispatch.cummax(x, 0, out=(_out(o), _out(o, dispatch.int64))),
    "mode": lambda x, i, o: dispatch.mode(x, 0, out=(_out(o), _out(o, dispatch.int64))),
    "logsumexp": lambda x, i, o: dispatch.logsumexp(x, 0, out=_out(o)),
    "mvlgamma": lambda x, i, o: dispatch.mvlgamma(x + 3, 2, out=_out(o)),
    "cholesky_solve": lambda x, i, o: dispatch.cholesky_solve(x, x, out=_out(o)),
    "complex": lambda x, i, o: dispatch.complex(x, x, out=_out(o, dispatch.complex64)),
    "polar": lambda x, i, o: dispatch.polar(x, x, out=_out(o, dispatch.complex64)),
    "vdot": lambda x, i, o: dispatch.vdot(*[x[0] * 1j] * 2, out=_out(o, dispatch.complex64)),
    "addr of two dtypes": lambda x, i, o: dispatch.addr(
        x.double(), x[0], x[0], out=_out(o, dispatch.float64)
    ),
}


@pytest.mark.parametrize(("inputs", "output"), [("meta", "cpu"), ("cpu", "meta")])
@pytest.mark.parametrize("name", OUT_CALLS)
def test_a_result_is_not_written_to_another_device(name, inputs, output):
    x = dispatch.ones(2, 2, device=inputs)
    index = dispatch.zeros(2, dtype=dispatch.int64, device=inputs)
    OUT_CALLS[name](x, index, inputs)
    with pytest.raises(RuntimeError, match=f"to have device {inputs}, but got {output}"):
        OUT_CALLS[name](x, index, output)


def test_an_output_that_was_refused_is_as_it_was():
    out = dispatch.ones(3)
    with pytest.raises(RuntimeError, match="device"):
        dispatch.neg(dispatch.ones(2, 2, device="meta"), out=out)
    assert out.tolist() == [1, 1, 1]


@pytest.mark.parametrize("answer", ["()", "[1]", "(1, 2)", "3", "None"])
def test_a_shape_function_with_another_answer_is_an_error(answer):
    """In a process of its own: kernels are looked up once."""
    program = f"""
import dispatch, dispatch.kernels.meta.reduction.statistics as shapes
shapes.kthvalue = lambda *a: {answer}
try:
    dispatch.kthvalue(dispatch.ones(2), 1)
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "shape function" in done.stdout


def _one(*sizes, dtype=dispatch.float32):
    """A tensor of these sizes over one element."""
    return dispatch.zeros((), dtype=dtype).expand(sizes)


OVERLAPPED = {
    "add": lambda x: dispatch.add(x, 1, out=_one(2, 2)),
    "mm": lambda x: dispatch.mm(x, x, out=_one(2, 2)),
    "addmm": lambda x: dispatch.addmm(x, x, x, out=_one(2, 2)),
    "sum": lambda x: dispatch.sum(x, 0, out=_one(2)),
    "max": lambda x: dispatch.max(x, 0, out=(_one(2), dispatch.empty(2, dtype=dispatch.int64))),
    "indices": lambda x: dispatch.max(x, 0, out=(dispatch.empty(2), _one(2, dtype=dispatch.int64))),
    "pad": lambda x: ops.aten.reflection_pad1d.out(x, [1, 1], out=_one(2, 4)),
    "inverse": lambda x: dispatch.linalg.inv(x + x.T, out=_one(2, 2)),
    "complex": lambda x: dispatch.complex(x, x, out=_one(2, 2, dtype=dispatch.complex64)),
    "range": lambda _: ops.aten.range.out(0, 2, out=_one(3)),
    "eye": lambda _: dispatch.eye(2, out=_one(2, 2)),
    "randperm": lambda _: dispatch.randperm(3, out=_one(3, dtype=dispatch.int64)),
    "cummax": lambda x: dispatch.cummax(
        x, 0, out=(_one(2, 2), dispatch.empty(0, dtype=dispatch.int64))
    ),
}


@pytest.mark.parametrize("name", OVERLAPPED)
def test_an_output_that_overlaps_itself_is_refused(name):
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        OVERLAPPED[name](dispatch.tensor([[2.0, 1.0], [0.0, 1.0]]))


def test_an_expanded_output_of_one_element_is_written():
    assert dispatch.sum(dispatch.ones(3, 1), 0, out=_one(1)).tolist() == [3]


def test_without_elements_nothing_overlaps():
    empty = dispatch.zeros(0, 1, 3).expand(0, 10, 3)
    assert dispatch.ops.aten.ne_.Scalar(empty, 0) is empty


def _index():
    return dispatch.empty(0, dtype=dispatch.int64)


@pytest.mark.filterwarnings("ignore:.*was resized")
@pytest.mark.parametrize(
    "call",
    [
        lambda x: A.sum.IntList_out(x, [0], out=x),
        lambda x: A.max.dim_max(x, 0, max=x, max_values=_index()),
        lambda x: A.mv.out(x, dispatch.ones(3), out=x),
        lambda x: A.mm.out(x, dispatch.ones(3, 4), out=x),
        lambda x: A.kthvalue.values(x, 1, values=x, indices=_index()),
        lambda x: A.prod.int_out(x, 1, out=x),
    ],
)
def test_an_output_that_would_take_other_sizes_is_no_argument(call):
    """The body would read it by its new sizes."""
    x = dispatch.arange(6.0).view(2, 3)
    with pytest.raises(RuntimeError, match="would take the result's sizes"):
        call(x)
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert A.cumsum.out(x, 0, out=x) is x  # of the same sizes it may be


def test_one_tensor_is_not_given_for_results_of_two_sizes():
    y = dispatch.empty(0)
    with pytest.raises(RuntimeError, match="two results of different sizes"):
        A.linalg_qr.out(dispatch.ones(5, 3), Q=y, R=y)
    assert y.shape == (0,)


def test_an_output_may_have_another_dtype_of_its_kind_and_memory_of_others():
    for made in (dispatch.zeros(2, dtype=dispatch.float64), from_numpy(np.zeros(2))):
        assert dispatch.add(dispatch.ones(2), 1, out=made) is made
        assert made.tolist() == [2, 2]
    room = from_numpy(np.zeros(4, np.float32))
    assert dispatch.add(dispatch.ones(2), 1, out=room[:0]).tolist() == [2, 2]
    assert room.tolist() == [2, 2, 0, 0]


@pytest.mark.parametrize(
    "call",
    [
        "addmm.out(ones(2, 2), meta(2, 2), meta(2, 2), out=out)",
        "mm.out(ones(2, 2), meta(2, 2), out=out)",
        "cat.out([ones(1, 2), meta(1, 2)], out=out)",
        "index_select.out(ones(4, 2), 0, meta(2, dtype=dispatch.int64), out=out)",
        "exponential.out(meta(2, 2), out=out)",
        "normal.Tensor_Tensor_out(meta(2, 2), meta(2, 2), out=out)",
        "logspace.Tensor_Tensor_out(meta(()), meta(()), 4, out=out)",
        "unbind_copy.int_out(meta(1, 4), out=[out])",
    ],
)
def test_out_with_values_is_refused_beside_tensors_without(call):
    """Nobody would write it: what PyTorch then gives back of some operators is memory as it was."""
    out = dispatch.full((2, 2), 7.0)
    names = {
        "ones": dispatch.ones,
        "meta": lambda *sizes, **options: dispatch.ones(*sizes, device="meta", **options),
        "out": out,
        "dispatch": dispatch,
    }
    with pytest.raises(RuntimeError, match="to have device meta, but got cpu"):
        eval(f"dispatch.ops.aten.{call}", names)
    assert out.tolist() == [[7.0, 7.0], [7.0, 7.0]]
