"""The code generator: operator schemas (YAML) in, C tables and Cython modules out.

`schema` knows the schema language and is used at run time too; `keys`, `model` and `resolve` hold
what the YAML files mean; `generate` writes the files from `templates/`. Nothing here imports the
dispatcher: the build runs this before there is one.
"""
