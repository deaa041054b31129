"""Moved to `benchmarks.exact.qp_table`; this address goes with version 0.3."""

from .exact.qp_table import main

if __name__ == "__main__":
    raise SystemExit(main())
