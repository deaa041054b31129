"""`python -m aucert.validation.formal`: check every proof and print the axioms used."""

import sys

from .check import main

if __name__ == "__main__":
    sys.exit(main())
