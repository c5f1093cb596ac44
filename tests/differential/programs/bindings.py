"""What bindings do between the call and the operators, as a mode sees it."""

import warnings
from typing import Any

import numpy as np


def _described(log: Any, value: Any) -> str:
    """Tensors without their values; the class of named results."""
    if isinstance(value, log.side.Tensor):
        text = log.tensor(value.detach() if value.device.type == "meta" else value)
        kind, _, rest = text.partition("<")
        words = rest.rstrip(">").split(" [")[0]
        return f"{kind}<{words}>"
    if type(value) in (list, tuple) or type(value).__name__ == "Size":
        inner = ", ".join(_described(log, v) for v in value)
        return f"[{inner}]" if type(value) is list else f"({inner})"
    if isinstance(value, tuple):
        return f"{type(value).__name__}({', '.join(_described(log, v) for v in value)})"
    return str(log.show(value))


def _names(s: Any) -> dict[str, Any]:
    T = s.T
    return {
        "T": T,
        "np": np,
        "x": T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "y": T.tensor([[2.0, 2.0, 2.0], [3.0, 3.0, 3.0]]),
        "i": T.tensor([[1, 2, 3], [4, 5, 6]]),
        "b": T.tensor([[True, False, True], [False, True, False]]),
        "v": T.tensor([1.0, 2.0, 3.0]),
        "s": T.tensor(2.0),
        "z": T.tensor(1),
        "c": T.tensor([1 + 2j, 3 - 1j]),
        "m": T.tensor([[1.0, 0.0], [0.0, 1.0]]),
        "idx": T.tensor([0, 1]),
        "e": T.empty(0),
        "g": T.tensor([1.0, 2.0], requires_grad=True),
        "x4": T.ones(1, 2, 3, 4),
        "d": T.tensor([1.0, 2.0], dtype=T.float64),
        "L": [T.ones(2), T.zeros(2)],
        "meta": T.empty(2, 3, device="meta"),
    }


def _shown(s: Any, log: Any, calls: str) -> None:
    """Each line of `calls` under a mode that logs operators; `r` is the result of statements."""

    class Shown(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            given = [_described(log, a) for a in args]
            given += [f"{k}={_described(log, v)}" for k, v in (kwargs or {}).items()]
            seen.append(f"{func}({', '.join(given)})")
            return func(*args, **(kwargs or {}))

    warnings.simplefilter("ignore")
    for call in filter(None, map(str.strip, calls.splitlines())):
        names, seen = _names(s), []
        s.T.manual_seed(0)
        try:
            with Shown():
                if ";" in call:
                    exec(call, names)
                    result = names["r"]
                else:
                    result = eval(call, names)
            text = None
        except Exception as error:
            text = f"raises {type(error).__name__}"
        log(call, "->", text or _described(log, result), *[f"| {line}" for line in seen])


def like_factories(s, log):
    _shown(
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
    _shown(
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
    _shown(
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
    _shown(
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
    _shown(
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
    _shown(
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


def reductions(s, log):
    _shown(
        s,
        log,
        """
        x.max()
        x.max(1)
        x.max(1,True)
        x.max(dim=1)
        x.max(y)
        x.max(other=y)
        T.max(x,1)
        T.max(x,dim=1,keepdim=True)
        T.max(x,1,out=(T.empty(0),T.empty(0,dtype=T.int64)))
        x.min()
        x.min(0)
        x.std()
        x.std(0)
        x.std(False)
        x.std(0,False)
        x.std(0,unbiased=False)
        x.std(dim=0,correction=0)
        x.std(correction=0)
        x.std([0,1])
        x.var()
        x.var(0)
        x.var(1,True,True)
        T.var(x,unbiased=False)
        T.var(x,0,keepdim=True)
        T.std(x,dim=(0,1))
        T.var_mean(x)
        T.var_mean(x,0)
        T.var_mean(x,0,False)
        T.var_mean(x,dim=0,correction=2)
        x.sum()
        x.sum(0)
        x.sum((0,1))
        x.sum(0,1)
        x.sum(dim=0)
        x.sum(dim=[0])
        x.sum(axis=0)
        x.sum(0,keepdim=True)
        x.sum(0,True)
        x.sum(0,keepdims=True)
        x.sum(dtype=T.float64)
        x.sum(None)
        x.sum(())
        T.sum(x)
        T.sum(x,0)
        T.sum(input=x,dim=0)
        T.sum(x,axis=0)
        T.sum(x,0,out=e)
        x.mean()
        x.mean(0)
        x.mean((0,1),True)
        x.mean(dtype=T.float64)
        x.mean(None)
        T.mean(x,1,keepdim=True)
        x.prod()
        x.prod(0)
        x.prod(0,True)
        x.any()
        x.any(0)
        x.any(dim=(0,1))
        b.all()
        b.all(0)
        b.all(0,True)
        x.argmax()
        x.argmax(1)
        x.argmax(dim=1,keepdim=True)
        x.argmin(1)
        x.amax()
        x.amax(1)
        x.amax((0,1))
        x.amin(dim=0)
        x.cumsum(0)
        x.cumsum(dim=0,dtype=T.float64)
    """,
    )


def sorting_and_softmax(s, log):
    _shown(
        s,
        log,
        """
        x.softmax(0)
        x.softmax(dim=0)
        x.softmax(0,dtype=T.float64)
        x.softmax(0,T.float64)
        T.softmax(x,0)
        T.softmax(x,dim=-1,dtype=T.float64)
        x.log_softmax(0)
        T.log_softmax(x,1)
        x.sort()
        x.sort(0)
        x.sort(0,True)
        x.sort(dim=0,descending=True)
        x.sort(stable=True)
        x.sort(descending=True,stable=True)
        T.sort(x)
        T.sort(x,0)
        T.sort(x,stable=False)
        T.sort(x,out=(T.empty(0),T.empty(0,dtype=T.int64)))
        x.topk(1)
        x.topk(1,0)
        x.topk(1,dim=0,largest=False,sorted=False)
        T.topk(x,2)
        T.topk(x,k=2)
    """,
    )


def in_place_and_random(s, log):
    _shown(
        s,
        log,
        """
        x.squeeze_(0)
        x.unsqueeze_(0)
        x.t_()
        x.transpose_(0,1)
        x.requires_grad_()
        x.requires_grad_(False)
        x.masked_fill_(b,1.)
        x.scatter_(0,i*0,x)
        x.scatter_(0,i*0,2.)
        x.scatter_add_(0,i*0,x)
        x.index_put_((idx,),y)
        x.index_put_([idx],s,True)
        x.clamp_(0)
        x.relu_()
        x.abs_()
        x.fill_(1)
        x.fill_(s)
        x.zero_()
        x.copy_(y)
        x.copy_(y,True)
        x.copy_(y,non_blocking=True)
        x.copy_(1)
        x.set_()
        x.set_(y)
        x.resize_(2)
        x.resize_(2,2)
        x.resize_((2,2))
        x.uniform_()
        x.uniform_(0,1)
        x.uniform_(to=2)
        x.normal_()
        x.normal_(0,1)
        x.normal_(mean=1)
        x.random_()
        x.random_(5)
        x.random_(0,5)
        x.bernoulli_()
        x.bernoulli_(0.5)
        x.bernoulli_(x/10)
        x.bernoulli(0.5)
        x.add_(1)
        x.add_(y,alpha=2)
        x.mul_(2)
        x.div_(y)
        x.sub_(1)
        x.pow_(2)
        x.eq_(1)
        T.dropout(x,0.5,False)
        T.dropout(x,p=0.5,train=True)
        T.dropout_(x,0.5,True)
        T.native_dropout(x,0.5,True)
        T.relu_(x)
        T.sigmoid_(x)
        T._foreach_add_(L,1)
    """,
    )


def shapes_of_views(s, log):
    _shown(
        s,
        log,
        """
        x.reshape(3,2)
        x.reshape((3,2))
        x.reshape(-1)
        x.reshape([6])
        x.reshape(shape=(6,))
        x.t().reshape(6)
        T.reshape(x,(6,))
        T.reshape(x,[2,3])
        x.view(3,2)
        x.view((6,))
        x.view(-1)
        x.view(size=(6,))
        x.view_as(y)
        x.reshape_as(y)
        x.T
        x.mT
        x.H
        x.mH
        v.T
        x4.T
        x.t()
        x.transpose(0,1)
        x.transpose(dim0=0,dim1=1)
        x.swapaxes(0,1)
        x.swapdims(0,1)
        x.permute(1,0)
        x.permute((1,0))
        x.permute(dims=(1,0))
        T.permute(x,(1,0))
        x.movedim(0,1)
        x.movedim((0,),(1,))
        x.expand(2,3)
        v.expand(2,3)
        v.expand((2,3))
        v.expand(2,-1)
        v.expand(size=(2,3))
        v.expand(2,3,implicit=True)
        v.expand_as(x)
        v.repeat(2)
        v.repeat(2,2)
        v.repeat((2,2))
        v.tile(2)
        v.tile((2,2))
        T.tile(v,(2,))
        x.repeat_interleave(2)
        x.repeat_interleave(2,0)
        x.repeat_interleave(idx+1,0)
        x.flatten()
        x.flatten(0,1)
        x.flatten(start_dim=0)
        T.flatten(x)
        T.flatten(x,1)
        x.unflatten(1,(3,1))
        x.unflatten(1,[-1,1])
        x.ravel()
        x.squeeze()
        x.squeeze(0)
        x.squeeze((0,1))
        x.squeeze(dim=0)
        x.unsqueeze(0)
        T.unsqueeze(x,-1)
        x.t().contiguous()
        T.view_as_real(c)
        T.view_as_complex(y[:,:2])
    """,
    )


def splits_and_joins(s, log):
    _shown(
        s,
        log,
        """
        x.contiguous(memory_format=T.contiguous_format)
        x4.contiguous(memory_format=T.channels_last)
        x.clone(memory_format=T.contiguous_format)
        T.clone(x)
        x.chunk(2)
        x.chunk(2,1)
        T.chunk(x,2,dim=1)
        x.split(1)
        x.split(1,1)
        x.split([1,2],1)
        x.split((1,2),dim=1)
        x.split_with_sizes([1,2],1)
        T.split(x,1)
        T.split(x,[1,2],1)
        T.split(x,split_size_or_sections=1)
        x.unbind()
        x.unbind(1)
        T.unbind(x,dim=1)
        T.stack(L)
        T.stack(L,1)
        T.stack((v,v),dim=0)
        T.stack(L,out=e)
        T.cat(L)
        T.cat((x,y),1)
        T.cat([x,y],dim=1)
        T.cat([x,y],axis=1)
        T.cat(tensors=[x,y])
        T.concat([x,y])
        T.concatenate([x,y],1)
        T.cat([x,y],out=e)
        T.clamp(x,0)
        T.clamp(x,min=0,max=s)
        T.conv2d(x4,T.ones(1,2,1,1))
        T.conv2d(x4,T.ones(1,2,1,1),padding=1)
        T.conv2d(x4,T.ones(1,2,1,1),None,(1,1),"same")
        T.conv2d(x4,T.ones(1,2,1,1),stride=2)
        T.conv1d(x[None],T.ones(1,2,1))
        T.convolution(x4,T.ones(1,2,1,1),None,[1,1],[0,0],[1,1],False,[0,0],1)
        T.constant_pad_nd(x,(1,1))
        T.constant_pad_nd(x,[1,1],2.)
        T.conj(c)
    """,
    )


def scatters_and_places(s, log):
    _shown(
        s,
        log,
        """
        x.narrow(1,0,2)
        x.narrow(1,z,2)
        x.select(0,1)
        x.index_select(0,idx)
        x.gather(1,i*0)
        T.gather(x,1,i*0)
        x.masked_fill(b,0)
        x.masked_fill(b,s)
        x.scatter(0,i*0,1.)
        x.scatter(0,i*0,x)
        x.scatter(0,i*0,value=1.)
        x.scatter(0,i*0,src=x)
        x.scatter_add(0,i*0,x)
        x.scatter_reduce(0,i*0,x,"sum")
        x.scatter_reduce(0,i*0,x,reduce="amax",include_self=False)
        x.index_put((idx,),y)
        x.index_put(indices=[idx],values=y)
        x.where(b,y)
        T.where(b,x,y)
        T.where(b,x,0)
        T.where(b,1.,x)
        T.where(b,1.,2.)
        T.where(b)
        x.nonzero()
        T.nonzero(x)
        T.nonzero(x,as_tuple=True)
        x.nonzero(as_tuple=True)
        x.nonzero(as_tuple=False)
    """,
    )


def arithmetic_functions(s, log):
    _shown(
        s,
        log,
        """
        x.clone()
        x.add(y)
        x.add(1)
        x.add(1,alpha=2)
        x.add(y,alpha=2)
        x.add(y,alpha=1)
        x.add(1.5)
        x.add(s)
        T.add(x,1)
        T.add(1,x)
        T.add(1,2)
        T.add(x,y,alpha=2)
        T.add(x,2,y)
        T.add(x,y,out=e)
        T.add(x,other=1)
        T.add(input=x,other=y)
        x.add(other=y)
        x.sub(1)
        x.sub(y,alpha=2)
        T.sub(1,x)
        T.rsub(x,1)
        T.rsub(x,y)
        x.subtract(1)
        x.mul(2)
        x.mul(y)
        T.mul(2,x)
        x.multiply(2)
        x.div(2)
        x.div(y,rounding_mode="floor")
        x.div(2,rounding_mode="trunc")
        x.div(y,rounding_mode=None)
        T.div(1,x)
        x.floor_divide(2)
        T.floor_divide(x,2)
        x.remainder(2)
        x.remainder(y)
        T.remainder(5,x)
        x.fmod(2)
        x.pow(2)
        x.pow(y)
        x.pow(s)
        T.pow(2,x)
        T.pow(x,2)
        T.pow(x,exponent=2)
        x.eq(1)
        x.eq(y)
        x.ne(1)
        x.lt(y)
        x.gt(1)
        x.ge(True)
        x.equal(y)
        x.isclose(y)
        x.allclose(y)
        T.allclose(x,y,rtol=1e-3)
        T.equal(x,y)
        x.maximum(y)
        x.minimum(y)
        x.clamp(1)
        x.clamp(1,2)
        x.clamp(min=1)
        x.clamp(max=2)
        x.clamp(min=None,max=2)
        x.clamp(x,y)
        x.clamp(min=x)
        x.clamp_min(1)
        x.clamp_max(1)
        x.addcmul(y,y)
        x.addcmul(y,y,value=2)
        x.addcmul(2,y,y)
        x.addcdiv(y,y)
        x.addcdiv(y,y,value=2)
        m.addmm(m,m)
        m.addmm(m,m,beta=2)
        m.addmm(2,m,m)
        m.addmm(2,3,m,m)
        T.addmm(2,m,3,m,m)
        T.addmm(m,m,m,alpha=2)
        m.addmv(v[:2],v[:2])
        m[None].baddbmm(m[None],m[None])
        m.matmul(m)
        T.matmul(m,m)
        T.matmul(v,v)
        T.baddbmm(m[None],m[None],m[None],beta=2)
        T.embedding(x,idx,padding_idx=0)
        T._foreach_add(L,1)
        T._foreach_add(L,L)
        T._foreach_mul(L,2.)
        T._foreach_mul(L,[1.,2.])
    """,
    )


def matrix_functions(s, log):
    _shown(
        s,
        log,
        """
        m.mm(m)
        m.mv(v[:2])
        v.dot(v)
        m[None].bmm(m[None])
        T.mm(m,m,out=e)
    """,
    )


def other_functions(s, log):
    _shown(
        s,
        log,
        """
        x.contiguous()
        x.is_contiguous()
        x.detach()
        x.data
        g.detach()
        x.roll(1)
        x.roll(1,0)
        x.roll((1,1),(0,1))
        x.flip(0)
        x.flip(0,1)
        x.flip((0,1))
        x.flip(dims=(0,))
        x.tril()
        x.triu(1)
        x.tril(diagonal=-1)
        x.diagonal()
        x.diagonal(0,0,1)
        x.relu()
        x.sigmoid()
        x.tanh()
        x.exp()
        x.log()
        x.sqrt()
        x.rsqrt()
        x.neg()
        x.abs()
        T.absolute(x)
        x.sign()
        x.floor()
        x.round()
        x.trunc()
        x.reciprocal()
        x.square()
        x.erf()
        x.isnan()
        x.isinf()
        x.isfinite()
        x.logical_not()
        x.logical_and(y)
        b.bitwise_not()
        i.bitwise_and(1)
        i.bitwise_and(i)
        i.bitwise_or(i)
        x.nan_to_num()
        x.nan_to_num(0.)
        x.nan_to_num(nan=1.,posinf=2.)
        T.layer_norm(x,(3,))
        T.layer_norm(x,[3],v,v)
        T.layer_norm(x,(3,),eps=1e-3)
        T.native_layer_norm(x,(3,),None,None,1e-5)
        T.batch_norm(x,None,None,None,None,True,0.1,1e-5,False)
        T.native_batch_norm(x,None,None,None,None,True,0.1,1e-5)
        T.group_norm(x4,2)
        T.embedding(x,idx)
        T.max_pool2d(x4,2)
        T.max_pool2d(x4,(2,2),stride=1)
        T.adaptive_avg_pool1d(x[None],1)
        T.relu(x)
        T.histc(x)
        T.real(c)
        T.imag(c)
        c.real
        c.imag
        x.real
        x.imag
        c.conj()
        x.conj()
        c.resolve_conj()
        c.conj_physical()
        c.abs()
        x.type_as(d)
        x.data_ptr() > 0
        x.numel()
        T.numel(x)
        x.size()
        x.size(0)
        x.stride()
        x.dim()
        x.storage_offset()
        x.is_floating_point()
        T.is_floating_point(x)
        x.as_strided((2,),(1,))
        x.as_strided((2,),(1,),1)
        T.as_strided(x,[2],[1],storage_offset=1)
        x.unfold(0,1,1)
        x.unfold(dimension=0,size=2,step=1)
        x.diff()
        x.diff(dim=0)
        T.atan2(x,y)
        T.broadcast_to(v,(2,3))
        v.broadcast_to((2,3))
        v.broadcast_to(2,3)
        T.broadcast_tensors(v,x)
        T.result_type(x,1)
        T._foreach_norm(L)
    """,
    )


def operators(s, log):
    _shown(
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
    _shown(
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
    _shown(
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
    _shown(
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
    _shown(
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
    _shown(
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
    _shown(
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
    _shown(
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
