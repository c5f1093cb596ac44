"""The kernel of the Functionalize key; `functional` has what programs call."""
