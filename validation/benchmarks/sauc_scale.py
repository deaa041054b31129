"""Moved to `benchmarks.approx.sauc_scale`; this address goes with version 0.3."""

from .approx.sauc_scale import main

if __name__ == "__main__":
    raise SystemExit(main())
