"""The reference (`make docs`): `names` finds public names, `pages` writes them for sphinx."""
