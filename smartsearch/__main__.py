"""`python -m smartsearch`: the same as the command `smartsearch`."""

from smartsearch.cli import main

if __name__ == "__main__":
    main()
