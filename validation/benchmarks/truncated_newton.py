"""Moved to `benchmarks.approx.truncated_newton`; this address goes with version 0.3."""

from .approx.truncated_newton import main

if __name__ == "__main__":
    raise SystemExit(main())
