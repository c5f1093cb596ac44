"""The order in which a function or a method tries the overloads of its operator."""
from dispatch._C.overload cimport OpOverloadPacket

cdef list ordered_entries(OpOverloadPacket packet, int flag)
