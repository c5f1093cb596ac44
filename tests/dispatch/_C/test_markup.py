"""`markup`: what notebooks show of key sets, operators and libraries; texts are escaped."""

import dispatch
from dispatch._C.markup import escaped, table


def test_texts_are_escaped():
    assert escaped("<a href=\"'&") == "&lt;a href=&quot;&#x27;&amp;"
    shown = table("<t>", ("<c>",), [("<x>",)], folded=True)
    assert "<t>" not in shown and "<c>" not in shown and "<x>" not in shown
    assert shown.startswith("<details>")


def test_a_key_set_lists_its_keys_highest_first():
    keys = dispatch.DispatchKeySet(dispatch.DispatchKey.CPU) | dispatch.DispatchKeySet(
        dispatch.DispatchKey.AutogradCPU
    )
    shown = keys._repr_html_()
    assert shown.index("AutogradCPU") < shown.index(">CPU<")
    assert hex(keys.raw_repr()) in shown


def test_an_operator_shows_its_computed_table():
    shown = dispatch.ops.aten.add.Tensor._repr_html_()
    assert "aten::add.Tensor(Tensor self" in shown and "-&gt; Tensor" in shown
    assert "AutogradCPU" in shown and "kernel" in shown


def test_a_library_shows_what_it_registered():
    library = dispatch.Library("markuptest", "DEF")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x, "CPU")
    shown = library._repr_html_()
    assert "markuptest::f" in shown and ">CPU<" in shown and ">defines<" in shown
    library._destroy()
