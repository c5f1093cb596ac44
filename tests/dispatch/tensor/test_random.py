"""Generators: seeds, states that can be put back, and their place in schemas."""

import pickle
import threading

import pytest

import dispatch
from dispatch import Generator

STATE_BYTES = 5056


def drawn(generator: Generator, n: int = 4) -> list[float]:
    return dispatch.rand(n, generator=generator).tolist()


def test_same_seed_gives_the_same_stream() -> None:
    first, second = Generator().manual_seed(3), Generator().manual_seed(3)
    assert drawn(first) == drawn(second) != drawn(Generator().manual_seed(4))
    assert first.initial_seed() == 3


def test_negative_seeds_count_from_the_end_of_64_bits() -> None:
    assert Generator().manual_seed(-1).initial_seed() == (1 << 64) - 1
    for wrong, error in ((1 << 64, ValueError), (-(1 << 63) - 1, ValueError), (1.5, RuntimeError)):
        with pytest.raises(error, match="manual_seed"):
            Generator().manual_seed(wrong)


def test_state_can_be_put_back_even_between_two_normal_numbers() -> None:
    generator = Generator().manual_seed(1)
    dispatch.randn(1, generator=generator)
    state = generator.get_state()
    after = dispatch.randn(3, generator=generator).tolist()
    generator.set_state(state)
    assert dispatch.randn(3, generator=generator).tolist() == after
    assert dispatch.randn(3, generator=Generator().set_state(state)).tolist() == after


def test_state_is_laid_out_as_pytorchs() -> None:
    """The seed, words left, whether seeded, the next word, then the words as 64 bits each."""
    state = Generator().manual_seed(0x0102030405060708).get_state()
    assert state.shape == (STATE_BYTES,) and state.dtype is dispatch.uint8
    assert state[:24].tolist() == [8, 7, 6, 5, 4, 3, 2, 1, 1, 0, 0, 0, 1, 0, 0, 0] + [0] * 8
    assert state[24:32].tolist() == [8, 7, 6, 5, 0, 0, 0, 0]


def test_what_is_no_state_is_refused_and_changes_nothing() -> None:
    generator = Generator().manual_seed(9)
    for wrong, error in (
        (3, TypeError),
        (dispatch.zeros(STATE_BYTES), TypeError),
        (dispatch.zeros(3, dtype=dispatch.uint8), RuntimeError),
        (dispatch.zeros(STATE_BYTES, dtype=dispatch.uint8), RuntimeError),
        (dispatch.zeros(2 * STATE_BYTES, dtype=dispatch.uint8)[::2], RuntimeError),
        (dispatch.zeros(STATE_BYTES, dtype=dispatch.uint8, device="meta"), TypeError),
    ):
        with pytest.raises(error, match="set_state"):
            generator.set_state(wrong)
    assert drawn(generator) == drawn(Generator().manual_seed(9))


def test_a_state_that_points_outside_its_words_is_refused() -> None:
    state = Generator().get_state()
    state[16:18] = 0xFF
    with pytest.raises(RuntimeError, match="set_state"):
        Generator().set_state(state)


def test_copies_go_on_from_here() -> None:
    generator = Generator().manual_seed(2)
    drawn(generator)
    copies = [generator.clone_state(), pickle.loads(pickle.dumps(generator))]
    expected = drawn(generator)
    assert [drawn(copy) for copy in copies] == [expected, expected]
    assert all(copy.initial_seed() == 2 for copy in copies)


def test_manual_seed_seeds_the_default_generator() -> None:
    assert dispatch.manual_seed(5) is dispatch.default_generator
    assert dispatch.default_generator.initial_seed() == 5
    with pytest.raises(ValueError, match="Overflow when unpacking"):
        dispatch.manual_seed(1 << 64)


def test_operators_take_generators_and_nothing_else() -> None:
    target = dispatch.zeros(2, device="meta")
    dispatch.ops.aten.normal_.default(target, generator=Generator())
    with pytest.raises(RuntimeError, match="generator"):
        dispatch.ops.aten.normal_.default(target, generator=3)
    with pytest.raises(RuntimeError, match="generator of the cpu"):
        dispatch.rand(2, generator=Generator("cuda"))


def test_threads_take_turns_with_one_generator() -> None:
    """Each draw is a whole: together they are those that one thread makes, in some order."""
    generator, size, draws = Generator().manual_seed(4), 50000, 8
    found: list[tuple[float, ...]] = []

    def work() -> None:
        for _ in range(draws // 2):
            found.append(tuple(dispatch.rand(size, generator=generator)[:3].tolist()))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    generator.manual_seed(4)
    expected = [tuple(dispatch.rand(size, generator=generator)[:3].tolist()) for _ in range(draws)]
    assert sorted(found) == sorted(expected)
