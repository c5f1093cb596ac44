"""Factories, as a mode sees what they call."""


from tests.differential.helpers import show_calls


def like_factories(s, log):
    show_calls(
        s,
        log,
        """
        T.zeros_like(x)
        T.zeros_like(x,dtype=T.int32)
        T.zeros_like(x,device="meta")
        T.zeros_like(x,memory_format=T.contiguous_format)
        T.zeros_like(x,requires_grad=True)
        T.zeros_like(input=x)
        T.zeros_like(x, layout=T.strided)
        T.zeros_like(x, pin_memory=False)
        T.zeros_like(x, pin_memory=True)
        T.ones_like(x)
        T.ones_like(x,dtype=T.int32)
        T.ones_like(x,requires_grad=True)
        T.ones_like(x,device="cpu")
        T.empty_like(x)
        T.empty_like(x,dtype=T.int32)
        T.empty_like(x4,memory_format=T.channels_last)
        T.empty_like(x,memory_format=T.preserve_format)
        T.full_like(x,3)
        T.full_like(x,3,dtype=T.int32)
        T.full_like(x,fill_value=3)
        T.full_like(x,s)
        T.rand_like(x)
        T.rand_like(x,dtype=T.float64)
        T.randn_like(x)
        T.randn_like(x,device="meta")
    """,
    )


def new_factories(s, log):
    show_calls(
        s,
        log,
        """
        x.new_empty((2,))
        x.new_empty(2,3)
        x.new_empty(2,dtype=T.int32)
        x.new_empty([2],device="meta")
        x.new_zeros(2)
        x.new_zeros((2,3),dtype=T.float64)
        x.new_zeros(2,requires_grad=True)
        x.new_zeros(size=(2,))
        x.new_ones(2,3)
        x.new_ones((2,),device="cpu")
        x.new_full((2,),3)
        x.new_full((2,),3,dtype=T.int32)
        x.new_full((2,),fill_value=3)
        x.new_full((2,),3.,requires_grad=True)
        x.new_empty_strided((2,3),(1,2))
        x.new_empty_strided((2,3),(1,2),dtype=T.int32)
        x.new_tensor([1,2])
        x.new_tensor([1,2],dtype=T.int32)
        x.new_tensor([1.],requires_grad=True)
        x.new_tensor(v)
        i.new_tensor([1.5])
    """,
    )


def tensors_of_data(s, log):
    show_calls(
        s,
        log,
        """
        T.tensor(1)
        T.tensor(1.5)
        T.tensor([1,2])
        T.tensor([1.,2.],dtype=T.float64)
        T.tensor([1.],requires_grad=True)
        T.tensor([1],device="meta")
        T.tensor([1],device="cpu")
        T.tensor(np.ones(2))
        T.tensor(np.float32(1))
        T.tensor(x)
        T.tensor(x,dtype=T.int32)
        T.tensor(s)
        T.tensor(x.tolist())
        T.tensor([s,s])
        T.tensor([z,1])
        T.tensor([])
        T.tensor([[True]])
        T.tensor([1+1j])
        T.as_tensor([1,2])
        T.as_tensor(x)
        T.as_tensor(x,dtype=T.float64)
        T.as_tensor(x,device="meta")
        T.as_tensor(np.ones(2))
        T.as_tensor(np.ones(2),dtype=T.float32)
        T.as_tensor(1.)
        T.as_tensor([1],dtype=T.float32,device="cpu")
        T.asarray([1,2])
        T.asarray(x)
        T.asarray(x,copy=True)
        T.asarray(x,dtype=T.float64)
        T.asarray(np.ones(2))
        T.asarray(np.ones(2),copy=True)
        T.asarray([1.],requires_grad=True)
        T.asarray(1.)
        T.from_numpy(np.ones(2))
        T.frombuffer(bytearray(8),dtype=T.int32)
        T.Tensor(2,3)
        T.Tensor([1,2])
        T.Tensor()
        T.Tensor(x)
        T.Tensor((2,3))
        T.Tensor(T.Size([2]))
        T.FloatTensor([1,2])
        T.LongTensor(2)
        T.LongTensor([1,2])
        T.BoolTensor([True])
    """,
    )


def random_factories(s, log):
    show_calls(
        s,
        log,
        """
        T.rand(2,3)
        T.rand((2,))
        T.rand(2, generator=None)
        T.rand(2, dtype=T.float64)
        T.rand(2, out=e)
        T.rand(2, device="meta")
        T.rand(2, requires_grad=True)
        T.randn(2,3)
        T.randn((2,))
        T.randn(2, out=e)
        T.randn(2, device="meta", dtype=T.float16)
        T.randint(5,(2,))
        T.randint(0,5,(2,))
        T.randint(5,[2])
        T.randint(low=0,high=5,size=(2,))
        T.randint(high=5,size=(2,))
        T.randint(5,(2,),dtype=T.float32)
        T.randint(5,(2,),device="meta")
        T.randint(5,(2,),out=i)
        T.randint(5,(2,),requires_grad=False)
        T.randperm(4)
        T.randperm(4,dtype=T.int32)
        T.randperm(4,out=i)
        T.bernoulli(s/4)
        T.bernoulli(v/4)
        T.bernoulli(v,0.5)
        T.bernoulli(v,p=0.5)
    """,
    )


def plain_factories(s, log):
    show_calls(
        s,
        log,
        """
        T.ones(2,3)
        T.ones((2,3))
        T.ones([2,3], dtype=T.int32)
        T.ones(2, device="meta")
        T.ones(2, device="cpu", layout=T.strided, pin_memory=False)
        T.ones(2, requires_grad=True)
        T.ones(())
        T.ones(size=(2,))
        T.ones(2, out=e)
        T.ones(2, names=None)
        T.ones(2, dtype=None)
        T.ones(2, dtype=float)
        T.zeros(2,3)
        T.zeros((2,), dtype=T.bool)
        T.zeros(2, device="meta:1")
        T.zeros(2, layout=None)
        T.empty(2,3)
        T.empty((2,3), memory_format=T.contiguous_format)
        T.empty(1,2,3,4, memory_format=T.channels_last)
        T.empty(2, dtype=T.float64, device="meta")
        T.empty(2, out=e)
        T.empty(2, pin_memory=False)
        T.empty(2, names=("N",))
        T.empty_strided((2,3),(1,2))
        T.empty_strided((2,3),(1,2),device="meta")
        T.empty_strided((2,3),(1,2),dtype=T.int32)
        T.empty_permuted((2,3),(1,0))
        T.empty_permuted((2,3),(1,0),dtype=T.int32)
    """,
    )


def value_factories(s, log):
    show_calls(
        s,
        log,
        """
        T.full((2,), 1)
        T.full((2,), 1.5)
        T.full((2,), True)
        T.full((2,), 1, dtype=T.float32)
        T.full((2,), s)
        T.full([2], 1, device="meta")
        T.full((2,), fill_value=3, requires_grad=False)
        T.full((2,), 3., requires_grad=True)
        T.full((2,), 3., out=e)
        T.arange(3)
        T.arange(3.)
        T.arange(1,4)
        T.arange(1,4,2)
        T.arange(0,1,0.5)
        T.arange(end=3)
        T.arange(start=1,end=3)
        T.arange(3, dtype=T.float64)
        T.arange(3, device="meta")
        T.arange(3, requires_grad=False)
        T.arange(3., requires_grad=True)
        T.arange(z)
        T.arange(3, out=e)
        T.arange(1,3,out=e)
        T.arange(True)
        T.arange(0,3,step=1)
        T.scalar_tensor(2)
        T.scalar_tensor(2.5,dtype=T.float64)
        T.scalar_tensor(2,device="meta")
        T.scalar_tensor(2,requires_grad=False)
        T.Generator().initial_seed()
    """,
    )
