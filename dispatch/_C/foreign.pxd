"""Errors of numpy and CPython that leave a kernel of ours, in our words."""

cdef object in_own_words(object error, object trace)       # a refusal to raise in its place; None: the error stays as it is
