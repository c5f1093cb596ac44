"""How sphinx builds the reference (`make docs`).

One theme that loads nothing from a network, and no extension: the pages are written by `pages`, and
what sphinx warns of ends the build.
"""

import dispatch

project = "dispatch"
copyright = "the dispatch authors"
version = release = dispatch.__version__
html_theme = "furo"
html_title = f"dispatch {release}"
html_show_sourcelink = False
html_copy_source = False
add_module_names = True
toc_object_entries_show_parents = "hide"
keep_warnings = True
nitpicky = False
