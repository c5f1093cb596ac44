"""Modules whose functions are operators."""

import pickle

import pytest

import dispatch
from dispatch._C import _nn, _variable_functions


def test_operators_are_functions_with_named_results():
    found = dispatch.linalg.lstsq(dispatch.ones(4, 3), dispatch.ones(4, 1))
    assert found.solution.shape == (3, 1)
    assert dispatch.fft.fft(dispatch.ones(2)).tolist() == [2, 0]
    assert dispatch.special.expit(dispatch.zeros(1)).tolist() == [0.5]
    with pytest.raises(TypeError):
        dispatch.linalg.det("a")


def test_a_name_is_found_with_and_without_its_prefix():
    assert dispatch.linalg.det is dispatch.linalg.linalg_det
    assert pickle.loads(pickle.dumps(dispatch.linalg.det)) is dispatch.linalg.det
    assert vars(dispatch.linalg)["det"] is dispatch.linalg.det
    assert not hasattr(dispatch, "linalg_det")
    for module in (dispatch.linalg, dispatch.fft, dispatch.special, _nn, _variable_functions):
        with pytest.raises(AttributeError, match="no_such_function"):
            module.no_such_function  # noqa: B018


def test_every_listed_name_is_there():
    for module in (dispatch.linalg, dispatch.fft, dispatch.special, _nn):
        names = dir(module)
        assert len(names) > 15
        assert all(getattr(module, name) is not None for name in names)


def test_handlers_see_them_under_their_names():
    seen = []

    class Foreign:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)

    dispatch.linalg.det(Foreign())
    dispatch.special.zeta(Foreign(), 1)
    assert seen == [dispatch.linalg.det, dispatch.special.zeta]
    names = [dispatch.modes.resolve_name(function) for function in seen]
    assert names == ["dispatch.linalg.det", "dispatch.special.zeta"]
    assert set(seen) <= dispatch.modes.get_testing_overrides().keys()
