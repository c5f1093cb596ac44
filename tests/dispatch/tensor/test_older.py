"""Functions that were removed say what took their place."""

import pytest

import dispatch

eye = dispatch.eye(2)


@pytest.mark.parametrize("name", ["eig", "lstsq", "matrix_rank", "solve", "symeig"])
def test_a_function_that_was_removed_names_the_one_that_is_there(name: str) -> None:
    with pytest.raises(RuntimeError, match=rf"^{name} was removed, call linalg\.\w"):
        getattr(dispatch, name)(eye, eye)


@pytest.mark.parametrize("name", ["eig", "lstsq", "solve", "symeig"])
def test_so_does_the_method(name: str) -> None:
    with pytest.raises(RuntimeError, match=f"^{name} was removed"):
        getattr(eye, name)(eye)
