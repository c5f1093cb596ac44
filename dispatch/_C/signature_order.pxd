"""The order in which a function or a method tries the overloads of its operator."""
from dispatch._C.overload cimport OpOverloadPacket

cdef enum:
    EVERY_OVERLOAD = -1

cdef list ordered_entries(OpOverloadPacket packet, int flag)
