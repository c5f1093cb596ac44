"""What devices do, for tools that listen (`dispatch.device_trace`): backends call `fire_*`, which cost one test while nobody does.

`devtype` is the DeviceType of the backend; handles are addresses or numbers. The functions need the GIL, raise nothing and keep an
exception that is set.
"""
from libc.stdint cimport uintptr_t

cdef enum DeviceEvent:
    DE_EVENT_CREATION, DE_EVENT_DELETION, DE_EVENT_RECORD, DE_EVENT_WAIT, DE_MEMORY_ALLOCATION, DE_MEMORY_DEALLOCATION
    DE_STREAM_CREATION, DE_DEVICE_SYNCHRONIZATION, DE_STREAM_SYNCHRONIZATION, DE_EVENT_SYNCHRONIZATION

cdef bint listening              # whether somebody has registered a callback
cdef void fire_device_event(int devtype, int kind, int n_values, uintptr_t a, uintptr_t b) noexcept

cdef inline void fire_event_creation(int devtype, uintptr_t event) noexcept:
    if listening:
        fire_device_event(devtype, DE_EVENT_CREATION, 1, event, 0)

cdef inline void fire_event_deletion(int devtype, uintptr_t event) noexcept:
    if listening:
        fire_device_event(devtype, DE_EVENT_DELETION, 1, event, 0)

cdef inline void fire_event_record(int devtype, uintptr_t event, uintptr_t stream) noexcept:
    if listening:
        fire_device_event(devtype, DE_EVENT_RECORD, 2, event, stream)

cdef inline void fire_event_wait(int devtype, uintptr_t event, uintptr_t stream) noexcept:
    if listening:
        fire_device_event(devtype, DE_EVENT_WAIT, 2, event, stream)

cdef inline void fire_memory_allocation(int devtype, uintptr_t address) noexcept:
    if listening:
        fire_device_event(devtype, DE_MEMORY_ALLOCATION, 1, address, 0)

cdef inline void fire_memory_deallocation(int devtype, uintptr_t address) noexcept:
    if listening:
        fire_device_event(devtype, DE_MEMORY_DEALLOCATION, 1, address, 0)

cdef inline void fire_stream_creation(int devtype, uintptr_t stream) noexcept:
    if listening:
        fire_device_event(devtype, DE_STREAM_CREATION, 1, stream, 0)

cdef inline void fire_device_synchronization(int devtype) noexcept:
    if listening:
        fire_device_event(devtype, DE_DEVICE_SYNCHRONIZATION, 0, 0, 0)

cdef inline void fire_stream_synchronization(int devtype, uintptr_t stream) noexcept:
    if listening:
        fire_device_event(devtype, DE_STREAM_SYNCHRONIZATION, 1, stream, 0)

cdef inline void fire_event_synchronization(int devtype, uintptr_t event) noexcept:
    if listening:
        fire_device_event(devtype, DE_EVENT_SYNCHRONIZATION, 1, event, 0)
