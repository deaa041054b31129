"""`python -m aucert.validation.formal`: check every proof and print the axioms used."""

from .check import main

if __name__ == "__main__":
    raise SystemExit(main())
