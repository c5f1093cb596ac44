"""The settings of fake tensors: a mode's, and what a thread says beside its modes (torch._subclasses.fake_tensor).

A mode's stand in a class of their own, so that the modules that `FakeTensorMode` calls need not know it.
"""
import weakref
from _thread import _local

from cpython.pythread cimport PyThread_get_thread_ident

__all__ = ["FakeState", "FakeTensorConfig", "FakeTensorTLS", "fake_tensor_tls"]


cdef class FakeState(TorchDispatchMode):
    """Base of `FakeTensorMode`: its fields."""

    @property
    def in_kernel_invocation(self):
        """Whether a Meta kernel runs on fake tensors in this thread: their `device` is meta meanwhile.

        Only kernels of others see that: ours tell devices apart.
        """
        return self.in_kernel()

    @in_kernel_invocation.setter
    def in_kernel_invocation(self, bint value):
        self.c_in_kernel = value

    cdef bint in_kernel(self) noexcept:
        return self.c_in_kernel or (self.in_kernel_threads is not None and
                                    <object>PyThread_get_thread_ident() in self.in_kernel_threads)

    cdef int enter_kernel(self, int step) except -1:
        cdef object me = PyThread_get_thread_ident()
        if self.in_kernel_threads is None:
            self.in_kernel_threads = {}
        depth = self.in_kernel_threads.get(me, 0) + step
        if depth:
            self.in_kernel_threads[me] = depth
        else:
            del self.in_kernel_threads[me]
        return 0


class FakeTensorTLS(_local):
    """`allow_non_fake_inputs_override`, unless None, takes the place of every mode's setting."""

    def __init__(self):
        self.allow_non_fake_inputs_override = None
        self.non_strict_export_fake_tensor_tracker = weakref.WeakSet()


fake_tensor_tls = FakeTensorTLS()


class FakeTensorConfig:
    """`debug` is kept for programs that read it: nothing is recorded."""

    debug = False
