"""The normal form of everything that is no sum or product."""
