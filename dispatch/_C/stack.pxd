"""How deep calls may go: RecursionError before the C stack ends, whatever Python counts.

Python counts its frames, not what C takes between two of them, and from 3.12 on counts C's calls apart, up to more than a stack
may hold. So whoever calls code of others back in C asks here first. Beyond a stack that is known (greenlets switch them)
nothing is refused.
"""
cdef extern from *:
    """
    #include <stdint.h>
    /* The lowest address of the thread's stack, and how much above it is kept free: UINTPTR_MAX: not asked yet; 0: unknown. */
    typedef struct { uintptr_t low, kept; } dispatch_stack;
    static __thread dispatch_stack dispatch_own_stack = {0, UINTPTR_MAX};
    #if defined(__linux__)
    #include <pthread.h>
    static inline void dispatch_ask_stack(void) {
        pthread_attr_t attr;
        void* low;
        size_t size;
        dispatch_own_stack.kept = 0;
        if (pthread_getattr_np(pthread_self(), &attr))
            return;
        if (!pthread_attr_getstack(&attr, &low, &size)) {
            dispatch_own_stack.low = (uintptr_t)low;
            dispatch_own_stack.kept = size / 4 < ((size_t)1 << 18) ? size / 4 : (size_t)1 << 18;
        }
        pthread_attr_destroy(&attr);
    }
    #else
    static inline void dispatch_ask_stack(void) { dispatch_own_stack.kept = 0; }
    #endif
    /* An object on the stack would not do: AddressSanitizer moves those. */
    #define DISPATCH_DEEP() ((uintptr_t)__builtin_frame_address(0) - dispatch_own_stack.low < dispatch_own_stack.kept)
    static int dispatch_refuse_depth(const char* where) {
        if (dispatch_own_stack.kept == UINTPTR_MAX)
            dispatch_ask_stack();
        if (!DISPATCH_DEEP())
            return 0;
        PyErr_Format(PyExc_RecursionError, "maximum recursion depth exceeded%s: the C stack is used up", where);
        return -1;
    }
    static inline int dispatch_check_depth(const char* where) { return DISPATCH_DEEP() ? dispatch_refuse_depth(where) : 0; }
    static inline int dispatch_enter_call(const char* where) {
        return dispatch_check_depth(where) || Py_EnterRecursiveCall(where) ? -1 : 0;
    }
    """
    int check_depth "dispatch_check_depth"(const char* where) except -1   # before a call of what counts its own depth: a function
    int try_depth "dispatch_check_depth"(const char* where) noexcept      # the same; -1 with an exception set
    int enter_call "dispatch_enter_call"(const char* where) except -1     # a level deeper, until `leave_call`
    int try_enter "dispatch_enter_call"(const char* where) noexcept       # the same; -1 with an exception set
    void leave_call "Py_LeaveRecursiveCall"() noexcept
