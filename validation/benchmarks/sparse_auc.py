"""Moved to `benchmarks.approx.sparse_auc`; this address goes with version 0.3."""

from .approx.sparse_auc import main

if __name__ == "__main__":
    raise SystemExit(main())
