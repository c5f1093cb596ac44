"""The device of a call on fake tensors: every pair and triple of devices, 0-d or not."""

import itertools

import pytest

import dispatch
from dispatch import FakeTensorMode, ops
from dispatch.fake import FakeTensorDeviceMismatchError, config, get_fast_op_impls
from dispatch.fake.devices import find_common_device

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten
KINDS = {
    "cpu": ("cpu", (2,)),
    "cpu 0-d": ("cpu", ()),
    "cuda:0": ("cuda:0", (2,)),
    "cuda:0 0-d": ("cuda:0", ()),
    "cuda:1": ("cuda:1", (2,)),
    "meta": ("meta", (2,)),
    "meta 0-d": ("meta", ()),
}
PAIRS = [*itertools.product(KINDS, repeat=2)]
TRIPLES = [*itertools.product(KINDS, repeat=3)]


def common(kinds):
    """A 0-d cpu tensor goes with any device; all others must agree. None: they do not."""
    devices = {KINDS[kind][0] for kind in kinds if kind != "cpu 0-d"} or {"cpu"}
    return devices.pop() if len(devices) == 1 else None


def made(kinds):
    return [dispatch.empty(sizes, device=device) for device, sizes in map(KINDS.get, kinds)]


def device_of(call):
    try:
        found = call()
        return str(found if isinstance(found, dispatch.device) else found.device)
    except FakeTensorDeviceMismatchError:
        return None


def test_the_rule_decides_for_two_tensors():
    with FakeTensorMode():
        for kinds in PAIRS:
            a, b = made(kinds)
            for op in (A.add.Tensor, A.maximum.default, A.div.Tensor):
                assert device_of(lambda op=op, a=a, b=b: op(a, b)) == common(kinds), kinds


def test_the_rule_decides_for_three_tensors():
    with FakeTensorMode():
        for kinds in TRIPLES:
            a, b, c = made(kinds)
            assert device_of(lambda a=a, b=b, c=c: A.addcmul.default(a, b, c)) == common(kinds)
            assert device_of(lambda a=a, b=b, c=c: A.lerp.Tensor(a, b, c)) == common(kinds), kinds


def test_the_rule_decides_for_lists():
    with FakeTensorMode():
        for kinds in TRIPLES:
            if len({KINDS[kind][1] for kind in kinds}) == 1:
                assert device_of(lambda k=kinds: A.stack.default(made(k))) == common(kinds), kinds


def test_code_with_a_flat_list_has_the_same_rule():
    with FakeTensorMode():
        for kinds in PAIRS + TRIPLES:
            try:
                found = str(find_common_device(A.addcmul.default, made(kinds))[0])
            except FakeTensorDeviceMismatchError:
                found = None
            assert found == common(kinds), kinds


def test_strict_operators_take_one_device():
    with FakeTensorMode():
        for kinds in PAIRS:
            a, b = made(kinds)
            same = a.device == b.device
            found = device_of(lambda a=a, b=b: find_common_device(A.nextafter.default, [a, b])[0])
            assert found == (str(a.device) if same else None), kinds


def test_places_of_foreach_lists_have_devices_of_their_own():
    with FakeTensorMode():
        xs = made(["cuda:0", "cpu", "cuda:1"])
        results = A._foreach_add.Scalar(xs, 1)
        assert [str(t.device) for t in results] == ["cuda:0", "cpu", "cuda:1"]
        results = A._foreach_add.List(xs, made(["cuda:0", "cpu 0-d", "cpu 0-d"]))
        assert [str(t.device) for t in results] == ["cuda:0", "cpu", "cuda:1"]
        with pytest.raises(FakeTensorDeviceMismatchError, match="cuda:1, cpu"):
            A._foreach_add.List(xs, made(["cuda:0", "cpu", "cpu"]))


@pytest.mark.parametrize("name", ["index_put", "index_put_"])
def test_values_are_put_where_their_tensor_is_unless_there_is_one(name):
    put = getattr(A, name).default
    with FakeTensorMode():
        at = dispatch.empty(1, dtype=dispatch.int64)
        for here, there in itertools.permutations(("cpu", "cuda:0", "cuda:1"), 2):
            x, y = (dispatch.empty(2, device=d) for d in (here, there))
            with pytest.raises(RuntimeError, match=f"values are on {there}, self on {here}"):
                put(x, [at], y[:1])
            assert str(put(x, [at], x[:1]).device) == here
        x, number = dispatch.empty(2, device="cuda:0"), dispatch.empty(())
        assert str(put(x, [at], number).device) == "cuda:0"


def test_index_goes_by_the_first_tensor():
    with FakeTensorMode():
        at = dispatch.empty(3, dtype=dispatch.int64)
        x = dispatch.empty(4, device="cuda:1")
        assert str(A.index.Tensor(x, [at]).device) == "cuda:1"
        assert str(A.index.Tensor(at.float(), [at.to("cuda:0")]).device) == "cpu"


def new(device, *sizes):
    return dispatch.empty(sizes, device=device)


def index(device):
    return dispatch.empty(1, dtype=dispatch.int64, device=device)


# of two devices: what is on the first one, and what takes one device only
ON_THE_FIRST = {
    "copy_": lambda a, b: A.copy_(new(a, 2), new(b, 2)),
    "copy": lambda a, b: A.copy(new(a, 2), new(b, 2)),
    "copy.out": lambda a, b: A.copy.out(new(a, 2), new(b, 2), out=new(a, 2)),
    "slice_scatter": lambda a, b: A.slice_scatter(new(a, 2), new(b, 2)),
    "slice_scatter.out": lambda a, b: A.slice_scatter.out(new(a, 2), new(b, 2), out=new(a, 2)),
    "diagonal_scatter": lambda a, b: A.diagonal_scatter(new(a, 2, 2), new(b, 2)),
    "index": lambda a, b: A.index(new(a, 2), [index(b)]),
    "index_put": lambda a, b: A.index_put(new(a, 2), [index(b)], new(a, 1)),
    "index_put_": lambda a, b: A.index_put_(new(a, 2), [index(b)], new(a, 1)),
    "_unsafe_index_put": lambda a, b: A._unsafe_index_put(new(a, 2), [index(b)], new(a, 1)),
    "_embedding_bag": lambda a, b: A._embedding_bag(new(a, 4, 2), index(b), index(b))[0],
    "resize_as": lambda a, b: A.resize_as(new(a, 2), new(b, 2)),
    "resize_as_": lambda a, b: A.resize_as_(new(a, 2), new(b, 2)),
}
ON_ONE = {
    "_unsafe_index": lambda a, b: A._unsafe_index.Tensor(new(a, 2), [index(b)]),
    "_index_put_impl_": lambda a, b: A._index_put_impl_(new(a, 2), [index(b)], new(a, 1)),
    "index.out": lambda a, b: A.index.Tensor_out(new(a, 2), [index(b)], out=new(a, 1)),
    "index.out of another": lambda a, b: A.index.Tensor_out(new(a, 2), [index(a)], out=new(b, 1)),
    "index_put.out": lambda a, b: A.index_put.out(new(a, 2), [index(b)], new(a, 1), out=new(a, 2)),
    "diagonal_scatter.out": lambda a, b: A.diagonal_scatter.out(
        new(a, 2, 2), new(b, 2), out=new(a, 2, 2)
    ),
    "select_scatter": lambda a, b: A.select_scatter(new(a, 2, 2), new(b, 2), 0, 0),
    "as_strided_scatter": lambda a, b: A.as_strided_scatter(new(a, 2), new(b, 2), [2], [1]),
    "index_select": lambda a, b: A.index_select(new(a, 2), 0, index(b)),
    "gather": lambda a, b: A.gather(new(a, 2), 0, index(b)),
}
TWO = [*itertools.permutations(("cpu", "cuda:0", "cuda:1", "meta"), 2)]


@pytest.mark.parametrize("name", ON_THE_FIRST)
def test_what_takes_any_devices_is_on_the_first(name):
    with FakeTensorMode():
        for here, there in TWO:
            assert str(ON_THE_FIRST[name](here, there).device) == here, there


@pytest.mark.parametrize("name", ON_ONE)
def test_others_take_one_device(name):
    with FakeTensorMode():
        for here, there in TWO:
            with pytest.raises(FakeTensorDeviceMismatchError):
                ON_ONE[name](here, there)
        assert str(ON_ONE[name]("cuda:0", "cuda:0").device) == "cuda:0"


def test_meta_takes_part_in_an_embedding():
    with FakeTensorMode():
        for here, there in TWO:
            call = lambda a=here, b=there: A.embedding(new(a, 4, 2), index(b))  # noqa: E731
            assert device_of(call) == (here if "meta" in (here, there) else None)


@pytest.mark.parametrize("device", ["cuda", "xpu", "mps", "mtia"])
def test_a_device_of_these_types_has_a_number(device):
    with FakeTensorMode():
        assert new(device, 2).device == dispatch.device(device, 0)


def test_new_tensors_are_where_the_argument_or_the_default_says():
    with FakeTensorMode():
        x = dispatch.empty(2, device="cuda:0")
        assert str(A.empty_like.default(x, device=dispatch.device("cpu")).device) == "cpu"
        assert str(A.new_zeros.default(x, [2], device=dispatch.device("cuda:1")).device) == "cuda:1"
        assert str(A.new_zeros.default(x, [2]).device) == "cuda:0"
        assert str(A.empty.memory_format([2]).device) == "cpu"
        with dispatch.device("cuda"):
            assert str(A.empty.memory_format([2]).device) == "cuda:0"
            assert str(A.relu.default(made(["cpu"])[0]).device) == "cpu"


def test_the_common_device_of_arguments_or_numbers():
    with FakeTensorMode():
        x = dispatch.empty(2, device="cuda:1")
        assert find_common_device(A.add.Tensor, [1, x, None]) == (x.device, False)
        told = find_common_device(A.add.Tensor, [1, 2])
        assert told == (dispatch.device("cpu"), True)
        with pytest.raises(AssertionError, match="relu"):
            find_common_device(A.relu.default, [1])
        found = ops.prim.device.default(x)
        assert (type(found), str(found)) == (dispatch.device, "cuda:1")
    real = dispatch.ones(2)
    assert find_common_device(A.add.Tensor, [real, x]) == (x.device, False)
    assert find_common_device(A.add.Tensor, [real, 1]) == (dispatch.device("cpu"), True)


@pytest.mark.parametrize(
    ("kinds", "preferred", "device"),
    [
        (("cuda:0", "cpu"), "cuda", "cuda:0"),
        (("cpu", "cuda:0"), "cuda", "cuda:0"),
        (("cpu", "cuda:0", "meta"), "cuda", "cuda:0"),
        (("cuda:0", "cpu"), "cpu", "cpu"),
        (("cpu", "cpu"), "cuda", "cpu"),
        (("cuda:0", "cpu"), "meta", None),
        (("cuda:0", "cpu"), None, None),
    ],
)
def test_a_preferred_device_goes_before_others(kinds, preferred, device):
    with FakeTensorMode(), config.patch(fake_tensor_prefer_device_type=preferred):
        tensors = made(kinds)
        if device is None:
            with pytest.raises(FakeTensorDeviceMismatchError, match=r"Propagation for aten::cat"):
                dispatch.cat(tensors)
        else:
            assert str(dispatch.cat(tensors).device) == device


def test_a_bag_is_where_its_weights_are():
    with FakeTensorMode():
        weight = dispatch.empty(10, 3, device="meta")
        found = A._embedding_bag(weight, dispatch.tensor([1, 2, 4]), dispatch.tensor([0, 2]))
    assert found[0].shape == (2, 3) and found[0].device.type == "meta"


def test_arithmetic_has_an_implementation_to_call():
    mode = FakeTensorMode()
    with mode:
        x = dispatch.empty(2, 2, dtype=dispatch.int32)
    for y in (x, 2):
        made_by_call = get_fast_op_impls()[A.div.Tensor](mode, x, y)
        assert made_by_call.dtype == dispatch.float32 and made_by_call.fake_mode is mode


def test_a_list_is_copied_between_the_cpu_and_one_other_device():
    with FakeTensorMode():
        cpu, cuda, xpu = (dispatch.ones(2, device=device) for device in ("cpu", "cuda", "xpu"))
        assert ops.aten._foreach_copy([cpu], [cuda])[0].device.type == "cpu"
        assert ops.aten._foreach_copy([cuda], [cpu])[0].device.type == "cuda"
        with pytest.raises(FakeTensorDeviceMismatchError):
            ops.aten._foreach_copy([cuda], [xpu])


@pytest.mark.parametrize(("here", "there"), [("cpu", "meta"), ("meta", "cpu")])
@pytest.mark.parametrize("sizes", [(2,), ()])
def test_adding_in_place_goes_over_to_meta_and_back(here, there, sizes):
    with FakeTensorMode():
        self, other = dispatch.empty(2, device=here), dispatch.empty(sizes, device=there)
        assert A.add_.Tensor(self, other).device.type == here


@pytest.mark.parametrize("sizes", [(2,), ()])
def test_a_number_on_the_cpu_takes_nothing_in_from_meta(sizes):
    with FakeTensorMode():
        self, other = dispatch.empty(()), dispatch.empty(sizes, device="meta")
        with pytest.raises(RuntimeError, match="add_"):
            A.add_.Tensor(self, other)
        there = dispatch.empty((), device="meta")
        assert A.add_.Tensor(there, self).device.type == "meta"
