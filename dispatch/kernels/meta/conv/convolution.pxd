"""Shapes of convolutions: compiled as it stands, for it runs with every one of them."""
