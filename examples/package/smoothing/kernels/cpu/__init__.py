"""Bodies that fill outputs."""
