"""Small exported programs, as the JSON that a saved program has, for this folder's tests."""

import json
import struct
import zipfile

FLOAT32 = 7
CPU = {"type": "cpu", "index": None}


def as_int(value):
    return {"as_int": value}


def symbol(name, hint):
    """A SymInt that is one symbol, as torch writes it."""
    text = f"Symbol('{name}', positive=True, integer=True)"
    return {"as_expr": {"expr_str": text, "hint": {"as_int": hint}}}


def meta(sizes, *, dtype=FLOAT32, strides=None, offset=0, device=CPU):
    """A tensor meta; sizes may hold ready-made SymInts."""
    if strides is None:
        strides, step = [], 1
        for size in reversed(sizes):
            strides.insert(0, step)
            step *= size if isinstance(size, int) else size["as_expr"]["hint"]["as_int"]
    wrap = [s if isinstance(s, dict) else as_int(s) for s in sizes]
    return {
        "dtype": dtype,
        "sizes": wrap,
        "requires_grad": False,
        "device": device,
        "strides": [as_int(s) for s in strides],
        "storage_offset": as_int(offset),
        "layout": 7,
    }


def training():
    """loss = (x * layer.w).sum(), with the gradients of the weight and of x."""
    sizes = {"w": [3], "x": [2, 3], "m": [2, 3], "l": [], "gw": [3], "z": [2, 3], "gx": [2, 3]}
    nodes = [
        node("aten.mul.Tensor", [("self", tensor("x")), ("other", tensor("w"))], ["m"]),
        node("aten.sum.default", [("self", tensor("m"))], ["l"]),
        node("aten.sum.dim_IntList", [("self", tensor("x")), ("dim", {"as_ints": [0]})], ["gw"]),
        node("aten.mul.Tensor", [("self", tensor("x")), ("other", as_int(0))], ["z"]),
        node("aten.add.Tensor", [("self", tensor("z")), ("other", tensor("w"))], ["gx"]),
    ]
    values = {name: meta(shape) for name, shape in sizes.items()}
    body = graph(["w", "x"], ["l", "gw", "gx"], nodes, values)
    outputs = [
        {"loss_output": {"arg": {"name": "l"}}},
        {"gradient_to_parameter": {"arg": {"name": "gw"}, "parameter_name": "layer.w"}},
        {"gradient_to_user_input": {"arg": {"name": "gx"}, "user_input_name": "x"}},
    ]
    return program(body, [parameter("w", "layer.w"), user_input("x")], outputs)


def tensor(name):
    return {"as_tensor": {"name": name}}


def node(op, inputs, outputs, name=None):
    """A call: `inputs` are (argument name, argument), `outputs` names or whole arguments."""
    named = [{"name": n, "arg": a, "kind": 1} for n, a in inputs]
    out = [tensor(o) if isinstance(o, str) else o for o in outputs]
    target = op if op.startswith(("_operator.", "torch.")) else f"torch.ops.{op}"
    label = name or next((o for o in outputs if isinstance(o, str)), None)
    return {"target": target, "inputs": named, "outputs": out, "metadata": {}, "name": label}


def graph(inputs, outputs, nodes, values, **symbols):
    """A graph object; inputs and outputs are names or whole arguments."""
    return {
        "inputs": [tensor(i) if isinstance(i, str) else i for i in inputs],
        "outputs": [tensor(o) if isinstance(o, str) else o for o in outputs],
        "nodes": nodes,
        "tensor_values": values,
        "sym_int_values": symbols,
        "sym_bool_values": {},
        "is_single_tensor_return": False,
    }


def user_input(name):
    return {"user_input": {"arg": tensor(name)}}


def user_output(name):
    return {"user_output": {"arg": tensor(name)}}


def parameter(name, target):
    return {"parameter": {"arg": {"name": name}, "parameter_name": target}}


def program(graph, input_specs, output_specs, out_spec="", **ranges):
    """A whole exported program."""
    signature = {"inputs": [], "outputs": [], "in_spec": "", "out_spec": out_spec}
    return {
        "graph_module": {
            "graph": graph,
            "signature": {"input_specs": input_specs, "output_specs": output_specs},
            "module_call_graph": [{"fqn": "", "signature": signature}],
        },
        "opset_version": {"aten": 10},
        "range_constraints": {
            n: {"min_val": low, "max_val": high} for n, (low, high) in ranges.items()
        },
        "schema_version": {"major": 8, "minor": 20},
        "torch_version": "2.13.0",
    }


def add_relu():
    """relu(x + y) * 2 of two 2x3 tensors; `sum` dies before the product."""
    values = {n: meta([2, 3]) for n in ("x", "y", "sum", "act", "out")}
    nodes = [
        node("aten.add.Tensor", [("self", tensor("x")), ("other", tensor("y"))], ["sum"]),
        node("aten.relu.default", [("self", tensor("sum"))], ["act"]),
        node("aten.mul.Tensor", [("self", tensor("act")), ("other", as_int(2))], ["out"]),
    ]
    body = graph(["x", "y"], ["out"], nodes, values)
    return program(body, [user_input("x"), user_input("y")], [user_output("out")])


def linear(tied=False):
    """x @ w, where w is a 3x4 parameter; `tied`: a second parameter on the same record."""
    values = {"x": meta([2, 3]), "p_w": meta([3, 4]), "out": meta([2, 4])}
    inputs, specs = ["p_w", "x"], [parameter("p_w", "w"), user_input("x")]
    if tied:
        values["p_t"] = meta([4, 3], strides=[1, 4])
        inputs.insert(0, "p_t")
        specs.insert(0, parameter("p_t", "t"))
    nodes = [node("aten.mm.default", [("self", tensor("x")), ("mat2", tensor("p_w"))], ["out"])]
    return program(graph(inputs, ["out"], nodes, values), specs, [user_output("out")])


def sym(name):
    """The use of a number's name as an argument."""
    return {"as_sym_int": {"as_name": name}}


def attention(dynamic=True):
    """A block over x of (b, s, 4): 32 wide and back, then each of s weighs each other. Small s: the
    wide layer needs most memory, large s: the weights. Not `dynamic`: exported for b = 2, s = 3."""
    b, s = (symbol("b", 2), symbol("s", 3)) if dynamic else (2, 3)
    tokens = "Mul(Symbol('b', positive=True, integer=True), Symbol('s', positive=True))"
    n = {"as_expr": {"expr_str": tokens, "hint": as_int(6)}} if dynamic else 6
    values = {
        "p_up": meta([4, 32]), "p_down": meta([32, 4]), "x": meta([b, s, 4]), "flat": meta([n, 4]),
        "up": meta([n, 32]), "act": meta([n, 32]), "down": meta([n, 4]), "back": meta([b, s, 4]),
        "turned": meta([b, 4, s]), "scores": meta([b, s, s]), "weights": meta([b, s, s]),
        "out": meta([b, s, 4]),
    }  # fmt: skip
    four = {"as_expr": {"expr_str": "Mul(Integer(4), Symbol('s'))", "hint": as_int(12)}}
    if dynamic:
        values["x"]["strides"] = [four, as_int(4), as_int(1)]

    def call(op, out, *given, names=("self", "mat2")):
        args = [tensor(x) if isinstance(x, str) else x for x in given]
        return node(f"aten.{op}", list(zip(names, args, strict=False)), [out])

    def sizes(*items):
        if not dynamic:
            known = {"nb": 2, "ns": 3, "nn": 6}
            return {"as_ints": [known.get(x, x) for x in items]}
        as_items = [sym(x)["as_sym_int"] if isinstance(x, str) else as_int(x) for x in items]
        return {"as_sym_ints": as_items}

    asked = [
        call("sym_size.int", sym("nb"), "x", as_int(0), names=("self", "dim")),
        call("sym_size.int", sym("ns"), "x", as_int(1), names=("self", "dim")),
        node("_operator.mul", [("a", sym("nb")), ("b", sym("ns"))], [sym("nn")]),
    ]
    nodes = [
        *(asked if dynamic else []),
        call("view.default", "flat", "x", sizes("nn", 4), names=("self", "size")),
        call("mm.default", "up", "flat", "p_up"),
        call("relu.default", "act", "up"),
        call("mm.default", "down", "act", "p_down"),
        call("view.default", "back", "down", sizes("nb", "ns", 4), names=("self", "size")),
        call("transpose.int", "turned", "back", as_int(1), as_int(2),
             names=("self", "dim0", "dim1")),
        call("bmm.default", "scores", "back", "turned"),
        call("softmax.int", "weights", "scores", as_int(-1), names=("self", "dim")),
        call("bmm.default", "out", "weights", "back"),
    ]  # fmt: skip
    numbers = {"nb": b, "ns": s, "nn": n} if dynamic else {}
    body = graph(["p_up", "p_down", "x"], ["out"], nodes, values, **numbers)
    specs = [parameter("p_up", "up"), parameter("p_down", "down"), user_input("x")]
    ranges = {"b": (1, 64), "s": (2, None)} if dynamic else {}
    return program(body, specs, [user_output("out")], **ranges)


def chosen_by_data(least=2):
    """Where x of (b, 3) is not 0, and a tensor as long as a number n says."""
    b, rows, n = symbol("b", 4), symbol("u0", 0), symbol("u1", 0)
    for unknown in (rows, n):
        unknown["as_expr"]["hint"] = None
    values = {"x": meta([b, 3]), "n": meta([], dtype=5)}
    values |= {"found": meta([0, 2], dtype=5), "more": meta([0, 2], dtype=5), "new": meta([0])}
    for name in ("found", "more"):
        values[name]["sizes"][0] = rows
    values["new"]["sizes"][0] = n

    def check(compare, name, limit):
        truth = {"as_sym_bool": {"as_name": name}}
        text = {"as_string": f"k: {limit}"}
        yield node(f"_operator.{compare}", [("a", sym("k")), ("b", as_int(limit))], [truth])
        yield node("aten._assert_scalar.default", [("self", truth), ("assert_msg", text)], [])

    nodes = [
        node("aten.nonzero.default", [("self", tensor("x"))], ["found"]),
        node("aten.add.Tensor", [("self", tensor("found")), ("other", as_int(1))], ["more"]),
        node("aten.item.default", [("self", tensor("n"))], [sym("k")]),
        *check("le", "small", 7),
        *check("ge", "large", 2),
        node("aten.zeros.default", [("size", {"as_sym_ints": [sym("k")["as_sym_int"]]})], ["new"]),
    ]  # fmt: skip
    body = graph(["x", "n"], ["more", "new"], nodes, values, k=n)
    specs = [user_input("x"), user_input("n")]
    return program(body, specs, [user_output("more"), user_output("new")], b=(least, None))


def payload(record, tensor_meta, is_param=True, use_pickle=False):
    return {
        "path_name": record,
        "is_param": is_param,
        "use_pickle": use_pickle,
        "tensor_meta": tensor_meta,
    }


def write_json(path, content):
    path.write_text(json.dumps(content))
    return path


def write_archive(
    path, content, weights=None, records=None, root="saved/", method=0, byteorder="little"
):
    """A .pt2: `weights` is the config, `records` name -> bytes; both of the weights folder."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in (records or {}).items():
            archive.writestr(f"{root}data/weights/{name}", data)
        config = json.dumps({"config": weights or {}})
        archive.writestr(f"{root}data/weights/model_weights_config.json", config)
        archive.writestr(f"{root}models/model.json", json.dumps(content))
        if byteorder is not None:
            archive.writestr(f"{root}byteorder", byteorder)
    return path


def linear_archive(path, tied=False, data=None):
    """`linear()` with its weight 0..11 in a record of 48 bytes (or `data`)."""
    weights = {"w": payload("weight_0", meta([3, 4]))}
    if tied:
        weights["t"] = payload("weight_0", meta([4, 3], strides=[1, 4]))
    raw = struct.pack("<12f", *range(12)) if data is None else data
    return write_archive(path, linear(tied), weights, {"weight_0": raw})
