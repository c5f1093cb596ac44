"""Several threads at once: each with its own modes, all with the same operators."""

import threading

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, ops
from dispatch.fake import DispatchCache
from dispatch.library import Library
from dispatch.modes import TorchDispatchMode, _get_current_dispatch_mode_stack

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten
ROUNDS = 200


def run_together(*jobs):
    """Run the jobs in threads of their own; the first exception of each is raised here."""
    errors = []
    barrier = threading.Barrier(len(jobs))

    def body(job):
        try:
            barrier.wait(30)
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(t.is_alive() for t in threads)
    if errors:
        raise errors[0]


class Count(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.n = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.n += 1
        return func(*args, **(kwargs or {}))


def test_each_thread_has_its_own_modes():
    def job():
        for _ in range(ROUNDS):
            with Count() as mode:
                A.add.Tensor(x, 1)
                A.view.default(x, [1, 2])
                assert _get_current_dispatch_mode_stack() == [mode]
            assert mode.n == 2

    x = dispatch.ones(2)
    run_together(*[job] * 4)


@pytest.mark.parametrize("shared", ["mode", "cache", "nothing"])
def test_fake_modes_in_threads(shared):
    mode, cache = FakeTensorMode(), DispatchCache(max_entries=16)

    def job():
        own = {"mode": mode, "cache": FakeTensorMode(cache=cache)}.get(shared) or FakeTensorMode()
        for n in range(ROUNDS):
            with own:
                x = dispatch.empty(n % 40 + 1, 2)
                r = A.add_.Tensor(A.mul.Tensor(x, 2), x)
                assert type(r) is FakeTensor and r.shape == x.shape and r.fake_mode is own
            assert type(dispatch.empty(1)) is dispatch.Tensor

    run_together(*[job] * 4)


def test_registration_while_others_call():
    done = threading.Event()
    x = dispatch.ones(2)

    def register():
        try:
            for n in range(ROUNDS // 2):
                lib = Library("thr", "FRAGMENT")
                lib.define(f"f{n}(Tensor x) -> Tensor")
                lib.impl(f"f{n}", lambda x: x, "CPU")
                over = Library("aten", "IMPL")
                over.impl("relu", lambda x: x, "CPU")
                assert getattr(ops.thr, f"f{n}")(x) is x
                over._destroy()
                lib._destroy()
        finally:
            done.set()

    def call():
        while not done.is_set():
            assert A.relu.default(x).tolist() == [1.0, 1.0]
            with FakeTensorMode():
                assert A.relu.default(dispatch.empty(3)).shape == (3,)

    run_together(register, call, call)
    assert A.relu.default(x) is not x


def test_grad_and_inference_mode_belong_to_the_thread():
    def off():
        with dispatch.no_grad(), dispatch.inference_mode():
            for _ in range(ROUNDS):
                assert A.mul.Tensor(leaf, 2).requires_grad is False

    def on():
        for _ in range(ROUNDS):
            assert A.mul.Tensor(leaf, 2).requires_grad

    leaf = dispatch.ones(2, requires_grad=True)
    run_together(off, on, off, on)


def test_threads_leave_no_modes_behind():
    import gc
    import weakref

    refs = []

    def job():
        mode = Count()
        refs.append(weakref.ref(mode))
        mode.__enter__()  # never left

    run_together(job, job)
    gc.collect()
    assert [r() for r in refs] == [None, None]
