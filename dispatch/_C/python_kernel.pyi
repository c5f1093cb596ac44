# Reached by the other compiled modules only.
