"""The `.vec` overloads: compiled as it stands."""
