"""The order in which a function or a method tries the overloads of its operator: the first that fits is called.

PyTorch's generated parsers list the signatures by their text, and then move those after others that take more: a tensor before
a number, lists before lists of tensors (`sort_overloads` in tools/autograd/gen_python_functions.py). `ops` keeps the schemas'
order.
"""
from dispatch._C.emitted cimport (
    AF_ELEM_OPTIONAL, AF_HAS_DEFAULT, AF_LIST, AF_OPTIONAL, AF_OUT, AF_SYM, AK_BOOL, AK_DEVICE, AK_DIMNAME, AK_DTYPE,
    AK_FLOAT, AK_GENERATOR, AK_INT, AK_LAYOUT, AK_MEMORY_FORMAT, AK_SCALAR, AK_STORAGE, AK_STR, AK_TENSOR,
)
from dispatch._C.operator cimport OperatorEntry
from dispatch._C.overload cimport OpOverloadPacket
from dispatch._C.values cimport ArgSpec

__all__ = []

cdef dict words = {
    AK_TENSOR: "Tensor", AK_FLOAT: "double", AK_BOOL: "bool", AK_SCALAR: "Scalar", AK_STR: "c10::string_view",
    AK_DTYPE: "ScalarType", AK_LAYOUT: "Layout", AK_DEVICE: "Device", AK_MEMORY_FORMAT: "MemoryFormat",
    AK_GENERATOR: "Generator", AK_STORAGE: "Storage", AK_DIMNAME: "Dimname",
}
cdef dict list_words = {
    AK_TENSOR: "TensorList", AK_SCALAR: "ScalarList", AK_DIMNAME: "DimnameList", AK_INT: "IntArrayRef",
    AK_FLOAT: "ArrayRef<double>",
}


cdef list ordered_entries(OpOverloadPacket packet, int flag):
    """The overloads that are functions or methods (`flag`; EVERY_OVERLOAD: all), in the order in which they are tried."""
    cdef list found = [e for e in packet.overload_entries
                       if (flag == EVERY_OVERLOAD or (<OperatorEntry>e).flags & flag) and not is_shadowed(<OperatorEntry>e)]
    if len(found) < 2:
        return found
    cdef list texts = [(signature_text(<OperatorEntry>e), i) for i, e in enumerate(found)]
    found = [found[i] for _, i in sorted(texts)]
    cdef list types = [argument_types(<OperatorEntry>e) for e in found]
    cdef dict behind = {}
    for i in range(len(found)):
        larger = {j for j in range(len(found)) if takes_less(types[i], types[j])}
        if larger:
            behind[i] = larger
    order = [i for i in range(len(found)) if i not in behind]
    for done in order:                       # grows while it is read: overloads follow all that take more
        for i in sorted(behind):
            behind[i].discard(done)
            if not behind[i]:
                del behind[i]
                order.append(i)
    found = [found[i] for i in order]
    return sorted(found, key=takes_out)      # those that write to `out` last: a call that fits others has read no number for them


def takes_out(OperatorEntry e not None):
    return any([e.sig.args[i].flags & AF_OUT for i in range(e.sig.n_args)])


cdef bint is_shadowed(OperatorEntry e):
    """Whether the overload for tensors takes its numbers (SKIP_PYTHON_BINDINGS_SIGNATURES in gen_python_functions.py)."""
    return e.overload_name == "Scalar" and e.name.rstrip("_") in ("aten::add", "aten::sub", "aten::mul", "aten::div")


cdef str signature_text(OperatorEntry e):
    """The arguments as the parser's generator writes them, which decides the order."""
    cdef list parts = []
    cdef int i
    cdef ArgSpec* a
    for i in range(e.sig.n_args):
        a = &e.sig.args[i]
        if a.flags & AF_OUT:
            continue
        if i == e.sig.n_pos:
            parts.append("*")
        name = <object>a.name
        kind = parser_type(a)
        if name == "self" and kind == "Tensor":
            name = "input"
        parts.append(f"{kind} {name}" + (f"={<object>a.dflt}" if a.flags & AF_HAS_DEFAULT else ""))
    return ", ".join(parts) + ")"


cdef str parser_type(ArgSpec* a):
    cdef str text
    if a.flags & AF_LIST and a.flags & AF_ELEM_OPTIONAL:
        text = "c10::List<::std::optional<Tensor>>"
    elif a.flags & AF_LIST:
        text = ("Sym" if a.kind == AK_INT and a.flags & AF_SYM else "") + <str>list_words.get(a.kind, "ArrayRef")
        if a.size:
            text += f"[{a.size}]"
    elif a.kind == AK_INT:
        text = "SymInt" if a.flags & AF_SYM else "int64_t"
    else:
        text = words.get(a.kind, "Other")
    return text + "?" if a.flags & AF_OPTIONAL else text


cdef list argument_types(OperatorEntry e):
    return [parser_type(&e.sig.args[i]) for i in range(e.sig.n_args) if not e.sig.args[i].flags & AF_OUT]


cdef bint takes_less(list mine, list other):
    """Whether a signature comes after another of the same length: no argument takes more, and one takes less."""
    if len(mine) != len(other) or mine == other:
        return False
    for i in range(len(mine)):
        if mine[i] != other[i] and not is_narrower(<str>mine[i], <str>other[i]):
            return False
    return True


cdef bint is_narrower(str a, str b):
    cdef bint is_list = "List" in b or "ArrayRef" in b
    if a in ("SymInt", "int64_t"):
        return b == "Tensor"
    if a in ("Scalar", "Scalar?"):
        return b == a.replace("Scalar", "Tensor")
    if a == "TensorList":
        return is_list
    if a.startswith("SymIntArrayRef"):
        return b == a[3:]
    return "Dimname" in a and "Dimname" not in b
