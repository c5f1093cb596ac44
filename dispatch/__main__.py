"""`python -m dispatch`: the command line of `cli`."""

from dispatch.cli import main

if __name__ == "__main__":
    main()
