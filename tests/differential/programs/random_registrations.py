"""Registrations in random sets and orders: the table after each step, and who answers at the end."""

import hashlib
import random
import re

# Sets after which PyTorch's table is stale at NestedTensor's keys (its own invariants fail).
_STALE = {9, 26, 42, 56, 63}
_SETS = [seed for seed in range(65) if seed not in _STALE]
_OFTEN = ("CPU", "Meta", "Autograd", "AutogradCPU", "CompositeImplicitAutograd",
          "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")  # fmt: skip
_SELDOM = (
    "CUDA", "XLA", "PrivateUse1", "QuantizedCPU", "SparseCPU", "SparseCsrCUDA", "NestedTensorCPU",
    "MkldnnCPU", "Vulkan", "FuncTorchBatched", "AutogradOther", "AutogradCUDA", "AutogradMeta",
    "AutogradXLA", "AutogradNestedTensor", "AutogradPrivateUse1", "BackendSelect", "ADInplaceOrView",
    "AutocastCPU", "Functionalize", "Conjugate", "Negative", "ZeroTensor", "Tracer", "Undefined",
    "CompositeImplicitAutogradNestedTensor", "FuncTorchBatchedDecomposition", "Named",
    "BatchedNestedTensor", "QuantizedCUDA", "SparseMeta", "NestedTensorCUDA", "PreDispatch",
)  # fmt: skip
_FALLBACKS = (
    "PrivateUse2",
    "PrivateUse3",
    "HPU",
    "VE",
    "AutogradPrivateUse3",
    "CPU",
    "QuantizedCPU",
)
_ALIASES = (
    "Autograd", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "FuncTorchBatchedDecomposition",
    "CompositeExplicitAutogradNonFunctional", "CompositeImplicitAutogradNestedTensor",
)  # fmt: skip


class _Set:
    """One operator, registered and unregistered at random."""

    def __init__(self, s, seed):
        self.s, self.random, self.ns = s, random.Random(seed), f"rr{seed}"
        self.name = self.ns + "::f"
        self.modules, self.said, self.defined = {}, [], None
        self.kept = set()  # PyTorch forgets to take NestedTensor's alias out of the table

    def kernel(self, number, key):
        s = self.s

        def leaf(x):
            self.said.append(f"{number}:{key}")
            return x.clone()

        def passes_on(ks, x):
            self.said.append(f"{number}:{key}>")
            mine = getattr(s.DispatchKey, key)
            return getattr(s.ops, self.ns).f.default.redispatch(
                ks & s.C._dispatch_keyset_full_after(s.C._to_functionality_key(mine)), x
            )

        if self.random.random() < 0.35 and key not in (*_ALIASES, "Undefined"):
            return passes_on, True
        return leaf, False

    def step(self, number):
        """Do something at random; what it was."""
        r, C = self.random, self.s.C
        what = r.choices(("impl", "fallthrough", "remove", "define", "fallback"), (10, 3, 4, 2, 1))[
            0
        ]
        if what == "define" and self.defined is None:
            self.defined = number
            self.modules[number] = m = C._dispatch_library(
                "FRAGMENT", self.ns, "", f"reg{number}", number
            )
            m.define("f(Tensor x) -> Tensor")
            return "define"
        if what == "remove" and self.modules.keys() - self.kept:
            chosen = r.choice(sorted(self.modules.keys() - self.kept))
            self.modules.pop(chosen).reset()
            if chosen == self.defined:
                self.defined = None
            return f"remove {chosen}"
        if what == "fallback":
            key = r.choice(_FALLBACKS)
            m = C._dispatch_library("IMPL", "_", "", f"reg{number}", number)
            if r.random() < 0.5:
                m.fallback_fallthrough(key)
            else:
                m.fallback(
                    key, lambda op, *args: (self.said.append(f"fallback {number}"), args[0])[1]
                )
            self.modules[number] = m
            return f"fallback {key}"
        key = r.choice(_OFTEN if r.random() < 0.55 else _SELDOM)
        m = C._dispatch_library("IMPL", self.ns, "", f"reg{number}", number)
        if what == "fallthrough":
            m.impl("f", key, self.s.library.fallthrough_kernel)
        else:
            fn, with_keyset = self.kernel(number, key)
            m.impl("f", key, fn, with_keyset)
        self.modules[number] = m
        if key == "CompositeImplicitAutogradNestedTensor":
            self.kept.add(number)
        return f"{what} {key}"


def _lines(text):
    """A dump's lines, with the places of built-in registrations left out."""
    text = re.sub(
        r"registered at (?!reg\d)[^\n]*?(?= ::| \[|$)", "registered at PLACE", text, flags=re.M
    )
    return [re.sub(r"0x[0-9a-f]+", "0x", line) for line in text.splitlines()]


def _digest(lines):
    return hashlib.sha1("\n".join(lines).encode()).hexdigest()[:12]


def _attempt(call):
    try:
        return call()
    except Exception as error:
        return type(error).__name__


def _check(s, name):
    """Our tables are what their registrations say; PyTorch's own check fails on some fallthroughs."""
    if s.name == "dispatch":
        s.C._dispatch_check_invariants(name)
        s.C._dispatch_check_all_invariants()


def _facts(s, made, keys):
    """What the core says of each key, as text."""
    C, name = s.C, made.name
    yield from (
        f"{k} {_attempt(lambda k=k: C._dispatch_has_computed_kernel_for_dispatch_key(name, k))}"
        for k in keys
    )
    yield from (
        f"{k} own {_attempt(lambda k=k: C._dispatch_has_kernel_for_dispatch_key(name, k))}"
        for k in (*keys, *_ALIASES)
    )
    yield from (
        f"{k} falls {_attempt(lambda k=k: C._dispatch_kernel_for_dispatch_key_is_fallthrough(name, k))}"
        for k in keys
    )


def _resolved(s, op, keys):
    for k in keys:
        key = getattr(s.DispatchKey, k)
        yield f"{k} {getattr(_attempt(lambda key=key: s._ops.resolve_key(op, key)), 'name', 'RAISES')}"


def _runtime_keys(s):
    names = [n for n in s.DispatchKey.__members__ if not n.startswith(("StartOf", "EndOf"))]
    return [
        n
        for n in names
        if not s.C._dispatch_is_alias_key(getattr(s.DispatchKey, n))
        and n
        not in (
            "Dense",
            "Quantized",
            "Sparse",
            "SparseCsr",
            "NestedTensor",
            "AutogradFunctionality",
        )
    ]


def _run(s, log, seed, full=False):
    C, made = s.C, _Set(s, seed)
    keys = _runtime_keys(s)

    def say(label, lines):
        lines = list(lines)
        log(label, len(lines), *(["\n" + "\n".join(lines)] if full else [_digest(lines)]))

    for number in range(made.random.randint(3, 14)):
        log(number, _attempt(lambda number=number: made.step(number)))
        _check(s, made.name)
        dump = _lines(C._dispatch_dump(made.name))
        say("dump", dump)
        if dump:
            say("table", _lines(str(_attempt(lambda: C._dispatch_dump_table(made.name)))))
            say("facts", _facts(s, made, keys))
    log("dangling", sum(made.ns + "::" in x for x in C._dispatch_find_dangling_impls()))
    if made.defined is not None:
        op = getattr(s.ops, made.ns).f.default
        say("resolved", _resolved(s, op, keys))
        for device in ("cpu", "meta"):
            for grad in (False, True):
                made.said.clear()
                x = s.T.ones(2, device=device, requires_grad=grad)
                result = _attempt(lambda: op(x).requires_grad)  # noqa: B023
                log(device, grad, result, made.said)
        made.said.clear()
        with C._EnablePythonDispatcher():
            log("python", _attempt(lambda: op(s.T.ones(2)).requires_grad), made.said)
        with s.T.inference_mode():
            log("inference", _attempt(lambda: op(s.T.ones(2)).requires_grad), made.said)
    for m in made.modules.values():
        m.reset()
    _check(s, made.name)
    log("end", C._dispatch_dump(made.name))


def _program(seed):
    def program(s, log):
        _run(s, log, seed)

    program.__name__ = f"set_{seed:03}"
    return program


globals().update({f"set_{seed:03}": _program(seed) for seed in _SETS})
