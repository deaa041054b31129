"""Moved to `benchmarks.approx.peers`; this address goes with version 0.3."""

from .approx.peers import main

if __name__ == "__main__":
    raise SystemExit(main())
