"""Shape functions: metadata in, metadata out."""
