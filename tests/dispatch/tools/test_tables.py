"""What a table becomes by registrations, as PythonDispatcher prints it."""

import pytest

from dispatch.tools import PythonDispatcher

HEAD = "\n{}\nkey             kernel\n---------------------------\n"


def tried(*keys):
    found = PythonDispatcher()
    found.register(keys)
    return found


def rows(text):
    return dict(row.split(maxsplit=1) for row in text.splitlines()[4:])


def test_a_table_has_one_row_a_key_and_no_place_of_a_fallback():
    found = tried("CPU", "XLA", "Lazy", "CompositeImplicitAutograd")
    table = found.dispatchTable()
    assert table.startswith(HEAD.format("Computed Dispatch Table") + "CPU             fn_CPU ")
    assert rows(table) == {
        "CPU": "fn_CPU [kernel]",
        "XLA": "fn_XLA [kernel]",
        "Lazy": "fn_Lazy [kernel]",
        "FPGA": "fn_CompositeImplicitAutograd [math kernel]",
        "AutogradOther": "fn_CompositeImplicitAutograd [math kernel]",
        "AutogradCPU": "[backend fallback]",
        "AutogradXLA": "[backend fallback]",
        "AutogradLazy": "[backend fallback]",
    }


def test_registrations_name_alias_keys():
    found = tried("CPU", "CompositeExplicitAutograd", "AutogradCPU")
    text = found.registrations()
    assert text.startswith(HEAD.format("Registered Kernels"))
    assert rows(text) == {
        "CPU": "fn_CPU",
        "AutogradCPU": "fn_AutogradCPU",
        "CompositeExplicitAutograd[alias]": "fn_CompositeExplicitAutograd",
    }
    assert "schema: __test__::foo(Tensor x) -> Tensor" in found.rawRegistrations()
    assert "Undefined: fn_CompositeExplicitAutograd" in found.rawDispatchTable()


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (("CPU", "CPU"), "Overridden is not allowed"),
        (("CompositeExplicitAutograd", "CompositeImplicitAutograd"), "both Composite.* is not all"),
        (("CUDA",), "CUDA is not supported"),
    ],
)
def test_what_cannot_be_tried_is_refused(keys, text):
    with pytest.raises(RuntimeError, match=text):
        tried(*keys)
    keys = PythonDispatcher().keys()
    assert "CUDA" not in keys
