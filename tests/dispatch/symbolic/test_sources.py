"""Sources and what symbols take from them: names, numbers, counters, the line that made them."""

import copy
import pickle
from collections import Counter

import pytest

from dispatch.symbolic import (
    ConstantSource,
    DimDynamic,
    EphemeralSource,
    LocalSource,
    ShapeEnv,
    StatelessSymbolicContext,
)
from dispatch.symbolic.sources import AttrSource, Source, TensorProperty, TensorPropertySource

X = LocalSource("x")


def sized(env, name, *sizes, strides=None):
    """Symbols for a tensor of these sizes, contiguous unless told."""
    if strides is None:
        strides = [1] * len(sizes)
        for i in reversed(range(len(sizes) - 1)):
            strides[i] = strides[i + 1] * sizes[i + 1]
    context = StatelessSymbolicContext([DimDynamic.DYNAMIC] * len(sizes))
    return env._create_symbolic_sizes_strides_storage_offset(
        sizes, tuple(strides), 0, None, ConstantSource(name), symbolic_context=context
    )


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (TensorPropertySource(X, TensorProperty.SIZE, 1), "L['x'].size()[1]"),
        (TensorPropertySource(X, TensorProperty.STRIDE, 0), "L['x'].stride()[0]"),
        (TensorPropertySource(X, TensorProperty.STORAGE_OFFSET), "L['x'].storage_offset()"),
        (AttrSource(X, "grad"), "L['x'].grad"),
    ],
)
def test_a_source_is_equal_by_name_and_survives_a_pickle(source, name):
    assert source.name == name
    assert repr(source) == f"{type(source).__name__}({name!r})"
    for again in (pickle.loads(pickle.dumps(source)), copy.deepcopy(source)):
        assert (again, hash(again), again.name) == (source, hash(source), name)
    assert source != TensorPropertySource(X, TensorProperty.SIZE, 0)
    assert source != AttrSource(X, "data")


def test_what_is_part_of_something_ephemeral_is_so_too():
    assert TensorPropertySource(EphemeralSource(), TensorProperty.SIZE, 0).is_ephemeral()
    assert not TensorPropertySource(X, TensorProperty.SIZE, 0).is_ephemeral()


def test_a_program_may_have_sources_of_its_own():
    class Mine(Source):
        name = "mine"

    with pytest.raises(NotImplementedError):
        _ = Source().name
    env = ShapeEnv()
    size = env.create_symbol(5, TensorPropertySource(Mine(), TensorProperty.SIZE, 0))
    assert [s.name for s in env.var_to_sources[size]] == ["mine.size()[0]"]
    assert env.source_to_var == {"mine.size()[0]": size}


def test_the_number_of_a_symbol_is_a_hash_of_its_source():
    """PyTorch's numbers: the SHA-256 of the name, modulo 100, or the next that is free."""
    first, second = ShapeEnv(), ShapeEnv()
    names = [[str(s) for s in sized(env, "x", 5, 6, 7)[0]] for env in (first, second)]
    assert names[0] == names[1] == ["s93", "s44", "s73"]


def test_taken_numbers_are_stepped_over_and_counted():
    env, made = ShapeEnv(), []
    for i in range(300):
        made.append(env.create_symbol(5 + i, ConstantSource(f"n{i}"), DimDynamic.DYNAMIC))
    env.create_unbacked_symint()
    assert len({s.name for s in made}) == 300
    assert env.unique_ids == {int(s.name[1:]) for s in made}
    assert env.counter == Counter(create_symbol=300, create_unbacked_symbol=1)
    assert ShapeEnv().counter == Counter()
    assert ShapeEnv().unique_ids == set()


def test_symbols_made_after_a_pickle_are_new():
    env = ShapeEnv()
    before = [
        env.create_symbol(5 + i, ConstantSource(f"n{i}"), DimDynamic.DYNAMIC) for i in range(50)
    ]
    again = pickle.loads(pickle.dumps(env))
    names = {s.name for s in before}
    assert again.unique_ids == env.unique_ids
    for i in range(50):  # of the same sources: the search begins at the same numbers
        s = again.create_symbol(5 + i, ConstantSource(f"n{i}"), DimDynamic.DYNAMIC)
        assert s.name not in names
        names.add(s.name)


@pytest.mark.parametrize(
    ("sizes", "strides", "expected"),
    [
        ((5, 6, 7), None, "s1*s2, s2, 1"),
        ((5, 6, 7), (1, 5, 30), "1, s0, s0*s1"),
        ((5, 6, 7), (7, 35, 1), "s2, s0*s2, 1"),
        ((5, 6, 7), (0, 7, 1), "0, s2, 1"),
        ((5, 5, 5), (25, 5, 1), "s1*s2, s2, 1"),
    ],
)
def test_strides_are_products_of_the_sizes_inside(sizes, strides, expected):
    env = ShapeEnv()
    made, steps, offset = sized(env, "x", *sizes, strides=strides)
    names = {str(s): f"s{i}" for i, s in enumerate(made)}
    found = [
        "*".join(sorted(names[f] for f in str(s).split("*"))) if s not in (0, 1) else str(s)
        for s in steps
    ]
    assert ", ".join(found) == expected
    assert offset == 0


def test_the_line_that_made_a_symbol_is_the_programs():
    env = ShapeEnv()
    s = env.create_symbol(5, X, DimDynamic.DYNAMIC)
    code = test_the_line_that_made_a_symbol_is_the_programs.__code__
    sloc = env.var_to_range_sloc[s]
    assert (sloc.filename, sloc.name) == (__file__, code.co_name)
    assert sloc.lineno == sloc.lineno == code.co_firstlineno + 2
    assert pickle.loads(pickle.dumps(sloc)).lineno == sloc.lineno
