# Imported for its effect alone: it enters the kernel of the Functionalize key.
