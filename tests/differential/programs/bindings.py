"""Operators of Python, indexing, conversions, attributes, as a mode sees what they call."""


from tests.differential.helpers import show_calls


def operators(s, log):
    show_calls(
        s,
        log,
        """
        x + 1
        1 + x
        x + 1.5
        x + True
        x + s
        x + np.float32(1)
        np.float32(1) + v
        np.float64(2) * v
        x + np.int64(1)
        x - 1
        1 - x
        x * 2
        2 * x
        x / 2
        2 / x
        x // 2
        2 // x
        x % 2
        5 % x
        x ** 2
        x ** 0.5
        2 ** x
        2. ** x
        x ** y
        x @ x.t()
        -x
        +x
        abs(x)
        ~b
        ~i
        i & 1
        1 & i
        i | i
        i ^ 1
        1 ^ i
        x == 1
        x == y
        x == None
        x != 1
        x < y
        x > 1
        x <= 2
        1 < x
        x == "a"
        x + "a"
        x + None
    """,
    )


def augmented_operators(s, log):
    show_calls(
        s,
        log,
        """
        x += 1; r = x
        x -= y; r = x
        x *= 2; r = x
        x /= 2; r = x
        x //= 2; r = x
        x %= 2; r = x
        x **= 2; r = x
        i &= 1; r = i
        i |= i; r = i
        i ^= i; r = i
        m @= m; r = m
        x[0] += 1; r = x
    """,
    )


def indexing(s, log):
    show_calls(
        s,
        log,
        """
        v[0]; r = v[0]
        x[0]
        x[-1]
        x[0,1]
        x[1:]
        x[:, 0]
        x[1:, None]
        x[None]
        x[...]
        x[..., 0]
        x[:]
        x[:, :]
        x[::2]
        x[b]
        x[idx]
        x[idx, idx]
        x[:, idx]
        x[[0,1]]
        x[[0,1],[1,2]]
        x[True]
        x[False]
        x[z]
        x[z, 0]
        x[z:]
        x[np.int64(0)]
        x[np.array([0,1])]
        x[0:1, 1:2]
        x[()]
        x[b] = 1; r = x
        x[b] = s; r = x
        x[0] = 1; r = x
        x[0] = v; r = x
        x[0,0] = 5; r = x
        x[:, 0] = 1.5; r = x
        x[idx] = 0; r = x
        x[idx] = y; r = x
        x[...] = 1; r = x
        x[:] = y; r = x
        x[None] = 1; r = x
        x[True] = 1; r = x
        x[0] = s; r = x
        x[0] = d[0]; r = x
        x[0:1] = np.ones(3); r = x
        x[0:1] = [1,2,3]; r = x
        x[b] = x[b]; r = x
        x[z] = 1; r = x
        v[0] in v
    """,
    )


def conversions(s, log):
    show_calls(
        s,
        log,
        """
        x.to("meta")
        x.to("cpu")
        x.to(T.float64)
        x.to(T.float32)
        x.to(T.device("meta"))
        x.to("meta", T.float64)
        x.to(device="meta", dtype=T.float64)
        x.to(dtype=T.float64)
        x.to(d)
        x.to(x)
        x.to(T.float64, copy=True)
        x.to(T.float32, copy=True)
        x.to("cpu", copy=True)
        x.to("cpu", non_blocking=True)
        x.to(T.float64, True)
        x.to(T.float64, True, True)
        x.to("meta", T.float32, True, True)
        x.to(memory_format=T.contiguous_format)
        x4.to(memory_format=T.channels_last)
        x4.to(T.float64, memory_format=T.channels_last)
        x.to(other=d)
        x.to(copy=True)
        x.to()
        x.to(float)
        x.to(None)
        x.to("meta", None)
        x.to(device=None, dtype=None)
        x.to("foo")
        x.to([1])
        x.float()
        x.double()
        x.half()
        x.bfloat16()
        x.int()
        x.long()
        x.bool()
        x.short()
        x.char()
        x.byte()
        x.cfloat()
        x.double(memory_format=T.contiguous_format)
        x.cpu()
        meta.cpu()
        x.cpu(memory_format=T.contiguous_format)
        x.type(T.float64)
        x.type("torch.DoubleTensor")
        x.type()
        x.type(T.float32)
    """,
    )


def python_protocols(s, log):
    show_calls(
        s,
        log,
        """
        s.item()
        z.item()
        v.item()
        b[0,0].item()
        c[0].item()
        x.tolist()
        s.tolist()
        e.tolist()
        float(s)
        int(s)
        bool(s)
        complex(s)
        int(z)
        bool(e)
        bool(x)
        float(v)
        s.__index__()
        z.__index__()
        range(z)
        x.numpy()
        s.numpy()
        x.numpy(force=True)
        np.asarray(x)
        list(v)
        list(x)
        [a for a in x]
        list(s)
        len(x)
        len(s)
        2. in v
        9 in x
        None in v
        "a" in v
        reversed(v)
        v.__reversed__()
        a, q = x; r = a
        repr(x)
        str(x)
        repr(s)
        repr(i)
        repr(b)
        repr(e)
        repr(g)
        repr(c)
        repr(meta)
        repr(d)
        f"{s}"
        f"{s:.2f}"
        f"{x}"
        format(s, ".1f")
        x.itemsize
        T.from_numpy(np.ones(2)).add(1)
    """,
    )


def attributes_of_tensors(s, log):
    show_calls(
        s,
        log,
        """
        x.detach()
        g.detach()
        g.data
        x.data = y; r = x
        x.grad
        g.grad
        x.requires_grad
        g.requires_grad_(False)
        x.untyped_storage().nbytes()
        x.is_nonzero()
        s.is_nonzero()
        T.is_nonzero(s)
        x.element_size()
        x.nbytes
        x.ndim
        x.shape
        x.is_leaf
        x.grad_fn
        x._version
        x.add_(1)._version
        x.T._base is x
        x.is_meta
        x.is_sparse
        x.layout
        x.storage_offset()
        x.detach() is x
        x.contiguous() is x
        x.requires_grad_().sum()
        (g*2).requires_grad
        T.is_tensor(x)
        x.view(x.shape)
        x.view(*x.shape)
        x.reshape()
        s.reshape(())
        T.add(x, y, requires_grad=True)
    """,
    )


def out_arguments(s, log):
    show_calls(
        s,
        log,
        """
        T.add(x, y, out=None)
        T.max(x, 1, out=None)
        T.add(x, y, out=x) is x
        T.add(x, y, out=(e,))
        T.add(x, y, out=[e])
        T.max(x, 1, out=e)
        T.max(x, 1, out=[e, T.empty(0,dtype=T.int64)])
        T.sum(x, out=e)
        T.sum(x, dim=None, out=e)
        T.mm(m, m, out=g)
        T.sum(x, 0, dtype=T.float64, out=d)
        T.ones(2, layout="strided")
    """,
    )


def arguments_that_do_not_fit(s, log):
    show_calls(
        s,
        log,
        """
        [1,2,3][z]
        np.array(x)
        x.__contains__(1)
        g.data = T.zeros(2); r = g
        x.device
        x is x.to(T.float32)
        (g*2).sum()
        T.add(np.ones(2), v)
        T.add(v, np.float32(1))
        T.add(v, np.ones(3))
        T.stack([v, np.ones(3)])
        T.add(v, [1,2,3])
        T.zeros(np.int64(2))
        T.zeros((np.int64(2),))
        T.zeros(z)
        T.zeros((z,))
        T.zeros(x.shape)
        T.ones(*x.shape)
        x.view(z*6)
        x.view(np.int64(6))
        x.sum(np.int64(0))
        x.sum((z,))
        x.select(np.int64(0), z)
        x.add(np.float64(2))
        x.add(np.array(2.))
        x.mul(z)
        x.clamp(z)
        x.clamp(min=np.float32(1))
        x.transpose(z, 0)
        x.unsqueeze(z)
        x.add(1, 2)
        x.add()
        x.add("a")
        x.add(y, foo=1)
        x.sum("N")
        x.sum(1.0)
        x.view(1.0)
        x.view("a")
        x.max("N")
        x.flip()
        x.permute()
        x.view()
        x.expand()
        x.repeat()
        s.expand()
        s.repeat()
        s.view()
        s.flip(())
        T.add(x, 1, dtype=T.float64)
        T.relu(x, device="cpu")
        T.ones(2, foo=1)
        T.ones(2, generator=None)
        T.ones()
        T.ones("a")
        T.ones(2, dtype="float32")
        T.ones(2, pin_memory=1)
        T.ones(2, requires_grad=1)
        T.ones(2, requires_grad=None)
        T.ones(2, dtype=T.int32, requires_grad=True)
        T.ones([2, [3]])
        T.ones((2, 3.0))
        T.ones(-1)
        T.ones(2, pin_memory=None)
        T.zeros_like(x, dtype=T.int32, requires_grad=True)
        with T.device("meta"): r = T.ones(2); pass
        with T.device("meta"): r = T.randn(2, device="cpu"); pass
    """,
    )
