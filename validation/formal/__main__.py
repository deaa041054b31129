"""`python -m aucert.validation.formal`: check every proof and print the axioms used."""

import sys

from .check import main

sys.exit(main())
