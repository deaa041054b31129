"""Moved to `aucert.exact.proof.check_proof`; this address goes with version 0.3."""

import sys

from .proof.check_proof import check, main

__all__ = ["check", "main"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
