"""Weak references by identity, and the dictionary of weak keys."""

import pytest

import dispatch
from dispatch.as_torch import weak


def test_entries_of_a_weak_dictionary_go_with_their_keys():
    x, y = dispatch.ones(2), dispatch.ones(2)
    found = weak.WeakIdKeyDictionary({x: 1})
    found[y] = 2
    assert (len(found), found[x], found[y]) == (2, 1, 2)
    assert x in found and dispatch.ones(2) not in found and 7 not in found
    del y
    assert list(found.values()) == [1] and len(found) == 1
    other = found.copy()
    del found[x]
    assert len(found) == 0 and other[x] == 1


def test_references_compare_by_identity():
    x, y = dispatch.ones(2), dispatch.ones(2)
    assert weak.WeakIdRef(x) == weak.WeakIdRef(x) != weak.WeakIdRef(y)
    dead = weak.WeakIdRef(dispatch.ones(1))
    assert dead() is None and dead == dead and dead != weak.WeakIdRef(x)
    assert weak.TensorWeakRef(x)() is x
    with pytest.raises(AssertionError, match="expected a tensor"):
        weak.TensorWeakRef(3)


def test_weak_dictionaries_join_with_mappings_on_either_side():
    x, y = dispatch.ones(2), dispatch.ones(2)
    found = weak.WeakIdKeyDictionary({x: 1})
    for joined in (found | {y: 2}, {y: 2, x: 0} | found):
        assert type(joined) is weak.WeakIdKeyDictionary
        assert (len(joined), joined[x], joined[y]) == (2, 1, 2)
    with pytest.raises(TypeError):
        found | [(y, 2)]
    found |= [(y, 3)]
    assert found[y] == 3


def test_weak_dictionaries_compare_by_the_identity_of_their_keys():
    x, y = dispatch.ones(2), dispatch.ones(2)
    found = weak.WeakIdKeyDictionary({x: 1})
    assert found == {x: 1} and found == found.copy()
    assert found != {y: 1} and found != {x: 2} and found != [(x, 1)]
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)


def test_an_entry_that_is_wrong_leaves_the_dictionary_as_it_was():
    x = dispatch.ones(2)
    found = weak.WeakIdKeyDictionary()
    with pytest.raises(TypeError, match="weak reference"):
        found.update([(x, 1), (7, 2)])
    with pytest.raises(ValueError):
        found.update([(x, 1, 2)])
    assert len(found) == 0 and found.setdefault(x, 5) == 5 == found.setdefault(x, 6)


def test_a_weak_dictionary_is_read_while_keys_die():
    keys = [dispatch.ones(1) for _ in range(3)]
    found = weak.WeakIdKeyDictionary({key: at for at, key in enumerate(keys)})
    seen = []
    for key, value in found.items():
        seen.append(value)
        keys.clear()
        del key
    assert seen == [0] and len(found) == 0
    assert repr(found).startswith("<WeakIdKeyDictionary at 0x")
